"""The commands ``judge-next``, ``audit``, ``impute`` and ``pool``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from bayespool import auditing, scoring
from bayespool.cli.commands import command
from bayespool.cli.files import RUNS, WITH_OWN, Files, files_argument, stage_progress
from bayespool.cli.messages import echo
from bayespool.cli.parameters import flag_of, own_option, store_in_context, stored_value
from bayespool.cli.results import OUTPUT_OPTIONS, Outputs, is_as_json, print_document
from bayespool.errors import InputError, InputWarning

_N_PRINTED = 20  # documents
_LIST_FORMATS = (".txt", ".qrels", ".gz", "")  # of lists for assessors
_DESIGN_FORMATS = (*_LIST_FORMATS, ".jsonl")  # and tasks


def _documents_file(help: str) -> dict[str, Any]:
    """Return the option of files for documents to judge."""
    return {"output": own_option("--output", "-o", type=Path, multiple=True, writes="file", help=help)}


@command(
    "scoring/judging.py:judge_next",
    argument=files_argument(
        "runs",
        help="Run files to judge for, in TREC format; folders and globs too. Default: those of --unpool, or "
        "all runs of the collection.",
    ),
    first="qrels pool organizations measures goal budget own_judgments unpool collections output random_seed",
    more="until estimators posterior_settings repool_to judges known_depth pool_strategy reading",
    own={
        "own_judgments": own_option(
            "--judged",
            "own_judgments",
            type=Path,
            multiple=True,
            help="Judgments of your own so far, as qrels: models learn from them. May be repeated.",
        ),
        **_documents_file(
            "File for the documents: a table where its name ends in .csv, .json, .parquet, .tex, .md or "
            ".html; in .txt, .qrels, .gz or nothing, qrels with relevance -1 to fill in. May be repeated."
        ),
    },
    formats=_LIST_FORMATS,
    short="Choose what to judge next, and when to stop",
)
def judge_next(files: Files, keywords: dict[str, Any], outputs: Outputs) -> None:
    """Choose what to judge next: the unjudged documents of the runs that are expected to tell most, one by
    one, and when judging may stop.

    Judge them, and ask again with --judged.
    """
    from bayespool.scoring.judging_influence import check_goal

    files.check_runs(keywords, "judge for", or_campaign=True)
    if "goal" in keywords and files.runs and not keywords.get("unpool"):
        check_goal(keywords["goal"], files.n_runs())
    result = files.compute(scoring.judge_next, keywords)
    rest = f"the table has {_N_PRINTED} of {len(result)} documents; --output writes all"
    outputs.write(result, n_printed=_N_PRINTED, last_line=rest if len(result) > _N_PRINTED else "")


@command(
    "auditing/starting.py:audit",
    argument=files_argument(
        "runs",
        help="A run file to audit, in TREC format; two for their difference; more to tell the best of them. "
        "Default: those of --unpool, or all runs of the collection.",
    ),
    first="qrels pool organizations measures budget go_on judged verify collections output figure "
    "random_seed",
    more=f"until estimators posterior_settings ci_prob unpool repool_to {WITH_OWN}",
    own={
        "go_on": own_option(
            "--go-on",
            type=Path,
            help="Certificate of an audit, .json, to go on from: with it no run and no judgments are read.",
        ),
        "judged": own_option(
            "--judged", type=Path, help="Judgments of the documents drawn, as qrels; with --go-on."
        ),
        "verify": own_option(
            "--verify",
            type=Path,
            help="Certificate of an audit, .json, to check: every draw, probability and interval.",
        ),
        **_documents_file(
            "File for the audit: its certificate in .json; in .txt, .qrels, .gz or nothing, qrels with "
            "relevance -1 to fill in, probabilities in the second column; else a table. May be repeated."
        ),
    },
    formats=_DESIGN_FORMATS,
    short="Draw documents to judge: an interval that needs no model",
)
def audit(
    files: Files,
    keywords: dict[str, Any],
    outputs: Outputs,
    go_on: Path | None = None,
    judged: Path | None = None,
    verify: Path | None = None,
) -> None:
    """Draw unjudged documents of a run with known probabilities, with an interval that is valid at all times,
    however wrong the model is. Of two runs it audits the difference, of more whether the leader is the best.

    Judge them, and ask again with --go-on and --judged. Anybody can --verify the certificate. With --judge
    and without --qrels, where nobody has judged, it lists all documents of the runs in the order of judging:
    as many from the top as you fix beforehand are a sample, for scores by design.
    """
    if verify is not None:
        _refuse_beside("--verify", {"verify"})
        result = auditing.read_audit(verify)
    elif go_on is not None:
        from bayespool.reading import read_qrels

        _refuse_beside("--go-on", {"go_on", "judged", "budget", "until"})
        if judged is None:
            raise InputError("--go-on without --judged", hint="give the judgments of the documents drawn")
        result = auditing.read_audit(go_on).continue_with(read_qrels(str(judged)), **keywords)
    else:
        if judged is not None:
            raise InputError("--judged without --go-on", hint="name the certificate of the audit, too")
        if not (files.qrels or files.collections or files.judges):
            raise InputError("no judgments", hint="--qrels or --judge, or --go-on or --verify a certificate")
        files.check_runs(keywords, "audit", or_campaign=True)
        if files.lack_people:
            outputs.write(files.compute_by_labels(auditing.draw_design, keywords))
            return
        result = files.compute(auditing.audit, keywords)
    outputs.write(result)
    if verify is not None:
        echo(f"verified: {verify} is as its seed and its judgments give it")


def _refuse_beside(option: str, allowed: set[str]) -> None:
    """Raise `InputError` for options of a new audit beside one that names a certificate."""
    context, typed = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
    for parameter in context.command.get_params(context):
        name = str(parameter.name)
        is_given = context.get_parameter_source(name) is typed and parameter.expose_value
        if is_given and name not in {*allowed, *OUTPUT_OPTIONS}:
            raise InputError(f"{parameter.opts[0]} beside {option}", hint="the certificate says it")


@command(
    "scoring/imputing.py:impute",
    argument=RUNS,
    first="qrels pool organizations measures draws unpool collections folder random_seed",
    more=f"estimators posterior_settings repool_to {WITH_OWN}",
    own={
        "folder": own_option(
            "--output",
            "-o",
            "folder",
            type=Path,
            required=True,
            writes="folder",
            help="Folder for the completed qrels.",
        )
    },
    short="Write completed judgments for trec_eval and other tools",
)
def impute(files: Files, keywords: dict[str, Any], outputs: Outputs) -> None:
    """Write completed qrels: draws of the judgments of what is unjudged, for trec_eval, ir_measures and any
    other tool.

    The mean of what a tool prints with each of them is the estimate, the spread its uncertainty.
    """
    from bayespool.reading import Reading, gather_qrels

    folder = outputs.folder or Path()
    files.check_runs(keywords, "complete")
    if files.prepared is None:
        named = files.keywords()
        sizes = {name: named[name] for name in ("strict", "max_file_size") if name in named}
        with warnings.catch_warnings(category=InputWarning, action="ignore"):  # given with the collection
            keywords["qrels"] = gather_qrels(named["qrels"], reading=Reading(**sizes))
    result = files.compute(scoring.impute, keywords)
    result.save(folder)
    run = _run_path(result.run_ids, [*files.runs, *files.pool])
    Outputs().print(result, last_line=f"here: {result.evaluation(folder, run)}")


def _run_path(run_ids: Iterable[str], sources: Sequence[Path]) -> str:
    """First source file named as one of the runs; ``RUN`` without one."""
    from bayespool.reading.files import find_files
    from bayespool.reading.readers import run_id_from_file

    files = {
        run_id_from_file(path): path for path in reversed(find_files([str(source) for source in sources]))
    }
    return next((str(files[run]) for run in run_ids if run in files), "RUN")


def _list_strategies(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the strategies, and end the command."""
    if not wanted:
        return
    from rich.console import Console

    from bayespool.pooling import STRATEGIES
    from bayespool.report.terminal import print_text_table
    from bayespool.tables import text_table

    entries = STRATEGIES.values()
    if is_as_json():
        names = ("name", "settings", "needs", "description")
        rows = [{name: getattr(entry, name) for name in names} for entry in entries]
        print_document({"strategies": rows}, settings={"list": True})
    else:
        header = ("name", "settings", "needs", "documents judged first")
        settings = [", ".join(f"{name}={default!r}" for name, default in e.settings.items()) for e in entries]
        cells = tuple(
            (e.name, s, ", ".join(e.needs), e.description) for e, s in zip(entries, settings, strict=True)
        )
        print_text_table(Console(), text_table("", header, cells, n_names=4))
    context.exit()


@command(
    "pooling/choosing.py:choose",
    first="pool strategy budget qrels output describe list random_seed",
    more="stop organizations reading",
    own={
        "qrels": own_option(
            "--qrels",
            type=Path,
            multiple=True,
            help="Judgments that there are already, from which adaptive strategies learn. May be repeated.",
        ),
        **_documents_file(
            "File for the documents to judge: qrels (also .gz), or a table that has the probability of each "
            "in a sample, too (.csv, .json, .parquet, .tex, .md, .html). May be repeated."
        ),
        "list": own_option(
            "--list",
            type=bool,
            expose_value=False,
            callback=_list_strategies,
            help="List the strategies with their settings, and do nothing else.",
        ),
        "describe": own_option(
            "--describe",
            type=bool,
            expose_value=False,
            callback=store_in_context,
            help="Choose nothing, and say which pool --qrels are the judgments of: depths and shares of "
            "holes that may have been, what each explains, and what estimates would rest on.",
        ),
    },
    formats=_LIST_FORMATS,
    short="Choose the documents to judge: a strategy and a budget",
)
def pool(files: Files, keywords: dict[str, Any], outputs: Outputs) -> None:
    """Choose the documents to judge: what a pooling strategy makes of runs and a budget.

    All runs under --pool contribute. The file has a line for each document, topic by topic in the order of
    judging; its relevance is that of --qrels, or -1, which says that it is in the pool and not judged yet. A
    table leaves that empty.
    """
    from bayespool.pooling import PoolPlan, choose, read_contributors
    from bayespool.pooling.choosing import split_plan
    from bayespool.reading import CONTRIBUTOR_KEYS

    if not files.pool:
        raise InputError("no runs", hint="give --pool")
    runs, qrels = [str(path) for path in files.pool], list(files.qrels)
    if stored_value("describe"):
        stated = {}
        if "strategy" in keywords:
            stated["pool_strategy"] = PoolPlan.of(keywords["strategy"], keywords.get("budget"))
        _describe(runs, qrels, files.ways() | stated, outputs)
        return
    ways = files.ways(CONTRIBUTOR_KEYS)
    if "strategy" not in keywords:
        raise InputError("no strategy", hint="--strategy 'take' --budget 5000; --list shows all")
    for name in split_plan(keywords["strategy"])[1].keys() & keywords.keys():
        raise InputError(f"{flag_of(name)} beside --strategy {name}=", hint="leave one of the two out")
    plan = PoolPlan.of(keywords["strategy"], keywords.get("budget"), stop=keywords.get("stop"))
    strategy = plan.strategy
    if strategy.is_adaptive and not qrels:
        raise InputError(
            f"strategy {strategy.name!r} learns from each judgment, and there is none",
            hint="give --qrels, or take a strategy that knows its order beforehand",
        )
    if plan.stop is not None and not qrels:
        problem = f"stopping rule {plan.stop.name!r} looks at judgments, and there is none"
        raise InputError(problem, hint="give --qrels")
    with stage_progress() as say:
        collection = read_contributors(
            runs, qrels or None, progress=say, scores=strategy.needs_scores, **ways
        )
        say("choosing documents")
        chosen = choose(collection, **keywords)
    outputs.write(scoring.DocumentsToJudge(collection, chosen))


def _describe(runs: list[str], qrels: list[Path], ways: dict[str, Any], outputs: Outputs) -> None:
    """Print the pool of runs and judgments beside others that may have been."""
    from bayespool.pooling import read_collection

    if not qrels:
        raise InputError("no judgments, of which --describe says the pool", hint="give --qrels")
    with stage_progress() as say:
        collection = read_collection(qrels, pool=runs, progress=say, **ways)
        say("comparing pools")
        described = scoring.CandidatePools(collection)
        described.tables()
    outputs.write(described)

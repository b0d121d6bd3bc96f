"""The commands ``judge-next``, ``audit``, ``impute`` and ``pool``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from bayespool import auditing, scoring
from bayespool.auditing.settings import AuditSettings
from bayespool.cli.help import option_group
from bayespool.cli.messages import echo
from bayespool.cli.options import (
    Files,
    campaign_runs,
    files_to_score,
    own_judgments,
    pool_runs,
    qrels_if_any,
    reading_progress,
    stage_progress,
)
from bayespool.cli.parameters import (
    files_argument,
    group_options,
    input_path,
    input_paths,
    own_option,
    settings_option,
    store_in_context,
)
from bayespool.cli.results import Outputs, figure_files, is_as_json, output_files, print_document
from bayespool.errors import InputError, InputWarning
from bayespool.experiments.settings import StrategySettings
from bayespool.options import FilesSettings, ReadingRunsSettings
from bayespool.scoring.settings import ImputeSettings, JudgeNextSettings

_N_PRINTED = 20  # documents


@files_to_score(
    own=(
        input_paths(
            "--judged",
            "own_judgments",
            help="Judgments of your own so far, as qrels: models learn from them and go on; may be repeated.",
        ),
    )
)
@settings_option(JudgeNextSettings)
@output_files(
    help="File for the documents: a table where its name ends in .csv, .json, .parquet, .tex, .md or "
    ".html; in .txt, .qrels, .gz or nothing, qrels with relevance -1 for an assessor to fill in; may be "
    "repeated."
)
def judge_next(*, settings: JudgeNextSettings, files: Files, outputs: Outputs) -> None:
    """Choose what to judge next: the unjudged documents of the runs that are expected to tell most, one by
    one, and when judging may stop.

    Judge them, and ask again with --judged.
    """
    from bayespool.scoring.judging_influence import check_goal

    outputs.check(scoring.NextJudgments.formats)
    files.check_runs(settings, "judge for")
    if not settings.unpool:
        check_goal(settings.goal, files.n_runs())
    result = files.compute(scoring.judge_next, settings)
    rest = f"the table has {_N_PRINTED} of {len(result)} documents; --output writes all"
    outputs.write(result, n_printed=_N_PRINTED, last_line=rest if len(result) > _N_PRINTED else "")


@group_options(
    Files,
    "files",
    qrels_if_any,
    files_argument(
        "runs",
        help="A run file to audit, in TREC format; two for their difference; more to tell the best of them.",
    ),
    pool_runs,
    own_judgments,
    input_path(
        "--go-on",
        help="Certificate of an audit, .json, to go on from: with it no run and no judgments are read.",
    ),
    input_path("--judged", help="Judgments of the documents drawn, as qrels; with --go-on."),
    input_path(
        "--verify",
        help="Certificate of an audit, .json, to check: every draw, probability and interval.",
    ),
    settings_option(ReadingRunsSettings, "reading"),
)
@settings_option(AuditSettings)
@output_files(
    help="File for the audit: its certificate in .json; in .txt, .qrels, .gz or nothing, qrels with "
    "relevance -1 for an assessor to fill in, probabilities in the second column; else a table; may be "
    "repeated.",
    after=(figure_files,),
)
def audit(
    *,
    settings: AuditSettings,
    files: Files,
    go_on: Path | None,
    judged: Path | None,
    verify: Path | None,
    outputs: Outputs,
) -> None:
    """Draw unjudged documents of a run with known probabilities, with an interval that holds at all times,
    however wrong the model is. Of two runs it audits the difference, of more whether the leader is the best.

    Judge them, and ask again with --go-on and --judged. Anybody can --verify the certificate.
    """
    outputs.check(auditing.Audit.formats)
    if verify is not None:
        _refuse_beside("--verify", {"verify"})
        result = auditing.read_audit(verify)
    elif go_on is not None:
        from bayespool.collection import read_qrels

        _refuse_beside("--go-on", {"go_on", "judged", "budget", "until"})
        if judged is None:
            raise InputError("--go-on without --judged", hint="give the judgments of the documents drawn")
        lines = read_qrels(str(judged))
        budget = settings.budget if "budget" in _given_options() else None
        result = auditing.read_audit(go_on).continue_with(lines, budget=budget, until=settings.until)
    else:
        if judged is not None:
            raise InputError("--judged without --go-on", hint="name the certificate of the audit, too")
        if not files.qrels:
            raise InputError("no judgments", hint="--qrels, or --go-on or --verify a certificate")
        files.check_runs(settings, "audit")
        result = files.compute(auditing.audit, settings)
    outputs.write(result)
    if verify is not None:
        echo(f"verified: {verify} is as its seed and its judgments give it")


def _given_options() -> dict[str, click.Parameter]:
    """Return the parameters of the current command that stand on the command line, by name."""
    context, typed = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
    parameters = {str(parameter.name): parameter for parameter in context.command.params}
    return {name: p for name, p in parameters.items() if context.get_parameter_source(name) is typed}


def _refuse_beside(option: str, allowed: set[str]) -> None:
    """Raise `InputError` for options of a new audit beside one that names a certificate."""
    for name, parameter in _given_options().items():
        if name not in allowed and option_group(parameter) != "Output":
            raise InputError(f"{parameter.opts[0]} beside {option}", hint="the certificate says it")


@files_to_score()
@settings_option(ImputeSettings)
@own_option("--output", "-o", type=Path, required=True, help="Folder for the completed qrels.")
def impute(*, settings: ImputeSettings, files: Files, output: Path) -> None:
    """Write completed qrels: draws of the judgments of what is unjudged, for trec_eval, ir_measures and any
    other tool.

    The mean of what a tool prints with each of them is the estimate, the spread its uncertainty.
    """
    from bayespool.collection import Reading, gather_qrels

    Outputs(folder=output).check()
    files.check_runs(settings, "complete")
    with stage_progress() as say:
        collection, targets = files.read(say, settings)
        reading = files.reading
        plain = Reading(strict=reading.strict, max_file_size=reading.max_file_size)
        with warnings.catch_warnings(category=InputWarning, action="ignore"):  # given by the first reading
            lines = gather_qrels(list(files.qrels), reading=plain)
        result = scoring.impute(collection, targets, qrels=lines, settings=settings, report=say)
        say(f"writing {output}")
        result.save(output)
    run = _run_path(result.run_ids, [*files.runs, *files.pool])
    Outputs().print(result, last_line=f"here: {result.evaluation(output, run)}")


def _run_path(run_ids: Iterable[str], sources: Sequence[Path]) -> str:
    """First source file named as one of the runs; ``RUN`` without one."""
    from bayespool.collection.files import find_files
    from bayespool.collection.readers import run_id_from_file

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
    from bayespool.tables import TextTable

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
        print_text_table(Console(), TextTable("", header, cells, n_names=4))
    context.exit()


@campaign_runs
@settings_option(FilesSettings, "reading")
@settings_option(StrategySettings, unless="describe")
@input_paths(
    "--qrels",
    help="Judgments that there are already, from which adaptive strategies learn; may be repeated.",
)
@output_files(
    multiple=False,
    help="File for the documents to judge: qrels (also .gz), or a table that has the probability of each "
    "in a sample, too (.csv, .json, .parquet, .tex, .md, .html).",
)
@own_option(
    "--list",
    type=bool,
    expose_value=False,
    callback=_list_strategies,
    help="List the strategies with their settings, and do nothing else.",
)
@own_option(
    "--describe",
    type=bool,
    is_eager=True,  # a strategy is not needed then
    expose_value=False,
    callback=store_in_context,
    help="Choose nothing, and say which pool --qrels are the judgments of: depths and shares of holes that "
    "may have been, what each explains, and what estimates would rest on.",
)
def pool(
    *,
    settings: StrategySettings | None,
    reading: FilesSettings,
    pool: tuple[Path, ...],
    qrels: tuple[Path, ...],
    outputs: Outputs,
) -> None:
    """Choose the documents to judge: what a pooling strategy makes of runs and a budget.

    All runs under --pool contribute. The file has a line for each document, topic by topic in the order of
    judging; its relevance is that of --qrels, or -1, which says that it is in the pool and not judged yet. A
    table leaves that empty.
    """
    from bayespool.pooling import choose, read_contributors
    from bayespool.pooling.choosing import check_budget

    if settings is None:
        _describe(reading, pool, qrels, outputs)
        return
    strategy = settings.strategy
    check_budget(strategy, settings.budget, settings.stop)
    outputs.check(scoring.DocumentsToJudge.formats)
    if strategy.is_adaptive and not qrels:
        raise InputError(
            f"strategy {strategy.name!r} learns from each judgment, and there is none",
            hint="give --qrels, or take a strategy that knows its order beforehand",
        )
    if settings.stop is not None and not qrels:
        raise InputError(
            f"stopping rule {settings.stop.name!r} looks at judgments, and there is none", hint="give --qrels"
        )
    with stage_progress() as say:
        collection = read_contributors(
            [str(path) for path in pool],
            list(qrels) or None,
            progress=reading_progress(say),
            scores=strategy.needs_scores,
            **reading.keywords(),
        )
        say("choosing documents")
        chosen = choose(collection, **settings.keywords())
    outputs.write(scoring.DocumentsToJudge(collection, chosen, settings.describe()))


def _describe(
    reading: FilesSettings, pool: tuple[Path, ...], qrels: tuple[Path, ...], outputs: Outputs
) -> None:
    """Print the pool of runs and judgments beside others that may have been."""
    from bayespool.pooling import read_collection

    if not qrels:
        raise InputError("no judgments, of which --describe says the pool", hint="give --qrels")
    outputs.check()
    with stage_progress() as say:
        collection = read_collection(
            list(qrels), pool=list(map(str, pool)), progress=reading_progress(say), **reading.keywords()
        )
        say("comparing pools")
        described = scoring.CandidatePools(collection)
        described.tables()
    outputs.write(described)

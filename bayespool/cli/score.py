"""The commands ``score``, ``demo``, ``report``, ``compare``, ``gate``, ``plan`` and ``reversals``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from bayespool import comparisons, experiments, plots, scoring
from bayespool.cli.commands import command
from bayespool.cli.files import RUNS, WITH_OWN, Files, check_keywords, files_argument, stage_progress
from bayespool.cli.messages import echo
from bayespool.cli.parameters import flag_of, own_option, stored_value
from bayespool.cli.results import Outputs, is_as_json, print_document
from bayespool.errors import InputError, OutputError
from bayespool.names import split_list

_PER_TOPIC = {"per_topic": own_option("--per-topic", type=bool, help="One row per run and topic.")}


@command(
    "scoring/scoring.py:score",
    argument=RUNS,
    first="qrels pool organizations measures estimators posterior_settings unpool collections output report "
    "figure random_seed",
    more=f"scope groups common_topics repool_to ci_prob {WITH_OWN} per_topic columns",
    own=_PER_TOPIC,
    short="Score runs: bounds, published corrections, posteriors",
)
def score(files: Files, keywords: dict[str, Any], outputs: Outputs, per_topic: bool = False) -> None:
    """Score runs: values as trec_eval gives them, their bounds, the papers' corrections, and the posterior
    with its interval.

    Without --pool the posterior rests on priors alone, and the first note names what cures that. With several
    collections a run is a folder or a pattern, run-a/{collection}.run, and a table has them and their mean.
    Without --qrels the labels of --judge say what they say, with no interval.
    """
    files.check_runs(keywords, "score")
    if len(files.collections) > 1:
        outputs.write(files.compute_several(_several_keywords(keywords, outputs)))
        return
    _check(outputs, keywords)
    if files.lack_people:
        outputs.write(files.compute_by_labels(experiments.score_labels, keywords))
        return
    _write(files.compute(scoring.score, keywords), outputs, per_topic=per_topic)


@command(
    "scoring/scoring.py:score",
    first="measures estimators output figure random_seed",
    more="posterior_settings per_topic columns write",
    own={
        **_PER_TOPIC,
        "write": own_option(
            "--write",
            type=Path,
            writes="folder",
            help="Only write the example's files (runs, qrels, organizations) there.",
        ),
    },
    short="Score two runs of the embedded example, whose truth is known",
)
def demo(
    files: Files,
    keywords: dict[str, Any],
    outputs: Outputs,
    per_topic: bool = False,
    write: Path | None = None,
) -> None:
    """Score the two unpooled runs of the embedded example, a simulated collection whose truth is known."""
    from bayespool.pooling import describe_pool

    example = experiments.simulate_example()
    if write is not None:
        _write_example(example, write)
        new, qrels, pool, listed = (
            shlex.quote(str(write / name)) for name in ("new", "qrels.txt", "pool", "organizations.csv")
        )
        message = (
            f"Wrote the example. Try:\n  bayespool score {new} --qrels {qrels} --pool {pool} "
            f"--organizations {listed} --reading each_its_own -m P@10 -m nDCG@10"
        )
        print_document({}, notes=[message]) if is_as_json() else echo(message, err=False)
        return
    keywords = {"measures": ("P@10", "nDCG@10"), **keywords}
    _check(outputs, keywords)
    with stage_progress() as say:
        echo(f"pool: {describe_pool(example.collection)}")
        scores = scoring.score(example.collection, example.new_run_ids, **keywords, progress=say)
    truth = {str(m): dict(example.true_values(m, scores.run_ids)) for m in scores.measures}
    scores = replace(scores, metadata={**scores.metadata, "truth": truth})
    _write(scores, outputs, per_topic=per_topic)


def _write_example(example: experiments.Simulation, folder: Path) -> None:
    """Write the example's files, but not over files of that name with other content."""
    from bayespool.tables.files import read_bytes_back

    with TemporaryDirectory() as made:
        example.write(made)
        for path in (path for path in Path(made).rglob("*") if path.is_file()):
            place = folder / path.relative_to(made)
            is_other = place.exists() and read_bytes_back(place) != read_bytes_back(path)
            if is_other and not stored_value("overwrite"):
                raise OutputError(f"{place}: is there already; name another folder, or --overwrite it")
    example.write(folder)


def _several_keywords(keywords: Mapping[str, Any], outputs: Outputs) -> dict[str, Any]:
    """Return keywords for several collections, or raise for an option that is of one."""
    from bayespool.scoring.asked import AskedKeywords

    known = {
        "measures",
        "estimators",
        "scope",
        "baseline",
        "level",
        "control",
        *AskedKeywords.__annotations__,
    }
    if keywords.get("tests", ["paired-t"]) == ["paired-t"]:
        known.add("tests")
    options = [*sorted(keywords.keys() - known), *["columns"] * bool(outputs.columns)]
    if options:
        raise InputError(f"{flag_of(options[0])} beside several collections", hint="leave it out")
    return {name: value for name, value in keywords.items() if name != "tests"}


def _check(outputs: Outputs, keywords: Mapping[str, Any]) -> None:
    """Raise for columns that no estimator has, before files are read."""
    from bayespool.corrections.registry import ESTIMATORS
    from bayespool.names import leading_name
    from bayespool.scoring.estimators import named_estimators
    from bayespool.scoring.score_tables import check_arrangement

    named = map(str, named_estimators(keywords.get("estimators") or "default"))
    check_arrangement(outputs.arrangement, [name for name in map(leading_name, named) if name in ESTIMATORS])


def _write(scores: scoring.Scores, outputs: Outputs, *, per_topic: bool) -> None:
    def draw() -> Any:
        if per_topic:
            return plots.draw_topics(scores)
        return plots.draw_forest(scores, truth=scores.metadata.get("truth"))

    outputs.write(scores.per_topic() if per_topic else scores, draw=draw)


@command(
    "",
    argument=files_argument(
        "result",
        nargs=1,
        help="What a command wrote with --output: a .json, .parquet or .nc file, or a folder of results.",
    ),
    first="output",
    own={
        "output": own_option(
            "--output",
            "-o",
            "report",
            type=Path,
            default=Path("report.html"),
            writes="file",
            help="The .html file to write: report.html.",
        )
    },
    short="Write a report of a result, one HTML page",
)
def report(files: Files, keywords: dict[str, Any], outputs: Outputs, result: Path) -> None:
    """Write a report of a result: one HTML file with figures, tables that sort and filter, and all that is
    needed to quote the result. It loads nothing from anywhere.
    """
    from bayespool.report import Result, read_result

    path = outputs.report or Path()
    stored: Result = scoring.read_scores(result) if result.suffix == ".nc" else read_result(result)
    if stored.command == "audit":
        from bayespool.auditing.starting import read_audit

        stored = read_audit(result) if result.suffix == ".json" else read_result(result)
    stored.write_report(path)
    if is_as_json():
        print_document({"files": [{"file": str(path)}]})
    else:
        echo(f"Wrote {path}.", err=False)


def _table(listed: str) -> dict[str, Any]:
    """Return the option for the table that a file of one table has, of those listed."""
    names = tuple(listed.split())
    help = f"Table that is printed, or that a .csv or .parquet file has: {', '.join(names)}."
    return {"table": own_option("--table", type=names, metavar="<table>", help=help)}


@command(
    "comparisons/comparing.py:compare",
    argument=files_argument(
        "runs",
        help="Two or more run files, in TREC format (also .gz, .xz, .zst); folders and globs. Those of "
        "--unpool count. Default: the best pooled run of each organization.",
    ),
    first="qrels pool organizations measures baseline posterior_settings unpool collections output report "
    "figure random_seed",
    more="estimators scope tests level control announce rope groups systems repool_to "
    f"{WITH_OWN} scores table columns sort",
    own={
        "scores": own_option(
            "--scores",
            type=Path,
            help="Scores in place of runs and qrels: CSV of system, topic or task and score, or the result "
            "files of mteb or BEIR, in a folder for each system.",
        ),
        **_table(
            "differences groups system_differences runs across_measures variance significance reliability"
        ),
        "columns": own_option(
            "--columns",
            help="Comma-separated columns of the pairs in .tex, .md and .html files: as-judged, p, "
            "difference, interval, probability or risk.",
        ),
        "sort": own_option(
            "--sort",
            type=("difference", "chance", "p", "risk"),
            help="Sort pairs: by difference or risk the largest first, by chance the surest, by p the least.",
        ),
    },
    short="Compare runs: differences, ranks, significance tests",
)
def compare(files: Files, keywords: dict[str, Any], outputs: Outputs, scores: Path | None = None) -> None:
    """Compare runs: differences with intervals, probabilities and ranks, significance tests, and the
    probability that judging the unjudged documents takes a significant difference back.

    With several collections a run is a folder or a pattern, run-a/{collection}.run; with --scores a table
    stands for runs and judgments.
    """
    from bayespool.comparisons.tables import PAIR_COLUMNS, PAIR_KEYS

    if scores is not None:
        outputs.write(_compare_table(scores, files, keywords))
        return
    if len(files.collections) > 1:
        outputs.write(files.compute_several(_several_keywords(keywords, outputs)))
        return

    outputs.arrangement.check(PAIR_COLUMNS, PAIR_KEYS)
    if "baseline" in keywords:
        keywords["baseline"] = [_run_name(text) for text in keywords["baseline"]]
    comparison = files.compute(comparisons.compare, keywords)
    outputs.write(replace(comparison, arrangement=outputs.arrangement))


def _compare_table(scores: Path, files: Files, keywords: Mapping[str, Any]) -> comparisons.Leaderboard:
    """Compare systems by a table, or raise for files and options that it has no use for."""
    if files.are_named or files.names:
        raise InputError("runs or judgments beside --scores", hint="leave one of the two out")
    given = dict(keywords)
    for name, of_table in (("measures", "measure"), ("tests", "test")):
        if len(values := given.pop(name, ())) > 1:
            raise InputError(f"several {name} beside --scores", hint="name one")
        given |= dict.fromkeys([of_table] * len(values), values[0] if values else None)
    known = {"measure", "test", "baseline", "control", "ci_prob", "random_seed"}
    if options := sorted(given.keys() - known):
        raise InputError(f"{flag_of(options[0])} beside --scores", hint="leave it out")
    return comparisons.compare_table(scores, **given)


def _run_name(text: str) -> str:
    """Name of the run of a file, or the text if there is no such file."""
    from bayespool.reading.readers import run_id_from_file

    return run_id_from_file(Path(text)) if Path(text).is_file() else text


@command(
    "comparisons/comparing.py:gate",
    argument=files_argument(
        "runs",
        help="OLD.run NEW.run: the run that there is, and the new one; or names of runs of --unpool. With "
        "--systems all runs of two systems, of which the first named is the old one.",
    ),
    first="qrels pool organizations measures margin probability scope estimators unpool collections "
    "random_seed",
    more=f"groups systems posterior_settings repool_to {WITH_OWN}",
    short="Decide whether a run may replace another, by exit status",
)
def gate(files: Files, keywords: dict[str, Any], outputs: Outputs) -> None:
    """Decide whether a new run may replace another: exit status 0 if it is better or equal, 1 if it is worse,
    2 if that cannot be told, 3 after an error. One line says why.
    """
    systems = "systems" in keywords
    if not systems and (len({*files.runs, *files.names}) != 2 or any(path.is_dir() for path in files.runs)):
        raise InputError("the order of two runs decides", hint="name two files: OLD.run NEW.run")
    decided = replace(files, names_by_path=not systems).compute(comparisons.gate, keywords)
    if is_as_json():
        print_document({}, decided.metadata, summary=[decided.sentence])
    else:
        echo(decided.sentence, err=False)
    raise click.exceptions.Exit(decided.status)


@command(
    "comparisons/planning.py:plan_comparison",
    argument=files_argument(
        "runs",
        help="Two or more run files whose differences stand for those to come; folders and globs. Those of "
        "--unpool count. Default: the best pooled run of each organization.",
    ),
    first="qrels pool organizations measures difference topics_at_hand sd unpool collections output report",
    more="judgments more_topics power level estimators posterior_settings random_seed groups "
    f"systems repool_to {WITH_OWN}",
    short="Plan: which differences can be detected, and what helps",
)
def plan(files: Files, keywords: dict[str, Any], outputs: Outputs) -> None:
    """Plan before judging: the minimum detectable difference of two runs that these topics and judgments
    detect, what more of them would change, and the topics that a difference takes.

    Without a collection, --topics-at-hand and --sd say what is expected.
    """
    if "topics_at_hand" in keywords:
        if files.are_named:
            raise InputError("files beside --topics-at-hand", hint="give a collection, or what is expected")
        outputs.write(comparisons.plan_comparison(**keywords))
        return
    if not (files.qrels or files.collections):
        raise InputError("no collection", hint="give --qrels and runs, or --topics-at-hand 50 --sd 0.25")
    outputs.write(files.compute(comparisons.plan_comparison, keywords))


@command(
    "comparisons/reversing.py:count_reversals",
    first="qrels pool organizations measures estimators judgments collections output figure random_seed",
    more="posterior_settings test level control exclude_runs judges known_depth pool_strategy reading table",
    own={
        **_table("rates trends p_values risks calibration grades"),
        "exclude_runs": own_option("--exclude-runs", help="Comma-separated ids of runs to leave aside."),
    },
    short="Count significant differences that more judgments reverse",
)
def reversals(
    files: Files, keywords: dict[str, Any], outputs: Outputs, exclude_runs: str | None = None
) -> None:
    """Count the significant differences under few judgments that all judgments take back, by estimator, among
    runs that contributed to the pool and among those that did not.
    """
    check_keywords(comparisons.count_reversals, keywords)
    with stage_progress() as say:
        collection, _ = files.read(say)
        aside = split_list(exclude_runs or "")
        collection.run_index(aside)
        runs = [run for run in collection.run_ids if run not in aside]
        result = comparisons.count_reversals(collection, runs, **keywords, progress=say)
    outputs.write(result)

"""The commands ``leave-out``, ``random-pools``, ``budgets``, ``judges`` and ``check predictions``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayespool import auditing, experiments, scoring
from bayespool.cli.commands import command
from bayespool.cli.files import (
    RUNS,
    Files,
    check_jobs,
    check_keywords,
    count_progress,
    report_interruption,
    stage_progress,
)
from bayespool.cli.messages import echo
from bayespool.cli.parameters import flag_of, own_option
from bayespool.cli.results import OUTPUT_OPTIONS, Outputs
from bayespool.errors import InputError, InputWarning

if TYPE_CHECKING:
    from bayespool.reading import Labels, Qrels

JOBS = {
    "folder": OUTPUT_OPTIONS["folder"],
    "jobs": own_option(
        "--jobs", type=int, help="Processes, at most one per part of the work; default: one per core."
    ),
}
_TASKS = {
    **JOBS,
    "tasks": own_option(
        "--tasks",
        type=Path,
        metavar="<path>",
        writes="file",
        help="Do nothing but write the documents that a judge should label, as JSON lines: the unjudged ones "
        "of the runs to score, and judged ones that show what its labels are worth; with --batch those that "
        "people should judge.",
    ),
    "batch": own_option(
        "--batch",
        type=int,
        help="Audit the labels: draw so many documents for people to judge, and say how well the judges "
        "agree with the judgments of --qrels, if any, with an interval that holds at any time.",
    ),
    "anchors": own_option(
        "--anchors",
        type=Path,
        multiple=True,
        help="Answers of people, as qrels, on documents that two dates (or versions) of one judge label: "
        "--judge may=FILE --judge june=FILE, the first twice if it was asked twice. Has the judge changed "
        "since, or what it judges? May be repeated.",
    ),
    "repeat_rate": own_option(
        "--repeat-rate",
        type=float,
        help="With --anchors: the share of documents on which the judge contradicts itself when asked twice; "
        "default 0.01.",
    ),
    "texts": own_option(
        "--texts",
        type=Path,
        metavar="<path>",
        help="Texts of the documents of --tasks: JSON lines with doc_id and text, lines with an id, a tab "
        "and the text, or irds:NAME of ir_datasets, which may download it.",
    ),
}
_CLUSTER = {
    **JOBS,
    "cluster": own_option(
        "--cluster",
        metavar="<host:port>",
        help="Compute on the workers of the Dask cluster whose scheduler is there, in place of processes.",
    ),
}


def _run(
    function: Callable[..., Any],
    files: Files,
    keywords: dict[str, Any],
    outputs: Outputs,
    *,
    parts: str = "",
    jobs: int = -1,
    cluster: str | None = None,
    n_lines: int | None = 10,
    scores: bool = False,
    of_runs: bool = False,
) -> None:
    """Run an experiment, which keeps finished parts in the folder ``parts``, if any, and write its result.

    Parts are counted in ``n_lines`` lines or one a part. Of several collections the function gets a mapping.
    ``of_runs`` says whether it scores runs.
    """
    from bayespool.experiments.running import on_cluster

    check_jobs(jobs, cluster)
    keywords = files.with_measure(keywords)
    check_keywords(function, keywords)
    collection: Any
    with stage_progress() as say:
        if several := len(files.collections) > 1:
            collection = files.read_collections(say)
        else:
            collection, targets = files.read(say, keywords if of_runs else {}, scores=scores)
            keywords |= {"run_ids": targets} if of_runs else {}
    folder = outputs.folder if parts else None
    with (
        report_interruption(folder, f"*/{parts}" if several else parts),
        on_cluster(cluster),
        count_progress(n_lines) as show,
    ):
        keywords |= {"folder": folder} if parts else {}
        result = function(collection, n_jobs=jobs, progress=show, **keywords)
    outputs.write(result)


@command(
    "experiments/leaving_out.py:leave_out",
    first="qrels pool organizations measures estimators by collections folder jobs random_seed",
    more="n_clusters types top truth repool_to test announce posterior_settings judges known_depth "
    "pool_strategy reading later cluster report",
    own=_CLUSTER,
    instead={"later": "experiments/closed_holes.py:grade_later"},
    short="Leave organizations out of the pool and test every estimator",
)
def leave_out(files: Files, keywords: dict[str, Any], outputs: Outputs, **execution: Any) -> None:
    """Leave each organization (or run, cluster or type of runs) out of the pool, estimate its runs, and
    compare with the truth.

    It tells how biased the collection is, and how good every estimator is on it; of several collections
    (--collection), which estimator is best on how many of them.

    With --later, grade runs with unjudged documents that people judged later.
    """
    if "later" in keywords:
        _run(experiments.grade_later, files, keywords, outputs, parts="closed-holes", **execution)
        return
    several = len(files.collections) > 1
    function = experiments.leave_out_several if several else experiments.leave_out
    _run(function, files, keywords, outputs, parts="folds", n_lines=None, **execution)


@command(
    "experiments/random_pools.py:vary_common_topics",
    first="qrels pool organizations measures estimators widths n_samples n_common collections folder jobs "
    "random_seed",
    more="n_topic_samples by repool_to pool_type target_type posterior_settings judges known_depth "
    "pool_strategy reading cluster report",
    own=_CLUSTER,
    short="Show how pool width and common topics decide the bias",
)
def random_pools(files: Files, keywords: dict[str, Any], outputs: Outputs, **execution: Any) -> None:
    """Show how biased pools of different widths are against runs outside them: pools drawn at random, as in
    the figure 1 of Webber & Park (2009), with any estimator.

    With --common, show what judging a new run in full on some common topics is worth for its score on all: as
    in the tables 2 to 4 of the same paper.
    """
    varied: Callable[..., Any] = experiments.vary_pool_width
    parts = "pool-width"
    if "n_common" in keywords:
        varied, parts = experiments.vary_common_topics, "common-topics"
    elif "n_topic_samples" in keywords:
        raise InputError("--topic-samples without --common", hint="give numbers of common topics, too")
    _run(varied, files, keywords, outputs, parts=parts, **execution)


@command(
    "experiments/budgeting.py:compare_budgets",
    first="qrels pool organizations measures strategies budgets keep estimators collections folder jobs "
    "random_seed",
    more="by top truth repool_to test stop posterior_settings judges known_depth pool_strategy reading "
    "cluster report",
    own=_CLUSTER,
    instead={"keep": "experiments/keeping.py:keep_judgments"},
    short="Show how biased pools of different strategies and budgets are",
)
def budgets(files: Files, keywords: dict[str, Any], outputs: Outputs, **execution: Any) -> None:
    """Show how biased pools of different strategies and budgets are against runs that did not contribute:
    each organization left out in turn, as in the figures of Lipani et al. (2017).

    With --keep, show how far scores and the ranking of all runs from a share of the judgments agree with
    those from all, as judged, with a judge's labels, and by the posterior.
    """
    from bayespool.pooling.registry import parse_strategies

    if "keep" in keywords:
        _run(experiments.keep_judgments, files, keywords, outputs, parts="kept", **execution)
        return
    keywords["strategies"] = strategies = parse_strategies(keywords.get("strategies", "paper"))
    scores = any(strategy.needs_scores for strategy in strategies)
    work = experiments.compare_budgets
    _run(work, files, keywords, outputs, parts="pools", scores=scores, **execution)


@command(
    "experiments/judge_checks.py:check_judges",
    argument=RUNS,
    first="qrels pool organizations judges measures intervals unpool collections folder figure jobs "
    "random_seed",
    more="tasks batch anchors repeat_rate texts estimators posterior_settings repool_to own_judgments "
    "known_depth pool_strategy reading report",
    own=_TASKS,
    short="Evaluate the labels of LLM judges",
)
def judges(
    files: Files,
    keywords: dict[str, Any],
    outputs: Outputs,
    jobs: int = -1,
    tasks: Path | None = None,
    batch: int | None = None,
    texts: Path | None = None,
    anchors: tuple[Path, ...] = (),
    repeat_rate: float | None = None,
) -> None:
    """Evaluate the labels of LLM judges: how they agree with the judgments on hidden documents, which
    organizations they favor, how many documents they label, and (--intervals) how much they narrow intervals.

    Give labels with --judge. Runs to score are optional. Without a pool and runs, labels are compared with
    the judgments of --qrels, if any, and with each other. --tasks says which documents to have labeled; with
    --batch, which people should judge to learn how well a judge agrees with them; --anchors whether labels of
    two dates are of one judge.
    """
    if texts is not None and tasks is None:
        raise InputError("--texts without --tasks", hint="name the file of the documents, too")
    if tasks is not None and batch is None:
        with stage_progress() as say:
            collection, targets = files.read(say, keywords)
        given = {name: keywords[name] for name in ("measures", "unpool", "random_seed") if name in keywords}
        _write_tasks(scoring.documents_to_label(collection, targets, **given), tasks, texts, "label")
        return
    if not files.judges and not files.collections:
        raise InputError("no judge", hint="--judge FILE or --judge NAME=FILE, labels in the form of qrels")
    if anchors:
        outputs.write(_detect_drift(files, keywords, anchors, repeat_rate))
        return
    if repeat_rate is not None:
        raise InputError("--repeat-rate without --anchors", hint="name the answers of people, too")
    if batch is not None:
        audited = _audit(files, keywords, batch)
        if tasks is not None and audited.is_done:
            echo(f"{tasks}: not written, since judging may stop")
        elif tasks is not None:
            _write_tasks(audited.tasks, tasks, texts, "judge")
        outputs.write(audited)
        return
    if not (files.runs or files.pool or files.collections):
        outputs.write(_compare_judges(files, keywords))
        return
    if not files.keywords().get("judges"):
        raise InputError("no judge", hint="--judge FILE or --judge NAME=FILE, labels in the form of qrels")
    work = experiments.check_judges
    _run(work, files, keywords, outputs, parts="judges", n_lines=None, of_runs=True, jobs=jobs)


def _audit(files: Files, keywords: dict[str, Any], batch: int) -> auditing.JudgeAudit:
    """Return the agreement of judges with people, of labels and judgments alone."""
    if files.runs or files.pool or files.collections:
        raise InputError("--batch beside runs", hint="labels (--judge) and judgments (--qrels) are enough")
    return auditing.audit_judges(*_labels_and_people(files), batch=batch, **_label_settings(keywords))


def _detect_drift(
    files: Files, keywords: dict[str, Any], anchors: tuple[Path, ...], repeat_rate: float | None
) -> auditing.JudgeDrift:
    """Return whether labels of two dates are of one judge, by answers of people."""
    from bayespool.reading import gather_qrels
    from bayespool.reading.sources import gather_judges

    if files.runs or files.pool or files.collections or files.qrels:
        hint = "labels (--judge, twice) and the answers are enough"
        raise InputError("--anchors beside runs or --qrels", hint=hint)
    settings = _label_settings(keywords) | ({} if repeat_rate is None else {"repeat_rate": repeat_rate})
    return auditing.detect_drift(gather_judges(files.ways()["judges"]), gather_qrels(anchors), **settings)


def _compare_judges(files: Files, keywords: dict[str, Any]) -> experiments.LabelAgreement:
    """Return the agreement of judges with people and each other, of labels and judgments alone."""
    if other := sorted(keywords.keys() - {"measures", "random_seed", "ci_prob"}):
        raise InputError(f"{flag_of(other[0])} without runs", hint="give --pool, or run files")
    return experiments.compare_judges(*_labels_and_people(files), **_label_settings(keywords))


def _labels_and_people(files: Files) -> tuple[dict[str, list[Labels]], Qrels | None]:
    """Return labels by judge, and the judgments of people, if any."""
    from bayespool.reading import gather_qrels
    from bayespool.reading.sources import gather_judges

    people = [*files.qrels, *files.own_judgments]
    return gather_judges(files.ways()["judges"]), gather_qrels(people) if people else None


def _label_settings(keywords: dict[str, Any]) -> dict[str, Any]:
    return {name: keywords[name] for name in ("measures", "random_seed", "ci_prob") if name in keywords}


def _write_tasks(listed: Any, path: Path, source: Path | None, to_do: str) -> None:
    """Write documents to label or to judge, a line of JSON each, with their texts from a source."""
    from bayespool.reading import read_texts
    from bayespool.tables.files import atomic_write

    if source is not None:
        text_of = read_texts(source, listed["doc_id"])
        listed = listed.assign(text=listed["doc_id"].map(text_of))
        if n_without := int(listed["text"].isna().sum()):
            text = f"{n_without:,} of {len(listed):,} documents have no text"
            warnings.warn(f"{source}: {text}", InputWarning, stacklevel=2)
    atomic_write(path, listed.to_json(orient="records", lines=True, force_ascii=False))
    echo(f"{path}: {len(listed):,} documents to {to_do}")


@command(
    "experiments/checks.py:check_models",
    first="qrels pool organizations measures models n_folds collections folder jobs random_seed",
    more="posterior_settings judges known_depth pool_strategy reading report",
    own=JOBS,
    short="Check the models on a pool: organizations held out",
)
def check_predictions(files: Files, keywords: dict[str, Any], outputs: Outputs, jobs: int = -1) -> None:
    """Check the models on a pool: predict organizations that are held out, calibration, comparison of models.

    The check uses only the pool's own judgments. With --output it also writes the draws of each model as
    NetCDF for ArviZ.
    """
    keywords["containers"] = outputs.folder is not None
    _run(experiments.check_models, files, keywords, outputs, jobs=jobs)

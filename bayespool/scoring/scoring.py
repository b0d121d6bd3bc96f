"""Score runs: estimators × measures × runs to one `Scores`; the same as a measure of ir_measures."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayespool import __version__
from bayespool.collection import Collection, Reading, set_confusion
from bayespool.collection.contents import SPARSE_NOTE, warn_of_no_pool
from bayespool.collection.own import adopt_judgments, check_own_judgments
from bayespool.collection.rankings import tie_notes
from bayespool.collection.reading_keys import parse_reading
from bayespool.collection.sources import Organizations, Runs, gather_runs
from bayespool.corrections import TopicsAdjustment
from bayespool.errors import InputError, InputWarning, PooledRunWarning, warn_caller
from bayespool.evidence import Bounds, Estimand, score_bounds
from bayespool.measures import Estimates, Measure, Normalized
from bayespool.measures.estimates import estimate_checked
from bayespool.measures.normalized import with_ideal
from bayespool.measures.populations import refuse_one_topic
from bayespool.models.confusion import parse_confusion
from bayespool.options import MAX_FILE_SIZE, describe_estimator, refuse_unknown, takes
from bayespool.pooling import describe_pool, read_collection
from bayespool.pooling.discovery import unpool_runs
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.another_assessor import describe_assessors
from bayespool.posterior.notes import warn_of_judges
from bayespool.scoring.estimators import estimator_labels, refuse_too_many_draws
from bayespool.scoring.scores import Scores
from bayespool.scoring.settings import PyTerrierSettings, ScoreSettings, ScoringSettings, TargetSettings
from bayespool.tables.formatting import counted

if TYPE_CHECKING:
    import pandas as pd


def warn_of_unused_relevance(collection: Collection, measures: Iterable[Measure]) -> None:
    """Warn for each measure whose relevance threshold no document in the qrels reaches."""
    for measure in measures:
        if not (collection.relevance >= measure.rel).any():
            warn_caller(
                f"no document of the qrels has relevance {measure.rel} or more, which {measure} asks for",
                InputWarning,
            )


def clipping_notes(collection: Collection, measures: Iterable[Measure]) -> list[str]:
    """Return notes on measures that clip judgments above their highest relevance level."""
    notes, top = [], max(collection.levels, default=0)
    for measure in measures:
        highest = getattr(measure, "max_rel", top)
        if n := int((collection.relevance > highest).sum()):
            notes.append(
                f"{measure}: relevance above {highest} (max_rel) counts as {highest}, in "
                f"{counted(n, 'judgment')}"
            )
    return notes


def expect_collection(collection: object) -> None:
    """Raise `InputError` unless the argument is a `Collection`."""
    if not isinstance(collection, Collection):
        hint = "make one of runs and judgments first: read_collection(qrels, runs, pool=…)"
        raise InputError(f"a {type(collection).__name__} where a Collection is expected", hint=hint)


def find_targets(
    collection: Collection, run_ids: str | Iterable[str] | None, settings: TargetSettings
) -> tuple[Collection, tuple[str, ...], dict[str, str]]:
    """Return the collection with its pool for scoring, the runs to score and those taken out of the pool.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        As in `score`.
    settings : TargetSettings
        What leaves the pool, and how deep it is.

    Returns
    -------
    Collection
        Pooled to ``pool_depth``, without judgments that only the unpooled runs contributed, and with one's
        own judgments of documents that are then unjudged.
    tuple of str
        The runs to score.
    dict of str to str
        The unpooled runs, each with what left the pool because of it (`bayespool.pooling.unpool_runs`).

    Raises
    ------
    InputError
        Nothing to score; a name to unpool that is neither a run nor an organization, or both; a depth beyond
        the pool's; a judgment of one's own that contradicts one of the pool.

    Warns
    -----
    InputWarning
        Judgments of one's own that are ignored (`bayespool.collection.check_own_judgments`).
    """
    expect_collection(collection)
    if settings.pool_depth is not None:
        collection = collection.truncate_pool(settings.pool_depth)
    unpooled: dict[str, str] = {}
    if settings.unpool:
        collection, unpooled = unpool_runs(collection, settings.unpool, by=settings.unpool_by)
    collection = check_own_judgments(collection)
    if run_ids is None:
        run_ids = collection.given_run_ids
        targets = tuple(dict.fromkeys((*run_ids, *unpooled))) or collection.unpooled_run_ids
    else:
        named_runs = (run_ids,) if isinstance(run_ids, str) else tuple(run_ids)
        targets = tuple(dict.fromkeys((*named_runs, *unpooled)))
    if not targets:
        raise InputError("no run to score")
    return collection, targets, unpooled


def resolve_targets(
    collection: Collection,
    run_ids: str | Iterable[str] | None,
    settings: TargetSettings,
    measures: tuple[Measure, ...],
    estimand: Estimand,
) -> tuple[Collection, tuple[str, ...], dict[str, str]]:
    """Find the runs to score as in `find_targets`, and warn about unused relevance levels and judges.

    Warn of measures and second judges that do not suit the collection.
    """
    collection, targets, unpooled = find_targets(collection, run_ids, settings)
    warn_of_unused_relevance(collection, measures)
    warn_of_judges(collection, targets, measures, estimand=estimand)
    return collection, targets, unpooled


def pool_metadata(
    collection: Collection, whole: Collection, run_ids: Sequence[str], measures: Sequence[Measure]
) -> dict[str, Any]:
    """Return metadata on the pool, with notes on the pool and on the runs' rankings."""
    pool = describe_pool(collection)
    fields = {name: getattr(pool, name) for name in type(pool).__dataclass_fields__}
    notes = [*describe_pool(whole).notes, *tie_notes(whole, run_ids, (m.cutoff for m in measures))]
    notes += clipping_notes(whole, measures)
    sparse = [str(measure) for measure in measures if whole.is_sparse_at(measure.rel)]
    if sparse and not whole.is_sparse:
        notes.append(f"{', '.join(sparse)}: {SPARSE_NOTE}")
    return {"pool": fields, "pool_notes": notes}


@takes(ScoreSettings)
def score(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    settings: ScoringSettings,
    report: Callable[[str], None] | None = None,
) -> Scores:
    """Score runs with bounds, published corrections and posterior intervals.

    Parameters
    ----------
    collection : Collection
        Of runs and judgments, as `bayespool.read_collection` makes it of files and of objects in memory.
    run_ids : str or iterable of str, optional
        Runs of the collection. Default: the runs to score that the collection was read with
        (``given_run_ids``), else those that were not pooled; with ``unpool`` only those named there.
    {options}
    report : callable, optional
        Called with a line on each stage of the work as it begins.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        Unknown run, measure, estimator or setting; two estimators alike; nothing to score; a name to
        unpool that is neither a run nor an organization, or both.

    Warns
    -----
    NoPoolWarning
        A posterior is asked for, and no run of the collection was pooled.
    PooledRunWarning
        A run to score is in the pool and judged in full: nothing of it is left to estimate.
    JudgeWarning
        Labels of a second judge are not used, are absent on just the unjudged documents, few, or a copy of
        the judgments.

    Examples
    --------
    >>> from bayespool import load_example, score
    >>> scores = score(load_example(), "new-a", "P@10", estimators=["background", "interpolated"])
    >>> columns = ["run_id", "estimator", "bound_lower", "value", "bound_upper"]
    >>> print(scores.to_frame()[columns].round(3).to_string(index=False))
    run_id    estimator  bound_lower  value  bound_upper
     new-a   background        0.595  0.598        0.685
     new-a interpolated        0.595  0.617        0.685

    Runs and judgments in memory, without a pool, so that only bounds are known:

    >>> from bayespool import read_collection
    >>> mine = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d1": 0.7}}
    >>> judged = {"q1": {"d1": 1, "d9": 0}, "q2": {"d8": 1}}
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     scores = score(read_collection(judged, mine), measures="P@2", estimators="background")
    >>> print(scores.to_frame()[["run_id", "bound_lower", "bound_upper"]].to_string(index=False))
    run_id  bound_lower  bound_upper
       run         0.25         0.75
    """
    expect_collection(collection)
    collection = _with_assessors(collection, settings)
    whole, estimand = collection, settings.estimand
    parsed, estimators = with_ideal(settings.measures, settings.ideal), settings.estimators
    collection, targets, unpooled = resolve_targets(whole, run_ids, settings, parsed, estimand)
    n_values = len(parsed) * (1 + settings.asks_another_assessor)
    refuse_too_many_draws(
        estimators, n_measures=n_values, n_runs=len(targets), n_topics=len(collection.query_ids)
    )
    for e in estimators:
        if isinstance(e, TopicsAdjustment):
            e.is_common(collection)  # refuses unknown topics before others are at work
    bounds = tuple(score_bounds(collection, targets, measure, estimand=estimand) for measure in parsed)
    _warn_of_judged_runs(collection, targets, bounds)
    if any(isinstance(e, PosteriorEstimator) for e in estimators):
        warn_of_no_pool(whole, rel=min(measure.rel for measure in parsed))
    if common := [q for e in estimators if isinstance(e, TopicsAdjustment) for q in e.common_query_ids]:
        collection = adopt_judgments(collection, targets, common)
    if settings.scope == "population":
        refuse_one_topic(len(collection.query_ids))
    is_of_the_user = collection.organization[collection.run_index(targets)] == collection.user_organization
    results = []
    for e, label in zip(estimators, estimator_labels(estimators), strict=True):
        if report is not None:
            report(f"estimating: {label}")
        group = estimate_checked(e, collection, targets, parsed)
        results.append(tuple(dataclasses.replace(one, method=label) for one in group))
    return Scores(
        run_ids=targets,
        query_ids=collection.query_ids,
        measures=parsed,
        bounds=bounds,
        estimates=tuple(group[i] for i in range(len(parsed)) for group in results),
        ci_prob=settings.ci_prob,
        scope=settings.scope,
        metadata={
            "bayespool": __version__,
            "settings": settings.describe(),
            "fingerprint": collection.fingerprint,
            "estimand": estimand,
            "ideals": {str(m): m.ideal for m in parsed if isinstance(m, Normalized)},
            "unpooled": unpooled,
            "passed_over": list(collection.ignored_judgments),
            "estimators": [describe_estimator(e) for e in estimators],
            "weights": {
                f"{e.method} {e.measure}": dict(e.weights) for group in results for e in group if e.weights
            },
            "runs_of_the_user": [targets[i] for i in np.flatnonzero(is_of_the_user)],
            **pool_metadata(collection, whole, targets, parsed),
            "order": collection.order,
            "query_ids": list(collection.query_ids),
            **({} if collection.second is None else {"assessors": describe_assessors(collection)}),
            "diagnostics": list(_diagnostics(e for group in results for e in group)),
        },
    )


def _with_assessors(collection: Collection, settings: ScoringSettings) -> Collection:
    """Return the collection with the second assessors' data if the settings ask for another assessor."""
    if not settings.asks_another_assessor:
        return collection if collection.second is None else dataclasses.replace(collection, second=None)
    if settings.confusion is not None:
        collection = set_confusion(collection, parse_confusion(settings.confusion))
    if collection.second is None:
        raise InputError(
            "nothing says what another assessor would judge",
            hint="give judgments of second assessors (second_assessors= of read_collection, or --reading "
            "second_assessors=FILE), or state how often levels change (confusion='95 5; 30 70')",
        )
    return collection


def _diagnostics(estimates: Iterable[Estimates]) -> Iterator[dict[str, Any]]:
    """Yield the results of diagnostic checks on draws as JSON types."""
    for e in estimates:
        if e.diagnostics is not None:
            checks = {"method": e.method, "measure": str(e.measure), **dataclasses.asdict(e.diagnostics)}
            checks["problems"] = list(e.diagnostics.problems)
            yield {name: None if value != value else value for name, value in checks.items()}


def _warn_of_judged_runs(collection: Collection, targets: Sequence[str], bounds: Sequence[Bounds]) -> None:
    """Warn about pooled runs without unjudged documents under every measure."""
    pooled = collection.pooled[collection.run_index(targets)]
    judged = np.all([~one.has_unjudged for one in bounds], axis=0)
    complete = [run for run, at_hand in zip(targets, pooled & judged, strict=True) if at_hand]
    if complete:
        which = complete[0] if len(complete) == 1 else f"{complete[0]} and {len(complete) - 1} more"
        warn_caller(
            f"{which}: in the pool and judged in full, so that nothing is left to estimate; to score a run "
            f"as if it were new take it out of the pool: --unpool {complete[0]}, or unpool={complete[0]!r}",
            PooledRunWarning,
        )


Quantity = Literal["mean", "lower", "upper"]
_SYSTEM = "(this system)"


@takes(PyTerrierSettings, positional="measure")
def pyterrier_measure(
    *,
    settings: PyTerrierSettings,
    pool: Runs | None = None,
    organizations: Organizations | None = None,
    reading: str | Mapping[str, Any] = "",
) -> Any:
    """Define an ir_measures measure whose value is the estimate from `bayespool.score`.

    In ``pt.Experiment`` it scores each system by the experiment's judgments, as one of a new organization.

    Parameters
    ----------
    {options}
    pool, organizations
        As for `bayespool.read_collection`. The pool is read once.
    reading : str or mapping of str to object
        Other arguments of `bayespool.read_collection`: ``"order=rank, topics=run"``
        (`bayespool.collection.parse_reading`), or by name.

    Returns
    -------
    ir_measures.Measure
        Called ``bayespool P@10 mean``, ….

    Raises
    ------
    InputError
        ir_measures is not installed; an unknown measure or quantity; an interval of an estimator without
        draws.

    Notes
    -----
    ``pt.Experiment`` takes the mean of values on topics, but ends of intervals on topics do not average to
    the ends of the mean's interval. With ``"lower"`` or ``"upper"`` each topic has its estimate plus the
    distance from the mean's estimate to that end: only the mean is meaningful, and tests of differences are
    those of the estimates. Topics without judgments have no value. Leave out ``batch_size``, with which
    ``pt.Experiment`` evaluates each batch of topics with its judgments alone.

    Examples
    --------
    >>> import pytest
    >>> ir_measures = pytest.importorskip("ir_measures")
    >>> mine = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d1": 0.7}}
    >>> judged = {"q1": {"d1": 1, "d9": 0}, "q2": {"d8": 1}}
    >>> pool = {"theirs": {"q1": {"d1": 0.3, "d9": 0.2}, "q2": {"d8": 1}}}
    >>> organizations = {"theirs": "them"}
    >>> measure = pyterrier_measure("P@2", estimator="as-judged", pool=pool, organizations=organizations)
    >>> ir_measures.calc_aggregate([measure], judged, mine)
    {bayespool P@2 mean: 0.25}
    """
    try:
        import ir_measures
    except ImportError:
        raise InputError("ir_measures is not installed", hint="pip install ir_measures") from None
    keywords = parse_reading(reading) if isinstance(reading, str) else dict(reading)
    refuse_unknown(keywords, inspect.signature(read_collection).parameters, "reading is for read_collection")
    parsed, quantity, ci_prob = settings.measure, settings.quantity, settings.ci_prob
    if pool is not None:
        way = Reading(
            id_from=keywords.get("run_id", "file"),
            strict=keywords.get("strict", True),
            ranks=keywords.get("order") == "rank",
            max_file_size=keywords.get("max_file_size", MAX_FILE_SIZE),
        )
        (pool,) = gather_runs(pool, names=("pool",), reading=way)
    scoring = settings.score_settings()

    def evaluate(qrels: pd.DataFrame, run: pd.DataFrame) -> Iterator[tuple[str, float]]:
        runs = {_SYSTEM: run[["query_id", "doc_id", "score"]]}
        collection = read_collection(qrels, runs, pool=pool, organizations=organizations, **keywords)
        scores = score(collection, collection.given_run_ids, settings=scoring)
        (estimates,) = scores.estimates
        off = 0.0
        if quantity != "mean":
            if estimates.draws is None:
                hint = "name a posterior, such as posterior-combined"
                raise InputError(f"{estimates.method} has no interval", hint=hint)
            off = float(estimates.interval(ci_prob)[quantity == "upper"][0] - estimates.value[0])
        yield from zip(scores.query_ids, (estimates.per_topic[0] + off).tolist(), strict=True)

    return ir_measures.define(evaluate, f"bayespool {parsed} {quantity}", support_cutoff=False)

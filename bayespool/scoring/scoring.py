"""Score runs: estimators × measures × runs to one `Scores`; the same as a measure of ir_measures."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, Unpack

import pandas as pd

from bayespool import __version__
from bayespool.arrays import Progress
from bayespool.collection import Collection
from bayespool.collection.own import find_targets as find_targets
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.measures import Estimates, Estimator, Normalized
from bayespool.measures.estimates import estimate_checked
from bayespool.measures.parsing import parse_sole_measure
from bayespool.measures.populations import refuse_one_topic
from bayespool.names import Scope, describe_estimator
from bayespool.pooling import read_collection
from bayespool.posterior import PosteriorEstimator
from bayespool.reading import Reading
from bayespool.reading.keys import parse_reading
from bayespool.reading.sources import Organizations, Runs, gather_runs
from bayespool.scoring.asked import Asked, AskedKeywords, Targets
from bayespool.scoring.cautions import judged_run_notes, warn_of_judged_runs
from bayespool.scoring.checked_by_design import ESTIMATORS_BY_DESIGN, answers_a_design
from bayespool.scoring.estimators import estimator_labels, refuse_too_many_draws
from bayespool.scoring.scores import Scores
from bayespool.validation import check_choice, listed


def score(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | Estimator | Iterable[str | Estimator] = "default",
    scope: Scope = "these-topics",
    progress: Progress | None = None,
    **asked: Unpack[AskedKeywords],
) -> Scores:
    """Score runs with bounds, published corrections and posterior intervals.

    Parameters
    ----------
    collection : Collection
        Of runs and judgments, as `bayespool.read_collection` makes it of files and of objects in memory.
    run_ids : str or iterable of str, optional
        Runs of the collection. Default: the runs to score that the collection was read with
        (``given_run_ids``), else those that were not pooled; with ``unpool`` only those named there.
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    estimators : str, Estimator or iterable of them, default "default"
        "default", "all", "pairs", or names with settings in parentheses: background(e=0.05),smoothed;
        effects of columns follow a plus: posterior-ratio + (1 | type). The three stand for
        `bayespool.scoring.DEFAULT_ESTIMATORS`, `bayespool.scoring.ALL_ESTIMATORS` and
        `bayespool.scoring.PAIRED_ESTIMATORS`, in which each published correction is followed by the
        posterior of its hierarchical form. Where the judgments are answers to a design beside labels, the
        default are by-design and posterior-combined.
    scope : {"these-topics", "population", "groups"}, default "these-topics"
        What is uncertain: unjudged documents, or topics too (population), of which these are a sample, or for
        means of groups the groups.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.
    **asked
        Keywords of every question: `bayespool.Question`.

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
        A posterior is asked for, no run of the collection was pooled, and documents are unjudged.
    PooledRunWarning
        A run to score is in the pool and judged in full: nothing of it is left to estimate.
    JudgeWarning
        Labels of an LLM judge are not used, are absent on just the unjudged documents, few, or a copy of
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
    if estimators == "default" and answers_a_design(collection):
        estimators = ESTIMATORS_BY_DESIGN
    question = Asked(collection, run_ids, measures, estimators=estimators, **asked)
    question.check_scope("scope", scope)
    targets = question.resolve(question.estimators_or("default"), may_group=True)
    settings = question.describe(measures=question.measures, estimators=targets.estimators, scope=scope)
    scores = score_targets(
        targets, scope=scope, ci_prob=question.interval_prob, settings=settings, progress=progress
    )
    return dataclasses.replace(scores, without_labels=_estimates_without_labels(targets, progress))


def _estimates_without_labels(targets: Targets, progress: Progress | None) -> tuple[Estimates, ...]:
    """Return the estimates of posteriors without the labels of LLM judges, if there are any."""
    if not targets.collection.judges:
        return ()
    without, estimates = dataclasses.replace(targets.collection, judges=()), []
    for e, label in zip(targets.estimators, estimator_labels(targets.estimators), strict=True):
        if isinstance(e, PosteriorEstimator):
            if progress is not None:
                progress(f"estimating without labels: {label}")
            group = estimate_checked(e, without, targets.run_ids, targets.measures)
            estimates += [dataclasses.replace(one, estimator=label) for one in group]
    return tuple(estimates)


def score_targets(
    targets: Targets,
    *,
    settings: Mapping[str, Any],
    scope: Scope = "these-topics",
    ci_prob: float = 0.95,
    progress: Progress | None = None,
) -> Scores:
    """Score targets, with settings as the metadata have them."""
    collection, measures = targets.collection, targets.measures
    users = collection.organization == collection.user_organization
    runs_of_the_user = {run for run, is_own in zip(collection.run_ids, users, strict=True) if is_own}
    bounds = tuple(
        score_bounds(collection, targets.run_ids, measure, estimand=targets.estimand) for measure in measures
    )
    refuse_too_many_draws(targets.estimators, bounds)
    warn_of_judged_runs(collection, bounds)
    if scope != "these-topics":
        refuse_one_topic(bounds[0].low.n_topics)
        if targets.groups is not None:
            targets.groups.refuse_one_topic()
    results = []
    for e, label in zip(targets.estimators, estimator_labels(targets.estimators), strict=True):
        if progress is not None:
            progress(f"estimating: {label}")
        group = estimate_checked(e, collection, targets.run_ids, measures)
        results.append(tuple(dataclasses.replace(one, estimator=label) for one in group))
    return Scores(
        run_ids=targets.run_ids,
        query_ids=collection.query_ids,
        measures=measures,
        bounds=bounds,
        estimates=tuple(group[i] for i in range(len(measures)) for group in results),
        ci_prob=ci_prob,
        scope=scope,
        groups=targets.groups,
        metadata={
            "bayespool": __version__,
            "settings": dict(settings),
            "estimand": targets.estimand,
            "ideals": {str(m): m.ideal for m in measures if isinstance(m, Normalized)},
            "estimators": [describe_estimator(e) for e in targets.estimators],
            "weights": {
                f"{e.estimator} {e.measure}": dict(e.weights) for group in results for e in group if e.weights
            },
            "runs_of_the_user": [run for run in targets.run_ids if run in runs_of_the_user],
            **targets.metadata,
            "pool_notes": [*targets.metadata["pool_notes"], *judged_run_notes(collection, bounds)],
            "order": collection.order,
            "diagnostics": list(_diagnostics(e for group in results for e in group)),
        },
    )


def _diagnostics(estimates: Iterable[Estimates]) -> Iterator[dict[str, Any]]:
    """Yield the results of diagnostic checks on draws as JSON types."""
    for e in estimates:
        if e.diagnostics is not None:
            checks = {
                "estimator": e.estimator,
                "measure": str(e.measure),
                **dataclasses.asdict(e.diagnostics),
            }
            checks["problems"] = list(e.diagnostics.problems)
            yield {name: None if value != value else value for name, value in checks.items()}


Quantity = Literal["mean", "lower", "upper"]
_SYSTEM = "(this system)"


def pyterrier_measure(
    measure: object,
    *,
    quantity: Quantity | Iterable[Quantity] = "mean",
    estimator: str | Estimator = "posterior-combined",
    posterior_settings: str | PosteriorEstimator | None = None,
    ci_prob: float | None = None,
    random_seed: int = 1,
    pool: Runs | None = None,
    organizations: Organizations | None = None,
    reading: str | Mapping[str, Any] = "",
) -> Any:
    """Define an ir_measures measure whose value is the estimate from `bayespool.score`.

    In ``pt.Experiment`` it scores each system by the experiment's judgments, as one of a new organization.

    Parameters
    ----------
    measure : measure
        P@10, nDCG@10, ….
    quantity : {"mean", "lower", "upper"} or sequence of them, default "mean"
        The estimate, or an end of its interval. Several share a fit for each system.
    estimator : str or Estimator, default "posterior-combined"
        A posterior, or with ``mean`` any estimator.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of a posterior: "draws=4000, engine=nuts, mu=Normal(-2,1)".
    ci_prob : float, optional
        Probability of the interval; default: 0.95.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.
    pool, organizations
        As for `bayespool.read_collection`. The pool is read once.
    reading : str or mapping of str to object
        Other arguments of `bayespool.read_collection`: ``"order=rank, topics=run"``
        (`bayespool.reading.parse_reading`), or by name.

    Returns
    -------
    ir_measures.Measure, or a list of them for a sequence of quantities
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
    from pandas.util import hash_pandas_object

    try:
        import ir_measures
    except ImportError:
        raise InputError("ir_measures is not installed", hint="pip install ir_measures") from None
    keywords = parse_reading(reading) if isinstance(reading, str) else dict(reading)
    for name in keywords:
        check_choice("reading", name, inspect.signature(read_collection).parameters)
    quantities = listed("quantity", quantity, check_choice, Quantity)
    parsed, ci_prob = parse_sole_measure(measure), fill_ci_prob(ci_prob)
    if pool is not None:
        fields = {"run_id": "id_from", "strict": "strict", "max_file_size": "max_file_size"}
        given = {field: keywords[name] for name, field in fields.items() if name in keywords}
        given["may_repeat"] = keywords.get("documents") == "best-passage"
        way = Reading(ranks=keywords.get("order") == "rank", **given)
        (pool,) = gather_runs(pool, names=("pool",), reading=way)

    latest: dict[tuple[bytes, ...], Scores] = {}

    def score_system(qrels: pd.DataFrame, run: pd.DataFrame) -> Scores:
        key = tuple(hash_pandas_object(frame, index=False).to_numpy().tobytes() for frame in (qrels, run))
        if key in latest:
            return latest[key]
        runs = {_SYSTEM: run[["query_id", "doc_id", "score"]]}
        collection = read_collection(qrels, runs, pool=pool, organizations=organizations, **keywords)
        latest.clear()
        latest[key] = score(
            collection,
            collection.given_run_ids,
            parsed,
            estimators=estimator,
            posterior_settings=posterior_settings,
            random_seed=random_seed,
        )
        return latest[key]

    def evaluate(
        qrels: pd.DataFrame, run: pd.DataFrame, *, quantity: Quantity
    ) -> Iterator[tuple[str, float]]:
        scores = score_system(qrels, run)
        (estimates,) = scores.estimates
        off = 0.0
        if quantity != "mean":
            if estimates.draws is None:
                hint = "name a posterior, such as posterior-combined"
                raise InputError(f"{estimates.estimator} has no interval", hint=hint)
            off = float(estimates.interval(ci_prob)[quantity == "upper"][0] - estimates.value[0])
        yield from zip(scores.query_ids, (estimates.per_topic[0] + off).tolist(), strict=True)

    measures = [
        ir_measures.define(
            partial(evaluate, quantity=each), f"bayespool {parsed} {each}", support_cutoff=False
        )
        for each in quantities
    ]
    return measures[0] if isinstance(quantity, str) else measures

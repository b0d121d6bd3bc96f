"""Score runs: estimators × measures × runs to one `Scores`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Unpack, cast, overload

import numpy as np

from bayespool import __version__
from bayespool.collection import Collection, Judgments, Runs
from bayespool.collection.no_pool import warn_of_no_pool
from bayespool.collection.own import check_own_judgments
from bayespool.errors import InputError, InputWarning, PooledRunWarning, warn_caller
from bayespool.evidence import Bounds, Estimand, score_bounds
from bayespool.measures import Estimates, Estimator, Ideal, Measure, Normalized, parse_measures
from bayespool.measures.estimates import ask
from bayespool.measures.normalized import with_ideal
from bayespool.measures.values import DEFAULT_CI_PROB
from bayespool.options import ScoringSettings, describe_estimator, documented, options_of
from bayespool.pooling import describe_pool, read_collection
from bayespool.pooling.discovery import take_out
from bayespool.pooling.loading import ReadOptions
from bayespool.posterior import PosteriorEstimator, PosteriorOptions
from bayespool.posterior.keywords import refuse_unknown_settings
from bayespool.posterior.second_judges import warn_of_judges
from bayespool.scoring.estimators import (
    ESTIMATOR_NAMES,
    named_estimators,
    parse_estimator,
    refuse_idle_priors,
    refuse_too_many_draws,
)
from bayespool.scoring.scores import Scores


def warn_of_unused_relevance(collection: Collection, measures: Iterable[Measure]) -> None:
    """Warn of each measure that needs a relevance that no document of the qrels has."""
    for measure in measures:
        if not (collection.relevance >= measure.rel).any():
            warn_caller(
                f"no document of the qrels has relevance {measure.rel} or more, which {measure} asks for",
                InputWarning,
            )


def refuse_of_judgments(measures: Iterable[Measure]) -> None:
    """Raise `InputError` for a measure of the judgments themselves, which has nothing to estimate."""
    for measure in measures:
        if measure.of_judgments:
            raise InputError(
                f"{measure} is of the judgments as they stand, and there is nothing to estimate",
                hint="score shows it; here name measures of the rankings",
            )


def expect_collection(given: object) -> None:
    """Raise `InputError` for anything but a collection."""
    if not isinstance(given, Collection):
        hint = "read_collection and build_collection make one of runs and judgments; score takes these, too"
        raise InputError(f"a {type(given).__name__} where a Collection is expected", hint=hint)


def find_targets(
    collection: Collection,
    run_ids: str | Iterable[str] | None,
    *,
    unpool: str | Iterable[str] | None,
    unpool_by: Literal["organization", "run"],
    pool_depth: int | None,
) -> tuple[Collection, tuple[str, ...], dict[str, str]]:
    """Find the runs to score, and the collection with the pool that they are scored by.

    Parameters
    ----------
    collection : Collection
    run_ids, unpool, unpool_by, pool_depth
        As in `score`.

    Returns
    -------
    Collection
        Pooled to ``pool_depth``, without judgments that only the unpooled runs contributed, and with one's
        own judgments of documents that are then unjudged.
    tuple of str
        The runs to score.
    dict of str to str
        The unpooled runs, each with what left the pool because of it (`bayespool.pooling.take_out`).

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
    if pool_depth is not None:
        collection = collection.truncate_pool(pool_depth)
    unpooled: dict[str, str] = {}
    if unpool is not None and (new := (unpool,) if isinstance(unpool, str) else tuple(unpool)):
        collection, unpooled = take_out(collection, new, by=unpool_by)
    collection = check_own_judgments(collection)
    if run_ids is None and unpooled:
        targets = tuple(unpooled)
    elif run_ids is None:
        targets = collection.unpooled_run_ids
    else:
        named = (run_ids,) if isinstance(run_ids, str) else tuple(run_ids)
        targets = tuple(dict.fromkeys((*named, *unpooled)))
    if not targets:
        raise InputError("no run to score")
    return collection, targets, unpooled


class ScoreOptions(ReadOptions, PosteriorOptions, total=False):
    """Further arguments of `score`: options of reading, and settings of estimators."""


@overload
def score(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | Sequence[str | Estimator] = "default",
    ideal: Ideal = "own",
    unpool: str | Iterable[str] | None = None,
    unpool_by: Literal["organization", "run"] = "organization",
    pool_depth: int | None = None,
    estimand: Estimand = "complete",
    ci_prob: float = DEFAULT_CI_PROB,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[PosteriorOptions],
) -> Scores: ...


@overload
def score(
    run: Runs,
    qrels: Judgments,
    /,
    measures: object = "P@10",
    *,
    estimators: str | Sequence[str | Estimator] = "default",
    ideal: Ideal = "own",
    unpool: str | Iterable[str] | None = None,
    unpool_by: Literal["organization", "run"] = "organization",
    pool_depth: int | None = None,
    estimand: Estimand = "complete",
    ci_prob: float = DEFAULT_CI_PROB,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[ScoreOptions],
) -> Scores: ...


@overload
def score(
    run: Runs,
    /,
    *,
    qrels: Judgments,
    measures: object = "P@10",
    estimators: str | Sequence[str | Estimator] = "default",
    ideal: Ideal = "own",
    unpool: str | Iterable[str] | None = None,
    unpool_by: Literal["organization", "run"] = "organization",
    pool_depth: int | None = None,
    estimand: Estimand = "complete",
    ci_prob: float = DEFAULT_CI_PROB,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[ScoreOptions],
) -> Scores: ...


@documented(ScoringSettings)
def score(
    collection: Collection | Runs,
    run_ids: str | Iterable[str] | Judgments | None = None,
    measures: object = "P@10",
    *,
    qrels: Judgments | None = None,
    estimators: str | Sequence[str | Estimator] = "default",
    ideal: Ideal = "own",
    unpool: str | Iterable[str] | None = None,
    unpool_by: Literal["organization", "run"] = "organization",
    pool_depth: int | None = None,
    estimand: Estimand = "complete",
    ci_prob: float = DEFAULT_CI_PROB,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[ScoreOptions],
) -> Scores:
    """Score runs: bounds, the papers' corrections, and posterior intervals.

    Parameters
    ----------
    collection : Collection or Runs
        A collection; or a run or several, with their judgments as the second argument: paths, data frames,
        dictionaries, rows, objects of ir_measures and ranx, as `bayespool.read_collection` takes them.
    run_ids : str or iterable of str, optional
        Runs of the collection. Default: the runs that were not pooled, or with ``unpool`` none but those
        named there. Beside runs in the place of the collection stand the judgments here, or as ``qrels``.
    measures : measure or iterable of measures
        ``"P@10"``, ``["P@5", "P(rel=2)@10"]``, ir_measures objects.
    estimators : str or sequence of str or Estimator
        Names (see `bayespool.scoring.parse_estimator`) or estimators; ``"default"`` and ``"all"`` stand for
        several.
    {options}
    report : callable, optional
        Called with a line on each stage of the work as it begins.
    **settings
        Settings of the named estimators that have them: ``draws``, ``tune``, ``chains``, ``priors``, …. With
        runs and judgments also arguments of `bayespool.read_collection`: ``pool``, ``organizations``,
        ``judges``, ….

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        Unknown run, measure, estimator or setting; two estimators of one name; nothing to score; a name to
        unpool that is neither a run nor an organization, or both; runs or judgments that cannot be read.

    Warns
    -----
    NoPoolWarning
        A posterior is asked for, and no run of the collection was pooled.
    PooledRunWarning
        A run to score is in the pool and judged in full: nothing of it is left to estimate.
    JudgeWarning
        Labels of a second judge are not used, or absent on just the unjudged documents.

    Examples
    --------
    >>> from bayespool import load_example, score
    >>> scores = score(load_example(), "new-a", "P@10", estimators=["background", "interpolated"])
    >>> columns = ["run_id", "bound_lower", "interpolated", "bound_upper"]
    >>> print(scores.frame()[columns].round(3).to_string(index=False))
    run_id  bound_lower  interpolated  bound_upper
     new-a        0.595         0.617        0.685

    Runs and judgments in memory, without a pool, so that only bounds are known:

    >>> mine = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d1": 0.7}}
    >>> judged = {"q1": {"d1": 1, "d9": 0}, "q2": {"d8": 1}}
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     scores = score(mine, judged, "P@2", estimators="background")
    >>> print(scores.frame()[["run_id", "bound_lower", "bound_upper"]].to_string(index=False))
    run_id  bound_lower  bound_upper
       run         0.25         0.75
    """
    ScoringSettings(
        ideal=ideal,
        unpool_by=unpool_by,
        pool_depth=pool_depth,
        estimand=estimand,
        ci_prob=ci_prob,
        random_seed=random_seed,
    )
    of_estimators: dict[str, Any] = {k: v for k, v in settings.items() if k not in _READING}
    known = set(PosteriorEstimator.__dataclass_fields__) - {"model", "estimand", "random_seed"}
    own = ["measures", "estimators", *options_of(ScoringSettings), "pool", "organizations"]
    refuse_unknown_settings(of_estimators, known, more={"score": own})
    reading: dict[str, Any] = {k: v for k, v in settings.items() if k in _READING}
    collection, run_ids = _collection_of(collection, run_ids, qrels, reading, unpool)
    whole = collection
    collection, targets, unpooled = find_targets(
        whole, run_ids, unpool=unpool, unpool_by=unpool_by, pool_depth=pool_depth
    )
    parsed = with_ideal(parse_measures(measures), ideal)
    warn_of_unused_relevance(collection, parsed)
    warn_of_judges(collection, targets, parsed, estimand=estimand)
    of_estimators["random_seed"] = random_seed
    chosen = [parse_estimator(e, estimand=estimand, **of_estimators) for e in named_estimators(estimators)]
    if not chosen:
        raise InputError("no estimator given", hint=f"known: {', '.join(ESTIMATOR_NAMES)}")
    refuse_idle_priors(chosen, of_estimators.get("priors") or {})
    names = [e.name for e in chosen]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"two estimators are called {twice[0]!r}", hint="score them one after the other")
    refuse_too_many_draws(
        chosen, n_measures=len(parsed), n_runs=len(targets), n_topics=len(collection.query_ids)
    )
    bounds = tuple(score_bounds(collection, targets, measure, estimand=estimand) for measure in parsed)
    _warn_of_judged_runs(collection, targets, bounds)
    if any(isinstance(e, PosteriorEstimator) for e in chosen):
        warn_of_no_pool(whole)
    results = []
    for e in chosen:
        if report is not None:
            report(f"estimating: {e.name}")
        results.append(ask(e, collection, targets, parsed))
    pool = describe_pool(collection)
    return Scores(
        run_ids=targets,
        query_ids=collection.query_ids,
        measures=parsed,
        bounds=bounds,
        estimates=tuple(group[i] for i in range(len(parsed)) for group in results),
        ci_prob=ci_prob,
        metadata={
            "bayespool": __version__,
            "fingerprint": collection.fingerprint,
            "estimand": estimand,
            "ideals": {str(m): m.ideal for m in parsed if isinstance(m, Normalized)},
            "unpooled": unpooled,
            "passed_over": list(collection.passed_over),
            "estimators": [describe_estimator(e) for e in chosen],
            "weights": {
                f"{e.method} {e.measure}": dict(e.weights) for group in results for e in group if e.weights
            },
            "runs_of_the_user": [
                run
                for run, organization in zip(
                    targets, collection.organization[collection.run_index(targets)], strict=True
                )
                if organization == collection.user_organization
            ],
            "pool": {name: getattr(pool, name) for name in type(pool).__dataclass_fields__},
            "query_ids": list(collection.query_ids),
            "unjudged": {
                str(one.measure): [" ".join(map(str, counts)) for counts in one.n_unjudged.tolist()]
                for one in bounds
            },
            "diagnostics": list(_diagnostics(e for group in results for e in group)),
        },
    )


_READING = frozenset(ReadOptions.__annotations__)


def _collection_of(
    collection: Collection | Runs,
    run_ids: str | Iterable[str] | Judgments | None,
    qrels: Judgments | None,
    reading: Mapping[str, Any],
    unpool: str | Iterable[str] | None,
) -> tuple[Collection, str | Iterable[str] | None]:
    """The collection, or the one made of runs and judgments, and the ids of its runs to score."""
    if isinstance(collection, Collection):
        if qrels is not None or reading:
            superfluous = ", ".join([*reading, *(["qrels"] if qrels is not None else [])])
            raise InputError(
                f"the collection has judgments and a pool already ({superfluous})",
                hint="give these to read_collection, which makes one, or runs in the place of the collection",
            )
        return collection, cast("str | Iterable[str] | None", run_ids)
    judgments = run_ids if qrels is None else qrels
    if judgments is None:
        raise InputError("runs without judgments", hint="score(run, qrels), or score(collection)")
    if qrels is not None and run_ids is not None:
        raise InputError("judgments are given twice", hint="as the second argument, or as qrels")
    made = read_collection(cast("Judgments", judgments), collection, **reading)
    return made, None if unpool is not None and not made.given_run_ids else made.given_run_ids


def _diagnostics(estimates: Iterable[Estimates]) -> Iterator[dict[str, Any]]:
    """Results of the checks of draws, as JSON can hold them."""
    for e in estimates:
        if e.diagnostics is not None:
            checks = {"method": e.method, "measure": str(e.measure), **dataclasses.asdict(e.diagnostics)}
            checks["problems"] = list(e.diagnostics.problems)
            yield {name: None if value != value else value for name, value in checks.items()}


def _warn_of_judged_runs(collection: Collection, targets: Sequence[str], bounds: Sequence[Bounds]) -> None:
    """Warn of pooled runs that have nothing unjudged under any measure."""
    pooled = collection.pooled[collection.run_index(targets)]
    judged = np.all([~one.has_unjudged for one in bounds], axis=0)
    known = [run for run, at_hand in zip(targets, pooled & judged, strict=True) if at_hand]
    if known:
        which = known[0] if len(known) == 1 else f"{known[0]} and {len(known) - 1} more"
        warn_caller(
            f"{which}: in the pool and judged in full, so that nothing is left to estimate; to score a run "
            f"as if it were new take it out of the pool: --unpool {known[0]}, or unpool={known[0]!r}",
            PooledRunWarning,
        )

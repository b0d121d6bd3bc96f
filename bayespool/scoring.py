"""Many estimators × measures × runs → one frozen `Scores`: the main job."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.counts import Bounds, Estimand, bounds
from bayespool.errors import InputError, InputWarning, PooledRunWarning
from bayespool.estimates import Estimates, Estimator, ask
from bayespool.estimators import (
    ESTIMATOR_NAMES,
    named_estimators,
    parse_estimator,
    refuse_idle_priors,
    refuse_too_many_draws,
)
from bayespool.measures import Measure, Normalised, parse_measures
from bayespool.options import ScoringSettings, describe_estimator, documented, options_of
from bayespool.pool import describe_pool, take_out
from bayespool.posterior import PosteriorEstimator, warn_of_judges
from bayespool.scores import Scores
from bayespool.values import DEFAULT_CI_PROB

__all__ = [
    "find_targets",
    "refuse_of_judgments",
    "score",
    "warn_of_unused_relevance",
]


def warn_of_unused_relevance(
    collection: Collection, measures: Iterable[Measure], *, stacklevel: int = 2
) -> None:
    """Warn of a measure that asks for a relevance that no document of the qrels has.

    Parameters
    ----------
    collection : Collection
    measures : iterable of Measure
    stacklevel : int
        As for `warnings.warn`, from here.

    Warns
    -----
    InputWarning
        Once per measure.
    """
    for measure in measures:
        if not (collection.relevance >= measure.rel).any():
            warnings.warn(
                f"no document of the qrels has relevance {measure.rel} or more, which {measure} asks for",
                InputWarning,
                stacklevel=stacklevel,
            )


def refuse_of_judgments(measures: Iterable[Measure]) -> None:
    """Refuse a measure that is of the judgments as they stand, where values are to be estimated.

    Raises
    ------
    InputError
        There is one.
    """
    for measure in measures:
        if measure.of_judgments:
            raise InputError(
                f"{measure} is of the judgments as they stand, and there is nothing to estimate",
                hint="score shows it; here name measures of the rankings",
            )


def find_targets(
    collection: Collection,
    run_ids: str | Iterable[str] | None,
    *,
    unpool: str | Iterable[str] | None,
    unpool_by: Literal["organization", "run"],
    pool_depth: int | None,
) -> tuple[Collection, tuple[str, ...], dict[str, str]]:
    """Which runs are scored, on which pool.

    Parameters
    ----------
    collection : Collection
    run_ids, unpool, unpool_by, pool_depth
        As in `score`.

    Returns
    -------
    Collection
        Pooled to the depth asked for, without what only the runs taken out had brought.
    tuple of str
        The runs to score.
    dict of str to str
        Those taken out of the pool, each with what left because of it (`bayespool.pool.take_out`).

    Raises
    ------
    InputError
        Nothing to score; a name to unpool that is neither a run nor an organization, or both; a depth beyond
        the pool's.
    """
    if pool_depth is not None:
        collection = collection.truncate_pool(pool_depth)
    unpooled: dict[str, str] = {}
    if unpool is not None and (new := (unpool,) if isinstance(unpool, str) else tuple(unpool)):
        collection, unpooled = take_out(collection, new, by=unpool_by)
    if run_ids is None and unpooled:
        targets = tuple(unpooled)
    elif run_ids is None:
        targets = collection.unpooled_run_ids
    else:
        asked = (run_ids,) if isinstance(run_ids, str) else tuple(run_ids)
        targets = tuple(dict.fromkeys((*asked, *unpooled)))
    if not targets:
        raise InputError("no run to score")
    return collection, targets, unpooled


@documented(ScoringSettings)
def score(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | Sequence[str | Estimator] = "default",
    unpool: str | Iterable[str] | None = None,
    unpool_by: Literal["organization", "run"] = "organization",
    pool_depth: int | None = None,
    estimand: Estimand = "complete",
    ci_prob: float = DEFAULT_CI_PROB,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Any,
) -> Scores:
    """Score runs: bounds, the papers' corrections, and posterior intervals.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        Default: the runs that were not pooled, or with ``unpool`` none but those named there.
    measures : measure or iterable of measures
        ``"P@10"``, ``["P@5", "P(rel=2)@10"]``, ir_measures objects.
    estimators : str or sequence of str or Estimator
        Names (see `bayespool.estimators.parse_estimator`) or estimators; ``"default"`` and ``"all"`` stand
        for several.
    {options}
    report : callable, optional
        Called with a line on each stage of the work as it begins.
    **settings
        Settings of the named estimators that have them: ``draws``, ``tune``, ``chains``, ``priors``, ….

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        Unknown run, measure, estimator or setting; two estimators of one name; nothing to score; a name to
        unpool that is neither a run nor an organization, or both.

    Warns
    -----
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
    """
    ScoringSettings(
        unpool_by=unpool_by,
        pool_depth=pool_depth,
        estimand=estimand,
        ci_prob=ci_prob,
        random_seed=random_seed,
    )
    collection, targets, unpooled = find_targets(
        collection, run_ids, unpool=unpool, unpool_by=unpool_by, pool_depth=pool_depth
    )
    parsed = parse_measures(measures)
    known = set(PosteriorEstimator.__dataclass_fields__) - {"model", "estimand", "random_seed"}
    if unknown := set(settings) - known:
        raise InputError(
            f"unknown settings {sorted(unknown)}",
            hint=f"score has {', '.join(options_of(ScoringSettings))}; "
            f"estimators have {', '.join(sorted(known))}",
        )
    warn_of_unused_relevance(collection, parsed, stacklevel=3)
    warn_of_judges(collection, targets, parsed, estimand=estimand, stacklevel=3)
    settings["random_seed"] = random_seed
    chosen = [parse_estimator(e, estimand=estimand, **settings) for e in named_estimators(estimators)]
    if not chosen:
        raise InputError("no estimator given", hint=f"known: {', '.join(ESTIMATOR_NAMES)}")
    refuse_idle_priors(chosen, settings.get("priors") or {})
    names = [e.name for e in chosen]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"two estimators are called {twice[0]!r}", hint="score them one after the other")
    refuse_too_many_draws(
        chosen, n_measures=len(parsed), n_runs=len(targets), n_topics=len(collection.query_ids)
    )
    found = tuple(bounds(collection, targets, measure, estimand=estimand) for measure in parsed)
    _warn_of_pooled_runs(collection, targets, found)
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
        bounds=found,
        estimates=tuple(of_one[i] for i in range(len(parsed)) for of_one in results),
        ci_prob=ci_prob,
        metadata={
            "bayespool": __version__,
            "fingerprint": collection.fingerprint,
            "estimand": estimand,
            "ideals": {str(m): m.ideal for m in parsed if isinstance(m, Normalised)},
            "unpooled": unpooled,
            "estimators": [describe_estimator(e) for e in chosen],
            "weights": {
                f"{e.method} {e.measure}": dict(e.weights) for of_one in results for e in of_one if e.weights
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
                str(of_one.measure): [" ".join(map(str, counts)) for counts in of_one.n_unjudged.tolist()]
                for of_one in found
            },
            "diagnostics": list(_diagnostics(e for of_one in results for e in of_one)),
        },
    )


def _diagnostics(estimates: Iterable[Estimates]) -> Iterator[dict[str, Any]]:
    """What the checks of draws found, as JSON can hold it."""
    for e in estimates:
        if e.diagnostics is not None:
            found = {"method": e.method, "measure": str(e.measure), **dataclasses.asdict(e.diagnostics)}
            found["problems"] = list(e.diagnostics.problems)
            yield {name: None if value != value else value for name, value in found.items()}


def _warn_of_pooled_runs(collection: Collection, targets: Sequence[str], found: Sequence[Bounds]) -> None:
    """Warn of runs to score that the pool contains and that have nothing unjudged under any measure."""
    pooled = collection.pooled[collection.run_index(targets)]
    judged = np.all([~of_one.has_unjudged for of_one in found], axis=0)
    known = [run for run, at_hand in zip(targets, pooled & judged, strict=True) if at_hand]
    if known:
        which = known[0] if len(known) == 1 else f"{known[0]} and {len(known) - 1} more"
        warnings.warn(
            f"{which}: in the pool and judged in full, so that nothing is left to estimate; to score a run "
            f"as if it were new take it out of the pool: --unpool {known[0]}, or unpool={known[0]!r}",
            PooledRunWarning,
            stacklevel=3,
        )

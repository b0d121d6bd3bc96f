"""Many estimators × measures × runs → one frozen `Scores`: the main job."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.counts import Bounds, Estimand, bounds
from bayespool.errors import InputError, InputWarning
from bayespool.estimates import Estimates, Estimator, ask
from bayespool.estimators import (
    DEFAULT_ESTIMATORS,
    ESTIMATOR_NAMES,
    describe_estimator,
    parse_estimator,
    refuse_idle_priors,
)
from bayespool.measures import Measure, parse_measures
from bayespool.pool import describe_pool
from bayespool.posterior import PosteriorEstimator
from bayespool.values import DEFAULT_CI_PROB

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DEFAULT_ESTIMATORS",
    "ESTIMATOR_NAMES",
    "Scores",
    "parse_estimator",
    "refuse_idle_priors",
    "score",
    "warn_of_unused_relevance",
]


@dataclass(frozen=True, eq=False)
class Scores:
    """Bounds and estimates of some runs under some measures.

    Attributes
    ----------
    run_ids, query_ids : tuple of str
    measures : tuple of Measure
    bounds : tuple of Bounds
        One per measure.
    estimates : tuple of Estimates
        Measure by measure, in the order of the estimators.
    ci_prob : float
        Probability of the intervals in the frames.
    metadata : dict
        Version, fingerprint, pool, settings: what a result must be quoted with.
    """

    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    measures: tuple[Measure, ...]
    bounds: tuple[Bounds, ...]
    estimates: tuple[Estimates, ...]
    ci_prob: float
    metadata: Mapping[str, Any]

    def __getitem__(self, key: tuple[str, object]) -> Estimates:
        """The estimates of one method under one measure: ``scores["posterior-combined", "P@10"]``."""
        method, measure = key
        for estimate in self.estimates:
            if estimate.method == method and str(estimate.measure) == str(measure):
                return estimate
        there = ", ".join(dict.fromkeys(f"{e.method}, {e.measure}" for e in self.estimates))
        raise KeyError(f"no estimates {method!r}, {str(measure)!r}; there are: {there}")

    @cached_property
    def notes(self) -> dict[tuple[str, Measure], str]:
        """What is off, by run and measure; empty text where nothing is."""
        notes = {}
        pool, deep = self.metadata["pool"], self.metadata["estimand"] == "complete"
        for measure, found in zip(self.measures, self.bounds, strict=True):
            missing = (found.n_missing == measure.cutoff).sum(axis=1)
            for r, run in enumerate(self.run_ids):
                said = [] if pool["n_pooled_runs"] else ["no pooled runs"]
                if run in (yours := self.metadata["runs_of_the_user"]) and len(yours) > 1:
                    said.append(f"{len(yours)} runs that no list names count as one organization, yours")
                if pool["n_organizations"] == 1:
                    said.append("a pool of one organization: how organizations differ is not known from it")
                if deep and found.has_unjudged[r] and measure.cutoff > pool["depth"] > 0:
                    said.append(f"ranks below the pool depth of {pool['depth']} are extrapolated")
                if missing[r]:
                    said.append(f"{missing[r]} of {len(self.query_ids)} topics missing from the run")
                if not found.has_unjudged[r]:
                    said.append("nothing unjudged")
                elif not found.n_judged[r].any():
                    said.append("nothing of it is judged: are these the collection's document ids?")
                for e in self.estimates:
                    if e.measure == measure and e.notes and e.notes[r]:
                        said.append(f"{e.method}: {e.notes[r]}")
                notes[run, measure] = "; ".join(said)
        return notes

    def frame(self, *, per_topic: bool = False) -> pd.DataFrame:
        """One row per run and measure (and topic): bounds, then every method.

        Returns
        -------
        pandas.DataFrame
            Columns ``run_id``, ``query_id`` (per topic only), ``measure``, ``bound_lower`` (B, as trec_eval
            gives it), ``bound_upper`` (T), ``residual`` (Δ), one column per method with its value, for each
            posterior method also ``<method>_lower`` and ``<method>_upper``, the ends of its interval, then
            ``ci_prob`` and ``note``.
        """
        import pandas as pd

        frames = []
        for measure, found in zip(self.measures, self.bounds, strict=True):
            n_topics = len(self.query_ids) if per_topic else 1
            # one division of a total each: a bound and an estimate that reaches it are the same number
            amounts = (found.low, found.high, found.width)
            bounds_ = [(v.scores() if per_topic else v.means()).ravel() for v in amounts]
            columns: dict[str, Any] = {"run_id": np.repeat(np.array(self.run_ids, dtype=object), n_topics)}
            if per_topic:
                columns["query_id"] = np.tile(np.array(self.query_ids, dtype=object), len(self.run_ids))
            columns |= {
                "measure": str(measure),
                **dict(zip(("bound_lower", "bound_upper", "residual"), bounds_, strict=True)),
            }
            for e in (e for e in self.estimates if e.measure == measure):
                columns[e.method] = (e.per_topic if per_topic else e.value).ravel()
                if e.draws is None and e.std is not None and not per_topic:
                    columns[f"{e.method}_std"] = e.std
                if e.draws is not None:
                    ends = e.topic_interval(self.ci_prob) if per_topic else e.interval(self.ci_prob)
                    columns[f"{e.method}_lower"], columns[f"{e.method}_upper"] = (end.ravel() for end in ends)
            columns["ci_prob"] = self.ci_prob
            columns["note"] = np.repeat(
                np.array([self.notes[run, measure] for run in self.run_ids], dtype=object), n_topics
            )
            frames.append(pd.DataFrame(columns))
        return pd.concat(frames, ignore_index=True)

    def summary_frame(self, *, per_topic: bool = False) -> pd.DataFrame:
        """One row per run, measure and method (and topic): `Estimates.summary_frame` of all estimates, one
        below the other.
        """
        import pandas as pd

        frames = [e.summary_frame(ci_prob=self.ci_prob, per_topic=per_topic) for e in self.estimates]
        return pd.concat(frames, ignore_index=True)


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


def score(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | Sequence[str | Estimator] = DEFAULT_ESTIMATORS,
    ci_prob: float = DEFAULT_CI_PROB,
    estimand: Estimand = "complete",
    report: Callable[[str], None] | None = None,
    **settings: Any,
) -> Scores:
    """Score runs: bounds, the papers' corrections, and posterior intervals.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        Default: the runs that were not pooled.
    measures : measure or iterable of measures
        ``"P@10"``, ``["P@5", "P(rel=2)@10"]``, ir_measures objects.
    estimators : str or sequence of str or Estimator
        Names (see `parse_estimator`) or estimators.
    ci_prob : float in (0, 1), default 0.95
        Probability of the equal-tailed intervals.
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth may be relevant. Bounds follow it, too.
    report : callable, optional
        Called with a line on each stage of the work as it begins.
    **settings
        Settings of the named estimators that have them: ``draws``, ``tune``, ``chains``, ``random_seed``,
        ``priors``, ….

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        Unknown run, measure, estimator or setting; two estimators of one name; nothing to score.

    Examples
    --------
    >>> from bayespool import load_example, score
    >>> scores = score(load_example(), "new-a", "P@10", estimators=["background", "interpolated"])
    >>> columns = ["run_id", "bound_lower", "interpolated", "bound_upper"]
    >>> print(scores.frame()[columns].round(3).to_string(index=False))
    run_id  bound_lower  interpolated  bound_upper
     new-a        0.595         0.617        0.685
    """
    if not 0 < ci_prob < 1:
        raise InputError(f"ci_prob {ci_prob} is not between 0 and 1")
    if run_ids is None:
        targets = tuple(
            r for r, pooled in zip(collection.run_ids, collection.pooled, strict=True) if not pooled
        )
    else:
        targets = (run_ids,) if isinstance(run_ids, str) else tuple(dict.fromkeys(run_ids))
    if not targets:
        raise InputError("no run to score")
    parsed = parse_measures(measures)
    known = set(PosteriorEstimator.__dataclass_fields__) - {"model"}
    if unknown := set(settings) - known:
        raise InputError(f"unknown settings {sorted(unknown)}", hint=f"known: {', '.join(sorted(known))}")
    if isinstance(estimators, str):
        estimators = (estimators,)
    warn_of_unused_relevance(collection, parsed, stacklevel=3)
    chosen = [parse_estimator(e, estimand=estimand, **settings) for e in estimators]
    if not chosen:
        raise InputError("no estimator given", hint=f"known: {', '.join(ESTIMATOR_NAMES)}")
    refuse_idle_priors(chosen, settings.get("priors") or {})
    names = [e.name for e in chosen]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise InputError(f"two estimators are called {twice[0]!r}", hint="score them one after the other")
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
        bounds=tuple(bounds(collection, targets, m, estimand=estimand) for m in parsed),
        estimates=tuple(of_one[i] for i in range(len(parsed)) for of_one in results),
        ci_prob=ci_prob,
        metadata={
            "bayespool": __version__,
            "fingerprint": collection.fingerprint,
            "estimand": estimand,
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
        },
    )

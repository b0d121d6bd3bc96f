"""Many estimators × measures × runs → one frozen `Scores`: the main job."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.containers import container_bytes
from bayespool.counts import Bounds, Estimand, bounds
from bayespool.errors import InputError, InputWarning, PooledRunWarning
from bayespool.estimates import Estimates, Estimator, ask, draws_container
from bayespool.estimators import (
    ESTIMATOR_NAMES,
    named_estimators,
    parse_estimator,
    refuse_idle_priors,
    refuse_too_many_draws,
)
from bayespool.files import PathLike, atomic_write
from bayespool.measures import Measure, Normalised, parse_measures
from bayespool.options import ScoringSettings, describe_estimator, documented, options_of
from bayespool.pool import describe_pool, take_out
from bayespool.posterior import PosteriorEstimator, warn_of_judges
from bayespool.stored import with_scores
from bayespool.values import DEFAULT_CI_PROB

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Scores",
    "find_targets",
    "refuse_of_judgments",
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
                if run in self.metadata.get("unpooled", {}):
                    said.append(f"as if new: {self.metadata['unpooled'][run]} taken out of the pool")
                if pool["n_organizations"] == 1:
                    said.append("a pool of one organization: how organizations differ is not known from it")
                below = measure.cutoff > pool["depth"] > 0 and not pool["strategy"]
                if deep and found.has_unjudged[r] and below:
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
            Columns ``run_id``, ``query_id`` (per topic only), ``measure``, ``as_judged`` (B, as trec_eval
            gives it), ``bound_lower`` and ``bound_upper`` (what no completion of the judgments goes below or
            beyond: B and T, but for measures over an ideal ranking), ``residual`` (Δ = T − B, see
            `bayespool.counts.Bounds`), one column per method with its value, for each posterior method also
            ``<method>_lower`` and ``<method>_upper``, the ends of its interval, and per run only, where the
            method asks how unlike the pool a run is, ``<method>_distance`` and ``<method>_new_kind``; then
            ``ci_prob`` and ``note``.
        """
        import pandas as pd

        frames = []
        for measure, found in zip(self.measures, self.bounds, strict=True):
            n_topics = len(self.query_ids) if per_topic else 1
            # one division of a total each: a bound and an estimate that reaches it are the same number
            amounts = (found.low, found.least, found.most, found.width)
            bounds_ = [(v.scores() if per_topic else v.means()).ravel() for v in amounts]
            columns: dict[str, Any] = {"run_id": np.repeat(np.array(self.run_ids, dtype=object), n_topics)}
            if per_topic:
                columns["query_id"] = np.tile(np.array(self.query_ids, dtype=object), len(self.run_ids))
            columns |= {
                "measure": str(measure),
                **dict(zip(("as_judged", "bound_lower", "bound_upper", "residual"), bounds_, strict=True)),
            }
            for e in (e for e in self.estimates if e.measure == measure):
                columns |= e.columns(self.ci_prob, per_topic=per_topic)
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

    def to_arviz(self, method: str | None = None, *, per_topic: bool = False) -> Any:
        """Draws of the estimates of one method under all measures as an ``xarray.DataTree`` for ArviZ.

        Parameters
        ----------
        method : str, optional
            One with draws; may be left out where there is only one.
        per_topic : bool, default False
            With the draws on each topic, too.

        Returns
        -------
        xarray.DataTree
            See `bayespool.estimates.Estimates.to_arviz`; with the group ``constant_data``, too:
            ``as_judged``, ``bound_lower``, ``bound_upper`` and ``residual`` as in `frame`, by (measure,
            run_id), with ``per_topic`` also ``as_judged_by_topic``, ….

        Raises
        ------
        InputError
            No method with draws, or several and none named, or no such method.

        Examples
        --------
        >>> from bayespool import load_example, score
        >>> scores = score(load_example(), "new-a", ["P@5", "P@10"], estimators="posterior-ratio", draws=100)
        >>> tree = scores.to_arviz()
        >>> sorted(tree["posterior"].data_vars), tree["constant_data"]["bound_upper"].dims
        (['P_10', 'P_5'], ('measure', 'run_id'))
        """
        drawn = list(dict.fromkeys(e.method for e in self.estimates if e.draws is not None))
        if method is None and len(drawn) == 1:
            (method,) = drawn
        if method not in drawn:
            wrong = f"no draws of {method}" if method or not drawn else "several methods have draws"
            raise InputError(wrong, hint=f"there are draws of: {', '.join(drawn) or 'no method'}")
        places = [(b.least, b.most, b.low, b.width) for b in self.bounds]
        constant = {}
        for i, name in enumerate(("bound_lower", "bound_upper", "as_judged", "residual")):
            constant[name] = np.array([found[i].means() for found in places])
            if per_topic:
                constant[f"{name}_by_topic"] = np.array([found[i].scores() for found in places])
        chosen = [e for e in self.estimates if e.method == method]
        return draws_container(chosen, per_topic=per_topic, constant_data=constant)

    def to_netcdf(self, path: PathLike, method: str | None = None, *, per_topic: bool = False) -> None:
        """Write `to_arviz`, `frame` and the metadata to a NetCDF file, whole or not at all; the same scores
        give the same bytes. `bayespool.read_scores` reads it back.

        Raises
        ------
        InputError
            As `to_arviz`.
        OutputError
            The file cannot be written; what stood there is untouched.
        """
        tree = self.to_arviz(method, per_topic=per_topic)
        tree = with_scores(tree, self.frame(per_topic=per_topic), self.metadata)
        atomic_write(path, container_bytes(tree))


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

"""Designs of experiments: what is concealed and estimated, and the grading against what was concealed."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import Bounds, score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments.base import RowOrder, fields_of, ordered_table
from bayespool.experiments.grading import interval_columns
from bayespool.experiments.preparing import changed, parts_description
from bayespool.experiments.running import Running, Work
from bayespool.experiments.settings import By, PoolSettings, Runs
from bayespool.experiments.storage import Columns, Stored, add_rows
from bayespool.measures import Estimates, Measure, Values
from bayespool.measures.estimates import estimate_checked, in_a_line
from bayespool.measures.values import DEFAULT_CI_PROB
from bayespool.posterior.second_judges import warn_of_judges
from bayespool.randomness import seed_of
from bayespool.scoring.scoring import warn_of_unused_relevance
from bayespool.tables.formatting import counted


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of an experiment: runs that are estimated while something is concealed.

    Attributes
    ----------
    name : str
        Its own among the parts.
    run_ids : tuple of str
        Runs to estimate.
    pool_run_ids : tuple of str
        Pooled runs whose judgments estimators get.
    measures : tuple of Measure
        Default: those of the settings.
    columns : tuple of (str, object)
        First columns of its rows; default: its name as ``part``.
    seeds : tuple
        Names that its random numbers depend on; default: the name.
    """

    name: str
    run_ids: tuple[str, ...]
    pool_run_ids: tuple[str, ...]
    measures: tuple[Measure, ...] = ()
    columns: tuple[tuple[str, object], ...] = ()
    seeds: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        defaults = {"columns": (("part", self.name),), "seeds": (self.name,)}
        for field in fields(Part)[1:]:
            value = tuple(getattr(self, field.name)) or defaults.get(field.name, ())
            object.__setattr__(self, field.name, value)


@dataclass(frozen=True, eq=False)
class Truth:
    """True values of a part's runs, and the number of documents that are unjudged in truth, too, and count as
    nonrelevant in truth and estimates, shape (run, topic).
    """

    values: Values
    n_unjudged: npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, kw_only=True)
class Graded:
    """Estimates of a part's runs by one estimator and measure beside their truth.

    Attributes
    ----------
    part : Part
    label : str
        Of the estimator.
    estimates : Estimates
    truth : Truth
    bounds : Bounds
        Of the scores, given what the estimator got.
    counted : ndarray of bool, shape (run, topic)
        Topics that a score is the mean over.
    organizations : ndarray of str, shape (run,)
    ci_prob : float
    random_seed : int
    """

    part: Part
    label: str
    estimates: Estimates
    truth: Truth
    bounds: Bounds
    counted: npt.NDArray[np.bool_]
    organizations: npt.NDArray[np.object_]
    ci_prob: float
    random_seed: int

    @property
    def n_topics(self) -> npt.NDArray[np.intp]:
        """Number of topics of each run's mean, shape (run,)."""
        return np.asarray(self.counted.sum(axis=1))

    def rows(self) -> dict[str, Any]:
        """Columns with a value for each run, or one for all."""
        bounds, truth, n_topics = self.bounds, self.truth, self.n_topics
        error = np.where(self.counted, self.estimates.per_topic - truth.values.scores(), 0)
        return {
            **dict(self.part.columns),
            "organization": self.organizations,
            "run_id": list(self.part.run_ids),
            "measure": str(bounds.measure),
            "estimator": self.label,
            "truth": truth.values.means(n_topics),
            "value": self.estimates.value,
            **interval_columns(
                self.estimates,
                truth.values,
                bounds.has_unjudged,
                ci_prob=self.ci_prob,
                seed=seed_of(self.random_seed, "pit", *self.part.seeds, bounds.measure, self.label),
                n_topics=n_topics,
            ),
            "as_judged": bounds.low.means(n_topics),
            "bound_lower": bounds.least.means(n_topics),
            "bound_upper": bounds.most.means(n_topics),
            "n_unjudged": bounds.n_unjudged.sum(axis=1),
            "n_unknown": truth.n_unjudged.sum(axis=1),
            "topic_rmse": np.sqrt((error**2).sum(axis=1) / n_topics),
            "distance": self.estimates.of_runs("distance"),
            "new_kind": self.estimates.of_runs("new_kind"),
            "note": [in_a_line(note) for note in self.estimates.notes] or "",
        }


class Design(Work):
    """What an experiment conceals, estimates and grades.

    A design of your own is a subclass with a ``name``, a ``version`` of its code, and `parts`; the other
    methods say what is usual. `run_design` runs it.
    """

    warns = (
        "\nInputWarning\n    No document has the relevance that a measure asks for."
        "\nJudgeWarning\n    Labels of a second judge are not used, for all runs or an organization's."
    )

    def parts(self, collection: Collection, settings: Any) -> Iterable[Part]:
        """The parts, in the order in which they are worked on."""
        raise NotImplementedError

    def conceal(self, collection: Collection, part: Any, settings: Any) -> Collection:
        """What the part's estimators get: by default the judgments of its pool."""
        kept = set(part.pool_run_ids)
        return collection.unpool([run for run in collection.pooled_run_ids if run not in kept])

    def judged_in_truth(self, collection: Collection, part: Any, settings: Any) -> npt.NDArray[np.bool_]:
        """Whether the truth judges each document, shape (pair,); estimates take others for nonrelevant."""
        return collection.judged

    def truth(
        self, collection: Collection, concealed: Collection, part: Any, measure: Measure, settings: Any
    ) -> Truth:
        """Values on all judgments, by default; ideal rankings have the documents of the estimate's."""
        estimand = settings.estimand_of_estimators
        values = values_on_fuller(concealed, collection, part.run_ids, measure, estimand)
        return Truth(values, score_bounds(collection, part.run_ids, measure, estimand=estimand).n_unjudged)

    def topics(self, collection: Collection, part: Any, settings: Any) -> npt.NDArray[np.bool_]:
        """Topics that each run's score is the mean over, shape (run, topic)."""
        return np.ones((len(part.run_ids), len(collection.query_ids)), dtype=bool)

    def seeds(self, part: Any, settings: Any) -> tuple[object, ...]:
        """Names that estimators' random numbers depend on; never judgments."""
        return (self.name, *part.seeds)

    def grade(self, graded: Graded, settings: Any) -> Mapping[str, Any]:
        """Columns of the rows of one estimator and measure, a value for each run or one for all."""
        return graded.rows()

    # --- what the runner asks ---

    def prepare(self, collection: Collection, settings: Any) -> None:
        """Warn of relevance that no document has, and of labels that are not used."""
        warn_of_unused_relevance(collection, settings.measures)
        warn_of_judges(collection, (), settings.measures)

    def compute(self, collection: Collection, part: Any, settings: Any) -> Stored:
        """Conceal, estimate and grade; also stored are true values by measure, shape (run, topic), NaN on
        topics that a score does not count, and processor seconds by stage.
        """
        clock = _Clock()
        with clock.timed("concealing"):
            concealed = self.conceal(collection, part, settings)
            concealed = concealed.judged_at_most(self.judged_in_truth(collection, part, settings))
        estimates = self._estimates(concealed, part, settings, clock)
        rows: Columns = {}
        scores: dict[str, list[Any]] = {}
        with clock.timed("comparing with the truth"):
            counted = self.topics(collection, part, settings)
            own = collection.organization[collection.run_index(part.run_ids)]
            organizations = np.array(collection.organizations, dtype=object)[own]
            for m, measure in enumerate(part.measures):
                truth = self.truth(collection, concealed, part, measure, settings)
                scores[str(measure)] = np.where(counted, truth.values.scores(), np.nan).tolist()
                bounds = score_bounds(
                    concealed, part.run_ids, measure, estimand=settings.estimand_of_estimators
                )
                for label, of_measures in estimates.items():
                    graded = Graded(
                        part=part,
                        label=label,
                        estimates=of_measures[m],
                        truth=truth,
                        bounds=bounds,
                        counted=counted,
                        organizations=organizations,
                        ci_prob=getattr(settings, "ci_prob", DEFAULT_CI_PROB),
                        random_seed=settings.random_seed,
                    )
                    add_rows(rows, self.grade(graded, settings))
        return rows, {"true_scores": scores, "seconds": clock.seconds}

    def identity(self, part: Any, settings: Any) -> tuple[str, list[Any]]:
        """Name of the part, its runs, pool, measures and columns."""
        pool = hashlib.blake2b("\0".join(part.pool_run_ids).encode(), digest_size=8).hexdigest()
        columns = [[name, value] for name, value in part.columns]
        return part.name, [part.name, list(part.run_ids), pool, [str(m) for m in part.measures], columns]

    def describe(self, settings: Any) -> dict[str, Any]:
        """Settings that parts depend on, with the versions of the user's own design, estimators and so on."""
        return parts_description(settings, self)

    def _estimates(
        self, concealed: Collection, part: Any, settings: Any, clock: _Clock
    ) -> dict[str, tuple[Estimates, ...]]:
        """Estimates by label, one per measure; errors have a note that names the estimator and the part."""
        estimates: dict[str, tuple[Estimates, ...]] = {}
        for label, estimator in settings.estimators:
            seed = seed_of(getattr(estimator, "random_seed", None), *self.seeds(part, settings))
            own = changed(estimator, "random_seed", seed)
            with clock.timed(label):
                try:
                    estimates[label] = estimate_checked(own, concealed, part.run_ids, part.measures)
                except Exception as error:
                    error.add_note(f"by estimator {label!r}, {self.name} of {part.name!r}")
                    raise
        return estimates


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        start = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start


PAPER_WIDTHS = (2, 4, 10, 20, 40)
"""Pool widths of Webber & Park (2009)."""

Kind = TypeVar("Kind", bound=PoolSettings)


def whole_pool(collection: Collection, runs: Runs, pool_depth: int | None) -> Collection:
    """The collection that pools are drawn from, with only the judgments that its runs account for.

    With ``runs="all"`` every run takes part, as in Webber & Park: unjudged documents within the depth count
    as judged and nonrelevant. The depth is by default the smallest among the runs.
    """
    if collection.pool_depth < 1 or not collection.pooled.any():
        raise InputError(
            "no pooled run to draw pools from",
            hint="give the campaign's runs as the pool, or name those pooled",
        )
    # the depth of every run, so that true scores do not depend on the rest of the pool
    deepest = collection.pool_depth
    if runs == "pooled":
        deepest = int(collection.depth_of(np.flatnonzero(collection.pooled)).min())
    depth = deepest if pool_depth is None else pool_depth
    if not 1 <= depth <= deepest:
        raise InputError(f"pool depth {depth} is not between 1 and {deepest}")
    if runs == "pooled":
        whole = collection.truncate_pool(depth)
    else:
        everyone = collection.with_pool(np.ones(len(collection.run_ids), dtype=bool), collection.pool_depth)
        whole = everyone.truncate_pool(depth)
        unknown = whole.in_pool() & ~whole.judged
        whole = dataclasses.replace(whole, relevance=np.where(unknown, np.int16(0), whole.relevance))
    return dataclasses.replace(whole, added_for=np.full_like(whole.added_for, -1), own=None)


def run_types_of(
    collection: Collection, run_types: Mapping[str, str] | None, run_ids: Iterable[str]
) -> tuple[tuple[str, str], ...]:
    """Pairs of run and type for some runs of the collection, in the order given; each needs a type."""
    if run_types is None:
        return ()
    names = list(run_ids)
    if missing := [run for run in names if run not in run_types]:
        have = "has" if len(missing) == 1 else "have"
        raise InputError(
            f"{counted(len(missing), 'run')} of the pool {have} no type, {missing[0]!r} for one",
            hint="give every run one",
        )
    return tuple((run, run_types[run]) for run in names)


def contributors(
    whole: Collection, by: By, run_types: tuple[tuple[str, str], ...] = (), pool_type: str | None = None
) -> dict[str, tuple[str, ...]]:
    """Contributors to the pool (runs or organizations) and the pooled runs of each, in the collection's
    order.
    """
    types, units = dict(run_types), dict[str, list[str]]()
    index = whole.run_index(whole.pooled_run_ids)
    for run, organization in zip(whole.pooled_run_ids, whole.organization[index], strict=True):
        if pool_type is None or types[run] == pool_type:
            units.setdefault(run if by == "run" else whole.organizations[organization], []).append(run)
    return {name: tuple(runs) for name, runs in units.items()}


def distinct_sizes(sizes: Iterable[int], label: str) -> tuple[int, ...]:
    """Sizes in ascending order, each once and at least 1."""
    chosen = tuple(sorted(set(sizes)))
    if chosen and chosen[0] < 1:
        raise InputError(f"a {label} of {chosen[0]} is too small", hint="1 or more")
    return chosen


def settings_for_collection(requested: Kind, whole: Collection) -> Kind:
    """The settings with depth, types and widths resolved for the collection that pools are drawn from; widths
    are by default those of the paper that leave a contributor outside.
    """
    types = run_types_of(whole, dict(requested.run_types) or None, whole.pooled_run_ids)
    n_units = len(contributors(whole, requested.by, types, requested.pool_type))
    most = n_units - 1
    widths = requested.widths or [w for w in PAPER_WIDTHS if w <= most] or ([most] if most > 0 else [])
    chosen = distinct_sizes(widths, "pool width")
    if not chosen or max(chosen) > most:
        which = "" if requested.pool_type is None else f" of type {requested.pool_type!r}"
        width = f"a pool of width {max(chosen, default=1)} and one more"
        raise InputError(
            f"{n_units} {requested.by}s{which} are too few for {width}",
            hint=f"widths from 1 to {most}" if most > 0 else "give more runs",
        )
    return dataclasses.replace(requested, pool_depth=whole.pool_depth, run_types=types, widths=chosen)


class RandomPools(Design):
    """Pools drawn at random from the contributors, and runs outside each that are scored."""

    parts_name: ClassVar[str] = "pools"

    def parts(self, collection: Collection, settings: PoolSettings) -> tuple[Part, ...]:
        """All pools, determined by the seed: a target is drawn first, then the pool among other contributors
        than its own, then further targets.
        """
        whole, n_targets = collection, getattr(settings, "n_targets", 1)
        types = dict(settings.run_types)
        unit_of = {run: unit for unit, runs in contributors(whole, settings.by).items() for run in runs}
        drawn_from = contributors(whole, settings.by, settings.run_types, settings.pool_type)
        kind = settings.target_type
        scored = [run for run in whole.pooled_run_ids if kind is None or types[run] == kind]
        pools = []
        for width, sample in itertools.product(settings.widths, range(settings.n_samples)):
            seed = seed_of(settings.random_seed, self.name.replace("-", " "), width, sample)
            rng = np.random.default_rng(seed)
            first = scored[rng.integers(len(scored))]
            others = [unit for unit in drawn_from if unit != unit_of[first]]
            drawn = {others[i] for i in rng.permutation(len(others))[:width]}
            pool = {run for unit in drawn for run in drawn_from[unit]}
            outside = [run for run in scored if run != first and unit_of[run] not in drawn]
            further = [outside[i] for i in rng.permutation(len(outside))[: n_targets - 1]]
            pools.append(
                Part(
                    name=f"width-{width}-sample-{sample}",
                    run_ids=(first, *further),
                    pool_run_ids=tuple(run for run in whole.pooled_run_ids if run in pool),
                    measures=settings.measures,
                    columns=(("pool_width", width), ("sample", sample)),
                    seeds=(width, sample),
                )
            )
        return tuple(pools)

    def seeds(self, part: Part, settings: PoolSettings) -> tuple[object, ...]:
        """Width and number of the pool: experiments on the same pools draw alike."""
        return ("random pool", *part.seeds)

    def fields(
        self,
        collection: Collection,
        whole: Collection,
        settings: PoolSettings,
        running: Running,
        order: RowOrder | None = None,
    ) -> dict[str, Any]:
        """Fields of the experiment's result, with the rows of a pool in this order."""
        by_pool: dict[str, Sequence[object] | None] = {"measure": list(map(str, settings.measures))}
        by_pool |= {"pool_width": None, "estimator": settings.labels, **(order or {}), "sample": None}
        results = self.run(whole, self.parts(whole, settings), settings, running, given=collection)
        drawn_from = contributors(whole, settings.by, settings.run_types, settings.pool_type)
        return fields_of(collection, whole, settings) | {
            "n_contributors": len(drawn_from),
            "_rows": ordered_table(results, by_pool),
        }

"""Designs of experiments: what is concealed and estimated, and the grading against what was concealed.

References
----------
T. Gneiting and A. E. Raftery (2007). Strictly proper scoring rules, prediction, and estimation. Journal of
the American Statistical Association 102, 359–378.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.collection import expect_collection
from bayespool.errors import InputError, known_names
from bayespool.evidence import Bounds, score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments.running import Columns, Stored, Task, add_rows
from bayespool.experiments.settings import changed, parts_description
from bayespool.measures import Estimates, Measure, Values, equal_tailed_interval
from bayespool.measures.errors import (
    kendall_tau_b,
    mean_absolute_error,
    mean_error,
    rank_biased_overlap,
    root_mean_squared_error,
    system_rank_error,
    tau_ap,
)
from bayespool.measures.estimates import estimate_checked
from bayespool.names import By, Runs
from bayespool.notes import Note, noted
from bayespool.posterior.notes import warn_of_judges
from bayespool.randomness import seed_of
from bayespool.scoring.cautions import warn_of_unused_relevance
from bayespool.tables.formatting import counted

IntDraws = AnyArray


ERRORS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], float]] = {
    "mae": mean_absolute_error,
    "rmse": root_mean_squared_error,
    "bias": mean_error,
    "sre": system_rank_error,
    "kendall_tau_b": kendall_tau_b,
    "tau_ap": tau_ap,
    "rbo": rank_biased_overlap,
}
"""Error measures by column name."""


def error_columns(
    rows: pd.DataFrame, *names: str, value: str = "value", truth: str = "truth"
) -> dict[str, float]:
    """Return the errors named in `ERRORS` for a column of estimates, by name."""
    true, estimate = rows[truth].to_numpy(), rows[value].to_numpy()
    return {name: ERRORS[name](true, estimate) for name in names}


def randomized_pit(
    draws: npt.NDArray[np.integer], observed: npt.NDArray[np.integer], rng: np.random.Generator
) -> FloatArray:
    """Return the randomized PIT P(draw < observed) + u·P(draw = observed), u uniform on (0, 1) (Czado et al.
    2009).

    Parameters
    ----------
    draws : ndarray of int, shape (draw, ...)
    observed : ndarray of int, shape (...)
    rng : numpy.random.Generator
        Generator of u.

    References
    ----------
    C. Czado, T. Gneiting and L. Held (2009). Predictive model assessment for count data. Biometrics 65,
    1254–1261.

    Examples
    --------
    >>> draws = np.repeat([[0], [1]], 50, axis=0)
    >>> bool(0.5 <= randomized_pit(draws, np.array([1]), np.random.default_rng(1))[0] <= 1)
    True
    """
    below, equal = (draws < observed).mean(axis=0), (draws == observed).mean(axis=0)
    pit: FloatArray = below + rng.random(observed.shape) * equal
    return pit


def covered(draws: IntDraws, truth: IntDraws, ci_prob: float) -> BoolArray:
    """Return a mask of true values inside the equal-tailed interval of the draws, ends included; shape
    (run,).

    Parameters
    ----------
    draws : ndarray of int, shape (draw, run)
    truth : ndarray of int, shape (run,)
    ci_prob : float in (0, 1)

    Examples
    --------
    >>> draws = np.arange(101)[:, None] + np.zeros(3, dtype=int)
    >>> covered(draws, np.array([5, 95, 96]), 0.9).tolist()
    [True, True, False]
    """
    lower, upper = equal_tailed_interval(draws, ci_prob)
    inside: BoolArray = (lower <= truth) & (truth <= upper)
    return inside


def pit_range(draws: IntDraws, truth: IntDraws) -> tuple[FloatArray, FloatArray]:
    """Return P(draw < truth) and P(draw ≤ truth), which bound the randomized PIT; each of shape (run,).

    Parameters
    ----------
    draws : ndarray of int, shape (draw, run)
    truth : ndarray of int, shape (run,)

    Examples
    --------
    >>> [end.tolist() for end in pit_range(np.array([[1], [2], [2], [3]]), np.array([2]))]
    [[0.25], [0.75]]
    """
    return (draws < truth).mean(axis=0), (draws <= truth).mean(axis=0)


def is_central(pit: npt.ArrayLike, prob: npt.ArrayLike) -> BoolArray:
    """Return whether PIT values are within the central ``prob``; its ends, which no draw equals, are not."""
    return np.asarray(np.abs(np.asarray(pit) - 0.5) < np.asarray(prob) / 2 - 1e-9)


def central_share(lower: npt.ArrayLike, upper: npt.ArrayLike, prob: float) -> float:
    """Return the expected share of randomized PIT values in the central ``prob`` of (0, 1). It is about
    ``prob`` for calibrated draws. NaN values are left out; NaN if no value is left.

    Parameters
    ----------
    lower, upper : array-like of float in [0, 1], shape (run,)
        IntervalColumn of `pit_range`.
    prob : float in (0, 1)

    Examples
    --------
    >>> central_share([0.1, 0.3, 0.5, 0.2], [0.1, 0.3, 0.5, 0.3], 0.5)
    0.625
    """
    if not 0 < prob < 1:
        raise InputError(f"prob {prob} is not between 0 and 1")
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    start, stop = 0.5 - prob / 2, 0.5 + prob / 2
    inside, width = np.clip(high, start, stop) - np.clip(low, start, stop), high - low
    point = is_central(low, prob)
    share = np.where(width > 0, inside / np.where(width > 0, width, 1), point)[~np.isnan(low)]
    return float(share.mean()) if len(share) else float("nan")


def crps(draws: IntDraws, truth: IntDraws) -> FloatArray:
    """Return the continuous ranked probability score in documents (0 is best), shape (run,).

    ``E|X − y| − ½·E|X − X′|`` with X and X′ independent draws and y the truth (equation 21 of Gneiting &
    Raftery 2007).

    Parameters
    ----------
    draws : ndarray of int, shape (draw, run)
    truth : ndarray of int, shape (run,)

    Examples
    --------
    >>> crps(np.array([[1], [3]]), np.array([3])).tolist()
    [0.5]
    """
    ordered = np.sort(draws, axis=0)
    n_draws = len(ordered)
    if not n_draws:
        raise InputError("no draws")
    weight = 2 * np.arange(n_draws, dtype=np.int64) - (n_draws - 1)
    spread = (weight[:, None] * ordered).sum(axis=0)  # Σ over pairs i < j of x_j − x_i, exact for integers
    distance = np.abs(ordered - truth).sum(axis=0)
    score: FloatArray = distance / n_draws - spread / n_draws**2
    return score


COVERAGE_LEVELS = (50, 80, 95)
"""Interval levels, in percent, for which coverage is always checked."""


COVERED = {f"covered_{level}": level for level in COVERAGE_LEVELS}
INTERVAL_COLUMNS = ("lower", "upper", "ci_prob", "std", *COVERED, "pit", "pit_lower", "pit_upper", "crps")
"""Names of the columns on a run's posterior interval."""


def interval_columns(
    estimates: Estimates,
    truth: Values,
    open_: BoolArray,
    *,
    ci_prob: float,
    seed: int,
    n_topics: OrderArray | int | None = None,
) -> dict[str, Any]:
    """Return the columns `INTERVAL_COLUMNS`, with one entry per run. Coverage is None and PIT NaN for runs
    not `open_`, whose intervals are points; `n_topics` is the number of topics in each mean.
    """
    draws, n_runs, n_all = estimates.draws, len(open_), len(estimates.query_ids)
    n_topics = n_all if n_topics is None else n_topics
    columns: dict[str, Any] = dict.fromkeys(INTERVAL_COLUMNS, np.full(n_runs, np.nan))
    columns |= dict.fromkeys(COVERED, [None] * n_runs)
    if estimates.std is not None:
        columns["std"] = estimates.std * n_all / n_topics
    if draws is None:
        return columns
    total, true_total = draws.totals(), truth.totals()
    per_mean = draws.per_mean(n_topics)
    low, high = equal_tailed_interval(total, ci_prob)
    pit = randomized_pit(total, true_total, np.random.default_rng(seed))
    below, up_to = pit_range(total, true_total)
    for name, level in COVERED.items():
        columns[name] = np.where(open_, covered(total, true_total, level / 100), np.array(None))
    return columns | {
        "lower": low / per_mean,
        "upper": high / per_mean,
        "ci_prob": np.full(n_runs, ci_prob),
        "pit": np.where(open_, pit, np.nan),
        "pit_lower": np.where(open_, below, np.nan),
        "pit_upper": np.where(open_, up_to, np.nan),
        "crps": crps(total, true_total) / per_mean,
    }


def interval_summary(rows: pd.DataFrame, open_: pd.Series) -> dict[str, Any]:
    """Return the columns of `interval_columns` summarized over an estimator's runs. ``n_open``; over these
    runs ``coverage_…``, ``pit_…`` (see `central_share`) and ``width``; ``crps`` over all; NaN without a
    value. Runs of one organization miss together, so that coverage and PIT are means over organizations;
    ``coverage_95_se`` is the standard error over these.
    """
    graded = rows[open_]
    posterior = bool(rows["ci_prob"].notna().any())
    summary: dict[str, Any] = {"n_open": len(graded), "n_organizations": graded["organization"].nunique()}
    for name, level in COVERED.items():
        hits = graded.dropna(subset=name).astype({name: float})
        of_organizations = hits.groupby("organization")[name].mean().to_numpy()
        n = len(of_organizations)
        summary[f"coverage_{level}"] = float(of_organizations.mean()) if n else np.nan
        if level == 95:
            error = float(of_organizations.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
            summary["coverage_95_se"] = error
    for level in COVERAGE_LEVELS:
        shares = [
            central_share(own["pit_lower"], own["pit_upper"], level / 100)
            for _, own in graded.groupby("organization")
        ]
        summary[f"pit_{level}"] = float(np.nanmean(shares)) if np.isfinite(shares).any() else np.nan
    summary["width"] = float((graded["upper"] - graded["lower"]).mean()) if posterior else np.nan
    summary["crps"] = float(rows["crps"].mean()) if posterior else np.nan
    return summary


@dataclass(frozen=True, kw_only=True)
class Part:
    """Part of an experiment: runs that are estimated while judgments are concealed.

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
    """True scores for a part's runs. Documents unjudged even in truth count as nonrelevant in truth and
    estimates; their number has shape (run, topic).
    """

    values: Values
    n_unjudged: IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Graded:
    """Estimates for a part's runs from one estimator and measure, with the true scores.

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
    counted: BoolArray
    organizations: npt.NDArray[np.object_]
    ci_prob: float
    random_seed: int

    @property
    def n_topics(self) -> OrderArray:
        """Number of topics in each run's mean score, shape (run,)."""
        return np.asarray(self.counted.sum(axis=1))

    def rows(self) -> dict[str, Any]:
        """Return columns with one value per run, or one value for all runs."""
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
            "distance": self.estimates.run_values("distance"),
            "new_kind": self.estimates.run_values("new_kind"),
            "note": ["; ".join(_own_notes(of_run)) for of_run in self.estimates.notes] or "",
        }


def _own_notes(notes: Iterable[str]) -> list[Note]:
    """Return an estimator's notes on a run but for few draws: how far those reach is what is graded."""
    return [note for note in noted(notes, "estimator") if note.kind != "few-draws"]


class Design(Task):
    """Base class for an experiment's design: what is concealed, estimated and graded.

    A design of your own is a subclass with a ``name``, a ``version`` of its code, and `parts`; override the
    other methods only to change the defaults. `run_design` runs it.
    """

    def parts(self, collection: Collection, settings: Any) -> Iterable[Part]:
        """Return the parts in the order in which they are processed."""
        raise NotImplementedError

    def conceal(self, collection: Collection, part: Any, settings: Any) -> Collection:
        """Return the collection that the part's estimators see, by default with only its pool's judgments."""
        pool = set(part.pool_run_ids)
        return collection.unpool([run for run in collection.pooled_run_ids if run not in pool])

    def judged_in_truth(self, collection: Collection, part: Any, settings: Any) -> BoolArray:
        """Return a mask of documents judged in the truth, shape (pair,). Estimates count other documents as
        nonrelevant.
        """
        return collection.judged

    def truth(
        self, collection: Collection, concealed: Collection, part: Any, measure: Measure, settings: Any
    ) -> Truth:
        """Return true scores, by default from all judgments, with ideal rankings as in the estimates."""
        estimand = settings.estimand_of_estimators
        values = values_on_fuller(concealed, collection, part.run_ids, measure, estimand)
        return Truth(values, score_bounds(collection, part.run_ids, measure, estimand=estimand).n_unjudged)

    def topics(self, collection: Collection, part: Any, settings: Any) -> BoolArray:
        """Return a mask of the topics in each run's mean score, shape (run, topic)."""
        return np.ones((len(part.run_ids), len(collection.query_ids)), dtype=bool)

    def seeds(self, part: Any, settings: Any) -> tuple[object, ...]:
        """Return the names that seed random numbers in estimators, never judgments."""
        return (self.name, *part.seeds)

    def grade(self, graded: Graded, settings: Any) -> Mapping[str, Any]:
        """Return result columns for one estimator and measure, with one value per run or one for all runs."""
        return graded.rows()

    # --- what the runner asks ---

    def prepare(self, collection: Collection, settings: Any) -> None:
        """Warn about relevance levels without documents and labels that are not used."""
        warn_of_unused_relevance(collection, settings.measures)
        warn_of_judges(collection, (), settings.measures)

    def compute(self, collection: Collection, part: Any, settings: Any) -> Stored:
        """Conceal judgments, estimate the part's runs and grade the estimates. Also stored are true scores
        per measure, shape (run, topic), NaN on topics that a score does not count, and processor seconds per
        stage.
        """
        seconds: dict[str, float] = {}
        with _timed(seconds, "concealing"):
            concealed = self.conceal(collection, part, settings)
            concealed = concealed.judged_at_most(self.judged_in_truth(collection, part, settings))
        estimates = self._estimates(concealed, part, settings, seconds)
        rows: Columns = {}
        scores: dict[str, list[Any]] = {}
        with _timed(seconds, "comparing with the truth"):
            counted = self.topics(collection, part, settings)
            organizations = np.array(run_organizations(collection, part.run_ids), dtype=object)
            for m, measure in enumerate(part.measures):
                truth = self.truth(collection, concealed, part, measure, settings)
                scores[str(measure)] = np.where(counted, truth.values.scores(), np.nan).tolist()
                bounds = score_bounds(
                    concealed, part.run_ids, measure, estimand=settings.estimand_of_estimators
                )
                for label, measure_estimates in estimates.items():
                    graded = Graded(
                        part=part,
                        label=label,
                        estimates=measure_estimates[m],
                        truth=truth,
                        bounds=bounds,
                        counted=counted,
                        organizations=organizations,
                        ci_prob=getattr(settings, "ci_prob", 0.95),
                        random_seed=settings.random_seed,
                    )
                    add_rows(rows, self.grade(graded, settings))
        return rows, {"true_scores": scores, "seconds": seconds}

    def identity(self, part: Any, settings: Any) -> tuple[str, list[Any]]:
        """Return the part's name and its identity: name, runs, pool, measures and columns."""
        pool = hashlib.blake2b("\0".join(part.pool_run_ids).encode(), digest_size=8).hexdigest()
        columns = [[name, value] for name, value in part.columns]
        return part.name, [part.name, list(part.run_ids), pool, [str(m) for m in part.measures], columns]

    def describe(self, settings: Any) -> dict[str, Any]:
        """Return settings that parts depend on, with the versions of the user's own design and estimators."""
        return parts_description(settings, self)

    def _estimates(
        self, concealed: Collection, part: Any, settings: Any, seconds: dict[str, float]
    ) -> dict[str, tuple[Estimates, ...]]:
        """Return the estimates from each estimator, one per measure, by label. Errors get a note that names
        the estimator and the part.
        """
        estimates: dict[str, tuple[Estimates, ...]] = {}
        for label, estimator in settings.estimators:
            seed = seed_of(getattr(estimator, "random_seed", None), *self.seeds(part, settings))
            seeded = changed(estimator, "random_seed", seed)
            with _timed(seconds, label):
                try:
                    estimates[label] = estimate_checked(seeded, concealed, part.run_ids, part.measures)
                except Exception as error:
                    error.add_note(f"by estimator {label!r}, {self.name} of {part.name!r}")
                    raise
        return estimates


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    """Add the processor time that a stage takes."""
    start = time.process_time()
    yield
    seconds[stage] = seconds.get(stage, 0.0) + time.process_time() - start


def whole_pool(collection: Collection, runs: Runs, repool_to: int | None) -> Collection:
    """Return the collection from which pools are drawn, keeping only judgments that its runs account for.

    With ``runs="all"`` every run takes part, as in Webber & Park: unjudged documents within the depth count
    as judged and nonrelevant. The depth is by default the smallest among the runs.
    """
    expect_collection(collection)
    if collection.pool_depth < 1 or not collection.pooled.any():
        raise InputError(
            "no pooled run to draw pools from",
            hint="give the campaign's runs as the pool, or name those pooled",
        )
    # the depth of every run, so that true scores do not depend on the rest of the pool
    deepest = collection.pool_depth
    if runs == "pooled":
        deepest = int(collection.run_depths(np.flatnonzero(collection.pooled)).min())
    depth = deepest if repool_to is None else repool_to
    if not 1 <= depth <= deepest:
        raise InputError(f"pool depth {depth} is not between 1 and {deepest}")
    if runs == "pooled":
        whole = collection.truncate_pool(depth)
    else:
        everyone = collection.with_pool(np.ones(len(collection.run_ids), dtype=bool), collection.pool_depth)
        whole = everyone.truncate_pool(depth)
        unknown = whole.in_pool() & ~whole.judged
        whole = dataclasses.replace(whole, relevance=np.where(unknown, np.int16(0), whole.relevance))
    return dataclasses.replace(whole, attributed_run=np.full_like(whole.attributed_run, -1), own=None)


def run_organizations(collection: Collection, run_ids: Sequence[str]) -> list[str]:
    """Return the name of each run's organization."""
    return [collection.organizations[o] for o in collection.organization[collection.run_index(run_ids)]]


def find_run_types(
    collection: Collection, column: str, others: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return each pooled run with its value in a column of attributes; `InputError` if one has none.

    ``others`` may be named in place of a column.
    """
    if column not in collection.runs.columns:
        known = known_names(column, (*others, *collection.runs.columns))
        hint = f"{known}; columns of runs stand beside --organizations (organizations=)"
        raise InputError(f"runs have no column {column!r}", hint=hint)
    values, names = collection.runs.columns[column], collection.pooled_run_ids
    if missing := [run for run in names if run not in values]:
        have = "has" if len(missing) == 1 else "have"
        raise InputError(
            f"{counted(len(missing), 'run')} of the pool {have} no {column}, {missing[0]!r} for one",
            hint="give every run one",
        )
    return tuple((run, values[run]) for run in names)


def contributors(
    whole: Collection, by: By, run_ids: Sequence[str] | None = None, *, least: int = 0
) -> dict[str, tuple[str, ...]]:
    """Return the runs of each contributor (run or organization), by default the pooled ones. `InputError` for
    fewer than ``least``.
    """
    runs, units = whole.pooled_run_ids if run_ids is None else run_ids, dict[str, list[str]]()
    for run, name in zip(runs, runs if by == "run" else run_organizations(whole, runs), strict=True):
        units.setdefault(name, []).append(run)
    if len(units) < least:
        raise InputError(
            f"only one {by} was pooled: nothing is left once it is left out",
            hint="give more runs, or the organizations of the runs",
        )
    return {name: tuple(unit_runs) for name, unit_runs in units.items()}

"""Designs of experiments: what is concealed and estimated, and the grading against what was concealed."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.evidence import Bounds, score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments.grading import interval_columns
from bayespool.experiments.preparing import changed, parts_description
from bayespool.experiments.running import Work
from bayespool.experiments.storage import Columns, PartResult, Stored, add_rows
from bayespool.measures import Estimates, Measure, Values
from bayespool.measures.estimates import estimate_checked, in_a_line
from bayespool.measures.values import DEFAULT_CI_PROB
from bayespool.posterior.second_judges import warn_of_judges
from bayespool.randomness import seed_of
from bayespool.scoring.scoring import warn_of_unused_relevance


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

    def accepts(self, result: PartResult) -> bool:
        """Whether stored rows, true scores and seconds are of the runs and measures of their part."""
        part = result.part
        pairs = Counter(zip(result.rows.get("measure", ()), result.rows.get("run_id", ()), strict=False))
        if set(pairs) != {(str(m), run) for m in part.measures for run in part.run_ids}:
            return False
        try:
            scores = {name: np.array(values, float) for name, values in result.rest["true_scores"].items()}
            sum(result.rest["seconds"].values())
        except (KeyError, TypeError, ValueError, AttributeError):
            return False
        lengths = {values.shape[:1] for values in scores.values()}
        return (
            len(set(pairs.values())) == 1
            and set(scores) == {str(m) for m in part.measures}
            and lengths == {(len(part.run_ids),)}
        )

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

"""One fold of a leave-out experiment: a pure function of collection, fold and settings, so that every process
and machine returns the same rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.evidence import Bounds, score_bounds
from bayespool.experiments.caught_warnings import CaughtWarnings, own_warnings
from bayespool.experiments.folds import Fold, Truth, seed_of, topics_of, true_values, without
from bayespool.experiments.intervals import interval_columns
from bayespool.experiments.preparing import changed
from bayespool.experiments.settings import LeaveOutSettings
from bayespool.measures import Estimates, Estimator
from bayespool.measures.estimates import ask


@dataclass(frozen=True, eq=False)
class FoldResult:
    """Result of a fold: columns of the table of runs (a row per measure, estimator and run), true values by
    measure, shape (run, topic), NaN on topics that a score does not count, warnings, and processor seconds by
    stage.
    """

    fold: Fold
    rows: dict[str, list[Any]]
    true_scores: dict[str, npt.NDArray[np.float64]]
    warnings: CaughtWarnings = ()
    seconds: dict[str, float] = field(default_factory=dict)


def run_fold(collection: Collection, fold: Fold, settings: LeaveOutSettings) -> FoldResult:
    """Leave the fold's runs out, estimate them with every estimator, and compare with the truth; estimators
    get the collection without the fold's judgments.
    """
    clock = _Clock()
    messages: list[warnings.WarningMessage] = []
    estimates: dict[str, tuple[Estimates, ...]] = {}
    with clock.stage("unpooling"):
        reduced = without(collection, fold)
    for label, estimator in settings.estimators:
        with clock.stage(label), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            seeded_estimator = seeded(estimator, settings.by, fold.name)
            with naming(label, f"{fold.name!r} left out"):
                estimates[label] = ask(seeded_estimator, reduced, fold.run_ids, fold.measures)
        messages += caught
    rows: dict[str, list[Any]] = {}
    truths: dict[str, npt.NDArray[np.float64]] = {}
    with clock.stage("comparing with the truth"):
        counted = topics_of(collection, fold.run_ids, settings)
        for m, measure in enumerate(fold.measures):
            truth = true_values(collection, reduced, fold, measure, settings)
            truths[str(measure)] = np.where(counted, truth.values.scores(), np.nan)
            bounds = score_bounds(reduced, fold.run_ids, measure, estimand=settings.estimand)
            compare = _Comparison(fold, settings, truth, bounds, counted)
            for label, of_measures in estimates.items():
                for name, values in compare.columns(label, of_measures[m]).items():
                    rows.setdefault(name, []).extend(values)
    return FoldResult(fold, rows, truths, own_warnings(messages), clock.seconds)


@dataclass(frozen=True, eq=False)
class _Comparison:
    fold: Fold
    settings: LeaveOutSettings
    truth: Truth
    bounds: Bounds
    counted: npt.NDArray[np.bool_]

    @property
    def n_topics(self) -> npt.NDArray[np.intp]:
        n_topics: npt.NDArray[np.intp] = self.counted.sum(axis=1)
        return n_topics

    def columns(self, label: str, estimates: Estimates) -> dict[str, list[Any]]:
        """Columns of one estimator's rows, one entry per run."""
        fold, bounds, truth = self.fold, self.bounds, self.truth
        n_runs = len(fold.run_ids)
        error = estimates.per_topic - truth.values.scores()
        columns: dict[str, Any] = {
            "fold": [fold.name] * n_runs,
            "organization": [fold.organization] * n_runs,
            "run_id": list(fold.run_ids),
            "measure": [str(bounds.measure)] * n_runs,
            "estimator": [label] * n_runs,
            "truth": truth.values.means(self.n_topics),
            "value": self._value(estimates),
            **interval_columns(
                estimates,
                truth.values,
                bounds.has_unjudged,
                ci_prob=self.settings.ci_prob,
                seed=seed_of(self.settings.random_seed, "pit", fold.name, bounds.measure, label),
                n_topics=self.n_topics,
            ),
            "as_judged": bounds.low.means(self.n_topics),
            "bound_lower": bounds.least.means(self.n_topics),
            "bound_upper": bounds.most.means(self.n_topics),
            "n_unjudged": bounds.n_unjudged.sum(axis=1),
            "n_unknown": truth.n_unjudged.sum(axis=1),
            "topic_rmse": np.sqrt(np.where(self.counted, error**2, 0).sum(axis=1) / self.n_topics),
            "distance": estimates.of_runs("distance"),
            "new_kind": estimates.of_runs("new_kind"),
            "note": list(estimates.notes or ("",) * n_runs),
        }
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in columns.items()}

    def _value(self, estimates: Estimates) -> npt.NDArray[np.float64]:
        if self.settings.denominator == "qrels":
            return estimates.value
        # from the total of B, so that an estimate without a correction is the same float as an equal truth
        added = np.where(self.counted, estimates.per_topic - self.bounds.lower, 0)
        value: npt.NDArray[np.float64] = (
            self.bounds.low.means(self.n_topics) + added.sum(axis=1) / self.n_topics
        )
        return value


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start


@contextmanager
def naming(label: str, part: str) -> Iterator[None]:
    """Add the estimator and the part of the experiment as a note to errors raised in this context."""
    try:
        yield
    except Exception as error:
        error.add_note(f"by estimator {label!r}, {part}")
        raise


def seeded(estimator: Estimator, *names: object) -> Estimator:
    """The estimator with a seed from its own and `names`, which never depends on judgments; unchanged without
    a seed.
    """
    own = getattr(estimator, "random_seed", None)
    return changed(estimator, "random_seed", seed_of(own, *names))

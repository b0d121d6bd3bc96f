"""One fold of a leave-out experiment: a pure function of collection, fold and settings, so that every process
and machine returns the same rows.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.evidence import Bounds, score_bounds
from bayespool.experiments.calibration import interval_columns
from bayespool.experiments.folds import Fold, Truth, seed_of, topics_of, true_values, without
from bayespool.experiments.preparing import CaughtWarnings, changed, own_warnings
from bayespool.experiments.settings import LeaveOutSettings
from bayespool.experiments.storage import Columns, PartResult, add_rows
from bayespool.measures import Estimates, Estimator, Measure
from bayespool.measures.estimates import estimate_checked


def run_fold(collection: Collection, fold: Fold, settings: LeaveOutSettings) -> PartResult:
    """Leave the fold's runs out, estimate them with every estimator, and compare with the truth; estimators
    get the collection without the fold's judgments. Stored besides the rows of runs are true values by
    measure, shape (run, topic), NaN on topics that a score does not count, and processor seconds by stage.
    """
    clock = _Clock()
    with clock.timed("unpooling"):
        reduced = without(collection, fold)
    part, seeds = f"{fold.name!r} left out", (settings.by, fold.name)
    estimates, caught = estimates_of(
        settings.estimators, reduced, fold.run_ids, fold.measures, part, seeds, clock
    )
    rows: Columns = {}
    truths: dict[str, list[Any]] = {}
    with clock.timed("comparing with the truth"):
        counted = topics_of(collection, fold.run_ids, settings)
        for m, measure in enumerate(fold.measures):
            truth = true_values(collection, reduced, fold, measure, settings)
            truths[str(measure)] = np.where(counted, truth.values.scores(), np.nan).tolist()
            bounds = score_bounds(reduced, fold.run_ids, measure, estimand=settings.estimand)
            compare = _Comparison(fold, settings, truth, bounds, counted)
            for label, of_measures in estimates.items():
                add_rows(rows, len(fold.run_ids), compare.columns(label, of_measures[m]))
    return PartResult(fold, rows, {"true_scores": truths, "warnings": caught, "seconds": clock.seconds})


def identity_of_fold(fold: Fold, _: object) -> tuple[str, list[Any]]:
    """Name of a fold, and properties that tell it from the others of its experiment."""
    pooled = hashlib.blake2b("\0".join(fold.pooled_run_ids).encode(), digest_size=8).hexdigest()
    return fold.name, [fold.name, list(fold.run_ids), [str(m) for m in fold.measures], pooled]


def is_of_fold(result: PartResult) -> bool:
    """Whether stored rows, true scores and seconds are of the runs and measures of their fold."""
    fold = result.part
    measures = [str(measure) for measure in fold.measures]
    pairs = Counter(zip(result.rows.get("measure", ()), result.rows.get("run_id", ()), strict=False))
    try:
        scores = {name: np.array(values, float) for name, values in result.rest["true_scores"].items()}
        sum(result.rest["seconds"].values())
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    return (
        set(pairs) == {(measure, run) for measure in measures for run in fold.run_ids}
        and len(set(pairs.values())) == 1
        and set(scores) == set(measures)
        and {values.shape[:1] for values in scores.values()} == {(len(fold.run_ids),)}
    )


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

    def columns(self, label: str, estimates: Estimates) -> dict[str, Any]:
        """Columns of one estimator's rows, a value for each run or one for all."""
        fold, bounds, truth = self.fold, self.bounds, self.truth
        error = estimates.per_topic - truth.values.scores()
        return {
            "fold": fold.name,
            "organization": fold.organization,
            "run_id": list(fold.run_ids),
            "measure": str(bounds.measure),
            "estimator": label,
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
            "note": list(estimates.notes) if estimates.notes else "",
        }

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
    def timed(self, name: str) -> Iterator[None]:
        start = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - start


def estimates_of(
    estimators: Sequence[tuple[str, Estimator]],
    collection: Collection,
    run_ids: tuple[str, ...],
    measures: Sequence[Measure],
    part: str,
    seeds: tuple[object, ...],
    clock: _Clock | None = None,
) -> tuple[dict[str, tuple[Estimates, ...]], CaughtWarnings]:
    """Estimates of a part's runs by label, one per measure, and bayespool's own warnings. Errors have a note
    that names the estimator and the part; the part's `seeds` enter each estimator's.
    """
    clock = clock or _Clock()
    estimates: dict[str, tuple[Estimates, ...]] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for label, estimator in estimators:
            with clock.timed(label):
                try:
                    estimates[label] = estimate_checked(
                        seeded(estimator, *seeds), collection, run_ids, measures
                    )
                except Exception as error:
                    error.add_note(f"by estimator {label!r}, {part}")
                    raise
    return estimates, own_warnings(caught)


def seeded(estimator: Estimator, *names: object) -> Estimator:
    """The estimator with a seed from its own and `names`, which never depends on judgments; unchanged without
    a seed.
    """
    own = getattr(estimator, "random_seed", None)
    return changed(estimator, "random_seed", seed_of(own, *names))

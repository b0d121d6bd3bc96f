"""A measure of one's own: one file, one line, and every function and command takes it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import ir_measures
import numpy as np
import pandas as pd
import pytest
from fits import TARGETS
from small import small
from wide import wide

from bayespool import check_models, count_reversals, load_example, read_collection, score
from bayespool.collection import Collection
from bayespool.errors import BayespoolWarning, InputError
from bayespool.evidence import score_bounds
from bayespool.experiments import simulate_example
from bayespool.measures import (
    MEASURES,
    Measure,
    Precision,
    Recall,
    Success,
    Tally,
    parse_measure,
    register_measure,
)

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


@dataclass(frozen=True, order=True)
class Hit(Measure):
    """Whether anything relevant is in the top n: what the file of a new measure holds."""

    name = "Hit"
    version = "1"

    def evaluate(self, levels: np.ndarray) -> np.ndarray:
        return (levels[..., : self.cutoff] >= self.rel).any(axis=-1).astype(float)


def true_hit(cutoff: int) -> dict[str, float]:
    """By ir_measures, of the simulation with everything judged."""
    example = simulate_example()
    truth = example.truth
    columns = truth.query_id.to_pylist(), truth.doc_id.to_pylist(), truth.relevance.tolist()
    judged = list(map(ir_measures.Qrel, *columns))
    found = {}
    for run in example.runs:
        ranked = map(
            ir_measures.ScoredDoc, run.query_id.to_pylist(), run.doc_id.to_pylist(), run.score.tolist()
        )
        (value,) = ir_measures.calc_aggregate([ir_measures.Success @ cutoff], judged, ranked).values()
        found[run.run_id] = value
    return found


def test_two_families_of_one_name_are_refused() -> None:
    """Also one that is called as the package's; of one's own classes the last counts, as in a notebook."""
    for name, other in (
        ("Hit", type("Other", (Precision,), {"name": "Hit"})),
        ("Success", type("Success", (Hit,), {"name": "Success"})),
    ):
        with pytest.raises(InputError, match=f"two families of measures are called '{name}'"):
            register_measure(other)
    assert MEASURES["Success"] is Success
    again = type("Hit", (Hit,), {})
    register_measure(again)
    assert MEASURES["Hit"] is again


# A measure that relevance may raise or lower


@dataclass(frozen=True, order=True)
class Even(Measure):
    """How close the top n is to one half relevant, |2k/n − 1| below 1, with bounds of its own."""

    name = "Even"
    rises = False

    def evaluate(self, levels: np.ndarray) -> np.ndarray:
        return self._of((levels[..., : self.cutoff] >= self.rel).sum(axis=-1))

    def extremes(
        self, levels: np.ndarray, tally: Tally, n_elsewhere: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        top = levels[..., : self.cutoff]
        fewest = (top >= self.rel).sum(axis=-1)
        greatest = fewest + (top == -1).sum(axis=-1)
        best = self._of(np.clip(self.cutoff // 2, fewest, greatest))
        if self.cutoff % 2:
            best = np.maximum(best, self._of(np.clip(self.cutoff // 2 + 1, fewest, greatest)))
        return np.minimum(self._of(fewest), self._of(greatest)), best

    def _of(self, n_relevant: np.ndarray) -> np.ndarray:
        return np.asarray(1 - np.abs(2 * n_relevant / self.cutoff - 1))


@dataclass(frozen=True, order=True)
class EvenUnbounded(Even):
    """The same measure, which says nothing of its bounds."""

    name = "EvenUnbounded"
    extremes = Measure.extremes  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def _all_are_registered() -> Iterator[None]:
    for family in (Hit, Even, EvenUnbounded):
        register_measure(family)  # the one line
    yield
    for family in (Hit, Even, EvenUnbounded):
        del MEASURES[family.name]


EIGHT = np.array([[1, -1, 0, -1, 2, -1, 0, 1], [0, -1, -1, -1, -1, -1, -1, -1], [1, 0, 2, 0, 1, 1, 0, 0]])


def toy(levels: np.ndarray) -> Collection:
    """A run with eight documents on each topic, of these levels."""
    rows = [(f"q{t}", {f"d{rank}": int(level) for rank, level in enumerate(r)}) for t, r in enumerate(levels)]
    run = {query_id: {d: -float(rank) for rank, d in enumerate(row)} for query_id, row in rows}
    qrels = {query_id: {d: level for d, level in row.items() if level >= 0} for query_id, row in rows}
    return read_collection(qrels, run)


def completions(levels: np.ndarray) -> Iterator[np.ndarray]:
    """A ranking with all levels from 0 to 2 at its unjudged ranks, one combination after the other."""
    opened = np.flatnonzero(levels < 0)
    for drawn in product((0, 1, 2), repeat=len(opened)):
        completed = levels.copy()
        completed[opened] = drawn
        yield completed


def test_own_bounds_are_the_least_and_the_greatest_value_of_all_completions() -> None:
    completed = [np.array(list(completions(levels))) for levels in EIGHT]
    for measure in map(parse_measure, ("Even@8", "Even@5", "Even(rel=2)@6")):
        bounds = score_bounds(toy(EIGHT), None, measure)
        for topic, levels in enumerate(EIGHT):
            values = measure.evaluate(completed[topic])
            assert bounds.least.scores()[0, topic] == pytest.approx(values.min()), measure
            assert bounds.most.scores()[0, topic] == pytest.approx(values.max()), measure
            assert bounds.upper[0, topic] == bounds.most.scores()[0, topic], measure
            assert bounds.lower[0, topic] == measure.evaluate(np.maximum(levels, 0)), measure


def test_without_own_bounds_they_are_the_range_where_anything_is_unjudged() -> None:
    bounds = score_bounds(toy(EIGHT), None, parse_measure("EvenUnbounded@8"))
    judged = Even(8).evaluate(EIGHT[2])
    assert bounds.least.scores().tolist() == [[0.0, 0.0, judged]]
    assert bounds.most.scores().tolist() == [[1.0, 1.0, judged]]


def test_a_measure_that_may_fall_is_scored_within_its_bounds() -> None:
    asked = ["as-judged", "posterior-ratio", "background", "condensed-list"]
    scores = score(
        small(), None, ["Even@10", "EvenUnbounded@10"], estimators=asked, posterior_settings="draws=60"
    )
    for text, bounds in zip(("Even@10", "EvenUnbounded@10"), scores.bounds, strict=True):
        draws = scores[text, "posterior-ratio"].draws
        assert draws is not None
        assert (draws.scores() >= bounds.least.scores() - 1e-12).all()
        assert (draws.scores() <= bounds.most.scores() + 1e-12).all()
        assert np.array_equal(scores[text, "as-judged"].value, bounds.low.means())
    frame = wide(scores)
    assert frame["note"].str.contains("background: defined for measures that rise with relevance").any()
    assert frame["condensed-list"].notna().all()
    own, other = (frame[frame["measure"] == text] for text in ("Even@10", "EvenUnbounded@10"))
    assert (own["bound_lower"].to_numpy() >= other["bound_lower"].to_numpy()).all()
    assert (own["bound_upper"].to_numpy() < other["bound_upper"].to_numpy()).any()
    assert np.array_equal(own["posterior-ratio"], other["posterior-ratio"])


def test_bounds_over_an_ideal_ranking_are_the_range_where_amounts_may_fall() -> None:
    class Odd(Recall):
        """Over an ideal ranking, and falling with every second relevant document."""

        rises = False

        def evaluate(self, levels: np.ndarray) -> np.ndarray:
            return (levels[..., : self.cutoff] >= self.rel).sum(axis=-1) % 2

    bounds = score_bounds(toy(EIGHT), None, Odd(8))
    assert bounds.least.scores()[0].tolist() == [0.0, 0.0, 0.0]
    assert bounds.most.scores()[0].tolist() == [1.0, 1.0, 0.0]


@pytest.mark.slow
def test_score_takes_it() -> None:
    scores = score(
        load_example(), TARGETS, ["Hit@1", "P@1", "Hit@3"], estimators="all", posterior_settings="draws=250"
    )
    one, precision = (scores[name, "posterior-combined"] for name in ("Hit@1", "P@1"))
    assert one.draws is not None
    assert precision.draws is not None
    assert np.array_equal(one.draws.scores(), precision.draws.scores())  # the same draws
    np.testing.assert_allclose(one.value, precision.value, atol=1e-12)
    frame = wide(scores).set_index(["run_id", "measure"])
    truth = true_hit(3)
    for run in TARGETS:
        row = frame.loc[run, "Hit@3"]
        assert row["bound_lower"] <= row["posterior-combined_lower"] <= row["posterior-combined"]
        assert row["posterior-combined"] <= row["posterior-combined_upper"] <= row["bound_upper"]
        assert row["posterior-combined_lower"] <= truth[run] <= row["posterior-combined_upper"]
        assert row["bound_lower"] <= row["condensed-list"] <= 1
        assert row["as-judged"] == row["bound_lower"]
        assert np.isnan(row["anti-precision"])
        assert "anti-precision: defined for P@n alone" in row["note"]
        assert np.isfinite(
            row[["background", "interpolated", "smoothed", "systems-adjustment"]].astype(float)
        ).all()


def test_bounds_are_those_of_ir_measures_when_nothing_is_unjudged() -> None:
    judged = simulate_example().complete()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayespoolWarning)
        frame = wide(score(judged, judged.run_ids, "Hit@5", estimators="as-judged"))
    truth = true_hit(5)
    assert dict(zip(frame["run_id"], frame["as-judged"], strict=True)) == pytest.approx(truth, abs=1e-12)
    assert (frame["residual"] == 0).all()


def test_corrections_that_are_chances_are_none_of_a_measure_beyond_1() -> None:
    class Doubled(Hit):
        name = "Doubled"
        range = (0.0, 2.0)

        def evaluate(self, levels: np.ndarray) -> np.ndarray:
            return 2 * super().evaluate(levels)

    asked = ["background", "interpolated", "smoothed", "posterior-ratio"]
    frame = wide(score(small(), TARGETS, [Doubled(3)], estimators=asked, posterior_settings="draws=50"))
    assert frame[["background", "interpolated", "smoothed"]].isna().all(axis=None)
    assert frame["note"].str.contains("background: defined for measures from 0 to 1").all()
    assert (frame["posterior-ratio"] <= 2 * frame["bound_upper"]).all()
    assert (frame["posterior-ratio"] > 1).any()


def test_reversals_and_checks_take_it() -> None:
    asked = {"judgments": [60], "estimators": ["smoothed"]}
    found = count_reversals(small(), measures="Hit@1", **asked)  # type: ignore[arg-type]
    as_precision = count_reversals(small(), measures="P@1", **asked)  # type: ignore[arg-type]
    columns = ["group", "estimator", "against", "separability", "reversed"]
    pd.testing.assert_frame_equal(found.rates()[columns], as_precision.rates()[columns])
    checks = check_models(
        small(), ["Hit@1", "P@1"], models="ratio", posterior_settings="draws=50", containers=False
    )
    hit, precision = checks["Hit@1", "ratio"], checks["P@1", "ratio"]
    np.testing.assert_array_equal(hit.draws, precision.draws)
    np.testing.assert_array_equal(hit.observed, precision.observed)

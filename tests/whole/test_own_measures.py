"""A measure of one's own: one file, one line, and every function and command takes it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
import pytest
from fits import TARGETS
from hypothesis import given, strategies as st

from bayespool import compare, complete, leave_out, load_example, reversals, score
from bayespool.errors import BayespoolWarning, ExperimentChangedWarning, InputError
from bayespool.experiments import simulate_example
from bayespool.measures import (
    MEASURES,
    Measure,
    Normalized,
    Precision,
    Success,
    Tally,
    parse_measure,
    register_measure,
)
from bayespool.measures.base import MISSING_RANK

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


@dataclass(frozen=True, order=True)
class Hit(Measure):
    """Whether anything relevant is in the top n: what the file of a new measure holds."""

    name = "Hit"

    def evaluate(self, levels: np.ndarray) -> np.ndarray:
        return (levels[..., : self.cutoff] >= self.rel).any(axis=-1).astype(float)


@pytest.fixture(autouse=True)
def _hit_is_registered() -> Iterator[None]:
    register_measure(Hit)  # the one line
    yield
    del MEASURES["Hit"]


def true_hit(cutoff: int) -> dict[str, float]:
    """By ir_measures, of the simulation with everything judged."""
    example = simulate_example()
    judged = [
        ir_measures.Qrel(q, d, r)
        for q, d, r in zip(
            example.truth.query_id.to_pylist(),
            example.truth.doc_id.to_pylist(),
            example.truth.relevance.tolist(),
            strict=True,
        )
    ]
    found = {}
    for run in example.runs:
        ranked = [
            ir_measures.ScoredDoc(q, d, s)
            for q, d, s in zip(
                run.query_id.to_pylist(), run.doc_id.to_pylist(), run.score.tolist(), strict=True
            )
        ]
        (value,) = ir_measures.calc_aggregate([ir_measures.Success @ cutoff], judged, ranked).values()
        found[run.run_id] = value
    return found


def test_its_text_is_read() -> None:
    assert parse_measure("Hit(rel=2)@3") == Hit(3, rel=2)
    assert parse_measure("Hit@5") == Hit(5) == parse_measure(Hit(5))
    assert str(Hit(3, 2)) == "Hit(rel=2)@3"
    with pytest.raises(InputError, match="unknown measure 'Hit@x'"):
        parse_measure("Hit@x")


def test_two_families_of_one_name_are_refused() -> None:
    class Other(Precision):
        name = "Hit"

    with pytest.raises(InputError, match="two families of measures are called 'Hit'"):
        register_measure(Other)


def test_a_family_of_the_package_is_not_replaced() -> None:
    """A class of the same name is one, too; of one's own classes the last counts, as in a notebook."""
    of_the_name = type("Success", (Hit,), {"name": "Success"})
    with pytest.raises(InputError, match="two families of measures are called 'Success'"):
        register_measure(of_the_name)
    assert MEASURES["Success"] is Success
    again = type("Hit", (Hit,), {})
    register_measure(again)
    assert MEASURES["Hit"] is again


# What a family promises, the package's and one's own.
TEXTS = (
    *("P@3", "P(rel=2)@5", "Success@3", "Hit@3", "RR(rel=2)@5", "R@4", "AP@5", "AP(rel=2)@3"),
    *("DCG@4", "DCG(dcg='exp-log2')@3", "nDCG@5", "nDCG(gains={1:0,2:5,3:7})@3"),
    *("SDCG@5", "SDCG(min_rel=1,max_rel=3)@3", "RBP(p=0.8)@3", "RBP(p=0.5)"),
    *("ERR@5", "ERR(max_rel=2)@3", "Judged@4", "AntiP@3", "AntiP(rel=2)@5"),
)
RANKINGS = st.lists(st.integers(MISSING_RANK, 3), min_size=1, max_size=7)


def amount(measure: Measure, ranking: list[int]) -> float:
    return float(measure.amounts(measure.read(np.array([ranking], dtype=np.int16)))[0])


def test_texts_are_of_all_families() -> None:
    ours = {name for name, family in MEASURES.items() if family.__module__.startswith("bayespool.")}
    assert {parse_measure(text).name for text in TEXTS} == {*ours, "Hit"}


@pytest.mark.parametrize("text", TEXTS)
@given(ranking=RANKINGS, place=st.integers(0, 6), level=st.integers(0, 3))
def test_amounts_do_not_fall_when_a_level_rises(
    text: str, ranking: list[int], place: int, level: int
) -> None:
    measure, place = parse_measure(text), place % len(ranking)
    risen = [max(old, level) if rank == place else old for rank, old in enumerate(ranking)]
    before, after = (amount(measure, one) for one in (ranking, risen))
    if measure.rises:
        assert before <= after + 1e-12
    elif ranking[place] >= 0:
        assert before >= after


@pytest.mark.parametrize("text", TEXTS)
@given(ranking=RANKINGS, others=st.lists(st.integers(0, 3), max_size=3))
def test_a_ranking_is_evaluated_on_its_own_down_to_the_cutoff(
    text: str, ranking: list[int], others: list[int]
) -> None:
    measure = parse_measure(text)
    alone = amount(measure, ranking)
    low, high = measure.range
    if not isinstance(measure, Normalized):
        assert low <= alone / measure.unit <= high
    together = np.array([[ranking, ranking[::-1], [0] * len(ranking)]])
    assert measure.amounts(measure.read(together))[0, 0] == alone
    full = (ranking + [MISSING_RANK] * measure.cutoff)[: measure.cutoff]
    assert amount(measure, full + others) == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("text", TEXTS)
@given(ranking=RANKINGS)
def test_values_lie_in_the_range(text: str, ranking: list[int]) -> None:
    measure = parse_measure(text)
    n = np.array([[ranking.count(level) for level in (1, 2, 3)]])
    low, high = measure.range
    levels = measure.read(np.array([[ranking]]))
    (value,) = measure.values(levels, Tally(n, (1, 2, 3))).means()
    assert low <= value <= high + 1e-12


@pytest.mark.slow
def test_score_takes_it() -> None:
    scores = score(load_example(), TARGETS, ["Hit@1", "P@1", "Hit@3"], estimators="all", draws=250)
    one, precision = (scores["posterior-combined", name] for name in ("Hit@1", "P@1"))
    assert one.draws is not None
    assert precision.draws is not None
    assert np.array_equal(one.draws.scores(), precision.draws.scores())  # the same draws
    np.testing.assert_allclose(one.value, precision.value, atol=1e-12)
    frame = scores.frame().set_index(["run_id", "measure"])
    truth = true_hit(3)
    for run in TARGETS:
        row = frame.loc[run, "Hit@3"]
        assert row["bound_lower"] <= row["posterior-combined_lower"] <= row["posterior-combined"]
        assert row["posterior-combined"] <= row["posterior-combined_upper"] <= row["bound_upper"]
        assert row["posterior-combined_lower"] <= truth[run] <= row["posterior-combined_upper"]
        assert row["bound_lower"] <= row["condensed-list"] <= 1
        assert row["lower-bound"] == row["bound_lower"]
        assert np.isnan(row["anti-precision"])
        assert "anti-precision: defined for P@n alone" in row["note"]
        assert np.isfinite(
            row[["background", "interpolated", "smoothed", "systems-adjustment"]].astype(float)
        ).all()
    lower = load_example().run_index(TARGETS)
    assert len(lower) == 2


def test_bounds_are_those_of_ir_measures_when_nothing_is_unjudged() -> None:
    judged = simulate_example().complete()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayespoolWarning)
        frame = score(judged, judged.run_ids, "Hit@5", estimators="lower-bound").frame()
    truth = true_hit(5)
    assert dict(zip(frame["run_id"], frame["lower-bound"], strict=True)) == pytest.approx(truth, abs=1e-12)
    assert (frame["residual"] == 0).all()


def test_corrections_that_are_chances_are_none_of_a_measure_beyond_1() -> None:
    class Doubled(Hit):
        name = "Doubled"
        range = (0.0, 2.0)

        def evaluate(self, levels: np.ndarray) -> np.ndarray:
            return 2 * super().evaluate(levels)

    frame = score(load_example(), TARGETS, [Doubled(3)], estimators="all", draws=50).frame()
    assert frame[["background", "interpolated", "smoothed"]].isna().all(axis=None)
    assert frame["note"].str.contains("background: defined for measures from 0 to 1").all()
    assert (frame["posterior-combined"] <= 2 * frame["bound_upper"]).all()
    assert (frame["posterior-combined"] > 1).any()


def test_the_commands_threshold_is_its_own() -> None:
    """It was P@3 that `--relevance-threshold 2` made of it."""
    from bayespool.cli.from_settings import _with_threshold

    assert _with_threshold("Hit@3", 2) == "Hit(rel=2)@3"
    assert _with_threshold("Hit(rel=1)@3", 2) == "Hit@3"
    assert _with_threshold("P@3", 2) == "P(rel=2)@3"
    assert _with_threshold("P@3", None) == "P@3"


def test_compare_takes_it() -> None:
    found = compare(load_example(), TARGETS, ["Hit@3", "P@3"], draws=250)
    frame = found.differences().set_index(["measure", "method", "scope"])
    row = frame.loc[("Hit@3", "posterior-combined", "these-topics")]
    (values,) = complete(load_example(), TARGETS, "Hit@3", draws=250).evaluate("Hit@3")
    difference = values.means()[:, 0] - values.means()[:, 1]
    assert row["difference"] == pytest.approx(difference.mean(), abs=1e-9)
    assert row["prob_greater"] == pytest.approx((np.round(difference, 9) > 0).mean())
    assert row["prob_equal"] == pytest.approx((np.round(difference, 9) == 0).mean())
    assert set(found.significance()["measure"]) == {"Hit@3", "P@3"}
    assert found.reliability()["value"].notna().all()


@pytest.mark.slow
def test_leave_out_takes_it_in_processes_and_from_disk(tmp_path: Path) -> None:
    example = load_example()
    settings = {"estimators": ["lower-bound", "posterior-ratio"], "draws": 50}
    one = leave_out(example, ["Hit@3", "P@3"], **settings)  # type: ignore[arg-type]
    two = leave_out(example, ["Hit@3", "P@3"], n_jobs=2, folder=tmp_path, **settings)  # type: ignore[arg-type]
    again = leave_out(example, ["Hit@3", "P@3"], folder=tmp_path, **settings)  # type: ignore[arg-type]
    for other in (two, again):
        pd.testing.assert_frame_equal(one.frame(), other.frame())
    frame = one.frame().query("measure == 'Hit@3'")
    assert (frame["bound_lower"] <= frame["truth"] + 1e-12).all()
    assert (frame["truth"] <= frame["bound_upper"] + 1e-12).all()
    drawn = frame[frame["estimator"] == "posterior-ratio"]
    assert drawn.loc[drawn["n_unjudged"] > 0, "covered_95"].mean() > 0.8


def test_stored_folds_of_another_measure_of_the_name_are_not_taken(tmp_path: Path) -> None:
    example = load_example()
    leave_out(example, "Hit@3", estimators="lower-bound", folder=tmp_path)

    @dataclass(frozen=True, order=True)
    class Other(Measure):
        name = "Hit"

        def evaluate(self, levels: np.ndarray) -> np.ndarray:
            return (levels[..., : self.cutoff] >= self.rel).all(axis=-1).astype(float)

    with pytest.warns(ExperimentChangedWarning, match="differs in own measures"):
        leave_out(example, [Other(3)], estimators="lower-bound", folder=tmp_path)


def test_reversals_take_it() -> None:
    asked = {"judgments": [300], "estimators": ["smoothed", "posterior-ratio"], "draws": 50}
    found = reversals(load_example(), measure="Hit@1", **asked)  # type: ignore[arg-type]
    as_precision = reversals(load_example(), measure="P@1", **asked)  # type: ignore[arg-type]
    columns = ["group", "method", "against", "separability", "reversed"]
    pd.testing.assert_frame_equal(found.rates()[columns], as_precision.rates()[columns])


def test_checks_take_it() -> None:
    from bayespool import check_models

    checks = check_models(load_example(), ["Hit@1", "P@1"], models="ratio", draws=50, containers=False)
    hit, precision = checks["ratio", "Hit@1"], checks["ratio", "P@1"]
    np.testing.assert_array_equal(hit.draws, precision.draws)
    np.testing.assert_array_equal(hit.observed, precision.observed)

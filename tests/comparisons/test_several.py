"""Several collections as one table, and tables of scores: means, ranks, wins and letters by other ways."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from small import small
from statsmodels.stats.multitest import multipletests

from bayespool import build_collection, read_result, score
from bayespool.collection import Collection
from bayespool.comparisons import Leaderboard, compact_letters, compare_table, score_several
from bayespool.errors import InputError, NoCollectionError

RUNS = ["new-a", "new-b"]
FAST: dict[str, Any] = {"estimators": "posterior-ratio", "posterior_settings": "draws=400"}
RNG = np.random.default_rng(5)
SCORES = np.round(RNG.normal([[0.5], [0.45], [0.2]], 0.15, size=(3, 24)), 3)
TABLE = pd.DataFrame({"topic": list(map(str, range(24))), **dict(zip("abc", SCORES, strict=True))})


@cache
def found() -> Leaderboard:
    measures = {"first": "P@10", "second": "nDCG@10", "again": "P@10"}
    return score_several(dict.fromkeys(measures, small()), RUNS, measures, **FAST)


def test_an_organization_leaves_the_pools_that_have_it() -> None:
    asked: dict[str, Any] = {"scope": "these-topics", **FAST}
    both = {"with": small(), "without": small().unpool(organization="north")}
    board = score_several(both, ["new-a"], "P@10", unpool=["north"], **asked)
    assert board.runs["run_id"].tolist() == ["new-a"], "of named runs no other is scored"
    alone = score(small(), ["new-a", "north-1"], "P@10", unpool="north", **FAST).to_frame()
    row = board.scores.query("collection == 'with'").iloc[0]
    assert row["bound_upper"] == alone.set_index("run_id").loc["new-a", "bound_upper"]
    assert "north is not in the pool of without: nothing leaves it" in board.notes()
    baseline = score_several(
        {"a": small(), "b": small()}, ["new-a"], "P@10", unpool="north-1", baseline="north-1", **asked
    )
    assert set(baseline.runs["run_id"]) == {"new-a", "north-1"}
    with pytest.raises(InputError, match="'sea' is in no pool of with, without; name a run or an organ"):
        score_several(both, ["new-a"], "P@10", unpool=["north", "sea"], **asked)


def rows_of(frame: pd.DataFrame, **where: object) -> pd.DataFrame:
    return frame[(frame[list(where)] == where).all(axis=1)]


def test_the_rows_of_a_collection_are_those_of_score() -> None:
    for name, measure in (("first", "P@10"), ("second", "nDCG@10")):
        alone = score(small(), RUNS, measure, scope="population", **FAST).to_frame()
        for scope, prefix in (("these-topics", ""), ("population", "population_")):
            rows = rows_of(found().scores, collection=name, scope=scope)
            assert rows["run_id"].tolist() == alone["run_id"].tolist()
            for column in ("value", "as_judged", "bound_lower", "bound_upper", "unjudged"):
                assert rows[column].tolist() == pytest.approx(alone[column].tolist(), abs=1e-12)
            for end in ("lower", "upper"):
                assert rows[end].tolist() == pytest.approx(alone[prefix + end].tolist(), abs=1e-12)


def test_the_mean_counts_collections_alike_and_their_draws_are_independent() -> None:
    scores, runs = found().scores, found().runs
    for scope in ("these-topics", "population"):
        means = rows_of(runs, scope=scope).set_index("run_id")
        single = rows_of(scores, scope=scope)
        for run in RUNS:
            rows = single[(single["run_id"] == run) & (single["collection"] != "mean")]
            for column in ("value", "as_judged", "bound_lower", "bound_upper"):
                assert means.loc[run, column] == pytest.approx(rows[column].mean(), abs=1e-12)
            # independent: widths add in squares; the same draws of all three would give the mean of widths
            widths = rows["upper"] - rows["lower"]
            expected = np.sqrt((widths**2).sum()) / 3
            assert means.loc[run, "upper"] - means.loc[run, "lower"] == pytest.approx(expected, rel=0.15)
    assert set(runs["n_units"]) == {3}
    assert set(runs["measure"]) == {"P@10, nDCG@10"}


def test_draws_depend_on_the_names_of_collections_and_not_on_their_order() -> None:
    two = score_several({"x": small(), "y": small()}, RUNS, "P@10", **FAST).runs
    turned = score_several({"y": small(), "x": small()}, RUNS, "P@10", **FAST).runs
    np.testing.assert_array_equal(two["lower"], turned["lower"])
    others = score_several({"x": small(), "z": small()}, RUNS, "P@10", **FAST).runs
    np.testing.assert_array_equal(others["value"], two["value"])
    assert (others["lower"] != two["lower"]).any()


def test_p_of_one_collection_is_that_of_the_paired_t_test() -> None:
    one = score_several({"only": small()}, RUNS, "P@10", **FAST, control="none")
    a, b = (
        score(small(), run, "P@10", estimators="as-judged")["P@10", "as-judged"].per_topic[0] for run in RUNS
    )
    assert one.differences["p"].tolist() == pytest.approx([stats.ttest_rel(a, b).pvalue] * 2)


def bare() -> Collection:
    """Two runs of which all is unjudged on one topic of two, without a pool."""
    runs = {
        "new-a": {"q": {"d1": 2.0, "d2": 1.0}, "r": {"e1": 1.0}},
        "new-b": {"q": {"d3": 2.0, "d4": 1.0}, "r": {"e2": 1.0}},
    }
    return build_collection(runs, {"q": {"d1": 1, "d2": 1, "d3": 0, "d4": 0}, "r": {"x": 1, "e1": 1}})


@pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")
def test_without_a_pool_bounds_stand_and_the_mean_is_over_the_others() -> None:
    two = {"pooled": small(), "bare": bare()}
    board = score_several(two, RUNS, "P@2", estimators=None, posterior_settings="draws=400")
    rows = rows_of(board.scores, collection="bare", run_id="new-b")
    assert (rows["basis"].tolist(), rows["value"].isna().tolist()) == (["bounds"], [True])
    assert rows[["bound_lower", "bound_upper"]].to_numpy().tolist() == [[0.0, 0.25]]
    pooled = rows_of(board.scores, collection="pooled", scope="these-topics", run_id="new-b")
    mean = rows_of(board.runs, scope="these-topics", run_id="new-b").iloc[0]
    assert (mean["n_units"], mean["value"]) == (1, pooled["value"].iloc[0])
    assert mean["bound_upper"] == (pooled["bound_upper"].iloc[0] + 0.25) / 2
    assert rows_of(board.scores, collection="mean")["basis"].unique().tolist() == ["1 of 2"]
    assert "1 of 2 collections without an estimate by posterior-combined: bare" in board.notes()[0]
    # on the bare collection new-a has all three relevant documents: no judgment makes up for them
    alone = score_several({"bare": bare()}, RUNS, "P@2", posterior_settings="draws=400")
    assert alone.differences[["estimator", "wins", "losses", "ties"]].to_numpy().tolist() == [
        ["as-judged", 1, 0, 0]
    ]
    named = score_several({"bare": bare()}, RUNS, "P@2", scope="these-topics", **FAST)
    assert named.scores["basis"].tolist() == ["priors", "priors", "1 of 1", "1 of 1"]


def test_collections_that_are_a_sample_are_a_t_interval_over_them() -> None:
    judged = {str(i): fully_judged(i) for i in range(6)}
    board = score_several(judged, ["x", "y"], "P@1", scope="groups", **FAST)
    low, high = stats.t.interval(0.95, 5, np.mean(LEADS), stats.sem(LEADS))
    (row,) = board.differences.to_dict("records")
    assert row["difference"] == pytest.approx(np.mean(LEADS))
    assert (row["lower"], row["upper"]) == pytest.approx((low, high), abs=0.05 * (high - low))
    assert set(rows_of(board.scores, collection="0")["basis"]) == {"judged"}


LEADS = (0.5, 0.0, -0.25, 0.25, 0.75, 0.25)


def fully_judged(place: int) -> Collection:
    """Four topics of two runs, of which x is ahead by a lead, with nothing unjudged."""
    n = round(4 * LEADS[place])
    qrels = {f"q{t}": {"x1": int(t < max(n, 0)), "y1": int(t < max(-n, 0)), "z": 1} for t in range(4)}
    runs = {run: {topic: {f"{run}1": 1.0} for topic in qrels} for run in ("x", "y")}
    return build_collection(runs, qrels)


def test_what_collections_cannot_be_is_refused() -> None:
    for collections, asked, problem in (
        ({}, {}, "no collection"),
        ({"a": small()}, {"run_ids": ["new-z"]}, "collection 'a' has no run 'new-z'"),
        ({"a": small()}, {"measures": {"a": "P@5", "b": "P@5"}}, "no collection 'b'"),
        ({"a": small(), "b": small()}, {"measures": {"a": "P@5"}}, "no measure of the collection 'b'"),
        ({"a": small()}, {"baseline": "new-z"}, "no run 'new-z' to compare with"),
        (
            {"a": small(), "b": small()},
            {"measures": {"a": ["P@5", "P@10"], "b": "P@5"}},
            "other numbers of measures",
        ),
        ({"a": small()}, {"systems": {"new-a": "x"}}, "systems beside several collections"),
    ):
        with pytest.raises(InputError, match=problem):
            score_several(collections, **{"run_ids": RUNS, **FAST, **asked})  # type: ignore[arg-type]
    with pytest.raises(NoCollectionError, match="a Collection where a mapping"):
        score_several(small())  # type: ignore[arg-type]


def test_a_leaderboard_is_read_back(tmp_path: Any) -> None:
    found().save(tmp_path / "board.json")
    stored = read_result(tmp_path / "board.json")
    assert stored.sentences() == found().sentences()
    assert [figure.name for figure in stored.figures()] == ["collections", "ranks"]
    pd.testing.assert_frame_equal(stored.to_frame("runs"), found().runs, check_dtype=False)
    (first, second) = found().sentences()
    assert first.startswith(
        "On these topics the mean score (P@10, nDCG@10) over 3 collections of new-a minus that of new-b is "
    )
    assert second.startswith("On topics like these")


# --- tables of scores ---


def test_a_table_is_tested_as_scipy_does_and_intervals_are_of_the_t_distribution() -> None:
    board = compare_table(TABLE, control="none")
    pairs = [(0, 1), (0, 2), (1, 2)]
    p = [stats.ttest_rel(SCORES[i], SCORES[j]).pvalue for i, j in pairs]
    assert board.differences["p"].tolist() == pytest.approx(p)
    holm = compare_table(TABLE).differences["p"].tolist()
    assert holm == pytest.approx(multipletests(p, method="holm")[1].tolist())
    for (i, j), row in zip(pairs, board.differences.to_dict("records"), strict=True):
        lead = SCORES[i] - SCORES[j]
        low, high = stats.t.interval(0.95, 23, lead.mean(), stats.sem(lead))
        assert row["difference"] == pytest.approx(lead.mean())
        assert (row["lower"], row["upper"]) == pytest.approx((low, high), abs=0.03 * (high - low))
        assert 1 - row["prob_greater"] == pytest.approx(
            stats.ttest_rel(*SCORES[[i, j]], alternative="greater").pvalue, abs=0.01
        )
        assert (row["wins"], row["losses"]) == ((lead > 0).sum(), (lead < 0).sum())
    assert board.runs["value"].tolist() == pytest.approx(SCORES.mean(axis=1))
    assert board.runs[["rank_lower", "rank_upper", "letters"]].to_numpy().tolist() == [
        [1, 2, "a"],
        [1, 2, "a"],
        [3, 3, "b"],
    ]
    assert "scores as judged" in board.notes()[0]


def test_baseline_and_controls_of_a_table() -> None:
    board = compare_table(TABLE, baseline="a", control="dunnett")
    assert board.differences[["run_a", "run_b"]].to_numpy().tolist() == [["b", "a"], ["c", "a"]]
    with pytest.raises(InputError, match="no run 'z' to compare with"):
        compare_table(TABLE, baseline="z")
    with pytest.raises(InputError, match="dunnett compares runs with one baseline"):
        compare_table(TABLE, control="dunnett")
    left_out = compare_table(replace_first(TABLE, np.nan))
    assert "1 topic left out, which some system lacks: 0" in left_out.notes()[1]


def replace_first(table: pd.DataFrame, value: float) -> pd.DataFrame:
    changed = table.copy()
    changed.loc[0, "b"] = value
    return changed


@given(st.integers(1, 9), st.floats(0, 1), st.integers(0, 10**6))
def test_two_runs_share_a_letter_if_and_only_if_they_are_not_told_apart(
    n: int, share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    value = rng.random(n)
    separated = (rng.random((n, n)) < share) & np.greater.outer(value, value)
    letters = compact_letters(separated, value)
    for i in range(n):
        for j in range(n):
            shares = bool(set(letters[i]) & set(letters[j]))
            assert shares == (i == j or not (separated[i, j] or separated[j, i]))
    assert "a" in letters[int(value.argmax())]
    used = sorted(set("".join(letters)))
    assert used == [chr(ord("a") + k) for k in range(len(used))]


def test_there_are_no_letters_where_the_alphabet_does_not_do() -> None:
    value = np.arange(30.0)
    apart = np.greater.outer(value, value)
    assert compact_letters(apart, value) == [""] * 30
    assert compact_letters(apart[:26, :26], value[:26])[0] == "z"

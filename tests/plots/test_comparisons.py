"""Figures of comparisons and reversals show the tables of differences, ranks, rates and probabilities."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from compared import compared
from drawn import cut_off, line, overlapping, row_names, segments
from small import small

from bayespool import rc_context
from bayespool.comparisons import Comparison, Reversals, compare, compare_table, count_reversals
from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.plots import (
    draw_collections,
    draw_comparison,
    draw_reversals,
    plot_collection,
    plot_differences,
    plot_leaderboard,
    plot_rank_probabilities,
    plot_reversal_calibration,
    plot_separability,
)

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")

FOUR = ("new-a", "new-b", "north-1", "north-2")


@cache
def bare() -> Comparison:
    return compare(small(), FOUR[:2], estimators=["background"])


def test_a_row_per_pair() -> None:
    found = compared(*FOUR)
    axes = plot_differences(found, truth={"new-a": 0.625, "new-b": 0.355})
    rows = found.differences()
    standing = rows[rows["estimator"] == "as-judged"]
    assert row_names(axes) == [f"{a} − {b}" for a, b in standing[["run_a", "run_b"]].to_numpy()]
    for scope, label in (("these-topics", "these topics"), ("population", "a population of topics")):
        mine = rows[(rows["estimator"] == "posterior-ratio") & (rows["scope"] == scope)]
        drawn = segments(axes, f"{label}, 95 %")
        np.testing.assert_array_equal(drawn[:, :, 0], mine[["lower", "upper"]])
        assert drawn[:, 0, 1].tolist() == list(range(6))
    np.testing.assert_array_equal(line(axes, "as judged")[:, 0], standing["difference"])
    np.testing.assert_allclose(line(axes, "truth")[:, 0], [0.27] + [np.nan] * 5)
    assert axes.get_xlabel() == "difference in P@10"
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)
    with pytest.raises(InputError, match="the result has no P@5"):
        plot_differences(found, "P@5")
    with pytest.raises(InputError, match="the result has no draws of 'odd'; it has posterior-ratio"):
        plot_differences(found, estimator="odd")


def test_chances_of_ranks() -> None:
    found = compared(*FOUR)
    for scope in ("these-topics", "population"):
        axes = plot_rank_probabilities(found, scope=scope)  # type: ignore[arg-type]
        ranks = found.runs()
        ranks = ranks[ranks["scope"] == scope]
        ranks = ranks.set_index("run_id").sort_values("expected_rank", kind="stable")
        expected = ranks["expected_rank"]
        assert row_names(axes) == expected.index.tolist()
        chances = np.asarray(axes.images[0].get_array())
        table = ranks[[f"prob_rank_{rank}" for rank in range(1, 5)]]
        np.testing.assert_array_equal(chances, table)
        np.testing.assert_array_equal(axes.lines[0].get_xdata(), expected)
        said = sorted(text.get_text() for text in axes.texts)
        assert said == sorted(str(round(100 * p)) for p in chances.ravel() if round(100 * p))
        assert not overlapping(axes.figure)
    with pytest.raises(InputError, match="the result has no scope 'all'; it has these-topics, population"):
        plot_rank_probabilities(found, scope="all")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the result has no draws of"):
        plot_rank_probabilities(bare())
    assert len(plot_differences(bare()).collections) == 0


def test_the_leaderboard_has_rank_intervals_and_marks_the_best() -> None:
    found = compared(*FOUR)
    frame = found.runs().sort_values("value", ascending=False, kind="stable")
    for scope, words in ((None, "a population of topics"), ("these-topics", "these topics")):
        axes = plot_leaderboard(found, scope=scope)  # type: ignore[arg-type]
        rows = frame[frame["scope"] == (scope or "population")]
        assert row_names(axes) == rows["run_id"].tolist()
        (lines,) = axes.collections
        drawn = np.array([path.vertices[:, 0] for path in lines.get_paths()])  # type: ignore[attr-defined]
        np.testing.assert_array_equal(drawn, rows[["rank_lower", "rank_upper"]])
        assert len(axes.lines[0].get_xdata()) == rows["among_best"].sum()  # type: ignore[arg-type]
        assert axes.get_xlabel() == (
            f"ranks by P@10,\n{words}; all at once 95 %\n(filled: may be the best; shades: tiers)"
        )
        assert not overlapping(axes.figure)
    with pytest.raises(InputError, match="the result has no draws of"):
        plot_leaderboard(bare())


def test_differences_from_a_baseline_are_a_row_each() -> None:
    runs = [*FOUR, "lake-1", "lake-2", "coast-1"]
    found = compare(
        load_example(), runs, estimators="posterior-ratio", posterior_settings="draws=20", baseline="lake-1"
    )
    (axes,) = draw_comparison(found).axes
    assert row_names(axes) == [run for run in runs if run != "lake-1"]
    assert axes.get_xlabel() == "difference in P@10 to lake-1"


@pytest.mark.slow
def test_many_pairs_are_shown_by_rank() -> None:
    assert draw_comparison(compared(*FOUR)).axes[0].get_xlabel() == "difference in P@10"
    figure = draw_comparison(compared(*load_example().pooled_run_ids[:13]))
    assert figure.axes[0].get_xlabel() == "rank by P@10,\nthese topics"
    assert not overlapping(figure)


@cache
def found() -> Reversals:
    estimators = ["smoothed", "posterior-ratio"]
    return count_reversals(
        small(),
        judgments=(50, 150),
        estimators=estimators,
        level=0.1,
        announce=(),
        posterior_settings="draws=20",
    )


@pytest.mark.slow
def test_separability_by_number_of_judgments() -> None:
    axes = plot_separability(found(), group="contributing")
    trends = found().trends()
    for estimator in found().scores["estimator"].unique():
        rows = trends[(trends["group"] == "contributing") & (trends["estimator"] == estimator)]
        np.testing.assert_array_equal(line(axes, estimator), rows[["judgments", "separability"]])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["50", "150", "203"]
    assert plot_separability(found(), legend=False).get_legend() is None
    figure = draw_reversals(found())
    assert len(figure.axes) == 2 * 3
    for drawn in (axes.figure, figure):
        assert not overlapping(drawn)
        assert not cut_off(drawn)


def test_announced_chances_against_what_happened() -> None:
    axes = plot_reversal_calibration(found(), "significant", group="contributing", n_bins=5)
    table = found().calibration(n_bins=5)
    table = table[(table["group"] == "contributing") & (table["statement"] == "significant")]
    for n in (50, 150):
        rows = table[(table["judgments"] == n) & (table["n"] > 0)]
        np.testing.assert_array_equal(line(axes, f"from {n} judgments"), rows[["announced", "happened"]])
    assert axes.get_xlabel() == "stated probability to be significant"
    bare = count_reversals(small(), judgments=(150,), estimators=["smoothed"])
    with pytest.raises(InputError, match="the result has no stated probabilities of"):
        plot_reversal_calibration(bare)
    assert len(draw_reversals(bare).axes) == 2 * 2


def test_collections_have_a_panel_each_on_shared_axes_and_ranks_have_letters() -> None:
    values = {
        "task": ["nq", "fiqa", "fever"],
        "a": [0.8, 0.7, 0.9],
        "b": [0.3, 0.1, 0.4],
        "c": [0.3, 0.2, 0.3],
    }
    board = compare_table(pd.DataFrame(values))
    with rc_context({"figure_width": "column"}):
        figure = draw_collections(board)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["nq", "fiqa", "fever", "mean, 3 of 3"]
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows == ["a", "b", "c"]
    (as_judged,) = [line for line in figure.axes[1].lines if line.get_label() == "as judged"]
    assert as_judged.get_xdata().tolist() == [0.7, 0.1, 0.2]
    axes = plot_leaderboard(board)
    (beside,) = axes.child_axes
    letters = [label.get_text() for label in beside.get_yticklabels()]
    assert letters == board.runs["letters"].tolist()
    with pytest.raises(InputError, match="the result has no collection 'quora'"):
        plot_collection(board, "quora")

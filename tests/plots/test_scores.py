"""Forests show the table of the scores: every bound, correction, interval and truth, in its row."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from drawn import cut_off, line, overlapping, row_names, segments, shown_texts
from small import small
from toys import from_rankings
from wide import wide

from bayespool import audit, rc_context
from bayespool.comparisons.comparing import compare_scores
from bayespool.errors import InputError
from bayespool.plots import draw_forest, draw_topics, figure_grid, plot_distance, plot_forest, plot_topics
from bayespool.plots.style import TYPE_SIZE
from bayespool.scoring import Scores, score

POINTS = ["background", "smoothed", "anti-precision"]


@cache
def example_scores() -> Scores:
    estimators = ["as-judged", *POINTS, "posterior-ratio"]
    return score(small(), measures=["P@10", "nDCG@5"], estimators=estimators, posterior_settings="draws=20")


@cache
def many_scores(n: int = 129) -> Scores:
    """Runs that share their few documents; every third ranks one that nobody judged."""
    runs = {f"run-{i:03}": {"1": "abx" if i % 3 else "azb"} for i in range(n + 1)}
    levels = {"1": {"a": 1, "b": 0, "x": 1}}
    collection = from_rankings(runs, levels, pooled_run_ids=("run-001",), pool_depth=3)
    names = ["run-000", *(f"run-{i:03}" for i in range(2, n + 1))]
    return score(collection, names, ["P@3"], estimators=["background"])


def test_a_row_per_run_the_best_at_the_top() -> None:
    scores = example_scores()
    axes = plot_forest(scores, truth={"new-a": 0.625, "new-b": 0.355})
    frame = wide(scores)
    table = frame[frame["measure"] == "P@10"].set_index("run_id").loc[["new-a", "new-b"]]
    assert (row_names(axes), axes.get_ylim()) == (["new-a", "new-b"], (1.5, -0.5))
    bounds, interval = segments(axes, "bounds"), segments(axes, "posterior-ratio, 95 %")
    np.testing.assert_array_equal(bounds[:, :, 0], table[["bound_lower", "bound_upper"]])
    place = bounds[:, 0, 1]
    assert place.round().tolist() == [0, 1]
    ends = table[["posterior-ratio_lower", "posterior-ratio_upper"]]
    np.testing.assert_array_equal(interval[:, :, 0], ends)
    np.testing.assert_array_equal(interval[:, 0, 1], place)
    np.testing.assert_array_equal(line(axes, "posterior mean"), np.c_[table["posterior-ratio"], place])
    np.testing.assert_array_equal(line(axes, "truth"), np.c_[[0.625, 0.355], place])
    above = [line(axes, name)[:, 1] - [0, 1] for name in POINTS]
    for name, off in zip(POINTS, above, strict=True):
        np.testing.assert_array_equal(line(axes, name)[:, 0], table[name])
        assert off[0] == pytest.approx(off[1])
        assert -0.5 < off[0] < place[0]
    assert len({float(off[0]) for off in above}) == 1  # one line for all
    np.testing.assert_array_equal(line(axes, "as judged"), np.c_[table["as_judged"], place])
    assert axes.get_xlabel() == "P@10, mean over 8 topics"
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)
    chosen = plot_forest(scores, "nDCG@5", corrections=["smoothed"], order=["new-b", "new-a"], legend=False)
    assert (row_names(chosen), chosen.get_legend()) == (["new-b", "new-a"], None)
    names = ["as judged", "bounds", "posterior mean", "posterior-ratio, 95 %", "smoothed"]
    assert sorted(chosen.get_legend_handles_labels()[1]) == names


def test_what_the_scores_lack() -> None:
    scores = example_scores()
    for wrong, said in (
        ({"measure": "P@5"}, "the result has no P@5; it has P@10, nDCG@5"),
        ({"estimator": "smoothed"}, "the result has no draws of 'smoothed'; it has posterior-ratio"),
        ({"corrections": ["odd"]}, "the result has no 'odd'"),
        ({"order": ["new-c"]}, "the result has no 'new-c'; it has new-a, new-b"),
    ):
        with pytest.raises(InputError, match=said):
            plot_forest(scores, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the result has no run 'new-c'"):
        plot_topics(scores, "new-c")
    with pytest.raises(InputError, match="the result has no distance from the pool"):
        plot_distance(score(small(), measures="P@10", estimators=["background"]))


def test_a_row_per_topic() -> None:
    scores = example_scores()
    topics = scores.query_ids
    axes = plot_topics(scores, "new-b", "P@10", truth={topics[0]: 0.7}, corrections=["background"])
    frame = wide(scores, per_topic=True)
    table = frame[(frame["measure"] == "P@10") & (frame["run_id"] == "new-b")]
    assert row_names(axes) == list(topics)
    np.testing.assert_array_equal(segments(axes, "bounds")[:, :, 0], table[["bound_lower", "bound_upper"]])
    np.testing.assert_array_equal(line(axes, "posterior mean")[:, 0], table["posterior-ratio"])
    np.testing.assert_array_equal(line(axes, "background")[:, 0], table["background"])
    assert line(axes, "truth")[0, 0] == 0.7
    assert np.isnan(line(axes, "truth")[1:, 0]).all()
    assert axes.get_xlabel() == "P@10 of new-b"
    assert not overlapping(axes.figure)
    by_estimate = row_names(plot_topics(scores, "new-b", order="estimate"))
    best = table.sort_values("posterior-ratio", ascending=False, kind="stable")["query_id"]
    assert by_estimate == best.tolist()


def test_twelve_runs_fit_in_a_column_of_five_inches() -> None:
    axes = plot_forest(many_scores(12))
    width, height = axes.figure.get_size_inches()  # type: ignore[union-attr]
    assert (len(row_names(axes)), bool(height * 3.33 / width <= 5)) == (12, True)
    assert not overlapping(axes.figure)


@pytest.mark.slow
def test_129_runs_make_a_readable_forest() -> None:
    axes = plot_forest(many_scores())
    assert len(row_names(axes)) == 129  # every name
    assert axes.figure.get_size_inches().tolist() == pytest.approx([5, 1.4 + 0.25 * 129])  # type: ignore[union-attr]
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)
    figure, (panel,) = figure_grid(1, width=5, height=5)
    plot_forest(many_scores(), ax=panel)
    assert (len(row_names(panel)), len(segments(panel, "bounds"))) == (43, 129)
    assert not overlapping(figure)


def test_measures_side_by_side_share_rows_and_legend() -> None:
    scores = example_scores()
    figure = draw_forest(scores, truth={"P@10": {"new-a": 0.625, "new-b": 0.355}})
    labels = [f"{measure}, mean over 8 topics" for measure in ("P@10", "nDCG@5")]
    assert [panel.get_xlabel() for panel in figure.axes] == labels
    assert line(figure.axes[0], "truth")[:, 0].tolist() == [0.625, 0.355]
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert {"bounds", "as judged", "truth", *POINTS} <= set(texts)
    assert len(texts) == len(set(texts))
    assert not overlapping(figure)
    assert not cut_off(figure)
    figure = draw_topics(scores, "nDCG@5")
    assert [panel.get_title() for panel in figure.axes] == ["new-a", "new-b"]
    assert not overlapping(figure)


def test_figures_have_the_width_of_a_column_one_size_of_type_and_a_legend_below() -> None:
    scores, runs = example_scores(), ["new-a", "new-b", "north-1"]
    many = score(small(), runs, ["P@5"], estimators="all", posterior_settings="draws=20", unpool="north-1")
    audited = audit(small(), "new-a", "P@5", budget=3, posterior_settings="draws=20")
    with rc_context({"figure_width": "column"}):
        for result in (scores, many, compare_scores(many, baseline=("new-a",)), audited):
            for figure in result.figures():
                drawn = result.plot(figure.name)
                assert drawn.get_figwidth() == 3.3
                sizes = {text.get_fontsize() for text in shown_texts(drawn) if text.get_gid() != "row"}
                assert sizes == {TYPE_SIZE}, figure.name
                assert not cut_off(drawn), figure.name
                assert not overlapping(drawn), figure.name
                for legend in drawn.legends:
                    lowest = min(axes.get_window_extent().y0 for axes in drawn.axes)
                    assert legend.get_window_extent().y1 <= lowest, figure.name
    assert many.plot("forest-P_5").get_figwidth() == 5


def test_runs_unlike_the_pool_have_a_dagger_and_topics_something_unjudged() -> None:
    scores = score(small(), measures="P@10", estimators="posterior-combined", posterior_settings="draws=20")
    found = dataclasses.replace(
        scores["P@10", "posterior-combined"], distance=np.array([9.0, 0.1]), new_kind=np.array([0.9, 0.1])
    )
    far = dataclasses.replace(scores, estimates=(found,))
    assert far.far_runs == {"new-a"}
    assert set(row_names(plot_forest(far))) == {"new-a †", "new-b"}
    short = score(small(), measures="P@2", estimators="background")
    panels, frame = draw_topics(short).axes, short.to_frame(per_topic=True)
    is_open = (frame["bound_upper"] > frame["bound_lower"]).groupby(frame["query_id"]).any()
    assert 0 < is_open.sum() < len(is_open)
    assert row_names(panels[0]) == is_open.index[is_open].tolist()
    assert panels[0].get_xlim() == panels[1].get_xlim()


def test_distance_from_the_pool() -> None:
    scores = score(small(), measures="P@10", estimators="posterior-combined", posterior_settings="draws=20")
    found = dataclasses.replace(
        scores["P@10", "posterior-combined"], distance=np.array([1.2, 2.0]), new_kind=np.array([0.4, 0.9])
    )
    axes = plot_distance(dataclasses.replace(scores, estimates=(found,)))
    assert row_names(axes) == ["new-b", "new-a"]
    assert line(axes, "like the pool")[:, 0].tolist() == [1.2]
    assert line(axes, "unlike the pool: beyond the line, probability over 50 %")[:, 0].tolist() == [2.0]
    assert line(axes, "distance 1.5")[:, 0].tolist() == [1.5, 1.5]
    (beside,) = axes.child_axes
    assert [label.get_text() for label in beside.get_yticklabels()] == ["90 %", "40 %"]
    assert not overlapping(axes.figure)
    assert not cut_off(axes.figure)

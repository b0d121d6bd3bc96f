"""Surfaces show errors where they belong."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import overlapping
from small import small

from bayespool.errors import InputError
from bayespool.experiments import vary_common_topics
from bayespool.plots import plot_rmse_surface, plot_topics_surface


def test_constants_with_the_least_error_are_marked() -> None:
    c, e = np.linspace(0, 1, 6), np.linspace(0, 0.5, 5)
    surface = (c[:, None] - 0.4) ** 2 + (e[None, :] - 0.25) ** 2 + 0.125
    axes = plot_rmse_surface(surface, c=c, e=e)
    (least,) = axes.lines
    assert np.asarray(least.get_xydata()).tolist() == [[0.4, 0.25]]
    assert axes.get_title() == "RMSE; least 0.125"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("C", "E")
    heights = [float(text.get_text()) for text in axes.texts]  # of the lines of equal error
    assert surface.min() < min(heights) < max(heights) < surface.max()
    with pytest.raises(InputError, match=r"shape \(6, 5\) is not of 5 constants C and 6 E"):
        plot_rmse_surface(surface, c=e, e=c)


def test_errors_by_width_and_common_topics() -> None:
    result = vary_common_topics(small(), widths=[2, 3], n_common=[2, 4, 8], n_samples=2)
    axes = plot_topics_surface(result)
    rows = result.to_frame("summary")
    rows = rows[(rows["estimator"] == "as-judged") & (rows["score"] == "adjusted")]
    table = rows.pivot(index="pool_width", columns="n_common", values="rmse").loc[[3, 2]]
    np.testing.assert_array_equal(axes.images[0].get_array(), table)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["3", "2"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "4", "8"]
    assert [text.get_text() for text in axes.texts] == [f"{x:.2g}" for x in table.to_numpy().ravel()]
    assert not overlapping(axes.figure)
    with pytest.raises(InputError, match="the result has no score 'odd'; it has unadjusted"):
        plot_topics_surface(result, score="odd")
    with pytest.raises(InputError, match="the result has no estimator 'odd'"):
        plot_topics_surface(result, "P@10", "odd")

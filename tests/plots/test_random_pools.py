"""Figures of random pools and run types show their summaries."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import cut_off, overlapping

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments import load_example, vary_common_topics, vary_pool_width
from bayespool.plots import plot_common_topics, plot_pool_width


@pytest.fixture(scope="module")
def example() -> Collection:
    return load_example()


@pytest.mark.slow
def test_figures_show_the_summary(example: Collection) -> None:
    estimators = ["as-judged", "condensed-list"]
    widths = vary_pool_width(example, estimators=estimators, widths=[2, 8], n_samples=10)
    axes = plot_pool_width(widths, "P@10")
    drawn = {line.get_label(): np.asarray(line.get_ydata()) for line in axes.get_lines()}
    for label, rows in widths.to_frame("summary").groupby("estimator"):
        assert drawn[str(label)].tolist() == rows["bias"].tolist()
    topics = vary_common_topics(example, widths=[2], n_common=[4, 8], n_samples=5)
    axes = plot_common_topics(topics, "P@10", "as-judged", 2)
    drawn = {line.get_label(): np.asarray(line.get_ydata()) for line in axes.get_lines()}
    summary = topics.to_frame("summary")
    rows = summary[(summary["estimator"] == "as-judged") & (summary["score"] == "adjusted")]
    assert drawn["adjusted"].tolist() == rows["mae"].tolist()
    for drawing in (plot_pool_width(widths, "P@10"), axes):
        assert not overlapping(drawing.figure)
        assert not cut_off(drawing.figure)
    for wrong in (
        lambda: plot_pool_width(widths, "P@5"),
        lambda: plot_common_topics(topics, "P@10", "as-judged", 3),
    ):
        with pytest.raises(InputError, match="it has"):
            wrong()

"""Figures of budgets show the summary."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import cut_off, overlapping

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments import budgets, load_example
from bayespool.plots import draw_budgets, plot_budgets, plot_ranking


@pytest.fixture(scope="module")
def example() -> Collection:
    return load_example()


@pytest.mark.slow
def test_figures_of_budgets_show_the_summary(example: Collection) -> None:
    asked = {"strategies": ["take", "dcg"], "budgets": [200, 600]}
    result = budgets(example, ["P@10", "AP@10"], **asked)  # type: ignore[arg-type]
    summary, ranking = result.to_frame("summary"), result.to_frame("ranking")
    for name in ("mae", "sre", "sre_star"):
        axes = plot_budgets(result, "AP@10", name)
        drawn = {line.get_label(): line for line in axes.get_lines()}
        for label, rows in summary[summary["measure"] == "AP@10"].groupby("strategy"):
            assert np.asarray(drawn[str(label)].get_ydata()).tolist() == rows[name].tolist()
            assert np.asarray(drawn[str(label)].get_xdata()).tolist() == [0.2, 0.6]
    assert len(draw_budgets(result).axes) == 6
    axes = plot_ranking(result)
    for figure in (draw_budgets(result), axes.figure):
        assert not overlapping(figure)
        assert not cut_off(figure)
    drawn = {line.get_label(): line for line in axes.get_lines()}
    for label, rows in ranking.groupby("strategy"):
        assert np.asarray(drawn[str(label)].get_ydata()).tolist() == rows["rank"].tolist()
    with pytest.raises(InputError, match="the result has no P@5"):
        plot_budgets(result, "P@5")
    with pytest.raises(InputError, match="no bias measure 'rmse'; known: mae, sre, sre_star"):
        plot_budgets(result, "P@10", "rmse")

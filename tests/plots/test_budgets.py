"""Figures of budgets show the summary."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import cut_off, overlapping

from bayespool.errors import InputError
from bayespool.experiments import budgets, load_example
from bayespool.plots import draw_budgets, plot_budgets, plot_ranking


@pytest.mark.slow
def test_figures_of_budgets_show_the_summary() -> None:
    result = budgets(load_example(), ["P@10", "AP@10"], strategies=["take", "dcg"], budgets=[200, 600])
    summary, ranking = result.to_frame("summary"), result.to_frame("ranking")
    shown = summary[summary["measure"] == "AP@10"]
    for axes, rows_of, name in (
        (plot_budgets(result, "AP@10", "mae"), shown, "mae"),
        (plot_budgets(result, "AP@10", "sre_star"), shown, "sre_star"),
        (plot_ranking(result), ranking, "rank"),
    ):
        for label, rows in rows_of.groupby("strategy"):
            (drawn,) = (one for one in axes.get_lines() if one.get_label() == label)
            assert np.asarray(drawn.get_ydata()).tolist() == rows[name].tolist()
    assert len(draw_budgets(result).axes) == 6
    for figure in (draw_budgets(result), axes.figure):
        assert not overlapping(figure)
        assert not cut_off(figure)
    with pytest.raises(InputError, match="the result has no P@5"):
        plot_budgets(result, "P@5")
    with pytest.raises(InputError, match="no bias measure 'rmse'; known: mae, sre, sre_star"):
        plot_budgets(result, "P@10", "rmse")

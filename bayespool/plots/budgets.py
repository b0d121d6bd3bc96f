"""Plots of budgets of pooling strategies: bias by budget, and ranks of strategies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayespool.errors import InputError, known_names
from bayespool.experiments import Budgets
from bayespool.experiments.budget_results import BIAS_MEASURES
from bayespool.measures import parse_measure
from bayespool.plots.style import axes_of, legend_beside, line_of, of_measure
from bayespool.tables.printable import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BIAS = {"mae": "MAE", "sre": "SRE", "sre_star": "SRE*"}


def plot_budgets(
    result: Budgets, measure: object, bias_measure: str = "mae", *, ax: Axes | None = None
) -> Axes:
    """Bias against the budget, a line per strategy: a panel of figure 1 of Lipani et al. (2017).

    Parameters
    ----------
    result : Budgets
    measure : measure
    bias_measure : {"mae", "sre", "sre_star"}
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    InputError
        The result has no such measure; no such bias measure.
    """
    if bias_measure not in BIAS_MEASURES:
        raise InputError(f"no bias measure {bias_measure!r}", hint=known_names(bias_measure, BIAS_MEASURES))
    rows, axes = of_measure(result.summary_frame(), measure), axes_of(ax)
    for i, label in enumerate(result.settings.labels):
        group = rows[rows["strategy"] == label]
        axes.plot(group["budget"] / 1000, group[bias_measure], label=literal(label), **line_of(i))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("documents judged, thousands")
    axes.set_ylabel(f"{_BIAS[bias_measure]} of {parse_measure(measure)}")
    return axes


def draw_budgets(result: Budgets) -> Figure:
    """Figure 1 of Lipani et al. (2017): a column per measure, a row per bias measure, one legend."""
    from matplotlib.figure import Figure

    measures = result.settings.measures
    figure = Figure(figsize=(3.6 * len(measures) + 1.6, 8.4), layout="constrained")
    grid = figure.subplots(len(BIAS_MEASURES), len(measures), squeeze=False)
    for panels, bias_measure in zip(grid, BIAS_MEASURES, strict=True):
        for panel, measure in zip(panels, measures, strict=True):
            plot_budgets(result, measure, bias_measure, ax=panel)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize="small", frameon=False)
    return figure


def plot_ranking(result: Budgets, *, ax: Axes | None = None) -> Axes:
    """Ranks of strategies by their mean bias over budgets, as in figure 2 of Lipani et al. (2017).

    Parameters
    ----------
    result : Budgets
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        A column for each measure and bias measure, a line per strategy, the least biased at the bottom.
    """
    ranking, axes = result.ranking_frame(), axes_of(ax)
    places = [(str(m), bias) for m in result.settings.measures for bias in BIAS_MEASURES]
    ranks = ranking.set_index(["strategy", "measure", "bias_measure"])["rank"]
    worst_first = sorted(result.settings.labels, key=lambda label: -ranks[(label, *places[-1])])
    for label in worst_first:
        i = result.settings.labels.index(label)
        axes.plot(
            range(len(places)),
            [ranks[(label, *place)] for place in places],
            label=literal(label),
            **line_of(i),
        )
    axes.set_xticks(range(len(places)), [f"{_BIAS[bias]}\n{m}" for m, bias in places], fontsize="small")
    n = len(result.settings.labels)
    axes.set_yticks(range(1, n + 1))
    axes.set_ylim(0.5, n + 0.5)
    axes.set_ylabel("rank, the least biased at the bottom")
    legend_beside(axes)
    return axes

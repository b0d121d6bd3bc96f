"""Experiments on pools, run types and budgets → matplotlib axes; nothing is computed that no result has.

As in `bayespool.plots`, a function draws into the axes it is given, or into a new figure of its own, and
returns the axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.errors import InputError
from bayespool.experiments import (
    BIAS_MEASURES,
    Budgets,
    CommonTopicsResult,
    PoolWidthResult,
    RunTypesResult,
)
from bayespool.measures import parse_measure
from bayespool.plots import figure_grid
from bayespool.printable import literal
from bayespool.suggestions import known_names

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "draw_budgets",
    "plot_budgets",
    "plot_common_topics",
    "plot_pool_width",
    "plot_ranking",
    "plot_run_types",
]

_MARKS = "osD^vXP*<>hp"
_COLOURS = ("C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9")
_POSTERIOR, _AS_IT_STANDS = "C0", "0.45"
_BIAS = {"mae": "MAE", "sre": "SRE", "sre_star": "SRE*"}
_STYLES = {
    "unadjusted": (_AS_IT_STANDS, "-", None),
    "mixed": ("C1", "-", "s"),
    "adjusted": ("C0", "-", "o"),
    "common-only": ("C2", "-", "^"),
}


def plot_pool_width(result: PoolWidthResult, measure: object, *, ax: Axes | None = None) -> Axes:
    """Error of runs outside the pool against the width of the pool: means, and quartiles as bars.

    The figure 1 of Webber & Park (2009).

    Parameters
    ----------
    result : PoolWidthResult
    measure : measure
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        The widths are on a logarithmic scale; the estimators stand a little apart.
    """
    rows = _of_measure(result.summary_frame(), measure)
    axes = _axes(ax)
    axes.axhline(0, color="0.8", lw=1, zorder=0)
    for i, label in enumerate(result.settings.labels):
        of_one = rows[rows["estimator"] == label]
        shift = 1.05 ** (i - (len(result.settings.labels) - 1) / 2)
        places, colour = of_one["pool_width"].to_numpy() * shift, _colour(result.settings.labels, label)
        axes.vlines(places, of_one["quartile_1"], of_one["quartile_3"], color=colour, lw=3, alpha=0.3)
        mark = _MARKS[i % len(_MARKS)]
        axes.plot(places, of_one["bias"], color=colour, marker=mark, ms=5, lw=1.4, label=literal(label))
    _count_axis(axes, result.settings.widths)
    axes.set_xlabel(f"pool width, {result.settings.by}s")
    axes.set_ylabel(f"estimate − true {parse_measure(measure)}")
    axes.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return axes


def plot_common_topics(
    result: CommonTopicsResult, measure: object, estimator: str, width: int, *, ax: Axes | None = None
) -> Axes:
    """Mean absolute error against the number of common topics, and what sampling theory says of it (dashed).

    Parameters
    ----------
    result : CommonTopicsResult
    measure : measure
    estimator : str
        A label of the result's: what is adjusted.
    width : int
        A pool width of the result's.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        The numbers of topics are on a logarithmic scale.
    """
    rows = _of_measure(result.summary_frame(), measure)
    rows = rows[(rows["estimator"] == estimator) & (rows["pool_width"] == width)]
    if rows.empty:
        known = f"{', '.join(result.settings.labels)}; {', '.join(map(str, result.settings.widths))}"
        raise InputError(
            f"the result has no {estimator!r} with pools of width {width}", hint=f"it has {known}"
        )
    axes = _axes(ax)
    for score, (colour, style, mark) in _STYLES.items():
        of_one = rows[rows["score"] == score]
        n_common = of_one["n_common"].to_numpy()
        axes.plot(n_common, of_one["mae"], color=colour, ls=style, marker=mark, ms=4, lw=1.2, label=score)
        if of_one["mae_law"].notna().any():
            axes.plot(n_common, of_one["mae_law"], color=colour, ls="--", lw=1, alpha=0.7)
    _count_axis(axes, result.settings.n_common)
    axes.set_ylim(0, 1.3 * float(rows["mae"].max()) or 1)
    axes.set_xlabel(f"common topics, of {len(result.query_ids)}")
    axes.set_ylabel(f"mean absolute error of {parse_measure(measure)}")
    axes.set_title(f"{literal(estimator)}, pools of {width} {result.settings.by}s", fontsize="medium")
    axes.legend(fontsize="x-small", frameon=False, loc="upper right", ncols=2)
    return axes


def plot_run_types(result: RunTypesResult, measure: object, kind: str, *, ax: Axes | None = None) -> Axes:
    """Errors of the runs of a left-out type, a dot per run in a row per estimator; the bar is their mean.

    Parameters
    ----------
    result : RunTypesResult
    measure : measure
    kind : str
        A type that was left out.
    ax : matplotlib.axes.Axes, optional
    """
    rows = _of_measure(result.frame(), measure)
    rows = rows[rows["type"] == kind]
    if rows.empty:
        raise InputError(
            f"the result has no type {kind!r} left out",
            hint=known_names(kind, result.settings.types, before="it has "),
        )
    from matplotlib.ticker import MaxNLocator

    axes, labels = _axes(ax), result.settings.shared.labels
    means = _of_measure(result.summary_frame(), measure)
    bias = means[means["type"] == kind].set_index("estimator")["bias"]
    axes.axvline(0, color="0.8", lw=1, zorder=0)
    for row, label in enumerate(labels):
        of_one = rows[rows["estimator"] == label]
        colour, n_runs = _colour(labels, label), len(of_one)
        places = -row + 0.5 * (np.arange(n_runs) + 0.5) / n_runs - 0.25
        axes.plot(of_one["error"], places, "o", color=colour, ms=3, mew=0, alpha=0.6)
        axes.vlines(bias[label], -row - 0.35, -row + 0.35, color=colour, lw=2)
    axes.set_yticks(-np.arange(len(labels)), [literal(label) for label in labels], fontsize="small")
    axes.xaxis.set_major_locator(MaxNLocator(5))  # more would run into one another
    axes.set_xlabel(f"estimate − true {parse_measure(measure)}")
    axes.set_title(f"{literal(kind)} runs on a pool without any", fontsize="medium")
    return axes


def plot_budgets(
    result: Budgets, measure: object, bias_measure: str = "mae", *, ax: Axes | None = None
) -> Axes:
    """Bias against the budget, a line per strategy: a panel of the figure 1 of Lipani et al. (2017).

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
    rows, axes = _of_measure(result.summary_frame(), measure), _axes(ax)
    for i, label in enumerate(result.settings.labels):
        of_one = rows[rows["strategy"] == label]
        axes.plot(of_one["budget"] / 1000, of_one[bias_measure], label=literal(label), **_line(i))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("documents judged, thousands")
    axes.set_ylabel(f"{_BIAS[bias_measure]} of {parse_measure(measure)}")
    return axes


def draw_budgets(result: Budgets) -> Figure:
    """The figure 1 of Lipani et al. (2017): a column per measure, a row per bias measure, one legend."""
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
    """Ranks of strategies by their mean bias over budgets, the least biased at the bottom: the figure 2 of
    Lipani et al. (2017).

    Parameters
    ----------
    result : Budgets
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        A place for each measure and bias measure, a line per strategy.
    """
    ranking, axes = result.ranking_frame(), _axes(ax)
    places = [(str(m), bias) for m in result.settings.measures for bias in BIAS_MEASURES]
    ranks = ranking.set_index(["strategy", "measure", "bias_measure"])["rank"]
    worst_first = sorted(result.settings.labels, key=lambda label: -ranks[(label, *places[-1])])
    for label in worst_first:
        i = result.settings.labels.index(label)
        axes.plot(
            range(len(places)), [ranks[(label, *place)] for place in places], label=literal(label), **_line(i)
        )
    axes.set_xticks(range(len(places)), [f"{_BIAS[bias]}\n{m}" for m, bias in places], fontsize="small")
    n = len(result.settings.labels)
    axes.set_yticks(range(1, n + 1))
    axes.set_ylim(0.5, n + 0.5)
    axes.set_ylabel("rank, the least biased at the bottom")
    axes.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
    return axes


def _line(i: int) -> dict[str, Any]:
    """Colour, mark and style of the line with this number."""
    colours = ("C0", *_COLOURS)
    style = ("-", "--", ":")[i // len(colours) % 3]
    mark = _MARKS[i % len(_MARKS)]
    return {"color": colours[i % len(colours)], "ls": style, "marker": mark, "ms": 3.5, "lw": 1.2}


def _of_measure(frame: pd.DataFrame, measure: object) -> pd.DataFrame:
    name = str(parse_measure(measure))
    rows = frame[frame["measure"] == name]
    if rows.empty:
        known = ", ".join(dict.fromkeys(frame["measure"]))
        raise InputError(f"the result has no {name}", hint=f"it has {known}")
    return rows


def _axes(ax: Axes | None) -> Axes:
    return figure_grid(1, width=5, height=4)[1][0] if ax is None else ax


def _count_axis(axes: Axes, counts: tuple[int, ...]) -> None:
    """Ticks at the counts themselves."""
    from matplotlib.ticker import NullLocator

    if len(counts) > 1:
        axes.set_xscale("log", base=2)
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.xaxis.set_minor_locator(NullLocator())


def _colour(labels: tuple[str, ...], label: str) -> str:
    if label == "lower-bound":
        return _AS_IT_STANDS
    posteriors = [name for name in labels if name.startswith("posterior")]
    if label in posteriors[:1]:
        return _POSTERIOR
    others = [name for name in labels if name != "lower-bound" and name not in posteriors[:1]]
    return _COLOURS[others.index(label) % len(_COLOURS)]

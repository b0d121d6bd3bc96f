"""Plots of errors by pool width, number of common topics, and run type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayespool.errors import InputError, known_names
from bayespool.experiments import CommonTopicsResult, PoolWidthResult, RunTypesResult
from bayespool.measures import parse_measure
from bayespool.plots.style import (
    AS_JUDGED,
    MARKS,
    PALETTE,
    axes_of,
    color_of,
    count_axis,
    legend_beside,
    of_measure,
)
from bayespool.tables.printable import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = {
    "unadjusted": (AS_JUDGED, "-", None),
    "mixed": (PALETTE[1], "-", "s"),
    "adjusted": (PALETTE[0], "-", "o"),
    "common-only": (PALETTE[2], "-", "^"),
}


def plot_pool_width(result: PoolWidthResult, measure: object, *, ax: Axes | None = None) -> Axes:
    """Error of runs outside the pool against the width of the pool: means, and quartiles as bars.

    Figure 1 of Webber & Park (2009).

    Parameters
    ----------
    result : PoolWidthResult
    measure : measure
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Widths are on a logarithmic scale, with estimators slightly apart.
    """
    rows = of_measure(result.summary_frame(), measure)
    axes = axes_of(ax)
    axes.axhline(0, color="0.8", lw=1, zorder=0)
    for i, label in enumerate(result.settings.labels):
        group = rows[rows["estimator"] == label]
        shift = 1.05 ** (i - (len(result.settings.labels) - 1) / 2)
        places, color = group["pool_width"].to_numpy() * shift, color_of(result.settings.labels, label)
        axes.vlines(places, group["quartile_1"], group["quartile_3"], color=color, lw=3, alpha=0.3)
        mark = MARKS[i % len(MARKS)]
        axes.plot(places, group["bias"], color=color, marker=mark, ms=5, lw=1.4, label=literal(label))
    count_axis(axes, result.settings.widths)
    axes.set_xlabel(f"pool width, {result.settings.by}s")
    axes.set_ylabel(f"estimate − true {parse_measure(measure)}")
    legend_beside(axes)
    return axes


def plot_common_topics(
    result: CommonTopicsResult, measure: object, estimator: str, width: int, *, ax: Axes | None = None
) -> Axes:
    """Mean absolute error against the number of common topics, and its prediction by sampling theory
    (dashed).

    Parameters
    ----------
    result : CommonTopicsResult
    measure : measure
    estimator : str
        Label of the adjusted estimator.
    width : int
        A pool width of the result's.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Numbers of topics are on a logarithmic scale.
    """
    rows = of_measure(result.summary_frame(), measure)
    rows = rows[(rows["estimator"] == estimator) & (rows["pool_width"] == width)]
    if rows.empty:
        known = f"{', '.join(result.settings.labels)}; {', '.join(map(str, result.settings.widths))}"
        raise InputError(
            f"the result has no {estimator!r} with pools of width {width}", hint=f"it has {known}"
        )
    axes = axes_of(ax)
    for score, (color, style, mark) in _STYLES.items():
        group = rows[rows["score"] == score]
        n_common = group["n_common"].to_numpy()
        axes.plot(n_common, group["mae"], color=color, ls=style, marker=mark, ms=4, lw=1.2, label=score)
        if group["mae_law"].notna().any():
            axes.plot(n_common, group["mae_law"], color=color, ls="--", lw=1, alpha=0.7)
    count_axis(axes, result.settings.n_common)
    axes.set_ylim(0, 1.3 * float(rows["mae"].max()) or 1)
    axes.set_xlabel(f"common topics, of {len(result.query_ids)}")
    axes.set_ylabel(f"mean absolute error of {parse_measure(measure)}")
    axes.set_title(f"{literal(estimator)}, pools of {width} {result.settings.by}s", fontsize="medium")
    axes.legend(fontsize="x-small", frameon=False, loc="upper right", ncols=2)
    return axes


def plot_run_types(result: RunTypesResult, measure: object, kind: str, *, ax: Axes | None = None) -> Axes:
    """Errors of the runs of a left-out type, a dot per run in a row per estimator; bars are means.

    Parameters
    ----------
    result : RunTypesResult
    measure : measure
    kind : str
        A left-out type.
    ax : matplotlib.axes.Axes, optional
    """
    rows = of_measure(result.frame(), measure)
    rows = rows[rows["type"] == kind]
    if rows.empty:
        raise InputError(
            f"the result has no type {kind!r} left out",
            hint=known_names(kind, result.settings.types, before="it has "),
        )
    from matplotlib.ticker import MaxNLocator

    axes, labels = axes_of(ax), result.settings.shared.labels
    means = of_measure(result.summary_frame(), measure)
    bias = means[means["type"] == kind].set_index("estimator")["bias"]
    axes.axvline(0, color="0.8", lw=1, zorder=0)
    for row, label in enumerate(labels):
        group = rows[rows["estimator"] == label]
        color, n_runs = color_of(labels, label), len(group)
        places = -row + 0.5 * (np.arange(n_runs) + 0.5) / n_runs - 0.25
        axes.plot(group["error"], places, "o", color=color, ms=3, mew=0, alpha=0.6)
        axes.vlines(bias[label], -row - 0.35, -row + 0.35, color=color, lw=2)
    axes.set_yticks(-np.arange(len(labels)), [literal(label) for label in labels], fontsize="small")
    axes.xaxis.set_major_locator(MaxNLocator(5))  # more ticks would overlap
    axes.set_xlabel(f"estimate − true {parse_measure(measure)}")
    axes.set_title(f"{literal(kind)} runs on a pool without any", fontsize="medium")
    return axes

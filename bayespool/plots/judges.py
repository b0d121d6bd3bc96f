"""Second judges: how often documents of each label are relevant, and how sure that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayespool.plots.style import (
    PALETTE,
    POSTERIOR,
    axes_of,
    choose,
    figure_grid,
    legend_above,
    of_measure,
    sole,
)
from bayespool.printable import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayespool.checking import JudgeCheck

__all__ = ["draw_judges", "plot_labels"]

_KINDS = (("other", "s", PALETTE[1]), ("hidden", "o", POSTERIOR))


def plot_labels(
    check: JudgeCheck,
    measure: object = None,
    *,
    judge: str | None = None,
    relevant_from: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Share of relevant documents among those of each label, with intervals: what a label is worth.

    Parameters
    ----------
    check : bayespool.checking.JudgeCheck
    measure : measure, optional
        Default: the first one.
    judge : str, optional
        Default: the first one.
    relevant_from : int, optional
        From which level on a document is relevant; default: the first that the measure asks.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Hidden documents, which one organization alone contributed, beside other judged ones. Where the two
        differ, labels are worth something else on the documents that matter. A label that no document has
        is without a mark.

    Raises
    ------
    InputError
        The check has no such measure, judge or level.
    """
    name = sole(check.measures, measure)
    rows = of_measure(check.frame("calibration"), name)
    chosen = choose(judge, list(dict.fromkeys(rows["judge"])), "judge")
    rows = rows[rows["judge"] == chosen]
    levels = [str(level) for level in dict.fromkeys(rows["relevant_from"])]
    asked = None if relevant_from is None else str(relevant_from)
    level = int(choose(asked, levels, "level of relevance"))
    rows = rows[rows["relevant_from"] == level]
    labels = list(dict.fromkeys(rows["label"]))
    axes = axes_of(ax, width=4.8, height=3.6)
    ci_prob = float(rows["ci_prob"].iloc[0])
    for k, (kind, mark, color) in enumerate(_KINDS):
        mine = rows[(rows["documents"] == kind) & (rows["n"] > 0)]
        place = np.array([labels.index(label) for label in mine["label"]]) + 0.2 * (k - 0.5)
        axes.vlines(place, mine["lower"], mine["upper"], color=color, lw=2, alpha=0.6)
        axes.plot(
            place, mine["share"], mark, color=color, ms=6, label=f"{kind} documents, {100 * ci_prob:g} %"
        )
    axes.set_xticks(range(len(labels)), [literal(label) for label in labels])
    axes.set(xlim=(-0.6, len(labels) - 0.4), ylim=(-0.03, 1.03))
    axes.set_xlabel(f"label of {literal(chosen)}")
    axes.set_ylabel("share relevant" if len(levels) == 1 else f"share of relevance {level} or more")
    axes.grid(axis="y", color="0.92")
    axes.set_axisbelow(True)
    legend_above(axes)
    return axes


def draw_judges(check: JudgeCheck) -> Figure:
    """A figure with `plot_labels` of every judge and level of relevance that the first measure asks."""
    measure = check.measures[0]
    shown = [(judge.name, level) for judge in check.judges for level in check.relevant_from(measure)]
    figure, panels = figure_grid(len(shown), width=4.8, height=3.6)
    for (judge, level), panel in zip(shown, panels, strict=True):
        plot_labels(check, measure, judge=judge, relevant_from=level, ax=panel)
    return figure

"""Plots of second judges: relevance of documents by label, and intervals without and with labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayespool.plots.style import (
    AS_JUDGED,
    PALETTE,
    POSTERIOR,
    axes_of,
    choose,
    figure_grid,
    legend_above,
    of_measure,
    row_axis,
    sole,
)
from bayespool.tables.printable import literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayespool.experiments import JudgeCheck

_KINDS = (("other", "s", PALETTE[1]), ("hidden", "o", POSTERIOR))


def plot_labels(
    check: JudgeCheck,
    measure: object = None,
    *,
    judge: str | None = None,
    relevant_from: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Share of relevant documents among those of each label, with intervals.

    Parameters
    ----------
    check : bayespool.experiments.JudgeCheck
    measure : measure, optional
        Default: the first.
    judge : str, optional
        Default: the first.
    relevant_from : int, optional
        Lowest relevant level; default: the first of the measure.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Hidden documents, which only one organization contributed, beside other judged ones: where the two
        differ, labels of judged documents do not carry over. A label without documents has no mark.

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
    wanted = None if relevant_from is None else str(relevant_from)
    level = int(choose(wanted, levels, "level of relevance"))
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


def plot_judged_runs(
    check: JudgeCheck,
    measure: object = None,
    *,
    judge: str | None = None,
    truth: Mapping[str, float] | None = None,
    marks: Mapping[str, Mapping[str, float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Intervals of runs without the labels of a judge, and with them, a row per run.

    Parameters
    ----------
    check : bayespool.experiments.JudgeCheck
        With intervals (``intervals=True``).
    measure : measure, optional
        Default: the first.
    judge : str, optional
        Default: the first.
    truth : mapping of str to float, optional
        True values by run, if known.
    marks : mapping of str to mapping of str to float, optional
        Further values by name and run, such as scores with labels as judgments.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Runs are in the order of the table ``runs``. Dots are posterior means.

    Raises
    ------
    InputError
        The check has no intervals, or no such measure or judge.
    """
    name = sole(check.measures, measure)
    rows = of_measure(check.frame("runs"), name)
    chosen = choose(judge, list(dict.fromkeys(rows["judge"])), "judge")
    rows = rows[rows["judge"] == chosen]
    runs = list(rows["run_id"])
    axes = axes_of(ax, width=6.4, height=1.4 + 0.42 * len(runs))
    place = np.arange(len(runs))
    percent = f"{100 * float(rows['ci_prob'].iloc[0]):g} %"
    named = {"without": "without labels", "with": f"with those of {literal(chosen)}"}
    for (which, label), shift, color in zip(
        named.items(), (-0.15, 0.15), (AS_JUDGED, POSTERIOR), strict=True
    ):
        ends = rows[f"lower_{which}"], rows[f"upper_{which}"]
        axes.hlines(place + shift, *ends, color=color, lw=3, alpha=0.6, label=f"{label}, {percent}")
        axes.plot(rows[f"value_{which}"], place + shift, "o", color=color, ms=5, mew=0)
    for k, (label, values) in enumerate((marks or {}).items()):
        mark, color = "DsP^v"[k % 5], PALETTE[1:][(2 + k) % (len(PALETTE) - 1)]
        x = [values.get(run, np.nan) for run in runs]
        axes.plot(x, place + 0.15, mark, color=color, ms=5, mew=0, label=literal(label))
    if truth is not None:
        known = [truth.get(run, np.nan) for run in runs]
        axes.plot(known, place, "x", color="black", ms=6, mew=1.4, label="truth", zorder=4)
    row_axis(axes, runs)
    axes.set_xlabel(name)
    axes.grid(axis="x", color="0.92")
    axes.set_axisbelow(True)
    legend_above(axes, n_columns=2)
    return axes


def draw_judges(check: JudgeCheck) -> Figure:
    """Figure with `plot_labels` of every judge and relevance level of the first measure."""
    measure = check.measures[0]
    shown = [(judge.name, level) for judge in check.judges for level in check.relevant_from(measure)]
    figure, panels = figure_grid(len(shown), width=4.8, height=3.6)
    for (judge, level), panel in zip(shown, panels, strict=True):
        plot_labels(check, measure, judge=judge, relevant_from=level, ax=panel)
    return figure

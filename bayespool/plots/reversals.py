"""Plots of few judgments against all: p-values, separability, and calibration of announced chances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayespool.plots.style import PALETTE, axes_of, choose, count_axis, legend_beside, line_of
from bayespool.tables.printable import literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayespool.comparisons import Reversals

_FLOOR = 1e-6
_TAKEN_BACK, _GAINED = PALETTE[3], PALETTE[4]


def plot_p_values(
    reversals: Reversals,
    n_judgments: int | None = None,
    *,
    group: str | None = None,
    method: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """P-values under few judgments against those under all, a point per pair of runs, with four quadrants.

    Figure 5 of Ravana & Moffat (2010). Pairs at the lower left are significant under both; all judgments take
    back those at the upper left, and make those at the lower right significant.

    Parameters
    ----------
    reversals : bayespool.comparisons.Reversals
    n_judgments : int, optional
        One of its smaller judgment sets; default: the smallest.
    group : str, optional
        Of runs; default: the first with two.
    method : str, optional
        One with p-values; default: the scores as judged.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Both axes are logarithmic and begin at 10⁻⁶, where smaller values are drawn. Corners show numbers of
        pairs, with the names of `Reversals.rates`: *kept* is significant in the same direction under both,
        *swapped* in opposite ones.

    Raises
    ------
    InputError
        The result has no such judgment set, group or method.
    """
    values, rates = reversals.p_values(), reversals.rates()
    group = choose(group, _groups(reversals), "pairs of runs")
    values = values[values["group"] == group]
    method = choose(method, list(dict.fromkeys(values["method"])), "p-values of")
    sizes = [str(n) for n in reversals.n_judgments[:-1]]
    n = int(choose(None if n_judgments is None else str(n_judgments), sizes, "smaller judgment set"))
    values = values[(values["method"] == method) & (values["judgments"] == n)]
    rates = rates[(rates["group"] == group) & (rates["method"] == method) & (rates["judgments"] == n)]
    (rate,) = rates[rates["against"] == "same method"].to_dict("records")
    axes, level = axes_of(ax, width=4.6, height=4.4), reversals.level
    limits = (0.7 * _FLOOR, 1.4)
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    axes.fill_between([limits[0], level], level, limits[1], color=_TAKEN_BACK, alpha=0.12, lw=0)
    axes.fill_between([level, limits[1]], limits[0], level, color=_GAINED, alpha=0.15, lw=0)
    axes.axvline(level, color="0.6", lw=0.8)
    axes.axhline(level, color="0.6", lw=0.8)
    few, full = (np.maximum(values[name], _FLOOR) for name in ("p_value", "p_value_all"))
    axes.scatter(few, full, s=9, color=PALETTE[0], alpha=0.6, lw=0)
    n_pairs = {
        name: round(rate["n_pairs"] * rate[name]) for name in ("kept", "swapped", "reversed", "gained")
    }
    kept = f"kept {n_pairs['kept']:,}"
    if n_pairs["swapped"]:
        kept += f", swapped {n_pairs['swapped']:,}"
    style: dict[str, Any] = {"fontsize": "small", "transform": axes.transAxes}
    style["bbox"] = {"fc": "white", "alpha": 0.7, "lw": 0, "pad": 1}
    axes.text(0.02, 0.98, f"taken back {n_pairs['reversed']:,}", va="top", **style)
    axes.text(0.02, 0.02, kept, **style)
    axes.text(0.98, 0.02, f"gained {n_pairs['gained']:,}", ha="right", **style)
    axes.set_xlabel(f"p with {n:,} judgments")
    axes.set_ylabel(f"p with all {reversals.n_judgments[-1]:,}")
    pairs = "1 pair" if rate["n_pairs"] == 1 else f"{rate['n_pairs']:,} pairs"
    axes.set_title(f"{literal(method)}, {pairs} of {group} runs", fontsize="medium")
    return axes


def plot_separability(
    reversals: Reversals, *, group: str | None = None, legend: bool = True, ax: Axes | None = None
) -> Axes:
    """Share of pairs that are significantly different against the number of judgments, a line per method.

    Figure 4 of Ravana & Moffat (2010).

    Parameters
    ----------
    reversals : bayespool.comparisons.Reversals
    group : str, optional
        Of runs; default: the first with two.
    legend : bool
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Numbers of judgments are on a logarithmic scale.
    """
    trends, group = reversals.trends(), choose(group, _groups(reversals), "pairs of runs")
    axes = axes_of(ax, width=6.5, height=4)
    for i, method in enumerate(reversals.methods):
        rows = trends[(trends["group"] == group) & (trends["method"] == method)]
        axes.plot(rows["judgments"], rows["separability"], label=literal(method), **line_of(i))
    axes.set_ylim(-0.02, min(1.03, axes.get_ylim()[1] + 0.1))
    count_axis(axes, reversals.n_judgments, base=10)
    axes.set_xlabel("documents judged")
    axes.set_ylabel(f"share of pairs, {reversals.measure}, p < {reversals.level:g}")
    axes.set_title(f"{group} runs", fontsize="medium")
    if legend:
        legend_beside(axes)
    return axes


def plot_reversal_calibration(
    reversals: Reversals,
    statement: Literal["reversed", "significant"] = "reversed",
    *,
    group: str | None = None,
    method: str | None = None,
    n_bins: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Announced chances against outcomes under all judgments, a line per number of judgments.

    Parameters
    ----------
    reversals : bayespool.comparisons.Reversals
    statement : {"reversed", "significant"}
        That a significant difference will not be (of the pairs that are significant now), or that a
        difference will be significant (of all pairs).
    group : str, optional
        Of runs; default: the first with two.
    method : str, optional
        One with draws; default: the first.
    n_bins : int, default 10
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        As `plot_calibration`.

    Raises
    ------
    InputError
        No method announces chances, or not this one; no such statement or group.
    """
    table = reversals.calibration(n_bins=n_bins)
    methods = [] if table.empty else list(dict.fromkeys(table["method"]))
    method = choose(method, methods, "announced chances of")
    group = choose(group, _groups(reversals), "pairs of runs")
    statement_ = choose(statement, list(dict.fromkeys(table["statement"])), "statement")
    rows = table[(table["group"] == group) & (table["method"] == method) & (table["statement"] == statement_)]
    axes = axes_of(ax, width=4.6, height=4.2)
    for n in dict.fromkeys(rows["judgments"]):
        mine = rows[rows["judgments"] == n]
        if mine["n"].any():
            plot_calibration(mine, label=f"from {n:,} judgments", ax=axes)
    event = {"reversed": "to be taken back", "significant": "to be significant"}[statement_]
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.set_xlabel(f"announced chance {event}")
    axes.set_ylabel("share that is, with all judgments")
    axes.set_title(f"{literal(method)}, {group} runs", fontsize="medium")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize="small", loc="best")
    else:
        axes.text(0.5, 0.5, "no pair that all judgments can grade", ha="center", fontsize="small")
    return axes


def draw_reversals(reversals: Reversals) -> Figure:
    """Figure with a row per group of runs: p-values, calibration of chances, and separability."""
    from matplotlib.figure import Figure

    groups = _groups(reversals)
    has_chances = bool(reversals.draws)
    figure = Figure(figsize=(10.6 + 4.2 * has_chances, 4.3 * len(groups)), layout="constrained")
    grid = figure.subplots(len(groups), 2 + has_chances, squeeze=False)
    for row, (group, panels) in enumerate(zip(groups, grid, strict=True)):
        plot_p_values(reversals, group=group, ax=panels[0])
        if has_chances:
            plot_reversal_calibration(reversals, "significant", group=group, ax=panels[1])
        plot_separability(reversals, group=group, legend=row == 0, ax=panels[-1])
    return figure


def plot_calibration(table: pd.DataFrame, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """Reliability plot: share that happened against announced probability.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `bayespool.comparisons.calibration_table`, or rows of `bayespool.Reversals.calibration` for one
        group, method, judgment set and statement.
    label : str, optional
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        A mark per bin, larger for more cases; perfect calibration is on the diagonal.
    """
    axes, filled = axes_of(ax), table[table["n"] > 0]
    if not axes.lines:
        axes.plot([0, 1], [0, 1], color="0.6", lw=0.8)
    color = PALETTE[(len(axes.lines) - 1) % len(PALETTE)]
    axes.plot(filled["announced"], filled["happened"], lw=1, color=color, label=label)
    sizes = 8 + 120 * filled["n"] / filled["n"].sum()
    axes.scatter(filled["announced"], filled["happened"], s=sizes, color=color)
    axes.set_xlabel("announced probability")
    axes.set_ylabel("share that happened")
    return axes


def _groups(reversals: Reversals) -> list[str]:
    """Groups of two runs or more."""
    return [group for group, runs in reversals.groups.items() if len(runs) > 1]

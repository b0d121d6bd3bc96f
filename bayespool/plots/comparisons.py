"""Plots of comparisons of runs: differences of pairs with intervals, and chances of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.plots.style import (
    PALETTE,
    POSTERIOR,
    axes_of,
    choose,
    inches_per_row,
    legend_above,
    of_measure,
    row_axis,
    sole,
)
from bayespool.tables.printable import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayespool.comparisons import Comparison
    from bayespool.comparisons.draws import Scope

_SCOPES = {"population": "a population of topics", "these-topics": "these topics"}
_AS_JUDGED = "lower-bound"
_MAX_PAIRS_DRAWN = 15
_MAX_RUNS_WITH_TEXT = 12  # beyond, cells are too small for text


def plot_differences(
    comparison: Comparison,
    measure: object = None,
    *,
    method: str | None = None,
    truth: Mapping[str, float] | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Differences of pairs of runs, a row each, with intervals of these topics and of a population of topics.

    Parameters
    ----------
    comparison : bayespool.comparisons.Comparison
    measure : measure, optional
        Default: the first.
    method : str, optional
        One with draws; default: the first. Without any only the differences as judged are drawn.
    truth : mapping of str to float, optional
        True values by run, if known.
    legend : bool
    ax : matplotlib.axes.Axes, optional
        Default: a new figure, higher for more pairs. From seven runs on `plot_rank_probabilities` is easier
        to read.

    Returns
    -------
    matplotlib.axes.Axes
        With a shaded range of negligible differences (``rope``), if there is one.

    Raises
    ------
    InputError
        The comparison has no such measure or method.
    """
    name = sole(comparison.measures, measure)
    rows = of_measure(comparison.differences(), name)
    as_judged = rows[rows["method"] == _AS_JUDGED]
    place = {pair: i for i, pair in enumerate(zip(as_judged["run_a"], as_judged["run_b"], strict=True))}
    axes = axes_of(ax, width=7, height=1.5 + 0.3 * len(place))
    size = float(np.clip(72 * inches_per_row(axes, len(place)) * 0.25, 2.5, 6))
    if comparison.rope:
        axes.axvspan(-comparison.rope, comparison.rope, color="0.94", lw=0)
    axes.axvline(0, color="0.5", lw=0.8)
    drawn = list(dict.fromkeys(rows.loc[rows["lower"].notna(), "method"]))
    if method is not None or drawn:
        of_method = rows[rows["method"] == choose(method, drawn, "draws of")]
        for scope, color, width in (("population", "0.75", 0.5), ("these-topics", POSTERIOR, 1.2)):
            mine = of_method[of_method["scope"] == scope]
            y = [place[pair] for pair in zip(mine["run_a"], mine["run_b"], strict=True)]
            label = f"{_SCOPES[scope]}, {100 * comparison.ci_prob:g} %"
            if y:
                axes.hlines(y, mine["lower"], mine["upper"], color=color, lw=width * size, label=label)
            if scope == "these-topics" and y:
                axes.plot(mine["difference"], y, "|", color="white", ms=1.2 * size, mew=1.5)
    y = list(place.values())
    above = np.array(y) - 0.24  # to hide no narrow interval
    axes.plot(as_judged["difference"], above, "v", color=PALETTE[1], ms=size, mew=0, label="as it stands")
    if truth is not None:
        true = [truth.get(a, np.nan) - truth.get(b, np.nan) for a, b in place]
        axes.plot(true, y, "x", color="black", ms=size, mew=1.4, label="truth")
    row_axis(axes, [f"{a} − {b}" for a, b in place])
    axes.set_xlabel(f"difference in {name}")
    if legend:
        legend_above(axes, n_columns=2)
    return axes


def plot_rank_probabilities(
    comparison: Comparison,
    measure: object = None,
    *,
    method: str | None = None,
    scope: Scope = "these-topics",
    ax: Axes | None = None,
) -> Axes:
    """Chances of ranks: a row per run, the best by expected rank at the top, and a column per rank.

    Parameters
    ----------
    comparison : bayespool.comparisons.Comparison
    measure : measure, optional
        Default: the first.
    method : str, optional
        One with draws; default: the first.
    scope : {"these-topics", "population"}
        Whether only the unjudged documents are uncertain, or the topics are a sample, too.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Darker is likelier; for up to twelve runs cells show percentages. Diamonds are expected ranks.

    Raises
    ------
    InputError
        The comparison has no such measure, method or scope.
    """
    name = sole(comparison.measures, measure)
    rows = of_measure(comparison.ranks(), name) if comparison.draws else comparison.ranks()
    chosen = choose(method, list(dict.fromkeys(rows["method"])), "draws of")
    rows = rows[rows["method"] == chosen]
    scope_ = choose(scope, list(dict.fromkeys(rows["scope"])), "scope")
    rows = rows[rows["scope"] == scope_].sort_values("expected_rank", kind="stable")
    run_ids = list(dict.fromkeys(rows["run_id"]))
    chances = rows.pivot(index="run_id", columns="rank", values="prob_rank").loc[run_ids].to_numpy()
    expected = rows.drop_duplicates("run_id")["expected_rank"].to_numpy()
    n = len(run_ids)
    axes = axes_of(
        ax, width=3 + min(0.45 * n, 9), height=1.4 + (0.3 if n <= _MAX_RUNS_WITH_TEXT else 0.13) * n
    )
    extent = (0.5, n + 0.5, n - 0.5, -0.5)
    image = axes.imshow(
        chances, cmap="Blues", vmin=0, vmax=1, aspect="auto", extent=extent, interpolation="none"
    )
    axes.plot(expected, np.arange(n), "D", color=PALETTE[3], ms=3.5 if n <= _MAX_RUNS_WITH_TEXT else 2, mew=0)
    if n <= _MAX_RUNS_WITH_TEXT:
        for (row, column), chance in np.ndenumerate(chances):
            if round(100 * chance):
                text, at = f"{round(100 * chance)}", (column + 1, row)
                color = "white" if chance > 0.6 else "0.25"
                style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "x-small"}
                axes.annotate(text, at, (0, 5.5), textcoords="offset points", color=color, **style)
    row_axis(axes, run_ids)
    axes.locator_params(axis="x", integer=True)
    if n <= _MAX_RUNS_WITH_TEXT:
        axes.set_xticks(range(1, n + 1))
    axes.set_xlabel(f"rank by {name}, {_SCOPES[scope_]}")
    axes.set_title(literal(chosen), fontsize="medium")
    bar = axes.figure.colorbar(image, ax=axes, pad=0.02)
    bar.set_label("chance", fontsize="small")
    bar.ax.tick_params(labelsize="small")
    return axes


def draw_comparison(comparison: Comparison) -> Figure:
    """Figure with a panel per measure: differences of up to fifteen pairs, chances of ranks of more runs.

    Without draws all differences are drawn.
    """
    from matplotlib.figure import Figure

    n_runs, measures = len(comparison.run_ids), comparison.measures
    n_pairs = n_runs * (n_runs - 1) // 2
    by_rank = n_pairs > _MAX_PAIRS_DRAWN
    drawn = {str(measure) for measure, _, _ in comparison.draws}
    wide = 3 + min(0.45 * n_runs, 9) if by_rank and drawn else 6.4
    high = (
        1.4 + (0.3 if n_runs <= _MAX_RUNS_WITH_TEXT else 0.13) * n_runs
        if by_rank and drawn
        else 1.5 + 0.3 * n_pairs
    )
    n_columns = min(2, len(measures))
    n_rows = -(-len(measures) // n_columns)
    figure = Figure(figsize=(wide * n_columns, high * n_rows), layout="constrained")
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for panel in panels[len(measures) :]:
        panel.remove()
    for measure, panel in zip(measures, panels, strict=False):
        if by_rank and str(measure) in drawn:
            plot_rank_probabilities(comparison, measure, ax=panel)
        else:
            plot_differences(comparison, measure, ax=panel)
    return figure

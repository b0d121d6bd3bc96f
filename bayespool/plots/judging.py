"""Plot of judging in rounds: widths of intervals by number of judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bayespool.errors import InputError, known_names
from bayespool.plots.style import AS_JUDGED, MARKS, POSTERIOR, axes_of, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayespool.experiments import JudgingRounds

_COLORS = {"judge-next": POSTERIOR, "random": AS_JUDGED}
_LABELS = {"judge-next": "chosen by judge-next", "random": "chosen by chance"}
_AXES = {"width": "mean width of the intervals", "widest": "width of the widest interval"}


def plot_judging(
    rounds: JudgingRounds, *, column: Literal["width", "widest"] = "width", ax: Axes | None = None
) -> Axes:
    """Width of the runs' intervals by the number of judgments, a line for each order of judging.

    Parameters
    ----------
    rounds : bayespool.experiments.JudgingRounds
    column : {"width", "widest"}
        The mean over the runs, or the widest interval.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Crosses are the mean widths expected when a round's documents were chosen; the widest interval has
        none.

    Raises
    ------
    InputError
        Unknown column.
    """
    if column not in _AXES:
        raise InputError(f"no column {column!r}", hint=known_names(column, tuple(_AXES)))
    table = rounds.summary_frame()
    axes = axes_of(ax, width=5.6, height=3.6)
    for order in rounds.orders:
        rows = table[table["order"] == order]
        mark, color = MARKS[list(_COLORS).index(order)], _COLORS[order]
        axes.plot(rows["n_judgments"], rows[column], f"{mark}-", color=color, ms=5, label=_LABELS[order])
    foreseen = table[table["expected"].notna()]
    if column == "width" and len(foreseen):
        axes.plot(
            foreseen["n_judgments"], foreseen["expected"], "x", color="black", label="expected a round before"
        )
    axes.set_ylim(bottom=0)
    axes.set_xlabel("judgments")
    axes.set_ylabel(f"{_AXES[column]}, {rounds.measure}")
    axes.locator_params(axis="x", integer=True)
    axes.grid(color="0.92")
    axes.set_axisbelow(True)
    legend_above(axes, n_columns=2)
    return axes

"""Plots of errors over two settings: constants of a correction; pool width and common topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError
from bayespool.measures import parse_measure
from bayespool.plots.style import PALETTE, axes_of, choose, of_measure
from bayespool.tables.printable import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayespool.experiments import CommonTopicsResult

_MAX_CELLS_WITH_TEXT = 150


def plot_rmse_surface(
    surface: npt.NDArray[np.float64], *, c: npt.ArrayLike, e: npt.ArrayLike, ax: Axes | None = None
) -> Axes:
    """Error of a correction over its constants C and E, as lines of equal error with a cross at the minimum.

    Figures 2 and 3 of Ravana & Moffat (2010), seen from above.

    Parameters
    ----------
    surface : ndarray of float, shape (c, e)
        Of `bayespool.comparisons.rmse_surface`.
    c, e : array_like of float
        Its constants, two or more each.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The surface has another number of constants.
    """
    c_values, e_values = np.asarray(c, float), np.asarray(e, float)
    if surface.shape != (c_values.size, e_values.size) or min(surface.shape) < 2:
        raise InputError(
            f"a surface of shape {surface.shape} is not of {c_values.size} constants C and {e_values.size} E",
            hint="give what rmse_surface was given, two or more of each",
        )
    axes = axes_of(ax, width=5.4, height=4)
    axes.contourf(c_values, e_values, surface.T, levels=12, cmap="Blues", alpha=0.7)
    lines = axes.contour(c_values, e_values, surface.T, levels=12, colors="0.25", linewidths=0.7)
    axes.clabel(lines, fontsize=7)
    best = np.unravel_index(surface.argmin(), surface.shape)
    axes.plot(c_values[best[0]], e_values[best[1]], "X", color=PALETTE[3], ms=8, mec="white", clip_on=False)
    axes.set(xlabel="C", ylabel="E")
    axes.set_title(f"RMSE; least {float(surface.min()):.3g}", fontsize="medium")
    return axes


def plot_topics_surface(
    result: CommonTopicsResult,
    measure: object = None,
    estimator: str | None = None,
    score: str = "adjusted",
    *,
    ax: Axes | None = None,
) -> Axes:
    """Root mean squared error by pool width and number of common topics, darker for larger.

    It shows whether one more run in the pool or topics judged in full reduce errors more (Webber & Park 2009,
    §4).

    Parameters
    ----------
    result : CommonTopicsResult
    measure : measure, optional
        Default: the first.
    estimator : str, optional
        The adjusted estimator; default: the first.
    score : str
        One of `bayespool.experiments.SCORES`.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        A column per number of topics, a row per width, with errors written into up to 150 cells.

    Raises
    ------
    InputError
        The result has no such measure, estimator or score.
    """
    settings = result.settings
    name = str(settings.measures[0] if measure is None else parse_measure(measure))
    rows = of_measure(result.summary_frame(), name)
    label = choose(estimator, settings.labels, "estimator")
    rows = rows[rows["estimator"] == label]
    chosen = choose(score, list(dict.fromkeys(rows["score"])), "score")
    table = rows[rows["score"] == chosen].pivot(index="pool_width", columns="n_common", values="rmse")
    table = table.sort_index(ascending=False)
    errors = table.to_numpy()
    n_rows, n_columns = errors.shape
    axes = axes_of(ax, width=2.4 + 0.62 * n_columns, height=1.6 + 0.42 * n_rows)
    image = axes.imshow(errors, cmap="Blues", vmin=0, aspect="auto", interpolation="none")
    if errors.size <= _MAX_CELLS_WITH_TEXT:
        for (row, column), error in np.ndenumerate(errors):
            color = "white" if error > 0.6 * np.nanmax(errors) else "0.2"
            place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "x-small", "color": color}
            axes.text(column, row, f"{error:.2g}", **place)
    axes.set_xticks(range(n_columns), [str(n) for n in table.columns])
    axes.set_yticks(range(n_rows), [str(n) for n in table.index])
    axes.set_xlabel(f"common topics, of {len(result.query_ids)}")
    axes.set_ylabel(f"pool width, {settings.by}s")
    axes.set_title(f"{name}, {literal(label)}, {chosen}", fontsize="medium")
    bar = axes.figure.colorbar(image, ax=axes, pad=0.02)
    bar.set_label("RMSE", fontsize="small")
    bar.ax.tick_params(labelsize="small")
    return axes

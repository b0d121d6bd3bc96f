"""Plots of checks of the models: held-out predictions, comparison of models, self-calibration, engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from bayespool.experiments import HeldOutPrediction, SelfCalibration, run_frame
from bayespool.experiments.engine_checks import ENDS_WITHIN, MEAN_WITHIN
from bayespool.experiments.uniformity import bar_limits
from bayespool.measures import parse_measure
from bayespool.plots.style import POSTERIOR, axes_of
from bayespool.tables.printable import literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_predictive(
    prediction: HeldOutPrediction, *, ci_prob: float = 0.95, label_runs: bool = True, ax: Axes | None = None
) -> Axes:
    """Predicted and observed values of runs whose organizations were held out, a row per run.

    Gray: the prior interval. Thin and thick: the interval after learning from other organizations, and its
    central 50 %. Dot: observed. Runs with nothing hidden are left out.

    Parameters
    ----------
    prediction : bayespool.experiments.HeldOutPrediction
    ci_prob : float in (0, 1)
    label_runs : bool
        Whether to label rows with the runs' names.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    axes = axes_of(ax)
    whole, half = (
        run_frame([prediction], prob).sort_values("value", kind="stable") for prob in (ci_prob, 0.5)
    )
    rows = np.arange(len(whole))
    for frame, which, color, width, label in (
        (whole, "prior_", "0.75", 1.2, f"before learning, {100 * ci_prob:g} %"),
        (whole, "", POSTERIOR, 1.6, f"held out, {100 * ci_prob:g} %"),
        (half, "", POSTERIOR, 4.5, "held out, 50 %"),
    ):
        low, high = frame[f"{which}lower"], frame[f"{which}upper"]
        axes.hlines(rows, low, high, color=color, lw=width, label=label)
    axes.plot(whole["value"], rows, "o", color="black", ms=3.2, label="observed")
    axes.set_yticks(rows, whole["run_id"].map(literal).tolist() if label_runs else [], fontsize=6.5)
    axes.set_ylim(-0.7, len(whole) - 0.3)
    axes.set_xlabel(str(prediction.measure))
    axes.set_title(literal(prediction.model), fontsize="medium")
    return axes


def plot_held_out_pit(prediction: HeldOutPrediction, *, n_bins: int = 10, ax: Axes | None = None) -> Axes:
    """Histogram of the randomized PIT of runs whose organizations were held out; read like `plot_pit`.

    If runs were independent, each bar would be between the dotted lines with 95 % probability.

    Parameters
    ----------
    prediction : bayespool.experiments.HeldOutPrediction
    n_bins : int, default 10
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    from matplotlib.ticker import MaxNLocator

    pit, axes = prediction.pit[prediction.has_hidden], axes_of(ax)
    axes.hist(pit, bins=n_bins, range=(0, 1), color=POSTERIOR, alpha=0.6, edgecolor="white")
    axes.axhline(len(pit) / n_bins, color="black", lw=1, ls="--", label="calibrated")
    for limit, label in zip(bar_limits(len(pit), n_bins), ("95 % of calibrated bars", None), strict=True):
        axes.axhline(limit, color="black", lw=0.8, ls=":", label=label)
    axes.set(xlim=(0, 1), xlabel=f"PIT, {prediction.measure}", ylabel=f"runs, of {len(pit)}")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(literal(prediction.model), fontsize="medium")
    return axes


def plot_elpd(frame: pd.DataFrame, measure: object, *, ax: Axes | None = None) -> Axes:
    """Difference of each model's log predictive density on held-out organizations from the best one's.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `bayespool.experiments.elpd_frame`.
    measure : measure
        One of the frame's.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Bars are plus and minus one standard error of the difference.
    """
    name, axes = str(parse_measure(measure)), axes_of(ax)
    table = frame[frame["measure"] == name]
    rows = -np.arange(len(table))
    axes.axvline(0, color="0.8", lw=1, zorder=0)
    axes.errorbar(-table["elpd_diff"], rows, xerr=table["dse"], fmt="o", color=POSTERIOR, ms=5, lw=1.6)
    axes.set_yticks(rows, table["model"].map(literal))
    axes.set_xlabel("elpd less the best one's")
    axes.set_title(name, fontsize="medium")
    return axes


def plot_ranks(
    calibration: SelfCalibration, quantity: str, *, prob: float = 0.95, ax: Axes | None = None
) -> Axes:
    """Simulation-based calibration of one quantity: the distribution of ranks minus the uniform one.

    Parameters
    ----------
    calibration : bayespool.experiments.SelfCalibration
    quantity : str
        One of its quantities.
    prob : float in (0, 1)
        Probability that the band holds the whole line of a calibrated model.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Above zero on the left: true values are low among the draws too often.
    """
    frame, axes = calibration.rank_frame(quantity, prob=prob), axes_of(ax)
    axes.fill_between(frame["expected"], frame["band_lower"], frame["band_upper"], color="0.88", lw=0)
    axes.axhline(0, color="0.6", lw=0.8)
    axes.plot(frame["expected"], frame["excess"], color=POSTERIOR, lw=1.5)
    axes.set_xlim(0, 1)
    axes.tick_params(labelsize="small")
    axes.set_title(quantity, fontsize="small")
    return axes


def plot_engines(
    frame: pd.DataFrame, what: Literal["mean", "lower", "upper"], *, ax: Axes | None = None
) -> Axes:
    """Difference of the Laplace engine from NUTS in shares of the interval's width, a mark per run.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `bayespool.experiments.compare_engines`.
    what : {"mean", "lower", "upper"}
        Posterior means, or an end of the intervals.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Bars are two Monte-Carlo errors; the band is 2 % for means and 5 % for ends.
    """
    axes, models = axes_of(ax), list(dict.fromkeys(frame["model"]))
    within = MEAN_WITHIN if what == "mean" else ENDS_WITHIN
    axes.axvspan(-within, within, color="0.88", lw=0)
    axes.axvline(0, color="0.6", lw=0.8)
    for row, model in enumerate(models):
        table = frame[frame["model"] == model]
        places = -row + 0.6 * (np.arange(len(table)) + 0.5) / len(table) - 0.3
        errors = 2 * table[f"{what}_off_se"]
        axes.errorbar(table[f"{what}_off"], places, xerr=errors, fmt=".", color=POSTERIOR, ms=4, lw=0.8)
    axes.set_yticks(-np.arange(len(models)), [literal(model) for model in models])
    axes.set_ylim(0.5 - len(models), 0.5)
    axes.locator_params(axis="x", nbins=4)  # more ticks would overlap
    axes.set_xlabel("Laplace − NUTS, share of width")
    axes.set_title({"mean": "means", "lower": "lower ends", "upper": "upper ends"}[what], fontsize="medium")
    return axes

"""Plots of leave-out experiments: estimates against the truth, errors, and calibration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayespool.errors import InputError
from bayespool.experiments import LeaveOutResult, mae_by_cutoff
from bayespool.measures import parse_measure
from bayespool.plots.style import AS_JUDGED, MARKS, PALETTE, axes_of, color_of, legend_beside
from bayespool.tables.printable import literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_STYLES = ("-", "-.", ":")  # of lines, one for each turn of the colors


def plot_truth(result: LeaveOutResult, measure: object, estimator: str, *, ax: Axes | None = None) -> Axes:
    """Estimates against true scores, a point per reported run, with intervals where there are any.

    A perfect estimate is on the diagonal. Gray marks are the scores as judged, without the judgments that
    only the left-out runs contributed.

    Parameters
    ----------
    result : LeaveOutResult
    measure : measure
    estimator : str
        A label of the result's.
    ax : matplotlib.axes.Axes, optional
    """
    rows = _rows(result, measure, estimator)
    axes = axes_of(ax)
    truth, value = rows["truth"].to_numpy(), rows["value"].to_numpy()
    of_measure = result.frame()
    of_measure = of_measure[of_measure["measure"] == rows["measure"].iloc[0]]  # panels share their scale
    low = min(of_measure[name].min() for name in ("truth", "value", "as_judged", "lower"))
    high = max(of_measure[name].max() for name in ("truth", "value", "as_judged", "upper"))
    room = 0.03 * (high - low or 1)
    limits = (low - room, high + room)
    axes.plot(limits, limits, color="0.8", lw=1, zorder=0)
    axes.plot(truth, rows["as_judged"], "_", color=AS_JUDGED, ms=6, mew=1, label="as it stands", zorder=1)
    color = _color(result, estimator)
    if rows["lower"].notna().any():
        axes.vlines(
            truth,
            rows["lower"],
            rows["upper"],
            color=color,
            lw=2.5,
            alpha=0.35,
            label=f"{100 * result.settings.ci_prob:g} % interval",
        )
    axes.plot(truth, value, "o", color=color, ms=4, mew=0, label="estimate")
    axes.set(xlim=limits, ylim=limits, xlabel=f"true {parse_measure(measure)}", ylabel="estimate")
    axes.set_aspect("equal")
    axes.set_title(literal(estimator), fontsize="medium")
    axes.legend(fontsize="x-small", loc="upper left", frameon=False)
    return axes


def plot_pit(
    result: LeaveOutResult, measure: object, estimator: str, *, n_bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Histogram of the randomized PIT values of the reported runs; flat where the posterior is calibrated.

    A hump means that intervals are too wide, a U that they are too narrow, a slope that estimates are biased.
    Runs of one organization are correlated, so few organizations make a rough histogram.

    Parameters
    ----------
    result : LeaveOutResult
    measure : measure
    estimator : str
        A posterior's label.
    n_bins : int, default 10
    ax : matplotlib.axes.Axes, optional
    """
    pit = _rows(result, measure, estimator)["pit"].dropna().to_numpy()
    axes = axes_of(ax)
    axes.hist(pit, bins=n_bins, range=(0, 1), color=_color(result, estimator), alpha=0.6, edgecolor="white")
    axes.axhline(len(pit) / n_bins, color="black", lw=1, ls="--", label="calibrated")
    axes.set(xlim=(0, 1), xlabel=f"PIT, {parse_measure(measure)}", ylabel=f"runs, of {len(pit)}")
    axes.locator_params(axis="y", integer=True)
    axes.set_title(literal(estimator), fontsize="medium")
    axes.legend(fontsize="x-small", frameon=False)
    return axes


def _dots(result: LeaveOutResult, errors: pd.DataFrame, measure: str, axes: Axes) -> Axes:
    """Errors under one measure, a labeled row for each estimator."""
    labels = result.settings.labels
    for i, label in enumerate(labels):
        [error] = errors.loc[errors["estimator"] == label, "mae"]
        axes.hlines(i, 0, error, color="0.85", lw=1.2, zorder=1)
        axes.plot(
            [error], [i], MARKS[i % len(MARKS)], ms=6, color=_color(result, label), label=literal(label)
        )
    axes.set_yticks(range(len(labels)), [literal(label) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"mean absolute error, {measure}")
    axes.grid(axis="x", color="0.9")
    return axes


def plot_mae(result: LeaveOutResult, family: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Mean absolute error of every estimator by cutoff, a line each; under a single measure a row each.

    Parameters
    ----------
    result : LeaveOutResult
    family : str, optional
        Measures without the cutoff (`mae_by_cutoff`); default: the family of the first one.
    ax : matplotlib.axes.Axes, optional
    """
    every = mae_by_cutoff(result.summary_frame(), result.settings.measures)
    errors = every[every["family"] == (family or every["family"].iloc[0])]
    if errors.empty:
        raise InputError(f"the result has no {family}", hint=f"it has {', '.join(every['family'].unique())}")
    names = list(dict.fromkeys(errors["measure"]))
    axes = axes_of(ax)
    if len(names) == 1:
        return _dots(result, errors, names[0], axes)
    places = np.arange(len(names))
    for i, label in enumerate(result.settings.labels):
        axes.plot(
            places,
            errors.loc[errors["estimator"] == label, "mae"],
            marker=MARKS[i % len(MARKS)],
            ms=5,
            lw=2.2 if _is_posterior(result, label) else 1.2,
            ls="--" if label == "lower-bound" else _STYLES[i // len(PALETTE) % len(_STYLES)],
            color=_color(result, label),
            label=literal(label),
        )
    axes.set_xticks(places, names)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("mean absolute error")
    axes.grid(axis="y", color="0.9")
    legend_beside(axes)
    return axes


def plot_gain(
    results: Mapping[str, LeaveOutResult],
    measure: object,
    estimator: str,
    *,
    reference: str = "lower-bound",
    coefficient: Literal["generalizability", "dependability"] = "generalizability",
    ax: Axes | None = None,
) -> Axes:
    """Change of the MAE by a correction against the reliability of the true scores, a point per collection.

    Figure 2 of Lipani et al. (2015) asks whether a correction helps where a collection is unreliable.

    Parameters
    ----------
    results : mapping of str to LeaveOutResult
        By the name of the collection.
    measure : measure
    estimator, reference : str
        Labels of every result's: the correction, and the runs as judged.
    coefficient : {"generalizability", "dependability"}
        Eρ² or Φ, with its interval.
    ax : matplotlib.axes.Axes, optional
    """
    axes = axes_of(ax)
    axes.axhline(0, color="0.8", lw=1, zorder=0)
    for i, (name, result) in enumerate(results.items()):
        reliability = result.reliability(measure)
        x, y = getattr(reliability, coefficient), result.mae_change(measure, estimator, reference=reference)
        ends = getattr(reliability, f"{coefficient}_lower"), getattr(reliability, f"{coefficient}_upper")
        color, mark = PALETTE[i % len(PALETTE)], MARKS[i % len(MARKS)]
        axes.hlines(y, *ends, color=color, lw=1.2, alpha=0.6)
        axes.plot(x, y, mark, color=color, ms=6, label=literal(name))
    axes.set_xlabel({"generalizability": "Eρ²", "dependability": "Φ"}[coefficient])
    axes.set_ylabel("change of the MAE, %")
    axes.set_title(f"{literal(estimator)}, {parse_measure(measure)}", fontsize="medium")
    axes.margins(0.15)
    legend_beside(axes)
    return axes


def _rows(result: LeaveOutResult, measure: object, estimator: str) -> pd.DataFrame:
    if estimator not in result.settings.labels:
        raise InputError(
            f"the result has no {estimator!r}", hint=f"it has {', '.join(result.settings.labels)}"
        )
    frame, name = result.frame(), str(parse_measure(measure))
    rows = frame[(frame["measure"] == name) & (frame["estimator"] == estimator)]
    if rows.empty:
        known = ", ".join(map(str, result.settings.measures))
        raise InputError(f"the result has no {name}", hint=f"it has {known}")
    return rows


def _is_posterior(result: LeaveOutResult, label: str) -> bool:
    return dict(result.settings.estimators)[label].name.startswith("posterior")


def _color(result: LeaveOutResult, label: str) -> str:
    labels = result.settings.labels
    return color_of(labels, label, [name for name in labels if _is_posterior(result, name)])

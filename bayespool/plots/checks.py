"""Figures of checks of models and of second judges, and of audits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import bdtrik

from bayespool.measures import parse_measure
from bayespool.plots.style import (
    AS_JUDGED,
    PALETTE,
    POSTERIOR,
    axes_of,
    chosen_rows,
    draw_panels,
    grid_behind,
    legend_above,
    look_of,
    mark_truth,
    of_measure,
    pit_bars,
    row_axis,
    share_legend,
)
from bayespool.tables.formatting import level, literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_predictive(
    prediction: Any, *, ci_prob: float = 0.95, label_runs: bool = True, ax: Axes | None = None
) -> Axes:
    """Predicted and observed values of runs whose organizations were held out, a row per run.

    Thin and thick: the interval learned from other organizations, and its central 50 %. Dot: observed. Runs
    with nothing hidden are left out.

    Parameters
    ----------
    prediction : bayespool.experiments.HeldOutPrediction
    ci_prob : float in (0, 1)
    label_runs : bool
        Whether to label rows with the runs' names.
    ax : matplotlib.axes.Axes, optional
    """
    axes = axes_of(ax)
    whole, half = (prediction.to_frame(prob).sort_values("value", kind="stable") for prob in (ci_prob, 0.5))
    rows = np.arange(len(whole))
    for frame, width, prob in ((whole, 1.6, ci_prob), (half, 4.5, 0.5)):
        label = f"held out, {level(prob)}"
        axes.hlines(rows, frame["lower"], frame["upper"], color=POSTERIOR, lw=width, label=label)
    axes.plot(whole["value"], rows, "o", color="black", ms=3.2, label="observed")
    axes.set_yticks(rows, whole["run_id"].map(literal).tolist() if label_runs else [], fontsize=6.5)
    axes.set_ylim(-0.7, len(whole) - 0.3)
    axes.set_xlabel(str(prediction.measure))
    axes.set_title(literal(prediction.model), fontsize="medium")
    return axes


def plot_held_out_pit(prediction: Any, *, n_bins: int = 10, ax: Axes | None = None) -> Axes:
    """Histogram of the randomized PIT of runs whose organizations were held out; read like `plot_pit`.

    If runs were independent, each bar would be between the dotted lines with 95 % probability.

    Parameters
    ----------
    prediction : bayespool.experiments.HeldOutPrediction
    n_bins : int, default 10
    ax : matplotlib.axes.Axes, optional
    """
    pit = prediction.pit[prediction.has_hidden]
    axes = pit_bars(pit, prediction.measure, n_bins, POSTERIOR, ax)
    for limit, label in zip(
        bar_limits(len(pit), n_bins), (f"{level(0.95)} of calibrated bars", None), strict=True
    ):
        axes.axhline(limit, color="black", lw=0.8, ls=":", label=label)
    axes.set_title(literal(prediction.model), fontsize="medium")
    return axes


def bar_limits(n: int, n_bins: int, prob: float = 0.95) -> tuple[float, float]:
    """Equal-tailed limits of the height of one bar in a histogram of n independent uniform numbers.

    Examples
    --------
    >>> bar_limits(100, 10)
    (5.0, 16.0)
    """
    lower, upper = (float(np.ceil(bdtrik(tail, n, 1 / n_bins))) for tail in ((1 - prob) / 2, (1 + prob) / 2))
    return lower, upper


def plot_elpd(frame: pd.DataFrame, measure: object, *, ax: Axes | None = None) -> Axes:
    """Difference of each model's log predictive density on held-out organizations from the best one's.

    Bars are plus and minus one standard error of the difference.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table ``elpd`` of `bayespool.ModelChecks`.
    measure : measure
        One of the frame's.
    ax : matplotlib.axes.Axes, optional
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


def draw_elpd(checks: Any) -> Figure:
    """Figure with `plot_elpd` of every measure of `bayespool.ModelChecks`."""
    frame = checks.to_frame("elpd")
    plots = [partial(plot_elpd, frame, measure) for measure in dict.fromkeys(frame["measure"])]
    return draw_panels(plots, width=4.4, height=2.6)


def draw_predictive(checks: Any, measure: object) -> Figure:
    """Figure with `plot_predictive` of every model under a measure of `bayespool.ModelChecks`."""
    predictions = _under(checks, measure)
    height = 1.0 + 0.16 * max(8, int(predictions[0].has_hidden.sum()))
    plots = [partial(plot_predictive, p, label_runs=i % 3 == 0) for i, p in enumerate(predictions)]
    figure = draw_panels(plots, height=height)
    low, high = zip(*(panel.get_xlim() for panel in figure.axes), strict=True)
    for panel in figure.axes:
        panel.set_xlim(min(low), max(high))
    share_legend(figure, ncols=4)
    return figure


def draw_pit(checks: Any, measure: object) -> Figure:
    """Figure with `plot_held_out_pit` of every model under a measure of `bayespool.ModelChecks`."""
    figure = draw_panels([partial(plot_held_out_pit, p) for p in _under(checks, measure)], height=2.4)
    highest = max(panel.get_ylim()[1] for panel in figure.axes)
    for panel in figure.axes:
        panel.set_ylim(0, highest)
    share_legend(figure, ncols=2, fontsize="small")
    return figure


def _under(checks: Any, measure: object) -> list[Any]:
    """Predictions under a measure."""
    return [p for p in checks.predictions if str(p.measure) == str(measure)]


_KINDS = (("other", "s", PALETTE[1]), ("hidden", "o", POSTERIOR))


def plot_labels(
    check: Any,
    measure: object = None,
    *,
    judge: str | None = None,
    relevant_from: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Share of relevant documents among those of each label, with intervals.

    Hidden documents, which only one organization contributed, beside other judged ones: where the two differ,
    labels of judged documents do not carry over. A label without documents has no mark.

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

    Raises
    ------
    InputError
        The check has no such measure, judge or level.
    """
    rows = of_measure(check.to_frame("calibration"), measure)
    rows, chosen = chosen_rows(rows, "judge", judge, "judge")
    n_levels = rows["relevant_from"].nunique()
    rows, rel = chosen_rows(rows, "relevant_from", relevant_from, "level of relevance")
    labels = list(dict.fromkeys(rows["label"]))
    axes = axes_of(ax, width=4.8, height=3.6)
    prob = level(rows["ci_prob"].iloc[0])
    for k, (kind, mark, color) in enumerate(_KINDS):
        mine = rows[(rows["documents"] == kind) & (rows["n"] > 0)]
        place = np.array([labels.index(label) for label in mine["label"]]) + 0.2 * (k - 0.5)
        axes.vlines(place, mine["lower"], mine["upper"], color=color, lw=2, alpha=0.6)
        axes.plot(place, mine["share"], mark, color=color, ms=6, label=f"{kind} documents, {prob}")
    axes.set_xticks(range(len(labels)), [literal(label) for label in labels])
    axes.set(xlim=(-0.6, len(labels) - 0.4), ylim=(-0.03, 1.03))
    axes.set_xlabel(f"label of {literal(chosen)}")
    axes.set_ylabel("share relevant" if n_levels == 1 else f"share of relevance {rel} or more")
    grid_behind(axes, "y")
    legend_above(axes)
    return axes


def plot_judged_runs(
    check: Any,
    measure: object = None,
    *,
    judge: str | None = None,
    truth: Mapping[str, float] | None = None,
    marks: Mapping[str, Mapping[str, float]] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Intervals of runs without the labels of a judge, and with them, a row per run.

    Runs are in the order of the table ``runs``. Dots are posterior means.

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

    Raises
    ------
    InputError
        The check has no intervals, or no such measure or judge.
    """
    rows, chosen = chosen_rows(of_measure(check.to_frame("runs"), measure), "judge", judge, "judge")
    runs = list(rows["run_id"])
    axes = axes_of(ax, width=6.4, height=1.4 + 0.42 * len(runs))
    place = np.arange(len(runs))
    prob = level(rows["ci_prob"].iloc[0])
    named = {"without": "without labels", "with": f"with those of {literal(chosen)}"}
    for (which, label), shift, color in zip(
        named.items(), (-0.15, 0.15), (AS_JUDGED, POSTERIOR), strict=True
    ):
        ends = rows[f"lower_{which}"], rows[f"upper_{which}"]
        axes.hlines(place + shift, *ends, color=color, lw=3, alpha=0.6, label=f"{label}, {prob}")
        axes.plot(rows[f"value_{which}"], place + shift, "o", color=color, ms=5, mew=0)
    for label, values in (marks or {}).items():
        x = [values.get(run, np.nan) for run in runs]
        look = look_of(label, list(marks or {}))
        axes.plot(x, place + 0.15, ls="", ms=5, label=literal(label), **look.marker)
    if truth is not None:
        mark_truth(axes, truth, runs, place, 6)
    row_axis(axes, runs)
    axes.set_xlabel(rows["measure"].iloc[0])
    grid_behind(axes, "x")
    legend_above(axes, n_columns=2)
    return axes


def draw_judges(check: Any) -> Figure:
    """Figure with `plot_labels` of every judge and relevance level of the first measure."""
    rows = of_measure(check.to_frame("calibration"))
    shown = dict.fromkeys(zip(rows["judge"], rows["relevant_from"], strict=True))
    plots = [partial(plot_labels, check, judge=judge, relevant_from=rel) for judge, rel in shown]
    return draw_panels(plots, width=4.8, height=3.6)


def plot_audit(audit: Any, difference: Any = None, *, ax: Axes | None = None) -> Axes:
    """Guaranteed interval and estimate of an audit by the number of judgments, with the posterior's interval.

    Parameters
    ----------
    audit : bayespool.Audit
    difference : bayespool.auditing.AuditedDifference, optional
        One of ``audit.differences``; default: the first.
    ax : matplotlib.axes.Axes, optional
    """
    difference = difference or audit.differences[0]
    steps = difference.steps_frame()
    steps = steps[steps["is_judged"]]
    axes = axes_of(ax, width=5.6, height=3.6)
    n = [0, *steps["step"]]
    lower, upper = [difference.urn.least, *steps["lower"]], [difference.urn.most, *steps["upper"]]
    axes.fill_between(
        n,
        lower,
        upper,
        color=AS_JUDGED,
        alpha=0.3,
        lw=0,
        label=f"guaranteed at {level(difference.interval_ci_prob)}",
    )
    for name in ("posterior_lower", "posterior_upper"):
        label = "posterior's interval" if name == "posterior_lower" else None
        axes.plot(steps["step"], steps[name], ":", color=POSTERIOR, label=label)
    axes.plot(steps["step"], steps["estimate"], "-", color="black", label="estimate")
    axes.set_xlabel("judgments")
    axes.set_ylabel(f"{audit.measure} of {difference.name}")
    axes.locator_params(axis="x", integer=True)
    grid_behind(axes)
    legend_above(axes, n_columns=3)
    return axes


def draw_audits(audit: Any) -> Figure:
    """Draw `plot_audit` of each difference of an audit, the closest first, under one legend."""
    figure = draw_panels([partial(plot_audit, audit, each) for each in audit.closest_first], height=3.0)
    for panel in figure.axes:
        if (legend := panel.get_legend()) is not None:
            legend.remove()
    share_legend(figure, ncols=3, fontsize="small")
    return figure

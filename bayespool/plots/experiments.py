"""Figures of experiments, of checks of models and of LLM judges, and of audits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy.special import bdtrik

from bayespool.defaults import fill_ci_prob
from bayespool.measures import parse_measure
from bayespool.plots import style
from bayespool.tables.formatting import level, literal
from bayespool.tables.table import COLUMNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_truth(result: Any, measure: object, estimator: str, *, ax: Axes | None = None) -> Axes:
    """Plot estimates against true scores, one point per reported run, with intervals if available.

    A perfect estimate is on the diagonal. Gray circles are the scores as judged, without the judgments that
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
    axes = style.axes_or_new(ax)
    truth, value = rows["truth"].to_numpy(), rows["value"].to_numpy()
    all_rows = style.measure_rows(_reported(result), measure)  # panels share their scale
    low = min(all_rows[name].min() for name in ("truth", "value", "as_judged", "lower"))
    high = max(all_rows[name].max() for name in ("truth", "value", "as_judged", "upper"))
    room = 0.03 * (high - low or 1)
    limits = (low - room, high + room)
    axes.plot(limits, limits, color="0.8", lw=1, zorder=0)
    look = style.estimator_look(estimator, result.settings.labels)
    if estimator != "as-judged":
        as_judged = style.estimator_look("as-judged").marker
        axes.plot(truth, rows["as_judged"], ls="", ms=3, label="as judged", zorder=1, **as_judged)
    if rows["lower"].notna().any():
        label = f"{level(result.settings.ci_prob)} interval"
        axes.vlines(truth, rows["lower"], rows["upper"], color=look.color, lw=2.5, alpha=0.35, label=label)
    axes.plot(truth, value, ls="", ms=4, label="estimate", **look.marker)
    axes.set(xlim=limits, ylim=limits, aspect="equal")
    style.legend_above(axes)
    return style.label_axes(axes, f"true {parse_measure(measure)}", "estimate", estimator)


def plot_pit(
    result: Any, measure: object, estimator: str, *, n_bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Plot a histogram of runs' randomized PIT values, which is flat for a calibrated posterior.

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
    color = style.estimator_look(estimator, result.settings.labels).color
    axes = style.pit_bars(pit, parse_measure(measure), n_bins, color, estimator, ax)
    style.legend_above(axes)
    return axes


_ERRORS = {"mae": "mean absolute error", "sre": "system rank error"}


def _dots(result: Any, errors: pd.DataFrame, measure: str, name: str, axes: Axes) -> Axes:
    """Plot errors under one measure, with one labeled row per estimator."""
    labels = result.settings.labels
    for i, label in enumerate(labels):
        [error] = errors.loc[errors["estimator"] == label, name]
        axes.hlines(i, 0, error, color="0.85", lw=1.2, zorder=1)
        axes.plot([error], [i], ls="", ms=6, **style.estimator_look(label, labels).marker)
    axes.set_yticks(range(len(labels)), [literal(label) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"{_ERRORS[name]}, {measure}")
    axes.grid(axis="x", color="0.9")
    return axes


def plot_mae(
    result: Any, family: str | None = None, *, error: Literal["mae", "sre"] = "mae", ax: Axes | None = None
) -> Axes:
    """Plot each estimator's mean absolute error against the cutoff, or in rows for a single measure.

    Figure 3 of Lipani et al. (2015), and figure 4 with the system rank error in its place.

    Parameters
    ----------
    result : LeaveOutResult
    family : str, optional
        Measures without the cutoff (`LeaveOutResult.errors_by_cutoff`); default: the family of the first one.
    error : {"mae", "sre"}
    ax : matplotlib.axes.Axes, optional
    """
    errors, _ = style.rows_with(result.errors_by_cutoff(), "family", family, "measure")
    names = list(dict.fromkeys(errors["measure"]))
    axes = style.axes_or_new(ax)
    if len(names) == 1:
        return _dots(result, errors, names[0], error, axes)
    places = np.arange(len(names))
    for label in result.settings.labels:
        look = style.estimator_look(label, result.settings.labels)
        values = errors.loc[errors["estimator"] == label, error]
        width, line = 2.2 if label.startswith("posterior") else 1.2, "--" if look.is_hollow else "-"
        axes.plot(places, values, ms=5, lw=width, ls=line, label=literal(label), **look.marker)
    axes.set_xticks(places, names)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(_ERRORS[error])
    axes.grid(axis="y", color="0.9")
    style.legend_beside(axes)
    return axes


def draw_mae(result: Any, *, error: Literal["mae", "sre"] = "mae") -> Figure:
    """Draw a panel of `plot_mae` per family of measures, with one legend."""
    errors = result.errors_by_cutoff()
    families = errors["family"].unique()
    plots = [partial(plot_mae, result, family, error=error) for family in families]
    are_dots = len(errors["measure"].unique()) == len(families)
    height = 1.0 + 0.28 * errors["estimator"].nunique() if are_dots else 4.5
    return style.draw_panels(plots, width=6 if len(families) == 1 else 4.4, height=height)


def plot_decisions(
    result: Any, measure: object = None, *, share: float = 0.8, ax: Axes | None = None
) -> Axes:
    """Plot which significant differences from pooled runs are announced in error, and which are missed.

    Two bars per estimator: the share of false ones among those announced, and of missed ones among the true.

    Parameters
    ----------
    result : LeaveOutResult
    measure : measure, optional
    share : float, default 0.8
        Share of draws at which a difference is declared; without draws it is at the level 0.05.
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    InputError
        The result has no such measure.
    """
    frame = result.to_frame("decisions")
    rows = style.measure_rows(frame[frame["against"] == "pool"], measure)
    name = rows["measure"].iloc[0]
    rows = rows[rows["share"].eq(share) | (rows["share"].isna() & rows["level"].eq(0.05))]
    rows = rows.drop_duplicates("estimator").set_index("estimator")
    labels = [label for label in result.settings.labels if label in rows.index]
    axes = style.axes_or_new(ax, height=1.2 + 0.36 * len(labels))
    bars = {"false": "lost, of those declared", "missed": "not found, of the true ones"}
    for i, (column, text) in enumerate(bars.items()):
        places, color = np.arange(len(labels)) + 0.4 * i - 0.2, style.PALETTE[3 + i]
        axes.barh(places, 100 * rows.loc[labels, column], 0.38, color=color, label=text)
    style.row_axis(axes, labels)
    axes.set_xlim(left=0)
    style.grid_behind(axes, "x")
    style.legend_above(axes)
    return style.label_axes(axes, "%", title=name)


def _rows(result: Any, measure: object, estimator: str) -> pd.DataFrame:
    return style.rows_with(
        style.measure_rows(_reported(result), measure), "estimator", estimator, "estimator"
    )[0]


def _reported(result: Any) -> pd.DataFrame:
    frame: pd.DataFrame = result.to_frame("runs")
    return frame[frame["reported"]] if "reported" in frame else frame


_SCORES = {
    "unadjusted": style.estimator_look("as-judged"),
    "mixed": style.Look(style.PALETTE[0], "s"),
    "adjusted": style.estimator_look("topics-adjustment"),
    "common-only": style.Look(style.PALETTE[2], "^"),
}


def plot_pool_width(result: Any, measure: object, *, ax: Axes | None = None) -> Axes:
    """Plot errors for runs outside the pool against pool width: means, with quartiles as bars.

    Figure 1 of Webber & Park (2009). Widths are on a logarithmic scale, with estimators slightly apart.

    Parameters
    ----------
    result : PoolWidthResult
    measure : measure
    ax : matplotlib.axes.Axes, optional
    """
    rows = style.measure_rows(result.to_frame("summary"), measure)
    axes = style.axes_or_new(ax)
    axes.axhline(0, color="0.8", lw=1, zorder=0)
    for i, label in enumerate(result.settings.labels):
        group = rows[rows["estimator"] == label]
        shift = 1.05 ** (i - (len(result.settings.labels) - 1) / 2)
        places, look = (
            group["pool_width"].to_numpy() * shift,
            style.estimator_look(label, result.settings.labels),
        )
        axes.vlines(places, group["quartile_1"], group["quartile_3"], color=look.color, lw=3, alpha=0.3)
        axes.plot(places, group["bias"], ms=5, lw=1.4, label=literal(label), **look.marker)
    style.count_axis(axes, result.settings.widths)
    style.legend_beside(axes)
    return style.label_axes(
        axes, f"pool width, {result.settings.by}s", f"estimate − true {parse_measure(measure)}"
    )


def plot_common_topics(
    result: Any, measure: object, estimator: str, width: int, *, ax: Axes | None = None
) -> Axes:
    """Plot mean absolute errors against the number of common topics, with predictions (dashed). The
    predictions are those of sampling theory.

    Numbers of topics are on a logarithmic scale.

    Parameters
    ----------
    result : CommonTopicsResult
    measure : measure
    estimator : str
        Label of the adjusted estimator.
    width : int
        A pool width of the result's.
    ax : matplotlib.axes.Axes, optional
    """
    rows = style.measure_rows(result.to_frame("summary"), measure)
    rows, _ = style.rows_with(rows, "estimator", estimator, "estimator")
    rows, _ = style.rows_with(rows, "pool_width", width, "pools of width")
    axes = style.axes_or_new(ax)
    for score, look in _SCORES.items():
        group = rows[rows["score"] == score]
        n_common = group["n_common"].to_numpy()
        axes.plot(n_common, group["mae"], ms=4, lw=1.2, label=score, **look.marker)
        if group["mae_law"].notna().any():
            axes.plot(n_common, group["mae_law"], color=look.color, ls="--", lw=1, alpha=0.7)
    style.count_axis(axes, result.settings.n_common)
    axes.set_ylim(0, 1.3 * float(rows["mae"].max()) or 1)
    axes.legend(fontsize="x-small", frameon=False, loc="upper right", ncols=2)
    x, y = f"common topics, of {len(result.query_ids)}", f"mean absolute error of {parse_measure(measure)}"
    return style.label_axes(axes, x, y, f"{estimator}, pools of {width} {result.settings.by}s")


_BIAS = {name: COLUMNS[name].label for name in ("mae", "sre", "sre_star")}


def plot_budgets(result: Any, measure: object, bias_measure: str = "mae", *, ax: Axes | None = None) -> Axes:
    """Plot bias against the budget, one line per strategy, as in figure 1 of Lipani et al. (2017).

    Parameters
    ----------
    result : Budgets
    measure : measure
    bias_measure : {"mae", "sre", "sre_star"}
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    InputError
        The result has no such measure; no such bias measure.
    """
    style.available_name(bias_measure, list(_BIAS), "bias measure")
    rows, axes = style.measure_rows(result.to_frame("summary"), measure), style.axes_or_new(ax)
    for i, label in enumerate(result.settings.labels):
        group = rows[rows["strategy"] == label]
        axes.plot(group["budget"] / 1000, group[bias_measure], label=literal(label), **style.line_style(i))
    axes.set_ylim(bottom=0)
    return style.label_axes(
        axes, "documents judged, thousands", f"{_BIAS[bias_measure]} of {parse_measure(measure)}"
    )


def draw_budgets(result: Any) -> Figure:
    """Draw figure 1 of Lipani et al. (2017), with one column per measure and one row per bias measure."""
    measures = result.settings.measures
    plots = [partial(plot_budgets, result, measure, name) for name in _BIAS for measure in measures]
    return style.draw_panels(plots, height=2.8, n_columns=len(measures))


def plot_predictive(
    prediction: Any, *, ci_prob: float | None = None, label_runs: bool = True, ax: Axes | None = None
) -> Axes:
    """Plot predicted and observed scores for runs from held-out organizations, one row per run.

    Thin and thick: the interval learned from other organizations, and its central 50 %. Dot: observed. Runs
    with nothing hidden are left out.

    Parameters
    ----------
    prediction : bayespool.experiments.HeldOutPrediction
    ci_prob : float in (0, 1), optional
        By default that of `bayespool.rcParams`.
    label_runs : bool
        Whether to label rows with the runs' names.
    ax : matplotlib.axes.Axes, optional
    """
    axes = style.axes_or_new(ax)
    ci_prob = fill_ci_prob(ci_prob)
    whole, half = (prediction.to_frame(prob).sort_values("value", kind="stable") for prob in (ci_prob, 0.5))
    rows = np.arange(len(whole))
    for frame, width, prob in ((whole, 1.6, ci_prob), (half, 4.5, 0.5)):
        label = f"held out, {level(prob)}"
        axes.hlines(rows, frame["lower"], frame["upper"], color=style.POSTERIOR, lw=width, label=label)
    axes.plot(whole["value"], rows, "o", color="black", ms=3.2, label="observed")
    axes.set_yticks(rows, whole["run_id"].map(literal).tolist() if label_runs else [], fontsize=6.5)
    axes.set_ylim(-0.7, len(whole) - 0.3)
    return style.label_axes(axes, str(prediction.measure), title=prediction.model)


def plot_held_out_pit(prediction: Any, *, n_bins: int = 10, ax: Axes | None = None) -> Axes:
    """Plot a histogram of randomized PIT values for runs from held-out organizations, as in `plot_pit`.

    If runs were independent, each bar would be between the dotted lines with 95 % probability.

    Parameters
    ----------
    prediction : bayespool.experiments.HeldOutPrediction
    n_bins : int, default 10
    ax : matplotlib.axes.Axes, optional
    """
    pit = prediction.pit[prediction.has_hidden]
    axes = style.pit_bars(pit, prediction.measure, n_bins, style.POSTERIOR, prediction.model, ax)
    lower, upper = bar_limits(len(pit), n_bins)
    axes.axhline(lower, color="black", lw=0.8, ls=":", label=f"{level(0.95)} of calibrated bars")
    axes.axhline(upper, color="black", lw=0.8, ls=":")
    style.legend_above(axes)
    return axes


def bar_limits(n: int, n_bins: int, prob: float = 0.95) -> tuple[float, float]:
    """Return equal-tailed limits for the height of one histogram bar, given n uniform numbers.

    Examples
    --------
    >>> bar_limits(100, 10)
    (5.0, 16.0)
    """
    lower, upper = (float(np.ceil(bdtrik(tail, n, 1 / n_bins))) for tail in ((1 - prob) / 2, (1 + prob) / 2))
    return lower, upper


def plot_elpd(frame: pd.DataFrame, measure: object, *, ax: Axes | None = None) -> Axes:
    """Plot each model's difference in log predictive density from the best model, for held-out organizations.

    Bars are plus and minus one standard error of the difference.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table ``elpd`` of `bayespool.ModelChecks`.
    measure : measure
        One of the frame's.
    ax : matplotlib.axes.Axes, optional
    """
    table, axes = style.measure_rows(frame, measure), style.axes_or_new(ax)
    rows = -np.arange(len(table))
    axes.axvline(0, color="0.8", lw=1, zorder=0)
    axes.errorbar(-table["elpd_diff"], rows, xerr=table["dse"], fmt="o", color=style.POSTERIOR, ms=5, lw=1.6)
    axes.set_yticks(rows, table["model"].map(literal))
    return style.label_axes(axes, "elpd less the best one's", title=table["measure"].iloc[0])


def draw_elpd(checks: Any) -> Figure:
    """Draw a panel of `plot_elpd` for each measure in `bayespool.ModelChecks`."""
    frame = checks.to_frame("elpd")
    plots = [partial(plot_elpd, frame, measure) for measure in dict.fromkeys(frame["measure"])]
    return style.draw_panels(plots, width=4.4, height=2.6)


def draw_predictive(checks: Any, measure: object) -> Figure:
    """Draw a panel of `plot_predictive` for each model under a measure in `bayespool.ModelChecks`."""
    predictions = _under(checks, measure)
    height = 1.0 + 0.16 * max(8, int(predictions[0].has_hidden.sum()))
    plots = [partial(plot_predictive, p, label_runs=i % 3 == 0) for i, p in enumerate(predictions)]
    return style.draw_panels(plots, height=height, shared="x")


def draw_pit(checks: Any, measure: object) -> Figure:
    """Draw a panel of `plot_held_out_pit` for each model under a measure in `bayespool.ModelChecks`."""
    plots = [partial(plot_held_out_pit, p) for p in _under(checks, measure)]
    return style.draw_panels(plots, height=2.4, shared="y")


def _under(checks: Any, measure: object) -> list[Any]:
    """Return the predictions for a measure."""
    return [p for p in checks.predictions if str(p.measure) == str(measure)]


_KINDS = (("other", "s", style.PALETTE[1]), ("hidden", "o", style.POSTERIOR))


def plot_labels(
    check: Any,
    measure: object = None,
    *,
    judge: str | None = None,
    relevant_from: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot the share of relevant documents for each label of a judge, with intervals.

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
    rows = style.measure_rows(check.to_frame("calibration"), measure)
    rows, judge_name = style.rows_with(rows, "judge", judge, "judge")
    n_levels = rows["relevant_from"].nunique()
    rows, rel = style.rows_with(rows, "relevant_from", relevant_from, "level of relevance")
    labels = list(dict.fromkeys(rows["label"]))
    axes = style.axes_or_new(ax, width=4.8, height=3.6)
    prob = level(rows["ci_prob"].iloc[0])
    for k, (kind, mark, color) in enumerate(_KINDS):
        kind_rows = rows[(rows["documents"] == kind) & (rows["n"] > 0)]
        place = np.array([labels.index(label) for label in kind_rows["label"]]) + 0.2 * (k - 0.5)
        axes.vlines(place, kind_rows["lower"], kind_rows["upper"], color=color, lw=2, alpha=0.6)
        axes.plot(place, kind_rows["share"], mark, color=color, ms=6, label=f"{kind} documents, {prob}")
    axes.set_xticks(range(len(labels)), [literal(label) for label in labels])
    axes.set(xlim=(-0.6, len(labels) - 0.4), ylim=(-0.03, 1.03))
    style.grid_behind(axes, "y")
    style.legend_above(axes)
    share = "share relevant" if n_levels == 1 else f"share of relevance {rel} or more"
    return style.label_axes(axes, f"label of {literal(judge_name)}", share)


def draw_judges(check: Any) -> Figure:
    """Draw a panel of `plot_labels` for each judge and relevance level of the first measure."""
    rows = style.measure_rows(check.to_frame("calibration"))
    shown = dict.fromkeys(zip(rows["judge"], rows["relevant_from"], strict=True))
    plots = [partial(plot_labels, check, judge=judge, relevant_from=rel) for judge, rel in shown]
    return style.draw_panels(plots, width=4.8, height=3.6)


def plot_audit(audit: Any, *, ax: Axes | None = None) -> Axes:
    """Plot an audit's guaranteed interval, estimate and posterior interval against the number of judgments.

    Parameters
    ----------
    audit : bayespool.Audit
        Of several differences the first is plotted; ``audit.differences`` has the audit for each.
    ax : matplotlib.axes.Axes, optional
    """
    steps, is_new = audit.steps_frame(), not audit.n_judged
    steps = steps[steps["is_judged"]]
    axes = style.axes_or_new(ax, width=5.6, height=3.6)
    n = [0, len(audit)] if is_new else [0, *steps["step"]]  # until there is a judgment nothing changes
    bounds = [audit.urn.least, *steps["lower"]], [audit.urn.most, *steps["upper"]]
    lower, upper, *ends = (np.resize(values, len(n)) for values in (*bounds, *audit.posterior_ends()))
    known = "bounds, before any judgment" if is_new else f"guaranteed at {level(audit.interval_ci_prob)}"
    axes.fill_between(n, lower, upper, color=style.AS_JUDGED, alpha=0.3, lw=0, label=known)
    for end, label in zip(ends, ("posterior's interval", None), strict=True):
        axes.plot(n, end, ":", color=style.POSTERIOR, label=label)
    axes.plot(steps["step"], steps["estimate"], "-", color="black", label=None if is_new else "estimate")
    axes.locator_params(axis="x", integer=True)
    style.grid_behind(axes)
    style.legend_above(axes, n_columns=3)
    return style.label_axes(axes, "judgments", f"{audit.measure} of {audit.name}")


def draw_audits(audit: Any) -> Figure:
    """Draw a panel of `plot_audit` for each difference in an audit, closest first, with one legend."""
    closest_first = sorted(audit.differences, key=lambda each: each.interval[0])
    plots = [partial(plot_audit, each) for each in closest_first]
    return style.draw_panels(plots, height=3.0)

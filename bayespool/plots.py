"""Result objects → matplotlib axes; nothing is computed here that is not already in a result.

Every function draws into the axes it is given, or into a new figure of its own that pyplot does not know, and
returns the axes: ``plot_mae(result).figure`` is the figure.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayespool.checking import (
    ENDS_WITHIN,
    MEAN_WITHIN,
    HeldOutPrediction,
    SelfCalibration,
    bar_limits,
    run_frame,
)
from bayespool.errors import InputError
from bayespool.experiments import LeaveOutResult, mae_by_cutoff
from bayespool.measures import parse_measure
from bayespool.printable import literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "figure_grid",
    "plot_calibration",
    "plot_elpd",
    "plot_engines",
    "plot_gain",
    "plot_held_out_pit",
    "plot_mae",
    "plot_pit",
    "plot_predictive",
    "plot_ranks",
    "plot_truth",
    "render",
]

_MARKS = "osD^vXP*<>hp"
_COLOURS = ("C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9")
_POSTERIOR, _AS_IT_STANDS = "C0", "0.45"
_N_COLUMNS = 3


def plot_truth(result: LeaveOutResult, measure: object, estimator: str, *, ax: Axes | None = None) -> Axes:
    """Estimates against true scores, a point per reported run, with intervals where there are any.

    A perfect estimate lies on the diagonal. The grey marks are the scores as they stand, without the
    judgments that only the left-out runs contributed.

    Parameters
    ----------
    result : LeaveOutResult
    measure : measure
    estimator : str
        A label of the result's.
    ax : matplotlib.axes.Axes, optional
    """
    rows = _rows(result, measure, estimator)
    axes = _axes(ax)
    truth, value = rows["truth"].to_numpy(), rows["value"].to_numpy()
    of_measure = result.frame()
    of_measure = of_measure[of_measure["measure"] == rows["measure"].iloc[0]]  # panels share their scale
    low = min(of_measure[name].min() for name in ("truth", "value", "as_judged", "lower"))
    high = max(of_measure[name].max() for name in ("truth", "value", "as_judged", "upper"))
    room = 0.03 * (high - low or 1)
    limits = (low - room, high + room)
    axes.plot(limits, limits, color="0.8", lw=1, zorder=0)
    axes.plot(truth, rows["as_judged"], "_", color=_AS_IT_STANDS, ms=6, mew=1, label="as it stands", zorder=1)
    colour = _colour(result, estimator)
    if rows["lower"].notna().any():
        axes.vlines(
            truth,
            rows["lower"],
            rows["upper"],
            color=colour,
            lw=2.5,
            alpha=0.35,
            label=f"{100 * result.settings.ci_prob:g} % interval",
        )
    axes.plot(truth, value, "o", color=colour, ms=4, mew=0, label="estimate")
    axes.set(xlim=limits, ylim=limits, xlabel=f"true {parse_measure(measure)}", ylabel="estimate")
    axes.set_aspect("equal")
    axes.set_title(literal(estimator), fontsize="medium")
    axes.legend(fontsize="x-small", loc="upper left", frameon=False)
    return axes


def plot_pit(
    result: LeaveOutResult, measure: object, estimator: str, *, n_bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Histogram of the randomised PIT values of the reported runs; flat where the posterior is calibrated.

    A hump says that intervals are too wide, a U that they are too narrow, a slope that estimates are off to
    one side. Runs of one organization rise and fall together, so that few organizations make a rough
    histogram.

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
    axes = _axes(ax)
    axes.hist(pit, bins=n_bins, range=(0, 1), color=_colour(result, estimator), alpha=0.6, edgecolor="white")
    axes.axhline(len(pit) / n_bins, color="black", lw=1, ls="--", label="calibrated")
    axes.set(xlim=(0, 1), xlabel=f"PIT, {parse_measure(measure)}", ylabel=f"runs, of {len(pit)}")
    axes.locator_params(axis="y", integer=True)
    axes.set_title(literal(estimator), fontsize="medium")
    axes.legend(fontsize="x-small", frameon=False)
    return axes


def plot_mae(result: LeaveOutResult, family: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Mean absolute error of every estimator against the cutoff, one line each.

    Parameters
    ----------
    result : LeaveOutResult
    family : str, optional
        Which of its measures, without the cutoff (`mae_by_cutoff`); default: those of the first one's family.
    ax : matplotlib.axes.Axes, optional
    """
    every = mae_by_cutoff(result.summary_frame(), result.settings.measures)
    errors = every[every["family"] == (family or every["family"].iloc[0])]
    if errors.empty:
        raise InputError(f"the result has no {family}", hint=f"it has {', '.join(every['family'].unique())}")
    names = list(dict.fromkeys(errors["measure"]))
    axes = _axes(ax)
    places = np.arange(len(names))
    for i, label in enumerate(result.settings.labels):
        axes.plot(
            places,
            errors.loc[errors["estimator"] == label, "mae"],
            marker=_MARKS[i % len(_MARKS)],
            ms=5,
            lw=2.2 if _is_posterior(result, label) else 1.2,
            ls="--" if label == "lower-bound" else "-",
            color=_colour(result, label),
            label=literal(label),
        )
    axes.set_xticks(places, names)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("mean absolute error")
    axes.grid(axis="y", color="0.9")
    axes.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
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

    The figure 2 of Lipani et al. (2015): does a correction help where a collection is unreliable?

    Parameters
    ----------
    results : mapping of str to LeaveOutResult
        By the name of the collection.
    measure : measure
    estimator, reference : str
        Labels of every result's: the correction, and the runs as they stand.
    coefficient : {"generalizability", "dependability"}
        Eρ² or Φ, with its interval.
    ax : matplotlib.axes.Axes, optional
    """
    axes = _axes(ax)
    axes.axhline(0, color="0.8", lw=1, zorder=0)
    for name, result in results.items():
        found = result.reliability(measure)
        x, y = getattr(found, coefficient), result.mae_change(measure, estimator, reference=reference)
        ends = getattr(found, f"{coefficient}_lower"), getattr(found, f"{coefficient}_upper")
        axes.hlines(y, *ends, color=_POSTERIOR, lw=1, alpha=0.5)
        axes.plot(x, y, "o", color=_POSTERIOR, ms=5)
        axes.annotate(
            literal(name), (x, y), (0, 5), textcoords="offset points", ha="center", fontsize="small"
        )
    axes.set_xlabel({"generalizability": "Eρ²", "dependability": "Φ"}[coefficient])
    axes.set_ylabel("change of the MAE, %")
    axes.set_title(f"{literal(estimator)}, {parse_measure(measure)}", fontsize="medium")
    axes.margins(0.15)
    return axes


def figure_grid(n_panels: int, *, width: float = 3.6, height: float = 3.6) -> tuple[Figure, Sequence[Axes]]:
    """A figure that pyplot does not know, with a number of equal axes, three to a row.

    Parameters
    ----------
    n_panels : int
        At least 1.
    width, height : float
        Of a panel, in inches.
    """
    from matplotlib.figure import Figure

    if n_panels < 1:
        raise InputError("a figure needs a panel")
    n_columns = min(n_panels, _N_COLUMNS)
    n_rows = -(-n_panels // n_columns)
    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
    for extra in panels[n_panels:]:
        extra.remove()
    return figure, panels[:n_panels]


def render(figure: Figure, file_format: Literal["png", "svg"]) -> bytes:
    """The figure as an image file's content; figures drawn alike give the same bytes."""
    import matplotlib

    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "bayespool", "svg.fonttype": "path"}):
        metadata = {"Date": None} if file_format == "svg" else {"Software": None}
        figure.savefig(content, format=file_format, dpi=120, metadata=metadata)
    return content.getvalue()


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


def _axes(ax: Axes | None) -> Axes:
    return figure_grid(1, width=5, height=4)[1][0] if ax is None else ax


def _is_posterior(result: LeaveOutResult, label: str) -> bool:
    return dict(result.settings.estimators)[label].name.startswith("posterior")


def _colour(result: LeaveOutResult, label: str) -> str:
    if label == "lower-bound":
        return _AS_IT_STANDS
    posteriors = [name for name in result.settings.labels if _is_posterior(result, name)]
    if label in posteriors[:1]:
        return _POSTERIOR
    others = [n for n in result.settings.labels if n != "lower-bound" and n not in posteriors[:1]]
    return _COLOURS[others.index(label) % len(_COLOURS)]


def plot_predictive(
    prediction: HeldOutPrediction, *, ci_prob: float = 0.95, label_runs: bool = True, ax: Axes | None = None
) -> Axes:
    """Predicted values of runs whose organizations were held out, beside what was observed; a row per run.

    Grey: the interval before anything is learnt. Thin and thick: the interval after learning from other
    organizations, and the half of it that is likeliest. Dot: observed. Runs with nothing hidden are left out.

    Parameters
    ----------
    prediction : bayespool.checking.HeldOutPrediction
    ci_prob : float in (0, 1)
    label_runs : bool
        Whether the rows have names.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    axes = _axes(ax)
    whole, half = (
        run_frame([prediction], prob).sort_values("value", kind="stable") for prob in (ci_prob, 0.5)
    )
    rows = np.arange(len(whole))
    for frame, which, colour, width, label in (
        (whole, "prior_", "0.75", 1.2, f"before learning, {100 * ci_prob:g} %"),
        (whole, "", _POSTERIOR, 1.6, f"held out, {100 * ci_prob:g} %"),
        (half, "", _POSTERIOR, 4.5, "held out, 50 %"),
    ):
        low, high = frame[f"{which}lower"], frame[f"{which}upper"]
        axes.hlines(rows, low, high, color=colour, lw=width, label=label)
    axes.plot(whole["value"], rows, "o", color="black", ms=3.2, label="observed")
    axes.set_yticks(rows, whole["run_id"].map(literal).tolist() if label_runs else [], fontsize=6.5)
    axes.set_ylim(-0.7, len(whole) - 0.3)
    axes.set_xlabel(str(prediction.measure))
    axes.set_title(literal(prediction.model), fontsize="medium")
    return axes


def plot_held_out_pit(prediction: HeldOutPrediction, *, n_bins: int = 10, ax: Axes | None = None) -> Axes:
    """Histogram of the randomised PIT of runs whose organizations were held out; read like `plot_pit`.

    Between the dotted lines each bar would lie with 95 % probability if runs were independent.

    Parameters
    ----------
    prediction : bayespool.checking.HeldOutPrediction
    n_bins : int, default 10
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    from matplotlib.ticker import MaxNLocator

    pit, axes = prediction.pit[prediction.has_hidden], _axes(ax)
    axes.hist(pit, bins=n_bins, range=(0, 1), color=_POSTERIOR, alpha=0.6, edgecolor="white")
    axes.axhline(len(pit) / n_bins, color="black", lw=1, ls="--", label="calibrated")
    for limit in bar_limits(len(pit), n_bins):
        axes.axhline(limit, color="black", lw=0.8, ls=":")
    axes.set(xlim=(0, 1), xlabel=f"PIT, {prediction.measure}", ylabel=f"runs, of {len(pit)}")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(literal(prediction.model), fontsize="medium")
    return axes


def plot_elpd(frame: pd.DataFrame, measure: object, *, ax: Axes | None = None) -> Axes:
    """By how much each model's log predictive density on held-out organizations is below the best one's.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `bayespool.checking.elpd_frame`.
    measure : measure
        One that the frame has.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Bars are plus and minus one standard error of the difference.
    """
    name, axes = str(parse_measure(measure)), _axes(ax)
    table = frame[frame["measure"] == name]
    rows = -np.arange(len(table))
    axes.axvline(0, color="0.8", lw=1, zorder=0)
    axes.errorbar(-table["elpd_diff"], rows, xerr=table["dse"], fmt="o", color=_POSTERIOR, ms=5, lw=1.6)
    axes.set_yticks(rows, table["model"].map(literal))
    axes.set_xlabel("elpd less the best one's")
    axes.set_title(name, fontsize="medium")
    return axes


def plot_ranks(
    calibration: SelfCalibration, quantity: str, *, prob: float = 0.95, ax: Axes | None = None
) -> Axes:
    """Simulation-based calibration of one quantity: the distribution of ranks less the uniform one.

    Parameters
    ----------
    calibration : bayespool.checking.SelfCalibration
    quantity : str
        One of its quantities.
    prob : float in (0, 1)
        The band holds the whole line with this probability where all is right.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Above zero on the left: true values lie low among the draws more often than they should.
    """
    frame, axes = calibration.rank_frame(quantity, prob=prob), _axes(ax)
    axes.fill_between(frame["expected"], frame["band_lower"], frame["band_upper"], color="0.88", lw=0)
    axes.axhline(0, color="0.6", lw=0.8)
    axes.plot(frame["expected"], frame["excess"], color=_POSTERIOR, lw=1.5)
    axes.set_xlim(0, 1)
    axes.tick_params(labelsize="small")
    axes.set_title(quantity, fontsize="small")
    return axes


def plot_engines(
    frame: pd.DataFrame, what: Literal["mean", "lower", "upper"], *, ax: Axes | None = None
) -> Axes:
    """How far the Laplace engine is from NUTS in shares of the interval's width, a mark per run.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `bayespool.checking.compare_engines`.
    what : {"mean", "lower", "upper"}
        Posterior means, or an end of the intervals.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        Bars are two Monte-Carlo errors; the band is 2 % for means and 5 % for ends.
    """
    axes, models = _axes(ax), list(dict.fromkeys(frame["model"]))
    within = MEAN_WITHIN if what == "mean" else ENDS_WITHIN
    axes.axvspan(-within, within, color="0.88", lw=0)
    axes.axvline(0, color="0.6", lw=0.8)
    for row, model in enumerate(models):
        table = frame[frame["model"] == model]
        places = -row + 0.6 * (np.arange(len(table)) + 0.5) / len(table) - 0.3
        errors = 2 * table[f"{what}_off_se"]
        axes.errorbar(table[f"{what}_off"], places, xerr=errors, fmt=".", color=_POSTERIOR, ms=4, lw=0.8)
    axes.set_yticks(-np.arange(len(models)), [literal(model) for model in models])
    axes.set_xlabel("Laplace − NUTS, share of width")
    axes.set_title({"mean": "means", "lower": "lower ends", "upper": "upper ends"}[what], fontsize="medium")
    return axes


def plot_calibration(table: pd.DataFrame, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """Reliability plot: how often what was announced with a probability happened.

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
        A mark per bin, larger for more cases; a perfect announcer lies on the diagonal.
    """
    axes, filled = _axes(ax), table[table["n"] > 0]
    axes.plot([0, 1], [0, 1], color="0.6", lw=0.8)
    (line,) = axes.plot(filled["announced"], filled["happened"], lw=1, label=label)
    sizes = 8 + 120 * filled["n"] / filled["n"].sum()
    axes.scatter(filled["announced"], filled["happened"], s=sizes, color=line.get_color())
    axes.set_xlabel("announced probability")
    axes.set_ylabel("share that happened")
    return axes

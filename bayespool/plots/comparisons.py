"""Figures of comparisons and reversals."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from bayespool.errors import InputError
from bayespool.plots import style
from bayespool.tables.formatting import counted, level, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_SCOPES = {
    "population": "a population of topics",
    "these-topics": "these topics",
    "groups": "a population of tasks",
}
_LOOKS = {"population": ("0.75", 0.5), "these-topics": (style.POSTERIOR, 1.2)}
_AS_JUDGED = "as-judged"
_MAX_PAIRS_DRAWN = 15
_MAX_WIDTH_SIDE_BY_SIDE = 8.0  # inches
_LEAST_SMALL_PANEL = 1.6  # inches
_MAX_RUNS_WITH_TEXT = 12  # beyond, cells are too small for text


def plot_differences(
    comparison: Any,
    measure: object = None,
    *,
    estimator: str | None = None,
    truth: Mapping[str, float] | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Plot differences between runs, one row per pair, with intervals for these topics and for a population.

    With a shaded range of negligible differences (``rope``), if there is one.

    Parameters
    ----------
    comparison : bayespool.comparisons.Comparison
        Or one that is read back.
    measure : measure, optional
        Default: the first.
    estimator : str, optional
        One with draws; default: the first. Without any only the differences as judged are drawn.
    truth : mapping of str to float, optional
        True values by run, if known.
    legend : bool
    ax : matplotlib.axes.Axes, optional
        Default: a new figure, higher for more pairs. From seven runs on `plot_rank_probabilities` is easier
        to read.

    Raises
    ------
    InputError
        The comparison has no such measure or estimator.
    """
    rope = comparison.to_frame("differences")["rope"].max()
    rows = style.measure_rows(style.pair_rows(comparison), measure)
    as_judged = rows[rows["estimator"] == _AS_JUDGED]
    place = {pair: i for i, pair in enumerate(zip(as_judged["run_a"], as_judged["run_b"], strict=True))}
    axes = style.axes_or_new(ax, height=1.5 + 0.3 * len(place))
    size = float(np.clip(72 * style.inches_per_row(axes, len(place)) * 0.25, 2.5, 6))
    if rope > 0:
        axes.axvspan(-rope, rope, color="0.94", lw=0, label=f"within ±{rope:g}")
    axes.axvline(0, color="0.5", lw=0.8)
    with_draws = rows[rows["lower"].notna()]
    if estimator is not None or len(with_draws):
        estimator_rows, _ = style.rows_with(with_draws, "estimator", estimator, "draws of")
        for scope, (color, width) in _LOOKS.items():
            scope_rows = estimator_rows[estimator_rows["scope"] == scope]
            y = [place[pair] for pair in zip(scope_rows["run_a"], scope_rows["run_b"], strict=True)]
            if y:
                label = f"{_SCOPES[scope]}, {level(scope_rows['ci_prob'].iloc[0])}"
                ends = scope_rows["lower"], scope_rows["upper"]
                axes.hlines(y, *ends, color=color, lw=width * size, label=label)
            if scope == "these-topics" and y:
                axes.plot(scope_rows["difference"], y, "|", color="black", ms=2 * size, label="mean")
    y = list(place.values())
    above = np.array(y) - 0.24  # to hide no narrow interval
    look = style.estimator_look(_AS_JUDGED).marker
    axes.plot(as_judged["difference"], above, ls="", ms=size, label="as judged", **look)
    if truth is not None:
        true = [truth.get(a, np.nan) - truth.get(b, np.nan) for a, b in place]
        axes.plot(true, y, "x", color="black", ms=size, mew=1.4, label="truth")
    far, baselines = getattr(comparison, "far_runs", ()), {b for _, b in place}
    name = rows["measure"].iloc[0]
    if len(baselines) == 1 and len(place) > 1:
        style.row_axis(axes, [a for a, _ in place], far)
        x = f"difference in {name} to {literal(style.short_name(*baselines))}"
    else:
        dagger = [[f"{run} †" if run in far else run for run in pair] for pair in place]
        style.row_axis(axes, [" − ".join(pair) for pair in dagger])
        x = f"difference in {name}"
    if legend:
        style.legend_above(axes)
    return style.label_axes(axes, x)


def plot_rank_probabilities(
    comparison: Any,
    measure: object = None,
    *,
    estimator: str | None = None,
    scope: Literal["these-topics", "population"] = "these-topics",
    ax: Axes | None = None,
) -> Axes:
    """Plot rank probabilities with one row per run, best expected rank first, and one column per rank.

    Darker is likelier; for up to twelve runs cells show percentages. Diamonds are expected ranks.

    Parameters
    ----------
    comparison : bayespool.comparisons.Comparison
        Or one that is read back.
    measure : measure, optional
        Default: the first.
    estimator : str, optional
        One with draws; default: the first.
    scope : {"these-topics", "population"}
        Whether only the unjudged documents are uncertain, or the topics are a sample, too.
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    InputError
        The comparison has no such measure, estimator or scope.
    """
    name = style.measure_rows(comparison.to_frame("differences"), measure)["measure"].iloc[0]
    rows, estimator_label, scope_ = _rows_of_draws(comparison, name, estimator, scope)
    rows = rows.sort_values("expected_rank", kind="stable")
    run_ids, expected = list(rows["run_id"]), rows["expected_rank"].to_numpy()
    chances = rows.filter(regex="^prob_rank_").to_numpy()
    n = len(run_ids)
    width, height = _size_of_ranks(n)
    axes = style.axes_or_new(ax, width=width, height=height)
    bar = style.heat_map(axes, chances, bar={"pad": 0.02}, extent=(0.5, n + 0.5, n - 0.5, -0.5))
    bar.set_ticks([0, 0.5, 1], labels=["0 %", "50 %", "100 %"])
    bar.set_label("probability of the rank", fontsize="small")
    axes.plot(
        expected, np.arange(n), "D", color=style.PALETTE[3], ms=3.5 if n <= _MAX_RUNS_WITH_TEXT else 2, mew=0
    )
    if n <= _MAX_RUNS_WITH_TEXT:
        for (row, column), chance in np.ndenumerate(chances):
            if round(100 * chance):
                text, at = f"{round(100 * chance)}", (column + 1, row)
                color = "white" if chance > 0.6 else "0.25"
                options: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": style.SMALLEST_TEXT}
                axes.annotate(text, at, (0, 5.5), textcoords="offset points", color=color, **options)
    style.row_axis(axes, run_ids, getattr(comparison, "far_runs", ()))
    axes.locator_params(axis="x", integer=True)
    if n <= _MAX_RUNS_WITH_TEXT:
        axes.set_xticks(range(1, n + 1))
    return style.label_axes(
        axes, f"rank by {name},\n{_SCOPES[scope_]}", title=f"{estimator_label}; diamonds: expected ranks"
    )


def plot_leaderboard(
    comparison: Any,
    measure: object = None,
    *,
    estimator: str | None = None,
    scope: Literal["these-topics", "population"] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot simultaneous intervals for ranks, one row per run, highest mean score first.

    Diamonds are expected ranks, filled for runs that may be the best. Tiers have a shade each.

    Parameters
    ----------
    comparison : bayespool.comparisons.Comparison
        Or one that is read back.
    measure : measure, optional
        Default: the first.
    estimator : str, optional
        One with draws; default: the first.
    scope : {"these-topics", "population"}, optional
        Whether only the unjudged documents are uncertain, or the topics are a sample, too; default: a
        population of topics, if the comparison has it.
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    InputError
        The comparison has no such measure, estimator or scope.
    """
    if scope is None and "population" in set(comparison.to_frame("runs")["scope"]):
        scope = "population"
    rows, estimator_label, scope_ = _rows_of_draws(comparison, measure, estimator, scope)
    rows = rows.sort_values("value", ascending=False, kind="stable")
    name, expected = rows["measure"].iloc[0], rows["expected_rank"].to_numpy()
    n = len(rows)
    axes = style.axes_or_new(ax, height=1.6 + 0.25 * n)
    size = float(np.clip(72 * style.inches_per_row(axes, n) * 0.22, 2, 6))
    place, tier = np.arange(n), rows["tier"].to_numpy()
    for row in place[tier % 2 == 0]:
        axes.axhspan(row - 0.5, row + 0.5, color="0.95", lw=0)
    axes.hlines(place, rows["rank_lower"], rows["rank_upper"], color=style.POSTERIOR, alpha=0.45, lw=size)
    best = rows["among_best"].to_numpy(dtype=bool)
    for which, face in ((best, style.PALETTE[3]), (~best, "white")):
        options: dict[str, Any] = {"mfc": face, "mec": style.PALETTE[3], "ms": size}
        axes.plot(expected[which], place[which], "D", **options)
    style.row_axis(axes, list(rows["run_id"]), getattr(comparison, "far_runs", ()))
    if letters := [str(text) for text in rows.get("letters", ()) if text == text and text]:
        beside = axes.secondary_yaxis("right")
        beside.set_yticks(place, letters if len(letters) == n else [""] * n, fontsize=style.SMALLEST_TEXT)
        beside.tick_params(length=0)
    axes.set_xlim(0.5, n + 0.5)
    axes.locator_params(axis="x", integer=True)
    prob = level(rows["ci_prob"].iloc[0])
    return style.label_axes(
        axes,
        f"ranks by {name},\n{_SCOPES[scope_]}; all at once {prob}\n(filled: may be the best; shades: tiers)",
        title=f"{estimator_label}; diamonds: expected ranks",
    )


def _rows_of_draws(
    comparison: Any, measure: object, estimator: str | None, scope: str | None
) -> tuple[pd.DataFrame, str, str]:
    """Return rows for a measure, estimator and scope, and the names that are used (default: the first)."""
    frame = comparison.to_frame("runs").dropna(subset="value")
    if frame.empty:
        raise InputError("the result has no draws of")
    rows, estimator_label = style.rows_with(
        style.measure_rows(frame, measure), "estimator", estimator, "draws of"
    )
    rows, scope_ = style.rows_with(rows, "scope", scope, "scope")
    return rows, estimator_label, scope_


def draw_leaderboard(comparison: Any) -> Figure:
    """Draw a panel of `plot_leaderboard` for each measure."""
    rows = comparison.to_frame("runs").dropna(subset="value")
    plots = [partial(plot_leaderboard, comparison, measure) for measure in rows["measure"].unique()]
    return style.draw_panels(plots, width=5, height=1.6 + 0.25 * rows["run_id"].nunique(), n_columns=2)


def plot_collection(
    leaderboard: Any,
    collection: str,
    measure: object = None,
    *,
    estimator: str | None = None,
    scope: str | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Plot the scores of runs on a collection or task, or their means, one row per run.

    Runs are in the order of their means, the highest at the top; thin lines are bounds.

    Parameters
    ----------
    leaderboard : bayespool.comparisons.Leaderboard
        Or one that is read back.
    collection : str
        Name of a collection or task, or ``mean``.
    measure : measure, optional
        That of the mean; default: the first.
    estimator, scope : str, optional
        Default: the first.
    legend : bool
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    InputError
        The leaderboard has no such collection, measure, estimator or scope.
    """
    runs = style.measure_rows(leaderboard.to_frame("runs"), measure)
    frame = leaderboard.to_frame("scores")
    rows = frame[frame["measures"] == runs["measure"].iloc[0]]
    for column, value in {"estimator": estimator, "scope": scope, "collection": collection}.items():
        rows, _ = style.rows_with(rows, column, value, column)
    order = runs.drop_duplicates("run_id").sort_values("value", ascending=False, kind="stable")["run_id"]
    rows = rows.set_index("run_id").reindex(list(order))
    axes, place = style.axes_or_new(ax, height=1.2 + 0.25 * len(rows)), np.arange(len(rows))
    size = float(np.clip(72 * style.inches_per_row(axes, len(rows)) * 0.25, 2.5, 6))
    is_open = (rows["bound_upper"] > rows["bound_lower"]).to_numpy()
    ends = rows["bound_lower"][is_open], rows["bound_upper"][is_open]
    if is_open.any():
        axes.hlines(place[is_open], *ends, color="0.6", lw=0.8, label="bounds")
    with_draws = rows["lower"].notna().to_numpy()
    if with_draws.any():
        label = f"{level(rows['ci_prob'].max())} interval"
        ends = rows["lower"][with_draws], rows["upper"][with_draws]
        axes.hlines(place[with_draws], *ends, color=style.POSTERIOR, alpha=0.5, lw=size, label=label)
    axes.plot(rows["value"], place, "|", color="black", ms=2 * size, label="estimate")
    look = style.estimator_look(_AS_JUDGED).marker
    axes.plot(rows["as_judged"], place, ls="", ms=0.8 * size, label="as judged", **look)
    style.row_axis(axes, list(rows.index))
    if legend:
        style.legend_above(axes)
    name, basis = str(rows["measure"].iloc[0]), str(rows["basis"].iloc[0])
    is_of_one = frame["measure"].nunique() == 1
    own = basis if collection == "mean" else "" if is_of_one else name
    title = ", ".join(filter(None, [style.short_name(collection, 20), own]))
    return style.label_axes(axes, name if is_of_one else "score", title=title)


def draw_collections(leaderboard: Any, measure: object = None) -> Figure:
    """Draw a panel of `plot_collection` for each collection or task and one for the means, on shared axes.

    Parameters
    ----------
    leaderboard : bayespool.comparisons.Leaderboard
        Or one that is read back.
    measure : measure, optional
        That of the mean; default: the first.
    """
    scores = leaderboard.to_frame("scores")
    names, n_runs = list(dict.fromkeys(scores["collection"])), scores["run_id"].nunique()
    grid: dict[str, Any] = {"n_columns": 4, "least_width": _LEAST_SMALL_PANEL}
    figure, panels = style.figure_grid(len(names), width=1.9, height=0.9 + 0.2 * max(n_runs, 4), **grid)
    for name, panel in zip(names, panels, strict=True):
        plot_collection(leaderboard, name, measure, ax=panel)
    ends = np.array([panel.get_xlim() for panel in panels])
    margin = 0.03 * (ends.max() - ends.min())
    places = [panel.get_subplotspec() for panel in panels]
    n_columns = 1 + max(place.colspan.start for place in places if place)
    for i, (panel, place) in enumerate(zip(panels, places, strict=True)):
        is_left, is_last = bool(place and place.is_first_col()), i + n_columns >= len(panels)
        panel.set_xlim(ends.min() - margin, ends.max() + margin)
        panel.tick_params(labelleft=is_left, labelbottom=is_last)
        if not is_last:
            panel.set_xlabel("")
    return style.finish(figure)


def _size_of_ranks(n_runs: int) -> tuple[float, float]:
    """Return the width and height of a panel with ranks, in inches."""
    return 3 + min(0.45 * n_runs, 9), 1.4 + (0.3 if n_runs <= _MAX_RUNS_WITH_TEXT else 0.13) * n_runs


def measures_drawn_by_rank(comparison: Any) -> set[str]:
    """Return the measures of which `draw_comparison` draws ranks, and not differences."""
    if style.has_systems(comparison):
        return set()
    pairs = comparison.to_frame("differences")[["run_a", "run_b"]].drop_duplicates()
    with_one_baseline = len(pairs) == len(set(pairs["run_a"]) | set(pairs["run_b"])) - 1
    if len(pairs) <= _MAX_PAIRS_DRAWN or with_one_baseline:
        return set()
    return set(comparison.to_frame("runs").dropna(subset="value")["measure"])


def draw_comparison(comparison: Any) -> Figure:
    """Draw a panel per measure with differences for up to fifteen pairs of runs, else rank probabilities.

    Differences from one baseline are drawn however many they are. Without draws all differences are drawn.

    Parameters
    ----------
    comparison : bayespool.comparisons.Comparison
        Or one that is read back.
    """
    differences = style.pair_rows(comparison)
    measures = list(differences["measure"].unique())
    n_runs = len(set(differences["run_a"]) | set(differences["run_b"]))
    n_pairs = len(differences[["run_a", "run_b"]].drop_duplicates())
    by_rank = measures_drawn_by_rank(comparison)
    each, height = _size_of_ranks(n_runs) if by_rank else (5, 1.5 + 0.3 * n_pairs)
    n_columns = 1 if each > _MAX_WIDTH_SIDE_BY_SIDE else 2
    plots = [
        partial(plot_rank_probabilities if measure in by_rank else plot_differences, comparison, measure)
        for measure in measures
    ]
    return style.draw_panels(plots, width=each, height=height, n_columns=n_columns)


_FLOOR = 1e-6
_TAKEN_BACK, _GAINED = style.PALETTE[3], style.PALETTE[4]


def plot_p_values(
    reversals: Any,
    n_judgments: int | None = None,
    *,
    measure: object = None,
    group: str | None = None,
    estimator: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot p-values from few judgments against those from all judgments, one point per pair of runs.

    Figure 5 of Ravana & Moffat (2010). Pairs at the lower left are significant under both; all judgments take
    back those at the upper left, and make those at the lower right significant. Both axes are logarithmic and
    begin at 10⁻⁶, where smaller values are drawn. Corners show numbers of pairs, with the names of
    `Reversals.rates`: *kept* is significant in the same direction under both, *swapped* in opposite ones.

    Parameters
    ----------
    reversals : bayespool.comparisons.Reversals
        Or one that is read back.
    n_judgments : int, optional
        One of its smaller judgment sets; default: the smallest.
    measure : measure, optional
        Default: the first.
    group : str, optional
        Of runs; default: the first with two.
    estimator : str, optional
        One with p-values; default: the scores as judged.
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    InputError
        The result has no such judgment set, group or estimator.
    """
    rates = style.measure_rows(reversals.to_frame("rates"), measure)
    rates, group = style.rows_with(rates, "group", group, "pairs of runs")
    values = style.measure_rows(reversals.to_frame("p_values"), rates["measure"].iloc[0])
    values, estimator = style.rows_with(
        values[values["group"] == group], "estimator", estimator, "p-values of"
    )
    values, n = style.rows_with(values, "judgments", n_judgments, "smaller judgment set")
    rates = rates[(rates["estimator"] == estimator) & (rates["judgments"] == n)]
    (rate,) = rates[rates["against"] == "same estimator"].to_dict("records")
    axes, level = style.axes_or_new(ax, width=4.6, height=4.4), reversals.metadata["level"]
    n_all = reversals.metadata["judgments"][-1]
    limits = (0.7 * _FLOOR, 1.4)
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    axes.fill_between([limits[0], level], level, limits[1], color=_TAKEN_BACK, alpha=0.12, lw=0)
    axes.fill_between([level, limits[1]], limits[0], level, color=_GAINED, alpha=0.15, lw=0)
    axes.axvline(level, color="0.6", lw=0.8)
    axes.axhline(level, color="0.6", lw=0.8)
    few, full = (np.maximum(values[name], _FLOOR) for name in ("p_value", "p_value_all"))
    axes.scatter(few, full, s=9, color=style.PALETTE[0], alpha=0.6, lw=0)
    n_pairs = {
        name: round(rate["n_pairs"] * rate[name]) for name in ("kept", "swapped", "reversed", "gained")
    }
    kept_text = f"kept {n_pairs['kept']:,}"
    if n_pairs["swapped"]:
        kept_text += f", swapped {n_pairs['swapped']:,}"
    options: dict[str, Any] = {"fontsize": "small", "transform": axes.transAxes}
    options["bbox"] = {"fc": "white", "alpha": 0.7, "lw": 0, "pad": 1}
    axes.text(0.02, 0.98, f"taken back {n_pairs['reversed']:,}", va="top", **options)
    axes.text(0.02, 0.02, kept_text, **options)
    axes.text(0.98, 0.02, f"gained {n_pairs['gained']:,}", ha="right", **options)
    title = f"{estimator}, {counted(rate['n_pairs'], 'pair')} of {group} runs"
    return style.label_axes(axes, f"p with {n:,} judgments", f"p with all {n_all:,}", title)


def plot_separability(
    reversals: Any,
    *,
    measure: object = None,
    group: str | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Plot the share of significant pairs of runs against the number of judgments, one line per estimator.

    Figure 4 of Ravana & Moffat (2010). Numbers of judgments are on a logarithmic scale.

    Parameters
    ----------
    reversals : bayespool.comparisons.Reversals
        Or one that is read back.
    measure : measure, optional
        Default: the first.
    group : str, optional
        Of runs; default: the first with two.
    legend : bool
    ax : matplotlib.axes.Axes, optional
    """
    rates = style.measure_rows(reversals.to_frame("rates"), measure)
    rates, group = style.rows_with(rates, "group", group, "pairs of runs")
    name = rates["measure"].iloc[0]
    trends = style.measure_rows(reversals.to_frame("trends"), name)
    axes = style.axes_or_new(ax, width=6.5, height=4)
    for estimator in trends["estimator"].unique():
        rows = trends[(trends["group"] == group) & (trends["estimator"] == estimator)]
        look = style.estimator_look(estimator, list(trends["estimator"].unique())).marker
        axes.plot(rows["judgments"], rows["separability"], label=literal(estimator), ms=4, lw=1.2, **look)
    axes.set_ylim(-0.02, min(1.03, axes.get_ylim()[1] + 0.1))
    style.count_axis(axes, reversals.metadata["judgments"], base=10)
    if legend:
        style.legend_beside(axes)
    share = f"share of pairs, {name}, p < {reversals.metadata['level']:g}"
    return style.label_axes(axes, "documents judged", share, f"{group} runs")


def plot_reversal_calibration(
    reversals: Any,
    statement: Literal["reversed", "significant"] = "reversed",
    *,
    measure: object = None,
    group: str | None = None,
    estimator: str | None = None,
    n_bins: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Plot outcomes under all judgments against announced probabilities, one line per number of judgments.

    As `plot_calibration`.

    Parameters
    ----------
    reversals : bayespool.comparisons.Reversals
        Or one that is read back.
    statement : {"reversed", "significant"}
        That a significant difference will not be (of the pairs that are significant now), or that a
        difference will be significant (of all pairs).
    measure : measure, optional
        Default: the first.
    group : str, optional
        Of runs; default: the first with two.
    estimator : str, optional
        One with draws; default: the first.
    n_bins : int, default 10
        A result that is read back has ten.
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    InputError
        No estimator announces probabilities, or not this one; no such statement or group.
    """
    table = reversals.to_frame("calibration") if n_bins == 10 else reversals.calibration(n_bins=n_bins)
    if table.empty:
        raise InputError("the result has no stated probabilities of")
    rates = style.measure_rows(reversals.to_frame("rates"), measure)
    rates, group = style.rows_with(rates, "group", group, "pairs of runs")
    table = style.measure_rows(table, rates["measure"].iloc[0])
    rows, estimator = style.rows_with(table, "estimator", estimator, "stated probabilities of")
    rows, statement_ = style.rows_with(rows, "statement", statement, "statement")
    rows = rows[rows["group"] == group]
    axes = style.axes_or_new(ax, width=4.6, height=4.2)
    for n in dict.fromkeys(rows["judgments"]):
        line_rows = rows[rows["judgments"] == n]
        if line_rows["n"].any():
            plot_calibration(line_rows, label=f"from {n:,} judgments", ax=axes)
    event = {"reversed": "to be taken back", "significant": "to be significant"}[statement_]
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize="small", loc="best")
    else:
        axes.text(0.5, 0.5, "no pair that all judgments can grade", ha="center", fontsize="small")
    title, share = f"{estimator}, {group} runs", "share that is, with all judgments"
    return style.label_axes(axes, f"stated probability {event}", share, title)


def draw_reversals(reversals: Any) -> Figure:
    """Draw p-values, calibration and separability, with one row per measure and group of runs."""
    has_chances = not reversals.to_frame("calibration").empty
    plots: list[Any] = []
    for row in reversals.to_frame("rates")[["measure", "group"]].drop_duplicates().to_dict("records"):
        plots.append(partial(plot_p_values, reversals, **row))
        if has_chances:
            plots.append(partial(plot_reversal_calibration, reversals, "significant", **row))
        plots.append(partial(plot_separability, reversals, **row))
    return style.draw_panels(plots, width=5.0, height=4.3, n_columns=2 + has_chances)


def plot_calibration(table: pd.DataFrame, *, label: str | None = None, ax: Axes | None = None) -> Axes:
    """Plot a reliability diagram: observed share against stated probability.

    A mark per bin, larger for more cases; perfect calibration is on the diagonal.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `bayespool.comparisons.calibration_table`, or rows of `bayespool.Reversals.calibration` for one
        group, estimator, judgment set and statement.
    label : str, optional
    ax : matplotlib.axes.Axes, optional
    """
    axes, filled = style.axes_or_new(ax), table[table["n"] > 0]
    if not axes.lines:
        axes.plot([0, 1], [0, 1], color="0.6", lw=0.8)
    color = style.PALETTE[(len(axes.lines) - 1) % len(style.PALETTE)]
    axes.plot(filled["announced"], filled["happened"], lw=1, color=color, label=label)
    sizes = 8 + 120 * filled["n"] / filled["n"].sum()
    axes.scatter(filled["announced"], filled["happened"], s=sizes, color=color)
    return style.label_axes(axes, "stated probability", "share that happened")

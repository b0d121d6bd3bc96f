"""Plots of scores: bounds, corrections and intervals by run or topic, and distance from the pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayespool.errors import InputError
from bayespool.plots.style import (
    AS_JUDGED,
    MARKS,
    PALETTE,
    POSTERIOR,
    axes_of,
    choose,
    color_of,
    inches_per_row,
    legend_above,
    of_measure,
    row_axis,
    sole,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bayespool.scoring import Scores

_BOUNDS = "0.6"
_MAX_ROWS_WITH_LINE_PER_MARK = 12
_MAX_GRID_COLUMNS = 3
_FAR = PALETTE[3]


@dataclass(frozen=True)
class _Rows:
    """Rows to draw, one per run or topic; ``main`` is the method of the bar, ``marked`` are those of
    marks.
    """

    table: pd.DataFrame
    names: list[str]
    main: str | None
    marked: tuple[str, ...]
    truth: list[float] | None


def plot_forest(
    scores: Scores,
    measure: object = None,
    *,
    truth: Mapping[str, float] | None = None,
    method: str | None = None,
    corrections: bool | Iterable[str] = True,
    order: Literal["estimate", "given"] | Sequence[str] = "estimate",
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Bounds of runs, a row each, the point corrections as marks, and the posterior with its interval.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    measure : measure, optional
        Default: the first.
    truth : mapping of str to float, optional
        True values by run, if known.
    method : str, optional
        Method whose interval is drawn as a bar; default: the first with draws.
    corrections : bool or iterable of str
        Other methods to draw as marks; a further posterior has a thin line for its interval.
    order : {"estimate", "given"} or sequence of str
        By the method's estimate, the best at the top (as judged without a method), in the order of the
        scores, or run ids from the top.
    legend : bool
    ax : matplotlib.axes.Axes, optional
        Default: a new figure, with a line for each correction of up to twelve runs, else a quarter of an
        inch per run (33 inches for 129 runs).

    Returns
    -------
    matplotlib.axes.Axes
        Axes too low for all names show every other one or fewer.

    Raises
    ------
    InputError
        The scores have no such measure, method or run.

    Examples
    --------
    >>> from bayespool import load_example, score
    >>> axes = plot_forest(score(load_example(), measures="P@10", estimators="background"))
    >>> [label.get_text() for label in axes.get_yticklabels()], axes.get_xlabel()
    (['new-a', 'new-b'], 'P@10, mean over 20 topics')
    """
    name = sole(scores.measures, measure)
    table = of_measure(scores.frame(), name).set_index("run_id", drop=False)
    main = _main(scores, name, method)
    run_ids = _ordered(scores, table, main, order)
    known = None if truth is None else [truth.get(run, np.nan) for run in run_ids]
    marked = _marked(scores, name, main, corrections)
    rows = _Rows(table.loc[run_ids], run_ids, main, marked, known)
    axes = axes_of(ax, width=7, height=_height(len(run_ids), len(marked)))
    _draw(axes, rows, scores.ci_prob, legend=legend)
    axes.set_xlabel(f"{name}, mean over {_topics(scores)}")
    return axes


def plot_topics(
    scores: Scores,
    run_id: str | None = None,
    measure: object = None,
    *,
    truth: Mapping[str, float] | None = None,
    method: str | None = None,
    corrections: bool | Iterable[str] = False,
    order: Literal["estimate", "given"] | Sequence[str] = "given",
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Bounds and estimates of one run, a row per topic, otherwise as `plot_forest`.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    run_id : str, optional
        Default: the first run.
    measure, method, corrections, order, legend, ax
        As in `plot_forest`; topics are in the order of the collection.
    truth : mapping of str to float, optional
        True values by topic.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        The scores have no such measure, method, run or topic.
    """
    name, run = sole(scores.measures, measure), choose(run_id, scores.run_ids, "run")
    table = of_measure(scores.frame(per_topic=True), name)
    table = table[table["run_id"] == run].set_index("query_id", drop=False)
    main = _main(scores, name, method)
    query_ids = _ordered(scores, table, main, order)
    known = None if truth is None else [truth.get(topic, np.nan) for topic in query_ids]
    marked = _marked(scores, name, main, corrections)
    rows = _Rows(table.loc[query_ids], query_ids, main, marked, known)
    axes = axes_of(ax, width=7, height=_height(len(query_ids), len(marked)))
    _draw(axes, rows, scores.ci_prob, legend=legend)
    from bayespool.tables.printable import literal

    axes.set_xlabel(f"{name} of {literal(run)}")
    axes.set_ylabel("topic")
    return axes


def draw_forest(
    scores: Scores,
    *,
    truth: Mapping[str, Mapping[str, float]] | None = None,
    corrections: bool | Iterable[str] = True,
) -> Figure:
    """Figure with `plot_forest` of every measure, side by side; runs in the order of the first one.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    truth : mapping of str to mapping of str to float, optional
        True values by measure, then by run.
    corrections : bool or iterable of str
        As in `plot_forest`.
    """
    names = [str(measure) for measure in scores.measures]
    table = of_measure(scores.frame(), names[0]).set_index("run_id", drop=False)
    order = _ordered(scores, table, _main(scores, names[0], None), "estimate")
    chosen = corrections if isinstance(corrections, bool) else list(corrections)
    n_marks = max(len(_marked(scores, name, None, chosen)) for name in names)
    figure, panels = _row_grid(names, _height(len(order), n_marks))
    for name, panel in zip(names, panels, strict=True):
        known = None if truth is None else truth.get(name)
        plot_forest(scores, name, truth=known, corrections=chosen, order=order, legend=False, ax=panel)
    _share_legend(figure, panels)
    return figure


def draw_topics(scores: Scores, measure: object = None) -> Figure:
    """Figure with `plot_topics` of every run under one measure.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    measure : measure, optional
        Default: the first.
    """
    from bayespool.tables.printable import literal

    figure, panels = _row_grid(scores.run_ids, _height(len(scores.query_ids), 0))
    for run, panel in zip(scores.run_ids, panels, strict=True):
        plot_topics(scores, run, measure, legend=False, ax=panel)
        panel.set_title(literal(run), fontsize="medium")
        panel.set_xlabel(sole(scores.measures, measure))
    _share_legend(figure, panels)
    return figure


def plot_distance(
    scores: Scores, measure: object = None, *, method: str | None = None, ax: Axes | None = None
) -> Axes:
    """Distance of each run from the pool, and the chance that it is of a kind that the pool does not have.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    measure : measure, optional
        Default: the first.
    method : str, optional
        A posterior; default: the first one with distances from the pool.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
        A row per run, the farthest at the top, with its chance at the right end. The line is the distance
        from which a run is called unlike the pool if it is also more likely of a new kind than not; such
        runs are orange diamonds.

    Raises
    ------
    InputError
        No method of the scores has distances from the pool, as without a pool.
    """
    from bayespool.posterior.distance import FAR, PoolDistance

    name = sole(scores.measures, measure)
    of_measure(scores.frame(), name)
    methods = [
        e.method
        for e in scores.estimates
        if str(e.measure) == name and e.distance is not None and np.isfinite(e.distance).any()
    ]
    estimates = scores[choose(method, methods, "distance from the pool"), name]
    distance, new_kind = estimates.of_runs("distance"), estimates.of_runs("new_kind")
    order = np.argsort(-np.nan_to_num(distance, nan=-1), kind="stable")
    axes = axes_of(ax, width=6, height=1.3 + 0.25 * len(order))
    rows = np.arange(len(order))
    far = PoolDistance(distance, new_kind).is_far[order]
    axes.axvline(FAR, color="0.6", lw=1, ls="--", label="unlike the pool from here on")
    axes.hlines(rows, 0, distance[order], color="0.85", lw=1.2, zorder=1)
    for which, mark, color, label in (
        (~far, "o", POSTERIOR, "like the pool"),
        (far, "D", _FAR, "unlike the pool"),
    ):
        if which.any():
            axes.plot(distance[order][which], rows[which], mark, color=color, ms=5, label=label)
    row_axis(axes, [estimates.run_ids[i] for i in order])
    axes.set_xlim(0, 1.05 * max(float(np.nanmax(distance)), FAR))
    beside = axes.secondary_yaxis("right")
    size = axes.get_yticklabels()[0].get_fontsize()
    shown = axes.get_yticks().astype(int)
    chances = [f"{round(100 * new_kind[order[i]])} %" for i in shown]
    beside.set_yticks(shown, chances, fontsize=size)
    beside.tick_params(length=0)
    beside.set_ylabel("chance of\na new kind", fontsize="small")
    axes.set_xlabel("distance from the pool, in standard deviations between its organizations")
    legend_above(axes)
    return axes


def _main(scores: Scores, measure: str, method: str | None) -> str | None:
    """Method drawn as a bar; None without draws."""
    drawn = [e.method for e in scores.estimates if str(e.measure) == measure and e.draws is not None]
    return choose(method, drawn, "draws of") if method is not None or drawn else None


def _marked(
    scores: Scores, measure: str, main: str | None, corrections: bool | Iterable[str]
) -> tuple[str, ...]:
    """Methods drawn as marks."""
    others = [e.method for e in scores.estimates if str(e.measure) == measure and e.method != main]
    if isinstance(corrections, bool):
        return tuple(name for name in others if name != "lower-bound") if corrections else ()
    chosen = tuple(corrections)
    if unknown := [name for name in chosen if name not in others]:
        raise InputError(f"the result has no {unknown[0]!r}", hint=f"it has {', '.join(others)}")
    return chosen


def _ordered(
    scores: Scores, table: pd.DataFrame, main: str | None, order: Literal["estimate", "given"] | Sequence[str]
) -> list[str]:
    """Run ids from the top."""
    if order == "given":
        return list(table.index)
    if order == "estimate":
        return list(table.sort_values(main or "as_judged", ascending=False, kind="stable").index)
    if unknown := [name for name in order if name not in table.index]:
        raise InputError(f"the result has no {unknown[0]!r}", hint=f"it has {', '.join(table.index)}")
    return list(order)


def _height(n_rows: int, n_marks: int) -> float:
    """Height of a figure of rows, in inches; few rows have a line for each mark."""
    return 1.4 + n_rows * (0.32 + 0.11 * n_marks if n_rows <= _MAX_ROWS_WITH_LINE_PER_MARK else 0.25)


def _topics(scores: Scores) -> str:
    n = len(scores.query_ids)
    return "1 topic" if n == 1 else f"{n:,} topics"


def _draw(axes: Axes, rows: _Rows, ci_prob: float, *, legend: bool) -> None:
    inches = inches_per_row(axes, len(rows.names))
    is_stacked = inches >= 0.25 + 0.1 * len(rows.marked)  # a line for each mark
    center, above = _offsets(len(rows.marked), is_stacked=is_stacked)
    size = float(np.clip(72 * inches * 0.22, 2.5, 6))
    place = np.arange(len(rows.names)) + center
    table = rows.table
    axes.hlines(place, table["bound_lower"], table["bound_upper"], color=_BOUNDS, lw=1.2, label="bounds")
    for end in ("bound_lower", "bound_upper"):
        axes.plot(table[end], place, "|", color=_BOUNDS, ms=1.3 * size)
    if not np.array_equal(table["as_judged"], table["bound_lower"]):
        axes.plot(
            table["as_judged"], place, "o", mfc="white", mec=AS_JUDGED, ms=0.8 * size, label="as judged"
        )
    if rows.main is not None:
        low, high = table[f"{rows.main}_lower"], table[f"{rows.main}_upper"]
        bar: dict[str, Any] = {"color": POSTERIOR, "alpha": 0.45, "lw": 1.1 * size, "capstyle": "butt"}
        axes.hlines(place, low, high, label=f"{rows.main}, {100 * ci_prob:g} %", **bar)
        axes.plot(table[rows.main], place, "|", color=POSTERIOR, ms=2 * size, mew=2, label="its mean")
    methods = [*([rows.main] if rows.main else []), *rows.marked]
    for k, (name, off) in enumerate(zip(rows.marked, above, strict=True)):
        if table[name].isna().all():
            continue
        color, y = color_of(methods, name), np.arange(len(rows.names)) + off
        if f"{name}_lower" in table:
            axes.hlines(y, table[f"{name}_lower"], table[f"{name}_upper"], color=color, lw=1.2)
        axes.plot(table[name], y, MARKS[k % len(MARKS)], color=color, ms=size, mew=0, label=name)
    if rows.truth is not None:
        axes.plot(rows.truth, place, "x", color="black", ms=1.1 * size, mew=1.4, label="truth", zorder=4)
    row_axis(axes, rows.names)
    axes.grid(axis="x", color="0.92")
    for row in np.arange(len(rows.names) - 1) + 0.5 if rows.marked and is_stacked else ():
        axes.axhline(row, color="0.92", lw=0.8)
    axes.set_axisbelow(True)
    if legend:
        legend_above(axes)


def _offsets(n_marks: int, *, is_stacked: bool) -> tuple[float, list[float]]:
    """Offsets within a row of the interval, and of the marks."""
    if not n_marks:
        return 0.0, []
    if not is_stacked:
        return 0.18, [-0.22] * n_marks
    step = 1 / (n_marks + 2.5)
    return 0.5 - step, [-0.5 + step * (k + 0.75) for k in range(n_marks)]


def _row_grid(names: Sequence[object], height: float) -> tuple[Figure, list[Axes]]:
    """Figure of panels side by side."""
    from matplotlib.figure import Figure

    n_columns = min(len(names), _MAX_GRID_COLUMNS)
    n_rows = -(-len(names) // n_columns)
    width = 7.0 if n_columns == 1 else 4.4 * n_columns
    figure = Figure(figsize=(width, height * n_rows + 0.3), layout="constrained")
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
    for extra in panels[len(names) :]:
        extra.remove()
    return figure, panels[: len(names)]


def _share_legend(figure: Figure, panels: Sequence[Axes]) -> None:
    """Put one legend above all panels, and names of rows only at the left."""
    handles: dict[str, Any] = {}
    for i, panel in enumerate(panels):
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
        if i % _MAX_GRID_COLUMNS:
            panel.tick_params(labelleft=False)
            panel.set_ylabel("")
    width = figure.get_size_inches()[0]
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside upper left",
        ncols=max(2, int(width / 2.2)),
        frameon=False,
        fontsize="small",
        columnspacing=1.2,
    )

"""Plots of scores: bounds, corrections and intervals by run or topic, and distance from the pool."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from bayespool.errors import InputError
from bayespool.names import HIERARCHICAL_FORMS
from bayespool.plots import style
from bayespool.tables.formatting import counted, level, literal
from bayespool.tables.table import extra_interval_scopes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BOUNDS = "0.6"
_MAX_HIGH_ROWS = 36
_FAR = "black"


@dataclass(frozen=True)
class _Rows:
    """Bounds and estimates under a measure, one row per run or topic; ``main`` has the bar."""

    bounds: pd.DataFrame
    estimates: Mapping[str, pd.DataFrame]
    main: str | None

    @classmethod
    def of(cls, frame: pd.DataFrame, key: str, estimator: str | None) -> _Rows:
        """Return rows from a frame of scores under one measure, named after the column ``key``."""
        estimates = {
            str(name): rows.set_index(key, drop=False)
            for name, rows in frame.groupby("estimator", sort=False)
        }
        drawn = [name for name, rows in estimates.items() if rows["ci_prob"].notna().any()]
        drawn.sort(key=lambda name: not name.startswith("posterior"))
        main = style.available_name(estimator, drawn, "draws of") if estimator is not None or drawn else None
        return cls(frame.drop_duplicates(key).set_index(key, drop=False), estimates, main)

    @property
    def names(self) -> list[str]:
        """Run or topic ids of the rows."""
        return list(self.bounds.index)

    def marked(self, corrections: bool | Iterable[str]) -> tuple[str, ...]:
        """Return the names of estimators drawn as marks."""
        others = [name for name in self.estimates if name != self.main]
        if isinstance(corrections, bool):
            beside = [name for name in others if HIERARCHICAL_FORMS.get(name) == self.main]  # next to the bar
            above = [name for name in others if name not in ("as-judged", *beside)]
            return (*above, *beside) if corrections else ()
        names = tuple(corrections)
        if unknown := [name for name in names if name not in others]:
            raise InputError(f"the result has no {unknown[0]!r}", hint=f"it has {', '.join(others)}")
        return names

    def ordered(self, order: Literal["estimate", "given"] | Sequence[str]) -> _Rows:
        """Return the rows sorted from the top by the given names or by estimate."""
        names = self.names
        if order == "estimate":
            rows, column = (
                (self.bounds, "as_judged") if self.main is None else (self.estimates[self.main], "value")
            )
            names = list(rows.sort_values(column, ascending=False, kind="stable").index)
        elif order != "given":
            if unknown := [name for name in order if name not in names]:
                raise InputError(f"the result has no {unknown[0]!r}", hint=f"it has {', '.join(names)}")
            names = list(order)
        estimates = {name: rows.loc[names] for name, rows in self.estimates.items()}
        return _Rows(self.bounds.loc[names], estimates, self.main)


def plot_forest(
    scores: Any,
    measure: object = None,
    *,
    truth: Mapping[str, float] | None = None,
    estimator: str | None = None,
    corrections: bool | Iterable[str] = True,
    order: Literal["estimate", "given"] | Sequence[str] = "estimate",
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Plot bounds, point corrections and posterior intervals for runs, with one row per run.

    Axes too low for all names show every other one or fewer. A correction and the posterior of its
    hierarchical form have one color.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    measure : measure, optional
        Default: the first.
    truth : mapping of str to float, optional
        True values by run, if known.
    estimator : str, optional
        Estimator whose interval is drawn as a bar; default: the first with draws.
    corrections : bool or iterable of str
        Other estimators to draw as marks; a further posterior has a thin line for its interval.
    order : {"estimate", "given"} or sequence of str
        By the estimator's estimate, the best at the top (as judged without an estimator), in the order of the
        scores, or run ids from the top.
    legend : bool
    ax : matplotlib.axes.Axes, optional
        Default: a new figure, five inches wide; twelve runs with corrections are as high as 4.5 inches in a
        column of 3.33.

    Raises
    ------
    InputError
        The scores have no such measure, estimator or run.

    Examples
    --------
    >>> from bayespool import load_example, score
    >>> axes = plot_forest(score(load_example(), measures="P@10", estimators="background"))
    >>> [label.get_text() for label in axes.get_yticklabels()], axes.get_xlabel()
    (['new-a', 'new-b'], 'P@10, mean over 20 topics')
    """
    frame = style.measure_rows(scores.to_frame("scores"), measure)
    rows = _Rows.of(frame, "run_id", estimator).ordered(order)
    axes = _draw(rows, corrections, truth, legend=legend, ax=ax, far=getattr(scores, "far_runs", ()))
    n_topics = len(scores.metadata["query_ids"])
    return style.label_axes(axes, f"{frame['measure'].iloc[0]}, mean over {counted(n_topics, 'topic')}")


def plot_topics(
    scores: Any,
    run_id: str | None = None,
    measure: object = None,
    *,
    truth: Mapping[str, float] | None = None,
    estimator: str | None = None,
    corrections: bool | Iterable[str] = False,
    order: Literal["estimate", "given"] | Sequence[str] = "given",
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Plot bounds and estimates for one run with one row per topic, otherwise as in `plot_forest`.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    run_id : str, optional
        Default: the first run.
    measure, estimator, corrections, order, legend, ax
        As in `plot_forest`; topics are in the order of the collection.
    truth : mapping of str to float, optional
        True values by topic.

    Raises
    ------
    InputError
        The scores have no such measure, estimator, run or topic.
    """
    frame, run = style.rows_with(
        style.measure_rows(scores.to_frame("topics"), measure), "run_id", run_id, "run"
    )
    rows = _Rows.of(frame, "query_id", estimator).ordered(order)
    axes = _draw(rows, corrections, truth, legend=legend, ax=ax)
    return style.label_axes(axes, f"{frame['measure'].iloc[0]} of {literal(run)}", "topic")


def draw_forest(
    scores: Any,
    *,
    truth: Mapping[str, Mapping[str, float]] | None = None,
    corrections: bool | Iterable[str] = True,
) -> Figure:
    """Draw panels of `plot_forest` for all measures side by side, with runs ordered by the first measure.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    truth : mapping of str to mapping of str to float, optional
        True values by measure, then by run.
    corrections : bool or iterable of str
        As in `plot_forest`.
    """
    frame = scores.to_frame("scores")
    names = list(map(str, frame["measure"].unique()))
    rows = [_Rows.of(style.measure_rows(frame, name), "run_id", None) for name in names]
    order = rows[0].ordered("estimate").names
    mark_names = corrections if isinstance(corrections, bool) else list(corrections)
    n_marks = max(len(dataclasses.replace(each, main=None).marked(mark_names)) for each in rows)
    draw = partial(plot_forest, scores, corrections=mark_names, order=order)
    plots = [partial(draw, name, truth=None if truth is None else truth.get(name)) for name in names]
    return _draw_rows(plots, _height(len(order), n_marks > 0))


def draw_topics(scores: Any, measure: object = None) -> Figure:
    """Draw a panel of `plot_topics` for each run under one measure, of the topics with anything unjudged.

    Where nothing is unjudged all topics are drawn. Panels have one range of scores.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    measure : measure, optional
        Default: the first.
    """
    frame = style.measure_rows(scores.to_frame("topics"), measure)
    run_ids = list(frame["run_id"].unique())
    is_open = (frame["bound_upper"] > frame["bound_lower"]).groupby(frame["query_id"], sort=False).any()
    order = list(is_open.index[is_open] if is_open.any() else is_open.index)
    plots = [partial(plot_topics, scores, run, measure, order=order) for run in run_ids]
    figure = _draw_rows(plots, _height(len(order), False), shared="x")
    for run, panel in zip(run_ids, figure.axes, strict=True):
        style.label_axes(panel, frame["measure"].iloc[0], panel.get_ylabel(), run)
    return figure


def plot_distance(
    scores: Any, measure: object = None, *, estimator: str | None = None, ax: Axes | None = None
) -> Axes:
    """Plot each run's distance from the pool and its probability of being a new kind of run.

    A row per run, the farthest at the top, with its probability at the right end. Beyond the line a run is
    called unlike the pool if it is also more likely of a new kind than not and 5 % of its ranks or more are
    unjudged; such runs are black diamonds.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    measure : measure, optional
        Default: the first.
    estimator : str, optional
        A posterior; default: the first one with distances from the pool.
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    InputError
        No estimator of the scores has distances from the pool, as without a pool.
    """
    from bayespool.posterior.distance import FAR, PoolDistance

    rows_with_distance = style.measure_rows(scores.to_frame("scores"), measure)
    rows_with_distance = rows_with_distance[rows_with_distance["distance"].notna()]
    estimator_rows, _ = style.rows_with(rows_with_distance, "estimator", estimator, "distance from the pool")
    run_ids = list(estimator_rows["run_id"])
    distance, new_kind, unjudged = (
        estimator_rows[name].to_numpy(dtype=float) for name in ("distance", "new_kind", "unjudged")
    )
    order = np.argsort(-np.nan_to_num(distance, nan=-1), kind="stable")
    axes = style.axes_or_new(ax, height=1.3 + 0.25 * len(order))
    rows = np.arange(len(order))
    far = PoolDistance(distance, new_kind).is_far(unjudged)[order]
    axes.axvline(FAR, color="0.6", lw=1, ls="--", label=f"distance {FAR:g}")
    axes.hlines(rows, 0, distance[order], color="0.85", lw=1.2, zorder=1)
    for which, mark, color, label in (
        (~far, "o", style.POSTERIOR, "like the pool"),
        (far, "D", _FAR, "unlike the pool: beyond the line, probability over 50 %"),
    ):
        if which.any():
            axes.plot(distance[order][which], rows[which], mark, color=color, ms=5, label=label)
    style.row_axis(axes, [run_ids[i] for i in order])
    axes.set_xlim(0, 1.05 * max(float(np.nanmax(distance)), FAR))
    beside = axes.secondary_yaxis("right")
    size = axes.get_yticklabels()[0].get_fontsize()
    shown = axes.get_yticks().astype(int)
    chances = [f"{round(100 * new_kind[order[i]])} %" for i in shown]
    beside.set_yticks(shown, chances, fontsize=size)
    beside.tick_params(length=0)
    beside.set_ylabel("probability of\na new kind", fontsize="small")
    style.legend_above(axes, n_columns=1)
    return style.label_axes(axes, "distance from the pool\n(standard deviations between its organizations)")


def plot_unjudged(scores: Any, cutoff: int | None = None, *, ax: Axes | None = None) -> Axes:
    """Plot the share of unjudged documents in the top ranks, one row per run and one column per topic.

    Parameters
    ----------
    scores : bayespool.scoring.scores.Scores
    cutoff : int, optional
        Default: that of the first measure.
    ax : matplotlib.axes.Axes, optional

    Raises
    ------
    InputError
        No measure has this cutoff.
    """
    rows, _ = style.rows_with(scores.to_frame("unjudged"), "cutoff", cutoff, "cutoff")
    run_ids, query_ids = rows["run_id"].unique(), rows["query_id"].unique()
    each = 0.16 if len(run_ids) <= _MAX_HIGH_ROWS else 0.09
    axes = style.axes_or_new(ax, height=1.3 + each * len(run_ids))
    shares = rows["unjudged"].to_numpy().reshape(len(run_ids), len(query_ids))
    place: dict[str, Any] = {"location": "top", "shrink": 0.4, "aspect": 30, "anchor": (0, 0)}
    bar = style.heat_map(axes, shares, bar={**place, "ticks": [0, 0.5, 1]})
    style.row_axis(axes, list(run_ids))
    axes.set_xticks([])
    first, last = (style.short_name(str(query_id), 10) for query_id in query_ids[[0, -1]])
    axes.set_xlabel(literal(f"{len(query_ids):,} topics, {first} to {last}"), fontsize="small")
    axes.spines[:].set_visible(False)
    bar.ax.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    bar.ax.tick_params(length=0)
    bar.outline.set_visible(False)
    return axes


def _height(n_rows: int, has_marks: bool) -> float:
    """Return the height in inches of a figure with rows, whose marks have a line of their own."""
    return 1.4 + n_rows * (0.4 if has_marks and n_rows <= _MAX_HIGH_ROWS else 0.25)


def _draw(
    rows: _Rows,
    corrections: bool | Iterable[str],
    truth: Mapping[str, float] | None,
    *,
    legend: bool,
    ax: Axes | None,
    far: Container[str] = (),
) -> Axes:
    names, bounds, mark_names = rows.names, rows.bounds, rows.marked(corrections)
    axes = style.axes_or_new(ax, height=_height(len(names), bool(mark_names)))
    inches = style.inches_per_row(axes, len(names))
    center, above = (0.18, -0.22) if mark_names else (0, 0)
    size = float(np.clip(72 * inches * 0.22, 2.5, 6))
    place = np.arange(len(names)) + center
    wider_rows = rows.estimates[rows.main] if rows.main is not None else bounds
    for scope, words in extra_interval_scopes(wider_rows).items() if rows.main is not None else ():
        wide: dict[str, Any] = {"color": "0.88", "lw": 2.2 * size, "capstyle": "butt", "zorder": 1}
        label = f"{words}, {level(wider_rows['ci_prob'].max())}"
        axes.hlines(place, wider_rows[f"{scope}_lower"], wider_rows[f"{scope}_upper"], label=label, **wide)
    axes.hlines(place, bounds["bound_lower"], bounds["bound_upper"], color=_BOUNDS, lw=1.2, label="bounds")
    for end in ("bound_lower", "bound_upper"):
        axes.plot(bounds[end], place, "|", color=_BOUNDS, ms=1.3 * size)
    look = style.estimator_look("as-judged").marker
    axes.plot(bounds["as_judged"], place, ls="", ms=0.8 * size, label="as judged", **look)
    if rows.main is not None:
        main = rows.estimates[rows.main]
        color = style.estimator_look(rows.main, [rows.main]).color
        bar: dict[str, Any] = {"color": color, "alpha": 0.45, "lw": 1.1 * size, "capstyle": "butt"}
        label = f"{rows.main}, {level(main['ci_prob'].max())}"
        axes.hlines(place, main["lower"], main["upper"], label=label, **bar)
        label = "posterior mean" if rows.main.startswith("posterior") else f"{rows.main} itself"
        axes.plot(main["value"], place, "|", color=color, ms=2 * size, mew=2, label=label)
    for name in mark_names:
        estimates = rows.estimates[name]
        if estimates["value"].isna().all():
            continue
        look = style.estimator_look(name, [rows.main, *mark_names] if rows.main else mark_names).marker
        y = np.arange(len(names)) + above
        if estimates["lower"].notna().any():
            axes.hlines(y, estimates["lower"], estimates["upper"], color=look["color"], lw=1.2)
        axes.plot(estimates["value"], y, ls="", ms=size, label=name, **look)
    if truth is not None:
        true = [truth.get(name, np.nan) for name in names]
        axes.plot(true, place, "x", color="black", ms=1.1 * size, mew=1.4, label="truth", zorder=4)
    style.row_axis(axes, names, far)
    style.grid_behind(axes, "x")
    for row in np.arange(len(names) - 1) + 0.5 if mark_names else ():
        axes.axhline(row, color="0.92", lw=0.8)
    if legend:
        style.legend_above(axes)
    return axes


def _draw_rows(plots: Sequence[Callable[..., Any]], height: float, shared: str = "") -> Figure:
    """Draw panels with row names only at the left."""
    width = 5.0 if len(plots) == 1 else 4.4
    figure = style.draw_panels(plots, width=width, height=height, shared=shared)
    for panel in figure.axes:
        place = panel.get_subplotspec()
        if place is not None and not place.is_first_col():
            panel.tick_params(labelleft=False)
            panel.set_ylabel("")
    return figure

"""Style of all figures: colors, marks, axes of rows and of counts, grids of panels, image files."""

from __future__ import annotations

import io
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from bayespool.corrections import ESTIMATORS
from bayespool.defaults import rcParams
from bayespool.errors import InputError
from bayespool.measures import parse_measure
from bayespool.measures.groups import ALL_TOPICS, MEAN_OF_GROUPS
from bayespool.names import HIERARCHICAL_FORMS
from bayespool.tables.formatting import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE: tuple[str, ...] = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#882255")
"""Color-blind safe colors (Okabe and Ito 2008), with Tol's wine instead of yellow. Yellow is too light for
lines on white. The first one is the posterior's. Where there are more lines than colors, marks and styles of
lines differ.
"""
POSTERIOR: str = PALETTE[0]
"""Color for the first posterior estimator in a figure."""
AS_JUDGED = "0.45"
"""Color for scores as judged, with unjudged documents nonrelevant."""
MARKS = "osD^vXP*<>hpH"
"""Marker symbols for lines and points, indexed by line number."""

ImageFormat = Literal["pdf", "png", "svg"]
"""Image file formats supported in `render`."""

_LABEL_SIZE, _SMALLEST_LABEL = 8.0, 4.5  # points
TYPE_SIZE = 8.0  # points, of all text in a figure at the width of a journal
_LEAST_PANEL_WIDTH, _LEGEND_HEIGHT = 2.6, 0.4  # inches; the height is that of two lines, which figures have
SMALLEST_TEXT = 7.0  # points
_MOST_BELOW = 4  # rows of panels, beyond which panels are narrower
_INCHES_PER_TICK = 0.62  # room for "−0.0025" and a space
_OUTSIDE, _OF_ROW, _FINISHED = "outside", "row", "finished"  # ids of legends, labels of rows, and figures
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Creator": "bayespool"},
    "png": {"Software": "bayespool"},
    "svg": {"Date": None, "Creator": "bayespool"},
}


def axes_or_new(ax: Axes | None, *, width: float = 5, height: float = 4) -> Axes:
    """Return ``ax``, or new axes with the given size in inches if it is None. Their figure is unknown to
    pyplot.
    """
    return figure_grid(1, width=width, height=height)[1][0] if ax is None else ax


def figure_grid(
    n_panels: int,
    *,
    width: float = 3.6,
    height: float = 3.6,
    n_columns: int = 3,
    least_width: float = _LEAST_PANEL_WIDTH,
) -> tuple[Figure, Sequence[Axes]]:
    """Return a new figure (unmanaged by pyplot) and its equally sized axes.

    With the width of figures set (`bayespool.RcParams`), the figure is that wide, and has fewer panels in a
    row where they would be too narrow.

    Parameters
    ----------
    n_panels : int
        At least 1.
    width, height : float
        Of a panel, in inches.
    n_columns : int, default 3
        Panels in a row.
    least_width : float, default 2.6
        Of a panel where the width of figures is set, in inches.
    """
    from matplotlib.figure import Figure

    if n_panels < 1:
        raise InputError("a figure needs a panel")
    if total := rcParams["figure_width"]:
        fitting = max(1, int(total / least_width))
        n_columns = min(n_columns, fitting if n_panels <= _MOST_BELOW * fitting else fitting + 1)
    n_rows = -(-n_panels // n_columns)
    n_columns = -(-n_panels // n_rows)  # four panels are two by two, and no place is empty
    if total:
        own, width = width, total / n_columns
        height *= min(1, width / own) ** (0.5 if width >= _LEAST_PANEL_WIDTH else 0.75)
    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
    for extra in panels[n_panels:]:
        extra.remove()
    for panel in panels[:n_panels]:
        panel.locator_params(axis="x", nbins=int(np.clip((width - 0.9) / _INCHES_PER_TICK, 2, 9)))
    return figure, panels[:n_panels]


def draw_panels(
    plots: Sequence[Callable[..., Any]],
    *,
    width: float = 3.6,
    height: float = 3.6,
    n_columns: int = 3,
    shared: str = "",
) -> Figure:
    """Draw a finished figure with one panel per plot function, which is called with the argument ``ax``.

    Panels have the same limits of the axis ``shared`` ("x" or "y").
    """
    figure, panels = figure_grid(len(plots), width=width, height=height, n_columns=n_columns)
    for plot, panel in zip(plots, panels, strict=True):
        plot(ax=panel)
    if shared:
        low, high = zip(*(getattr(panel, f"get_{shared}lim")() for panel in panels), strict=True)
        for panel in panels:
            panel.set(**{f"{shared}lim": (min(low), max(high))})
    return finish(figure)


def finish(figure: Figure) -> Figure:
    """Return the figure with one legend below its panels, and at the width of a journal one size of type."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    total = rcParams["figure_width"]
    for text in figure.findobj(Text) if total else ():
        text.set_fontsize(min(TYPE_SIZE, text.get_fontsize()) if text.get_gid() == _OF_ROW else TYPE_SIZE)
    if figure.get_gid() == _FINISHED:
        return figure
    figure.set_gid(_FINISHED)
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        if (own_legend := axes.get_legend()) is not None:
            if own_legend.get_gid() != _OUTSIDE:
                continue
            own_legend.remove()
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if not handles:
        return figure
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    options: dict[str, Any] = {"frameon": False, "fontsize": TYPE_SIZE if total else "small"}
    options |= {"columnspacing": 1.0, "handletextpad": 0.5, "handlelength": 1.5, "borderpad": 0.2}
    for n_columns in range(len(handles), 0, -1):
        place = {"loc": "outside lower center", "ncols": n_columns}
        legend = figure.legend(list(handles.values()), list(handles), **place, **options)
        extent = legend.get_window_extent(renderer)
        if n_columns == 1 or extent.width <= 0.98 * figure.bbox.width:
            break
        legend.remove()
    figure.set_figheight(figure.get_figheight() + max(0.0, extent.height / figure.dpi - _LEGEND_HEIGHT))
    return figure


def render(figure: Figure, file_format: ImageFormat) -> bytes:
    """Return the figure, finished, as image file content; equal figures give equal bytes."""
    import matplotlib

    finish(figure)
    if any(axes.get_aspect() != "auto" for axes in figure.axes):
        figure.draw_without_rendering()  # only a second layout makes room for titles of equal axes
    content = io.BytesIO()
    fonts = {"svg.hashsalt": "bayespool", "svg.fonttype": "path", "pdf.fonttype": 42}
    with matplotlib.rc_context(fonts):
        figure.savefig(content, format=file_format, dpi=300, metadata=_METADATA[file_format])
    return content.getvalue()


@dataclass(frozen=True)
class Look:
    """Color and marker symbol for an estimator; a hollow mark is white inside."""

    color: str
    mark: str
    is_hollow: bool = False

    @property
    def marker(self) -> dict[str, Any]:
        """Color, marker and fill as keyword arguments for a matplotlib line."""
        return {
            "color": self.color,
            "marker": self.mark,
            "mfc": "white" if self.is_hollow else self.color,
            "mew": 1.0 if self.is_hollow else 0.0,
        }


_MORE_COLORS = ("#332288", "#999933", "#44AA99", "#661100", "#6699CC", "#AA4499", "#117733", "#DDAA33")
_COLORS_OF_CORRECTIONS = (*PALETTE[1:], *_MORE_COLORS)  # Tol's, after those of the palette
_CORRECTIONS = {
    entry.name: Look(_COLORS_OF_CORRECTIONS[i % len(_COLORS_OF_CORRECTIONS)], MARKS[i % len(MARKS)])
    for i, entry in enumerate(e for e in ESTIMATORS.values() if e.kind == "point" and e.name != "as-judged")
}
LOOKS: Mapping[str, Look] = {
    "as-judged": Look(AS_JUDGED, "o", is_hollow=True),
    **_CORRECTIONS,
    **{
        posterior: replace(_CORRECTIONS[name], is_hollow=True)
        for name, posterior in HIERARCHICAL_FORMS.items()
    },
    "posterior-combined": Look(POSTERIOR, "o"),
    "posterior-rankings": Look(POSTERIOR, "s"),
    "posterior-evidence": Look(POSTERIOR, "^"),
    "posterior-odds-ratio": Look(POSTERIOR, "v"),
    "posterior-ratio": Look(POSTERIOR, "D"),
}
"""Look for each estimator, consistent across figures. The posterior of a correction's hierarchical form has
the correction's, hollow.
"""
_OTHER_MARKS = "D<>ph8H"


def estimator_look(label: str, labels: Sequence[str] = ()) -> Look:
    """Return the look for an estimator. Estimators of your own, and variants, take others by their place
    among such ``labels``.
    """
    if label in LOOKS:
        return LOOKS[label]
    others = [name for name in labels if name not in LOOKS]
    place = others.index(label) if label in others else 0
    return Look(PALETTE[place % len(PALETTE)], _OTHER_MARKS[place % len(_OTHER_MARKS)], is_hollow=True)


def line_style(i: int) -> dict[str, Any]:
    """Return color, marker and line style for line number ``i``."""
    style = ("-", "--", ":")[i // len(PALETTE) % 3]
    mark = MARKS[i % len(MARKS)]
    return {"color": PALETTE[i % len(PALETTE)], "ls": style, "marker": mark, "ms": 3.5, "lw": 1.2}


def legend_beside(axes: Axes) -> None:
    """Place a legend to the right of the axes."""
    legend = axes.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5))
    legend.set_gid(_OUTSIDE)


def legend_above(axes: Axes, *, n_columns: int = 2) -> None:
    """Place a legend above the axes."""
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.3}
    legend = axes.legend(frameon=False, fontsize="small", ncols=n_columns, columnspacing=1.2, **place)
    legend.set_gid(_OUTSIDE)


def label_axes(axes: Axes, x: str, y: str = "", title: object = "") -> Axes:
    """Label both axes, with a title of medium size, and return them."""
    axes.set(xlabel=x, ylabel=y)
    axes.set_title(literal(title), fontsize="medium")
    return axes


def heat_map(axes: Axes, shares: Any, *, bar: Mapping[str, Any], **options: Any) -> Any:
    """Plot shares from 0 to 1 in shades of blue, and return their color bar, with the options ``bar``."""
    shade: dict[str, Any] = {"cmap": "Blues", "vmin": 0, "vmax": 1, "aspect": "auto"}
    image = axes.imshow(shares, interpolation="nearest", **shade, **options)
    color_bar = axes.figure.colorbar(image, ax=axes, **bar)
    color_bar.ax.tick_params(labelsize="small")
    return color_bar


def measure_rows(frame: pd.DataFrame, measure: object = None) -> pd.DataFrame:
    """Return a table's rows for a measure (default: the first), or raise `InputError` if there are none."""
    known = set(frame["measure"])  # of which a table of scores may have other names
    name = str(frame["measure"].iloc[0] if measure is None else measure)
    name = name if name in known else str(parse_measure(measure))
    rows = frame[frame["measure"] == name]
    if rows.empty:
        known_measures = ", ".join(dict.fromkeys(frame["measure"]))
        raise InputError(f"the result has no {name}", hint=f"it has {known_measures}")
    return rows


def available_name(name: str | None, available: Sequence[str], kind: str) -> str:
    """Return ``name`` (default: the first available) or raise `InputError` if it is not available."""
    if not available:
        raise InputError(f"the result has no {kind}")
    if name is not None and name not in available:
        raise InputError(f"the result has no {kind} {name!r}", hint=f"it has {', '.join(available)}")
    return available[0] if name is None else name


def rows_with(rows: pd.DataFrame, column: str, value: object, kind: str) -> tuple[pd.DataFrame, Any]:
    """Return the rows with a given column value (default: the first) and that value. `InputError` without
    any.
    """
    values_by_text = {str(each): each for each in dict.fromkeys(rows[column])}
    row_value = values_by_text[
        available_name(None if value is None else str(value), list(values_by_text), kind)
    ]
    return rows[rows[column] == row_value], row_value


def grid_behind(axes: Axes, axis: Literal["both", "x", "y"] = "both") -> None:
    """Draw grid lines behind all marks."""
    axes.grid(axis=axis, color="0.92")
    axes.set_axisbelow(True)


def pit_bars(pit: Any, measure: object, n_bins: int, color: str, title: str, ax: Axes | None) -> Axes:
    """Plot a histogram of runs' PIT values, with the expected height under calibration."""
    axes = axes_or_new(ax)
    axes.hist(pit, bins=n_bins, range=(0, 1), color=color, alpha=0.6, edgecolor="white")
    axes.axhline(len(pit) / n_bins, color="black", lw=1, ls="--", label="calibrated")
    axes.set_xlim(0, 1)
    axes.locator_params(axis="y", integer=True)
    return label_axes(axes, f"PIT, {measure}", f"runs, of {len(pit)}", title)


def has_systems(comparison: Any) -> bool:
    """Return whether a comparison is of systems, not of runs."""
    return "system_differences" in {table.name for table in comparison.tables()}


def pair_rows(comparison: Any) -> Any:
    """Return the rows of a comparison's pairs of runs, or of systems where these are compared."""
    if not has_systems(comparison):
        return comparison.to_frame("differences")
    frame = comparison.to_frame("system_differences")
    whole = frame["group"] == (MEAN_OF_GROUPS if MEAN_OF_GROUPS in set(frame["group"]) else ALL_TOPICS)
    return frame[whole].rename(columns={"system_a": "run_a", "system_b": "run_b"})


def inches_per_row(axes: Axes, n_rows: int) -> float:
    """Return the height per row in inches."""
    return float(axes.get_window_extent().height / axes.figure.dpi / max(n_rows, 1))


def short_name(name: str, longest: int = 40) -> str:
    """Return a name, truncated if it is long."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def row_axis(axes: Axes, names: Sequence[object], far: Container[str] = ()) -> None:
    """Label rows from the top, with smaller or fewer labels if rows are narrow, and daggers as in tables."""
    n = len(names)
    inches = inches_per_row(axes, n)
    size = float(np.clip(72 * 0.75 * inches, _SMALLEST_LABEL, _LABEL_SIZE))
    step = max(1, int(np.ceil(size * 1.15 / (72 * inches))))
    shown = range(0, n, step)
    labels = [f"{short_name(str(names[i]))}{' †' * (names[i] in far)}" for i in shown]
    axes.set_yticks(list(shown), list(map(literal, labels)), fontsize=size)
    for label in axes.get_yticklabels():
        label.set_gid(_OF_ROW)
    axes.set_ylim(n - 0.5, -0.5)


def count_axis(axes: Axes, counts: Sequence[int], *, base: int = 2) -> None:
    """Set a logarithmic axis with ticks at the given counts, labeled where there is room."""
    from matplotlib.ticker import NullLocator

    counts = sorted(set(counts))
    if len(counts) > 1:
        axes.set_xscale("log", base=base)
    ends = np.log(axes.get_xlim())
    inches = axes.get_window_extent().width / axes.figure.dpi
    room = inches / (ends[1] - ends[0]) if len(counts) > 1 else 0
    texts: list[str] = []
    free = -np.inf
    for n in counts:
        half = (0.6 * 10 * len(f"{n:,}") / 72 + 0.06) / 2
        place = room * np.log(n)
        texts.append(f"{n:,}" if place - half >= free or len(counts) == 1 else "")
        free = place + half if texts[-1] else free
    axes.set_xticks(counts, texts)
    axes.xaxis.set_minor_locator(NullLocator())

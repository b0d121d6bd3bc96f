"""What all figures share: colors, marks, axes of rows and of counts, grids of panels, image files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bayespool.errors import InputError
from bayespool.measures import parse_measure
from bayespool.tables.printable import literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#882255")
"""Colors that can be told apart with any color vision, and from black: those of Okabe and Ito (2008) with
Tol's wine for their yellow, which is too light for lines on white. The first one is the posterior's. Where
there are more lines than colors, marks and styles of lines differ.
"""
POSTERIOR = PALETTE[0]
"""Color of the first posterior of a figure."""
AS_IT_STANDS = "0.45"
"""Color of scores as they stand, in which unjudged documents are nonrelevant."""
MARKS = "osD^vXP*<>hp"
"""Marks of lines and points, by their number."""

ImageFormat = Literal["pdf", "png", "svg"]
IMAGE_FORMATS: tuple[ImageFormat, ...] = get_args(ImageFormat)
"""Image files that `render` makes."""

_N_COLUMNS = 3
_LABEL_SIZE, _SMALLEST_LABEL = 8.0, 4.5  # points
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
    "svg": {"Date": None},
}


def axes_of(ax: Axes | None, *, width: float = 5, height: float = 4) -> Axes:
    """The axes that are given, or those of a new figure of that size in inches."""
    return figure_grid(1, width=width, height=height)[1][0] if ax is None else ax


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


def render(figure: Figure, file_format: ImageFormat) -> bytes:
    """The figure as an image file's content; figures drawn alike give the same bytes."""
    import matplotlib

    if any(axes.get_aspect() != "auto" for axes in figure.axes):
        figure.draw_without_rendering()  # the layout makes room for titles of equal axes at its second pass
    content = io.BytesIO()
    fonts = {"svg.hashsalt": "bayespool", "svg.fonttype": "path", "pdf.fonttype": 42}
    with matplotlib.rc_context(fonts):
        figure.savefig(content, format=file_format, dpi=120, metadata=_METADATA[file_format])
    return content.getvalue()


def color_of(labels: Sequence[str], label: str, posteriors: Sequence[str] | None = None) -> str:
    """Color of one of several estimators: gray as it stands, blue for the first posterior, and so on.

    ``posteriors`` are those of the labels that are posteriors', by default those with such a name.
    """
    if posteriors is None:
        posteriors = [name for name in labels if name.startswith("posterior")]
    if label == "lower-bound":
        return AS_IT_STANDS
    if label in posteriors[:1]:
        return POSTERIOR
    others = [name for name in labels if name != "lower-bound" and name not in posteriors[:1]]
    return PALETTE[1:][others.index(label) % (len(PALETTE) - 1)]


def line_of(i: int) -> dict[str, Any]:
    """Color, mark and style of the line with this number."""
    style = ("-", "--", ":")[i // len(PALETTE) % 3]
    mark = MARKS[i % len(MARKS)]
    return {"color": PALETTE[i % len(PALETTE)], "ls": style, "marker": mark, "ms": 3.5, "lw": 1.2}


def legend_beside(axes: Axes, **how: Any) -> None:
    """A legend to the right of the axes."""
    how = {"fontsize": "small", "loc": "center left", "bbox_to_anchor": (1.01, 0.5)} | how
    axes.legend(frameon=False, **how)


def legend_above(axes: Axes, *, n_columns: int = 3) -> None:
    """A legend above the axes, which is where a tall figure begins."""
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.3}
    axes.legend(frameon=False, fontsize="small", ncols=n_columns, columnspacing=1.2, **place)


def of_measure(frame: pd.DataFrame, measure: object) -> pd.DataFrame:
    """Rows of a table that are of a measure.

    Raises
    ------
    InputError
        There are none.
    """
    name = str(parse_measure(measure))
    rows = frame[frame["measure"] == name]
    if rows.empty:
        known = ", ".join(dict.fromkeys(frame["measure"]))
        raise InputError(f"the result has no {name}", hint=f"it has {known}")
    return rows


def choose(asked: str | None, known: Sequence[str], what: str) -> str:
    """What is asked for out of what there is; the first where nothing is asked for.

    Raises
    ------
    InputError
        The result has no such thing, or none at all.
    """
    if not known:
        raise InputError(f"the result has no {what}")
    if asked is not None and asked not in known:
        raise InputError(f"the result has no {what} {asked!r}", hint=f"it has {', '.join(known)}")
    return known[0] if asked is None else asked


def sole(measures: Sequence[object], measure: object | None) -> str:
    """Text of a measure that is asked for, or of the first one of a result."""
    return str(measures[0] if measure is None else parse_measure(measure))


def inches_per_row(axes: Axes, n_rows: int) -> float:
    """How much of the height of axes, in inches, each of a number of rows has."""
    return float(axes.get_window_extent().height / axes.figure.dpi / max(n_rows, 1))


def row_axis(axes: Axes, names: Sequence[object]) -> None:
    """A row per name, the first at the top; smaller names where rows are narrow, and where these would not be
    readable, only every other one or fewer.
    """
    n = len(names)
    inches = inches_per_row(axes, n)
    size = float(np.clip(72 * 0.75 * inches, _SMALLEST_LABEL, _LABEL_SIZE))
    step = max(1, int(np.ceil(size * 1.15 / (72 * inches))))
    shown = range(0, n, step)
    axes.set_yticks(list(shown), [literal(names[i]) for i in shown], fontsize=size)
    axes.set_ylim(n - 0.5, -0.5)


def count_axis(axes: Axes, counts: Sequence[int], *, base: int = 2) -> None:
    """A logarithmic axis of counts with ticks at the counts themselves; those are labeled that have room."""
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

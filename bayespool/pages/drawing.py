"""Figures as SVG that stands in a page: in the page's colors, without styles, links or texts of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from bayespool.plots import figure_grid, render
from bayespool.printable import literal

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Drawing

__all__ = ["COLORS", "Styles", "draw_forest", "page_svg"]

# What a figure draws in, and what that is called in a page, whose style sheet has two colors for each.
COLORS = {
    "#000000": "ink",
    "#ffffff": "paper",
    "#0072b2": "blue",
    "#e69f00": "orange",
    "#009e73": "green",
    "#d55e00": "red",
    "#56b4e9": "sky",
    "#cc79a7": "pink",
    "#1f77b4": "blue",
    "#ff7f0e": "orange",
    "#2ca02c": "green",
    "#d62728": "red",
    "#cccccc": "line",
    "#999999": "gray",
    "#737373": "gray",
    "#808080": "gray",
}
_SHAPES = {
    "svg",
    "g",
    "defs",
    "clipPath",
    "use",
    "path",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
}
_SHAPES |= {"image"}
_KEPT = {"viewBox", "d", "x", "y", "width", "height", "transform", "points", "cx", "cy", "r", "rx", "ry"}
_KEPT |= {"x1", "x2", "y1", "y2", "preserveAspectRatio"}
_FEW = 12  # runs that have a line for each correction
_PER_FIGURE = 36  # runs on a printed page
_MARKS = "sD^vX<>hpPd8"


class Styles:
    """Style sheet of all figures of a page: a class for each style that occurs.

    A page whose elements have no styles of their own needs no permission for any
    (``style-src 'unsafe-inline'``).
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._n_figures = 0

    def name_of(self, style: str) -> str:
        """Class of a style, in the colors of the page."""
        themed = re.sub("#[0-9a-f]{6}", lambda color: _color(color[0]), style.lower())
        return self._names.setdefault(themed, f"s{len(self._names)}")

    def next_prefix(self) -> str:
        """What the ids of the next figure begin with."""
        self._n_figures += 1
        return f"f{self._n_figures}-"

    def sheet(self) -> str:
        """Text of the style sheet."""
        return "\n".join(f".{name} {{{style}}}" for style, name in self._names.items())


def _color(color: str) -> str:
    return f"var(--{COLORS[color]})" if color in COLORS else color


def page_svg(svg: bytes, styles: Styles) -> str:
    """An SVG file of matplotlib's as an element of a page.

    Nothing is kept but shapes: no script, no link, no style, no address outside of the element. Names of runs
    are shapes, too, since matplotlib draws text as paths.

    Parameters
    ----------
    svg : bytes
    styles : Styles
        Gets the styles of this one.
    """
    root = ElementTree.fromstring(svg)
    prefix = styles.next_prefix()
    _clean(root, prefix, styles)
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    return ElementTree.tostring(root, encoding="unicode")


def _clean(element: ElementTree.Element, prefix: str, styles: Styles) -> None:
    element.tag = _local(element.tag)
    attributes, element.text = dict(element.attrib), None
    element.attrib.clear()
    for qualified, value in attributes.items():
        name = _local(qualified)
        if name == "style":
            element.set("class", styles.name_of(value))
        elif name == "id":
            element.set("id", prefix + value)
        elif name == "href" and value.startswith("#"):
            element.set("href", f"#{prefix}{value[1:]}")
        elif name == "href" and value.startswith("data:image/png;base64,"):
            element.set("href", value)
        elif name == "clip-path" and value.startswith("url(#"):
            element.set(name, f"url(#{prefix}{value[5:]}")
        elif name in _KEPT:
            element.set(name, value)
    for child in list(element):
        if _local(str(child.tag)) not in _SHAPES:
            element.remove(child)
        else:
            child.tail = None
            _clean(child, prefix, styles)


def _local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]


# --- Stand-in for bayespool.plots: the forest of a table of scores ---------------------------------------
# PLUG IN HERE: `bayespool.plots.plot_forest` draws what `draw_forest` draws, once it takes scores that were
# read back (`StoredScores`) and a part of the runs.


def draw_forest(
    rows: pd.DataFrame, method: str | None, others: Sequence[str], labels: Mapping[str, str], styles: Styles
) -> list[tuple[str, str]]:
    """A row per run: its bounds, point corrections as marks, and the posterior with its interval.

    Parameters
    ----------
    rows : pandas.DataFrame
        Of `bayespool.Scores.frame`, of one measure, in the order from the top.
    method : str or None
        The one whose interval is drawn.
    others : sequence of str
        Methods drawn as marks, of few runs only.
    labels : mapping of str to str
        What methods are called.
    styles : Styles

    Returns
    -------
    list of (str, str)
        For a page and for a phone, of no more than 36 runs each, so that none is cut by the end of a printed
        page.
    """
    low, high = float(rows["bound_lower"].min()), float(rows["bound_upper"].max())
    room = 0.04 * (high - low or 1)
    limits = (low - room, high + room)
    n_parts = -(-len(rows) // _PER_FIGURE)
    parts = np.array_split(np.arange(len(rows)), n_parts)
    few = list(others) if len(rows) <= _FEW else []
    return [
        (
            page_svg(render(_forest(rows.iloc[part], method, few, labels, limits, 7.2), "svg"), styles),
            page_svg(render(_forest(rows.iloc[part], method, few, labels, limits, 3.6), "svg"), styles),
        )
        for part in parts
    ]


def _forest(
    rows: pd.DataFrame,
    method: str | None,
    others: Sequence[str],
    labels: Mapping[str, str],
    limits: tuple[float, float],
    width: float,
) -> Drawing:
    each = 0.26 if not others else 0.34 + 0.06 * len(others)
    n_columns = 3 if width > 5 else 1 if max(map(len, labels.values()), default=0) > 24 else 2
    n_keys = 3 + len(others)
    keys = 0.2 * -(-n_keys // n_columns)
    figure, (axes,) = figure_grid(1, width=width, height=each * len(rows) + 0.6 + keys)
    figure.set_facecolor("none")
    axes.set_facecolor("none")
    places = np.arange(len(rows))[::-1].astype(float)
    axes.hlines(places, rows["bound_lower"], rows["bound_upper"], color="#999999", lw=1.2, label="bounds")
    axes.plot(rows["as_judged"], places, "|", color="#000000", ms=9, mew=1.6, label="as judged")
    if method is not None:
        ends = (rows[f"{method}_lower"], rows[f"{method}_upper"])
        axes.hlines(places, *ends, color="#0072b2", lw=5, alpha=0.45, label="interval")
        axes.plot(rows[method], places, "o", color="#0072b2", ms=5.5, mew=0, label=labels[method])
    colors = ("#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9")
    for i, name in enumerate(others):
        below = places - 0.18 - 0.28 * (i + 1) / (len(others) + 1)
        mark: dict[str, Any] = {"color": colors[i % len(colors)], "marker": _MARKS[i % len(_MARKS)]}
        axes.plot(rows[name], below, ls="none", ms=4.2, mew=0.8, label=labels[name], **mark)
    longest = 40 if width > 5 else 16
    names = [literal(run if len(run) <= longest else run[: longest - 1] + "…") for run in rows["run_id"]]
    axes.set_yticks(places, names, fontsize=9)
    axes.set(xlim=limits, ylim=(-0.75, len(rows) - 0.4))
    axes.tick_params(axis="x", labelsize=8.5)
    axes.locator_params(axis="x", nbins=9 if width > 5 else 4)
    axes.grid(axis="x", color="#cccccc", lw=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.legend(
        fontsize=8, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=n_columns, borderaxespad=0.2
    )
    return figure

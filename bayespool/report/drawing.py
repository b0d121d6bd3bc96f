"""Figures as inline SVG in the colors of the page, without styles, links or texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree  # nosec B405 # parses only output of matplotlib

import numpy as np

from bayespool.plots import figure_grid, plot_forest, render
from bayespool.tables.printable import literal

if TYPE_CHECKING:
    import pandas as pd

# Colors of figures and their names in the style sheet, which has a light and a dark color of each.
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
    "#882255": "wine",
    "#ebebeb": "line",
    "#999999": "gray",
    "#737373": "gray",
    "#808080": "gray",
}
_KEPT_ELEMENTS = {
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
_KEPT_ELEMENTS |= {"image"}
_ATTRIBUTES = {
    "viewBox",
    "d",
    "x",
    "y",
    "width",
    "height",
    "transform",
    "points",
    "cx",
    "cy",
    "r",
    "rx",
    "ry",
}
_ATTRIBUTES |= {"x1", "x2", "y1", "y2", "preserveAspectRatio"}
_MAX_RUNS_WITH_MARKS = 12
_MAX_RUNS_PER_FIGURE = 36  # that fit on a printed page
_PAGE_WIDTH, _PHONE_WIDTH = 7.2, 3.6  # inches


class Styles:
    """Style sheet of all figures of a page, so that no element needs ``style-src 'unsafe-inline'``."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._n_figures = 0

    def name_of(self, style: str) -> str:
        """Class of a style, in the colors of the page."""
        themed = re.sub("#[0-9a-f]{6}", lambda color: _color(color[0]), style.lower())
        return self._names.setdefault(themed, f"s{len(self._names)}")

    def next_prefix(self) -> str:
        """Prefix of the ids in the next figure."""
        self._n_figures += 1
        return f"f{self._n_figures}-"

    def sheet(self) -> str:
        """Text of the style sheet."""
        return "\n".join(f".{name} {{{style}}}" for style, name in self._names.items())


def _color(color: str) -> str:
    return f"var(--{COLORS[color]})" if color in COLORS else color


def page_svg(svg: bytes, styles: Styles) -> str:
    """An SVG file of matplotlib as an element of a page: shapes without script, link, style or address."""
    root = ElementTree.fromstring(svg)  # nosec B314 # of matplotlib, which draws names as paths
    prefix = styles.next_prefix()
    _clean(root, prefix, styles)
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    return ElementTree.tostring(root, encoding="unicode")


def _clean(element: ElementTree.Element, prefix: str, styles: Styles) -> None:
    element.tag = _local_name(element.tag)
    attributes, element.text = dict(element.attrib), None
    element.attrib.clear()
    for qualified, value in attributes.items():
        name = _local_name(qualified)
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
        elif name in _ATTRIBUTES:
            element.set(name, value)
    for child in list(element):
        if _local_name(str(child.tag)) not in _KEPT_ELEMENTS:
            element.remove(child)
        else:
            child.tail = None
            _clean(child, prefix, styles)


def _local_name(name: str) -> str:
    """Name without its namespace."""
    return name.rpartition("}")[2]


def draw_forest(
    rows: pd.DataFrame, method: str | None, others: Sequence[str], styles: Styles
) -> list[tuple[str, str]]:
    """Forest plots of at most 36 runs each, first row on top, as SVG for a page and for a phone."""
    low, high = float(rows["bound_lower"].min()), float(rows["bound_upper"].max())
    room = 0.04 * (high - low or 1)
    limits = (low - room, high + room)
    parts = np.array_split(np.arange(len(rows)), -(-len(rows) // _MAX_RUNS_PER_FIGURE))
    marked = list(others) if len(rows) <= _MAX_RUNS_WITH_MARKS else []
    drawn = []
    for part in parts:
        of_part = rows.iloc[part]
        svgs = (
            render(_forest(of_part, method, marked, limits, width), "svg")
            for width in (_PAGE_WIDTH, _PHONE_WIDTH)
        )
        wide, narrow = (page_svg(svg, styles) for svg in svgs)
        drawn.append((wide, narrow))
    return drawn


def _forest(
    rows: pd.DataFrame,
    method: str | None,
    others: Sequence[str],
    limits: tuple[float, float],
    width: float,
) -> Any:
    """Figure of `bayespool.plots.plot_forest` with short names and its legend above, ``width`` in inches."""
    n_columns = 3 if width == _PAGE_WIDTH else 1
    keys = 0.2 * -(-(4 + len(others)) // n_columns)
    each = 0.24 if not others else 0.32 + 0.11 * len(others)
    figure, (axes,) = figure_grid(1, width=width, height=each * len(rows) + 0.6 + keys)
    plot_forest(_as_scores(rows, method, others), corrections=others, order="given", legend=False, ax=axes)
    figure.set_facecolor("none")
    axes.set_facecolor("none")
    longest = 40 if width == _PAGE_WIDTH else 16
    names = [run if len(run) <= longest else f"{run[: longest - 1]}…" for run in rows["run_id"]]
    axes.set_yticks(np.arange(len(names)), [literal(name) for name in names])
    axes.set(xlim=limits, xlabel="")
    axes.tick_params(axis="x", labelsize=8.5)
    axes.locator_params(axis="x", nbins=9 if width == _PAGE_WIDTH else 4)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.legend(
        fontsize=8, frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=n_columns, borderaxespad=0.2
    )
    return figure


def _as_scores(rows: pd.DataFrame, method: str | None, others: Sequence[str]) -> Any:
    """Rows with the attributes of scores that `bayespool.plots.plot_forest` reads."""
    measure = str(rows["measure"].iloc[0])
    drawn = [] if method is None else [SimpleNamespace(method=method, measure=measure, draws=True)]
    points = [SimpleNamespace(method=name, measure=measure, draws=None) for name in others]
    return SimpleNamespace(
        frame=lambda: rows,
        to_frame=lambda: rows,
        measures=(measure,),
        estimates=(*drawn, *points),
        ci_prob=float(rows["ci_prob"].iloc[0]),
        query_ids=(),
    )

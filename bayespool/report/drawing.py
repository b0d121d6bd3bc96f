"""Figures as inline SVG in the colors of the page, without styles, links or texts."""

from __future__ import annotations

import re
from xml.etree import ElementTree  # nosec B405 # parses only output of matplotlib

# Names in the style sheet, which has a light and a dark color of each, and the colors of figures.
_NAMES = {
    "ink": "#000000",
    "paper": "#ffffff",
    "blue": "#0072b2 #1f77b4",
    "orange": "#e69f00 #ff7f0e",
    "green": "#009e73 #2ca02c",
    "red": "#d55e00 #d62728",
    "sky": "#56b4e9",
    "pink": "#cc79a7",
    "wine": "#882255",
    "gray": "#737373 #808080 #999999 #bfbfbf",
    "line": "#cccccc #d9d9d9 #e0e0e0 #e6e6e6 #ebebeb #f0f0f0",
}
COLORS = {color: name for name, colors in _NAMES.items() for color in colors.split()}
# fmt: off
_KEPT_ELEMENTS = {"svg", "g", "defs", "clipPath", "use", "path", "rect", "circle", "ellipse", "line",
                  "polyline", "polygon", "image"}
_KEPT_ATTRIBUTES = {"viewBox", "d", "x", "y", "width", "height", "transform", "points", "cx", "cy", "r", "rx",
                    "ry", "x1", "x2", "y1", "y2", "preserveAspectRatio"}
# fmt: on


class Styles:
    """Style sheet of all figures of a page, so that no element needs ``style-src 'unsafe-inline'``."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._n_figures = 0

    def name_of(self, style: str) -> str:
        """Class of a style, in the colors of the page."""
        themed = re.sub("#[0-9a-f]{6}", _themed, style.lower())
        return self._names.setdefault(themed, f"s{len(self._names)}")

    def next_prefix(self) -> str:
        """Prefix of the ids in the next figure."""
        self._n_figures += 1
        return f"f{self._n_figures}-"

    def sheet(self) -> str:
        """Text of the style sheet."""
        return "\n".join(f".{name} {{{style}}}" for style, name in self._names.items())


def _themed(color: re.Match[str]) -> str:
    return f"var(--{COLORS[color[0]]})" if color[0] in COLORS else color[0]


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
        elif name in _KEPT_ATTRIBUTES:
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

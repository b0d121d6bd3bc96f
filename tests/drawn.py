"""What stands in a figure: texts and their places, points, ends of lines."""

from __future__ import annotations

from itertools import combinations
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.text import Text


def shown_texts(figure: Any) -> list[Text]:
    """Texts that are drawn, each once, in a figure that is laid out."""
    drawn: dict[int, Text] = {}

    def note(text: Text, *_: object, **__: object) -> None:
        if text.get_visible() and text.get_text().strip():
            drawn[id(text)] = text

    figure.draw_without_rendering()
    with mock.patch.object(Text, "draw", note):
        figure.draw_without_rendering()
    return list(drawn.values())


def overlapping(figure: Any) -> list[tuple[str, str]]:
    """Pairs of texts that run into one another."""
    boxes = [(t.get_text(), t.get_window_extent()) for t in shown_texts(figure)]
    return [(a, b) for (a, x), (b, y) in combinations(boxes, 2) if x.overlaps(y)]


def cut_off(figure: Any) -> list[str]:
    """Texts that are not whole within the figure."""
    whole = figure.bbox
    boxes = [(t.get_text(), t.get_window_extent()) for t in shown_texts(figure)]
    return [
        text
        for text, box in boxes
        if box.x0 < whole.x0 - 1 or box.y0 < whole.y0 - 1 or box.x1 > whole.x1 + 1 or box.y1 > whole.y1 + 1
    ]


def line(axes: Axes, label: str) -> npt.NDArray[np.float64]:
    """Points of the line with a label, shape (point, 2)."""
    (found,) = [one for one in axes.get_lines() if one.get_label() == label]
    return np.asarray(found.get_xydata())


def segments(axes: Axes, label: str) -> npt.NDArray[np.float64]:
    """Ends of the lines of a collection with a label, shape (line, end, 2)."""
    (found,) = [one for one in axes.collections if one.get_label() == label]
    return np.array(found.get_segments())  # type: ignore[attr-defined]


def row_names(axes: Axes) -> list[str]:
    """Names at the left, from the top."""
    return [label.get_text() for label in axes.get_yticklabels()]


def contents(figure: Any) -> list[tuple[Any, ...]]:
    """What stands in each panel of a figure that nobody has drawn: labels, texts, points, ends of lines."""
    return [
        (
            (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()),
            [text.get_text() for text in axes.texts],
            [(one.get_label(), np.asarray(one.get_xydata()).tobytes()) for one in axes.get_lines()],
            [[path.vertices.tobytes() for path in one.get_paths()] for one in axes.collections],
            [np.ma.getdata(one.get_offsets()).tobytes() for one in axes.collections],
        )
        for axes in figure.axes
    ]

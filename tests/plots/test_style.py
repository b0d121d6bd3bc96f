"""Colors that can be told apart, axes of rows and counts that stay readable, image files."""

from __future__ import annotations

import dataclasses
from itertools import combinations
from typing import get_args

import numpy as np
import numpy.typing as npt
import pytest
from drawn import cut_off, overlapping
from matplotlib.colors import to_rgb

from bayespool.errors import InputError
from bayespool.names import HIERARCHICAL_FORMS
from bayespool.plots import PALETTE, ImageFormat, figure_grid, render
from bayespool.plots.style import (
    LOOKS,
    available_name,
    count_axis,
    estimator_look,
    inches_per_row,
    line_style,
    row_axis,
)
from bayespool.scoring.estimators import ESTIMATORS

# Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB
SEEN = {
    "all": np.eye(3),
    "no red": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.052]],
    "no green": [[0.3673, 0.8606, -0.228], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "no blue": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}
IMAGES = list(zip(get_args(ImageFormat), (b"%PDF", b"\x89PNG", b"<?xml"), strict=True))
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE = np.array([0.9505, 1.0, 1.089])


def lab(color: str, seen: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """CIELAB of a color as somebody sees it."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array(TO_XYZ) @ np.clip(np.array(seen) @ linear, 0, 1) / WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a: str, b: str, seen: npt.ArrayLike) -> float:
    return float(np.linalg.norm(lab(a, seen) - lab(b, seen)))


def test_colors_can_be_told_apart_with_any_color_vision() -> None:
    """In units of CIELAB, of which two can just be seen."""
    for who, seen in SEEN.items():
        assert min(distance(a, b, seen) for a, b in combinations((*PALETTE, "black"), 2)) > 15, who
        assert min(distance(color, "white", seen) for color in PALETTE) > 30, who
    usual = [f"C{i}" for i in range(7)]  # matplotlib's own
    assert min(distance(a, b, SEEN["no green"]) for a, b in combinations(usual, 2)) < 15


def test_every_estimator_has_a_look_of_its_own() -> None:
    assert set(LOOKS) <= set(ESTIMATORS)
    of_package = {dataclasses.astuple(estimator_look(name, tuple(ESTIMATORS))) for name in ESTIMATORS}
    assert len(of_package) == len(ESTIMATORS)
    own = [
        estimator_look(name, ("background", "mine", "smoothed(e=0.1)", "yours")) for name in ("mine", "yours")
    ]
    looks = [*LOOKS.values(), *own]
    assert len({(look.color, look.mark, look.is_hollow) for look in looks}) == len(looks)
    for correction, posterior in HIERARCHICAL_FORMS.items():
        assert LOOKS[posterior] == dataclasses.replace(LOOKS[correction], is_hollow=True)
    assert LOOKS["posterior-combined"].color == PALETTE[0]
    lines = [tuple(line_style(i)[name] for name in ("color", "ls", "marker")) for i in range(30)]
    assert len(set(lines)) == 30, "lines of what is no estimator"


@pytest.mark.slow
def test_names_of_rows_shrink_and_then_are_left_out() -> None:
    names = [f"run-{i}" for i in range(60)]
    for n_rows, height, shown in ((5, 3.0, 5), (60, 6.0, 60), (60, 3.0, 30)):
        figure, (axes,) = figure_grid(1, width=4, height=height)
        row_axis(axes, names[:n_rows])
        texts = [label.get_text() for label in axes.get_yticklabels()]
        assert texts == names[: n_rows : n_rows // shown]
        assert not overlapping(figure)
        assert not cut_off(figure)
    height = axes.get_window_extent().height / figure.dpi
    assert inches_per_row(axes, 60) == pytest.approx(height / 60)


def test_ticks_at_counts_that_would_collide_have_no_label() -> None:
    figure, (axes,) = figure_grid(1, width=3, height=2)
    counts = (1, 2, 4, 8, 16, 17, 18, 19, 20)
    axes.plot(counts, counts)
    count_axis(axes, counts)
    assert axes.get_xticks().tolist() == list(counts)
    texts = [label.get_text() for label in axes.get_xticklabels()]
    assert texts[:5] == ["1", "2", "4", "8", "16"]
    assert texts[5] == ""
    assert not overlapping(figure)
    figure, (axes,) = figure_grid(1)
    axes.plot([5], [1])
    count_axis(axes, (5,))
    assert axes.get_xscale() == "linear"
    assert axes.get_xticklabels()[0].get_text() == "5"


def test_what_a_result_lacks() -> None:
    assert available_name(None, ["a", "b"], "run") == "a"
    assert available_name("b", ["a", "b"], "run") == "b"
    with pytest.raises(InputError, match="the result has no run 'c'; it has a, b"):
        available_name("c", ["a", "b"], "run")
    with pytest.raises(InputError, match="the result has no run"):
        available_name(None, [], "run")
    with pytest.raises(InputError, match="a figure needs a panel"):
        figure_grid(0)


def test_the_same_figure_gives_the_same_bytes() -> None:
    for file_format, start in IMAGES:
        images = []
        for _ in range(2):
            figure, panels = figure_grid(2)
            panels[0].plot([1, 2], [3, 4])
            images.append(render(figure, file_format))
        assert images[0] == images[1], file_format
        assert images[0].startswith(start)


def test_a_name_is_no_formula() -> None:
    figure, (axes,) = figure_grid(1)
    row_axis(axes, [r"$\frac$", "b\x1b[31m"])
    assert [label.get_text() for label in axes.get_yticklabels()] == [r"\$\frac\$", r"b\x1b[31m"]
    figure.draw_without_rendering()

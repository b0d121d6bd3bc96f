"""Figures as files: refused before work is done, drawn only where asked for, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from bayespool.errors import OutputError
from bayespool.plots import figure_grid
from bayespool.report.saving import check_figures, write_figures


def test_a_figure_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.svg").mkdir()
    for name, said in (
        ("a.gif", r"cannot draw \.gif"),
        ("a", "without ending"),
        ("no/a.png", "there is no folder"),
        ("b.svg", "is a folder"),
    ):
        with pytest.raises(OutputError, match=said):
            check_figures([tmp_path / name])
    check_figures([tmp_path / "a.pdf"])


def test_a_drawing_for_each_file(tmp_path: Path) -> None:
    drawn = []

    def draw() -> object:
        drawn.append(1)
        return figure_grid(1)[0]

    write_figures([], draw)
    write_figures([tmp_path / "a.png", tmp_path / "a.pdf"], draw)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(OutputError, match=r"cannot draw \.gif"):
        write_figures([tmp_path / "b.png", tmp_path / "b.gif"], draw)
    assert drawn == [1, 1]
    assert not (tmp_path / "b.png").exists()


def test_a_figure_that_cannot_be_drawn_leaves_what_stood_there(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text("mine")

    def draw() -> object:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_figures([tmp_path / "a.svg"], draw)
    assert (tmp_path / "a.svg").read_text() == "mine"

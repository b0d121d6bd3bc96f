"""Figures of results as image files, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

from bayespool.errors import OutputError
from bayespool.plots.style import IMAGE_FORMATS, ImageFormat, render
from bayespool.report.files import check_place
from bayespool.tables.files import atomic_write


def check_figure(path: Path) -> None:
    """Raise before any work is done for a figure that could not be written after it.

    Raises
    ------
    OutputError
        Unknown format, a folder, or no folder to write into.
    """
    if path.suffix[1:] not in IMAGE_FORMATS:
        known = ", ".join(f".{name}" for name in IMAGE_FORMATS)
        raise OutputError(f"{path}: cannot draw {path.suffix or 'a file without ending'}; use {known}")
    check_place(path)


def check_figures(paths: Iterable[Path] | None) -> None:
    """`check_figure` of each, if there are any."""
    for path in paths or ():
        check_figure(path)


def write_figures(paths: Iterable[Path], draw: Callable[[], Any]) -> None:
    """Draw a figure into each of some files, in the format of its ending; anew for each, so that no file's
    bytes depend on the others.

    Parameters
    ----------
    paths : iterable of Path
        Ending in .pdf, .png or .svg.
    draw : callable
        Makes the figure, of matplotlib.

    Raises
    ------
    OutputError
        A file cannot be written; what stood there is untouched.
    """
    files = list(paths)
    check_figures(files)
    for path in files:
        atomic_write(path, render(draw(), cast(ImageFormat, path.suffix[1:])))

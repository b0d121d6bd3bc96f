"""Figures of results as image files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

from bayespool.errors import OutputError
from bayespool.plots.style import IMAGE_FORMATS, ImageFormat, render
from bayespool.report.files import check_place
from bayespool.tables.files import atomic_write


def check_figure(path: Path) -> None:
    """Raise for a figure that cannot be written, because of its ending or its folder."""
    if path.suffix[1:] not in IMAGE_FORMATS:
        known = ", ".join(f".{name}" for name in IMAGE_FORMATS)
        raise OutputError(f"{path}: cannot draw {path.suffix or 'a file without ending'}; use {known}")
    check_place(path)


def check_figures(paths: Iterable[Path] | None) -> None:
    """Raise for figures that cannot be written."""
    for path in paths or ():
        check_figure(path)


def write_figures(paths: Iterable[Path], draw: Callable[[], Any]) -> None:
    """Draw a figure once for each file, in its format, so that no file's bytes depend on another."""
    files = list(paths)
    check_figures(files)
    for path in files:
        atomic_write(path, render(draw(), cast(ImageFormat, path.suffix[1:])))

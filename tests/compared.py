"""Runs of the example compared, and what is printed of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache

from rich.console import Console

from bayespool.comparisons import Comparison, compare
from bayespool.experiments import load_example

NEW = ("new-a", "new-b")


@cache
def compared(*runs: str) -> Comparison:
    return compare(
        load_example(),
        runs or NEW,
        estimators=["posterior-ratio"],
        tests=("paired-t", "tukey-hsd"),
        posterior_settings="draws=50",
    )


def printed(show: Callable[[Console], None], *, width: int = 80) -> str:
    file = io.StringIO()
    show(Console(file=file, width=width, color_system=None, legacy_windows=False))
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())

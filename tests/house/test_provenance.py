"""Figures of pages say which command and commit made them, and none is older than its engine."""

from __future__ import annotations

import itertools
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROVENANCE = runpy.run_path(str(ROOT / "docs" / "provenance.py"))
PAGES = sorted((ROOT / "docs").glob("*.md"))
DRAWN = {"hold-out", "model", "late-runs", "differences", "labels"}
"""Pictures without results of experiments: drawings, and the example."""


def is_number(cell: str) -> bool:
    """Whether a cell has a digit and no word of three letters: ``.055``, ``.0379, 100 %``, ``P@10``."""
    return re.search(r"\d", cell) is not None and re.search(r"[A-Za-z]{3}", cell) is None


def measured(page: str) -> Iterator[tuple[str, str]]:
    """The line above, and the first one, of each table with more numbers than words."""
    page = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    lines = ["", "", *page.splitlines(), ""]
    for n, line in enumerate(lines):
        if line.startswith("|") and not lines[n - 1].startswith("|"):
            end = next(m for m in range(n, len(lines)) if not lines[m].startswith("|"))
            cells = [cell.strip() for row in lines[n + 2 : end] for cell in row.strip("|").split("|")]
            filled = [cell for cell in cells if cell]
            if sum(map(is_number, filled)) > len(filled) / 2:
                above = lines[n - 1]
                yield lines[n - 2] if above.startswith("<!-- table: ") else above, line


def test_marks_name_commands_and_engines_that_there_are() -> None:
    marks, engines = PROVENANCE["read_marks"](), PROVENANCE["read_engines"]()
    assert len(marks) > 5
    for mark in marks:
        assert set(mark.engines) <= set(engines), mark.place
        assert mark.command.startswith(("python ", "bayespool ")), mark.place
        assert all((ROOT / name).is_file() for name in re.findall(r"\S+\.py", mark.command)), mark.place
    for engine in engines.values():
        assert re.fullmatch("[0-9a-f]{8}", engine.commit)
        assert all((ROOT / "bayespool" / room).is_dir() for room in engine.rooms)


def test_no_figure_is_older_than_its_engine() -> None:
    if not PROVENANCE["has_history"]():
        pytest.skip("the history is not here")
    older = {mark.place: age for mark, age in PROVENANCE["ages"](PROVENANCE["read_engines"]()).items() if age}
    assert older == {}, "make them anew, or take them out"


def test_pictures_of_results_have_a_mark() -> None:
    found = [
        (picture[1], above)
        for path in PAGES
        for above, line in itertools.pairwise(["", *path.read_text(encoding="utf-8").splitlines()])
        if (picture := re.match(r"!\[.*\]\(_static/([\w-]+)\.png\)", line)) and picture[1] not in DRAWN
    ]
    assert len(found) > 5
    assert [name for name, above in found if not above.startswith("<!-- made by: ")] == []


def test_tables_of_results_have_a_mark() -> None:
    page = "| a |\n| --- |\n| 93 % |\n\n<!-- made by: x -->\n| b |\n| --- |\n| .1, 3 |"
    page += "\n\n| c |\n| --- |\n| 3 runs |"
    assert list(measured(page)) == [("", "| a |"), ("<!-- made by: x -->", "| b |")]

    found = [(path.name, *each) for path in PAGES for each in measured(path.read_text(encoding="utf-8"))]
    assert len(found) > 2
    assert [line for line in found if not line[1].startswith("<!-- made by: ")] == []


def test_printed_outputs_have_a_mark() -> None:
    """``tests/whole/test_printed_pages.py`` repeats those that are printed on the example's files."""
    unmarked = []
    for path in PAGES:
        lines = ["", *path.read_text(encoding="utf-8").splitlines()]
        for above, line in itertools.pairwise(lines):
            if (line == "```text" or line.startswith("> ")) and not above.startswith(
                ("> ", "<!-- printed by: ", "<!-- made by: ", "<!-- prints -->")
            ):
                unmarked.append((path.name, line))
    assert unmarked == []

"""The package grows only with a reason: lines of code by room, held to ``rooms.csv``.

Figures move freely between rooms. The row *total* bounds their sum, and rises only with a reason beside it;
`make printed` lowers figures to what a room has.
"""

from __future__ import annotations

import csv
import io
import runpy
from pathlib import Path

from snapshots import expected

ROOT = Path(__file__).resolve().parents[2]
ROOMS = Path(__file__).with_name("rooms.csv")
MOST_ABOVE = 30  # lines between a figure and its room
HEADER = ("room", "code", "reason")


def code_by_room() -> dict[str, int]:
    sizes = runpy.run_path(str(ROOT / "benchmarks" / "size.py"))["size"](ROOT / "bayespool")
    return dict(zip(sizes.index[:-1], sizes["code"][:-1].astype(int), strict=True))


def lowered(text: str, code: dict[str, int]) -> str:
    """The figures, each at most what its room has; new rooms have theirs, and rooms that went have none."""
    rows = {row["room"]: row for row in csv.DictReader(io.StringIO(text))}
    figures = {room: min(n, int(rows[room]["code"])) if room in rows else n for room, n in code.items()}
    total = rows["total"]
    lines = [HEADER, *((room, n, "") for room, n in figures.items())]
    lines.append(("total", min(sum(figures.values()), int(total["code"])), total["reason"]))
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(lines)
    return file.getvalue()


def faults(text: str, code: dict[str, int]) -> list[str]:
    figures = {row["room"]: int(row["code"]) for row in csv.DictReader(io.StringIO(text))}
    total = figures.pop("total")
    found = [f"{room} is in one of both" for room in figures.keys() ^ code.keys()]
    for room in figures.keys() & code.keys():
        if code[room] > figures[room]:
            found.append(f"{room} has {code[room]} lines of code, and {figures[room]} are allowed")
        if code[room] < figures[room] - MOST_ABOVE:
            found.append(f"{room} has {code[room]} lines of code, not {figures[room]}: run make printed")
    if sum(figures.values()) > total:
        found.append(f"figures sum to {sum(figures.values())}, above {total}: less elsewhere, or a reason")
    return found


def test_no_room_grows_beyond_its_figure() -> None:
    code = code_by_room()
    text = expected(ROOMS, lowered(ROOMS.read_text(encoding="utf-8"), code))
    assert faults(text, code) == []
    assert text.rstrip("\n").rpartition(",")[2], "the total has its reason"


def test_faults_are_found() -> None:
    text = "room,code,reason\na,100,\nb,50,\ntotal,150,why\n"
    assert faults(text, {"a": 100, "b": 50}) == []
    assert faults(text, {"a": 101, "b": 50}) == ["a has 101 lines of code, and 100 are allowed"]
    assert faults(text, {"a": 69, "b": 50}) == ["a has 69 lines of code, not 100: run make printed"]
    assert faults(text, {"a": 100}) == ["b is in one of both"]
    assert faults(text.replace("150", "149"), {"a": 100, "b": 50}) == [
        "figures sum to 150, above 149: less elsewhere, or a reason"
    ]
    assert lowered(text, {"a": 69, "c": 10}) == "room,code,reason\na,69,\nc,10,\ntotal,79,why\n"

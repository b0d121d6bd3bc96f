"""The package grows only with a reason: lines of code by room, held to ``rooms.csv``.

Lines move freely between rooms, whose figures `make printed` writes. The row *total* bounds their sum: it
falls by itself, and is raised by hand, with a reason beside it.
"""

from __future__ import annotations

import csv
import io
import runpy
from pathlib import Path

from snapshots import expected

ROOT = Path(__file__).resolve().parents[2]
ROOMS = Path(__file__).with_name("rooms.csv")
MOST_OFF = 30  # lines between a figure and its room
HEADER = ("room", "code", "reason")


def code_by_room() -> dict[str, int]:
    sizes = runpy.run_path(str(ROOT / "benchmarks" / "size.py"))["size"](ROOT / "bayespool")
    return dict(zip(sizes.index[:-1], sizes["code"][:-1].astype(int), strict=True))


def measured(text: str, code: dict[str, int]) -> str:
    """Each room with its lines of code, and the total, which falls by itself and keeps its reason."""
    *_, total = csv.DictReader(io.StringIO(text))
    most = min(sum(code.values()), int(total["code"]))
    file = io.StringIO()
    rows = [HEADER, *((room, n, "") for room, n in code.items()), ("total", most, total["reason"])]
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def faults(text: str, code: dict[str, int]) -> list[str]:
    figures = {row["room"]: int(row["code"]) for row in csv.DictReader(io.StringIO(text))}
    total, n = figures.pop("total"), sum(code.values())
    found = [f"{room} is in one of both: run make printed" for room in figures.keys() ^ code.keys()]
    for room in figures.keys() & code.keys():
        if abs(code[room] - figures[room]) > MOST_OFF:
            found.append(f"{room} has {code[room]} lines of code, not {figures[room]}: run make printed")
    if n > total:
        found.append(
            f"{n} lines of code, above the total of {total}: take {n - total} out anywhere, or raise the "
            "total in tests/house/rooms.csv and add the reason beside it"
        )
    return found


def test_the_package_grows_with_a_reason_alone() -> None:
    code = code_by_room()
    text = expected(ROOMS, measured(ROOMS.read_text(encoding="utf-8"), code))
    wrong = faults(text, code)
    assert not wrong, "\n".join(wrong)
    assert text.rstrip("\n").rpartition(",")[2], "the total has its reason"


def test_faults_are_found() -> None:
    text = "room,code,reason\na,100,\nb,50,\ntotal,150,why\n"
    assert faults(text, {"a": 120, "b": 30}) == []
    assert faults(text, {"a": 69, "b": 50}) == ["a has 69 lines of code, not 100: run make printed"]
    assert faults(text, {"a": 100}) == ["b is in one of both: run make printed"]
    (above,) = faults(text, {"a": 101, "b": 51})
    assert above.startswith("152 lines of code, above the total of 150: take 2 out anywhere, or raise")
    assert measured(text, {"a": 69, "c": 10}) == "room,code,reason\na,69,\nc,10,\ntotal,79,why\n"
    assert measured(text, {"a": 100, "b": 80}) == "room,code,reason\na,100,\nb,80,\ntotal,150,why\n"

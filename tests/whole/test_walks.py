"""The walks of the page on the architecture go through the files that decide a number."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from small import small

from bayespool import leave_out, score

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bayespool"
MOST_FILES = 10


def called_by(work: Callable[[], object]) -> list[str]:
    """Files of the package whose functions are called, in the order of their first calls."""
    files: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
            files[Path(frame.f_code.co_filename).relative_to(PACKAGE).as_posix()] = None

    work()  # so that imports are over
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return list(files)


def files_of_the_walk() -> tuple[list[str], set[str]]:
    """Files that the page walks through, in its order, and those that it calls details."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.split("\n## A walk\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \| `([\w/]+\.py)` \| .+ \|$", section, flags=re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    assert section.count("\n| ") == len(rows) + 2, "a row of the walk is not number | `file` | what happens"
    walk = [file for _, file in rows]
    return walk, set(re.findall(r"`([\w/]+\.py)`", section)) - set(walk)


def test_the_walk_is_short_and_its_files_are_there() -> None:
    walk, details = files_of_the_walk()
    assert 1 < len(walk) <= MOST_FILES
    assert len(set(walk)) == len(walk)
    assert not [file for file in (*walk, *details) if not (PACKAGE / file).is_file()]


def test_the_walk_names_what_a_posterior_number_calls() -> None:
    walk, details = files_of_the_walk()
    collection = small()
    files = set(called_by(lambda: score(collection, "new-b", "P@10", estimators="posterior-ratio")))
    assert not set(walk) - files, "in the walk and not called"
    assert sorted(files - set(walk) - details) == [], "called and not on the page"
    silent = {"inference/kernels.py"}  # compiled: Python reports their calls up to 3.11 only
    assert details - files - silent == {"models/ratio.py"}, "a detail that is not called"


def short_walks() -> dict[str, list[str]]:
    """What the walks of one line lead to, and their files."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.split("\n## Three more walks\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+ → .+) \| (`[\w/]+\.py`(?:, `[\w/]+\.py`)*) \|$", section, flags=re.MULTILINE)
    assert section.count("\n| ") == len(rows) + 2, "a row of the walks is not from → to | `file`, `file`"
    return {name.split(" → ")[1]: re.findall(r"`([\w/]+\.py)`", files) for name, files in rows}


def test_short_walks_go_through_called_files_in_their_order() -> None:
    example = small()
    work: dict[str, Callable[[], object]] = {
        "its values on runs": lambda: score(example, None, "nDCG@10", estimators="as-judged"),
        "one document's relevance in one draw": lambda: score(example, "new-b", estimators="posterior-ratio"),
        "a collection with judgments concealed": lambda: leave_out(example, "P@10", estimators="as-judged"),
    }
    walks = short_walks()
    assert walks.keys() == work.keys()
    for name, walk in walks.items():
        assert 1 < len(walk) <= MOST_FILES, name
        called = called_by(work[name])
        assert not set(walk) - set(called), f"{name}: in the walk and not called"
        assert [file for file in called if file in walk] == walk, f"{name}: first called in another order"

"""Outputs on pages are what the command in the mark above them prints, on the example's files."""

from __future__ import annotations

import random
import re
import shlex
from pathlib import Path

import pytest
from audits import truth
from click.testing import CliRunner
from snapshots import is_written

from bayespool.cli import app
from bayespool.experiments import simulate_example

ROOT = Path(__file__).resolve().parents[2]
FILES = "--qrels qrels.txt --pool pool --organizations organizations.csv"
# a mark in the syntax of comments of a page, or of README, and the fenced or quoted text below it
MARKED = re.compile(
    r"^(?:%|<!--) printed by: (.+?)(?: -->)?\n(?:\n?```text\n(.+?)^```|((?:>[^\n]*\n)+))", re.M | re.S
)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?")
PRINTED = [
    pytest.param(page, command, fenced or quoted, id=f"{page.stem}-{n}")
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    for n, (command, fenced, quoted) in enumerate(MARKED.findall(page.read_text(encoding="utf-8")), 1)
]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    simulate_example().write(folder)
    chance = random.Random(1)
    judged = [line.split() for line in (folder / "qrels.txt").read_text(encoding="utf-8").splitlines()]
    again = [
        (*line, int(rel == "0") if chance.random() < 1 / 7 else rel)
        for *line, rel in chance.sample(judged, 300)
    ]
    (folder / "second.txt").write_text(
        "".join(f"{t} {i} {d} {rel}\n" for t, i, d, rel in again), encoding="utf-8"
    )
    runs = [path.stem for name in ("north", "south") for path in (folder / "pool").glob(f"{name}-*")]
    rows = "".join(f"{run},{run.split('-')[0]}\n" for run in runs)
    (folder / "systems.csv").write_text(f"run_id,system\n{rows}", encoding="utf-8")
    return folder


def answer(path: Path) -> None:
    """Put the simulated truth in place of each -1 of a list for assessors."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(f"{t} {i} {d} {truth()[t, d]}\n" for t, i, d, _ in rows), encoding="utf-8")


@pytest.mark.usefixtures("fits_of_all_tests")
@pytest.mark.filterwarnings("ignore:no pool")
@pytest.mark.parametrize(("page", "commands", "shown"), PRINTED)
def test_pages_show_what_is_printed(
    page: Path, commands: str, shown: str, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words are the same; last digits of posteriors depend on the versions of libraries. Numbers of pages are
    written anew if snapshots are.
    """
    monkeypatch.chdir(example)
    for command in commands.replace("FILES", FILES).split(" && "):
        program, *arguments = shlex.split(command)
        if program == "answer":
            answer(Path(*arguments))
        else:
            done = CliRunner().invoke(app, arguments, env={"COLUMNS": "120"})
            assert done.exit_code == 0, done.output
    start, found = 0, list[str]()
    for piece in re.sub("^> ?", "", shown, flags=re.M).split("…"):
        words = NUMBER.sub("NUMBER", " ".join(piece.split()))
        pattern = re.escape(words).replace("NUMBER", f"({NUMBER.pattern})").replace(r"\ ", r"\s+")
        match = re.compile(pattern).search(done.stdout, start)
        assert match is not None, f"{words}\nis not in\n{done.stdout}"
        start = match.end()
        found += match.groups()
        numbers = [
            [float(n.replace(",", "")) for n in part] for part in (match.groups(), NUMBER.findall(piece))
        ]
        assert is_written() or numbers[0] == pytest.approx(numbers[1], rel=0.05, abs=0.011)
    if is_written():
        anew = iter(found)
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(shown, NUMBER.sub(lambda _: next(anew), shown)), encoding="utf-8")

"""The command ``report``, and ``score --report``."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import FAST, arguments

from bayespool.simulation import simulate_example


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    simulate_example().write(folder)
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command as a shell runs it, in a folder."""
    environment = os.environ | {"COLUMNS": "80"}
    return subprocess.run(
        [sys.executable, "-m", "bayespool", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_file_of_scores_becomes_a_page_with_the_command_as_it_was_typed(example: Path) -> None:
    words = [*(word.replace(f"{example}/", "") for word in arguments(example)), "-m", "P@10", *FAST]
    done = run(example, *words, "-o", "scores.json", "--report", "live.html")
    assert done.returncode == 0, done.stderr
    made = json.loads((example / "scores.json").read_text())["metadata"]["made_by"]
    assert made["command"].startswith("bayespool score new --qrels qrels.txt --pool pool")
    assert str(example) not in json.dumps(made)
    done = run(example, "report", "scores.json", "-o", "report.html")
    assert (done.returncode, done.stdout) == (0, "Wrote report.html.\n")
    for name in ("live.html", "report.html"):
        page = html.unescape((example / name).read_text())
        assert made["command"] in page
        assert "new-a lies between 0.595 and 0.685" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("report", "nowhere.json"), "nowhere.json: there is no such file or folder"),
        (("report", "qrels.txt"), "a report cannot be made of .txt"),
        (("report", "pool"), "pool: holds no results"),
        (("report", "qrels.txt", "-o", "report.pdf"), "report.pdf: a report is an .html file"),
    ],
)
def test_what_is_no_result_is_an_error_in_one_line(example: Path, words: tuple[str, ...], said: str) -> None:
    done = run(example, *words)
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_report_that_cannot_be_written_is_told_before_anything_is_read(example: Path) -> None:
    done = run(example, *arguments(example), "--report", "nowhere/report.html")
    assert done.returncode == 1
    assert "no folder nowhere" in done.stderr
    assert "reading" not in done.stderr

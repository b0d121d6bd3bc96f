"""The command ``report``, and ``score --report``."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import FAST, Outcome, arguments

from bayespool.experiments import simulate_example


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    simulate_example().write(folder)
    return folder


@pytest.fixture
def here(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """A command as it is typed in the folder of the example."""
    monkeypatch.chdir(example)
    return run


def test_a_file_of_scores_becomes_a_page_with_the_command_as_it_was_typed(
    here: Callable[..., Outcome], example: Path
) -> None:
    words = [*(word.replace(f"{example}/", "") for word in arguments(example)), "-m", "P@10", *FAST]
    done = here(*words, "-o", "scores.json", "--report", "live.html")
    assert done.status == 0, done.err
    made = json.loads((example / "scores.json").read_text())["metadata"]["made_by"]
    assert made["command"].startswith("bayespool score new --qrels qrels.txt --pool pool")
    assert str(example) not in json.dumps(made)
    done = here("report", "scores.json", "-o", "report.html")
    assert (done.status, done.out) == (0, "Wrote report.html.\n")
    for name in ("live.html", "report.html"):
        page = html.unescape((example / name).read_text())
        assert made["command"] in page
        assert "new-a lies between 0.595 and 0.685" in page


def test_what_is_no_result_is_an_error_in_one_line(here: Callable[..., Outcome]) -> None:
    for words, said in [
        (("report", "nowhere.json"), "nowhere.json: there is no such file or folder"),
        (("report", "qrels.txt"), "cannot read a result from .txt"),
        (("report", "pool"), "pool: holds no results"),
        (("report", "qrels.txt", "-o", "report.pdf"), "report.pdf: a report is an .html file"),
    ]:
        done = here(*words)
        assert done.status == 1, (words, said)
        assert said in done.err, (words, said)
        assert done.err.count("\n") == 1, (words, said)


def test_a_report_that_cannot_be_written_is_told_before_anything_is_read(
    here: Callable[..., Outcome], example: Path
) -> None:
    done = here(*arguments(example), "--report", "nowhere/report.html")
    assert done.status == 1
    assert "no folder nowhere" in done.err
    assert "reading" not in done.err

"""One JSON document, a table on standard output, or results alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import FAST, Outcome, arguments, everything_in

import bayespool

SHAPE = ["command", "version", "settings", "metadata", "tables", "columns", "notes", "summary"]


@pytest.fixture
def example(small_example: Path) -> Path:
    return small_example


def document(done: Outcome) -> dict:
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert list(found) == SHAPE
    return found


def test_json_has_what_the_file_has_and_nothing_else_is_printed(
    run: Callable[..., Outcome], example: Path
) -> None:
    path = example / "x.json"
    found = document(run(*arguments(example), *FAST, "-m", "nDCG@10", "--json", "-o", path))
    written = json.loads(path.read_text("utf-8"))
    assert found["tables"] == {name: rows for name, rows in written.items() if name != "metadata"}
    assert found["notes"] == written["metadata"].pop("notes")
    assert found["metadata"] == {name: written["metadata"][name] for name in found["metadata"]}
    assert found["metadata"]["fingerprint"]
    assert found["command"] == "score"
    assert found["version"] == bayespool.__version__
    assert found["settings"]["seed"] == 1
    assert found["settings"]["measure"] == ["nDCG@10"]
    assert found["settings"]["lenient"] is False
    assert found["settings"]["qrels"] == [str(example / "qrels.txt")]
    assert found["notes"][0].startswith("nDCG@10: ideal ranking and number of relevant documents")


def test_warnings_are_among_the_notes(run: Callable[..., Outcome], example: Path) -> None:
    done = run("score", example / "new", "--qrels", example / "qrels.txt", *FAST, "--json")
    assert document(done)["notes"][0].startswith("warning: no pooled runs given: ")
    assert "warning: no pooled runs given: " in done.err


def test_quiet_leaves_results_and_errors(run: Callable[..., Outcome], example: Path) -> None:
    asked = ["score", example / "new", "--qrels", example / "qrels.txt", *FAST]
    loud = run(*asked)
    assert "warning: no pooled runs" in loud.err
    assert "reading runs" in loud.err
    for quiet in (run(*asked, "--quiet"), run(*asked, "-q"), run("--quiet", *asked)):
        assert quiet == Outcome(0, loud.out, "")
    wrong = run(*asked[:3], example / "nowhere", *FAST, "-q")
    assert (wrong.status, wrong.out) == (1, "")
    assert wrong.err.startswith("error: ")
    assert len(wrong.err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_leaves_early_is_no_traceback(example: Path) -> None:
    code = "import sys; from bayespool.cli import main; sys.argv[0] = 'bayespool'; main()"
    asked = " ".join(f"'{one}'" for one in [*arguments(example), *FAST, "-q", "-o", "-"])
    done = subprocess.run(
        f'{sys.executable} -c "{code}" {asked} | head -n 1',
        shell=True,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.startswith("run_id,measure,")
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


def test_table_of_a_paper_on_standard_output(
    run: Callable[..., Outcome], example: Path, tmp_path: Path
) -> None:
    for asked, start in [("md", "| run "), ("tex", "% "), ("html", "<!doctype html>")]:
        scored = [*arguments(example), "--estimators", "background"]
        done = run(*scored, "-o", "-", "--format", asked)
        assert run(*scored, "-o", tmp_path / f"table.{asked}").status == 0, (asked, start)
        assert (done.status, done.out) == (0, (tmp_path / f"table.{asked}").read_text(encoding="utf-8")), (
            asked,
            start,
        )
        assert start in done.out.lower(), (asked, start)


def test_what_cannot_be_answered_is_refused(run: Callable[..., Outcome], example: Path) -> None:
    for wrong, message in [
        (["-o", "-", "--json"], "standard output is asked for twice; give one of -o - and --json, once"),
        (["-o", "-", "-o", "-"], "standard output is asked for twice"),
        (["-o", "-", "--format", "docx"], "--format docx: no such format; known: csv, json, parquet"),
        (["--format", "csv"], "--format is of a table on standard output; add -o -"),
    ]:
        before = everything_in(example)
        done = run(*arguments(example), *FAST, *wrong)
        assert (done.status, done.out) == (1, ""), (wrong, message)
        assert done.err.startswith(f"error: {message}"), (wrong, message)
        assert everything_in(example) == before, (wrong, message)


def test_a_folder_is_not_standard_output(run: Callable[..., Outcome], example: Path) -> None:
    done = run("leave-out", *arguments(example)[2:-1], *FAST, "-o", "-")
    assert done.status == 1
    assert done.err == "error: -: this command writes a folder; for standard output there is --json\n"

"""One JSON document, a table on standard output, or results alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import FAST, Outcome, arguments, everything_in

import bayespool
from bayespool.tables import read_parquet

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


def test_json_of_a_study_has_the_tables_of_its_folder(run: Callable[..., Outcome], example: Path) -> None:
    files = [*arguments(example)[2:-1], *FAST, "--jobs", 1, "--figures", "none"]
    found = document(run("leave-out", *files, "-o", example / "out", "--json"))
    assert set(found["tables"]) == {"runs", "summary", "reliability"}
    table = read_rows(example / "out" / "summary.parquet")
    assert found["tables"]["summary"] == [{k: None if v != v else v for k, v in row.items()} for row in table]
    assert found["metadata"]["fingerprint"]
    assert "digests" not in found["metadata"]


def read_rows(path: Path) -> list[dict]:
    return pd.read_parquet(path).to_dict("records")


def test_json_of_files_that_are_written_names_them(run: Callable[..., Outcome], example: Path) -> None:
    asked = ["--estimator", "posterior-background", "--draws", 2, "-o", example / "out", "--json"]
    found = document(run("impute", *arguments(example)[1:], *asked))
    assert [row["file"] for row in found["tables"]["files"]] == ["qrels-01.txt", "qrels-02.txt"]
    assert found["settings"]["output"] == str(example / "out")


def test_json_of_the_demo_has_the_truth_in_its_summary(run: Callable[..., Outcome]) -> None:
    summary = document(run("demo", *FAST, "--json"))["summary"]
    assert summary[-2].startswith("truth of the simulation, P@10 if all were judged: new-a 0.6250")


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


def test_table_on_standard_output_is_the_file(run: Callable[..., Outcome], example: Path) -> None:
    for format_, suffix in [(None, "csv"), ("csv", "csv"), ("json", "json")]:
        path = example / f"x.{suffix}"
        more = [] if format_ is None else ["--format", format_]
        done = run(*arguments(example), *FAST, "-o", "-", "-o", path, *more)
        assert done.status == 0, done.err
        assert done.out == path.read_text("utf-8"), (format_, suffix)
        assert not (example / "-").exists(), (format_, suffix)


@pytest.mark.slow
def test_parquet_on_standard_output(example: Path, tmp_path: Path) -> None:
    code = "import sys; from bayespool.cli import main; sys.argv[0] = 'bayespool'; main()"
    asked = [*arguments(example), *FAST, "-q", "-o", "-", "--format", "parquet"]
    done = subprocess.run([sys.executable, "-c", code, *asked], capture_output=True, check=True, timeout=120)
    (tmp_path / "x.parquet").write_bytes(done.stdout)
    found = read_parquet(tmp_path / "x.parquet")
    assert found is not None
    assert found[0]["run_id"] == ["new-a", "new-b"]


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


def test_list_of_documents_on_standard_output(run: Callable[..., Outcome], example: Path) -> None:
    asked = ["pool", "--pool", example / "pool", "--strategy", "take", "--budget", 40, "-o", "-"]
    table = run(*asked).out.splitlines()
    assert table[0].startswith("query_id,doc_id")
    assert len(table) == 41
    lines = run(*asked, "--format", "qrels").out.splitlines()
    assert len(lines) == 40
    assert all(line.split()[1::2] == ["0", "-1"] for line in lines)


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

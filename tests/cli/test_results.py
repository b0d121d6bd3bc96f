"""One JSON document, a table on standard output, files; and what commands write is read back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import xarray as xr
from commands import FAST, MAIN, Outcome, arguments, campaign, everything_in

import bayespool
from bayespool import StoredResult, read_result, read_scores
from bayespool.errors import InputError
from bayespool.scoring import StoredScores

SHAPE = ["command", "version", "settings", "metadata", "tables", "columns", "notes", "note_kinds", "summary"]
POOLS = {"pools", "summary", "pool_runs"}
# Nothing of several processes, nothing drawn: each command, its options, and its tables.
FOLDERS: dict[str, tuple[str, set[str]]] = {
    "leave-out": ("--estimators background --jobs 1", {"decisions", "runs", "summary", "reliability"}),
    "check predictions": ("--models evidence --posterior draws=30", {"calibration", "elpd", "runs"}),
    "budgets": (
        "--strategies take --budgets 100 --jobs 1",
        {"bias", "by_organization", "pools", "summary", "ranking", "means"},
    ),
    "random-pools": ("--estimators background --widths 3 --samples 2 --jobs 1", POOLS),
    "random-pools --common": ("--widths 3 --common 4 --samples 2 --topic-samples 2 --jobs 1", POOLS),
}


def document(done: Outcome) -> dict:
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert list(found) == SHAPE
    return found


def test_json_has_what_the_file_has_and_nothing_else_is_printed(
    run: Callable[..., Outcome], small_example: Path
) -> None:
    path, printed = small_example / "x.json", small_example / "printed.json"
    done = run(*arguments(small_example), *FAST, "-m", "nDCG@10", "--json", "-o", path)
    found, written = document(done), json.loads(path.read_text("utf-8"))
    assert found["tables"] == {name: rows for name, rows in written.items() if name != "metadata"}
    assert found["notes"] == written["metadata"].pop("notes")
    assert found["metadata"] == {name: written["metadata"][name] for name in found["metadata"]}
    assert found["metadata"]["fingerprint"]
    assert (found["command"], found["version"]) == ("score", bayespool.__version__)
    asked = {"random_seed": 1, "measure": ["nDCG@10"], "qrels": [str(small_example / "qrels.txt")]}
    assert asked.items() <= found["settings"].items()
    assert found["metadata"]["ideals"] == {"nDCG@10": "own"}

    printed.write_text(done.out, encoding="utf-8")
    one, other, stored = read_result(path), read_result(printed), read_scores(path)
    assert isinstance(one, StoredScores)
    assert type(one) is type(other)
    assert frames_of(one).keys() == frames_of(other).keys()
    for name, frame in frames_of(one).items():
        pd.testing.assert_frame_equal(frames_of(other)[name], frame)
    assert (one.command, one.notes(), one.sentences()) == (other.command, other.notes(), other.sentences())
    pd.testing.assert_frame_equal(stored.to_frame(), one.to_frame("scores"))
    assert (one.metadata, one.notes()) == (stored.metadata, stored.notes())
    assert "| new-a |" in stored.to_markdown(columns=["bound-lower"])


def test_warnings_are_among_the_notes(run: Callable[..., Outcome], small_example: Path) -> None:
    fast = ("--estimators", "posterior-ratio", "--posterior", "draws=50")
    done = run("score", small_example / "new", "--qrels", small_example / "qrels.txt", *fast, "--json")
    said = "no pool: posteriors rest on priors alone; "
    warned, first = document(done)["notes"][:2]
    assert warned == f"warning: {first}"
    assert first.startswith(said)
    assert f"warning: {said}" in done.err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_leaves_early_is_no_traceback(small_example: Path) -> None:
    asked = " ".join(f"'{one}'" for one in [*arguments(small_example), *FAST, "-q", "-o", "-"])
    command = f'{sys.executable} -c "{MAIN}" {asked} | head -n 1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.startswith("run_id,measure,")
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")


def test_table_of_a_paper_on_standard_output(
    run: Callable[..., Outcome], small_example: Path, tmp_path: Path
) -> None:
    for asked, start in [("md", "| run "), ("tex", "% "), ("html", "<!doctype html>")]:
        path, rows = tmp_path / f"table.{asked}", ("--columns", "bound-lower")
        scored = [*arguments(small_example), *FAST, *rows]
        done = run(*scored, "-o", f"-.{asked}")
        assert run(*scored, "-o", path).status == 0, asked
        assert (done.status, done.out) == (0, path.read_text(encoding="utf-8")), asked
        assert start in done.out.lower(), asked
    refused = run(*arguments(small_example), "--columns", "bound-lower,nothing")
    assert (refused.status, "no column 'nothing'" in refused.err) == (1, True)


def test_what_cannot_be_answered_is_refused(run: Callable[..., Outcome], small_example: Path) -> None:
    before, score = everything_in(small_example), (*arguments(small_example), *FAST)
    for asked, message in [
        ((*score, "-o", "-", "--json"), "standard output is asked for twice; give one of -o - and --json"),
        ((*score, "-o", "-", "-o", "-"), "standard output is asked for twice"),
        ((*score, "-o", "-.docx"), "stdout.docx: cannot write .docx; use .csv, .json, .parquet"),
        (
            ("leave-out", *campaign(small_example), *FAST, "-o", "-"),
            "-: this command writes a folder; for standard output there is --json",
        ),
    ]:
        done = run(*asked)
        assert (done.status, done.out) == (1, ""), message
        assert done.err.startswith(f"error: {message}"), message
        assert everything_in(small_example) == before, message


def frames_of(stored: StoredResult) -> dict[str, pd.DataFrame]:
    return {table.name: table.frame for table in stored.tables()}


@pytest.mark.slow
@pytest.mark.parametrize("command", FOLDERS)
def test_folder_is_read_back(
    command: str, run: Callable[..., Outcome], small_example: Path, tmp_path: Path
) -> None:
    """Every table, settings and notes; the tables are those of the CSV files, which people open."""
    asked, tables = FOLDERS[command]
    out, common = tmp_path / "out", ("-m", "P@5")
    command = command.partition(" --")[0]
    done = run(*command.split(), *campaign(small_example), *asked.split(), *common, "-o", out)
    assert done.status == 0, done.err
    stored = read_result(out)
    assert (stored.command, set(frames_of(stored))) == (command, tables)
    settings = json.loads((out / "settings.json").read_text(encoding="utf-8"))
    assert dict(stored.metadata).items() <= settings.items()
    assert list(stored.notes()) == settings["notes"]
    for name, frame in frames_of(stored).items():
        written = pd.read_csv(out / f"{name}.csv")
        assert (list(written.columns), len(written)) == (list(frame.columns), len(frame))
        numbers = frame.select_dtypes("number")
        for column in numbers:
            assert written[column].to_numpy() == pytest.approx(numbers[column].to_numpy(), nan_ok=True)
    for path in stored.paths.values():
        with xr.open_datatree(path) as tree:
            assert set(tree.children) >= {"posterior_predictive", "observed_data"}


def test_what_is_damaged_or_nothing_of_ours_is_refused(
    run: Callable[..., Outcome], small_example: Path, tmp_path: Path
) -> None:
    out, asked = tmp_path / "out", FOLDERS["random-pools"][0].split()
    done = run("random-pools", *campaign(small_example), *asked, "-o", out)
    assert done.status == 0, done.err
    (out / "pools.parquet").write_bytes((out / "summary.parquet").read_bytes())
    (tmp_path / "b.json").write_text("[1]")
    for path, said in (
        (out, "is not as it was written"),
        (out, "is missing, which settings"),
        (tmp_path, "no results"),
        (tmp_path / "a.csv", "no such file"),
        (tmp_path / "a.json", "no su"),
        (tmp_path / "b.json", "holds no result"),
    ):
        with pytest.raises(InputError, match=said):
            read_result(path)
        (out / "pools.parquet").unlink(missing_ok=True)


def test_figures_go_by_no_setting_of_the_working_folder(small_example: Path, tmp_path: Path) -> None:
    """Neither a `matplotlibrc`, readable or not, nor a name in MPLBACKEND that matplotlib does not know."""
    drawn = []
    for i, (rc, backend) in enumerate(
        ((None, "agg"), (b"axes.facecolor: red\n", "nonsense"), (b"\xff", "x"))
    ):
        folder = tmp_path / str(i)
        folder.mkdir()
        if rc is not None:
            (folder / "matplotlibrc").write_bytes(rc)
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *arguments(small_example), *FAST, "--figure", "a.svg"],
            cwd=folder,
            env=os.environ | {"MPLBACKEND": backend},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        drawn.append((folder / "a.svg").read_bytes())
    assert drawn[0] == drawn[1] == drawn[2]


def test_a_column_of_documents_is_read_from_files_and_kept_by_prepared_ones(
    run: Callable[..., Outcome], small_files: Path, tmp_path: Path
) -> None:
    """The same scores from a table and from a prepared collection that has it."""
    lines = {
        (line.split()[0], line.split()[2])
        for path in small_files.glob("*/*.run")
        for line in path.read_text().splitlines()
    }
    table, prepared = tmp_path / "documents.csv", tmp_path / "p.bayespool"
    rows = [f"{topic},{document},{k % 7}" for k, (topic, document) in enumerate(sorted(lines))]
    table.write_text("\n".join(["topic,document,bm25", *rows]))
    asked = ("-m", "P@10", "--estimators", "posterior-ratio + bm25", "--posterior", "draws=50", "--json")
    new, read = small_files / "new", ("--reading", f"documents_table={table}")
    from_files = run("score", new, *campaign(small_files), *read, *asked)
    assert run("prepare", *campaign(small_files), *read, "-m", "P@10", "-o", prepared).status == 0
    from_prepared = run("score", new, "--collection", prepared, *asked)
    first, second = (document(done)["tables"] for done in (from_files, from_prepared))
    assert first == second
    assert {row["estimator"] for row in first["scores"]} == {"posterior-ratio + bm25"}

"""``bayespool leave-out``: what it prints, writes, keeps and says."""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import Outcome, with_defaults

from bayespool.experiments import leave_out, load_example


@pytest.fixture
def run(run: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """The command ``leave-out`` in this process."""
    return functools.partial(run, "leave-out")


def arguments(folder: Path, *more: object) -> list[str]:
    files = ["--qrels", folder / "qrels.txt", "--pool", folder / "pool"]
    files += ["--organizations", folder / "organizations.csv"]
    return [*map(str, files), *with_defaults(("--jobs", 1), more)]


@pytest.mark.slow
def test_tables_of_the_command_are_those_of_the_library(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    output = tmp_path / "result"
    asked = ("-m", "P@5", "-m", "P@10", "--estimators", "as-judged,interpolated(c=0.5)", "--top", 75)
    done = run(*arguments(written, *asked, "--output", output))
    assert done.status == 0, done.err
    found = leave_out(
        load_example(), ["P@5", "P@10"], estimators=["as-judged", "interpolated(c=0.5)"], top=75
    )
    expected = found.to_frame("summary")
    pd.testing.assert_frame_equal(pd.read_parquet(output / "summary.parquet"), expected)
    keys = ["measure", "estimator", "run_id"]  # the command reads the runs in the order of their names
    frames = (pd.read_parquet(output / "runs.parquet"), found.to_frame())
    one, other = (frame.sort_values(keys, ignore_index=True) for frame in frames)
    pd.testing.assert_frame_equal(one, other, check_exact=True)
    assert (output / "runs.csv").read_text() == frames[0].to_csv(index=False)
    settings = json.loads((output / "settings.json").read_text())
    assert settings["settings"]["top"] == 75
    assert settings["settings"]["estimators"]["interpolated"]["c"] == 0.5
    assert settings["pool"].startswith("21 of 21 runs pooled to depth 10")
    assert len(list((output / "folds").glob("*.parquet"))) == 8
    assert (output / "mae.png").read_bytes().startswith(b"\x89PNG")
    rows = [line.split() for line in done.out.splitlines() if line.startswith(" interpolated")]
    assert [row[1] for row in rows] == [
        f"{x:.4f}" for x in expected.loc[expected["estimator"] == "interpolated", "mae"]
    ]
    assert "organizations left out: 8 of 8" in done.err
    assert "pool: 21 of 21 runs" in done.err


@pytest.mark.slow
def test_a_command_that_is_given_again_reads_its_folds(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    asked = ("--estimators", "background", "--figures", "none", "--output", tmp_path)
    first = run(*arguments(written, *asked))
    again = run(*arguments(written, *asked))
    assert again.out == first.out
    assert [line for line in again.err.splitlines() if "left out" in line] == [
        "organizations left out: 8 of 8"
    ]
    changed = run(*arguments(written, *asked, "--truth", "full"))
    assert changed.status == 0
    assert "warning: " in changed.err
    assert "differs in estimators, truth; removing its finished work" in changed.err
    assert not list(tmp_path.glob("*.png"))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the interruption is a POSIX signal")
def test_ctrl_c_says_where_the_folds_are(written: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from bayespool.cli import main; main()", "leave-out"]
    asked = ("--estimators", "posterior-background", "--draws", 4000, "--output", tmp_path)
    process = subprocess.Popen(
        [*command, *arguments(written, *asked)],
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("folds/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert f"interrupted; what is finished is in {tmp_path / 'folds'}" in err
    assert "Traceback" not in err
    assert 1 <= len(list(tmp_path.glob("folds/*.parquet"))) < 8


def test_more_jobs_than_cores_are_told(run: Callable[..., Outcome], written: Path) -> None:
    import joblib

    n = joblib.cpu_count()
    told = f"warning: --jobs {n + 1}: more processes than cores ({n}), each of which takes memory"
    for jobs, is_told in ((n + 1, True), (n, False), (-1, False)):
        done = run(*arguments(written, "--qrels", "/no/such/file", "--jobs", jobs))  # told after that
        assert done.status == 1
        assert (told in done.err) == is_told

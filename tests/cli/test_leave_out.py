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

from bayespool.errors import WorkerError
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
def test_options_reach_the_experiment(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    options = {
        "--by": "run",
        "--top": 50,
        "--pool-depth": 5,
        "--truth": "full",
        "--test": "paired-t",
        "--seed": 3,
        "--ci-prob": 0.8,
        "--relevance-threshold": 2,
        "--estimators": "background,posterior-background",
        "--draws": 20,
        "--known-depth": 10,
        "--max-holes": 0,
        "--figures": "none",
    }
    done = run(*arguments(written, *(x for pair in options.items() for x in pair), "--output", tmp_path))
    assert done.status == 0, done.err
    settings = json.loads((tmp_path / "settings.json").read_text())["settings"]
    told = {name: settings[name.removeprefix("--").replace("-", "_")] for name in list(options)[:5]}
    assert told == {name: options[name] for name in told}
    assert (settings["random_seed"], settings["ci_prob"], settings["measures"]) == (3, 0.8, ["P(rel=2)@10"])
    assert settings["estimators"]["posterior-background"]["draws"] == 20
    assert {e["estimand"] for e in settings["estimators"].values()} == {"complete"}
    assert "P(rel=2)@10, the best 11 of 21 pooled runs" in done.out
    assert "re-pooled to depth 5" in done.out


def test_clusters_are_left_out_and_listed(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    asked = (
        "--by",
        "cluster",
        "--clusters",
        3,
        "--estimators",
        "as-judged,background",
        "--figures",
        "none",
    )
    done = run(*arguments(written, *asked, "--output", tmp_path / "result"))
    assert done.status == 0, done.err
    assert "clusters left out: 3 of 3" in done.err
    found = leave_out(load_example(), by="cluster", n_clusters=3, estimators=["as-judged", "background"])
    summary = pd.read_parquet(tmp_path / "result" / "summary.parquet")
    pd.testing.assert_frame_equal(summary, found.to_frame("summary"))
    listed = pd.read_csv(tmp_path / "result" / "clusters.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(listed, found.to_frame("clusters"), check_dtype=False)
    assert "P@10, all 21 runs left out, of 21 pooled runs" in done.out
    # a pool that has no cluster to leave out
    none = run(*arguments(written, "--by", "cluster", "--clusters", 21))
    assert none.status == 1
    assert "can be left out: a single run; ask for another number of clusters" in none.err


def test_what_cannot_be_done_is_said_in_a_line(run: Callable[..., Outcome], written: Path) -> None:
    for more, message in [
        (("--estimators", "oracle"), "no estimator 'oracle'"),
        (("-m", "MAP"), "it needs a cutoff"),
        (("--top", 0), "top cannot be 0"),
        (("--jobs", 0), "--jobs 0"),
        (("--pool-depth", 11), "pool depth 11"),
        (("--output", "/no/such/folder"), "there is no folder"),
    ]:
        done = run(*arguments(written, *more))
        assert done.status == 1, (more, message)
        assert done.out == "", (more, message)
        last = done.err.splitlines()[-1]
        assert last.startswith("error: "), (more, message)
        assert message in last, (more, message)


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


def test_wrong_options_are_told_before_anything_is_read(run: Callable[..., Outcome], tmp_path: Path) -> None:
    for options, message in [
        (("--estimators", "oracle"), "no estimator 'oracle'"),
        (("--estimators", "topics-adjustment"), "common-topics is the experiment for it"),
        (("--top", 0), "top cannot be 0.0; above 0 and at most 100"),
        (("--clusters", 4), "n_clusters is for clusters, and organizations are left out"),
        (("--ci-prob", 1), "ci_prob cannot be 1.0; above 0 and below 1"),
        (("--prior", "nu=Normal(0,1)"), "no estimator asked for has a prior 'nu'"),
        (("-m", "MAP"), "MAP"),
    ]:
        done = run("--qrels", tmp_path / "nowhere", "--pool", tmp_path / "nowhere", *options)
        assert done.status == 1, (options, message)
        assert message in done.err, (options, message)
        assert "nowhere" not in done.err, (options, message)


def test_a_dead_worker_leaves_what_is_finished(
    run: Callable[..., Outcome], written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(*_: object, **__: object) -> None:
        raise WorkerError("a worker process died")

    monkeypatch.setattr("bayespool.experiments.leave_out", dying)
    done = run(*arguments(written, "--estimators", "as-judged", "--output", tmp_path / "result"))
    assert done.status == 1
    folds = tmp_path / "result" / "folds"
    assert f"a worker process died\nwhat is finished is in {folds}; the same command goes on" in done.err


def test_a_folder_is_for_one_kind_of_experiment(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    output = tmp_path / "result"
    output.mkdir()
    settings = {"bayespool": "0", "experiment": "pool-width", "files": []}
    (output / "settings.json").write_text(json.dumps(settings))
    done = run(*arguments(written, "--estimators", "as-judged", "--output", output))
    assert done.status == 1
    assert f"{output}: holds the results of pool-width; name another folder" in done.err
    assert [path.name for path in output.iterdir()] == ["settings.json"]


def test_more_jobs_than_cores_are_told(run: Callable[..., Outcome], written: Path) -> None:
    import joblib

    n = joblib.cpu_count()
    told = f"warning: --jobs {n + 1}: more processes than cores ({n}), each of which takes memory"
    for jobs, is_told in ((n + 1, True), (n, False), (-1, False)):
        done = run(*arguments(written, "--qrels", "/no/such/file", "--jobs", jobs))  # told after that
        assert done.status == 1
        assert (told in done.err) == is_told

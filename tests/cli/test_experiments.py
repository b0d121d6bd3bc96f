"""``leave-out`` and ``random-pools``: what they write, keep and say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import MAIN, Outcome, campaign
from small import small

from bayespool.errors import NoCollectionError, WorkerError
from bayespool.experiments import (
    grade_later,
    keep_judgments,
    leave_out,
    leave_out_several,
    vary_common_topics,
    vary_pool_width,
)
from bayespool.pooling import read_collections

Run = Callable[..., Outcome]


@pytest.fixture
def files(small_example: Path) -> list[object]:
    """Options that name two campaigns: the example, and a pool of fewer of its runs."""
    lines = ['qrels = "qrels.txt"', 'organizations = "organizations.csv"']
    pools = {"whole": '"pool"', "part": '["pool/north-*.run", "pool/south-*.run", "pool/west-*.run"]'}
    for name, pool in pools.items():
        (small_example / f"{name}.toml").write_text("\n".join([*lines, f"pool = {pool}"]))
    return [part for name in pools for part in ("--collection", small_example / f"{name}.toml")]


def test_tables_of_a_command_are_those_of_the_library(run: Run, small_files: Path, tmp_path: Path) -> None:
    types = dict(line.split(",") for line in (small_files / "types.csv").read_text().splitlines()[1:])
    listed = ("--organizations", small_files / "types.csv")
    typed = small().with_attributes(runs=small_files / "types.csv")
    of_types = ("--pool-type", "automatic", "--target-type", "manual")
    for place, (command, asked, found, names) in enumerate((
        (
            "random-pools",
            (*listed, *of_types, "--widths", "2,3", "--samples", 4, "--random-seed", 3),
            vary_pool_width(
                typed, widths=[2, 3], n_samples=4, random_seed=3,
                pool_type="automatic", target_type="manual",
            ),
            ("pools", "summary", "pool_runs"),
        ),
        (
            "random-pools",
            ("--widths", "2,3", "--common", "4,8", "--samples", 5, "--topic-samples", 20),
            vary_common_topics(small(), widths=[2, 3], n_common=[4, 8], n_samples=5, n_topic_samples=20),
            ("pools", "summary", "pool_runs"),
        ),
        (
            "leave-out",
            ("--by", "type", *listed, "--types", "manual", "--estimators", "as-judged,background"),
            leave_out(
                typed, by="type", types=["manual"], estimators=["as-judged", "background"]
            ),
            ("types",),
        ),
    )):  # fmt: skip
        out = tmp_path / str(place)
        done = run(command, *campaign(small_files), *asked, "--jobs", 1, "-o", out)
        assert done.status == 0, done.err
        assert list(out.glob("*.png"))
        for name in names:
            expected = next(table.frame for table in found.tables() if table.name == name)
            pd.testing.assert_frame_equal(pd.read_parquet(out / f"{name}.parquet"), expected)
            assert (out / f"{name}.csv").read_text() == expected.to_csv(index=False)
        told = json.loads((out / "settings.json").read_text())["settings"]
        assert (told["run_types"] if "--organizations" in asked else types) == types, command


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the interruption is a POSIX signal")
def test_ctrl_c_says_where_the_folds_are(written: Path, tmp_path: Path) -> None:
    asked = (
        "--estimators",
        "posterior-background",
        "--posterior",
        "draws=4000",
        "--jobs",
        1,
        "--output",
        tmp_path,
    )
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN, "leave-out", *map(str, (*campaign(written), *asked))],
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
    assert (process.returncode, out) == (130, ""), err
    n = len(list(tmp_path.glob("folds/*.parquet")))
    assert 1 <= n < 8
    parts = "1 part is" if n == 1 else f"{n} parts are"
    assert err.splitlines()[-1] == f"interrupted; {parts} stored in {tmp_path}; the same command goes on"
    assert "Traceback" not in err


def test_more_jobs_than_cores_are_told(run: Run, small_files: Path) -> None:
    import joblib

    n = joblib.cpu_count()
    told = f"warning: --jobs {n + 1}: exceeds the cores ({n}); each process needs its own memory"
    for jobs, is_told in ((n + 1, True), (n, False), (-1, False)):
        done = run("leave-out", *campaign(small_files), "--qrels", "/no/file", "--jobs", jobs)
        assert (done.status, told in done.err) == (1, is_told)


def test_shares_to_keep_run_another_experiment(run: Run, small_files: Path, tmp_path: Path) -> None:
    asked = ("-m", "P@10", "--estimators", "as-judged", "--jobs", 1, "-o", tmp_path / "kept")
    assert run("budgets", *campaign(small_files), "--keep", "0.5, 1", *asked).status == 0
    found = keep_judgments(small(), "P@10", keep=[0.5, 1], estimators="as-judged")
    written = pd.read_parquet(tmp_path / "kept" / "summary.parquet")
    pd.testing.assert_frame_equal(written, found.to_frame("summary"))
    refused = run("budgets", *campaign(small_files), "--keep", "0.5, half", *asked)
    assert "--keep 0.5, half: not numbers" in refused.err


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_later_judgments_grade_runs_with_holes(run: Run, small_files: Path, tmp_path: Path) -> None:
    qrels, first, output = small_files / "qrels.txt", tmp_path / "first.txt", tmp_path / "result"
    gone = small().unpool(organization="west")
    judged = {(gone.query_ids[gone.pair_topic[p]], gone.doc_id(p)) for p in np.flatnonzero(gone.judged)}
    lines = qrels.read_text().splitlines()
    first.write_text("\n".join(line for line in lines if (line.split()[0], line.split()[2]) in judged))
    files = ["--qrels", first, "--pool", small_files / "pool", "--later", qrels]
    files += ["--organizations", small_files / "organizations.csv", "--jobs", 1, "-o", output]
    done = run("leave-out", *files, "--estimators", "as-judged,background")
    assert done.status == 0, done.err
    expected = grade_later(gone, qrels, estimators=["as-judged", "background"]).to_frame("summary")
    written = pd.read_parquet(output / "summary.parquet")
    pd.testing.assert_frame_equal(written, expected)
    assert "with holes that were closed later" in done.out
    assert list((output / "closed-holes").glob("*.parquet"))


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_tables_of_several_collections_are_those_of_the_library(
    run: Run, files: list[object], tmp_path: Path
) -> None:
    output = tmp_path / "result"
    asked = ("-m", "P@5", "--estimators", "as-judged,background", "--top", 75, "--jobs", 1, "-o", output)
    done = run("leave-out", *files, *asked)
    assert done.status == 0, done.err
    read = read_collections(files[1::2])  # type: ignore[arg-type]
    result = leave_out_several(read, "P@5", estimators=["as-judged", "background"], top=75)
    for table in result.tables():
        pd.testing.assert_frame_equal(pd.read_parquet(output / f"{table.name}.parquet"), table.frame)
    assert "P@5, number of collections where an estimator is best and worst by MAE" in done.out.splitlines()
    assert result.sentences()[1] in done.out
    assert "whole, pool: 7 of 7 runs" in done.err
    assert [len(list((output / name / "folds").glob("*.parquet"))) for name in ("whole", "part")] == [4, 3]
    again = run("leave-out", *files, *asked, "--json")
    assert "organizations left out: 0 of 7" not in again.err  # read from the folder
    document = json.loads(again.out)
    assert document["summary"] == list(result.sentences())
    assert list(document["metadata"]["collections"]) == ["whole", "part"]


def test_what_cannot_be_done_is_told(run: Run, files: list[object], small_example: Path) -> None:
    missing = "error: no judgments; give --qrels and --pool, or --collection FILE"
    for asked, message in [
        ((*files, "--qrels", "q.txt"), "--collection beside --qrels or --pool; name judgments and"),
        ((*files, "--pool", "runs"), "--collection beside --qrels or --pool"),
        ((*files, "--collection", "no.toml"), "no.toml: no such file; check the path"),
        ((), missing),
        (("--qrels", small_example / "qrels.txt"), "error: no runs given; name the runs to score"),
        (("--pool", small_example / "pool"), missing),
    ]:
        done = run("leave-out", *asked)
        assert (done.status, done.out) == (1, ""), (asked, message)
        assert message in done.err, (asked, message)


def test_a_dead_worker_leaves_what_is_finished(
    run: Run, files: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(collections: object, **_: object) -> None:
        raise WorkerError("a worker process died") if collections else NoCollectionError("none yet")

    monkeypatch.setattr("bayespool.experiments.leave_out_several", dying)
    done = run("leave-out", *files, "--estimators", "as-judged", "-o", tmp_path / "result")
    assert done.status == 1
    assert f"0 parts are stored in {tmp_path / 'result'}; the same command goes on" in done.err


def test_tables_are_written_before_a_figure_fails(
    run: Run, small_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug in drawing")

    monkeypatch.setattr("bayespool.plots.plot_pool_width", fail)
    asked = ("--widths", "2", "--samples", "2", "--estimators", "as-judged", "--output", tmp_path)
    with pytest.raises(ZeroDivisionError):
        run("random-pools", *campaign(small_files), *asked, "--jobs", 1)
    files = {path.name for path in tmp_path.iterdir() if path.is_file()}
    tables = {f"{name}.{end}" for name in ("pools", "summary", "pool_runs") for end in ("csv", "parquet")}
    assert files == tables | {"settings.json"}


def test_a_list_of_types_has_a_limit(run: Run, small_files: Path, tmp_path: Path) -> None:
    """Whatever the limit of files was, it was read up to the default one."""
    large = tmp_path / "types.csv"
    large.write_bytes(b"run_id,type\n" + b"\n" * (1 << 20))
    asked = ("--by", "type", "--organizations", large, "--reading", "max_file_size=1")
    done = run("leave-out", *campaign(small_files), *asked)
    assert done.status == 1
    assert "types.csv: holds more than 1 MiB of text; allow more with max_file_size" in done.err


@pytest.mark.parametrize("command", ["leave-out", "random-pools"])
def test_who_gives_types_as_before_learns_what_to_write(command: str, run: Run, small_files: Path) -> None:
    done = run(command, *campaign(small_files), "--run-types", small_files / "types.csv")
    assert done.status == 2
    assert "there is no --run-types; write --organizations once more, with the file of types" in done.err


def test_who_looks_for_an_option_of_tables_learns_its_key(run: Run, small_files: Path) -> None:
    done = run("leave-out", *campaign(small_files), "--topics-table", small_files / "topics.csv")
    assert "there is no --topics-table; write --reading topics_table=FILE" in done.err

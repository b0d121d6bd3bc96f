"""``bayespool leave-out --collection``: several collections in one command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import Outcome

from bayespool.errors import WorkerError
from bayespool.experiments import leave_out_several
from bayespool.pooling import read_collections


@pytest.fixture
def files(small_example: Path) -> list[Path]:
    """The example, and a pool of fewer of its runs."""
    lines = ['qrels = "qrels.txt"', 'organizations = "organizations.csv"']
    pools = {"whole": '"pool"', "part": '["pool/north-*.run", "pool/south-*.run", "pool/west-*.run"]'}
    for name, pool in pools.items():
        (small_example / f"{name}.toml").write_text("\n".join([*lines, f"pool = {pool}"]))
    return [small_example / f"{name}.toml" for name in pools]


def collections(files: list[Path]) -> list[object]:
    return [part for path in files for part in ("--collection", path)]


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_tables_of_the_command_are_those_of_the_library(
    run: Callable[..., Outcome], files: list[Path], tmp_path: Path
) -> None:
    output = tmp_path / "result"
    asked = ("-m", "P@5", "--estimators", "as-judged,background", "--top", 75, "--jobs", 1, "-o", output)
    done = run("leave-out", *collections(files), *asked)
    assert done.status == 0, done.err
    result = leave_out_several(read_collections(files), "P@5", estimators=["as-judged", "background"], top=75)
    for table in result.tables():
        pd.testing.assert_frame_equal(pd.read_parquet(output / f"{table.name}.parquet"), table.frame)
    assert "P@5, number of collections where an estimator is best and worst by MAE" in done.out.splitlines()
    assert result.summary()[1] in done.out
    assert "whole, pool: 7 of 7 runs" in done.err
    assert "part, pool: " in done.err
    assert "organizations left out: 7 of 7" in done.err
    assert [len(list((output / name / "folds").glob("*.parquet"))) for name in ("whole", "part")] == [4, 3]
    again = run("leave-out", *collections(files), *asked, "--json")
    assert "organizations left out: 0 of 7" not in again.err  # read from the folder
    document = json.loads(again.out)
    assert document["summary"] == list(result.summary())
    assert list(document["metadata"]["collections"]) == ["whole", "part"]


def test_what_cannot_be_done_is_told(run: Callable[..., Outcome], files: list[Path]) -> None:
    for more, message in [
        (("--qrels", "q.txt"), "--collection beside --qrels or --pool; name judgments and runs in the file"),
        (("--pool", "runs"), "--collection beside --qrels or --pool"),
        (("--collection", "no.toml"), "no.toml: no such file; check the path"),
    ]:
        done = run("leave-out", *collections(files), *more)
        assert done.status == 1, (more, message)
        assert done.out == "", (more, message)
        assert message in done.err, (more, message)


def test_a_campaign_needs_judgments_and_runs(run: Callable[..., Outcome], example: Path) -> None:
    for given in ((), ("--qrels", example / "qrels.txt"), ("--pool", example / "pool")):
        done = run("leave-out", *given)
        assert done.status == 1
        assert "error: no collection; give --qrels and --pool, or --collection FILE" in done.err


def test_a_dead_worker_leaves_what_is_finished(
    run: Callable[..., Outcome], files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(*_: object, **__: object) -> None:
        raise WorkerError("a worker process died")

    monkeypatch.setattr("bayespool.experiments.leave_out_several", dying)
    done = run("leave-out", *collections(files), "--estimators", "as-judged", "-o", tmp_path / "result")
    assert done.status == 1
    assert f"what is finished is in {tmp_path / 'result'}; the same command goes on" in done.err

"""Stored folds are used again by the same experiment alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import interrupted
import numpy as np
import psutil
import pytest
from left_out import FEW, stored, tables
from small import small
from toys import toy_collection

from bayespool.corrections import Background
from bayespool.errors import ExperimentChangedWarning, InputError, InputWarning, OutputError
from bayespool.experiments import leave_out, load_example, storage
from bayespool.tables import read_parquet
from bayespool.tables.files import parquet_bytes

HERE = Path(__file__).parents[1]


def test_setting_that_cannot_be_stored_is_named_before_any_work(tmp_path: Path) -> None:
    def arguments(constant: Any) -> dict[str, Any]:
        return FEW | {"estimators": {"mine": Background(e=constant)}, "folder": tmp_path / "new"}

    with pytest.raises(InputError, match=r"Fraction\(1, 2\).*leave the folder out"):
        leave_out(small(), **arguments(Fraction(1, 2)))
    assert not (tmp_path / "new").exists()
    leave_out(small(), **arguments(np.float32(0.5)))
    before = stored(tmp_path / "new")
    leave_out(small(), **arguments(0.5))  # the same number
    assert stored(tmp_path / "new") == before


def test_another_experiment_starts_afresh(tmp_path: Path) -> None:
    changes: list[tuple[dict[str, Any], str]] = [
        ({"measures": "P@2"}, "measures"),
        ({"estimators": "background(e=0.2)"}, "estimators"),
        ({"truth": "full"}, "estimators, truth"),
        ({"random_seed": 2}, "random_seed"),
        ({"top": 75, "top_pool": "kept"}, "top, top_pool"),
        ({}, "collection"),
    ]
    for i, (change, what) in enumerate(changes):
        folder = tmp_path / f"{i}"
        arguments: dict[str, Any] = {"measures": "P@3", "estimators": "background", "folder": folder}
        leave_out(toy_collection(), **arguments)
        before = stored(folder)
        (folder / "folds" / "mine.parquet").write_bytes(b"not a fold")
        other = toy_collection() if change else toy_collection(more={"1": {"l": 1}})
        with pytest.warns(ExperimentChangedWarning, match=f"differs in {what}") as caught:
            found = leave_out(other, **arguments | change)
        assert len(caught) == 1
        expected = leave_out(other, **arguments | change | {"folder": None})
        assert tables(found) == tables(expected)
        left = stored(folder)
        assert left.pop("mine.parquet")  # only folds are removed
        assert all(before.get(name) != written for name, written in left.items())


def start(folder: Path, n_jobs: int, shared: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(HERE / "interrupted.py"), str(folder), str(n_jobs)],
        env=os.environ | {"SLOW_FOLDER": str(shared)},
        start_new_session=True,
        stderr=subprocess.PIPE,
    )


def wait_for_folds(folder: Path, process: subprocess.Popen[bytes], least: int) -> None:
    deadline = time.monotonic() + 120
    while not (folder / "folds").is_dir() or len(stored(folder)) < least:
        assert process.poll() is None, "the experiment ended before it was interrupted"
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes are killed the POSIX way")
def test_an_experiment_that_is_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its workers end with it. While it is at work another one in its folder is told, and changes nothing."""
    nowhere, folder = tmp_path / "nowhere", tmp_path / "out"
    folder.mkdir()
    process = start(folder, 2, nowhere)
    wait_for_folds(folder, process, 1)
    children = psutil.Process(process.pid).children(recursive=True)
    workers = [child for child in children if "LokyProcess" in " ".join(child.cmdline())]
    assert len(workers) == 2
    before = stored(folder)
    with pytest.raises(
        OutputError, match=f"{folder}: another process is at work there; wait until it is done"
    ):
        leave_out(load_example(), "P@3", estimators="background", folder=folder)
    assert before.items() <= stored(folder).items()
    process.kill()  # it alone
    process.communicate()
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive

    before = stored(folder)
    assert 1 <= len(before) < 8
    again = start(folder, 1, nowhere)
    said = again.communicate(timeout=120)[1]
    assert again.returncode == 0, said
    assert len(stored(folder)) == 8
    assert before.items() <= stored(folder).items(), "a stored fold was worked out again"
    monkeypatch.setenv("SLOW_FOLDER", str(nowhere))
    undisturbed = interrupted.experiment(None, 1)
    assert (folder / "runs.csv").read_text() == undisturbed.to_frame().to_csv()


def test_forged_folds_of_another_form_are_worked_out_again(tmp_path: Path) -> None:
    """Their digests are right. A column that is missing, or of another fold, ended in an error of pandas."""
    arguments: dict[str, Any] = FEW | {"estimators": "background", "folder": tmp_path}
    expected = tables(leave_out(small(), **arguments))
    path, other = sorted((tmp_path / "folds").iterdir())[:2]
    of_other = read_parquet(other)
    rows, more = read_parquet(path) or ({}, {})
    assert of_other is not None
    forged: list[tuple[Any, Any]] = [
        ({name: values for name, values in rows.items() if name != "value"}, more["rest"]),
        (rows | {"value": ["x"] * len(rows["value"])}, more["rest"]),
        (of_other[0], more["rest"]),
        (rows, {name: value for name, value in more["rest"].items() if name != "true_scores"}),
        (rows, more["rest"] | {"warnings": [None]}),
        (rows, more["rest"] | {"seconds": {"a": "b"}}),
        (rows, []),
    ]
    for columns, rest in forged:
        made = {"description": more["description"], "identity": more["identity"], "rest": rest}
        made["digest"] = storage._digest(made, columns)
        path.write_bytes(parquet_bytes(columns, made))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentChangedWarning)
            assert tables(leave_out(small(), **arguments)) == expected
        again, _ = read_parquet(path) or ({}, {})
        assert str(again) == str(rows), "the fold was not stored anew"


def test_a_relevance_that_nobody_gave_and_a_folder_that_cannot_be_made_are_told(tmp_path: Path) -> None:
    with pytest.warns(InputWarning, match="relevance 7 or more"):
        leave_out(toy_collection(), "P(rel=7)@3", estimators="background")
    (tmp_path / "folds").write_text("a file")
    with pytest.raises(OutputError, match="cannot be made"):
        leave_out(toy_collection(), "P@3", estimators="background", folder=tmp_path)

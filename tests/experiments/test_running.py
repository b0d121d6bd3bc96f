"""Every experiment on the one runner: stored, cut off and gone on, in processes or on a cluster."""

from __future__ import annotations

import dataclasses
import json
import mmap
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import interrupted
import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from commands import everything_in
from labeled import right_labels, with_judge
from left_out import FEW, Pairs, stored, tables
from small import small
from toys import toy_collection

from bayespool import check_judges, compare_budgets
from bayespool.collection import Collection, add_judges
from bayespool.corrections import Background
from bayespool.errors import ExperimentChangedWarning, InputError, InputWarning, OutputError, WorkerError
from bayespool.experiments import (
    SimulationSettings,
    leave_out,
    load_example,
    run_design,
    running as module,
    simulate,
    simulate_judge,
    vary_common_topics,
    vary_pool_width,
)
from bayespool.experiments.running import (
    CaughtWarnings,
    check_address,
    completed,
    on_cluster,
    own_warnings,
    warn_once,
)
from bayespool.notes import Note
from bayespool.report import Result
from bayespool.tables.files import parquet_bytes, read_parquet

DRAWN: dict[str, Any] = {
    "estimators": ["as-judged", "posterior-background"],
    "posterior_settings": "draws=20",
}


def left_out(**more: Any) -> Result:
    return leave_out(load_example(), "P@10", **DRAWN | more)


def of_types(**more: Any) -> Result:
    types = {run: {"kind": "xyz"[i % 3]} for i, run in enumerate(load_example().pooled_run_ids)}
    return leave_out(load_example().with_attributes(runs=types), by="kind", **DRAWN | more)


def of_widths(**more: Any) -> Result:
    return vary_pool_width(load_example(), **DRAWN | {"widths": [4], "n_samples": 3} | more)


def of_common_topics(**more: Any) -> Result:
    asked: dict[str, Any] = {"widths": [4], "n_common": [5], "n_samples": 3, "n_topic_samples": 10}
    return vary_common_topics(load_example(), **asked | more)


def of_budgets(**more: Any) -> Result:
    asked: dict[str, Any] = {"strategies": ["take", "borda"], "budgets": [200], "estimators": "interpolated"}
    return compare_budgets(load_example(), "P@10", **asked | more)


def of_pairs(**more: Any) -> Result:
    return run_design(load_example(), Pairs(), "P@10", **DRAWN | more)


def with_labels(**more: Any) -> Result:
    judged = with_judge(load_example(), right_labels(), "good")
    return check_judges(
        judged, run_ids=(), intervals=True, estimators="posterior-ratio(draws=20, chains=2)", **more
    )


QUICK = [of_widths, of_common_topics]
SLOW = [left_out, of_types, of_pairs, of_budgets, with_labels]


class _Stopped(Exception):
    pass


def stop(text: str, done: int = 0, total: int = 0) -> None:
    """A progress display at which the experiment is cut off after a part, as Ctrl-C does."""
    if done == 1:
        raise _Stopped


def assert_same(result: Result, expected: Result) -> None:
    """The same tables to the last digit, and the same notes."""
    for table, other in zip(result.tables(), expected.tables(), strict=True):
        pd.testing.assert_frame_equal(table.frame, other.frame, check_exact=True)
    assert result.notes() == expected.notes()


def kept_in(folder: Path) -> dict[Path, int]:
    """Finished parts, and when they were written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}


@pytest.mark.slow
@pytest.mark.parametrize("run", [left_out, with_labels], ids=lambda run: run.__name__)
def test_processes_change_nothing(run: Callable[..., Result]) -> None:
    assert_same(run(n_jobs=2), run())


def test_experiments_keep_their_work_apart(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"folder": tmp_path, "estimators": "as-judged"}
    of_widths(**asked)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExperimentChangedWarning)
        for run in (of_common_topics, left_out, of_pairs):
            run(**asked)
        done: list[int] = []
        of_widths(progress=lambda text, n=0, total=0: done.append(n), **asked)
    assert done == [3]


def test_warnings_of_parts_are_merged_by_kind_of_note() -> None:
    """Notes that differ in numbers are one; years in names of runs are no such numbers."""

    def caught(*texts: str) -> CaughtWarnings:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            for text in texts:
                warnings.warn(text, InputWarning, stacklevel=1)
        return own_warnings(found)

    notes = [caught(Note("diagnostics", "{} divergent transitions", n)) for n in (3, 5)]
    parts = [notes[0], (*notes[1], *caught("run 2019 is odd")), caught("run 2020 is odd")]
    with pytest.warns(InputWarning) as found:
        warn_once(parts, "folds")
    assert [str(one.message) for one in found] == [
        "in 2 of 3 folds: 3 divergent transitions and the like",
        "in 1 of 3 folds: run 2019 is odd",
        "in 1 of 3 folds: run 2020 is odd",
    ]


def test_a_model_of_ones_own_is_part_of_what_a_check_stores() -> None:
    """A changed declaration under the same name must not go on from parts of the former."""
    from bayespool.experiments.judge_checks import IntervalsWithLabels, JudgesSettings
    from bayespool.models import MODELS, model_named
    from bayespool.posterior import PosteriorEstimator
    from bayespool.scoring import ESTIMATORS, register_model

    spec = dataclasses.replace(model_named("background"), name="mine", description="mine")
    described = []
    try:
        for scale in (1.0, 2.0):
            register_model(dataclasses.replace(spec, source=f"version {scale}"))
            asked = JudgesSettings(measures=(), estimator=PosteriorEstimator(model="mine"))
            described.append(IntervalsWithLabels().describe(asked))
    finally:
        MODELS.pop("mine", None)
        ESTIMATORS.pop("posterior-mine", None)
    assert described[0]["own models"].keys() == {"mine"}
    assert described[0] != described[1]


@pytest.mark.parametrize("run", [*QUICK, *(pytest.param(run, marks=pytest.mark.slow) for run in SLOW)])
def test_work_goes_on_after_a_cut_or_damage_and_starts_over_with_another_seed(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        whole = run()
    with pytest.raises(_Stopped):
        run(folder=tmp_path, progress=stop)
    before = kept_in(tmp_path)
    assert len(before) == 1
    done: list[tuple[int, int]] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run(folder=tmp_path, progress=lambda text, *counts: done.append(counts))
    kept = kept_in(tmp_path)
    n = len(kept)
    assert n > 1
    assert done == [(i, n) for i in range(1, n + 1)]
    assert before.items() <= kept.items(), "a finished part was worked out again"
    assert_same(found, whole)
    assert [str(w.message) for w in caught] == [str(w.message) for w in expected]

    path = min(kept)  # a number in it is changed
    table = pq.read_table(path)
    numbers = (field.name for field in table.schema if pa.types.is_primitive(field.type))
    name = next(name for name in numbers if table[name].null_count == 0)
    changed = table.set_column(table.column_names.index(name), name, pc.add(table[name], 1))
    pq.write_table(changed, path)
    with pytest.warns(ExperimentChangedWarning, match="1 file of finished work cannot be read"):
        assert_same(run(folder=tmp_path), whole)

    before = kept_in(tmp_path)
    with pytest.warns(ExperimentChangedWarning, match=r"differs in .*random_seed.*; removing its"):
        found = run(folder=tmp_path, random_seed=2)
    assert not before.items() & kept_in(tmp_path).items()
    assert_same(found, run(random_seed=2))


def test_work_in_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """A link named ``folds`` had finished work elsewhere removed."""
    elsewhere = tmp_path / "elsewhere"
    left_out(folder=elsewhere)
    before = everything_in(elsewhere)
    here = tmp_path / "here"
    here.mkdir()
    (here / "folds").symlink_to(elsewhere / "folds")
    with pytest.raises(OutputError, match="folds: is a link; remove it, or name another folder"):
        left_out(folder=here, random_seed=2)
    assert everything_in(elsewhere) == before


def test_what_is_unreadable_or_a_link_is_left(tmp_path: Path) -> None:
    folds, mine = tmp_path / "folds", tmp_path / "mine.parquet"
    folds.mkdir()
    mine.write_bytes(b"of the user")
    (folds / "of-the-user-0123456789ab.parquet").write_bytes(b"no table")
    (folds / "a-link-0123456789ab.parquet").symlink_to(mine)
    with pytest.warns(ExperimentChangedWarning, match="1 file of finished work cannot be read"):
        left_out(folder=tmp_path)
    assert (folds / "of-the-user-0123456789ab.parquet").read_bytes() == b"no table"
    assert (mine.read_bytes(), (folds / "a-link-0123456789ab.parquet").is_symlink()) == (b"of the user", True)
    part = min(path for path in folds.iterdir() if path.is_file() and b"PAR1" in path.read_bytes())
    part.unlink()
    part.symlink_to(mine)
    with (
        pytest.warns(ExperimentChangedWarning, match="cannot be read"),
        pytest.raises(OutputError, match="parquet: is a link"),
    ):
        left_out(folder=tmp_path)
    assert mine.read_bytes() == b"of the user"


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
        ({"measures": "P@2"}, "measures"), ({"estimators": "background(e=0.2)"}, "estimators"),
        ({"truth": "full"}, "estimators, truth"), ({"random_seed": 2}, "random_seed"),
        ({"top": 75, "top_pool": "kept"}, "top, top_pool"), ({}, "collection"),
    ]  # fmt: skip
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


def test_a_relevance_that_nobody_gave_and_a_folder_that_cannot_be_made_are_told(tmp_path: Path) -> None:
    with pytest.warns(InputWarning, match="relevance 7 or more"):
        leave_out(toy_collection(), "P(rel=7)@3", estimators="background")
    (tmp_path / "folds").write_text("a file")
    with pytest.raises(OutputError, match="cannot be made"):
        leave_out(toy_collection(), "P@3", estimators="background", folder=tmp_path)


of_dask = pytest.mark.filterwarnings("default")
Start = Callable[..., subprocess.Popen[bytes]]


def hash_of(collection: Collection, task: str) -> tuple[str, str, int, bool]:
    memory: object = collection.document
    while isinstance(memory, np.ndarray):
        memory = memory.base
    return task, collection.fingerprint, os.getpid(), isinstance(memory, mmap.mmap)


@pytest.mark.slow
def test_the_collection_arrives_whole_and_once() -> None:
    settings = SimulationSettings(n_topics=40, n_organizations=14, n_candidates=400, run_depth=300)
    simulation = simulate(settings, random_seed=1)
    labels = simulate_judge(simulation, quality=1.0, random_seed=1)
    collection = add_judges(simulation.collection, {"llm": labels})
    assert collection.fingerprint != simulation.collection.fingerprint
    assert collection.document.nbytes > 1e6
    found = list(completed(hash_of, collection, ["x", "y", "z"], n_jobs=2))
    assert sorted(task for task, *_ in found) == ["x", "y", "z"]
    assert {fingerprint for _, fingerprint, *_ in found} == {collection.fingerprint}
    assert os.getpid() not in {pid for *_, pid, _ in found}
    assert all(mapped for *_, mapped in found), "a large array was sent with every task"
    assert list(completed(hash_of, collection, [], n_jobs=2)) == []


def test_no_more_processes_than_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty were started for eight folds."""
    import joblib

    asked: list[int] = []

    class Parallel(joblib.Parallel):  # type: ignore[misc]
        def __init__(self, **settings: Any) -> None:
            asked.append(settings["n_jobs"])
            super().__init__(**settings | {"n_jobs": 1})

    monkeypatch.setattr(joblib, "Parallel", Parallel)
    for n_jobs, n_tasks in ((40, 3), (2, 3), (40, 1), (1, 3), (None, 3)):
        assert len(list(completed(hash_of, toy_collection(), ["x"] * n_tasks, n_jobs=n_jobs))) == n_tasks
    assert asked == [3, 2, 1, 1, 1]
    with joblib.parallel_config(n_jobs=40):
        list(completed(hash_of, toy_collection(), ["x", "y"]))
    assert asked[-1] == 2


def test_a_dead_worker_has_an_error_of_its_own() -> None:
    with pytest.raises(WorkerError, match="a worker process died"):
        list(completed(die, toy_collection(), [1, 2], n_jobs=2))


def die(collection: Collection, task: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Start]:
    """Starts ``dask scheduler`` and ``dask worker``."""
    started: list[subprocess.Popen[bytes]] = []

    def command(what: str, *options: object) -> subprocess.Popen[bytes]:
        asked = [sys.executable, "-m", "dask", what, *map(str, options)]
        silent = subprocess.DEVNULL
        started.append(subprocess.Popen(asked, stdout=silent, stderr=silent, cwd=tmp_path))
        return started[-1]

    yield command
    for process in started:
        process.kill()
        process.wait()


def scheduler(dask: Start, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A scheduler and its address."""
    file = folder / "scheduler.json"
    process = dask(
        "scheduler", "--port", 0, "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", file
    )
    while not (file.exists() and file.read_text().rstrip().endswith("}")):
        assert process.poll() is None, "no scheduler"
        time.sleep(0.1)
    address: str = json.loads(file.read_text())["address"]
    return process, address


def workers(dask: Start, address: str, n: int = 2, *, n_threads: int = 1) -> list[subprocess.Popen[bytes]]:
    """Workers that have joined."""
    from distributed import Client

    options = ("--no-nanny", "--no-dashboard", "--nthreads", n_threads)
    found = [dask("worker", address, *options) for _ in range(n)]
    with Client(address) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(n, timeout=60)  # type: ignore[no-untyped-call]
    return found


@of_dask
@pytest.mark.slow
def test_a_killed_worker_costs_no_finished_fold(dask: Start, tmp_path: Path) -> None:
    _, address = scheduler(dask, tmp_path)
    first, _ = workers(dask, address)
    done: list[int] = []

    def kill(text: str, n: int = 0, total: int = 0) -> None:
        done.append(n)
        if n == 1:
            os.kill(first.pid, signal.SIGKILL)

    with on_cluster(address):
        found = leave_out(load_example(), progress=kill, **FEW)
    assert tables(found) == tables(leave_out(load_example(), **FEW))
    assert done == list(range(9))
    assert first.wait() == -signal.SIGKILL


def test_what_is_no_address_is_refused() -> None:
    for address in ("", "here", "10.0.0.7", "http://a:80", "a:b", "a:123456", "a b:1"):
        with pytest.raises(InputError, match="is no address of a scheduler"):
            check_address(address)


@of_dask
def test_nothing_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", 0.5)
    with (
        pytest.raises(InputError, match=r"no Dask scheduler answers at 127\.0\.0\.1:9 "),
        on_cluster("127.0.0.1:9"),
    ):
        pass


@pytest.mark.parametrize("of", ["column", "seconds", "time", "scores"])
def test_finished_work_of_another_form_with_the_right_digest_is_refused(of: str, tmp_path: Path) -> None:
    left_out(estimators="as-judged", folder=tmp_path)
    path = min((tmp_path / "folds").iterdir())
    read = read_parquet(path)
    assert read is not None
    rows, metadata = read
    del metadata["digest"]
    if of == "column":
        del rows["value"]
    elif of == "seconds":
        del metadata["rest"]["seconds"]
    elif of == "scores":
        next(iter(metadata["rest"]["true_scores"].values())).pop()
    else:
        metadata["rest"]["seconds"] = dict.fromkeys(metadata["rest"]["seconds"], "long")
    path.write_bytes(parquet_bytes(rows, metadata | {"digest": module._digest(metadata, rows)}))
    with pytest.raises(InputError, match="finished work is not as bayespool writes it") as caught:
        left_out(estimators="as-judged", folder=tmp_path)
    assert caught.value.path == tmp_path / "folds"

"""Workers give what one process gives, of this computer or of a Dask cluster; nothing finished is lost."""

from __future__ import annotations

import json
import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from left_out import FEW, few_result, tables
from toys import toy_collection

from bayespool.collection import Collection, add_judges
from bayespool.errors import InputError, WorkerError
from bayespool.experiments import (
    SimulationSettings,
    leave_out,
    load_example,
    parallel as module,
    simulate,
    simulate_judge,
)
from bayespool.experiments.parallel import check_address, completed, on_cluster

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
def start(tmp_path: Path) -> Iterator[Start]:
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


def scheduler(start: Start, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    """A scheduler and its address."""
    file = folder / "scheduler.json"
    process = start(
        "scheduler", "--port", 0, "--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", file
    )
    while not (file.exists() and file.read_text().rstrip().endswith("}")):
        assert process.poll() is None, "no scheduler"
        time.sleep(0.1)
    address: str = json.loads(file.read_text())["address"]
    return process, address


def workers(start: Start, address: str, n: int = 2, *, n_threads: int = 1) -> list[subprocess.Popen[bytes]]:
    """Workers that have joined."""
    from distributed import Client

    options = ("--no-nanny", "--no-dashboard", "--nthreads", n_threads)
    found = [start("worker", address, *options) for _ in range(n)]
    with Client(address) as client:  # type: ignore[no-untyped-call]
        client.wait_for_workers(n, timeout=60)  # type: ignore[no-untyped-call]
    return found


@of_dask
@pytest.mark.slow
def test_a_killed_worker_costs_no_finished_fold(start: Start, tmp_path: Path) -> None:
    _, address = scheduler(start, tmp_path)
    first, _ = workers(start, address)
    done: list[int] = []

    def kill(n: int, total: int) -> None:
        done.append(n)
        if n == 1:
            os.kill(first.pid, signal.SIGKILL)

    with on_cluster(address):
        found = leave_out(load_example(), progress=kill, **FEW)
    assert tables(found) == tables(few_result())
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

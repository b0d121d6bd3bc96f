"""Workers give what one process gives."""

from __future__ import annotations

import mmap
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from left_out import FEW, few_result, tables
from small import small
from toys import toy_collection

from bayespool.collection import Collection, add_judges
from bayespool.errors import WorkerError
from bayespool.experiments import (
    SimulationSettings,
    leave_out,
    load_example,
    simulate,
    simulate_example,
    simulate_judge,
)
from bayespool.experiments.parallel import completed


def test_two_processes_give_the_same_bytes() -> None:
    done: list[tuple[int, int]] = []
    found = leave_out(small(), n_jobs=2, progress=lambda n, total: done.append((n, total)), **FEW)
    assert tables(found) == tables(leave_out(small(), **FEW))
    assert done == [(n, 4) for n in range(5)]


@pytest.mark.slow  # a scheduler and workers; the fast one is in test_cluster.py
@pytest.mark.filterwarnings("default")  # of Dask's own
def test_a_dask_cluster_gives_the_same_bytes(tmp_path: Path) -> None:
    import joblib
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        Client(cluster) as client,
    ):
        with joblib.parallel_config(backend="dask"):
            found = leave_out(load_example(), **FEW)
        worked = client.run(lambda: "bayespool.experiments.design" in sys.modules)
    assert len(worked) == 2
    assert all(worked.values()), "a worker had nothing to do"
    assert tables(found) == tables(few_result())


def hash_of(collection: Collection, task: str) -> tuple[str, str, int, bool]:
    memory: object = collection.document
    while isinstance(memory, np.ndarray):
        memory = memory.base
    return task, collection.fingerprint, os.getpid(), isinstance(memory, mmap.mmap)


@pytest.mark.slow
def test_the_collection_arrives_whole_and_once() -> None:
    settings = SimulationSettings(n_topics=40, n_organizations=14, n_candidates=400, run_depth=300)
    collection = simulate(settings, random_seed=1).collection
    assert collection.document.nbytes > 1e6
    found = list(completed(hash_of, collection, ["x", "y", "z"], n_jobs=2))
    assert sorted(task for task, *_ in found) == ["x", "y", "z"]
    assert {fingerprint for _, fingerprint, *_ in found} == {collection.fingerprint}
    assert os.getpid() not in {pid for *_, pid, _ in found}
    assert all(mapped for *_, mapped in found), "a large array was sent with every task"
    assert list(completed(hash_of, collection, [], n_jobs=2)) == []


def test_judges_arrive_with_the_collection() -> None:
    labels = simulate_judge(simulate_example(), quality=1.0, random_seed=1)
    collection = add_judges(load_example(), {"llm": labels})
    found = list(completed(hash_of, collection, ["x", "y"], n_jobs=2))
    assert {fingerprint for _, fingerprint, *_ in found} == {collection.fingerprint}
    assert collection.fingerprint != load_example().fingerprint


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

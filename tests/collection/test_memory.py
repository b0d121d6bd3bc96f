"""Memory that there is, and work that takes more."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import psutil
import pytest

from bayespool import load_example, score
from bayespool.collection import build_collection
from bayespool.errors import InputError, MemoryWarning
from bayespool.reading import files as reading, qrels_from_frame, run_from_frame
from bayespool.reading.files import check_memory, free_memory

GIB = 1 << 30


def test_work_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "free_memory", lambda: 4 * GIB)
    said = r"things take {} of memory at least, and 4,096 MiB are free; {}take fewer"
    with pytest.warns(MemoryWarning, match=said.format("1,025 MiB", "should it run out, ")):
        check_memory(GIB + 1, "things", "take fewer")
    with pytest.raises(InputError, match=said.format("1,048,576 MiB", "")):
        check_memory(1 << 40, "things", "take fewer")


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of Linux")
def test_free_memory_of_this_process_and_of_one_with_a_limit() -> None:
    free = free_memory()
    assert 1 << 24 < free < 1 << 50
    code = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from bayespool.reading.files import free_memory
print(free_memory())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 1 << 27 < int(done.stdout) < 1 << 30


def test_free_memory_is_the_least_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=40_000))
    monkeypatch.setattr(psutil, "swap_memory", lambda: SimpleNamespace(free=2_000))
    files = {"/sys/fs/cgroup/memory.max": "50000\n", "/sys/fs/cgroup/memory.current": "20000\n"}
    monkeypatch.setattr(reading, "read_back", files.get)
    assert free_memory() == 30_000
    files["/sys/fs/cgroup/memory.max"] = "max\n"
    assert free_memory() == 42_000
    files.clear()
    assert free_memory() == 42_000


def test_draws_that_take_more_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred million draws were a ValueError of numpy's, after minutes."""
    example = load_example()
    asked = {"measures": ["P@5", "P@10"], "estimators": ["posterior-background", "background"]}
    with pytest.raises(InputError, match=r"draws cannot be 100000000; at least 1 and at most 10,000,000"):
        score(example, "new-a", **asked, posterior_settings="draws=100000000")
    n_bytes = 8 * 4000 * len(example.query_ids) * 2
    monkeypatch.setattr(reading, "free_memory", lambda: n_bytes - 1)
    said = r"4,000 draws of 2 measures, 1 run and 20 topics take 2 MiB of memory at least"
    with pytest.raises(InputError, match=said):
        score(example, "new-a", **asked)
    monkeypatch.setattr(reading, "free_memory", lambda: n_bytes)
    with pytest.warns(MemoryWarning, match=said):
        score(example, "new-a", **asked)


def test_rankings_that_take_more_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [run_from_frame({"1": {f"d{i}": i for i in range(n)}, "2": {"d": 1}}, f"r{n}") for n in (3, 1000)]
    qrels = qrels_from_frame({"1": {"d1": 1}, "2": {"d": 1}})
    monkeypatch.setattr(reading, "free_memory", lambda: 2 * 2 * 1000 * 4 - 1)
    said = r"rankings of 2 runs on 2 topics, 1,000 ranks deep as the longest \(r1000, topic 1\), take 1 MiB"
    with pytest.raises(InputError, match=said):
        build_collection(runs, qrels)
    monkeypatch.setattr(reading, "free_memory", lambda: 2 * 2 * 1000 * 4 * 4)
    assert build_collection(runs, qrels).document.shape == (2, 2, 1000)

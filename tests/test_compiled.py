"""Compiled loops where nothing can be kept on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest
from commands import Outcome
from small import small_simulation
from threadpoolctl import threadpool_info

from bayespool.compiled import cache_folder, compiled, one_thread, say_no_cache
from bayespool.errors import CacheWarning


@pytest.fixture(autouse=True)
def _said_anew() -> Iterator[None]:
    say_no_cache.cache_clear()
    yield
    say_no_cache.cache_clear()


def total(x: object) -> float:
    sum_ = 0.0
    for value in x:  # type: ignore[attr-defined]
        sum_ += value
    return sum_


def first(x: object) -> float:
    return x[0]  # type: ignore[index,no-any-return]


def test_an_interrupt_waits_for_the_end_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its exception ended the process where a loop is loaded, and was a SystemError where it returned."""
    ended = []

    def interrupted(_: object) -> float:
        signal.raise_signal(signal.SIGINT)
        ended.append(True)
        return 1.0

    monkeypatch.setattr(numba, "njit", lambda **_: lambda loop: interrupted if loop is total else loop)
    former = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        compiled(total)(np.ones(3))
    assert ended == [True]
    assert signal.getsignal(signal.SIGINT) is former
    with ThreadPoolExecutor(1) as threads:  # where no handler can be set, nor is one called
        assert threads.submit(compiled(first), np.array([2.0])).result() == 2.0


def test_no_place_to_keep_them_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was a RuntimeError of numba's: cannot cache function, no locator available."""
    from numba.core.caching import CacheImpl

    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    with pytest.warns(CacheWarning, match="name a folder that is writable in NUMBA_CACHE_DIR") as told:
        found = [compiled(loop)(np.array([1.0, 2.0])) for loop in (total, first)]
    assert found == [3.0, 1.0]
    assert len(told) == 1


def test_disk_that_is_full_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.caching import IndexDataCacheFile

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    monkeypatch.setattr(IndexDataCacheFile, "load", lambda *_: None)
    with pytest.warns(CacheWarning):
        assert compiled(total)(np.array([1.0, 2.0])) == 3.0


READ_ONLY = """
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import bayespool
from numba.core import caching
places = caching.CacheImpl._locator_classes
places[:] = [place for place in places if "InTree" not in place.__name__]  # as where that is read-only
from bayespool.cli import main
sys.argv = ["bayespool", "leave-out", *sys.argv[2:]]
main()
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="homes of POSIX")
def test_command_without_a_place_says_so_once(run: Callable[..., Outcome], tmp_path: Path) -> None:
    """In two workers: one line, and the tables of one process that keeps what it compiles."""
    small_simulation().write(tmp_path)
    asked = ["--qrels", tmp_path / "qrels.txt", "--pool", tmp_path / "pool"]
    asked += ["--estimators", "posterior-background", "--posterior", "draws=20"]
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "NUMBA_CACHE_DIR": "/dev/null/x"}
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, Path(__file__).parents[1], *asked, "--jobs", "2"],
        env=os.environ | nowhere | {"COLUMNS": "1000"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stderr.count("compiled loops cannot be kept") == 1
    alone = run("leave-out", *asked, "--jobs", 1)
    assert "compiled loops cannot be kept" not in alone.err
    assert done.stdout == alone.out


def test_the_folder_of_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    found = cache_folder()
    assert found is None or os.access(found, os.W_OK)

    def refuse(**_: object) -> object:
        def decorate(loop: object) -> object:
            raise RuntimeError("no locator available")

        return decorate

    monkeypatch.setattr(numba, "njit", refuse)
    assert cache_folder() is None


def test_linear_algebra_has_one_thread() -> None:
    with one_thread():
        assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}

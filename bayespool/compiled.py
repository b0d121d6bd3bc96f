"""Numba-compiled loops, threads that run them, and linear algebra limited to a single thread."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bayespool.errors import CacheWarning, warn_caller
from bayespool.interruption import held_back

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["cache_folder", "compiled", "has_cache", "in_threads", "one_thread", "say_no_cache"]

_MAX_THREADS = 8  # each of which holds about 50 MB

_Loop = TypeVar("_Loop", bound=Callable[..., Any])
_Result = TypeVar("_Result")


def compiled(loop: _Loop) -> _Loop:
    """Compile a function with numba on its first call, with a disk cache (decorator).

    numba is imported only then.

    If no folder for the cache is writable or the disk is full, each process compiles it again, with one
    `CacheWarning`.

    Parameters
    ----------
    loop : callable
        Takes arrays, tuples of arrays and numbers by position, and calls no other compiled function.
    """

    @cache
    def machine_code() -> Callable[..., Any]:
        import numba

        keep = has_cache(loop)
        return numba.njit(cache=keep, nogil=True)(loop)  # type: ignore[no-any-return]

    @wraps(loop)
    def call(*arguments: Any) -> Any:
        with held_back():
            try:
                return machine_code()(*arguments)
            except OSError:  # the cache cannot be written; the loop is compiled by now
                say_no_cache()
                return machine_code()(*arguments)

    return cast(_Loop, call)


def has_cache(loop: Callable[..., Any]) -> bool:
    """Return whether numba can cache a compiled function on disk, with a warning if not."""
    import numba

    try:
        numba.njit(cache=True)(loop)  # compiles nothing yet
    except RuntimeError:
        say_no_cache()
        return False
    return True


def cache_folder() -> str | None:
    """Return the folder in which numba caches compiled functions, or None if none is writable."""
    import numba

    try:
        return str(numba.njit(cache=True)(_probe).stats.cache_path)
    except RuntimeError:
        return None


def _probe(x: float) -> float:
    return x


@cache
def say_no_cache() -> None:
    """Warn, once per process, that compiled loops cannot be cached on disk."""
    warn_caller(
        "compiled loops cannot be kept on disk, so that each process compiles them again, which takes some "
        "seconds; name a folder that is writable in NUMBA_CACHE_DIR",
        CacheWarning,
    )


def in_threads(work: Callable[[int], _Result], parts: Sequence[int]) -> list[_Result]:
    """Return what a function makes of each part, in threads except in the worker of an experiment."""
    n_threads = 1  # the loops are compiled and release the GIL
    if multiprocessing.parent_process() is None:
        affinity = getattr(os, "sched_getaffinity", None)
        n_processors = len(affinity(0)) if affinity else os.cpu_count() or 1
        n_threads = min(len(parts), n_processors, _MAX_THREADS)
    if n_threads < 2:
        return [work(part) for part in parts]
    first = work(parts[0])  # fills caches before the threads start
    with ThreadPoolExecutor(n_threads) as pool:
        return [first, *pool.map(work, parts[1:])]


def one_thread() -> AbstractContextManager[Any]:
    """Return a context manager that limits linear algebra to one thread.

    More threads mostly wait on such small systems.
    """
    limited: AbstractContextManager[Any] = _threads().limit(limits=1)
    return limited


@cache
def _threads() -> ThreadpoolController:
    """Return the cached controller for loaded BLAS libraries.

    Finding them takes longer than a small fit.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

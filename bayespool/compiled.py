"""Loops that are the algorithm, compiled by numba when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar, cast

from bayespool.errors import CacheWarning, warn_caller

__all__ = ["cache_folder", "compiled", "has_cache", "say_no_cache"]

_Loop = TypeVar("_Loop", bound=Callable[..., Any])


def compiled(loop: _Loop) -> _Loop:
    """The function, compiled at its first call and then kept on disk; numba is not imported before.

    Where nothing can be kept (an installation that is read-only, and no home that is writable; a full disk),
    each process compiles it anew, and a `CacheWarning` says so once.

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
        try:
            return machine_code()(*arguments)
        except OSError:  # it cannot be written there; it is compiled by now
            say_no_cache()
            return machine_code()(*arguments)
        except SystemError as error:  # numba's words for Ctrl-C while its machine code returns
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise error.__cause__ from None
            raise

    return cast(_Loop, call)


def has_cache(loop: Callable[..., Any]) -> bool:
    """Whether there is a place to keep a function that is compiled; warns where there is none."""
    import numba

    try:
        numba.njit(cache=True)(loop)  # which compiles nothing yet
    except RuntimeError:
        say_no_cache()
        return False
    return True


def cache_folder() -> str | None:
    """A folder in which compiled functions are kept; None where none can be written to."""
    import numba

    try:
        return str(numba.njit(cache=True)(_probe).stats.cache_path)
    except RuntimeError:
        return None


def _probe(x: float) -> float:
    return x


@cache
def say_no_cache() -> None:
    """Warn, in this process once, that compiled loops are not kept."""
    warn_caller(
        "compiled loops cannot be kept on disk, so that each process compiles them anew, which takes some "
        "seconds; name a folder that is writable in NUMBA_CACHE_DIR",
        CacheWarning,
    )

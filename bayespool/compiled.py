"""Loops that are the algorithm, compiled by numba when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar, cast

__all__ = ["compiled"]

_Loop = TypeVar("_Loop", bound=Callable[..., Any])


def compiled(loop: _Loop) -> _Loop:
    """The function, compiled at its first call and then kept on disk; numba is not imported before.

    Parameters
    ----------
    loop : callable
        Takes arrays, tuples of arrays and numbers by position, and calls no other compiled function.
    """

    @cache
    def machine_code() -> Callable[..., Any]:
        import numba

        return numba.njit(cache=True, nogil=True)(loop)  # type: ignore[no-any-return]

    @wraps(loop)
    def call(*arguments: Any) -> Any:
        return machine_code()(*arguments)

    return cast(_Loop, call)

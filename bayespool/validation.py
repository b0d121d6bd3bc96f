"""Checks of single values that functions are given, and their description in stored results."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, get_args

from bayespool.errors import InputError, known_names
from bayespool.names import describe_estimator

__all__ = [
    "check_choice",
    "check_count",
    "check_number",
    "check_sampling",
    "check_share",
    "described",
    "listed",
]

_MAX_INTEGER = 2**31 - 1  # of any number but a seed


def check_number(
    name: str,
    value: Any,
    *,
    whole: bool = False,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> None:
    """Raise `InputError` unless a value is a number, a whole one if asked, within inclusive and exclusive
    bounds. None passes.

    Examples
    --------
    >>> check_number("share", 1.5, above=0, most=1)
    Traceback (most recent call last):
        ...
    bayespool.errors.InputError: share cannot be 1.5; above 0 and at most 1
    """
    if value is None:
        return
    if not hasattr(value, "__index__" if whole else "__float__"):
        raise InputError(f"{name} cannot be {value!r}", hint="a whole number" if whole else "a number")
    if whole and most is None and not name.endswith("seed"):
        most = _MAX_INTEGER if value > _MAX_INTEGER else None
    bounds = [
        (f"{words} {bound:{',' if whole else 'g'}}", is_inside(value, bound))
        for words, bound, is_inside in (
            ("at least", least, operator.ge),
            ("above", above, operator.gt),
            ("at most", most, operator.le),
            ("below", below, operator.lt),
        )
        if bound is not None
    ]
    if not all(is_inside for _, is_inside in bounds):
        raise InputError(f"{name} cannot be {value!r}", hint=" and ".join(words for words, _ in bounds))


def check_count(name: str, value: Any, *, least: int = 1, most: int | None = None) -> None:
    """Raise `InputError` unless a value is a whole number of at least ``least``, or None."""
    check_number(name, value, whole=True, least=least, most=most)


def check_share(name: str, value: Any) -> None:
    """Raise `InputError` unless a value is strictly between 0 and 1, or None."""
    check_number(name, value, above=0, below=1)


def check_sampling(sampler: Any) -> None:
    """Raise `InputError` for numbers of draws, chains and the like that a sampler cannot have."""
    bounds = {"draws": 10**7, "tune": 10**7, "chains": 1000, "cores": None, "n_points": None}
    for name, most in bounds.items():
        check_count(name, getattr(sampler, name, None), most=most)
    check_share("target_accept", getattr(sampler, "target_accept", None))


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Raise `InputError` unless a value is among the choices: a collection, or a Literal."""
    names = choices if isinstance(choices, Collection) else get_args(choices)
    if value not in names:
        raise InputError(f"{name} cannot be {value!r}", hint=known_names(value, names))


def listed(
    name: str,
    values: Any,
    check: Callable[..., None] | None = None,
    *choices: Any,
    may_be_empty: bool = False,
    **bounds: Any,
) -> tuple[Any, ...]:
    """Return the values as a tuple: none of None, one of a single value; an empty sequence is an
    `InputError` unless it may be empty, and each value may be checked by one of the functions above.

    Examples
    --------
    >>> listed("tests", "paired-t"), listed("judgments", [10, 20]), listed("unpool", None)
    (('paired-t',), (10, 20), ())
    """
    if values is None:
        return ()
    several = (values,) if isinstance(values, str) or not isinstance(values, Iterable) else tuple(values)
    if not several and not may_be_empty:
        raise InputError(f"{name} cannot be empty", hint="leave it out, or name some")
    if check is not None:
        for value in several:
            check(name, value, *choices, **bounds)
    return several


def described(**settings: Any) -> dict[str, Any]:
    """Return settings as JSON-compatible values, in their order."""
    return {name: _plain(value) for name, value in settings.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    return describe_estimator(value) if hasattr(value, "estimate") else str(value)

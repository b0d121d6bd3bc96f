"""Tests of many cases as one: thousands of tests take longer to hand around than to do."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def cases(
    names: str | tuple[str, ...], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, with all values in one test, which fails with every case that fails.

    Fixtures are made once, and are those of all cases.
    """
    listed, together = list(values), (names,) if isinstance(names, str) else names

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def of_all(*args: Any, **fixtures: Any) -> None:
            wrong = []
            for value in listed:
                case = dict(zip(together, (value,) if isinstance(names, str) else value, strict=True))
                try:
                    test(*args, **case, **fixtures)
                except (AssertionError, pytest.fail.Exception) as error:
                    wrong.append(f"{case}: {error}")
                except Exception as error:
                    error.add_note(f"of the case {case}")
                    raise
            assert not wrong, "\n".join(wrong)

        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in together]
        of_all.__name__, of_all.__doc__, of_all.__module__ = test.__name__, test.__doc__, test.__module__
        of_all.pytestmark = getattr(test, "pytestmark", [])  # type: ignore[attr-defined]
        of_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return of_all

    return decorate

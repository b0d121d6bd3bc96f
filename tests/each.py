"""A test of every file, as one test: thousands of tests take longer to hand around than to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path


def of_each(paths: Sequence[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """A decorator of a test of one file; the test of all of them fails with what each file fails with."""

    def decorate(test: Callable[[Path], None]) -> Callable[[], None]:
        def of_all() -> None:
            wrong = []
            for path in paths:
                try:
                    test(path)
                except AssertionError as error:
                    wrong.append(f"{path}: {error}")
            assert not wrong, "\n".join(wrong)

        of_all.__name__, of_all.__doc__, of_all.__module__ = test.__name__, test.__doc__, test.__module__
        return of_all

    return decorate

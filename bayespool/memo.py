"""Results derived from a collection, kept with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

__all__ = ["Memo"]

Made = TypeVar("Made")


class Memo:
    """Results by name and key. A copy with other fields, and one in another process, begins empty.

    Attributes
    ----------
    joined : bayespool.collection.packing.Joined or None
        The pool alone that runs were joined to, if they were.
    """

    def __init__(self) -> None:
        self.joined: Any = None
        self._made: dict[str, dict[Hashable, Any]] = {}

    def __reduce__(self) -> tuple[type[Memo], tuple[()]]:
        return Memo, ()

    def once(
        self, name: str, make: Callable[[], Made], key: Hashable = None, *, keep: int | None = None
    ) -> Made:
        """Return the result with this name and key, made at the first call.

        Only the last ``keep`` results of a name stay, all by default.
        """
        made = self._made.setdefault(name, {})
        if key not in made:
            result = make()
            while keep is not None and len(made) >= keep:
                made.pop(next(iter(made)), None)
            made[key] = result
        kept: Made = made[key]
        return kept

"""What a planted fault is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Fault"]


@dataclass(frozen=True)
class Fault:
    """A mistake in one module, which its tests should find.

    Attributes
    ----------
    name : str
    module : str
        Path below ``bayespool``.
    before, after : str
        Text of the module, which occurs in it once, and what the fault makes of it.
    tests : str
        Files and folders below ``tests`` that are run first, with blanks between: the tests of the room.
    why : str
        What a user would suffer.
    """

    name: str
    module: str
    before: str
    after: str
    tests: str
    why: str

    @property
    def room(self) -> str:
        """First part of the module, as the table of rooms has it."""
        return self.module.partition("/")[0].removesuffix(".py")

    def planted(self, text: str) -> str:
        """The module's text with the fault; ValueError where the text is not there, or there twice."""
        if (n := text.count(self.before)) != 1:
            raise ValueError(f"{self.name}: its text occurs {n} times in {self.module}")
        if self.before == self.after:
            raise ValueError(f"{self.name}: changes nothing")
        return text.replace(self.before, self.after)

    def path(self, checkout: Path) -> Path:
        """The module's file in a checkout."""
        return checkout / "bayespool" / self.module

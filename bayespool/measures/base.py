"""What every measure is: a frozen value with a text, computed from the levels of a ranking."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError
from bayespool.values import Values

__all__ = ["MEASURES", "Additive", "Measure", "register_measure"]

MEASURES: dict[str, type[Measure]] = {}
"""Families of measures by their names in ir_measures' dialect."""

_Family = TypeVar("_Family", bound="type[Measure]")


@dataclass(frozen=True, order=True)
class Measure(ABC):
    """A measure of a ranking on a topic, from the relevance levels of its documents.

    A family is a frozen dataclass that says its ``name`` and how levels become an amount, and that
    `register_measure` makes known to the parser, the command line and every function that takes measures.

    Parameters
    ----------
    cutoff : int
        Ranks that count, at least 1, however short the run.
    rel : int, default 1
        The smallest relevance that counts as relevant, at least 1.

    Raises
    ------
    InputError
        A parameter is out of range.
    """

    cutoff: int
    rel: int = 1

    name: ClassVar[str]
    """Name of the family in ir_measures' dialect, the P of P@10."""
    label: ClassVar[str] = ""
    """What it is, in a few words."""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """Least and greatest value on a topic."""

    def __post_init__(self) -> None:
        text = f"{self.name}(rel={self.rel})@{self.cutoff}"
        for value in (self.cutoff, self.rel):
            if not isinstance(value, int | np.integer):
                raise InputError(f"{text}: cutoff and rel must be whole numbers")
        if self.cutoff < 1 or self.rel < 1:
            raise InputError(f"{text}: cutoff and rel must be at least 1")
        if self.rel > np.iinfo(np.int16).max:
            raise InputError(f"{text}: no relevance is as large", hint=f"at most {np.iinfo(np.int16).max}")

    def __str__(self) -> str:
        given = "" if self.rel == 1 else f"(rel={self.rel})"
        return f"{self.name}{given}@{self.cutoff}"

    @property
    def unit(self) -> int:
        """What an amount is divided by to be a value: more than 1 where amounts are whole numbers."""
        return 1

    @property
    def is_exact(self) -> bool:
        """Whether amounts are whole numbers."""
        return self.unit > 1

    @abstractmethod
    def evaluate(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Amounts of rankings.

        Parameters
        ----------
        levels : ndarray of int, shape (..., rank)
            Relevance of the documents from the first rank down, 0 for one that is not relevant and for a
            missing rank; there may be fewer or more ranks than the cutoff.

        Returns
        -------
        ndarray, shape (...)
            Each depends on its own ranking alone. It does not fall when a level rises.
        """

    def amounts(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What `evaluate` says as numbers, int32 where amounts are whole and float otherwise.

        Raises
        ------
        InputError
            It is no array with a number for each ranking.
        """
        found: Any = self.evaluate(levels)
        if (
            not isinstance(found, np.ndarray)
            or found.shape != levels.shape[:-1]
            or found.dtype.kind not in "biuf"
        ):
            raise InputError(f"{self}: evaluate does not give a number for each ranking")
        return np.asarray(found.astype(np.int32 if self.is_exact else np.float64, copy=False))

    def values(self, levels: npt.NDArray[Any]) -> Values:
        """Values of rankings with levels of shape (..., run, topic, rank)."""
        return Values(self.amounts(levels), self.unit)


class Additive(Measure):
    """A measure that is a sum over ranks of a weight times the gain of the document there.

    Completed judgments are evaluated without laying the rankings out, which takes a tenth of the time.
    """

    @abstractmethod
    def weights(self) -> npt.NDArray[Any]:
        """Weights of the ranks from the first down to the cutoff: whole numbers if amounts are."""

    @abstractmethod
    def gains(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Gain of each level, of the shape of ``levels``; 0 for level 0."""

    def evaluate(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The weighted sum of gains."""
        weights = self.weights()[: levels.shape[-1]]
        return np.asarray(self.gains(levels[..., : len(weights)]) @ weights)


def register_measure(family: _Family) -> _Family:
    """Make a family of measures known by its name; as a decorator.

    Raises
    ------
    InputError
        Another family has the name.
    """
    if not re.fullmatch("[A-Za-z]+", family.name):
        raise InputError(f"a family of measures cannot be called {family.name!r}", hint="letters alone")
    known = MEASURES.setdefault(family.name, family)
    if known is not family and known.__qualname__ != family.__qualname__:
        raise InputError(f"two families of measures are called {family.name!r}")
    MEASURES[family.name] = family
    return family

"""Base classes of measures, computed from the relevance levels of a ranking."""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError
from bayespool.measures.values import Values

MEASURES: dict[str, type[Measure]] = {}
"""Families of measures by their names in ir_measures."""

MISSING_RANK = -2
"""Level of a rank beyond the end of a run, for a measure that reads unjudged documents."""

MAX_CUTOFF = 1_000_000
"""The largest cutoff."""
MAX_RELEVANCE = int(np.iinfo(np.int16).max)
"""The highest relevance that a document can have."""

_Family = TypeVar("_Family", bound="type[Measure]")


class Tally(NamedTuple):
    """Number of documents of each topic and relevance, from which an ideal ranking is made.

    Attributes
    ----------
    n : ndarray of int, shape (..., topic, level)
        Axes before the last two are draws and runs; without them all runs have one ideal ranking.
    levels : tuple of int
        The positive relevance levels, ascending.
    """

    n: npt.NDArray[Any]
    levels: tuple[int, ...]


class DrawnRankings(NamedTuple):
    """Rankings of one topic in which some documents are drawn: ``ranked``, relevance of judged documents down
    to the cutoff (`Measure.read`), shape (run, rank); places of drawn documents by run and rank from 0, shape
    (place,); ``levels``, ascending from 0, of which draws are positions.
    """

    ranked: npt.NDArray[np.int16]
    run: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    unknown: npt.NDArray[np.int32]
    levels: tuple[int, ...]


@dataclass(frozen=True, order=True)
class Measure(ABC):
    """A measure of a ranking on a topic, from the relevance levels of its documents.

    A family is a frozen dataclass with a ``name`` and `evaluate`, which `register_measure` makes known to the
    parser, the command line and every function that takes measures.

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
    """Name of the family in ir_measures, the P of P@10."""
    label: ClassVar[str] = ""
    """A description in a few words."""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """Least and greatest value on a topic."""
    is_graded: ClassVar[bool] = False
    """Whether levels above ``rel`` differ in value."""
    reads_unjudged: ClassVar[bool] = False
    """Whether `evaluate` gets −1 for an unjudged document and `MISSING_RANK` for a missing rank instead of
    0.
    """
    of_judgments: ClassVar[bool] = False
    """Whether it describes the judgments themselves, so that no completion changes it."""
    rises: ClassVar[bool] = True
    """Whether it never falls when a level rises, so that its bounds are its values with all unjudged
    documents nonrelevant, and with all at the highest level.
    """

    def __post_init__(self) -> None:
        text = f"{self.name}(rel={self.rel})@{self.cutoff}"
        for field in ("cutoff", "rel"):
            object.__setattr__(self, field, whole_number(f"{text}: {field}", getattr(self, field)))
        if self.cutoff < 1 or self.rel < 1:
            raise InputError(f"{text}: cutoff and rel must be at least 1")
        if self.cutoff > MAX_CUTOFF:
            raise InputError(f"{text}: no ranking is as long", hint=f"at most {MAX_CUTOFF}")
        if self.rel > MAX_RELEVANCE:
            raise InputError(f"{text}: no relevance is as large", hint=f"at most {MAX_RELEVANCE}")

    def __str__(self) -> str:
        parameters = ",".join(f"{name}={_literal(value)}" for name, value in self.parameters().items())
        return f"{self.name}({parameters})@{self.cutoff}" if parameters else f"{self.name}@{self.cutoff}"

    def parameters(self) -> dict[str, Any]:
        """Parameters in the text beside the cutoff: those that differ from their defaults."""
        parameters = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "cutoff" and value != field.default:
                parameters[field.name] = value
        return parameters

    @classmethod
    def keywords(cls) -> dict[str, str]:
        """Parameters that a text may give in parentheses, mapped to the names of fields."""
        return {field.name: field.name for field in dataclasses.fields(cls) if field.name != "cutoff"}

    @classmethod
    def without_cutoff(cls, **parameters: Any) -> Measure:
        """The measure of a text without a cutoff.

        Raises
        ------
        InputError
            It needs a cutoff, which says how deep judgments are completed.
        """
        raise InputError(
            "it needs a cutoff, which says how deep judgments are completed", hint=f"write {cls.name}@1000"
        )

    @property
    def unit(self) -> int:
        """Divisor that turns an amount into a value: more than 1 where amounts are whole numbers."""
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
            Relevance of the documents from the first rank down, 0 for a nonrelevant one and for a missing
            rank (see ``reads_unjudged``); there may be fewer or more ranks than the cutoff.

        Returns
        -------
        ndarray, shape (...)
            Each depends on its own ranking alone. It does not fall when a level rises, unless ``rises`` is
            False.
        """

    def open_end(self, n_ranks: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
        """Value that ranks beyond the end of a run could still add.

        Parameters
        ----------
        n_ranks : ndarray of int
            Documents that each run returns.

        Returns
        -------
        ndarray of float, or None
            Of the shape of ``n_ranks``; None, for nothing, unless the measure is defined on endless rankings.
        """
        return None

    def of_draws(self, rankings: DrawnRankings) -> Callable[[npt.NDArray[np.uint8]], npt.NDArray[Any]] | None:
        """A fast function from drawn levels, shape (draw, unknown), to amounts, shape (draw, run), or
        None.
        """
        return None

    def amounts(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Amounts of `evaluate`, int32 where they are whole numbers and float otherwise, shape (...).

        Raises
        ------
        InputError
            `evaluate` does not return a number for each ranking.
        """
        amounts: Any = self.evaluate(levels)
        if (
            not isinstance(amounts, np.ndarray)
            or amounts.shape != levels.shape[:-1]
            or amounts.dtype.kind not in "biuf"
        ):
            raise InputError(f"{self}: evaluate does not give a number for each ranking")
        return np.asarray(amounts.astype(np.int32 if self.is_exact else np.float64, copy=False))

    def read(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Levels as `evaluate` takes them, from levels with unjudged documents as negative numbers."""
        return levels if self.reads_unjudged else np.maximum(levels, 0)

    def normalize(self, amounts: npt.NDArray[Any], tally: Tally) -> npt.NDArray[Any]:
        """Amounts of shape (..., run, topic), which a `Normalized` measure divides by those of ideal
        rankings.
        """
        return amounts

    def values(self, levels: npt.NDArray[Any], tally: Tally | None = None) -> Values:
        """Values of rankings.

        Parameters
        ----------
        levels : ndarray of int, shape (..., run, topic, rank)
        tally : Tally, optional
            Documents of the topics' ideal rankings; a `Normalized` measure needs it.
        """
        amounts = self.amounts(levels)
        return Values(amounts if tally is None else self.normalize(amounts, tally), self.unit)


class Additive(Measure):
    """A measure that is a sum over ranks of a weight times the gain of the document there.

    Completed judgments are evaluated without laying the rankings out, in a tenth of the time.
    """

    @abstractmethod
    def weights(self) -> npt.NDArray[Any]:
        """Weights of the ranks down to the cutoff, shape (rank,): whole numbers if amounts are."""

    @abstractmethod
    def gains(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Gain of each level, of the shape of ``levels``; 0 for unknown documents (level 0, or −1 where the
        family reads unjudged documents).
        """

    def evaluate(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Weighted sums of gains, shape (...)."""
        weights = self.weights()[: levels.shape[-1]]
        # no matrix product, whose last bit depends on how many rankings there are
        return np.asarray((self.gains(levels[..., : len(weights)]) * weights).sum(axis=-1))


def register_measure(family: _Family) -> _Family:
    """Class decorator that registers a family of measures under its name.

    Raises
    ------
    InputError
        Another family has the name. A user's family may be redefined, one of the package's may not.
    """
    if not re.fullmatch("[A-Za-z]+", family.name):
        raise InputError(f"a family of measures cannot be called {family.name!r}", hint="letters alone")
    known = MEASURES.setdefault(family.name, family)
    ours, theirs = (cls.__module__.startswith("bayespool.") for cls in (known, family))
    if known.__qualname__ != family.__qualname__ or (ours and not theirs):
        raise InputError(f"two families of measures are called {family.name!r}")
    MEASURES[family.name] = family
    return family


def whole_number(label: str, value: Any) -> int:
    """A parameter as an int; `InputError` if it is not a whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{label} must be a whole number, and is {value!r}")
    return int(value)


def _literal(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{v}" for k, v in value.items()) + "}"
    return repr(value)

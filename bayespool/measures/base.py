"""What every measure is: a frozen value with a text, computed from the levels of a ranking."""

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
"""Families of measures by their names in ir_measures' dialect."""

MISSING_RANK = -2
"""What a rank beyond the end of a run is in the levels of a measure that reads unjudged documents."""

DEEPEST = 1_000_000
"""The largest cutoff."""
HIGHEST = int(np.iinfo(np.int16).max)
"""The highest relevance that a document can have."""

_Family = TypeVar("_Family", bound="type[Measure]")


class Tally(NamedTuple):
    """How many documents of each topic have each relevance: what an ideal ranking is made of.

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
    """Rankings of one topic in which some documents are drawn.

    Attributes
    ----------
    ranked : ndarray of int16, shape (run, rank)
        Relevance of the judged documents down to the cutoff, as `Measure.read` gives it.
    run, rank, unknown : ndarray of int32, shape (place,)
        Places of drawn documents, in the order of runs and ranks; ranks from 0.
    levels : tuple of int
        Ascending from 0; what is drawn are places in it.
    """

    ranked: npt.NDArray[np.int16]
    run: npt.NDArray[np.int32]
    rank: npt.NDArray[np.int32]
    unknown: npt.NDArray[np.int32]
    levels: tuple[int, ...]


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
    is_graded: ClassVar[bool] = False
    """Whether levels above ``rel`` are told apart."""
    reads_unjudged: ClassVar[bool] = False
    """Whether `evaluate` is given −1 for an unjudged document and `MISSING_RANK` for a missing rank, and not
    0 for both."""
    of_judgments: ClassVar[bool] = False
    """Whether it is about the judgments as they stand, so that no completion changes it."""
    rises: ClassVar[bool] = True
    """Whether it never falls when a level rises, so that it is bounded by its values with all unjudged
    documents nonrelevant, and with all at the highest level."""

    def __post_init__(self) -> None:
        text = f"{self.name}(rel={self.rel})@{self.cutoff}"
        for field in ("cutoff", "rel"):
            object.__setattr__(self, field, whole_number(f"{text}: {field}", getattr(self, field)))
        if self.cutoff < 1 or self.rel < 1:
            raise InputError(f"{text}: cutoff and rel must be at least 1")
        if self.cutoff > DEEPEST:
            raise InputError(f"{text}: no ranking is as long", hint=f"at most {DEEPEST}")
        if self.rel > HIGHEST:
            raise InputError(f"{text}: no relevance is as large", hint=f"at most {HIGHEST}")

    def __str__(self) -> str:
        given = ",".join(f"{name}={_literal(value)}" for name, value in self.parameters().items())
        return f"{self.name}({given})@{self.cutoff}" if given else f"{self.name}@{self.cutoff}"

    def parameters(self) -> dict[str, Any]:
        """What the text says beside the cutoff: the parameters that are not at their defaults."""
        given = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "cutoff" and value != field.default:
                given[field.name] = value
        return given

    @classmethod
    def keywords(cls) -> dict[str, str]:
        """Parameters that a text may give in parentheses: what it calls them, and the names of the fields."""
        return {field.name: field.name for field in dataclasses.fields(cls) if field.name != "cutoff"}

    @classmethod
    def without_cutoff(cls, **parameters: Any) -> Measure:
        """The measure of a text without a cutoff.

        Raises
        ------
        InputError
            It needs one: how deep judgments are completed has to be said.
        """
        raise InputError(
            "it needs a cutoff, which says how deep judgments are completed", hint=f"write {cls.name}@1000"
        )

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
            missing rank (see ``reads_unjudged``); there may be fewer or more ranks than the cutoff.

        Returns
        -------
        ndarray, shape (...)
            Each depends on its own ranking alone. It does not fall when a level rises, unless the family says
            so (``rises``).
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
            Of the shape of ``n_ranks``. None, which is nothing, where a missing rank is nonrelevant: for all
            measures but one that is defined on rankings without an end.
        """
        return None

    def of_draws(self, rankings: DrawnRankings) -> Callable[[npt.NDArray[np.uint8]], npt.NDArray[Any]] | None:
        """A way that is faster than laying rankings out from drawn levels, of shape (draw, unknown), to
        amounts, of shape (draw, run); None where there is none.
        """
        return None

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

    def read(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Levels with unjudged documents as negative numbers, as `evaluate` takes them."""
        return levels if self.reads_unjudged else np.maximum(levels, 0)

    def normalize(self, amounts: npt.NDArray[Any], tally: Tally) -> npt.NDArray[Any]:
        """Amounts of shape (..., run, topic) as they are; of a `Normalized` measure, over what the ideal
        ranking of each topic gets.
        """
        return amounts

    def values(self, levels: npt.NDArray[Any], tally: Tally | None = None) -> Values:
        """Values of rankings with levels of shape (..., run, topic, rank).

        Parameters
        ----------
        levels : ndarray of int, shape (..., run, topic, rank)
        tally : Tally, optional
            What the topics' ideal rankings are made of; a `Normalized` measure needs it.
        """
        amounts = self.amounts(levels)
        return Values(amounts if tally is None else self.normalize(amounts, tally), self.unit)


class Additive(Measure):
    """A measure that is a sum over ranks of a weight times the gain of the document there.

    Completed judgments are evaluated without laying the rankings out, which takes a tenth of the time.
    """

    @abstractmethod
    def weights(self) -> npt.NDArray[Any]:
        """Weights of the ranks from the first down to the cutoff: whole numbers if amounts are."""

    @abstractmethod
    def gains(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Gain of each level, of the shape of ``levels``; 0 for a document of which nothing is known, which
        is level 0, or −1 where the family reads unjudged documents.
        """

    def evaluate(self, levels: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The weighted sum of gains."""
        weights = self.weights()[: levels.shape[-1]]
        # no matrix product, whose last bit depends on how many rankings there are
        return np.asarray((self.gains(levels[..., : len(weights)]) * weights).sum(axis=-1))


def register_measure(family: _Family) -> _Family:
    """Make a family of measures known by its name; as a decorator.

    Raises
    ------
    InputError
        Another family has the name. A family of one's own may be defined anew, one of the package's may not.
    """
    if not re.fullmatch("[A-Za-z]+", family.name):
        raise InputError(f"a family of measures cannot be called {family.name!r}", hint="letters alone")
    known = MEASURES.setdefault(family.name, family)
    ours, theirs = (one.__module__.startswith("bayespool.") for one in (known, family))
    if known.__qualname__ != family.__qualname__ or (ours and not theirs):
        raise InputError(f"two families of measures are called {family.name!r}")
    MEASURES[family.name] = family
    return family


def whole_number(what: str, value: Any) -> int:
    """A parameter as an int.

    Raises
    ------
    InputError
        It is no whole number.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{what} must be a whole number, and is {value!r}")
    return int(value)


def _literal(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{v}" for k, v in value.items()) + "}"
    return repr(value)

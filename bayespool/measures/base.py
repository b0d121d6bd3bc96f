"""Base classes of measures, computed from the relevance of a ranking, and of those over an ideal ranking."""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from bayespool.arrays import AnyArray, FloatArray, IntArray, LevelArray, Levels
from bayespool.errors import InputError
from bayespool.measures.values import Values
from bayespool.names import Ideal as Ideal
from bayespool.tables.citations import cite
from bayespool.validation import check_choice

MEASURES: dict[str, type[Measure]] = {}
"""Measure families, keyed by their names in ir_measures."""

MISSING_RANK = -2
"""Code for a rank beyond the end of a run, for measures that distinguish unjudged documents."""
UNREACHED = -3
"""Code for an unjudged document that no completion judges, used to compute bounds."""

MAX_CUTOFF = 1_000_000
"""Largest cutoff allowed."""
MAX_RELEVANCE = int(np.iinfo(np.int16).max)
"""Highest relevance level that a document can have."""

Extremes = tuple[FloatArray, FloatArray]
_Family = TypeVar("_Family", bound="type[Measure]")


class Tally(NamedTuple):
    """Number of documents per topic and relevance level, from which ideal rankings are made.

    Attributes
    ----------
    n : ndarray of int, shape (..., topic, level)
        Axes before the last two are draws and runs; without them all runs have one ideal ranking.
    levels : tuple of int
        The positive relevance levels, ascending.
    """

    n: AnyArray
    levels: tuple[int, ...]


class DrawnRankings(NamedTuple):
    """Rankings for one topic, shape (run, rank), and the ranks of documents with drawn relevance."""

    ranked: LevelArray  # relevance of judged documents down to the cutoff (`Measure.read`)
    run: IntArray
    rank: IntArray  # from 0
    unknown: IntArray
    levels: tuple[int, ...]  # ascending from 0; draws are positions in them


@dataclass(frozen=True, order=True)
class Measure(ABC):
    """Base class for measures, computed on each topic from the relevance levels in a ranking.

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
    """Family name in ir_measures, such as P for P@10."""
    label: ClassVar[str] = ""
    """Short description, in a few words."""
    examples: ClassVar[tuple[str, ...]] = ()
    """Texts that the shell offers."""
    citations: ClassVar[tuple[str, ...]] = ()
    """Keys in `bayespool.tables.CITATIONS` for the papers that define the measure."""
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """Lowest and highest possible value on a topic."""
    is_graded: ClassVar[bool] = False
    """Whether the measure distinguishes between relevance levels above ``rel``."""
    reads_unjudged: ClassVar[bool] = False
    """Whether `evaluate` receives −1 for unjudged documents and `MISSING_RANK` for missing ranks, not 0."""
    has_gains: ClassVar[bool] = False
    """Whether the expected score follows from the expected gain of each document (`expected_amounts`)."""
    describes_judgments: ClassVar[bool] = False
    """Whether the measure describes judgments rather than relevance, so that completions cannot change it."""
    rises: ClassVar[bool] = True
    """Whether the measure never decreases when a relevance level rises.

    A measure for which this is False states its own bounds: see `extremes`.
    """
    falls: ClassVar[bool] = False
    """Whether the measure never increases when a relevance level rises, so that lower is better."""

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

    @property
    def least_level(self) -> int:
        """Smallest relevance level that the measure counts."""
        return self.rel

    def __str__(self) -> str:
        parameters = ",".join(f"{name}={_literal(value)}" for name, value in self.parameters().items())
        return f"{self.name}({parameters})@{self.cutoff}" if parameters else f"{self.name}@{self.cutoff}"

    def parameters(self) -> dict[str, Any]:
        """Return the parameters besides the cutoff that differ from their defaults."""
        parameters = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "cutoff" and value != field.default:
                parameters[field.name] = value
        return parameters

    @classmethod
    def keywords(cls) -> dict[str, str]:
        """Return the parameters allowed in parentheses, mapped to field names."""
        return {field.name: field.name for field in dataclasses.fields(cls) if field.name != "cutoff"}

    @classmethod
    def without_cutoff(cls, **parameters: Any) -> Measure:
        """Return the measure for a string without a cutoff, or raise `InputError` if the family needs one."""
        raise InputError(
            "it needs a cutoff, which says how deep judgments are completed",
            hint=f"write {cls.name}@10, or {cls.name}@1000 for whole runs",
        )

    @property
    def unit(self) -> int:
        """Divisor from unscaled to final scores, more than 1 if unscaled scores are whole numbers."""
        return 1

    @property
    def is_exact(self) -> bool:
        """Whether unscaled scores are whole numbers."""
        return self.unit > 1

    @abstractmethod
    def evaluate(self, levels: AnyArray) -> AnyArray:
        """Return unscaled scores of rankings ("amounts"), to be divided by `unit`.

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

    def extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Return lower and upper bounds on unscaled scores over all completions.

        Parameters
        ----------
        levels : ndarray of int, shape (run, topic, rank)
            As `evaluate` takes them, down to the cutoff, but −1 for an unjudged document that a completion
            may give any level of the tally, or 0. A family that reads unjudged documents gets `UNREACHED`
            for those that stay unjudged.
        tally : Tally
            Of the judged documents.
        n_elsewhere : ndarray of int, shape (run, topic)
            Unjudged documents in reach that the run does not rank within the cutoff, for a measure over an
            ideal ranking; 0 for others.

        Returns
        -------
        least, most : ndarray, shape (run, topic)
            If the measure rises: with no unjudged document relevant, and with all at the highest level. If it
            falls: the other way round. If it does neither: the ends of its ``range`` where anything is open,
            which holds for any family and is seldom sharp.
        """
        top = tally.levels[-1] if tally.levels else 0
        low, high = (self.amounts(np.where(levels == -1, np.int16(level), levels)) for level in (0, top))
        if self.rises or self.falls:
            return (low, high) if self.rises else (high, low)
        is_open = (levels[..., : self.cutoff] == -1).any(axis=-1)
        least, most = (np.where(is_open, end * self.unit, low).astype(low.dtype) for end in self.range)
        return least, most

    def open_end(self, n_ranks: AnyArray) -> FloatArray | None:
        """Return the largest value that ranks beyond the end of a run could add, in the shape of ``n_ranks``.

        ``n_ranks`` are the documents that each run returns. None, for nothing, unless the measure is defined
        on endless rankings.
        """
        return None

    def draw_evaluator(self, rankings: DrawnRankings) -> Callable[[Levels], AnyArray] | None:
        """Return a fast function from drawn levels, (draw, document), to unscaled scores, or None."""
        return None

    def amounts(self, levels: AnyArray) -> AnyArray:
        """Return unscaled scores from `evaluate` as int32 if they are whole numbers, else float, (...).

        An `evaluate` that does not return a number for each ranking is an `InputError`.
        """
        amounts: Any = self.evaluate(levels)
        if (
            not isinstance(amounts, np.ndarray)
            or amounts.shape != levels.shape[:-1]
            or amounts.dtype.kind not in "biuf"
        ):
            raise InputError(f"{self}: evaluate does not give a number for each ranking")
        return np.asarray(amounts.astype(np.int32 if self.is_exact else np.float64, copy=False))

    def document_gains(self, levels: AnyArray) -> FloatArray:
        """Return the gain of a document of each level; by default 1 if relevant."""
        return np.asarray(levels >= self.rel, dtype=np.float64)

    def expected_amounts(self, gains: FloatArray) -> FloatArray:
        """Return expected unscaled scores (...) of rankings with these expected gains, shape (..., rank).

        For all but sums of gains these are independent probabilities. Of measures with ``has_gains``.
        """
        raise ValueError(f"{self} has no gains")

    def read(self, levels: AnyArray) -> AnyArray:
        """Return levels as `evaluate` accepts them, given levels with negative codes if unjudged."""
        return levels if self.reads_unjudged else np.maximum(levels, 0)

    def normalize(self, amounts: AnyArray, tally: Tally) -> AnyArray:
        """Return unscaled scores, divided by the ideal ranking's score if the measure is `Normalized`."""
        return amounts

    def values(self, levels: AnyArray, tally: Tally | None = None) -> Values:
        """Return scores for rankings with levels of shape (..., run, topic, rank).

        `Normalized` measures need a tally.
        """
        amounts = self.amounts(levels)
        return Values(amounts if tally is None else self.normalize(amounts, tally), self.unit)


class Additive(Measure):
    """Base class for measures that sum the gain at each rank times the rank's weight.

    Completed judgments are evaluated without laying the rankings out, in a tenth of the time.
    """

    has_gains = True

    @abstractmethod
    def weights(self) -> AnyArray:
        """Return the weight of each rank down to the cutoff, shape (rank,)."""

    def gains(self, levels: AnyArray) -> AnyArray:
        """Return the gain for each relevance level, in the shape of ``levels``; by default 1 if relevant."""
        return (levels >= self.rel).astype(np.float64)

    def evaluate(self, levels: AnyArray) -> AnyArray:
        """Return the weighted sum of gains over ranks, shape (...)."""
        weights = self.weights()[: levels.shape[-1]]
        # no matrix product, whose last bit depends on how many rankings there are
        return np.asarray((self.gains(levels[..., : len(weights)]) * weights).sum(axis=-1))

    def document_gains(self, levels: AnyArray) -> FloatArray:
        """Return `gains` as numbers with a point."""
        return np.asarray(self.gains(levels), dtype=np.float64)

    def expected_amounts(self, gains: FloatArray) -> FloatArray:
        """Return the weighted sum of the gains over ranks, shape (...)."""
        return np.asarray(gains @ self.weights()[: gains.shape[-1]])


@dataclass(frozen=True, order=True)
class Normalized(Measure):
    """Base class for measures divided by the score of the topic's ideal ranking.

    Parameters
    ----------
    ideal : {"own", "shared", "judged"}
        The documents of the ideal ranking. ``"own"``: the judged documents and, in each draw, the completed
        ones in reach of the run itself, so that other runs do not change its value. ``"shared"``: the
        completed ones in reach of any run scored together, one scale for their differences. ``"judged"``: the
        judged documents, as in trec_eval, so that a completed ranking may get more than 1. A topic whose
        ideal ranking gets nothing scores 0.
    """

    ideal: Ideal = "own"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"{self.name}: ideal", self.ideal, Ideal)
        if self.ideal == "judged":
            object.__setattr__(self, "range", (self.range[0], float("inf")))

    @abstractmethod
    def best(self, tally: Tally) -> FloatArray:
        """Return the ideal ranking's unscaled score, (..., topic), from a tally of shape (..., topic, level).

        It never falls with more documents or higher levels.
        """

    def normalize(self, amounts: AnyArray, tally: Tally) -> FloatArray:
        """Return unscaled scores, (..., run, topic), over the ideal ranking's scores, 0 if those are 0.

        The tally has the shape (topic, level) where all runs share one ideal ranking, and else (..., run,
        topic, level).
        """
        return safe_ratio(amounts, self.best(tally))

    def values(self, levels: AnyArray, tally: Tally | None = None) -> Values:
        """Return scores for rankings with levels of shape (..., run, topic, rank), given a tally."""
        if tally is None:
            raise InputError(f"{self} is over an ideal ranking", hint="give a tally of the judged documents")
        return super().values(levels, tally)

    def ideal_steps(self, tally: Tally) -> tuple[FloatArray, AnyArray, FloatArray] | None:
        """Return the parts of `best` if it is Σ_k step_k · Σ_{i ≤ n_k} discount_i, else None.

        Steps of the gain from level to level, shape (level,), numbers n of documents of each level or above,
        (..., topic, level), and discounts, (rank,).
        """
        return None

    def sharp_extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> Extremes | None:
        """Return the lowest and highest score of all completions, two arrays (run, topic), or None.

        Levels are as in `extremes`; a completion can make a document relevant, and counts in the ideal.
        """
        return None

    def extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> Extremes:
        """Return lower and upper bounds over all completions, each of shape (run, topic).

        They hold for any family and are not always sharp: from the amounts, and those of the ideal
        ranking, with no unjudged document relevant and with all at the highest level; the ends of its
        ``range`` where amounts may fall. A family with `sharp_extremes` has those.
        """
        is_open = self.rises and self.ideal != "judged" and max(tally.levels, default=0) >= self.rel
        sharp = self.sharp_extremes(levels[..., : self.cutoff], tally, n_elsewhere) if is_open else None
        return self._wide_extremes(levels, tally, n_elsewhere) if sharp is None else sharp

    def _wide_extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> Extremes:
        """Return bounds on the scores of all completions from the extremes of amounts and ideals."""
        if not self.rises:
            low = self.normalize(self.amounts(np.maximum(levels, 0)), tally)
            is_open = (levels == -1).any(axis=-1) | (n_elsewhere > 0)
            return np.where(is_open, self.range[0], low), np.where(is_open, self.range[1], low)
        top = tally.levels[-1] if tally.levels else 0
        low = self.amounts(np.maximum(levels, 0)).astype(float)
        high = self.amounts(np.maximum(np.where(levels == -1, top, levels), 0)).astype(float)
        if self.ideal == "judged" or not tally.levels:
            return self.normalize(low, tally), self.normalize(high, tally)
        ranked = (levels == -1).sum(axis=-1)
        least, most = np.empty_like(low), np.empty_like(high)
        for run in range(len(levels)):
            more = tally.n.copy()
            more[:, -1] += ranked[run] + n_elsewhere[run]
            least[run] = self.normalize(low[run : run + 1], Tally(more, tally.levels))[0]
            most[run] = self.normalize(high[run : run + 1], tally)[0]
        nothing = self.best(tally) <= 0  # one relevant document may make the ideal
        most = np.where(nothing & (high > 0), self.range[1], np.minimum(most, self.range[1]))
        return least, most


def with_ideal(measures: Iterable[Measure], ideal: Ideal) -> tuple[Measure, ...]:
    """Return the measures with ``ideal`` as their ideal ranking wherever it is "own"."""
    check_choice("ideal", ideal, Ideal)
    changed = (
        dataclasses.replace(measure, ideal=ideal)
        if isinstance(measure, Normalized) and measure.ideal == "own"
        else measure
        for measure in measures
    )
    return tuple(dict.fromkeys(changed))


def n_relevant(tally: Tally, rel: int) -> FloatArray:
    """Return the number of documents with relevance ``rel`` or more, shape (..., topic)."""
    relevant = [column for column, level in enumerate(tally.levels) if level >= rel]
    return np.asarray(tally.n[..., relevant].sum(axis=-1), dtype=np.float64)


def safe_ratio(amounts: AnyArray, best: AnyArray) -> FloatArray:
    """Return unscaled scores over the ideal ranking's scores, 0 if the latter are 0."""
    return np.where(best > 0, amounts / np.where(best > 0, best, 1), 0.0)


def insert_relevant(levels: AnyArray, tally: Tally) -> AnyArray:
    """Return levels with missing relevant documents inserted at the first unjudged ranks.

    The rule is that of Ravana & Moffat (2010, §3).
    """
    filled: AnyArray = np.maximum(levels, 0)
    opened = levels == -1
    place = np.cumsum(opened, axis=-1) - 1
    first = np.zeros(levels.shape[:2], dtype=np.int64)
    for column in reversed(range(len(tally.levels))):
        level = tally.levels[column]
        lacking = np.maximum(tally.n[:, column] - (levels == level).sum(axis=-1), 0)
        here = opened & (place >= first[..., None]) & (place < (first + lacking)[..., None])
        filled[here] = level
        first = first + lacking
    return filled


def register_measure(family: _Family) -> _Family:
    """Register a family of measures under its name (class decorator).

    An unknown citation or a name of another family is an `InputError`; a user's family may be redefined, one
    of the package's not.
    """
    if not re.fullmatch("[A-Za-z]+", family.name):
        raise InputError(f"a family of measures cannot be called {family.name!r}", hint="letters alone")
    cite(family.citations)
    known = MEASURES.setdefault(family.name, family)
    ours, theirs = (cls.__module__.startswith("bayespool.") for cls in (known, family))
    if known.__qualname__ != family.__qualname__ or (ours and not theirs):
        raise InputError(f"two families of measures are called {family.name!r}")
    MEASURES[family.name] = family
    return family


def whole_number(label: str, value: Any) -> int:
    """Return a parameter as an int, or raise `InputError` if it is not a whole number."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{label} must be a whole number, and is {value!r}")
    return int(value)


def _literal(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{v}" for k, v in value.items()) + "}"
    return repr(value)

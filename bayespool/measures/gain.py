"""Discounted cumulative gain: DCG, nDCG and SDCG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bayespool.arrays import AnyArray, FloatArray, IndexArray
from bayespool.errors import InputError
from bayespool.measures.base import (
    MAX_RELEVANCE,
    Additive,
    Extremes,
    Measure,
    Normalized,
    Tally,
    register_measure,
    whole_number,
)
from bayespool.measures.extremes import gain_extremes
from bayespool.validation import check_choice

Formula = Literal["log2", "exp-log2"]


@dataclass(frozen=True, order=True)
class _Gain(Additive):
    """Base class for discounted cumulative gain: each rank's gain over the logarithm of its rank."""

    dcg: Formula = "log2"
    gain_of: tuple[tuple[int, float], ...] = ()

    is_graded = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"{self.name}: dcg", self.dcg, Formula)
        object.__setattr__(self, "gain_of", _gains_by_level(self.name, self.gain_of))
        if self.gain_of and self.dcg != "log2":
            raise InputError(
                f"{self.name}: gains and dcg='{self.dcg}' are two ways to say what a level gains",
                hint="write the powers out: gains={1:1,2:3,3:7}",
            )

    @classmethod
    def keywords(cls) -> dict[str, str]:
        """Return the parameters allowed in parentheses, with ``gains`` mapped to the field ``gain_of``."""
        return {"gains" if field == "gain_of" else text: field for text, field in super().keywords().items()}

    def parameters(self) -> dict[str, Any]:
        """Return the parameters shown in the string form, with gains as a mapping."""
        parameters = super().parameters()
        if self.gain_of:
            parameters["gains"] = dict(parameters.pop("gain_of"))
        return parameters

    def weights(self) -> FloatArray:
        """Return the discount 1/log2(rank + 1) for each rank, shape (rank,)."""
        return _discounts(self.cutoff)

    @property
    def least_level(self) -> int:
        """Smallest relevance level with a gain."""
        gain, level = dict(self.gain_of), self.rel
        while gain.get(level, level) == 0:
            level += 1
        return level

    def gains(self, levels: AnyArray) -> FloatArray:
        """Return the gain for each level from ``gain_of``, the level itself or 2^level − 1; 0 below ``rel``.

        A level that gains less than the one below it, or overflows, is an `InputError`.
        """
        table = np.arange(int(levels.max(initial=0)) + 1, dtype=np.float64)
        for level, gain in self.gain_of:
            table[level : level + 1] = gain
        if self.dcg == "exp-log2":
            with np.errstate(over="ignore"):
                table = np.exp2(table) - 1
        table[: self.rel] = 0
        if not np.isfinite(table).all() or (np.diff(table) < 0).any():
            raise InputError(
                f"{self}: relevance {len(table) - 1} of the judgments gains {table[-1]:g}",
                hint="name every level in gains, none with less than the one below it",
            )
        return np.asarray(table[np.maximum(levels, 0)])


@register_measure
@dataclass(frozen=True, order=True)
class DCG(_Gain):
    """Discounted cumulative gain at a cutoff, DCG@n: the sum of gain / log2(rank + 1) over the top n.

    Parameters
    ----------
    cutoff : int
        As for `Measure`.
    rel : int, default 1
        The smallest relevance that gains anything, at least 1.
    dcg : {"log2", "exp-log2"}
        Whether a document of relevance g gains g or 2^g − 1.
    gain_of : mapping of int to float
        Gains of levels that differ from the level; ``gains`` in a string.

    Raises
    ------
    InputError
        A parameter is out of range; a level gains less than the one below it, or level 0 gains anything.

    Notes
    -----
    DCG@n = Σ gain_i / log2(i + 1) over the ranks i ≤ n. ir_measures has only `NDCG`. Its greatest value
    depends on the relevance levels.

    Examples
    --------
    >>> str(DCG(10)), str(DCG(10, dcg="exp-log2")), str(DCG(10, gain_of={2: 10}))
    ('DCG@10', "DCG(dcg='exp-log2')@10", 'DCG(gains={2:10})@10')
    >>> DCG(3).evaluate(np.array([[2, 0, 1, 1]])).tolist()
    [2.5]
    """

    name = "DCG"
    examples = ("DCG@10",)
    label = "gains of the top n, discounted by the logarithm of the rank"
    citations = ("jarvelin-kekalainen-2002",)
    range = (0.0, math.inf)


@register_measure
@dataclass(frozen=True, order=True)
class NDCG(Normalized, _Gain):
    """Normalized discounted cumulative gain at a cutoff, nDCG@n: DCG over the ideal ranking's DCG.

    Amounts are those of `DCG`.

    Parameters
    ----------
    cutoff, rel, dcg, gain_of
        As for `DCG`; the cutoff is the ideal ranking's too.
    ideal : {"own", "shared", "judged"}
        Documents of the ideal ranking (`Normalized`).

    Notes
    -----
    The ideal ranking has the documents of the topic from the highest gain down. trec_eval's ``ndcg_cut_n`` is
    nDCG@n, gdeval's nDCG has dcg='exp-log2'. A topic without any gain scores 0.

    Examples
    --------
    >>> str(NDCG(10)), str(NDCG(10, dcg="exp-log2")), str(NDCG(10, gain_of={1: 0, 2: 3}))
    ('nDCG@10', "nDCG(dcg='exp-log2')@10", 'nDCG(gains={1:0,2:3})@10')

    A topic has one document of relevance 2 and two of relevance 1, whose ideal ranking gets 3.13:

    >>> tally = Tally(np.array([[2, 1]]), (1, 2))
    >>> NDCG(3).best(tally).round(2).tolist()
    [3.13]
    >>> NDCG(3).values(np.array([[[1, 0, 2]]]), tally).scores().round(2).tolist()
    [[0.64]]
    """

    name = "nDCG"
    examples = ("nDCG@5", "nDCG@10", "nDCG@20")
    label = "discounted gains of the top n over those of the ideal ranking"
    citations = ("jarvelin-kekalainen-2002",)

    def best(self, tally: Tally) -> FloatArray:
        """Return the DCG of the ideal ranking, shape (..., topic)."""
        steps, at_least, discount = self.ideal_steps(tally)
        summed = np.concatenate([[0.0], np.cumsum(discount)])
        # no matrix product, whose last bit depends on how many rankings there are
        return np.asarray((summed[np.minimum(at_least, self.cutoff)] * steps).sum(axis=-1))

    def sharp_extremes(self, levels: AnyArray, tally: Tally, n_elsewhere: AnyArray) -> Extremes:
        """Return sharp lower and upper bounds over all completions, two arrays of shape (run, topic)."""
        gained = self.amounts(np.maximum(levels, 0))
        steps, at_least, discount = self.ideal_steps(tally)
        return gain_extremes(gained, levels == -1, discount, steps, at_least, n_elsewhere)

    def ideal_steps(self, tally: Tally) -> tuple[FloatArray, AnyArray, FloatArray]:
        """Return steps of the gain from level to level, numbers of documents at each or above, discounts."""
        gains = self.gains(np.array(tally.levels, dtype=np.int64))
        at_least = np.flip(np.cumsum(np.flip(tally.n, axis=-1), axis=-1), axis=-1)
        return np.diff(gains, prepend=0.0), at_least, self.weights()


@dataclass(frozen=True, order=True)
class ScaledGain(Measure):
    """Base class for measures with gains scaled to 0–1 between ``min_rel`` and ``max_rel``."""

    min_rel: int = 0
    max_rel: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in ("min_rel", "max_rel"):
            object.__setattr__(self, field, whole_number(f"{self.name}: {field}", getattr(self, field)))
        if not 0 <= self.min_rel < self.max_rel <= MAX_RELEVANCE:
            raise InputError(
                f"{self.name}: min_rel is {self.min_rel} and max_rel {self.max_rel}",
                hint=f"min_rel is at least 0 and below max_rel, which is at most {MAX_RELEVANCE}",
            )
        object.__setattr__(self, "is_graded", self.max_rel > self.rel)

    @property
    def least_level(self) -> int:
        """Smallest relevance level with a gain."""
        return max(self.rel, self.min_rel + 1)

    def steps(self, levels: AnyArray) -> IndexArray:
        """Return levels minus ``min_rel``, clipped at ``max_rel``, in the shape of ``levels``."""
        above = np.clip(levels, self.min_rel, self.max_rel).astype(np.int64) - self.min_rel
        return np.where(levels >= self.rel, above, 0)

    def gains(self, levels: AnyArray) -> FloatArray:
        """Return levels scaled to 0–1 between ``min_rel`` and ``max_rel``, in the shape of ``levels``."""
        return self.steps(levels) / (self.max_rel - self.min_rel)


@register_measure
@dataclass(frozen=True, order=True)
class SDCG(ScaledGain, Additive):
    """Scaled discounted cumulative gain, SDCG@n: DCG over the DCG of n documents at the highest level.

    Parameters
    ----------
    cutoff : int
        As for `Measure`.
    rel : int, default 1
        The smallest relevance that gains anything, at least 1.
    min_rel, max_rel : int
        Relevances that gain 0 and 1, with proportional gains between them; others gain as much as the
        nearest. By default 0 and 1: relevance is binary.

    Raises
    ------
    InputError
        A parameter is out of range, or ``min_rel`` is not below ``max_rel``.

    Notes
    -----
    SDCG@n = Σ gain_i / log2(i + 1) over Σ 1 / log2(i + 1), both over the ranks i ≤ n. The divisor does not
    depend on relevant documents that a run lacks. With the defaults it is the SDCG of Ravana & Moffat (2010,
    §3), whose n is 100. In ir_measures ``max_rel`` has to be given.

    Examples
    --------
    >>> str(SDCG(100)), str(SDCG(10, max_rel=3))
    ('SDCG@100', 'SDCG(max_rel=3)@10')
    >>> SDCG(3, max_rel=2).evaluate(np.array([[2, 1, 0]])).round(2).tolist()
    [0.62]
    """

    name = "SDCG"
    examples = ("SDCG@10",)
    label = "discounted gains of the top n over the most that n documents can gain"
    citations = ("ravana-moffat-2010",)

    def weights(self) -> FloatArray:
        """Return the discounts 1/log2(rank + 1), scaled to sum to 1, shape (rank,)."""
        discounts = _discounts(self.cutoff)
        return np.asarray(discounts / discounts.sum())


def _discounts(cutoff: int) -> FloatArray:
    """Return the discount 1/log2(rank + 1) for each rank down to a cutoff, shape (rank,)."""
    return 1 / np.log2(np.arange(2, cutoff + 2))


def _gains_by_level(
    name: str, gains_by_level: Mapping[Any, Any] | Iterable[Any]
) -> tuple[tuple[int, float], ...]:
    """Return (level, gain) pairs in ascending order, without levels that are their own gain."""
    try:
        gain_of = dict(gains_by_level)
    except (TypeError, ValueError):
        raise InputError(
            f"{name}: gains {gains_by_level!r} say no level's gain", hint="for example gains={1:1,2:3}"
        ) from None
    for level, gain in gain_of.items():
        if not 0 <= whole_number(f"{name}: a level in gains", level) <= MAX_RELEVANCE:
            raise InputError(f"{name}: no relevance is {level}, which is in gains")
        number = isinstance(gain, int | float | np.integer | np.floating) and not isinstance(gain, bool)
        if not number or not 0 <= gain < math.inf:
            raise InputError(f"{name}: level {level} cannot gain {gain!r}", hint="a number of 0 or more")
    if gain_of.get(0, 0) != 0:
        raise InputError(f"{name}: level 0 gains {gain_of[0]:g}", hint="it is nonrelevant and gains nothing")
    gains = [float(gain_of.get(level, level)) for level in range(max(gain_of, default=0) + 1)]
    for level in range(1, len(gains)):
        if gains[level] < gains[level - 1]:
            raise InputError(
                f"{name}: level {level} gains {gains[level]:g}, less than level {level - 1}",
                hint="a level that gains does not name gains itself",
            )
    return tuple(
        (level, int(gain) if gain == int(gain) else gain) for level, gain in enumerate(gains) if gain != level
    )

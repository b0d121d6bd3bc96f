"""Rank-biased precision, with a cutoff or without."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayespool.arrays import AnyArray, FloatArray
from bayespool.errors import InputError
from bayespool.measures.base import Additive, Measure, register_measure
from bayespool.measures.gain import ScaledGain
from bayespool.validation import check_share

_MAX_WEIGHT_LEFT = 1e-10  # beyond the cutoff of endless rankings


@register_measure
@dataclass(frozen=True, order=True)
class RBP(Additive):
    """Rank-biased precision: relevant documents weighted by the probability that a reader reaches them.

    After each document the reader goes on to the next one with probability p.

    Parameters
    ----------
    cutoff, rel : int
        As for `Measure`.
    p : float, default 0.8
        Persistence, between 0 and 1.
    tail : bool, default False
        Whether the ranking has no end; made by `without_cutoff`.

    Notes
    -----
    Rank i has the weight (1 − p) p^(i−1). RBP(p)@n has the weights of the first n ranks, divided by their sum
    1 − p^n (Webber & Park 2009, §2). RBP(p) without a cutoff has these weights undivided (Moffat & Zobel
    2008) and looks down to the rank at which less than 1e-10 of them is left. Ranks beyond the end of a run
    could still be filled: their weights belong to the residual (`open_end`). It is cwl_eval's RBP; that of
    ir_measures with a cutoff has no implementation.

    Examples
    --------
    >>> str(RBP(10)), str(RBP(10, p=0.95)), str(RBP.without_cutoff())
    ('RBP(p=0.8)@10', 'RBP(p=0.95)@10', 'RBP(p=0.8)')
    >>> RBP(2, p=0.5).weights().round(3).tolist(), RBP.without_cutoff(p=0.5).weights()[:2].tolist()
    ([0.667, 0.333], [0.5, 0.25])
    """

    p: float = 0.8
    tail: bool = False

    name = "RBP"
    examples = ("RBP(p=0.8)@10",)
    label = "relevant documents weighted by how likely they are read"
    citations = ("moffat-zobel-2008",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "p", _persistence(self.p))
        if self.tail and self.cutoff != _deepest(self.p):
            raise InputError(f"{self} with a cutoff of its own", hint="RBP.without_cutoff(p=…)")

    def __str__(self) -> str:
        return super().__str__().partition("@")[0] if self.tail else super().__str__()

    def parameters(self) -> dict[str, Any]:
        """Return the parameters shown in the string form, always with p."""
        parameters = super().parameters() | {"p": self.p}
        parameters.pop("tail", None)
        return parameters

    @classmethod
    def keywords(cls) -> dict[str, str]:
        """Return the parameters allowed in parentheses: rel and p."""
        return {text: field for text, field in super().keywords().items() if field != "tail"}

    @classmethod
    def without_cutoff(cls, **parameters: Any) -> Measure:
        """Return RBP for rankings without an end, with ``rel`` and ``p``."""
        return cls(_deepest(_persistence(parameters.get("p", cls.p))), tail=True, **parameters)

    def open_end(self, n_ranks: AnyArray) -> FloatArray | None:
        """Return the total weight at ranks beyond the end of a run, or None with a cutoff.

        It is p to the power of the run's length.
        """
        if not self.tail:
            return None
        return np.asarray(self.p ** np.minimum(n_ranks, self.cutoff).astype(float))

    def weights(self) -> FloatArray:
        """Return (1 − p) p^(rank − 1), over 1 − p^cutoff if there is a cutoff, shape (rank,)."""
        weights: FloatArray = (1 - self.p) * np.power(self.p, np.arange(self.cutoff, dtype=np.float64))
        return weights if self.tail else weights / (1 - self.p**self.cutoff)


def _persistence(p: Any) -> float:
    check_share("RBP: p", p)
    return float(p)


def _deepest(p: float) -> int:
    """Return the first rank at which the remaining weights sum to less than 1e-10."""
    return math.ceil(math.log(_MAX_WEIGHT_LEFT) / math.log(p))


@register_measure
@dataclass(frozen=True, order=True)
class INST(ScaledGain):
    """INST@n: the expected gain per document for a reader who wants a total gain of T.

    Parameters
    ----------
    cutoff : int
        As for `Measure`; a missing rank gains nothing.
    rel, min_rel, max_rel : int
        As for `SDCG`.
    T : float, default 1
        Gain that the reader wants, at least 0.5.

    Notes
    -----
    After rank i, and a gain of G_i down to it, the reader goes on with probability C_i = ((R_i − 1) / R_i)²,
    where R_i = i + 2T − G_i. With V_1 = 1 and V_i = C_1 ⋯ C_(i−1), INST@n = Σ V_i g_i / Σ V_i over the ranks
    i ≤ n (Moffat, Bailey, Scholer & Thomas 2015). It is cwl_eval's INST, whose n is 1,000; in ir_measures
    ``max_rel`` has to be given.

    A gain of δ lets the reader stop earlier and miss others, but never more than δ/2: from R_i, which is at
    least 1, no more than (R_i − 1)² / (2R_i − 1) is still to be gained, whose slope is below 1/2. So INST
    does not fall when a document is more relevant.

    Examples
    --------
    >>> str(INST(1000)), str(INST(10, max_rel=3, T=2.0))
    ('INST@1000', 'INST(max_rel=3,T=2.0)@10')
    >>> INST(2).evaluate(np.array([[0, 1], [1, 0], [1, 1]])).round(3).tolist()
    [0.308, 0.8, 1.0]
    """

    T: float = 1.0

    name = "INST"
    examples = ("INST@10",)
    label = "gain per document of a reader who goes on until enough is found"
    citations = ("moffat-etal-2015",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "T", _check_gain(self.T))

    def evaluate(self, levels: AnyArray) -> FloatArray:
        """Return the expected gain per document, shape (...)."""
        gains = np.zeros((*levels.shape[:-1], self.cutoff))
        top = levels[..., : self.cutoff]
        gains[..., : top.shape[-1]] = self.gains(top)
        reach = np.arange(1, self.cutoff + 1) + 2 * self.T - np.cumsum(gains, axis=-1)
        weights = np.ones_like(gains)
        weights[..., 1:] = np.cumprod(((reach - 1) / reach) ** 2, axis=-1)[..., :-1]
        return np.asarray((weights * gains).sum(axis=-1) / weights.sum(axis=-1))


def _check_gain(gain: Any) -> float:
    number = isinstance(gain, int | float | np.integer | np.floating) and not isinstance(gain, bool)
    if not number or not 0.5 <= gain < np.inf:
        raise InputError(f"{INST.name}: T {gain!r} is not a number of 0.5 or more")
    return float(gain)

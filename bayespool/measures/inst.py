"""INST, whose reader goes on the longer, the less there was to find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.errors import InputError
from bayespool.measures.base import register_measure
from bayespool.measures.gain import ScaledGain


@register_measure
@dataclass(frozen=True, order=True)
class INST(ScaledGain):
    """INST@n: the gain per document that a reader expects who wants to gain T, and goes on accordingly.

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
    label = "gain per document of a reader who goes on until enough is found"
    citations = ("moffat-etal-2015",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "T", _wanted(self.T))

    def evaluate(self, levels: npt.NDArray[Any]) -> FloatArray:
        """Expected gains per document, shape (...)."""
        gains = np.zeros((*levels.shape[:-1], self.cutoff))
        top = levels[..., : self.cutoff]
        gains[..., : top.shape[-1]] = self.gains(top)
        reach = np.arange(1, self.cutoff + 1) + 2 * self.T - np.cumsum(gains, axis=-1)
        weights = np.ones_like(gains)
        weights[..., 1:] = np.cumprod(((reach - 1) / reach) ** 2, axis=-1)[..., :-1]
        return np.asarray((weights * gains).sum(axis=-1) / weights.sum(axis=-1))


def _wanted(gain: Any) -> float:
    number = isinstance(gain, int | float | np.integer | np.floating) and not isinstance(gain, bool)
    if not number or not 0.5 <= gain < np.inf:
        raise InputError(f"{INST.name}: T {gain!r} is not a number of 0.5 or more")
    return float(gain)

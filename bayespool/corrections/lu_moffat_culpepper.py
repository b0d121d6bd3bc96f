"""Gains of unjudged documents from their ranks in the pooled runs (Lu, Moffat & Culpepper 2017).

References
----------
X. Lu, A. Moffat and J. S. Culpepper (2017). Can deep effectiveness metrics be evaluated using shallow
judgment pools? SIGIR 2017, 35–44.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.corrections.base import (
    Corrected,
    FloatArray,
    SharedCorrection,
    has_open_ranks,
    lacks_pool,
    not_defined,
)
from bayespool.corrections.expected import expected_amounts, gains_of_levels
from bayespool.corrections.gain_by_rank import SHAPES, Shape, gain_curves
from bayespool.corrections.registry import register_estimator
from bayespool.errors import InputError
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import ranked_levels, relevance_levels, tally_of
from bayespool.evidence.states import reach_of
from bayespool.measures import Normalized

Loss = Literal["a", "b"]


class _Expected(NamedTuple):
    """Gains of documents of runs, as shares of the greatest, and which are estimated; shape (run, topic,
    rank).
    """

    gain: FloatArray
    opened: npt.NDArray[np.bool_]


_COMBINED_SHAPES: tuple[Shape, ...] = ("linear", "zipf", "weibull")
_LAST_RANK = 1000  # of a document that a run does not return
_MISSING_LEVEL = -2  # of a rank below the end of a run
_MIN_FITTED_RANKS = 10  # with fewer, a note says that data are few


def simplex_weights(table: FloatArray, target: FloatArray) -> FloatArray:
    """Nonnegative weights that sum to 1, shape (column,), with which the columns of a table are closest to a
    target by least squares; equal where every column is the target.

    The distance is ‖(T − t1ᵀ)w‖; nonnegative least squares with a row of ones for the sum gives a multiple of
    these weights, whatever the weight of that row.

    Examples
    --------
    >>> simplex_weights(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.7, 0.3])).round(6).tolist()
    [0.7, 0.3]
    """
    from scipy.optimize import nnls

    n_columns = table.shape[1]
    distance = table - target[:, None]
    largest = np.abs(distance).max(initial=0.0)
    if largest == 0:
        return np.full(n_columns, 1 / n_columns)
    rows = np.vstack([distance / largest, np.ones(n_columns)])
    weights, _ = nnls(rows, np.append(np.zeros(len(distance)), 1.0))
    shares: FloatArray = weights / weights.sum()
    return shares


@register_estimator(
    "lu-moffat-culpepper",
    label="Lu-Mof.-\nCulp.",
    description="B plus what documents at their ranks of the pooled runs gain on the topic",
    source="Lu, Moffat & Culpepper, AIRS 2016 and SIGIR 2017",
)
@dataclass(frozen=True, kw_only=True)
class LuMoffatCulpepper(SharedCorrection):
    """Add expected gains of unjudged documents by their ranks in the pooled runs (Lu et al. 2017).

    On each topic the method fits a curve g to the mean gain at each rank of the pooled runs, down to the pool
    depth, and extrapolates it below (`bayespool.corrections.gain_by_rank.gain_curves`). The expected gain of
    a document is Σ w_s g(rank of it in s) over the pooled runs s, with weights of 0 and more that sum to 1.
    The method fits them on the judged documents, for each shape of g separately. In the end it combines the
    estimates by a linear, a Zipf and a Weibull curve, with weights fitted in the same way.

    Parameters
    ----------
    shape : {"combined", "constant", "linear", "zipf", "weibull"}
        The combination of the last three, or the estimates by one shape.
    loss : {"a", "b"}
        The loss that the weights minimize: squared errors of RBP of each pooled run over its judged
        documents, or of the RBP that each of these documents contributes.
    persistence : float between 0 and 1, default 0.95
        The p of that RBP, as in the authors' program.

    Raises
    ------
    InputError
        A setting is out of range.

    Notes
    -----
    The papers are about RBP and sums of gains. Here gains are those of the measure, over the greatest; the
    measure's weights of ranks apply to the expected gains of unjudged documents. Under a measure over an
    ideal ranking the amount is divided by the ideal of the judged documents, and kept within the bounds over
    completed judgments (`bayespool.evidence.Bounds`). Average precision, (expected) reciprocal rank and
    success are expectations with independent chances (`bayespool.corrections.expected.expected_amounts`).
    Other measures, and those that fall with relevance, have no value.

    Where the papers leave a choice open, we chose what favors the method. A pooled run that does not return a
    document counts as having it at rank 1,000, as in the program, also where no pooled run returns it: g at
    the document's rank in the run to score made errors no smaller there on the collections tried. The run to
    score has no weight, unless it is in the pool. Loss b sums squares over all documents, where the program
    sums the roots of the sums over each run. We do not take the program's mean over random subsets of the
    runs. A note says where the pool is so shallow that curves have little data.

    Edges: without unjudged documents the value is B; without another pooled run it is NaN; on a topic where
    nothing gains anything it is B.
    """

    shape: Shape | Literal["combined"] = "combined"
    loss: Loss = "a"
    persistence: float = 0.95

    def __post_init__(self) -> None:
        for name, known in (("shape", ("combined", *SHAPES)), ("loss", get_args(Loss))):
            if (value := getattr(self, name)) not in known:
                raise InputError(f"no {name} {value!r}", hint=", ".join(known))
        if not 0 < self.persistence < 1:
            raise InputError(f"persistence {self.persistence} is not between 0 and 1")

    @property
    def name(self) -> str:
        """``lu-moffat-culpepper``."""
        return "lu-moffat-culpepper"

    def correct_all(self, collection: Collection, found: Sequence[Bounds]) -> list[Corrected]:
        """`correct` for several measures; those with equal gains of levels share the estimates."""
        deepest = max(bounds.measure.cutoff for bounds in found)
        shared: dict[bytes, _Expected] = {}
        corrected = []
        for bounds in found:
            top = relevance_levels(collection, bounds.measure)[-1]
            gains = gains_of_levels(bounds.measure, np.arange(top + 1))
            if gains is None:
                corrected.append(not_defined(bounds, "defined for sums of gains"))
            elif not bounds.measure.rises:
                corrected.append(not_defined(bounds, "defined for measures that rise with relevance"))
            elif gains.max() <= 0:
                corrected.append(Corrected(bounds.lower))
            else:
                shares = gains / gains.max()
                if (key := shares.tobytes()) not in shared:
                    shared[key] = self._expected(collection, bounds.run_ids, deepest, shares)
                corrected.append(_value(collection, bounds, shared[key], float(gains.max())))
        return corrected

    def _expected(
        self, collection: Collection, run_ids: tuple[str, ...], depth: int, shares: FloatArray
    ) -> _Expected:
        """Gains of the first ``depth`` documents of runs, known for judged ones and estimated for the
        others.
        """
        index = collection.run_index(run_ids)
        level = ranked_levels(collection, index, depth)
        reach = reach_of(collection, index, depth, self.estimand)
        opened = (level == -1) & (np.arange(level.shape[2]) < reach[:, None, None])
        gain = np.where(level >= 0, shares[np.maximum(level, 0)], 0.0)
        pooled = np.flatnonzero(collection.pooled)
        topics = np.flatnonzero(opened.any(axis=(0, 2)))
        if not len(pooled) or not len(topics):
            return _Expected(gain, opened)
        pool_level = ranked_levels(collection, pooled, collection.document.shape[2])
        last = max(_LAST_RANK, pool_level.shape[2])
        observed = _mean_gains(pool_level[:, topics], collection.depth_of(pooled), shares)
        shapes = _COMBINED_SHAPES if self.shape == "combined" else (self.shape,)
        curves = [gain_curves(observed, last, shape) for shape in shapes]
        for row, t in enumerate(topics):
            run, rank = np.nonzero(opened[:, t])
            wanted = collection.document[index[run], t, rank]
            document = collection.document[pooled, t]
            judged = np.unique(document[pool_level[:, t] >= 0])
            ranks = _ranks_of(np.concatenate([judged, wanted]), document, last)
            judged_gain = shares[collection.relevance[judged]]
            by_shape = [np.append(curve[row], curve[row, -1]) for curve in curves]
            gain[run, t, rank] = self._of_topic(ranks, judged_gain, by_shape, last)
        return _Expected(gain, opened)

    def _of_topic(
        self, ranks: npt.NDArray[np.int32], judged_gain: FloatArray, curves: Sequence[FloatArray], last: int
    ) -> FloatArray:
        """Expected gains of the documents after the judged ones, from ranks in the pooled runs, shape
        (document,).
        """
        n_judged = len(judged_gain)
        weight = np.append(self.persistence ** np.arange(last), 0.0)[ranks[:n_judged]]
        estimates = np.empty((len(ranks), len(curves)))
        for c, curve in enumerate(curves):
            gains = curve[ranks]
            estimates[:, c] = gains @ self._weights(weight, gains[:n_judged], judged_gain)
        combined: FloatArray = estimates @ self._weights(weight, estimates[:n_judged], judged_gain)
        return combined[n_judged:]

    def _weights(self, weight: FloatArray, gains: FloatArray, target: FloatArray) -> FloatArray:
        """Weights of the columns of expected gains, which have the shape (judged document, column); shape
        (column,).
        """
        if self.loss == "a":
            return simplex_weights(weight.T @ gains, weight.T @ target)
        # the rows of one document differ by factors only, and are one row of their root sum of squares
        of_document = np.sqrt(np.square(weight).sum(axis=1))
        return simplex_weights(of_document[:, None] * gains, of_document * target)


def _value(collection: Collection, bounds: Bounds, expected: _Expected, greatest: float) -> Corrected:
    """Values with expected gains of unjudged documents; B without any."""
    measure = bounds.measure
    gain = expected.gain[:, :, : measure.cutoff]
    opened = expected.opened[:, :, : measure.cutoff]
    tally = tally_of(collection, relevance_levels(collection, measure))
    amounts = measure.normalize(expected_amounts(measure, gain * greatest), tally) / measure.unit
    if isinstance(measure, Normalized):
        amounts = np.clip(amounts, bounds.least.scores(), bounds.most.scores())
    per_topic = np.where(opened.any(axis=2), amounts, bounds.lower)
    per_topic[lacks_pool(collection, bounds)] = np.nan
    depth = int(collection.depth_of(np.flatnonzero(collection.pooled)).max(initial=0))
    shallow = f"gains by rank are fitted to {depth} ranks" if 0 < depth < _MIN_FITTED_RANKS else ""
    return Corrected(
        per_topic, notes=tuple(shallow if has_unjudged else "" for has_unjudged in has_open_ranks(bounds))
    )


def _mean_gains(
    level: npt.NDArray[np.int16], depths: npt.NDArray[np.int32], shares: FloatArray
) -> FloatArray:
    """Mean gain at each rank of pooled runs, each down to its depth, shape (topic, rank); a missing rank
    gains 0, an unjudged document does not count.
    """
    within = np.arange(int(depths.max())) < depths[:, None, None]
    level = level[:, :, : within.shape[2]]
    below = within.shape[2] - level.shape[2]  # ranks of the pool that no run of the collection reaches
    level = np.pad(level, ((0, 0), (0, 0), (0, below)), constant_values=_MISSING_LEVEL)
    counted = within & (level != -1)
    gain = np.where(level >= 0, shares[np.maximum(level, 0)], 0.0)
    n_counted = counted.sum(axis=0)
    means: FloatArray = np.where(counted, gain, 0.0).sum(axis=0) / np.maximum(n_counted, 1)
    return means


def _ranks_of(
    pairs: npt.NDArray[np.int32], document: npt.NDArray[np.int32], lacking: int
) -> npt.NDArray[np.int32]:
    """Ranks of documents in runs, from 0, shape (pair, run); ``lacking`` where a run does not return one."""
    first = int(pairs.min())
    rank = np.full((int(pairs.max()) - first + 1, len(document)), lacking, dtype=np.int32)
    run, place = np.nonzero((document >= first) & (document < first + len(rank)))
    rank[document[run, place] - first, run] = place
    return rank[pairs - first]

"""Gains of unjudged documents from their ranks in the pooled runs (Lu, Moffat & Culpepper 2016)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayespool.arrays import BoolArray, FloatArray, IntArray, LevelArray
from bayespool.collection import Collection
from bayespool.corrections.base import (
    Corrected,
    SharedCorrection,
    has_open_ranks,
    lacks_pool,
    normalize_expected,
    not_defined,
    run_notes,
)
from bayespool.corrections.registry import register_estimator
from bayespool.evidence import Bounds
from bayespool.evidence.ideals import ranked_levels, relevance_levels
from bayespool.validation import check_choice, check_share

Shape = Literal["constant", "linear", "zipf", "weibull"]

_MIN_SUM_OF_SQUARES = 1e-290  # smaller ones count as 0
_N_STEPS = 40  # of least squares
_PARAMETER_SHIFT = 1e-6  # for numerical slopes
_RIDGE = 1e-12  # keeps steps finite along parameters that change nothing


# starting points of a search: an axis of each parameter
_EXPONENTS = (np.linspace(0.0, 10.0, 101),)
_LOG_SCALE_AND_SHAPE = (
    np.linspace(np.log(0.05), np.log(1e4), 100),
    np.linspace(np.log(0.05), np.log(10.0), 40),
)


def gain_curves(observed: FloatArray, n_ranks: int, shape: Shape) -> FloatArray:
    """Fit curves of one shape to mean gains by least squares, shape (topic, rank).

    Shape (topic, rank), cut to 0 and 1.

    The shapes are p down to some rank, then 0; λk + c with λ ≤ 0; λ/k^c; or c(e^{−((k−1)/a)^b} −
    e^{−(k/a)^b}). The height of a curve is explicit; other parameters are searched on a grid, then by least
    squares.
    """
    rank = np.arange(1, max(n_ranks, observed.shape[1]) + 1, dtype=np.float64)
    curves = SHAPES[shape](observed, rank)[:, :n_ranks]
    return np.clip(curves, 0.0, 1.0)


def _constant(observed: FloatArray, rank: FloatArray) -> FloatArray:
    n_topics, depth = observed.shape
    means = observed.cumsum(axis=1) / rank[:depth]
    last = (rank[:depth] * means**2).argmax(axis=1)  # least squares
    height = means[np.arange(n_topics), last]
    return np.where(rank <= last[:, None] + 1, height[:, None], 0.0)


def _linear(observed: FloatArray, rank: FloatArray) -> FloatArray:
    within = rank[: observed.shape[1]]
    centered = within - within.mean()
    squares = max(float(centered @ centered), 0.5)  # that of two ranks; one has no slope
    slope = np.minimum(observed @ centered / squares, 0.0)
    return np.asarray(observed.mean(axis=1)[:, None] + slope[:, None] * (rank - within.mean()))


def _powers(exponent: FloatArray, rank: FloatArray) -> FloatArray:
    return np.asarray(rank ** -exponent[..., :1])


def _chances(parameters: FloatArray, rank: FloatArray) -> FloatArray:
    scale, power = np.exp(parameters[..., :1]), np.exp(parameters[..., 1:])
    z = (np.append(rank - 1, rank[-1]) / scale) ** power
    result: FloatArray = np.exp(-z[..., :-1]) * -np.expm1(-np.diff(z, axis=-1))  # of a tiny z no noise
    return result


def _fit_curves(
    observed: FloatArray,
    rank: FloatArray,
    form: Callable[[FloatArray, FloatArray], FloatArray],
    axes: tuple[FloatArray, ...],
) -> FloatArray:
    """Return least-squares fits of a parametric curve for each topic, shape (topic, rank)."""
    within = rank[: observed.shape[1]]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    least, greatest = zip(*((axis[0], axis[-1]) for axis in axes), strict=True)
    forms = form(points, within)
    best = points[_explained(observed @ forms.T, forms).argmax(axis=1)]

    def distance(parameters: FloatArray) -> FloatArray:
        """Return residuals of the curves at their best height, shape (topic, rank)."""
        forms = form(parameters, within)
        return _height(observed, forms)[:, None] * forms - observed

    # Levenberg and Marquardt's steps, all topics at a time
    reached, damping = distance(best), np.full(len(best), 1e-3)
    for _ in range(_N_STEPS):
        shifts = np.eye(best.shape[1]) * _PARAMETER_SHIFT
        slopes = np.stack([(distance(best + shift) - reached) / _PARAMETER_SHIFT for shift in shifts], axis=2)
        normal = np.einsum("tkp,tkq->tpq", slopes, slopes)
        diagonal = np.einsum("tpp->tp", normal)
        normal += np.eye(best.shape[1]) * (damping[:, None] * diagonal + _RIDGE)[:, None]
        step = np.linalg.solve(normal, np.einsum("tkp,tk->tp", slopes, reached)[..., None])[..., 0]
        tried = np.clip(best - step, least, greatest)
        tried_distance = distance(tried)
        better = np.square(tried_distance).sum(axis=1) < np.square(reached).sum(axis=1)
        best, reached = (
            np.where(better[:, None], tried, best),
            np.where(better[:, None], tried_distance, reached),
        )
        damping = np.maximum(np.where(better, damping / 5, damping * 5), _RIDGE)
    return np.asarray(_height(observed, form(best, within))[:, None] * form(best, rank))


SHAPES: dict[Shape, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "constant": _constant,
    "linear": _linear,
    "zipf": functools.partial(_fit_curves, form=_powers, axes=_EXPONENTS),
    "weibull": functools.partial(_fit_curves, form=_chances, axes=_LOG_SCALE_AND_SHAPE),
}


def _height(observed: FloatArray, forms: FloatArray) -> FloatArray:
    """Return the least-squares height for each topic's curve, shape (topic,)."""
    squares = np.maximum(np.square(forms).sum(axis=1), _MIN_SUM_OF_SQUARES)
    return np.asarray((observed * forms).sum(axis=1) / squares)


def _explained(products: FloatArray, forms: FloatArray) -> FloatArray:
    """Return the reduction in the sum of squares from fitting each curve at its best height."""
    squares = np.square(forms).sum(axis=-1)
    return np.asarray(
        np.where(squares > _MIN_SUM_OF_SQUARES, products**2 / np.maximum(squares, _MIN_SUM_OF_SQUARES), -1.0)
    )


Loss = Literal["a", "b"]


_COMBINED_SHAPES: tuple[Shape, ...] = ("linear", "zipf", "weibull")
_LAST_RANK = 1000  # of a document that a run does not return
_MISSING_LEVEL = -2  # of a rank below the end of a run
_MIN_FITTED_RANKS = 10  # with fewer, a note says that data are few


def simplex_weights(table: FloatArray, target: FloatArray) -> FloatArray:
    """Return nonnegative column weights with sum 1 that best fit a target of shape (row,)."""
    from scipy.optimize import nnls

    n_columns = table.shape[1]
    distance = table - target[:, None]
    largest = np.abs(distance).max(initial=0.0)
    if largest == 0:
        return np.full(n_columns, 1 / n_columns)
    rows = np.vstack([distance / largest, np.ones(n_columns)])
    weights, _ = nnls(rows, np.append(np.zeros(len(distance)), 1.0))
    return np.asarray(weights / weights.sum())


@register_estimator(
    "lu-moffat-culpepper",
    label="Lu-Mof.-\nCulp.",
    citations=("lu-moffat-culpepper-2016", "lu-moffat-culpepper-2017"),
)
@dataclass(frozen=True, kw_only=True)
class LuMoffatCulpepper(SharedCorrection):
    """Measure with unjudged documents' gains expected from their pooled ranks (Lu et al. 2017).

    On each topic the method fits a curve g to the mean gain at each rank of the pooled runs, down to the
    pool depth, and extrapolates it below (`gain_curves`). The expected gain of a document is Σ w_s g(rank
    of it in s) over the pooled runs s, with weights of 0 and more that sum to 1. The method fits them on
    the judged documents, for each shape of g separately. In the end it combines the estimates by a
    linear, a Zipf and a Weibull curve, with weights fitted in the same way.

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
    success are expectations with independent probabilities (`bayespool.measures.Measure.expected_amounts`).
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
        check_choice("shape", self.shape, ("combined", *SHAPES))
        check_choice("loss", self.loss, Loss)
        check_share("persistence", self.persistence)

    def correct_all(self, collection: Collection, all_bounds: Sequence[Bounds]) -> list[Corrected]:
        """Return corrected per-topic scores, sharing estimates between measures with equal gains."""
        deepest = max(bounds.measure.cutoff for bounds in all_bounds)
        shared: dict[bytes, tuple[FloatArray, BoolArray]] = {}
        corrected = []
        for bounds in all_bounds:
            top = relevance_levels(collection, bounds.measure)[-1]
            gains = bounds.measure.document_gains(np.arange(top + 1))
            if not bounds.measure.has_gains:
                corrected.append(not_defined(bounds, "defined for sums of gains"))
            elif not bounds.measure.rises:
                corrected.append(not_defined(bounds, "defined for measures that rise with relevance"))
            elif gains.max() <= 0:
                corrected.append(Corrected(bounds.lower))
            else:
                shares = gains / gains.max()
                if (key := shares.tobytes()) not in shared:
                    shared[key] = self._expected(collection, bounds.run_ids, deepest, shares)
                corrected.append(_correct_measure(collection, bounds, *shared[key], float(gains.max())))
        return corrected

    def _expected(
        self, collection: Collection, run_ids: tuple[str, ...], depth: int, shares: FloatArray
    ) -> tuple[FloatArray, BoolArray]:
        """Return relative gains for each run's top ``depth`` documents, with a mask for estimated ones.

        Both have the shape (run, topic, rank).
        """
        index = collection.run_index(run_ids)
        level, opened, _ = self.opened_ranks(collection, run_ids, depth)
        gain = np.where(level >= 0, shares[np.maximum(level, 0)], 0.0)
        pooled = np.flatnonzero(collection.pooled)
        topics = np.flatnonzero(opened.any(axis=(0, 2)))
        if not len(pooled) or not len(topics):
            return gain, opened
        pool_level = ranked_levels(collection, pooled, collection.document.shape[2])
        last = max(_LAST_RANK, pool_level.shape[2])
        observed = _mean_gains(pool_level[:, topics], collection.run_depths(pooled), shares)
        shapes = _COMBINED_SHAPES if self.shape == "combined" else (self.shape,)
        curves = [gain_curves(observed, last, shape) for shape in shapes]
        for row, t in enumerate(topics):
            run, rank = np.nonzero(opened[:, t])
            wanted = collection.document[index[run], t, rank]
            document = collection.document[pooled, t]
            judged = np.unique(document[pool_level[:, t] >= 0])
            ranks = _ranks_in_runs(np.concatenate([judged, wanted]), document, last)
            judged_gain = shares[collection.relevance[judged]]
            by_shape = [np.append(curve[row], curve[row, -1]) for curve in curves]
            gain[run, t, rank] = self._topic_gains(ranks, judged_gain, by_shape, last)
        return gain, opened

    def _topic_gains(
        self, ranks: IntArray, judged_gain: FloatArray, curves: Sequence[FloatArray], last: int
    ) -> FloatArray:
        """Return expected gains for one topic's unjudged documents, shape (document,)."""
        n_judged = len(judged_gain)
        weight = np.append(self.persistence ** np.arange(last), 0.0)[ranks[:n_judged]]
        estimates = np.empty((len(ranks), len(curves)))
        for c, curve in enumerate(curves):
            gains = curve[ranks]
            estimates[:, c] = gains @ self._weights(weight, gains[:n_judged], judged_gain)
        combined: FloatArray = estimates @ self._weights(weight, estimates[:n_judged], judged_gain)
        return combined[n_judged:]

    def _weights(self, weight: FloatArray, gains: FloatArray, target: FloatArray) -> FloatArray:
        """Fit weights for columns of expected gains to the judged documents' gains, shape (column,)."""
        if self.loss == "a":
            return simplex_weights(weight.T @ gains, weight.T @ target)
        # the rows of one document differ by factors only, and are one row of their root sum of squares
        document_weight = np.sqrt(np.square(weight).sum(axis=1))
        return simplex_weights(document_weight[:, None] * gains, document_weight * target)


def _correct_measure(
    collection: Collection, bounds: Bounds, gain: FloatArray, opened: BoolArray, greatest: float
) -> Corrected:
    """Return corrected scores with expected gains for unjudged documents."""
    measure = bounds.measure
    gain, opened = gain[:, :, : measure.cutoff], opened[:, :, : measure.cutoff]
    values = normalize_expected(collection, bounds, measure.expected_amounts(gain * greatest))
    per_topic = np.where(opened.any(axis=2), values, bounds.lower)
    per_topic[lacks_pool(collection, bounds)] = np.nan
    depth = int(collection.run_depths(np.flatnonzero(collection.pooled)).max(initial=0))
    is_shallow = has_open_ranks(bounds) & (0 < depth < _MIN_FITTED_RANKS)
    return Corrected(per_topic, notes=run_notes((is_shallow, f"gains by rank are fitted to {depth} ranks")))


def _mean_gains(level: LevelArray, depths: IntArray, shares: FloatArray) -> FloatArray:
    """Return the pooled runs' mean gain at each rank down to their depths, shape (topic, rank).

    A missing rank gains 0, an unjudged document does not count.
    """
    within = np.arange(int(depths.max())) < depths[:, None, None]
    level = level[:, :, : within.shape[2]]
    below = within.shape[2] - level.shape[2]  # ranks of the pool that no run of the collection reaches
    level = np.pad(level, ((0, 0), (0, 0), (0, below)), constant_values=_MISSING_LEVEL)
    counted = within & (level != -1)
    gain = np.where(level >= 0, shares[np.maximum(level, 0)], 0.0)
    n_counted = counted.sum(axis=0)
    return np.asarray(np.where(counted, gain, 0.0).sum(axis=0) / np.maximum(n_counted, 1))


def _ranks_in_runs(pairs: IntArray, document: IntArray, lacking: int) -> IntArray:
    """Return each document's rank (from 0) in each run, shape (pair, run).

    ``lacking`` where a run does not return one.
    """
    first = int(pairs.min())
    rank = np.full((int(pairs.max()) - first + 1, len(document)), lacking, dtype=np.int32)
    run, place = np.nonzero((document >= first) & (document < first + len(rank)))
    rank[document[run, place] - first, run] = place
    return rank[pairs - first]

"""Mean gain as a function of rank, in four shapes (Lu, Moffat & Culpepper 2016).

References
----------
X. Lu, A. Moffat and J. S. Culpepper (2016). Modeling relevance as a function of retrieval rank. AIRS 2016,
3–15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

Shape = Literal["constant", "linear", "zipf", "weibull"]

_MIN_SUM_OF_SQUARES = 1e-290  # smaller ones count as 0
_N_STEPS = 40  # of least squares
_PARAMETER_SHIFT = 1e-6  # for numerical slopes
_RIDGE = 1e-12  # keeps steps finite along parameters that change nothing


class _Grid(NamedTuple):
    """Grid of starting points for a search."""

    least: tuple[float, ...]
    greatest: tuple[float, ...]
    n_points: tuple[int, ...]

    def points(self) -> FloatArray:
        """All combinations, shape (point, parameter)."""
        return _combined(list(map(np.linspace, self.least, self.greatest, self.n_points)))


_EXPONENTS = _Grid((0.0,), (10.0,), (101,))
_LOG_SCALE_AND_SHAPE = _Grid((np.log(0.05),) * 2, (np.log(1e4), np.log(10.0)), (100, 40))


def gain_curves(observed: FloatArray, n_ranks: int, shape: Shape) -> FloatArray:
    """Curves of one shape with the least squared distance to mean gains, shape (topic, rank), cut to 0 and 1.

    ``observed`` are mean gains at each rank down to the pool depth, from 0 to 1, shape (topic, rank). The
    shapes are p down to some rank, then 0; λk + c with λ ≤ 0; λ/k^c; or c(e^{−((k−1)/a)^b} − e^{−(k/a)^b}).
    The height of a curve is explicit; other parameters are searched on a grid, and then by least squares from
    its best point.

    Examples
    --------
    >>> observed = np.array([[0.6, 0.3, 0.2]])
    >>> [gain_curves(observed, 4, shape).round(2)[0].tolist() for shape in SHAPES]
    [[0.45, 0.45, 0.0, 0.0], [0.57, 0.37, 0.17, 0.0], [0.6, 0.3, 0.2, 0.15], [0.6, 0.3, 0.2, 0.14]]
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
    line: FloatArray = observed.mean(axis=1)[:, None] + slope[:, None] * (rank - within.mean())
    return line


def _zipf(observed: FloatArray, rank: FloatArray) -> FloatArray:
    def powers(exponent: FloatArray, rank: FloatArray) -> FloatArray:
        form: FloatArray = rank ** -exponent[..., :1]
        return form

    return _searched(observed, rank, powers, _EXPONENTS)


def _weibull(observed: FloatArray, rank: FloatArray) -> FloatArray:
    def chances(parameters: FloatArray, rank: FloatArray) -> FloatArray:
        scale, power = np.exp(parameters[..., :1]), np.exp(parameters[..., 1:])
        beyond = np.exp(-((np.append(rank - 1, rank[-1]) / scale) ** power))
        return -np.diff(beyond, axis=-1)

    return _searched(observed, rank, chances, _LOG_SCALE_AND_SHAPE)


SHAPES: dict[Shape, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "constant": _constant,
    "linear": _linear,
    "zipf": _zipf,
    "weibull": _weibull,
}


def _searched(
    observed: FloatArray, rank: FloatArray, form: Callable[[FloatArray, FloatArray], FloatArray], grid: _Grid
) -> FloatArray:
    """Form times height, with least-squares parameters and height for each topic, shape (topic, rank)."""
    within = rank[: observed.shape[1]]
    points = grid.points()
    forms = form(points, within)
    best = points[_explained(observed @ forms.T, forms).argmax(axis=1)]

    def distance(parameters: FloatArray) -> FloatArray:
        """From the form at its best height to what was observed, shape (topic, rank)."""
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
        tried = np.clip(best - step, grid.least, grid.greatest)
        tried_distance = distance(tried)
        better = np.square(tried_distance).sum(axis=1) < np.square(reached).sum(axis=1)
        best, reached = (
            np.where(better[:, None], tried, best),
            np.where(better[:, None], tried_distance, reached),
        )
        damping = np.maximum(np.where(better, damping / 5, damping * 5), _RIDGE)
    curves: FloatArray = _height(observed, form(best, within))[:, None] * form(best, rank)
    return curves


def _height(observed: FloatArray, forms: FloatArray) -> FloatArray:
    """Best height of each topic's form, shape (topic,)."""
    squares = np.maximum(np.square(forms).sum(axis=1), _MIN_SUM_OF_SQUARES)
    height: FloatArray = (observed * forms).sum(axis=1) / squares
    return height


def _explained(products: FloatArray, forms: FloatArray) -> FloatArray:
    """Decrease of the sum of squares by a form at its best height."""
    squares = np.square(forms).sum(axis=-1)
    explained: FloatArray = np.where(
        squares > _MIN_SUM_OF_SQUARES, products**2 / np.maximum(squares, _MIN_SUM_OF_SQUARES), -1.0
    )
    return explained


def _combined(axes: Sequence[npt.NDArray[Any]]) -> FloatArray:
    """All combinations of values, shape (combination, axis)."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))

"""Symmetric matrices shaped like an arrowhead, and Gaussians whose precision is one.

Parameters stand in two layers. *Global* ones may go with everything. *Local* ones, ``width`` for each group
(a topic, or an organization), go with globals and with each other. Groups are eliminated first, by Schur
complements. What is left is as small as the global part, and the cost grows linearly with groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky, solve_triangular

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Layout:
    """How many parameters there are of each layer, in this order.

    Attributes
    ----------
    n_global, n_groups, width : int
        A group has ``width`` locals, which stand together.
    """

    n_global: int
    n_groups: int
    width: int

    @property
    def size(self) -> int:
        """All parameters."""
        return self.n_global + self.n_groups * self.width

    def places(self, parameters: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Columns in which an arrow has globals and locals."""
        local = self.n_global + (parameters - self.n_global) % max(self.width, 1)
        return np.where(parameters < self.n_global, parameters, local)

    def zeros(self) -> FloatArray:
        """An arrow, all zero: row p is for the entries of p with the globals and, if it is
        local, with the locals of its group; shape (global or local, global + width).
        """
        return np.zeros((self.size, self.n_global + self.width))


@dataclass(frozen=True, eq=False)
class Arrow:
    """A symmetric matrix.

    Attributes
    ----------
    layout : Layout
    outer : ndarray, shape (global or local, global + width)
        As `Layout.zeros` describes.
    """

    layout: Layout
    outer: FloatArray

    def dense(self) -> FloatArray:
        """The matrix in full, shape (parameter, parameter), for small ones."""
        at = self.layout
        full = np.zeros((at.size, at.size))
        full[:, : at.n_global] = self.outer[:, : at.n_global]
        full[: at.n_global] = full[:, : at.n_global].T
        for t in range(at.n_groups):
            own = slice(at.n_global + t * at.width, at.n_global + (t + 1) * at.width)
            full[own, own] = self.outer[own, at.n_global :]
        return full

    def trace_with(self, other: FloatArray) -> float:
        """Trace of the product with another symmetric matrix, of which only what has a place in an arrow
        counts; it is in the form of `Layout.zeros`.
        """
        n, products = self.layout.n_global, self.outer * other
        return float(products.sum() + products[n:, :n].sum())  # locals go with globals on both sides

    def factor(self, sums: Sequence[slice]) -> Factor:
        """The Gaussian with this precision, conditioned on sums of parameters that are zero.

        Raises
        ------
        numpy.linalg.LinAlgError
            It is not positive definite.
        """
        at, outer = self.layout, self.outer
        head = outer[: at.n_global, : at.n_global]
        local = outer[at.n_global :].reshape(at.n_groups, at.width, at.n_global + at.width)
        inverse = np.zeros((at.n_groups, at.width, at.width))
        if at.width:
            inverse[:] = np.linalg.inv(np.linalg.cholesky(local[:, :, at.n_global :]))
        across = (inverse @ local[:, :, : at.n_global]).reshape(at.n_groups * at.width, at.n_global)
        small = cholesky(head - across.T @ across, lower=True, check_finite=False)
        return Factor(at, np.asarray(small), inverse, across, tuple(sums))


@dataclass(frozen=True, eq=False)
class Factor:
    """A Gaussian about zero, some of whose parameters sum to zero.

    Made by `Arrow.factor`.

    Attributes
    ----------
    layout : Layout
    lower : ndarray, shape (global, global)
        Cholesky factor of what is left of the precision when groups are eliminated.
    inverse : ndarray, shape (group, width, width)
        Inverse Cholesky factors of the groups' own blocks.
    across : ndarray, shape (local, global)
        Those times what stands between locals and globals.
    sums : tuple of slice
        Parameters that sum to zero.
    """

    layout: Layout
    lower: FloatArray
    inverse: FloatArray
    across: FloatArray
    sums: tuple[slice, ...]

    @cached_property
    def log_determinant(self) -> float:
        """Of the precision over parameters whose sums are zero, up to a constant."""
        own = np.diagonal(self.inverse, axis1=1, axis2=2)
        value = 2 * float(np.log(np.diag(self.lower)).sum()) - 2 * float(np.log(own).sum())
        return value + float(np.linalg.slogdet(self._among)[1])

    @cached_property
    def _toward(self) -> FloatArray:
        """How parameters go with the sums, shape (parameter, sum)."""
        ones = np.zeros((self.layout.size, len(self.sums)))
        for i, where in enumerate(self.sums):
            ones[where, i] = 1
        return self._solve(ones)

    @cached_property
    def _among(self) -> FloatArray:
        """Covariance of the sums before they were zero."""
        return self._sums_of(self._toward)

    def _sums_of(self, x: FloatArray) -> FloatArray:
        return np.array([x[where].sum(axis=0) for where in self.sums]).reshape(len(self.sums), *x.shape[1:])

    def solve(self, right: FloatArray) -> FloatArray:
        """Covariance times a vector, shape (parameter,)."""
        return self.settled(self._solve(right))

    def settled(self, x: FloatArray) -> FloatArray:
        """What x becomes when sums are made zero, shape (parameter, ...)."""
        if not self.sums:
            return x
        settled: FloatArray = x - self._toward @ np.linalg.solve(self._among, self._sums_of(x))
        return settled

    def _solve(self, right: FloatArray) -> FloatArray:
        at = self.layout
        local = self._times(self.inverse, right[at.n_global :])
        head = cho_solve((self.lower, True), right[: at.n_global] - self.across.T @ local, check_finite=False)
        tail = self._times(self.inverse.transpose(0, 2, 1), local - self.across @ head)
        return np.concatenate([head, tail])

    def _times(self, blocks: FloatArray, x: FloatArray) -> FloatArray:
        """Blocks of groups times what is of locals, shape (local, ...)."""
        at = self.layout
        columns = x.reshape(at.n_groups, at.width, *x.shape[1:] or (1,))
        product: FloatArray = (blocks @ columns).reshape(x.shape)
        return product

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draws, shape (draw, parameter)."""
        at = self.layout
        head = solve_triangular(self.lower, rng.normal(size=(at.n_global, n)), lower=True, trans="T")
        noise = rng.normal(size=(at.n_groups * at.width, n))
        tail = self._times(self.inverse.transpose(0, 2, 1), noise - self.across @ head)
        return np.asarray(self.settled(np.concatenate([head, tail])).T)

    def covariance(self) -> FloatArray:
        """Covariance of globals and locals with the globals, and of locals with the locals of their group, in
        the form of `Layout.zeros`.
        """
        at = self.layout
        total = at.zeros()
        head = cho_solve((self.lower, True), np.eye(at.n_global), check_finite=False)
        spread = self._times(self.inverse.transpose(0, 2, 1), self.across)  # −d local / d global
        total[: at.n_global, : at.n_global] = head
        total[at.n_global :, : at.n_global] = -spread @ head
        by_group = (at.n_groups, at.width)
        moved = spread.reshape(*by_group, at.n_global)
        own = self.inverse.transpose(0, 2, 1) @ self.inverse
        own += (spread @ head).reshape(*by_group, at.n_global) @ moved.transpose(0, 2, 1)
        total[at.n_global :, at.n_global :] = own.reshape(at.size - at.n_global, at.width)
        if self.sums:
            root = np.linalg.cholesky(np.linalg.inv(self._among))
            off = self._toward @ root
            total[:, : at.n_global] -= off @ off[: at.n_global].T
            of_groups = off[at.n_global :].reshape(*by_group, len(self.sums))
            total[at.n_global :, at.n_global :] -= (of_groups @ of_groups.transpose(0, 2, 1)).reshape(
                at.size - at.n_global, at.width
            )
        return total

"""Symmetric matrices shaped like an arrowhead, and Gaussians whose precision is one.

Parameters stand in three layers. *Global* ones may go with everything. *Local* ones, ``width`` for each
topic, go with globals and with each other. *Cells* lie within topics: each goes with globals and with the
locals of its topic. Cells are eliminated first, then topics, by Schur complements. What is left is as small
as the global part, and the cost grows linearly with cells and topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky, solve_triangular

from bayespool.inference.kernels import Design, add_own

__all__ = ["Arrow", "Cells", "Factor", "Layout"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Layout:
    """How many parameters there are of each layer, in this order.

    Attributes
    ----------
    n_global, n_topics, width, n_cells : int
        A topic has ``width`` locals, which stand together.
    """

    n_global: int
    n_topics: int
    width: int
    n_cells: int

    @property
    def n_outer(self) -> int:
        """Globals and locals."""
        return self.n_global + self.n_topics * self.width

    @property
    def size(self) -> int:
        """All parameters."""
        return self.n_outer + self.n_cells

    def places(self, parameters: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Columns in which an arrow has globals and locals."""
        local = self.n_global + (parameters - self.n_global) % max(self.width, 1)
        return np.where(parameters < self.n_global, parameters, local)

    def zeros(self) -> FloatArray:
        """An arrow without its cells, all zero: row p is for the entries of p with the globals and, if it is
        local, with the locals of its topic; shape (global or local, global + width).
        """
        return np.zeros((self.n_outer, self.n_global + self.width))


@dataclass(frozen=True, eq=False)
class Cells:
    """The rows of an arrow that belong to cells.

    Attributes
    ----------
    design : Design
        What stands between a cell and the globals and locals.
    diagonal : ndarray, shape (cell,)
    """

    design: Design
    diagonal: FloatArray

    def dot(self, x: FloatArray) -> FloatArray:
        """The rows times globals and locals, shape (cell,), or (cell, column) for x of shape (parameter,
        column).
        """
        matrix, columns, effects, _, value = self.design
        result: FloatArray = matrix @ x[columns]
        value = value.reshape(-1, *[1] * (x.ndim - 1))
        for index in effects.T:
            result += value * x[index]
        return result

    def add(self, right: FloatArray, total: FloatArray) -> None:
        """Add the transposed rows times a vector over cells to a total over globals and locals."""
        matrix, columns, effects, _, value = self.design
        total[columns] += matrix.T @ right
        for index in effects.T:
            if right.ndim == 1:
                total += np.bincount(index, value * right, len(total))
            else:
                np.add.at(total, index, value[:, None] * right)

    def some(self, kept: npt.NDArray[np.intp]) -> Cells:
        """Some of the cells."""
        matrix, columns, effects, places, value = self.design
        return Cells(
            Design(matrix[kept], columns, effects[kept], places[kept], value[kept]), self.diagonal[kept]
        )


@dataclass(frozen=True, eq=False)
class Arrow:
    """A symmetric matrix.

    Attributes
    ----------
    layout : Layout
    outer : ndarray, shape (global or local, global + width)
        As `Layout.zeros` describes.
    cells : Cells or None
        None where there are no cells.
    """

    layout: Layout
    outer: FloatArray
    cells: Cells | None

    def dense(self) -> FloatArray:
        """The matrix in full, shape (parameter, parameter), for small ones."""
        at, n = self.layout, self.layout.n_outer
        full = np.zeros((at.size, at.size))
        full[:n, : at.n_global] = self.outer[:, : at.n_global]
        full[: at.n_global, :n] = full[:n, : at.n_global].T
        for t in range(at.n_topics):
            own = slice(at.n_global + t * at.width, at.n_global + (t + 1) * at.width)
            full[own, own] = self.outer[own, at.n_global :]
        if self.cells is not None:
            matrix, columns, effects, _, value = self.cells.design
            for c in range(at.n_cells):
                full[n + c, columns] += matrix[c]
                np.add.at(full[n + c], effects[c], value[c])
            full[:n, n:] = full[n:, :n].T
            full[range(n, at.size), range(n, at.size)] = self.cells.diagonal
        return full

    def factor(self, sums: Sequence[slice]) -> Factor:
        """The Gaussian with this precision, conditioned on sums of parameters that are zero.

        Raises
        ------
        numpy.linalg.LinAlgError
            It is not positive definite.
        """
        at, outer = self.layout, self.outer
        if self.cells is not None:
            if not self.cells.diagonal.min() > 0:
                raise np.linalg.LinAlgError("a cell has no curvature")
            outer = outer.copy()
            nothing = np.zeros(len(outer))
            eliminated = -1 / self.cells.diagonal
            add_own(self.cells.design, 0 * eliminated, eliminated, nothing, outer, at.n_global)
        head = outer[: at.n_global, : at.n_global]
        local = outer[at.n_global :].reshape(at.n_topics, at.width, at.n_global + at.width)
        inverse = np.zeros((at.n_topics, at.width, at.width))
        if at.width:
            inverse[:] = np.linalg.inv(np.linalg.cholesky(local[:, :, at.n_global :]))
        across = (inverse @ local[:, :, : at.n_global]).reshape(at.n_topics * at.width, at.n_global)
        small = cholesky(head - across.T @ across, lower=True, check_finite=False)
        return Factor(at, np.asarray(small), inverse, across, self.cells, tuple(sums))


@dataclass(frozen=True, eq=False)
class Factor:
    """A Gaussian about zero, some of whose parameters sum to zero.

    Made by `Arrow.factor`.

    Attributes
    ----------
    layout : Layout
    lower : ndarray, shape (global, global)
        Cholesky factor of what is left of the precision when cells and topics are eliminated.
    inverse : ndarray, shape (topic, width, width)
        Inverse Cholesky factors of the topics' own blocks.
    across : ndarray, shape (local, global)
        Those times what stands between locals and globals.
    cells : Cells or None
    sums : tuple of slice
        Parameters, none of them cells, that sum to zero.
    """

    layout: Layout
    lower: FloatArray
    inverse: FloatArray
    across: FloatArray
    cells: Cells | None
    sums: tuple[slice, ...]

    @cached_property
    def log_determinant(self) -> float:
        """Of the precision over parameters whose sums are zero, up to a constant."""
        own = np.diagonal(self.inverse, axis1=1, axis2=2)
        value = 2 * float(np.log(np.diag(self.lower)).sum()) - 2 * float(np.log(own).sum())
        if self.cells is not None:
            value += float(np.log(self.cells.diagonal).sum())
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
        """What x becomes when sums are made zero, shape (parameter, ...); cells may be left out."""
        if not self.sums:
            return x
        settled: FloatArray = x - self._toward[: len(x)] @ np.linalg.solve(self._among, self._sums_of(x))
        return settled

    def _solve(self, right: FloatArray) -> FloatArray:
        at, n = self.layout, self.layout.n_outer
        rest = right[:n].copy()
        if self.cells is not None:
            scale = self.cells.diagonal.reshape(-1, *[1] * (right.ndim - 1))
            self.cells.add(-right[n:] / scale, rest)
        local = self._times(self.inverse, rest[at.n_global :])
        head = cho_solve((self.lower, True), rest[: at.n_global] - self.across.T @ local, check_finite=False)
        tail = self._times(self.inverse.transpose(0, 2, 1), local - self.across @ head)
        x = np.concatenate([head, tail])
        if self.cells is None:
            return x
        return np.concatenate([x, (right[n:] - self.cells.dot(x)) / scale])

    def _times(self, blocks: FloatArray, x: FloatArray) -> FloatArray:
        """Blocks of topics times what is of locals, shape (local, ...)."""
        at = self.layout
        columns = x.reshape(at.n_topics, at.width, *x.shape[1:] or (1,))
        product: FloatArray = (blocks @ columns).reshape(x.shape)
        return product

    def draw(self, n: int, rng: np.random.Generator, kept: npt.NDArray[np.intp] | None = None) -> FloatArray:
        """Draws, shape (draw, parameter); of the cells those kept, by default all."""
        at = self.layout
        head = solve_triangular(self.lower, rng.normal(size=(at.n_global, n)), lower=True, trans="T")
        noise = rng.normal(size=(at.n_topics * at.width, n))
        tail = self._times(self.inverse.transpose(0, 2, 1), noise - self.across @ head)
        x = self.settled(np.concatenate([head, tail]))
        if self.cells is not None:
            cells = self.cells if kept is None else self.cells.some(kept)
            noise = rng.normal(size=(len(cells.diagonal), n)) / np.sqrt(cells.diagonal)[:, None]
            x = np.concatenate([x, noise - cells.dot(x) / cells.diagonal[:, None]])
        return np.asarray(x.T)

    def covariance(self) -> FloatArray:
        """Covariance of globals and locals with the globals, and of locals with the locals of their topic, in
        the form of `Layout.zeros`.
        """
        at = self.layout
        total = at.zeros()
        head = cho_solve((self.lower, True), np.eye(at.n_global), check_finite=False)
        spread = self._times(self.inverse.transpose(0, 2, 1), self.across)  # −d local / d global
        total[: at.n_global, : at.n_global] = head
        total[at.n_global :, : at.n_global] = -spread @ head
        by_topic = (at.n_topics, at.width)
        moved = spread.reshape(*by_topic, at.n_global)
        own = self.inverse.transpose(0, 2, 1) @ self.inverse
        own += (spread @ head).reshape(*by_topic, at.n_global) @ moved.transpose(0, 2, 1)
        total[at.n_global :, at.n_global :] = own.reshape(at.n_outer - at.n_global, at.width)
        if self.sums:
            root = np.linalg.cholesky(np.linalg.inv(self._among))
            off = self._toward[: at.n_outer] @ root
            total[:, : at.n_global] -= off @ off[: at.n_global].T
            of_topics = off[at.n_global :].reshape(*by_topic, len(self.sums))
            total[at.n_global :, at.n_global :] -= (of_topics @ of_topics.transpose(0, 2, 1)).reshape(
                at.n_outer - at.n_global, at.width
            )
        return total

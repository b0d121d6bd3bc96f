"""Order of the parameters, and matrices whose shape is an arrow in that order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky, solve_triangular

from bayespool.arrays import FloatArray, IndexArray
from bayespool.models.structure import Structure


@dataclass(frozen=True, slots=True)
class Layout:
    """Numbers of parameters: globals, then ``width`` locals for each group, group by group."""

    n_global: int
    n_groups: int
    width: int

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_global + self.n_groups * self.width

    def places(self, parameters: IndexArray) -> IndexArray:
        """Columns of parameters in an arrow, of the shape of ``parameters``."""
        local = self.n_global + (parameters - self.n_global) % max(self.width, 1)
        return np.where(parameters < self.n_global, parameters, local)

    def zeros(self) -> FloatArray:
        """An arrow of zeros, shape (parameter, global + width): globals, and locals of the own group."""
        return np.zeros((self.size, self.n_global + self.width))


@dataclass(frozen=True, eq=False)
class Arrow:
    """A symmetric matrix in the form of `Layout.zeros`, shape (parameter, global + width)."""

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
        """Trace of the product with another matrix in the form of `Layout.zeros`."""
        n, products = self.layout.n_global, self.outer * other
        return float(products.sum() + products[n:, :n].sum())  # locals go with globals on both sides

    def factor(self, sums: Sequence[slice]) -> Factor:
        """The Gaussian with this precision and zero sums; LinAlgError if it is not positive definite."""
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
    """A Gaussian about zero, conditioned on zero sums of parameters; made by `Arrow.factor`."""

    layout: Layout
    lower: FloatArray  # Cholesky factor of the precision without groups, shape (global, global)
    inverse: FloatArray  # inverse Cholesky factors of the groups' blocks, shape (group, width, width)
    across: FloatArray  # those times the blocks of locals and globals, shape (local, global)
    sums: tuple[slice, ...]

    @cached_property
    def log_determinant(self) -> float:
        """Log determinant of the precision over parameters whose sums are zero, up to a constant."""
        own = np.diagonal(self.inverse, axis1=1, axis2=2)
        value = 2 * float(np.log(np.diag(self.lower)).sum()) - 2 * float(np.log(own).sum())
        return value + float(np.linalg.slogdet(self._covariance_of_sums)[1])

    @cached_property
    def _covariance_with_sums(self) -> FloatArray:
        """Covariance of parameters with the sums, shape (parameter, sum)."""
        ones = np.zeros((self.layout.size, len(self.sums)))
        for i, where in enumerate(self.sums):
            ones[where, i] = 1
        return self._solve(ones)

    @cached_property
    def _covariance_of_sums(self) -> FloatArray:
        """Covariance of the sums before conditioning, shape (sum, sum)."""
        return self._sums_of(self._covariance_with_sums)

    def _sums_of(self, x: FloatArray) -> FloatArray:
        return np.array([x[where].sum(axis=0) for where in self.sums]).reshape(len(self.sums), *x.shape[1:])

    def solve(self, right: FloatArray) -> FloatArray:
        """Covariance times a vector, shape (parameter,)."""
        return self.conditioned(self._solve(right))

    def conditioned(self, x: FloatArray) -> FloatArray:
        """Condition x on zero sums, shape (parameter, ...)."""
        if not self.sums:
            return x
        return x - self._covariance_with_sums @ np.linalg.solve(self._covariance_of_sums, self._sums_of(x))

    def _solve(self, right: FloatArray) -> FloatArray:
        at = self.layout
        local = self._times(self.inverse, right[at.n_global :])
        head = cho_solve((self.lower, True), right[: at.n_global] - self.across.T @ local, check_finite=False)
        tail = self._times(self.inverse.transpose(0, 2, 1), local - self.across @ head)
        return np.concatenate([head, tail])

    def _times(self, blocks: FloatArray, x: FloatArray) -> FloatArray:
        """Blocks of groups times the locals of x, shape (local, ...)."""
        at = self.layout
        columns = x.reshape(at.n_groups, at.width, *x.shape[1:] or (1,))
        return (blocks @ columns).reshape(x.shape)

    def variances(
        self, heads: FloatArray, locals_: FloatArray, starts: npt.NDArray[np.integer]
    ) -> FloatArray:
        """Variances of sums of parameters, shape (sum,), where nothing is conditioned on.

        Parameters
        ----------
        heads : ndarray of float, shape (sum, global)
        locals_ : ndarray of float, shape (sum, width), or (0, width) for sums of globals alone
            Those of group g are the sums ``starts[g]`` to ``starts[g + 1]``.
        starts : ndarray of int, shape (group + 1,)
        """
        at, rest, of_locals = self.layout, heads.copy(), np.zeros(len(heads))
        across = self.across.reshape(at.n_groups, at.width, at.n_global)
        for group, inverse in enumerate(self.inverse):
            own = slice(int(starts[group]), int(starts[group + 1]))
            if own.stop > own.start:
                white = locals_[own] @ inverse.T
                rest[own] -= white @ across[group]
                of_locals[own] = (white**2).sum(axis=1)
        white = solve_triangular(self.lower, rest.T, lower=True, check_finite=False)
        return np.asarray(of_locals + (white**2).sum(axis=0))

    def draw(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draws, shape (draw, parameter)."""
        at = self.layout
        head = solve_triangular(self.lower, rng.normal(size=(at.n_global, n)), lower=True, trans="T")
        noise = rng.normal(size=(at.n_groups * at.width, n))
        tail = self._times(self.inverse.transpose(0, 2, 1), noise - self.across @ head)
        return np.asarray(self.conditioned(np.concatenate([head, tail])).T)

    def covariance(self) -> FloatArray:
        """Covariance with the globals, and of locals with their group, in the form of `Layout.zeros`."""
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
            root = np.linalg.cholesky(np.linalg.inv(self._covariance_of_sums))
            off = self._covariance_with_sums @ root
            total[:, : at.n_global] -= off @ off[: at.n_global].T
            of_groups = off[at.n_global :].reshape(*by_group, len(self.sums))
            total[at.n_global :, at.n_global :] -= (of_groups @ of_groups.transpose(0, 2, 1)).reshape(
                at.size - at.n_global, at.width
            )
        return total


_PLATES = ("topic", "organization")  # their groups are independent given all other parameters


class ParameterPositions:
    """Layout, scales and positions of coefficients and effects in x, groups of locals last."""

    # ``scales`` are names of the factors in the order of θ; ``slices`` positions by name; ``sums`` the
    # effects that sum to zero. In x coefficients and most effects precede the effects and slopes of topics,
    # or of organizations, group by group.
    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.scales = tuple(
            n for n, g in structure.groups.items() if g.size > (not (g.is_cell or g.is_slope))
        )
        cells, slopes, local = structure.cells, structure.slopes, self._local_factors()
        self.slices: dict[str, slice | IndexArray] = {}
        stop = 0
        for name, coefficient in structure.coefficients.items():
            width = 1 if coefficient.size is None else coefficient.size
            self.slices[name], stop = slice(stop, stop + width), stop + width
        for name in self.scales:
            if name not in local and name != cells:
                size = structure.groups[name].size
                self.slices[name], stop = slice(stop, stop + size), stop + size
        n_groups = structure.groups[local[0]].size if local else 0
        widths = [structure.groups[name].size // n_groups for name in local]
        self.layout = Layout(stop, n_groups, sum(widths))
        for name, width, j in zip(local, widths, np.cumsum([0, *widths]).tolist(), strict=False):
            places = stop + j + np.arange(n_groups)[:, None] * self.layout.width + np.arange(width)
            self.slices[name] = places.ravel()
            if name != slopes:
                self.slices[name] = slice(stop + j, self.layout.size, self.layout.width)
        summed = [self.slices[name] for name in self.scales if name not in (cells, slopes)]
        self.sums = tuple(where for where in summed if isinstance(where, slice))

    def _local_factors(self) -> list[str]:
        """Factors to eliminate first: those along the coordinate that leaves the fewest parameters."""
        groups, slopes = self.structure.groups, self.structure.slopes
        along = {plate: [n for n in self.scales if groups[n].dim == plate] for plate in _PLATES}
        if slopes is not None and slopes in self.scales and along["organization"]:
            along["organization"].append(slopes)
        return max(along.values(), key=lambda names: sum(groups[name].size for name in names))

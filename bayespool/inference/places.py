"""Positions of the coefficients and effects of a structure among the parameters of its density."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bayespool.inference.arrow import Layout
from bayespool.models.structure import Structure

IndexArray = npt.NDArray[np.int64]

_PLATES = ("topic", "organization")  # their groups are independent given all other parameters


class Places:
    """Layout, scales and positions of coefficients and effects in x.

    ``scales`` are names of the factors in the order of θ; ``slices`` positions by name; ``sums`` the effects
    that sum to zero. In x coefficients and most effects precede the effects and slopes of topics, or of
    organizations, group by group.
    """

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

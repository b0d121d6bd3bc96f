"""Type aliases for NumPy arrays, used in signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "AnyArray",
    "BoolArray",
    "FloatArray",
    "IndexArray",
    "IntArray",
    "LevelArray",
    "Levels",
    "OrderArray",
]

AnyArray = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int64]  # indices and counts
Levels = npt.NDArray[np.uint8]
LevelArray = npt.NDArray[np.int16]
IntArray = npt.NDArray[np.int32]  # places in tables of a collection
OrderArray = npt.NDArray[np.intp]  # what sorts

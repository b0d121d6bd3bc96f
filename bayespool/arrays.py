"""Types used in signatures: aliases for NumPy arrays, and the callback on progress."""

from __future__ import annotations

from typing import Any, Protocol

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
    "Progress",
]

AnyArray = npt.NDArray[Any]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int64]  # indices and counts
Levels = npt.NDArray[np.uint8]
LevelArray = npt.NDArray[np.int16]
IntArray = npt.NDArray[np.int32]  # places in tables of a collection
OrderArray = npt.NDArray[np.intp]  # what sorts


class Progress(Protocol):
    """Callback on the progress of work."""

    def __call__(self, text: str, done: int = 0, total: int = 0, /) -> None:
        """Take the text of a stage, or of what is counted with how many of them are done, and of all."""

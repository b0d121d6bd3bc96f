"""A predictor as a value: its name, what it is, what its slope is expected to be, and how it is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError, known_names
from bayespool.evidence.context import DocumentContext

Per = Literal["ranking", "label", "document"]


@dataclass(frozen=True, kw_only=True)
class Predictor:
    """A quantity that is known about a document before it is judged.

    Parameters
    ----------
    name : str
    description : str
        One line in Markdown, for the tables of the documentation.
    per : {"ranking", "label", "document"}
        Whether all documents of a run and topic have the same value, or one of a few by their labels. A model
        without predictors of documents counts the documents of a ranking in one row, or in a few.
    compute : callable
        `DocumentContext` → ndarray of float, shape (document,), finite; of labels NaN where there is none.
        Nothing that the document's own organization alone contributed may take part in it.
    slope : (float, float), optional
        Mean and standard deviation a priori of the slope that the evidence model gives it, per unit of its
        own scale. Without one it is not a predictor of the evidence model.

    Raises
    ------
    InputError
        A slope without a spread, or an unknown ``per``.
    """

    name: str
    description: str
    per: Per
    compute: Callable[[DocumentContext], npt.NDArray[np.float64]] = field(repr=False)
    slope: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.per not in get_args(Per):
            raise InputError(
                f"predictor {self.name}: no per {self.per!r}", hint=known_names(self.per, get_args(Per))
            )
        if self.slope is not None and not (np.isfinite(self.slope).all() and self.slope[1] > 0):
            raise InputError(
                f"predictor {self.name}: its slope {self.slope} is not a mean and a standard deviation over 0"
            )

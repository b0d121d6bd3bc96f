"""A predictor of relevance: its name, description, expected slope and computation."""

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
    """A quantity known about a document before it is judged.

    Parameters
    ----------
    name : str
    description : str
        One line in Markdown, for the tables of the documentation.
    per : {"ranking", "label", "document"}
        Whether all documents of a run and topic have the same value, or one of a few by their labels. A model
        without predictors per document counts the documents of a ranking in one row, or in a few.
    compute : callable
        `DocumentContext` → ndarray of float, shape (document,), finite; predictors of labels have NaN where
        there is none. Documents that the document's own organization alone contributed must not take part.
    slope : (float, float), optional
        Prior mean and standard deviation of its slope in the evidence model, per unit of its own scale.
        Without one the evidence model does not use it.

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

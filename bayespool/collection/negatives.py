"""Meanings of a negative relevance in a qrels file.

By custom −1 lists a document of the pool as unjudged (the sampled qrels of the Million Query and Web tracks),
and −2 marks spam (the Web tracks). A file does not say which custom it follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError, known_names

UNJUDGED = -1
"""Relevance of an unjudged document; distinct from 0, judged and not relevant."""

LISTED = -2
"""Relevance of an unjudged document that the qrels list as being in the pool."""

Negative = Literal["listed", "unjudged", "nonrelevant"]


@dataclass(frozen=True, slots=True)
class Negatives:
    """Negative judgments of a qrels file and their meaning.

    Attributes
    ----------
    meaning : {"listed", "unjudged", "nonrelevant"}
        ``"listed"``: −1 is in the pool and unjudged, lower values are nonrelevant. ``"unjudged"``: all are
        as if they were not in the file. ``"nonrelevant"``: all are nonrelevant.
    n_minus_one, n_below : int
        Number of judgments of −1, and below it.

    Examples
    --------
    >>> print(Negatives("listed", 12, 3))
    12 listed with relevance −1 (unjudged), 3 below −1 (nonrelevant)
    """

    meaning: Negative = "listed"
    n_minus_one: int = 0
    n_below: int = 0

    def __str__(self) -> str:
        below = "unjudged" if self.meaning == "unjudged" else "nonrelevant"
        minus_one = "nonrelevant" if self.meaning == "nonrelevant" else "unjudged"
        parts = [f"{self.n_minus_one} listed with relevance −1 ({minus_one})"] * (self.n_minus_one > 0)
        parts += [f"{self.n_below} below −1 ({below})"] * (self.n_below > 0)
        return ", ".join(parts)


NO_NEGATIVES = Negatives()


def relevance_codes(
    relevance: npt.NDArray[np.int16], meaning: Negative
) -> tuple[npt.NDArray[np.int16], Negatives]:
    """Relevance codes (0 or more, `UNJUDGED` or `LISTED`), shape (line,), and counts of negative values.

    Examples
    --------
    >>> relevance_codes(np.array([1, 0, -1, -2], dtype=np.int16), "listed")[0].tolist()
    [1, 0, -2, 0]
    """
    if meaning not in get_args(Negative):
        raise InputError(
            f"a negative relevance cannot be {meaning!r}", hint=known_names(meaning, get_args(Negative))
        )
    negatives = Negatives(meaning, int((relevance == -1).sum()), int((relevance < -1).sum()))
    codes: Any = relevance
    if meaning == "nonrelevant":
        codes = np.maximum(relevance, 0)
    elif meaning == "unjudged":
        codes = np.maximum(relevance, UNJUDGED)
    else:
        codes = np.where(relevance == -1, LISTED, np.maximum(relevance, 0))
    return codes.astype(np.int16), negatives

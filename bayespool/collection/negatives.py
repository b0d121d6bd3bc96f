"""What a negative relevance in a qrels file means.

By custom −1 says that a document is in the pool and was not judged (the sampled qrels of the Million Query
and Web tracks), and −2 that it was judged to be spam (the Web tracks). Nothing in a file says which custom it
follows, so whoever reads it can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError, known_names

UNJUDGED = -1
"""Relevance of a document that nobody has judged; distinct from 0, judged and not relevant."""

LISTED = -2
"""Relevance of a document that is listed as being in the pool and that nobody has judged."""

Negative = Literal["listed", "unjudged", "nonrelevant"]


@dataclass(frozen=True, slots=True)
class Negatives:
    """The negative judgments of a qrels file.

    Attributes
    ----------
    meaning : {"listed", "unjudged", "nonrelevant"}
        ``"listed"``: −1 is in the pool and not judged, anything below is judged and not relevant.
        ``"unjudged"``: all are as if they were not in the file. ``"nonrelevant"``: all are judged and not
        relevant.
    n_minus_one, n_below : int
        Judgments given as −1, and below it.

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
        said = [f"{self.n_minus_one} listed with relevance −1 ({minus_one})"] * (self.n_minus_one > 0)
        said += [f"{self.n_below} below −1 ({below})"] * (self.n_below > 0)
        return ", ".join(said)


NO_NEGATIVES = Negatives()


def relevance_codes(
    relevance: npt.NDArray[np.int16], meaning: Negative
) -> tuple[npt.NDArray[np.int16], Negatives]:
    """Relevance as a collection has it: 0 or more, `UNJUDGED` or `LISTED`; and how many were negative.

    Raises
    ------
    InputError
        No such meaning.

    Examples
    --------
    >>> relevance_codes(np.array([1, 0, -1, -2], dtype=np.int16), "listed")[0].tolist()
    [1, 0, -2, 0]
    """
    if meaning not in get_args(Negative):
        raise InputError(
            f"a negative relevance cannot be {meaning!r}", hint=known_names(meaning, get_args(Negative))
        )
    found = Negatives(meaning, int((relevance == -1).sum()), int((relevance < -1).sum()))
    codes: Any = relevance
    if meaning == "nonrelevant":
        codes = np.maximum(relevance, 0)
    elif meaning == "unjudged":
        codes = np.maximum(relevance, UNJUDGED)
    else:
        codes = np.where(relevance == -1, LISTED, np.maximum(relevance, 0))
    return codes.astype(np.int16), found

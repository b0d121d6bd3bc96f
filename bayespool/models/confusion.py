r"""How often levels of relevance change between two assessors: the model and its priors.

With :math:`n_{tab}` documents of topic :math:`t` at level :math:`a` by the first assessor and :math:`b` by the
second,

.. math::

    n_{ta\cdot} \sim \operatorname{Multinomial}(n_{ta}, \pi_{ta}), \quad
    \pi_{ta} \sim \operatorname{Dirichlet}(\kappa\, m_a), \quad
    m_a \sim \operatorname{Dirichlet}(c_a), \quad \kappa \sim \operatorname{Gamma}(1, 1/20).

:math:`m_a` are the chances of each level on all topics, :math:`\kappa` says how alike topics are. :math:`c_{ab}`
is 1/2 (Jeffreys), or a count of documents that the user states. On held-out documents topics with chances of
their own are better by .02 to .29 nats a document than one matrix, and one :math:`\kappa` is as good as one for
each level (`benchmarks/assessors.py density`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bayespool.errors import InputError

PRIOR_COUNT = 0.5
"""Prior count of each level of the second assessor, where nothing is stated."""
CONCENTRATION_SHAPE, CONCENTRATION_RATE = 1.0, 0.05
"""Gamma prior of the concentration κ."""

Confusion = tuple[tuple[float, ...], ...]
_HINT = "write '95 5; 30 70': of 100 documents at the lowest level 5 change, of 100 at the next one 30"


def parse_confusion(given: str | Sequence[Sequence[float]] | None) -> Confusion:
    """Counts of documents by level of the first assessor (rows) and of the second, ascending.

    Raises
    ------
    InputError
        They are no square of numbers above 0.

    Examples
    --------
    >>> parse_confusion("95 5; 30 70")
    ((95.0, 5.0), (30.0, 70.0))
    """
    rows = [row.split() for row in given.split(";")] if isinstance(given, str) else list(given or ())
    try:
        counts = tuple(tuple(float(cell) for cell in row) for row in rows)
    except (TypeError, ValueError):
        raise InputError(f"confusion {given!r} is not made of numbers", hint=_HINT) from None
    if counts and (len(counts) < 2 or any(len(row) != len(counts) for row in counts)):
        raise InputError(f"confusion {given!r} is not a square of two levels or more", hint=_HINT)
    if any(not 0 < cell < math.inf for row in counts for cell in row):
        raise InputError(f"confusion {given!r} has a count that is not above 0", hint=_HINT)
    return counts


def prior_counts(stated: Confusion, levels: Sequence[int]) -> npt.NDArray[np.float64]:
    """Counts of the prior, shape (level, level); an `InputError` if those stated are of other levels."""
    if stated and len(stated) != len(levels):
        raise InputError(
            f"confusion of {len(stated)} levels, and the judgments have {len(levels)}: "
            f"{', '.join(map(str, levels))}",
            hint="a row and a column for each of them, ascending",
        )
    return np.array(stated) if stated else np.full((len(levels), len(levels)), PRIOR_COUNT)

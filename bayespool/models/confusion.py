r"""Model and priors for changes in relevance level from one assessor to another.

Of a document :math:`d` of topic :math:`t` that the first assessor puts at level :math:`a`, and of which the
second says that it reaches a level, the log odds that it reaches the next one, threshold :math:`k`, are

.. math::

    \alpha_{ka} + \beta_k \bar g_d + \textstyle\sum_r \gamma_{kr} g_{dr} + u_{kt} + v_{kta}
    + s_d (\zeta_k + \lambda_k e_d + w_{ko(d)}).

:math:`g_{dr}` says how high run :math:`r` ranks the document, 1/(1 + rank/10) less its mean, in standard
deviations, and :math:`\bar g_d` is the standardized sum over runs: what good runs rank high is confirmed more
often than other documents of its level, and scores are of such documents. Topics have assessors of their own.
:math:`s_d` is 1 for a document that one organization alone contributed, and for an unjudged one: it is of
another kind, by the organization :math:`o(d)` and by :math:`e_d`, the log odds that it is relevant to the
first assessor given all but its own judgment, standardized. Of an unjudged document these are the log odds of
the draw: where an organization's documents are worse than expected, they are so to both assessors.

Priors: :math:`\beta, \zeta, \lambda \sim N(0, 1)`, :math:`\gamma \sim N(0, \tau^2)`,
:math:`w \sim N(0, \omega^2)`, :math:`u \sim N(0, \sigma_u^2)`, :math:`v \sim N(0, \sigma_v^2)`; the scales
are half-normal, and :math:`\alpha` has the prior of documents that the user states, or of half a document at
each level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.errors import InputError

PRIOR_COUNT = 0.5
"""Default number of prior pseudo-documents at each level of the second assessor."""
INTERCEPT_SD, SLOPE_SD = 10.0, 1.0
"""Prior standard deviations for α (in addition to pseudo-documents), and for β, ζ and λ."""
SCALES_SD = (1.0, 1.0, 0.5, 1.0)
"""Standard deviations of the half-normal priors on σ_u, σ_v, τ and ω."""

Confusion = tuple[tuple[float, ...], ...]
_HINT = "write '95 5; 30 70': of 100 documents at the lowest level 5 change, of 100 at the next one 30"


def parse_confusion(given: str | Sequence[Sequence[float]] | None) -> Confusion:
    """Return numbers of documents by level of the first assessor (rows) and the second (columns).

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


def prior_counts(stated: Confusion, levels: Sequence[int]) -> FloatArray:
    """Return the prior's numbers of pseudo-documents, shape (level, level).

    Raises `InputError` if the stated ones have another number of levels.
    """
    if stated and len(stated) != len(levels):
        raise InputError(
            f"confusion of {len(stated)} levels, and the judgments have {len(levels)}: "
            f"{', '.join(map(str, levels))}",
            hint="a row and a column for each of them, ascending",
        )
    return np.array(stated) if stated else np.full((len(levels), len(levels)), PRIOR_COUNT)

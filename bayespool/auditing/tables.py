"""Columns of the tables of audits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray
from bayespool.auditing.urns import Urn
from bayespool.tables.table import Column

STEPS = {
    "step": Column("step", "count", "Place in the order in which documents are drawn."),
    "known": Column("known", "count", "Number of judgments that were known when the document was drawn."),
    "probability": Column(
        "prob\xad\nability", "chance", "With which the document was drawn, given those before it.", 4
    ),
    "relevance": Column("relevance", "count", "Relevance; -1 where nobody has judged it."),
    "is_judged": Column(
        "judged", "flag", "Whether the document and all drawn before it are judged, so that it counts."
    ),
    "estimate": Column(
        "estimate", "score", "Design-based estimate: posterior means with weighted residuals."
    ),
    "lower": Column("from", "score", "Lower end of the guaranteed interval."),
    "upper": Column("to", "score", "Upper end of the guaranteed interval."),
    "posterior": Column("posterior", "score", "Posterior mean of the value, given the judgments so far."),
    "posterior_lower": Column("posterior\nfrom", "score", "Lower end of the posterior's interval."),
    "posterior_upper": Column("posterior\nto", "score", "Upper end of the posterior's interval."),
    "evidence": Column(
        "evidence",
        "size",
        "Evidence against the posterior so far; one that is right reaches 100 in about one of 40 audits.",
    ),
}
DOCUMENTS = {
    "low": Column(
        "adds\nat least", "difference", "What the document adds, if of worth 1, to a sum below the value.", 6
    ),
    "high": Column(
        "adds\nat most", "difference", "What the document adds, if of worth 1, to a sum above the value.", 6
    ),
    "chance": Column("chance of\nrelevance", "chance", "Expected worth of the document by the posterior.", 4),
    "spread": Column("s. d.", "chance", "Standard deviation of its worth in the posterior.", 4),
    "shared": Column(
        "shared",
        "difference",
        "Change of the chance with a standard deviation of what all have in common.",
        4,
    ),
    "relevance": Column("relevance", "count", "Relevance by the audit's judgments; -1 without one."),
}
DIFFERENCES = {
    "leader": Column("leader", "text", "The best run by the posterior before any judgment."),
    "other": Column("against", "text", "The run that the leader is compared with."),
    "difference": Column("difference", "difference", "Design-based estimate of the leader less the other."),
    "lower": Column("from", "difference", "Lower end of the guaranteed interval."),
    "upper": Column("to", "difference", "Upper end of the guaranteed interval."),
    "posterior": Column("posterior", "difference", "Posterior mean, given the judgments so far."),
    "posterior_lower": Column("posterior\nfrom", "difference", "Lower end of the posterior's interval."),
    "posterior_upper": Column("posterior\nto", "difference", "Upper end of the posterior's interval."),
    "p_better": Column(
        "p: leader\nbetter",
        "p-value",
        "P-value at any time of the leader being no better, times the number of other runs.",
    ),
    "p_worse": Column(
        "p: leader\nworse",
        "p-value",
        "P-value at any time of the leader being no worse, times the number of other runs.",
    ),
    "evidence": STEPS["evidence"],
    "leader_is": Column(
        "leader\nis", "text", "What is guaranteed of the leader: better, worse, equal or open."
    ),
}


REFUTING = 100.0
"""Evidence at which the posterior is called refuted; one that is right reaches it in one of 40 audits."""
_OTHERS = ((1.0, -2.0), (1.0, -1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 0.0), (-1.0, 0.0))
"""Slope and shift of the log odds of rivals of the posterior: all less or more, all alike, turned round."""
_LEAST_CHANCE = 1e-3


class Foretold(NamedTuple):
    """The posterior of the value after each judgment, and the evidence against it, each of shape (step,)."""

    mean: FloatArray
    std: FloatArray
    evidence: FloatArray


def foretell(urn: Urn, chosen: npt.NDArray[np.int64], worth: FloatArray) -> Foretold:
    """What the posterior says after each judgment.

    Parameters
    ----------
    urn : Urn
    chosen : ndarray of int, shape (step,)
        Judged documents, in the order in which they were drawn.
    worth : ndarray of float, shape (step,)
        Their worth.

    Notes
    -----
    The expected worth of a document is its chance + ``shared`` × F, where F, standard normal at first, is
    what all documents have in common (the effects of the run, the slopes), and is learned as under normal
    variables. The evidence is the mean over six rivals of how much more likely they made the judgments than
    the posterior did. If F is all that documents have in common, and its linear update exact, this is a
    martingale that starts at 1 and has expectation 1 while the posterior is right, so that it ever reaches
    100 with a probability of at most 1/100. Real posteriors reach it more often (``docs/audit.md``).
    """
    contribution = (urn.low + urn.high) / 2
    noise = np.maximum(urn.spread**2 - urn.shared**2, 1e-6)
    open_mean = float(contribution @ urn.chance)
    open_shared = float(contribution @ urn.shared)
    open_noise = float(contribution**2 @ noise)
    base = (urn.base_low + urn.base_high) / 2
    std = float(np.sqrt(open_shared**2 + open_noise)) or 1.0
    off = urn.mean - base - open_mean  # of the linear value from the posterior's, which goes with the spread
    center = _log_odds(float(np.average(urn.chance, weights=np.abs(contribution) + 1e-300)))
    slopes, shifts = np.array(_OTHERS).T
    precision, pull, log_evidence = 1.0, 0.0, np.zeros(len(_OTHERS))
    values = np.zeros((3, len(chosen)))
    for step, (i, y) in enumerate(zip(chosen.tolist(), worth.tolist(), strict=True)):
        chance = urn.chance[i] + urn.shared[i] * pull / precision
        log_odds = _log_odds(chance)
        chance = 1 / (1 + np.exp(-log_odds))
        other = 1 / (1 + np.exp(-(center + slopes * (log_odds - center) + shifts)))
        log_evidence += np.log(other / chance * y + (1 - other) / (1 - chance) * (1 - y))
        precision += urn.shared[i] ** 2 / noise[i]
        pull += urn.shared[i] * (y - urn.chance[i]) / noise[i]
        base += contribution[i] * y
        open_mean -= contribution[i] * urn.chance[i]
        open_shared -= contribution[i] * urn.shared[i]
        open_noise = max(open_noise - contribution[i] ** 2 * noise[i], 0.0)
        left = float(np.sqrt(open_shared**2 / precision + open_noise)) / std
        values[0, step] = base + open_mean + open_shared * pull / precision + off * left
        values[1, step] = urn.std * left
        values[2, step] = np.exp(log_evidence).mean()
    return Foretold(*values)


def _log_odds(chance: float) -> float:
    chance = min(max(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
    return float(np.log(chance / (1 - chance)))

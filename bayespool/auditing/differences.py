"""Differences of runs that an audit proves, by judgments and by the posterior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from bayespool.arrays import FloatArray, IndexArray
from bayespool.auditing.sequences import Walk, capital, confidence_sequence, uniforms, walk
from bayespool.auditing.urns import Urn
from bayespool.tables.formatting import interval
from bayespool.tables.table import Column

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9
URN_COLUMNS = ("low", "high", "chance", "spread", "shared")
"""Names of the urn's arrays stored as columns in its table."""
URN_NUMBERS = ("base_low", "base_high", "least", "most", "mean", "std")
"""Names of the urn's scalars, which its table does not include."""
COLUMNS = {
    "step": Column("step", "count", "Place in the order in which documents are drawn."),
    "known": Column("known", "count", "Number of judgments that were known when the document was drawn."),
    "probability": Column(
        "prob\xad\nability", "chance", "With which it was drawn, given those before it.", 4
    ),
    "relevance": Column("relevance", "count", "Relevance; -1 where nobody has judged it."),
    "is_judged": Column(
        "judged", "flag", "Whether it and all drawn before it are judged, so that it counts."
    ),
    "estimate": Column("estimate", "score", "By design: posterior means with weighted residuals."),
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
    "other": Column("against", "text", "The run that the leader is compared with."),
    "low": Column("adds\nat least", "difference", "To a sum below the value, if of worth 1.", 6),
    "high": Column("adds\nat most", "difference", "To a sum above the value, if of worth 1.", 6),
    "chance": Column("chance of\nrelevance", "chance", "Expected worth of the document by the posterior.", 4),
    "spread": Column("s. d.", "chance", "Standard deviation of its worth in the posterior.", 4),
    "shared": Column(
        "shared", "difference", "Change of the chance with what all documents have in common.", 4
    ),
}
"""Columns of the tables of documents drawn and of documents drawn from."""
_OF_DIFFERENCES = ("lower", "upper", "posterior", "posterior_lower", "posterior_upper")
DIFFERENCES = COLUMNS | {
    **{name: replace(COLUMNS[name], kind="difference") for name in _OF_DIFFERENCES},
    "leader": Column("leader", "text", "The best run by the posterior before any judgment."),
    "difference": Column("difference", "difference", "Design-based estimate of the leader less the other."),
    "p_better": Column("p: leader\nbetter", "p-value", "That it is no better, times the number of others."),
    "p_worse": Column("p: leader\nworse", "p-value", "That it is no worse, times the number of others."),
    "leader_is": Column("leader\nis", "text", "What is guaranteed: better, worse, equal or open."),
}
"""Columns of the table of a leader's differences."""


REFUTING = 100.0
"""Evidence from which the posterior is called refuted. One that is right reaches it in one of 40 audits."""
_RIVALS = ((1.0, -2.0), (1.0, -1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 0.0), (-1.0, 0.0))
"""Slopes and shifts for the log odds of models that rival the posterior. All less or more, all alike, turned
round.
"""
_LEAST_CHANCE = 1e-3


class PosteriorForecast(NamedTuple):
    """Posterior of the value after each judgment, and the evidence against it; each of shape (step,)."""

    mean: FloatArray
    std: FloatArray
    evidence: FloatArray


def foretell(urn: Urn, documents: IndexArray, worth: FloatArray) -> PosteriorForecast:
    """Update the posterior forecast of the value after each judgment.

    Parameters
    ----------
    urn : Urn
    documents : ndarray of int, shape (step,)
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
    gap = urn.mean - base - open_mean  # to the linear value; it shrinks with the spread
    center = _log_odds(float(np.average(urn.chance, weights=np.abs(contribution) + 1e-300)))
    slopes, shifts = np.array(_RIVALS).T
    precision, pull, log_evidence = 1.0, 0.0, np.zeros(len(_RIVALS))
    values = np.zeros((3, len(documents)))
    for step, (i, y) in enumerate(zip(documents.tolist(), worth.tolist(), strict=True)):
        chance = urn.chance[i] + urn.shared[i] * pull / precision
        log_odds = _log_odds(chance)
        chance = 1 / (1 + np.exp(-log_odds))
        rival = 1 / (1 + np.exp(-(center + slopes * (log_odds - center) + shifts)))
        log_evidence += np.log(rival / chance * y + (1 - rival) / (1 - chance) * (1 - y))
        precision += urn.shared[i] ** 2 / noise[i]
        pull += urn.shared[i] * (y - urn.chance[i]) / noise[i]
        base += contribution[i] * y
        open_mean -= contribution[i] * urn.chance[i]
        open_shared -= contribution[i] * urn.shared[i]
        open_noise = max(open_noise - contribution[i] ** 2 * noise[i], 0.0)
        share_left = float(np.sqrt(open_shared**2 / precision + open_noise)) / std
        values[0, step] = base + open_mean + open_shared * pull / precision + gap * share_left
        values[1, step] = urn.std * share_left
        values[2, step] = np.exp(log_evidence).mean()
    return PosteriorForecast(*values)


def _log_odds(chance: float) -> float:
    chance = min(max(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
    return float(np.log(chance / (1 - chance)))


@dataclass(frozen=True, eq=False, repr=False)
class Guarantees:
    """Guarantees from an audit's judgments for one of its differences, or for the value of its run.

    The fields are those of `bayespool.Audit`.
    """

    urns: tuple[Urn, ...]
    run_ids: tuple[str, ...]
    measure: str
    relevance: IndexArray
    n_known: IndexArray
    random_seed: int
    ci_prob: float
    until: float | None
    details: dict[str, Any]
    index: int = 0

    def __len__(self) -> int:
        return len(self.n_known)

    @property
    def urn(self) -> Urn:
        """Urn for the difference."""
        return self.urns[self.index]

    @property
    def compared(self) -> tuple[str, ...]:
        """Id of the run, or of both runs of the difference, the first less the second."""
        return (self.run_ids[0], *self.run_ids[self.index + 1 : self.index + 2])

    @property
    def name(self) -> str:
        """Name of the run, or of the difference between two runs."""
        return " − ".join(self.compared)

    @cached_property
    def differences(self) -> tuple[Self, ...]:
        """Audits of the single differences, each between the first run and another run.

        All draw the same documents: by the sum of what they add to the differences, without sign.
        """
        indexes = range(len(self.urns))
        return tuple(self if i == self.index else replace(self, index=i) for i in indexes)

    @property
    def interval_ci_prob(self) -> float:
        """Simultaneous coverage probability for this difference's intervals, Bonferroni-adjusted."""
        n = len(self.urns)
        return self.ci_prob if n == 1 else 1 - (1 - self.ci_prob) / n

    @cached_property
    def worth(self) -> FloatArray:
        """Worth of each document, NaN if unjudged, shape (document,)."""
        by_relevance = np.append(self.urn.worth, np.nan)
        return np.asarray(by_relevance[np.minimum(self.relevance, len(self.urn.worth) - 1)])

    @cached_property
    def walked(self) -> Walk:
        """Sampled documents in order, with the payoffs from judged ones."""
        u, uniform = self.urn, uniforms(self.random_seed, len(self))
        size = np.sum([np.maximum(np.abs(urn.low), np.abs(urn.high)) for urn in self.urns], axis=0)
        return walk(u.low, u.high, u.chance, self.worth, self.n_known, uniform, size)

    @property
    def n_judged(self) -> int:
        """Number of sampling steps judged before the first document without a judgment."""
        return len(self.walked.low)

    @cached_property
    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """Ends of the guaranteed interval after each judged step, each of shape (judged step,)."""
        u = self.urn
        return confidence_sequence(
            self.walked, u.least, u.most, u.base_low, u.base_high, self.interval_ci_prob
        )

    @property
    def interval(self) -> tuple[float, float]:
        """Current guaranteed interval (before any judgment: the bounds for the value)."""
        if not self.n_judged:
            return self.urn.least, self.urn.most
        low, high = self.intervals
        return float(low[-1]), float(high[-1])

    @property
    def width(self) -> float:
        """Width of the guaranteed `interval`."""
        return self.interval[1] - self.interval[0]

    @property
    def verdict(self) -> str:
        """Guarantee for the first run: ``better``, ``worse``, ``equal`` or ``open``."""
        low, high = self.interval
        if low > 0 or high < 0:
            return "better" if low > 0 else "worse"
        return "equal" if high - low <= ROUNDING else "open"

    @cached_property
    def estimates(self) -> FloatArray:
        """Design-based estimate after each judged step, clipped to the interval, shape (judged step,).

        A mean of posterior means corrected by weighted residuals, in which a step with n documents still open
        weighs 1/n².
        """
        u, n = self.urn, self.n_judged
        payoff = (u.base_low + self.walked.low + u.base_high + self.walked.high) / 2
        weight = 1.0 / np.arange(len(u), len(u) - n, -1.0) ** 2
        return np.asarray(np.clip(np.cumsum(weight * payoff) / np.cumsum(weight), *self.intervals))

    @cached_property
    def forecast(self) -> PosteriorForecast:
        """Posterior forecast after each judged step."""
        documents = self.walked.documents[: self.n_judged]
        return foretell(self.urn, documents, self.worth[documents])

    def posterior_ends(self) -> tuple[FloatArray, FloatArray]:
        """Return ends of the posterior interval after 0, 1, … judged steps, shape (judged step + 1,)."""
        from scipy.special import ndtri

        u, w = self.urn, self.walked
        half = ndtri((1 + self.interval_ci_prob) / 2) * np.append(u.std, self.forecast.std)
        least = np.append(u.least, np.maximum(u.base_low + w.floor, u.least))
        most = np.append(u.most, np.minimum(u.base_high + w.ceiling, u.most))
        mean = np.append(u.mean, self.forecast.mean)
        return np.clip(mean - half, least, most), np.clip(mean + half, least, most)

    @property
    def p_values(self) -> tuple[float, float]:
        """Anytime-valid p-values for the value being at most 0 and at least 0, adjusted for all differences.

        Bonferroni's: times the number of differences. They are 0 where what is judged leaves no such value.
        """
        u, w = self.urn, self.walked
        least = max([u.least, *(u.base_low + w.floor[-1:])])
        most = min([u.most, *(u.base_high + w.ceiling[-1:])])
        against_less = capital(w.low, w.least, -u.base_low).max(initial=1.0)
        against_more = capital(-w.high, -w.most, u.base_high).max(initial=1.0)
        not_better = 0.0 if least > ROUNDING else float(1 / against_less)
        not_worse = 0.0 if most < -ROUNDING else float(1 / against_more)
        return min(len(self.urns) * not_better, 1.0), min(len(self.urns) * not_worse, 1.0)

    def interval_text(self) -> str:
        """Return `interval` formatted as text."""
        return interval(*self.interval, signed=len(self.compared) == 2)

    def steps_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per sampled document and the guarantee after its judgment."""
        import pandas as pd

        u, w, n = self.urn, self.walked, self.n_judged
        lower, upper = self.posterior_ends()
        after = (*self.intervals, self.forecast.mean, lower[1:], upper[1:], self.forecast.evidence)
        names = ("estimate", "lower", "upper", "posterior", "posterior_lower", "posterior_upper", "evidence")
        missing, steps = np.full(len(self) - n, np.nan), np.arange(len(self)) + 1
        return pd.DataFrame(
            {
                "step": steps,
                "query_id": [u.query_ids[i] for i in w.documents],
                "doc_id": [u.doc_ids[i] for i in w.documents],
                "known": self.n_known,
                "probability": w.probability,
                "relevance": self.relevance[w.documents],
                "is_judged": steps <= n,
                **{
                    name: np.append(values, missing)
                    for name, values in zip(names, (self.estimates, *after), strict=True)
                },
                "ci_prob": self.interval_ci_prob,
            }
        )

    def difference_frame(self) -> pd.DataFrame:
        """Return a data frame of one row with the current guarantee for a leader's difference."""
        import pandas as pd

        last: Any = self.steps_frame().iloc[self.n_judged - 1] if self.n_judged else {}
        row = {
            "leader": self.run_ids[0],
            "other": self.compared[1],
            "difference": last.get("estimate", np.nan),
            "lower": self.interval[0],
            "upper": self.interval[1],
            "posterior": last.get("posterior", self.urn.mean),
            "posterior_lower": last.get("posterior_lower", np.nan),
            "posterior_upper": last.get("posterior_upper", np.nan),
            "p_better": self.p_values[0],
            "p_worse": self.p_values[1],
            "evidence": float(self.forecast.evidence.max(initial=1.0)),
            "leader_is": self.verdict,
            "ci_prob": self.ci_prob,
        }
        return pd.DataFrame([row])

    def documents_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per document in the urn."""
        import pandas as pd

        names = ("query_id", "doc_id", *URN_COLUMNS)
        values = (self.urn.query_ids, self.urn.doc_ids, *(getattr(self.urn, name) for name in URN_COLUMNS))
        return pd.DataFrame({**dict(zip(names, values, strict=True)), "relevance": self.relevance})

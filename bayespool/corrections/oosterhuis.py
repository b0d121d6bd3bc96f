"""Conformal risk control: label distributions moved to bound known values (Oosterhuis et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.arrays import FloatArray, IndexArray
from bayespool.corrections.labels import KnownRanks, LabeledRanks, RunCorrection, SumCorrection, hidden_ranks
from bayespool.corrections.registry import register_estimator
from bayespool.randomness import key_of

N_SETS = 1000
"""Number of topic sets sampled with replacement."""
_SHIFTS = np.linspace(-1.0, 1.0, 2001)
_ROUNDING = 1e-12


class Calibration(NamedTuple):
    """Topic sets with known scores, as weights per grade (set, grade) and scores (set,)."""

    weight: FloatArray
    value: FloatArray


class Critical(NamedTuple):
    """Largest shift that does not exceed each set's score, and smallest shift not below it.

    Both are indices of shifts, ascending, of shape (set,).
    """

    below: IndexArray
    above: IndexArray


def moved_gains(rates: FloatArray, gains: FloatArray, shifts: FloatArray) -> FloatArray:
    """Return expected gains after cutting off a share of each grade's distribution, shape (grade, shift).

    A shift above 0 cuts this share off the lowest levels, one below 0 off the highest, and what is left is
    scaled to 1. A shift of −1 leaves the lowest level, and 1 the highest. ``rates``: shares of levels, the
    lowest first, shape (grade, level). ``gains``: of the levels, shape (level,).
    """

    def cut(rates: FloatArray, gains: FloatArray, share: FloatArray) -> FloatArray:
        before = np.cumsum(rates, axis=1) - rates
        gone = np.clip(share[:, None] - before[:, None], 0, rates[:, None])  # (grade, shift, level)
        left = rates[:, None] - gone
        total = left.sum(axis=2)
        mean = np.divide(left @ gains, total, out=np.full_like(total, gains[-1]), where=total > _ROUNDING)
        return np.asarray(np.where(share >= 1, gains[-1], mean))

    up = cut(rates, gains, np.maximum(shifts, 0))
    down = cut(rates[:, ::-1], gains[::-1], np.maximum(-shifts, 0))
    return np.where(shifts >= 0, up, down)


def critical_shifts(sets: Calibration, moved: FloatArray) -> Critical:
    """Return the shifts at which bounds from shifted labels begin to miss each set's score."""
    foretold = sets.weight @ moved
    below = (foretold <= sets.value[:, None] + _ROUNDING).sum(axis=1) - 1
    above = (foretold < sets.value[:, None] - _ROUNDING).sum(axis=1)
    n = moved.shape[1]
    return Critical(np.sort(np.clip(below, 0, n - 1)), np.sort(np.clip(above, 0, n - 1)))


def shift_at(critical: Critical, probability: FloatArray, n_shifts: int) -> IndexArray:
    """Return the index of the label shift that bounds the interval at each tail probability.

    It is the largest (smallest) one that exceeds (is below) the value in a share of the M sets of less than
    (α − (1 − α)/M)/2 (eq. 24), and the last of all where no share is that small.
    """
    n_sets = len(critical.below)
    tail = np.minimum(probability, 1 - probability)
    share = tail - (1 - 2 * tail) / (2 * n_sets)
    n_missed = np.ceil(share * n_sets - 1e-9).astype(np.int64) - 1
    place = np.clip(n_missed, 0, n_sets - 1)
    low = np.where(n_missed >= 0, critical.below[place], 0)
    high = np.where(n_missed >= 0, critical.above[::-1][place], n_shifts - 1)
    return np.where(probability < 0.5, low, high)


def middle_shifts(critical: Critical) -> IndexArray:
    """Return the one or two shift indices whose bounds give the point estimate."""
    n_sets = len(critical.above)
    return critical.above[[(n_sets - 1) // 2, n_sets // 2]]


@register_estimator(
    "conformal-risk-control",
    description="an LLM judge's labels moved until they bound topics of known value",
    label="conformal\nrisk c.",
    citations=("oosterhuis-etal-2024", "angelopoulos-etal-2024"),
    needs_judge=True,
)
@dataclass(frozen=True, kw_only=True)
class ConformalRiskControl(SumCorrection):
    r"""Interval from labels shifted until they bound topics of known score (Oosterhuis et al. 2024, §6).

    Each label stands for a distribution of relevance. A shift λ > 0 takes the mass λ off its lowest levels
    and scales the rest to 1, a shift λ < 0 takes \|λ\| off the highest. With the same shift for all unjudged
    documents the value rises with λ. On M sets of topics of known value, the lower bound of the interval of
    level 1 − α has the largest λ, and the upper one the smallest, with which

    .. math::

        \frac{\text{sets that the bound misses}}{M} < \frac12 \Bigl(\alpha - \frac{1 - \alpha}{M}\Bigr).

    **All this holds if the sets are exchangeable with the topics of the run.** The paper draws topics at
    random, has them judged in full, and estimates one system. A pool does not do so.

    Parameters
    ----------
    judge : str, optional
        Name of the judge; default: the collection's only one.
    sample : {"hidden", "judged", "runs"}
        The sets of known value. *hidden*: topics of pooled runs, with the documents that their organizations
        alone contributed, drawn with replacement, as many as topics of the run have unjudged documents.
        *judged*: the same of topics of the run itself, with its judged documents: nearest to the paper.
        *runs*: each pooled run is a set, with its hidden documents.
    n_draws : int, default 4000
        Bounds that are computed, of as many levels.
    random_seed : int, default 1
        The sets depend on it.

    Raises
    ------
    InputError
        A setting is out of range.

    Notes
    -----
    Where the paper leaves a choice open, we chose what favors the method. Judged documents are known, and
    only the others are bounded. Distributions are shares of levels among judged documents with a label of the
    grade, which some run ranks in its top 30 and which are not hidden; the paper reads them off a model. The
    paper has no estimate beside the interval: ours is where the two bounds meet, at level 0, and with an even
    number of sets the mean at the two in the middle. 1,000 sets of topics are drawn. Since they share topics,
    no guarantee is left, with few topics least of all; the sets of *runs* share none, but there are few of
    them: with fewer than 20 runs the 95 % interval is the bounds.

    Draws are the bounds of all levels, in an order that differs from run to run: quantiles of a run's draws
    are its bounds, and runs are taken as independent. The sets have as many topics as the run: bounds of a
    single topic, which the paper calibrates on single topics, are not computed. The total and every topic
    stay within the bounds of completions; under P@n draws are rounded to numbers of documents.

    Defined for sums of gains, as in the paper (DCG). Under a measure over an ideal ranking it is the ideal of
    the judged documents, which the paper does not have. Other measures have no value: AP, RR and ERR are no
    sums.

    Edges: without unjudged documents the value is B; without a set it is NaN, and no run estimated with it
    has an interval.
    """

    sample: Literal["hidden", "judged", "runs"] = "hidden"

    sample_notes: ClassVar = {
        "hidden": (
            "its interval takes topics of held-out runs for a random sample of topics like the run's",
            "needs documents that one organization alone contributed",
        ),
        "judged": (
            "its interval takes judged documents of a topic for a random sample of its top n, but a pool "
            "is not one",
            "needs judged documents in the top n",
        ),
        "runs": (
            "its interval takes runs held out for a random sample of runs like this one",
            "needs documents that one organization alone contributed",
        ),
    }

    def run_corrections(self, ranks: LabeledRanks, rows: list[int]) -> Iterator[RunCorrection | None]:
        """Yield the correction of each of the runs, or None if its sample is too small."""
        measure, grade = ranks.measure, np.append(ranks.judge.grade, -1)
        moved = moved_gains(ranks.rates, ranks.gains, _SHIFTS)
        hidden = None if self.sample == "judged" else hidden_ranks(ranks.collection, measure, ranks.weight)
        for r in rows:
            one, run_id = slice(r, r + 1), ranks.bounds.run_ids[r]
            level, document = ranks.level[one], ranks.document[one]
            gain = np.asarray(measure.gains(np.maximum(level, 0)), dtype=np.float64)
            known = hidden or KnownRanks(np.where(level >= 0, ranks.weight, 0.0), gain, document)
            sets = self._sets(known, grade, len(moved), int(ranks.is_open[r].sum()), run_id)
            if not len(sets.value):
                yield None
                continue
            critical = critical_shifts(sets, moved)
            opened = np.where(ranks.opened[one], ranks.weight, 0.0)
            weight = by_grade(opened, grade[document], len(moved))[0]
            order = np.random.default_rng(key_of(self.random_seed, run_id)).permutation(self.n_draws)
            at = shift_at(critical, (order + 0.5) / self.n_draws, len(_SHIFTS))
            expected = (weight @ moved[:, middle_shifts(critical)]).mean(axis=1)
            yield RunCorrection(expected, (weight @ moved[:, at]).T)

    def _sets(
        self, known: KnownRanks, grade: npt.NDArray[np.integer], n_grades: int, n_topics: int, run_id: str
    ) -> Calibration:
        """Sample calibration sets with as many topics as the run has topics with unjudged documents."""
        weight, value = by_grade(known.weight, grade[known.document], n_grades), known.amounts()
        is_known = np.asarray(known.weight.any(axis=2))
        if self.sample == "runs":
            runs = is_known.any(axis=1)
            return Calibration(weight.sum(axis=1)[runs], value.sum(axis=1)[runs])
        weight, value = weight[is_known], value[is_known]
        if not len(value):
            return Calibration(weight, value)
        run_name = (run_id,) if self.sample == "judged" else ()
        rng = np.random.default_rng(key_of(self.random_seed, "sets", *run_name))
        chosen = rng.integers(0, len(value), (N_SETS, n_topics))
        return Calibration(weight[chosen].sum(axis=1), value[chosen].sum(axis=1))


def by_grade(weight: FloatArray, grade: npt.NDArray[np.integer], n_grades: int) -> FloatArray:
    """Sum rank weights per label grade, unlabeled documents last, shape (run, topic, grade)."""
    sums = np.zeros((*weight.shape[:2], n_grades))
    run, topic, _ = np.indices(weight.shape)
    np.add.at(sums, (run, topic, np.where(grade < 0, n_grades - 1, grade)), weight)
    return sums

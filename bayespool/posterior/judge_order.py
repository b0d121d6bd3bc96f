"""Posterior of scores from a sample of the judgments, moved toward the order of runs by a judge's labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bayespool.arrays import FloatArray
from bayespool.collection import Collection, Judge
from bayespool.corrections.labels import NO_JUDGE, JudgeFilled, find_judge
from bayespool.evidence import Bounds, Estimand, score_bounds
from bayespool.evidence.ideals import states
from bayespool.measures import Estimates, Measure, Values
from bayespool.notes import Note
from bayespool.posterior.estimator import PosteriorEstimator
from bayespool.randomness import key_of

_POOR = 0.35
"""Somers' D up to which a judge's labels tell nothing of the order of runs that the posterior has not."""
_NO_SAMPLE = "needs judgments that are a published random sample"


@dataclass(frozen=True, kw_only=True)
class PosteriorJudgeOrder:
    r"""Posterior from a sample of the judgments, moved toward the order of runs by an LLM judge's labels.

    The posterior of `PosteriorEstimator`, whose order of runs rests on few judgments of each, moves a part of
    the way to the deviations of scores with holes filled by labels (`JudgeFilled`), whose level is wrong:

    .. math::

        \hat t_r = p_r + w\,\bigl((f_r - \bar f) - (p_r - \bar p)\bigr), \qquad w = u \max(D - 0.35,\, 0)

    for the runs asked together, with means over them. D is Somers' D of labels and relevance of the judged
    documents that have labels, and u the unjudged share of the runs' top n.

    Parameters
    ----------
    estimand, draws, chains, random_seed
        See `PosteriorEstimator`.
    judge : str, optional
        Name of the judge; default: the collection's only one.

    Notes
    -----
    Every draw of a run's score moves as much, on topics in proportion to the room that its bounds leave, so
    that spreads stay those of the posterior, and draws within the bounds. A poor judge, and a run that is
    asked alone, change nothing. A note has the weight.

    Without labels, or where judgments are no published sample, there is no value.

    References
    ----------
    R. H. Somers (1962). A new asymmetric measure of association for ordinal variables. American Sociological
    Review 27, 799–811.
    """

    estimand: Estimand = "complete"
    draws: int = 1000
    chains: int = 4
    random_seed: int = 1
    judge: str | None = None

    def __post_init__(self) -> None:
        self._posterior()

    @property
    def name(self) -> str:
        """Estimator name."""
        return "posterior-judge-order"

    def _posterior(self) -> PosteriorEstimator:
        """Return the posterior that is moved, whose settings are checked."""
        names = ("estimand", "draws", "chains", "random_seed")
        return PosteriorEstimator(**{name: getattr(self, name) for name in names})

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None = None, measures: object = "P@10"
    ) -> tuple[Estimates, ...]:
        """Return the moved posterior of each run's score under each measure.

        Parameters
        ----------
        collection : Collection
        run_ids : str or iterable of str, optional
            Default: the runs that were not pooled.
        measures : measure or iterable of measures

        Returns
        -------
        tuple of Estimates
            One per measure, with draws; without values where there is no judge or no published sample.

        Raises
        ------
        InputError
            No judge has the name, or there are several and none is named.
        """
        judge = find_judge(collection, self.judge, self.name)
        before = self._posterior().estimate(collection, run_ids, measures)
        return tuple(self._moved(collection, judge, estimates) for estimates in before)

    def _moved(self, collection: Collection, judge: Judge | None, before: Estimates) -> Estimates:
        """Return the estimates moved toward the order by labels, or without values."""
        named = dataclasses.replace(before, estimator=self.name)
        bounds = score_bounds(collection, before.run_ids, before.measure, estimand=self.estimand)
        if before.draws is None or not bounds.has_unjudged.any():
            return named
        if judge is None or collection.sample is None:
            open_, note = bounds.has_unjudged, Note("estimator", NO_JUDGE if judge is None else _NO_SAMPLE)
            return dataclasses.replace(
                named,
                per_topic=np.where(open_[:, None], np.nan, bounds.lower),
                value=np.where(open_, np.nan, bounds.low.means()),
                draws=None,
                std=None,
                notes=tuple((note,) * is_open for is_open in open_.tolist()),
            )
        filled = JudgeFilled(estimand=self.estimand, judge=judge.name).correct(collection, bounds).per_topic
        by_labels, value = filled.mean(axis=1), before.value
        weight = judge_worth(collection, judge, before.measure) * unjudged_share(bounds)
        more = weight * (by_labels - by_labels.mean() - (value - value.mean()))
        moved = move_draws(before.draws, bounds, more, self.random_seed)
        note = Note("estimator", f"{weight:.2f} of the way to the order of runs by labels of {judge.name}")
        return dataclasses.replace(
            named,
            per_topic=moved.on_topics(),
            value=moved.expected(),
            std=moved.std(),
            draws=moved,
            notes=tuple((*notes, note) for notes in before.notes or ((),) * len(value)),
        )


def judge_worth(collection: Collection, judge: Judge, measure: Measure) -> float:
    """Return by how much Somers' D of labels and relevance exceeds that of a poor judge, from 0 to .65."""
    from scipy.stats import somersd

    known = collection.judged & (judge.grade >= 0)
    relevance = collection.relevance[known]
    level = relevance if measure.is_graded else states(relevance, measure.rel)
    if len(np.unique(level)) < 2 or len(np.unique(judge.grade[known])) < 2:
        return 0.0
    return max(float(somersd(level, judge.grade[known]).statistic) - _POOR, 0.0)


def unjudged_share(bounds: Bounds) -> float:
    """Return the share of the documents in the runs' top n that nobody judged."""
    n_unjudged = int(bounds.n_unjudged.sum())
    return n_unjudged / (n_unjudged + int(bounds.n_judged.sum()))


def move_draws(draws: Values, bounds: Bounds, more: FloatArray, random_seed: int) -> Values:
    """Return draws of which each run's mean is ``more`` higher, as far as bounds allow, shape (run,).

    Topics move in proportion to their room; of whole numbers each moves by one of the two next to its part.
    """
    least, most = bounds.least.amount, bounds.most.amount
    up = (more > 0)[:, None]
    room = np.maximum(np.where(up, most - draws.amount, draws.amount - least), 0)
    total = room.sum(axis=2, keepdims=True)
    wanted = np.abs(more)[:, None] * draws.per_mean()
    part = room * np.minimum(wanted / np.where(total > 0, total, 1), 1)
    if draws.is_exact:
        rng = np.random.default_rng(key_of(random_seed, "judge order"))
        sums = np.floor(np.cumsum(part, axis=2) + rng.random((*part.shape[:2], 1)))
        part = np.diff(sums, axis=2, prepend=0.0)
    moved = draws.amount + np.where(up, part, -part)
    return Values(moved.astype(draws.amount.dtype), draws.unit)

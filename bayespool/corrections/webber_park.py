"""Score adjustment by leaving pooled systems out, or from common topics (Webber & Park 2009)."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from bayespool.arrays import BoolArray, FloatArray
from bayespool.collection import Collection
from bayespool.corrections.base import (
    Corrected,
    RunNotes,
    SharedCorrection,
    clip_to_bounds,
    has_open_ranks,
    hidden_at_levels,
    joined_notes,
    lacks_pool,
    run_notes,
    to_integer_amounts,
)
from bayespool.corrections.ravana_moffat import AsJudged
from bayespool.corrections.registry import estimator_from_text, register_estimator
from bayespool.errors import InputError
from bayespool.evidence import Bounds, score_bounds
from bayespool.evidence.held_out import held_out_levels, sole_beside
from bayespool.evidence.ideals import judged_tally, relevance_levels
from bayespool.measures import Estimates, Estimator, Measure, Normalized, Tally, Values, parse_measures
from bayespool.notes import noted
from bayespool.randomness import seed_of
from bayespool.tables.formatting import some_of
from bayespool.validation import check_count

if TYPE_CHECKING:
    import pandas as pd


FEW_TOPICS = 30
"""Number of common topics below which a bootstrap interval replaces the normal one."""

_MAX_DRAWS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Adjustment(SharedCorrection):
    """Correction that adds a mean adjustment to a base score.

    Parameters
    ----------
    base : str or Estimator, default "as-judged"
        What the adjustment is added to: unjudged documents not relevant (``"as-judged"``) or dropped
        (``"condensed-list"``), as in the paper, or any estimator with values per topic, such as
        ``"judge-filled"``. A text may have settings: ``base='background(e=0.05)'``.
    within_bounds : bool, default True
        Keep every value inside [B, T], beyond the paper: an adjustment beyond the residual is certainly
        wrong, and a fully judged run has nothing to adjust. Under a measure over an ideal ranking it is
        [least, T] within [least, most] (`bayespool.evidence.Bounds`). A note says where it was cut. Topics
        share the adjustment of the mean in proportion to how far each may move, with ``"as-judged"`` to Δ.
        ``False`` is the algorithm as published, with the same a on every topic.
    """

    base: str | Estimator = "as-judged"
    within_bounds: bool = True

    def __post_init__(self) -> None:
        base = estimator_from_text(self.base) if isinstance(self.base, str) else self.base
        if isinstance(base, type) or not isinstance(base, Estimator):
            raise InputError(f"base {base!r} is neither the name of an estimator nor one")
        with_estimand: Any = base
        if "estimand" in getattr(base, "__dataclass_fields__", {}):
            with_estimand = dataclasses.replace(with_estimand, estimand=self.estimand)
        object.__setattr__(self, "base", with_estimand)

    def estimate_base(
        self, collection: Collection, run_ids: Sequence[str], measures: Sequence[Measure]
    ) -> tuple[Estimates, ...]:
        """Return estimates from the base estimator for each measure."""
        return cast(Estimator, self.base).estimate(collection, list(run_ids), list(measures))


@register_estimator(
    "systems-adjustment",
    label="systems\nadjust.",
    source="Webber & Park 2009, algorithm 1",
    citations=("webber-park-2009",),
)
@dataclass(frozen=True, kw_only=True)
class SystemsAdjustment(Adjustment):
    """Base score plus the mean loss of left-out pooled systems (Webber & Park 2009, algorithm 1).

    The estimate is u + a, where u is the base score, and a the mean over the pooled systems s of (pooled
    score of s − base score of s held out). Without another pooled run the value is NaN.

    Documents that leave the pool with s leave the ideal rankings, too, so that under a measure over an ideal
    ranking a system may gain by being left out, and the adjustment may be negative. It often is where the
    base overestimates, as the condensed list does.

    Parameters
    ----------
    base : str or Estimator, default "as-judged"
        What the adjustment is added to: ``"as-judged"``, ``"condensed-list"`` (both in the paper), or any
        estimator with values per topic, with settings if need be: ``base='background(e=0.05)'``. Any but
        the first is estimated again with each pooled system held out.
    within_bounds : bool, default True
        Keep every value inside [B, T], beyond the paper: an adjustment beyond the residual is certainly
        wrong, and a fully judged run has nothing to adjust. Under a measure over an ideal ranking it is
        [least, T] within [least, most] (`bayespool.evidence.Bounds`). A note says where it was cut. Topics
        share the adjustment of the mean in proportion to how far each may move, with ``"as-judged"`` to Δ.
        ``False`` is the algorithm as published, with the same a on every topic.
    by : {"run", "organization"}
        What leaves the pool with s: the run alone, as in the paper, or its organization.
    substitute : bool, default True
        Whether the target takes the held-out system's place in the pool, the paper's refinement.
    """

    by: Literal["run", "organization"] = "run"
    substitute: bool = True

    def correct_all(self, collection: Collection, all_bounds: Sequence[Bounds]) -> list[Corrected]:
        """Return corrected per-topic scores, finding each system's hidden documents once."""
        run_ids, measures = all_bounds[0].run_ids, [bounds.measure for bounds in all_bounds]
        losses = self._losses_as_judged if isinstance(self.base, AsJudged) else self._losses
        pooled = np.array(collection.pooled_run_ids)
        adjustment = np.zeros((len(measures), len(run_ids)))
        for row, run in enumerate(collection.originals(run_ids)):
            others = pooled != run
            if others.any():
                adjustment[:, row] = losses(collection, run, others, measures)
        everywhere = np.ones(len(collection.query_ids), dtype=bool)
        starts = self.estimate_base(collection, run_ids, measures)
        corrected = []
        for bounds, start, by_run in zip(all_bounds, starts, adjustment, strict=True):
            by_run[lacks_pool(collection, bounds)] = np.nan
            adjusted = _adjusted(bounds, start.per_topic, by_run, everywhere, self.within_bounds)
            adjusted = adjusted._replace(indicators={"adjustment": by_run})
            corrected.append(_with_notes(adjusted, start.estimator, start.notes))
        return corrected

    def _losses_as_judged(
        self, collection: Collection, run: str, others: BoolArray, measures: Sequence[Measure]
    ) -> list[float]:
        """Return the mean score loss of left-out pooled systems per measure, for the as-judged base."""
        substitute = run if self.substitute else None
        depth = max(measure.cutoff for measure in measures)
        level, hidden = held_out_levels(collection, depth, by=self.by, substitute=substitute)
        judged, kept = level[others], np.where(hidden[others], np.int16(-1), level[others])
        hidden_at = functools.cache(
            functools.partial(hidden_at_levels, collection, by=self.by, substitute=substitute)
        )
        losses = []
        for measure in measures:
            levels = relevance_levels(collection, measure)
            before, after = (measure.amounts(measure.read(ranked)) for ranked in (judged, kept))
            if isinstance(measure, Normalized):
                tally = judged_tally(collection, levels)
                left = Tally(tally.n - hidden_at(levels)[others, :, 1:], tally.levels)
                before = measure.normalize(before, tally)
                after = measure.normalize(after, left)
            losses.append(float(((before - after) / measure.unit).mean()))
        return losses

    def _losses(
        self, collection: Collection, run: str, others: BoolArray, measures: Sequence[Measure]
    ) -> list[float]:
        """Return the mean score loss of left-out pooled systems per measure, for any base estimator."""
        sole = sole_beside(collection, self.by, run if self.substitute else None)
        unit = collection.organization if self.by == "organization" else np.arange(len(collection.run_ids))
        systems = np.flatnonzero(collection.pooled)[others].tolist()
        lost = np.zeros((len(systems), len(measures)))
        for row, system in enumerate(systems):
            name = collection.run_ids[system]
            pooled = collection.pooled & (unit != unit[system])
            if self.substitute:
                pooled[collection.run_index(run)] = True
            without = collection.without_judgments(sole == unit[system]).with_pool(pooled, collection.pool)
            for m, held_out in enumerate(self.estimate_base(without, [name], measures)):
                lost[row, m] = (
                    score_bounds(collection, [name], measures[m]).lower - held_out.per_topic
                ).mean()
        losses: list[float] = lost.mean(axis=0).tolist()
        return losses


@register_estimator(
    "topics-adjustment",
    label="topics\nadjust.",
    source="Webber & Park 2009, algorithm 2",
    citations=("webber-park-2009",),
    remedy="topics-adjustment(common_query_ids=('701', '702')); score has --common-topics 701,702",
)
@dataclass(frozen=True, kw_only=True)
class TopicsAdjustment(Adjustment):
    """Base score plus the run's mean loss on fully judged topics (Webber & Park 2009, algorithm 2).

    On the common topics both the run's full score and its base score without the documents that it alone
    contributed are known; the mean difference a is added to its mean base score. Var(a) = (N − n)/N · s²/n
    with s² the variance of the n differences (equations 3, 4 and 7). For a to help with about 68 % confidence
    its standard error must be under a itself (equation 6), and a note says where it is not; another says
    where the mean full score of the common topics alone would be more accurate (equation 5). The documents
    that the run alone contributed leave the ideal rankings, too.

    Parameters
    ----------
    common_query_ids : tuple of str, or str
        The common topics. All that the run retrieved on them down to the cutoff should be judged; else
        ``std`` is NaN.
    base : str or Estimator, default "as-judged"
        What the adjustment is added to (see `SystemsAdjustment`).
    within_bounds : bool, default True
        Keep every run's value inside [B, T] (see `SystemsAdjustment`).
    n_draws : int, default 4000
        Draws of the adjusted scores, from which intervals are read.
    random_seed : int, default 1

    Notes
    -----
    The interval of a is that of a bootstrap with fewer than 30 common topics, else a normal one. A draw gives
    each other topic a drawn a, of variance s²/n, and a difference drawn from those of the common topics, each
    less their mean: the mean score over all N topics then has the variance of equation 3. Runs share what is
    drawn, so that it compares them, too. Within bounds a draw keeps its mean as far as there is room. There
    are no draws, and there is no interval, to the letter (``within_bounds=False``), from a single topic, or
    where any run has unjudged documents on the common topics.
    """

    common_query_ids: tuple[str, ...] | str
    n_draws: int = 4000
    random_seed: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        named: Any = self.common_query_ids
        named = (named,) if isinstance(named, str) else named
        if not isinstance(named, tuple | list) or not all(isinstance(name, str) for name in named):
            hint = "common_query_ids=('701', '702')"
            raise InputError(f"common topics {named!r} are no names of topics", hint=hint)
        object.__setattr__(self, "common_query_ids", tuple(named))
        check_count("n_draws", self.n_draws, most=_MAX_DRAWS)

    def correct_all(self, collection: Collection, all_bounds: Sequence[Bounds]) -> list[Corrected]:
        """Return per-topic scores, adjusted on all but the common topics."""
        common = self.is_common(collection)
        run_ids, measures = all_bounds[0].run_ids, [bounds.measure for bounds in all_bounds]
        by_run = [self._unpooled(collection, run, common, measures) for run in run_ids]
        return [
            _with_notes(
                self._corrected(collection, bounds, np.concatenate([s.per_topic for s in starts]), common),
                starts[0].estimator,
                tuple(of_run for start in starts for of_run in start.notes),
            )
            for bounds, starts in zip(all_bounds, zip(*by_run, strict=True), strict=True)
        ]

    def plan(
        self,
        collection: Collection,
        run_ids: str | Sequence[str],
        measures: object = "P@10",
        *,
        errors: Sequence[float] = (0.02, 0.01),
    ) -> pd.DataFrame:
        """Return the number of common topics needed for given standard errors, with and without adjustment.

        Parameters
        ----------
        collection : Collection
        run_ids : str or sequence of str
        measures : measure or iterable of measures
        errors : sequence of float
            Standard errors of the mean score to reach.

        Returns
        -------
        pandas.DataFrame
            A row per run, measure and error: ``run_id``, ``measure``; ``n_common``; ``adjustment``;
            ``std_difference`` and ``std_truth``, the standard deviations over common topics of the
            differences and of the full scores; ``std`` and ``std_alone``, the standard errors of the
            adjusted mean score (equations 3 and 7) and of the mean full score of the common topics alone
            (equation 5); ``error``; ``n_needed`` and ``n_needed_alone``, the common topics that it takes,
            and would take without the other topics.

        Examples
        --------
        >>> from bayespool import load_example
        >>> adjustment = TopicsAdjustment(common_query_ids=("701", "705", "709", "713", "715"))
        >>> plan = adjustment.plan(load_example(), "south-3", errors=[0.04])
        >>> print(plan[["std", "std_alone", "n_needed", "n_needed_alone"]].round(3).to_string(index=False))
          std  std_alone  n_needed  n_needed_alone
        0.052      0.105         8              14
        """
        import pandas as pd

        common, rows = self.is_common(collection), []
        n, n_topics = int(common.sum()), len(common)
        for run in [run_ids] if isinstance(run_ids, str) else run_ids:
            parsed = parse_measures(measures)
            for measure, start in zip(parsed, self._unpooled(collection, run, common, parsed), strict=True):
                truth = score_bounds(collection, [run], measure).lower[0, common]
                lost = truth - start.per_topic[0, common]
                spread = _std(np.stack([lost, truth])).tolist()
                known = (run, str(measure), n, float(lost.mean()), *spread)
                known += tuple(standard_error(std, n, n_topics) for std in spread)
                for error in errors:
                    n_needed = (topics_for_error(std, n_topics, error) for std in spread)
                    rows.append((*known, error, *n_needed))
        columns = ["run_id", "measure", "n_common", "adjustment", "std_difference", "std_truth", "std"]
        return pd.DataFrame(rows, columns=[*columns, "std_alone", "error", "n_needed", "n_needed_alone"])

    def is_common(self, collection: Collection) -> BoolArray:
        """Return whether each topic is among the common topics, shape (topic,).

        One that the qrels do not have is an `InputError`.
        """
        named = self.common_query_ids
        unknown = [q for q in named if q not in collection.query_ids]
        if unknown or not named:
            known = some_of(map(repr, collection.query_ids), 3)
            raise InputError(
                f"common topics {unknown or 'none'} are not among the topics of the qrels",
                hint=f"the qrels have {known}",
            )
        return np.array([q in named for q in collection.query_ids])

    def _unpooled(
        self, collection: Collection, run: str, common: BoolArray, measures: Sequence[Measure]
    ) -> tuple[Estimates, ...]:
        """Return base estimates for a run without its own judgments on the common topics, per measure."""
        index = collection.run_index(run)
        (original,) = collection.originals([run])
        others = np.flatnonzero(collection.pooled & (np.array(collection.run_ids) != original))
        own = collection.in_pool(index)
        top = collection.document[index, :, : max(measure.cutoff for measure in measures)]
        own[top[top >= 0]] = True
        gone = own & common[collection.pair_topic] & ~collection.in_pool(others)
        return self.estimate_base(collection.without_judgments(gone), [run], measures)

    def _corrected(
        self, collection: Collection, bounds: Bounds, start: FloatArray, common: BoolArray
    ) -> Corrected:
        """Return adjusted scores, standard errors and draws from base scores of shape (run, topic)."""
        n, n_topics = int(common.sum()), len(common)
        lost = bounds.lower[:, common] - start[:, common]
        adjustment = lost.mean(axis=1)
        std, alone = (
            np.array([standard_error(s, n, n_topics) for s in _std(x)])
            for x in (lost, bounds.lower[:, common])
        )
        # mean base score + a: on the common topics the two add up to the mean full score
        adjustment[lacks_pool(collection, bounds)] = np.nan
        start = np.where(common, bounds.lower, start)
        corrected = _adjusted(bounds, start, adjustment, ~common, self.within_bounds)
        is_open = has_open_ranks(bounds)
        is_idle, is_worse = ~(std < np.abs(adjustment)), alone < std * (1 - 1e-9)
        is_guess = bounds.n_unjudged[:, common].any(axis=1)
        has_interval = self.within_bounds and not np.isnan(std + adjustment).any() and not is_guess.any()
        is_same = np.full(len(std), has_interval) & (std == 0) & (n < n_topics)
        why = "no interval: another run is not fully judged on the common topics"
        reason = "its interval has no width: it lost the same on each common topic"
        notes = run_notes(
            (is_guess, "common topics are not fully judged, so that it has no interval", "not-fully-judged"),
            (~is_guess & is_guess.any(), why, "not-fully-judged"),
            (is_same & is_open, reason, "no-width"),
            (is_idle & is_open & ~is_guess, "its standard error is not below the adjustment (equation 6)"),
            (
                is_worse & is_open & ~is_guess,
                "the common topics alone would be more accurate (equations 3 and 5)",
            ),
        )
        draws = self._draws(bounds, start, lost, common) if has_interval else None
        std = np.where(is_guess, np.nan, std)
        notes = joined_notes(corrected.notes, notes)
        return Corrected(corrected.per_topic, std, notes, draws, {"adjustment": adjustment})

    def _draws(self, bounds: Bounds, start: FloatArray, lost: FloatArray, common: BoolArray) -> Values:
        """Draw adjusted scores from score losses on the common topics.

        Shape (run, common topic).
        """
        n, others = lost.shape[1], np.flatnonzero(~common)
        rng = np.random.default_rng(seed_of(self.random_seed, "topics-adjustment"))
        # weights of the differences in a drawn mean, of which each draw's deviation has the variance s²/n
        if n < FEW_TOPICS:
            weight = rng.multinomial(n, np.full(n, 1 / n), size=self.n_draws) / math.sqrt(n * (n - 1))
        else:
            weight = rng.standard_normal((self.n_draws, n)) / math.sqrt(n * (n - 1))
        like = rng.integers(n, size=(self.n_draws, len(others)))
        mean = lost.mean(axis=1)
        room = _room(bounds, start, ~common)
        values = np.repeat(start[None], self.n_draws, axis=0)
        for row, deviation in enumerate(lost - mean[:, None] if len(others) else ()):
            noise = math.sqrt(n / (n - 1)) * deviation[like]
            total = (mean[row] + weight @ deviation) * len(others) + noise.sum(axis=1)
            added = _shared(total, *(run_room[row] for run_room in room))
            added[:, others] += noise - noise.mean(axis=1, keepdims=True)
            down, up = (run_room[row] for run_room in room)
            values[:, row] += clip_to_bounds(added + down, down + up) - down
        measure = bounds.measure
        return Values(to_integer_amounts(values, measure), measure.unit)


def _with_notes(corrected: Corrected, base: str, notes: RunNotes) -> Corrected:
    """Return corrected scores with the base estimator's notes added."""
    of_base = [tuple(note.of(base) for note in noted(of_run, "point-estimator")) for of_run in notes]
    return corrected._replace(notes=joined_notes(corrected.notes, of_base))


def standard_error(std: float, n: int, n_topics: int) -> float:
    """Return the standard error for a mean over n of N topics, given the standard deviation over topics.

    Equations 3 and 5.

    Examples
    --------
    >>> round(standard_error(0.2, 10, 50), 4)
    0.0566
    """
    return std * math.sqrt((n_topics - n) / (n_topics * n))


def topics_for_error(std: float, n_topics: int, error: float) -> int:
    """Return the smallest number of common topics with a standard error of at most ``error``.

    Examples
    --------
    >>> topics_for_error(0.2, 50, 0.0566), topics_for_error(0.2, 50, 0.0565)
    (10, 11)
    """
    if math.isnan(std):
        return n_topics
    return max(1, math.ceil(round(n_topics * std**2 / (n_topics * error**2 + std**2), 9)))


def _std(values: FloatArray) -> FloatArray:
    """Return the standard deviation over topics, NaN for one topic; shape (run, topic) → (run,)."""
    if values.shape[1] < 2:
        return np.full(len(values), np.nan)
    return np.asarray(values.std(axis=1, ddof=1))


def _room(bounds: Bounds, start: FloatArray, topics: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Return how far scores may decrease and increase within their bounds, each of shape (run, topic).

    Both are 0 where nothing is unjudged.
    """
    unit, may_move = bounds.low.unit, topics & (bounds.n_unjudged > 0)
    down = start - bounds.least.amount / unit
    up = np.minimum(bounds.high.amount, bounds.most.amount) / unit - start
    fall, rise = (np.where(may_move, np.maximum(end, 0), 0.0) for end in (down, up))
    return fall, rise


def _shared(total: FloatArray, down: FloatArray, up: FloatArray) -> FloatArray:
    """Divide a total change over topics in proportion to how far each score may move, shape (..., topic).

    Takes shapes (...,) and (..., topic) and gives (..., topic).
    """
    room = np.where((total < 0)[..., None], down, up)
    most = room.sum(axis=-1)
    share = np.where(most > 0, np.minimum(np.abs(total) / np.where(most > 0, most, 1), 1), 0)
    share = np.where(np.isnan(total), np.nan, share) * np.where(total < 0, -1, 1)
    return np.asarray(room * share[..., None])


def _adjusted(
    bounds: Bounds, start: FloatArray, adjustment: FloatArray, topics: BoolArray, within_bounds: bool
) -> Corrected:
    """Return base scores with a mean adjustment added on the selected topics.

    The adjustment, shape (run,), is the same on each topic, or, within bounds, in proportion to how far each
    value may move.
    """
    if not within_bounds:
        corrected = start + np.where(topics, adjustment[:, None], 0)
        return Corrected(corrected)
    down, up = _room(bounds, start, topics)
    total = adjustment * topics.sum()
    falls = total < 0
    most = np.where(falls, down.sum(axis=1), up.sum(axis=1))
    is_cut = (np.abs(total) > most + 1e-12) & (most > 0)
    notes = run_notes(
        (is_cut & falls, "adjustment cut to the lower bound"),
        (is_cut & ~falls, "adjustment cut to the upper bound"),
    )
    return Corrected(start + _shared(total, down, up), notes=notes)

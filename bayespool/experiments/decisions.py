"""Decisions on pairs of runs: which significant differences estimates announce, and which the truth has."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayespool.arrays import FloatArray, IndexArray
from bayespool.comparisons.draws import SignificantDraws, significant_draws
from bayespool.comparisons.significance import ANNOUNCED_SHARE, SIGNIFICANCE_LEVEL, Pairs, announced_order
from bayespool.experiments.graded_runs import summarize_groups
from bayespool.experiments.running import Columns, add_rows
from bayespool.measures import Estimates
from bayespool.names import AS_JUDGED
from bayespool.tables.formatting import percent
from bayespool.tables.table import Column

LEVELS = (0.001, 0.01, SIGNIFICANCE_LEVEL, 0.2)
_SHARES = (0.5, 0.6, 0.7, ANNOUNCED_SHARE, 0.9, 0.95)
_FAMILY = ("measure", "estimator", "against")
PAIRS = (*_FAMILY, "run_id", "other", "truth", "prob_greater", "prob_less")
_MAX_DRAWS = 100  # kept of a run
_GRID = 2**20  # steps per 1, so that sums of squares are exact

DECISIONS: Mapping[str, Column] = {
    "against": Column("against", "text", "The other runs of the pairs: in the pool, or left out, too."),
    "level": Column("level", "threshold", "Level of the tests on the estimates."),
    "share": Column("share", "threshold", "Least share of draws that declares a difference significant."),
    "n_pairs": Column("pairs", "count", "Number of pairs."),
    "n_true": Column("true", "count", "Pairs that differ significantly in truth."),
    "n_announced": Column("announced", "count", "Pairs announced to differ significantly."),
    "expected": Column(
        "expected", "share", "Mean probability that a declared one is lost; empty without draws."
    ),
    "false": Column("false", "share", "Share of the declared differences that are not significant in truth."),
    "swapped": Column("swapped", "share", "Share of them that the truth has the other way around."),
    "missed": Column("missed", "share", "Share of the true differences that are not found."),
    "rbo": Column("RBO", "coefficient", "Rank-biased overlap of the rankings of runs.", 4),
}
"""Columns on decisions and rankings."""


def pack_topic_scores(estimates: Estimates, as_judged: FloatArray) -> list[str]:
    """Return each run's scores by topic in up to a hundred draws as text, empty for a run without a value.

    A correction of means alone shifts the scores ``as_judged`` on every topic.
    """
    if estimates.draws is None:
        shift = (estimates.value - as_judged.mean(axis=1))[:, None]
        scores = np.where(np.isnan(estimates.per_topic), as_judged + shift, estimates.per_topic)[None]
    else:
        step = -(-len(estimates.draws.amount) // _MAX_DRAWS)
        scores = estimates.draws.amount[::step] / estimates.draws.unit
    return ["" if np.isnan(run).any() else _pack(run) for run in np.moveaxis(scores, 1, 0)]


def _pack(scores: FloatArray) -> str:
    return base64.b64encode(on_grid(scores).astype(np.int32).tobytes()).decode()


def unpack(text: str, n_topics: int) -> IndexArray:
    """Return the scores of a text from `pack_topic_scores` in grid steps, shape (draw, topic)."""
    steps = np.frombuffer(base64.b64decode(text), dtype=np.int32)
    return steps.reshape(-1, n_topics).astype(np.int64)


def on_grid(scores: npt.ArrayLike) -> IndexArray:
    """Return scores in whole grid steps, 0 where one is missing."""
    steps: FloatArray = np.nan_to_num(np.asarray(scores, dtype=float)) * _GRID
    return np.rint(steps).astype(np.int64)


@dataclass(frozen=True, eq=False)
class TopicScores:
    """Scores on topics under one measure: of runs left out, and of the pool's runs.

    Attributes
    ----------
    packed : mapping of str to mapping of str to str
        By estimator and run left out, estimates from `pack_topic_scores`.
    truth : mapping of str to ndarray of int, shape (topic,)
        By run left out, in grid steps (`on_grid`).
    pool : mapping of str to ndarray of int, shape (topic,)
        By pooled run, with all judgments.
    in_pool : mapping of str to sequence of str
        By run left out, the runs that stay in the pool.
    """

    packed: Mapping[str, Mapping[str, str]]
    truth: Mapping[str, IndexArray]
    pool: Mapping[str, IndexArray]
    in_pool: Mapping[str, Sequence[str]]

    def decide(self, level: float, labels: Sequence[str], run_ids: Sequence[str]) -> Columns:
        """Return one row per estimator and pair: with a run of the pool, and of two of the runs left out.

        The pairs of a run left out with the pool are a family, and so are all pairs of runs left out.
        """
        columns: Columns = {}
        if not run_ids or len(self.truth[run_ids[0]]) < 2:
            return columns
        families = [("pool", (run,), tuple(self.in_pool[run])) for run in run_ids]
        for against, own, others in [*families, ("left out", tuple(run_ids), ())]:
            first, second = np.triu_indices(len(own), 1)
            if others:
                first, second = np.zeros(len(others), dtype=int), 1 + np.arange(len(others))
            known, ids = [self.pool[run] for run in others], np.array([*own, *others], dtype=object)
            keys = {"against": against, "run_id": ids[first], "other": ids[second]}
            true = _test(
                np.array([[self.truth[run] for run in own]]), known, SIGNIFICANCE_LEVEL, (first, second)
            )
            keys["truth"] = true.n_greater[first, second] - true.n_greater[second, first]
            for label in labels:
                texts = [self.packed[label][run] for run in own]
                if not len(first) or not all(texts):
                    continue
                drawn = np.stack([unpack(text, len(self.truth[own[0]])) for text in texts], axis=1)
                tested = _test(drawn, known, level, (first, second))
                chance = tested.n_greater / tested.n_draws
                ways = {"prob_greater": chance[first, second], "prob_less": chance[second, first]}
                add_rows(columns, {"estimator": label, **keys, **ways})
        return columns


def _test(drawn: IndexArray, known: Sequence[IndexArray], level: float, pairs: Pairs) -> SignificantDraws:
    """Test pairs of runs in draws of shape (draw, run, topic) and of runs whose scores are known."""
    if known:
        others = np.broadcast_to(np.array(known), (len(drawn), len(known), drawn.shape[2]))
        drawn = np.concatenate([drawn, others], axis=1)
    return significant_draws(drawn, level=level, control="holm", pairs=pairs)


def grade_decisions(pairs: pd.DataFrame, share: float = ANNOUNCED_SHARE) -> dict[str, float]:
    """Return numbers of decisions on pairs, and the shares that are false, swapped and missed."""
    truth = pairs["truth"].to_numpy()
    order = announced_order(pairs["prob_greater"].to_numpy(), pairs["prob_less"].to_numpy(), share)
    numbers: dict[str, float] = {
        "n_pairs": len(pairs),
        "n_true": int((truth != 0).sum()),
        "n_announced": int((order != 0).sum()),
        "expected": np.nan,
    }
    chance = pairs[["prob_greater", "prob_less"]].max(axis=1).to_numpy()
    if ((chance > 0) & (chance < 1)).any() and (order != 0).any():
        numbers["expected"] = float(1 - chance[order != 0].mean())
    return numbers | {name: float(share) for name, share in wrong_shares(order, truth).items()}


def wrong_shares(order: IndexArray, truth: IndexArray) -> dict[str, FloatArray]:
    """Return shares of announced orders that are false and swapped, and of true ones that are missed.

    Orders are −1, 0 or 1, of shape (..., pair); shares have the shape (...,), NaN without any.
    """
    is_announced, is_true = order != 0, truth != 0
    wrong = {
        "false": (is_announced & ~is_true, is_announced),
        "swapped": (order * truth < 0, is_announced),
        "missed": (is_true & (order != truth), is_true),
    }
    with np.errstate(invalid="ignore"):
        return {name: np.asarray(of.sum(axis=-1) / all_.sum(axis=-1)) for name, (of, all_) in wrong.items()}


def graded_decisions(
    sampled: pd.DataFrame, tested: Mapping[float, pd.DataFrame], announce: float = ANNOUNCED_SHARE
) -> pd.DataFrame:
    """Return graded decisions on pairs, with draws at several shares of them, without at several levels."""
    columns = [*_FAMILY, "level", "share", *grade_decisions(sampled)]
    graded = [(sampled, SIGNIFICANCE_LEVEL, share) for share in sorted({*_SHARES, announce})]
    graded += [(pairs, level, np.nan) for level, pairs in tested.items()]
    frames = [
        summarize_groups(
            pairs, _FAMILY, partial(grade_decisions, share=np.nan_to_num(share, nan=1.0))
        ).assign(level=level, share=share)
        for pairs, level, share in graded
        if len(pairs)
    ]
    return pd.concat(frames, ignore_index=True)[columns] if frames else pd.DataFrame(columns=columns)


def decision_clause(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a sentence on the decisions of the estimator of least error, from rows of the summary."""
    decided = [row for row in rows if not np.isnan(row["false"] + row["missed"])]
    if not decided:
        return ""
    best, against = min(decided, key=lambda row: row["rmse"]), ""
    for row in decided:
        if row["estimator"] == AS_JUDGED and row is not best:
            against = f", as judged {percent(row['false'])} and {percent(row['missed'])}"
    expected = "" if np.isnan(best["expected"]) else f" ({percent(best['expected'])} expected)"
    return (
        f" Of the significant differences from pooled runs that {best['estimator']} declares "
        f"{percent(best['false'])} are false{expected}, and {percent(best['missed'])} of the true ones are "
        f"missed{against}."
    )

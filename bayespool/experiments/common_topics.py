"""Score adjustment from common topics on random pools (Webber & Park 2009, §3.2, algorithm 3, tables 2 to 4).

References
----------
S. K. Thompson (2002). Sampling. 2nd edition, Wiley.

W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, 444–451.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments.base import (
    POOL_COLUMNS,
    ExperimentResult,
    panel_figure,
    pools_clause,
    pools_scope,
    summary_of,
)
from bayespool.experiments.design import Graded
from bayespool.experiments.resampling import (
    RandomPools,
    distinct_sizes,
    settings_for_collection,
    whole_pool,
)
from bayespool.experiments.running import Running, in_parts
from bayespool.experiments.settings import CommonTopicsSettings
from bayespool.randomness import seed_of
from bayespool.report.result import Figure
from bayespool.tables.columns import Column
from bayespool.tables.table import Spread, Table, View

if TYPE_CHECKING:
    import pandas as pd

COMMON_ESTIMATORS = ("as-judged", "condensed-list")
"""Estimators adjusted by Webber & Park: unjudged documents as not relevant (table 2), or dropped (table
3).
"""

COMMON_SIZES = (5, 10, 20, 30, 40, 50, 100, 150, 200)
"""Default numbers of common topics, as far as below the number of topics."""

SCORES = ("unadjusted", "mixed", "adjusted", "common-only")
"""Kinds of scores: unadjusted; with the true scores on the common topics; adjusted by the mean difference on
the common topics; the mean true score on the common topics alone.
"""

FloatArray = npt.NDArray[np.float64]


_COLUMNS = {
    "score": Column("score", "text", "Kind of score, one of `bayespool.experiments.SCORES`."),
    "n_common": Column("common\ntopics", "count", "Number of topics that are judged in full."),
    "n_samples": Column("pools", "count", "Number of pools."),
    "one_sided": Column("one-sided", "flag", "Whether truth − score has one sign on all topics."),
    "std_difference": Column("s. d.", "score", "Standard deviation over topics of truth − unpooled score."),
    "std_truth": Column("s. d. of\ntruth", "score", "Standard deviation over topics of the true scores."),
    "mse": Column("MSE", "score", "Mean squared error over draws of common topics."),
    "law": Column("law", "score", "Standard deviation of the error by sampling theory."),
    "mae_law": Column("MAE\nby law", "score", "Mean absolute error by sampling theory."),
    "rmse_law": Column("RMSE\nby law", "score", "Root mean squared error by sampling theory."),
    "helped": Column("helped", "share", "Share of pools whose error is below that of the unadjusted score."),
}
_LAW = (
    "law: √(2/π) √((N − n)/(nN)) times the standard deviation over topics of what a run loses outside the "
    "pool, which is the MAE of the adjusted score as far as that is normal."
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CommonTopicsResult(ExperimentResult):
    """Result of `vary_common_topics`.

    Its tables are ``pools``, a row per measure, width, pool, estimator, kind of score and number of common
    topics, and ``summary``, the same over pools.

    Attributes
    ----------
    settings : CommonTopicsSettings
    n_contributors : int
        Runs or organizations that pools were drawn from.
    """

    command = "common-topics"
    title = "Topics judged in full"
    settings: CommonTopicsSettings
    n_contributors: int
    _rows: pd.DataFrame

    def __repr__(self) -> str:
        s = self.settings
        return (
            f"<CommonTopicsResult: {s.n_samples} pools of each of {len(s.widths)} widths, "
            f"{len(s.n_common)} numbers of common topics of {len(self.query_ids)}, "
            f"{s.n_topic_samples} draws of each>"
        )

    def tables(self) -> tuple[Table, ...]:
        """``pools`` and ``summary``."""
        columns = POOL_COLUMNS | _COLUMNS
        return (
            Table("pools", "The pools", self._rows.copy(), columns),
            Table("summary", "Summary", self._summary(), columns, tuple(self._views())),
        )

    def summary(self) -> tuple[str, ...]:
        """How pools and topics were drawn."""
        draws = f"{self.settings.n_topic_samples} draws of common topics each"
        return (f"{pools_clause(self)}, a run outside each scored; {draws}; {pools_scope(self)}",)

    def figures(self) -> tuple[Figure, ...]:
        """``common-topics`` for each measure and estimator."""
        from bayespool.plots import plot_common_topics

        s, caption = self.settings, "Errors by the number of topics judged in full"
        figures = []
        for of in itertools.product(s.measures, s.labels):
            panels = [partial(plot_common_topics, self, *of, width) for width in s.widths]
            figures.append(panel_figure("common-topics", caption, panels, of=of))
        return tuple(figures)

    def _views(self) -> Iterator[View]:
        """Errors by number of common topics, and what sampling theory says of those of the adjusted score."""
        measures, labels = [str(measure) for measure in self.settings.measures], self.settings.labels
        for measure, label in itertools.product(measures, labels):
            where = {"measure": measure, "estimator": label}
            yield View(
                title=f"{measure}, MAE of {label} by the number of common topics",
                names=("score", "pool_width"),
                columns=(Spread(("mae",), "n_common"),),
                where=where,
            )
            yield View(
                title=f"{measure}, MAE of {label} by law, adjusted",
                names=("score", "pool_width"),
                columns=(Spread(("mae_law",), "n_common"),),
                where=where | {"score": "adjusted"},
                note=_LAW if (measure, label) == (measures[-1], labels[-1]) else "",
            )

    def _summary(self) -> pd.DataFrame:
        keys = ("measure", "pool_width", "estimator", "score", "n_common")
        places = ["measure", "pool_width", "estimator", "sample"]
        rows = self._rows
        plain = rows[rows["score"] == "unadjusted"].drop_duplicates(places)[[*places, "mae"]]
        rows = rows.merge(plain.rename(columns={"mae": "unadjusted_mae"}), on=places, how="left")
        return summary_of(rows, keys, partial(_summarize, n_topics=len(self.query_ids)))


class TopicsInCommon(RandomPools):
    """Pools, and sets of topics on which a run outside them is judged in full."""

    name: ClassVar[str] = "common-topics"

    def grade(self, graded: Graded, settings: CommonTopicsSettings) -> Mapping[str, Any]:
        """Errors of the run by kind of score and number of common topics, one below the other."""
        truth, unpooled = graded.truth.values.scores()[0], graded.estimates.per_topic[0]
        n_topics, n_common = len(truth), np.array(settings.n_common)
        rng = np.random.default_rng(seed_of(settings.random_seed, "topics", *graded.part.seeds))
        order = np.argsort(rng.random((settings.n_topic_samples, n_topics)), axis=1)
        errors = common_topics_errors(truth, unpooled, settings.n_common, order)
        spread = np.sqrt((n_topics - n_common) / (n_common * n_topics))
        std = {"adjusted": (truth - unpooled).std(ddof=1), "common-only": truth.std(ddof=1)}
        return {
            "measure": str(graded.bounds.measure),
            **dict(graded.part.columns),
            "run_id": graded.part.run_ids[0],
            "organization": graded.organizations[0],
            "estimator": graded.label,
            "truth": float(truth.mean()),
            "value": float(unpooled.mean()),
            "std_difference": float(std["adjusted"]),
            "std_truth": float(std["common-only"]),
            "one_sided": bool((truth >= unpooled).all() or (truth <= unpooled).all()),
            "score": [score for score in errors for _ in n_common],
            "n_common": np.tile(n_common, len(errors)),
            "mae": np.concatenate([np.abs(error).mean(axis=0) for error in errors.values()]),
            "mse": np.concatenate([(error**2).mean(axis=0) for error in errors.values()]),
            "bias": np.concatenate([error.mean(axis=0) for error in errors.values()]),
            "law": np.concatenate([spread * std.get(score, np.nan) for score in errors]),
        }


@in_parts(CommonTopicsSettings, TopicsInCommon)
def vary_common_topics(
    collection: Collection, *, settings: CommonTopicsSettings, running: Running
) -> CommonTopicsResult:
    """Draw pools and common topics at random, and adjust scores of runs outside the pools from these topics.

    Parameters
    ----------
    collection : Collection
        With a known pool.
    {options}
    {running}

    Returns
    -------
    CommonTopicsResult

    Raises
    ------
    InputError
        Unknown measure, estimator, setting or type; no pool; a cutoff below the pool depth; a pool so wide
        that no run is outside it; more common topics than topics; fewer than two topics.
    {errors}

    Warns
    -----
    {warnings}

    Notes
    -----
    Let d be the differences between a run's true and unpooled scores on N topics, with mean A and standard
    deviation s (denominator N − 1), and a the mean of d on n common topics. The error of the adjusted mean
    score is a − A, with mean 0 over simple random samples of topics and variance exactly (N − n)/(nN)·s²
    (equations 2 to 4), whatever the distribution of d. So ``rmse_law`` is the root of its mean over pools;
    ``mae_law``, √(2/π) times the mean standard deviation, holds as far as a is normal. The error of the mixed
    score is −(N − n)/N times A on average; where all of d have one sign, as with ``as-judged``, the
    absolute value of that is its MAE, given as ``mae_law``.

    Over an ideal ranking (R, AP, nDCG) a true score is that with the relevant documents of the drawn pool and
    of the run. Common topics are drawn at random from one campaign; other common topics would help less.

    Examples
    --------
    >>> from bayespool import load_example
    >>> few = {"widths": [4], "n_common": [5, 20], "n_samples": 10}
    >>> result = vary_common_topics(load_example(), estimators="as-judged", **few)
    >>> summary = result.to_frame("summary")[["score", "n_common", "mae", "mae_law"]]
    >>> print(summary.round(3).to_string(index=False))
          score  n_common   mae  mae_law
     unadjusted         5 0.078      NaN
     unadjusted        20 0.078      NaN
          mixed         5 0.058    0.059
          mixed        20 0.000    0.000
       adjusted         5 0.028    0.027
       adjusted        20 0.000    0.000
    common-only         5 0.087    0.085
    common-only        20 0.000    0.000
    """
    whole = whole_pool(collection, settings.runs, settings.pool_depth)
    sizes = _sizes(settings.n_common or None, len(whole.query_ids))
    resolved = dataclasses.replace(settings_for_collection(settings, whole), n_common=sizes)
    order = {
        "measure": [str(m) for m in resolved.measures],
        "pool_width": None,
        "estimator": resolved.labels,
        "score": SCORES,
        "n_common": None,
        "sample": None,
    }
    return CommonTopicsResult(**TopicsInCommon().fields(collection, whole, resolved, order, running))


def common_topics_errors(
    truth: npt.ArrayLike, unpooled: npt.ArrayLike, n_common: Sequence[int], order: npt.NDArray[np.intp]
) -> dict[str, FloatArray]:
    """Errors (estimate − true mean score) of a run with common topics, by `SCORES`, each of shape (draw,
    len(n_common)). Takes true and unpooled scores, shape (topic,), and permutations of the topics, shape
    (draw, topic), of which the first n are common.

    Examples
    --------
    Two topics of which the first is common, with half of the loss on each:

    >>> errors = common_topics_errors([0.5, 0.3], [0.4, 0.2], [1], np.array([[0, 1]]))
    >>> {name: round(float(error[0, 0]), 3) for name, error in errors.items()}
    {'unadjusted': -0.1, 'mixed': -0.05, 'adjusted': 0.0, 'common-only': 0.1}
    """
    true = np.asarray(truth, dtype=float)
    difference = true - np.asarray(unpooled, dtype=float)
    n, n_topics = np.asarray(n_common), len(true)
    common_sum = np.cumsum(difference[order], axis=1)[:, n - 1]  # of the differences
    whole = difference.sum()
    return {
        "unadjusted": np.full(common_sum.shape, -whole / n_topics),
        "mixed": (common_sum - whole) / n_topics,
        "adjusted": common_sum / n - whole / n_topics,
        "common-only": np.cumsum(true[order], axis=1)[:, n - 1] / n - true.mean(),
    }


def _sizes(n_common: Sequence[int] | None, n_topics: int) -> tuple[int, ...]:
    if n_topics < 2:
        raise InputError("one topic cannot be common to some of the topics", hint="give more topics")
    if n_common is None:
        n_common = [n for n in COMMON_SIZES if n < n_topics] or [1]
    chosen = distinct_sizes(n_common, "number of common topics")
    if not chosen or max(chosen) > n_topics:
        raise InputError(
            f"{max(chosen, default=0)} common topics: there are {n_topics} topics", hint=f"1 to {n_topics}"
        )
    return chosen


def _summarize(rows: pd.DataFrame, n_topics: int) -> dict[str, Any]:
    law, n_common = rows["law"].to_numpy(), int(rows["n_common"].iloc[0])
    lost = np.abs(rows["truth"].to_numpy() - rows["value"].to_numpy())
    mae_law = np.sqrt(2 / np.pi) * law.mean()
    if rows["score"].iloc[0] == "mixed":
        mae_law = (n_topics - n_common) / n_topics * lost.mean() if rows["one_sided"].all() else np.nan
    biased = rows["unadjusted_mae"] > 0
    helped = rows["mae"] < rows["unadjusted_mae"]
    is_comparable = rows["score"].iloc[0] != "unadjusted" and biased.any()
    return {
        "n_samples": len(rows),
        "mae": float(rows["mae"].mean()),
        "rmse": float(np.sqrt(rows["mse"].mean())),
        "bias": float(rows["bias"].mean()),
        "mae_law": float(mae_law),
        "rmse_law": float(np.sqrt((law**2).mean())),
        "helped": float(helped[biased].mean()) if is_comparable else np.nan,
    }

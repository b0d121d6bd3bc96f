"""Shallow judgment sets, and errors of constants against a fuller one (Ravana & Moffat 2010)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, rows
from bayespool.collection.rankings import ranked
from bayespool.corrections.ravana_moffat import interpolated, smoothed, stacked
from bayespool.errors import InputError
from bayespool.evidence import Bounds, JudgmentCounts
from bayespool.measures.errors import root_mean_squared_error

if TYPE_CHECKING:
    import pandas as pd

_RANK_OF_UNEXPLAINED = np.iinfo(np.int32).max


def judgment_ranks(collection: Collection) -> npt.NDArray[np.int32]:
    """Smallest rank at which a pooled run retrieved each document, at any depth; shape (pair,).

    The largest int32 for documents that no pooled run retrieved.
    """
    best = np.full(len(collection.relevance) + 1, _RANK_OF_UNEXPLAINED, dtype=np.int32)
    for run in np.flatnonzero(collection.pooled):
        document, ranks = ranked(collection.document, run)
        best[document] = np.minimum(best[document], ranks + 1)  # no ranking repeats a document
    return best[:-1]


def judgment_subset(collection: Collection, n_judgments: int, *, random_seed: int = 1) -> Collection:
    """The collection with its first judgments only, in the order of a pool that grows rank by rank.

    Parameters
    ----------
    collection : Collection
        With pooled runs.
    n_judgments : int
        Number of judgments to keep; all of them if there are no more.
    random_seed : int
        Of the order within a rank.

    Returns
    -------
    Collection
        Same runs, topics and pooled runs; fewer judgments, and a pool no deeper than they reach.

    Raises
    ------
    InputError
        No pooled run, or ``n_judgments`` below 1.

    Notes
    -----
    Each judgment is tagged with the smallest rank at which a contributing run retrieved its document;
    judgments are sorted by tag, and a prefix is kept (§4 of the paper).

    - *Ties.* The order of the hundreds to thousands of judgments with one tag, left open by the paper, is
      random: in the order of the file the first topics would have all of them and the last topics none.
    - *Judgments that no pooled run explains* come last, so that sets are nested and end with all judgments.
    - *The pool depth* becomes the deepest tag in the prefix (and no run's is ever more than it was). The
      other judgments with this tag are random holes. The last complete depth would be 0, and the pool empty,
      for a prefix within the first rank, such as 1,000 judgments of TREC-8, where 72 runs put 1,487 documents
      on rank 1 of 50 topics.
    - *Held-out evidence.* A hidden document is a judged one that only one organization retrieved within that
      depth. Every judgment of the prefix then has a contributor, and unjudged holes are never evidence. Which
      documents of the last tag are judged does not depend on who retrieved them or on their relevance, so the
      evidence is not biased. It covers the ranks down to that depth; beyond, it is extrapolated, as notes of
      results state.

    Examples
    --------
    >>> from bayespool import load_example
    >>> shallow = judgment_subset(load_example(), 300)
    >>> int(shallow.judged.sum()), shallow.pool_depth
    (300, 2)
    """
    if not collection.pooled.any():
        raise InputError(
            "no run was pooled, so that judgments have no order", hint="give the runs of the campaign"
        )
    if n_judgments < 1:
        raise InputError(f"too few judgments: {n_judgments}")
    judged = np.flatnonzero(collection.judged)
    if n_judgments >= len(judged):
        return collection
    rank = judgment_ranks(collection)[judged]
    shuffled = np.random.default_rng(random_seed).permutation(len(judged))
    order = shuffled[np.argsort(rank[shuffled], kind="stable")]
    gone = collection.judged
    gone[judged[order[:n_judgments]]] = False
    deepest = int(rank[order[n_judgments - 1]])
    kept = collection.without_judgments(gone)
    return dataclasses.replace(kept, pool=collection.pool.truncated(deepest))


def unpooled_copies(collection: Collection, run_ids: Iterable[str]) -> tuple[Collection, tuple[str, ...]]:
    """Add unpooled copies of the pooled runs among those named; also return the names to score instead.

    A copy has the run's ranking and organization but did not contribute, so a posterior estimator gives it
    the effect of a new organization. The pooled runs remain evidence.
    """
    index = collection.run_index(run_ids)
    copied = index[collection.pooled[index]]
    if not len(copied):
        return collection, tuple(collection.run_ids[i] for i in index)
    mark = " (scored)"
    while any(run.endswith(mark) for run in collection.run_ids):
        mark += "'"
    name = {int(i): collection.run_ids[i] + mark for i in copied}
    with_them, score = np.append(np.arange(len(collection.run_ids)), copied), collection.score
    with_copies = dataclasses.replace(
        collection,
        run_ids=(*collection.run_ids, *name.values()),
        document=rows(collection.document, with_them),
        score=None if score is None else rows(score, with_them),
        organization=collection.organization[with_them],
        pooled=np.concatenate([collection.pooled, np.zeros(len(copied), dtype=bool)]),
        pool=collection.pool.of_runs(with_them),
    )
    return with_copies, tuple(name.get(int(i), collection.run_ids[i]) for i in index)


def first_unjudged(collection: Collection, run_ids: Iterable[str] | None = None) -> pd.DataFrame:
    """Rank of the first unjudged document of each run on each topic (figure 1 of the paper).

    Parameters
    ----------
    collection : Collection
        Such as `judgment_subset` makes it.
    run_ids : iterable of str, optional
        Default: all runs.

    Returns
    -------
    pandas.DataFrame
        A row per run and topic: ``run_id``, ``group`` (``contributing`` or ``non-contributing``),
        ``query_id``, and ``rank`` from 1, NaN where nothing is unjudged down to the end of the run.

    Examples
    --------
    >>> from bayespool import load_example
    >>> ranks = first_unjudged(judgment_subset(load_example(), 150))
    >>> ranks.groupby("group")["rank"].median().to_dict()
    {'contributing': 2.0, 'non-contributing': 2.0}
    """
    import pandas as pd

    index = collection.run_index(None if run_ids is None else list(run_ids))
    unjudged = np.append(~collection.judged, False)  # the last is of no document
    rank = np.full((len(index), len(collection.query_ids)), np.nan)
    for row, run in enumerate(index):
        document, ranks = ranked(collection.document, run)
        open_ = unjudged[document]
        np.fmin.at(rank[row], collection.pair_topic[document[open_]], ranks[open_] + 1)
    groups = np.where(collection.pooled[index], "contributing", "non-contributing").astype(object)
    n_topics = len(collection.query_ids)
    return pd.DataFrame(
        {
            "run_id": np.repeat(np.array(collection.run_ids, dtype=object)[index], n_topics),
            "group": np.repeat(groups, n_topics),
            "query_id": np.tile(np.array(collection.query_ids, dtype=object), len(index)),
            "rank": rank.ravel(),
        }
    )


FloatArray = npt.NDArray[np.float64]


def rmse_surface(
    method: Literal["interpolated", "smoothed"],
    counts: Iterable[JudgmentCounts | Bounds],
    truth: JudgmentCounts | Bounds,
    *,
    c: npt.ArrayLike,
    e: npt.ArrayLike,
) -> FloatArray:
    """RMSE of a correction for each pair of constants, against a fuller judgment set.

    `bayespool.corrections.fit_constants` finds its minimum over the unit square.

    Parameters
    ----------
    method : {"interpolated", "smoothed"}
    counts : iterable of JudgmentCounts or Bounds
        Of the same runs at the same cutoffs, or under the same measure (`bayespool.evidence.score_bounds`),
        with several smaller judgment sets of equal weight.
    truth : JudgmentCounts or Bounds
        Under the fullest set, whose lower bounds are the values to predict.
    c, e : array_like of float in [0, 1]
        Constants to try.

    Returns
    -------
    ndarray of float, shape (c, e)
        Root of the mean over (judgment set, run, topic).

    Raises
    ------
    InputError
        Unknown method, counts of other runs, topics or cutoffs than the truth's, or a measure that does not
        end at 1.

    Examples
    --------
    >>> from bayespool import judgment_counts, load_example
    >>> example = load_example()
    >>> full = judgment_counts(example, cutoffs=10)
    >>> shallow = [judgment_counts(example.truncate_pool(d), cutoffs=10) for d in (1, 2, 5)]
    >>> rmse_surface("smoothed", shallow, full, c=[0, 0.5, 1], e=[0.05, 0.5]).shape
    (3, 2)
    """
    if method not in ("interpolated", "smoothed"):
        raise InputError(f"no surface for {method!r}", hint="interpolated or smoothed")
    lower, residual, target = stacked(counts, truth)
    correct = interpolated if method == "interpolated" else smoothed
    c_values, e_values = np.atleast_1d(np.asarray(c, float)), np.atleast_1d(np.asarray(e, float))
    rows = [
        [root_mean_squared_error(target, correct(lower, residual, one_c, one_e)) for one_e in e_values]
        for one_c in c_values
    ]
    return np.array(rows)

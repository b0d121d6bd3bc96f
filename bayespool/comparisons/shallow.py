"""Shallow judgment sets (Ravana & Moffat 2010)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, rows
from bayespool.collection.rankings import ranked
from bayespool.errors import InputError

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

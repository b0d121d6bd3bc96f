"""Shallow judgment sets: what would be judged had the assessors stopped early (Ravana & Moffat 2010)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, rows
from bayespool.collection.rankings import ranked
from bayespool.errors import InputError

_UNEXPLAINED = np.iinfo(np.int32).max


def judgment_ranks(collection: Collection) -> npt.NDArray[np.int32]:
    """The smallest rank at which a pooled run retrieved each document, at whatever depth; shape (pair,).

    The largest int32 where no pooled run retrieved it.
    """
    best = np.full(len(collection.relevance) + 1, _UNEXPLAINED, dtype=np.int32)
    for run in np.flatnonzero(collection.pooled):
        document, ranks = ranked(collection.document, run)
        best[document] = np.minimum(best[document], ranks + 1)  # a document stands once in a ranking
    return best[:-1]


def judgment_subset(collection: Collection, n_judgments: int, *, random_seed: int = 1) -> Collection:
    """The collection with its first judgments only, in the order of a pool that grows rank by rank.

    Parameters
    ----------
    collection : Collection
        With pooled runs.
    n_judgments : int
        How many judgments to keep. If there are no more, all of them stay, and the collection is unchanged.
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
    The function tags each judgment with the smallest rank at which a contributing run retrieved its document,
    sorts the judgments by tag and keeps a prefix (§4 of the paper).

    - *Ties.* A tag stands for some hundreds to thousands of judgments, and the paper does not say in which
      order they come. Here the order within a tag is random: in the order of the file the first topics would
      have all of a tag's judgments and the last topics none.
    - *Judgments that no pooled run explains*, because their contributor is not among the runs or was not a
      run, come last, so that the sets are nested and end with all judgments.
    - *The pool depth* becomes the deepest tag in the prefix (and no run's is ever more than it was). The
      other judgments with this tag are random holes. The alternative is the last complete depth, which is 0
      if the prefix ends within the first rank, as it does for 1,000 judgments of TREC-8, where 72 runs put
      1,487 documents on rank 1 of 50 topics; the pool would then be empty.
    - *What held-out evidence means here.* A hidden document is a judged one that only one organization
      retrieved within that depth. With the deepest tag as the depth every judgment of the prefix has a
      contributor within it, so that none is taken for explained by nobody, and a hole, which is unjudged,
      is never evidence. Which documents of the last tag are judged has nothing to do with who retrieved
      them or whether they are relevant, so what is known of them is not biased by what is missing. Evidence
      then comes from the ranks down to that depth; for a deeper cutoff it is extrapolated, and results say
      so.

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
        raise InputError(f"{n_judgments} judgments are too few")
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
    return dataclasses.replace(kept, pooling=collection.pooling.truncated(deepest))


def unpooled_copies(collection: Collection, run_ids: Iterable[str]) -> tuple[Collection, tuple[str, ...]]:
    """The collection with a copy of each pooled run among those named, and the names to score instead.

    A copy has the run's ranking and organization and did not contribute to the pool. A posterior estimator
    gives it the effect of a new organization, as it does for runs that did not contribute; a pooled run that
    is scored gets the effect that was learned of its own organization. The pooled runs are evidence in either
    case.

    Returns
    -------
    collection : Collection
        The one given where none of the runs was pooled.
    run_ids : tuple of str
        In the order given.
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
        pooling=collection.pooling.of_runs(with_them),
    )
    return with_copies, tuple(name.get(int(i), collection.run_ids[i]) for i in index)

"""Held-out evidence: documents that would be unjudged if one organization or run were not pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, IntArray, LevelArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.pools import sole_contributor
from bayespool.evidence.ideals import (
    BELOW,
    MISSING,
    NONRELEVANT,
    RELEVANT,
    UNJUDGED_STATE,
    check_cutoffs,
    count_within,
    ranked_levels,
    states,
    top_states,
)


@dataclass(frozen=True, eq=False)
class HeldOutCounts:
    """Number of documents per judgment state in each pooled run, with its organization held out.

    With ``by="run"`` the run alone is held out.

    A document is *hidden* when only the held-out contributor retrieved it within the pool depth: it becomes
    unjudged while its relevance is known.

    Attributes
    ----------
    run_ids, query_ids, organizations : tuple of str
    organization : ndarray of int32, shape (run,)
        The held-out contributor, as an index into ``organizations`` (the runs themselves for ``by="run"``).
    cutoffs : tuple of int
    n_relevant, n_nonrelevant : ndarray of int32, shape (run, topic, cutoff)
        Judged without the held-out contributor.
    n_hidden, n_hidden_relevant : ndarray of int32, shape (run, topic, cutoff)
        Hidden documents among the run's top n, and the relevant ones among them.
    n_credited, n_credited_relevant : ndarray of int32, shape (run, topic, cutoff)
        The same with each document of an organization counted once, for its run that ranks it best (the
        earlier run on equal ranks). Their sums over runs count distinct (topic, document) observations.
    n_concealed : ndarray of int32, shape (run, topic, cutoff)
        All documents that become unjudged: the hidden ones, and those of relevance below ``given``.
    n_unjudged : ndarray of int32, shape (run, topic, cutoff)
        Unjudged whether or not the contributor is held out.
    """

    run_ids: tuple[str, ...]
    query_ids: tuple[str, ...]
    organizations: tuple[str, ...]
    organization: IntArray
    cutoffs: tuple[int, ...]
    n_relevant: IntArray
    n_nonrelevant: IntArray
    n_hidden: IntArray
    n_hidden_relevant: IntArray
    n_credited: IntArray
    n_credited_relevant: IntArray
    n_concealed: IntArray
    n_unjudged: IntArray


def held_out_counts(
    collection: Collection,
    *,
    cutoffs: int | Sequence[int],
    rel: int = 1,
    given: int = 0,
    by: Literal["organization", "run"] = "organization",
    substitute: str | None = None,
    with_own_judgments: bool = False,
) -> HeldOutCounts:
    """Return numbers of documents per judgment state in each pooled run, with its organization held out.

    No rows where there is none.

    Parameters
    ----------
    collection : Collection
        Without the target's organization in the pool.
    cutoffs : int or sequence of int
    rel : int, default 1
    given : int, default 0
        Smallest relevance of documents that count among judged ones.
    by : {"organization", "run"}
        Hold out all runs of the organization, or the run alone.
    substitute : str, optional
        A run that takes the held-out one's place in the pool, so that the pool keeps its size (Webber & Park
        2009, §3.1): what it retrieves within the pool depth stays judged.
    with_own_judgments : bool
        Also the runs that retrieve judgments added to the pool.
    """
    cutoffs = check_cutoffs(cutoffs)
    index = collection.contributors if with_own_judgments else np.flatnonzero(collection.pooled)
    unit = (
        collection.organization
        if by == "organization"
        else np.arange(len(collection.run_ids), dtype=np.int32)
    )
    sole = sole_beside(collection, by, substitute)
    state = top_states(states(collection.relevance, rel, given), collection.document, index, cutoffs)
    document = collection.document[index, :, : state.shape[2]]
    own = _is_own(document, sole, unit[index])
    hidden = own & (state <= RELEVANT)
    credited = hidden & _is_best_ranked(document, hidden)
    relevant, nonrelevant = state == RELEVANT, state == NONRELEVANT

    def count(mask: BoolArray) -> IntArray:
        return count_within(mask, cutoffs)

    return HeldOutCounts(
        run_ids=tuple(collection.run_ids[i] for i in index),
        query_ids=collection.query_ids,
        organizations=collection.organizations if by == "organization" else collection.run_ids,
        organization=unit[index],
        cutoffs=cutoffs,
        n_relevant=count(relevant & ~hidden),
        n_nonrelevant=count(nonrelevant & ~hidden),
        n_hidden=count(hidden),
        n_hidden_relevant=count(hidden & relevant),
        n_credited=count(credited),
        n_credited_relevant=count(credited & relevant),
        n_concealed=count(hidden | (own & (state == BELOW))),
        n_unjudged=count(state == UNJUDGED_STATE),
    )


HeldOutDocuments: TypeAlias = tuple[OrderArray, OrderArray, OrderArray, IntArray, BoolArray]


def held_out_documents(
    collection: Collection, *, cutoff: int, rel: int = 1, given: int = 0
) -> HeldOutDocuments:
    """Return run, topic, rank from 1, pair code and relevance for each credited hidden document.

    Shape (document,).
    """
    index = collection.contributors
    state = top_states(states(collection.relevance, rel, given), collection.document, index, (cutoff,))
    document = collection.document[index, :, : state.shape[2]]
    own = _is_own(document, sole_contributor(collection), collection.organization[index])
    hidden = own & (state <= RELEVANT)
    run, topic, rank = np.nonzero(hidden & _is_best_ranked(document, hidden))
    relevant: BoolArray = state[run, topic, rank] == RELEVANT
    return index[run], topic, rank + 1, document[run, topic, rank], relevant


def held_out_levels(
    collection: Collection,
    depth: int,
    *,
    by: Literal["organization", "run"] = "organization",
    substitute: str | None = None,
) -> tuple[LevelArray, BoolArray]:
    """Return relevance levels in the top of pooled runs, and a mask for hidden documents.

    Shape (run, topic, rank) each.
    """
    index = np.flatnonzero(collection.pooled)
    sole = sole_beside(collection, by, substitute)
    unit = collection.organization[index] if by == "organization" else index
    own = _is_own(collection.document[index, :, :depth], sole, unit)
    level = ranked_levels(collection, index, depth)
    return level, own & (level >= 0)


def states_without_own(
    collection: Collection, run_index: OrderArray, depth: int, *, rel: int = 1, given: int = 0
) -> npt.NDArray[np.int8]:
    """Return document states in the top of runs, each with its own organization held out.

    Shape (run, topic, rank).
    """
    state = top_states(states(collection.relevance, rel, given), collection.document, run_index, (depth,))
    document = collection.document[run_index, :, : state.shape[2]]
    own = _is_own(document, sole_contributor(collection), collection.organization[run_index])
    return np.where(own & (state != MISSING), np.int8(UNJUDGED_STATE), state)


def sole_beside(
    collection: Collection, by: Literal["organization", "run"], substitute: str | None
) -> IntArray:
    """Return each document's only contributor, or −1 with none, several, or the substitute as another.

    Shape (pair,).
    """
    sole = sole_contributor(collection, by)
    if substitute is None:
        return sole
    return np.where(collection.in_pool(collection.run_index(substitute)), np.int32(-1), sole)


def _is_own(document: IntArray, sole: IntArray, unit: npt.NDArray[np.integer]) -> BoolArray:
    """Return whether the run's own unit alone contributed a document, shape (run, topic, rank)."""
    return np.asarray(np.append(sole, -1)[document] == unit[:, None, None])


def _is_best_ranked(document: IntArray, hidden: BoolArray) -> BoolArray:
    """Return whether a hidden document is at its contributor's best rank, shape (run, topic, rank)."""
    run, topic, rank = np.nonzero(hidden)
    pair = document[run, topic, rank]
    order = np.lexsort((run, rank, pair))
    first = np.ones(len(order), dtype=bool)
    first[1:] = pair[order][1:] != pair[order][:-1]
    best = np.zeros_like(hidden)
    kept = order[first]
    best[run[kept], topic[kept], rank[kept]] = True
    return best

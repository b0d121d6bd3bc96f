"""States of documents in rankings, and counts of states within cutoffs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from bayespool.arrays import IntArray
from bayespool.collection import Collection
from bayespool.collection.rankings import Rankings
from bayespool.errors import InputError, known_names

Estimand = Literal["complete", "pooled"]
NONRELEVANT, RELEVANT, UNJUDGED_STATE, MISSING, BELOW = range(5)


def states(relevance: npt.NDArray[Any], rel: int, given: int = 0) -> npt.NDArray[np.int8]:
    """State of each pair: unjudged, relevant, nonrelevant, or judged and below ``given``, shape (pair,)."""
    judged = np.where(relevance >= rel, RELEVANT, np.where(relevance >= given, NONRELEVANT, BELOW))
    return np.where(relevance < 0, UNJUDGED_STATE, judged).astype(np.int8)


def top_states(
    table: npt.NDArray[np.int8],
    document: IntArray | Rankings,
    index: npt.NDArray[np.intp],
    cutoffs: tuple[int, ...],
) -> npt.NDArray[np.int8]:
    """States of the top documents by a table from `states`, shape (run, topic, rank)."""
    return np.append(table, np.int8(MISSING))[document[index, :, : max(cutoffs)]]


def count_within(mask: npt.NDArray[np.bool_], cutoffs: tuple[int, ...]) -> IntArray:
    """Number of true values within each cutoff along the last axis, ranks; shape (…, cutoff)."""
    depth = mask.shape[-1]
    if depth == 0:
        return np.zeros((*mask.shape[:-1], len(cutoffs)), dtype=np.int32)
    counted = np.cumsum(mask, axis=-1, dtype=np.int32)
    return counted[..., [min(n, depth) - 1 for n in cutoffs]]


def check_cutoffs(cutoffs: int | Sequence[int]) -> tuple[int, ...]:
    """Cutoffs as a tuple; refuse one below 1."""
    values = tuple(int(n) for n in np.atleast_1d(np.asarray(cutoffs)))
    if not values or min(values) < 1:
        raise InputError(f"cutoffs {values}: give at least one, each 1 or more")
    return values


def check_estimand(collection: Collection, estimand: Estimand) -> None:
    """Refuse an unknown estimand, and ``"pooled"`` without a pool depth."""
    if estimand not in get_args(Estimand):
        raise InputError(f"no estimand {estimand!r}", hint=known_names(estimand, get_args(Estimand)))
    if estimand == "pooled" and collection.pool_depth < 1:  # all unjudged documents would be nonrelevant
        raise InputError(
            "the pooled estimand needs a pool depth and none is known",
            hint="give the pooled runs, or ask for the complete estimand",
        )


def open_ranks(
    collection: Collection, index: npt.NDArray[np.intp], depth: int, estimand: Estimand
) -> npt.NDArray[np.bool_]:
    """Ranks whose documents are unjudged and may be relevant, shape (run, topic, rank)."""
    document = collection.document[index, :, :depth]
    reach = reach_of(collection, index, depth, estimand)
    opened = np.append(collection.may_be_relevant, False)[document]
    return np.asarray(opened & (np.arange(document.shape[2]) < reach[:, None, None]))


def reach_of(
    collection: Collection, index: npt.NDArray[np.intp], cutoff: int, estimand: Estimand
) -> IntArray:
    """Deepest rank of each run at which an unjudged document may be relevant, shape (run,)."""
    if estimand == "pooled":
        return np.asarray(np.minimum(collection.depth_of(index), cutoff), dtype=np.int32)
    return np.full(len(index), cutoff, dtype=np.int32)

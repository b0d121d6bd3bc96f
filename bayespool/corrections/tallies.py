"""Judged documents of each level: how many there are, and how many go with each pooled run held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, sole_contributor

__all__ = ["hidden_at_levels", "judged_at_levels"]

Counts = npt.NDArray[np.int64]


def judged_at_levels(collection: Collection, levels: Sequence[int]) -> Counts:
    """Judged documents of each topic at each level, shape (topic, level).

    Parameters
    ----------
    collection : Collection
    levels : sequence of int
        Ascending from 0. A document of a relevance between two of them counts at the lower one.

    Examples
    --------
    >>> from bayespool import load_example
    >>> judged_at_levels(load_example(), (0, 1))[:2].tolist()
    [[32, 18], [64, 5]]
    """
    at = _level_of(collection.relevance, levels)
    pairs = np.flatnonzero(at >= 0)
    n = np.zeros((len(collection.query_ids), len(levels)), dtype=np.int64)
    np.add.at(n, (collection.pair_topic[pairs], at[pairs]), 1)
    return n


def hidden_at_levels(
    collection: Collection,
    levels: Sequence[int],
    *,
    by: Literal["organization", "run"] = "organization",
    substitute: str | None = None,
) -> Counts:
    """Judged documents that are hidden with each pooled run, whoever ranks them where, shape (run, topic,
    level).

    Parameters
    ----------
    collection : Collection
    levels : sequence of int
        Ascending from 0.
    by, substitute
        See `bayespool.counts.held_out_counts`.

    Returns
    -------
    ndarray of int
        All documents that the run, or its organization, alone contributed to the pool: none of them is left
        for an ideal ranking.
    """
    sole = sole_contributor(collection, by)
    index = np.flatnonzero(collection.pooled)
    unit = collection.organization[index] if by == "organization" else index
    hidden = sole >= 0
    if substitute is not None:
        hidden &= ~collection.pool(collection.run_index(substitute))
    pairs = np.flatnonzero(hidden)
    at = _level_of(collection.relevance[pairs], levels)
    pairs, at = pairs[at >= 0], at[at >= 0]
    n_units = len(collection.organizations) if by == "organization" else len(collection.run_ids)
    n = np.zeros((n_units, len(collection.query_ids), len(levels)), dtype=np.int64)
    np.add.at(n, (sole[pairs], collection.pair_topic[pairs], at), 1)
    return n[unit]


def _level_of(relevance: npt.NDArray[Any], levels: Sequence[int]) -> npt.NDArray[np.intp]:
    """Place of the highest level that each relevance reaches; −1 without a judgment."""
    return np.searchsorted(levels, relevance, side="right") - 1

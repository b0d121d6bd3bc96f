"""Judged documents of each level that go with each pooled run held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.collection.contributors import sole_contributor
from bayespool.evidence.ideals import place_of_level

Counts = npt.NDArray[np.int64]


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
        See `bayespool.evidence.held_out_counts`.

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
    at = place_of_level(collection.relevance[pairs], levels)
    pairs, at = pairs[at >= 0], at[at >= 0]
    n_units = len(collection.organizations) if by == "organization" else len(collection.run_ids)
    n = np.zeros((n_units, len(collection.query_ids), len(levels)), dtype=np.int64)
    np.add.at(n, (sole[pairs], collection.pair_topic[pairs], at), 1)
    return n[unit]

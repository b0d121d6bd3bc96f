"""Judged documents of each level that are hidden with each pooled run."""

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
    """Judged documents that the run, or its organization, alone contributed to the pool, at levels that
    ascend from 0; shape (run, topic, level). ``by`` and ``substitute`` are those of
    `bayespool.evidence.held_out_counts`.
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

"""The embedded example with levels of relevance: who answers one question yes is asked the next."""

from __future__ import annotations

import dataclasses
import zlib
from functools import cache

import numpy as np

from bayespool.collection import Collection
from bayespool.experiments import load_example


@cache
def graded_example(levels: tuple[int, ...] = (1, 2, 3)) -> Collection:
    return graded(load_example(), levels)


def graded(collection: Collection, levels: tuple[int, ...] = (1, 2, 3)) -> Collection:
    """Half of the documents at each level go on to the next, by a number made from their ids."""
    relevance = collection.relevance.copy()
    for pair in np.flatnonzero(relevance > 0):
        topic = collection.query_ids[collection.pair_topic[pair]]
        number = zlib.crc32(f"{topic} {collection.doc_ids[pair].as_py()}".encode())
        reached = 0
        while reached < len(levels) - 1 and number >> reached & 1:
            reached += 1
        relevance[pair] = levels[reached]
    return dataclasses.replace(collection, relevance=relevance)

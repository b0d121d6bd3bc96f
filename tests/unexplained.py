"""The example with judgments that no pooled run explains."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.experiments import simulate_example


def with_found(chance_relevant: float, chance_other: float, by_rank: float = 0) -> Collection:
    """The example with judgments of documents outside the pool, by their relevance, or by their best rank in
    any run: the probability is halved every so many ranks.
    """
    example = simulate_example()
    collection, truth = example.collection, example.truth
    columns = truth.query_id.to_pylist(), truth.doc_id.to_pylist(), truth.relevance.tolist()
    known = {(query_id, doc_id): level for query_id, doc_id, level in zip(*columns, strict=True)}
    topics, ids = (collection.query_ids[t] for t in collection.pair_topic), collection.doc_ids.to_pylist()
    level = np.array([known[pair] for pair in zip(topics, ids, strict=True)], dtype=np.int16)
    chance = np.where(level > 0, chance_relevant, chance_other)
    if by_rank:
        best = np.full(len(chance) + 1, collection.document.shape[2])
        ranks = np.broadcast_to(np.arange(collection.document.shape[2]), collection.document.shape)
        np.minimum.at(best, collection.document, ranks)
        chance = chance * 0.5 ** (best[:-1] / by_rank)
    judged = ~collection.in_pool() & (np.random.default_rng(5).random(len(chance)) < chance)
    relevance: npt.NDArray[np.int16] = np.where(judged, level, collection.relevance)
    return dataclasses.replace(collection, relevance=relevance)

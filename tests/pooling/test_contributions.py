"""Who contributed what to a pool, and the pool as a list."""

from __future__ import annotations

import numpy as np
from toys import toy_collection

from bayespool.pooling import choose, contributions_to, qrels_of_choice


def pairs_of(documents: str, topic: int) -> list[int]:
    collection = toy_collection()
    on_topic = np.flatnonzero(collection.pair_topic == topic)
    return [int(p) for p in on_topic if collection.doc_id(int(p)) in documents]


def test_contributions_by_hand() -> None:
    # of a b f on topic 1 and q v on topic 2, down to rank 3: n1 has a b q, n2 a b f q, s1 a q v, s2 none
    collection = toy_collection()
    pooled = np.zeros(len(collection.relevance), dtype=bool)
    pooled[pairs_of("abf", 0) + pairs_of("qv", 1)] = True
    index = collection.run_index(["n1", "n2", "s1", "s2"])
    runs = contributions_to(collection, pooled, index, ["n1", "n2", "s1", "s2"], depth=3)
    assert runs.n_documents.tolist() == [3, 4, 3, 0]
    assert runs.n_alone.tolist() == [0, 1, 1, 0]  # f and v
    assert runs.n_of_topic.tolist() == [3, 2, 0]
    of_two = contributions_to(collection, pooled, index, ["north", "north", "south", "south"], depth=3)
    assert of_two.names == ("north", "south")
    assert of_two.n_runs.tolist() == [2, 2]
    assert of_two.n_documents.tolist() == [4, 3]
    assert of_two.n_alone.tolist() == [2, 1]  # b f and v


def test_the_list_says_what_is_judged() -> None:
    collection = toy_collection()
    listed = qrels_of_choice(collection, choose(collection, "take", 100))
    found = {
        (q, d): r
        for q, d, r in zip(
            listed.query_id.to_pylist(), listed.doc_id.to_pylist(), listed.relevance.tolist(), strict=True
        )
    }
    assert found["1", "c"] == 2
    assert found["2", "q"] == 0
    assert found["1", "d"] == -1  # retrieved below the depth, and judged by nobody
    assert listed.query_id.to_pylist() == sorted(listed.query_id.to_pylist())

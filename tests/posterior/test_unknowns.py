"""Unjudged documents, each once."""

from __future__ import annotations

import numpy as np
from completed import toy

from bayespool.posterior import find_unknowns


def test_unknowns_are_each_once_and_credited_to_the_best_rank() -> None:
    unknowns = find_unknowns(toy(), ("one", "two"), 5)
    found = [
        (unknowns.collection.doc_id(pair), unknowns.run_ids[run], int(rank))
        for pair, run, rank in zip(unknowns.pair, unknowns.run, unknowns.rank, strict=True)
    ]
    # q stands second in both: the run that comes first by name has it
    assert found == [
        *[("q", "one", 2), ("r", "one", 3), ("s", "two", 1), ("v", "two", 4), ("w", "two", 5)],
        *[("t", "one", 2), ("u", "one", 3)],
    ]
    assert unknowns.start.tolist() == [0, 5, 7]
    assert unknowns.doc_ids(1) == ["t", "u"]


def test_unknowns_do_not_depend_on_the_order_of_runs() -> None:
    one, other = find_unknowns(toy(), ("one", "two"), 5), find_unknowns(toy(), ("two", "one"), 5)
    assert np.array_equal(one.pair, other.pair)
    names = [[u.run_ids[r] for r in u.run] for u in (one, other)]
    assert names[0] == names[1]


def test_reach_ends_at_the_depth_and_for_the_pooled_estimand_at_the_pool() -> None:
    assert len(find_unknowns(toy(), ("one",), 2)) == 2  # q and t
    assert len(find_unknowns(toy(), ("one",), 5)) == 5
    assert len(find_unknowns(toy(), ("two",), 5, "pooled")) == 3  # s, q and t
    assert len(find_unknowns(toy(), ("x",), 3)) == 0
    assert len(find_unknowns(toy(), ("x",), 5)) == 4  # d e and l m

"""The documents of ideal rankings: judged ones, and those in reach of the run, or of all runs scored."""

from __future__ import annotations

import ir_measures
import numpy as np
from each import cases
from graded_example import graded_example
from toys import toy_collection

from bayespool.evidence.ideals import (
    ideal_reach,
    judged_tally,
    n_in_reach,
    tally_within_reach,
    values_on_fuller,
)
from bayespool.experiments import load_example
from bayespool.measures import Ideal, Normalized, parse_measure
from bayespool.measures.base import with_ideal


def test_documents_count_at_the_highest_level_that_they_reach() -> None:
    """By hand from the toy: topic 1 has a1 c2 f1 h1, topic 2 p1 r2 v1, topic 3 nothing relevant."""
    collection = toy_collection()
    tally = judged_tally(collection, (0, 1, 2))
    assert tally.levels == (1, 2)
    assert tally.n.tolist() == [[3, 1], [2, 1], [0, 0]]
    assert judged_tally(collection, (0, 1)).n.tolist() == [[4], [3], [0]]
    assert judged_tally(collection, (0, 2, 3)).n[:, 0].tolist() == [1, 1, 0]


def test_ideals_reach_as_deep_as_the_pool() -> None:
    example = load_example()  # pooled to depth 10
    reach = {"P@5": 5, "nDCG@5": 10, "nDCG@20": 20, "nDCG(ideal='judged')@5": 5, "AP@100": 100, "R@5": 10}
    assert {name: ideal_reach(example, parse_measure(name)) for name in reach} == reach


@cases(("ideal", "counted"), [("own", [[0], [1]]), ("shared", [[0, 1], [0, 1]])])
def test_unjudged_documents_in_reach_are_the_run_s_own_or_those_of_all(
    ideal: str, counted: list[list[int]]
) -> None:
    example = load_example()
    index = example.run_index(["new-a", "new-b"])
    measure = parse_measure(f"nDCG(ideal={ideal!r})@10")
    assert isinstance(measure, Normalized)
    found = n_in_reach(example, index, measure, "complete")
    assert found.any()
    for row, runs in enumerate(counted):
        for topic in range(len(example.query_ids)):
            top = {int(d) for run in index[runs] for d in example.document[run, topic, :10] if d >= 0}
            assert found[row, topic] == sum(example.relevance[pair] < 0 for pair in top)


@cases("name", ["nDCG@10", "AP(rel=2)@10", "R@10"])
@cases("ideal", ["own", "shared"])
def test_truth_of_a_run_left_out_is_that_of_the_judgments_with_it_back(name: str, ideal: Ideal) -> None:
    """ir_measures on the judgments of the pool with the run put back alone, or with both runs."""
    whole = graded_example()
    (measure,) = with_ideal([parse_measure(name)], ideal)
    runs = ("north-1", "north-2")
    reduced = whole.unpool(organization="north")
    assert (whole.relevance >= 0).sum() > (reduced.relevance >= 0).sum()
    found = values_on_fuller(reduced, whole, runs, measure, "pooled").scores()
    ids = whole.doc_ids.to_pylist()
    for row, run in enumerate(whole.run_index(runs)):
        back = whole.unpool([runs[1 - row]]) if ideal == "own" else whole
        qrels = [
            ir_measures.Qrel(whole.query_ids[whole.pair_topic[pair]], ids[pair], int(whole.relevance[pair]))
            for pair in np.flatnonzero(back.relevance >= 0)
        ]
        ranking = [
            ir_measures.ScoredDoc(query_id, ids[pair], -float(rank))
            for query_id, documents in zip(whole.query_ids, whole.document[run], strict=True)
            for rank, pair in enumerate(documents)
            if pair >= 0
        ]
        asked = ir_measures.parse_measure(name)
        expected = {m.query_id: m.value for m in ir_measures.iter_calc([asked], qrels, ranking)}
        np.testing.assert_allclose(found[row], [expected[q] for q in whole.query_ids], atol=1e-9)
    judged = parse_measure("nDCG(ideal='judged')@10")
    left = tally_within_reach(reduced, whole, runs, judged, "pooled")
    assert left is not None
    assert (left.n == judged_tally(reduced, (0, *whole.levels)).n).all()
    assert tally_within_reach(reduced, whole, runs, parse_measure("P@10")) is None

"""Measures inferred from samples: unbiased over all samples of a small topic, and as others compute them."""

from __future__ import annotations

import dataclasses
from itertools import combinations, product

import numpy as np
import pytest
import pytrec_eval
import toys
from each import cases

from bayespool import load_example
from bayespool.collection import Collection
from bayespool.pooling import Stratified, choose
from bayespool.pooling.sampled import infer_ap, infer_stratified_ap, sampled_ap, sampled_states
from bayespool.pooling.strategy import retrieved_by

# A topic of seven pooled documents, of which 0 2 3 5 are relevant, and a ranking with a document (7) beyond.
RELEVANT = np.array([1, 0, 1, 1, 0, 1, 0, 0], dtype=bool)
POOLED = np.arange(8) < 7
RANKING = np.array([2, 7, 0, 1, 5, 6, -1])
AP = (1 / 1 + 2 / 3 + 3 / 5) / 4


Sample = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def uniform_samples() -> list[Sample]:
    """All samples of three of seven: judged, inclusion, stratum, weight of a pair."""
    joint = 3 / 7 * 2 / 6
    return [
        (np.isin(np.arange(8), s), np.full(8, 3 / 7), np.zeros(8, int), np.array([(3 / 7) ** 2 / joint]))
        for s in combinations(range(7), 3)
    ]


def stratified_samples() -> list[Sample]:
    """All samples of two of documents 0 1 2 and three of 3 4 5 6."""
    stratum = np.where(np.arange(8) < 3, 0, 1)
    inclusion = np.where(stratum == 0, 2 / 3, 3 / 4)
    pair_weight = np.array([(2 / 3) ** 2 / (2 / 3 * 1 / 2), (3 / 4) ** 2 / (3 / 4 * 2 / 3)])
    return [
        (np.isin(np.arange(8), s + t), inclusion, stratum, pair_weight)
        for s, t in product(combinations(range(3), 2), combinations(range(3, 7), 3))
    ]


@cases("samples", [uniform_samples(), stratified_samples()])
def test_sums_of_statap_are_unbiased(samples: list[Sample]) -> None:
    found = []
    for judged, inclusion, stratum, pair_weight in samples:
        state = sampled_states(RANKING, RELEVANT, judged, POOLED)
        asked = {"stratum": stratum[RANKING], "pair_weight": pair_weight}
        found.append(sampled_ap(state, inclusion[RANKING], 4, **asked))
    assert np.mean(found) == pytest.approx(AP, abs=1e-12)


def test_all_judged_gives_the_measures_themselves() -> None:
    state = sampled_states(RANKING, RELEVANT, POOLED, POOLED)
    assert state.tolist() == [1, -2, 1, 0, 1, 0, -2]
    assert sampled_ap(state, np.ones(len(RANKING)), 4).item() == pytest.approx(AP, abs=1e-12)
    assert infer_ap(state, 4).item() == pytest.approx(AP, abs=1e-4)
    stratum = np.where(RANKING < 3, 0, 1)
    size, hits = np.array([3, 4]), np.array([2, 2])
    assert infer_stratified_ap(state, stratum, size, size, hits).item() == pytest.approx(AP, abs=1e-4)


def test_xinfap_by_hand() -> None:
    # Stratum 0: A relevant, B not. Stratum 1: C relevant, D not, E F not judged. Ranking B E C A D.
    # C at 3: (1 + 0 + 1 · ⅓) / 3. A at 4: (1 + 0 + 2 · 1) / 4. Relevant: 1 in stratum 0, 2 in stratum 1.
    state, stratum = np.array([0, -1, 1, 1, 0]), np.array([0, 1, 1, 0, 1])
    found = infer_stratified_ap(state, stratum, np.array([2, 4]), np.array([2, 2]), np.array([1, 1]))
    assert found.item() == pytest.approx((3 / 4 + 2 * 4 / 9) / 3, abs=1e-4)


def read_by_pytrec_eval(collection: Collection, judged: np.ndarray, pooled: np.ndarray) -> np.ndarray:
    """infAP of every run and topic; a document that was not sampled is −1."""
    topics = collection.query_ids
    qrels: dict[str, dict[str, int]] = {query_id: {} for query_id in topics}
    for pair in np.flatnonzero(pooled):
        level = int(collection.relevance[pair]) if judged[pair] else -1
        qrels[topics[collection.pair_topic[pair]]][collection.doc_id(int(pair))] = level
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"infAP"})
    found = np.zeros(collection.document.shape[:2])
    for r, t in np.ndindex(found.shape):
        ranking = [collection.doc_id(int(pair)) for pair in collection.document[r, t] if pair >= 0]
        if ranking:
            run = {topics[t]: {doc_id: -float(rank) for rank, doc_id in enumerate(ranking)}}
            found[r, t] = evaluator.evaluate(run)[topics[t]]["infAP"]
    return found


def test_infap_is_pytrec_evals() -> None:
    collection, runs = toys.toy_collection(), np.arange(4)
    relevant, pairs = collection.relevance > 0, np.arange(len(collection.relevance))
    pooled = np.isin(
        pairs, np.concatenate([topic.pair for topic in retrieved_by(collection, runs, depth=100)])
    )
    for n in (3, 6, 9, 15):
        chosen = choose(collection, "uniform", n, run_index=runs, depth=100).pair
        judged = np.isin(pairs, chosen) & (collection.relevance >= 0)
        state = sampled_states(collection.document, relevant, judged, pooled)
        hits = np.bincount(collection.pair_topic[relevant & judged], minlength=len(collection.query_ids))
        expected = read_by_pytrec_eval(collection, judged, pooled)
        assert infer_ap(state, hits) == pytest.approx(expected, abs=1e-12)


def test_stratified_samples_of_the_example_infer_its_average_precision() -> None:
    """Means over 300 samples of half the pool are near the values of all judgments."""
    collection = load_example()
    index, relevant = np.flatnonzero(collection.pooled), collection.relevance > 0
    strategy = Stratified(depths=(5,), rates=(3.0, 1.0))
    topic = next(iter(retrieved_by(collection, index, depth=20)))
    of_runs, pairs = collection.document[index, 0], np.arange(len(relevant))
    pooled, stratum = np.isin(pairs, topic.pair), np.zeros(len(relevant), dtype=np.int32)
    stratum[topic.pair] = strategy.stratum(topic)
    size = np.bincount(stratum[topic.pair], minlength=2)
    values = []
    for seed in range(300):
        drawn = dataclasses.replace(topic, lot=np.random.default_rng(seed).random(len(topic)))
        order = strategy.order(drawn, relevant[topic.pair], len(topic) // 2, np.random.default_rng(seed))
        judged = np.isin(pairs, topic.pair[order])
        state = sampled_states(of_runs, relevant, judged, pooled)
        n_judged, hits = (np.bincount(stratum[of], minlength=2) for of in (judged, judged & relevant))
        values.append(infer_stratified_ap(state, stratum[of_runs], size, n_judged, hits))
    exact = infer_ap(sampled_states(of_runs, relevant, pooled, pooled), int((relevant & pooled).sum()))
    assert np.mean(values, axis=0) == pytest.approx(exact, abs=0.03)

"""Samples, the probabilities that they come with, and measures inferred from them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
import pytrec_eval
import toys
from each import cases
from trec_files import refused

from bayespool import load_example
from bayespool.collection import Collection
from bayespool.pooling import (
    ActiveSampling,
    Sampling,
    Stratified,
    TopicRankings,
    Uniform,
    choose,
    parse_strategy,
)
from bayespool.pooling.choosing import inclusion_probabilities
from bayespool.pooling.sampling import infer_ap, infer_stratified_ap, sampled_ap, sampled_states
from bayespool.pooling.strategy import retrieved_by

SAMPLES = [Uniform(), Stratified(depths=(1,), rates=(2.0, 1.0)), ActiveSampling(), ActiveSampling(batch=1)]


def of_one_topic(rankings: dict[str, str], relevant: str) -> tuple[TopicRankings, np.ndarray]:
    every = sorted(set("".join(rankings.values())))
    collection = toys.from_rankings(
        {run: {"1": documents} for run, documents in rankings.items()},
        {"1": {document: int(document in relevant) for document in every}},
    )
    (topic,) = retrieved_by(collection, np.arange(len(rankings)))
    return topic, collection.relevance[topic.pair] > 0


RUNS = {"r1": "abc", "r2": "def", "r3": "ghi"}


def order_by_seed(
    strategy: Sampling, topic: TopicRankings, relevant: np.ndarray, n: int, seed: int
) -> np.ndarray:
    drawn = dataclasses.replace(topic, lot=np.random.default_rng([seed, 1]).random(len(topic)))
    return strategy.order(drawn, relevant, n, np.random.default_rng(seed))


def frequencies(
    strategy: Sampling, topic: TopicRankings, relevant: np.ndarray, n: int, n_seeds: int
) -> np.ndarray:
    counts: Counter[int] = Counter()
    for seed in range(n_seeds):
        counts.update(order_by_seed(strategy, topic, relevant, n, seed).tolist())
    return np.array([counts[d] for d in range(len(topic))]) / n_seeds


def test_documents_of_a_stratum_have_equal_chances() -> None:
    topic, relevant = of_one_topic(RUNS, "a")
    for strategy in (Uniform(), Stratified(depths=(1,), rates=(2.0, 1.0))):
        inclusion = strategy.inclusion(topic, relevant, 4, np.random.default_rng(1))
        assert frequencies(strategy, topic, relevant, 4, 2000) == pytest.approx(inclusion, abs=0.045)
    assert Uniform().inclusion(topic, relevant, 4, np.random.default_rng(1)).tolist() == [4 / 9] * 9
    assert Uniform().stratum(topic).tolist() == [0] * 9
    assert ActiveSampling().stratum(topic) is None
    passed_over = Stratified(depths=(1, 50), rates=(1.0, 1.0, 1.0))  # one stratum is empty
    order = passed_over.order(topic, relevant, 9, np.random.default_rng(1))
    assert sorted(order.tolist()) == list(range(9))


def test_strata_take_turns_by_their_rates() -> None:
    """Three documents at twice the rate of six: judged / (rate × documents) rises by 1/6 in both."""
    strategy = Stratified(depths=(1,), rates=(2.0, 1.0))
    topic, relevant = of_one_topic(RUNS, "a")
    assert strategy.stratum(topic).tolist() == [0, 1, 1, 0, 1, 1, 0, 1, 1]
    for n, of_top in ((1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (9, 3)):
        for seed in range(20):
            order = order_by_seed(strategy, topic, relevant, n, seed)
            assert (strategy.stratum(topic)[order] == 0).sum() == of_top
        inclusion = strategy.inclusion(topic, relevant, n, np.random.default_rng(1))
        assert inclusion.tolist() == [of_top / 3, (n - of_top) / 6, (n - of_top) / 6] * 3


def test_active_sampling_learns_by_hand() -> None:
    """After a, relevant, r1 has all but half the even share, and repeats are counted."""
    topic, relevant = of_one_topic({"r1": "ab", "r2": "cd"}, "a")
    strategy = ActiveSampling(batch=1, even=0.2)
    second: list[int] = []
    for seed in range(4000):
        order = strategy.order(topic, relevant, 2, np.random.default_rng(seed))
        if order[0] == 0:
            second.append(int(order[1]))
            lots = np.random.default_rng(seed).random((2, 2))
            inclusion = strategy.inclusion(topic, relevant, 2, np.random.default_rng(seed))
            # r1 0.9, r2 0.1: a 9/16, b 27/80, c 1/16, d 3/80, and a is the repeat
            n_draws = 1 + np.floor(np.log(1 - lots[1, 0]) / np.log(9 / 16))
            expected = 1 - (1 - np.array([5, 3, 5, 3]) / 16) * (1 - np.array([45, 27, 5, 3]) / 80) ** n_draws
            assert inclusion == pytest.approx(expected, abs=1e-12)
    share = np.bincount(second, minlength=4) / len(second)
    assert share == pytest.approx(np.array([0, 27, 5, 3]) / 35, abs=0.05)


def test_estimates_from_active_samples_are_nearly_unbiased() -> None:
    """Thirty-nine relevant documents, most in one run of six; samples of 60."""
    rng = np.random.default_rng(2)
    document = np.stack([rng.permutation(240)[:100] for _ in range(6)]).astype(np.int32)
    numbers = np.unique(document)
    document = np.searchsorted(numbers, document).astype(np.int32)
    n = len(numbers)
    topic = TopicRankings("1", np.arange(n, dtype=np.int32), document, None, rng.random(n))
    relevant = np.zeros(n, dtype=bool)
    relevant[document[0, :30]] = True
    relevant[document[1, 50:60]] = True
    estimates = []
    for seed in range(600):
        order = ActiveSampling().order(topic, relevant, 60, np.random.default_rng(seed))
        inclusion = ActiveSampling().inclusion(topic, relevant, 60, np.random.default_rng(seed))
        estimates.append(float((relevant[order] / inclusion[order]).sum()))
    assert np.mean(estimates) == pytest.approx(relevant.sum(), rel=0.05)


@cases("strategy", SAMPLES)
def test_probabilities_are_probabilities(strategy: Sampling) -> None:
    collection = toys.toy_collection()
    for topic in retrieved_by(collection, np.arange(5)):
        relevant = collection.relevance[topic.pair] > 0
        for n in range(1, len(topic) + 1):
            order = strategy.order(topic, relevant, n, np.random.default_rng(4))
            inclusion = strategy.inclusion(topic, relevant, n, np.random.default_rng(4))
            assert inclusion.shape == (len(topic),)
            assert (inclusion[order] > 0).all()
            assert (inclusion <= 1).all()
        assert (inclusion == 1).all()


def test_what_is_chosen_comes_with_its_probabilities() -> None:
    """In the order of judging."""
    collection = toys.from_rankings(
        {run: {"1": documents} for run, documents in RUNS.items()}, {"1": dict.fromkeys("abcdefghi", 1)}
    )
    (topic,) = retrieved_by(collection, np.arange(3), random_seed=5)
    for text, expected in (
        ("take", [1.0] * 4),
        ("uniform", [4 / 9] * 4),
        ("stratified(depths=(1,), rates=(2.0, 1.0))", [2 / 3, 1 / 3, 2 / 3, 1 / 3]),
        ("active-sampling", None),
    ):
        chosen = choose(collection, text, 4, run_index=np.arange(3), random_seed=5)
        strategy = parse_strategy(text)
        again = inclusion_probabilities(strategy, topic, collection.relevance, chosen.pair, random_seed=5)
        assert again.tolist() == chosen.inclusion.tolist() == (expected or again.tolist())
    assert chosen.inclusion.max() < 1


def test_settings_that_are_none_are_refused() -> None:
    for text in (
        "stratified(depths=(10, 5), rates=(1.0, 1.0, 1.0))",
        "stratified(depths=(0,))",
        "stratified(depths=[10])",
        "stratified(rates=(1.0,))",
        "stratified(rates=(1.0, 0.0))",
        "active-sampling(batch=0)",
        "active-sampling(even=1.5)",
    ):
        refused(parse_strategy, text)


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

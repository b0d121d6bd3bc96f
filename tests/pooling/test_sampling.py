"""Samples: how many of which stratum, and the probabilities that they come with."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
import toys
from each import cases
from trec_files import refused

from bayespool.pooling import (
    ActiveSampling,
    Sampling,
    Stratified,
    TopicRankings,
    Uniform,
    choose,
    parse_strategy,
)
from bayespool.pooling.choosing import inclusion_of_topic
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
        again = inclusion_of_topic(strategy, topic, collection.relevance, chosen.pair, random_seed=5)
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

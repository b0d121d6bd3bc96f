"""Rounds of judging narrow intervals, and judgments that were looked for are told from others."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest

from bayespool.collection import Collection
from bayespool.experiments import simulate_example
from bayespool.posterior import PosteriorEstimator
from research.rounds.judging import judge_in_rounds
from research.rounds.unexplained import predict_unexplained

EXAMPLE = simulate_example()
QUICK = PosteriorEstimator(model="ratio", draws=200, chains=2, together=True)


def with_found(chance_relevant: float, chance_other: float, by_rank: float = 0) -> Collection:
    """The example with judgments of documents outside the pool, by their relevance, or by their best rank in
    any run: the chance is halved every so many ranks.
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


def test_rounds_narrow_the_intervals() -> None:
    frame = judge_in_rounds(
        EXAMPLE.collection, ["new-a", "new-b"], EXAMPLE.truth, QUICK, budget=8, n_rounds=2
    )
    rounds = frame.groupby(["order", "n_judgments"])[["width", "expected"]].mean()
    chosen, at_random = rounds.loc["judge-next"], rounds.loc["random"]
    assert chosen.index.tolist() == at_random.index.tolist() == [0, 8, 16]
    assert chosen["width"].iloc[0] == at_random["width"].iloc[0]
    assert (np.diff(chosen["width"]) < 0).all()
    assert (chosen["expected"].to_numpy()[1:] < chosen["width"].to_numpy()[:-1]).all()
    assert at_random["expected"].isna().all()


def test_rounds_end_where_nothing_is_unjudged() -> None:
    frame = judge_in_rounds(
        EXAMPLE.collection, ["new-a"], EXAMPLE.truth, QUICK, budget=500, orders=["random"]
    )
    assert frame["width"].iloc[1:].tolist() == [0]
    assert frame["value"].iloc[1] == pytest.approx(EXAMPLE.true_values("P@10")["new-a"])


@pytest.mark.parametrize("chances", [(0.4, 0.4), (0.8, 0.2)])
def test_documents_that_were_looked_for_show(chances: tuple[float, float]) -> None:
    """The interval holds the shares of the relevant and the nonrelevant left over one another."""
    posterior = PosteriorEstimator(draws=250, chains=2)
    frame = predict_unexplained(with_found(*chances), posterior, ["P@20"])
    whole = frame[(frame["first"] == 1) & (frame["last"] == 20)]
    assert whole["runs"].tolist() == ["pooled", "other"]
    truth = np.log((1 - chances[0]) / (1 - chances[1]))
    assert ((whole["shift_lower"] < truth) & (truth < whole["shift_upper"])).all()
    assert whole["depends_on_relevance"].iloc[0] == (chances[0] != chances[1])

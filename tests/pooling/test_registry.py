"""A strategy of one's own: known by name from one line on, and refused where it is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from bayespool import compare_budgets, load_example
from bayespool.arrays import IntArray
from bayespool.errors import InputError
from bayespool.pooling import (
    STRATEGIES,
    FixedOrder,
    Strategy,
    TopicRankings,
    choose,
    parse_strategy,
    register_strategy,
)


@pytest.fixture(autouse=True)
def registry_as_it_was() -> Iterator[None]:
    before = dict(STRATEGIES)
    yield
    STRATEGIES.clear()
    STRATEGIES.update(before)


@dataclass(frozen=True, kw_only=True)
class Deepest(FixedOrder):
    """The worst ranks first, down to a rank."""

    to: int = 5

    def value(self, topic: TopicRankings) -> np.ndarray:
        rank = topic.best_rank.astype(float)
        return np.where(rank <= self.to, rank, -rank)


def given_by(order: object) -> Strategy:
    """A registered strategy that gives this order whatever it is asked."""

    @register_strategy("bad", description="what it is told", source="here")
    @dataclass(frozen=True, kw_only=True)
    class Bad(Strategy):
        def order(
            self, topic: TopicRankings, relevant: np.ndarray, n: int, rng: np.random.Generator
        ) -> IntArray:
            return order  # type: ignore[return-value]

    return Bad()


def test_a_new_strategy_is_chosen_by_and_compared_by_name() -> None:
    register_strategy("deepest", description="the worst ranks first", source="here")(Deepest)
    example = load_example()
    chosen = choose(example, "deepest(to=3)", 200)
    best = np.full(len(example.relevance), 99)
    for run in np.flatnonzero(example.pooled):
        for rank in range(10, 0, -1):
            of_rank = example.document[run, :, rank - 1]
            best[of_rank] = np.minimum(best[of_rank], rank)
    assert set(best[chosen.pair[:3]]) == {3}
    found = compare_budgets(example, "P@10", strategies=["take", "deepest"], budgets=[400])
    mae = found.to_frame("summary").set_index("strategy")["mae"]
    assert mae["deepest"] > mae["take"]
    assert STRATEGIES["deepest"].settings == {"to": 5}
    assert STRATEGIES["deepest"].needs == ()


def test_an_order_that_is_none_is_refused() -> None:
    for order, said in (
        (np.zeros(5, np.int32), "only 1 different ones"),
        (np.array([0, 1, 2, 3, -1]), "numbers from -1 to 3"),
        (np.array([0, 1, 2, 3, 10_000]), r"numbers from 0 to 10000, where there are 0 to \d+"),
        (np.arange(4), r"an array of int64 of shape \(4,\)"),
        (np.arange(5.0), "an array of float64"),
    ):
        with pytest.raises(
            InputError, match=f"'bad' was asked for 5 documents of topic 701, and gave {said}"
        ):
            choose(load_example(), given_by(order), 100)
        del STRATEGIES["bad"]


def test_a_class_that_is_no_frozen_dataclass_is_refused() -> None:
    class Plain(FixedOrder):
        def value(self, topic: TopicRankings) -> np.ndarray:
            return -topic.best_rank.astype(float)

    changing = dataclass(type("Changing", (Plain,), {}))
    for cls in (Plain, changing):
        said = rf"'mine': {cls.__name__} is not a frozen dataclass; write @data"
        with pytest.raises(InputError, match=said):
            register_strategy("mine", description="", source="")(cls)
    assert "mine" not in STRATEGIES
    with pytest.raises(InputError, match="Plain is not registered; write @register_strategy"):
        parse_strategy(Plain())


def test_names_that_texts_could_not_hold_are_refused() -> None:
    for name in ("all", "Mine", "a b", "a(b", ""):
        with pytest.raises(InputError, match="no strategy can be called"):
            register_strategy(name, description="", source="")(Deepest)
    with pytest.raises(InputError, match="there is a strategy 'take' already"):
        register_strategy("take", description="", source="")(Deepest)


def test_a_source_is_the_names_of_the_citations_unless_it_says_more() -> None:
    cited = {name: (entry.source, entry.citations) for name, entry in STRATEGIES.items()}
    assert cited["combsum"] == ("Fox & Shaw 1994", ("fox-shaw-1994",))
    assert cited["dcg"] == ("Lipani et al. 2017 (ECIR)", ("lipani-etal-2017-ecir",))
    both = ("auer-cesa-bianchi-fischer-2002", "losada-parapar-barreiro-2017")
    assert cited["ucb1-tuned"] == ("Auer, Cesa-Bianchi & Fischer 2002", both)
    assert all(keys for _, keys in cited.values())
    register_strategy("deepest", description="the worst ranks first")(Deepest)
    assert (STRATEGIES["deepest"].source, STRATEGIES["deepest"].citations) == ("", ())
    with pytest.raises(InputError, match="no citation 'toy-2026'"):
        register_strategy("wrong", description="", citations=("toy-2026",))(Deepest)
    assert "wrong" not in STRATEGIES

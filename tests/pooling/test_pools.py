"""Pools that strategies make: asked again without some runs, planned, and unlike the judgments."""

from __future__ import annotations

import dataclasses
import pickle
import re
import warnings
from typing import Any

import numpy as np
import pytest
import toys
from toys import from_rankings, judged, judgments

from bayespool import load_example
from bayespool.collection import Collection
from bayespool.collection.pools import sole_contributor
from bayespool.errors import InputError, StatedPoolWarning
from bayespool.experiments import simulate_example
from bayespool.pooling import (
    RRF,
    STRATEGIES,
    CombMnz,
    Depth,
    PoolPlan,
    Stratified,
    Take,
    TargetRecall,
    pool_of_strategy,
)
from bayespool.pooling.discovery import strategy_misfit, warn_of_misfit
from bayespool.pooling.pools import with_strategy_pool
from bayespool.reading import UNJUDGED
from bayespool.scoring import score

RANKED = {"r1": {"1": "abcd"}, "r2": {"1": "bxyz"}, "r3": {"1": "abpq"}}
GRADES = {"1": {"a": 1, "b": 0, "c": 1, "d": 0, "x": 2, "y": 0, "z": 1, "p": 0, "q": 0}}
ORGANIZATIONS = {"r1": "one", "r2": "two", "r3": "one"}


def whole() -> Collection:
    """One topic judged to depth 4. By best rank come a b, then x, then c p y, then d q z."""
    return from_rankings(RANKED, GRADES, ORGANIZATIONS, pooled_run_ids=tuple(RANKED), pool_depth=4)


def three() -> Collection:
    """The first three documents by best rank."""
    return with_strategy_pool(whole(), "take", 3)


def test_others_take_the_place_of_what_leaves_with_their_labels() -> None:
    """The budget is kept, as long as there are documents."""
    without = three().unpool("r1")  # b x y z and a b p q: a b, then x
    assert judgments(without) == {"1": {"a": 1, "b": 0, "x": 2}}
    assert judgments(three().unpool(organization="one")) == {"1": {"b": 0, "x": 2, "y": 0}}
    only_first = three().unpool(["r2", "r3"])
    assert judgments(only_first) == {"1": {"a": 1, "b": 0, "c": 1}}
    assert only_first.run_depths(np.arange(3)).tolist() == [2, 2, 2]
    assert judged(three().unpool(["r1", "r2", "r3"])) == [""]
    many = with_strategy_pool(whole(), "take", 8)
    assert judged(many.unpool(organization="two")) == ["abcdpq"]


def test_unpooled_twice_is_unpooled_together() -> None:
    together = three().unpool(["r1", "r3"])
    for first, second in (("r1", "r3"), ("r3", "r1")):
        assert three().unpool(first).unpool(second).fingerprint == together.fingerprint
    example = with_strategy_pool(simulate_example().collection, "move-to-front", 300)
    twice = example.unpool(organization="north").unpool(organization="south")
    assert int(twice.judged.sum()) == int(example.judged.sum()) == 300
    assert twice.fingerprint != example.fingerprint


def test_who_is_needed_for_a_document() -> None:
    """Without r2, or the organization two, x is lost; without the organization one a is. b has several."""
    names = dict(zip("abx", (three().doc_ids.to_pylist().index(d) for d in "abx"), strict=True))
    by_run, by_organization = sole_contributor(three(), "run"), sole_contributor(three())
    assert {d: int(by_run[pair]) for d, pair in names.items()} == {"a": -1, "b": -1, "x": 1}
    one, two = (three().organizations.index(name) for name in ("one", "two"))
    assert {d: int(by_organization[pair]) for d, pair in names.items()} == {"a": one, "b": -1, "x": two}
    assert (by_run >= 0).sum() == 1


def test_of_several_that_are_needed_the_one_that_ranks_it_best() -> None:
    """Reciprocal ranks of d add up to more than those of any other; of one run alone they do not."""
    for first, second, owner in (("ad", "bed", 0), ("bed", "ad", 1), ("ad", "bd", 0)):
        rankings = {"r1": {"1": first}, "r2": {"1": second}}
        collection = from_rankings(
            rankings, {"1": dict.fromkeys(first + second, 1)}, pooled_run_ids=("r1", "r2"), pool_depth=3
        )
        pool = with_strategy_pool(collection, "rrf", 1)
        assert judged(pool) == ["d"]
        sole = sole_contributor(pool, "run")
        assert [int(sole[pair]) for pair in np.flatnonzero(pool.judged)] == [owner]


def test_equal_pools_are_told_by_their_text() -> None:
    one, other = three(), three()
    assert one.pool is not other.pool
    assert (repr(one.pool), one.fingerprint) == (repr(other.pool), other.fingerprint)
    others = [
        with_strategy_pool(whole(), "take(random_seed=2)", 3),
        with_strategy_pool(whole(), "rrf", 3),
        with_strategy_pool(whole(), "take(rel=2)", 3),
        with_strategy_pool(whole(), "take", 4),
        with_strategy_pool(whole(), "take(run_depth=3)", 3),
        with_strategy_pool(whole(), "take(shares=global)", 3),
        with_strategy_pool(whole(), "take", 3, labels=np.maximum(whole().relevance, 1)),
    ]
    assert len({repr(c.pool) for c in (one, *others)}) == len({c.fingerprint for c in (one, *others)}) == 8


def test_it_is_pickled_with_the_collection() -> None:
    small = with_strategy_pool(simulate_example().collection, "max-mean", 200)
    again = pickle.loads(pickle.dumps(small))
    assert again.fingerprint == small.fingerprint
    fewer, expected = again.unpool(organization="east"), small.unpool(organization="east")
    assert fewer.fingerprint == expected.fingerprint
    assert not again.pool.judged(again, [0]).flags.writeable


def test_it_is_a_frozen_value_that_no_depth_cuts() -> None:
    assert three().unpool(()).fingerprint == three().fingerprint
    with pytest.raises(dataclasses.FrozenInstanceError):
        three().pool.budget = 4  # type: ignore[attr-defined,misc]
    for make, message in (
        (lambda: with_strategy_pool(whole(), "take", 8).truncate_pool(1), "cannot be cut at a depth"),
        (lambda: with_strategy_pool(whole(), "luck", 3), "no strategy 'luck'"),
        (lambda: with_strategy_pool(whole(), "take"), "does not say how much to judge"),
    ):
        with pytest.raises(InputError, match=message):
            make()


@pytest.mark.slow
def test_a_posterior_learns_from_it() -> None:
    """Half of the judgments of the example: the truth is within the intervals, and above what is judged."""
    simulation = simulate_example()
    half = with_strategy_pool(simulation.collection, "move-to-front", 600)
    scores = score(half, ("new-a", "new-b"), "P@10", estimators=("as-judged", "posterior-combined"))
    found = scores["P@10", "posterior-combined"]
    low, high = found.interval(0.99)
    truth = np.array(list(simulation.true_values("P@10").values()))
    assert ((low <= truth) & (truth <= high)).all()
    judged_only = scores["P@10", "as-judged"].value
    assert (truth - judged_only > 0.015).all()
    assert np.abs(found.value - truth).sum() < 0.7 * (truth - judged_only).sum()


def test_settings_of_no_strategy_have_names_of_the_plan() -> None:
    """So that each can be written beside the other, and none hides one of the plan."""
    of_plan = {f.name for f in dataclasses.fields(PoolPlan)} | {"depth"}
    assert not {(name, each) for name, entry in STRATEGIES.items() for each in of_plan & set(entry.settings)}


PLANS = {
    "take(budget=5)": PoolPlan(strategy=Take(), budget=5),
    " RRF( k=20,budget=7, depth=3 )": PoolPlan(strategy=RRF(k=20), budget=7, run_depth=3),
    "depth(k=3)": PoolPlan(strategy=Depth(k=3)),
    "stratified(rates=(3, 1), depths=(3,), budget=9, random_seed=0)": PoolPlan(
        strategy=Stratified(depths=(3,), rates=(3, 1)), budget=9, random_seed=0
    ),
    "combmnz(shares=global, rel=2, normalization='sum', run_depth=4, budget=1)": PoolPlan(
        strategy=CombMnz(normalization="sum"), budget=1, run_depth=4, shares="global", rel=2
    ),
    "take(shares='global', stop=recall(target=0.8))": PoolPlan(
        strategy=Take(), shares="global", stop=TargetRecall(target=0.8)
    ),
}


def test_plans_are_read_from_text() -> None:
    for text, plan in PLANS.items():
        assert PoolPlan.of(text) == PoolPlan.of(plan) == plan
        assert PoolPlan.of(text, 3, rel=4) == dataclasses.replace(plan, budget=3, rel=4)
    assert PoolPlan.of(Take(), 5) == PLANS["take(budget=5)"]


def test_a_strategy_has_its_own_setting_of_a_name_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Deep(Take):
        depth: int = 10

    monkeypatch.setitem(STRATEGIES, "take", dataclasses.replace(STRATEGIES["take"], make=Deep))
    assert PoolPlan.of("take(depth=3, budget=4)") == PoolPlan(strategy=Deep(depth=3), budget=4)


def test_values_that_cannot_be() -> None:
    for text, message in (
        ("take(shares=even, budget=5)", "shares cannot be 'even'; known: equal, global"),
        ("take(run_depth=0, budget=5)", "run_depth cannot be 0; at least 1"),
        ("take(budget=5, rel=0)", "rel cannot be 0; at least 1"),
        (f"take(budget={'9' * 5000})", "budget cannot be '999"),
        ("take(budget=many)", "budget cannot be 'many'; a whole number"),
        ("take(budget=5, random_seed=-1)", "random_seed cannot be -1; at least 0"),
        ("take(bugdet=5)", "no setting 'bugdet'; did you mean 'budget'"),
        ("rrf(q=5)", "no setting 'q'; rrf has k, budget, run_depth"),
        ("take(budget=5, budget=6)", "budget twice"),
        ("take(budget=5", "the parenthesis is not closed"),
        ("take(5)", "write settings as name=value"),
        ("take", "does not say how much to judge"),
        ("uniform(budget=5, stop=nonrelevant)", "a stopping rule would bias it"),
        ("take(stop=never)", "no stopping rule 'never'"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            PoolPlan.of(text)
    with pytest.raises(InputError, match="a pool with a stopping rule"):
        with_strategy_pool(whole(), "take(stop=nonrelevant)")


def stated(collection: Collection, strategy: str, budget: int, **options: Any) -> Collection:
    plan = PoolPlan.of(strategy, budget, **{"run_depth": 10} | options)
    return pool_of_strategy(collection, plan, pooled_run_ids=collection.pooled_run_ids)


def test_counts_of_a_toy() -> None:
    """Two runs of four documents; Take@4 chooses c d e f. z and y are of a run that did not contribute."""
    rankings = {"a": {"1": "cegi"}, "b": {"1": "dfhj"}, "u": {"1": "zy"}}
    judged = {"c": 1, "d": 0, "e": 1, "g": 0, "z": 1, "y": 0}
    bare = toys.from_rankings(rankings, {"1": judged}, pooled_run_ids=("a", "b"), pool_depth=4)
    assert strategy_misfit(bare) is None
    for budget, depth, counts in (
        (4, 4, (1, 1, False)),
        (4, 2, (1, 0, False)),  # g at rank 3 of a run that may be judged to rank 2 could not have been chosen
        (2, 4, (0, 2, True)),
    ):
        found = strategy_misfit(stated(bare, "take", budget, run_depth=depth))
        assert found is not None
        assert (found.n_unjudged, found.n_others, found.is_large) == counts


def test_a_warning_where_it_is_large() -> None:
    made = with_strategy_pool(load_example(), "uniform", 400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not warn_of_misfit(made)
        assert not warn_of_misfit(load_example())
    with pytest.warns(StatedPoolWarning, match=r"uniform, budget 300.*not of the sample: 100; .*no value"):
        assert warn_of_misfit(stated(made, "uniform", 300))
    unjudged = made.without_judgments(made.in_pool() & (np.arange(len(made.relevance)) % 3 == 0))
    with pytest.warns(StatedPoolWarning, match=r"documents of the sample without a judgment: \d+ of 400"):
        assert warn_of_misfit(unjudged)
    assert (unjudged.relevance[unjudged.in_pool()] == UNJUDGED).sum() > 100

"""Pools of few organizations, drawn at random or bought by budgets: what runs lose, by hand."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from real import read_real
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.experiments import (
    Budgets,
    RandomPoolsResult,
    compare_budgets,
    leave_out,
    load_example,
    vary_common_topics,
    vary_pool_width,
)
from bayespool.experiments.budgeting import PAPER_BUDGETS, PoolsOfBudgets, _fitting_budgets
from bayespool.experiments.design import whole_pool
from bayespool.experiments.random_pools import RandomPools, common_topics_errors
from bayespool.experiments.settings import labeled_estimators
from bayespool.measures import Estimates, parse_measure
from bayespool.pooling import FixedOrder, StrategyPool, TopicRankings, choose
from bayespool.pooling.registry import PAPER_STRATEGIES, parse_strategies
from bayespool.scoring import parse_estimator

# Two topics judged to depth 2. True P@2: a ½ and 1, b ½ and ½, c 1 and ½.
RANKINGS = {"a": {"1": "xy", "2": "pq"}, "b": {"1": "yz", "2": "qr"}, "c": {"1": "wx", "2": "ps"}}
RELEVANCE = {"1": {"x": 1, "y": 0, "z": 1, "w": 1}, "2": {"p": 1, "q": 1, "r": 0, "s": 0}}

# What the score of the run loses on topics 1 and 2 when only the runs before the arrow are judged.
LOST = {
    ("b", "a"): (0.5, 0.5),  # x and p are unjudged
    ("c", "a"): (0.0, 0.5),  # y and q
    ("a", "b"): (0.5, 0.0),  # z and r
    ("c", "b"): (0.5, 0.5),  # all
    ("a", "c"): (0.5, 0.0),  # w and s
    ("b", "c"): (1.0, 0.5),  # all
    ("bc", "a"): (0.0, 0.0),  # nothing
    ("ac", "b"): (0.5, 0.0),
    ("ab", "c"): (0.5, 0.0),
}


def toy() -> Collection:
    organizations = {"a": "one", "b": "two", "c": "three"}
    return from_rankings(RANKINGS, RELEVANCE, organizations, pooled_run_ids=("a", "b", "c"), pool_depth=2)


def kinds_of(collection: Collection) -> dict[str, str]:
    """Two types: every third run is manual."""
    return {run: "manual" if i % 3 == 0 else "automatic" for i, run in enumerate(collection.run_ids)}


def typed(collection: Collection, kinds: dict[str, str] | None = None) -> Collection:
    """The collection with a column of types."""
    kinds = kinds_of(collection) if kinds is None else kinds
    return collection.with_attributes(runs={run: {"type": kind} for run, kind in kinds.items()})


@dataclass(frozen=True)
class Spy:
    """P@n as it stands, and what it was given."""

    seen: list[Collection]
    name: str = "spy"

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None, measures: object
    ) -> tuple[Estimates, ...]:
        self.seen.append(collection)
        return parse_estimator("as-judged").estimate(collection, run_ids, measures)


TRUTH = {"a": 0.75, "b": 0.5, "c": 0.75}


@given(seed=st.integers(0, 10_000), width=st.integers(1, 7), by=st.sampled_from(["run", "organization"]))
@settings(max_examples=5, deadline=None)
def test_nothing_but_the_drawn_pool_is_judged(seed: int, width: int, by: str) -> None:
    seen: list[Collection] = []
    example = load_example()
    asked: dict[str, Any] = {"by": by, "repool_to": 10, "random_seed": seed, "n_samples": 2, "n_targets": 3}
    result = vary_pool_width(example, estimators={"spy": Spy(seen)}, widths=[width], **asked)
    for pool, given_ in zip(RandomPools().parts(example, result.settings), seen, strict=True):
        inside = example.in_pool(example.run_index(pool.pool_run_ids))
        assert np.array_equal(given_.relevance >= 0, inside & (example.relevance >= 0))
        assert given_.pooled_run_ids == pool.pool_run_ids
        assert not set(pool.pool_run_ids) & set(pool.run_ids)
        organization = dict(zip(example.run_ids, example.organization, strict=True))
        if by == "organization":
            of_pool = {organization[run] for run in pool.pool_run_ids}
            assert len(of_pool) == width
            assert not of_pool & {organization[run] for run in pool.run_ids}


def test_all_runs_take_part_with_what_is_unjudged_not_relevant(example: Collection) -> None:
    whole = whole_pool(example, "all", 5)
    assert whole.pooled.all()
    assert whole.pool_depth == 5
    pool = whole.in_pool()
    assert np.array_equal(whole.relevance[pool], np.maximum(example.relevance[pool], 0))
    assert (whole.relevance[~pool] < 0).all()
    assert (example.relevance[pool] < 0).any()


@pytest.mark.slow
def test_pools_of_trec_8_are_as_biased_as_the_paper_says(collections: Path) -> None:
    """§2.2: assumed irrelevance has more bias than condensed lists for narrow pools, less for wide ones."""
    result = vary_pool_width(
        read_real(collections / "trec8-adhoc"), estimators=["as-judged", "condensed-list"], runs="all",
        repool_to=10, n_samples=30, n_targets=5,
    )  # fmt: skip
    bias = result.to_frame("summary").pivot(index="pool_width", columns="estimator", values="bias")
    assert bias.index.tolist() == [2, 4, 10, 20, 40]
    assert (np.diff(bias["as-judged"]) > 0).all()
    assert (bias["condensed-list"] > 0).all()
    assert -bias["as-judged"][2] > 3 * bias["condensed-list"][2]
    assert -bias["as-judged"][40] < bias["condensed-list"][40]


def of_toy(**asked: Any) -> RandomPoolsResult:
    return vary_pool_width(toy(), "P@2", estimators="as-judged", n_targets=2, **asked)


def test_bias_of_every_pool_of_the_toy() -> None:
    result = of_toy(widths=[2, 1], n_samples=20, by="organization")
    rows = {(r.pool_width, r.sample, r.run_id): r for r in result.to_frame().itertuples()}
    met = set()
    for pool in RandomPools().parts(toy(), result.settings):
        drawn = "".join(pool.pool_run_ids)
        assert len(drawn) == pool.seeds[0]
        assert len(pool.run_ids) == 3 - pool.seeds[0]
        for run in pool.run_ids:
            row = rows.pop((pool.seeds[0], pool.seeds[1], run))
            assert row.truth == TRUTH[run]
            assert row.error == -sum(LOST[drawn, run]) / 2
            assert row.n_pool_runs == pool.seeds[0]
            assert row.topic_rmse == pytest.approx(np.sqrt(np.mean(np.square(LOST[drawn, run]))))
            met.add((drawn, run))
    assert not rows
    assert met == set(LOST)  # by luck of the seed


def test_summary_of_the_toy_is_worked_out_from_its_rows() -> None:
    result = of_toy(widths=[1], n_samples=4)
    pools = RandomPools().parts(toy(), result.settings)
    errors = [[-sum(LOST["".join(p.pool_run_ids), run]) / 2 for run in p.run_ids] for p in pools]
    (row,) = result.to_frame("summary").to_dict("records")
    flat = np.ravel(errors)
    assert row["n_scored"] == 8
    assert row["bias"] == pytest.approx(flat.mean())
    assert row["mae"] == pytest.approx(-flat.mean())
    assert row["rmse"] == pytest.approx(np.sqrt((flat**2).mean()))
    assert row["bias_se"] == pytest.approx(np.std(np.mean(errors, axis=1), ddof=1) / 2)
    quartiles = [row["quartile_1"], row["median"], row["quartile_3"]]
    assert quartiles == pytest.approx(np.quantile(flat, [0.25, 0.5, 0.75]).tolist())
    assert np.isnan(row["coverage"])
    assert result.n_contributors == 3


def test_types_of_pool_and_of_what_is_scored(example: Collection) -> None:
    kinds = kinds_of(example)
    result = vary_pool_width(
        typed(example), estimators="as-judged", widths=[3], n_samples=30, n_targets=2,
        pool_type="automatic", target_type="manual",
    )  # fmt: skip
    assert {kinds[run] for run in result.to_frame()["run_id"]} == {"manual"}
    for pool in RandomPools().parts(example, result.settings):
        assert {kinds[run] for run in pool.pool_run_ids} == {"automatic"}
    assert result.n_contributors == sum(kinds[run] == "automatic" for run in example.pooled_run_ids)


def test_errors_of_one_run_by_hand() -> None:
    """Three topics that lose .3, 0 and .6; the mean true score is .5, the unpooled one .2."""
    errors = common_topics_errors(
        [0.4, 0.5, 0.6], [0.1, 0.5, 0.0], [1, 2, 3], np.array([[0, 1, 2], [2, 0, 1]])
    )
    assert errors["unadjusted"] == pytest.approx(np.full((2, 3), -0.3))
    assert errors["mixed"] == pytest.approx(np.array([[-0.2, -0.2, 0], [-0.1, 0, 0]]))
    assert errors["adjusted"] == pytest.approx(np.array([[0, -0.15, 0], [0.3, 0.15, 0]]))
    assert errors["common-only"] == pytest.approx(np.array([[-0.1, -0.05, 0], [0.1, 0, 0]]))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=6), st.integers(1, 6))
def test_law_is_exact_over_all_sets_of_topics(scores: list[tuple[float, float]], n: int) -> None:
    truth, unpooled = np.array(scores).T
    n_topics = len(truth)
    n = min(n, n_topics)
    order = np.array(list(itertools.permutations(range(n_topics))))
    errors = {name: error[:, 0] for name, error in common_topics_errors(truth, unpooled, [n], order).items()}
    law = (n_topics - n) / (n * n_topics)
    lost = truth - unpooled
    assert errors["adjusted"].mean() == pytest.approx(0, abs=1e-12)
    assert errors["adjusted"].var() == pytest.approx(law * lost.var(ddof=1), abs=1e-12)
    assert errors["common-only"].mean() == pytest.approx(0, abs=1e-12)
    assert errors["common-only"].var() == pytest.approx(law * truth.var(ddof=1), abs=1e-12)
    assert errors["mixed"].mean() == pytest.approx(-(n_topics - n) / n_topics * lost.mean(), abs=1e-12)
    if n == n_topics:
        assert np.abs(errors["adjusted"]).max() < 1e-12
        assert np.abs(errors["mixed"]).max() < 1e-12


def test_rows_of_the_toy() -> None:
    result = vary_common_topics(
        toy(), "P@2", estimators="as-judged", widths=[1], n_common=[1, 2], n_samples=20, n_topic_samples=50
    )
    rows = result.to_frame()
    for pool in RandomPools().parts(toy(), result.settings):
        lost = np.array(LOST["".join(pool.pool_run_ids), pool.run_ids[0]])
        of_pool = rows[rows["sample"] == dict(pool.columns)["sample"]].set_index(["score", "n_common"])
        assert of_pool.loc[("unadjusted", 1), "mae"] == pytest.approx(lost.mean())
        # whichever topic is common, the adjusted score is off by half the difference of the two
        assert of_pool.loc[("adjusted", 1), "mae"] == pytest.approx(abs(lost[0] - lost[1]) / 2)
        assert of_pool.loc[("adjusted", 1), "law"] == pytest.approx(abs(lost[0] - lost[1]) / 2)
        assert of_pool.loc[("mixed", 1), "mae"] == pytest.approx(lost.mean() / 2, abs=lost.max() / 2)
        assert of_pool.loc["adjusted", "std_difference"].iloc[0] == pytest.approx(lost.std(ddof=1))
        assert (of_pool.xs(2, level="n_common").drop("unadjusted")["mae"] < 1e-12).all()
        assert of_pool["one_sided"].all()


def test_plan_is_the_law_and_the_seed_decides(example: Collection) -> None:
    asked = {"estimators": "as-judged", "widths": [4], "n_common": [5], "n_samples": 6, "n_topic_samples": 2}
    result = vary_common_topics(example, "P@10", sds=[0.02, 0.01], **asked)
    pools = result.to_frame("pools").drop_duplicates("sample")
    plan = result.to_frame("plan")
    assert plan["std"].tolist() == [0.02, 0.01]
    variance = pools["std_difference"].to_numpy() ** 2
    needed = np.maximum(np.ceil(20 * variance / (20 * 0.01**2 + variance) - 1e-9), 1)
    assert plan["n_needed"][1] == pytest.approx(needed.mean())
    assert plan["n_needed_most"][1] == needed.max()
    assert plan["n_needed_alone"][1] > plan["n_needed"][1] > plan["n_needed"][0]
    plain = vary_common_topics(example, "P@10", **asked)
    assert [table.name for table in plain.tables()] == ["pools", "summary", "pool_runs"]
    pd.testing.assert_frame_equal(plain.to_frame(), result.to_frame())
    assert not plain.to_frame().equals(vary_common_topics(example, "P@10", random_seed=2, **asked).to_frame())


def test_types_of_the_toy() -> None:
    kinds = {"a": "automatic", "b": "automatic", "c": "manual"}
    result = leave_out(typed(toy(), kinds), "P@2", by="type", estimators="as-judged")
    rows = result.to_frame().set_index(["fold", "run_id"])
    for kind, pool, run in (("manual", "ab", "c"), ("automatic", "c", "a"), ("automatic", "c", "b")):
        row = rows.loc[(kind, run)]
        assert row["value"] - row["truth"] == -sum(LOST[pool, run]) / 2
    assert rows["organization"].tolist() == ["one", "two", "three"]
    summary = result.to_frame("types").set_index("type")
    assert summary["n_runs"].to_dict() == {"automatic": 2, "manual": 1}
    assert summary["n_pool_runs"].to_dict() == {"automatic": 1, "manual": 2}
    assert summary["bias"].to_dict() == {"automatic": -0.375, "manual": -0.25}
    # c falls from .75 to .5 and below a; a falls to .5, below c, and b from .5 to 0 passes nobody, being last
    assert summary["sre"].to_dict() == {"automatic": 1, "manual": 1}


def test_estimators_keep_the_organizations_and_see_no_run_of_the_type(example: Collection) -> None:
    seen: list[Collection] = []
    kinds = kinds_of(example)
    leave_out(typed(example), by="type", types=["manual"], estimators={"spy": Spy(seen)})
    (reduced,) = seen
    assert np.array_equal(reduced.organization, example.organization)
    assert {kinds[run] for run in reduced.pooled_run_ids} == {"automatic"}
    automatic = [run for run in example.pooled_run_ids if kinds[run] == "automatic"]
    assert np.array_equal(reduced.relevance >= 0, example.in_pool(example.run_index(automatic)))


# Of the 129 runs of TREC-8, as the pages of NIST's TREC browser have it.
MANUAL = (
    "8manexT3D1N0", "CL99SD", "CL99SDopt1", "CL99SDopt2", "CL99XT", "CL99XTopt", "GE8MTD2", "READWARE",
    "READWARE2", "cirtrc82", "disco1", "iit99ma1", "orcl99man",
)  # fmt: skip


@pytest.mark.slow
def test_manual_runs_of_trec_8_are_what_the_paper_says(collections: Path) -> None:
    """Webber & Park, §2.1: 24 % of the relevant documents come from manual runs alone, 17 % from automatic
    ones alone, and eleven manual runs are the best eleven; §3.1: leaving automatic runs out does not mend
    the bias against them.
    """
    collection = read_real(collections / "trec8-adhoc")
    kinds = {run: "manual" if run in MANUAL else "automatic" for run in collection.run_ids}
    relevant = collection.relevance > 0
    manual, automatic = (
        collection.in_pool(collection.run_index([r for r in collection.pooled_run_ids if kinds[r] == kind]))
        for kind in ("manual", "automatic")
    )
    assert round(float((relevant & manual & ~automatic).sum() / relevant.sum()), 2) == 0.24
    assert round(float((relevant & automatic & ~manual).sum() / relevant.sum()), 2) == 0.17
    result = leave_out(
        typed(collection, kinds), by="type", types=["manual"], runs="all", repool_to=10,
        estimators=["as-judged", "systems-adjustment", "condensed-list"],
    )  # fmt: skip
    whole = whole_pool(collection, "all", 10)
    best = np.argsort(-score_bounds(whole, None, parse_measure("P@10")).low.means(), kind="stable")[:11]
    assert {whole.run_ids[run] for run in best} <= set(MANUAL)
    summary = result.to_frame("summary").set_index("estimator")["bias"].round(3)
    # docs/experiments.md
    assert summary.to_dict() == {"as-judged": -0.134, "systems-adjustment": -0.129, "condensed-list": 0.014}


def test_what_cannot_be_drawn_is_refused(example: Collection) -> None:
    by_type, manual = {"by": "type", "estimators": "as-judged"}, dict.fromkeys(example.run_ids, "manual")
    few, both = {run: manual[run] for run in example.pooled_run_ids[:2]}, typed(example)
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (vary_common_topics, {"n_common": [21]}, "21 common topics"),
        (vary_common_topics, {"n_common": [0]}, "n_common cannot be 0"),
        (vary_common_topics, {"n_common": []}, "n_common cannot be empty"),
        (vary_common_topics, {"n_topic_samples": 0}, "n_topic_samples cannot be 0"),
        (leave_out, by_type | {"collection": typed(example, few)}, "19 runs of the pool have no type"),
        (leave_out, by_type | {"collection": typed(example, manual)}, "are of type 'manual'"),
        (leave_out, by_type | {"collection": both, "types": ["interactive"]}, "type 'interactive'"),
        (leave_out, by_type | {"types": []}, "types cannot be empty"),
        (vary_pool_width, {"pool_type": "manual"}, "runs have no column 'type'; known: "),
        (vary_pool_width, {"widths": [21]}, "21 runs are too few"),
        (vary_pool_width, {"widths": [0]}, "widths cannot be 0"),
        (vary_pool_width, {"widths": []}, "widths cannot be empty"),
        (vary_pool_width, {"measures": "P@11"}, "P@11 looks deeper"),
        (vary_pool_width, {"repool_to": 5}, "P@10 looks deeper .* depth 5"),
        (vary_pool_width, {"repool_to": 11}, "pool depth 11"),
        (vary_pool_width, {"n_samples": 0}, "n_samples cannot be 0"),
        (vary_pool_width, {"n_targets": 0}, "n_targets cannot be 0"),
        (vary_pool_width, {"by": "team"}, "by cannot be 'team'"),
        (vary_pool_width, {"runs": "some"}, "runs cannot be 'some'"),
        (vary_pool_width, {"collection": both, "pool_type": "x"}, "no run of the pool has the type 'x'"),
        (vary_pool_width, {"collection": both, "target_type": "x"}, "the type 'x'"),
        (vary_pool_width, {"estimators": "oracle"}, "no estimator 'oracle'"),
    ]
    for vary, asked, message in refused:
        with pytest.raises(InputError, match=message):
            vary(**{"collection": example} | asked)
    with pytest.raises(InputError, match="no pooled run to draw"):
        vary_pool_width(dataclasses.replace(example, pooled=np.zeros_like(example.pooled)))


@dataclass(frozen=True, kw_only=True)
class Alphabet(FixedOrder):
    """Documents in the order of their ids, so that nothing is decided at random."""

    name = "alphabet"
    version = "1"

    def value(self, topic: TopicRankings) -> np.ndarray[Any, np.dtype[np.float64]]:
        return -np.arange(len(topic), dtype=float)


# The toy's runs are a: xy pq, b: yz qr, c: wx ps, and w x z, p q are relevant. On all judgments P@2 is .75,
# .5 and .75. Of budget 4 everybody's pool is wx pq, the same without a (yzwx qrps) and without b (xyw pqs),
# without c (xyz pqr) xy pq. Of budget 6 it is wxy pqr, so without a, without b wxy pqs, without c xyz pqr.
POOLED = {4: {"a": 0.75, "b": 0.25, "c": 0.75}, 6: {"a": 0.75, "b": 0.25, "c": 0.75}}
LEFT_OUT = {4: {"a": 0.75, "b": 0.25, "c": 0.5}, 6: {"a": 0.75, "b": 0.25, "c": 0.5}}
FULL = {"a": 0.75, "b": 0.5, "c": 0.75}


def budgets_of_toy(**more: Any) -> Budgets:
    return compare_budgets(toy(), "P@2", **{"strategies": Alphabet(), "budgets": [6, 4], "top": 100} | more)


def test_pools_and_contributors_by_hand() -> None:
    result = budgets_of_toy()
    assert (result.n_documents, result.n_relevant) == (8, 5)
    pools = result.to_frame("pools").set_index("budget")
    assert pools.loc[4, ["n_documents", "n_judged", "n_relevant"]].tolist() == [4, 4, 4]
    assert pools.loc[4, "recall"] == 4 / 5
    assert pools.loc[4, ["topic_least", "topic_most"]].tolist() == [2, 2]
    assert pools.loc[4, ["run_least", "run_mean", "run_most"]].tolist() == [1, 7 / 3, 3]  # xpq q wxp
    assert pools.loc[6, ["run_least", "run_mean", "run_most"]].tolist() == [3, 10 / 3, 4]  # xypq yqr wxp
    by_name = result.to_frame("by_organization").set_index(["budget", "contributor"])
    columns = ["n_pooled_runs", "n_documents", "share", "n_alone", "n_runs", "bias"]
    assert by_name.loc[(4, "one"), columns].tolist() == [1, 3, 0.75, 0, 1, 0]
    assert by_name.loc[(4, "three"), columns].tolist() == [1, 3, 0.75, 1, 1, -0.25]  # w is its own
    assert by_name.loc[(6, "two"), columns].tolist() == [1, 3, 0.5, 1, 1, -0.25]  # r


def told(result: Budgets) -> str:
    frames = (result.to_frame(), result.to_frame("pools"), result.to_frame("by_organization"))
    return "".join(
        frame.to_csv() for frame in (*frames, result.to_frame("summary"), result.to_frame("ranking"))
    )


def stored(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "budgets").glob("*.parquet")}


def test_what_cannot_be_asked_is_refused(example: Collection) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"strategies": "best"}, "no strategy 'best'"), ({"strategies": []}, "strategies cannot be empty"),
        ({"budgets": []}, "budgets cannot be empty"), ({"budgets": [0]}, "budgets cannot be 0"),
        ({"measures": "P@11"}, "P@11 looks deeper"), ({"measures": "P@5", "repool_to": 11}, "pool depth 11"),
        ({"truth": "some"}, "truth cannot be 'some'"), ({"measures": "Judged@10"}, "Judged@10"),
        ({"strategies": "combmnz"}, "reads the scores"),
        ({"strategies": "rbp-c", "shares": "global"}, "across topics"), ({"top": 1}, "no run at all"),
        ({"estimators": "topics-adjustment"}, "needs topics"),
    ]  # fmt: skip
    asked = {"measures": "P@10", "strategies": "take", "budgets": [100]}
    for wrong, message in refused:
        with pytest.raises(InputError, match=message):
            compare_budgets(example, **asked | wrong)
    alone = dataclasses.replace(example, organization=np.zeros_like(example.organization))
    with pytest.raises(InputError, match="only one organization"):
        compare_budgets(alone, **asked)
    with pytest.raises(InputError, match="no table 'estimates'"):
        budgets_of_toy().to_frame("estimates")


def restrict_judgments(whole: Collection, strategy: str, budget: int, without: str) -> Collection:
    """The judgments that a budget buys without an organization, one step after the other."""
    pooled = np.flatnonzero(whole.pooled)
    left = pooled[whole.organization[pooled] != whole.organizations.index(without)]
    chosen = choose(whole, strategy, budget, run_index=left, depth=10)
    gone = np.ones(len(whole.relevance), dtype=bool)
    gone[chosen.pair] = False
    return whole.without_judgments(gone)


@pytest.mark.parametrize("strategy", ["take", "move-to-front"])
def test_an_estimator_sees_what_the_budget_bought_and_nothing_else(
    example: Collection, strategy: str
) -> None:
    expected = restrict_judgments(example, strategy, 300, "west")
    west = tuple(r for r in example.pooled_run_ids if r.startswith("west"))
    asked = {"strategies": strategy, "budgets": [300], "repool_to": 10}
    settings = compare_budgets(example, "P@10", **asked).settings
    labeled = labeled_estimators("as-judged", random_seed=1)
    settings = dataclasses.replace(settings, estimators=labeled)
    design = PoolsOfBudgets()
    (part,) = (p for p in design.parts(example, settings) if p.left_out == "west" and p.budget)
    assert part.run_ids == west
    seen = design.conceal(example, part, settings)
    assert seen.relevance.tolist() == expected.relevance.tolist()
    assert set(seen.pooled_run_ids) == set(example.pooled_run_ids) - set(west)
    assert isinstance(seen.pool, StrategyPool)
    assert seen.pool.labels.tolist() == expected.relevance.tolist()  # no other is to be had from the pool
    assert seen.in_pool().tolist() == seen.judged.tolist()
    # without a further organization others are let in, of which nobody knows a thing
    fewer = seen.unpool(organization="north")
    assert (fewer.in_pool() & ~seen.judged).any()
    assert not (fewer.judged & ~seen.judged).any()


def test_a_budget_for_everything_is_a_leave_out_experiment(example: Collection) -> None:
    """With all of the depth pool judged, runs left out and their truths are those of `leave_out`."""
    depth_pool = example.without_judgments(~example.in_pool())
    measures, estimators = ["P@10", "nDCG@10"], ["background(e=0.05)", "condensed-list"]
    one = compare_budgets(
        example, measures, strategies="take", budgets=[10_000], top=100, estimators=estimators
    )
    two = leave_out(depth_pool, measures, estimators=estimators, truth="full")
    keys = ["measure", "estimator", "run_id"]
    merged = one.to_frame("estimates", reported_only=True).merge(
        two.to_frame(reported_only=True), on=keys, suffixes=("", "_then"), validate="one_to_one"
    )
    assert len(merged) == 2 * 2 * 21
    for name in ("truth", "value", "as_judged"):
        assert merged[name].tolist() == pytest.approx(merged[f"{name}_then"].tolist(), abs=1e-12)


def test_scores_of_every_pool_and_their_summary_by_hand() -> None:
    result = budgets_of_toy()
    frame = result.to_frame(reported_only=True)
    assert frame["budget"].tolist() == [4, 4, 4, 6, 6, 6]
    assert frame["run_id"].tolist() == ["a", "b", "c"] * 2
    assert frame["left_out"].tolist() == ["one", "two", "three"] * 2
    for _, row in frame.iterrows():
        assert row["full"] == row["truth"] == FULL[row["run_id"]]
        assert row["pooled"] == POOLED[row["budget"]][row["run_id"]]
        assert row["value"] == LEFT_OUT[row["budget"]][row["run_id"]]
        assert row["error"] == row["value"] - row["truth"]
    full = result.to_frame("summary").iloc[0]
    assert full["mae"] == pytest.approx(1 / 6)
    assert full["bias"] == pytest.approx(-1 / 6)
    assert full["sre"] == 1  # c falls from .75 to .5, below a; b stays the last
    assert full["sre_star"] == 0  # on two topics nobody differs
    assert full["kendall_tau_b"] == pytest.approx(1)
    assert np.isnan(full["preserved"])
    # shares .75 .25 .75 and biases 0 −.25 −.25: ranks 2.5 1 2.5 and 3 1.5 1.5
    assert full["fairness"] == pytest.approx(0.5)
    pooled = budgets_of_toy(truth="pooled").to_frame("summary").iloc[0]
    assert pooled["mae"] == pytest.approx(1 / 12)
    assert pooled["sre"] == 1
    best = budgets_of_toy(top=67)  # alone are reported, and all contribute
    assert set(best.to_frame()["run_id"]) == {"a", "b", "c"}
    assert best.to_frame(reported_only=True)["pooled"].tolist() == [0.75] * 4
    assert "; with 6 that of alphabet (0.1667)" in result.sentences()[1]
    total, of_measure = budgets_of_toy(budgets=[4], stop="nonrelevant(n=2)").sentences()
    assert "topics end by nonrelevant(n=2)" in total
    assert "; with" not in of_measure  # a single budget is named once


def test_ranking_is_by_means_over_budgets_and_signs_are_against_the_first_strategy() -> None:
    for strategies in (["take", Alphabet()], [Alphabet(), "take"]):
        result = budgets_of_toy(strategies=strategies)
        ranking, summary = result.to_frame("ranking"), result.to_frame("summary")
        of_mae = ranking[ranking["bias_measure"] == "mae"].set_index("strategy")
        means = summary.groupby("strategy")["mae"].mean()
        first = round(means["take" if strategies[0] == "take" else "alphabet"], 12)
        assert of_mae["mean"].to_dict() == pytest.approx(means.to_dict())
        assert of_mae["rank"].to_dict() == means.round(12).rank(method="min").astype(int).to_dict()
        assert of_mae["beats_first"].to_dict() == (means.round(12) < first).to_dict()
        assert set(ranking["bias_measure"]) == {"mae", "sre", "sre_star"}


def test_budgets_and_strategies_by_default() -> None:
    assert _fitting_budgets((), 81_000) == PAPER_BUDGETS
    assert _fitting_budgets((), 21_000) == (5_000, 10_000, 15_000, 20_000)
    assert _fitting_budgets((), 95) == (10, 19, 29, 38, 48, 57, 67, 76, 86, 95)
    assert _fitting_budgets((7,), 95) == (7,)
    assert [s.name for s in parse_strategies("paper")] == list(PAPER_STRATEGIES)
    assert parse_strategies(["take", "paper"]) == parse_strategies("paper")
    assert {"take", "rbp-c"} < {s.name for s in parse_strategies("all")}

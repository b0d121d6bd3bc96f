"""Experiments on random pools, from common topics and between types of runs."""

from __future__ import annotations

import dataclasses
import itertools
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real import read_real
from toys import from_rankings

from bayespool.collection import Collection, DepthPool
from bayespool.corrections import TopicsAdjustment
from bayespool.errors import ExperimentChangedWarning, InputError, PoolWarning
from bayespool.estimates import Estimates
from bayespool.estimators import parse_estimator
from bayespool.experiment_plots import plot_common_topics, plot_pool_width, plot_run_types
from bayespool.experiments import (
    CommonTopicsResult,
    PoolWidthResult,
    RunTypesResult,
    common_topics_errors,
    leave_out,
    leave_types_out,
    vary_common_topics,
    vary_pool_width,
)
from bayespool.experiments.pool_width import _score_outside
from bayespool.experiments.resampling import contributors, draw_pools, whole_pool, with_drawn_pool
from bayespool.experiments.settings import Estimators
from bayespool.measures import Precision, parse_measures
from bayespool.simulation import load_example
from bayespool.trec import read_run_types

# Two topics judged to depth 2. True P@2: a ½ and 1, b ½ and ½, c 1 and ½.
RANKINGS = {
    "a": {"1": "xy", "2": "pq"},
    "b": {"1": "yz", "2": "qr"},
    "c": {"1": "wx", "2": "ps"},
}
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
TRUTH = {"a": 0.75, "b": 0.5, "c": 0.75}


def toy() -> Collection:
    organizations = {"a": "one", "b": "two", "c": "three"}
    return from_rankings(RANKINGS, RELEVANCE, organizations, pooled_run_ids=("a", "b", "c"), pool_depth=2)


@pytest.fixture(scope="module")
def example() -> Collection:
    return load_example()


def kinds_of(collection: Collection) -> dict[str, str]:
    """Two types: every third run is manual."""
    return {run: "manual" if i % 3 == 0 else "automatic" for i, run in enumerate(collection.run_ids)}


@dataclass(frozen=True)
class Spy:
    """P@n as it stands, and what it was given."""

    seen: list[Collection]
    name: str = "spy"

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None, measures: object
    ) -> tuple[Estimates, ...]:
        self.seen.append(collection)
        return parse_estimator("lower-bound").estimate(collection, run_ids, measures)


# Pool width


@pytest.mark.parametrize("by", ["run", "organization"])
def test_bias_of_every_pool_of_the_toy(by: str) -> None:
    result = vary_pool_width(
        toy(),
        "P@2",
        estimators="lower-bound",
        widths=[2, 1],
        n_samples=30,
        n_targets=2,
        by=by,  # type: ignore[arg-type]
    )
    pools = draw_pools(toy(), result.settings, 2, "pool width")
    rows = {(r.pool_width, r.sample, r.run_id): r for r in result.frame().itertuples()}
    met = set()
    for pool in pools:
        drawn = "".join(pool.pool_run_ids)
        assert len(drawn) == pool.width
        assert len(pool.target_run_ids) == 3 - pool.width
        for run in pool.target_run_ids:
            row = rows.pop((pool.width, pool.sample, run))
            assert row.truth == TRUTH[run]
            assert row.error == -sum(LOST[drawn, run]) / 2
            assert row.n_pool_runs == pool.width
            assert row.topic_rmse == pytest.approx(np.sqrt(np.mean(np.square(LOST[drawn, run]))))
            met.add((drawn, run))
    assert not rows
    assert met == set(LOST)  # 60 draws miss one of nine with a chance of 1 in 10^4; the seed is fixed


def test_summary_of_the_toy_is_worked_out_from_its_rows() -> None:
    result = vary_pool_width(toy(), "P@2", estimators="lower-bound", widths=[1], n_samples=4, n_targets=2)
    pools = draw_pools(toy(), result.settings, 2, "pool width")
    errors = [[-sum(LOST["".join(p.pool_run_ids), run]) / 2 for run in p.target_run_ids] for p in pools]
    (row,) = result.summary_frame().to_dict("records")
    flat = np.ravel(errors)
    assert row["n_scored"] == 8
    assert row["bias"] == pytest.approx(flat.mean())
    assert row["mae"] == pytest.approx(-flat.mean())
    assert row["rmse"] == pytest.approx(np.sqrt((flat**2).mean()))
    assert row["bias_se"] == pytest.approx(np.std(np.mean(errors, axis=1), ddof=1) / 2)
    assert [row["quartile_1"], row["median"], row["quartile_3"]] == pytest.approx(
        np.quantile(flat, [0.25, 0.5, 0.75]).tolist()
    )
    assert np.isnan(row["coverage"])
    assert result.n_contributors == 3


@pytest.mark.parametrize("by", ["run", "organization"])
def test_widest_pool_is_leaving_one_out(example: Collection, by: str) -> None:
    """With all contributors but one in the pool, each run's estimate is that of the leave-out experiment."""
    estimators = ["lower-bound", "condensed-list", "systems-adjustment"]
    measures = ["P@5", "P(rel=2)@10"]
    left = leave_out(example, measures, estimators=estimators, by=by)  # type: ignore[arg-type]
    n_units = len(contributors(whole_pool(example, "pooled", None), by))  # type: ignore[arg-type]
    result = vary_pool_width(
        example,
        measures,
        estimators=estimators,
        widths=[n_units - 1],
        n_samples=25,
        n_targets=9,
        by=by,  # type: ignore[arg-type]
    )
    keys = ["measure", "estimator", "run_id"]
    found = result.frame()
    merged = found.merge(left.frame(), on=keys, suffixes=("", "_left"), validate="many_to_one")
    assert len(merged) == len(found)
    assert found["run_id"].nunique() > 10
    for name in ("truth", "value", "organization"):
        assert (merged[name] == merged[f"{name}_left"]).all()


@pytest.mark.parametrize(
    "estimator", ["lower-bound", "condensed-list", "systems-adjustment", "anti-precision"]
)
def test_pool_that_holds_everything_has_no_bias(example: Collection, estimator: str) -> None:
    """Every run has a twin in the pool, so that nothing of it is unjudged."""
    twins = dataclasses.replace(
        example,
        run_ids=(*example.run_ids, *(f"{run}-twin" for run in example.run_ids)),
        document=np.concatenate([example.document, example.document]),
        organization=np.concatenate([example.organization, example.organization]),
        pooled=np.concatenate([example.pooled, example.pooled]),
        pooling=DepthPool.even(example.pool_depth, 2 * len(example.run_ids)),
    )
    n_runs = int(twins.pooled.sum())
    result = vary_pool_width(twins, estimators=estimator, widths=[n_runs - 1], n_samples=12)
    assert (result.frame()["unjudged"] == 0).all()
    assert (result.frame()["error"] == 0).all()


def test_bias_shrinks_with_the_width(example: Collection) -> None:
    result = vary_pool_width(example, estimators="lower-bound", widths=[1, 3, 8, 16], n_samples=40)
    summary = result.summary_frame()
    assert (np.diff(summary["bias"]) > 0).all()
    assert (np.diff(summary["unjudged"]) < 0).all()
    assert (result.frame()["error"] <= 0).all()


@given(seed=st.integers(0, 10_000), width=st.integers(1, 7), by=st.sampled_from(["run", "organization"]))
@settings(max_examples=15, deadline=None)
def test_nothing_but_the_drawn_pool_is_judged(seed: int, width: int, by: str) -> None:
    seen: list[Collection] = []
    example = load_example()
    result = vary_pool_width(
        example,
        estimators={"spy": Spy(seen)},
        widths=[width],
        n_samples=2,
        n_targets=3,
        by=by,  # type: ignore[arg-type]
        pool_depth=10,
        random_seed=seed,
    )
    for pool, given_ in zip(draw_pools(example, result.settings, 3, "pool width"), seen, strict=True):
        inside = example.pool(example.run_index(pool.pool_run_ids))
        assert np.array_equal(given_.relevance >= 0, inside & (example.relevance >= 0))
        assert given_.pooled_run_ids == pool.pool_run_ids
        assert not set(pool.pool_run_ids) & set(pool.target_run_ids)
        organization = dict(zip(example.run_ids, example.organization, strict=True))
        if by == "organization":
            of_pool = {organization[run] for run in pool.pool_run_ids}
            assert len(of_pool) == width
            assert not of_pool & {organization[run] for run in pool.target_run_ids}


def test_hidden_relevance_reaches_no_estimate(example: Collection) -> None:
    """Turn round the relevance of all that the drawn pool does not hold: truths move, estimates do not."""
    estimators = [
        "lower-bound",
        "condensed-list",
        "systems-adjustment",
        "anti-precision",
        "posterior-background",
    ]
    result = vary_pool_width(example, estimators=estimators, widths=[6], n_samples=3, draws=40)
    for pool in draw_pools(example, result.settings, 1, "pool width"):
        hidden = ~example.pool(example.run_index(pool.pool_run_ids)) & (example.relevance >= 0)
        turned = np.where(hidden, 1 - np.minimum(example.relevance, 1), example.relevance).astype(np.int16)
        other = dataclasses.replace(example, relevance=turned)
        one, two = (_score_outside(c, pool, result.settings)[0] for c in (example, other))
        assert one["value"] == two["value"]
        assert [x for x in one["lower"] if x == x] == [x for x in two["lower"] if x == x]
        assert one["truth"] != two["truth"]


def test_posterior_is_graded_by_its_intervals(example: Collection) -> None:
    result = vary_pool_width(
        example, estimators=["lower-bound", "posterior-background"], widths=[5], n_samples=6, n_targets=4,
        draws=100, ci_prob=0.8,
    )  # fmt: skip
    rows, summary = result.frame(), result.summary_frame().set_index("estimator")
    posterior = rows[rows["estimator"] == "posterior-background"]
    assert (posterior["lower"] <= posterior["value"]).all()
    assert (posterior["value"] <= posterior["upper"]).all()
    inside = [lo <= t <= hi for lo, t, hi in posterior[["lower", "truth", "upper"]].itertuples(index=False)]
    assert summary.loc["posterior-background", "coverage"] == pytest.approx(np.mean(inside))
    width = (posterior["upper"] - posterior["lower"]).mean()
    assert summary.loc["posterior-background", "interval_width"] == pytest.approx(width)
    assert summary.loc["posterior-background", "ci_prob"] == 0.8
    assert np.isnan(summary.loc["lower-bound", "coverage"])


def test_same_seed_same_pools_whatever_is_estimated_and_how_many_processes(example: Collection) -> None:
    asked = {"widths": [3, 9], "n_samples": 8}
    one = vary_pool_width(example, estimators=["lower-bound"], **asked)  # type: ignore[arg-type]
    two = vary_pool_width(
        example,
        estimators=["condensed-list", "lower-bound"],
        n_jobs=2,
        **asked,  # type: ignore[arg-type]
    ).frame()
    two = two[two["estimator"] == "lower-bound"].reset_index(drop=True)
    pd.testing.assert_frame_equal(one.frame(), two, check_exact=True)
    other = vary_pool_width(example, estimators=["lower-bound"], random_seed=2, **asked)  # type: ignore[arg-type]
    assert list(other.frame()["run_id"]) != list(one.frame()["run_id"])


def test_all_runs_take_part_with_what_is_unjudged_not_relevant(example: Collection) -> None:
    whole = whole_pool(example, "all", 5)
    assert whole.pooled.all()
    assert whole.pool_depth == 5
    pool = whole.pool()
    assert np.array_equal(whole.relevance[pool], np.maximum(example.relevance[pool], 0))
    assert (whole.relevance[~pool] < 0).all()
    assert (example.relevance[pool] < 0).any()
    result = vary_pool_width(example, "P@5", estimators="lower-bound", widths=[4], n_samples=60, runs="all")
    rows = result.frame()
    assert "new-a" in set(rows["run_id"])
    assert (rows["n_unknown"] == 0).all()
    assert result.n_contributors == len(example.run_ids) == 23
    pooled = vary_pool_width(example, "P@5", estimators="lower-bound", widths=[4], n_samples=60)
    assert "new-a" not in set(pooled.frame()["run_id"])


def test_types_of_pool_and_of_what_is_scored(example: Collection) -> None:
    kinds = kinds_of(example)
    result = vary_pool_width(
        example, estimators="lower-bound", widths=[3], n_samples=30, n_targets=2, run_types=kinds,
        pool_type="automatic", target_type="manual",
    )  # fmt: skip
    assert {kinds[run] for run in result.frame()["run_id"]} == {"manual"}
    for pool in draw_pools(example, result.settings, 2, "pool width"):
        assert {kinds[run] for run in pool.pool_run_ids} == {"automatic"}
    assert result.n_contributors == sum(kinds[run] == "automatic" for run in example.pooled_run_ids)


def test_progress_counts_the_pools(example: Collection) -> None:
    told: list[tuple[int, int]] = []
    vary_pool_width(
        example, estimators="lower-bound", widths=[2, 3], n_samples=2, progress=lambda *x: told.append(x)
    )
    assert told == [(done, 4) for done in range(5)]


@dataclass(frozen=True)
class Warner(Spy):
    """Warns wherever the pool has more than one run, and says how many judgments there are."""

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None, measures: object
    ) -> tuple[Estimates, ...]:
        if collection.pooled.sum() > 1:
            warnings.warn(f"{(collection.relevance >= 0).sum()} judgments", PoolWarning, stacklevel=2)
        return super().estimate(collection, run_ids, measures)


def test_warnings_of_many_pools_are_given_once(example: Collection) -> None:
    with pytest.warns(PoolWarning) as caught:
        vary_pool_width(example, estimators={"warner": Warner([])}, widths=[1, 2], n_samples=3)
    (message,) = {str(w.message) for w in caught}
    assert re.fullmatch(r"in 3 of 6 pools: \d+ judgments and the like", message)


def test_warnings_of_types_are_given_once(example: Collection) -> None:
    kinds = {run: "odd" if run.startswith("north") else "usual" for run in example.pooled_run_ids}
    with pytest.warns(PoolWarning) as caught:
        leave_types_out(example, run_types=kinds, estimators={"warner": Warner([])})
    (message,) = {str(w.message) for w in caught}
    assert re.fullmatch(r"in 2 of 2 types: \d+ judgments and the like", message)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"widths": [21]}, "21 runs make no pool of width 21"),
        ({"widths": [0]}, "widths cannot be 0"),
        ({"widths": []}, "widths cannot be empty"),
        ({"measures": "P@11"}, "P@11 looks deeper than the pools"),
        ({"pool_depth": 5}, "P@10 looks deeper than the pools, which are judged to depth 5"),
        ({"pool_depth": 11}, "pool depth 11"),
        ({"n_samples": 0}, "n_samples cannot be 0"),
        ({"n_targets": 0}, "n_targets cannot be 0"),
        ({"by": "team"}, "by cannot be 'team'"),
        ({"runs": "some"}, "runs cannot be 'some'"),
        ({"pool_type": "manual"}, "no run has the pool type 'manual'"),
        ({"target_type": "manual"}, "no run has the target type 'manual'"),
        ({"run_types": {"x": "manual"}}, "21 runs of the pool have no type"),
        ({"estimators": "oracle"}, "no estimator 'oracle'"),
        ({"colour": "blue"}, "the experiment has .*n_targets"),
    ],
)
def test_what_cannot_be_drawn_is_refused(example: Collection, asked: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        vary_pool_width(example, **asked)  # type: ignore[arg-type]


def test_pools_need_a_pool(example: Collection) -> None:
    with pytest.raises(InputError, match="no pooled run to draw pools from"):
        vary_pool_width(dataclasses.replace(example, pooled=np.zeros_like(example.pooled)))


# Common topics


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
@settings(max_examples=60, deadline=None)
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


def test_law_holds_for_differences_of_equal_variance() -> None:
    """20,000 draws of normal differences: RMSE and MAE within 3 %."""
    rng = np.random.default_rng(7)
    n_topics, n_common = 60, [1, 3, 10, 30, 59]
    unpooled = rng.random(n_topics)
    truth = unpooled + rng.normal(0.1, 0.05, n_topics)
    order = np.argsort(rng.random((20_000, n_topics)), axis=1)
    error = common_topics_errors(truth, unpooled, n_common, order)["adjusted"]
    n = np.array(n_common)
    law = np.sqrt((n_topics - n) / (n * n_topics)) * (truth - unpooled).std(ddof=1)
    assert np.sqrt((error**2).mean(axis=0)) == pytest.approx(law, rel=0.03)
    # a mean of several differences is normal enough; of one, or all but one, it is as good as these 60
    assert np.abs(error).mean(axis=0)[1:4] == pytest.approx(np.sqrt(2 / np.pi) * law[1:4], rel=0.03)


def test_rows_of_the_toy() -> None:
    result = vary_common_topics(
        toy(), "P@2", estimators="lower-bound", widths=[1], n_common=[1, 2], n_samples=20, n_topic_samples=50
    )
    rows = result.frame()
    for pool in draw_pools(toy(), result.settings, 1, "common topics"):
        lost = np.array(LOST["".join(pool.pool_run_ids), pool.target_run_ids[0]])
        of_pool = rows[rows["sample"] == pool.sample].set_index(["score", "n_common"])
        assert of_pool.loc[("unadjusted", 1), "mae"] == pytest.approx(lost.mean())
        # whichever topic is common, the adjusted score is off by half the difference of the two
        assert of_pool.loc[("adjusted", 1), "mae"] == pytest.approx(abs(lost[0] - lost[1]) / 2)
        assert of_pool.loc[("adjusted", 1), "law"] == pytest.approx(abs(lost[0] - lost[1]) / 2)
        assert of_pool.loc[("mixed", 1), "mae"] == pytest.approx(lost.mean() / 2, abs=lost.max() / 2)
        assert of_pool.loc["adjusted", "std_difference"].iloc[0] == pytest.approx(lost.std(ddof=1))
        assert (of_pool.xs(2, level="n_common").drop("unadjusted")["mae"] < 1e-12).all()
        assert of_pool["one_sided"].all()


def test_adjusting_is_what_the_topics_adjustment_does(example: Collection) -> None:
    """The shipped correction on a collection where the run is judged on the common topics."""
    result = vary_common_topics(example, estimators="lower-bound", widths=[5], n_common=[6], n_samples=4)
    for pool in draw_pools(example, result.settings, 1, "common topics"):
        (run,) = pool.target_run_ids
        reduced = with_drawn_pool(example, pool)
        order = np.argsort(np.random.default_rng(pool.sample).random(20))
        common = tuple(example.query_ids[t] for t in order[:6])
        own = example.pool(example.run_index(run)) & np.isin(example.pair_topic, order[:6])
        judged = dataclasses.replace(reduced, relevance=np.where(own, example.relevance, reduced.relevance))
        (plain,) = parse_estimator("lower-bound").estimate(reduced, run, ["P@10"])
        (true,) = parse_estimator("lower-bound").estimate(example, run, ["P@10"])
        correction = TopicsAdjustment(common_query_ids=common, within_bounds=False)
        (adjusted,) = correction.estimate(judged, run, ["P@10"])
        errors = common_topics_errors(true.per_topic[0], plain.per_topic[0], [6], order[None, :])
        assert adjusted.value[0] - true.value[0] == pytest.approx(errors["adjusted"][0, 0], abs=1e-12)
        assert adjusted.std is not None
        law = np.sqrt(14 / (6 * 20)) * (true.per_topic - plain.per_topic)[0, order[:6]].std(ddof=1)
        assert adjusted.std[0] == pytest.approx(law)


def test_summary_of_common_topics(example: Collection) -> None:
    result = vary_common_topics(example, widths=[2, 12], n_common=[4, 10, 20], n_samples=60)
    summary = result.summary_frame()
    assert len(summary) == 2 * 2 * 4 * 3
    places = ["pool_width", "estimator", "n_common"]
    adjusted = summary[summary["score"] == "adjusted"].set_index(places)
    assert adjusted["rmse"].to_numpy() == pytest.approx(adjusted["rmse_law"].to_numpy(), rel=0.04, abs=1e-12)
    assert (adjusted.xs(20, level="n_common")["mae"] < 1e-12).all()
    plain = summary[summary["score"] == "unadjusted"].set_index(places)
    assert plain["helped"].isna().all()
    mixed = summary[summary["score"] == "mixed"].set_index(places)
    # all that a lower bound misses is missed on one side
    of_bound = mixed.xs("lower-bound", level="estimator")
    assert of_bound["mae"].to_numpy() == pytest.approx(of_bound["mae_law"].to_numpy(), rel=0.02, abs=1e-12)
    assert mixed.xs("condensed-list", level="estimator")["mae_law"].isna().all()
    narrow = (2, "lower-bound", 10)
    assert adjusted.loc[narrow, "mae"] < mixed.loc[narrow, "mae"] < plain.loc[narrow, "mae"]


def test_common_topics_are_the_same_for_the_same_seed(example: Collection) -> None:
    asked = {"widths": [3], "n_common": [5], "n_samples": 6, "n_topic_samples": 10}
    one = vary_common_topics(example, **asked).frame()  # type: ignore[arg-type]
    pd.testing.assert_frame_equal(one, vary_common_topics(example, n_jobs=2, **asked).frame())  # type: ignore[arg-type]
    assert not one.equals(vary_common_topics(example, random_seed=2, **asked).frame())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n_common": [21]}, "21 common topics: there are 20 topics"),
        ({"n_common": [0]}, "n_common cannot be 0"),
        ({"n_common": []}, "n_common cannot be empty"),
        ({"n_topic_samples": 0}, "n_topic_samples cannot be 0"),
    ],
)
def test_common_topics_that_cannot_be(example: Collection, asked: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        vary_common_topics(example, **asked)  # type: ignore[arg-type]


# Types of runs


def test_types_of_the_toy() -> None:
    kinds = {"a": "automatic", "b": "automatic", "c": "manual"}
    result = leave_types_out(toy(), "P@2", run_types=kinds, estimators="lower-bound")
    rows = result.frame().set_index(["type", "run_id"])
    for kind, pool, run in (("manual", "ab", "c"), ("automatic", "c", "a"), ("automatic", "c", "b")):
        row = rows.loc[(kind, run)]
        assert row["value"] - row["truth"] == row["error"] == -sum(LOST[pool, run]) / 2
    assert rows["organization"].tolist() == ["one", "two", "three"]
    summary = result.summary_frame().set_index("type")
    assert summary["n_runs"].to_dict() == {"automatic": 2, "manual": 1}
    assert summary["n_pool_runs"].to_dict() == {"automatic": 1, "manual": 2}
    assert summary["bias"].to_dict() == {"automatic": -0.375, "manual": -0.25}
    # c falls from .75 to .5 and below a; a falls to .5, below c, and b from .5 to 0 passes nobody, being last
    assert summary["sre"].to_dict() == {"automatic": 1, "manual": 1}


def test_types_that_are_organizations_are_leaving_organizations_out(example: Collection) -> None:
    kinds = {
        run: example.organizations[o] for run, o in zip(example.run_ids, example.organization, strict=True)
    }
    estimators = ["lower-bound", "anti-precision", "posterior-background"]
    left = leave_out(example, "P@10", estimators=estimators, draws=20, random_seed=4)
    found = leave_types_out(example, "P@10", run_types=kinds, estimators=estimators, draws=20, random_seed=4)
    keys = ["measure", "estimator", "run_id"]
    one = found.frame().drop(columns=["type", "error"]).sort_values(keys, ignore_index=True)
    two = left.frame().drop(columns=["fold", "reported"]).sort_values(keys, ignore_index=True)
    pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_estimators_keep_the_organizations_and_see_no_run_of_the_type(example: Collection) -> None:
    seen: list[Collection] = []
    kinds = kinds_of(example)
    leave_types_out(example, run_types=kinds, types=["manual"], estimators={"spy": Spy(seen)})
    (reduced,) = seen
    assert np.array_equal(reduced.organization, example.organization)
    assert {kinds[run] for run in reduced.pooled_run_ids} == {"automatic"}
    automatic = [run for run in example.pooled_run_ids if kinds[run] == "automatic"]
    assert np.array_equal(reduced.relevance >= 0, example.pool(example.run_index(automatic)))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"run_types": {"x": "manual"}}, "21 runs of the pool have no type"),
        ({"run_types": dict.fromkeys(load_example().run_ids, "manual")}, "are of type 'manual'"),
        ({"types": ["interactive"]}, "has the type 'interactive'"),
        ({"types": []}, "types cannot be empty"),
    ],
)
def test_types_that_cannot_be(example: Collection, asked: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        leave_types_out(example, **{"run_types": kinds_of(example), "estimators": "lower-bound"} | asked)  # type: ignore[arg-type]


def test_run_types_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "types.csv"
    path.write_text("\ufeffRun, note ,TYPE\n\nr1,x,manual\nr2,,automatic\nr1,y,manual\n", encoding="utf-8")
    assert read_run_types(path) == {"r1": "manual", "r2": "automatic"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run_id,kind\nr1,manual\n", "line 1: the header names 'run_id, kind', not run_id and type"),
        ("run_id,type\nr1,manual,x\n", "line 2: expected 2 columns as in the header, found 3"),
        ("run_id,type\nr1,\n", "line 2: run 'r1' has no type"),
        ("run_id,type\n,manual\n", "line 2: no run id beside type 'manual'"),
        (
            "run_id,type\nr1,manual\nr1,automatic\n",
            "line 3: run 'r1' is 'automatic' here and 'manual' before",
        ),
        ('run_id,type\n"r1,manual\n', "is no proper CSV"),
        ("run_id,type\n", "lists no run"),
        ("", "is empty"),
    ],
)
def test_lists_of_run_types_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "types.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_run_types(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


# Figures


def test_figures_show_the_summary(example: Collection) -> None:
    estimators: Estimators = ["lower-bound", "condensed-list"]
    widths = vary_pool_width(example, estimators=estimators, widths=[2, 8], n_samples=10)
    axes = plot_pool_width(widths, "P@10")
    drawn = {line.get_label(): np.asarray(line.get_ydata()) for line in axes.get_lines()}
    for label, rows in widths.summary_frame().groupby("estimator"):
        assert drawn[str(label)].tolist() == rows["bias"].tolist()
    topics = vary_common_topics(example, widths=[2], n_common=[4, 8], n_samples=5)
    axes = plot_common_topics(topics, "P@10", "lower-bound", 2)
    drawn = {line.get_label(): np.asarray(line.get_ydata()) for line in axes.get_lines()}
    summary = topics.summary_frame()
    rows = summary[(summary["estimator"] == "lower-bound") & (summary["score"] == "adjusted")]
    assert drawn["adjusted"].tolist() == rows["mae"].tolist()
    kinds = leave_types_out(example, run_types=kinds_of(example), estimators=estimators)
    axes = plot_run_types(kinds, Precision(10), "manual")
    of_one = kinds.frame().query("type == 'manual' and estimator == 'lower-bound'")
    assert (
        np.asarray(axes.get_lines()[1].get_xdata()).tolist() == (of_one["value"] - of_one["truth"]).tolist()
    )
    for wrong in (
        lambda: plot_pool_width(widths, "P@5"),
        lambda: plot_common_topics(topics, "P@10", "lower-bound", 3),
        lambda: plot_run_types(kinds, "P@10", "odd"),
    ):
        with pytest.raises(InputError, match="it has"):
            wrong()


class _Stopped(Exception):
    pass


def stop_after(n: int) -> Callable[[int, int], None]:
    """A progress display at which the experiment is cut off, as Ctrl-C does."""

    def show(done: int, _: int) -> None:
        if done == n:
            raise _Stopped

    return show


def of_types(example: Collection, **more: Any) -> RunTypesResult:
    types = {run: ("x", "y", "z")[i % 3] for i, run in enumerate(example.pooled_run_ids)}
    return leave_types_out(example, run_types=types, estimators=["lower-bound", "posterior-background"],
                           draws=20, **more)  # fmt: skip


def of_widths(example: Collection, **more: Any) -> PoolWidthResult:
    asked: dict[str, Any] = {"widths": [4], "n_samples": 3} | more
    return vary_pool_width(example, estimators=["lower-bound", "posterior-background"], draws=20, **asked)


def of_common_topics(example: Collection, **more: Any) -> CommonTopicsResult:
    return vary_common_topics(example, widths=[4], n_common=[5], n_samples=3, n_topic_samples=10, **more)


@pytest.mark.parametrize("experiment", [of_types, of_widths, of_common_topics])
def test_what_was_cut_off_goes_on(
    example: Collection, experiment: Callable[..., Any], tmp_path: Path
) -> None:
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        whole = experiment(example)
    with pytest.raises(_Stopped):
        experiment(example, folder=tmp_path, progress=stop_after(2))
    (stored,) = tmp_path.iterdir()
    kept = {path: path.stat().st_mtime_ns for path in stored.iterdir()}
    assert len(kept) == 2
    done: list[int] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = experiment(example, folder=tmp_path, progress=lambda n, _: done.append(n))
    assert done == [2, 3]
    assert all(path.stat().st_mtime_ns == at for path, at in kept.items())
    pd.testing.assert_frame_equal(found.frame(), whole.frame(), check_exact=True)
    pd.testing.assert_frame_equal(found.summary_frame(), whole.summary_frame(), check_exact=True)
    assert [str(w.message) for w in caught] == [str(w.message) for w in expected]


def test_more_pools_go_on_from_those_that_are_stored(example: Collection, tmp_path: Path) -> None:
    of_widths(example, folder=tmp_path)
    done: list[int] = []
    more = {"widths": [2, 4], "n_samples": 5}
    found = of_widths(example, folder=tmp_path, progress=lambda n, _: done.append(n), **more)
    assert done == [3, 4, 5, 6, 7, 8, 9, 10]
    pd.testing.assert_frame_equal(found.frame(), of_widths(example, **more).frame(), check_exact=True)


def test_types_come_in_the_order_asked_for_whatever_is_stored(example: Collection, tmp_path: Path) -> None:
    asked: dict[str, Any] = {
        "run_types": {run: ("x", "y", "z")[i % 3] for i, run in enumerate(example.pooled_run_ids)},
        "measures": ["P@5", "P@10"],
    }
    names = ["smoothed", "lower-bound"]
    leave_types_out(example, types=["y"], estimators=names, folder=tmp_path, **asked)
    found = leave_types_out(example, types=["z", "y"], estimators=names[::-1], folder=tmp_path, **asked)
    expected = leave_types_out(example, types=["z", "y"], estimators=names[::-1], **asked)
    pd.testing.assert_frame_equal(found.frame(), expected.frame(), check_exact=True)
    assert list(dict.fromkeys(found.summary_frame()["type"])) == ["z", "y"]


def test_damage_inside_a_file_is_seen(example: Collection, tmp_path: Path) -> None:
    expected = of_widths(example, folder=tmp_path).frame()
    path = sorted((tmp_path / "pool-width").iterdir())[0]
    table = pq.read_table(path)
    changed = table.set_column(table.column_names.index("value"), "value", pc.add(table["value"], 0.001))
    pq.write_table(changed, path)
    with pytest.warns(ExperimentChangedWarning, match="1 file of finished work cannot be read"):
        found = of_widths(example, folder=tmp_path)
    pd.testing.assert_frame_equal(found.frame(), expected)


def test_experiments_keep_their_work_apart(example: Collection, tmp_path: Path) -> None:
    of_widths(example, folder=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExperimentChangedWarning)
        of_common_topics(example, folder=tmp_path)
        of_types(example, folder=tmp_path)
        done: list[int] = []
        of_widths(example, folder=tmp_path, progress=lambda n, _: done.append(n))
    assert done == [3]


def test_other_settings_start_afresh(example: Collection, tmp_path: Path) -> None:
    of_widths(example, folder=tmp_path)
    with pytest.warns(ExperimentChangedWarning, match="differs in estimators, random_seed; its"):
        found = of_widths(example, folder=tmp_path, random_seed=2)
    pd.testing.assert_frame_equal(found.frame(), of_widths(example, random_seed=2).frame())


def test_measures_of_a_result_are_in_its_settings(example: Collection) -> None:
    result = vary_pool_width(example, ["P@5", "P@10"], estimators="lower-bound", widths=[2], n_samples=2)
    assert result.settings.measures == parse_measures(["P@5", "P@10"])
    described = result.settings.describe()
    assert described["measures"] == ["P@5", "P@10"]
    assert described["widths"] == (2,)
    assert described["pool_depth"] == 10
    assert described["estimators"]["lower-bound"]["name"] == "lower-bound"


# Real collections

# Of the 129 runs of TREC-8, as the pages of NIST's TREC browser have it.
MANUAL = (
    "8manexT3D1N0", "CL99SD", "CL99SDopt1", "CL99SDopt2", "CL99XT", "CL99XTopt", "GE8MTD2", "READWARE",
    "READWARE2", "cirtrc82", "disco1", "iit99ma1", "orcl99man",
)  # fmt: skip


def test_manual_runs_of_trec_8_are_what_the_paper_says(collections: Path) -> None:
    """Webber & Park, §2.1: 24 % of the relevant documents come from manual runs alone, 17 % from automatic
    ones alone, and eleven manual runs are the best eleven; §3.1: leaving automatic runs out does not mend
    the bias against them.
    """
    collection = read_real(collections / "trec8-adhoc")
    kinds = {run: "manual" if run in MANUAL else "automatic" for run in collection.run_ids}
    relevant = collection.relevance > 0
    manual, automatic = (
        collection.pool(collection.run_index([r for r in collection.pooled_run_ids if kinds[r] == kind]))
        for kind in ("manual", "automatic")
    )
    assert round(float((relevant & manual & ~automatic).sum() / relevant.sum()), 2) == 0.24
    assert round(float((relevant & automatic & ~manual).sum() / relevant.sum()), 2) == 0.17
    result = leave_types_out(
        collection, run_types=kinds, types=["manual"], runs="all", pool_depth=10,
        estimators=["lower-bound", "systems-adjustment", "condensed-list"],
    )  # fmt: skip
    scores = result.true_scores["P@10"]
    best = sorted(scores, key=scores.__getitem__, reverse=True)[:11]
    assert set(best) <= set(MANUAL)
    summary = result.summary_frame().set_index("estimator")["bias"].round(3)
    # docs/experiments.md
    assert summary.to_dict() == {"lower-bound": -0.134, "systems-adjustment": -0.129, "condensed-list": 0.014}


def test_pools_of_trec_8_are_as_biased_as_the_paper_says(collections: Path) -> None:
    """§2.2: assumed irrelevance has more bias than condensed lists for narrow pools, less for wide ones."""
    result = vary_pool_width(
        read_real(collections / "trec8-adhoc"), estimators=["lower-bound", "condensed-list"], runs="all",
        pool_depth=10, n_samples=30, n_targets=5,
    )  # fmt: skip
    bias = result.summary_frame().pivot(index="pool_width", columns="estimator", values="bias")
    assert bias.index.tolist() == [2, 4, 10, 20, 40]
    assert (np.diff(bias["lower-bound"]) > 0).all()
    assert (bias["condensed-list"] > 0).all()
    assert -bias["lower-bound"][2] > 3 * bias["condensed-list"][2]
    assert -bias["lower-bound"][40] < bias["condensed-list"][40]

"""Pools of few organizations: the bias of each, by hand."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_pools import LOST, Spy, kinds_of, toy
from hypothesis import given, settings, strategies as st
from real import read_real

from bayespool.collection import Collection
from bayespool.collection.pools import DepthPool
from bayespool.errors import InputError, PoolWarning
from bayespool.experiments import PoolWidthResult, leave_out, load_example, vary_pool_width
from bayespool.experiments.random_pools import PoolsOfWidths
from bayespool.experiments.resampling import contributors, whole_pool
from bayespool.measures import Estimates

TRUTH = {"a": 0.75, "b": 0.5, "c": 0.75}
ESTIMATORS = ["as-judged", "condensed-list", "systems-adjustment", "anti-precision"]


@given(seed=st.integers(0, 10_000), width=st.integers(1, 7), by=st.sampled_from(["run", "organization"]))
@settings(max_examples=8, deadline=None)
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
    for pool, given_ in zip(PoolsOfWidths().parts(example, result.settings), seen, strict=True):
        inside = example.in_pool(example.run_index(pool.pool_run_ids))
        assert np.array_equal(given_.relevance >= 0, inside & (example.relevance >= 0))
        assert given_.pooled_run_ids == pool.pool_run_ids
        assert not set(pool.pool_run_ids) & set(pool.run_ids)
        organization = dict(zip(example.run_ids, example.organization, strict=True))
        if by == "organization":
            of_pool = {organization[run] for run in pool.pool_run_ids}
            assert len(of_pool) == width
            assert not of_pool & {organization[run] for run in pool.run_ids}


def test_hidden_relevance_reaches_no_estimate(example: Collection) -> None:
    """Turn round the relevance of all that the drawn pool does not hold: truths move, estimates do not."""
    estimators = [*ESTIMATORS, "posterior-background"]
    result = vary_pool_width(example, estimators=estimators, widths=[6], n_samples=3, draws=40)
    for pool in PoolsOfWidths().parts(example, result.settings):
        hidden = ~example.in_pool(example.run_index(pool.pool_run_ids)) & (example.relevance >= 0)
        turned = np.where(hidden, 1 - np.minimum(example.relevance, 1), example.relevance).astype(np.int16)
        other = dataclasses.replace(example, relevance=turned)
        one, two = (PoolsOfWidths().work(c, pool, result.settings).rows for c in (example, other))
        assert one["value"] == two["value"]
        assert [x for x in one["lower"] if x == x] == [x for x in two["lower"] if x == x]
        assert one["truth"] != two["truth"]


def test_all_runs_take_part_with_what_is_unjudged_not_relevant(example: Collection) -> None:
    whole = whole_pool(example, "all", 5)
    assert whole.pooled.all()
    assert whole.pool_depth == 5
    pool = whole.in_pool()
    assert np.array_equal(whole.relevance[pool], np.maximum(example.relevance[pool], 0))
    assert (whole.relevance[~pool] < 0).all()
    assert (example.relevance[pool] < 0).any()
    result = vary_pool_width(example, "P@5", estimators="as-judged", widths=[4], n_samples=60, runs="all")
    rows = result.to_frame()
    assert "new-a" in set(rows["run_id"])
    assert (rows["n_unknown"] == 0).all()
    assert result.n_contributors == len(example.run_ids) == 23
    pooled = vary_pool_width(example, "P@5", estimators="as-judged", widths=[4], n_samples=60)
    assert "new-a" not in set(pooled.to_frame()["run_id"])


@pytest.mark.slow
def test_pools_of_trec_8_are_as_biased_as_the_paper_says(collections: Path) -> None:
    """§2.2: assumed irrelevance has more bias than condensed lists for narrow pools, less for wide ones."""
    result = vary_pool_width(
        read_real(collections / "trec8-adhoc"), estimators=["as-judged", "condensed-list"], runs="all",
        pool_depth=10, n_samples=30, n_targets=5,
    )  # fmt: skip
    bias = result.to_frame("summary").pivot(index="pool_width", columns="estimator", values="bias")
    assert bias.index.tolist() == [2, 4, 10, 20, 40]
    assert (np.diff(bias["as-judged"]) > 0).all()
    assert (bias["condensed-list"] > 0).all()
    assert -bias["as-judged"][2] > 3 * bias["condensed-list"][2]
    assert -bias["as-judged"][40] < bias["condensed-list"][40]


def of_toy(**asked: Any) -> PoolWidthResult:
    return vary_pool_width(toy(), "P@2", estimators="as-judged", n_targets=2, **asked)


@pytest.mark.slow
def test_bias_shrinks_with_the_width_and_posteriors_are_graded_by_their_intervals(
    example: Collection,
) -> None:
    result = vary_pool_width(example, estimators="as-judged", widths=[1, 3, 8, 16], n_samples=40)
    summary = result.to_frame("summary")
    assert (np.diff(summary["bias"]) > 0).all()
    assert (np.diff(summary["unjudged"]) < 0).all()
    assert (result.to_frame()["error"] <= 0).all()
    result = vary_pool_width(
        example, estimators=["as-judged", "posterior-background"], widths=[5], n_samples=6, n_targets=4,
        draws=100, ci_prob=0.8,
    )  # fmt: skip
    rows, summary = result.to_frame(), result.to_frame("summary").set_index("estimator")
    posterior = rows[rows["estimator"] == "posterior-background"]
    assert (posterior["lower"] <= posterior["value"]).all()
    assert (posterior["value"] <= posterior["upper"]).all()
    inside = [lo <= t <= hi for lo, t, hi in posterior[["lower", "truth", "upper"]].itertuples(index=False)]
    graded = summary.loc["posterior-background"]
    assert graded["coverage"] == pytest.approx(np.mean(inside))
    assert graded["interval_width"] == pytest.approx((posterior["upper"] - posterior["lower"]).mean())
    assert graded["ci_prob"] == 0.8
    assert np.isnan(summary.loc["as-judged", "coverage"])


def test_same_seed_same_pools_whatever_is_estimated(example: Collection) -> None:
    asked: dict[str, Any] = {"widths": [3, 9], "n_samples": 3}
    one = vary_pool_width(example, estimators=["as-judged"], **asked).to_frame()
    told: list[tuple[int, int]] = []
    two = vary_pool_width(
        example, estimators=["condensed-list", "as-judged"], progress=lambda *x: told.append(x), **asked
    ).to_frame()
    assert told == [(done, 6) for done in range(7)]
    two = two[two["estimator"] == "as-judged"].reset_index(drop=True)
    pd.testing.assert_frame_equal(one, two, check_exact=True)
    other = vary_pool_width(example, estimators=["as-judged"], random_seed=2, **asked)
    assert list(other.to_frame()["run_id"]) != list(one["run_id"])


def test_warnings_of_many_pools_and_types_are_given_once(example: Collection) -> None:
    kinds = {run: "odd" if run.startswith("north") else "usual" for run in example.pooled_run_ids}
    warner: dict[str, Any] = {"estimators": {"warner": Warner([])}}
    for said, work in (
        ("in 3 of 6 pools", partial(vary_pool_width, widths=[1, 2], n_samples=3)),
        ("in 2 of 2 folds", partial(leave_out, by="type", run_types=kinds)),
    ):
        with pytest.warns(PoolWarning) as caught:
            work(example, **warner)
        (message,) = {str(w.message) for w in caught}
        assert re.fullmatch(rf"{said}: \d+ judgments and the like", message)


def test_bias_of_every_pool_of_the_toy() -> None:
    for by in ("run", "organization"):
        result = of_toy(widths=[2, 1], n_samples=30, by=by)
        rows = {(r.pool_width, r.sample, r.run_id): r for r in result.to_frame().itertuples()}
        met = set()
        for pool in PoolsOfWidths().parts(toy(), result.settings):
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
        assert met == set(LOST)  # 60 draws miss one of nine with a chance of 1 in 10^4; the seed is fixed


def test_summary_of_the_toy_is_worked_out_from_its_rows() -> None:
    result = of_toy(widths=[1], n_samples=4)
    pools = PoolsOfWidths().parts(toy(), result.settings)
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


def test_widest_pool_is_leaving_one_out(example: Collection) -> None:
    """With all contributors but one in the pool, each run's estimate is that of the leave-out experiment."""
    asked: dict[str, Any] = {"estimators": ["as-judged", "condensed-list", "systems-adjustment"]}
    asked["measures"] = ["P@5", "P(rel=2)@10"]
    for by in ("run", "organization"):
        left = leave_out(example, by=by, **asked)  # type: ignore[arg-type]
        n_units = len(contributors(whole_pool(example, "pooled", None), by))  # type: ignore[arg-type]
        drawn = {"widths": [n_units - 1], "n_samples": 25, "n_targets": 9, "by": by}
        found = vary_pool_width(example, **asked, **drawn).to_frame()
        keys = ["measure", "estimator", "run_id"]
        merged = found.merge(left.to_frame(), on=keys, suffixes=("", "_left"), validate="many_to_one")
        assert len(merged) == len(found)
        assert found["run_id"].nunique() > 10
        for name in ("truth", "value", "organization"):
            assert (merged[name] == merged[f"{name}_left"]).all()


def test_pool_that_holds_everything_has_no_bias(example: Collection) -> None:
    """Every run has a twin in the pool, so that nothing of it is unjudged."""
    twins = dataclasses.replace(
        example,
        run_ids=(*example.run_ids, *(f"{run}-twin" for run in example.run_ids)),
        document=np.concatenate([example.document, example.document]),
        organization=np.concatenate([example.organization, example.organization]),
        pooled=np.concatenate([example.pooled, example.pooled]),
        pool=DepthPool.even(example.pool_depth, 2 * len(example.run_ids)),
    )
    width, names = int(twins.pooled.sum()) - 1, ESTIMATORS
    rows = vary_pool_width(twins, estimators=names, widths=[width], n_samples=5).to_frame()
    assert set(rows["estimator"]) == set(names)
    assert (rows["unjudged"] == 0).all()
    assert (rows["error"] == 0).all()


def test_types_of_pool_and_of_what_is_scored(example: Collection) -> None:
    kinds = kinds_of(example)
    result = vary_pool_width(
        example, estimators="as-judged", widths=[3], n_samples=30, n_targets=2, run_types=kinds,
        pool_type="automatic", target_type="manual",
    )  # fmt: skip
    assert {kinds[run] for run in result.to_frame()["run_id"]} == {"manual"}
    for pool in PoolsOfWidths().parts(example, result.settings):
        assert {kinds[run] for run in pool.pool_run_ids} == {"automatic"}
    assert result.n_contributors == sum(kinds[run] == "automatic" for run in example.pooled_run_ids)


@dataclass(frozen=True)
class Warner(Spy):
    """Warns wherever the pool has more than one run, and says how many judgments there are."""

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None, measures: object
    ) -> tuple[Estimates, ...]:
        if collection.pooled.sum() > 1:
            warnings.warn(f"{(collection.relevance >= 0).sum()} judgments", PoolWarning, stacklevel=2)
        return super().estimate(collection, run_ids, measures)


def test_what_cannot_be_drawn_is_refused(example: Collection) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"widths": [21]}, "21 runs are too few"),
        ({"widths": [0]}, "widths cannot be 0"),
        ({"widths": []}, "widths cannot be empty"),
        ({"measures": "P@11"}, "P@11 looks deeper"),
        ({"pool_depth": 5}, "P@10 looks deeper .* depth 5"),
        ({"pool_depth": 11}, "pool depth 11"),
        ({"n_samples": 0}, "n_samples cannot be 0"),
        ({"n_targets": 0}, "n_targets cannot be 0"),
        ({"by": "team"}, "by cannot be 'team'"),
        ({"runs": "some"}, "runs cannot be 'some'"),
        ({"pool_type": "manual"}, "pool type 'manual'"),
        ({"target_type": "manual"}, "target type 'manual'"),
        ({"run_types": {"x": "manual"}}, "21 runs of the pool have no type"),
        ({"estimators": "oracle"}, "no estimator 'oracle'"),
        ({"color": "blue"}, "vary_pool_width has .*n_targets"),
    ]
    for asked, message in refused:
        with pytest.raises(InputError, match=message):
            vary_pool_width(example, **asked)
    with pytest.raises(InputError, match="no pooled run to draw"):
        vary_pool_width(dataclasses.replace(example, pooled=np.zeros_like(example.pooled)))

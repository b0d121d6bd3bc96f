"""Pools of few organizations: the bias of each, by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_pools import LOST, Spy, kinds_of, toy
from hypothesis import given, settings, strategies as st
from real import read_real

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments import PoolWidthResult, load_example, vary_pool_width
from bayespool.experiments.random_pools import PoolsOfWidths
from bayespool.experiments.resampling import whole_pool

TRUTH = {"a": 0.75, "b": 0.5, "c": 0.75}


@given(seed=st.integers(0, 10_000), width=st.integers(1, 7), by=st.sampled_from(["run", "organization"]))
@settings(max_examples=5, deadline=None)
def test_nothing_but_the_drawn_pool_is_judged(seed: int, width: int, by: str) -> None:
    seen: list[Collection] = []
    example = load_example()
    asked: dict[str, Any] = {"by": by, "pool_depth": 10, "random_seed": seed, "n_samples": 2, "n_targets": 3}
    result = vary_pool_width(example, estimators={"spy": Spy(seen)}, widths=[width], **asked)
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


def test_bias_of_every_pool_of_the_toy() -> None:
    result = of_toy(widths=[2, 1], n_samples=20, by="organization")
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
    assert met == set(LOST)  # by luck of the seed


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

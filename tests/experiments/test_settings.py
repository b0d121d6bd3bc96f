"""Settings of experiments: bounds, and what parts depend on."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import bayespool
from bayespool import experiments
from bayespool.errors import InputError
from bayespool.experiments import LeaveOutSettings, PoolWidthSettings


def test_values_out_of_bounds() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"top": None}, "top cannot be None"),
        ({"top": float("nan")}, "top cannot be nan"),
        ({"by": "topic"}, "by cannot be 'topic'"),
        ({"pool_depth": 0}, "pool_depth cannot be 0"),
        ({"by": "cluster", "n_clusters": 1}, "n_clusters cannot be 1"),
        ({"n_clusters": 3}, "organizations are left out"),
        ({"by": "run", "n_clusters": 3}, "runs are left out"),
        ({"by": "cluster", "top_pool": "kept"}, "top_pool 'kept'"),
        ({"by": "type"}, "which type is each run of"),
        ({"run_types": {"a": "x"}}, "run_types is for types, and organizations are left out"),
        ({"by": "type", "run_types": {"a": "x"}, "top_pool": "kept"}, "top_pool 'kept'"),
    ]
    for options, message in refused:
        with pytest.raises(InputError, match=message):
            LeaveOutSettings.of(measures="P@10", estimators="as-judged", **options)
    with pytest.raises(InputError, match=r"\['truth'\]; vary_pool_width has .*runs"):
        experiments.vary_pool_width(bayespool.load_example(), truth="full")


def test_a_measure_may_look_as_deep_as_the_pools_and_no_deeper() -> None:
    asked = PoolWidthSettings.of(measures="P@10", estimators="as-judged", pool_depth=10)
    assert asked.pool_depth == 10
    with pytest.raises(InputError, match=r"P@10 looks deeper than the pools, .* depth 9; take P@9"):
        PoolWidthSettings.of(measures=["P@5", "P@10"], estimators="as-judged", pool_depth=9)


def test_five_clusters_where_nothing_is_said() -> None:
    asked = LeaveOutSettings.of(measures="P@10", estimators="as-judged", by="cluster")
    assert asked.n_clusters == asked.describe()["n_clusters"] == 5
    assert LeaveOutSettings.of(measures="P@10", estimators="as-judged").n_clusters is None


def test_what_parts_depend_on() -> None:
    asked = LeaveOutSettings.of(measures="P@10", estimators="as-judged", top=50)
    assert "top" in asked.describe()
    assert set(asked.describe()) - set(asked.describe_parts()) == {"top", "test", "n_clusters"}
    kept = LeaveOutSettings.of(measures="P@10", estimators="as-judged", top=50, top_pool="kept")
    assert kept.describe_parts()["top"] == 50
    pools = PoolWidthSettings.of(measures=["P@5"], estimators="as-judged", widths=[2], run_types={"a": "x"})
    assert set(pools.describe()) - set(pools.describe_parts()) == {"widths", "n_samples"}
    assert pools.describe()["run_types"] == {"a": "x"}
    assert pickle.loads(pickle.dumps(pools)) == pools

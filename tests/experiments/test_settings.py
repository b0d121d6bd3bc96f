"""Settings of experiments, and the estimators that they take: bounds, and what parts depend on."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest
from toys import toy_collection

from bayespool.corrections import Background, Interpolated, SystemsAdjustment, TopicsAdjustment
from bayespool.errors import InputError
from bayespool.experiments import (
    LeaveOutSettings,
    PoolWidthSettings,
    leave_out,
    load_example,
    vary_pool_width,
)
from bayespool.experiments.preparing import versions_of_own


def test_what_cannot_be_is_refused() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"by": "topic"}, "by cannot be 'topic'"), ({"top": 0}, "top cannot be 0"),
        ({"top": None}, "top cannot be None"), ({"top": float("nan")}, "top cannot be nan"),
        ({"truth": "false"}, "truth cannot be"), ({"top_pool": "some"}, "top_pool cannot be"),
        ({"denominator": "pool"}, "denominator cannot be"), ({"test": "sign"}, "test cannot be"),
        ({"unseen": "all"}, "unseen cannot be"), ({"ci_prob": 1.0}, "ci_prob cannot be 1.0"),
        ({"random_seed": -1}, "random_seed cannot be -1"), ({"estimators": []}, "no estimator given"),
        ({"pool_depth": 0}, "pool_depth cannot be 0"), ({"n_clusters": 3}, "organizations are left out"),
        ({"by": "cluster", "n_clusters": 1}, "n_clusters cannot be 1"),
        ({"by": "run", "n_clusters": 3}, "runs are left out"), ({"by": "type"}, "which type is each run of"),
        ({"by": "cluster", "top_pool": "kept"}, "top_pool 'kept'"), ({"measures": "MAP"}, "needs a cutoff"),
        ({"run_types": {"a": "x"}}, "run_types is for types, and organizations are left out"),
        ({"by": "type", "run_types": {"a": "x"}, "top_pool": "kept"}, "top_pool 'kept'"),
        ({"estimators": "oracle"}, "no estimator 'oracle'"),
        ({"estimators": "posterior-ratio", "priors": {"zzz": "Normal(0, 1)"}}, "prior 'zzz'"),
        ({"estimators": "topics-adjustment"}, "common-topics"),
        ({"estimators": [TopicsAdjustment(common_query_ids=("1",))]}, "common-topics"),
        ({"depth": 5}, r"\['depth'\]; leave_out has .*top_pool.*estimators have .*draws"),
        *(({"estimators": [x]}, "neither the name of an estimator") for x in (3, Background, object())),
    ]  # fmt: skip
    for options, message in refused:
        with pytest.raises(InputError, match=message):
            leave_out(toy_collection(), **{"measures": "P@3"} | options)
    with pytest.raises(InputError, match=r"\['truth'\]; vary_pool_width has .*runs"):
        vary_pool_width(load_example(), truth="full")


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


def test_estimators_under_labels() -> None:
    found = leave_out(
        load_example(), "P@10", estimators={"paper": "background(e=0.05)", "mine": Interpolated(c=0.5)}
    )
    assert found.to_frame("summary")["estimator"].tolist() == ["paper", "mine"]
    twins = ["background(e=0.05)", "background(e=0.01)", "as-judged"]
    found = leave_out(load_example(), "P@10", estimators=twins)
    assert found.to_frame("summary")["estimator"].tolist() == twins
    assert found.settings.describe()["estimators"]["background(e=0.05)"]["e"] == 0.05
    # the estimand is that of the truth
    assert {e.estimand for _, e in found.settings.estimators} == {"pooled"}
    with pytest.raises(InputError, match="two estimators are called 'background'"):
        leave_out(load_example(), "P@10", estimators=[Background(e=0.1), Background(e=0.2)])


def test_pools_that_leave_nothing() -> None:
    no_pool = toy_collection(pooled_run_ids=(), pool_depth=0)
    with pytest.raises(InputError, match="no pooled run to leave out"):
        leave_out(no_pool, "P@3")
    one = toy_collection(pooled_run_ids=("n1", "n2"))
    with pytest.raises(InputError, match="only one organization was pooled"):
        leave_out(one, "P@3")
    assert len(leave_out(one, "P@3", by="run", estimators="as-judged").to_frame()) == 2


def test_the_base_of_an_adjustment_has_a_version() -> None:
    class Mine(Background):
        version = "3"

    base = dataclasses.dataclass(frozen=True, kw_only=True)(Mine)()
    versions = versions_of_own([("mine", SystemsAdjustment(base=base)), ("plain", SystemsAdjustment())])
    assert list(versions["own estimators"]) == ["base of mine"]
    assert versions["own estimators"]["base of mine"].endswith("3")

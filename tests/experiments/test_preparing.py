"""Estimators and settings that an experiment takes and refuses."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from toys import toy_collection

from bayespool.corrections import Background, Interpolated, SystemsAdjustment, TopicsAdjustment
from bayespool.errors import InputError
from bayespool.experiments import leave_out, load_example
from bayespool.experiments.preparing import versions_of_own


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


def test_settings_that_are_none() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"by": "topic"}, "by cannot be 'topic'"),
        ({"top": 0}, "top cannot be 0"),
        ({"truth": "false"}, "truth cannot be"),
        ({"top_pool": "some"}, "top_pool cannot be"),
        ({"denominator": "pool"}, "denominator cannot be"),
        ({"test": "sign"}, "test cannot be"),
        ({"unseen": "all"}, "unseen cannot be"),
        ({"ci_prob": 1.0}, "ci_prob cannot be 1.0"),
        ({"random_seed": -1}, "random_seed cannot be -1"),
        ({"estimators": []}, "no estimator given"),
        ({"estimators": "oracle"}, "no estimator 'oracle'"),
        ({"estimators": "posterior-ratio", "priors": {"zzz": "Normal(0, 1)"}}, "prior 'zzz'"),
        ({"estimators": "topics-adjustment"}, "common-topics"),
        ({"estimators": [TopicsAdjustment(common_query_ids=("1",))]}, "common-topics"),
        ({"measures": "MAP"}, "needs a cutoff"),
        ({"depth": 5}, r"\['depth'\]; leave_out has .*top_pool.*estimators have .*draws"),
    ]
    for arguments, message in refused:
        with pytest.raises(InputError, match=message):
            leave_out(toy_collection(), **{"measures": "P@3", **arguments})
    for thing in (3, Background, object()):
        with pytest.raises(InputError, match="neither the name of an estimator nor one"):
            leave_out(toy_collection(), "P@1", estimators=[thing])  # type: ignore[list-item]


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

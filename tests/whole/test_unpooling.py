"""A run taken out of the pool as if it were new; what a pool of several depths is to those who ask it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import toys
from commands import Outcome, campaign
from depths import DEEP, collection_of
from real import read_real
from small import small_simulation
from toys import from_rankings, toy_collection
from wide import note_of, wide

from bayespool import load_example, score
from bayespool.collection import Collection
from bayespool.collection.contents import DepthPool
from bayespool.collection.own import unpool_runs
from bayespool.errors import InputError
from bayespool.evidence import judgment_counts
from bayespool.evidence.bounds import unjudged_documents
from bayespool.experiments import leave_out
from bayespool.experiments.design import whole_pool
from bayespool.pooling import discover_pool

QUICK = {"estimators": ["interpolated", "posterior-background"], "posterior_settings": "draws=50"}


@pytest.fixture(scope="module")
def example() -> Collection:
    return load_example()


def test_a_run_leaves_with_its_organization(example: Collection) -> None:
    found = score(example, unpool="north-1", **QUICK)  # type: ignore[arg-type]
    alone = score(example.unpool(organization="north"), "north-1", **QUICK)  # type: ignore[arg-type]
    drop = ["note"]
    pd.testing.assert_frame_equal(wide(found).drop(columns=drop), wide(alone).drop(columns=drop))
    assert found.run_ids == ("north-1",)
    assert wide(found)["residual"][0] > 0
    assert note_of(found, "north-1", found.measures[0]).startswith(
        "as if new: its organization taken out of the pool"
    )
    assert found.metadata["unpooled"] == {"north-1": "organization north"}
    assert found.metadata["pool"]["n_pooled_runs"] == 19


def test_a_run_leaves_alone(example: Collection) -> None:
    found = score(example, unpool="north-1", unpool_by="run", **QUICK)  # type: ignore[arg-type]
    alone = score(example.unpool("north-1"), "north-1", **QUICK)  # type: ignore[arg-type]
    pd.testing.assert_frame_equal(wide(found).drop(columns="note"), wide(alone).drop(columns="note"))
    assert found.metadata["pool"]["n_pooled_runs"] == 20


def test_names_that_cannot_be_taken_out(example: Collection) -> None:
    for names, by, message in (
        ("nobody", "organization", "'nobody' is neither a run nor an organization; runs: 'coast-1'"),
        ("north", "run", "'north' is an organization"),
        ("north-1", "topic", "unpool_by cannot be 'topic'"),
        ("new-a", "run", "run new-a is not in the pool"),
    ):
        with pytest.raises(InputError, match=message):
            unpool_runs(example, [names], by=by)  # type: ignore[arg-type]


def test_a_run_with_the_name_of_another_organization(example: Collection) -> None:
    organizations = tuple("south-1" if o == "north" else o for o in example.organizations)
    with pytest.raises(InputError, match="'south-1' is a run and an organization of other runs"):
        unpool_runs(dataclasses.replace(example, organizations=organizations), ["south-1"])
    # without a list each run is an organization of its name, and both are the same
    own = from_rankings(
        {"a": {"1": "xy"}, "b": {"1": "y"}}, {"1": {"x": 1, "y": 0}}, {}, pooled_run_ids=("a", "b")
    )
    smaller, taken = unpool_runs(own, ["a"])
    assert (taken, smaller.pooled_run_ids) == ({"a": "organization a"}, ("b",))


def test_pool_depth_re_pools(example: Collection) -> None:
    found = score(example, "new-a", repool_to=5, estimators="as-judged")
    shallow = judgment_counts(example.truncate_pool(5), "new-a", cutoffs=10)
    assert wide(found)["residual"][0] == pytest.approx(shallow.residual.mean())
    assert wide(found)["residual"][0] > wide(score(example, "new-a", estimators="as-judged"))["residual"][0]
    with pytest.raises(InputError, match="cannot re-pool to depth 11"):
        score(example, "new-a", repool_to=11)


def test_command_says_what_is_wrong(run: Callable[..., Outcome], tmp_path: Path) -> None:
    small_simulation().write(tmp_path)
    for more, message in (((), "no run to score"), (("--unpool", "nobody"), "neither a run nor")):
        done = run("score", *campaign(tmp_path), *more)
        assert (done.status, done.out) == (1, "")
        assert message in done.err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayespool.errors.PoolWarning")
def test_truth_is_inside_the_interval_of_a_run_of_deep_learning(collections: Path) -> None:
    run_id = "watprf"
    collection = read_real(collections / "dl21-passage")
    truth = judgment_counts(collection, run_id, cutoffs=10, rel=2).lower.mean()
    for by in ("organization", "run"):
        found = score(
            collection, None, "P(rel=2)@10", unpool=run_id, unpool_by=by, estimators="posterior-combined"
        )
        row = wide(found).iloc[0]
        assert row["residual"] > 0
        assert row["posterior-combined_lower"] <= truth <= row["posterior-combined_upper"]


# --- pools of several depths ---


def uneven_toy() -> Collection:
    return toy_collection().with_pool(toy_collection().pooled, DepthPool(3, (1, 2, 3, 3, 2)))


def test_pooled_estimand_goes_to_each_runs_own_depth() -> None:
    """Topic 1: d and e of n1 at 4 and 5, l, d and m of u at 2, 3 and 5 are unjudged."""
    even, uneven = toy_collection(), uneven_toy()
    counts = [
        judgment_counts(c, ["n1", "u"], cutoffs=5, estimand=estimand).n_unjudged[:, 0, 0].tolist()
        for c, estimand in ((even, "complete"), (even, "pooled"), (uneven, "complete"), (uneven, "pooled"))
    ]
    assert counts == [[2, 3], [0, 2], [2, 3], [0, 1]]
    run, topic, rank, pair = unjudged_documents(uneven, ["n1", "u"], cutoff=5, estimand="pooled")
    told = [
        (int(r), int(t), int(k), uneven.doc_id(p)) for r, t, k, p in zip(run, topic, rank, pair, strict=True)
    ]
    assert told == [(1, 0, 2, "l"), (1, 2, 1, "e"), (1, 2, 2, "f")]


def test_random_pools_go_down_to_the_shallowest_run() -> None:
    uneven = collection_of({**DEEP, "x": 4, "y": 4})
    uneven = discover_pool(uneven)
    whole = whole_pool(uneven, "pooled", None)
    assert whole.run_depths(np.arange(5)).tolist() == [4] * 5
    assert (whole.relevance >= 0).sum() == 5 * 4 * 10  # runs, ranks, topics
    with pytest.raises(InputError, match="pool depth 5 is not between 1 and 4"):
        whole_pool(uneven, "pooled", 5)
    everyone = whole_pool(uneven, "all", None)
    assert everyone.run_depths(np.arange(5)).tolist() == [10] * 5
    assert (everyone.relevance >= 0).sum() == 5 * 10 * 10


def test_truth_of_runs_of_several_depths() -> None:
    """r2 went to rank 2 and brought b, r1 did not: with r1 back alone nobody has judged its second document.

    The common depth is 2, so that a rule that looks at it alone would take b as r1's own.
    """
    collection = toys.from_rankings(
        {"r1": {"1": "ab"}, "r2": {"1": "cb"}, "s": {"1": "dz"}},
        {"1": {"a": 1, "b": 1, "c": 0, "d": 0, "z": 0}},
        {"r1": "r", "r2": "r", "s": "s"},
        pooled_run_ids=("r1", "r2", "s"),
        pool_depth={"r1": 1, "r2": 2, "s": 2},
    )
    for truth, expected in (("repooled", [0.5, 0.5, 0.0]), ("full", [1.0, 0.5, 0.0])):
        frame = leave_out(collection, "P@2", estimators="as-judged", truth=truth).to_frame()
        assert dict(zip(frame["run_id"], frame["truth"], strict=True)) == dict(
            zip(("r1", "r2", "s"), expected, strict=True)
        )

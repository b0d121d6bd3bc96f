"""A run of the campaign as if it were new: taken out of the pool, scored, compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import Outcome
from real import read_real
from toys import from_rankings
from wide import note_of, wide

from bayespool import Collection, judgment_counts, load_example, score
from bayespool.errors import InputError
from bayespool.experiments import simulate_example
from bayespool.pooling.discovery import take_out

QUICK = {"estimators": ["interpolated", "posterior-background"], "draws": 50}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("example")
    simulate_example().write(folder)
    return folder


def files(folder: Path) -> list[Path | str]:
    names = ("--qrels", folder / "qrels.txt", "--pool", folder / "pool")
    return [*names, "--organizations", folder / "organizations.csv"]


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
        "as if new: organization north taken out of the pool"
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
        ("north-1", "topic", "cannot take out by 'topic'"),
        ("new-a", "run", "run new-a is not in the pool"),
    ):
        with pytest.raises(InputError, match=message):
            take_out(example, names, by=by)  # type: ignore[arg-type]


def test_a_run_with_the_name_of_another_organization(example: Collection) -> None:
    organizations = tuple("south-1" if o == "north" else o for o in example.organizations)
    with pytest.raises(InputError, match="'south-1' is a run and an organization of other runs"):
        take_out(dataclasses.replace(example, organizations=organizations), "south-1")
    # without a list each run is an organization of its name, and both are the same
    own = from_rankings(
        {"a": {"1": "xy"}, "b": {"1": "y"}}, {"1": {"x": 1, "y": 0}}, {}, pooled_run_ids=("a", "b")
    )
    smaller, taken = take_out(own, "a")
    assert (taken, smaller.pooled_run_ids) == ({"a": "organization a"}, ("b",))


def test_pool_depth_re_pools(example: Collection) -> None:
    found = score(example, "new-a", pool_depth=5, estimators="as-judged")
    shallow = judgment_counts(example.truncate_pool(5), "new-a", cutoffs=10)
    assert wide(found)["residual"][0] == pytest.approx(shallow.residual.mean())
    assert wide(found)["residual"][0] > wide(score(example, "new-a", estimators="as-judged"))["residual"][0]
    with pytest.raises(InputError, match="pool depth 11"):
        score(example, "new-a", pool_depth=11)


def test_command_says_what_is_wrong(run: Callable[..., Outcome], written: Path) -> None:
    for more, message in (((), "no run to score"), (("--unpool", "nobody"), "neither a run nor")):
        done = run("score", *files(written), *more)
        assert (done.status, done.out) == (1, "")
        assert message in done.err


@pytest.mark.slow
@pytest.mark.parametrize("run_id", ["watprf"])
@pytest.mark.filterwarnings("ignore::bayespool.errors.PoolWarning")
def test_truth_is_inside_the_interval_of_a_run_of_deep_learning(collections: Path, run_id: str) -> None:
    collection = read_real(collections / "dl21-passage")
    truth = judgment_counts(collection, run_id, cutoffs=10, rel=2).lower.mean()
    for by in ("organization", "run"):
        found = score(
            collection, None, "P(rel=2)@10", unpool=run_id, unpool_by=by, estimators="posterior-combined"
        )
        row = wide(found).iloc[0]
        assert row["residual"] > 0
        assert row["posterior-combined_lower"] <= truth <= row["posterior-combined_upper"]

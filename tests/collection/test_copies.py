"""A run to score that ranks as a run of the pool counts as that run, under its name or another."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small import small_simulation
from toys import from_rankings

from bayespool import read_collection, score
from bayespool.collection import Collection, build_collection
from bayespool.collection.copies import (
    find_copied_organizations,
    find_copies,
    join_copied_organizations,
    run_overlap,
)
from bayespool.errors import InputError
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.distance import distance_from_pool

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copies")
    small_simulation().write(folder)
    return folder


@pytest.fixture
def campaign(folder: Path) -> dict[str, Any]:
    return {"pool": folder / "pool", "organizations": folder / "organizations.csv"}


def test_what_is_a_copy() -> None:
    """Pooled to depth 2: what ranks alike down to there and as far as both go."""
    rankings = {
        "a": {"1": "vwxyz", "2": "pqr"},
        "same": {"1": "vwxyz", "2": "pqr"},
        "cut": {"1": "vwx", "2": "pq"},
        "cut above the depth": {"1": "v", "2": "pq"},
        "longer": {"1": "vwxyz", "2": "pqrs"},
        "other below": {"1": "vwxzy", "2": "pqr"},
        "other at the top": {"1": "wvxyz", "2": "pqr"},
        "a topic less": {"1": "vwxyz"},
    }
    judged = {"1": {"v": 1, "w": 0}, "2": {"p": 0, "q": 1}}
    collection = from_rankings(rankings, judged, pooled_run_ids=("a",), pool_depth=2)
    found = find_copies(collection, collection.run_ids)
    assert dict(found) == {"same": "a", "cut": "a", "longer": "a"}
    assert find_copies(collection.unpool("a"), collection.run_ids) == ()


def test_overlap_of_rankings_that_are_short_or_missing() -> None:
    """Over the longer of the two, at most ten; a topic that one lacks counts 0."""
    runs = {
        "deep": {"1": "abcdefghijklmnop", "2": "xy"},
        "other": {"1": "jihgfklmno", "2": "x"},
        "short": {"1": "ab"},
        "twin": {"1": "ba"},
        "none": {"3": "q"},
    }
    judged = {q: dict.fromkeys("".join(r.get(q, "") for r in runs.values()), 1) for q in ("1", "2", "3")}
    collection = from_rankings(runs, judged, pooled_run_ids=tuple(runs), pool_depth=2)
    found = run_overlap(collection, np.arange(5))
    order = [sorted(runs).index(run) for run in runs]
    # deep and other share f to j of ten, and x of two; deep and short a and b of ten, and nothing of two
    assert found[np.ix_(order, order)].tolist() == [
        [1, (0.5 + 0.5) / 2, (0.2 + 0) / 2, (0.2 + 0) / 2, 0],
        [0.5, 1, 0, 0, 0],
        [0.1, 0, 1, 1, 0],
        [0.1, 0, 1, 1, 0],
        [0, 0, 0, 0, 1],
    ]


def test_what_is_a_copied_organization() -> None:
    """Each run of it has nine of its ten documents in one run of the other: a is not d's for b's sake."""
    one, two, own = "abcdefghij", "klmnopqrst", "uvwxyzABCD"
    rankings = {
        "a-1": one,
        "a-2": two,
        "b": "jihgfedcb" + "u",  # nine of a-1, in another order
        "c": two,
        "d-1": one,  # with a run that a lacks
        "d-2": own,
        "e": "abcdefgh" + "uv",  # eight
        "unpooled": one,
    }
    collection = from_rankings(
        {run: {"1": ranking} for run, ranking in rankings.items()},
        {"1": dict.fromkeys(one + two + own, 1)},
        organizations={run: run[0] for run in rankings},
        pooled_run_ids=tuple(run for run in rankings if run != "unpooled"),
        pool_depth=10,
    )
    assert find_copied_organizations(collection) == (("a", "b", "c"),)
    joined = join_copied_organizations(collection)
    names = [joined.organizations[o] for o in joined.organization]
    assert dict(zip(joined.run_ids, names, strict=True)) == {
        **{run: "a" for run in ("a-1", "a-2", "b", "c")},
        **{run: run[0] for run in ("d-1", "d-2", "e", "unpooled")},
    }
    without = collection.unpool(["a-1", "a-2", "b"])
    assert join_copied_organizations(without) is without


def with_copies(*, of_one: bool) -> Collection:
    """A pool in which south has the rankings of north, as an organization of its own or as north."""
    simulation = small_simulation()
    runs = {run.run_id: run for run in simulation.runs}
    north = [run for run, name in simulation.organizations.items() if name == "north"]
    twins = [dataclasses.replace(runs[run], run_id=f"twin of {run}") for run in north]
    organizations = simulation.organizations | {run.run_id: "north" if of_one else "twins" for run in twins}
    pooled = [run for run in organizations if run not in simulation.new_run_ids]
    return build_collection(
        [*simulation.runs, *twins],
        simulation.qrels,
        organizations=organizations,
        pooled_run_ids=pooled,
        pool_depth=simulation.collection.pool_depth,
    )


def test_posteriors_count_copied_organizations_as_one() -> None:
    """Newcomers have the posterior that they have where the copies are listed as one organization."""
    estimator = PosteriorEstimator(draws=50)
    (apart,), (together,) = (estimator.estimate(with_copies(of_one=one)) for one in (False, True))
    np.testing.assert_array_equal(apart.draws.means(), together.draws.means())
    (without,) = estimator.estimate(small_simulation().collection)
    assert apart.std == pytest.approx(without.std, rel=0.2)


def columns(collection: Collection, **settings: Any) -> pd.DataFrame:
    """Scores of the one run of a collection, without its name."""
    scores = score(collection, measures=["P@20", "nDCG@20"], estimators="all", **settings)
    return scores.to_frame().drop(columns=["run_id", "note"], errors="ignore")


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
@pytest.mark.parametrize("unpool", [False, True])
def test_a_renamed_run_has_the_values_of_the_run(
    folder: Path, campaign: dict[str, Any], tmp_path: Path, *, unpool: bool
) -> None:
    """All estimators, in the pool and as new; the campaign's evidence counts once."""
    shutil.copy(folder / "pool" / "east-1.run", tmp_path / "mine.run")
    judgments = folder / "qrels.txt"
    original = read_collection(judgments, folder / "pool" / "east-1.run", **campaign)
    copy = read_collection(judgments, tmp_path / "mine.run", **campaign)
    assert copy.given_run_ids == ("mine",)
    assert copy.copied_runs == (("mine", "east-1"),)
    assert copy.scope_notes == ("mine ranks as east-1 of the pool, and counts as that run",)
    names = ("east-1", "mine") if unpool else ((), ())
    expected, found = (columns(c, unpool=u) for c, u in zip((original, copy), names, strict=True))
    pd.testing.assert_frame_equal(found, expected)
    assert (score(copy, unpool=names[1], measures="P@20").notes()[0]).startswith("mine ranks as east-1")
    distance = distance_from_pool(copy, ["mine"])
    assert distance.new_kind.tolist() == [0]
    if unpool:  # alone, too: what leaves is the run of the pool
        alone = score(copy, unpool="mine", unpool_by="run", measures="P@20", estimators="as-judged")
        assert alone.metadata["pool"]["n_pooled_runs"] == len(copy.pooled_run_ids) - 1
        again = copy.unpool(organization="east")
        assert distance_from_pool(again, ["mine"]).new_kind[0] > 0


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_a_file_of_another_folder_is_the_run_of_the_pool_if_it_ranks_as_it(
    folder: Path, campaign: dict[str, Any], tmp_path: Path
) -> None:
    """Scores and lines may differ: ranks decide. With other ranks the two cannot have one name."""
    original = folder / "pool" / "west-1.run"
    lines = [line.split() for line in original.read_text().splitlines()]
    for line in lines:
        line[4] = f"{1000 - int(line[3])}"
    file = tmp_path / "west-1.run"
    file.write_text("".join(f"{' '.join(line)}\n" for line in reversed(lines)))
    found = read_collection(folder / "qrels.txt", file, **campaign)
    expected = read_collection(folder / "qrels.txt", original, **campaign)
    assert (found.given_run_ids, found.run_ids) == (("west-1",), expected.run_ids)
    assert np.array_equal(found.document, expected.document)
    file.write_text("".join(f"{' '.join(line)}\n" for line in lines[1:]))
    with pytest.raises(InputError, match="two runs are called 'west-1'"):
        read_collection(folder / "qrels.txt", file, **campaign)

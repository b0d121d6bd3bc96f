"""A run to score that ranks as a run of the pool counts as that run, under its name or another."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small import small_simulation
from toys import from_rankings

from bayespool import read_collection, score
from bayespool.collection import Collection
from bayespool.collection.copies import find_copies
from bayespool.errors import InputError
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

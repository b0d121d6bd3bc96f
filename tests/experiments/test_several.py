"""Leave-out experiments on several collections."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from left_out import stored
from small import small
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.corrections import Background
from bayespool.errors import InputError
from bayespool.experiments import LeaveOutSeveralResult, leave_out, leave_out_several
from bayespool.experiments.leave_out_results import over_collections
from bayespool.measures import Estimates
from bayespool.report.stored import read_result

NAN = float("nan")
POINTS = ["as-judged", "background", "systems-adjustment"]
NARROWED = "north-1"


def two_runs(relevant: str) -> Collection:
    """Runs of two organizations with documents of their own on two topics; all of some runs' are relevant."""
    runs = {run: {topic: f"{run}{run.upper()}" for topic in "12"} for run in "xy"}
    levels = {topic: {doc: int(doc.lower() in relevant) for doc in "xXyY"} for topic in "12"}
    levels["1"]["z"] = 1  # that no run has
    return from_rankings(
        runs, levels, organizations={"x": "one", "y": "two"}, pooled_run_ids=("x", "y"), pool_depth=2
    )


@pytest.fixture(scope="module")
def by_hand() -> LeaveOutSeveralResult:
    """True scores are 1 and 0, 1 and 1, 0 and 0; as judged they are 0, and by the background one half."""
    collections = {"half": two_runs("x"), "all": two_runs("xy"), "none": two_runs("")}
    return leave_out_several(collections, "P@2", estimators=["as-judged", "background(e=0.5)"])


@pytest.fixture(scope="module")
def pools() -> LeaveOutSeveralResult:
    """Three pools of the small collection's runs, one of them shallow, whose runs differ in reliability."""
    whole = small()
    collections = {"shallow": whole.truncate_pool(5), "whole": whole, "narrow": whole.unpool([NARROWED])}
    return leave_out_several(collections, ["P@3", "P@2"], estimators=POINTS)


def test_counts_and_means_are_those_worked_out_by_hand(by_hand: LeaveOutSeveralResult) -> None:
    mae = by_hand.to_frame("summary").pivot(index="collection", columns="estimator", values="mae")
    assert mae["as-judged"].to_dict() == {"half": 0.5, "all": 1.0, "none": 0.0}
    assert set(mae["background"]) == {0.5}
    rows = by_hand.to_frame("overall").set_index("estimator")
    columns = ["n_collections", "n_best", "n_worst", "n_averaged"]
    assert rows.loc["as-judged", columns].tolist() == [3, 2, 2, 2]
    assert rows.loc["background", columns].tolist() == [3, 2, 2, 2]
    assert rows.loc["as-judged", "geometric_mean"] == pytest.approx(np.sqrt(0.5))
    assert rows.loc["background", "geometric_mean"] == pytest.approx(0.5)
    change = by_hand.to_frame("summary").set_index(["collection", "estimator"])["mae_change"]
    assert change["half", "background"] == 0
    assert change["all", "background"] == -50
    assert np.isnan(change["none", "background"])  # of an error of 0
    assert (
        "P@2: the geometric mean of the MAE leaves out 1 of 3 collections, where it is 0 for an estimator"
        in (by_hand.notes())
    )
    assert by_hand.sentences()[0] == "Each organization left out in turn, of 3 collections: half, all, none."
    assert by_hand.sentences()[1].startswith(
        "P@2: background has the smallest MAE in 2 of 3 collections, ties "
    )
    assert by_hand.sentences()[1].endswith("geometric mean of its MAE is 0.5000 against 0.7071 as judged.")


def test_ties_count_for_each_estimator() -> None:
    errors = np.array([[1.0, 1.0, 3.0], [2.0, 4.0, 8.0], [0.0, 1.0, 1.0], [NAN, 4.0, 2.0], [NAN, NAN, NAN]])
    columns = over_collections(pd.DataFrame(errors))
    assert {name: list(values) for name, values in columns.items() if name != "geometric_mean"} == {
        "n_collections": [3, 4, 4],
        "n_best": [3, 1, 1],
        "n_worst": [0, 2, 3],
        "n_averaged": [2, 3, 3],
    }
    np.testing.assert_allclose(columns["geometric_mean"], [np.sqrt(2), 16 ** (1 / 3), 48 ** (1 / 3)])
    assert np.isnan(over_collections(pd.DataFrame(np.zeros((2, 1))))["geometric_mean"]).all()


def test_each_collection_has_the_numbers_of_its_own_experiment(pools: LeaveOutSeveralResult) -> None:
    one = leave_out(small().truncate_pool(5), ["P@3", "P@2"], estimators=POINTS)
    for name in ("summary", "runs"):
        rows = pools.to_frame(name)
        mine = rows[rows["collection"] == "shallow"].reset_index(drop=True)
        mine = mine.drop(columns=["collection", "mae_change"], errors="ignore")
        pd.testing.assert_frame_equal(mine, one.to_frame(name))
    change = pools.to_frame().set_index(["collection", "measure", "estimator"])["mae_change"]
    assert change["shallow", "P@3", "background"] == one.mae_change("P@3", "background")
    assert pools.metadata["collections"]["shallow"]["fingerprint"] == one.fingerprint
    alone = leave_out_several({"small": small()}, "P@5", estimators="background")
    assert alone.to_frame()["mae_change"].isna().all()


def test_what_is_read_back_says_the_same(pools: LeaveOutSeveralResult, tmp_path: Path) -> None:
    for path in (tmp_path / "folder", tmp_path / "file.json"):
        pools.save(path)
        again = read_result(path)
        assert again.read() == pools.read()
        assert (again.notes(), again.sentences(), again.title) == (
            pools.notes(),
            pools.sentences(),
            pools.title,
        )
        assert again.metadata["collections"] == json.loads(json.dumps(pools.metadata["collections"]))
    again.write_report(tmp_path / "report.html")
    assert "number of collections where an estimator is best" in (tmp_path / "report.html").read_text("utf-8")


@dataclass(frozen=True, kw_only=True)
class Stopping(Background):
    """It stops where there is a file."""

    version = "1"

    file: str

    def estimate(
        self, collection: Collection, run_ids: object = None, measures: object = "P@10"
    ) -> tuple[Estimates, ...]:
        if collection.pool_depth == 5 and Path(self.file).exists():
            raise KeyboardInterrupt
        return super().estimate(collection, run_ids, measures)  # type: ignore[arg-type]


def test_an_interrupted_experiment_goes_on_from_its_folds(tmp_path: Path) -> None:
    collections = {"ten": small(), "five": small().truncate_pool(5)}
    asked: Any = {"measures": "P@5", "estimators": ["as-judged", Stopping(file=str(tmp_path / "stop"))]}
    folder, steps = tmp_path / "result", list[tuple[int, int]]()
    (tmp_path / "stop").touch()
    with pytest.raises(KeyboardInterrupt):
        leave_out_several(collections, **asked, folder=folder)
    before = stored(folder / "ten")
    assert len(before) == 4
    with pytest.raises(InputError, match="the experiment was interrupted"):
        read_result(folder)
    (tmp_path / "stop").unlink()
    result = leave_out_several(
        collections, **asked, folder=folder, progress=lambda _, *done: steps.append(done)
    )
    assert stored(folder / "ten") == before
    assert steps == [(4, 8), *((n, 8) for n in range(4, 9))]
    whole = leave_out_several(collections, **asked)
    pd.testing.assert_frame_equal(result.to_frame("runs"), whole.to_frame("runs"))


def test_what_cannot_be_left_out_is_told_with_its_collection(tmp_path: Path) -> None:
    example, alone = small(), two_runs("x").unpool(["x"])
    with pytest.raises(InputError, match="only one organization was pooled") as caught:
        leave_out_several({"fine": example, "narrow": alone}, "P@2", folder=tmp_path)
    assert caught.value.__notes__ == ["in the collection 'narrow'"]
    assert not list(tmp_path.iterdir())  # told before the first fold
    for collections, message in (
        ({"../x": example}, r"called '\.\./x'"),
        ({"a": example, "A": example}, "called 'A'"),
        ({}, "no collection"),
    ):
        with pytest.raises(InputError, match=message):
            leave_out_several(collections)

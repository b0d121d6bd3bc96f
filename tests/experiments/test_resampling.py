"""Drawn pools and topics are stored, and gone on with."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from bayespool.collection import Collection
from bayespool.errors import ExperimentChangedWarning
from bayespool.experiments import (
    CommonTopicsResult,
    PoolWidthResult,
    RunTypesResult,
    leave_types_out,
    vary_common_topics,
    vary_pool_width,
)
from bayespool.measures import parse_measures


class _Stopped(Exception):
    pass


def stop_after(n: int) -> Callable[[int, int], None]:
    """A progress display at which the experiment is cut off, as Ctrl-C does."""

    def show(done: int, _: int) -> None:
        if done == n:
            raise _Stopped

    return show


def of_types(example: Collection, **more: Any) -> RunTypesResult:
    types = {run: ("x", "y", "z")[i % 3] for i, run in enumerate(example.pooled_run_ids)}
    return leave_types_out(example, run_types=types, estimators=["as-judged", "posterior-background"],
                           draws=20, **more)  # fmt: skip


def of_widths(example: Collection, **more: Any) -> PoolWidthResult:
    asked: dict[str, Any] = {"widths": [4], "n_samples": 3} | more
    return vary_pool_width(example, estimators=["as-judged", "posterior-background"], draws=20, **asked)


def of_common_topics(example: Collection, **more: Any) -> CommonTopicsResult:
    return vary_common_topics(example, widths=[4], n_common=[5], n_samples=3, n_topic_samples=10, **more)


@pytest.mark.slow
@pytest.mark.parametrize("experiment", [of_types, of_widths, of_common_topics])
def test_what_was_cut_off_goes_on(
    example: Collection, experiment: Callable[..., Any], tmp_path: Path
) -> None:
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        whole = experiment(example)
    with pytest.raises(_Stopped):
        experiment(example, folder=tmp_path, progress=stop_after(2))
    (stored,) = tmp_path.iterdir()
    kept = {path: path.stat().st_mtime_ns for path in stored.iterdir()}
    assert len(kept) == 2
    done: list[int] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = experiment(example, folder=tmp_path, progress=lambda n, _: done.append(n))
    assert done == [2, 3]
    assert all(path.stat().st_mtime_ns == at for path, at in kept.items())
    pd.testing.assert_frame_equal(found.to_frame(), whole.to_frame(), check_exact=True)
    pd.testing.assert_frame_equal(found.to_frame("summary"), whole.to_frame("summary"), check_exact=True)
    assert [str(w.message) for w in caught] == [str(w.message) for w in expected]


def test_more_pools_go_on_from_those_that_are_stored(example: Collection, tmp_path: Path) -> None:
    of_widths(example, folder=tmp_path)
    done: list[int] = []
    more = {"widths": [2, 4], "n_samples": 5}
    found = of_widths(example, folder=tmp_path, progress=lambda n, _: done.append(n), **more)
    assert done == [3, 4, 5, 6, 7, 8, 9, 10]
    pd.testing.assert_frame_equal(found.to_frame(), of_widths(example, **more).to_frame(), check_exact=True)


def test_types_come_in_the_order_asked_for_whatever_is_stored(example: Collection, tmp_path: Path) -> None:
    asked: dict[str, Any] = {
        "run_types": {run: ("x", "y", "z")[i % 3] for i, run in enumerate(example.pooled_run_ids)},
        "measures": ["P@5", "P@10"],
    }
    names = ["smoothed", "as-judged"]
    leave_types_out(example, types=["y"], estimators=names, folder=tmp_path, **asked)
    found = leave_types_out(example, types=["z", "y"], estimators=names[::-1], folder=tmp_path, **asked)
    expected = leave_types_out(example, types=["z", "y"], estimators=names[::-1], **asked)
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame(), check_exact=True)
    assert list(dict.fromkeys(found.to_frame("summary")["type"])) == ["z", "y"]


def test_damage_inside_a_file_is_seen(example: Collection, tmp_path: Path) -> None:
    expected = of_widths(example, folder=tmp_path).to_frame()
    path = sorted((tmp_path / "pool-width").iterdir())[0]
    table = pq.read_table(path)
    changed = table.set_column(table.column_names.index("value"), "value", pc.add(table["value"], 0.001))
    pq.write_table(changed, path)
    with pytest.warns(ExperimentChangedWarning, match="1 file of finished work cannot be read"):
        found = of_widths(example, folder=tmp_path)
    pd.testing.assert_frame_equal(found.to_frame(), expected)


@pytest.mark.slow
def test_experiments_keep_their_work_apart(example: Collection, tmp_path: Path) -> None:
    of_widths(example, folder=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExperimentChangedWarning)
        of_common_topics(example, folder=tmp_path)
        of_types(example, folder=tmp_path)
        done: list[int] = []
        of_widths(example, folder=tmp_path, progress=lambda n, _: done.append(n))
    assert done == [3]


def test_other_settings_start_afresh(example: Collection, tmp_path: Path) -> None:
    of_widths(example, folder=tmp_path)
    with pytest.warns(ExperimentChangedWarning, match="differs in estimators, random_seed; removing its"):
        found = of_widths(example, folder=tmp_path, random_seed=2)
    pd.testing.assert_frame_equal(found.to_frame(), of_widths(example, random_seed=2).to_frame())


def test_measures_of_a_result_are_in_its_settings(example: Collection) -> None:
    result = vary_pool_width(example, ["P@5", "P@10"], estimators="as-judged", widths=[2], n_samples=2)
    assert result.settings.measures == parse_measures(["P@5", "P@10"])
    described = result.settings.describe()
    assert described["measures"] == ["P@5", "P@10"]
    assert described["widths"] == (2,)
    assert described["pool_depth"] == 10
    assert described["estimators"]["as-judged"]["name"] == "as-judged"

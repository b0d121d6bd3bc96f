"""Every experiment and check on the one runner: cut off and gone on, in processes, with other settings."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from labeled import right_labels, with_judge
from pairs import Pairs

from bayespool import budgets, check_judges, leave_out
from bayespool.errors import ExperimentChangedWarning
from bayespool.experiments import (
    leave_types_out,
    load_example,
    run_design,
    vary_common_topics,
    vary_pool_width,
)
from bayespool.report import Result

DRAWN: dict[str, Any] = {"estimators": ["as-judged", "posterior-background"], "draws": 20}
FEW: dict[str, Any] = {"draws": 20, "chains": 2}


def left_out(**more: Any) -> Result:
    return leave_out(load_example(), "P@10", **DRAWN | more)


def of_types(**more: Any) -> Result:
    types = {run: ("x", "y", "z")[i % 3] for i, run in enumerate(load_example().pooled_run_ids)}
    return leave_types_out(load_example(), run_types=types, **DRAWN | more)


def of_widths(**more: Any) -> Result:
    return vary_pool_width(load_example(), **DRAWN | {"widths": [4], "n_samples": 3} | more)


def of_common_topics(**more: Any) -> Result:
    asked: dict[str, Any] = {"widths": [4], "n_common": [5], "n_samples": 3, "n_topic_samples": 10}
    return vary_common_topics(load_example(), **asked | more)


def of_budgets(**more: Any) -> Result:
    asked: dict[str, Any] = {"strategies": ["take", "borda"], "budgets": [200], "estimators": "interpolated"}
    return budgets(load_example(), "P@10", **asked | more)


def of_pairs(**more: Any) -> Result:
    return run_design(load_example(), Pairs(), "P@10", **DRAWN | more)


def with_labels(**more: Any) -> Result:
    judged = with_judge(load_example(), right_labels(), "good")
    return check_judges(judged, run_ids=(), intervals=True, model="ratio", **FEW | more)


QUICK = [of_widths, of_common_topics]
SLOW = [left_out, of_types, of_pairs, of_budgets, with_labels]


class _Stopped(Exception):
    pass


def stop(done: int, _: int) -> None:
    """A progress display at which the experiment is cut off after a part, as Ctrl-C does."""
    if done == 1:
        raise _Stopped


def assert_same(result: Result, expected: Result) -> None:
    """The same tables to the last digit, and the same notes."""
    for table, other in zip(result.tables(), expected.tables(), strict=True):
        pd.testing.assert_frame_equal(table.frame, other.frame, check_exact=True)
    assert result.notes() == expected.notes()


def kept_in(folder: Path) -> dict[Path, int]:
    """Finished parts, and when they were written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}


@pytest.mark.slow
@pytest.mark.parametrize("run", [left_out, with_labels], ids=lambda run: run.__name__)
def test_processes_change_nothing(run: Callable[..., Result]) -> None:
    assert_same(run(n_jobs=2), run())


def test_experiments_keep_their_work_apart(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"folder": tmp_path, "estimators": "as-judged"}
    of_widths(**asked)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExperimentChangedWarning)
        for run in (of_common_topics, of_types, left_out, of_pairs):
            run(**asked)
        done: list[int] = []
        of_widths(progress=lambda n, _: done.append(n), **asked)
    assert done == [3]


def test_a_model_of_ones_own_is_part_of_what_a_check_stores() -> None:
    """A changed declaration under the same name must not go on from parts of the former."""
    from bayespool.experiments import JudgesSettings
    from bayespool.experiments.judge_checks import IntervalsWithLabels
    from bayespool.models import MODELS, model_named
    from bayespool.scoring import ESTIMATORS, register_model

    spec = dataclasses.replace(model_named("background"), name="mine", description="mine")
    described = []
    try:
        for scale in (1.0, 2.0):
            register_model(dataclasses.replace(spec, source=f"version {scale}"))
            described.append(IntervalsWithLabels().describe(JudgesSettings.of(model="mine")))
    finally:
        MODELS.pop("mine", None)
        ESTIMATORS.pop("posterior-mine", None)
    assert described[0]["own models"].keys() == {"mine"}
    assert described[0] != described[1]


@pytest.mark.parametrize("run", [*QUICK, *(pytest.param(run, marks=pytest.mark.slow) for run in SLOW)])
def test_work_goes_on_after_a_cut_or_damage_and_starts_over_with_another_seed(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        whole = run()
    with pytest.raises(_Stopped):
        run(folder=tmp_path, progress=stop)
    before = kept_in(tmp_path)
    assert len(before) == 1
    done: list[tuple[int, int]] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run(folder=tmp_path, progress=lambda *counts: done.append(counts))
    kept = kept_in(tmp_path)
    n = len(kept)
    assert n > 1
    assert done == [(i, n) for i in range(1, n + 1)]
    assert before.items() <= kept.items(), "a finished part was worked out again"
    assert_same(found, whole)
    assert [str(w.message) for w in caught] == [str(w.message) for w in expected]

    path = min(kept)  # a number in it is changed
    table = pq.read_table(path)
    numbers = (field.name for field in table.schema if pa.types.is_primitive(field.type))
    name = next(name for name in numbers if table[name].null_count == 0)
    changed = table.set_column(table.column_names.index(name), name, pc.add(table[name], 1))
    pq.write_table(changed, path)
    with pytest.warns(ExperimentChangedWarning, match="1 file of finished work cannot be read"):
        assert_same(run(folder=tmp_path), whole)

    before = kept_in(tmp_path)
    with pytest.warns(ExperimentChangedWarning, match=r"differs in .*random_seed.*; removing its"):
        found = run(folder=tmp_path, random_seed=2)
    assert not before.items() & kept_in(tmp_path).items()
    assert_same(found, run(random_seed=2))

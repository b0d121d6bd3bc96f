"""Drawn pools and topics are stored, and gone on with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from bayespool.collection import Collection
from bayespool.experiments import (
    PoolWidthResult,
    leave_out,
    vary_pool_width,
)


def of_widths(example: Collection, **more: Any) -> PoolWidthResult:
    asked: dict[str, Any] = {"widths": [4], "n_samples": 3} | more
    return vary_pool_width(example, estimators=["as-judged", "posterior-background"], draws=20, **asked)


def test_more_pools_go_on_from_those_that_are_stored(example: Collection, tmp_path: Path) -> None:
    of_widths(example, folder=tmp_path)
    done: list[int] = []
    more = {"widths": [2, 4], "n_samples": 5}
    found = of_widths(example, folder=tmp_path, progress=lambda n, _: done.append(n), **more)
    assert done == [3, 4, 5, 6, 7, 8, 9, 10]
    pd.testing.assert_frame_equal(found.to_frame(), of_widths(example, **more).to_frame(), check_exact=True)


def test_types_come_in_the_order_asked_for_whatever_is_stored(example: Collection, tmp_path: Path) -> None:
    asked: dict[str, Any] = {
        "by": "type",
        "run_types": {run: ("x", "y", "z")[i % 3] for i, run in enumerate(example.pooled_run_ids)},
        "measures": ["P@5", "P@10"],
    }
    names = ["smoothed", "as-judged"]
    leave_out(example, types=["y"], estimators=names, folder=tmp_path, **asked)
    found = leave_out(example, types=["z", "y"], estimators=names[::-1], folder=tmp_path, **asked)
    expected = leave_out(example, types=["z", "y"], estimators=names[::-1], **asked)
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame(), check_exact=True)
    assert list(dict.fromkeys(found.to_frame("types")["type"])) == ["z", "y"]

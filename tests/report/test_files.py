"""Scores saved as CSV, JSON and Parquet."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from known_scores import POINT, with_posterior
from small import small

from bayespool.errors import OutputError
from bayespool.report.saving import check_output, described, json_value
from bayespool.scoring import Scores, score

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


@cache
def everything() -> Scores:
    """Two measures, point corrections and a posterior, a missing value and notes."""
    nobody = small().with_pool(np.zeros(len(small().run_ids), dtype=bool), 0)
    return with_posterior(score(nobody, ["new-a", "new-b"], ["P@5", "P(rel=2)@10"], estimators=POINT))


@pytest.mark.parametrize("per_topic", [False, True])
def test_files_hold_the_frame_and_the_metadata(per_topic: bool, tmp_path: Path) -> None:
    asked = everything().per_topic() if per_topic else everything()
    expected = everything().to_frame(per_topic=per_topic)
    csv, table, document = (tmp_path / f"scores.{ending}" for ending in ("csv", "parquet", "json"))
    for path in (csv, table, document):
        asked.save(path)
        first = path.read_bytes()
        asked.save(path)
        assert path.read_bytes() == first
    exact: Any = {"check_exact": True, "check_dtype": False}
    pd.testing.assert_frame_equal(pd.read_csv(csv, dtype={"run_id": str, "query_id": str}), expected, **exact)
    assert csv.read_bytes().count(b"\r") == 0
    pd.testing.assert_frame_equal(pd.read_parquet(table), expected, **exact)
    metadata = pq.read_table(table).schema.metadata[b"bayespool"]
    found = json.loads(document.read_text("utf-8"), parse_constant=lambda c: pytest.fail(f"{c} is no JSON"))
    assert set(found) == {"metadata", "scores", "topics", "unjudged", "indicators", "statements"}
    assert found["metadata"] == json.loads(metadata) == json_value(described(asked))
    rows = pd.DataFrame(found["topics" if per_topic else "scores"])
    pd.testing.assert_frame_equal(rows, expected, check_dtype=False, rtol=0, atol=1e-15)
    lacking = [row for row in found["scores"] if row["estimator"] == "systems-adjustment"]
    assert [row["value"] for row in lacking] == [None] * 4


def test_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name, said in (
        ("scores.txt", r"scores\.txt: cannot write \.txt; use \.csv, \.json, \.parquet"),
        ("folder.csv", "is a folder"),
        ("nowhere/scores.csv", "there is no folder .*nowhere"),
    ):
        for refuse in (check_output, everything().save):
            with pytest.raises(OutputError, match=said):
                refuse(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "folder.csv"]

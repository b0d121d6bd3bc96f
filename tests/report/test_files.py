"""Scores saved as CSV, JSON and Parquet."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

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
ENDINGS = ("csv", "json", "parquet")


def made() -> Scores:
    """Two measures, point corrections and a posterior, a missing value and notes."""
    nobody = small().with_pool(np.zeros(len(small().run_ids), dtype=bool), 0)
    return with_posterior(score(nobody, ["new-a", "new-b"], ["P@5", "P(rel=2)@10"], estimators=POINT))


everything = cache(made)


@pytest.mark.parametrize("per_topic", [False, True])
def test_files_hold_the_frame_and_the_metadata(per_topic: bool, tmp_path: Path) -> None:
    asked = everything().per_topic() if per_topic else everything()
    expected = everything().to_frame(per_topic=per_topic)
    paths = {ending: tmp_path / f"scores.{ending}" for ending in ENDINGS}
    for path in paths.values():
        asked.save(path)
    exact = {"check_exact": True, "check_dtype": False}
    read = pd.read_csv(paths["csv"], dtype={"run_id": str, "query_id": str})
    pd.testing.assert_frame_equal(read, expected, **exact)  # type: ignore[arg-type]
    assert paths["csv"].read_bytes().count(b"\r") == 0

    pd.testing.assert_frame_equal(pd.read_parquet(paths["parquet"]), expected, **exact)  # type: ignore[arg-type]
    metadata = pq.read_table(paths["parquet"]).schema.metadata[b"bayespool"]
    assert json.loads(metadata) == json_value(described(asked))

    text = paths["json"].read_text(encoding="utf-8")
    found = json.loads(text, parse_constant=lambda c: pytest.fail(f"{c} is no JSON"))
    assert set(found) == {"metadata", "scores", "topics", "unjudged", "indicators", "statements"}
    assert found["metadata"] == json_value(described(asked))
    rows = pd.DataFrame(found["topics" if per_topic else "scores"])
    assert list(rows.columns) == list(expected.columns)
    for column in expected.columns:
        if expected[column].dtype == float:
            numbers = pytest.approx(expected[column].to_numpy(), abs=1e-15, nan_ok=True)
            assert rows[column].astype(float).to_numpy() == numbers, column
        else:
            assert rows[column].tolist() == expected[column].tolist(), column
    lacking = [row for row in found["scores"] if row["estimator"] == "systems-adjustment"]
    assert [row["value"] for row in lacking] == [None] * 4


def test_output_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file.csv").write_bytes(b"a file")
    before = sorted(tmp_path.rglob("*"))
    for name, said in (
        ("scores.txt", r"scores\.txt: cannot write \.txt; use \.csv, \.json, \.parquet"),
        ("scores.csv.gz", r"cannot write \.gz"),
        ("folder.csv", "is a folder"),
        ("nowhere/scores.csv", "there is no folder .*nowhere"),
        ("file.csv/scores.csv", r"there is no folder .*file\.csv"),
    ):
        for refuse in (check_output, everything().save):
            with pytest.raises(OutputError, match=said):
                refuse(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before

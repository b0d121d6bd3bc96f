"""Scores saved as CSV, JSON and Parquet."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from known_scores import POINT, with_posterior
from toys import toy_collection

from bayespool.errors import OutputError
from bayespool.experiments import load_example
from bayespool.measures import parse_measures
from bayespool.report.saving import check_output, described, json_value
from bayespool.scoring import Scores, score

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


def everything() -> Scores:
    """Two measures, point corrections and a posterior, a missing value and notes."""
    nobody = load_example().with_pool(np.zeros(23, dtype=bool), 0)
    scores = score(nobody, ["new-a", "new-b"], ["P@5", "P(rel=2)@10"], estimators=POINT)
    return with_posterior(scores)


@pytest.mark.parametrize("per_topic", [False, True])
def test_csv_holds_the_frame(per_topic: bool, tmp_path: Path) -> None:
    scores, path = everything(), tmp_path / "scores.csv"
    (scores.per_topic() if per_topic else scores).save(path)
    found = pd.read_csv(path, dtype={"run_id": str, "query_id": str})
    expected = scores.to_frame(per_topic=per_topic)
    pd.testing.assert_frame_equal(found, expected, check_exact=True, check_dtype=False)
    assert path.read_bytes().count(b"\r") == 0


@pytest.mark.parametrize("per_topic", [False, True])
def test_json_holds_the_frame_and_the_metadata(per_topic: bool, tmp_path: Path) -> None:
    scores, path = everything(), tmp_path / "scores.json"
    (scores.per_topic() if per_topic else scores).save(path)
    found = json.loads(
        path.read_text(encoding="utf-8"), parse_constant=lambda c: pytest.fail(f"{c} is no JSON")
    )
    assert set(found) == {"metadata", "scores", "topics", "unjudged", "indicators", "statements"}
    asked = scores.per_topic() if per_topic else scores
    assert found["metadata"] == json_value(described(asked))
    expected = scores.to_frame(per_topic=per_topic)
    rows = pd.DataFrame(found["topics" if per_topic else "scores"])
    assert list(rows.columns) == list(expected.columns)
    for column in expected.columns:
        if expected[column].dtype == float:
            assert rows[column].astype(float).to_numpy() == pytest.approx(
                expected[column].to_numpy(), abs=1e-15, nan_ok=True
            )
        else:
            assert rows[column].tolist() == expected[column].tolist()
    lacking = [row for row in found["scores"] if row["estimator"] == "systems-adjustment"]
    assert [row["value"] for row in lacking] == [None] * 4


@pytest.mark.parametrize("per_topic", [False, True])
def test_parquet_holds_the_frame_and_the_metadata(per_topic: bool, tmp_path: Path) -> None:
    scores, path = everything(), tmp_path / "scores.parquet"
    (scores.per_topic() if per_topic else scores).save(path)
    table = pq.read_table(path)
    asked = scores.per_topic() if per_topic else scores
    assert json.loads(table.schema.metadata[b"bayespool"]) == json_value(described(asked))
    pd.testing.assert_frame_equal(
        pd.read_parquet(path), scores.to_frame(per_topic=per_topic), check_exact=True, check_dtype=False
    )


def test_same_scores_give_the_same_bytes(tmp_path: Path) -> None:
    for ending in ("csv", "json", "parquet"):
        one, other = tmp_path / f"one.{ending}", tmp_path / f"other.{ending}"
        everything().save(one)
        everything().save(other)
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("scores.txt", r"scores\.txt: cannot write \.txt; use \.csv, \.json, \.parquet"),
        ("scores.csv.gz", r"scores\.csv\.gz: cannot write \.gz"),
        ("folder.csv", r"folder\.csv: is a folder; name a file"),
        ("nowhere/scores.csv", r"nowhere/scores\.csv: there is no folder .*nowhere; make it first"),
        ("file.csv/scores.csv", r"file\.csv/scores\.csv: there is no folder .*file\.csv; make it first"),
    ],
)
def test_output_that_cannot_be_written_is_refused(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file.csv").write_bytes(b"a file")
    before = sorted(tmp_path.rglob("*"))
    for refuse in (check_output, lambda path: everything().save(path)):
        with pytest.raises(OutputError, match=message):
            refuse(tmp_path / name)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_what_stood_there_stays_when_the_disk_is_full(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"scores.{ending}"
    path.write_bytes(b"what stood there")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        everything().save(path)
    assert path.read_bytes() == b"what stood there"
    assert list(tmp_path.iterdir()) == [path]


def test_measures_of_a_file_are_those_asked_for(tmp_path: Path) -> None:
    measures = parse_measures(["P@3", "P@5"])
    scores = score(toy_collection(), "u", measures, estimators=["background"])
    scores.save(tmp_path / "a.csv")
    assert pd.read_csv(tmp_path / "a.csv")["measure"].tolist() == ["P@3", "P@5"]

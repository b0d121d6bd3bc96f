"""Lists about runs in CSV."""

from __future__ import annotations

from pathlib import Path

from trec_files import refused

from bayespool.collection import read_organizations
from bayespool.collection.readers import csv_entries

PATH = Path("list.csv")


def test_entries_with_their_lines() -> None:
    data = b'note, TAG ,Kind\n\nx,a, A\n"x\ny",b,\n'
    assert list(csv_entries(data, PATH, ["type", "kind"])) == [("a", "A", 3), ("b", "", 5)]


def test_usual_name_comes_first() -> None:
    data = b"kind,type,run_id,tag\nk,t,r,g\n"
    assert list(csv_entries(data, PATH, ["type", "kind"])) == [("r", "t", 2)]


def test_column_that_stands_twice(tmp_path: Path) -> None:
    """The last one was taken, without a word."""
    path = tmp_path / "list.csv"
    for header, name in (
        ("run_id,organization,organization", "organization"),
        ("run_id,Organization,organization,RUN_ID", "run_id"),
    ):
        path.write_text(f"{header}\na,X,Y\n")
        error = refused(read_organizations, path)
        assert (error.path, error.line, error.reason) == (path, 1, f"the header names {name!r} 2 times")
    path.write_text("run_id,organization,note,note\na,X,1,2\n")
    assert read_organizations(path) == {"a": "X"}

"""Lists about runs in CSV."""

from __future__ import annotations

from pathlib import Path

from trec_files import refused

from bayespool.collection import read_organizations


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

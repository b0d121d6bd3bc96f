"""Documents that a strategy chooses: tables, who contributed them, and the list for assessors."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from bayespool import load_example
from bayespool.collection import read_qrels
from bayespool.errors import OutputError
from bayespool.pooling import choose
from bayespool.scoring import DocumentsToJudge


def test_the_list_is_a_qrels_file_under_each_of_its_names(tmp_path: Path) -> None:
    example = load_example()
    found = DocumentsToJudge(example, choose(example, "take", 200), {})
    for name in ("list", "list.txt", "list.qrels", "list.txt.gz"):
        found.save(tmp_path / name)
        assert read_qrels(tmp_path / name).doc_id.equals(found.qrels().doc_id)
    assert gzip.decompress((tmp_path / "list.txt.gz").read_bytes()) == (tmp_path / "list").read_bytes()
    with pytest.raises(OutputError, match=r"cannot write .xz; use .csv, .* .gz, no ending"):
        found.save(tmp_path / "list.xz")

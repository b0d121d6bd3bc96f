"""Files that an output may replace, and files that it may not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from known_scores import POINT
from small import small

from bayespool.errors import OutputError
from bayespool.plots import render
from bayespool.report.result import write_file
from bayespool.report.saving import FORMATS
from bayespool.scoring import Scores, score
from bayespool.tables.files import as_bytes, parquet_bytes
from bayespool.tables.replacing import check_replaceable, output_kind

FOREIGN = {
    ".csv": [b"run_id,organization\na,b\n", b"Name;Price;Note\n", b"", b"a\n"],
    ".json": [b"{}", b'{"metadata": {"experiment": "score"}}', b"[1]", b"[" * 100_000, b"\xff"],
    ".parquet": [parquet_bytes({"a": [1]}), b"PAR1"],
    ".tex": [b"\\documentclass{article}\n% needs \\usepackage{booktabs}\n"],
    ".md": [b"# Readme\n<!-- bayespool 0.1.0 -->\n"],
    ".html": [b"<!DOCTYPE html><title>bayespool</title>"],
    ".png": [b"\x89PNG\r\n"],
    ".svg": [b"<?xml version='1.0'?><svg/>"],
    ".pdf": [b"%PDF-1.4 /Creator (another)"],
    ".bayespool": [b"PK\x03\x04 anything.json"],
    ".txt": [b"1 Q0 a 1 2.5 tag\n", b"a letter\n", b"1 0 a -1\nand more\n", b'{"query_id": "1"}\n'],
    "": [b"1 0 a x\n"],
    ".gz": [b"1 0 a -1\n", gzip.compress(b"a letter\n")],
}


@pytest.mark.parametrize("suffix", FOREIGN)
def test_a_foreign_file_is_of_no_kind_and_stays(suffix: str, tmp_path: Path) -> None:
    for content in FOREIGN[suffix]:
        assert output_kind(content, suffix) is None, content[:40]
        path = tmp_path / f"output{suffix}"
        path.write_bytes(content)
        if content:
            with pytest.raises(OutputError, match="is there already, and no earlier output of this command"):
                check_replaceable(path)
        else:
            check_replaceable(path)


def scores(measure: str, *estimators: str) -> Scores:
    return score(small(), ["new-a", "new-b"], measure, estimators=list(estimators))


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_is_replaced_by_the_same_command_with_other_settings(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"scores{suffix}"
    write_file(scores("P@5", "as-judged"), path, overwrite=False)
    before = path.read_bytes()
    write_file(scores("P@10", *POINT), path, overwrite=False)
    assert path.read_bytes() != before
    path.write_bytes(b"mine")
    with pytest.raises(OutputError, match="--overwrite"):
        write_file(scores("P@5", "as-judged"), path, overwrite=False)
    assert path.read_bytes() == b"mine"


def test_figures_and_reports_are_known_by_their_marks() -> None:
    figure = scores("P@5", "as-judged").plot()
    for kind in ("png", "pdf", "svg"):
        assert output_kind(render(figure, kind), f".{kind}"), kind
    assert output_kind(scores("P@5", "as-judged").page().encode(), ".html")


def test_a_table_of_another_command_stays(tmp_path: Path) -> None:
    table, document = tmp_path / "x.csv", tmp_path / "x.json"
    table.write_text("query_id,doc_id,rank,n_runs,runs,chance,expected\n1,a,1,1,a,0.1,0.1\n")
    document.write_text(json.dumps({"metadata": {"bayespool": "0.1", "experiment": "compare"}}))
    for path in (table, document):
        before = path.read_bytes()
        check_replaceable(path)  # before it is known what it would be replaced by
        with pytest.raises(OutputError, match="no earlier output of this command"):
            write_file(scores("P@5", "as-judged"), path, overwrite=False)
        assert path.read_bytes() == before


DOCUMENTS = {"query_id": ["1", "1"], "doc_id": ["a", "b"]}
MADE = {"bayespool": "0.1", "experiment": "pool"}


def listed(suffix: str, *relevance: int | None) -> bytes:
    """Two documents in a format, with their relevance."""
    rows = [(*pair, rel) for pair, rel in zip(zip(*DOCUMENTS.values(), strict=True), relevance, strict=True)]
    if suffix == ".csv":
        lines = [f"{q},{d},{'' if rel is None else rel}\n" for q, d, rel in rows]
        return "".join(["query_id,doc_id,relevance\n", *lines]).encode()
    if suffix == ".json":
        named = [dict(zip((*DOCUMENTS, "relevance"), row, strict=True)) for row in rows]
        return json.dumps({"metadata": MADE, "documents": named}).encode()
    if suffix == ".parquet":
        return parquet_bytes({**DOCUMENTS, "relevance": list(relevance)}, MADE)
    if suffix == ".jsonl":
        named = [{"query_id": q, "doc_id": d, "label": rel} for q, d, rel in rows]
        return "\n".join(map(json.dumps, named)).encode()
    lines = [f"{q} 0 {d} {-1 if rel is None else rel}\n" for q, d, rel in rows]
    return gzip.compress(as_bytes("".join(lines))) if suffix == ".gz" else as_bytes("".join(lines))


@pytest.mark.parametrize("suffix", [".txt", ".qrels", "", ".gz", ".csv", ".json", ".parquet", ".jsonl"])
def test_a_list_with_judgments_is_replaced_by_one_that_has_them(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"judge{suffix}"
    none, one, other, both = (listed(suffix, *r) for r in ((None, None), (None, 1), (None, 0), (2, 1)))
    for former, new in ((none, one), (one, one), (one, both), (none, none)):
        path.write_bytes(former)
        check_replaceable(path, new)
    for former, new, n in (
        (one, none, "1 judgment"),
        (one, other, "1 judgment"),
        (both, none, "2 judgments"),
    ):
        path.write_bytes(former)
        with pytest.raises(OutputError, match=f"holds {n} that the new list has not"):
            check_replaceable(path, new)

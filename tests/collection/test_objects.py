"""JSON, lines of JSON, and Parquet."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from trec_files import Write, judgments_of, labels_of, refused, rows_of

from bayespool import collection as trec
from bayespool.errors import InputWarning

ROWS = [("1", "a", 2), ("1", "b", 0), ("2", "my doc", 1)]
NESTED = {"1": {"a": 2, "b": 0}, "2": {"my doc": 1}}
NAMED = [dict(zip(("qid", "docid", "score"), row, strict=True)) for row in ROWS]
OF_UMBRELA = [
    {"query": {"qid": q, "text": "?"}, "passage": {"docid": d}, "prediction": "…", "judgment": v}
    for q, d, v in ROWS
]
TEXTS = {
    "nested": json.dumps(NESTED),
    "nested, indented": json.dumps(NESTED, indent=1),
    "rows": json.dumps(NAMED),
    "lines": "\n".join(map(json.dumps, NAMED)),
    "lines of topics": "\n".join(json.dumps({q: ds}) for q, ds in NESTED.items()),
}


def test_json_of_every_kind(write: Write) -> None:
    for name, text in TEXTS.items():
        path = write(text.encode())
        assert rows_of(trec.read_run(path)) == ROWS, name
        assert judgments_of(trec.read_qrels(path)) == ROWS, name
        assert labels_of(trec.read_labels(path)) == ROWS, name
        assert trec.read_qrels(path).path == path, name


def test_lists_of_documents_are_runs_in_order(write: Write) -> None:
    path = write(b'{"1": ["b", "a"], "2": ["a"]}')
    assert rows_of(trec.read_run(path)) == [("1", "b", 2.0), ("1", "a", 1.0), ("2", "a", 1.0)]
    ranked = trec.read_run(path, ranks=True)
    assert ranked.rank is not None
    assert ranked.rank.tolist() == [1, 2, 1]


def test_ranks_of_rows(write: Write, tmp_path: Path) -> None:
    rows = [{**row, "rank": rank} for row, rank in zip(NAMED, (2, 1, 7), strict=True)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "ranked")
    for path in (write(json.dumps(rows).encode()), tmp_path / "ranked"):
        run = trec.read_run(path, ranks=True)
        assert run.rank is not None
        assert run.rank.tolist() == [2, 1, 7]
        assert rows_of(run) == ROWS


def test_labels_of_umbrela(write: Write) -> None:
    assert labels_of(trec.read_labels(write("\n".join(map(json.dumps, OF_UMBRELA)).encode()))) == ROWS
    for failed in (-1, None):
        lines = [*OF_UMBRELA, {**OF_UMBRELA[0], "passage": {"docid": "z"}, "judgment": failed}]
        with pytest.warns(InputWarning, match="1 row without a label"):
            labels = trec.read_labels(write("\n".join(map(json.dumps, lines)).encode()))
        assert labels_of(labels) == ROWS


def test_bad_json(write: Write) -> None:
    cases: list[tuple[bytes, int | None, str]] = [
        (b'{"1": {"a": 1}', 1, "no proper JSON"),
        (b'{"qid": "1", "docid": "a", "score": 1}\n{"qid": 1,\n', 2, "no proper JSON"),
        (b'{"1": {"a": 1, "a": 2}}', 1, "'a' is there twice"),
        (b'{"1": {"a": 1}}\n{"1": {"b": 1}}', None, "a topic on two lines"),
        (b'{"1": {"a": NaN}}', None, "score is NaN in row 1"),
        (b'{"1": {"a": null}}', None, "score is NaN in row 1"),
        (b'{"1": 0.5}', None, "a float under topic '1'"),
        (b"[1, 2]", None, "int objects where named tuples are expected"),
        (b"[]", None, "another form"),
        (b"[" * 100_000, 1, "no proper JSON"),
        (b'[{"qid": "1", "docid": "a"}]', None, "no column score"),
    ]
    for text, line, said in cases:
        path = write(text)
        error = refused(trec.read_run, path, strict=False)
        assert (error.path, error.line) == (path, line), text[:50]
        assert said in error.reason, text[:50]

"""Runs and judgments from frames, dictionaries, named tuples, JSON and Parquet."""

from __future__ import annotations

import json
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from trec_files import PLAIN_ROWS, Write, judgments_of, labels_of, refused, rows_of

from bayespool import reading as trec
from bayespool.errors import InputWarning

Untopical = namedtuple("Untopical", ["doc_id", "score"])
ScoredDoc = namedtuple("ScoredDoc", ["query_id", "doc_id", "score"])
Qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance", "iteration"])
FRAME = pd.DataFrame(
    {"query_id": ["101", "101", "102"], "doc_id": ["d1", "d2", "d1"], "score": [3.5, 2.5, 0.5]}
)
RUN_OBJECTS: dict[str, Any] = {
    "frame": FRAME,
    "frame of Arrow strings": FRAME.astype({"query_id": "string[pyarrow]", "doc_id": "string[pyarrow]"}),
    "frame of categories": FRAME.astype({"query_id": "category", "doc_id": "category"}),
    "frame with nullable numbers": FRAME.astype({"query_id": "Int64", "score": "Float64"}),
    "frame with another index": FRAME.set_index(pd.Index([7, 7, 7])),
    "PyTerrier's names": FRAME.set_axis(["qid", "docno", "score"], axis=1).assign(query="words"),
    "ranx's names": FRAME.set_axis(["q_id", "doc_id", "score"], axis=1),
    "dictionary with integer topics": {101: {"d1": 3.5, "d2": 2.5}, np.int64(102): {"d1": np.float32(0.5)}},
    "named tuples": [ScoredDoc(*row) for row in PLAIN_ROWS],
    "dictionaries in another order": [
        {"score": score, "qid": topic, "docno": document, "query": "words"}
        for topic, document, score in PLAIN_ROWS
    ],
    "table of large strings": pa.Table.from_pandas(FRAME).cast(
        pa.schema({"query_id": pa.large_string(), "doc_id": pa.large_string(), "score": pa.float32()})
    ),
    "table of dictionaries": pa.table(
        {**{name: pa.array(FRAME[name]).dictionary_encode() for name in FRAME}, "score": FRAME["score"]}
    ),
}


def test_run_from_an_object() -> None:
    for name, frame in {**RUN_OBJECTS, "generator": (ScoredDoc(*row) for row in PLAIN_ROWS)}.items():
        run = trec.run_from_frame(frame, "mine")
        assert rows_of(run) == PLAIN_ROWS, name
        assert (run.run_id, run.rank, run.path, run.skipped) == ("mine", None, None, ()), name
        assert run.query_id.type == pa.dictionary(pa.int32(), pa.string()), name
        assert (run.doc_id.type, run.score.dtype) == (pa.string(), np.float64), name
    assert refused(trec.run_from_frame, FRAME, "\ud800").reason.startswith("run_id cannot be used")


def test_run_with_ranks_from_a_frame() -> None:
    run = trec.run_from_frame(FRAME.assign(rank=[0.0, 1.0, 0.0]), "mine")
    assert run.rank is not None
    assert (run.rank.tolist(), run.rank.dtype) == ([0, 1, 0], np.int32)
    run = trec.run_from_frame({"101": ["d1", "d2"], 102: ("d1",)}, "x")  # lists of documents, in order
    assert rows_of(run) == [("101", "d1", 2.0), ("101", "d2", 1.0), ("102", "d1", 1.0)]


QREL_ROWS = [("101", "d1", 1), ("101", "d2", -1), ("102", "d1", 0)]
QRELS_FRAME = pd.DataFrame(QREL_ROWS, columns=["query_id", "doc_id", "relevance"])


BAD_OBJECTS: dict[str, list[Any]] = {
    "no column score; it may be called score, sim; there are query_id": [FRAME.drop(columns="score")],
    "no column score; did you mean 'scroe'?": [FRAME.rename(columns={"score": "scroe"})],
    "no column query_id; it may be called": [[Untopical("a", 1)]],
    "several columns score; keep one of them": [pd.concat([FRAME, FRAME[["score"]]], axis=1)],
    "row 2 has other fields than row 1; give each row the fields of the first: q": [
        [ScoredDoc("1", "a", 0.5), Untopical("b", 0.4)],
        [{"qid": "1", "docno": "a", "score": 0.5}, {"qid": "1", "docno": "b"}],
    ],
    "doc_id cannot be used in row 2 ('utf-8'": [{"1": {"a": 1, "\ud800": 1}}],
    "query_id cannot be used in row 1": [{"\udfff": {"a": 1}}, {10**5000: {"a": 1}}],
    "score is not a number in every row (": [
        *({"1": {"a": score}} for score in (10**400, [1, 2])),
        FRAME.assign(score=["1", "x", "2"]),
        *(  # not read as their real parts
            {"query_id": list("111"), "doc_id": list("abc"), "score": values}
            for values in (np.array([1.0, 2j, 3.0]), [1.0, 2j, 3.0])
        ),
    ],
    "no rows": [FRAME.iloc[:0], {}, {"1": {}}],
    "a float under topic '1'; the form is {query_id: {doc_id: score}}": [{"1": 0.5}],
    "nothing to read in a list": [[]],
    "nothing to read in a str; give a data frame": ["a.run"],
    "tuple objects where named tuples are expected": [[("1", "a", 0.5)]],
    "score is NaN in row 2": [
        FRAME.assign(score=[1.0, np.nan, 2.0]),
        pa.table({"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, None]}),
    ],
    "score is ": [FRAME.assign(score=pd.array([1.0, pd.NA, 2.0], dtype="Float64")), {"1": {"a": None}}],
    "doc_id is ": [FRAME.assign(doc_id=pd.Series(["a", None, "b"], dtype="string"))],
    "doc_id is None in row 2; ids are text": [
        pa.table({"qid": ["1", "1"], "docno": ["a", None], "score": [1.0, 2.0]})
    ],
    "query_id is '' in row 2; ids are text or whole numbers": [FRAME.assign(query_id=["a", "", "b"])],
    "query_id is 101.0 in row 1": [FRAME.assign(query_id=[101.0, 101.0, 102.0])],
    "rank is 1.5 in row 2; it is an integer from -2,147": [FRAME.assign(rank=[1, 1.5, 2])],
    "document d1 is repeated in topic 1, in row 3": [FRAME.assign(query_id="1")],
}


def test_bad_object() -> None:
    for message, frames in BAD_OBJECTS.items():
        for frame in frames:
            frame = pd.DataFrame(frame) if isinstance(frame, dict) and "score" in frame else frame
            said = str(refused(trec.run_from_frame, frame, "x"))
            assert said.startswith(f"run x: {message}"), (message, frame)


def test_bad_relevance_in_an_object() -> None:
    for relevance in (0.5, 32768, -32769, np.inf, np.nan):
        error = refused(trec.qrels_from_frame, {"1": {"a": 0, "b": relevance}})
        assert error.reason.lower() == f"qrels: relevance is {relevance:g} in row 2"
        said = {0.5: "gains={"}.get(relevance, "" if np.isnan(relevance) else "-32,768 to 32,767")
        assert said in str(error.hint), relevance


def test_integers_of_polars_that_arrow_and_numpy_lack() -> None:
    """They ended in errors of Arrow or polars, also in a column that nobody asks for."""
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    wide = pl.Series([10**30, 7], dtype=pl.Int128)
    for column, scores in (("extra", (2.0, 1.0)), ("score", (1e30, 7.0))):
        run = trec.run_from_frame(frame.with_columns(wide.alias(column)), "r")
        assert rows_of(run) == [("1", "a", scores[0]), ("1", "b", scores[1])], column
    found = trec.run_from_frame(frame.with_columns(doc_id=wide), "r")
    assert found.doc_id.to_pylist() == [str(10**30), "7"]


class DataSet:
    """As those of the datasets library: rows in an order of their own, which formatting applies."""

    def __init__(self, table: pa.Table, order: list[int]) -> None:
        self._table, self._order = table, order

    @property
    def column_names(self) -> list[str]:
        return list(self._table.column_names)

    def with_format(self, kind: str) -> DataSet:
        assert kind == "arrow"
        return self

    def __getitem__(self, rows: slice) -> pa.Table:
        return self._table.take(self._order)[rows]


def test_data_set_of_the_datasets_library() -> None:
    table = pa.Table.from_pandas(QRELS_FRAME.set_axis(["query-id", "corpus-id", "score"], axis=1))
    assert judgments_of(trec.qrels_from_frame(DataSet(table, [2, 0]))) == [QREL_ROWS[2], QREL_ROWS[0]]


def test_null_and_minus_one_are_no_labels() -> None:
    rows = [{"qid": "1", "docid": d, "label": v} for d, v in (("a", 2), ("b", None), ("c", -1), ("d", 0))]
    for source in (rows, pa.Table.from_pylist(rows)):
        with pytest.warns(InputWarning, match="labels: 2 rows without a label"):
            assert labels_of(trec.labels_from_frame(source)) == [("1", "a", 2.0), ("1", "d", 0.0)]


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
        (b"[1, 2]", None, "int objects where named tuples are expected"),
        (b"[]", None, "another form"),
        (b"[" * 100_000, 1, "no proper JSON"),
    ]
    for text, line, said in cases:
        path = write(text)
        error = refused(trec.read_run, path, strict=False)
        assert (error.path, error.line) == (path, line), text[:50]
        assert said in error.reason, text[:50]

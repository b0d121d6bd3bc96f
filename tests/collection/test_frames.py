"""Runs and judgments from frames, dictionaries and named tuples."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from trec_files import PLAIN_ROWS, judgments_of, labels_of, refused, rows_of

from bayespool import collection as trec
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
        {
            name: pa.array(FRAME[name]).dictionary_encode() if name != "score" else FRAME[name]
            for name in FRAME
        }
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
QRELS_OBJECTS: dict[str, Any] = {
    "frame": QRELS_FRAME,
    "floats and PyTerrier's names": QRELS_FRAME.astype({"relevance": float}).set_axis(
        ["qid", "docno", "label"], axis=1
    ),
    "BEIR's names": QRELS_FRAME.set_axis(["query-id", "corpus-id", "score"], axis=1),
    "dictionary": {"101": {"d1": 1, "d2": -1}, "102": {"d1": 0}},
    "named tuples": [Qrel(*row, "0") for row in QREL_ROWS],
}


def test_qrels_from_an_object() -> None:
    for name, frame in QRELS_OBJECTS.items():
        qrels = trec.qrels_from_frame(frame)
        assert judgments_of(qrels) == QREL_ROWS, name
        assert (qrels.relevance.dtype, qrels.path) == (np.int16, None), name


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
    for relevance in (0.5, 32768, -32769, np.inf):
        error = refused(trec.qrels_from_frame, {"1": {"a": 0, "b": relevance}})
        assert error.reason == f"qrels: relevance is {relevance:g} in row 2"
        assert ("gains={" if relevance == 0.5 else "-32,768 to 32,767") in str(error.hint), relevance
    reason = refused(trec.qrels_from_frame, {"1": {"a": 1, "b": np.nan}}).reason
    assert reason == "qrels: relevance is NaN in row 2"


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

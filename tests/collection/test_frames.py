"""Runs and judgments from frames, dictionaries and named tuples."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from trec_files import PLAIN_ROWS, error_of, judgments_of, labels_of, rows_of

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
    "frame of objects": FRAME.astype({"query_id": object, "doc_id": object}),
    "frame of strings": FRAME.astype({"query_id": "string", "doc_id": "string"}),
    "frame of Arrow strings": FRAME.astype({"query_id": "string[pyarrow]", "doc_id": "string[pyarrow]"}),
    "frame of categories": FRAME.astype({"query_id": "category", "doc_id": "category"}),
    "frame with integer topics": FRAME.astype({"query_id": int}),
    "frame with nullable numbers": FRAME.astype({"query_id": "Int64", "score": "Float64"}),
    "frame with another index": FRAME.set_index(pd.Index([7, 7, 7])),
    "PyTerrier's names": FRAME.set_axis(["qid", "docno", "score"], axis=1).assign(query="words"),
    "ranx's names": FRAME.set_axis(["q_id", "doc_id", "score"], axis=1),
    "other names": FRAME.set_axis(["topic", "docid", "sim"], axis=1),
    "dictionary": {"101": {"d1": 3.5, "d2": 2.5}, "102": {"d1": 0.5}},
    "dictionary with integer topics": {101: {"d1": 3.5, "d2": 2.5}, np.int64(102): {"d1": np.float32(0.5)}},
    "named tuples": [ScoredDoc(*row) for row in PLAIN_ROWS],
    "dictionaries as rows": [dict(zip(ScoredDoc._fields, row, strict=True)) for row in PLAIN_ROWS],
    "dictionaries in another order": [
        {"score": score, "qid": topic, "docno": document, "query": "words"}
        for topic, document, score in PLAIN_ROWS
    ],
    "table of Arrow": pa.Table.from_pandas(FRAME),
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


@pytest.mark.parametrize("frame", RUN_OBJECTS.values(), ids=RUN_OBJECTS)
def test_run_from_an_object(frame: Any) -> None:
    run = trec.run_from_frame(frame, "mine")
    assert rows_of(run) == PLAIN_ROWS
    assert run.run_id == "mine"
    assert (run.rank, run.path, run.skipped) == (None, None, ())
    assert run.query_id.type == pa.dictionary(pa.int32(), pa.string())
    assert run.doc_id.type == pa.string()
    assert run.score.dtype == np.float64


def test_run_id_that_no_file_can_hold() -> None:
    reason = error_of(lambda: trec.run_from_frame(FRAME, "\ud800")).reason
    assert reason.startswith("run_id cannot be used ('utf-8' codec can't encode")


def test_run_from_a_generator() -> None:
    assert rows_of(trec.run_from_frame((ScoredDoc(*row) for row in PLAIN_ROWS), "x")) == PLAIN_ROWS


def test_run_with_ranks_from_a_frame() -> None:
    run = trec.run_from_frame(FRAME.assign(rank=[0.0, 1.0, 0.0]), "mine")
    assert run.rank is not None
    assert run.rank.tolist() == [0, 1, 0]
    assert run.rank.dtype == np.int32


def test_run_does_not_share_the_frame_memory() -> None:
    frame = FRAME.copy()
    run = trec.run_from_frame(frame, "mine")
    frame.loc[0, "score"] = -1.0
    assert run.score[0] == 3.5


QREL_ROWS = [("101", "d1", 1), ("101", "d2", -1), ("102", "d1", 0)]
QRELS_FRAME = pd.DataFrame(QREL_ROWS, columns=["query_id", "doc_id", "relevance"])
QRELS_OBJECTS: dict[str, Any] = {
    "frame": QRELS_FRAME,
    "frame of floats": QRELS_FRAME.astype({"relevance": float}),
    "PyTerrier's names": QRELS_FRAME.set_axis(["qid", "docno", "label"], axis=1),
    "other names": QRELS_FRAME.set_axis(["topic", "did", "rel"], axis=1),
    "dictionary": {"101": {"d1": 1, "d2": -1}, "102": {"d1": 0}},
    "named tuples": [Qrel(*row, "0") for row in QREL_ROWS],
}


@pytest.mark.parametrize("frame", QRELS_OBJECTS.values(), ids=QRELS_OBJECTS)
def test_qrels_from_an_object(frame: Any) -> None:
    qrels = trec.qrels_from_frame(frame)
    assert judgments_of(qrels) == QREL_ROWS
    assert qrels.relevance.dtype == np.int16
    assert qrels.path is None


LABEL_ROWS = [("101", "d1", 2.5), ("101", "d2", -1.0), ("102", "d1", 0.0)]
LABELS_FRAME = pd.DataFrame(LABEL_ROWS, columns=["query_id", "doc_id", "label"])
LABELS_OBJECTS: dict[str, Any] = {
    "frame": LABELS_FRAME,
    "frame of judgments": LABELS_FRAME.set_axis(["query_id", "doc_id", "relevance"], axis=1),
    "frame of scores": LABELS_FRAME.set_axis(["qid", "docno", "score"], axis=1),
    "other names": LABELS_FRAME.set_axis(["topic", "did", "rel"], axis=1),
    "nullable numbers": LABELS_FRAME.astype({"label": "Float64"}),
    "dictionary": {"101": {"d1": 2.5, "d2": -1}, "102": {"d1": 0}},
    "named tuples": [Qrel(*row, "0") for row in LABEL_ROWS],
}


@pytest.mark.parametrize("frame", LABELS_OBJECTS.values(), ids=LABELS_OBJECTS)
def test_labels_from_an_object(frame: Any) -> None:
    labels = trec.labels_from_frame(frame)
    assert labels_of(labels) == LABEL_ROWS
    assert labels.label.dtype == np.float64
    assert (labels.path, labels.skipped) == (None, ())


def test_labels_of_whole_numbers_are_those_of_reals() -> None:
    frame = LABELS_FRAME.assign(label=[3, 0, 1])
    assert labels_of(trec.labels_from_frame(frame)) == [
        ("101", "d1", 3.0),
        ("101", "d2", 0.0),
        ("102", "d1", 1.0),
    ]


def test_bad_labels_in_an_object() -> None:
    reason = error_of(lambda: trec.labels_from_frame({"1": {"a": 1, "b": np.nan}})).reason
    assert reason == "labels: label is NaN in row 2"
    reason = error_of(lambda: trec.labels_from_frame(LABELS_FRAME.drop(columns="label"))).reason
    assert reason.startswith("labels: no column label")
    reason = error_of(lambda: trec.labels_from_frame(LABELS_FRAME.assign(label=["no", "yes", "no"]))).reason
    assert reason.startswith("labels: label is not a number in every row")
    reason = error_of(lambda: trec.labels_from_frame(LABELS_FRAME.assign(query_id="1"))).reason
    assert reason == "labels: document d1 is repeated in topic 1, in row 3"


def test_objects_of_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    run = trec.run_from_frame([ir_measures.ScoredDoc("1", "a", 0.5)], "x")
    assert rows_of(run) == [("1", "a", 0.5)]
    assert judgments_of(trec.qrels_from_frame([ir_measures.Qrel("1", "a", 2)])) == [("1", "a", 2)]


BAD_OBJECTS: dict[str, tuple[Any, str]] = {
    "no score": (
        FRAME.drop(columns="score"),
        "run x: no column score; it may be called score, sim; there are query_id",
    ),
    "no topic": (
        [Untopical("a", 1)],
        "run x: no column query_id; it may be called",
    ),
    "two columns of scores": (
        pd.concat([FRAME, FRAME[["score"]]], axis=1),
        "run x: several columns score; keep one of them",
    ),
    "two columns of topics": (
        pd.concat([FRAME, FRAME[["query_id"]]], axis=1),
        "run x: several columns query_id; keep one of them",
    ),
    "ragged tuples": (
        [ScoredDoc("1", "a", 0.5), Untopical("b", 0.4)],
        "run x: row 2 has other fields than row 1; give each row the fields of the first: query_id, ",
    ),
    "a tuple without names": (
        [ScoredDoc("1", "a", 0.5), ("1", "b", 0.4)],
        "run x: row 2 has other fields than row 1",
    ),
    "half a surrogate pair": ({"1": {"a": 1, "\ud800": 1}}, "run x: doc_id cannot be used in row 2 ('utf-8'"),
    "half a surrogate pair in a topic": ({"\udfff": {"a": 1}}, "run x: query_id cannot be used in row 1"),
    "topic of 5,000 digits": ({10**5000: {"a": 1}}, "run x: query_id cannot be used in row 1 (Exceeds"),
    "score of 400 digits": ({"1": {"a": 10**400}}, "run x: score is not a number in every row"),
    "lists of scores": ({"1": {"a": [1, 2]}}, "run x: score is not a number in every row (there are lists"),
    "no rows": (FRAME.iloc[:0], "run x: no rows"),
    "empty dictionary": ({}, "run x: no rows"),
    "dictionary of nothing": ({"1": {}}, "run x: no rows"),
    "flat dictionary": (
        {"1": 0.5},
        "run x: a float under topic '1'; the form is {query_id: {doc_id: score}}",
    ),
    "empty list": ([], "run x: nothing to read in a list"),
    "path": ("a.run", "run x: nothing to read in a str; give a data frame"),
    "nothing": (None, "run x: nothing to read in a NoneType"),
    "plain tuples": ([("1", "a", 0.5)], "run x: tuple objects where named tuples are expected"),
    "score NaN": (FRAME.assign(score=[1.0, np.nan, 2.0]), "run x: score is NaN in row 2"),
    "score missing": (FRAME.assign(score=pd.array([1.0, pd.NA, 2.0], dtype="Float64")), "run x: score is "),
    "score no number": (FRAME.assign(score=["1", "x", "2"]), "run x: score is not a number in every row ("),
    "score None": ({"1": {"a": None}}, "run x: score is "),
    "id missing": (FRAME.assign(doc_id=pd.Series(["a", None, "b"], dtype="string")), "run x: doc_id is "),
    "id empty": (
        FRAME.assign(query_id=["a", "", "b"]),
        "run x: query_id is '' in row 2; ids are text or whole numbers",
    ),
    "id missing in a table": (
        pa.table({"qid": ["1", "1"], "docno": ["a", None], "score": [1.0, 2.0]}),
        "run x: doc_id is None in row 2; ids are text",
    ),
    "score missing in a table": (
        pa.table({"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, None]}),
        "run x: score is NaN in row 2",
    ),
    "ragged dictionaries": (
        [{"qid": "1", "docno": "a", "score": 0.5}, {"qid": "1", "docno": "b"}],
        "run x: row 2 has other fields than row 1; give each row the fields of the first: qid, docno, score",
    ),
    "a slip of the pen": (
        FRAME.rename(columns={"score": "scroe"}),
        "run x: no column score; did you mean 'scroe'? it may be called score, sim",
    ),
    "id a float": (FRAME.assign(query_id=[101.0, 101.0, 102.0]), "run x: query_id is 101.0 in row 1"),
    "rank no integer": (
        FRAME.assign(rank=[1, 1.5, 2]),
        "run x: rank is 1.5 in row 2; it is an integer from -2,147",
    ),
    "rank infinite": (FRAME.assign(rank=[1, np.inf, 2]), "run x: rank is inf in row 2"),
    "document twice": (FRAME.assign(query_id="1"), "run x: document d1 is repeated in topic 1, in row 3"),
    "document twice as number and text": (
        {1: {"a": 1}, "1": {"a": 2}},
        "run x: document a is repeated in topic 1",
    ),
}


@pytest.mark.parametrize(("frame", "message"), BAD_OBJECTS.values(), ids=BAD_OBJECTS)
def test_bad_object(frame: Any, message: str) -> None:
    assert str(error_of(lambda: trec.run_from_frame(frame, "x"))).startswith(message)


def test_several_runs_in_one_frame_need_their_names() -> None:
    twice = FRAME.assign(query_id="1")
    said = str(error_of(lambda: trec.run_from_frame(twice, "x")))
    assert said.endswith("topic; several runs in one frame need a column run_id")
    judged = str(error_of(lambda: trec.qrels_from_frame(twice.assign(relevance=1))))
    assert judged.endswith("keep one row per document and topic, of diversity qrels the best subtopic")


SCORED = [ScoredDoc("1", "a", 1.0)]


@pytest.mark.parametrize(
    ("frame", "seen"),
    [
        (FRAME.assign(score=1, rank=[1, 2, 1]), "columns rank, score"),
        (FRAME.assign(score=1, tag="mine"), "columns score, tag"),
        (pa.Table.from_pandas(FRAME.assign(score=1, rank=[1, 2, 1])), "columns rank, score"),
        ([{"qid": "1", "docno": "a", "score": 1, "rank": 1}], "columns rank, score"),
        (SCORED, "column score"),
        ((row for row in SCORED), "column score"),
    ],
)
def test_a_run_in_memory_is_no_judgments(frame: Any, seen: str) -> None:
    error = error_of(lambda: trec.qrels_from_frame(frame))
    assert error.reason == f"qrels: looks like a run ({seen}), not like qrels"
    assert error.hint == "give runs as runs, and here a column relevance"


def test_ranks_are_no_labels_in_memory() -> None:
    error = error_of(lambda: trec.labels_from_frame(FRAME.assign(rank=[1, 2, 1])))
    assert error.reason == "labels: looks like a run (columns rank, score), not like labels"
    assert trec.labels_from_frame(FRAME).label.tolist() == [3.5, 2.5, 0.5]  # a score alone may be a label


@pytest.mark.parametrize("name", ["relevance", "label", "rel"])
def test_judgments_in_memory_are_no_run(name: str) -> None:
    for frame in (FRAME.rename(columns={"score": name}), [{"qid": "1", "docno": "a", name: 1}]):
        error = error_of(lambda frame=frame: trec.run_from_frame(frame, "x"))
        assert error.reason == f"run x: looks like judgments or labels (column {name}), not like a run"
        assert error.hint == "give judgments as qrels, labels as judges, and here runs with a score"


@pytest.mark.parametrize("relevance", [0.5, 32768, -32769, np.inf])
def test_bad_relevance_in_an_object(relevance: float) -> None:
    error = error_of(lambda: trec.qrels_from_frame({"1": {"a": 0, "b": relevance}}))
    assert error.reason == f"qrels: relevance is {relevance:g} in row 2"
    hint = "gains={1:0.25,2:0.5,3:1}" if relevance == 0.5 else "it is an integer from -32,768 to 32,767"
    assert hint in str(error.hint)
    assert error_of(lambda: trec.qrels_from_frame({"1": {"a": 1, "b": np.nan}})).reason == (
        "qrels: relevance is NaN in row 2"
    )


# --- found by `make fuzz` -----------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["query_id", "doc_id"])
def test_true_is_no_id(column: str) -> None:
    """It was read as the text True from lists and frames of polars, and refused from those of numpy."""
    pl = pytest.importorskip("polars")
    columns: dict[str, Any] = {"query_id": ["1"], "doc_id": ["d"], "score": [1.0], column: [True]}
    for frame in ([dict(zip(columns, (v[0] for v in columns.values()), strict=True))], pl.DataFrame(columns)):
        error = error_of(lambda frame=frame: trec.run_from_frame(frame, "r"))
        assert error.reason == f"run r: {column} is True in row 1"


def test_complex_numbers_are_not_read_as_their_real_parts() -> None:
    for values in (np.array([1.0, 2j, 3.0]), pd.Series([1.0, 2j, 3.0]), [1.0, 2j, 3.0]):
        frame = {"query_id": list("111"), "doc_id": list("abc"), "score": values}
        error = error_of(lambda frame=frame: trec.run_from_frame(pd.DataFrame(frame), "r"))
        assert error.reason.startswith("run r: score is not a number in every row (")


def test_integers_of_polars_that_arrow_and_numpy_lack() -> None:
    """They ended in errors of Arrow or polars, also in a column that nobody asks for."""
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    wide = pl.Series([10**30, 7], dtype=pl.Int128)
    assert rows_of(trec.run_from_frame(frame.with_columns(extra=wide), "r")) == [
        ("1", "a", 2.0),
        ("1", "b", 1.0),
    ]
    assert rows_of(trec.run_from_frame(frame.with_columns(score=wide), "r")) == [
        ("1", "a", 1e30),
        ("1", "b", 7.0),
    ]
    found = trec.run_from_frame(frame.with_columns(doc_id=wide), "r")
    assert found.doc_id.to_pylist() == [str(10**30), "7"]


def test_names_of_beir_and_trectools() -> None:
    for names in (["query-id", "corpus-id", "score"], ["query", "docno", "rating"]):
        frame = QRELS_FRAME.set_axis(names, axis=1)
        assert judgments_of(trec.qrels_from_frame(frame)) == QREL_ROWS


def test_lists_of_documents_are_a_run_in_order() -> None:
    run = trec.run_from_frame({"101": ["d1", "d2"], 102: ("d1",)}, "x")
    assert rows_of(run) == [("101", "d1", 2.0), ("101", "d2", 1.0), ("102", "d1", 1.0)]


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

"""Tables of RAG tools with lists of documents, and rank_eval's requests and responses."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from trec_files import Write, judgments_of, refused, rows_of

from bayespool import read_collection, reading as trec, score
from bayespool.errors import InputWarning

TABLE: list[dict[str, Any]] = [
    {"query_id": "q1", "query": "one?", "expected_ids": ["a", "b"], "retrieved_ids": ["c", "a"]},
    {"query_id": "q2", "query": "two?", "expected_ids": ["d"], "retrieved_ids": ["d", "e", "a"]},
]
RUN = [("q1", "c", 2.0), ("q1", "a", 1.0), ("q2", "d", 3.0), ("q2", "e", 2.0), ("q2", "a", 1.0)]
QRELS = [("q1", "a", 1), ("q1", "b", 1), ("q2", "d", 1)]
OF_RAGAS = [
    {
        "user_input": row["query_id"],
        "retrieved_contexts": ["a text\nof two lines"],
        "retrieved_context_ids": row["retrieved_ids"],
        "reference_context_ids": row["expected_ids"],
    }
    for row in TABLE
]


def as_csv(rows: list[dict[str, Any]], delimiter: str = ",") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def test_tables_of_lists_in_files(write: Write, tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(TABLE), tmp_path / "parquet")
    named = "qid\tExpected_IDs\tRetrieved_IDs\nq1\t['a' 'b']\t['c' 'a']\nq2\t[\"d\"]\t['d', 'e', \"a\"]\n"
    for form in (
        json.dumps(TABLE).encode(),
        "\n".join(map(json.dumps, TABLE)).encode(),
        "\n".join(map(json.dumps, OF_RAGAS)).encode(),
        json.dumps([{**row, "metric_dict": {"mrr": {"score": 1, "metadata": {}}}} for row in TABLE]).encode(),
        as_csv(TABLE),
        as_csv(OF_RAGAS),
        as_csv(TABLE, ";"),
        named.encode(),
        (tmp_path / "parquet").read_bytes(),
    ):
        path = write(form)
        assert rows_of(trec.read_run(path)) == RUN, form
        assert judgments_of(trec.read_qrels(path)) == QRELS, form
        ranks = trec.read_run(path, ranks=True).rank
        assert ranks is not None
        assert ranks.tolist() == [1, 2, 1, 2, 3]


def test_tables_of_lists_in_memory() -> None:
    frame = pd.DataFrame(TABLE)
    written = pd.read_csv(io.BytesIO(as_csv(TABLE)))  # lists are texts there
    arrays = frame.assign(**{name: frame[name].map(np.array) for name in ("expected_ids", "retrieved_ids")})
    without = [{name: cell for name, cell in row.items() if name != "query"} for row in TABLE]
    for table in (TABLE, [TABLE[0], without[1]], frame, written, arrays, pl.DataFrame(TABLE)):
        collection = read_collection(table, table)
        assert collection.run_ids == ("run",)
        assert score(collection, measures="R@2", estimators="as-judged").estimates[0].per_topic.tolist() == [
            [0.5, 1.0]
        ]


def test_lists_of_relevant_documents(write: Write) -> None:
    lists = {"q1": ["a", "b"], "q2": ["d"]}
    of_llama_index = {
        "queries": {"q1": "one?"},
        "corpus": {"a": "text"},
        "relevant_docs": lists,
        "mode": "text",
    }
    for given in (lists, of_llama_index):
        assert judgments_of(trec.qrels_from_frame(given)) == QRELS
        assert judgments_of(trec.read_qrels(write(json.dumps(given, indent=1).encode()))) == QRELS
    by_lines = b'{"q1": ["a", "b"]}\n{"q2": ["d"]}\n'
    assert judgments_of(trec.read_qrels(write(by_lines))) == QRELS
    run = {"q1": list("abcde"), "q2": list("vwxyz")}
    error = refused(trec.read_qrels, write(json.dumps(run).encode()))
    assert "looks like a run (5 documents on every topic)" in error.reason
    assert judgments_of(trec.qrels_from_frame({"q1": list("abcde")}))[0] == ("q1", "a", 1)  # on one topic
    assert "a list under topic 'q1'" in refused(trec.labels_from_frame, lists).reason


REQUEST: dict[str, Any] = {
    "requests": [
        {
            "id": "q1",
            "request": {"query": {"match": {"text": "one"}}},
            "ratings": [{"_index": "i", "_id": "a", "rating": 3}, {"_index": "i", "_id": "x", "rating": 0}],
        },
        {"id": "q2", "template_id": "t", "ratings": [{"_index": "i", "_id": "a", "rating": 1}]},
    ],
    "metric": {"precision": {"k": 5, "relevant_rating_threshold": 1}},
}


def _hit(document: str, score: float | None, rating: int | None = None) -> dict[str, Any]:
    return {"hit": {"_index": "i", "_id": document, "_score": score}, "rating": rating}


RESPONSE: dict[str, Any] = {
    "metric_score": 0.5,
    "details": {
        "q1": {"metric_score": 0.5, "unrated_docs": [], "hits": [_hit("b", 1.0), _hit("a", 1.0, 3)]},
        "q2": {"metric_score": 0.0, "hits": [_hit("c", None)], "metric_details": {}},
    },
    "failures": {},
}


def test_rank_eval(write: Write) -> None:
    expected = [("q1", "a", 3), ("q1", "x", 0), ("q2", "a", 1)]
    ranking = [("q1", "b", 2.0), ("q1", "a", 1.0), ("q2", "c", 1.0)]  # in the order of the hits
    for indent in (None, 2):
        assert judgments_of(trec.read_qrels(write(json.dumps(REQUEST, indent=indent).encode()))) == expected
        for response in (RESPONSE, {"rank_eval": RESPONSE}):
            path = write(json.dumps(response, indent=indent).encode())
            assert rows_of(trec.read_run(path)) == ranking
    collection = read_collection(REQUEST, {"mine": RESPONSE})
    assert collection.run_ids == ("mine",)
    assert read_collection(REQUEST, RESPONSE).run_ids == ("run",)
    assert score(collection, measures="P@2", estimators="as-judged").estimates[0].value.tolist() == [0.25]


def test_bad_list() -> None:
    row = TABLE[0]
    cases: list[tuple[list[dict[str, Any]], str]] = [
        ([{**row, "expected_ids": "a"}], "expected_ids in row 1 is 'a', not a list of ids"),
        ([{**row, "expected_ids": "[node-1, node-2]"}], "not a list of ids"),
        ([{**row, "expected_ids": "[1-0, 1-1]"}], "not a list of ids"),
        ([{**row, "expected_ids": "['a', 'b"}], "not a list of ids"),
        ([{**row, "expected_ids": "['a', ['b']]"}], "not a list of ids"),
        ([{**row, "expected_ids": 7}], "expected_ids in row 1 is 7, not a list of ids"),
        ([{**row, "expected_ids": {"a": 1}}], "not a list of ids"),
        ([{**row, "expected_ids": ["a", None]}], "expected_ids in row 1 has None"),
        ([{**row, "expected_ids": ["a", 1.5]}], "expected_ids in row 1 has 1.5"),
        ([{**row, "expected_ids": ["a", True]}], "expected_ids in row 1 has True"),
        ([{**row, "expected_ids": ["a", "b", "a"]}], "document a is twice in expected_ids of topic q1"),
        ([{**row, "expected_ids": []}], "no document in expected_ids"),
        ([row, TABLE[1], row], "topic 'q1' is in rows 1 and 3"),
        ([{**row, "query_id": None}], "query_id is None in row 1"),
        ([{"retrieved_ids": ["a"], "query_id": "q1"}], "no column expected_ids"),
        ([{"expected_ids": ["a"], "note": "x"}], "no column query_id"),
    ]
    for rows, said in cases:
        error = refused(trec.qrels_from_frame, rows)
        assert said in error.reason, said
        assert error.hint or "no document" in said, said
    assert "there are note, expected_ids" in str(
        refused(trec.qrels_from_frame, [{"note": 1, "expected_ids": []}])
    )
    assert "there are query_id, query, expected_ids" in str(
        refused(trec.labels_from_frame, pd.DataFrame(TABLE))
    )


def test_rows_without_a_topic(write: Write) -> None:
    rows = [{"contexts": ["a"], "answer": "x"}, {"contexts": ["b"], "answer": "y"}]
    error = refused(trec.read_qrels, write("\n".join(map(json.dumps, rows)).encode()))
    assert error.reason == "qrels: no columns query_id, doc_id"
    assert "query_id may be called query_id, " in str(error)
    assert "reference_context_ids (others need relevance, too); there are contexts, answer" in str(error)
    for read, wanted in ((trec.read_run, "retrieved_ids"), (trec.read_qrels, "expected_ids")):
        other = "expected_ids" if wanted == "retrieved_ids" else "retrieved_ids"
        error = refused(read, write(as_csv([{"text": "x", other: "['a']"}, {"text": "y", other: "['b']"}])))
        assert error.reason.endswith(f"no columns {wanted}, query_id")
    error = refused(
        trec.read_run, write("\n".join(json.dumps({"retrieved_ids": ["a"]}) for _ in "ab").encode())
    )
    assert error.reason.endswith("no column query_id")
    error = refused(trec.read_qrels, write(as_csv([{"text": "x", "expected_ids": "['a']"}])))
    assert str(error).endswith("there are text, expected_ids")


def test_lists_under_unknown_names(write: Write) -> None:
    rows = [{"query": q, "retrieved": "['a', 'b']", "expected": "['a']"} for q in "xy"]
    readers = [(trec.read_run, "retrieved_ids"), (trec.read_qrels, "expected_ids")]
    for data in (as_csv(rows), "\n".join(map(json.dumps, rows)).encode()):
        for read, name in readers:
            error = refused(read, write(data))
            assert error.reason.endswith("no column doc_id")
            assert f", {name}, " in str(error)
            assert str(error).endswith("; there are query, retrieved, expected")


def test_ids_of_a_text() -> None:
    for text, ids in {
        "['a', \"it's\"]": ["a", "it's"],
        '["\\u00e9", "a\\"b"]': ["é", 'a"b'],
        "['it\\'s', 'a\\\\b', '\\x41']": ["it's", "a\\b", "A"],
        "[12, -7]": ["12", "-7"],
        "['a'\n 'b']": ["a", "b"],
        "['a, b', '[c]',]": ["a, b", "[c]"],
    }.items():
        found = trec.qrels_from_frame([{"qid": 1, "expected_ids": text}])
        assert found.doc_id.to_pylist() == ids, text


def test_topics_without_a_document() -> None:
    for empty in ([], None, float("nan"), "", "[]"):
        table = [*TABLE, {**TABLE[0], "query_id": "q3", "expected_ids": empty, "retrieved_ids": empty}]
        with pytest.warns(
            InputWarning, match="qrels: 1 topic without a document in expected_ids: not judged"
        ):
            assert judgments_of(trec.qrels_from_frame(table)) == QRELS
        assert rows_of(trec.run_from_frame(table, "mine")) == RUN


def test_bad_rank_eval(write: Write) -> None:
    first, second = REQUEST["requests"]
    hits = RESPONSE["details"]["q1"]["hits"]
    for given, said in (
        ({"requests": [first, first]}, "request 2 has the id 'q1' of one before"),
        ({"requests": [{"ratings": []}]}, "request 1 has no id"),
        ({"requests": [{**second, "ratings": {}}]}, "request 1: ratings is no list of objects"),
        ({"requests": [{**second, "ratings": [{"_id": "a"}]}]}, "document a has no rating"),
        ({"requests": [{**second, "ratings": [{"rating": 1}]}]}, "a document has no _id"),
        ({"requests": [{**second, "ratings": second["ratings"] * 2}]}, "document a is rated twice"),
        (RESPONSE, "is a response of rank_eval, which rates what was retrieved alone"),
    ):
        assert said in refused(trec.read_qrels, write(json.dumps(given).encode())).reason, said
    for details, said in (
        ({"q1": {"hits": [*hits, hits[0]]}}, "document b is there twice"),
        ({"q1": {"hits": [{"rating": 1}]}}, "a document has no _id"),
        ({"q1": {"hits": ["a"]}}, "hits is no list of objects"),
        ({"q1": {"hits": []}}, "a response of rank_eval without a hit"),
    ):
        path = write(json.dumps({"details": details}).encode())
        assert said in refused(trec.read_run, path).reason, said
    assert "which has ratings and no hits" in refused(trec.run_from_frame, REQUEST, "x").reason


def test_a_quote_that_does_not_end(write: Write) -> None:
    error = refused(trec.read_qrels, write(b"qid,expected_ids\nq1,\"['a']\"\nq2,\"['b']\n"))
    assert (error.line, error.reason) == (3, "is no proper text with columns (unexpected end of data)")
    error = refused(trec.read_qrels, write(b"qid,expected_ids\nq1,['a', 'b']\n"))
    assert (error.line, error.reason) == (2, "expected 2 columns as in the header, found 3")

"""Columns of documents: where they are read from, that collections keep them, and what they say."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from each import cases
from small import small, small_simulation

from bayespool import fit, judge_next, leave_out, model_graph, read_collection, score
from bayespool.collection import Collection, build_collection
from bayespool.collection.document_columns import gather_document_columns
from bayespool.collection.packing import join_runs, pack, pool_alone, unpack
from bayespool.errors import InputError
from bayespool.evidence.columns import column_predictors, standardized_within_topics
from bayespool.reading.readers import Reading
from bayespool.scoring.prepared import learn_collection, read_prepared

RUNS = {"one": {"q1": {"d1": 2.0, "d2": 1.0}}, "two": {"q1": {"d2": 2.0}, "q2": {"d3": 1.0, "d1": 0.5}}}
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
TABLE = pd.DataFrame(
    {
        "topic": ["q1", "q1", "q2"],
        "document": ["d1", "d2", "d1"],
        "bm25": [3.0, None, 1.5],
        "title": list("abc"),
    }
)


def values(collection: Collection, name: str = "bm25") -> list[float | None]:
    return [None if np.isnan(each) else each for each in collection.document_values(name)]


def test_files_frames_and_rows_have_the_same_columns(tmp_path: Path) -> None:
    comma, parquet = tmp_path / "documents.csv", tmp_path / "documents.parquet"
    TABLE.to_csv(comma, index=False)
    TABLE.to_parquet(parquet)
    rows = TABLE.to_dict("records")
    for source in (comma, str(parquet), [comma], TABLE, pl.from_pandas(TABLE), rows):
        collection = build_collection(RUNS, QRELS, documents_table=source)
        assert values(collection) == [3.0, None, 1.5, None]
        assert list(collection.documents[0].columns) == ["bm25"]  # a title is no number
    read = read_collection(QRELS, RUNS, documents_table=[parquet])
    assert values(read) == [3.0, None, 1.5, None]


def test_a_document_may_have_one_value_on_all_topics() -> None:
    lengths = [{"docno": "d1", "length": 7}, {"docno": "d9", "length": 1}]
    given = build_collection(RUNS, QRELS).with_attributes(documents=lengths)
    assert values(given, "length") == [7.0, None, 7.0, None]
    assert len(given.documents[0].doc_id) == 2


@cases(
    ("text", "wrong"),
    [
        ("document,x\nd1,2\nd2,abc\n", r"documents.csv, line 3: x is 'abc', no number; write a number"),
        ("document,x\nd1,2\nd2,inf\n", r"documents.csv, line 3: x is 'inf', no number"),
        ("document,x\nd1,2\nd2,1\nd1,3\n", r"line 4: document 'd1' is repeated; keep one of the rows"),
        ("qid,docno,x\nq,d1,2\nq,d1,\n", r"line 3: document 'd1' is repeated on its topic"),
        ("document,x\n,2\n", r"documents.csv: table of .*: document is '' in row 1; give each row an id"),
        ("docs,x\nd1,2\n", r"documents.csv: no column of documents in the table .*; there are docs, x"),
        ("document,title\nd1,a\n", r"documents.csv: no column of numbers in the table of documents; name"),
        ("document,x\n", "no column of numbers"),
        ("document,x\nd9,2\n", r"no document of the table is in the collection: it has 'd9', the collection"),
    ],
)
def test_tables_that_are_refused(text: str, wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "documents.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=wrong):
        build_collection(RUNS, QRELS, documents_table=path)


def test_a_damaged_file_and_a_column_twice_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "documents.parquet"
    TABLE.to_parquet(path)
    with pytest.raises(InputError, match="two tables of documents have a column 'bm25'; rename"):
        build_collection(RUNS, QRELS, documents_table=[path, path])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"documents.parquet: the Parquet data are damaged"):
        gather_document_columns(path, reading=Reading())


def drawn(collection: Collection, seed: int = 1) -> pd.DataFrame:
    """Numbers at random of nine of ten documents."""
    rng = np.random.default_rng(seed)
    pair = np.flatnonzero(np.arange(len(collection.doc_ids)) % 10)
    return pd.DataFrame(
        {
            "query_id": [collection.query_ids[t] for t in collection.pair_topic[pair]],
            "doc_id": [collection.doc_id(p) for p in pair],
            "bm25": rng.gamma(2.0, size=len(pair)),
        }
    )


@pytest.fixture(scope="module")
def given() -> Collection:
    return small().with_attributes(documents=drawn(small()))


def test_other_collections_of_the_same_runs_keep_them(given: Collection, tmp_path: Path) -> None:
    assert given.fingerprint != small().fingerprint
    by_document = {(given.pair_topic[p], given.doc_id(p)): v for p, v in enumerate(values(given))}
    part = pool_alone(given)
    path = tmp_path / "pool.bayespool"
    learn_collection(given, "P@10").save(path, judgments=False)
    qrels = {
        topic: {
            given.doc_id(p): int(given.relevance[p])
            for p in np.flatnonzero(given.pair_topic == t)
            if given.relevance[p] >= 0
        }
        for t, topic in enumerate(given.query_ids)
    }
    new = {"mine": {given.query_ids[0]: {given.doc_id(1): 2.0, "new": 1.0}}}
    for other in (
        pickle.loads(pickle.dumps(given)),
        given.unpool(organization=given.organizations[0]),
        unpack(pack(part)),
        join_runs(part, new),
        read_prepared(path, qrels=qrels).join(new),
    ):
        found = {(other.pair_topic[p], other.doc_id(p)): v for p, v in enumerate(values(other))}
        assert found.keys() & by_document.keys()
        assert {key: v for key, v in found.items() if key in by_document} == {
            key: by_document[key] for key in found if key in by_document
        }
    assert unpack(pack(part)).fingerprint == part.fingerprint


def test_numbers_are_in_standard_deviations_of_the_topics_pool(given: Collection) -> None:
    standard = standardized_within_topics(given, "bm25")
    known, pool = ~np.isnan(given.document_values("bm25")), given.in_pool()
    assert (standard[~known] == 0).all()
    for topic in range(len(given.query_ids)):
        inside = standard[pool & known & (given.pair_topic == topic)]
        assert (inside.mean(), inside.std()) == pytest.approx((0, 1), abs=1e-9)
    constant = given.with_attributes(documents=drawn(given).assign(bm25=0.1))
    assert not standardized_within_topics(constant, "bm25").any()
    assert column_predictors(given) is column_predictors(given)


@pytest.mark.parametrize("model", ["ratio", "rankings"])
def test_hidden_documents_give_the_column_its_weight(model: str) -> None:
    """Where the column is relevance with noise, probabilities of unjudged ones are nearer to the truth."""
    rng, relevance = np.random.default_rng(3), small_simulation().true_relevance()
    pair = np.flatnonzero(np.arange(len(relevance)) % 10)
    table = drawn(small()).assign(bm25=relevance[pair] + rng.normal(0, 0.3, len(pair)))
    given = small().with_attributes(documents=table)
    slope = fit(given, "P@10", f"{model} + bm25", draws=50)["posterior"]["beta"]
    assert float(slope.sel(predictor="bm25").mean()) > 1
    runs, asked = ["new-a", "new-b"], {"posterior_settings": "draws=100"}
    errors = []
    for formula in (model, f"{model} + bm25"):
        rows = judge_next(given, runs, "P@10", estimators=f"posterior-{formula}", **asked).to_frame()
        true = build_truth(relevance, given, rows)
        errors.append(float(np.square(rows.chance - true).mean()))
    assert errors[1] < 0.8 * errors[0]
    said = score(given, "new-a", "P@10", estimators=f"posterior-{model} + bm25", **asked).notes()
    assert any("1 of 11 unjudged documents has no bm25: the topic's mean" in note for note in said)


def build_truth(relevance: Any, collection: Collection, rows: pd.DataFrame) -> list[float]:
    """Return whether the documents of rows are relevant in truth."""
    topics = [collection.query_ids[t] for t in collection.pair_topic]
    pair_of = {(topic, collection.doc_id(p)): p for p, topic in enumerate(topics)}
    return [float(relevance[pair_of[row.query_id, row.doc_id]] > 0) for row in rows.itertuples()]


def test_every_part_of_the_package_has_the_column(given: Collection) -> None:
    graph = model_graph(given, "P@10", "rankings + bm25", run_ids=["new-a"])
    assert "bm25" in graph.coords["predictor"]
    rows = leave_out(
        given, "P@10", estimators="posterior-ratio + bm25", posterior_settings="draws=20"
    ).to_frame()
    assert set(rows.estimator) == {"posterior-ratio + bm25"}


@cases(
    ("estimator", "wrong"),
    [
        ("posterior-ratio + (1 | bm25)", "bm25 is of documents, and levels are of runs or topics"),
        ("posterior-ratio + bm52", "no column 'bm52'; it has bm25 of documents"),
        ("posterior-background + bm25", "model background has no slopes for bm25"),
    ],
)
def test_formulas_that_are_refused(estimator: str, wrong: str, given: Collection) -> None:
    with pytest.raises(InputError) as refused:
        score(given, estimators=estimator)
    assert wrong in str(refused.value)
    both = given.with_attributes(topics={topic: {"bm25": 1} for topic in given.query_ids})
    with pytest.raises(InputError, match="topics and documents both have a column 'bm25'; rename one"):
        score(both, estimators="posterior-ratio + bm25")

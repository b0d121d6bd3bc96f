"""Judgments of one's own on documents of the runs to score: they count, and the models learn from them."""

from __future__ import annotations

import dataclasses
import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from predicted import unjudged_document_table
from wide import wide

from bayespool import impute, judge_next, read_collection, score
from bayespool.collection import qrels_from_frame
from bayespool.collection.own import own_on_topics
from bayespool.collection.pools import sole_contributor
from bayespool.errors import InputError, InputWarning
from bayespool.evidence import hidden_document_table, judgment_counts
from bayespool.evidence.bounds import unjudged_documents
from bayespool.evidence.predictors import evidence_predictors
from bayespool.experiments import load_example, simulate_example
from bayespool.posterior import PosteriorEstimator

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


def judged(collection, run, value, n_topics=5, cutoff=10):
    """Judgments, all of one value or the truth, of a run's unjudged documents on the first topics."""
    _, topic, _, pair = unjudged_documents(collection, run, cutoff=cutoff)
    table = {}
    for t, p in zip(topic, pair, strict=True):
        if t < n_topics:
            of_topic = table.setdefault(collection.query_ids[t], {})
            key = collection.query_ids[t], collection.doc_id(p)
            of_topic[key[1]] = truth()[key] if value is None else value
    return qrels_from_frame(table)


@cache
def truth():
    """Relevance of every document of the example, by topic and document."""
    told = simulate_example().truth
    keys = zip(told.query_id.to_pylist(), told.doc_id.to_pylist(), strict=True)
    return dict(zip(keys, told.relevance.tolist(), strict=True))


def test_they_count_as_judged():
    example = load_example()
    qrels = judged(example, "new-b", 1)
    richer = example.add_judgments(qrels)
    before = judgment_counts(example, "new-b", cutoffs=10)
    after = judgment_counts(richer, "new-b", cutoffs=10)
    gained = (after.n_relevant - before.n_relevant)[0, :, 0]
    assert gained[:5].tolist() == before.n_unjudged[0, :5, 0].tolist()
    assert gained[5:].sum() == 0
    assert (richer.added_for >= 0).sum() == len(qrels.relevance) == gained.sum()
    assert richer.fingerprint != example.fingerprint
    assert (example.added_for < 0).all()


def test_they_are_evidence_of_the_run_and_leave_its_predictors():
    example = load_example()
    richer = example.add_judgments(judged(example, "new-b", 1))
    new_b = int(example.run_index("new-b")[0])
    table = hidden_document_table(richer, cutoff=10)
    own = table.run == new_b
    assert own.sum() == (sole_contributor(richer) == example.organization[new_b]).sum() > 0
    assert table.relevant[own].all()
    before = unjudged_document_table(example, ("new-b",), cutoff=10)
    after = unjudged_document_table(richer, ("new-b",), cutoff=10)
    still = np.isin(before.pair, after.pair)
    np.testing.assert_array_equal(after.predictors, before.predictors[still])
    others = hidden_document_table(example, cutoff=10)
    # local precision knows of others' more
    unchanged = tuple(name for name in evidence_predictors() if name != "local_precision")
    np.testing.assert_array_equal(table.columns(unchanged)[~own], others.columns(unchanged))


@pytest.mark.parametrize(
    ("model", "pool"),
    [
        ("ratio", True),
        ("evidence", True),
        ("interpolated", True),
        pytest.param("combined", True, marks=pytest.mark.slow),
        ("combined", False),
    ],
)
def test_the_rest_of_the_run_follows_them(model, pool):
    example = load_example()
    if not pool:
        example = example.with_pool(np.zeros_like(example.pooled), 0)
    rest = {}
    for value in (0, 1):
        richer = example.add_judgments(judged(example, "new-b", value, n_topics=8))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (result,) = PosteriorEstimator(model=model, draws=500).estimate(richer, "new-b")
        rest[value] = result.draws.amount[:, 0, 8:].sum(axis=1)
        assert len(np.unique(result.draws.amount[:, 0, :8].sum(axis=1))) == 1  # judged there
    assert rest[1].mean() > rest[0].mean() + 0.5 * rest[0].std()


@pytest.mark.slow
def test_true_judgments_narrow_the_interval():
    example = load_example()
    richer = example.add_judgments(judged(example, "new-b", None, n_topics=12))
    widths = []
    for collection in (example, richer):
        low, high = PosteriorEstimator(draws=500).estimate(collection, "new-b")[0].interval()
        widths.append(float(high[0] - low[0]))
    assert widths[1] < 0.8 * widths[0]


def test_they_stay_where_runs_leave_the_pool():
    example = load_example()
    richer = example.add_judgments(judged(example, "new-b", 1))
    for smaller in (richer.unpool(organization="north"), richer.truncate_pool(1)):
        assert (smaller.relevance[richer.relevance != example.relevance] == 1).all()


@pytest.mark.slow
def test_of_documents_far_down():
    """Of a pooled run, deeper than any evidence reaches."""
    example = load_example()
    richer = example.add_judgments(judged(example, "north-1", 1, n_topics=3, cutoff=20))
    (result,) = PosteriorEstimator(draws=50).estimate(richer, "new-b")
    assert np.isfinite(result.value).all()


def test_errors():
    example = load_example()
    pair = int(np.flatnonzero(example.relevance == 1)[0])
    topic, doc = example.query_ids[example.pair_topic[pair]], example.doc_id(pair)
    with pytest.raises(InputError, match=f"{doc} of topic {topic} has relevance 1 in the qrels"):
        example.add_judgments(qrels_from_frame({topic: {doc: 0}}))
    with pytest.raises(InputError, match="no judgment is of a document that a run retrieves"):
        example.add_judgments(qrels_from_frame({"no such topic": {"d": 1}}))
    known = example.add_judgments(qrels_from_frame({topic: {doc: 1}}))
    with pytest.raises(InputError, match="no judgment is of an unjudged document that a run retrieves"):
        score(known, "new-b", estimators="as-judged")
    with pytest.raises(InputError, match=f"{doc} .* in other judgments of your"):
        known.add_judgments(qrels_from_frame({topic: {doc: 0}}))


def test_topics_and_documents_that_no_run_has_are_told():
    example = load_example()
    good = judged(example, "new-b", 1, n_topics=1)
    rows = {"999": {"D1": 1, "D2": 0, "D3": -1}, example.query_ids[1]: {"no such document": 0}}
    for query_id, doc_id in zip(good.query_id.to_pylist(), good.doc_id.to_pylist(), strict=True):
        rows.setdefault(query_id, {})[doc_id] = 1
    said = (
        r"passed over are 2 of topics .* \(document D1 .* and 1 of documents that no run .* no such document"
    )
    with pytest.warns(InputWarning, match=said):
        richer = example.add_judgments(qrels_from_frame(rows))
    assert (richer.added_for >= 0).sum() == len(good.relevance)


def test_from_files(tmp_path):
    example = load_example()
    simulate_example().write(tmp_path)
    qrels = judged(example, "new-b", 1)
    lines = [
        f"{q} 0 {d} 1" for q, d in zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), strict=True)
    ]
    (tmp_path / "mine.txt").write_text("\n".join(lines) + "\n")
    files = {"qrels": tmp_path / "qrels.txt", "runs": tmp_path / "new", "pool": tmp_path / "pool"}
    own = read_collection(
        **files, organizations=tmp_path / "organizations.csv", own_judgments=tmp_path / "mine.txt"
    )
    plain = read_collection(**files, organizations=tmp_path / "organizations.csv")
    assert int((own.added_for >= 0).sum()) == len(lines)
    lower = [wide(score(c, "new-b", estimators=["as-judged"]))["bound_lower"][0] for c in (plain, own)]
    assert lower[1] == pytest.approx(lower[0] + len(lines) / 200)


LAKE_AND_NORTH = ["lake-1", "north-1"]


@pytest.fixture(scope="module")
def answers():
    """True judgments of what is unjudged once two organizations have left the pool, on one topic in two; the
    qrels have those that are not below their pool.
    """
    example = load_example()
    smaller = example.unpool(organization="lake").unpool(organization="north")
    _, topic, _, pair = unjudged_documents(smaller, LAKE_AND_NORTH, cutoff=20)
    table = {}
    for p in np.unique(pair[topic % 2 == 0]):
        query_id, doc_id = example.query_ids[example.pair_topic[p]], example.doc_id(p)
        table.setdefault(query_id, {})[doc_id] = truth()[query_id, doc_id]
    own = qrels_from_frame(table)
    in_qrels = example.judged[np.unique(pair[topic % 2 == 0])]
    assert in_qrels.any()
    assert not in_qrels.all()
    return own


def test_it_does_not_matter_whether_runs_leave_the_pool_before_or_after(answers):
    example = load_example()
    n = len(answers.relevance)
    before = example.unpool(["lake-1", "lake-2", "lake-3", "lake-4", "north-1", "north-2"]).add_judgments(
        answers
    )
    added = example.add_judgments(answers)
    assert added.is_own.sum() < n
    after = added.unpool(organization="lake").unpool(organization="north")
    assert after.is_own.sum() == (after.added_for >= 0).sum() == n
    for name in ("relevance", "added_for", "pooled", "is_own"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    assert after.fingerprint == before.fingerprint
    shallow = example.truncate_pool(5).add_judgments(answers)
    assert added.truncate_pool(5).fingerprint == shallow.fingerprint


def test_answers_that_differ_from_the_qrels_count_once_these_are_gone(answers):
    """Whoever judges anew may find otherwise: after its runs have left, the old judgment is not there."""
    table = {}
    for q, d, r in zip(
        answers.query_id.to_pylist(), answers.doc_id.to_pylist(), answers.relevance.tolist(), strict=True
    ):
        table.setdefault(q, {})[d] = int(r == 0)
    with pytest.raises(InputError, match="runs that are to leave the pool leave it first"):
        load_example().add_judgments(qrels_from_frame(table))
    remembered = load_example().remember_judgments(qrels_from_frame(table))
    with pytest.raises(InputError, match="in the qrels and another one here"):
        score(remembered, "new-b", estimators="as-judged")
    smaller = load_example().unpool(["lake-1", "lake-2", "lake-3", "lake-4", "north-1", "north-2"])
    assert (
        score(remembered, unpool=LAKE_AND_NORTH, estimators="as-judged").metadata["fingerprint"]
        == smaller.add_judgments(qrels_from_frame(table)).fingerprint
    )


def test_all_answers_count_where_runs_are_scored_as_if_new(answers):
    example = load_example()
    smaller = example.unpool(organization="lake").unpool(organization="north").add_judgments(answers)
    added = example.add_judgments(answers)
    quick = {"estimator": "posterior-background", "draws": 200}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = judge_next(added, measures="P@20", unpool=LAKE_AND_NORTH, budget=10, **quick)
        same = judge_next(smaller, LAKE_AND_NORTH, "P@20", budget=10, **quick)
        lower = score(added, None, "P@20", unpool=LAKE_AND_NORTH, estimators="as-judged")
        completed = impute(
            added, measures="P@20", unpool=LAKE_AND_NORTH, estimator="posterior-background", draws=2
        )
    assert found.afterwards == same.afterwards
    assert found.afterwards.n == len(answers.relevance)
    assert found.to_frame().equals(same.to_frame())
    asked = set(zip(answers.query_id.to_pylist(), answers.doc_id.to_pylist(), strict=True))
    assert not asked & set(zip(found.to_frame()["query_id"], found.to_frame()["doc_id"], strict=True))
    by_hand = wide(score(smaller, LAKE_AND_NORTH, "P@20", estimators="as-judged"))
    pd.testing.assert_frame_equal(wide(lower).drop(columns="note"), by_hand.drop(columns="note"))
    of_file = completed.qrels(0)
    value = dict(
        zip(
            zip(of_file.query_id.to_pylist(), of_file.doc_id.to_pylist(), strict=True),
            of_file.relevance.tolist(),
            strict=True,
        )
    )
    given = zip(answers.query_id.to_pylist(), answers.doc_id.to_pylist(), strict=True)
    assert [value[key] for key in given] == answers.relevance.tolist()


def test_those_that_the_qrels_judge_already_are_counted_and_named():
    example = load_example()
    first = np.flatnonzero(example.judged & (example.pair_topic == 0))[:7]
    table = {"701": {example.doc_id(p): int(example.relevance[p]) for p in first}}
    (new,) = judged(example, "new-b", 1, n_topics=1).doc_id.to_pylist()[:1]
    table["701"][new] = 1
    added = example.add_judgments(qrels_from_frame(table))
    named = ", ".join(f"document {example.doc_id(p)} of topic 701" for p in first[:5])
    said = f"7 of documents that the qrels judge already ({named}, and 2 more)"
    with pytest.warns(InputWarning, match=re.escape(f"judgments of your own: passed over are {said}")):
        scores = score(added, "new-b", "P@10", estimators="as-judged")
    assert f"judgments of your own passed over: {said}" in wide(scores)["note"][0]
    assert scores.metadata["passed_over"] == [said]
    alone = example.add_judgments(qrels_from_frame({"701": {new: 1}}))
    assert scores.metadata["fingerprint"] == alone.fingerprint


def test_judgments_of_the_qrels_on_common_topics_are_taken_for_own():
    """Posteriors learn from them what they learn from judgments that are given as one's own."""
    example = load_example()
    given = example.add_judgments(judged(example, "new-b", None))
    in_qrels = dataclasses.replace(given, added_for=np.full_like(given.added_for, -1), own=None)
    common = example.query_ids[:5]
    taken = own_on_topics(in_qrels, ["new-b"], common)
    np.testing.assert_array_equal(taken.added_for, given.added_for)
    np.testing.assert_array_equal(taken.relevance, given.relevance)
    none = own_on_topics(in_qrels, ["new-b"], example.query_ids[5:])
    assert (none.added_for == -1).all()

    asked = {"estimators": "posterior-ratio", "draws": 100}
    own, with_common, without = (
        wide(score(collection, "new-b", **asked, **more))["posterior-ratio"].item()
        for collection, more in ((given, {}), (in_qrels, {"common_topics": common}), (in_qrels, {}))
    )
    assert with_common == own
    assert without != own

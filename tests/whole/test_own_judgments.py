"""Judgments of one's own on documents of the runs to score: they count, and the models learn from them."""

from __future__ import annotations

import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from small import small
from wide import wide

from bayespool import impute, judge_next, score
from bayespool.collection import qrels_from_frame
from bayespool.errors import InputError, InputWarning
from bayespool.evidence.bounds import unjudged_documents
from bayespool.experiments import load_example, simulate_example

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


def judged(collection, run, value, n_topics=5, cutoff=10):
    """Judgments, all of one value, of a run's unjudged documents on the first topics."""
    _, topic, _, pair = unjudged_documents(collection, run, cutoff=cutoff)
    table = {}
    for t, p in zip(topic, pair, strict=True):
        if t < n_topics:
            table.setdefault(collection.query_ids[t], {})[collection.doc_id(p)] = value
    return qrels_from_frame(table)


@cache
def truth():
    """Relevance of every document of the example, by topic and document."""
    told = simulate_example().truth
    keys = zip(told.query_id.to_pylist(), told.doc_id.to_pylist(), strict=True)
    return dict(zip(keys, told.relevance.tolist(), strict=True))


def test_they_stay_where_runs_leave_the_pool():
    example = load_example()
    richer = example.add_judgments(judged(example, "new-b", 1))
    for smaller in (richer.unpool(organization="north"), richer.truncate_pool(1)):
        assert (smaller.relevance[richer.relevance != example.relevance] == 1).all()


def test_of_documents_far_down():
    """Of a pooled run, deeper than any evidence reaches."""
    richer = small().add_judgments(judged(small(), "north-1", 1, n_topics=3, cutoff=20))
    assert np.isfinite(
        score(richer, "new-b", estimators="posterior-ratio", posterior="draws=20").to_frame()["value"]
    ).all()


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
    assert after.is_own.sum() == (after.attributed_run >= 0).sum() == n
    for name in ("relevance", "attributed_run", "pooled", "is_own"):
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
    with pytest.raises(InputError, match="only for unjudged documents; unpool runs"):
        load_example().add_judgments(qrels_from_frame(table))
    remembered = load_example().attach_judgments(qrels_from_frame(table))
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
    quick = {"posterior": "posterior-background(draws=200)"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = judge_next(added, measures="P@20", unpool=LAKE_AND_NORTH, budget=10, **quick)
        same = judge_next(smaller, LAKE_AND_NORTH, "P@20", budget=10, **quick)
        lower = score(added, None, "P@20", unpool=LAKE_AND_NORTH, estimators="as-judged")
        completed = impute(
            added, measures="P@20", unpool=LAKE_AND_NORTH, posterior="posterior-background", draws=2
        )
    assert found.afterwards == same.afterwards
    assert found.afterwards.n == len(answers.relevance)
    assert found.to_frame().equals(same.to_frame())
    asked = set(zip(answers.query_id.to_pylist(), answers.doc_id.to_pylist(), strict=True))
    assert not asked & set(zip(found.to_frame()["query_id"], found.to_frame()["doc_id"], strict=True))
    by_hand = wide(score(smaller, LAKE_AND_NORTH, "P@20", estimators="as-judged"))
    pd.testing.assert_frame_equal(wide(lower).drop(columns="note"), by_hand.drop(columns="note"))
    of_file = completed.qrels(0)
    keys = zip(of_file.query_id.to_pylist(), of_file.doc_id.to_pylist(), strict=True)
    value = dict(zip(keys, of_file.relevance.tolist(), strict=True))
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
    with pytest.warns(InputWarning, match=re.escape(f"judgments of your own: ignored {said}")):
        scores = score(added, "new-b", "P@10", estimators="as-judged")
    assert f"judgments of your own passed over: {said}" in wide(scores)["note"][0]
    assert scores.metadata["passed_over"] == [said]
    alone = example.add_judgments(qrels_from_frame({"701": {new: 1}}))
    assert scores.metadata["fingerprint"] == alone.fingerprint

"""Judgments of one's own on documents of the runs to score: they count, and the models learn from them."""

from __future__ import annotations

import dataclasses
import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from small import small
from wide import wide

from bayespool import (
    build_collection,
    describe_pool,
    impute,
    judge_next,
    parse_measure,
    read_collection,
    score,
)
from bayespool.collection import add_judges
from bayespool.collection.packing import join_runs, pool_alone
from bayespool.collection.rankings import Rankings
from bayespool.errors import InputError, InputWarning
from bayespool.evidence.bounds import score_bounds, unjudged_documents
from bayespool.experiments import load_example, simulate_example
from bayespool.pooling import pool_of_strategy
from bayespool.posterior import PosteriorEstimator
from bayespool.reading import labels_from_frame, qrels_from_frame

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
        score(richer, "new-b", estimators="posterior-ratio", posterior_settings="draws=20").to_frame()[
            "value"
        ]
    ).all()


def test_errors():
    example = load_example()
    pair = int(np.flatnonzero(example.relevance == 1)[0])
    topic, doc = example.query_ids[example.pair_topic[pair]], example.doc_id(pair)
    with pytest.raises(InputError, match=f"{doc} of topic {topic} has relevance 1 in the qrels"):
        example.add_judgments(qrels_from_frame({topic: {doc: 0}}))
    with pytest.raises(InputError, match="no judgment is of a topic of the collection"):
        example.add_judgments(qrels_from_frame({"no such topic": {"d": 1}}))
    known = example.add_judgments(qrels_from_frame({topic: {doc: 1}}))
    with pytest.raises(InputError, match="no judgment is of a document that the qrels leave unjudged"):
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
    quick = {"estimators": "posterior-background(draws=200)"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = judge_next(added, measures="P@20", unpool=LAKE_AND_NORTH, budget=10, **quick)
        same = judge_next(smaller, LAKE_AND_NORTH, "P@20", budget=10, **quick)
        lower = score(added, None, "P@20", unpool=LAKE_AND_NORTH, estimators="as-judged")
        completed = impute(
            added, measures="P@20", unpool=LAKE_AND_NORTH, estimators="posterior-background", draws=2
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


# --- documents that no named run retrieves ----------------------------------------------------------------

IDEAL = ("nDCG@2", "R@2", "AP@2")
QRELS = {"q": {"campaign": 1}}
MINE = {"q": {"b1": 1, "b2": 0, "a1": 1, "a2": 1, "Z": 0}}
RUN = {"q": {"b1": 2.0, "b2": 1.0}}


def values(collection, run="b", measures=IDEAL):
    return [float(score_bounds(collection, run, parse_measure(m)).low.means()[0]) for m in measures]


def test_they_count_in_ideal_rankings_and_among_the_relevant():
    """Of four relevant documents the run has one, first of two: by hand."""
    right = [1 / (1 + 1 / np.log2(3)), 1 / 4, 1 / 4]
    alone = read_collection(QRELS, {"b": RUN}, own_judgments=MINE)
    assert values(alone) == pytest.approx(right)
    other = {"q": {"a1": 2.0, "b2": 1.5, "a2": 1.0}}
    both = read_collection(QRELS, {"b": RUN, "a": other}, own_judgments=MINE)
    assert values(both) == pytest.approx(right)
    later = read_collection(QRELS, {"b": RUN}).add_judgments(qrels_from_frame(MINE))
    assert later.fingerprint == alone.fingerprint
    same = read_collection({"q": QRELS["q"] | MINE["q"]}, {"b": RUN})
    assert values(same) == pytest.approx(right)
    assert alone.doc_ids.to_pylist() == same.doc_ids.to_pylist() == ["Z", "a1", "a2", "b1", "b2", "campaign"]
    # those that are taken out of the runs are taken out here, too
    fewer = read_collection(QRELS, {"b": RUN}, own_judgments=MINE, exclude={"q": ["a1", "a2", "b2"]})
    assert values(fewer) == pytest.approx([1 / (1 + 1 / np.log2(3)), 1 / 2, 1 / 2])


def test_of_no_retrieved_document_it_is_told():
    with pytest.warns(
        InputWarning, match="no judgment is of a document that a run retrieves, so that all count"
    ):
        collection = read_collection(QRELS, {"b": RUN}, own_judgments={"q": {"elsewhere": 1}})
    assert values(collection, measures=["R@2"]) == [0]
    assert collection.is_own.sum() == 1


LETTERS = "abcdefghij"
RANKINGS = st.lists(st.permutations(LETTERS), min_size=2, max_size=2)
JUDGED = st.dictionaries(st.sampled_from(LETTERS + "XYZ"), st.integers(0, 2), min_size=1)


def run_of(ranking):
    return {"q": {d: 9.0 - rank for rank, d in enumerate(ranking[:4])}, "r": {"c": 1.0}}


@settings(max_examples=60, deadline=None)
@given(
    RANKINGS,
    JUDGED,
    JUDGED,
    JUDGED,
    st.sampled_from(("nDCG@3", "R@3", "AP@3", "P@3", "nDCG(ideal='shared')@3")),
)
def test_they_are_judged_pairs_like_those_of_the_qrels(rankings, of_qrels, own, more, measure):
    """Joined with the qrels or not, they give the same bounds; the bounds hold what is judged further of the
    run: its documents with their relevance, in any order of the two files.
    """
    parsed = parse_measure(measure)
    qrels = {"q": of_qrels, "r": {"c": 1}}
    own = {d: level for d, level in own.items() if d not in of_qrels}
    runs = {name: run_of(ranking) for name, ranking in zip("ab", rankings, strict=True)}
    joined = build_collection(runs, {"q": of_qrels | own, "r": {"c": 1}})
    added = build_collection(runs, qrels)
    if own:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            added = added.add_judgments(qrels_from_frame({"q": own}))
    for name in ("relevance", "pair_topic", "document"):
        np.testing.assert_array_equal(getattr(added, name), getattr(joined, name))
    assert added.doc_ids.equals(joined.doc_ids)
    before, same = (score_bounds(each, "a", parsed) for each in (added, joined))
    np.testing.assert_array_equal(before.least.amount, same.least.amount)
    np.testing.assert_array_equal(before.most.amount, same.most.amount)
    further = {d: level for d, level in more.items() if d in rankings[0][:3] and d not in of_qrels | own}
    if further:
        after = score_bounds(added.add_judgments(qrels_from_frame({"q": further})), "a", parsed)
        assert before.least.scores()[0, 0] - 1e-12 <= after.least.scores()[0, 0]
        assert after.least.scores()[0, 0] <= after.most.scores()[0, 0] <= before.most.scores()[0, 0] + 1e-12


def test_nothing_else_of_the_collection_changes():
    """Rankings, labels, sampled judgments and a strategy's pool are of the same documents."""
    example = pool_of_strategy(small(), "take(budget=200)", pooled_run_ids=small().pooled_run_ids)
    topic = example.query_ids[3]
    labels = {
        q: {example.doc_id(int(np.flatnonzero(example.pair_topic == t)[0])): t}
        for t, q in enumerate(example.query_ids)
    }
    example = add_judges(example, {"llm": [labels_from_frame(labels), labels_from_frame(labels)]})
    ragged = dataclasses.replace(
        example, document=Rankings(example.document[example.document >= 0], example.length, -1)
    )
    own = {topic: {"0 first of all": 1, "in between": 0}, example.query_ids[0]: {"zz last": 1}}
    for before in (example, ragged):
        with pytest.warns(InputWarning, match="no judgment is of a document that a run retrieves"):
            after = before.add_judgments(qrels_from_frame(own))
        assert len(after.relevance) == len(before.relevance) + 3
        is_new = after.is_own
        assert [after.doc_id(int(p)) for p in np.flatnonzero(is_new)] == [
            "zz last",
            "0 first of all",
            "in between",
        ]
        assert after.pair_topic[is_new].tolist() == [0, 3, 3]
        assert after.relevance[is_new].tolist() == [1, 1, 0]
        np.testing.assert_array_equal(after.relevance[~is_new], before.relevance)
        assert after.doc_ids.filter(pa.array(~is_new)).equals(before.doc_ids)
        place = np.append(np.flatnonzero(~is_new), -1)
        np.testing.assert_array_equal(np.asarray(after.document), place[np.asarray(before.document)])
        np.testing.assert_array_equal(after.judges[0].label[~is_new], before.judges[0].label)
        assert after.judges[0].replicates.shape == (2, len(after.relevance))
        np.testing.assert_array_equal(after.in_pool()[~is_new], before.in_pool())
        assert not after.in_pool()[is_new].any()


def test_of_a_prepared_collection():
    part = pool_alone(small().unpool(()))
    topic = part.query_ids[0]
    run = {
        q: {part.doc_id(int(np.flatnonzero(part.pair_topic == t)[0])): 1.0}
        for t, q in enumerate(part.query_ids)
    }
    own = qrels_from_frame({topic: {"elsewhere": 1, "nowhere": 0, part.doc_id(0) + "x": 1}})
    with pytest.warns(InputWarning, match="no judgment is of a document that a run retrieves"):
        before, after = (each.attach_judgments(own) for each in (part, join_runs(part, {"mine": run})))
    measure = parse_measure("R@5")
    for name in part.run_ids:
        np.testing.assert_array_equal(
            *(score_bounds(each, name, measure).low.amount for each in (before, after))
        )
    n = int(((part.relevance > 0) & (part.pair_topic == 0)).sum())
    alone, with_own = (score_bounds(each, part.run_ids[0], measure).lower[0, 0] for each in (part, before))
    assert with_own == pytest.approx(alone * n / (n + 2))


def test_those_that_other_runs_brought_are_no_evidence():
    """What two runs share is relevant more often; the file does not say which run brought which."""
    rng = np.random.default_rng(3)
    shared, alone = ([f"{kind}{i}" for i in range(5)] for kind in "sb")
    topics = [str(t) for t in range(12)]
    run = {q: {d: 10.0 - i for i, d in enumerate([*shared, *alone])} for q in topics}
    other = {q: {d: int(rng.random() < 0.9) for d in shared} | {f"o{i}": 0 for i in range(5)} for q in topics}
    qrels = {q: {"known": 1, "not": 0} for q in topics}
    collection = read_collection(qrels, {"b": run}, own_judgments=other)
    assert not (collection.attributed_run >= 0).any()
    pool = describe_pool(collection)
    assert pool.evidence == "priors alone"
    (note,) = [note for note in pool.notes if "judgments of your own" in note]
    assert "do not learn from them: 60 of 120 are of documents that no run outside the pool retrieves" in note
    named = {q: {d: 10.0 - i for i, d in enumerate([*shared, *(f"o{i}" for i in range(5))])} for q in topics}
    both = read_collection(qrels, {"b": run, "a": named}, own_judgments=other)
    assert (both.attributed_run >= 0).sum() == 120
    assert describe_pool(both).evidence == "priors and judgments of your own"


def test_what_two_runs_share_is_told_apart_without_a_pool():
    """On 20 topics 3 of 5 shared documents are relevant and 1 of 5 of a run's own; most judged are shared."""
    topics, depth = [str(t) for t in range(20)], 10
    truth = {
        q: {f"{kind}{i}": int(i < n) for kind, n in (("s", 3), ("a", 1), ("b", 1)) for i in range(5)}
        for q in topics
    }
    runs = {
        run: {
            q: {d: -i for i, d in enumerate(f"{kind}{i}" for i in range(5) for kind in f"s{run}")}
            for q in topics
        }
        for run in "ab"
    }
    judged = {q: {d: v for d, v in truth[q].items() if d[0] == "s" or q in topics[:4]} for q in topics[:12]}
    qrels = {q: {"known": 1, "not": 0} for q in topics}
    collection = read_collection(qrels, runs, own_judgments=judged)
    completion = PosteriorEstimator(draws=100).complete(collection, ["a", "b"], f"P@{depth}")
    chance = {"s": [], "a": [], "b": []}
    for t in range(len(topics)):
        doc_ids = completion.unknowns.doc_ids(t)
        for doc_id, share in zip(doc_ids, completion.block(t).mean(axis=0), strict=True):
            chance[doc_id[0]].append(share)
    assert {kind: len(shares) for kind, shares in chance.items()} == {"s": 40, "a": 80, "b": 80}
    assert np.mean(chance["s"]) == pytest.approx(0.6, abs=0.1)
    assert np.mean(chance["a"] + chance["b"]) == pytest.approx(0.2, abs=0.1)

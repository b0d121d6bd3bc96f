"""Completed qrels: each is a draw, and what ir_measures says of them is what `score` says."""

from __future__ import annotations

from typing import Any

import ir_measures
import numpy as np
import pytest
from toys import ORGANIZATIONS, POOLED, toy_collection, toy_qrels, toy_runs

from bayespool.collection import Collection, build_collection
from bayespool.errors import InputError
from bayespool.experiments import load_example, simulate_example
from bayespool.reading import Negative, Qrels, qrels_from_frame
from bayespool.scoring import Imputations, impute, score
from bayespool.scoring.imputing import spread_draws

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

N_FILES = 20
FAST: dict[str, Any] = {"estimators": "posterior-background(draws=50)"}  # where the numbers do not matter

Judgments = dict[str, dict[str, int]]


def judgments(qrels: Qrels) -> Judgments:
    """Relevance by topic and document, in the order of the lines."""
    found: Judgments = {}
    lines = zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), qrels.relevance.tolist(), strict=True)
    for query_id, doc_id, value in lines:
        found.setdefault(query_id, {})[doc_id] = value
    return found


def as_run(collection: Collection, run_id: str) -> dict[str, dict[str, float]]:
    """The ranking of a run with scores that have it."""
    (r,), ids = collection.run_index(run_id), collection.doc_ids.to_pylist()
    return {
        query_id: {
            ids[pair]: -float(rank) for rank, pair in enumerate(collection.document[r, t]) if pair >= 0
        }
        for t, query_id in enumerate(collection.query_ids)
        if collection.document[r, t, 0] >= 0
    }


def by_ir_measures(imputations: Imputations, measure: str, n: int) -> np.ndarray:
    """Values by draw, run and topic that ir_measures gives with the first qrels."""
    asked = ir_measures.parse_measure(measure)
    collection = imputations.completion.unknowns.collection
    runs = [as_run(collection, run_id) for run_id in imputations.run_ids]
    topic = {query_id: t for t, query_id in enumerate(imputations.query_ids)}
    values = np.zeros((n, len(runs), len(topic)))
    for i in range(n):
        evaluator = ir_measures.evaluator([asked], judgments(imputations.qrels(i)))
        for r, run in enumerate(runs):
            for metric in evaluator.iter_calc(run):
                values[i, r, topic[metric.query_id]] = metric.value
    return values


@pytest.mark.parametrize("measure", ["P@10", pytest.param("nDCG@10", marks=pytest.mark.slow)])
def test_each_file_is_the_draw_that_score_has(measure: str) -> None:
    """The files are of both runs, whose judgments are completed together, and so are the scores."""
    imputations = impute(load_example(), None, measure, draws=N_FILES)
    ideal: Any = "own" if measure == "P@10" else "shared"  # as tools have it
    scores = score(load_example(), None, measure, estimators="posterior-combined", ideal=ideal)
    theirs = by_ir_measures(imputations, measure, N_FILES)
    (estimates,), shared = scores.estimates, str(scores.measures[0])
    assert shared == (measure if measure == "P@10" else measure.replace("@", "(ideal='shared')@"))
    ours = estimates.draws.scores()[list(imputations.draws)]
    assert np.abs(ours - theirs).max() < 1e-9
    assert np.ptp(theirs.mean(axis=2), axis=0).max() > 0.01  # they are not one and the same
    (evaluated,) = imputations.completion.evaluate(shared)
    assert np.array_equal(evaluated.amount, estimates.draws.amount)


def test_qrels_are_those_of_the_completion() -> None:
    found = impute(load_example(), ["new-a", "new-b"], "nDCG@10", draws=4, **FAST)
    for i, draw in enumerate(found.draws):
        assert judgments(found.qrels(i)) == judgments(found.completion.qrels(draw))
    assert found.n_judged == 1181
    assert len(found.qrels(0).relevance) == 1181 + len(found.completion.unknowns)
    n_before = (simulate_example().qrels.relevance > 0).sum()
    assert found.n_relevant == np.mean([(found.qrels(i).relevance > 0).sum() - n_before for i in range(4)])
    with pytest.raises(InputError, match="there are no qrels 4; 0 to 3"):
        found.qrels(4)


def toy_with(negative: Negative, judged: Judgments) -> tuple[Collection, Qrels]:
    qrels = qrels_from_frame(judged)
    collection = build_collection(
        toy_runs(), qrels, organizations=ORGANIZATIONS, negative=negative, pooled_run_ids=POOLED, pool_depth=3
    )
    return collection, qrels


@pytest.mark.parametrize("negative", ["listed", "nonrelevant"])
def test_negative_relevance_stays_as_it_is_written(negative: Negative) -> None:
    """m is u's and listed, k spam, g listed and out of u's reach."""
    judged = judgments(toy_qrels())
    judged["1"] |= {"m": -1, "k": -2, "g": -1}
    collection, qrels = toy_with(negative, judged)
    found = impute(collection, "u", "P@5", draws=30, qrels=qrels, **FAST)
    levels = [judgments(found.qrels(i))["1"] for i in range(30)]
    assert {of_draw["k"] for of_draw in levels} == {-2}
    assert {of_draw["g"] for of_draw in levels} == {-1}
    assert {of_draw["m"] for of_draw in levels} == ({-1} if negative == "nonrelevant" else {0, 1})
    assert {of_draw["l"] for of_draw in levels} == {0, 1}
    theirs = by_ir_measures(found, "P@5", 30)
    (values,) = found.completion.evaluate("P@5")
    assert np.abs(values.scores()[list(found.draws)] - theirs).max() < 1e-12


def test_lines_keep_the_order_of_the_file_and_completed_documents_follow() -> None:
    found = impute(toy_collection(), "u", "P@5", draws=2, qrels=toy_qrels(), **FAST)
    lines = judgments(found.qrels(1))
    assert {q: list(of_topic) for q, of_topic in lines.items()} == {
        "2": ["w", "p", "v", "q", "r", "x", "z"],
        "1": ["a", "b", "c", "f", "h", "i", "k", "j", "d", "l", "m"],
        "3": ["a", "b", "c", "d", "e", "f"],
    }
    assert lines["2"] | judgments(toy_qrels())["2"] == lines["2"]


def test_judgments_that_left_the_pool_are_completed_or_gone() -> None:
    """The south alone had brought h i k, v w, and d on topic 3; k is not in the reach of s1."""
    found = impute(
        toy_collection(), ["s1", "s2"], "P@3", unpool="south", repool_to=2, draws=2, qrels=toy_qrels(), **FAST
    )
    lines = judgments(found.qrels(0))
    assert found.metadata["unpooled"] == {"s1": "organization south", "s2": "organization south"}
    assert set(found.run_ids) == {"s1", "s2"}
    unknown = found.completion.unknowns
    completed = {q: unknown.doc_ids(t) for t, q in enumerate(found.query_ids)}
    assert completed == {"1": ["h", "i", "k"], "2": ["v", "w"], "3": ["d"]}
    assert list(lines["1"]) == ["a", "b", "m", *completed["1"]]  # c and f were judged below depth 2
    alone = impute(
        toy_collection(), (), "P@1", unpool="s1", unpool_by="run", draws=2, qrels=toy_qrels(), **FAST
    )
    assert "i" not in judgments(alone.qrels(0))["1"]  # s1 alone had brought it, at rank 3


def test_a_topic_without_any_line_is_told() -> None:
    """s1 alone had brought what was judged on topic 2, where s2 returns nothing."""
    judged = {"1": {"a": 1, "h": 1, "k": 0}, "2": {"w": 0}, "3": {"a": 0, "d": 0}}
    runs = [run for run in toy_runs() if run.run_id in ("s1", "s2")]
    qrels = qrels_from_frame(judged)
    both = build_collection(runs, qrels, pooled_run_ids=["s1", "s2"], pool_depth=3)
    found = impute(both.unpool("s1"), "s2", "P@2", draws=2, qrels=qrels, **FAST)
    assert list(judgments(found.qrels(0))) == ["1", "3"]
    assert found.notes()[-1] == (
        "no judgment is left and nothing completed on 1 of 3 topics ('2' for one), which tools leave out"
    )


def test_draws_are_spread_evenly_and_nested() -> None:
    for n in (1, 2, 7, 1000, 4096):
        order = spread_draws(n, n)
        assert sorted(order) == list(range(n))
        for m in (1, 3, min(n, 20)):
            assert spread_draws(n, m) == order[:m], n
        if n >= 1000:
            gaps = np.diff(np.sort([*order[:20], n]))
            assert n / 64 <= gaps.min() <= gaps.max() <= 2 * n / 16


def test_what_cannot_be_is_refused() -> None:
    for asked, words in (
        ({"estimators": "condensed-list"}, "'condensed-list' is no posterior"),
        ({"estimators": "posterior"}, "'posterior'"),
        ({"measures": "nDCG(ideal='judged')@10"}, "ideal ranking of all documents"),
        ({"draws": 1}, "draws cannot be 1"),
        ({"draws": 201, **FAST}, r"201 completed qrels out of 200 draws; .*\(draws=51\)"),
        ({"posterior_settings": "tuned=3"}, r"'tuned'; did you mean 'tune'"),
        ({"posterior_settings": "zz=Normal(0, 1)"}, "prior 'zz'"),
        ({"unpool": "ghost"}, "'ghost'"),
        ({"run_ids": []}, "no run to score"),
    ):
        with pytest.raises(InputError, match=words):
            impute(load_example(), **asked)

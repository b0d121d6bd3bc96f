"""Completed qrels: each is a draw, and what ir_measures says of them is what `score` says."""

from __future__ import annotations

from functools import cache
from typing import Any

import ir_measures
import numpy as np
import pytest
from scipy import stats
from toys import ORGANIZATIONS, POOLED, toy_collection, toy_qrels, toy_runs

from bayespool.collection import Collection, Negative, Qrels, build_collection, qrels_from_frame
from bayespool.errors import InputError
from bayespool.experiments import load_example, simulate_example
from bayespool.measures import Estimates
from bayespool.posterior import PosteriorEstimator
from bayespool.scoring import Imputations, Scores, impute, score
from bayespool.scoring.imputing import spread_draws

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

FEW, MANY = 20, 200
MEASURES = ("P@10", "nDCG@10", "AP@100", "RR@10")
p_at_10_at_once = pytest.mark.parametrize(
    "measure", ["P@10", *(pytest.param(m, marks=pytest.mark.slow) for m in MEASURES[1:])]
)
OVER_AN_IDEAL = ("nDCG@10", "AP@100")  # that of all documents of the qrels
METHOD = "posterior-combined"
FAST: dict[str, Any] = {"estimator": "posterior-background(draws=50)"}  # where the numbers do not matter

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


@cache
def example_with(measure: str) -> tuple[Imputations, Scores, np.ndarray]:
    """The example's two runs: completed qrels, scores, and values of ir_measures. The files are of both runs,
    whose judgments are completed together, and so are the scores.
    """
    imputations = impute(load_example(), None, measure, draws=MANY)
    together: dict[str, Any] = {"ideal": "shared"} if measure in OVER_AN_IDEAL else {"together": True}
    scores = score(load_example(), None, measure, estimators=METHOD, **together)
    return imputations, scores, by_ir_measures(imputations, measure, MANY)


def estimates_of(scores: Scores) -> Estimates:
    (estimates,) = scores.estimates
    return estimates


# --- the same numbers as score -----------------------------------------------------------------------------


@p_at_10_at_once
def test_each_file_is_the_draw_that_score_has(measure: str) -> None:
    imputations, scores, theirs = example_with(measure)
    draws, shared = estimates_of(scores).draws, str(scores.measures[0])
    assert shared == (measure.replace("@", "(ideal='shared')@") if measure in OVER_AN_IDEAL else measure)
    ours = draws.scores()[list(imputations.draws)]
    assert np.abs(ours - theirs).max() < 1e-9
    assert np.ptp(theirs.mean(axis=2), axis=0).max() > 0.01  # they are not one and the same
    (evaluated,) = imputations.completion.evaluate(shared)
    assert np.array_equal(evaluated.amount, draws.amount)


@p_at_10_at_once
def test_mean_and_spread_of_files_are_those_of_score(measure: str) -> None:
    """Within the Monte-Carlo error of so many draws: among the middle 99.8 % of those of random ones. The
    posterior of new-b is skewed, so that a chi-squared distribution would not do.
    """
    imputations, scores, theirs = example_with(measure)
    estimates = estimates_of(scores)
    every = estimates.draws.means()
    for n, most in ((FEW, 4.4), (MANY, 2.2)):  # an error that says something
        means = theirs[:n].mean(axis=2)
        assert imputations.draws[:n] == spread_draws(len(every), n)
        assert (np.abs(means.mean(axis=0) - estimates.value) < 4 * estimates.std / np.sqrt(n)).all()
        others = every[np.random.default_rng(1).integers(len(every), size=(4000, n))]
        low, high = np.quantile(others.std(axis=1, ddof=1), [0.001, 0.999], axis=0)
        found = means.std(axis=0, ddof=1)
        assert ((low <= found) & (found <= high)).all(), found / estimates.std
        assert (high / estimates.std < most).all()


def test_interval_of_few_files_is_near_that_of_all_draws() -> None:
    """The page's formula: mean ± t · sd · sqrt(1 + 1/m)."""
    _, scores, theirs = example_with("P@10")
    means, estimates = theirs[:FEW].mean(axis=2), estimates_of(scores)
    width = stats.t.ppf(0.975, FEW - 1) * means.std(axis=0, ddof=1) * np.sqrt(1 + 1 / FEW)
    low, high = estimates.interval(0.95)
    # by t it is symmetric, and draws, which the bound cuts off, are not
    assert (np.abs(means.mean(axis=0) - width - low) < 0.03).all()
    assert (np.abs(means.mean(axis=0) + width - high) < 0.03).all()


@pytest.mark.slow
def test_measures_together_have_the_deeper_evidence_and_a_wider_ideal() -> None:
    """P@10 beside AP@100 is exact as well; the ideal ranking of nDCG@10 is not, which a note says."""
    together = impute(load_example(), "new-b", ["P@10", "AP@100", "nDCG@10"], draws=3)
    values = together.completion.evaluate("P@10", "AP@100", "nDCG@10")
    off = []
    for measure, of_measure in zip(("P@10", "AP@100", "nDCG@10"), values, strict=True):
        ours = of_measure.scores()[list(together.draws)]
        off.append(np.abs(ours - by_ir_measures(together, measure, 3)).max())
    assert max(off[:2]) < 1e-9
    assert 0.01 < off[2] < 0.2
    assert together.notes() == (
        "ranks of equal scores, which document ids order, descending: top 100: new-b 12 of 2,000",
        "the ideal ranking of nDCG@10 has completed documents down to rank 10, and the files down to rank "
        "100: ask for it alone to have what score gives",
    )
    assert together.completion.unknowns.depth == 100
    assert isinstance(together.metadata["estimator"], dict)


def test_qrels_are_those_of_the_completion() -> None:
    found = impute(load_example(), ["new-a", "new-b"], "nDCG@10", draws=4, **FAST)
    for i, draw in enumerate(found.draws):
        assert judgments(found.qrels(i)) == judgments(found.completion.qrels(draw))
    assert found.n_judged == 1181
    assert len(found.qrels(0).relevance) == 1181 + found.n_completed.sum()
    assert found.n_relevant == np.mean(
        [
            (found.qrels(i).relevance > 0).sum() - (simulate_example().qrels.relevance > 0).sum()
            for i in range(4)
        ]
    )
    with pytest.raises(InputError, match="there are no qrels 4; 0 to 3"):
        found.qrels(4)


def test_a_topic_that_a_run_misses_counts_in_the_mean() -> None:
    """ir_measures takes the mean over the topics of the qrels, as bayespool does."""
    collection, measure = toy_collection(), ir_measures.parse_measure("P@3")
    found = impute(collection, "s2", "P@3", unpool="s2", unpool_by="run", draws=2, **FAST)
    run, qrels = as_run(collection, "s2"), judgments(found.qrels(0))
    assert set(run) == {"1", "3"}
    (values,) = found.completion.evaluate("P@3")
    mean = ir_measures.calc_aggregate([measure], qrels, run)[measure]
    assert mean == pytest.approx(values.means()[found.draws[0], 0], abs=1e-12)


# --- lines of the qrels ------------------------------------------------------------------------------------


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


def test_negative_relevance_without_the_file_is_that_of_the_collection() -> None:
    judged = judgments(toy_qrels())
    judged["1"] |= {"k": -2, "g": -1}
    collection, _ = toy_with("listed", judged)
    lines = judgments(impute(collection, "u", "P@5", draws=2, **FAST).qrels(0))["1"]
    assert lines["k"] == 0
    assert "g" not in lines


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
        toy_collection(), ["s1"], "P@3", unpool="south", pool_depth=2, draws=2, qrels=toy_qrels(), **FAST
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


def test_judgments_of_ones_own_are_written() -> None:
    own = qrels_from_frame({"1": {"l": 2, "m": 0}})
    collection = toy_collection().add_judgments(own)
    lines = judgments(impute(collection, "u", "P@5", draws=2, qrels=toy_qrels(), **FAST).qrels(0))["1"]
    assert (lines["l"], lines["m"]) == (2, 0)  # the file lists m as unjudged


def test_where_nothing_is_unjudged_the_qrels_are_what_they_were() -> None:
    qrels = simulate_example().qrels
    found = impute(load_example(), "north-1", "P@10", draws=2, qrels=qrels)
    assert judgments(found.qrels(0)) == judgments(found.qrels(1)) == judgments(qrels)
    assert found.notes() == (
        "nothing is unjudged: each file has the judgments of the qrels and nothing else",
    )
    assert found.n_relevant == 0


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


def test_levels_that_no_measure_tells_apart_are_told() -> None:
    binary = impute(load_example(), "new-b", "P@10", draws=2, estimator="posterior-background(draws=101)")
    assert binary.notes() == (
        "the qrels have relevance 1, 2, completed documents 0, 1: these measures tell no more apart; ask for "
        "a graded one for the rest",
    )
    assert set(np.unique(binary.completed)) <= {0, 1}
    high = impute(load_example(), "new-b", "P(rel=2)@10", draws=40, **FAST)
    assert high.notes() == ("an interval of 200 draws, should be over 400",)
    assert set(np.unique(high.completed)) == {0, 1, 2}


# --- which draws -------------------------------------------------------------------------------------------


def test_draws_are_spread_evenly_and_nested() -> None:
    for n in (1, 2, 7, 1000, 4096):
        order = spread_draws(n, n)
        assert sorted(order) == list(range(n))
        for m in (1, 3, min(n, 20)):
            assert spread_draws(n, m) == order[:m], n
        if n >= 1000:
            gaps = np.diff(np.sort([*order[:20], n]))
            assert n / 64 <= gaps.min() <= gaps.max() <= 2 * n / 16


def test_more_files_have_the_fewer_among_them_and_the_seed_decides() -> None:
    few, many, other = (
        impute(load_example(), "new-b", "P@10", draws=n, random_seed=seed, **FAST)
        for n, seed in ((2, 1), (6, 1), (2, 5))
    )
    assert [judgments(few.qrels(i)) for i in range(2)] == [judgments(many.qrels(i)) for i in range(2)]
    assert judgments(few.qrels(0)) != judgments(other.qrels(0))


# --- what is refused ---------------------------------------------------------------------------------------


def test_what_cannot_be_is_refused() -> None:
    for asked, words in (
        ({"estimator": "interpolated"}, "interpolated says nothing of single documents"),
        ({"estimator": "posterior"}, "'posterior'"),
        ({"measures": "nDCG(ideal='judged')@10"}, "ideal ranking of all documents"),
        ({"draws": 1}, "draws cannot be 1"),
        ({"draws": 201, **FAST}, r"201 completed qrels out of 200 draws; .*\(draws=51\)"),
        ({"tuned": 3}, r"\['tuned'\]; did you mean 'tune'"),
        ({"priors": {"zz": "Normal(0, 1)"}}, "prior 'zz'"),
        ({"unpool": "ghost"}, "'ghost'"),
        ({"run_ids": []}, "no run to score"),
    ):
        with pytest.raises(InputError, match=words):
            impute(load_example(), **asked)


def test_an_estimator_of_ones_own_settings_is_taken_as_it_is() -> None:
    mine = PosteriorEstimator(model="background", draws=30, chains=2, random_seed=8)
    found = impute(load_example(), "new-b", "P@10", estimator=mine, draws=3)
    assert found.completion.n_draws == 60
    assert found.metadata["estimator"]["random_seed"] == 8
    assert found.draws == (0, 32, 16)
    assert repr(found).startswith("<Imputations: 3 of Completion: 60 draws")

"""Hidden documents: the same ones for every model; what models are asked on each step, the levels
that are drawn from their answers, and values of the pooled runs without their organizations' documents.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from checked import example_hidden, prepared, tasks_of
from families import BELOW_THE_POOL, FAMILIES
from hypothesis import given, strategies as st
from toys import from_rankings, pooled_collections, toy_collection

from bayespool.collection import Collection, qrels_from_frame
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments import load_example, predict_held_out
from bayespool.experiments.hidden import (
    Fitting,
    HeldOutRankings,
    HiddenDocuments,
    draw_levels,
    pool_alone,
    questions_of,
)
from bayespool.measures import parse_measure
from bayespool.models import MODEL_NAMES
from bayespool.models.structure import draw_priors
from bayespool.posterior import ScoringProblem

QUICK = Fitting(draws=20, chains=2)


def test_hidden_documents_of_the_toy_are_those_worked_out_by_hand() -> None:
    """North alone contributed b c f, p r, b; south h i k, v w, d (see toys.py); here with two more ranks."""
    collection = toy_collection()
    hidden = HiddenDocuments(ScoringProblem(collection, (), parse_measure("P@5"), "pooled"))
    run, topic, pair, number = hidden.places
    found: dict[tuple[str, str], str] = {}
    for r, t, p in zip(run, topic, pair, strict=True):
        key = hidden.counts.run_ids[r], collection.query_ids[t]
        found[key] = found.get(key, "") + collection.doc_id(p)
    # n1 and n2 both retrieve b and c on topic 1 and p and r on topic 2: north's in the places of each
    assert found == {
        ("n1", "1"): "bc", ("n1", "2"): "pr", ("n1", "3"): "b",
        ("n2", "1"): "bfc", ("n2", "2"): "pr", ("n2", "3"): "b",
        ("s1", "1"): "hi", ("s1", "2"): "vw", ("s1", "3"): "d",
        ("s2", "1"): "hk", ("s2", "3"): "d",
    }  # fmt: skip
    assert len(set(number)) == len({(q, d) for (_, q), docs in found.items() for d in docs}) == 12
    assert hidden.organizations == ("north", "south")
    assert hidden.organization.tolist() == [0, 0, 1, 1]


@given(pooled_collections(), st.sampled_from(MODEL_NAMES), st.integers(1, 5))
def test_rows_of_every_model_hold_every_hidden_document_once(
    collection: Collection, model: str, cutoff: int
) -> None:
    """Also where a model learns from documents below the cutoff."""
    measure = parse_measure(f"P@{cutoff}")
    task = ScoringProblem(collection, (), measure, "pooled")
    hidden = HiddenDocuments(task)
    run, topic, pair, number = hidden.places
    counted = np.zeros(hidden.counts.n_hidden.shape[:2], dtype=int)
    np.add.at(counted, (run, topic), 1)
    np.testing.assert_array_equal(counted, hidden.counts.n_hidden[:, :, 0])
    rows = hidden.rows(task.prepare(model, {}).evidence)  # type: ignore[arg-type]
    assert len(rows.of_document) == len(set(number)) == rows.n_hidden.sum()
    relevant = np.zeros(len(rows.of_document), dtype=int)
    relevant[number] = collection.relevance[pair] >= measure.rel
    np.testing.assert_array_equal(
        np.bincount(rows.of_document, relevant, len(rows.n_hidden)).astype(int), rows.n_hidden_relevant
    )
    np.testing.assert_array_equal(hidden.organization[run], rows.organization[rows.of_document[number]])
    np.testing.assert_array_equal(topic, rows.topic[rows.of_document[number]])


def test_judgments_of_ones_own_take_no_part() -> None:
    example = load_example()
    run = example.run_ids.index("new-a")
    pair = next(p for p in example.document[run].ravel() if p >= 0 and example.relevance[p] < 0)
    topic = example.query_ids[example.pair_topic[pair]]
    more = example.add_judgments(qrels_from_frame({topic: {example.doc_id(int(pair)): 1}}))
    assert pool_alone(more).fingerprint == example.fingerprint
    assert pool_alone(example) is example


def test_documents_climb_as_long_as_the_answer_is_yes() -> None:
    chances = (0.6, 0.5, 0.2)
    log_odds = [np.full((20_000, 3), np.log(p / (1 - p))) for p in chances]
    level = draw_levels(log_odds, np.random.default_rng(1))
    for k, share in enumerate(np.cumprod(chances)):
        assert (level > k).mean() == pytest.approx(share, abs=0.01)
    first = draw_levels(log_odds[:1], np.random.default_rng(1))
    assert np.abs(np.corrcoef(first[:, 0], first[:, 1])[0, 1]) < 0.03
    assert set(np.unique(level)) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("model", "measure"),
    [("smoothed", "DCG@10"), ("smoothed", "nDCG@10"), ("evidence", "P(rel=2)@10"), ("evidence", "nDCG@10")],
)
def test_certain_answers_give_the_highest_level(model: str, measure: str) -> None:
    """Priors that leave nothing open: every hidden document is of the highest relevance."""
    always = {"sigma_topic": "HalfNormal(1e-6)", "sigma_organization": "HalfNormal(1e-6)"}
    always["mu"] = "Normal(60, 1e-6)"
    if model == "evidence":
        always |= {"beta": "Normal(0, 1e-6)"}
    else:
        always |= {"a": "Normal(60, 1e-6)", "sigma_run": "HalfNormal(1e-6)", "c": "Beta(1e9, 1)"}
        always |= {"sigma_background": "HalfNormal(1e-6)"}
    tasks = tasks_of(load_example(), measure)
    questions = questions_of(
        [task.prepare(model, always) for task in tasks],  # type: ignore[arg-type]
        rankings := HeldOutRankings(HiddenDocuments(tasks[0])),
    )
    assert [q.hidden.problem.asked.rel for q in questions] == [1, 2]
    rng = np.random.default_rng(1)
    log_odds = [q.prior_log_odds(draw_priors(q.prepared.structure(), 5, rng), rng) for q in questions]
    every = np.arange(len(rankings.documents.pair))
    level = draw_levels([o[:, q.rows.of_document] for o, q in zip(log_odds, questions, strict=True)], rng)
    assert (level == 2).all()
    runs = np.arange(len(rankings.hidden.organization))
    best = rankings.values(runs, every, level).totals()
    assert (best == best[0]).all()
    if measure != "nDCG@10":  # over the ideal of as many more
        assert (best[0] > rankings.observed(runs).totals()).all()


def graded() -> Collection:
    """Three organizations of a run each, whose own documents are a, of relevance 2, b, of 1, and c, of 0."""
    rankings = {"x": {"1": "asb"}, "y": {"1": "sct"}, "z": {"1": "tsd"}}
    return from_rankings(
        rankings,
        {"1": {"a": 2, "b": 1, "c": 0, "d": 1, "s": 1, "t": 0}},
        {run: run for run in rankings},
        pooled_run_ids=tuple(rankings),
        pool_depth=3,
    )


def test_values_are_those_of_the_collection_with_and_without_the_organization() -> None:
    example = load_example()
    for measure in (*FAMILIES, *BELOW_THE_POOL):
        of = parse_measure(measure)
        rankings = HeldOutRankings(HiddenDocuments(tasks_of(example, measure)[0]))
        hidden = rankings.hidden
        every = np.arange(len(hidden.organization))
        known, observed = rankings.known(every), rankings.observed(every)
        assert (known.amount != observed.amount).any(), measure
        for o, organization in enumerate(hidden.organizations):
            mine = hidden.organization == o
            runs = tuple(example.run_ids[r] for r in hidden.run_index[mine])
            reduced = example.unpool(organization=organization)
            expected = score_bounds(reduced, runs, of).lower
            np.testing.assert_allclose(known.scores()[mine], expected, atol=1e-12, err_msg=measure)
            there = values_on_fuller(reduced, example, runs, of)
            np.testing.assert_allclose(observed.scores()[mine], there.scores(), atol=1e-12, err_msg=measure)


def test_drawn_documents_are_in_the_ranking_and_in_the_ideal() -> None:
    """Run x has a s b on a topic whose judged rest is s and d, each of relevance 1."""
    discount = 1 / np.log2([2, 3, 4])
    for measure, expected in (
        ("P@3", [[1 / 3, 2 / 3, 1.0]]),
        ("DCG@3", [[discount[1], discount @ [2, 1, 0], discount @ [2, 1, 1]]]),
        ("R@3", [[1 / 2, 2 / 3, 3 / 4]]),
        ("R(ideal='judged')@3", [[1 / 2, 1.0, 3 / 2]]),
        ("RR(rel=2)@3", [[0.0, 1.0, 1.0]]),
    ):
        rankings = HeldOutRankings(HiddenDocuments(tasks_of(graded(), measure)[0]))
        assert [graded().doc_id(int(pair)) for pair in rankings.documents.pair] == list("abcd")
        top = len(rankings.levels) - 1
        block = np.array([[0, 0], [min(2, top), 0], [min(2, top), 1]], dtype=np.uint8)
        drawn = rankings.values(np.array([0]), np.array([0, 1]), block)
        np.testing.assert_allclose(drawn.scores()[:, :, 0].T, expected, err_msg=measure)


def test_what_cannot_be_predicted_is_refused() -> None:
    tasks = tasks_of(load_example(), "DCG@10")
    first = tasks[0].prepare("ratio", {})
    for steps, task in ((first, tasks[0]), ([first, first], tasks[1])):
        with pytest.raises(ValueError, match="a model for each"):
            predict_held_out(steps, HiddenDocuments(task), QUICK)
    with pytest.raises(InputError, match="describes the judgments"):
        HiddenDocuments(tasks_of(load_example(), "Judged@10")[0])
    evidence = prepared("ratio").evidence
    with pytest.raises(ValueError, match="neither hidden documents nor"):
        example_hidden().rows(dataclasses.replace(evidence, n_hidden=evidence.n_hidden + 1))

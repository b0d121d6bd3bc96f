"""Completions: one relevance per document and draw, whoever asks, and everything computed from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from completed import completed
from fits import TARGETS
from graded_example import graded_example
from scipy import stats
from scipy.special import expit

from bayespool.collection import qrels_from_frame
from bayespool.errors import InputError
from bayespool.evidence.ideals import ranked_levels, tally_of
from bayespool.experiments import load_example
from bayespool.measures import MEASURES, parse_measure
from bayespool.posterior import PosteriorEstimator, complete, completion


def test_other_runs_chunks_and_measures_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"effect": 0.8, "scale": 0.5}
    both = completed(-0.3, 300, ("one", "two"), **settings)
    swapped = completed(-0.3, 300, ("two", "one"), **settings)
    five, three = both.evaluate("P@5", "P@3")
    assert np.array_equal(five.amount, swapped.evaluate("P@5")[0].amount[:, ::-1])
    assert np.array_equal(three.amount, both.evaluate("P@3")[0].amount)
    whole = both.block(0)
    pieces = [both.block(0, slice(first, first + 7)) for first in range(0, 300, 7)]
    assert np.array_equal(whole, np.vstack(pieces))
    monkeypatch.setattr(completion, "CELLS", 17)
    assert np.array_equal(five.amount, both.evaluate("P@5")[0].amount)


# --- measures ----------------------------------------------------------------------------------------------


def test_what_is_beyond_the_completion_is_refused() -> None:
    found = completed(0.0, 10)
    for measure, words in (("P@6", "deeper than rank 5"), ("P(rel=2)@5", "relevance of 2")):
        with pytest.raises(InputError, match=words):
            found.evaluate(measure)
    with pytest.raises(InputError, match="there is no draw 10"):
        found.qrels(10)
    with pytest.raises(InputError, match="'foo'"):
        complete(load_example(), "new-b", foo=1)
    for judged in ({"1": {"q": -1}}, {"1": {"a": 1}}):
        with pytest.raises(InputError, match="no judgment is of an unknown document"):
            found.observe(qrels_from_frame(judged))


def test_expected_relevance_is_the_chance_that_draws_are_made_with() -> None:
    """A document is relevant where a uniform number is below its chance: log odds, then its effect."""
    found = completed(lambda draws, topic, pairs: 0.01 * draws[:, None] - topic - 0.1 * pairs, 300)
    for topic in (0, 1):
        pairs = found.unknowns.pair[found.unknowns.on_topic(topic)]
        p = expit(0.01 * np.arange(300)[:, None] - topic - 0.1 * pairs)
        mean, variance = found.expected(topic, np.array([0.0, 1.0]))
        np.testing.assert_allclose(mean, p, rtol=1e-12)
        np.testing.assert_allclose(variance, p * (1 - p), rtol=1e-9)
        mean, variance = found.expected(topic, np.array([0.5, 2.5]), slice(20, 50))
        np.testing.assert_allclose(mean, 0.5 + 2 * p[20:50], rtol=1e-12)
        np.testing.assert_allclose(variance, 4 * (p * (1 - p))[20:50], rtol=1e-9)


def test_draws_have_the_mean_and_the_variance_that_are_expected() -> None:
    """With effects of organizations and of organizations on topics, drawn before the documents are."""
    n = 40_000
    found = completed(-0.3, n, effect=0.8, scale=0.5)
    for topic in (0, 1):
        drawn = found.block(topic).astype(float)
        mean, variance = found.expected(topic, np.array([0.0, 1.0]))
        error = np.sqrt(variance.mean(axis=0) / n)  # given the effects, which both have
        assert (np.abs(drawn.mean(axis=0) - mean.mean(axis=0)) < 4.5 * error).all()
        assert mean.std(axis=0).min() > 0.1
        np.testing.assert_allclose((variance.mean(axis=0) + mean.var(axis=0)), drawn.var(axis=0), rtol=0.03)


def test_observed_documents_are_known_and_the_others_are_not() -> None:
    found = completed(0.0, 4000).observe(qrels_from_frame({"1": {"q": 1, "r": 0, "a": 1}, "2": {"u": 1}}))
    assert found.block(0)[:, :2].tolist() == [[1, 0]] * 4000
    assert found.block(1)[:, 1].tolist() == [1] * 4000
    assert found.block(0)[:, 2:].mean(axis=0) == pytest.approx([0.5] * 3, abs=0.05)
    known = found.observe(qrels_from_frame({"1": {"s": 0}}))
    assert known.block(0)[:, :3].tolist() == [[1, 0, 0]] * 4000
    with pytest.raises(InputError, match="no judgment is of an unknown document"):
        found.observe(qrels_from_frame({"1": {"q": 1}}))


def test_observed_answers_teach_what_the_organization_is_worth() -> None:
    """One effect N(0, 2²) for all documents of ``one``: after 3 of 3 the rest follow (by integral)."""
    n = 200_000
    prior = completed(0.0, n, ("one",), effect=2.0)
    told = prior.observe(qrels_from_frame({"1": {"q": 1, "r": 1, "s": 1}}))
    x = np.linspace(-12, 12, 4001)
    weight = stats.norm(0, 2).pdf(x) * expit(x) ** 3
    expected = float((weight * expit(x)).sum() / weight.sum())
    assert prior.block(1).mean() == pytest.approx(0.5, abs=0.01)
    assert told.block(1).mean() == pytest.approx(expected, abs=0.01)
    both = float((told.block(1) == 1).all(axis=1).mean())
    assert both == pytest.approx(float((weight * expit(x) ** 2).sum() / weight.sum()), abs=0.01)


@pytest.mark.slow
def test_observing_agrees_with_a_new_fit() -> None:
    """The unjudged documents of ``new-b`` on two topics judged relevant: its mean moves the same way, and
    further, since a new organization has heavier tails than one that is evidence.
    """
    example, estimator = load_example(), PosteriorEstimator(draws=8000)
    found = estimator.complete(example, "new-b", "P@10")
    answers = {example.query_ids[t]: dict.fromkeys(found.unknowns.doc_ids(t), 1) for t in range(2)}
    qrels = qrels_from_frame({q: docs for q, docs in answers.items() if docs})
    (anew,) = estimator.complete(example.add_judgments(qrels), "new-b", "P@10").evaluate("P@10")
    (told,) = found.observe(qrels).evaluate("P@10")
    (before,) = found.evaluate("P@10")
    moved = anew.expected()[0] - before.expected()[0]
    assert moved > 0.01
    assert told.expected()[0] - before.expected()[0] == pytest.approx(moved, rel=0.45)


NAMES = (
    "P(rel=2)@10", "Success(rel=3)@5", "RR@30", "R@30", "AP@30", "AP(rel=2)@30", "nDCG@10", "DCG@10",
    "nDCG(dcg='exp-log2')@30", "nDCG(ideal='judged')@10", "nDCG(ideal='shared')@10", "SDCG(max_rel=3)@10",
    "RBP(p=0.8)@10", "ERR@10", "INST@10", "AntiP@10", "Judged@10",
)  # fmt: skip


def test_amounts_are_those_of_completed_rankings() -> None:
    """Judgments completed by hand, one draw at a time, and scored as if they were the collection's."""
    assert {parse_measure(name).name for name in NAMES} == set(MEASURES)
    collection = graded_example()
    completion = complete(collection, TARGETS, ["nDCG@30"], model="ratio", draws=3, chains=1)
    index, levels = collection.run_index(TARGETS), (0, *collection.levels)
    u, measures = completion.unknowns, [parse_measure(name) for name in NAMES]
    found = completion.evaluate(*measures)
    for draw in range(completion.n_draws):
        relevance = collection.relevance.copy()
        for t in range(len(collection.query_ids)):
            level = np.array(completion.levels)[completion.block(t, slice(draw, draw + 1))[0]]
            relevance[u.pair[u.on_topic(t)]] = level
        table = np.append(np.maximum(relevance, -1), np.int16(-2))
        for measure, values in zip(measures, found, strict=True):
            ranked = table[collection.document[index, :, : measure.cutoff]]
            if measure.of_judgments:
                ranked = ranked_levels(collection, index, measure.cutoff)
            for row in range(len(index)):
                of_ideal = {"judged": index[:0], "shared": index}.get(
                    getattr(measure, "ideal", ""), index[[row]]
                )
                near = collection.document[of_ideal, :, : max(measure.cutoff, 10)]
                made_of = collection.relevance.copy()
                made_of[near[near >= 0]] = relevance[near[near >= 0]]
                tally = tally_of(collection, levels, relevance=made_of)
                expected = measure.values(measure.read(ranked[[row]]), tally).amount[0]
                assert values.amount[draw, row] == pytest.approx(expected, rel=1e-12, abs=1e-12), str(measure)

"""The ladder of relevance: which questions a measure asks, and draws that climb it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from completed import NO_FIT, completed
from fits import TARGETS
from graded_example import graded_completion, graded_example
from scipy import stats
from scipy.special import expit

from bayespool.collection import qrels_from_frame
from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.measures import parse_measure
from bayespool.posterior import Completion, FittedModel, Rung, RungPosterior, ScoringProblem
from bayespool.posterior.steps import levels_of, rungs_of
from bayespool.scoring import score


def test_rungs_are_the_levels_that_a_measure_tells_apart() -> None:
    for levels, measure, rungs, reached in (
        ((1,), "nDCG@10", [(0, 1)], (0, 1)),
        ((1, 2, 3), "P@10", [(0, 1)], (0, 1)),
        ((1, 2, 3), "P(rel=2)@10", [(0, 1), (1, 2)], (0, 1, 2)),
        ((1, 2, 3), "nDCG@10", [(0, 1), (1, 2), (2, 3)], (0, 1, 2, 3)),
        ((1, 2, 3), "P(rel=5)@10", [(0, 1), (1, 2), (2, 3), (3, 5)], (0, 1, 2, 3, 5)),
        # levels that are not there ask nothing: 1 and 2 are the same question, 3 and 4, too
        ((2, 4), "P(rel=2)@10", [(0, 1)], (0, 2)),
        ((2, 4), "P(rel=3)@10", [(0, 1), (1, 4)], (0, 2, 4)),
        ((2, 4), "nDCG@10", [(0, 1), (1, 4)], (0, 2, 4)),
    ):
        collection = graded_example(levels)
        found = rungs_of(collection, parse_measure(measure))
        assert list(found) == [Rung(*rung) for rung in rungs], (levels, measure)
        assert levels_of(collection, found) == reached, (levels, measure)
    example = load_example()
    nothing = dataclasses.replace(example, relevance=np.minimum(example.relevance, np.int16(0)))
    assert rungs_of(nothing, parse_measure("P(rel=2)@10")) == (Rung(0, 2),)
    assert rungs_of(nothing, parse_measure("nDCG@10")) == (Rung(0, 1),)


def test_the_lowest_level_is_the_floor_where_nothing_is_below() -> None:
    graded = graded_example((1, 2))
    higher = np.where(graded.judged, graded.relevance + 1, -1).astype(np.int16)
    above = dataclasses.replace(graded, relevance=higher)
    for measure, rungs in (
        ("P@10", [(0, 1)]),
        ("nDCG@10", [(0, 1), (1, 2), (2, 3)]),
        ("P(rel=2)@10", [(0, 2, 1)]),
        ("P(rel=3)@10", [(0, 2, 1), (2, 3, 1)]),
        ("nDCG(rel=2)@10", [(0, 2, 1), (2, 3, 1)]),
    ):
        assert list(rungs_of(above, parse_measure(measure))) == [Rung(*rung) for rung in rungs], measure
    assert [rung.above_floor for rung in rungs_of(above, parse_measure("P(rel=3)@10"))] == [1, 2]


def test_too_many_levels_are_refused() -> None:
    relevance = load_example().relevance.copy()
    relevant = np.flatnonzero(relevance > 0)
    relevance[relevant] = 1 + np.arange(len(relevant)) % 11
    many = dataclasses.replace(load_example(), relevance=relevance)
    assert len(rungs_of(many, parse_measure("P(rel=10)@10"))) == 10
    with pytest.raises(InputError, match="tells 11 levels of relevance apart"):
        rungs_of(many, parse_measure("nDCG@10"))
    assert [rung.rel for rung in rungs_of(many, parse_measure("ERR@10"))] == [1, 2, 3, 4]
    assert [rung.rel for rung in rungs_of(many, parse_measure("SDCG(max_rel=3)@10"))] == [1, 2, 3]


def test_a_rung_learns_from_documents_that_reached_the_one_below() -> None:
    collection = graded_example()
    measure = parse_measure("nDCG@10")
    first, second, third = (
        ScoringProblem(collection, TARGETS, measure, "complete", 1, rung).hidden
        for rung in rungs_of(collection, measure)
    )
    relevance = collection.relevance
    assert len(second.pair) == first.relevant.sum() > 0
    assert set(second.pair) == set(first.pair[first.relevant == 1])
    assert set(third.pair) == set(second.pair[second.relevant == 1])
    assert np.array_equal(second.relevant, relevance[second.pair] >= 2)
    assert np.array_equal(third.relevant, relevance[third.pair] >= 3)
    binary = ScoringProblem(load_example(), TARGETS, parse_measure("P@10"), "complete").hidden
    assert first.predictors.tobytes() == binary.predictors.tobytes()
    assert first.relevant.tobytes() == binary.relevant.tobytes()


def climbing(log_odds: tuple[float, ...], n_draws: int = 4000) -> Completion:
    """A completion with rungs 1, 2, … of made-up log odds."""
    one = completed(log_odds[0], n_draws)
    (first,) = one.posteriors
    posteriors = [first]
    for rel, value in enumerate(log_odds[1:], start=2):

        def of(source: np.ndarray, topic: int, documents: slice, value: float = value) -> np.ndarray:
            return np.full((len(source), documents.stop - documents.start), value)

        effect = np.zeros_like(first.components[0].effect)
        component = FittedModel("made up", NO_FIT, of, effect)
        posteriors.append(
            RungPosterior(Rung(rel - 1, rel), dataclasses.replace(first.mixture, components=(component,)))
        )
    rungs = tuple(posterior.rung for posterior in posteriors)
    return dataclasses.replace(one, posteriors=tuple(posteriors), rungs=rungs)


def test_shares_of_levels_are_products_of_chances() -> None:
    """And the first rung is the binary draw."""
    found, binary = climbing((0.4, -0.6, 1.2)), completed(0.4, 4000)
    p = expit([0.4, -0.6, 1.2])
    block = np.hstack([found.block(0), found.block(1)])
    assert np.array_equal(block > 0, np.hstack([binary.block(0), binary.block(1)]))
    assert np.array_equal(found.evaluate("P@5")[0].amount, binary.evaluate("P@5")[0].amount)
    for level, chance in enumerate(np.cumprod(p), start=1):
        n, k = block.size, int((block >= level).sum())
        assert stats.binomtest(k, n, chance).pvalue > 1e-3, level


def test_learning_weighs_draws_by_all_rungs_that_were_asked() -> None:
    """Draws with high log odds at the second rung explain a document of level 2, and not one of level 1."""
    one = climbing((0.0, 0.0))
    first, second = one.posteriors
    odds = np.where(np.arange(4000) < 2000, 2.0, -2.0)

    def of(source: np.ndarray, topic: int, documents: slice) -> np.ndarray:
        return np.repeat(odds[source][:, None], documents.stop - documents.start, axis=1)

    component = dataclasses.replace(second.components[0], log_odds=of)
    second = RungPosterior(second.rung, dataclasses.replace(second.mixture, components=(component,)))
    spread = dataclasses.replace(one, posteriors=(first, second))
    for level, share in ((2, expit(2.0)), (1, expit(-2.0)), (0, 0.5)):
        told = spread.observe(qrels_from_frame({"1": {"q": level}}))
        assert (told.posteriors[1].mixture.source < 2000).mean() == pytest.approx(share, abs=0.01)
        assert np.array_equal(told.posteriors[0].mixture.source, told.posteriors[1].mixture.source)


# --- estimates ----------------------------------------------------------------------------------------------


def test_thresholds_come_from_one_fit_and_never_contradict_each_other() -> None:
    measures = ["P@10", "P(rel=2)@10", "P(rel=3)@10"]
    scores = score(graded_example(), TARGETS, measures, estimators="posterior-ratio", draws=100)
    one, two, three = (scores["posterior-ratio", measure].draws for measure in measures)
    assert (three.amount <= two.amount).all()
    assert (two.amount <= one.amount).all()
    assert (two.amount < one.amount).any()
    assert scores["posterior-ratio", measures[2]].fits.keys() == {"ratio", "ratio, 2 of 1", "ratio, 3 of 2"}
    binary = score(load_example(), TARGETS, "P@10", estimators="posterior-ratio", draws=100)
    assert binary["posterior-ratio", "P@10"].draws.amount.tobytes() == one.amount.tobytes()


@pytest.mark.slow
def test_a_graded_gain_is_the_sum_over_thresholds() -> None:
    """With gains 1, 2, 3 DCG is the sum of the binary DCGs of the thresholds, draw by draw."""
    graded, *binary = graded_completion().evaluate(
        "DCG@10", *(f"SDCG(min_rel={r - 1},max_rel={r})@10" for r in (1, 2, 3))
    )
    discounts = (1 / np.log2(np.arange(2, 12))).sum()
    np.testing.assert_allclose(graded.amount, sum(b.amount for b in binary) * discounts, atol=1e-9)

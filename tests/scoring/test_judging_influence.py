"""How values hang on documents: weights of sums exactly, of other measures nearly."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from fits import TARGETS
from graded_example import graded_example

from bayespool.experiments import load_example
from bayespool.measures import Values, parse_measure
from bayespool.posterior import Completion, PosteriorEstimator
from bayespool.scoring import judging_influence as module
from bayespool.scoring.judging_influence import Belief, Influence, find_influence, worth_of_levels

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

N_TOPICS = 20


@cache
def looked(name: str, graded: bool = False) -> tuple[Completion, Influence, Values]:
    """The example completed for its two new runs, and how they hang on documents."""
    collection, measure = graded_example() if graded else load_example(), parse_measure(name)
    completion = PosteriorEstimator().complete(collection, TARGETS, measure)
    (values,) = completion.evaluate(measure)
    return completion, find_influence(completion, measure, values), values


def drawn_sums(name: str, graded: bool = False) -> np.ndarray:
    """Sums of weight × drawn worth, shape (draw, run)."""
    completion, found, _ = looked(name, graded)
    worth = worth_of_levels(parse_measure(name), completion.levels)
    start = completion.unknowns.start
    drawn = np.concatenate([worth[completion.block(t)] for t in range(len(start) - 1)], axis=1)
    return np.asarray(drawn[:, found.document] @ found.weight.T)


def ranks(completion: Completion) -> np.ndarray:
    """Rank of each unknown document in each run, 0 where the run lacks it, shape (run, unknown)."""
    u = completion.unknowns
    found = np.zeros((len(u.run_ids), len(u)), dtype=int)
    for t in range(N_TOPICS):
        run, rank, unknown = u.places_on(t)
        found[run, u.start[t] + unknown] = rank + 1
    return found


def test_each_document_of_the_top_counts_as_much_under_precision() -> None:
    completion, found, _ = looked("P@10")
    there = ranks(completion)
    assert found.document.tolist() == np.flatnonzero((there > 0).any(axis=0)).tolist()
    np.testing.assert_allclose(found.weight, (there[:, found.document] > 0) / (10 * N_TOPICS), rtol=1e-12)
    assert len(set(np.round(found.weight.sum(axis=0) * 200).tolist())) == 2  # some are in both runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "graded"), [("RBP(p=0.8)@50", False), ("DCG@10", True), ("AntiP@10", False)]
)
def test_sums_are_the_measure_but_for_what_is_judged(measure: str, graded: bool) -> None:
    values = looked(measure, graded)[2].means()
    apart = values - drawn_sums(measure, graded)
    assert values.std(axis=0).min() > 0.005
    np.testing.assert_allclose(apart - apart[0], 0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "graded", "least"),
    [("nDCG@10", True, 0.95), ("AP(ideal='shared')@30", False, 0.96), ("RR@10", False, 0.8)],
)
def test_other_measures_are_nearly_sums(measure: str, graded: bool, least: float) -> None:
    """The share of the variance of the draws that the approximation explains."""
    values, sums = looked(measure, graded)[2].means(), drawn_sums(measure, graded)
    explained = 1 - (values - sums).var(axis=0) / values.var(axis=0)
    assert explained.min() > least, explained


@pytest.mark.parametrize("measure", ["P@10", pytest.param("AP@30", marks=pytest.mark.slow)])
def test_variance_is_that_of_the_draws(measure: str) -> None:
    """Of each run and of the difference, within Monte-Carlo error: 2.2 % for 4,000 draws."""
    contrasts = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])
    variance = Belief(looked(measure)[1], contrasts).variance
    drawn = (drawn_sums(measure) @ contrasts.T).var(axis=0)
    np.testing.assert_allclose(variance, drawn, rtol=0.1)


def test_an_ideal_ranking_may_hold_documents_that_no_run_has_in_its_top() -> None:
    """Were they relevant, it would be better, and the runs worse."""
    completion, found, _ = looked("nDCG@5")
    deep = completion.unknowns.best_rank[found.document] > 5
    assert deep.sum() > 10
    assert (found.weight[:, deep].sum(axis=1) < 0).all()
    assert (found.weight[:, ~deep].sum(axis=1) > 0).all()


def test_the_largest_shares_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where topics are looked at one by one."""
    completion, found, values = looked("RBP(p=0.5)@20")
    share = (found.weight**2).sum(axis=0) * (found.within + found.expected.var(axis=0, dtype=float))
    monkeypatch.setattr(module, "MAX_DOCUMENTS", 12)
    few = find_influence(completion, parse_measure("RBP(p=0.5)@20"), values)
    place = np.sort(np.argsort(-share, kind="stable")[:12])
    assert few.document.tolist() == found.document[place].tolist()
    np.testing.assert_array_equal(few.weight, found.weight[:, place])
    np.testing.assert_array_equal(few.expected, found.expected[:, place])


def test_pieces_of_draws_make_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    completion, found, values = looked("P@10")
    monkeypatch.setattr(module, "CELLS", 1000)
    again = find_influence(completion, parse_measure("P@10"), values)
    np.testing.assert_array_equal(again.expected, found.expected)
    np.testing.assert_allclose(again.within, found.within, rtol=1e-12)


def test_of_a_measure_that_is_no_sum_as_many_documents_as_vary_most_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    completion, _, values = looked("nDCG@5")
    monkeypatch.setattr(module, "_MAX_DOCUMENTS_ON_TOPIC", 3)
    few = find_influence(completion, parse_measure("nDCG@5"), values)
    n = np.bincount(completion.unknowns.topic[few.document], minlength=N_TOPICS)
    assert (n.max(), n.sum() > 40) == (3, True)
    assert Belief(few, np.eye(2)).variance.min() > 0.3 * values.means().var(axis=0).min()

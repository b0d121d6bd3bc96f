"""Topics on which a run found nothing: by the company of its documents, and by those that were judged."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from completed import completed as completed_toy, toy

from bayespool import build_collection
from bayespool.collection import Collection
from bayespool.experiments import SimulationSettings, simulate
from bayespool.posterior import Completion, PosteriorEstimator
from bayespool.posterior.failures import FAILED_LOG_ODDS, Failures, _draw_chances, find_failures

N_TOPICS, N_FAILED = 20, 8


def chances(*cases: tuple[int, int, int, int], times: tuple[int, ...]) -> list[float]:
    """Mean probability of each case: documents with company, of the top, relevant and judged ones."""
    drawn = _draw_chances(np.array(cases), np.array(times), 4000, np.random.default_rng(1))
    return [float(chance) for chance in drawn.mean(axis=0)]


def test_a_run_fails_where_it_has_no_company_though_elsewhere_it_has() -> None:
    without, with_company = chances((0, 10, 0, 0), (9, 10, 5, 9), times=(10, 10))
    assert without > 0.99
    assert with_company < 1e-6
    (everywhere,) = chances((0, 10, 0, 0), times=(20,))  # one of a new kind, whose documents nobody has
    split, half = chances((0, 10, 0, 0), (5, 10, 2, 4), times=(1, 19))
    assert everywhere < 0.5
    assert without > split
    assert half < 0.01


def test_relevant_documents_show_that_it_found_something() -> None:
    nothing_known, none_relevant, relevant = (
        chances(case, (9, 10, 5, 9), times=(3, 17))[0]
        for case in ((1, 10, 0, 0), (1, 10, 0, 1), (1, 10, 1, 1))
    )
    assert none_relevant > nothing_known > relevant


def test_enough_relevant_documents_exclude_a_failure() -> None:
    """Though nobody has what it found: a topic of the run may be odd."""
    found = [chances((0, 10, k, 10), (9, 10, 5, 9), times=(1, 19))[0] for k in (0, 1, 5)]
    assert found[0] > found[1] > 0.9
    assert found[2] < 0.02


def test_the_chance_is_bayes_rule() -> None:
    """A grid of one share of topics, one of company and one concentration leaves no choice."""
    with pytest.MonkeyPatch.context() as patch:
        path = "bayespool.posterior.failures."
        for name, value in (("_LOG_ODDS", 0.0), ("_MEAN", 0.5), ("_CONCENTRATION", 2.0)):
            patch.setattr(path + name, np.array([value]))  # so that odd topics are as the others
        (found, other) = chances((0, 2, 0, 0), (2, 2, 0, 0), times=(1, 1))
    # uniform shares: both of two in order with a chance of 1/3; by chance Beta(1, 50): 50/52 and 2/(51 · 52)
    assert found == pytest.approx((50 / 52) / (50 / 52 + 1 / 3))
    assert other == pytest.approx((2 / (51 * 52)) / (2 / (51 * 52) + 1 / 3))


@cache
def failing() -> tuple[Collection, Collection]:
    """A collection in which new-b finds what nobody has on eight topics; judged as pooled, and completely."""
    made, runs = simulate(SimulationSettings(n_topics=N_TOPICS, relevance_mean=-1.0), random_seed=1), {}
    collection = made.collection
    (index,) = collection.run_index(["new-b"])
    for t, query_id in enumerate(collection.query_ids):
        documents = [collection.doc_id(pair) for pair in collection.document[index, t, :30].tolist()]
        if t < N_FAILED:
            documents = [f"elsewhere-{rank}" for rank in range(30)]
        runs[query_id] = {doc_id: float(-rank) for rank, doc_id in enumerate(documents)}
    every: list[Any] = [run for run in made.runs if run.run_id != "new-b"]
    settings: dict[str, Any] = {"organizations": made.organizations, "pool_depth": collection.pool_depth}
    settings["pooled_run_ids"] = collection.pooled_run_ids
    smaller, whole = (
        build_collection([*every, {"new-b": runs}], q, **settings) for q in (made.qrels, made.truth)
    )
    return smaller, whole


@cache
def completed() -> Completion:
    return PosteriorEstimator(draws=100).complete(failing()[0], ["new-a", "new-b"], "P@10")


def test_failed_topics_are_found_and_no_others() -> None:
    failures = completed().failures
    assert failures is not None
    assert failures.expected(2).round().tolist() == [0, N_FAILED]
    failed = np.array([failures.on_topic(t, 2) for t in range(N_FAILED)])
    assert failed[:, :, 1].mean() > 0.95
    assert not failed[:, :, 0].any()


def test_scores_of_a_run_that_failed_are_near_the_truth() -> None:
    """Its documents are nonrelevant there; without the second component the estimate is too high."""
    whole = failing()[1]
    truth = (whole.relevance[whole.document[whole.run_index(["new-b"]), :, :10]] > 0).mean()
    two, one = (
        c.evaluate("P@10")[0].scores()[:, 1].mean(axis=-1)
        for c in (completed(), replace(completed(), failures=None))
    )
    assert np.quantile(two, 0.025) <= truth <= np.quantile(two, 0.975)
    assert one.mean() - truth > 2 * abs(two.mean() - truth)


def test_a_topic_that_failed_has_low_log_odds_at_the_first_threshold_alone() -> None:
    completion = completed()
    assert completion.failures is not None
    cells = completion.cell_effects(0)
    failed = completion.failures.on_topic(0, 2)
    assert failed is not None
    of_documents = failed[:, completion.unknowns.run[completion.unknowns.on_topic(0)]]
    log_odds = completion.log_odds(0, 0, np.arange(completion.n_draws), cells[0])
    assert (log_odds[of_documents] <= FAILED_LOG_ODDS).all()
    assert (log_odds[~of_documents] > FAILED_LOG_ODDS).any()


@pytest.mark.parametrize("mates", [False, True])
def test_a_document_that_a_run_of_another_organization_has_is_not_capped(*, mates: bool) -> None:
    """Run one found nothing; q on the first topic and t on the second, credited to it, are in two as well."""
    organizations = {"x": "x", "one": "north", "two": "north" if mates else "south"}
    plain = completed_toy(1.0, 20, collection=toy(organizations))
    failures = Failures(
        runs=np.array([0]),
        names=("one",),
        query_ids=plain.unknowns.collection.query_ids,
        case=np.array([[0, 0]]),
        chance=(np.ones((20, 1)),),
        draw=np.arange(20),
        random_seed=1,
    )
    failed = replace(plain, failures=failures)
    for topic, capped in ((0, ["q", "r"] if mates else ["r"]), (1, ["t", "u"] if mates else ["u"])):
        log_odds = failed.log_odds(0, topic, np.arange(20), failed.cell_effects(topic)[0])
        names = failed.unknowns.doc_ids(topic)
        assert [n for n, odds in zip(names, log_odds.T, strict=True) if (odds < 0).all()] == capped
        assert (log_odds[:, [name not in capped for name in names]] == 1.0).all()


def test_a_pooled_run_never_failed() -> None:
    """What it found is judged; beside a newcomer as alone."""
    collection = failing()[0]
    pooled = collection.pooled_run_ids[0]
    for runs in ([pooled], [pooled, "new-b"]):
        completion = PosteriorEstimator(draws=25).complete(collection, runs, "P@20")
        failures = completion.failures
        assert failures is None if runs == [pooled] else failures.runs.tolist() == [1]


def test_draws_that_are_taken_keep_what_failed_in_them() -> None:
    failures = completed().failures
    assert failures is not None
    taken = np.array([3, 3, 0, 250])
    all_draws, some = failures.on_topic(1, 2), failures.select_draws(taken).on_topic(1, 2)
    assert all_draws is not None
    assert some is not None
    assert np.array_equal(some, all_draws[taken])


def test_the_run_has_a_note() -> None:
    (estimates,) = PosteriorEstimator(draws=100).estimate(failing()[0], ["new-a", "new-b"], "P@10")
    assert "found nothing" not in "; ".join(estimates.notes[0])
    assert (
        f"probably found nothing on {N_FAILED} of {N_TOPICS} topics, where hardly any document of its top is "
        "in other runs"
    ) in estimates.notes[1]


def test_other_runs_change_nothing() -> None:
    collection = failing()[0]
    alone, beside = (
        find_failures(collection, runs, np.ones(len(runs), bool), 50, 1)
        for runs in (["new-b"], ["new-a", "new-b"])
    )
    assert alone is not None
    assert beside is not None
    one, two = alone.on_topic(0, 1), beside.on_topic(0, 2)
    assert one is not None
    assert two is not None
    assert np.array_equal(one[:, 0], two[:, 1])

"""Values of the pooled runs without their organizations' documents, and with them: of any measure."""

from __future__ import annotations

import numpy as np
import pytest
from checked import tasks_of
from families import BELOW_THE_POOL, FAMILIES
from toys import from_rankings

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments import load_example
from bayespool.experiments.hidden import Fitting, HeldOutRankings, HiddenDocuments
from bayespool.measures import parse_measure

QUICK = Fitting(draws=20, chains=2)


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


@pytest.mark.parametrize("measure", [*FAMILIES, *BELOW_THE_POOL])
def test_values_are_those_of_the_collection_with_and_without_the_organization(measure: str) -> None:
    example, of = load_example(), parse_measure(measure)
    rankings = HeldOutRankings(HiddenDocuments(tasks_of(example, measure)[0]))
    hidden = rankings.hidden
    every = np.arange(len(hidden.organization))
    known, observed = rankings.known(every), rankings.observed(every)
    assert (known.amount != observed.amount).any()
    for o, organization in enumerate(hidden.organizations):
        mine = hidden.organization == o
        runs = tuple(example.run_ids[r] for r in hidden.run_index[mine])
        reduced = example.unpool(organization=organization)
        np.testing.assert_allclose(known.scores()[mine], score_bounds(reduced, runs, of).lower, atol=1e-12)
        there = values_on_fuller(reduced, example, runs, of)
        np.testing.assert_allclose(observed.scores()[mine], there.scores(), atol=1e-12)


def test_a_measure_of_the_judgments_is_not_predicted() -> None:
    with pytest.raises(InputError, match="describes the judgments, and there is nothing to estimate"):
        HiddenDocuments(tasks_of(load_example(), "Judged@10")[0])


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

"""Predictions of organizations that are held out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from checked import P10, example_hidden, example_task
from scipy import stats
from scipy.special import expit

from bayespool.experiments import load_example, predict_held_out
from bayespool.experiments.hidden import Fitting, HiddenDocuments
from bayespool.experiments.predictions import deal_folds
from bayespool.posterior import ScoringProblem, stacking_weights

QUICK = Fitting(draws=60, chains=2)


def test_folds_are_dealt_out() -> None:
    assert deal_folds(7, 3).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert deal_folds(3, 5).tolist() == [0, 1, 2]


@pytest.mark.parametrize("model", ["background", pytest.param("ratio", marks=pytest.mark.slow)])
def test_predictions_know_nothing_of_what_they_predict(model: Any) -> None:
    """All hidden documents of a fold's organizations turned round: their predictions stay as they are."""
    example, hidden = load_example(), example_hidden()
    fold = deal_folds(len(hidden.organizations), 5)[hidden.organization]
    run, _, pair, _ = hidden.places
    theirs = np.unique(pair[fold[run] == 1])
    relevance = example.relevance.copy()
    relevance[theirs] = 1 - np.minimum(relevance[theirs], 1)
    found = []
    for collection in (example, dataclasses.replace(example, relevance=relevance)):
        task = ScoringProblem(collection, (), P10, "pooled")
        one = task.prepare(model, {})
        found.append(predict_held_out(one, HiddenDocuments(task), Fitting(draws=200), n_folds=5))
    first, second = found
    mine = first.fold == 1
    assert second.n_hidden_relevant[mine].sum() > 3 * first.n_hidden_relevant[mine].sum()
    np.testing.assert_array_equal(first.draws[:, mine], second.draws[:, mine])
    moved = (second.draws.mean(axis=0) - first.draws.mean(axis=0)) / first.draws.std(axis=0)
    assert moved[~mine].mean() > 0.3


def test_log_density_of_certain_chances_is_the_normal_one() -> None:
    """With priors that leave nothing open, p is expit(−1) for all and the density can be written down."""
    tight = {"mu": "Normal(-1, 1e-6)", "sigma_topic": "HalfNormal(1e-6)"}
    one = example_task().prepare("background", tight | {"sigma_organization": "HalfNormal(1e-6)"})
    p = predict_held_out(one, example_hidden(), QUICK)
    rows, chance = example_hidden().rows(one.evidence), expit(-1.0)
    n = np.bincount(rows.run, rows.n_hidden, len(p.run_ids))
    k = np.bincount(rows.run, rows.n_hidden_relevant, len(p.run_ids))
    with np.errstate(divide="ignore"):
        expected = stats.norm.logpdf(k, n * chance, np.sqrt(n * chance * (1 - chance) + 1 / 12))
    np.testing.assert_allclose(p.log_density[n > 0], expected[n > 0], atol=1e-3)
    assert np.isnan(p.log_density[n == 0]).all()


def test_organizations_and_not_runs_decide_the_weights() -> None:
    """Nine runs of one organization speak for the first model, one of another as clearly for the second."""
    densities = np.array([[1.0, 0.0]] * 9 + [[0.0, 1.0]])
    weight = np.array([1 / 9] * 9 + [1.0])
    assert stacking_weights(densities, weight) == pytest.approx([0.5, 0.5])
    alone = stacking_weights(densities[:9], weight[:9])
    assert alone[0] > 0.8
    assert stacking_weights(densities[:1], np.ones(1)) == pytest.approx(alone), "as one run would"

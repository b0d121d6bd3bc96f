"""Predictions of organizations that are held out."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest
from checked import P10, example_hidden, example_task, prepared, two_models
from scipy import stats
from scipy.special import expit, logsumexp
from toys import from_rankings

from bayespool.experiments import HeldOutPrediction, check_models, load_example, predict_held_out
from bayespool.experiments.hidden import Fitting, HiddenDocuments
from bayespool.experiments.predictions import deal_folds
from bayespool.measures import parse_measure
from bayespool.posterior import ScoringProblem, held_out_totals, stacking_weights

QUICK = Fitting(draws=60, chains=2)


@cache
def predicted(model: str) -> HeldOutPrediction:
    return predict_held_out(prepared(model), example_hidden(), Fitting(draws=1000, chains=2))


def test_folds_are_dealt_out() -> None:
    assert deal_folds(7, 3).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert deal_folds(3, 5).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "model", ["background", *(pytest.param(m, marks=pytest.mark.slow) for m in ("ratio", "evidence"))]
)
def test_predictions_know_nothing_of_what_they_predict(model: str) -> None:
    """All hidden documents of a fold's organizations turned round: their predictions stay as they are.

    The evidence model sees a little of it, in the judged neighbors of other organizations' documents.
    """
    example, hidden = load_example(), example_hidden()
    fold = deal_folds(len(hidden.organizations), 5)[hidden.organization]
    run, _, pair, _ = hidden.places
    theirs = np.unique(pair[fold[run] == 1])
    relevance = example.relevance.copy()
    relevance[theirs] = 1 - np.minimum(relevance[theirs], 1)
    found = []
    for collection in (example, dataclasses.replace(example, relevance=relevance)):
        task = ScoringProblem(collection, (), P10, "pooled")
        one = task.prepare(model, {})  # type: ignore[arg-type]
        found.append(predict_held_out(one, HiddenDocuments(task), Fitting(draws=200), n_folds=5))
    first, second = found
    mine = first.fold == 1
    assert second.n_hidden_relevant[mine].sum() > 3 * first.n_hidden_relevant[mine].sum()
    moved = (second.draws.mean(axis=0) - first.draws.mean(axis=0)) / first.draws.std(axis=0)
    if model == "evidence":
        assert np.abs(moved[mine]).max() < 0.13
    else:
        np.testing.assert_array_equal(first.draws[:, mine], second.draws[:, mine])
    assert moved[~mine].mean() > 0.3


@two_models
def test_predictions_stay_within_what_is_hidden(model: str) -> None:
    p = predicted(model)
    for draws in (p.draws, p.prior_draws):
        assert draws.min() >= 0
        assert (draws <= p.n_hidden).all()
        assert (draws[:, p.has_hidden].std(axis=0) > 0).all()
    assert p.prior_draws.std(axis=0).sum() > p.draws.std(axis=0).sum()
    assert (p.n_hidden_relevant <= p.n_hidden).all()
    observed = (p.known + p.n_hidden_relevant) / p.per_mean
    example = load_example()
    relevance = np.append(example.relevance, 0)[example.document[example.pooled][:, :, :10]] > 0
    np.testing.assert_allclose(observed, relevance.mean(axis=(1, 2)))


def test_runs_that_share_their_hidden_documents_share_the_draws() -> None:
    rankings = {
        "a1": {"1": "abc", "2": "mno"},
        "a2": {"1": "acb", "2": "onm"},
        "b1": {"1": "def", "2": "pqr"},
        "c1": {"1": "ghi", "2": "stu"},
    }
    relevance = {"1": dict.fromkeys("abcdefghi", 0) | {"a": 1, "d": 1}, "2": dict.fromkeys("mnopqrstu", 1)}
    collection = from_rankings(
        rankings,
        relevance,
        {"a1": "a", "a2": "a", "b1": "b", "c1": "c"},
        pooled_run_ids=tuple(rankings),
        pool_depth=3,
    )
    measure = parse_measure("P@3")
    task = ScoringProblem(collection, (), measure, "pooled")
    p = predict_held_out(task.prepare("evidence", {}), HiddenDocuments(task), QUICK, n_folds=3)
    np.testing.assert_array_equal(p.draws[:, 0], p.draws[:, 1])
    assert p.n_hidden.tolist() == [6, 6, 6, 6]
    assert p.n_hidden_relevant.tolist() == [4, 4, 4, 3]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ratio", "evidence"])
def test_log_densities_are_those_of_the_combined_estimator(model: str) -> None:
    """Here a mean over draws, there an integral with chances nearer a half and variances by Williams: close,
    not equal. Seeds hardly matter: the mean difference is 0.07 (ratio) and 0.12 (evidence).
    """
    p = predicted(model)
    one = prepared(model)
    fit = Fitting(draws=200, chains=2).fit(one, one.evidence, 1)
    totals = held_out_totals({model: one}, {model: fit})
    densities, weight = totals.log_density, totals.weight
    mine = p.log_density[np.isfinite(p.log_density)]
    assert len(mine) == len(densities)
    assert np.abs(mine - densities[:, 0]).mean() < 0.14
    assert (
        abs((mine - densities[:, 0]).mean()) < 0.05
    )  # of a run's log density of 3 or so: no side is favored
    assert np.corrcoef(mine, densities[:, 0])[0, 1] > 0.985
    scored = np.isfinite(p.log_density)
    n_runs = np.bincount(p.organization[scored])[p.organization[scored]]
    np.testing.assert_allclose(weight, 1 / n_runs)


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


@pytest.mark.slow
def test_mixture_of_a_graded_measure_has_weights_of_its_own_on_each_rung() -> None:
    """As the combined estimator has them, of the other folds; and its draws are of the members' models."""
    found = check_models(
        load_example(), "DCG@10", models=("ratio", "rankings"), draws=150, chains=2, containers=False
    )
    members = [found[model, "DCG@10"] for model in ("ratio", "rankings")]
    mixed = found["combined", "DCG@10"]
    assert mixed.densities.shape == (2, 21)
    for k in range(2):
        densities = np.column_stack([p.densities[k] for p in members])
        for fold in range(5):
            mine = mixed.fold == fold
            others = ~mine & np.isfinite(densities).all(axis=1)
            n_runs = np.bincount(mixed.organization[others])[mixed.organization[others]]
            weights = stacking_weights(densities[others], 1 / n_runs)
            expected = logsumexp(np.log(weights) + densities[mine], axis=1)
            np.testing.assert_allclose(mixed.densities[k, mine], expected)
    mean = np.array([p.draws.mean(axis=0) for p in members])
    spread = np.array([p.draws.std(axis=0) for p in members]).max(axis=0)
    assert (mixed.draws.mean(axis=0) > mean.min(axis=0) - 0.35 * spread).all()
    assert (mixed.draws.mean(axis=0) < mean.max(axis=0) + 0.35 * spread).all()
    np.testing.assert_array_equal(mixed.observed, members[0].observed)
    first = found.to_frame("elpd").set_index("model")["weight_combined"]
    assert first[["ratio", "rankings"]].sum() == pytest.approx(1)


def test_organizations_and_not_runs_decide_the_weights() -> None:
    """Nine runs of one organization speak for the first model, one of another as clearly for the second."""
    densities = np.array([[1.0, 0.0]] * 9 + [[0.0, 1.0]])
    weight = np.array([1 / 9] * 9 + [1.0])
    assert stacking_weights(densities, weight) == pytest.approx([0.5, 0.5])
    alone = stacking_weights(densities[:9], weight[:9])
    assert alone[0] > 0.8
    assert stacking_weights(densities[:1], np.ones(1)) == pytest.approx(alone), "as one run would"

"""Checks of models: uniformity, held-out predictions, tables, containers, and engine against engine."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cache
from pathlib import Path
from typing import Any

import arviz_stats
import arviz_stats.utils
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from arviz_stats.ecdf_utils import ecdf_pit
from hypothesis import given, settings
from hypothesis import strategies as st
from real import read_real
from scipy import stats
from scipy.special import expit, logsumexp
from toys import from_rankings, pooled_collections, toy_collection

from bayespool.checking import (
    Fitting,
    HeldOutPrediction,
    HiddenDocuments,
    ModelChecks,
    calibration_frame,
    check_models,
    compare_engines,
    ecdf_band,
    elpd_frame,
    engine_summary,
    holm,
    predict_held_out,
    randomised_pit,
    stack,
    uniformity_p_value,
)
from bayespool.checking.engines import _compare
from bayespool.checking.hidden import pool_alone, row_log_odds, without_organizations
from bayespool.checking.predictions import deal_folds
from bayespool.checking.priors import block_log_odds, draw_prior, draw_priors
from bayespool.checking.uniformity import randomised_rank
from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.files import atomic_write
from bayespool.inference.container import container_bytes
from bayespool.measures import parse_measure
from bayespool.models import LinearEvidence, parse_prior
from bayespool.posterior import MODEL_NAMES, Prepared, Task, log_predictive_densities, stacking_weights
from bayespool.simulation import load_example
from bayespool.trec import qrels_from_frame

P10 = parse_measure("P@10")
QUICK = Fitting(draws=60, chains=2)

every_model = pytest.mark.parametrize("model", MODEL_NAMES)
two_models = pytest.mark.parametrize("model", ["background", "evidence"])  # a kind of evidence each

with_the_first_arviz_stats = pytest.mark.skipif(
    not arviz_stats.__version__.startswith("0."),
    reason="compares with functions of arviz_stats whose interface changed in 1.0",
)


@cache
def example_task() -> Task:
    return Task(load_example(), (), P10, "pooled")


@cache
def example_hidden() -> HiddenDocuments:
    return HiddenDocuments(example_task())


@cache
def prepared(model: str) -> Prepared:
    return example_task().prepare(model, {})  # type: ignore[arg-type]


@cache
def predicted(model: str) -> HeldOutPrediction:
    return predict_held_out(prepared(model), example_hidden(), Fitting(draws=1000, chains=2))


@cache
def checks() -> ModelChecks:
    """Three models of the example, few draws."""
    return check_models(load_example(), models=("background", "ratio", "evidence"), draws=150, chains=2)


# --- uniformity --------------------------------------------------------------------------------------------


def test_pit_of_what_was_drawn_is_uniform_over_its_step() -> None:
    draws = np.repeat([0, 1, 2, 3], [10, 20, 30, 40])[:, None]
    steps = {-1: (0, 0), 0: (0, 0.1), 1: (0.1, 0.3), 2: (0.3, 0.6), 3: (0.6, 1), 4: (1, 1)}
    for value, (low, high) in steps.items():
        many = np.full(2000, value)
        pit = randomised_pit(np.repeat(draws, 2000, axis=1), many, np.random.default_rng(1))
        assert pit.min() >= low
        assert pit.max() <= high
        assert pit.mean() == pytest.approx((low + high) / 2, abs=0.01)


def test_rank_counts_draws_below_and_shares_ties_out() -> None:
    rng = np.random.default_rng(1)
    assert randomised_rank(np.array([0.1, 0.2, 0.3]), 0.25, rng) == 2
    assert {randomised_rank(np.array([0.1, 0.2, 0.2]), 0.2, rng) for _ in range(100)} == {1, 2, 3}


@pytest.mark.parametrize(("n", "n_values"), [(3, 3), (4, 2), (3, 5)])
def test_p_value_is_the_share_of_samples_as_extreme(n: int, n_values: int) -> None:
    """Over all samples there are, the chance of a p-value of at most p is p, at every p that occurs."""
    p_values = np.array(
        [uniformity_p_value(np.array(s), n_values) for s in itertools.product(range(n_values), repeat=n)]
    )
    assert len(np.unique(p_values.round(9))) > 1
    for p in np.unique(p_values.round(9)):
        share = (p_values <= p + 1e-9).mean()
        assert share == pytest.approx(p, abs=1e-9) or p == pytest.approx(1)


def test_p_value_is_uniform_where_ranks_are_and_tiny_where_they_are_not() -> None:
    rng = np.random.default_rng(2)
    p_values = [uniformity_p_value(rng.integers(100, size=300), 100) for _ in range(300)]
    assert stats.kstest(p_values, stats.uniform.cdf).pvalue > 1e-3
    for wrong in (rng.beta(0.6, 0.6, 300), rng.beta(1.8, 1.8, 300), rng.beta(1, 1.5, 300)):
        assert uniformity_p_value((100 * wrong).astype(np.int64), 100) < 1e-3


@pytest.mark.parametrize("prob", [0.5, 0.9])
def test_band_holds_as_many_samples_as_it_says(prob: float) -> None:
    n, n_values = 4, 4
    lower, upper = ecdf_band(n, n_values, prob)
    samples = np.array(list(itertools.product(range(n_values), repeat=n)))
    share = np.array([(samples < v).mean(axis=1) for v in range(1, n_values)]).T
    inside = ((share >= lower - 1e-12) & (share <= upper + 1e-12)).all(axis=1).mean()
    assert inside >= prob
    narrower = ((share > lower + 1e-12) | (lower == 0)) & ((share < upper - 1e-12) | (upper == 1))
    assert narrower.all(axis=1).mean() < prob


@with_the_first_arviz_stats
def test_band_is_the_one_that_arviz_simulates() -> None:
    n = 100
    lower, upper = ecdf_band(n, n, 0.94)
    x, _, theirs_lower, theirs_upper = ecdf_pit(np.random.default_rng(1).random(n), 0.94, n_simulations=5000)
    np.testing.assert_allclose(x, np.arange(1, n) / n)
    np.testing.assert_allclose(lower, theirs_lower, atol=0.0201)
    np.testing.assert_allclose(upper, theirs_upper, atol=0.0201)


def test_holm_steps_down() -> None:
    # 0.01·4; 0.015·3 = 0.045; 0.03·2 = 0.06; 0.2·1
    adjusted = holm(np.array([0.2, 0.01, 0.03, 0.015]))
    np.testing.assert_allclose(adjusted, [0.2, 0.04, 0.06, 0.045])
    np.testing.assert_allclose(holm(np.array([0.5, 0.6, 0.7])), [1, 1, 1])


# --- priors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("Beta(2, 2.5)", stats.beta(2, 2.5)),
        ("Cauchy(1, 2)", stats.cauchy(1, 2)),
        ("Exponential(2)", stats.expon(scale=0.5)),
        ("Gamma(3, 2)", stats.gamma(3, scale=0.5)),
        ("HalfCauchy(2)", stats.halfcauchy(scale=2)),
        ("HalfNormal(0.7)", stats.halfnorm(scale=0.7)),
        ("HalfStudentT(4, 2)", stats.foldnorm(0)),  # replaced below
        ("InverseGamma(3, 2)", stats.invgamma(3, scale=2)),
        ("Laplace(1, 2)", stats.laplace(1, 2)),
        ("LogNormal(0.5, 0.4)", stats.lognorm(0.4, scale=np.exp(0.5))),
        ("Logistic(-1, 0.5)", stats.logistic(-1, 0.5)),
        ("Normal(-2.2, 1.5)", stats.norm(-2.2, 1.5)),
        ("StudentT(5, 1, 2)", stats.t(5, 1, 2)),
        ("Uniform(2, 5)", stats.uniform(2, 3)),
    ],
)
def test_draws_follow_the_prior(text: str, reference: Any) -> None:
    draws = draw_prior(parse_prior(text), 4000, np.random.default_rng(1))
    if text.startswith("HalfStudentT"):
        assert draws.min() >= 0
        draws, reference = np.append(draws, -draws) / 2, stats.t(4)
    assert stats.kstest(draws, reference.cdf).pvalue > 1e-4


def test_unknown_prior_is_named() -> None:
    with pytest.raises(InputError, match=r"no draws from the prior Kumaraswamy\(1, 1\)"):
        draw_prior(parse_prior("Kumaraswamy(1, 1)"), 3, np.random.default_rng(1))
    with pytest.raises(InputError, match="has 1 parameters, not 2"):
        draw_prior(parse_prior("Normal(1)"), 3, np.random.default_rng(1))


@every_model
def test_two_ways_to_the_chance_of_a_hidden_document_agree(model: str) -> None:
    """By the structure that the engine differentiates, and by the function that scores runs."""
    one = prepared(model)
    structure, rows = one.structure(), example_hidden().rows(one.evidence)
    draws = draw_priors(structure, 5, np.random.default_rng(1))
    (block,) = (b for b in structure.blocks if b.successes is one.evidence.n_hidden_relevant)
    without = row_log_odds(model, one.evidence, draws, np.arange(len(rows.n_hidden)))
    np.testing.assert_allclose(
        block_log_odds(structure, block, draws),
        without + draws["organization_effect"][:, rows.organization],
        rtol=1e-9,
    )


def test_effects_of_prior_draws_sum_to_zero_and_have_their_scale() -> None:
    draws = draw_priors(prepared("background").structure(), 4000, np.random.default_rng(1))
    np.testing.assert_allclose(draws["topic_effect"].sum(axis=1), 0, atol=1e-9)
    standard = draws["topic_effect"][:, 0] / draws["sigma_topic"]
    assert standard.std() == pytest.approx(np.sqrt(1 - 1 / 20), rel=0.04)


# --- hidden documents --------------------------------------------------------------------------------------


def test_hidden_documents_of_the_toy_are_those_worked_out_by_hand() -> None:
    """North alone contributed b c f, p r, b; south h i k, v w, d (see toys.py); here with two more ranks."""
    collection = toy_collection()
    hidden = HiddenDocuments(Task(collection, (), parse_measure("P@5"), "pooled"))
    run, topic, pair, number = hidden.places
    found = [
        (hidden.counts.run_ids[r], collection.query_ids[t], collection.doc_id(p))
        for r, t, p in zip(run, topic, pair, strict=True)
    ]
    # n1 and n2 both retrieve b and c on topic 1 and p and r on topic 2: north's in the places of each
    assert found == [
        *(("n1", "1", d) for d in "bc"),
        *(("n1", "2", d) for d in "pr"),
        ("n1", "3", "b"),
        *(("n2", "1", d) for d in "bfc"),
        *(("n2", "2", d) for d in "pr"),
        ("n2", "3", "b"),
        *(("s1", "1", d) for d in "hi"),
        *(("s1", "2", d) for d in "vw"),
        ("s1", "3", "d"),
        *(("s2", "1", d) for d in "hk"),
        ("s2", "3", "d"),
    ]
    assert len(set(number)) == len({(q, d) for _, q, d in found}) == 12
    assert hidden.organizations == ("north", "south")
    assert hidden.organization.tolist() == [0, 0, 1, 1]


@settings(max_examples=30)
@given(pooled_collections(), st.sampled_from(MODEL_NAMES), st.integers(1, 5))
def test_rows_of_every_model_hold_every_hidden_document_once(
    collection: Collection, model: str, cutoff: int
) -> None:
    """Also where a model learns from documents below the cutoff."""
    measure = parse_measure(f"P@{cutoff}")
    task = Task(collection, (), measure, "pooled")
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


def test_rows_that_are_neither_documents_nor_cells_are_refused() -> None:
    evidence = prepared("ratio").evidence
    with pytest.raises(ValueError, match="neither hidden documents nor"):
        example_hidden().rows(dataclasses.replace(evidence, n_hidden=evidence.n_hidden + 1))


@every_model
def test_models_predict_the_same_documents_at_a_shallow_cutoff(model: str) -> None:
    task = Task(load_example(), (), parse_measure("P@5"), "pooled")
    hidden = HiddenDocuments(task)
    rows = hidden.rows(task.prepare(model, {}).evidence)  # type: ignore[arg-type]
    of_runs = np.bincount(rows.run, rows.n_hidden, len(hidden.organization))
    np.testing.assert_array_equal(of_runs, hidden.counts.n_credited.sum(axis=(1, 2)))
    relevant = np.bincount(rows.run, rows.n_hidden_relevant, len(hidden.organization))
    np.testing.assert_array_equal(relevant, hidden.counts.n_credited_relevant.sum(axis=(1, 2)))


@two_models
def test_organizations_are_taken_out_with_their_hidden_documents_alone(model: str) -> None:
    evidence = prepared(model).evidence
    kept = np.array([True, False, True, True, True, True, False, True])
    fewer: Any = without_organizations(evidence, kept)
    whose = "organization" if isinstance(evidence, LinearEvidence) else "hidden_organization"
    mine = kept[getattr(evidence, whose)]
    assert fewer.organizations == tuple(np.array(evidence.organizations)[kept])
    before, after = np.array(evidence.organizations), np.array(fewer.organizations)
    np.testing.assert_array_equal(after[getattr(fewer, whose)], before[getattr(evidence, whose)][mine])
    for name, values in evidence.arrays().items():
        field = name if hasattr(evidence, name) else name.removeprefix("hidden_")
        if len(values) == len(mine) and not name.endswith("organization"):
            np.testing.assert_array_equal(getattr(fewer, field), getattr(evidence, field)[mine])
    if not isinstance(evidence, LinearEvidence):
        assert fewer.n_judged is evidence.n_judged


def test_judgments_of_ones_own_take_no_part() -> None:
    example = load_example()
    run = example.run_ids.index("new-a")
    pair = next(p for p in example.document[run].ravel() if p >= 0 and example.relevance[p] < 0)
    topic = example.query_ids[example.pair_topic[pair]]
    more = example.add_judgments(qrels_from_frame({topic: {example.doc_id(int(pair)): 1}}))
    assert pool_alone(more).fingerprint == example.fingerprint
    assert pool_alone(example) is example


# --- predictions -------------------------------------------------------------------------------------------


def test_folds_are_dealt_out() -> None:
    assert deal_folds(7, 3).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert deal_folds(3, 5).tolist() == [0, 1, 2]


@pytest.mark.parametrize("model", ["background", "ratio", "evidence"])
def test_predictions_know_nothing_of_what_they_predict(model: str) -> None:
    """All hidden documents of a fold's organizations turned round: their predictions stay as they are.

    The evidence model sees a little of it, in the judged neighbours of other organizations' documents.
    """
    example, hidden = load_example(), example_hidden()
    fold = deal_folds(len(hidden.organizations), 5)[hidden.organization]
    run, _, pair, _ = hidden.places
    theirs = np.unique(pair[fold[run] == 1])
    relevance = example.relevance.copy()
    relevance[theirs] = 1 - np.minimum(relevance[theirs], 1)
    found = []
    for collection in (example, dataclasses.replace(example, relevance=relevance)):
        task = Task(collection, (), P10, "pooled")
        one = task.prepare(model, {})  # type: ignore[arg-type]
        found.append(predict_held_out(one, HiddenDocuments(task), Fitting(draws=200), n_folds=5))
    first, second = found
    mine = first.fold == 1
    assert second.n_hidden_relevant[mine].sum() > 3 * first.n_hidden_relevant[mine].sum()
    moved = (second.draws.mean(axis=0) - first.draws.mean(axis=0)) / first.draws.std(axis=0)
    if model == "evidence":
        assert np.abs(moved[mine]).max() < 0.1
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
    observed = (p.n_judged_relevant + p.n_hidden_relevant) / p.n_ranks
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
    task = Task(collection, (), measure, "pooled")
    p = predict_held_out(task.prepare("evidence", {}), HiddenDocuments(task), QUICK, n_folds=3)
    np.testing.assert_array_equal(p.draws[:, 0], p.draws[:, 1])
    assert p.n_hidden.tolist() == [6, 6, 6, 6]
    assert p.n_hidden_relevant.tolist() == [4, 4, 4, 3]


@pytest.mark.parametrize("model", ["ratio", "evidence"])
def test_log_densities_are_those_of_the_combined_estimator(model: str) -> None:
    """Other draws and folds of the same kind, so close and not equal."""
    p = predicted(model)
    one = prepared(model)
    fit = Fitting(draws=200, chains=2).fit(one, one.evidence, 1)
    densities, weight = log_predictive_densities({model: one}, {model: fit}, 1)
    mine = p.log_density[np.isfinite(p.log_density)]
    assert len(mine) == len(densities)
    assert np.abs(mine - densities[:, 0]).mean() < 0.12
    assert np.corrcoef(mine, densities[:, 0])[0, 1] > 0.97
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


def test_pool_from_which_nothing_can_be_held_out_is_an_error() -> None:
    with pytest.raises(InputError, match="2 organizations, and holding some out needs three"):
        check_models(toy_collection(), "P@3", models="ratio")
    with pytest.raises(InputError, match="number of folds must be at least 2"):
        check_models(load_example(), models="ratio", n_folds=1)
    same = from_rankings(
        {run: {"1": "abc"} for run in "xyz"},
        {"1": {"a": 1, "b": 0, "c": 0}},
        pooled_run_ids=("x", "y", "z"),
        pool_depth=3,
    )
    with pytest.raises(InputError, match="contributed by one organization alone"):
        check_models(same, "P@3", models="ratio")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": ("ratio", "linear")}, "no model 'linear' to check"),
        ({"models": ("combined",)}, "it is checked where all of its models are: ratio, evidence"),
        ({"models": ()}, "no model to check"),
        ({"models": "ratio", "priors": {"gamma": "Normal(0, 1)"}}, "no prior 'gamma'"),
        ({"models": "ratio", "engine": "advi"}, "no engine 'advi'"),
        ({"models": "ratio", "draws": 0}, "draws must be at least 1"),
    ],
)
def test_wrong_settings_say_what_is_right(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_models(load_example(), **arguments)


def test_checks_repeat_to_the_byte_and_change_with_the_seed() -> None:
    a, b, other = (
        check_models(load_example(), models="ratio", draws=40, containers=False, random_seed=seed)
        for seed in (1, 1, 2)
    )
    assert a["ratio", P10].draws.tobytes() == b["ratio", P10].draws.tobytes()
    assert a["ratio", P10].draws.tobytes() != other["ratio", P10].draws.tobytes()
    pd.testing.assert_frame_equal(a.runs(), b.runs())


# --- tables ------------------------------------------------------------------------------------------------


def made_up(model: str, log_density: list[float], **changes: Any) -> HeldOutPrediction:
    """Four runs of three organizations on 10 ranks; draws 0 … 9 of each."""
    n = len(log_density)
    values: dict[str, Any] = {
        "model": model,
        "measure": P10,
        "run_ids": tuple(f"r{i}" for i in range(n)),
        "organizations": ("a", "a", "b", "c")[:n],
        "n_ranks": 10,
        "n_judged_relevant": np.zeros(n, dtype=np.int32),
        "n_hidden": np.full(n, 9, dtype=np.int32),
        "n_hidden_relevant": np.array([0, 4, 5, 9][:n], dtype=np.int32),
        "fold": np.array([0, 0, 1, 2][:n]),
        "draws": np.repeat(np.arange(10, dtype=np.int32)[:, None], n, axis=1),
        "prior_draws": np.zeros((10, n), dtype=np.int32),
        "pit": np.array([0.05, 0.45, 0.55, 0.95][:n]),
        "log_density": np.array(log_density),
    }
    return HeldOutPrediction(**values | changes)


def test_calibration_by_hand() -> None:
    frame = calibration_frame([made_up("m", [-1.0] * 4)], [0.5, 0.8, 0.95]).set_index("ci_prob")
    assert frame["pit_inside"].tolist() == [0.5, 0.5, 1.0]
    # organization a has one run inside and one not, which cancel; b is inside, c is not
    assert frame["se"].tolist() == pytest.approx([np.sqrt(0.5**2 + 0.5**2) / 4] * 2 + [0])
    # the central 50 % of ten draws are 2 … 7 with ends, of 80 % 1 … 8, of 95 % all
    assert frame["covered"].tolist() == [0.5, 0.5, 1.0]
    assert frame["width"].tolist() == pytest.approx([0.5, 0.7, 0.9])
    assert frame["mae"].tolist() == pytest.approx([(4.5 + 0.5 + 0.5 + 4.5) / 4 / 10] * 3)
    assert (frame["pit_mean"] == 0.5).all()
    assert (frame["n_runs"] == 4).all()
    assert (frame["n_organizations"] == 3).all()


def test_runs_with_nothing_hidden_are_not_counted() -> None:
    p = made_up("m", [-1, -1, -1, np.nan], n_hidden=np.array([9, 9, 9, 0], dtype=np.int32))
    frame = calibration_frame([p])
    assert (frame["n_runs"] == 3).all()
    assert elpd_frame([p])["n_organizations"].tolist() == [2]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, in arviz_stats
@with_the_first_arviz_stats
def test_elpd_counts_organizations_once_and_is_as_arviz_has_it() -> None:
    a, b = made_up("a", [-1.0, -3.0, -2.0, -4.0]), made_up("b", [-2.0, -2.0, -4.0, -4.5])
    frame = elpd_frame([b, a], combined=("a", "b")).set_index("model")
    assert frame.index.tolist() == ["a", "b"]
    assert frame["elpd"].tolist() == [-2 - 2 - 4, -2 - 4 - 4.5]
    assert frame["elpd_diff"].tolist() == [0, 2.5]
    by_organization = {"a": [-2.0, -2.0, -4.0], "b": [-2.0, -4.0, -4.5]}
    theirs = arviz_stats.compare({name: elpd_data(values) for name, values in by_organization.items()})
    for column in ("rank", "elpd", "elpd_diff", "se", "dse"):
        np.testing.assert_allclose(
            frame[column].astype(float), theirs.loc[["a", "b"], column].astype(float), err_msg=column
        )
    assert frame["weight"].sum() == pytest.approx(1)
    assert frame["weight"].tolist() == frame["weight_combined"].tolist()


def elpd_data(values: list[float]) -> Any:
    """ArviZ's own object for log densities of observations."""
    n = len(values)
    return arviz_stats.utils.ELPDData(
        kind="loo_kfold",
        elpd=sum(values),
        se=np.sqrt(n * np.var(values)),
        p=0.0,
        n_samples=100,
        n_data_points=n,
        scale="log",
        warning=False,
        good_k=0.7,
        elpd_i=xr.DataArray(values, dims="organization"),
        pareto_k=xr.DataArray(np.zeros(n), dims="organization"),
    )


def test_mixture_of_a_fold_has_weights_of_the_other_folds() -> None:
    """Model a is better everywhere but in fold 2, whose weights do not know it."""
    a = made_up("a", [-1.0, -1.0, -1.0, -9.0], draws=np.full((50, 4), 3, dtype=np.int32))
    b = made_up("b", [-3.0, -3.0, -3.0, -1.0], draws=np.full((50, 4), 7, dtype=np.int32))
    mixed = stack([a, b])
    densities = np.column_stack([a.log_density, b.log_density])
    weight = np.array([0.5, 0.5, 1.0, 1.0])
    for fold, runs in ((0, [0, 1]), (1, [2]), (2, [3])):
        others = a.fold != fold
        weights = stacking_weights(densities[others], weight[others])
        expected = logsumexp(np.log(weights) + densities[runs], axis=1)
        np.testing.assert_allclose(mixed.log_density[runs], expected)
        share = (mixed.draws[:, runs] == 3).mean(axis=0)
        np.testing.assert_allclose(share, weights[0], atol=0.021)
    assert weights[0] > 0.6  # fold 2: the others speak for a
    assert mixed.model == "combined"
    assert np.isin(mixed.draws, [3, 7]).all()


def test_frames_of_the_example_hold_every_model_and_run() -> None:
    found = checks()
    calibration, elpd, runs = found.calibration(), found.elpd(), found.runs()
    models = ["background", "ratio", "evidence", "combined"]
    assert list(dict.fromkeys(calibration["model"])) == models
    assert calibration["ci_prob"].tolist() == [0.5, 0.8, 0.95] * 4
    assert (calibration["n_runs"] == 21).all()
    assert set(elpd["model"]) == set(models)
    assert elpd["elpd"].is_monotonic_decreasing
    assert elpd["weight"].sum() == pytest.approx(1)
    weights = elpd.set_index("model")["weight_combined"]
    assert weights[["ratio", "evidence"]].sum() == pytest.approx(1)
    assert weights[["background", "combined"]].isna().all()
    assert len(runs) == 4 * 21
    assert ((runs["lower"] <= runs["value_predicted"]) & (runs["value_predicted"] <= runs["upper"])).all()
    assert (runs["prior_upper"] - runs["prior_lower"]).mean() > (runs["upper"] - runs["lower"]).mean()
    shown = runs[runs["model"] == "ratio"].set_index("run_id")
    p = found["ratio", "P@10"]
    assert shown["value"].to_dict() == dict(
        zip(p.run_ids, (p.n_judged_relevant + p.n_hidden_relevant) / 200, strict=True)
    )


# --- containers --------------------------------------------------------------------------------------------

GROUPS = {
    "posterior", "sample_stats", "prior", "prior_predictive", "posterior_predictive", "predictions",
    "observed_data", "log_likelihood", "constant_data", "predictions_constant_data",
}  # fmt: skip


@pytest.mark.parametrize("model", ["background", "ratio", "evidence"])
def test_container_is_what_arviz_reads(model: str, tmp_path: Path) -> None:
    atomic_write(tmp_path / "model.nc", container_bytes(checks().containers["P@10", model]))
    with xr.open_datatree(tmp_path / "model.nc", engine="h5netcdf") as opened:
        tree = opened.load()
    assert set(tree.children) == GROUPS
    assert tree.attrs["model"] == model
    assert tree.attrs["collection_fingerprint"] == load_example().fingerprint
    assert tree["posterior"]["topic_effect"].dims == ("chain", "draw", "topic")
    assert tree["posterior"]["topic"].values.tolist() == list(load_example().query_ids)
    assert set(tree["prior"].data_vars) == set(tree["posterior"].data_vars)
    summary = arviz_stats.summary(tree, var_names=["mu", "sigma_topic"], ci_kind="eti", ci_prob=0.9)
    assert summary.loc["mu", "mean"] < -1
    p = checks()[model, P10]
    predictions, observed = tree["predictions"], tree["observed_data"]
    np.testing.assert_array_equal(predictions["n_hidden_relevant"].values.reshape(len(p.draws), -1), p.draws)
    np.testing.assert_allclose(
        observed["precision"].values, (p.n_judged_relevant + p.n_hidden_relevant) / p.n_ranks
    )
    rows = example_hidden().rows(prepared(model).evidence)
    assert observed["hidden_relevant"].values.sum() == rows.n_hidden_relevant.sum()
    for group in ("prior_predictive", "posterior_predictive"):
        drawn = tree[group]["hidden_relevant"].values
        assert (drawn >= 0).all()
        assert (drawn <= tree["constant_data"]["cell_n_hidden"].values).all()
        # the only run of its organization has all of its documents to itself
        own = tree["constant_data"]["cell_run"].values == "ridge-1"
        of_run = tree[group]["n_hidden_relevant"].sel(pooled_run="ridge-1").values
        np.testing.assert_array_equal(drawn[:, :, own].sum(axis=2), of_run)
    # within a tenth of a standard deviation: the fit has seen what it replicates here
    total = tree["posterior_predictive"]["hidden_relevant"].sum("cell").values
    assert abs(total.mean() - rows.n_hidden_relevant.sum()) < 0.5 * total.std()


@pytest.mark.parametrize("model", ["background", "ratio", "evidence"])
def test_log_likelihood_is_the_chance_of_the_relevances(model: str) -> None:
    tree = checks().containers["P@10", model]
    evidence: Any = prepared(model).evidence
    posterior = tree["posterior"].to_dataset().stack(sample=("chain", "draw"))
    if model == "background":
        topic, organization = evidence.hidden_topic, evidence.hidden_organization
        slopes = 0.0
    else:
        topic, organization = evidence.topic, evidence.organization
        slopes = evidence.predictors @ posterior["beta"].values
    eta = (
        posterior["mu"].values
        + posterior["topic_effect"].values[topic]
        + posterior["organization_effect"].values[organization]
        + slopes
    )
    k, n = evidence.n_hidden_relevant[:, None], evidence.n_hidden[:, None]
    expected = (k * eta - n * np.logaddexp(0, eta)).sum(axis=0)
    found = tree["log_likelihood"]["hidden_relevant"].values.astype(float).sum(axis=2).ravel()
    np.testing.assert_allclose(found, expected, rtol=1e-6)  # kept in single precision


@pytest.mark.filterwarnings("ignore:The inplace keyword", "ignore:Estimated shape parameter")
@with_the_first_arviz_stats
def test_models_are_compared_by_arviz_over_the_same_cells() -> None:
    trees = {model: tree for (_, model), tree in checks().containers.items()}
    loos = {model: arviz_stats.loo(tree) for model, tree in trees.items()}
    assert len({loo.n_data_points for loo in loos.values()}) == 1
    assert loos["evidence"].n_data_points == 332
    for model, loo in loos.items():  # leaving a cell out costs something, and not much
        in_sample = logsumexp(trees[model]["log_likelihood"]["hidden_relevant"].values[0], axis=0)
        in_sample = in_sample - np.log(300)
        assert 0 < in_sample.sum() - loo.elpd < 40
    table = arviz_stats.compare(trees)
    assert set(table.index) == set(trees)
    assert table["elpd"].tolist() == sorted((loo.elpd for loo in loos.values()), reverse=True)


def test_files_of_the_same_container_are_the_same_bytes() -> None:
    made = [check_models(load_example(), models="background", draws=20) for _ in range(2)]
    first, second = (container_bytes(found.containers["P@10", "background"]) for found in made)
    assert first == second


# --- engines -----------------------------------------------------------------------------------------------


def test_differences_of_engines_are_shares_of_the_width() -> None:
    rng = np.random.default_rng(1)
    nuts = rng.binomial(200, 0.3, size=(20_000, 2)).astype(np.int32)
    found = _compare(nuts + np.int32(1), nuts, np.array([10, 20]), 400, 0.95)
    width = found["width"] * 400
    np.testing.assert_allclose(width, 2 * 1.96 * np.sqrt(200 * 0.3 * 0.7), rtol=0.03)
    for name in ("mean", "lower", "upper"):
        np.testing.assert_allclose(found[f"{name}_off"], 1 / width, rtol=1e-9)
    np.testing.assert_allclose(found["mean_nuts"] * 400, [70, 80], atol=0.3)
    standard = np.sqrt(200 * 0.3 * 0.7) * np.sqrt(2 / 20_000) / width
    np.testing.assert_allclose(found["mean_off_se"], standard, rtol=0.6)


def test_engines_are_told_apart_where_one_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """NUTS is played by Laplace with another seed, then by Laplace with chances that are too high."""
    fit = Fitting.fit
    shift = 0.0

    def play(self: Fitting, prepared: Prepared, evidence: Any, random_seed: int) -> Any:
        if self.engine == "laplace":
            return fit(self, prepared, evidence, random_seed)
        other = fit(dataclasses.replace(self, engine="laplace"), prepared, evidence, random_seed + 1)
        return dataclasses.replace(other, variables={**other.variables, "mu": other.variables["mu"] + shift})

    monkeypatch.setattr(Fitting, "fit", play)
    settings = {"models": ("background", "ratio"), "draws": 1000}
    frame = compare_engines(load_example(), **settings)
    assert frame["run_id"].tolist() == ["coast-1", "coast-2", "coast-3", "ridge-1"] * 2
    summary = engine_summary(frame)
    assert (summary[["mean_agrees", "ends_agree"]] == 1).all(axis=None)
    assert (summary["n_runs"] == 4).all()
    shift = 0.5
    summary = engine_summary(compare_engines(load_example(), **settings))
    assert (summary["mean_agrees"] == 0).all()


@pytest.mark.slow
@every_model
@pytest.mark.parametrize("name", ["trec2-adhoc", "trec2011-medical"])
def test_laplace_agrees_with_nuts_on_real_collections(model: str, name: str, collections: Path) -> None:
    """Means within 2 % of the interval's width and ends within 5 %, Monte-Carlo errors allowed for."""
    frame = compare_engines(read_real(collections / name), "P@10", models=model, draws=3000)
    (summary,) = engine_summary(frame).to_dict("records")
    assert summary["problems"] == "" or model == "smoothed"  # which NUTS would then sample
    assert summary["mean_agrees"] > 0.9, frame
    assert summary["ends_agree"] > 0.9, frame

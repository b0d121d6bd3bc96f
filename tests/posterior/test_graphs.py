"""Graphs at the front door: their nodes against bounds and formulas, and PyMC's draws against `score`'s."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytest
from columns import with_columns
from each import cases
from fits import TARGETS
from graded_example import graded_example
from graphs import NO_LINKER
from scipy.special import expit

from bayespool import fit, load_example, model_graph, parse_measure
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.posterior import ScoringProblem


def evaluate(graph: pm.Model, name: str, given: dict[str, Any]) -> Any:
    """A node where others have the given values."""
    inputs = [graph[variable] for variable in given]
    return pytensor.function(inputs, graph[name], on_unused_input="ignore", **NO_LINKER)(*given.values())


@cases(("measure", "model"), [("P@10", "ratio"), ("RBP(p=0.8)@20", "background"), ("P@5", "interpolated")])
def test_scores_run_from_one_bound_to_the_other(measure: str, model: str) -> None:
    graph = model_graph(load_example(), measure, model, run_ids=TARGETS)
    bounds = score_bounds(load_example(), TARGETS, parse_measure(measure))
    (name,) = [n for n in graph.named_vars if n[0] in "PR"]
    assert graph.named_vars_to_dims[name] == ("run_id",)
    assert tuple(graph.coords["run_id"]) == TARGETS
    n = len(graph.coords["unjudged"])
    for relevant, values in ((0, bounds.low.means()), (1, (bounds.low.totals() + bounds.width.totals()))):
        found = evaluate(graph, name, {"unjudged_relevant": np.full(n, relevant)})
        expected = values if relevant == 0 else values / bounds.low.per_mean()
        np.testing.assert_allclose(found, expected, atol=1e-12)


def unjudged_log_odds(problem: ScoringProblem, prepared: Any, values: dict[str, Any]) -> np.ndarray:
    """By the package's own formula for one draw, and new effects by hand, of all unjudged documents."""
    u, one = problem.unknowns, {name: np.asarray(v)[None] for name, v in values.items()}
    of_topics = [
        prepared.log_odds(one, np.array([0]), t, u.on_topic(t))[0] for t in range(len(u.collection.query_ids))
    ]
    n_known, n_topics = len(prepared.evidence.organizations), len(u.collection.query_ids)
    organization = np.unique(problem.organization, return_inverse=True)[1][u.run]
    tails = np.sqrt(values["freedom"] / values["standard_tails"])[organization]
    n_hidden, c = prepared.evidence.n_hidden_by_organization, values["few"]
    usual = 1 + c * np.average(np.exp(-n_hidden / 10), weights=n_hidden)
    stretch = np.sqrt(np.maximum(1, (1 + c * np.exp(-problem.n_unjudged / 10)) / usual))[u.run]
    effect = values["sigma_organization"] * np.sqrt(1 + 1 / n_known) * tails * stretch
    log_odds = np.concatenate(of_topics) + effect * values["standard_new_organization"][organization]
    slope = values["below_pool"] + values["slope_within_rankings"]
    slope = slope + values["sigma_below_pool"] * values["standard_below_pool"][u.topic]
    log_odds += slope * problem.below_pool
    if prepared.predictors is None:
        return log_odds
    cell = organization * n_topics + u.topic
    log_odds += values["sigma_interaction"] * values["standard_new_interaction"][cell]
    slopes = values["standard_new_slope"].reshape(2, -1)[organization]
    predictors = prepared.predictors[:, : slopes.shape[1]]
    return log_odds + values["sigma_slope"] * tails * (slopes * predictors).sum(axis=1)


BOTH = "(1 | type) + (1 | language)"


@cases("model", ["ratio", "interpolated", f"ratio + {BOTH} + length", f"interpolated + {BOTH}"])
def test_chances_of_unjudged_documents_are_those_of_the_model(model: str) -> None:
    """A uniform number just below the probability makes a document relevant, one just above does not."""
    example, runs = with_columns(), ("new-b", "new-a")
    graph = model_graph(example, "P@10", model, run_ids=runs)
    problem = ScoringProblem(example, runs, parse_measure("P@10"), "complete")
    prepared, rng = problem.prepare(model, {}), np.random.default_rng(3)
    values = {v.name: rng.normal(size=v.type.shape if None not in v.type.shape else v.shape.eval(**NO_LINKER))
              for v in graph.free_RVs}  # fmt: skip
    for name in values:  # positive ones, and shares
        if "tails" in name or name in ("freedom", "sigma_below_pool", "few"):
            values[name] = np.abs(values[name]) + 0.5
    if "c" in values:
        values["c"] = np.array(0.4)
    for name in ("topic", "organization", "run", "type", "language"):
        if f"standard_{name}" in values:
            values[f"standard_{name}"] -= values[f"standard_{name}"].mean()
    named = [n for n in graph.named_vars if n.endswith("_effect") or n.startswith("sigma_") or n == "beta"]
    found = {n: values[n] if n in values else evaluate(graph, n, values) for n in named}
    p = expit(unjudged_log_odds(problem, prepared, values | found))
    assert 0.01 < p.min() < p.max() < 0.99999
    for factor, relevant in ((1 - 1e-6, 1), (1 + 1e-6, 0)):
        drawn = evaluate(graph, "unjudged_relevant", values | {"standard_relevance": p * factor})
        assert drawn.tolist() == [relevant] * len(p)


def test_names_of_dimensions() -> None:
    ratio, evidence = (model_graph(load_example(), "P@10", model) for model in ("ratio", "evidence"))
    assert ratio.named_vars_to_dims["topic_effect"] == ("topic",)
    assert ratio.named_vars_to_dims["organization_effect"] == ("organization",)
    assert ratio.named_vars_to_dims["hidden_relevant"] == ("cell",)
    assert evidence.named_vars_to_dims["hidden_relevant"] == ("document",)
    assert next(iter(ratio.coords["cell"])) == "coast-1, 701"
    assert "P_10" not in ratio.named_vars


def test_priors_are_replaced() -> None:
    graph = model_graph(load_example(), "P@10", priors={"mu": "Normal(1, 0.25)"})
    assert "mu ~ Normal(1, 0.25)" in " ".join(graph.str_repr().split())
    with pytest.raises(InputError, match="model ratio has no prior 'nu'"):
        model_graph(load_example(), "P@10", priors={"nu": "Normal(1, 0.25)"})


def test_a_pooled_run_without_unjudged_documents_has_its_score() -> None:
    graph = model_graph(load_example(), "P@5", run_ids="coast-1")
    judged = score_bounds(load_example(), "coast-1", parse_measure("P@5")).low.means()
    np.testing.assert_allclose(graph["P_5"].eval(**NO_LINKER), judged)


@cases("measure", ["nDCG@10", "AP@100", "P(rel=2)@10"])
def test_measures_that_no_node_has(measure: str) -> None:
    graph = model_graph(graded_example(), measure)  # without runs there is no node
    assert "hidden_relevant" in graph.named_vars
    with pytest.raises(InputError, match=r"several levels of relevance; fit\(collection, '"):
        model_graph(graded_example(), measure, run_ids=TARGETS)


def for_pymc(tree: Any) -> Any:
    """What PyMC takes: below 6 it asks for the container of the former ArviZ."""
    if int(pm.__version__.split(".")[0]) >= 6:
        return tree
    import arviz

    return arviz.InferenceData.from_datatree(tree)


def interval(draws: Any) -> np.ndarray:
    return np.quantile(draws.values.reshape(-1, draws.shape[-1]), [0.025, 0.25, 0.5, 0.75, 0.975], axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ratio", "rankings", "interpolated"])
def test_pymc_predicts_from_a_fit_what_score_does(model: str) -> None:
    tree = fit(load_example(), "P@10", model, run_ids=TARGETS)
    graph = model_graph(load_example(), "P@10", model, run_ids=TARGETS)
    quiet: dict[str, Any] = {"random_seed": 1, "progressbar": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = pm.sample_posterior_predictive(
            for_pymc(tree), model=graph, var_names=["P_10"], predictions=True, **quiet
        )
        again = pm.sample_posterior_predictive(for_pymc(tree), model=graph, **quiet)
    of_pymc, of_score = drawn.predictions["P_10"], tree["predictions"]["P_10"]
    error = of_score.std(("chain", "draw")) / np.sqrt(4000)
    assert (abs(of_pymc.mean(("chain", "draw")) - of_score.mean(("chain", "draw"))) < 5 * error).all()
    np.testing.assert_allclose(interval(of_pymc), interval(of_score), atol=0.01001)  # of twenty topics
    totals = [
        group["hidden_relevant"].values.reshape(4000, -1).sum(axis=1)
        for group in (again.posterior_predictive, tree["posterior_predictive"])
    ]
    assert totals[0].mean() == pytest.approx(totals[1].mean(), abs=5 * totals[1].std() / np.sqrt(2000))
    assert totals[0].std() == pytest.approx(totals[1].std(), rel=0.08)


@pytest.mark.slow
def test_pymc_samples_the_graph_as_it_is() -> None:
    tree = fit(load_example(), "P@10", run_ids=TARGETS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = model_graph(load_example(), "P@10", run_ids=TARGETS)
        drawn = pm.sample(
            model=graph, draws=500, tune=500, chains=2, cores=1, random_seed=1, progressbar=False,
            nuts_sampler="nutpie",
        ).posterior  # fmt: skip
    for name in ("mu", "beta", "topic_effect", "organization_effect"):
        one, other = tree["posterior"][name], drawn[name]
        off = abs(one.mean(("chain", "draw")).values - other.mean(("chain", "draw")).values)
        assert off.max() < 0.3 * float(one.std(("chain", "draw")).max())
    of_score = tree["predictions"]["P_10"]
    assert drawn["P_10"].mean(("chain", "draw")).values == pytest.approx(
        of_score.mean(("chain", "draw")).values, abs=0.003
    )
    np.testing.assert_allclose(interval(drawn["P_10"]), interval(of_score), atol=0.01501)

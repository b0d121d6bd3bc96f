"""Declarations of models: what they must say, and a model of one's own wherever models are used."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from each import cases
from fits import compile_once, sample_quietly
from own_models import BARE, OWN, OWN_OF_COUNTS, OWN_OF_DOCUMENTS
from small import small

from bayespool import complete, register_model, score
from bayespool.errors import InputError
from bayespool.experiments import load_example
from bayespool.inference import NUTS, Laplace
from bayespool.measures import parse_measure
from bayespool.models import MODEL_NAMES, MODELS, Effect, Linear, ModelSpec, model_named
from bayespool.models.graphs import build_graph
from bayespool.posterior import PosteriorEstimator, ScoringProblem
from bayespool.scoring import ESTIMATORS, parse_estimator


@pytest.fixture(autouse=True)
def registries_as_they_were() -> Iterator[None]:
    registries: tuple[dict[str, Any], ...] = (MODELS, ESTIMATORS)
    before = [dict(registry) for registry in registries]
    yield
    for registry, entries in zip(registries, before, strict=True):
        registry.clear()
        registry.update(entries)


def each_own() -> Iterator[ModelSpec]:
    """All of them, each registered while it is asked about."""
    for spec in OWN.values():
        MODELS.pop("mine", None)
        ESTIMATORS.pop("posterior-mine", None)
        yield register_model(spec)


def task() -> ScoringProblem:
    return ScoringProblem(load_example(), ("new-a",), parse_measure("P@10"), "complete")


def test_own_model_completes_and_is_an_estimator() -> None:
    for own in each_own():
        completion = complete(small(), "new-b", "P@10", estimators="posterior-mine(draws=100)")
        (values,) = completion.evaluate("P@10")
        scores = score(small(), "new-b", "P@10", estimators="posterior-mine", posterior_settings="draws=100")
        estimates = scores["P@10", "posterior-mine"]
        assert estimates.draws is not None
        np.testing.assert_array_equal(values.amount, estimates.draws.amount)
        assert set(own.prior_names) <= set(estimates.fits["mine"].draws())
        assert ESTIMATORS["posterior-mine"].description == own.description
        other = parse_estimator("posterior-mine(priors={'sigma_organization': 'HalfNormal(9)'}, draws=100)")
        (wider,) = other.estimate(small(), "new-b", "P@10")
        assert wider.std[0] > estimates.std[0], own


# A model with effects of organizations on topics has what the others have.
@pytest.mark.slow
def test_both_engines_agree_on_an_own_model() -> None:
    own = register_model(OWN["interaction"])
    prepared = task().prepare(own, {})
    evidence = prepared.evidence
    fast = Laplace(draws=4000).fit(prepared.spec, evidence, 1)
    graph = build_graph(prepared.spec, prepared.evidence)
    sampler = compile_once(NUTS(draws=1000, tune=500, chains=2), graph)
    reference = sample_quietly(sampler, random_seed=1, data=evidence.arrays())
    assert set(reference.variables) == set(fast.variables)
    for name in own.prior_names:
        one, other = fast.draws()[name], reference.draws()[name]
        assert one.mean(axis=0) == pytest.approx(other.mean(axis=0), abs=0.15 * np.max(other.std(axis=0)))
    one, other = (fit.draws()["interaction_effect"] for fit in (fast, reference))
    spread = other.std(axis=0)
    assert np.abs(other.mean(axis=0) / spread).max() > 0.5  # much is known of some
    assert (one.mean(axis=0) - other.mean(axis=0)) / spread == pytest.approx(0, abs=0.15)
    ratio = one.std(axis=0) / spread
    assert np.mean(ratio) == pytest.approx(1, abs=0.05)
    assert ratio == pytest.approx(1, abs=0.15)  # of a hundred, with the sampler's error of 2 % each


def test_an_estimator_travels_without_its_model() -> None:
    register_model(OWN_OF_DOCUMENTS)
    estimator = PosteriorEstimator(model="mine", priors={"sigma_organization": "HalfNormal(3)"})
    sent = pickle.dumps(estimator)
    assert pickle.loads(sent) == estimator
    del MODELS["mine"]
    with pytest.raises(InputError, match="no model 'mine'; known: background, "):
        pickle.loads(sent).estimate(load_example(), "new-b", "P@10")


def test_names_of_the_package_are_taken() -> None:
    register_model(MODELS["ratio"])  # nothing new
    for name in ("ratio", "combined"):
        with pytest.raises(InputError, match=f"there is a model '{name}' already"):
            register_model(dataclasses.replace(OWN_OF_COUNTS, name=name))
    assert tuple(MODELS) == MODEL_NAMES
    for ask in (model_named, lambda name: PosteriorEstimator(model=name)):
        with pytest.raises(InputError, match=r"no model 'mine'; known: .*background, interpolated"):
            ask("mine")
    ESTIMATORS["posterior-mine"] = dataclasses.replace(ESTIMATORS["condensed-list"], name="posterior-mine")
    with pytest.raises(InputError, match="there is an estimator 'posterior-mine' already"):
        register_model(OWN_OF_COUNTS)
    assert "mine" not in MODELS


def of_documents(name: str, kind: str) -> dict[str, Any]:
    """The model of documents with another effect in its formula."""
    formula = Linear("level", "slope", ("organization", name))
    return {"effects": {**OWN_OF_DOCUMENTS.effects, name: Effect(kind)}, "hidden": formula}


RATIO = MODELS["ratio"]
CELLS = {"interaction": Effect("organization_topic")}
NO_MODELS: tuple[tuple[ModelSpec, dict[str, Any], str], ...] = (
    (OWN_OF_DOCUMENTS, {"name": "Mine"}, "its name has lower-case letters"),
    (OWN_OF_DOCUMENTS, {"evidence": "runs"}, "no evidence 'runs'; known: documents, counts"),
    (OWN_OF_DOCUMENTS, {"coefficients": {}}, "coefficient level is in a formula but not declared"),
    (OWN_OF_DOCUMENTS, {"effects": {}}, "effect organization is in a formula but not declared"),
    (
        OWN_OF_DOCUMENTS,
        {"effects": OWN_OF_DOCUMENTS.effects | {"topic": Effect("topic")}},
        "topic is declared but in no formula",
    ),
    (
        OWN_OF_DOCUMENTS,
        of_documents("run", "run"),
        "effect run is of run, documents have topic, organization",
    ),
    (
        OWN_OF_COUNTS,
        {"effects": {"run": Effect("run"), "organization": Effect("topic")}},
        "the log odds of hidden documents need one effect of organization, named organization",
    ),
    (OWN_OF_COUNTS, {"judged": Linear("a", effects=("run", "organization"))}, "and to nothing else"),
    (OWN_OF_DOCUMENTS, of_documents("cell", "organization_topic"), "has the name interaction, and no other"),
    (OWN_OF_DOCUMENTS, of_documents("interaction", "topic"), "has the name interaction, and no other"),
    (OWN_OF_DOCUMENTS, of_documents("own", "organization_predictor"), "has the name slope, and no other"),
    (OWN_OF_DOCUMENTS, of_documents("slope", "organization_predictor"), "both a coefficient and an effect"),
    (
        RATIO,
        {
            "effects": {k: v for k, v in RATIO.effects.items() if k != "interaction"},
            "hidden": Linear("mu", "beta", ("topic", "organization", "slope")),
        },
        "slopes that differ between organizations need an effect interaction",
    ),
    (
        BARE,
        {
            "effects": {**BARE.effects, **CELLS, "slope": Effect("organization_predictor")},
            "hidden": Linear("level", effects=("organization", "interaction", "slope")),
        },
        "the effect slope needs slopes",
    ),
    (
        OWN_OF_COUNTS,
        {
            "effects": {**OWN_OF_COUNTS.effects, **CELLS},
            "judged": Linear("a", effects=("run", "interaction")),
        },
        "effect interaction is of organization_topic, counts have topic, organization, run",
    ),
    (OWN_OF_DOCUMENTS, {"judged": Linear("level")}, "a model of documents has one linear formula"),
    (OWN_OF_COUNTS, {"predictors": {"support": (0.0, 1.0)}}, "only models of documents have slopes"),
    (OWN_OF_DOCUMENTS, {"predictors": ["support"]}, "predictors are a mapping"),
    (OWN_OF_DOCUMENTS, {"predictors": {"support": 1.0}}, "predictor support needs"),
    (OWN_OF_DOCUMENTS, {"effects": ("organization",)}, "effects are a mapping, such as"),
    (OWN_OF_DOCUMENTS, {"effects": {"organization": "organization"}}, "effects are a mapping, such as"),
    (OWN_OF_DOCUMENTS, {"predictors": {}}, "slopes need predictors, and predictors need slopes"),
)


@cases(("spec", "changes", "message"), NO_MODELS)
def test_what_makes_no_model_is_refused(spec: ModelSpec, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        dataclasses.replace(spec, **changes)


def test_a_scale_that_may_be_negative_is_refused_by_either_engine() -> None:
    priors = {"sigma_topic": "Normal(0, 1)"}
    for engine in ("laplace", "nuts"):
        with pytest.raises(InputError, match=r"prior of sigma_topic: Normal\(0, 1\) reaches below 0"):
            score(
                load_example(),
                "new-a",
                estimators="posterior-ratio",
                posterior_settings=PosteriorEstimator(engine=engine, priors=priors),
            )


def test_a_predictor_that_is_not_there_is_named() -> None:
    register_model(dataclasses.replace(OWN_OF_DOCUMENTS, predictors={"suport": (1.0, 1.0)}))
    with pytest.raises(
        InputError, match="no predictor 'suport'; did you mean 'support'\\? known: log_rank, "
    ):
        complete(load_example(), "new-b", "P@10", estimators="posterior-mine(draws=10)")


def test_log_odds_of_documents_do_not_depend_on_what_else_there_is() -> None:
    prepared = task().prepare("evidence", {})
    fit = Laplace(draws=50).fit(prepared.spec, prepared.evidence, 1)
    draws, every = fit.draws(), np.arange(50)
    whole = prepared.log_odds(draws, every, 3, slice(0, 6))
    part = prepared.log_odds(draws, every[7:9], 3, slice(2, 4))
    assert part.tobytes() == np.ascontiguousarray(whole[7:9, 2:4]).tobytes()

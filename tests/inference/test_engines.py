"""Engines by name: what all of them promise, one of a reader's own, and the one that takes over."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from completed import NO_FIT
from each import cases
from fits import TARGETS, compile_once, example_evidence, same_draws
from own_models import OWN_OF_COUNTS, WITH_CELLS

from bayespool import load_example, parse_measure, score
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.inference import ENGINES, NUTS, Fit, Laplace, Start, register_engine
from bayespool.inference.engines import Relay, make_engine
from bayespool.models import ModelSpec
from bayespool.posterior import PosteriorEstimator, PreparedModel, ScoringProblem

AT_A_DESK = (pytest.mark.slow, pytest.mark.at_a_desk)
FEW = {"draws": 20, "tune": 20, "chains": 2, "target_accept": 0.8, "progress": False}


@dataclass(frozen=True)
class Sure:
    """The Laplace engine with a prior of its own: of documents retrieved, most are relevant."""

    name = "sure"
    independent = True

    draws: int = 100
    chains: int = 1

    def fit(self, spec: Any, evidence: Any, random_seed: int, *, known: Any = None, near: Any = None) -> Fit:
        laplace = Laplace(draws=self.draws, chains=self.chains, check=False)
        fit = laplace.fit(spec.with_priors({"mu": "Normal(3, 0.01)"}), evidence, random_seed)
        return dataclasses.replace(fit, diagnostics=dataclasses.replace(fit.diagnostics, engine=self.name))


@pytest.fixture
def sure() -> Iterator[None]:
    register_engine(Sure)
    yield
    del ENGINES["sure"]


class Uncompiled:
    """Played by what `NUTS.compile` returns, where nothing is asked of the draws."""

    def sample(self, **_: Any) -> Fit:
        return NO_FIT


def prepared(model: str | ModelSpec, targets: tuple[str, ...] = ("new-a",)) -> PreparedModel:
    return ScoringProblem(load_example(), targets, parse_measure("P@10"), "complete").prepare(model, {})


def fit_quietly(engine: Any, one: PreparedModel, random_seed: int = 1) -> Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticsWarning)
        fit: Fit = engine.fit(one.spec, one.evidence, random_seed)
    return fit


@pytest.mark.parametrize(
    ("model", "engine"),
    [
        *(("background", "laplace"), ("ratio", "laplace")),
        pytest.param("background", "nuts", marks=pytest.mark.slow),
        *(pytest.param(own, "nuts", marks=AT_A_DESK, id=own.evidence) for own in (WITH_CELLS, OWN_OF_COUNTS)),
    ],
)
def test_a_fit_has_all_variables_and_repeats_to_the_byte(
    model: str | ModelSpec, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NUTS, "compile", compile_once)
    one, asked = prepared(model), make_engine(engine, **FEW)
    fit, again, other = (fit_quietly(asked, one, seed) for seed in (1, 1, 2))
    assert fit.diagnostics.engine == asked.name == engine
    spec, sizes = one.spec, {dim: len(values) for dim, values in one.evidence.coords.items()}
    expected: dict[str, tuple[str, ...]] = {name: () for name in spec.prior_names}
    expected |= {f"{name}_effect": (effect.dim,) for name, effect in spec.effects.items()}
    expected |= {spec.slopes: ("predictor",)} if spec.slopes else {}
    assert dict(fit.dims) == expected
    shapes = {name: (40, *(sizes[dim] for dim in dims)) for name, dims in expected.items()}
    assert {name: values.shape for name, values in fit.draws().items()} == shapes
    for dim in {dim for dims in expected.values() for dim in dims}:
        assert tuple(fit.coords[dim]) == tuple(one.evidence.coords[dim])
    assert same_draws(fit, again)
    assert not same_draws(fit, other)


@pytest.mark.parametrize("engine", ["laplace", pytest.param("nuts", marks=pytest.mark.slow)])
def test_effects_on_topics_are_of_the_organizations_asked_for(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one there is no such variable; nothing else changes by it."""
    monkeypatch.setattr(NUTS, "compile", compile_once)
    draws = 20 if engine == "nuts" else 400  # whose draws are compared by the byte
    one, asked = prepared(WITH_CELLS), make_engine(engine, **FEW | {"draws": draws})
    evidence, n_topics = one.evidence, len(one.evidence.query_ids)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticsWarning)
        every, two, none = (asked.fit(one.spec, evidence, 1, known=known) for known in (None, (5, 2), ()))
    assert set(every.variables) - set(none.variables) == {"interaction_effect"}
    assert set(every.variables) == set(two.variables)
    assert "interaction_effect" not in none.dims
    for name, values in none.draws().items():
        assert values.tobytes() == every.draws()[name].tobytes() == two.draws()[name].tobytes()
    names = [f"{evidence.organizations[o]}, {q}" for o in (2, 5) for q in evidence.query_ids]
    assert list(two.coords["organization_topic"]) == names
    assert len(none.coords["organization_topic"]) == 0
    assert len(every.coords["organization_topic"]) == n_topics * len(evidence.organizations)
    drawn = two.draws()["interaction_effect"]
    same = every.draws()["interaction_effect"].reshape(2 * draws, -1, n_topics)[:, [2, 5]]
    same = same.reshape(2 * draws, -1)
    if engine == "nuts":
        assert drawn.tobytes() == same.tobytes()
    else:  # others are drawn in between
        error = np.sqrt((drawn.var(axis=0) + same.var(axis=0)) / (2 * draws))
        assert np.abs(drawn.mean(axis=0) - same.mean(axis=0)) / error == pytest.approx(0, abs=4.5)
        assert np.corrcoef(drawn.mean(axis=0), same.mean(axis=0))[0, 1] > 0.9


@pytest.mark.slow
def test_nuts_compiles_once_for_models_of_one_form_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    def watch(settings: NUTS, graph: Any) -> Any:
        compiled.append(graph)
        return compile_once(settings, graph)

    monkeypatch.setattr(NUTS, "compile", watch)
    engine = make_engine("nuts", **FEW)
    ten = prepared("background", TARGETS)
    five = dataclasses.replace(ten, evidence=example_evidence(5))
    assert len(five.evidence.n_hidden) < len(ten.evidence.n_hidden)
    first, second = fit_quietly(engine, ten), fit_quietly(engine, five)
    assert len(compiled) == 1
    assert not same_draws(first, second)
    assert same_draws(first, fit_quietly(make_engine("nuts", **FEW), ten))  # which compiles for itself
    assert len(compiled) == 2


def test_what_nuts_compiled_for_one_model_is_not_anothers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slopes that a model expects are in its graph, and in no text that PyMC has of it."""
    compiled: list[Any] = []
    monkeypatch.setattr(NUTS, "compile", lambda _, graph: compiled.append(graph) or Uncompiled())
    engine, one = make_engine("nuts", **FEW), prepared("ratio")
    fit_quietly(engine, one)
    higher = {name: (mean + 1, std) for name, (mean, std) in one.spec.predictors.items()}
    other = dataclasses.replace(one, spec=dataclasses.replace(one.spec, predictors=higher))
    fit_quietly(engine, other)
    assert len(compiled) == 2
    assert compiled[0].str_repr() == compiled[1].str_repr()


def test_an_own_engine_scores_and_is_compared_by_name(sure: None) -> None:
    def scored(engine: str) -> Any:
        settings = f"draws=60, chains=2, engine={engine}"
        scores = score(
            load_example(), "new-b", "P@10", estimators="posterior-background", posterior_settings=settings
        )
        return scores["P@10", "posterior-background"]

    own, fast = scored("sure"), scored("laplace")
    assert own.diagnostics.engine == "sure"
    assert len(own.draws.amount) == len(fast.draws.amount) == 120
    assert own.value[0] > fast.value[0] + 0.05
    assert own.fits["background"].draws()["mu"].mean() == pytest.approx(3, abs=0.1)
    assert own.notes[0][0] == "interval from only 120 draws; use 400 or more"  # its draws are independent
    assert own.fits["background"].source.spec.name == "background"
    assert {"laplace": Laplace, "nuts": NUTS, "sure": Sure} == ENGINES


def test_a_name_is_one_engines(sure: None) -> None:
    assert register_engine(Sure) is Sure  # again, as in a notebook

    @dataclass(frozen=True)
    class Other(Laplace):
        pass

    with pytest.raises(InputError, match="there is an engine 'laplace' already; give it another name"):
        register_engine(Other)
    assert ENGINES["laplace"] is Laplace


def test_engines_are_known_by_name_and_take_the_settings_they_have(sure: None) -> None:
    with pytest.raises(InputError, match="no engine 'gibbs'; known: laplace, nuts, sure"):
        PosteriorEstimator(engine="gibbs")
    assert make_engine("laplace", **FEW) == Laplace(draws=20, chains=2)
    assert make_engine("nuts", **FEW) == NUTS(draws=20, tune=20, chains=2, target_accept=0.8)
    assert make_engine("nuts", relay=True, **FEW) == make_engine("nuts", **FEW)  # nothing takes over from it


@cases("problem", ["no mode", None])
def test_the_engine_that_is_named_takes_over(
    problem: str | None, sure: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a warning, and the fit is the second's to the byte; without a problem it is the first's."""
    one = prepared("background")
    plain = Laplace(draws=20, chains=2).fit(one.spec, one.evidence, 1)
    problems = (problem,) if problem else ()
    first = dataclasses.replace(plain, diagnostics=dataclasses.replace(plain.diagnostics, problems=problems))
    second = Sure(draws=20, chains=2).fit(one.spec, one.evidence, 1)

    @dataclass(frozen=True)
    class Unsure:
        name = "unsure"
        takes_over = "sure"

        def fit(self, *_: Any, **__: Any) -> Fit:
            return first

    monkeypatch.setitem(ENGINES, "unsure", Unsure)
    engine = make_engine("unsure", relay=True, **FEW)
    assert engine.name == "unsure"
    if problem is None:
        assert engine.fit(one.spec, one.evidence, 1) is first  # a warning would be an error
        return
    with pytest.warns(DiagnosticsWarning, match="background: no mode; sampling with sure instead"):
        assert same_draws(engine.fit(one.spec, one.evidence, 1), second)


@dataclass(frozen=True)
class Failing:
    """An engine that makes no fit."""

    name = "failing"

    def fit(self, *asked: Any, **more: Any) -> Fit:
        raise np.linalg.LinAlgError


def test_no_second_engine_takes_over_a_fit_that_had_passed() -> None:
    """Its start is then of other evidence, of a file that was changed."""
    start = Start(np.zeros(1), np.ones(1), np.zeros(1), interval_error=0.0)
    with pytest.raises(InputError, match="prepared results are of another pool: a fit fails"):
        Relay(Failing(), Failing()).fit(None, None, 1, start=start)

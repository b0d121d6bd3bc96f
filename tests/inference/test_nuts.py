"""The sampler: seeds, refits, failed checks, an interruption."""

from __future__ import annotations

import dataclasses

import pymc as pm
import pytest
from each import cases
from fits import compile_once, example_evidence, same_draws, sample_quietly

from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.inference import NUTS, Fit, Laplace
from bayespool.models import MODELS
from bayespool.models.graphs import build_graph


@cases(
    "wrong",
    [{"draws": 0}, {"tune": 0}, {"chains": 0}, {"cores": 0}, {"target_accept": 1.0}, {"target_accept": 0.0}],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, int]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"{name} cannot be {wrong[name]}; (at least 1|above 0 and below 1)"):
        NUTS(**wrong)


def test_an_approximation_needs_draws_and_points() -> None:
    for name in ("draws", "chains", "n_points"):
        with pytest.raises(InputError, match=f"{name} cannot be 0; at least 1"):
            Laplace(**{name: 0})


SMALL = NUTS(draws=60, tune=100, chains=2)


def background_fit(random_seed: int = 1, cutoff: int = 10, settings: NUTS = SMALL) -> Fit:
    compiled = compile_once(settings, build_graph(MODELS["background"], example_evidence()))
    return sample_quietly(compiled, random_seed=random_seed, data=example_evidence(cutoff).arrays())


@pytest.mark.slow
def test_a_seed_gives_the_same_bytes_whatever_the_cores_and_the_fits_before() -> None:
    first = background_fit(1)
    background_fit(1, cutoff=5)
    assert same_draws(first, background_fit(1))
    assert same_draws(first, background_fit(1, settings=dataclasses.replace(SMALL, cores=1)))
    one, other = first.draws(), background_fit(2).draws()
    for name in one:
        assert (one[name] != other[name]).mean() > 0.99, name


@pytest.mark.slow
def test_refit_of_a_model_of_the_package_is_the_fit_to_the_data() -> None:
    """Without all of the data it is refused, for else the old ones would be fitted again, in silence."""
    five, ten = example_evidence(5), example_evidence(10)
    assert len(five.n_hidden) != len(ten.n_hidden)
    fresh = SMALL.compile(build_graph(MODELS["background"], five))
    refitted = background_fit(3, cutoff=5)
    assert same_draws(refitted, sample_quietly(fresh, random_seed=3))
    assert not same_draws(refitted, background_fit(3, cutoff=10))
    arrays = {name: values for name, values in five.arrays().items() if name != "n_hidden"}
    with pytest.raises(KeyError, match="n_hidden"):
        fresh.sample(random_seed=1, data=arrays)


@pytest.mark.slow
def test_failed_checks_warn_and_mark_the_fit_and_enough_draws_pass() -> None:
    graph, data = build_graph(MODELS["background"], example_evidence()), example_evidence().arrays()
    compiled = compile_once(NUTS(draws=20, tune=20, chains=2), graph)
    with pytest.warns(DiagnosticsWarning) as caught:
        fit = compiled.sample(random_seed=1, data=data, called="background")
    assert not fit.diagnostics.passed
    (said,) = (str(w.message) for w in caught)
    assert said.startswith(f"background: {'; '.join(fit.diagnostics.problems)}; ")
    assert any("effective sample size" in p for p in fit.diagnostics.problems)
    more = compile_once(NUTS(draws=1500, tune=700, chains=4), graph)
    passed = more.sample(random_seed=1, data=data).diagnostics  # a warning would be an error
    assert (passed.passed, passed.engine) == (True, "nuts")


@pytest.mark.slow
def test_prior_without_a_density_is_an_error_of_the_users() -> None:
    with pm.Model() as model:
        pm.Uniform("mu", 3, 1)
    compiled = NUTS(draws=5, tune=5, chains=1).compile(model)
    with pytest.raises(InputError, match="finds no point where the model has a density; do the priors fit"):
        compiled.sample(random_seed=1)


@pytest.mark.slow
def test_interrupted_sampling_returns_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Left to itself, nutpie hands back the draws made until Ctrl-C as if they were all."""
    import nutpie

    from bayespool.inference.nuts import CompiledModel

    canceled = []

    class Interrupted:
        def wait(self) -> None:
            raise KeyboardInterrupt

        def cancel(self) -> None:
            canceled.append(True)

    def sample(*_: object, blocking: bool = True, **__: object) -> Interrupted:
        assert not blocking
        return Interrupted()

    monkeypatch.setattr(nutpie, "sample", sample)
    compiled = CompiledModel(SMALL, type("Compiled", (), {"shared_data": {}})())
    with pytest.raises(KeyboardInterrupt):
        compiled.sample(random_seed=1)
    assert canceled == [True]

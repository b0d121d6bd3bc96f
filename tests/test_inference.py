"""The sampler: reproducible, refitted with other data, checked after every fit."""

from __future__ import annotations

import warnings

import arviz_base
import arviz_stats
import numpy as np
import pytest
from fits import compile_once, example_evidence, same_draws, sample_quietly

from bayespool import models
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.inference import NUTS, Fit, diagnose
from bayespool.inference.diagnostics import MAX_R_HAT, MIN_ESS
from bayespool.models import Prior

# --- diagnostics of draws that are made up -----------------------------------------------------------------


def tree_of(draws: np.ndarray, n_divergences: int = 0, **more: np.ndarray) -> object:
    """Draws of ``x``, shape (chain, draw), as a sampler returns them."""
    diverging = np.zeros(draws.shape[:2], dtype=bool)
    diverging.flat[:n_divergences] = True
    return arviz_base.from_dict({"posterior": {"x": draws, **more}, "sample_stats": {"diverging": diverging}})


def independent(n_chains: int, n_draws: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n_chains, n_draws))


def test_good_draws_pass() -> None:
    draws = independent(4, 1000)
    found = diagnose(tree_of(draws), engine="nuts")
    assert found.passed
    assert found.problems == ()
    assert found.engine == "nuts"
    assert 0.99 < found.max_r_hat < MAX_R_HAT
    assert 3500 < found.min_ess_bulk < 4500
    assert 3500 < found.min_ess_tail < 4500
    assert found.n_divergences == 0


def test_diagnostics_are_arvizs_over_the_worst_parameter() -> None:
    rng = np.random.default_rng(2)
    good = rng.normal(size=(4, 500))
    slow = np.cumsum(rng.normal(size=(4, 500, 2)), axis=1) * np.array([0.02, 1.0]) + good[:, :, None]
    tree = tree_of(good, y=slow)
    found = diagnose(tree, engine="nuts")
    posterior = tree["posterior"].to_dataset()  # type: ignore[index]

    def values(statistic: object) -> np.ndarray:
        return np.concatenate([np.ravel(v) for v in statistic.data_vars.values()])  # type: ignore[attr-defined]

    assert found.max_r_hat == values(arviz_stats.rhat(posterior)).max()
    assert found.min_ess_bulk == values(arviz_stats.ess(posterior, method="bulk")).min()
    assert found.min_ess_tail == values(arviz_stats.ess(posterior, method="tail")).min()
    assert found.max_r_hat > 1.2
    assert len(found.problems) == 3


def test_chain_that_disagrees_is_a_problem() -> None:
    draws = independent(4, 1000)
    draws[2] += 1.0
    found = diagnose(tree_of(draws), engine="nuts")
    assert not found.passed
    assert found.max_r_hat > 1.05
    assert f"R-hat is {found.max_r_hat:.3f}, should be under 1.01" in found.problems


def test_few_effective_draws_are_a_problem() -> None:
    found = diagnose(tree_of(independent(4, 50)), engine="nuts")
    assert found.min_ess_bulk < MIN_ESS
    assert f"bulk effective sample size is {found.min_ess_bulk:.0f}, should be over 400" in found.problems
    assert f"tail effective sample size is {found.min_ess_tail:.0f}, should be over 400" in found.problems
    assert not any("R-hat" in p for p in found.problems) or found.max_r_hat >= MAX_R_HAT


def test_tails_are_checked_on_their_own() -> None:
    """Draws that mix in the middle and hardly ever cross from one tail's regime to the other's."""
    rng = np.random.default_rng(3)
    scale = np.repeat(np.exp(1.5 * np.sign(rng.normal(size=(4, 10)))), 100, axis=1)
    found = diagnose(tree_of(rng.normal(size=(4, 1000)) * scale), engine="nuts")
    assert found.min_ess_bulk > MIN_ESS
    assert found.min_ess_tail < MIN_ESS
    assert any(p.startswith("tail effective sample size") for p in found.problems)
    assert not any(p.startswith("bulk effective sample size") for p in found.problems)


def test_divergences_are_counted() -> None:
    found = diagnose(tree_of(independent(4, 1000), n_divergences=7), engine="nuts")
    assert found.n_divergences == 7
    assert found.problems == ("7 divergent transitions",)


def test_one_chain_has_no_r_hat() -> None:
    found = diagnose(tree_of(independent(1, 4000)), engine="nuts")
    assert np.isnan(found.max_r_hat)
    assert found.problems == ("one chain has no R-hat",)
    assert found.min_ess_bulk > 3000


def test_constants_and_empty_effects_do_not_count() -> None:
    draws = independent(4, 1000)
    more = {"fixed": np.zeros((4, 1000, 3)), "none": np.zeros((4, 1000, 0))}
    found, alone = diagnose(tree_of(draws, **more), engine="nuts"), diagnose(tree_of(draws), engine="nuts")
    assert found == alone


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_draws_that_are_not_finite_are_a_problem(value: float) -> None:
    draws = independent(4, 1000)
    draws[1, 2] = value
    found = diagnose(tree_of(independent(4, 1000), y=draws), engine="nuts")
    assert "some draws are not finite" in found.problems


def test_nothing_but_constants_cannot_be_trusted() -> None:
    found = diagnose(tree_of(np.ones((4, 1000))), engine="nuts")
    assert not found.passed
    assert np.isnan(found.min_ess_bulk)


# --- the sampler -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [{"draws": 0}, {"tune": 0}, {"chains": 0}, {"cores": 0}, {"target_accept": 1.0}, {"target_accept": 0.0}],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="draws, tune, chains and cores must be at least 1"):
        NUTS(**wrong)


SMALL = NUTS(draws=60, tune=100, chains=2)
BACKGROUND = ("mu", "topic_effect", "organization_effect", "sigma_topic", "sigma_organization")


def background_fit(random_seed: int = 1, cutoff: int = 10, settings: NUTS = SMALL) -> Fit:
    compiled = compile_once(settings, models.background(example_evidence()))
    return sample_quietly(compiled, random_seed=random_seed, data=example_evidence(cutoff).arrays())


def test_same_seed_gives_the_same_bytes() -> None:
    assert same_draws(background_fit(1), background_fit(1))


def test_other_seed_gives_other_draws() -> None:
    one, other = background_fit(1).draws(), background_fit(2).draws()
    for name in BACKGROUND:
        assert (one[name] != other[name]).mean() > 0.99, name


def test_cores_change_nothing() -> None:
    one = NUTS(draws=60, tune=100, chains=2, cores=1)
    assert same_draws(background_fit(1), background_fit(1, settings=one))


def test_sampling_leaves_the_compiled_model_as_it_was() -> None:
    before = background_fit(1)
    background_fit(1, cutoff=5)
    assert same_draws(before, background_fit(1))


def test_refit_with_other_data_is_the_fit_to_them() -> None:
    five, ten = example_evidence(5), example_evidence(10)
    assert len(five.n_hidden) != len(ten.n_hidden)
    fresh = SMALL.compile(models.background(five))
    refitted = background_fit(3, cutoff=5)
    assert same_draws(refitted, sample_quietly(fresh, random_seed=3))
    assert not same_draws(refitted, background_fit(3, cutoff=10))


def test_refit_without_all_data_is_refused() -> None:
    """Else the old data of what is missing would be fitted again, in silence."""
    compiled = compile_once(SMALL, models.background(example_evidence()))
    arrays = example_evidence().arrays()
    del arrays["n_hidden"]
    with pytest.raises(KeyError, match="n_hidden"):
        compiled.sample(random_seed=1, data=arrays)


def test_draws_have_the_models_shapes_chain_after_chain() -> None:
    fit = background_fit()
    evidence = example_evidence()
    draws = fit.draws()
    assert set(draws) == set(BACKGROUND)
    assert {name: values.shape for name, values in draws.items()} == {
        "mu": (120,),
        "sigma_topic": (120,),
        "sigma_organization": (120,),
        "topic_effect": (120, len(evidence.query_ids)),
        "organization_effect": (120, len(evidence.organizations)),
    }
    posterior = fit.posterior["posterior"].to_dataset()
    assert np.array_equal(draws["mu"][60:], posterior["mu"].sel(chain=1).to_numpy())
    assert np.abs(draws["topic_effect"].sum(axis=1)).max() < 1e-9
    assert (draws["sigma_topic"] > 0).all()


def test_posterior_is_a_tree_that_arviz_reads() -> None:
    fit = background_fit()
    evidence = example_evidence()
    assert set(fit.posterior.children) == {"posterior", "sample_stats"}
    posterior = fit.posterior["posterior"].to_dataset()
    assert {str(d): n for d, n in posterior.sizes.items()} == {
        "chain": 2,
        "draw": 60,
        "topic": len(evidence.query_ids),
        "organization": len(evidence.organizations),
    }
    assert tuple(posterior["topic_effect"].dims) == ("chain", "draw", "topic")
    assert posterior["topic"].to_numpy().tolist() == list(evidence.query_ids)
    assert posterior["organization"].to_numpy().tolist() == list(evidence.organizations)
    diverging = fit.posterior["sample_stats"]["diverging"].to_numpy()
    assert diverging.shape == (2, 60)
    assert int(diverging.sum()) == fit.diagnostics.n_divergences
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        summary = arviz_stats.summary(fit.posterior, round_to="none")
    assert len(summary) == 3 + len(evidence.query_ids) + len(evidence.organizations)
    assert float(summary.loc["mu", "mean"]) == pytest.approx(fit.draws()["mu"].mean(), abs=1e-6)
    first = f"topic_effect[{evidence.query_ids[0]}]"
    assert float(summary.loc[first, "mean"]) == pytest.approx(
        fit.draws()["topic_effect"][:, 0].mean(), abs=1e-6
    )


def test_failed_checks_warn_and_mark_the_fit() -> None:
    compiled = compile_once(NUTS(draws=20, tune=20, chains=2), models.background(example_evidence()))
    with pytest.warns(DiagnosticsWarning) as caught:
        fit = compiled.sample(random_seed=1, data=example_evidence().arrays())
    assert not fit.diagnostics.passed
    assert [str(w.message) for w in caught] == ["; ".join(fit.diagnostics.problems)]
    assert any("effective sample size" in p for p in fit.diagnostics.problems)


def test_enough_draws_pass_without_a_warning() -> None:
    compiled = compile_once(NUTS(draws=1500, tune=700, chains=4), models.background(example_evidence()))
    fit = compiled.sample(random_seed=1, data=example_evidence().arrays())  # a warning would be an error
    assert fit.diagnostics.passed
    assert fit.diagnostics.engine == "nuts"


def test_prior_without_a_density_is_an_error_of_the_users() -> None:
    evidence = example_evidence()
    settings = NUTS(draws=5, tune=5, chains=1)
    compiled = settings.compile(models.background(evidence, mu=Prior("Uniform", (3.0, 1.0))))
    with pytest.raises(InputError, match="finds no point where the model has a density; do the priors fit"):
        compiled.sample(random_seed=1)


def test_interrupted_sampling_returns_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Left to itself, nutpie hands back the draws made until Ctrl-C as if they were all."""
    import nutpie

    from bayespool.inference.nuts import CompiledModel

    cancelled = []

    class Interrupted:
        def wait(self) -> None:
            raise KeyboardInterrupt

        def cancel(self) -> None:
            cancelled.append(True)

    def sample(*_: object, blocking: bool = True, **__: object) -> Interrupted:
        assert not blocking
        return Interrupted()

    monkeypatch.setattr(nutpie, "sample", sample)
    compiled = CompiledModel(SMALL, type("Compiled", (), {"shared_data": {}})())
    with pytest.raises(KeyboardInterrupt):
        compiled.sample(random_seed=1)
    assert cancelled == [True]


def test_fit_without_organizations_has_empty_effects() -> None:
    variables = {"mu": np.zeros((2, 3)), "organization_effect": np.zeros((2, 3, 0))}
    dims = {"mu": (), "organization_effect": ("organization",)}
    diagnostics = diagnose(tree_of(independent(4, 1000)), engine="nuts")
    fit = Fit(variables, dims, {"organization": ()}, {}, diagnostics)
    assert {name: values.shape for name, values in fit.draws().items()} == {
        "mu": (6,),
        "organization_effect": (6, 0),
    }

"""A model that is right is found uniform, and one that is fitted or predicted wrong is not."""

from __future__ import annotations

import pytest

from bayespool.inference import Laplace
from bayespool.models import Effect, Linear, ModelSpec, Prior
from research.checks import simulation
from research.checks.simulation import N_DRAWS, Calibration, self_calibrate, self_calibrate_kinds, table_of

QUICK = Laplace(draws=N_DRAWS, n_points=16, check=False)
KINDS_ARE_BETTER = {"mu": "Normal(1.5, 0.5)"}


def wrong(calibration: Calibration, alpha: float = 1e-3) -> list[str]:
    frame = table_of([calibration], alpha)
    return frame.loc[~frame["uniform"], "quantity"].tolist()


@pytest.mark.parametrize("model", ["background", "ratio"])
def test_true_values_rank_uniformly_among_draws(model: str) -> None:
    calibration = self_calibrate(model, 40)
    assert wrong(calibration) == []
    assert {"mu", "sigma_organization", "log_likelihood", "new_run"} < set(calibration.quantities)
    assert simulation.draw_ranks(calibration).axes


def test_a_model_of_ones_own_with_effects_on_topics() -> None:
    own = ModelSpec(
        name="mine",
        description="an intercept, organizations, organizations on topics",
        evidence="documents",
        coefficients={"mu": Prior("Normal", (-1.0, 1.0))},
        effects={"organization": Effect("organization"), "interaction": Effect("organization_topic")},
        hidden=Linear("mu", effects=("organization", "interaction")),
    )
    assert wrong(self_calibrate(own, 60, engine=QUICK)) == []


def test_another_prior_than_simulated_is_noticed() -> None:
    assert "mu" in wrong(self_calibrate("background", 60, fitted_priors={"mu": "Normal(0.5, 0.5)"}))


def test_a_prediction_without_the_new_organization_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    effect = simulation.new_organization_effect
    monkeypatch.setattr(simulation, "new_organization_effect", lambda *a: 0 * effect(*a) + 1)
    (low,) = table_of([self_calibrate("background", 50)]).query("quantity == 'new_run'")["rank_mean"]
    assert low < 0.4  # draws too high, true values low among them


@pytest.mark.parametrize("chance", [None, 0.0])
def test_a_wrong_chance_of_a_new_kind_is_seen(chance: float | None) -> None:
    """Kinds hide better documents than organizations; wrong draws are all of known kinds."""
    calibration = self_calibrate_kinds(
        "ratio", 30, engine=QUICK, priors_of_kinds=KINDS_ARE_BETTER, fitted_chance=chance
    )
    assert wrong(calibration, 0.01) == ([] if chance is None else ["new_run"])

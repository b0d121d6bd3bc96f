"""Each model against its own generative process (simulation-based calibration, Talts et al. 2018).

What is drawn from the priors and simulated comes from a model's `Structure`; what is fitted is its graph
(NUTS) or its structure (Laplace); what is predicted of a new run comes from the function that scores runs.
Where all say the same, the rank of each true value among the posterior draws is uniform.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from graded_example import graded_example

from bayespool.errors import InputError
from bayespool.experiments import (
    SelfCalibration,
    SimulationSettings,
    ecdf_band,
    self_calibrate,
    self_calibration,
    self_calibration_frame,
    simulate,
)
from bayespool.experiments.hidden import Fitting
from bayespool.experiments.self_calibration import DESIGN
from bayespool.inference import Laplace
from bayespool.models import MODEL_NAMES, MODELS, Effect, Linear, ModelSpec, Prior
from bayespool.posterior import ScoringProblem

IN_CI = ("background", "ratio")
at_a_desk = pytest.mark.at_a_desk
FALSE_ALARM = 1e-3  # of all quantities of a model together
# Few judged documents: effects of topics and runs that the sampler sees standardized, not centered.
LITTLE_JUDGED = SimulationSettings(
    n_topics=8, n_candidates=40, n_organizations=4, max_runs=1, n_new=0, pool_depth=3, run_depth=40
)


def wrong_quantities(calibration: SelfCalibration, alpha: float = FALSE_ALARM) -> list[str]:
    frame = self_calibration_frame([calibration], alpha=alpha)
    return frame.loc[~frame["uniform"], "quantity"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "engine"),
    [
        *((model, "laplace") for model in IN_CI),
        *(pytest.param(model, "nuts", marks=at_a_desk) for model in MODEL_NAMES),
        *(pytest.param(model, "laplace", marks=at_a_desk) for model in MODEL_NAMES if model not in IN_CI),
    ],
)
def test_true_values_rank_uniformly_among_draws(
    model: str, engine: str, repetitions: Callable[[int, int], int]
) -> None:
    (found,) = self_calibrate(model, engine=engine, n_simulations=repetitions(240, 40))  # type: ignore[arg-type]
    assert wrong_quantities(found) == [], self_calibration_frame([found]).to_string()
    assert found.ess > 0.5 * found.n_draws  # thinned draws are not far from independent


@pytest.mark.slow
@pytest.mark.at_a_desk
@pytest.mark.parametrize("model", ["interpolated", "smoothed"])
def test_true_values_rank_uniformly_where_little_is_judged(
    model: str, repetitions: Callable[[int, int], int]
) -> None:
    collection = simulate(LITTLE_JUDGED, random_seed=7).collection
    task = ScoringProblem(collection, (), self_calibration.parse_measure("P@4"), "pooled")
    assert not task.prepare(model, {}).evidence.much_judged  # type: ignore[arg-type,union-attr]
    n = repetitions(240, 40)
    (found,) = self_calibrate(model, engine="nuts", collection=collection, measure="P@4", n_simulations=n)
    assert wrong_quantities(found) == [], self_calibration_frame([found]).to_string()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "engine"),
    [
        ("evidence", "laplace"),
        *(pytest.param(model, "laplace", marks=at_a_desk) for model in ("ratio", "interpolated")),
        *(pytest.param(model, "nuts", marks=at_a_desk) for model in ("ratio", "evidence", "interpolated")),
    ],
)
def test_true_values_rank_uniformly_on_the_rungs_above(
    model: str, engine: str, repetitions: Callable[[int, int], int]
) -> None:
    """Which relevant documents are highly relevant: fewer rows, and predictors that count relevant ones."""
    (found,) = self_calibrate(
        model,
        engine=engine,  # type: ignore[arg-type]
        collection=graded_example((1, 2)),
        measure="nDCG@10",
        rung=1,
        n_simulations=repetitions(240, 40),
    )
    assert wrong_quantities(found) == [], self_calibration_frame([found]).to_string()


@pytest.mark.slow
def test_what_is_right_passes_and_what_is_wrong_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast engine on the simplest model, whose prediction of a new run is then done wrong."""
    calibrate: dict[str, Any] = {"models": "background", "n_simulations": 50}
    (right,) = self_calibrate(**calibrate)
    assert {"mu", "new_run", "log_likelihood", "topic_effect[0]"}.isdisjoint(wrong_quantities(right))
    log_odds, effect = ModelSpec.log_odds_of_rows, self_calibration.new_organization_effect
    with monkeypatch.context() as patch:
        patch.setattr(ModelSpec, "log_odds_of_rows", lambda *a: log_odds(*a) + 1)
        (wrong,) = self_calibrate(**calibrate)
    assert wrong_quantities(wrong) == [*wrong_quantities(right), "new_run"]
    low = self_calibration_frame([wrong]).set_index("quantity").loc["new_run", "rank_mean"]
    assert low < 0.5  # draws too high, true values low among them
    with monkeypatch.context() as patch:
        patch.setattr(self_calibration, "new_organization_effect", lambda *a: 0 * effect(*a))
        (wrong,) = self_calibrate(**calibrate, priors={"sigma_organization": "HalfNormal(4)"})
    assert "new_run" in wrong_quantities(wrong)
    assert self_calibration_frame([wrong]).set_index("quantity").loc["new_run", "spread"] > 1.1


class QuickLaplace(Fitting):
    """The fast engine at a few points of the scales, for models with one or two."""

    def fit(self, prepared: Any, evidence: Any, random_seed: int, known: Any = None) -> Any:
        engine = Laplace(draws=self.draws, n_points=16, check=False)
        return engine.fit(prepared.spec, evidence, random_seed, known=known)


@pytest.fixture
def with_cells(monkeypatch: pytest.MonkeyPatch) -> str:
    """A model of organizations and of their effects on topics alone."""
    name = "cells"
    spec = ModelSpec(
        name=name,
        description="an intercept, organizations, organizations on topics",
        evidence="documents",
        coefficients={"mu": Prior("Normal", (-1.0, 1.0))},
        effects={"organization": Effect("organization"), "interaction": Effect("organization_topic")},
        hidden=Linear("mu", effects=("organization", "interaction")),
    )
    monkeypatch.setitem(MODELS, name, spec)  # type: ignore[arg-type]
    monkeypatch.setattr(self_calibration, "Fitting", QuickLaplace)
    return name


@pytest.mark.slow
@pytest.mark.parametrize("factor", [pytest.param(0.0, marks=at_a_desk), 1.0, 2.0])
def test_effects_of_organizations_on_topics_rank_uniformly_and_others_do_not(
    factor: float, with_cells: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong are effects that are simulated with twice the scale, or none."""
    draw = self_calibration.draw_priors

    def draw_priors(*given: Any) -> dict[str, np.ndarray]:
        draws = draw(*given)
        return draws | {"interaction_effect": factor * draws["interaction_effect"]}

    monkeypatch.setattr(self_calibration, "draw_priors", draw_priors)
    (found,) = self_calibrate(with_cells, n_simulations=100)
    frame = self_calibration_frame([found]).set_index("quantity")
    wrong, spread = wrong_quantities(found), frame["spread"]
    if factor == 1:
        assert wrong == [], frame.to_string()
        of_cells = spread[["sigma_interaction", "interaction_effect[0]"]].to_numpy()
        assert of_cells == pytest.approx(np.ones(2), abs=0.2)
    elif factor > 1:
        assert "sigma_interaction" in wrong
        assert frame.loc["sigma_interaction", "rank_mean"] < 0.4  # draws lie too high
    else:
        assert "interaction_effect[0]" in wrong
        assert spread["interaction_effect[0]"] < 0.7  # draws are too wide


@pytest.mark.slow
@at_a_desk
def test_other_priors_than_simulated_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = self_calibration.Fitting.fit

    def fit_with_other_prior(self: Any, prepared: Any, *arguments: Any) -> Any:
        other = prepared.spec.with_priors({"mu": "Normal(0.5, 0.5)"})
        return fit(self, dataclasses.replace(prepared, spec=other), *arguments)

    monkeypatch.setattr(self_calibration.Fitting, "fit", fit_with_other_prior)
    (found,) = self_calibrate("background", n_simulations=60)
    assert "mu" in wrong_quantities(found)


def test_ranks_repeat_and_name_every_quantity() -> None:
    (a,), (b,) = (self_calibrate("ratio", n_simulations=3, n_draws=49, random_seed=4) for _ in range(2))
    assert a.ranks.tobytes() == b.ranks.tobytes()
    assert a.ranks.shape == (3, len(a.quantities))
    assert a.ranks.min() >= 0
    assert a.ranks.max() <= 49
    assert a.quantities[:2] == ("mu", "beta[precision]")
    assert a.quantities[-2:] == ("log_likelihood", "new_run")
    assert {"sigma_topic", "topic_effect[0]", "sigma_organization"} <= set(a.quantities)
    assert {"sigma_interaction", "interaction_effect[0]"} <= set(a.quantities)


def test_p_values_are_adjusted_over_all_models() -> None:
    rng = np.random.default_rng(1)
    ranks = rng.integers(100, size=(200, 2))
    ranks[:, 1] = rng.integers(70, size=200)
    both = [SelfCalibration(m, "laplace", ("mu", "c"), ranks, 99, 3, 99.0) for m in ("a", "b")]
    frame = self_calibration_frame(both)
    assert frame["quantity"].tolist() == ["mu", "c"] * 2
    assert frame["uniform"].tolist() == [True, False] * 2
    assert (frame["p_holm"] >= frame["p_value"]).all()
    assert frame["p_holm"].iloc[1] == pytest.approx(4 * frame["p_value"].iloc[1])
    assert frame["rank_mean"].iloc[1] == pytest.approx(ranks[:, 1].mean() / 99)
    assert frame["spread"].iloc[1] == pytest.approx(ranks[:, 1].std() / np.sqrt((100**2 - 1) / 12))
    assert (frame["n_failed_fits"] == 3).all()


def test_distribution_of_ranks_is_set_against_the_uniform_one() -> None:
    ranks = np.array([[0, 3], [0, 3], [1, 3], [2, 3]])
    found = SelfCalibration("background", "laplace", ("mu", "new_run"), ranks, 3, 0, 1.0)
    frame = found.rank_frame("mu", prob=0.8)
    assert frame["rank"].tolist() == [0, 1, 2]
    assert frame["expected"].tolist() == [0.25, 0.5, 0.75]
    assert frame["excess"].tolist() == [0.25, 0.25, 0.25]  # 2, 3 and 4 of 4, less 1, 2 and 3
    lower, upper = ecdf_band(4, 4, 0.8)
    assert (frame["band_lower"] + frame["expected"]).tolist() == pytest.approx(lower.tolist())
    assert (frame["band_upper"] + frame["expected"]).tolist() == pytest.approx(upper.tolist())
    assert found.rank_frame("new_run")["excess"].tolist() == [-0.25, -0.5, -0.75]
    with pytest.raises(InputError, match="no quantity 'nu'"):
        found.rank_frame("nu")
    assert found.detectable_shift == 1.75  # four simulations show next to nothing


def test_what_cannot_be_calibrated_is_refused() -> None:
    few = SimulationSettings(n_topics=3, n_organizations=2, max_runs=1, n_new=0)
    for asked, message in (
        ({"collection": simulate(few, random_seed=1).collection}, "three organizations"),
        ({"n_simulations": 0}, "n_simulations cannot be 0"),
        ({"rung": 1, "n_simulations": 1}, "1 questions .*no 1"),
    ):
        with pytest.raises(InputError, match=message):
            self_calibrate("ratio", **asked)  # type: ignore[arg-type]
    assert DESIGN.n_organizations == 6

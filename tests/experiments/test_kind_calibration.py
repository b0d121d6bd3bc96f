"""Simulation-based calibration of a run that may be of a new kind.

What is simulated comes from the models' structures, what is predicted from the completion that scores runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from graded_example import graded_example

from bayespool.errors import InputError
from bayespool.experiments import (
    kind_calibration as module,
    self_calibrate_kinds,
    self_calibration_frame,
    simulate,
)
from bayespool.experiments.self_calibration import DESIGN
from bayespool.inference import Laplace
from bayespool.posterior import Rung

KINDS_ARE_BETTER = {"mu": "Normal(1.5, 0.5)"}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ratio", pytest.param("evidence", marks=pytest.mark.at_a_desk)])
def test_the_score_of_a_run_of_unknown_kind_ranks_uniformly(
    model: str, repetitions: Callable[[int, int], int]
) -> None:
    (found,) = self_calibrate_kinds(model, n_simulations=repetitions(600, 100))
    frame = self_calibration_frame([found])
    assert frame["uniform"].all(), frame.to_string()


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [pytest.param(None, marks=pytest.mark.at_a_desk), 0.0])
def test_a_wrong_chance_of_a_new_kind_is_seen(wrong: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds hide better documents than organizations; wrong draws are all of known kinds."""

    def quick(*_: Any, draws: int, **__: Any) -> Laplace:
        return Laplace(draws=draws, n_points=16, check=False)

    def with_chance(*given: Any, new_kind: Any, **more: Any) -> Any:
        return fitted(*given, new_kind=new_kind if wrong is None else 0 * new_kind + wrong, **more)

    fitted = module.fit_prepared
    monkeypatch.setattr(module, "OF_KINDS", KINDS_ARE_BETTER)
    monkeypatch.setattr(module, "make_engine", quick)
    monkeypatch.setattr(module, "fit_prepared", with_chance)
    (found,) = self_calibrate_kinds("ratio", n_simulations=30)
    (row,) = self_calibration_frame([found]).to_dict("records")
    assert row["uniform"] == (wrong is None), row
    if wrong is not None:  # draws too low, true values high among them
        assert row["rank_mean"] > 0.6


def test_ranks_are_repeated_by_the_seed() -> None:
    one, again = (
        self_calibrate_kinds("ratio", n_simulations=2, random_seed=3).calibrations[0] for _ in range(2)
    )
    assert one.ranks.tolist() == again.ranks.tolist()
    assert one.quantities == ("new_run",)
    assert one.n_draws == 99


def test_a_measure_of_higher_levels_is_calibrated_on_its_first_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether a document is relevant at all, which is what posterior-combined asks first."""
    fitted, asked = module.fit_prepared, []

    def watched(usual: Any, *given: Any, **more: Any) -> Any:
        asked.append(usual[0].asked)
        return fitted(usual, *given, **more)

    monkeypatch.setattr(module, "fit_prepared", watched)
    self_calibrate_kinds("ratio", n_simulations=1, collection=graded_example((1, 2)), measure="P(rel=2)@10")
    assert asked == [Rung(0, 1)]


def test_models_of_counts_and_collections_without_a_run_are_refused() -> None:
    with pytest.raises(InputError, match="background is no model of documents"):
        self_calibrate_kinds("background", n_simulations=1)
    with pytest.raises(InputError, match="needs a pool of two organizations and a run outside"):
        self_calibrate_kinds("ratio", n_simulations=1, collection=simulate(DESIGN, random_seed=1).collection)
    with pytest.raises(InputError, match="at least 1"):
        self_calibrate_kinds("ratio", n_simulations=0)

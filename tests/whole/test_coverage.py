"""Do the intervals hold what they promise? Repetitions on simulated collections whose truth is known.

The simulator is not the model: its runs rank documents by what they know of relevance, and no document of it
has a probability of being relevant that any of the models could name. What is measured is what a user gets.

Measured with 180 to 400 repetitions (12 topics, eight organizations, three new runs, pool depth 10, P@10): of
the new runs' true scores 93 to 97 % lie in the central 95 % and 47 to 53 % in the central 50 % under every
model. The truth is somewhat more often in the lower half: the mean of the PIT is 0.48 for background and 0.44
for interpolated and smoothed. Without the effect of a new organization 75 to 85 % lie in the central 95 %.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest
from fits import compile_once

from bayespool.errors import DiagnosticsWarning
from bayespool.evidence import judgment_counts
from bayespool.experiments import Simulation, SimulationSettings, randomized_pit, simulate
from bayespool.inference import NUTS
from bayespool.measures import parse_measure
from bayespool.models import MODEL_NAMES
from bayespool.posterior import PosteriorEstimator

MEASURE = parse_measure("P@10")
# One run per organization, so that all repetitions have the same coordinates: one compiled model serves them.
SETTINGS = SimulationSettings(n_topics=12, n_organizations=8, n_new=3, max_runs=1, pool_depth=10)
IN_CI = ("combined",)  # of the others SBC has three
FIRST_SEED = 20_000

TOLERANCE = {0.5: 0.02, 0.8: 0.02, 0.95: 0.02}  # of a share, beyond what is left to chance
at_a_desk = partial(pytest.param, marks=pytest.mark.at_a_desk)

MEAN_TOLERANCE = 0.08  # of the mean PIT; see above


@cache
def simulated(repetition: int) -> Simulation:
    return simulate(SETTINGS, random_seed=FIRST_SEED + repetition)


@cache
def truth_and_unjudged(repetition: int) -> tuple[np.ndarray, np.ndarray]:
    """Relevant documents in the top ten over all topics if all were judged, and unjudged ones; by new run."""
    simulation = simulated(repetition)
    complete = judgment_counts(simulation.complete(), simulation.new_run_ids, cutoffs=10)
    incomplete = judgment_counts(simulation.collection, simulation.new_run_ids, cutoffs=10)
    return complete.n_relevant.sum(axis=(1, 2)), incomplete.n_unjudged.sum(axis=(1, 2))


def pit(draws: np.ndarray, repetition: int) -> np.ndarray:
    """Randomized probability integral transform of the true scores of the runs with something unjudged."""
    truth, n_unjudged = truth_and_unjudged(repetition)
    found = randomized_pit(draws, truth, np.random.default_rng([1, repetition]))
    return found[n_unjudged > 0]


def miscalibrations(found: np.ndarray) -> list[str]:
    """What is further from nominal than three standard errors and the tolerance; empty if calibrated."""
    problems = []
    for prob, tolerance in TOLERANCE.items():
        share = float((np.abs(found - 0.5) < prob / 2).mean())
        allowed = 3 * np.sqrt(prob * (1 - prob) / len(found)) + tolerance
        if abs(share - prob) > allowed:
            problems.append(f"{share:.3f} lie in the central {prob:.0%}, allowed {allowed:.3f} off")
    allowed = 3 / np.sqrt(12 * len(found)) + MEAN_TOLERANCE
    if abs(found.mean() - 0.5) > allowed:
        problems.append(f"the mean is {found.mean():.3f}, allowed {allowed:.3f} off 0.5")
    return problems


def test_check_passes_uniform_numbers_and_fails_others() -> None:
    rng = np.random.default_rng(1)
    failures = sum(bool(miscalibrations(rng.random(180))) for _ in range(500))
    assert failures <= 5
    for wrong in (rng.beta(0.5, 0.5, 180), rng.beta(3, 3, 180), rng.beta(1, 2.5, 180), rng.beta(2.5, 1, 180)):
        assert miscalibrations(wrong)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "engine"),
    [
        *((model, "laplace") for model in IN_CI),
        *(at_a_desk(model, "laplace") for model in MODEL_NAMES if model not in IN_CI),
        *(at_a_desk(model, "nuts") for model in ("background", "interpolated", "smoothed")),
    ],
)
def test_intervals_cover_the_truth_at_the_nominal_rate(
    model: str, engine: str, repetitions: Callable[[int, int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NUTS, "compile", compile_once)
    as_it_is: list[np.ndarray] = []
    wrong: dict[str, list[np.ndarray]] = {}
    for repetition in range(repetitions(240, 30)):
        simulation = simulated(repetition)
        collection, runs = simulation.collection, simulation.new_run_ids
        estimator = PosteriorEstimator(
            model=model,  # type: ignore[arg-type]
            engine=engine,  # type: ignore[arg-type]
            draws=200,
            tune=300,
            chains=2,
            random_seed=repetition,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DiagnosticsWarning)  # few draws are enough for many repetitions
            (estimates,) = estimator.estimate(collection, runs, MEASURE)
            right = None if model == "combined" else estimator.complete(collection, runs, MEASURE)
        assert estimates.draws is not None
        as_it_is.append(pit(estimates.draws.totals(), repetition))
        if right is None:
            continue
        # the same fit, with the steps after it done wrong (and without effects of organization × topic)
        (posterior,) = right.posteriors
        (component,) = posterior.components
        spoiled = {
            "log odds + 1": dataclasses.replace(component, effect=component.effect + 1),
            "log odds − 1": dataclasses.replace(component, effect=component.effect - 1),
        }
        linear = model in ("ratio", "anti_precision", "evidence")
        if not linear:  # whose predictors leave organizations little
            spoiled["no organization effect"] = dataclasses.replace(
                component, effect=np.zeros_like(component.effect)
            )
        for name, wrong_one in spoiled.items():
            spoiled_step = dataclasses.replace(
                posterior, mixture=dataclasses.replace(posterior.mixture, components=(wrong_one,))
            )
            (values,) = dataclasses.replace(right, posteriors=(spoiled_step,)).evaluate(MEASURE)
            wrong.setdefault(name, []).append(pit(values.totals(), repetition))
    assert miscalibrations(np.concatenate(as_it_is)) == []
    for name, found in wrong.items():
        assert miscalibrations(np.concatenate(found)), f"the check does not see: {name}"

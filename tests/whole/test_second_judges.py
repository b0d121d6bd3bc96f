"""What posteriors make of second judges of known quality, on simulated collections.

Each number is of the same runs with a judge and without. With ``-s`` the tests print what they found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from bayespool.collection import Collection, add_judges
from bayespool.counts import favoured_organizations
from bayespool.posterior import PosteriorEstimator
from bayespool.simulated_judges import simulate_judge
from bayespool.simulation import Simulation, SimulationSettings, simulate

N_NEW = 6
SETTINGS = SimulationSettings(n_new=N_NEW, max_runs=2)
SHARES = (0.1, 0.5, 1.0)
GOOD = 3.0  # with likelihoods of its labels that are known, it would leave .58 of the error

Floats = npt.NDArray[np.float64]
Repetitions = Callable[[int, int], int]


@dataclass(frozen=True)
class Found:
    """Errors, widths and hits of the intervals of runs, shape (run,)."""

    error: Floats
    width: Floats
    held: npt.NDArray[np.bool_]

    @property
    def mae(self) -> float:
        return float(np.abs(self.error).mean())


@cache
def simulated(seed: int) -> Simulation:
    return simulate(SETTINGS, random_seed=seed)


def scored(simulation: Simulation, collection: Collection) -> Found:
    truth = np.array(list(simulation.true_values("P@10").values()))
    estimator = PosteriorEstimator(draws=500)
    (found,) = estimator.estimate(collection, simulation.new_run_ids, "P@10")
    lower, upper = found.interval()
    return Found(found.value - truth, upper - lower, (lower <= truth) & (truth <= upper))


@cache
def without(seed: int) -> Found:
    return scored(simulated(seed), simulated(seed).collection)


def labeled(seed: int, *, quality: float, share: float = 1.0, favors: str | None = None) -> Collection:
    labels = simulate_judge(simulated(seed), quality=quality, share=share, favors=favors, random_seed=seed)
    return add_judges(simulated(seed).collection, {"llm": labels})


def joined(found: list[Found]) -> Found:
    parts = ((f.error, f.width, f.held) for f in found)
    return Found(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def compared(what: str, with_judge: list[Found], alone: list[Found]) -> tuple[Found, float]:
    """All runs together, and their mean absolute error in units of that without the judge."""
    found, base = joined(with_judge), joined(alone)
    ratio = found.mae / base.mae
    print(
        f"{what}: n {len(found.held)}, held {found.held.mean():.3f} (without {base.held.mean():.3f}), "
        f"MAE {found.mae:.4f} = {ratio:.3f} of {base.mae:.4f}, bias {found.error.mean():+.4f}, "
        f"width {found.width.mean() / base.width.mean():.3f} of {base.width.mean():.4f}"
    )
    return found, ratio


@pytest.mark.slow
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(
    ("judge", "quality", "favors"),
    [
        ("good", GOOD, None),
        ("useless", 0.0, None),
        ("upside down", -GOOD, None),
        ("favors a pooled one", GOOD, "north"),
    ],
)
def test_intervals_hold_and_errors_are_as_good_as_the_judge(
    repetitions: Repetitions, judge: str, quality: float, favors: str | None, share: float
) -> None:
    seeds = range(repetitions(24, 6))
    with_judge = [
        scored(simulated(s), labeled(s, quality=quality, share=share, favors=favors)) for s in seeds
    ]
    found, ratio = compared(f"{judge}, {share:.0%} of the labels", with_judge, [without(s) for s in seeds])
    assert found.held.mean() >= 0.9
    assert ratio <= (0.7 if judge == "good" and share == 1 else 1.05)
    if judge == "useless":
        assert ratio >= 0.95


@pytest.mark.slow
def test_a_judge_that_favors_the_run_to_score_does_not_raise_it(repetitions: Repetitions) -> None:
    """Each new organization favored in turn, by a judge that is good otherwise: circularity."""
    with_judge, alone = [], []
    for seed in range(repetitions(24, 6)):
        for r, run in enumerate(simulated(seed).new_run_ids):
            for found, kept in (
                (scored(simulated(seed), labeled(seed, quality=GOOD, favors=run)), with_judge),
                (without(seed), alone),
            ):
                kept.append(Found(found.error[[r]], found.width[[r]], found.held[[r]]))
    found, ratio = compared("favors the run to score", with_judge, alone)
    assert found.held.mean() >= 0.9
    assert ratio <= 1.1


@pytest.mark.parametrize("quality", [1.0, GOOD])
def test_the_favored_organization_is_found(quality: float) -> None:
    """A pooled one, and the one of the run to score."""
    for favored in ("north", "east", "lake", "new-a", "new-b"):
        for seed in range(3):
            collection = labeled(seed, quality=quality, favors=favored)
            found = favoured_organizations(collection, collection.judges[0])
            assert list(found) == [favored], (seed, found)


def test_nobody_is_favored_by_judges_that_favor_nobody() -> None:
    for seed in range(5):
        for quality in (-GOOD, 0.0, 1.0, GOOD):
            collection = labeled(seed, quality=quality)
            assert favoured_organizations(collection, collection.judges[0]) == {}

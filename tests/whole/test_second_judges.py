"""What posteriors make of LLM judges of known quality, on simulated collections.

Each number is of the same runs with a judge and without. With ``-s`` the tests print what they found.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from bayespool.collection import Collection, Judge, add_judges
from bayespool.experiments import Simulation, SimulationSettings, simulate, simulate_judge
from bayespool.posterior import PosteriorEstimator
from bayespool.scoring import score

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

N_NEW = 6
SETTINGS = SimulationSettings(n_new=N_NEW, max_runs=2)
SHARES = (0.1, 0.5, 1.0)
IN_CI = (("good", 1.0), ("favors a pooled one", 0.5))
at_a_desk = pytest.mark.at_a_desk
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


def draws(collection: Collection, estimator: str) -> bytes:
    """All that an estimator says of the new runs' P@10."""
    runs = simulated(0).new_run_ids
    found = score(collection, runs, "P@10", estimators=estimator, posterior_settings="draws=50")[
        "P@10", estimator
    ]
    return found.value.tobytes() + (b"" if found.draws is None else found.draws.amount.tobytes())


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
@pytest.mark.parametrize(
    ("judge", "quality", "favors", "share"),
    [
        pytest.param(*judge, share, marks=() if (judge[0], share) in IN_CI else at_a_desk)
        for judge in (
            ("good", GOOD, None),
            ("useless", 0.0, None),
            ("upside down", -GOOD, None),
            ("favors a pooled one", GOOD, "north"),
        )
        for share in SHARES
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
    slack = 0.05 * np.sqrt(24 / len(seeds))  # of all repetitions .05, of fewer by as much more as they vary
    assert found.held.mean() >= 0.9
    assert ratio <= (0.7 if judge == "good" and share == 1 else 1 + slack)
    if judge == "useless":
        assert ratio >= 1 - slack


@pytest.mark.slow
@at_a_desk
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
    assert ratio <= 2.2  # five times, were its labels used


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayespool.errors.JudgeWarning")
@pytest.mark.parametrize("estimator", ["posterior-combined", "posterior-ratio"])
def test_a_judge_that_judged_documents_do_not_know_changes_no_draw(estimator: str) -> None:
    """Labels of unjudged documents alone, and labels that are all the same: to the byte as without."""
    collection = simulated(0).collection
    (judge,) = labeled(0, quality=GOOD).judges
    label = np.where(collection.judged, np.nan, judge.label)
    alike = np.where(judge.is_labeled, 1.0, np.nan)
    plain = draws(collection, estimator)
    for labels in (label, alike):
        assert draws(dataclasses.replace(collection, judges=(Judge("llm", labels),)), estimator) == plain
    assert draws(labeled(0, quality=GOOD), estimator) != plain


@pytest.mark.slow
def test_the_order_of_grades_alone_counts() -> None:
    """Labels 0, 1, 2, 3 or −5, 0, 0.5, 100; and what the judge is called does not."""
    collection = labeled(0, quality=GOOD)
    (judge,) = collection.judges
    other = np.array([-5, 0, 0.5, 100])[judge.grade]
    found = dataclasses.replace(collection, judges=(Judge("llm", other),))
    renamed = dataclasses.replace(collection, judges=(Judge("another", judge.label),))
    means, widths = [], []
    for labels in (collection, found, renamed):
        posterior = score(labels, simulated(0).new_run_ids, "P@10", estimators="posterior-combined")
        lower, upper = posterior["P@10", "posterior-combined"].interval()
        means.append(posterior["P@10", "posterior-combined"].value)
        widths.append(upper - lower)
    for mean, width in zip(means[1:], widths[1:], strict=True):  # names of predictors name random numbers
        assert mean == pytest.approx(means[0], abs=0.002)
        assert width == pytest.approx(widths[0], abs=0.011)


@pytest.mark.filterwarnings("ignore::bayespool.errors.JudgeWarning")  # one run has no label
def test_labels_move_the_documents_that_have_them() -> None:
    """All unjudged documents of one run get the highest label or the lowest, of a judge that is good."""
    collection, run = labeled(0, quality=GOOD), simulated(0).new_run_ids[0]
    (judge,) = collection.judges
    own = collection.document[collection.run_index(run)[0], :, :10]
    unjudged = own[collection.relevance[own] < 0]
    means = {}
    for label in (0.0, 3.0, np.nan):
        labels = judge.label.copy()
        labels[unjudged] = label
        changed = dataclasses.replace(collection, judges=(Judge("llm", labels),))
        means[label] = score(changed, run, "P@10", estimators="posterior-evidence")[
            "P@10", "posterior-evidence"
        ].value[0]
    found = score(collection, run, "P@10", estimators="background")
    lower, upper = (float(getattr(found.bounds[0], end).means()[0]) for end in ("low", "high"))
    assert lower <= means[0.0] < lower + 0.1 * (upper - lower)
    assert means[3.0] > lower + 0.4 * (upper - lower)
    assert means[0.0] < means[np.nan] < means[3.0]

"""Labels into which judgments were copied: how often they are refused, and what the others do to intervals.

    python benchmarks/copied_labels.py [--collections 20] [--judge "binary, wrong on 5 %"]

Simulated collections, graded and binary, with judges of several qualities. Judgments replace a share of the
labels of judged documents. Labels that are refused estimate nothing; with others P@10 of the new runs is
estimated. *Pure* is the error with the same judge's labels without a copy.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from functools import cache

import numpy as np

from bayespool import Collection, parse_measure
from bayespool.collection import Judge, add_judges
from bayespool.collection.judges import find_copied_labels
from bayespool.evidence import score_bounds
from bayespool.experiments import Simulation, SimulationSettings, simulate, simulate_judge
from bayespool.posterior import PosteriorEstimator

SHARES = (0.0, 0.5, 0.9, 0.98, 1.0)
SETTINGS = SimulationSettings(n_new=4, max_runs=2)
JUDGES = {  # whether judgments are binary; share of wrong labels, None for `simulate_judge` of quality 2
    "fair, of 4 grades": (False, None),
    "graded, wrong on 40 %": (False, 0.4),
    "graded, wrong on 10 %": (False, 0.1),
    "binary, wrong on 20 %": (True, 0.2),
    "binary, wrong on 5 %": (True, 0.05),
}


@cache
def simulated(seed: int) -> Simulation:
    """A collection with four new runs."""
    return simulate(SETTINGS, random_seed=seed)


def labels_of(seed: int, name: str) -> np.ndarray:
    """Labels of a judge on all documents, shape (pair,)."""
    simulation, (is_binary, wrong) = simulated(seed), JUDGES[name]
    if wrong is None:
        labels = simulate_judge(simulation, quality=2, random_seed=seed)
        return add_judges(simulation.collection, {"llm": labels}).judges[0].label
    rng = np.random.default_rng([seed, 1])
    top = 1 if is_binary else 2
    level = np.minimum(simulation.true_relevance(), top)
    other = (level + rng.integers(1, top + 1, size=len(level))) % (top + 1)
    return np.where(rng.random(len(level)) < wrong, other, level).astype(float)


def finish_collection(seed: int, name: str) -> tuple[Collection, np.ndarray]:
    """The collection and the true values of its new runs."""
    simulation, (is_binary, _) = simulated(seed), JUDGES[name]
    top = np.int16(1 if is_binary else 2)
    collection, true = simulation.collection, simulation.true_relevance()
    full = dataclasses.replace(collection, relevance=true)
    values = score_bounds(full, simulation.new_run_ids, parse_measure("P@10")).low.means()
    return dataclasses.replace(collection, relevance=np.minimum(collection.relevance, top)), values


def tried(seed: int, name: str, share: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Errors of the new runs and whether intervals contain the truth; None where labels are refused."""
    collection, truth = finish_collection(seed, name)
    label = labels_of(seed, name)
    copied = collection.judged & (np.random.default_rng([seed, 2]).random(len(label)) < share)
    judge = Judge("llm", np.where(copied, collection.relevance, label))
    if find_copied_labels(collection, judge):
        return None
    labeled = dataclasses.replace(collection, judges=(judge,))
    (found,) = PosteriorEstimator(draws=500).estimate(labeled, simulated(seed).new_run_ids, "P@10")
    lower, upper = found.interval()
    return found.value - truth, (lower <= truth) & (truth <= upper)


def main() -> None:
    """Print a line for each judge and share."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--collections", type=int, default=20)
    parser.add_argument("--judge", default=[], action="append", choices=list(JUDGES))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'judge':24}{'copied':>8}{'refused':>9}{'truth in 95 %':>15}{'MAE':>8}{'pure':>8}")
    for name in asked.judge or JUDGES:
        pure: dict[int, np.ndarray] = {}
        for share in SHARES:
            found = {seed: tried(seed, name, share) for seed in range(asked.collections)}
            used = {seed: values for seed, values in found.items() if values is not None}
            if share == 0:
                pure = {seed: errors for seed, (errors, _) in used.items()}
            line = f"{name:24}{share:8.0%}{len(found) - len(used):6} / {len(found)}"
            if used:
                held = np.concatenate([inside for _, inside in used.values()]).mean()
                mae = np.abs(np.concatenate([errors for errors, _ in used.values()])).mean()
                alone = np.abs(np.concatenate([pure[s] for s in used if s in pure] or [[np.nan]])).mean()
                line += f"{held:12.1%}{mae:11.4f}{alone:8.4f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()

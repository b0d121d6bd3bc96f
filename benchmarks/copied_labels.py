"""Are labels refused that contain the judgments, and do intervals hold where they are not?

    python benchmarks/copied_labels.py [--collections 20]

In simulated collections a share of a judge's labels of judged documents is replaced by the judgments. A row
for each share and quality of the judge: how many collections' labels are refused, and of the others the mean
absolute error of P@10 of the new runs and the share of 95 % intervals that contain the truth. With a share of
0 none may be refused.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings

import numpy as np

from bayespool.collection import Judge, add_judges
from bayespool.collection.copied_labels import find_copied_labels
from bayespool.evidence import score_bounds
from bayespool.experiments import SimulationSettings, simulate
from bayespool.experiments.simulation import simulate_judge
from bayespool.measures import parse_measure
from bayespool.posterior import PosteriorEstimator

MEASURE = parse_measure("P@10")


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=20)
    parser.add_argument("--qualities", type=float, nargs="*", default=[1, 2])
    parser.add_argument("--shares", type=float, nargs="*", default=[0, 0.5, 0.9, 0.98, 1])
    parser.add_argument("--draws", type=int, default=100, help="per chain, of four")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| quality | copied | refused | MAE of the others | in 95 % | runs |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for quality in asked.qualities:
        for share in asked.shares:
            refused, errors, held = 0, list[float](), list[bool]()
            for seed in range(1, asked.collections + 1):
                simulation = simulate(SimulationSettings(n_topics=20, n_new=2), random_seed=seed)
                collection = simulation.collection
                labels = simulate_judge(simulation, quality=quality, random_seed=seed)
                (judge,) = add_judges(collection, {"pure": labels}).judges
                drawn = np.random.default_rng(seed).random(len(judge.label)) < share
                label = np.where(collection.judged & drawn, collection.relevance, judge.label)
                merged = Judge("merged", label)
                if find_copied_labels(collection, merged) is not None:
                    refused += 1
                    continue
                judged = dataclasses.replace(collection, judges=(merged,))
                (found,) = PosteriorEstimator(draws=asked.draws).estimate(
                    judged, simulation.new_run_ids, MEASURE
                )
                relevance = simulation.true_relevance().astype(np.int16)
                fuller = dataclasses.replace(collection, relevance=relevance)
                truth = score_bounds(fuller, simulation.new_run_ids, MEASURE).low.means()
                lower, upper = found.interval()
                errors += np.abs(found.value - truth).tolist()
                held += ((lower <= truth + 1e-9) & (truth <= upper + 1e-9)).tolist()
            rest = f"{np.mean(errors):.4f} | {np.mean(held):.0%}" if errors else "– | –"
            print(
                f"| {quality:g} | {share:g} | {refused} of {asked.collections} | {rest} | {len(errors)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

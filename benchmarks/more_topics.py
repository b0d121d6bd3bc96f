"""Do intervals hold as topics grow, also below the pool depth?

    python benchmarks/more_topics.py [--topics 5,50,500] [--collections 16,8,3] [--draws 75]

In each simulated collection four new organizations retrieve 100 documents, and eight others made the pool to
depth 10. The truth of a run is its value with all its documents judged, over the ideal ranking that the
estimate has. The benchmark prints by number of topics and measure, over runs whose posterior has a width:
how many, MAE, bias, the share of 95 % intervals that contain the truth, and the root mean square of
(estimate − truth) / standard deviation, which should be 1. An error that topics share is a larger part of
the rest the more topics there are.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from bayespool import PosteriorEstimator, score
from bayespool.experiments import SimulationSettings, simulate

MEASURES = ("P@10", "nDCG@10", "RR@10", "RBP(p=0.8)@10", "AP@100", "R@100")
ESTIMATOR = "posterior-combined"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--topics", default="5,50,500")
    parser.add_argument("--collections", default="16,8,3", help="for each number of topics")
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| topics | measure | runs | MAE | bias | in 95 % | rms |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    numbers = zip(asked.topics.split(","), asked.collections.split(","), strict=True)
    for n_topics, n_collections in numbers:
        found: dict[str, list[tuple[float, bool, float]]] = {measure: [] for measure in MEASURES}
        for seed in range(int(n_collections)):
            settings = SimulationSettings(n_topics=int(n_topics), n_new=4)
            for measure, rows in found.items():
                rows += errors(settings, 100 + seed, measure, asked.draws)
        for measure, rows in found.items():
            error, held, ratio = np.array(rows, dtype=float).T
            print(
                f"| {n_topics} | {measure} | {len(rows)} | {np.abs(error).mean():.4f} | {error.mean():+.4f} "
                f"| {held.mean():.0%} | {np.sqrt((ratio**2).mean()):.2f} |",
                flush=True,
            )


def errors(
    settings: SimulationSettings, random_seed: int, measure: str, draws: int
) -> list[tuple[float, bool, float]]:
    """Error, whether the interval holds, and the error in standard deviations, of each new run."""
    simulation = simulate(settings, random_seed=random_seed)
    runs = simulation.new_run_ids
    estimates = score(
        simulation.collection,
        runs,
        measure,
        estimators=ESTIMATOR,
        posterior_settings=PosteriorEstimator(draws=draws),
    )[measure, ESTIMATOR]
    assert estimates.std is not None
    truth = np.array([simulation.true_values(measure, runs)[run] for run in runs])
    lower, upper = estimates.interval(0.95)
    off = estimates.value - truth
    held = (lower - 1e-9 <= truth) & (truth <= upper + 1e-9)
    some = estimates.std > 1e-9
    return [
        (float(e), bool(h), float(e / s))
        for e, h, s in zip(off[some], held[some], estimates.std[some], strict=True)
    ]


if __name__ == "__main__":
    main()

"""Are estimates of many runs that are scored beside each other unbiased, under every measure?

    python benchmarks/ideals.py [--collections 200] [--draws 250] [--ideal own|shared]

Each simulated collection has eight organizations of one to eight runs. The two with the most runs are left
out together, and their runs are scored in one call. The truth of a run is its value with the runs put back,
over the ideal ranking that the estimate has (`bayespool.evidence.values_on_fuller`). The runs of a collection
are off together, so that a collection counts as one observation. The benchmark prints by measure the mean
error (bias) over collections, its standard error, their ratio, the mean absolute error of runs, and the share
of 95 % intervals with the truth. Ratios beyond 2 are to be expected of one measure in twenty.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

from bayespool import parse_measure
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments import SimulationSettings, simulate
from bayespool.measures.normalized import with_ideal
from bayespool.posterior import PosteriorEstimator

MEASURES = (
    "P@10",
    "P(rel=2)@10",
    "Success@5",
    "RR@10",
    "R@10",
    "AP@10",
    "nDCG@10",
    "nDCG(dcg='exp-log2')@10",
    "DCG@10",
    "SDCG(max_rel=2)@10",
    "RBP(p=0.8)@10",
    "ERR(max_rel=2)@10",
)
SETTINGS = SimulationSettings(n_organizations=8, max_runs=8, n_new=0, n_topics=20)


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collections", type=int, default=200)
    parser.add_argument("--draws", type=int, default=250, help="per chain, of four")
    parser.add_argument("--ideal", choices=("own", "shared"), default="own")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    measures = with_ideal([parse_measure(text) for text in MEASURES], asked.ideal)
    estimator = PosteriorEstimator(draws=asked.draws)
    rows = []
    for seed in range(asked.collections):
        whole = simulate(SETTINGS, random_seed=seed).collection
        names, n_runs = np.unique(whole.organization, return_counts=True)
        largest = names[np.argsort(-n_runs, kind="stable")[:2]]
        runs = [run for run, o in zip(whole.run_ids, whole.organization, strict=True) if o in largest]
        reduced = whole.unpool(runs)
        for estimates in estimator.estimate(reduced, runs, measures):
            truth = values_on_fuller(reduced, whole, runs, estimates.measure, "pooled").means()
            lower, upper = estimates.interval(0.95)
            error = estimates.value - truth
            rows.append(
                {
                    "measure": str(estimates.measure),
                    "runs": len(runs),
                    "error": error.mean(),
                    "mae": np.abs(error).mean(),
                    "covered": ((lower - 1e-9 <= truth) & (truth <= upper + 1e-9)).mean(),
                }
            )
    frame = pd.DataFrame(rows)
    by_measure = frame.groupby("measure", sort=False)
    table = by_measure[["runs", "error", "mae", "covered"]].mean()
    table.insert(2, "se", by_measure["error"].sem())
    table.insert(3, "ratio", table["error"] / table["se"])
    n_runs = table["runs"].iloc[0]
    print(f"{asked.collections} collections, {n_runs:.1f} runs left out of each, ideal {asked.ideal}")
    print(table.drop(columns="runs").round(4).to_string())


if __name__ == "__main__":
    main()

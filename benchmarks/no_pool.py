"""How well estimates hold without a pool: runs of the campaign scored on qrels and their own documents alone.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/no_pool.py [--every 3] [--runs 3] [--draws 1000]
        [--models combined,interpolated]

Each third organization of six pools is left out. Then the benchmark forgets which runs were pooled, so that
no hidden document is evidence. It prints by pool, measure and model the shares of PIT values in the central
95 and 50 %, their mean, the mean error (bias), the mean absolute error, and the mean width of 95 %
intervals. At most three runs of an organization count.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from at_hand import collections_folder, read

from bayespool import score
from bayespool.counts import bounds
from bayespool.posterior import PosteriorEstimator

POOLS: tuple[tuple[str, int | None, tuple[str, ...]], ...] = (
    ("trec2-adhoc", None, ("P@10",)),
    ("trec8-adhoc", 10, ("P@10",)),
    ("trec8-adhoc", None, ("P@10",)),
    ("trec2011-medical", None, ("P@10",)),
    ("dl21-passage", None, ("P@10", "P(rel=2)@10")),
    ("covid-round4", None, ("P@10", "P(rel=2)@10")),
)


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--models", default="combined,interpolated")
    asked = parser.parse_args()
    folder = collections_folder(parser)
    warnings.simplefilter("ignore")
    estimators = [PosteriorEstimator(model=model, draws=asked.draws) for model in asked.models.split(",")]
    frames = []
    for name, depth, measures in POOLS:
        collection = read(folder / name, **({"order": "rank"} if name.startswith("dl") else {}))
        pool = collection if depth is None else collection.truncate_pool(depth)
        label = name if depth is None else f"{name} to depth {depth}"
        organizations = dict.fromkeys(collection.organization[collection.pooled].tolist())
        for organization in list(organizations)[:: asked.every]:
            smaller = pool.unpool(organization=collection.organizations[organization])
            forgotten = smaller.with_pool(np.zeros(len(collection.run_ids), dtype=bool), 0)
            own = np.flatnonzero((collection.organization == organization) & collection.pooled)
            runs = [collection.run_ids[r] for r in own[: asked.runs]]
            for estimates in score(forgotten, runs, measures, estimators=estimators).estimates:
                if estimates.draws is None:
                    continue
                truth = bounds(collection, runs, estimates.measure).low.means()
                draws = estimates.draws.means()
                low, high = np.quantile(draws, [0.025, 0.975], axis=0)
                rows = {
                    "pit": ((draws < truth).mean(axis=0) + (draws <= truth).mean(axis=0)) / 2,
                    "error": estimates.value - truth,
                    "width": high - low,
                }
                of_this = {"pool": label, "measure": str(estimates.measure), "estimator": estimates.method}
                frames.append(pd.DataFrame(of_this | rows))
    found = pd.concat(frames, ignore_index=True)
    for by in (["pool", "measure", "estimator"], ["estimator"]):
        print(summary(found, by).to_string(float_format="{:.3f}".format))


def summary(found: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Shares of PIT values in central intervals, and errors."""
    off = (found["pit"] - 0.5).abs()
    rows = found.assign(in_95=off <= 0.475, in_50=off <= 0.25, mae=found["error"].abs())
    means = {name: (name, "mean") for name in ("in_95", "in_50", "pit", "error", "mae", "width")}
    return rows.groupby(by, sort=False).agg(n=("pit", "size"), **means)


if __name__ == "__main__":
    main()

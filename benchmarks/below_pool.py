"""How often are documents below the pool depth relevant, beside what models say that learn above it?

    BAYESPOOL_COLLECTIONS=folder python benchmarks/below_pool.py [--depth 10] [--collections 8] [--every 2]

TREC-2 and TREC-8, judged to depth 100, are pooled to a depth again, and every second organization is left
out and scored under P@100; in simulated collections of 50 topics new runs are, as in `more_topics.py`.
Models take ranks below the pool as log odds go on (the prior of ``below_pool`` is 0). By model and
collection the benchmark prints the unjudged documents at ranks within the pool and in bins below it,
those relevant over those expected, and the slope of log odds on log(rank / depth) with which as many are
expected below the pool as are relevant: what the priors `bayespool.models.priors.SLOPE_BELOW_POOL` and
``WHOLE_SLOPE_BELOW_POOL`` are about.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from at_hand import collections_folder, read
from scipy.optimize import brentq
from scipy.special import expit, logit

from bayespool import Collection
from bayespool.experiments import SimulationSettings, simulate
from bayespool.models.spec import BELOW_POOL_PRIORS
from bayespool.posterior import PosteriorEstimator

FloatArray = npt.NDArray[np.float64]

MODELS = ("ratio", "evidence", "rankings")
ENDS = (10, 20, 30, 50, 100)


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--collections", type=int, default=8, help="simulated ones")
    parser.add_argument("--every", type=int, default=2, help="organization is left out")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = collections_folder(parser)
    bins = [f"{low + 1}–{end}" for low, end in zip((0, *ENDS), ENDS, strict=False)]
    print("| collection | model | " + " | ".join(bins) + " | slope |")
    print("| --- | --- |" + " ---: |" * (len(bins) + 1))
    for name in ("trec2-adhoc", "trec8-adhoc"):
        full = read(folder / name)
        print_rows(name, list(left_out(full, asked.depth, asked.every)), asked.depth)
    print_rows("simulated", list(simulated(asked.collections, asked.depth)), asked.depth)


def left_out(full: Collection, depth: int, every: int) -> Iterator[tuple[Collection, Collection, list[str]]]:
    """Full judgments, those of a shallower pool without an organization, and two of its runs."""
    for o in np.unique(full.organization[full.pooled])[::every]:
        runs = [full.run_ids[i] for i in np.flatnonzero((full.organization == o) & full.pooled)]
        yield full, full.unpool(organization=full.organizations[o]).truncate_pool(depth), runs[:2]


def simulated(n: int, depth: int) -> Iterator[tuple[Collection, Collection, list[str]]]:
    """Simulated collections with everything judged, as pooled, and their new runs."""
    for seed in range(n):
        simulation = simulate(
            SimulationSettings(n_topics=50, n_new=4, pool_depth=depth), random_seed=100 + seed
        )
        collection = simulation.collection
        full = dataclasses.replace(collection, relevance=simulation.true_relevance())
        yield full, collection, list(simulation.new_run_ids)


def print_rows(name: str, cases: list[tuple[Collection, Collection, list[str]]], depth: int) -> None:
    """A row for each model."""
    for model in MODELS:
        parts = [
            unjudged(full, part, run, model) for full, part, runs in cases for run in runs
        ]  # each run scored alone
        rank, chance, relevant = (np.concatenate(column) for column in zip(*parts, strict=True))
        cells = []
        for low, end in zip((0, *ENDS), ENDS, strict=False):
            inside = (rank > low) & (rank <= end)
            cells.append(f"{relevant[inside].sum() / chance[inside].sum():.2f}")
        below = rank > depth
        log_odds, x = logit(chance[below].clip(1e-9, 1 - 1e-9)), np.log(rank[below] / depth)
        n = relevant[below].sum()
        slope = brentq(lambda s, lo=log_odds, x=x, n=n: expit(lo + s * x).sum() - n, -5, 5)
        print(f"| {name} | {model} | " + " | ".join(cells) + f" | {slope:+.2f} |", flush=True)


def unjudged(full: Collection, part: Collection, run: str, model: str) -> tuple[FloatArray, ...]:
    """Rank, expected relevance and relevance of a run's unjudged documents that the full judgments know."""
    estimator = PosteriorEstimator(
        model=model, draws=50, priors=dict.fromkeys(BELOW_POOL_PRIORS, "Uniform(0, 0)")
    )
    completion = estimator.complete(part, [run], "P@100")
    unknowns, chance = completion.unknowns, []
    values = np.minimum(np.arange(len(completion.levels)), 1).astype(float)
    for t in range(len(part.query_ids)):
        chance.append(completion.expected(t, values)[0].mean(axis=0))
    relevance = full.relevance[unknowns.pair]
    known = relevance >= 0
    return (
        unknowns.rank[known].astype(float),
        np.concatenate(chance)[known],
        (relevance[known] > 0).astype(float),
    )


if __name__ == "__main__":
    main()

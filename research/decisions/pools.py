"""Which pool is found, in collections as they are and after damage, and what intervals hold under others?

    python research/decisions/pools.py [COLLECTION …]
    python research/decisions/pools.py --coverage dl21-passage --known-depth 10 [--damage "all of it"]

The first prints what pool is found, also of a simulated campaign of 34 runs to depth 10: as it is; after a
random 2 % of the runs' ranks are gone; with documents that a third of the runs had twice on every fifth
topic, and has once now; with half of the judgments of two topics gone; with 21 judgments gone; and with all
of this. The second leaves out each organization under the pool that is found, under the stated depth, and
under each candidate of that depth: MAE, rms of error / standard deviation, and the share of 95 % intervals
that hold (docs/files.md).
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from shared import head, markdown, read

from bayespool import (
    Collection,
    PosteriorEstimator,
    SimulationSettings,
    describe_pool,
    discover_pool,
    leave_out,
    simulate,
)
from bayespool.reading import UNJUDGED

NAMES = ("simulated", "dl21-passage", "covid-round4", "trec2011-medical", "trec2-adhoc", "trec8-adhoc")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collections", nargs="*", default=NAMES)
    parser.add_argument("--coverage", action="store_true", help="leave organizations out under each pool")
    parser.add_argument("--damage", default="none", help="before organizations are left out")
    parser.add_argument("--known-depth", type=int, default=10)
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.coverage:
        head("collection", "pool", "runs", "explained", "measure", "MAE", "bias", "rms", "in 95 %")
    else:
        head("collection", "damage", "runs", "depth", "explained", "holes")
    for name in asked.collections:
        if name == "simulated":
            small = SimulationSettings(n_topics=50, n_organizations=14)
            collection = simulate(small, random_seed=1).collection
        else:
            collection = read(name, found=True)
        if asked.coverage:
            print_coverage(name, dict(damaged(collection))[asked.damage], asked.known_depth, asked.draws)
            continue
        for damage, each in damaged(collection):
            r = describe_pool(discover_pool(each))
            runs = f"{r.n_pooled_runs} of {r.n_runs}"
            markdown([name, damage, runs, r.depth, f"{1 - r.n_unexplained / r.n_judged:.0%}", r.n_holes])


def damaged(collection: Collection) -> Iterator[tuple[str, Collection]]:
    """The collection as it is, and after each kind of damage, with its name."""
    rng, document = np.random.default_rng(1), np.asarray(collection.document)
    n_runs, n_topics, _ = document.shape
    gone = rng.random(document.shape) < 0.02
    twice, topics = np.zeros(document.shape, dtype=bool), np.arange(0, n_topics, 5)
    for run in range(0, n_runs, 3):
        twice[run, topics, rng.integers(10, size=len(topics))] = True
    judged = np.flatnonzero(collection.relevance != UNJUDGED)
    of_two = judged[np.isin(collection.pair_topic[judged], [0, n_topics // 2])]
    pairs = np.arange(len(collection.relevance))
    half = np.isin(pairs, of_two[rng.random(len(of_two)) < 0.5])
    few = np.isin(pairs, rng.choice(judged, 21, replace=False))
    yield "none", collection
    yield "2 % of ranks gone", without_ranks(collection, gone)
    yield "documents twice", without_ranks(collection, twice)
    yield "two topics judged by half", collection.without_judgments(half)
    yield "21 judgments fewer", collection.without_judgments(few)
    yield "all of it", without_ranks(collection, gone | twice).without_judgments(half | few)


def without_ranks(collection: Collection, gone: np.ndarray) -> Collection:
    """The collection without some places of its rankings, those below moved up."""
    document = np.where(gone, -1, np.asarray(collection.document))
    order = np.argsort(document < 0, axis=2, kind="stable")
    return dataclasses.replace(collection, document=np.take_along_axis(document, order, axis=2))


def print_coverage(name: str, collection: Collection, depth: int, draws: int) -> None:
    pools = {"found": discover_pool(collection), f"depth {depth}": discover_pool(collection, depth=depth)}
    for share in (0, 0.01, 0.02, 0.03, 0.05, 0.1):
        pools[f"depth {depth}, {share:.0%}"] = discover_pool(collection, depth=depth, max_holes=share)
    rows: dict[Any, Any] = {}
    for pool, pooled in pools.items():
        key, r = (pooled.pool_depth, pooled.pooled_run_ids), describe_pool(pooled)
        if len(np.unique(pooled.organization[pooled.pooled])) < 2:
            continue
        if key not in rows:
            result = leave_out(
                pooled,
                ["P@10", "nDCG@10"],
                estimators="posterior-combined",
                posterior_settings=PosteriorEstimator(draws=draws),
            )
            rows[key] = result.to_frame("runs")
        for measure, of_measure in rows[key].groupby("measure", sort=False):
            wide = of_measure[of_measure["std"] > 0]
            error = wide["value"] - wide["truth"]
            cells = [f"{error.abs().mean():.4f}", f"{error.mean():+.4f}"]
            cells += [
                f"{np.sqrt(((error / wide['std']) ** 2).mean()):.2f}",
                f"{wide['covered_95'].mean():.0%}",
            ]
            explained = f"{1 - r.n_unexplained / r.n_judged:.0%}"
            markdown([name, pool, r.n_pooled_runs, explained, measure, *cells])


if __name__ == "__main__":
    main()

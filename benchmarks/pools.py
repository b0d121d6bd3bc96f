"""Which pool is found, in collections as they are and after damage, and what intervals hold under others?

    BAYESPOOL_COLLECTIONS=folder python benchmarks/pools.py [COLLECTION …]
    BAYESPOOL_COLLECTIONS=folder python benchmarks/pools.py --coverage dl21-passage --known-depth 10

The first prints for each collection, and for a simulated campaign of 34 runs pooled to depth 10 and two that
were not, what pool is found: as it is; after a random 2 % of the runs' ranks are gone, so that others move
up; with documents that a third of the runs had twice among their first ten on every fifth topic, and has once
now; with half of the judgments of two topics gone; with 21 judgments gone; and with all of this at once. The
second leaves out each organization under the pool that is found, under the depth that is stated, and under
each candidate of that depth: MAE, the root mean square of (estimate − truth) / standard deviation, and the
share of 95 % intervals that hold, of the default posterior under P@10 and nDCG@10; ``--damage "all of it"``
damages the collection before.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from at_hand import collections_folder, read

from bayespool import Collection, describe_pool, discover_pool, leave_out
from bayespool.collection import UNJUDGED
from bayespool.experiments import SimulationSettings, simulate

NAMES = ("simulated", "dl21-passage", "covid-round4", "trec2011-medical", "trec2-adhoc", "trec8-adhoc")
MEASURES = ("P@10", "nDCG@10")
ESTIMATOR = "posterior-combined"
SHARES = (0, 0.01, 0.02, 0.03, 0.05, 0.1)


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "collections", nargs="*", metavar="COLLECTION", help="default: all, and a simulated one"
    )
    parser.add_argument("--coverage", action="store_true", help="leave organizations out under each pool")
    parser.add_argument("--damage", default="none", help="before organizations are left out")
    parser.add_argument("--known-depth", type=int, default=10)
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    asked = parser.parse_args()
    folder = collections_folder(parser)
    warnings.simplefilter("ignore")
    if asked.coverage:
        print("| collection | pool | runs | explained | measure | MAE | bias | rms | in 95 % |")
        print("| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    else:
        print("| collection | damage | runs | depth | explained | holes |")
        print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name in asked.collections or NAMES:
        collection = collection_of(name, folder)
        if asked.coverage:
            damaged = dict(damaged_collections(collection))[asked.damage]
            print_coverage(name, damaged, asked.known_depth, asked.draws)
        else:
            print_pools(name, collection)


def collection_of(name: str, folder: Path) -> Collection:
    """A collection whose pool is yet to be found."""
    if name == "simulated":
        return simulate(SimulationSettings(n_topics=50, n_organizations=14), random_seed=1).collection
    return read(folder / name, found=True)


def print_pools(name: str, collection: Collection) -> None:
    """A row for each kind of damage."""
    for damage, damaged in damaged_collections(collection):
        report = describe_pool(discover_pool(damaged))
        explained = 1 - report.n_unexplained / report.n_judged
        print(
            f"| {name} | {damage} | {report.n_pooled_runs} of {report.n_runs} | {report.depth} | "
            f"{explained:.0%} | {report.n_holes} |",
            flush=True,
        )


def damaged_collections(collection: Collection) -> Iterator[tuple[str, Collection]]:
    """The collection as it is, and after each kind of damage, with its name."""
    rng = np.random.default_rng(1)
    document = np.asarray(collection.document)
    n_runs, n_topics, _ = document.shape
    gone = rng.random(document.shape) < 0.02
    twice = np.zeros(document.shape, dtype=bool)
    for run in range(0, n_runs, 3):
        topics = np.arange(0, n_topics, 5)
        twice[run, topics, rng.integers(10, size=len(topics))] = True
    judged = np.flatnonzero(collection.relevance != UNJUDGED)
    of_two = judged[np.isin(collection.pair_topic[judged], [0, n_topics // 2])]
    half = marked(collection, of_two[rng.random(len(of_two)) < 0.5])
    few = marked(collection, rng.choice(judged, 21, replace=False))
    yield "none", collection
    yield "2 % of ranks gone", without_ranks(collection, gone)
    yield "documents twice", without_ranks(collection, twice)
    yield "two topics judged by half", collection.without_judgments(half)
    yield "21 judgments fewer", collection.without_judgments(few)
    yield "all of it", without_ranks(collection, gone | twice).without_judgments(half | few)


def marked(collection: Collection, pairs: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    """Whether each pair is one of these."""
    marks = np.zeros(len(collection.relevance), dtype=bool)
    marks[pairs] = True
    return marks


def without_ranks(collection: Collection, gone: npt.NDArray[np.bool_]) -> Collection:
    """The collection without some places of its rankings, those below moved up."""
    document = np.where(gone, -1, np.asarray(collection.document))
    order = np.argsort(document < 0, axis=2, kind="stable")
    return dataclasses.replace(collection, document=np.take_along_axis(document, order, axis=2))


def print_coverage(name: str, collection: Collection, depth: int, draws: int) -> None:
    """A row for each pool and measure."""
    pools = {"found": discover_pool(collection), f"depth {depth}": discover_pool(collection, depth=depth)}
    pools |= {
        f"depth {depth}, {share:.0%}": discover_pool(collection, depth=depth, max_holes=share)
        for share in SHARES
    }
    rows: dict[tuple[int, tuple[str, ...]], pd.DataFrame] = {}
    for pool, pooled in pools.items():
        key = pooled.pool_depth, pooled.pooled_run_ids
        if len(np.unique(pooled.organization[pooled.pooled])) < 2:
            continue
        if key not in rows:
            result = leave_out(pooled, measures=MEASURES, estimators=ESTIMATOR, draws=draws)
            rows[key] = result.to_frame("runs")
        report = describe_pool(pooled)
        explained = 1 - report.n_unexplained / report.n_judged
        for measure, of_measure in rows[key].groupby("measure", sort=False):
            with_width = of_measure[of_measure["std"] > 0]
            error = with_width["value"] - with_width["truth"]
            rms, covered = np.sqrt(((error / with_width["std"]) ** 2).mean()), with_width["covered_95"].mean()
            print(
                f"| {name} | {pool} | {report.n_pooled_runs} | {explained:.0%} | {measure} | "
                f"{error.abs().mean():.4f} | {error.mean():+.4f} | {rms:.2f} | {covered:.0%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

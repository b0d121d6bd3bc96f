"""Intervals of the topics adjustment: how many hold the truth, by pool width and number of common topics.

    python benchmarks/common_topics.py [--pools 100]
    python benchmarks/common_topics.py --posteriors

Pools of runs are drawn from the pooled ones of TREC-8 and TREC-2, to depth 10, and a run outside each. Of its
own documents only those on common topics, drawn at random, are judged; the truth is its P@10 with all of
them. An interval without width, where the run lost nothing on the common topics, counts as any other.

``--posteriors`` scores manual runs of TREC-8 on a pool of the automatic ones by posterior-combined, without
and with 10 common topics.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from at_hand import collections_folder, read

from bayespool import score
from bayespool.collection import Collection, read_run_types
from bayespool.corrections import TopicsAdjustment
from bayespool.evidence import score_bounds
from bayespool.experiments.resampling import whole_pool
from bayespool.measures import parse_measure

WIDTHS = (4, 20)
MANUAL = ("READWARE", "CL99SDopt1", "orcl99man", "iit99ma1", "8manexT3D1N0", "GE8MTD2")
MODEL = "posterior-combined"
N_COMMON = (3, 5, 10, 20, 30)


def inside(collection: Collection, width: int, n_common: int, rng: np.random.Generator) -> bool:
    """Whether the 95 % interval of a run outside a pool, both drawn, holds its truth."""
    drawn = rng.permutation(np.flatnonzero(collection.pooled))[: width + 1]
    run, pool = drawn[0], drawn[1:]
    common = rng.permutation(len(collection.query_ids))[:n_common]
    known = collection.in_pool(pool)
    known |= collection.in_pool(drawn[:1]) & np.isin(collection.pair_topic, common)
    pooled = np.zeros(len(collection.run_ids), dtype=bool)
    pooled[pool] = True
    reduced = collection.without_judgments(~known).with_pool(pooled, collection.pool)
    adjustment = TopicsAdjustment(
        common_query_ids=tuple(collection.query_ids[t] for t in common), n_draws=1000
    )
    name, measure = collection.run_ids[run], parse_measure("P@10")
    (found,) = adjustment.estimate(reduced, name, measure)
    truth = score_bounds(collection, [name], measure).lower.mean()
    low, high = found.interval(0.95)
    return bool(low[0] - 1e-9 <= truth <= high[0] + 1e-9)


def of_manual_runs(folder: Path) -> Iterator[tuple[float, ...]]:
    """Error, whether the truth is inside and width of the 95 % interval, of each of `MANUAL`, an
    organization's best: without and with common topics, and of the topics adjustment.
    """
    whole, types = whole_pool(read(folder), "all", 10), read_run_types(folder / "run-types.csv")
    automatic = np.array([types[run] == "automatic" for run in whole.run_ids])
    rng, measure = np.random.default_rng(1), parse_measure("P@10")
    by_automatic, of_topic = whole.in_pool(np.flatnonzero(automatic)), np.array(whole.query_ids)
    for name in MANUAL:
        common = rng.permutation(of_topic)[:10].tolist()
        own = whole.in_pool(whole.run_index(name)) & np.isin(of_topic[whole.pair_topic], common)
        reduced = whole.without_judgments(~(by_automatic | own)).with_pool(automatic, whole.pool)
        truth = score_bounds(whole, [name], measure).lower.mean()
        row: list[float] = []
        for topics, labels in ((None, [MODEL]), (common, [MODEL, "topics-adjustment"])):
            scores = score(reduced, name, measure, estimators=MODEL, draws=100, common_topics=topics)
            frame = scores.to_frame().set_index("estimator")
            for label in labels:
                value, low, high = frame.loc[label, ["value", "lower", "upper"]].astype(float)
                row += [abs(value - truth), low <= truth <= high, high - low]
        yield tuple(row)


def main() -> None:
    """Print a line for each collection, width and number of common topics."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pools", type=int, default=100)
    parser.add_argument("--posteriors", action="store_true")
    given = parser.parse_args()
    if given.posteriors:
        means = np.mean(list(of_manual_runs(collections_folder(parser) / "trec8-adhoc")), axis=0)
        which = ("without common topics", "with 10", "topics-adjustment")
        for name, (error, share, width) in zip(which, means.reshape(3, 3), strict=True):
            print(f"{name:<22} MAE {error:.4f}, {share:.0%} inside, width {width:.3f}")
        return
    for folder in ("trec8-adhoc", "trec2-adhoc"):
        collection = read(collections_folder(parser) / folder).truncate_pool(10)
        for width in WIDTHS:
            for n_common in N_COMMON:
                rng = np.random.default_rng(1)
                found = [inside(collection, width, n_common, rng) for _ in range(given.pools)]
                share = np.mean(found)
                print(f"{folder:<12} pool of {width:>2}, {n_common:>2} common topics: {share:.0%} inside")


if __name__ == "__main__":
    main()

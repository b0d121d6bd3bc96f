"""Intervals of the topics adjustment: how many hold the truth, by pool width and number of common topics.

    python benchmarks/common_topics.py [--pools 100]

Pools of runs are drawn from the pooled ones of TREC-8 and TREC-2, to depth 10, and a run outside each. Of its
own documents only those on common topics, drawn at random, are judged; the truth is its P@10 with all of
them. An interval without width, where the run lost nothing on the common topics, counts as any other.
"""

from __future__ import annotations

import argparse

import numpy as np
from at_hand import collections_folder, read

from bayespool.collection import Collection
from bayespool.corrections import TopicsAdjustment
from bayespool.evidence import score_bounds
from bayespool.measures import parse_measure

WIDTHS = (4, 20)
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


def main() -> None:
    """Print a line for each collection, width and number of common topics."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pools", type=int, default=100)
    given = parser.parse_args()
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

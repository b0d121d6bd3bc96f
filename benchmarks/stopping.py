"""What stopping rules judge and find on TREC-8, with the paper's pool of 66 runs, beside equal shares.

    python benchmarks/stopping.py

A line for each strategy and rule, without a budget: documents judged, relevant ones, recall over all topics,
mean and least of a topic, and the relevant documents that as many judgments find in equal shares.
"""

from __future__ import annotations

import argparse

import numpy as np
from pooling_signs import paper_pool

from bayespool.pooling import choose

STRATEGIES = ("take", "combmnz", "max-mean")
RULES = ("nonrelevant(n=30)", "nonrelevant(n=100)", "recall(target=0.9)", "yield(share=0.05)")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    collection = paper_pool(parser)
    is_relevant, n_topics = collection.relevance > 0, len(collection.query_ids)
    of_topic = collection.pair_topic[is_relevant & collection.in_pool()]
    there = np.bincount(of_topic, minlength=n_topics)
    for strategy in STRATEGIES:
        for rule in RULES:
            chosen = choose(collection, strategy, depth=100, stop=rule)
            relevant = chosen.pair[is_relevant[chosen.pair]]
            recall = np.bincount(collection.pair_topic[relevant], minlength=n_topics) / there
            equal = choose(collection, strategy, len(chosen), depth=100)
            print(
                f"| `{strategy}` | `{rule}` | {len(chosen):,} | {len(relevant):,} | "
                f"{len(relevant) / there.sum():.2f} | {recall.mean():.2f} | {recall.min():.2f} | "
                f"{is_relevant[equal.pair].sum():,} |",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""What stopping rules judge and find on TREC-8, with the paper's pool of 66 runs, beside equal shares.

    python research/papers/stopping.py

For each strategy and rule, without a budget: documents judged, relevant ones, recall over all topics, mean
and least of a topic, and the relevant documents that as many find in equal shares (docs/pooling.md).
"""

import numpy as np
from pooling_signs import markdown, paper_pool

from bayespool.pooling import choose

STRATEGIES = ("take", "combmnz", "max-mean")
RULES = ("nonrelevant(n=30)", "nonrelevant(n=100)", "recall(target=0.9)", "yield(share=0.05)")

if __name__ == "__main__":
    collection = paper_pool()
    is_relevant, n_topics = collection.relevance > 0, len(collection.query_ids)
    there = np.bincount(collection.pair_topic[is_relevant & collection.in_pool()], minlength=n_topics)
    for strategy in STRATEGIES:
        for rule in RULES:
            chosen = choose(collection, strategy, depth=100, stop=rule)
            relevant = chosen.pair[is_relevant[chosen.pair]]
            recall = np.bincount(collection.pair_topic[relevant], minlength=n_topics) / there
            equal = is_relevant[choose(collection, strategy, len(chosen), depth=100).pair].sum()
            shares = [f"{x:.2f}" for x in (len(relevant) / there.sum(), recall.mean(), recall.min())]
            markdown([strategy, rule, f"{len(chosen):,}", f"{len(relevant):,}", *shares, f"{equal:,}"])

"""How long every pooling strategy takes to choose a budget's documents on TREC-8, and what it finds.

    python benchmarks/strategies.py [--budget 20000] [--depth 100] [--jobs 2]

All 129 runs contribute their first documents on 50 topics, also those that the campaign did not pool; what
is unjudged counts as not relevant. Adaptive strategies ask the judgments. Compiled
functions are compiled before, on the example. A strategy's time is that of `choose`, in a process that holds
the collection; the total is the wall clock's from the first to the last, strategies shared out to processes.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from at_hand import collections_folder, read

from bayespool import Collection, load_example
from bayespool.pooling import STRATEGIES, choose

_HELD: list[Collection] = []


def _hold(folder: str) -> None:
    """What a process does first: read the collection, and compile."""
    _HELD[:] = [read(Path(folder), scores=True)]
    example = load_example()
    scored = example.score is not None
    for name, entry in STRATEGIES.items():
        if scored or not entry.make().needs_scores:
            choose(example, name, 100, run_index=np.flatnonzero(example.pooled), depth=10)


def _ready(_: int) -> None:
    """Nothing, a while long, so that every process gets one."""
    time.sleep(1)


def _chosen(name: str, budget: int, depth: int) -> tuple[str, int, int, float]:
    """Strategy, documents that it judges, relevant ones among them, seconds."""
    collection = _HELD[0]
    start = time.perf_counter()
    chosen = choose(collection, name, budget, run_index=np.arange(len(collection.run_ids)), depth=depth)
    seconds = time.perf_counter() - start
    return name, len(chosen), int((collection.relevance[chosen.pair] > 0).sum()), seconds


def main() -> None:
    """Print a line for each strategy, and the total."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=20_000)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    given = parser.parse_args()
    folder = str(collections_folder(parser) / "trec8-adhoc")
    with ProcessPoolExecutor(given.jobs, initializer=_hold, initargs=(folder,)) as processes:
        list(processes.map(_ready, range(given.jobs)))  # each has read, and compiled
        start = time.perf_counter()
        waiting = [processes.submit(_chosen, name, given.budget, given.depth) for name in STRATEGIES]
        for one in waiting:
            name, n_judged, n_relevant, seconds = one.result()
            print(f"{name:<20} {n_judged:>7} judged {n_relevant:>6} relevant {seconds:>7.2f} s", flush=True)
        total = time.perf_counter() - start
    print(f"{len(STRATEGIES)} strategies, {given.jobs} processes: {total:.1f} s")


if __name__ == "__main__":
    sys.exit(main())

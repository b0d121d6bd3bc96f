"""Leave every organization out of a pool: how long the experiments take, and where the time goes.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/leave_out.py

P@n at five cutoffs: all point corrections on Medical 2011, the default posterior on top of them, and both on
TREC-8 with the 72 runs that are judged to depth 100. Times are of the experiment alone, with the start of
the worker processes. The split is processor time of all processes together.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

from at_hand import collections_folder, read

from bayespool import leave_out
from bayespool.errors import BayespoolWarning
from bayespool.scoring import ALL_ESTIMATORS

MEASURES = [f"P@{n}" for n in (5, 10, 20, 30, 100)]
POINTS = [name for name in ALL_ESTIMATORS if not name.startswith("posterior")]
EXPERIMENTS = {
    "points": ("trec2011-medical", POINTS, 10.0),
    "posterior": ("trec2011-medical", list(ALL_ESTIMATORS), 120.0),
    "trec8": ("trec8-adhoc", list(ALL_ESTIMATORS), 300.0),
}
"""Collection, estimators and the most seconds."""


def main() -> int:
    """Run the experiments and print their times; status 1 where one took too long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("experiments", nargs="*", help=f"some of {', '.join(EXPERIMENTS)}; default: all")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    folder = collections_folder(parser)
    if unknown := set(arguments.experiments) - set(EXPERIMENTS):
        parser.error(f"no experiment {unknown.pop()!r}")
    names = arguments.experiments or EXPERIMENTS
    return int(any([is_slow(name, folder, arguments.jobs) for name in names]))


def is_slow(name: str, folder: Path, n_jobs: int) -> bool:
    """Print the times of an experiment; whether it took too long."""
    collection, estimators, most = EXPERIMENTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayespoolWarning)
        warnings.filterwarnings("ignore", "A worker stopped while some jobs")  # it had used much memory
        read_collection = read(folder / collection, **({"max_holes": 0} if name == "trec8" else {}))
        start = time.perf_counter()
        result = leave_out(read_collection, MEASURES, estimators=estimators, n_jobs=n_jobs)
        seconds = time.perf_counter() - start
    n_runs = result.to_frame(reported_only=True)["run_id"].nunique()
    total = sum(result.seconds.values())
    print(f"\n{name}, {collection}: {n_runs} runs, {seconds:.1f} s, aim under {most:g} s")
    print(f"  processor time of the folds {total:.1f} s, and so at least {total / n_jobs:.1f} s")
    for stage, spent in sorted(result.seconds.items(), key=lambda item: -item[1]):
        print(f"  {stage:26s} {spent:8.2f} s {100 * spent / total:5.1f} %")
    return seconds > most


if __name__ == "__main__":
    sys.exit(main())

"""Leave every organization out of a pool: how long the experiments take, and where the time goes.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/leave_out.py

Three experiments, P@n at five cutoffs each: all point corrections on Medical 2011, the default posterior on
top of them, and both on TREC-8 with the 72 runs that are judged to depth 100. Times are of the experiment
alone, from the collection in memory to the result, with the start of the worker processes; reading stands
beside them. The split is processor time of all processes together, which other work on the machine hardly
touches.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from at_hand import collections_folder, read

from bayespool import leave_out
from bayespool.errors import BayespoolWarning
from bayespool.scoring import ALL_ESTIMATORS

MEASURES = [f"P@{n}" for n in (5, 10, 20, 30, 100)]
POINTS = [name for name in ALL_ESTIMATORS if not name.startswith("posterior")]


class Experiment(NamedTuple):
    """What is timed, and how long it may take."""

    title: str
    collection: str
    reading: dict[str, Any]
    estimators: list[str]
    most_seconds: float


EXPERIMENTS = {
    "points": Experiment("point corrections", "trec2011-medical", {}, POINTS, 10),
    "posterior": Experiment("all, with the posterior", "trec2011-medical", {}, list(ALL_ESTIMATORS), 120),
    "trec8": Experiment(
        "all, with the posterior", "trec8-adhoc", {"max_holes": 0}, list(ALL_ESTIMATORS), 300
    ),
}


def main() -> int:
    """Run the experiments and print their times; status 1 where one took too long."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiments", nargs="*", help=f"some of {', '.join(EXPERIMENTS)}; default: all")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    folder = collections_folder(parser)
    if unknown := set(arguments.experiments) - set(EXPERIMENTS):
        parser.error(f"no experiment {unknown.pop()!r}")
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, {arguments.jobs} jobs")
    slow = False
    for name in arguments.experiments or EXPERIMENTS:
        slow |= measure(EXPERIMENTS[name], folder, arguments.jobs)
    return int(slow)


def measure(experiment: Experiment, folder: Path, n_jobs: int) -> bool:
    """Print the times of an experiment; whether it took too long."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayespoolWarning)
        warnings.filterwarnings("ignore", "A worker stopped while some jobs")  # it had used much memory
        collection = read(folder / experiment.collection, **experiment.reading)
        reading = time.perf_counter() - start
        start = time.perf_counter()
        result = leave_out(collection, MEASURES, estimators=experiment.estimators, n_jobs=n_jobs)
        seconds = time.perf_counter() - start
    frame = result.to_frame(reported_only=True)
    print(
        f"\n{experiment.title}, {experiment.collection}: {frame['run_id'].nunique()} runs, "
        f"{frame['fold'].nunique()} organizations, {len(MEASURES)} cutoffs"
    )
    total = sum(result.seconds.values())
    print(f"  reading {reading:.1f} s; experiment {seconds:.1f} s, aim under {experiment.most_seconds:g} s")
    print(f"  processor time of the folds {total:.1f} s, and so at least {total / n_jobs:.1f} s")
    for stage, spent in sorted(result.seconds.items(), key=lambda item: -item[1]):
        print(f"  {stage:26s} {spent:8.2f} s {100 * spent / total:5.1f} %")
    return seconds > experiment.most_seconds


if __name__ == "__main__":
    sys.exit(main())

"""The real collections that benchmarks run on, where ``BAYESPOOL_COLLECTIONS`` says."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayespool import Collection

POOLS: dict[str, dict[str, Any]] = {
    "covid-round4": {"known_depth": 8, "max_holes": 0.01},
    "dl21-passage": {"max_holes": 0},
    "trec2-adhoc": {"max_holes": 5},
    "trec2011-medical": {"max_holes": 0},
    "trec8-adhoc": {"max_holes": 5},
}
"""The pools that the figures of the pages are of (docs/files.md); ``found=True`` leaves them to discovery."""

UNSET = "BAYESPOOL_COLLECTIONS is not set: it names the folder of the unpacked collections"


def collections_folder(parser: argparse.ArgumentParser) -> Path:
    """The folder of the collections; an error of the parser's where none is named."""
    named = os.environ.get("BAYESPOOL_COLLECTIONS")
    if not named:
        parser.error(UNSET)
    return Path(named)


def read(place: Path, *, found: bool = False, **settings: Any) -> Collection:
    """A collection with its pool, lines that cannot be used left out; arguments of `read_collection`.

    Settings of the pool replace those of `POOLS`.
    """
    from bayespool import read_collection  # not before: a benchmark counts what its process holds

    of_pool = {"known_depth", "max_holes", "pooled_run_ids", "pool_rule", "pool_strategy"}
    if not found and not of_pool & set(settings):
        settings |= POOLS.get(place.name, {})
    return read_collection(
        place / "qrels.txt",
        pool=place / "runs",
        organizations=place / "organizations.csv",
        strict=False,
        **settings,
    )


def forget_pool(collection: Collection) -> Collection:
    """The collection as one of which nobody knows which runs were pooled."""
    import numpy as np  # not before, as in `read`

    return collection.with_pool(np.zeros(len(collection.run_ids), dtype=bool), 0)


LAUNCH = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen([sys.executable, "-m", "bayespool", *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
unit = 2**20 if sys.platform == "darwin" else 2**10
print(status, time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / unit)
"""  # in a process of its own: the peak of a child is never under its parent's


def run_command(*words: object) -> tuple[float, float, float]:
    """Seconds, seconds of processors, and MiB at most, of a command whose output is not looked at."""
    line = [sys.executable, "-c", LAUNCH, *map(str, words)]
    done = subprocess.run(line, capture_output=True, check=True, text=True)
    status, wall, processor, peak = map(float, done.stdout.split())
    if status:
        raise SystemExit(f"the command failed: {' '.join(line[3:])}\n{done.stderr}")
    return wall, processor, peak

"""From files to a table: time and memory of `bayespool score`, and how they grow.

    python benchmarks/load.py [--axes topics runs depth cutoff targets draws]
    python benchmarks/load.py --size 1000 200 1000

Files are drawn by `load_files.py` into a folder that is removed afterwards; 7 GB of them for the second
command. The command runs in a process of its own, whose seconds and peak of memory are printed, imports
included. Each axis has three sizes; the others stay at the middle. An exponent is the slope of log cost over
log size, by least squares.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from load_files import write

SIZES = {
    "topics": (25, 50, 100),
    "runs": (20, 40, 80),
    "depth": (100, 200, 400),
    "cutoff": (10, 50, 100),
    "targets": (1, 2, 4),
    "draws": (1000, 4000, 16000),
}
MIDDLE = {"topics": 50, "runs": 40, "depth": 200, "cutoff": 10, "targets": 1, "draws": 4000}


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--axes", nargs="*", choices=SIZES, default=list(SIZES))
    parser.add_argument("--size", type=int, nargs=3, metavar=("TOPICS", "RUNS", "DEPTH"))
    asked = parser.parse_args()
    print("| axis | size | wall s | processor s | peak MiB |\n| --- | ---: | ---: | ---: | ---: |")
    if asked.size:
        size = MIDDLE | dict(zip(("topics", "runs", "depth"), asked.size, strict=True))
        report("all", "×".join(map(str, asked.size)), measured(size, "nDCG@10"))
        return
    for axis in asked.axes:
        costs = []
        for n in SIZES[axis]:
            size = MIDDLE | {axis: n}
            costs.append(measured(size, f"P@{size['cutoff']}"))
            report(axis, str(n), costs[-1])
        slopes = np.polyfit(np.log(SIZES[axis]), np.log(np.array(costs)), 1)[0]
        print(f"| {axis} | exponent | {slopes[0]:.2f} | {slopes[1]:.2f} | {slopes[2]:.2f} |", flush=True)


def measured(size: dict[str, int], measure: str) -> tuple[float, float, float]:
    """Seconds, seconds of processors and MiB of the command on files of a size."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, size["topics"], max(size["runs"], 20 * size["targets"]), size["depth"])
        files = ["--qrels", folder / "qrels.txt", "--pool", folder / "runs"]
        files += ["--organizations", folder / "organizations.csv", "--known-depth", min(100, size["depth"])]
        new = sorted((folder / "new").iterdir())[: size["targets"]]
        options = ["-m", measure, "--draws", size["draws"], *files, *new]
        command = [sys.executable, "-m", "bayespool", "score", *map(str, options)]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        if status:
            raise SystemExit(f"the command failed: {' '.join(command)}")
        peak = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
        return wall, used.ru_utime + used.ru_stime, peak


def report(axis: str, size: str, cost: tuple[float, float, float]) -> None:
    """Print a row."""
    print(f"| {axis} | {size} | {cost[0]:.1f} | {cost[1]:.1f} | {cost[2]:.0f} |", flush=True)


if __name__ == "__main__":
    main()

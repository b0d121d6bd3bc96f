"""From run files to P@n at five cutoffs: seconds and peak memory of bayespool and of pytrec_eval, in one run.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/read_and_count.py

Each job runs in a process of its own, whose seconds are without the imports; the fastest of several turns
counts. All results must agree to 1e-12.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from at_hand import collections_folder

CUTOFFS = (5, 10, 20, 30, 100)

# numpy stays out of the parent: the peak that a child reports is never under its parent's.


def main() -> int:
    """Run the jobs and print the table; status 1 where their results differ."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", default="trec8-adhoc", help="folder below BAYESPOOL_COLLECTIONS")
    parser.add_argument("--repeat", type=int, default=3, help="turns, the fastest of which counts")
    parser.add_argument("--job", choices=sorted(JOBS), help=argparse.SUPPRESS)
    parser.add_argument("--values", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    folder = collections_folder(parser) / arguments.collection
    if not (folder / "runs").is_dir():
        parser.error(f"there is no folder {folder / 'runs'}")
    if arguments.job:
        print(json.dumps(measure(JOBS[arguments.job], folder, arguments.values)))
        return 0

    files = run_files(folder)
    megabytes = sum(path.stat().st_size for path in files) / 1e6
    print(f"{arguments.collection}: {len(files)} runs, {megabytes:.0f} MB, P@n for n in {CUTOFFS}")
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, fastest of {arguments.repeat}\n")
    reports: dict[str, list[dict[str, Any]]] = {job: [] for job in JOBS}
    with tempfile.TemporaryDirectory() as scratch:
        values = {job: Path(scratch, f"{job}.npy") for job in JOBS}
        for _ in range(arguments.repeat):
            for job in JOBS:
                reports[job].append(spawn(job, arguments.collection, values[job]))
        difference = largest_difference(list(values.values()))

    print(f"{'':34} {'wall s':>7} {'CPU s':>7} {'peak MiB':>9}")
    best = {job: min(of_job, key=lambda report: report["wall"]) for job, of_job in reports.items()}
    for job, row in best.items():
        peak = max(report["peak"] for report in reports[job])
        print(f"{job:34} {row['wall']:7.2f} {row['cpu']:7.2f} {peak:9.0f}")
    print()
    wall, cpu = (best["pytrec_eval"][kind] / best["bayespool"][kind] for kind in ("wall", "cpu"))
    print(f"bayespool is {wall:.1f} times as fast as pytrec_eval ({cpu:.1f} in CPU seconds)")
    print("targets: 4 times as fast, peak under 1024 MiB")
    print(f"largest difference between the results, per run, topic and cutoff: {difference:g}")
    return int(not difference <= 1e-12)


def run_files(folder: Path) -> list[Path]:
    """Run files of a collection, by name."""
    return sorted(path for path in (folder / "runs").iterdir() if path.is_file())


def spawn(job: str, collection: str, values: Path) -> dict[str, Any]:
    """Report of a job that ran in a fresh interpreter."""
    command = [sys.executable, __file__, "--collection", collection, "--job", job, "--values", values]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return dict(json.loads(done.stdout))


def measure(prepare: Callable[[Path], Callable[[], Any]], folder: Path, values: Path) -> dict[str, Any]:
    """Run a job in this process; save its values, shape (run, topic, cutoff), and report what they cost."""
    import numpy as np

    job = prepare(folder)
    wall, cpu = time.perf_counter(), time.process_time()
    precision = job()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    np.save(values, precision)
    return {"wall": wall, "cpu": cpu, "peak": peak}


def largest_difference(paths: list[Path]) -> float:
    """Largest absolute difference from the first result."""
    import numpy as np  # when all jobs are done

    first, *others = map(np.load, paths)
    return max(float(np.abs(other - first).max()) for other in others)


def prepare_bayespool(folder: Path) -> Callable[[], Any]:
    """The job with bayespool; at its end all rankings are in memory, at full depth."""
    from bayespool import build_collection, judgment_counts, read_qrels, read_runs

    def job() -> Any:
        runs, qrels = read_runs(folder / "runs", strict=False), read_qrels(folder / "qrels.txt")
        collection = build_collection(runs, qrels, order="single-precision")  # as pytrec_eval orders
        return judgment_counts(collection, cutoffs=CUTOFFS).lower

    return job


def prepare_pytrec_eval(folder: Path) -> Callable[[], Any]:
    """The job with pytrec_eval and its own parsers; each run is forgotten once evaluated, which favors it."""
    import numpy as np
    import pytrec_eval

    def job() -> Any:
        with open(folder / "qrels.txt") as file:
            qrels = pytrec_eval.parse_qrel(file)
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"P." + ",".join(map(str, CUTOFFS))})
        topics = sorted(qrels, key=lambda topic: (len(topic), topic))
        files = run_files(folder)
        precision = np.zeros((len(files), len(topics), len(CUTOFFS)))
        for r, path in enumerate(files):
            with open(path) as file:
                run = pytrec_eval.parse_run(file)
            found = evaluator.evaluate(run)
            for t, topic in enumerate(topics):
                if topic in found:
                    precision[r, t] = [found[topic][f"P_{n}"] for n in CUTOFFS]
        return precision

    return job


JOBS: dict[str, Callable[[Path], Callable[[], Any]]] = {
    "bayespool": prepare_bayespool,
    "pytrec_eval": prepare_pytrec_eval,
}

if __name__ == "__main__":
    sys.exit(main())

"""What this checkout and another one take for the same work: processor time, wall clock and memory.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/side_by_side.py --other ../old [JOB …]

The other checkout is a clone of this repository at another commit. Each job runs in a process of its own,
other and this one in turn, ``--repeat`` times; of each the least is printed, and their ratio. Reading the
collection, and compiling loops in a first small job, are not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

JOBS = {
    "score": "score one run of TREC-2 at P@5 and P@10, the posterior",
    "leave-out": "leave every organization of TREC-2 out, five cutoffs, all estimators, two processes",
    "deep": "score the runs of TREC-8 that were not pooled at P@1000, the posterior",
}

WORK = """
import json, os, resource, sys, time, warnings
warnings.simplefilter("ignore")
import bayespool
from bayespool import leave_out, read_collection
from bayespool.posterior import PosteriorEstimator

def read(name, **settings):
    place = os.path.join(os.environ["BAYESPOOL_COLLECTIONS"], name)
    files = {k: os.path.join(place, f) for k, f in (("pool", "runs"), ("organizations", "organizations.csv"))}
    return read_collection(os.path.join(place, "qrels.txt"), **files, strict=False, **settings)

def processor():
    own, children = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in (own, children))

job = sys.argv[1]
collection = read("trec8-adhoc" if job == "deep" else "trec2-adhoc", max_holes=5)
outside = [r for r, pooled in zip(collection.run_ids, collection.pooled) if not pooled]
inside = [r for r, pooled in zip(collection.run_ids, collection.pooled) if pooled]
if job != "deep":
    organization = collection.organizations[int(collection.organization[collection.run_index(inside[0])[0]])]
    reduced = collection.unpool(organization=organization)
small = collection if job == "deep" else reduced
PosteriorEstimator(draws=10).estimate(small, (outside or inside)[:1], "P@5")
wall, cpu = time.perf_counter(), processor()
if job == "score":
    PosteriorEstimator().estimate(reduced, inside[:1], ["P@5", "P@10"])
elif job == "deep":
    PosteriorEstimator().estimate(collection, outside, "P@1000")
else:
    measures = [f"P@{n}" for n in (5, 10, 20, 30, 100)]
    result = leave_out(collection, measures, estimators="all", top=75, n_jobs=2)
wall, cpu = time.perf_counter() - wall, processor() - cpu
if job == "leave-out":
    cpu = sum(result.seconds.values())  # of the folds, whose processes end later
memory = max(resource.getrusage(w).ru_maxrss for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(json.dumps({"cpu": cpu, "wall": wall, "memory": memory / 2**20, "file": bayespool.__file__}))
"""


def main() -> int:
    """Print a row for each job."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", help=f"some of {', '.join(JOBS)}; default: all")
    parser.add_argument("--other", type=Path, required=True, help="folder of the other checkout")
    parser.add_argument("--repeat", type=int, default=2)
    arguments = parser.parse_args()
    if unknown := set(arguments.jobs) - set(JOBS):
        parser.error(f"no job {unknown.pop()!r}; known: {', '.join(JOBS)}")
    checkouts = {"other": arguments.other.resolve(), "this": Path(__file__).resolve().parents[1]}
    for job in arguments.jobs or JOBS:
        found: dict[str, list[dict[str, float]]] = {name: [] for name in checkouts}
        for _ in range(arguments.repeat):
            for name, folder in checkouts.items():
                found[name].append(run(job, folder))
        print(f"\n{JOBS[job]}")
        for what, unit in (("cpu", "s of processor time"), ("wall", "s"), ("memory", "GiB at most")):
            other, this = (min(one[what] for one in found[name]) for name in checkouts)
            print(f"  other {other:8.2f}   this {this:8.2f}   ratio {this / other:5.2f}   {unit}", flush=True)
    return 0


def run(job: str, folder: Path) -> dict[str, float]:
    """What a job takes in a checkout."""
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-c", WORK, job]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    taken: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    if not str(taken.pop("file")).startswith(str(folder)):
        raise SystemExit(f"{folder}: bayespool came from elsewhere")
    return taken


if __name__ == "__main__":
    sys.exit(main())

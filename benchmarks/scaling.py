"""How the time and memory of a posterior grow with topics and runs.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/scaling.py [--topics 50 200 800 3200] [--runs 18 36 72]
        [--other ../old]

TREC-8 down to rank 100, of which the first pooled runs and copies of the topics under new ids are taken. One
pooled run leaves
with its organization and is scored by the posterior at P@10, in a process of its own for each size. Printed
are seconds of processor time of the fits to the models with predictors and of the whole estimate, both once
loops are compiled, and the peak of memory beyond that of the collection (on Linux). Exponents are slopes of
log cost over log size, by least squares. With ``--other``, a clone of this repository at another commit, the
same of that, and ratios.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from at_hand import UNSET

N_RUNS = 30  # with each number of topics
DEPTH = 100  # of the runs and the pool
N_TOPICS = 50  # with each number of runs


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, nargs="*", default=[50, 200, 800, 3200])
    parser.add_argument("--runs", type=int, nargs="*", default=[18, 36, 72])
    parser.add_argument("--other", type=Path, help="a clone of this repository at another commit")
    parser.add_argument("--size", type=int, nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.size:
        print(json.dumps(cost(*asked.size)))
        return
    if not os.environ.get("BAYESPOOL_COLLECTIONS"):
        parser.error(UNSET)
    here = Path(__file__).resolve().parent.parent
    for what, sizes in (
        ("topics", [(n, N_RUNS) for n in asked.topics]),
        ("runs", [(N_TOPICS, n) for n in asked.runs]),
    ):
        costs = {size: measured(here, size) for size in sizes}
        others = {size: measured(asked.other.resolve(), size) for size in sizes} if asked.other else {}
        report(what, costs, others)


def measured(checkout: Path, size: tuple[int, int]) -> dict[str, float]:
    """`cost` of a size in a process of its own, with the package of a checkout."""
    paths = os.pathsep.join([str(checkout), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, __file__, "--size", *map(str, size)],
        env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def cost(n_topics: int, n_runs: int) -> dict[str, float]:
    """Seconds and megabytes of one size."""
    import time
    import warnings

    import pyarrow as pa
    from at_hand import read

    from bayespool import Collection, parse_measure
    from bayespool.inference import Laplace
    from bayespool.posterior import PosteriorEstimator, ScoringProblem

    warnings.simplefilter("ignore")
    whole = read(Path(os.environ["BAYESPOOL_COLLECTIONS"]) / "trec8-adhoc", max_holes=0)
    kept = np.flatnonzero(whole.pooled)[:n_runs]
    whole = dataclasses.replace(
        whole,
        run_ids=tuple(whole.run_ids[r] for r in kept),
        document=whole.document[kept, :, :DEPTH].copy(),
        organization=whole.organization[kept],
        pooled=whole.pooled[kept],
    ).with_pool(np.ones(len(kept), dtype=bool), DEPTH)

    def copied(n_copies: int) -> Collection:
        n_pairs, n = len(whole.relevance), len(whole.query_ids)
        document = [np.where(whole.document < 0, -1, whole.document + i * n_pairs) for i in range(n_copies)]
        return dataclasses.replace(
            whole,
            query_ids=tuple(f"{i:03d}-{q}" for i in range(n_copies) for q in whole.query_ids),
            document=np.concatenate(document, axis=1),
            relevance=np.tile(whole.relevance, n_copies),
            pair_topic=np.concatenate([whole.pair_topic + i * n for i in range(n_copies)]),
            doc_ids=pa.concat_arrays([whole.doc_ids] * n_copies),
            added_for=np.tile(whole.added_for, n_copies),
        )

    def reduced(n_copies: int) -> tuple[Collection, str]:
        collection = copied(n_copies)
        run = collection.pooled_run_ids[0]
        return collection.unpool(run), run

    def processor() -> float:
        return time.process_time()

    small, run = reduced(1)
    PosteriorEstimator(draws=10).estimate(small, run, "P@10")
    collection, run = reduced(n_topics // len(whole.query_ids))
    before = megabytes("VmRSS")
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    task = ScoringProblem(collection, (run,), parse_measure("P@10"), "complete")
    prepared = [task.prepare(model, {}) for model in ("ratio", "evidence")]
    start = processor()
    for one in prepared:
        engine: Any = Laplace(draws=4000)
        if hasattr(engine, "name"):
            engine.fit(one.spec, one.evidence, 1, known=one.known)
        else:  # a checkout from before engines took models
            engine.fit(one.structure(), one.evidence.coords, random_seed=1)
    fits = processor() - start
    start = processor()
    (estimates,) = PosteriorEstimator().estimate(collection, run, "P@10")
    whole_estimate = processor() - start
    assert estimates.draws is not None
    return {
        "fits": fits,
        "estimate": whole_estimate,
        "megabytes": megabytes("VmHWM") - before,
        "hidden": int(prepared[1].evidence.n_hidden.sum()),
    }


def megabytes(name: str) -> float:
    """Memory of this process by Linux's name; 0 elsewhere."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def report(
    what: str, costs: dict[tuple[int, int], dict[str, float]], others: dict[tuple[int, int], dict[str, float]]
) -> None:
    """Print a table in Markdown, and the exponents."""
    head = "| topics | runs | hidden documents | fits, s | estimate, s | MB |"
    print(f"\n{head}{' other: fits, estimate |' * bool(others)}")
    print("| ---: " * (6 + bool(others)) + "|")
    for (n_topics, n_runs), c in costs.items():
        line = f"| {n_topics} | {n_runs} | {c['hidden']:,} | {c['fits']:.2f} | {c['estimate']:.2f} "
        line += f"| {c['megabytes']:.0f} |"
        if others:
            o = others[n_topics, n_runs]
            times = f"{o['fits'] / c['fits']:.1f}, {o['estimate'] / c['estimate']:.1f} times"
            line += f" {o['fits']:.2f}, {o['estimate']:.2f}: {times} |"
        print(line)
    if len(costs) > 1:
        size = np.log([n[what == "runs"] for n in costs])
        exponents = {
            name: np.polyfit(size, np.log([max(c[name], 1e-3) for c in costs.values()]), 1)[0]
            for name in ("fits", "estimate", "megabytes")
        }
        told = ", ".join(f"{name} {value:.2f}" for name, value in exponents.items())
        print(f"exponents in {what}: {told}")


if __name__ == "__main__":
    main()

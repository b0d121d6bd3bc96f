"""Time one fit of every model: Laplace with its evidence gathered, and NUTS after compilation.

    python benchmarks/fit.py COLLECTIONS/trec2-adhoc -m P@10

Takes one organization out of the pool and fits each model for its runs, as one step of a leave-out experiment
does. Prints, per model: seconds of the Laplace fit, evidence gathered anew (the best of --repeat); seconds to
compile the graph, once per model and size; seconds of NUTS; and for both effective draws per second. The
effective draws of NUTS are the fewest of any parameter; Laplace's draws are independent. Without a
collection, a simulated one of the size of TREC-2.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from at_hand import read as read_at_hand

from bayespool import parse_measure, simulate
from bayespool.collection import Collection
from bayespool.experiments import SimulationSettings
from bayespool.inference import NUTS, Laplace
from bayespool.models import MODEL_NAMES
from bayespool.posterior import ScoringProblem

TREC2 = SimulationSettings(
    n_topics=50, n_candidates=1500, n_organizations=22, max_runs=2, pool_depth=100, run_depth=1000
)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection", type=Path, nargs="?")
    parser.add_argument("-m", "--measure", default="P@10")
    parser.add_argument("--models", default=",".join(MODEL_NAMES))
    parser.add_argument("--draws", type=int, default=1000, help="per chain of four; Laplace makes four times")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-nuts", action="store_true", help="only the fast engine")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    collection = read(args.collection)
    name = collection.organizations[np.bincount(collection.organization[collection.pooled]).argmax()]
    reduced = collection.unpool(organization=name)
    runs = tuple(
        r
        for r, o, pooled in zip(collection.run_ids, collection.organization, collection.pooled, strict=True)
        if pooled and collection.organizations[o] == name
    )
    print(f"{reduced}\n{args.measure} of {len(runs)} runs")
    print(
        f"{'model':15s}{'laplace s':>10s}{'ess/s':>9s}{'compile s':>11s}{'nuts s':>8s}{'min ess':>9s}"
        f"{'ess/s':>8s}{'ess/draw':>10s}  problems"
    )
    for model in args.models.split(","):
        print(line(reduced, runs, model, args), flush=True)


def read(folder: Path | None) -> Collection:
    """The collection of a folder, or a simulated one."""
    if folder is None:
        return simulate(TREC2, random_seed=1).collection
    return read_at_hand(folder)


def line(collection: Collection, runs: tuple[str, ...], model: str, args: argparse.Namespace) -> str:
    """One model's row."""
    seconds = []
    for _ in range(args.repeat):
        start = time.perf_counter()
        task = ScoringProblem(collection, runs, parse_measure(args.measure), "pooled")
        prepared = task.prepare(model, {})  # type: ignore[arg-type]
        engine = Laplace(draws=4 * args.draws)
        laplace = engine.fit(prepared.spec, prepared.evidence, 1)
        seconds.append(time.perf_counter() - start)
    best = min(seconds)
    text = f"{model:15s}{best:10.2f}{4 * args.draws / best:9.0f}"
    problems = [f"laplace: {p}" for p in laplace.diagnostics.problems]
    if not args.no_nuts:
        start = time.perf_counter()
        compiled = NUTS(draws=args.draws).compile(prepared.graph())
        middle = time.perf_counter()
        nuts = compiled.sample(random_seed=1, data=prepared.evidence.arrays())
        end = time.perf_counter()
        ess = nuts.diagnostics.min_ess_bulk
        text += f"{middle - start:11.1f}{end - middle:8.1f}{ess:9.0f}{ess / (end - middle):8.0f}"
        text += f"{ess / (4 * args.draws):10.2f}"
        problems += [f"nuts: {p}" for p in nuts.diagnostics.problems]
    return text + "  " + "; ".join(problems)


if __name__ == "__main__":
    main()

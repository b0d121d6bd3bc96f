"""Leave every organization out of a pool and compare estimates of its runs with the truth.

    python benchmarks/leave_out.py COLLECTIONS/trec2011-medical -m P@5 -m P@10 --estimators
    anti-precision,posterior-combined

Prints, per measure and estimator: mean absolute error over the best 75 % of the pooled runs and over all,
bias, and for posteriors the share of randomised PIT values inside the central 95 % and 50 %. A stand-in until
the package has its experiments.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from bayespool import judgment_counts, parse_measure, read_collection
from bayespool.scoring import parse_estimator


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection", type=Path)
    parser.add_argument("-m", "--measure", action="append", default=None)
    parser.add_argument(
        "--estimators", default="lower-bound,systems-adjustment,anti-precision,posterior-combined"
    )
    parser.add_argument("--pool-depth", type=int, help="re-pool to this depth first")
    parser.add_argument("--max-holes", type=int)
    parser.add_argument("--top", type=float, default=75)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = args.collection
    full = read_collection(
        folder / "qrels.txt",
        pool=folder / "runs",
        organizations=folder / "organizations.csv",
        strict=False,
        max_holes=args.max_holes,
    )
    if args.pool_depth:
        full = full.truncate_pool(args.pool_depth)
    print(full)
    measures = [parse_measure(m) for m in args.measure or ["P@10"]]
    estimators = [parse_estimator(e) for e in args.estimators.split(",")]
    organizations = np.unique(full.organization[full.pooled])
    rows: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    seconds = dict.fromkeys((e.name for e in estimators), 0.0)
    rng = np.random.default_rng(1)
    for o in organizations:
        reduced = full.unpool(organization=full.organizations[o])
        runs = [full.run_ids[i] for i in np.flatnonzero(full.pooled & (full.organization == o))]
        truths = {
            m: judgment_counts(full, runs, cutoffs=m.cutoff, rel=m.rel).n_relevant.sum(axis=(1, 2))
            for m in measures
        }
        unjudged = {
            m: judgment_counts(reduced, runs, cutoffs=m.cutoff, rel=m.rel).n_unjudged.sum(axis=(1, 2))
            for m in measures
        }
        for estimator in estimators:
            start = time.perf_counter()
            results = estimator.estimate(reduced, runs, measures)
            seconds[estimator.name] += time.perf_counter() - start
            for measure, result in zip(measures, results, strict=True):
                n = measure.cutoff * len(full.query_ids)
                for r in range(len(runs)):
                    truth, pit = truths[measure][r], np.nan
                    if result.draws is not None and unjudged[measure][r]:
                        total = result.draws[:, r].sum(axis=1)
                        pit = (total < truth).mean() + rng.random() * (total == truth).mean()
                    weight = result.weights.get("evidence", np.nan)
                    rows.setdefault((str(measure), estimator.name), []).append(
                        (truth / n, result.value[r], pit, weight)
                    )
    print(
        f"{'measure':9s} {'estimator':24s} {'MAE':>7s} {'all':>7s} {'bias':>8s} "
        f"{'in 95%':>7s} {'in 50%':>7s} {'runs':>5s} {'w(ev)':>6s}"
    )
    for (measure, name), of_one in rows.items():
        table = np.array(of_one)
        best = np.argsort(-table[:, 0], kind="stable")[: int(args.top / 100 * len(table) + 0.5)]
        error = table[:, 1] - table[:, 0]
        pit = table[np.isfinite(table[:, 2]), 2]
        inside = [np.mean(np.abs(pit - 0.5) < p / 2) if len(pit) else np.nan for p in (0.95, 0.5)]
        print(
            f"{measure:9s} {name:24s} {np.abs(error[best]).mean():7.4f} "
            f"{np.abs(error).mean():7.4f} {error[best].mean():8.4f} "
            f"{inside[0]:7.3f} {inside[1]:7.3f} {len(pit):5d} {table[:, 3].mean():6.2f}"
        )
    for name, spent in seconds.items():
        print(f"{name}: {spent / len(organizations) / len(measures):.2f} s per organization and measure")


if __name__ == "__main__":
    main()

"""Over which ideal ranking should runs be scored: each run's own, or one of the runs asked together?

    python research/decisions/ideals.py [COLLECTION ...] [--organizations 8] [--clusters 3] [--draws 100]

Leaves organizations out of the pool (near), evenly spread over those of two runs and more, then types of runs
or, where types are not known, clusters (far), and completes the runs of each together. Estimates over both
ideals are from the same draws. The truth is of all judgments, which have one ideal for all runs. By
collection, place and measure: mean error and mean absolute error of scores, and share of 95 % intervals that
contain the truth; of the differences of pairs that were left out together error, coverage and share in the
right order. Organizations, types and clusters have equal weights.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from shared import contributors, head, markdown, place, read, run_types

from bayespool import Collection, parse_measure
from bayespool.evidence import cluster_runs, score_bounds
from bayespool.measures import equal_tailed_interval
from bayespool.posterior import PosteriorEstimator

COLLECTIONS = ("dl21-passage", "covid-round4", "trec2-adhoc", "trec8-adhoc", "trec2011-medical")
MEASURES = ("nDCG@10", "AP@100", "R@100")
IDEALS = ("own", "shared")
EPS = 1e-9


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collections", nargs="*", default=COLLECTIONS)
    parser.add_argument("--organizations", type=int, default=8)
    parser.add_argument("--clusters", type=int, default=3)
    parser.add_argument("--model", default="combined")
    parser.add_argument("--draws", type=int, default=100, help="per chain, of four")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    head(
        "collection",
        "runs",
        "measure",
        "ideal",
        "error",
        "MAE",
        "in 95 %",
        "MAE of pairs",
        "in 95 %",
        "order",
    )
    every = []
    for name in asked.collections:
        whole = read(name)
        estimator = PosteriorEstimator(model=asked.model, draws=asked.draws, estimand="pooled")
        units = [*near(whole, asked.organizations), *far(whole, name, asked.clusters)]
        rows = pd.DataFrame([row for unit in units for row in graded(whole, estimator, *unit)])
        every.append(rows.assign(collection=name))
        print_means(every[-1])
    print_means(pd.concat(every).assign(collection="all"))


def near(whole: Collection, n: int) -> list[tuple[str, list[str]]]:
    """Organizations of two runs and more, evenly spread."""
    them = [("near", runs) for _, runs in sorted(contributors(whole)) if len(runs) > 1]
    return [them[i] for i in np.unique(np.linspace(0, len(them) - 1, n).astype(int))]


def far(whole: Collection, name: str, n: int) -> list[tuple[str, list[str]]]:
    """Runs of each type, or else of clusters, that can be left out."""
    pooled, path = whole.pooled_run_ids, place(name) / "run-types.csv"
    if path.exists():
        types = run_types(whole, name)
        of_type = [[run for run in pooled if types.get(run) == t] for t in sorted(set(types.values()))]
    else:
        of_type = [list(cluster.run_ids) for cluster in cluster_runs(whole, n)]
    return [("far", runs) for runs in of_type if 1 < len(runs) <= len(pooled) / 2]


def graded(
    whole: Collection, estimator: PosteriorEstimator, place: str, runs: list[str]
) -> Iterator[dict[str, object]]:
    """Yield the errors of a unit left out, by measure and ideal."""
    names = [m.replace("@", f"(ideal='{i}')@") for m, i in itertools.product(MEASURES, IDEALS)]
    labels = itertools.product(MEASURES, IDEALS)
    estimates = estimator.estimate(whole.unpool(runs), runs, names)
    a, b = np.triu_indices(len(runs), 1)
    for (measure, ideal), e in zip(labels, estimates, strict=True):
        truth = score_bounds(whole, runs, parse_measure(measure)).low.means()
        draws = e.draws.means()
        of_pairs = draws[:, a] - draws[:, b]
        true_pairs, apart = truth[a] - truth[b], np.abs(truth[a] - truth[b]) > EPS
        error, error_of_pairs = e.value - truth, (e.value[a] - e.value[b]) - true_pairs
        yield {
            "runs": place, "measure": measure, "ideal": ideal, "error": error.mean(),
            "mae": np.abs(error).mean(), "held": within(draws, truth).mean(),
            "pairs_mae": np.abs(error_of_pairs).mean(), "pairs_held": within(of_pairs, true_pairs).mean(),
            "order": ((e.value[a] - e.value[b]) * true_pairs > 0)[apart].mean(),
        }  # fmt: skip


def within(draws: np.ndarray, truth: np.ndarray) -> np.ndarray:
    lower, upper = equal_tailed_interval(draws, 0.95)
    return (lower - EPS <= truth) & (truth <= upper + EPS)


def print_means(rows: pd.DataFrame) -> None:
    for keys, mean in rows.groupby(["collection", "runs", "measure", "ideal"], sort=False).mean().iterrows():
        numbers = (f"{mean[c]:.4f}" for c in ("error", "mae"))
        pairs = f"{mean['pairs_mae']:.4f}", f"{mean['pairs_held']:.0%}", f"{mean['order']:.1%}"
        markdown((*keys, *numbers, f"{mean['held']:.0%}", *pairs))


if __name__ == "__main__":
    main()

"""How well estimates hold without a pool: runs of the campaign scored on qrels and their own documents alone.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/no_pool.py [--by organization] [--every 3] [--runs 3]
        [--draws 1000] [--models combined,interpolated] [--log-ratio PRIOR]

Some runs of each of six pools are left out. Then the benchmark forgets which runs were pooled, so that no
hidden document is evidence. What is left out is

- ``--by organization``: each third organization, near newcomers;
- ``--by cluster``: each cluster of runs that retrieve alike, of ten, which is far newcomers;
- ``--by type``: the runs of each type, where the collection has types, which is far newcomers, too.

It prints by pool, measure and model the shares of PIT values in the central 95 and 50 %, their mean, the mean
error (bias), the mean absolute error, and the mean width of 95 % intervals. Of an organization at most three
runs count, of a cluster or type at most three of each organization. ``log_ratio`` is what the newcomers' log
ratio of the odds would have to be for the model to expect as many relevant documents as there are, in the
median over what was left out. After the tables come its quantiles over all that was left out.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from at_hand import collections_folder, read
from scipy.optimize import brentq
from scipy.special import expit

from bayespool import Collection, parse_measure, score
from bayespool.collection import read_run_types
from bayespool.evidence import cluster_runs, score_bounds
from bayespool.inference import Laplace
from bayespool.measures import Measure
from bayespool.posterior import PosteriorEstimator, ScoringProblem

POOLS: tuple[tuple[str, int | None, tuple[str, ...]], ...] = (
    ("trec2-adhoc", None, ("P@10",)),
    ("trec8-adhoc", 10, ("P@10",)),
    ("trec8-adhoc", None, ("P@10",)),
    ("trec2011-medical", None, ("P@10",)),
    ("dl21-passage", None, ("P@10", "P(rel=2)@10")),
    ("covid-round4", None, ("P@10", "P(rel=2)@10")),
)
N_CLUSTERS = 10
MOST = 8.0
"""A log ratio is looked for between -8 and 8."""


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--by", choices=("organization", "cluster", "type"), default="organization")
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--models", default="combined,interpolated")
    parser.add_argument("--log-ratio", help="another prior of log_ratio, as Normal(-2, 1.5)")
    asked = parser.parse_args()
    folder = collections_folder(parser)
    warnings.simplefilter("ignore")
    priors = {"log_ratio": asked.log_ratio} if asked.log_ratio else {}
    estimators = [
        PosteriorEstimator(model=model, draws=asked.draws, priors=priors if model != "interpolated" else {})
        for model in asked.models.split(",")
    ]
    frames, ratios = [], []
    for name, depth, measures in POOLS:
        collection = read(folder / name, **({"order": "rank"} if name.startswith("dl") else {}))
        pool = collection if depth is None else collection.truncate_pool(depth)
        label = name if depth is None else f"{name} to depth {depth}"
        for left_out, members in newcomers(pool, asked.by, folder / name, asked.every):
            smaller = pool.unpool(members)
            forgotten = smaller.with_pool(np.zeros(len(pool.run_ids), dtype=bool), 0)
            runs = a_few(pool, members, asked.runs)
            for measure in map(parse_measure, measures):
                ratios.append(
                    (label, str(measure), left_out, log_ratio(collection, forgotten, runs, measure))
                )
            for estimates in score(forgotten, runs, measures, estimators=estimators).estimates:
                if estimates.draws is None:
                    continue
                truth = score_bounds(collection, runs, estimates.measure).low.means()
                draws = estimates.draws.means()
                low, high = np.quantile(draws, [0.025, 0.975], axis=0)
                rows = {
                    "pit": ((draws < truth).mean(axis=0) + (draws <= truth).mean(axis=0)) / 2,
                    "error": estimates.value - truth,
                    "width": high - low,
                }
                of_this = {"pool": label, "measure": str(estimates.measure), "estimator": estimates.method}
                of_this |= {"left_out": left_out} if asked.by == "type" else {}
                frames.append(pd.DataFrame(of_this | rows))
    found = pd.concat(frames, ignore_index=True)
    needed = pd.DataFrame(ratios, columns=["pool", "measure", "left_out", "log_ratio"])
    parts = ["left_out"] if asked.by == "type" else []
    table = summary(found, ["pool", "measure", *parts, "estimator"])
    medians = needed.groupby(["pool", "measure", *parts], sort=False)["log_ratio"].median()
    print(table.join(medians).to_string(float_format="{:.3f}".format))
    print(summary(found, ["estimator"]).to_string(float_format="{:.3f}".format))
    quantiles = needed["log_ratio"].quantile([0.025, 0.1, 0.5, 0.9, 0.975])
    print(f"\nlog ratio over {len(needed)} left-out groups and measures")
    print(quantiles.to_string(float_format="{:.2f}".format))


def newcomers(pool: Collection, by: str, place: Path, every: int) -> Iterator[tuple[str, Sequence[str]]]:
    """Names and runs of what is left out in turn."""
    pooled = np.flatnonzero(pool.pooled)
    if by == "organization":
        for organization in list(dict.fromkeys(pool.organization[pooled].tolist()))[::every]:
            own = pooled[pool.organization[pooled] == organization]
            yield pool.organizations[organization], [pool.run_ids[r] for r in own]
    elif by == "cluster":
        for cluster in cluster_runs(pool, N_CLUSTERS):
            if not cluster.stays:
                yield cluster.name, cluster.run_ids
    elif (place / "run-types.csv").exists():
        types = read_run_types(place / "run-types.csv")
        for kind in sorted(set(types.values())):
            own = [pool.run_ids[r] for r in pooled if types.get(pool.run_ids[r]) == kind]
            if own and len(own) < len(pooled):
                yield kind, own


def a_few(pool: Collection, members: Sequence[str], most: int) -> list[str]:
    """The first runs of each organization, in the order of the members."""
    organization = pool.organization[pool.run_index(members)]
    seen = pd.Series(organization).groupby(organization).cumcount()
    return [run for run, n in zip(members, seen, strict=True) if n < most]


def log_ratio(whole: Collection, forgotten: Collection, runs: list[str], measure: Measure) -> float:
    """The log ratio of odds at which `odds_ratio` expects as many relevant documents among the unjudged ones
    as there are, given what judged documents say of topics and runs; NaN where nothing is unjudged.
    """
    task = ScoringProblem(forgotten, tuple(runs), measure, "complete")
    unknowns = task.unknowns
    if not len(unknowns):
        return float("nan")
    found = int((whole.relevance[unknowns.pair] >= measure.rel).sum())
    prepared = task.prepare("odds_ratio", {})
    draws = dict(Laplace(draws=200).fit(prepared.spec, prepared.evidence, 1).draws())
    source = np.arange(200)

    def surplus(value: float) -> float:
        given = draws | {"log_ratio": np.full(len(source), value)}
        log_odds = [
            prepared.log_odds(given, source, topic, unknowns.on_topic(topic))
            for topic in range(len(forgotten.query_ids))
        ]
        return float(expit(np.concatenate(log_odds, axis=1)).mean(axis=0).sum()) - found

    if surplus(-MOST) > 0:
        return -MOST
    return MOST if surplus(MOST) < 0 else float(brentq(surplus, -MOST, MOST))


def summary(found: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Shares of PIT values in central intervals, and errors."""
    off = (found["pit"] - 0.5).abs()
    rows = found.assign(in_95=off <= 0.475, in_50=off <= 0.25, mae=found["error"].abs())
    means = {name: (name, "mean") for name in ("in_95", "in_50", "pit", "error", "mae", "width")}
    return rows.groupby(by, sort=False).agg(n=("pit", "size"), **means)


if __name__ == "__main__":
    main()

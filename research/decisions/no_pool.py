"""How well estimates hold without a pool: runs scored on qrels and their own documents alone.

    python research/decisions/no_pool.py [--by organization|cluster|type] [--every 3] [--runs 3]
        [--draws 1000] [--models combined,interpolated] [--log-ratio PRIOR]

Some runs of each of six pools are left out, and nobody knows which runs were pooled: each third organization
(near newcomers), each of ten clusters of runs that retrieve alike, or the runs of each type (far ones). By
pool, measure and model the shares of PIT values in the central 95 and 50 %, their mean, bias, mean absolute
error and width. Of an organization at most three runs count. ``log_ratio`` is what the newcomers' log ratio
of odds would have to be for the model to expect as many relevant documents as there are: its median, and
below the tables its quantiles over all that was left out. The diary has the prior that this decided.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from shared import contributors, forget_pool, place, read

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
MOST = 8.0  # a log ratio is looked for between -8 and 8


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--by", choices=("organization", "cluster", "type"), default="organization")
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--models", default="combined,interpolated")
    parser.add_argument("--log-ratio", help="another prior of log_ratio, as Normal(-2, 1.5)")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    priors = {"log_ratio": asked.log_ratio} if asked.log_ratio else {}
    estimators = [
        PosteriorEstimator(model=model, draws=asked.draws, priors=priors if model != "interpolated" else {})
        for model in asked.models.split(",")
    ]
    frames, ratios = [], []
    for name, depth, measures in POOLS:
        collection = read(name, **({"order": "rank"} if name.startswith("dl") else {}))
        pool = collection if depth is None else collection.truncate_pool(depth)
        label = name if depth is None else f"{name} to depth {depth}"
        for left_out, members in newcomers(pool, asked.by, name, asked.every):
            alone = forget_pool(pool.unpool(members))
            organization = pd.Series(pool.organization[pool.run_index(members)])
            nth = organization.groupby(organization).cumcount()
            runs = [run for run, n in zip(members, nth, strict=True) if n < asked.runs]
            key = {"pool": label, "left_out": left_out if asked.by == "type" else ""}
            for measure in map(parse_measure, measures):
                needed = log_ratio(collection, alone, runs, measure)
                ratios.append({**key, "measure": str(measure), "log_ratio": needed})
            for e in score(alone, runs, measures, estimators=estimators).estimates:
                if e.draws is not None:
                    truth, draws = score_bounds(collection, runs, e.measure).low.means(), e.draws.means()
                    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
                    pit = ((draws < truth).mean(axis=0) + (draws <= truth).mean(axis=0)) / 2
                    rows = {"pit": pit, "error": e.value - truth, "width": high - low}
                    frames.append(
                        pd.DataFrame({**key, "measure": str(e.measure), "estimator": e.method, **rows})
                    )
    graded, needed_ratios = pd.concat(frames, ignore_index=True), pd.DataFrame(ratios)
    keys = ["pool", "measure", "left_out"]
    medians = needed_ratios.groupby(keys, sort=False)["log_ratio"].median()
    print(summary(graded, [*keys, "estimator"]).join(medians).to_string(float_format="{:.3f}".format))
    print(summary(graded, ["estimator"]).to_string(float_format="{:.3f}".format))
    print(f"\nlog ratio over {len(ratios)} left-out groups and measures")
    print(needed_ratios["log_ratio"].quantile([0.025, 0.1, 0.5, 0.9, 0.975]).round(2).to_string())


def newcomers(pool: Collection, by: str, name: str, every: int) -> Iterator[tuple[str, Sequence[str]]]:
    """Names and runs of what is left out in turn."""
    if by == "organization":
        first = {run: place for place, run in enumerate(pool.run_ids)}
        yield from sorted(contributors(pool), key=lambda its: first[its[1][0]])[::every]
    elif by == "cluster":
        yield from ((c.name, c.run_ids) for c in cluster_runs(pool, 10) if not c.stays)
    elif (place(name) / "run-types.csv").exists():
        types = read_run_types(place(name) / "run-types.csv")
        for kind in sorted(set(types.values())):
            own = [run for run in pool.pooled_run_ids if types.get(run) == kind]
            if own and len(own) < len(pool.pooled_run_ids):
                yield kind, own


def log_ratio(whole: Collection, alone: Collection, runs: list[str], measure: Measure) -> float:
    """The log ratio of odds at which `odds_ratio` expects as many relevant documents among the unjudged ones
    as there are, given what judged documents say of topics and runs; NaN where nothing is unjudged.
    """
    task = ScoringProblem(alone, tuple(runs), measure, "complete")
    unknowns = task.unknowns
    if not len(unknowns):
        return float("nan")
    n_relevant = int((whole.relevance[unknowns.pair] >= measure.rel).sum())
    prepared, source = task.prepare("odds_ratio", {}), np.arange(200)
    draws = dict(Laplace(draws=200).fit(prepared.spec, prepared.evidence, 1).draws())

    def surplus(value: float) -> float:
        given = draws | {"log_ratio": np.full(len(source), value)}
        topics = range(len(alone.query_ids))
        log_odds = [prepared.log_odds(given, source, t, unknowns.on_topic(t)) for t in topics]
        return float(expit(np.concatenate(log_odds, axis=1)).mean(axis=0).sum()) - n_relevant

    if surplus(-MOST) > 0:
        return -MOST
    return MOST if surplus(MOST) < 0 else float(brentq(surplus, -MOST, MOST))


def summary(graded: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    off = (graded["pit"] - 0.5).abs()
    rows = graded.assign(in_95=off <= 0.475, in_50=off <= 0.25, mae=graded["error"].abs())
    means = {name: (name, "mean") for name in ("in_95", "in_50", "pit", "error", "mae", "width")}
    return rows.groupby(by, sort=False).agg(n=("pit", "size"), **means)


if __name__ == "__main__":
    main()

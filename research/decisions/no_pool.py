"""How well estimates hold without a pool, or with one that is a part of the judging.

    python research/decisions/no_pool.py [--by organization|cluster|type] [--every 3] [--runs 3]
        [--draws 1000] [--models combined,interpolated] [--log-ratio PRIOR]
    python research/decisions/no_pool.py --explained 0.1,0.25,0.5,0.75 [--by organization|own|cluster|type]
        [--every 3] [--runs 3] [--draws 200] [--dropped] [--as-left-out] [--collections dl21-passage,…]

Some runs of each of six pools are left out: each third organization (near newcomers), each of ten clusters of
runs that retrieve alike, or the runs of each type (far ones). Documents that they alone brought are unjudged
then. Of an organization at most three runs count.

Without ``--explained`` nobody knows which runs were pooled. By pool, measure and model the shares of PIT
values in the central 95 and 50 %, their mean, bias, mean absolute error and width. ``log_ratio`` is what the
newcomers' log ratio of odds would have to be for the model to expect as many relevant documents as there are:
its median, and below the tables its quantiles over all that was left out. The diary has the prior that this
decided.

With it the pool is cut to organizations at random that explain these shares of the judgments, the other
judgments stay (or go, ``--dropped``; or only those of the newcomers' documents that the pool lacks go, as
`bayespool.leave_out` conceals them, ``--as-left-out``), and estimates with that pool stand beside those on
priors alone and two corrections: the posterior, the same without a shift, and a placebo whose shift hangs on
no share. By ``own`` one run is new, of an organization whose other runs are in the pool. Shares are means
over organizations, with standard errors (diary, *A pool that is a part of the judging*).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from shared import contributors, forget_pool, place, read, run_types

from bayespool import Collection, parse_measure
from bayespool.corrections import Interpolated, Smoothed
from bayespool.evidence import cluster_runs, score_bounds
from bayespool.inference import Laplace
from bayespool.measures import Estimates, Estimator, Measure
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
    parser.add_argument("--by", choices=("organization", "own", "cluster", "type"), default="organization")
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--models", default="combined,interpolated")
    parser.add_argument("--log-ratio", help="another prior of log_ratio, as Normal(-2, 1.5)")
    parser.add_argument("--explained", help="shares of the judgments that pools are cut to")
    parser.add_argument("--dropped", action="store_true", help="without judgments that the pool lacks")
    parser.add_argument("--as-left-out", action="store_true", help="conceal what leave-out does")
    parser.add_argument("--collections", help="some of them, with commas")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    kept = asked.collections.split(",") if asked.collections else [name for name, _, _ in POOLS]
    frames, ratios = [], []
    for name, depth, measures in POOLS:
        if name not in kept or (asked.explained and (name, depth) == ("trec8-adhoc", None)):
            continue
        collection = read(name, **({"order": "rank"} if name.startswith("dl") else {}))
        pool = collection if depth is None else collection.truncate_pool(depth)
        label = name if depth is None else f"{name} to depth {depth}"
        for number, (left_out, members) in enumerate(newcomers(pool, asked.by, name, asked.every)):
            rest = pool.unpool(members).judged_at_most(collection.judged)
            organization = pd.Series(pool.organization[pool.run_index(members)])
            nth = organization.groupby(organization).cumcount()
            runs = [run for run, n in zip(members, nth, strict=True) if n < asked.runs]
            key = {"pool": label, "left_out": left_out if asked.by == "type" else ""}
            if not asked.explained:
                alone = forget_pool(rest)
                for measure in map(parse_measure, measures):
                    needed = log_ratio(collection, alone, runs, measure)
                    ratios.append({**key, "measure": str(measure), "log_ratio": needed})
                frames += [key | row for row in graded_rows(collection, alone, runs, measures, models(asked))]
            for share in map(float, (asked.explained or "").split(",") if asked.explained else ()):
                rng = np.random.default_rng([number, round(100 * share)])
                cut = cut_pool(rest, share, rng, left_out if asked.by == "own" else None)
                if cut is None:
                    continue
                if asked.as_left_out:
                    known = cut.pooled.copy()
                    known[pool.run_index(members)] = True
                    cut = pool.with_pool(known, pool.pool).unpool(members).judged_at_most(collection.judged)
                if asked.dropped:
                    cut = cut.without_judgments(cut.judged & ~cut.in_pool())
                rows = graded_rows(collection, cut, runs, measures[-1:], of_cut_pools(asked.draws))
                frames += [key | {"explained": share} | row for row in rows]
    graded = pd.DataFrame(frames)
    if asked.explained:
        for by in (["explained", "estimator"], ["pool", "explained", "estimator"]):
            print(summary(graded, by).to_string(float_format="{:.4f}".format), flush=True)
        return
    needed_ratios = pd.DataFrame(ratios)
    keys = ["pool", "measure", "left_out"]
    medians = needed_ratios.groupby(keys, sort=False)["log_ratio"].median()
    print(summary(graded, [*keys, "estimator"]).join(medians).to_string(float_format="{:.3f}".format))
    print(summary(graded, ["estimator"]).to_string(float_format="{:.3f}".format))
    print(f"\nlog ratio over {len(ratios)} left-out groups and measures")
    print(needed_ratios["log_ratio"].quantile([0.025, 0.1, 0.5, 0.9, 0.975]).round(2).to_string())


def models(asked: argparse.Namespace) -> dict[str, Estimator]:
    """Posteriors of the models that are asked for, by name."""
    priors = {"log_ratio": asked.log_ratio} if asked.log_ratio else {}
    made = {
        model: PosteriorEstimator(
            model=model, draws=asked.draws, priors=priors if model != "interpolated" else {}
        )
        for model in asked.models.split(",")
    }
    return {estimator.name: estimator for estimator in made.values()}


@dataclass(frozen=True)
class OnPriors:
    """The posterior of somebody who does not know the pool."""

    posterior: PosteriorEstimator
    name = "priors alone"

    def estimate(
        self, collection: Collection, run_ids: Any = None, measures: Any = "P@10"
    ) -> tuple[Estimates, ...]:
        """Estimates as without a pool."""
        return self.posterior.estimate(forget_pool(collection), run_ids, measures)


def of_cut_pools(draws: int) -> dict[str, Estimator]:
    """What stands beside the posterior where the pool is cut."""
    posterior = PosteriorEstimator(draws=draws, chains=1)
    return {
        "posterior": posterior,
        "no shift": replace(posterior, shift=0.0),
        "placebo": replace(posterior, priors={"shift": "Normal(-0.2, 0.3)"}),
        "priors alone": OnPriors(posterior),
        "smoothed": Smoothed(),
        "interpolated": Interpolated(),
    }


def graded_rows(
    whole: Collection,
    seen: Collection,
    runs: list[str],
    measures: Sequence[str],
    estimators: Mapping[str, Estimator],
) -> Iterator[dict[str, Any]]:
    """Estimates of runs from what is seen, beside the scores on the whole collection."""
    for label, estimator in estimators.items():
        for e in estimator.estimate(seen, runs, [parse_measure(measure) for measure in measures]):
            truth = score_bounds(whole, runs, e.measure).low.means()
            is_open = score_bounds(seen, runs, e.measure).has_unjudged
            draws = None if e.draws is None else e.draws.means()
            for i in np.flatnonzero(is_open):
                row = {"measure": str(e.measure), "estimator": label, "error": e.value[i] - truth[i]}
                row["organization"] = whole.organization[whole.run_index([runs[i]])][0]
                if draws is not None:
                    own = draws[:, i]
                    row["pit"] = ((own < truth[i] - 1e-9).mean() + (own <= truth[i] + 1e-9).mean()) / 2
                    row["width"] = float(np.subtract(*np.quantile(own, [0.975, 0.025])))
                    apart = np.abs(own[:, None] - own[: len(own) // 2]).mean()
                    row["crps"] = np.abs(own - truth[i]).mean() - apart / 2
                yield row


def cut_pool(
    rest: Collection, share: float, rng: np.random.Generator, first: str | None
) -> Collection | None:
    """The collection with a pool of organizations, from ``first`` on, that explain a share of judgments.

    None where all of them explain less than four fifths of the share.
    """
    of_organizations = dict(contributors(rest))
    order = sorted(rng.permutation(list(of_organizations)), key=lambda name: name != first)
    chosen: list[str] = []
    explained = 0.0
    while order and explained < share:
        chosen += of_organizations[order.pop(0)]
        explained = (rest.judged & rest.in_pool(rest.run_index(chosen))).sum() / rest.judged.sum()
    if explained < 0.8 * share:
        return None
    pooled = np.zeros(len(rest.run_ids), dtype=bool)
    pooled[rest.run_index(chosen)] = True
    return rest.with_pool(pooled, rest.pool)


def newcomers(pool: Collection, by: str, name: str, every: int) -> Iterator[tuple[str, Sequence[str]]]:
    """Names and runs of what is left out in turn."""
    if by == "organization":
        first = {run: place for place, run in enumerate(pool.run_ids)}
        yield from sorted(contributors(pool), key=lambda its: first[its[1][0]])[::every]
    elif by == "own":
        several = [(name, runs) for name, runs in contributors(pool) if len(runs) > 1]
        yield from ((name, runs[:1]) for name, runs in several[::every])
    elif by == "cluster":
        yield from ((c.name, c.run_ids) for c in cluster_runs(pool, 10) if not c.stays)
    elif (place(name) / "run-types.csv").exists():
        types = run_types(pool, name)
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
    """Errors over runs; shares of PIT values as means over organizations, with a standard error."""
    off = (graded["pit"] - 0.5).abs()
    inside = {f"in_{p}": (off <= p / 200).where(off.notna()).astype(float) for p in (95, 80, 50)}
    rows = graded.assign(**inside, mae=graded["error"].abs(), bias=graded["error"])
    means = {name: (name, "mean") for name in ("pit", "mae", "bias", "width", "crps") if name in rows}
    table = rows.groupby(by, sort=False).agg(n=("pit", "size"), **means)
    shares = rows.groupby([*by, "pool", "organization"] if "pool" not in by else [*by, "organization"])
    of_by = shares[list(inside)].mean().groupby(by, sort=False)
    return table.join(of_by.mean()).join(of_by["in_95"].sem().rename("se_95"))


if __name__ == "__main__":
    main()

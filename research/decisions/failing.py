"""Runs that fail on some topics: random documents there, and whether their intervals hold.

    python research/decisions/failing.py [--shares 0,0.2,0.5] [--every 2] [--draws 100] [COLLECTION ...]
    python research/decisions/failing.py --simulated 20

A run of each second organization is copied, with its ranking on a share of the topics replaced by documents
that were judged on other topics, and its organization leaves the pool. Documents that nobody judged on these
topics are nonrelevant; the others have their judgments. Simulated: the truth of all is known (of an ideal
ranking that a run does not reach, too, so not under nDCG). Measures end at rank 10, or at the pool's depth.
By collection, share of failed topics, measure and components of a run's effect on topics (one; two, with
*found nothing*; placebo, this on other topics): bias, mean absolute error, CRPS, width, rms z and the shares
of the randomized PIT in the central 95, 80 and 50 %. With the share 0 runs are ordinary near newcomers.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from shared import contributors, head, markdown, read

from bayespool import (
    Collection,
    SimulationSettings,
    build_collection,
    complete,
    parse_measure,
    score,
    simulate,
)
from bayespool.experiments import central_share

COLLECTIONS = ("dl21-passage", "covid-round4", "trec8-adhoc", "trec2011-medical")
MEASURES = ("P@{}", "nDCG@{}", "P(rel=2)@{}")
READING: dict[str, dict[str, Any]] = {"dl21-passage": {"order": "rank"}}
SIMULATED = SimulationSettings(n_topics=25, n_candidates=400, max_runs=2, n_new=3)
TOP = 100
Ranked = dict[str, dict[str, float]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collections", nargs="*", default=COLLECTIONS)
    parser.add_argument("--shares", default="0,0.2,0.5", help="of topics on which a run fails")
    parser.add_argument("--every", type=int, default=2, help="each nth organization leaves")
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--simulated", type=int, default=0, help="simulated collections instead")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    shares, rows = [float(share) for share in asked.shares.split(",")], []
    head("collection", "failed", "measure", "components", "runs", *COLUMNS)
    for name in ["simulated"] if asked.simulated else asked.collections:
        rows = []
        for share in shares:
            made = simulated(share, asked.simulated) if asked.simulated else real(name, share, asked.every)
            for smaller, whole, run in made:
                rows += [{"failed": share} | row for row in graded(smaller, whole, run, asked.draws)]
        frame = pd.DataFrame(rows)
        for key, some in frame.groupby(["failed", "measure", "components"], sort=False):
            markdown([name, *key, len(some), *summary(some)])


def real(name: str, share: float, every: int) -> Iterator[tuple[Collection, Collection, str]]:
    """Yield collections without an organization, and whole, with a run of it that fails on some topics."""
    whole = read(name, **READING.get(name, {}))
    judged_on, left = {}, list(contributors(whole))[::every]
    ids = np.array(whole.doc_ids.to_pylist(), dtype=object)
    for t, query_id in enumerate(whole.query_ids):
        judged_on[query_id] = ids[(whole.pair_topic == t) & whole.judged]
    runs: dict[str, Ranked] = {}
    for number, (_, members) in enumerate(left):
        (index,), rng = whole.run_index(members[0]), np.random.default_rng([number, 7])
        runs[f"failing-{number}"] = {}
        failed = set(rng.permutation(len(whole.query_ids))[: round(share * len(whole.query_ids))].tolist())
        for t, query_id in enumerate(whole.query_ids):
            pair = whole.document[[index], t : t + 1, :TOP].ravel()
            documents = ids[pair[pair >= 0]]
            if t in failed:
                others = np.concatenate([judged_on[q] for q in whole.query_ids if q != query_id])
                documents = rng.choice(np.setdiff1d(others.astype(str), documents.astype(str)), TOP, False)
            runs[f"failing-{number}"][query_id] = ranked(documents)
    joined = read(name, runs=runs, each_its_own=True, **READING.get(name, {}))
    for number, (organization, _) in enumerate(left):
        yield joined.unpool(organization=organization), joined, f"failing-{number}"


def simulated(share: float, n: int) -> Iterator[tuple[Collection, Collection, str]]:
    """Yield simulated collections with newcomers that have random candidates on some topics."""
    for seed in range(n):
        made, rng = simulate(SIMULATED, random_seed=seed), np.random.default_rng([seed, 8])
        pooled = [run for run in made.runs if run.run_id not in made.new_run_ids]
        ids, runs = np.array(made.collection.doc_ids.to_pylist(), dtype=object), {}
        for run_id in made.new_run_ids:
            (index,), runs[run_id] = made.collection.run_index(run_id), {}
            failed = set(rng.permutation(SIMULATED.n_topics)[: round(share * SIMULATED.n_topics)].tolist())
            for t, query_id in enumerate(made.collection.query_ids):
                documents = ids[made.collection.document[[index], t : t + 1, :TOP].ravel()]
                if t in failed:
                    documents = [f"elsewhere-{number}" for number in rng.permutation(10**6)[:TOP]]
                runs[run_id][query_id] = ranked(documents)
        settings: dict[str, Any] = {"organizations": made.organizations, "pool_depth": SIMULATED.pool_depth}
        settings["pooled_run_ids"] = [run.run_id for run in pooled]
        every: list[Any] = [*pooled, runs]
        for run_id in made.new_run_ids:
            smaller, whole = (build_collection(every, q, **settings) for q in (made.qrels, made.truth))
            yield smaller, whole, run_id


def ranked(documents: Any) -> dict[str, float]:
    """Return scores that keep the order of documents."""
    return {str(doc_id): float(-rank) for rank, doc_id in enumerate(documents)}


def graded(smaller: Collection, whole: Collection, run: str, draws: int) -> Iterator[dict[str, Any]]:
    """Yield estimate, truth and place of the truth in the draws under each measure, by component."""
    named = [each.format(min(10, smaller.pool_depth)) for each in MEASURES]
    measures = [each for each in named if parse_measure(each).rel <= whole.levels[-1]]
    completion = complete(smaller, run, measures, estimators=f"posterior-combined(draws={draws})")
    truths = score(whole, run, measures, estimators="as-judged").estimates
    failures, rng = completion.failures, np.random.default_rng(9)
    elsewhere = None if failures is None else replace(failures, case=rng.permuted(failures.case, axis=1))
    for name, of_topics in (("one", None), ("two", failures), ("placebo", elsewhere)):
        drawn = replace(completion, failures=of_topics).evaluate(*measures)
        for measure, values, truth in zip(measures, drawn, truths, strict=True):
            value, scores = float(truth.value[0]), values.scores()[:, 0].mean(axis=-1)
            yield {
                "components": name,
                "measure": measure,
                "truth": value,
                "value": float(scores.mean()),
                "std": float(scores.std()),
                "width": float(np.diff(np.quantile(scores, [0.025, 0.975]))[0]),
                "crps": float(np.abs(scores - value).mean() - np.abs(scores - np.roll(scores, 1)).mean() / 2),
                "low": float((scores < value - 1e-9).mean()),
                "high": float((scores <= value + 1e-9).mean()),
            }


COLUMNS = ("bias", "MAE", "CRPS", "width", "rms z", "in 95 %", "80 %", "50 %")


def summary(rows: pd.DataFrame) -> list[str]:
    off = rows["value"] - rows["truth"]
    z = off[rows["std"] > 0] / rows["std"][rows["std"] > 0]
    errors = [off.mean(), off.abs().mean(), rows["crps"].mean(), rows["width"].mean()]
    inside = [central_share(rows["low"], rows["high"], prob) for prob in (0.95, 0.8, 0.5)]
    return [f"{errors[0]:+.4f}", *(f"{each:.4f}" for each in errors[1:]), f"{(z**2).mean() ** 0.5:.2f}"] + [
        f"{each:.2f}" for each in inside
    ]


if __name__ == "__main__":
    main()

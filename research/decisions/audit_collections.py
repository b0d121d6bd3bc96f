"""Audits of real runs whose missing judgments are known: do intervals hold, and how narrow are they?

    python research/decisions/audit_collections.py [COLLECTION ...] [-m P@10] [--leave-out TYPE] [--runs 20]

Leaves each organization out of the pool in turn, or with --leave-out all runs of a type, and audits each of
its runs with several seeds, with answers from the full judgments (`audit/README.md`).
Means over runs and seeds after 10, 20, 50, 100 and 200 judgments: width, and the share that missed, of the
guaranteed interval and the same with documents drawn uniformly (ever so far), and at this stage alone of
Horvitz & Thompson's interval, the posterior's, and the posterior's with the documents that `judge_next`
chooses and with those of the first ranks, which have no guarantee.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from shared import contributors, read, run_types

from bayespool import Audit, Collection, PosteriorEstimator, audit, judge_next, parse_measure
from bayespool.auditing import confidence_sequence, foretell
from bayespool.evidence import score_bounds
from bayespool.measures import Measure
from bayespool.randomness import seed_of

from audit_validity import STAGES, normal_interval, uniformly  # isort: skip  # of benchmarks

WHERE: dict[str, tuple[dict[str, Any], int | None]] = {
    "trec8-adhoc": ({"max_holes": 0}, 10),
    "dl21-passage": ({"order": "rank"}, None),
    "trec2011-medical": ({}, None),
    "covid-round4": ({}, None),
}
EPS, REFUTING = 1e-9, 100


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collections", nargs="*", default=["trec2011-medical"])
    parser.add_argument("-m", "--measure", type=parse_measure, default="P@10")
    parser.add_argument("--leave-out", help="type of runs to leave out")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--runs", type=int, help="audit this many runs, evenly spread")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.collections:
        settings, depth = WHERE[name]
        whole = read(name, depth, **settings)
        removed = {run: runs for _, runs in contributors(whole) for run in runs}
        if asked.leave_out:
            types = run_types(whole, name)
            of_type = [run for run in whole.pooled_run_ids if types.get(run) == asked.leave_out]
            removed = dict.fromkeys(of_type, of_type)
        runs = [run for run in whole.run_ids if run in removed]
        if asked.runs:
            runs = [runs[i] for i in np.linspace(0, len(runs) - 1, asked.runs).astype(int)]
        rows = [
            row
            for run in runs
            for row in audited(
                whole, whole.unpool(removed[run]), run, asked.measure, asked.seeds, asked.draws
            )
        ]
        table = pd.DataFrame(rows)
        print(
            f"{name}: {table['run'].nunique()} runs, {table['documents'].mean():.0f} unjudged documents each"
        )
        print(f"posterior refuted: {table.groupby('run')['refuted'].mean().mean():.3f} of audits")
        for what, places in (("width", 4), ("missed", 3)):
            print(table.pivot_table(what, "way", "stage", sort=False).round(places).to_string())
        print(
            f"seconds: first {table['first'].median():.2f}, each step {table['step'].median():.5f}",
            flush=True,
        )


def audited(
    whole: Collection, smaller: Collection, run: str, measure: Measure, n_seeds: int, draws: int
) -> Iterator[dict[str, Any]]:
    """A row by way of drawing, seed and stage."""
    start = time.perf_counter()
    planned = audit(smaller, run, measure, posterior_settings=PosteriorEstimator(draws=draws), budget=1)
    seconds, urn = time.perf_counter() - start, planned.urn
    if not len(urn):
        return
    truth = float(score_bounds(whole, run, measure).low.means()[0])
    keys = list(zip(urn.query_ids, urn.doc_ids, strict=True))
    known = zip([whole.query_ids[t] for t in whole.pair_topic], whole.doc_ids.to_pylist(), strict=True)
    answers = dict(zip(known, np.maximum(whole.relevance, 0).tolist(), strict=True))
    relevance = np.array([answers[key] for key in keys], dtype=np.int64)
    worth = np.array(urn.worth)[np.minimum(relevance, len(urn.worth) - 1)]
    n = min(max(STAGES), len(urn))
    qrels = judge_next(
        smaller, run, measure, budget=n, posterior_settings=PosteriorEstimator(draws=draws)
    ).qrels()
    first = list(zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), strict=True))
    chosen = [keys.index(key) for key in first if key in keys]
    ids, rank = smaller.doc_ids.to_pylist(), {}
    for topic, ranked in zip(smaller.query_ids, smaller.document[smaller.run_index(run)[0]], strict=True):
        rank |= {(topic, ids[pair]): k for k, pair in enumerate(ranked.tolist()) if pair >= 0}
    without_guarantee = {
        "judge-next": [*chosen, *sorted(set(range(len(urn))) - set(chosen))],
        "take": np.argsort([rank[key] for key in keys], kind="stable"),
    }
    for seed in range(n_seeds):
        start = time.perf_counter()
        done = dataclasses.replace(
            planned, relevance=relevance, n_known=np.arange(n), random_seed=seed_of(run, seed)
        )
        ends = {"audit": done.differences[0].intervals}
        step = (time.perf_counter() - start) / n
        order = np.random.default_rng(seed_of(run, seed, "uniform")).permutation(len(urn))[:n]
        limits = urn.least, urn.most, urn.base_low, urn.base_high, done.ci_prob
        ends["uniform"] = confidence_sequence(uniformly(urn, worth, order), *limits)
        ends["normal"] = normal_interval(urn, worth, order)
        ends["posterior"] = [end[1:] for end in done.differences[0].posterior_ends()]
        ends |= {way: posterior_after(done, np.array(o)[:n], worth) for way, o in without_guarantee.items()}
        for way, (lower, upper) in ends.items():
            missed = (lower > truth + EPS) | (upper < truth - EPS)
            for stage in STAGES:
                at = min(stage, n) - 1
                yield {
                    "run": run, "way": way, "stage": stage, "documents": len(urn),
                    "width": max(upper[at] - lower[at], 0.0),
                    "missed": bool(missed[: at + 1].any() if way in ("audit", "uniform") else missed[at]),
                    "refuted": done.evidence >= REFUTING, "first": seconds, "step": step,
                }  # fmt: skip


def posterior_after(planned: Audit, order: Any, worth: Any) -> tuple[Any, Any]:
    """The posterior's interval after each judgment of documents in an order."""
    urn, ahead = planned.urn, foretell(planned.urn, order, worth[order])
    half = norm.ppf((1 + planned.ci_prob) / 2) * ahead.std
    return np.clip(ahead.mean - half, urn.least, urn.most), np.clip(ahead.mean + half, urn.least, urn.most)


if __name__ == "__main__":
    main()

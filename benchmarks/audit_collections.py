"""Audits of real runs whose missing judgments are known: do their intervals hold, and how narrow are they?

    python benchmarks/audit_collections.py [COLLECTION ...] [-m P@10] [--leave-out TYPE] [--seeds 5]

Leaves each organization out of the pool in turn, or with --leave-out all runs of a type, and audits each of
its runs with several seeds, with answers from the full judgments (what nobody judged is taken for
nonrelevant). Prints means over runs and seeds after 10, 20, 50, 100 and 200 judgments:

- audit: width of the guaranteed 95 % interval, share of audits that ever missed so far;
- uniform: the same, with documents drawn uniformly and no model;
- normal: Horvitz & Thompson's interval on the draws of uniform, share that misses at this stage alone;
- posterior: the posterior's interval with the judgments of the audit, share that misses at this stage;
- judge-next, take: the same with the documents that `judge_next` chooses for the run's interval, and with
  those of the first ranks; neither has a guarantee;

and the share of runs whose judgments refuted the posterior. The last line has the time of a first step and of
later ones.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from at_hand import collections_folder, read
from audit_validity import STAGES, normal_interval, uniformly
from scipy.stats import norm

from bayespool import Audit, Collection, audit, judge_next, parse_measure
from bayespool.auditing import confidence_sequence
from bayespool.auditing.foretold import REFUTING, foretell
from bayespool.collection import read_run_types
from bayespool.errors import BayespoolWarning
from bayespool.evidence import score_bounds
from bayespool.measures import Measure
from bayespool.randomness import seed_of

WHERE: dict[str, tuple[dict[str, Any], int | None]] = {
    "trec8-adhoc": ({"max_holes": 0}, 10),
    "dl21-passage": ({"order": "rank"}, None),
    "trec2011-medical": ({}, None),
    "covid-round4": ({}, None),
}
EPS = 1e-9
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def main() -> None:
    """Audit and print."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", default=["trec2011-medical"])
    parser.add_argument("-m", "--measure", default="P@10")
    parser.add_argument("--leave-out", help="type of runs to leave out")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--runs", type=int, help="audit this many runs, evenly spread")
    asked = parser.parse_args()
    measure = parse_measure(asked.measure)
    warnings.simplefilter("ignore", BayespoolWarning)
    for name in asked.collections:
        settings, depth = WHERE[name]
        place = collections_folder(parser) / name
        whole = read(place, **settings)
        whole = whole if depth is None else whole.truncate_pool(depth)
        types = read_run_types(place / "run-types.csv") if asked.leave_out else {}
        pooled = [r for r in np.flatnonzero(whole.pooled) if types.get(whole.run_ids[r]) == asked.leave_out]
        runs = [whole.run_ids[r] for r in pooled]
        removed = {run: tuple(runs) for run in runs}
        if not asked.leave_out:
            of = {run: int(whole.organization[r]) for run, r in zip(runs, pooled, strict=True)}
            removed = {run: tuple(other for other in runs if of[other] == of[run]) for run in runs}
        if asked.runs:
            runs = [runs[i] for i in np.linspace(0, len(runs) - 1, asked.runs).astype(int)]
        smaller: dict[tuple[str, ...], Collection] = {}
        rows: list[dict[str, Any]] = []
        for run in runs:
            if removed[run] not in smaller:
                smaller = {removed[run]: whole.unpool(removed[run])}
            rows += audited(whole, smaller[removed[run]], run, measure, asked.seeds, asked.draws)
        report(name, pd.DataFrame(rows))


def audited(
    whole: Collection, smaller: Collection, run: str, measure: Measure, n_seeds: int, draws: int
) -> list[dict[str, Any]]:
    """Widths and misses of audits of a run, a row by way of drawing, seed and stage."""
    start = time.perf_counter()
    planned = audit(smaller, run, measure, draws=draws, budget=1)
    assert isinstance(planned, Audit)
    seconds = time.perf_counter() - start
    urn, rows = planned.urn, []
    if not len(urn):
        return []
    truth = float(score_bounds(whole, run, measure).low.means()[0])
    answers = true_worth(whole, planned)
    chosen = order_of_judge_next(smaller, run, measure, planned, draws)
    by_rank = order_of_ranks(smaller, run, planned)
    for seed in range(n_seeds):
        start = time.perf_counter()
        done = judged_all(planned, answers, seed_of(run, seed), min(max(STAGES), len(urn)))
        low, high = done.intervals
        step = (time.perf_counter() - start) / done.n_judged
        n = done.n_judged
        rng = np.random.default_rng(seed_of(run, seed, "uniform"))
        worth, order = done_worth(planned, answers), rng.permutation(len(urn))[:n]
        drawn = uniformly(urn, worth, order)
        ends = {
            "audit": (low, high),
            "uniform": confidence_sequence(
                drawn, urn.least, urn.most, urn.base_low, urn.base_high, done.ci_prob
            ),
            "normal": normal_interval(urn, worth, order),
            "posterior": done.posterior_ends(),
            "judge-next": posterior_after(planned, chosen[:n], worth),
            "take": posterior_after(planned, by_rank[:n], worth),
        }
        for way, (lower, upper) in ends.items():
            missed = (lower > truth + EPS) | (upper < truth - EPS)
            for stage in STAGES:
                at = min(stage, n) - 1
                at_all_times = way in ("audit", "uniform")
                rows.append(
                    {
                        "run": run,
                        "way": way,
                        "stage": stage,
                        "documents": len(urn),
                        "width": max(upper[at] - lower[at], 0.0),
                        "missed": bool(missed[: at + 1].any() if at_all_times else missed[at]),
                        "refuted": done.evidence >= REFUTING,
                        "first": seconds,
                        "step": step,
                    }
                )
    return rows


def order_of_judge_next(
    collection: Collection, run: str, measure: Measure, planned: Audit, draws: int
) -> IntArray:
    """Documents of the urn in the order in which `judge_next` chooses them, then the others."""
    n = min(max(STAGES), len(planned.urn))
    qrels = judge_next(collection, run, measure, budget=n, draws=draws).qrels()
    place = {key: i for i, key in enumerate(keys_of(planned))}
    pairs = zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), strict=True)
    first = [place[pair] for pair in pairs if pair in place]
    return np.array([*first, *sorted(set(place.values()) - set(first))], dtype=np.int64)


def order_of_ranks(collection: Collection, run: str, planned: Audit) -> IntArray:
    """Documents of the urn by their ranks in the run, as `Take` judges them."""
    row = collection.document[collection.run_index(run)[0]]
    ids, rank = collection.doc_ids.to_pylist(), dict[tuple[str, str], int]()
    for topic, ranked in zip(collection.query_ids, row, strict=True):
        rank |= {(topic, ids[pair]): k for k, pair in enumerate(ranked.tolist()) if pair >= 0}
    return np.argsort([rank[key] for key in keys_of(planned)], kind="stable")


def keys_of(planned: Audit) -> list[tuple[str, str]]:
    """Topic and document id of each document of the urn."""
    return list(zip(planned.urn.query_ids, planned.urn.doc_ids, strict=True))


def posterior_after(planned: Audit, order: IntArray, worth: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The posterior's interval after each judgment of documents in an order."""
    urn, told = planned.urn, foretell(planned.urn, order, worth[order])
    half = norm.ppf((1 + planned.ci_prob) / 2) * told.std
    return np.clip(told.mean - half, urn.least, urn.most), np.clip(told.mean + half, urn.least, urn.most)


def true_worth(whole: Collection, planned: Audit) -> dict[tuple[str, str], int]:
    """Relevance of the documents that the audit may draw."""
    wanted = set(zip(planned.urn.query_ids, planned.urn.doc_ids, strict=True))
    ids = whole.doc_ids.to_pylist()
    queries = [whole.query_ids[t] for t in whole.pair_topic]
    pairs = zip(queries, ids, np.maximum(whole.relevance, 0).tolist(), strict=True)
    return {(q, d): level for q, d, level in pairs if (q, d) in wanted}


def done_relevance(planned: Audit, answers: dict[tuple[str, str], int]) -> np.ndarray[Any, Any]:
    """Relevance of all documents of the urn."""
    keys = zip(planned.urn.query_ids, planned.urn.doc_ids, strict=True)
    return np.array([answers[key] for key in keys], dtype=np.int64)


def done_worth(planned: Audit, answers: dict[tuple[str, str], int]) -> np.ndarray[Any, Any]:
    """Worth of all documents of the urn."""
    top = len(planned.urn.worth) - 1
    return np.array(planned.urn.worth)[np.minimum(done_relevance(planned, answers), top)]


def judged_all(planned: Audit, answers: dict[tuple[str, str], int], seed: int, n: int) -> Audit:
    """The audit after n judgments, one by one."""
    import dataclasses

    return dataclasses.replace(
        planned, relevance=done_relevance(planned, answers), known=np.arange(n), random_seed=seed
    )


def report(name: str, table: pd.DataFrame) -> None:
    """Print the table of a collection."""
    runs = table.groupby("run")
    n_open = runs["documents"].first().mean()
    print(f"{name}: {table['run'].nunique()} runs, {n_open:.0f} unjudged documents each")
    print(f"posterior refuted: {runs['refuted'].mean().mean():.3f} of audits")
    print(
        table.pivot_table(index="way", columns="stage", values="width", aggfunc="mean", sort=False).round(4)
    )
    print(
        table.pivot_table(index="way", columns="stage", values="missed", aggfunc="mean", sort=False).round(3)
    )
    print(f"seconds: first {table['first'].median():.2f}, each step {table['step'].median():.5f}", flush=True)


if __name__ == "__main__":
    main()

"""Evidence against a posterior that is right: how often do audits refute it (docs/judge-more.md)?

    python research/decisions/audit_evidence.py [COLLECTION ...] [-m P@10] [--runs 8] [--audits 500]

Leaves the organization of a run out of the pool, deals out relevance by draws of the posterior itself, and
audits the run until 100 documents, or all, are judged. For each run the share of audits whose evidence ever
reached 20, 100 and 1000, which a martingale does in at most 0.05, 0.01 and 0.001 of them, and the share whose
guaranteed 95 % interval ever missed. For measures of binary relevance that are sums of gains.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from typing import Any

import numpy as np
import pandas as pd
from audit_collections import EPS, WHERE
from shared import contributors, read

from bayespool import Collection, audit, complete, parse_measure
from bayespool.measures import Measure
from bayespool.randomness import seed_of


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collections", nargs="*", default=["trec2011-medical"])
    parser.add_argument("-m", "--measure", type=parse_measure, default="P@10")
    parser.add_argument("--runs", type=int, default=8, help="audit this many runs, evenly spread")
    parser.add_argument("--audits", type=int, default=500)
    parser.add_argument("--draws", type=int, default=250)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in asked.collections:
        settings, depth = WHERE[name]
        whole = read(name, depth, **settings)
        siblings = {run: runs for _, runs in contributors(whole) for run in runs}
        pooled = whole.pooled_run_ids
        rows: list[dict[str, Any]] = []
        for r in np.linspace(0, len(pooled) - 1, asked.runs).astype(int):
            smaller = whole.unpool(siblings[pooled[r]])
            rows += audited(smaller, pooled[r], asked.measure, asked.audits, asked.draws)
        table = pd.DataFrame(rows).set_index("run")
        print(f"{name}: {asked.audits} audits of each run under {asked.measure}")
        print(table.round(3).to_string())
        print("mean", table.mean().round(3).to_dict())


def audited(smaller: Collection, run: str, measure: Measure, n: int, draws: int) -> list[dict[str, Any]]:
    """Shares of audits of a run, none if nothing of it is unjudged."""
    planned = audit(smaller, run, measure, posterior_settings=f"draws={draws}", budget=1)
    urn = planned.urn
    if not len(urn):
        return []
    # the chance of relevance of each document of the urn in each draw
    completion = complete(smaller, run, measure, posterior_settings=f"draws={draws}")
    worth, place, by_topic = np.array([0.0, *np.ones(len(completion.levels) - 1)]), {}, []
    for t, query_id in enumerate(smaller.query_ids):
        place |= {(query_id, doc): len(place) + i for i, doc in enumerate(completion.unknowns.doc_ids(t))}
        by_topic.append(completion.expected(t, worth, slice(None))[0])
    keys = zip(urn.query_ids, urn.doc_ids, strict=True)
    chances = np.concatenate(by_topic, axis=1)[:, [place[key] for key in keys]]
    assert np.allclose(chances.mean(axis=0), urn.chance, atol=1e-6)
    known, relevant = np.arange(min(100, len(urn))), int(np.argmax(urn.worth))
    evidence, missed = np.zeros(n), np.zeros(n, dtype=bool)
    for i in range(n):
        rng = np.random.default_rng(seed_of(run, i))
        is_relevant = rng.random(len(urn)) < chances[rng.integers(len(chances))]
        done = dataclasses.replace(
            planned, relevance=is_relevant * relevant, n_known=known, random_seed=seed_of(run, i)
        )
        truth = urn.base_low + urn.low @ is_relevant
        low, high = done.differences[0].intervals
        evidence[i], missed[i] = done.evidence, (low > truth + EPS).any() or (high < truth - EPS).any()
    reached = {f"reached {level}": (evidence >= level).mean() for level in (20, 100, 1000)}
    return [{"run": run, "documents": len(urn), **reached, "missed": missed.mean()}]


if __name__ == "__main__":
    main()

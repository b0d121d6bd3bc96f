"""Evidence against a posterior that is right: how often do audits refute it all the same?

    python benchmarks/audit_evidence.py [COLLECTION ...] [-m P@10] [--runs 8] [--audits 500]

Leaves the organization of a run out of the pool, deals out relevance by draws of the posterior itself, and
audits the run until 100 documents, or all, are judged. Prints for each run the share of audits whose evidence
ever reached 20, 100 and 1000, which a martingale does in at most 0.05, 0.01 and 0.001 of them, and the share
whose guaranteed 95 % interval ever missed. For measures of binary relevance that are sums of gains.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from typing import Any

import numpy as np
import pandas as pd
from at_hand import collections_folder, read
from audit_collections import EPS, WHERE

from bayespool import Collection, audit, parse_measure
from bayespool.auditing.settings import AuditSettings
from bayespool.auditing.urns import Urn, find_urn
from bayespool.errors import BayespoolWarning
from bayespool.measures import Measure
from bayespool.posterior import Completion
from bayespool.randomness import seed_of

LEVELS = (20, 100, 1000)
N_JUDGED = 100


def main() -> None:
    """Audit and print."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", default=["trec2011-medical"])
    parser.add_argument("-m", "--measure", default="P@10")
    parser.add_argument("--runs", type=int, default=8, help="audit this many runs, evenly spread")
    parser.add_argument("--audits", type=int, default=500)
    parser.add_argument("--draws", type=int, default=250)
    asked = parser.parse_args()
    measure = parse_measure(asked.measure)
    warnings.simplefilter("ignore", BayespoolWarning)
    for name in asked.collections:
        settings, depth = WHERE[name]
        whole = read(collections_folder(parser) / name, **settings)
        whole = whole if depth is None else whole.truncate_pool(depth)
        pooled = np.flatnonzero(whole.pooled)
        rows = []
        for r in pooled[np.linspace(0, len(pooled) - 1, asked.runs).astype(int)]:
            of = [whole.run_ids[i] for i in pooled if whole.organization[i] == whole.organization[r]]
            rows += audited(whole.unpool(of), whole.run_ids[r], measure, asked.audits, asked.draws)
        table = pd.DataFrame(rows).set_index("run")
        print(f"{name}: {asked.audits} audits of each run under {measure}")
        print(table.round(3).to_string())
        print("mean", table.mean().round(3).to_dict())


def audited(
    smaller: Collection, run: str, measure: Measure, n_audits: int, draws: int
) -> list[dict[str, Any]]:
    """Shares of audits of a run, none if nothing of it is unjudged."""
    completion = AuditSettings(measures=measure, draws=draws).estimator.complete(smaller, (run,), measure)
    urn = find_urn(completion, measure)
    if not len(urn):
        return []
    chances = chances_by_draw(completion, urn)
    planned = audit(smaller, run, measure, draws=draws, budget=1)
    known, relevant = np.arange(min(N_JUDGED, len(urn))), int(np.argmax(urn.worth))
    evidence, missed = np.zeros(n_audits), np.zeros(n_audits, dtype=bool)
    for i in range(n_audits):
        rng = np.random.default_rng(seed_of(run, i))
        is_relevant = rng.random(len(urn)) < chances[rng.integers(len(chances))]
        found = dataclasses.replace(
            planned, urn=urn, relevance=is_relevant * relevant, known=known, random_seed=seed_of(run, i)
        )
        truth = urn.base_low + urn.low @ is_relevant
        low, high = found.intervals
        evidence[i], missed[i] = found.evidence, (low > truth + EPS).any() or (high < truth - EPS).any()
    reached = {f"reached {level}": (evidence >= level).mean() for level in LEVELS}
    return [{"run": run, "documents": len(urn), **reached, "missed": missed.mean()}]


def chances_by_draw(completion: Completion, urn: Urn) -> np.ndarray[Any, Any]:
    """Chance of relevance of each document of the urn, shape (draw, document)."""
    unknowns = completion.unknowns
    worth = np.array([0.0, *np.ones(len(completion.levels) - 1)])
    place, chances = {}, []
    for t, query_id in enumerate(unknowns.collection.query_ids):
        for doc_id in unknowns.doc_ids(t):
            place[query_id, doc_id] = len(place)
        chances.append(completion.expected(t, worth, slice(None))[0])
    keys = zip(urn.query_ids, urn.doc_ids, strict=True)
    found = np.concatenate(chances, axis=1)[:, [place[key] for key in keys]]
    assert np.allclose(found.mean(axis=0), urn.chance, atol=1e-6)
    return found


if __name__ == "__main__":
    main()

"""Intervals from common topics: how many contain the truth, by pool width and number of common topics.

    python research/decisions/common_topics.py [--pools 100]
    python research/decisions/common_topics.py --posteriors

Pools of runs are drawn from the pooled ones of TREC-8 and TREC-2, to depth 10, and a run outside each. Of its
own documents only those on common topics, drawn at random, are judged; the truth is its P@10 with all of
them. Beside each share is the number of pools with an interval. --posteriors scores manual runs of TREC-8 on
a pool of the automatic ones by posterior-combined, without and with 10 common topics.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
from shared import read, run_types

from bayespool import Collection, parse_measure, score
from bayespool.collection import build_collection
from bayespool.corrections import TopicsAdjustment
from bayespool.evidence import score_bounds
from bayespool.posterior import PosteriorDifference
from bayespool.reading import qrels_from_frame, run_from_frame

MANUAL = ("READWARE", "CL99SDopt1", "orcl99man", "iit99ma1", "8manexT3D1N0", "GE8MTD2")
MODEL, MEASURE = "posterior-combined", parse_measure("P@10")
BESIDE = ("topics-adjustment", "posterior-difference")


def top_of(collection: Collection) -> Collection:
    """Return the collection down to rank 10, with nonrelevant what its pool left unjudged there."""
    top, ids = collection.document[:, :, :10], collection.query_ids

    def of_topic(documents: np.ndarray, of: Callable[[int, int], int]) -> dict[str, int]:
        return {collection.doc_id(d): of(i, d) for i, d in enumerate(documents.tolist()) if d >= 0}

    runs = [
        run_from_frame({q: of_topic(top[r, t], lambda i, d: -i) for t, q in enumerate(ids)}, name)
        for r, name in enumerate(collection.run_ids)
    ]
    qrels = {
        q: of_topic(np.unique(top[:, t]), lambda i, d: max(int(collection.relevance[d]), 0))
        for t, q in enumerate(ids)
    }
    names = [collection.organizations[o] for o in collection.organization]
    return build_collection(
        runs,
        qrels_from_frame(qrels),
        organizations=dict(zip(collection.run_ids, names, strict=True)),
        pooled_run_ids=collection.pooled_run_ids,
        pool_depth=10,
    )


def inside(collection: Collection, width: int, n_common: int, rng: np.random.Generator) -> list[float]:
    """Whether 95 % intervals of a run outside a pool, both drawn, hold its truth; NaN without an interval."""
    drawn = rng.permutation(np.flatnonzero(collection.pooled))[: width + 1]
    run, pool = drawn[0], drawn[1:]
    common = rng.permutation(len(collection.query_ids))[:n_common]
    known = collection.in_pool(pool)
    own = collection.in_pool(drawn[:1]) & np.isin(collection.pair_topic, common) & collection.judged & ~known
    pooled = np.isin(np.arange(len(collection.run_ids)), pool)
    reduced = collection.without_judgments(~known).with_pool(pooled, collection.pool)
    reduced = reduced.with_own_judgments(np.flatnonzero(own), collection.relevance[own])
    name = collection.run_ids[run]
    truth = score_bounds(collection, [name], MEASURE).lower.mean()
    topics = tuple(collection.query_ids[t] for t in common)
    beside = TopicsAdjustment(common_query_ids=topics, n_draws=1000), PosteriorDifference(draws=250)
    ends = [e.estimate(reduced, name, MEASURE)[0].interval(0.95) for e in beside]
    return [np.nan if np.isnan(low[0]) else low[0] - 1e-9 <= truth <= high[0] + 1e-9 for low, high in ends]


def of_manual_runs() -> Iterator[tuple[float, ...]]:
    """Error, whether the truth is inside and width of the 95 % interval, of an organization's best manual
    run: without and with common topics, and of the topics adjustment.
    """
    collection = read("trec8-adhoc")
    types = run_types(collection, "trec8-adhoc")
    everyone = np.ones(len(collection.run_ids), dtype=bool)
    whole = collection.with_pool(everyone, collection.pool_depth).truncate_pool(10)
    unknown = whole.in_pool() & ~whole.judged  # by none of all runs: taken for nonrelevant
    whole = dataclasses.replace(whole, relevance=np.where(unknown, np.int16(0), whole.relevance))
    automatic = np.array([types[run] == "automatic" for run in whole.run_ids])
    rng, by_automatic = np.random.default_rng(1), whole.in_pool(np.flatnonzero(automatic))
    of_topic = np.array(whole.query_ids)
    for name in MANUAL:
        common = rng.permutation(of_topic)[:10].tolist()
        own = whole.in_pool(whole.run_index(name)) & np.isin(of_topic[whole.pair_topic], common)
        reduced = whole.without_judgments(~(by_automatic | own)).with_pool(automatic, whole.pool)
        truth = score_bounds(whole, [name], MEASURE).lower.mean()
        row: list[float] = []
        for topics, labels in ((None, [MODEL]), (common, [MODEL, "topics-adjustment"])):
            scores = score(
                reduced, name, MEASURE, estimators=MODEL, posterior_settings="draws=100", common_topics=topics
            )
            frame = scores.to_frame().set_index("estimator")
            for label in labels:
                value, low, high = frame.loc[label, ["value", "lower", "upper"]].astype(float)
                row += [abs(value - truth), low <= truth <= high, high - low]
        yield tuple(row)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pools", type=int, default=100)
    parser.add_argument("--posteriors", action="store_true")
    asked = parser.parse_args()
    if asked.posteriors:
        means = np.mean(list(of_manual_runs()), axis=0).reshape(3, 3)
        for name, (error, share, width) in zip(
            ("without", "with 10", "topics-adjustment"), means, strict=True
        ):
            print(f"{name:<22} MAE {error:.4f}, {share:.0%} inside, width {width:.3f}")
        return
    for name in ("trec8-adhoc", "trec2-adhoc"):
        collection = top_of(read(name, 10))
        for width in (4, 20):
            for n_common in (3, 5, 10, 20, 30):
                rng = np.random.default_rng(1)
                hits = np.array([inside(collection, width, n_common, rng) for _ in range(asked.pools)])
                shares = ", ".join(
                    f"{label} {np.nanmean(hit):.0%} of {np.isfinite(hit).sum()}"
                    for label, hit in zip(BESIDE, hits.T, strict=True)
                )
                print(f"{name:<12} pool of {width:>2}, {n_common:>2} common topics: {shares}", flush=True)


if __name__ == "__main__":
    main()

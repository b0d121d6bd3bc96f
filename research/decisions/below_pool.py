"""How often are documents below the pool depth relevant, beside what models say that learn above it?

    python research/decisions/below_pool.py [--depth 10] [--collections 8] [--every 2]

TREC-2 and TREC-8, judged to depth 100, are pooled to a depth again, and every second organization is left
out and scored under P@100; in simulated collections of 50 topics new runs are. Models take ranks below the
pool as log odds go on (the prior of ``below_pool`` is 0). By collection and model: relevant over expected
documents within the pool and in bins of ranks below it; the slope of log odds on log(rank / depth) with which
as many are expected as are relevant; the standard deviation of slopes fitted to each topic; that slope again
if topics differ by .35; and with it the relevant over the expected documents by fifths of the topics (diary).
What intervals hold with the priors that this decided is in `benchmarks/below_pool.py`.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, logit
from shared import contributors, head, markdown, read

from bayespool import Collection, SimulationSettings, simulate
from bayespool.posterior import PosteriorEstimator

FloatArray = npt.NDArray[np.float64]

MODELS = ("ratio", "evidence", "rankings")
ENDS = (10, 20, 30, 50, 100)
TOPICS_APART = 0.35  # standard deviation of topics' slopes
NODES, SHARES = np.polynomial.hermite_e.hermegauss(15)
SHARES = SHARES / SHARES.sum()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--collections", type=int, default=8, help="simulated ones")
    parser.add_argument("--every", type=int, default=2, help="organization is left out")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    bins = [f"{low + 1}–{end}" for low, end in zip((0, *ENDS), ENDS, strict=False)]
    head("collection", "model", *bins, "slope", "topics", "slope, topics apart", "by fifths of topics")
    for name in ("trec2-adhoc", "trec8-adhoc"):
        print_rows(name, list(left_out(read(name), asked.depth, asked.every)), asked.depth)
    print_rows("simulated", list(simulated(asked.collections, asked.depth)), asked.depth)


def left_out(full: Collection, depth: int, every: int) -> Iterator[tuple[Collection, Collection, list[str]]]:
    """Full judgments, those of a shallower pool without an organization, and two of its runs."""
    for organization, runs in list(contributors(full))[::every]:
        yield full, full.unpool(organization=organization).truncate_pool(depth), runs[:2]


def simulated(n: int, depth: int) -> Iterator[tuple[Collection, Collection, list[str]]]:
    """Simulated collections with everything judged, as pooled, and their new runs."""
    for seed in range(n):
        simulation = simulate(
            SimulationSettings(n_topics=50, n_new=4, pool_depth=depth), random_seed=100 + seed
        )
        collection = simulation.collection
        full = dataclasses.replace(collection, relevance=simulation.true_relevance())
        yield full, collection, list(simulation.new_run_ids)


def print_rows(name: str, cases: list[tuple[Collection, Collection, list[str]]], depth: int) -> None:
    """A row for each model."""
    for model in MODELS:
        parts = []
        for full, part, runs in cases:
            for run in runs:  # scored alone
                topic, *rest = unjudged(full, part, run, model)
                parts.append((topic + id(full), *rest))  # topics of two collections are not one
        topic, rank, chance, relevant = (np.concatenate(column) for column in zip(*parts, strict=True))
        cells = []
        for low, end in zip((0, *ENDS), ENDS, strict=False):
            inside = (rank > low) & (rank <= end)
            cells.append(f"{relevant[inside].sum() / chance[inside].sum():.2f}")
        below = rank > depth
        topic, relevant = topic[below], relevant[below]
        log_odds, x = logit(chance[below].clip(1e-9, 1 - 1e-9)), np.log(rank[below] / depth)
        slope, _ = fitting_slope(log_odds, x, relevant, 0.0)
        apart, expected = fitting_slope(log_odds, x, relevant, TOPICS_APART)
        cells += [f"{slope:+.2f}", f"{topic_deviation(topic, log_odds, x, relevant):.2f}", f"{apart:+.2f}"]
        cells.append(", ".join(f"{ratio:.2f}" for ratio in of_fifths(topic, expected, relevant)))
        markdown([name, model, *cells])


def fitting_slope(
    log_odds: FloatArray, x: FloatArray, relevant: FloatArray, deviation: float
) -> tuple[float, FloatArray]:
    """Mean slope on ``x`` with which as many are expected as are relevant, and what is expected then."""

    def expected(mean: float) -> FloatArray:
        slopes = mean + deviation * NODES
        return np.asarray(expit(log_odds[:, None] + x[:, None] * slopes) @ SHARES)

    slope = brentq(lambda mean: expected(mean).sum() - relevant.sum(), -5, 5)
    return slope, expected(slope)


def topic_deviation(topic: FloatArray, log_odds: FloatArray, x: FloatArray, relevant: FloatArray) -> float:
    """Standard deviation of slopes fitted to each topic, with a standard normal prior."""
    slopes = []
    for t in np.unique(topic):
        of_topic = log_odds[topic == t], x[topic == t], relevant[topic == t]
        slopes.append(brentq(lambda s, lo, z, y: expit(lo + s * z) @ z - y @ z + s, -9, 9, args=of_topic))
    return float(np.std(slopes))


def of_fifths(topic: FloatArray, expected: FloatArray, relevant: FloatArray) -> list[float]:
    """Relevant over expected documents by fifths of the topics, those with the least expected share first."""
    topics = np.unique(topic)
    order = topics[np.argsort([expected[topic == t].mean() for t in topics])]
    fifths = [np.isin(topic, part) for part in np.array_split(order, 5)]
    return [float(relevant[part].sum() / expected[part].sum()) for part in fifths]


def unjudged(full: Collection, part: Collection, run: str, model: str) -> tuple[FloatArray, ...]:
    """Topic, rank, expected relevance and relevance of a run's unjudged documents that are judged in full."""
    priors = dict.fromkeys(("below_pool", "sigma_below_pool"), "Uniform(0, 0)")
    completion = PosteriorEstimator(model=model, draws=50, priors=priors).complete(part, [run], "P@100")
    unknowns, values = completion.unknowns, np.minimum(np.arange(len(completion.levels)), 1).astype(float)
    chance = [completion.expected(t, values)[0].mean(axis=0) for t in range(len(part.query_ids))]
    relevance = full.relevance[unknowns.pair]
    known = relevance >= 0
    columns = unknowns.topic, unknowns.rank, np.concatenate(chance), relevance > 0
    return tuple(column[known].astype(float) for column in columns)


if __name__ == "__main__":
    main()

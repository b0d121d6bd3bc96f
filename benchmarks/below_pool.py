"""How often are documents below the pool depth relevant, beside what models say that learn above it?

    python benchmarks/below_pool.py [--depth 10] [--collections 8] [--every 2] [--intervals]

TREC-2 and TREC-8, judged to depth 100, are pooled to a depth again, and every second organization is left
out and scored under P@100; in simulated collections of 50 topics new runs are, as in `more_topics.py`.
Models take ranks below the pool as log odds go on (the prior of ``below_pool`` is 0). The benchmark
prints by collection and model, for unjudged documents within the pool and in bins of ranks below it,
those relevant over those expected; the slope of log odds on log(rank / depth) with which as many are
expected below the pool as are relevant; the standard deviation of slopes fitted to each topic; that slope
again if topics differ by .35; and with it the relevant over the expected documents by fifths of the
topics. The priors `bayespool.models.priors.SLOPE_BELOW_POOL`, ``STEEPER_BELOW_POOL`` and
``TOPICS_BELOW_POOL`` are about this.

With --intervals it prints, for the default posterior of these runs of TREC-2 and TREC-8, errors against the
judgments to depth 100 (over the ideal ranking that the estimate has), the share of 95 % intervals that hold,
and the root mean square of (estimate − truth) / standard deviation.
"""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
from at_hand import collections_folder, read
from scipy.optimize import brentq
from scipy.special import expit, logit

from bayespool import Collection, parse_measure, score
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments import SimulationSettings, simulate
from bayespool.models.spec import BELOW_POOL_PRIORS
from bayespool.posterior import PosteriorEstimator

FloatArray = npt.NDArray[np.float64]

MEASURES = ("P@10", "P@30", "P@100", "AP@100", "R@100")
MODELS = ("ratio", "evidence", "rankings")
ENDS = (10, 20, 30, 50, 100)
TOPICS_APART = 0.35  # standard deviation of topics' slopes
NODES, SHARES = np.polynomial.hermite_e.hermegauss(15)
SHARES = SHARES / SHARES.sum()


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--collections", type=int, default=8, help="simulated ones")
    parser.add_argument("--every", type=int, default=2, help="organization is left out")
    parser.add_argument("--intervals", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = collections_folder(parser)
    if asked.intervals:
        print("| collection | measure | runs | MAE as judged | MAE | bias | in 95 % | rms |")
        print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name in ("trec2-adhoc", "trec8-adhoc"):
            print_intervals(name, left_out(read(folder / name), asked.depth, asked.every))
        return
    bins = [f"{low + 1}–{end}" for low, end in zip((0, *ENDS), ENDS, strict=False)]
    heads = [*bins, "slope", "topics", "slope, topics apart", "by fifths of topics"]
    print("| collection | model | " + " | ".join(heads) + " |")
    print("| --- | --- |" + " ---: |" * len(heads))
    for name in ("trec2-adhoc", "trec8-adhoc"):
        full = read(folder / name)
        print_rows(name, list(left_out(full, asked.depth, asked.every)), asked.depth)
    print_rows("simulated", list(simulated(asked.collections, asked.depth)), asked.depth)


def print_intervals(name: str, cases: Iterable[tuple[Collection, Collection, list[str]]]) -> None:
    """A row for each measure: error and coverage of the default posterior."""
    rows: dict[str, list[tuple[float, float, float, bool]]] = {measure: [] for measure in MEASURES}
    for full, part, runs in cases:
        scores = score(part, runs, MEASURES, estimators="posterior-combined", draws=75)
        for measure in MEASURES:
            estimates = scores["posterior-combined", measure]
            assert estimates.std is not None
            truth, judged = (
                values_on_fuller(part, other, runs, parse_measure(measure)).means() for other in (full, part)
            )
            lower, upper = estimates.interval(0.95)
            held = (lower - 1e-9 <= truth) & (truth <= upper + 1e-9)
            rows[measure] += zip(
                (judged - truth).tolist(),
                (estimates.value - truth).tolist(),
                estimates.std.tolist(),
                held.tolist(),
                strict=True,
            )
    for measure, of_measure in rows.items():
        as_judged, error, std, held = np.array(of_measure, dtype=float).T
        cells = [f"{np.abs(as_judged).mean():.4f}", f"{np.abs(error).mean():.4f}", f"{error.mean():+.4f}"]
        cells += [f"{held.mean():.0%}", f"{np.sqrt(((error / std) ** 2).mean()):.2f}"]
        print(f"| {name} | {measure} | {len(error)} | " + " | ".join(cells) + " |", flush=True)


def left_out(full: Collection, depth: int, every: int) -> Iterator[tuple[Collection, Collection, list[str]]]:
    """Full judgments, those of a shallower pool without an organization, and two of its runs."""
    for o in np.unique(full.organization[full.pooled])[::every]:
        runs = [full.run_ids[i] for i in np.flatnonzero((full.organization == o) & full.pooled)]
        yield full, full.unpool(organization=full.organizations[o]).truncate_pool(depth), runs[:2]


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
        print(f"| {name} | {model} | " + " | ".join(cells) + " |", flush=True)


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
    priors = dict.fromkeys(BELOW_POOL_PRIORS, "Uniform(0, 0)")
    completion = PosteriorEstimator(model=model, draws=50, priors=priors).complete(part, [run], "P@100")
    unknowns, values = completion.unknowns, np.minimum(np.arange(len(completion.levels)), 1).astype(float)
    chance = [completion.expected(t, values)[0].mean(axis=0) for t in range(len(part.query_ids))]
    relevance = full.relevance[unknowns.pair]
    known = relevance >= 0
    columns = unknowns.topic, unknowns.rank, np.concatenate(chance), relevance > 0
    return tuple(column[known].astype(float) for column in columns)


if __name__ == "__main__":
    main()

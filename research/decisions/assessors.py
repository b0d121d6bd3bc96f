"""Do the intervals of another assessor's score hold (docs/assessors.md)?

    python research/decisions/assessors.py simulated [--collections 200] [-m P@10]
    python research/decisions/assessors.py judges [-m P@10] [--draws 75] [--whole]

*simulated*: collections of 20 topics and two new runs, and a second assessor who changes levels by known
chances, alike on all topics or with a concentration of 8. The truth is the score of a new run with every
document judged by the second assessor. *judges*: the qrels and the language-model judges of DL 2021 in pairs,
each organization left out in turn, or nobody (--whole). Of the 95 % intervals the share with the truth,
rms of error / standard deviation, the error, and that of the posterior mean of the first assessor's score.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from shared import contributors, head, markdown, place, read

from bayespool import Collection, SimulationSettings, parse_measure, simulate
from bayespool.collection import SecondAssessors, add_judges, read_labels
from bayespool.evidence import values_on_fuller
from bayespool.measures import Measure
from bayespool.posterior import PosteriorEstimator

SMALL = SimulationSettings(n_topics=20, n_organizations=5, max_runs=2, n_new=2, n_candidates=150)
CHANCES = np.array([[0.93, 0.05, 0.02], [0.3, 0.55, 0.15], [0.1, 0.3, 0.6]])  # of a simulated assessor
HEADS = ("judged twice", "runs", "in 95 %", "rms", "MAE", "MAE of the first assessor's")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("table", choices=("simulated", "judges"))
    parser.add_argument("-m", "--measure", type=parse_measure, default="P@10")
    parser.add_argument("--collections", type=int, default=200)
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    parser.add_argument("--whole", action="store_true", help="leave nobody out")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.table == "judges":
        print_judges(asked.measure, asked.draws, asked.whole)
        return
    head("topics", *HEADS)
    for concentration, share in itertools.product((np.inf, 8.0), (0.1, 1.0)):
        rows = []
        for seed in range(asked.collections):
            collection, runs, second, twice = judged_by_two(concentration, share, seed)
            ratio = PosteriorEstimator(model="ratio", draws=asked.draws)
            rows += graded(ratio, collection, runs, second, twice, asked.measure, second)
        markdown((f"κ = {concentration:g}", f"{share:.0%}", *cells(rows)))


def judged_by_two(concentration: float, share: float, seed: int) -> tuple[Collection, Any, Any, Any]:
    """A simulated collection, its new runs, a second assessor's levels, and which are judged twice."""
    made, rng = simulate(SMALL, random_seed=seed), np.random.default_rng([seed, 1])
    collection, first = made.collection, made.true_relevance()
    chances = np.broadcast_to(CHANCES, (SMALL.n_topics, *CHANCES.shape))
    if np.isfinite(concentration):
        chances = rng.gamma(concentration * chances)
        chances = chances / chances.sum(axis=2, keepdims=True)
    at_most = np.cumsum(chances, axis=2)[collection.pair_topic, first, :-1]
    second = (rng.random(len(first))[:, None] >= at_most).sum(axis=1).astype(np.int16)
    return collection, made.new_run_ids, second, collection.judged & (rng.random(len(first)) < share)


def print_judges(measure: Measure, draws: int, whole: bool) -> None:
    collection = read("dl21-passage", order="rank")
    paths = sorted((place("dl21-passage") / "judges").glob("*.txt"))
    judges = add_judges(collection, {path.stem: read_labels(path) for path in paths}).judges
    levels = {"qrels": np.maximum(collection.relevance, 0)}
    levels |= {j.name: np.maximum(np.nan_to_num(j.label), 0).astype(np.int16) for j in judges}
    head("first assessor", *HEADS)
    of_all: dict[float, list[tuple[float, ...]]] = {0.1: [], 0.5: []}
    for name, first in levels.items():
        judged = dataclasses.replace(collection, relevance=np.where(collection.judged, first, -1))
        away = [(judged.unpool(organization=o), runs) for o, runs in sorted(contributors(judged))]
        for share, every in of_all.items():
            rows: list[tuple[float, ...]] = []
            for place_away, (rest, runs) in enumerate([(judged, judged.pooled_run_ids)] if whole else away):
                estimator = PosteriorEstimator(estimand="pooled", draws=draws)
                for place_of, (other, second) in enumerate(levels.items()):
                    if other != name:
                        rng = np.random.default_rng([place_of, round(100 * share), place_away])
                        twice = rest.judged & (rng.random(len(second)) < share)
                        truth = np.where(collection.judged, second, 0).astype(np.int16)
                        rows += graded(estimator, rest, runs, second, twice, measure, truth)
            every += rows
            markdown((name, f"{share:.0%}", *cells(rows)))
    for share, every in of_all.items():
        markdown(("all", f"{share:.0%}", *cells(every)))


def graded(
    estimator: PosteriorEstimator,
    collection: Collection,
    runs: Any,
    second: Any,
    twice: Any,
    m: Any,
    truth: Any,
) -> Iterator[tuple[float, ...]]:
    """For each run whether the interval contains the truth, error over deviation, error, plain error."""
    again = SecondAssessors(np.where(twice, second, -1).astype(np.int16))
    (e,) = estimator.estimate(dataclasses.replace(collection, second=again), runs, [m])
    assert e.by_another is not None
    by_second = np.where(collection.judged, second, collection.relevance).astype(np.int16)
    judged, full = (dataclasses.replace(collection, relevance=levels) for levels in (by_second, truth))
    known = values_on_fuller(judged, full, runs, m).means()
    (lower, upper), std = e.by_another.interval(0.95), np.maximum(e.by_another.std(), 1e-9)
    off = e.by_another.expected() - known
    held = (lower - 1e-12 <= known) & (known <= upper + 1e-12)
    yield from zip(held, off / std, np.abs(off), np.abs(e.value - known), strict=True)


def cells(rows: list[tuple[float, ...]]) -> tuple[str, ...]:
    held, scaled, off, plain = np.array(rows, dtype=float).T
    rms = np.sqrt(np.mean(scaled**2))
    return str(len(rows)), f"{held.mean():.1%}", f"{rms:.2f}", f"{off.mean():.4f}", f"{plain.mean():.4f}"


if __name__ == "__main__":
    main()

"""What would another assessor have given? Do its intervals hold, and do topics differ in how levels change?

    BAYESPOOL_COLLECTIONS=folder python benchmarks/assessors.py density
    python benchmarks/assessors.py simulated [--collections 200] [-m P@10]
    BAYESPOOL_COLLECTIONS=folder python benchmarks/assessors.py judges [-m P@10] [--draws 75]

*density*: the qrels of DL 2021 and its three language-model judges in pairs, one as first assessor and one as
second. A share of the documents is judged twice; the mean log density of the other documents' levels by the
second assessor under one matrix, under topics with matrices of their own and one concentration, and with one
for each level.

*simulated*: collections of 20 topics and two new runs (`bayespool.experiments.simulate`), and a second
assessor who changes levels by known chances, alike on all topics or with a concentration of 8. A share of the
judged documents is judged twice, at random. The truth is the score of a new run with every document judged
by the second assessor. Of the 95 % intervals the share that holds it, rms of (estimate − truth) / standard
deviation, the mean absolute error, and that of the plain posterior mean, which takes the first assessor's
levels for the second's.

*judges*: the same on DL 2021: each organization is left out in turn, with one of the four as first assessor
and another one as second; the truth is the score with all the second one's judgments.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from at_hand import collections_folder, read

from bayespool import Collection
from bayespool.collection import SecondAssessors, read_qrels
from bayespool.collection.judges import find_pairs
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments.simulation import SimulationSettings, simulate
from bayespool.inference.confusion import draw_confusion
from bayespool.measures import Measure, parse_measure
from bayespool.models.confusion import PRIOR_COUNT
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.another_assessor import AnotherAssessor, values_by_another

JUDGED_TWICE = (0.1, 0.5)
SMALL = SimulationSettings(n_topics=20, n_organizations=5, max_runs=2, n_new=2, n_candidates=150)
CHANCES = np.array([[0.93, 0.05, 0.02], [0.3, 0.55, 0.15], [0.1, 0.3, 0.6]])  # of a simulated assessor
LEVEL = 0.95


def main() -> None:
    """Print the table that was asked for."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=("density", "simulated", "judges"))
    parser.add_argument("-m", "--measure", default="P@10")
    parser.add_argument("--collections", type=int, default=200)
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    measure = parse_measure(asked.measure)
    if asked.table == "simulated":
        print_simulated(measure, asked.collections, asked.draws)
        return
    place = collections_folder(parser) / "dl21-passage"
    if asked.table == "density":
        print_densities(place)
    else:
        print_judges(place, measure, asked.draws)


def print_simulated(measure: Measure, n: int, draws: int) -> None:
    """A row for each concentration and share judged twice."""
    print("| topics | judged twice | runs | in 95 % | rms | MAE | MAE of the first assessor's |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for concentration, share in itertools.product((np.inf, 8.0), (0.1, 1.0)):
        rows = [row for seed in range(n) for row in simulated(measure, concentration, share, draws, seed)]
        name = "alike" if np.isinf(concentration) else f"κ = {concentration:g}"
        print(f"| {name} | {share:.0%} | {cells(rows)} |", flush=True)


def simulated(
    measure: Measure, concentration: float, share: float, draws: int, seed: int
) -> Iterator[tuple[float, ...]]:
    """Rows of the new runs of a simulated collection."""
    made, rng = simulate(SMALL, random_seed=seed), np.random.default_rng([seed, 1])
    collection, first = made.collection, made.true_relevance()
    chances = np.broadcast_to(CHANCES, (SMALL.n_topics, *CHANCES.shape))
    if np.isfinite(concentration):
        chances = rng.gamma(concentration * chances)
        chances = chances / chances.sum(axis=2, keepdims=True)
    at_most = np.cumsum(chances, axis=2)[collection.pair_topic, first, :-1]
    second = (rng.random(len(first))[:, None] >= at_most).sum(axis=1).astype(np.int16)
    twice = collection.judged & (rng.random(len(first)) < share)
    runs = made.new_run_ids
    completion = PosteriorEstimator(model="ratio", draws=draws).complete(collection, runs, measure)
    yield from graded(completion, second, twice, measure, second)


def print_judges(place: Path, measure: Measure, draws: int) -> None:
    """A row for each first assessor and share judged twice, over the others as second assessors."""
    whole = read(place, order="rank")
    levels = assessors(place, whole)
    print("| first assessor | judged twice | runs | in 95 % | rms | MAE | MAE of the first assessor's |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    of_all: dict[float, list[tuple[float, ...]]] = {share: [] for share in JUDGED_TWICE}
    for name, first in levels.items():
        rows: dict[float, list[tuple[float, ...]]] = {share: [] for share in JUDGED_TWICE}
        judged = dataclasses.replace(whole, relevance=np.where(whole.judged, first, whole.relevance))
        for organization in sorted({judged.organizations[o] for o in judged.organization[judged.pooled]}):
            rest = judged.unpool(organization=organization)
            of_it = rest.organization == rest.organizations.index(organization)
            runs = [run for run, is_its in zip(rest.run_ids, of_it & judged.pooled, strict=True) if is_its]
            estimator = PosteriorEstimator(estimand="pooled", draws=draws, together=True)
            completion = estimator.complete(rest, runs, measure)
            for place_of, (other, second) in enumerate(levels.items()):
                for share in JUDGED_TWICE if other != name else ():
                    chosen = np.random.default_rng([place_of, round(100 * share)]).random(len(second)) < share
                    truth = np.where(whole.judged, second, 0).astype(np.int16)
                    rows[share] += graded(completion, second, rest.judged & chosen, measure, truth)
        for share, each in rows.items():
            of_all[share] += each
            print(f"| {name} | {share:.0%} | {cells(each)} |", flush=True)
    for share, each in of_all.items():
        print(f"| all | {share:.0%} | {cells(each)} |")


def graded(
    completion: object, second: np.ndarray, twice: np.ndarray, measure: Measure, truth: np.ndarray
) -> Iterator[tuple[float, ...]]:
    """For each run whether the interval holds the truth, error over deviation, error, plain error."""
    collection: Collection = completion.unknowns.collection  # type: ignore[attr-defined]
    runs, n_draws = completion.unknowns.run_ids, completion.n_draws  # type: ignore[attr-defined]
    both = dataclasses.replace(
        collection, second=SecondAssessors(np.where(twice, second, -1).astype(np.int16))
    )
    (values,) = values_by_another(completion, AnotherAssessor(both, n_draws, 1), [measure])  # type: ignore[arg-type]
    (plain,) = completion.evaluate(measure)  # type: ignore[attr-defined]
    by_second = np.where(collection.judged, second, collection.relevance).astype(np.int16)
    judged, full = (dataclasses.replace(collection, relevance=levels) for levels in (by_second, truth))
    known = values_on_fuller(judged, full, runs, measure).means()
    (lower, upper), std = values.interval(LEVEL), np.maximum(values.std(), 1e-9)
    off = values.expected() - known
    held = (lower - 1e-12 <= known) & (known <= upper + 1e-12)
    yield from zip(held, off / std, np.abs(off), np.abs(plain.expected() - known), strict=True)


def cells(rows: list[tuple[float, ...]]) -> str:
    """Runs, share that holds, rms, both errors."""
    held, scaled, off, plain = np.array(rows, dtype=float).T
    rms = float(np.sqrt(np.mean(scaled**2)))
    return f"{len(rows)} | {held.mean():.1%} | {rms:.2f} | {off.mean():.4f} | {plain.mean():.4f}"


def assessors(place: Path, collection: Collection) -> dict[str, np.ndarray]:
    """Levels of the qrels and of the judges on the judged documents, 0 where a judge has none."""
    levels = {"qrels": np.maximum(collection.relevance, 0)}
    for path in sorted((place / "judges").glob("*.txt")):
        qrels = read_qrels(path)
        pair = find_pairs(collection, qrels.query_id, qrels.doc_id)
        of_judge = np.zeros_like(collection.relevance)
        of_judge[pair[pair >= 0]] = np.maximum(qrels.relevance[pair >= 0], 0)
        levels[path.stem] = of_judge
    return levels


def print_densities(place: Path) -> None:
    """A row for each pair of assessors and share judged twice."""
    whole = read(place, order="rank")
    levels, judged = assessors(place, whole), np.flatnonzero(whole.judged)
    print("| first | second | judged twice | one matrix | by topic | by topic and level | κ |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for (name, first), (other, second) in itertools.permutations(levels.items(), 2):
        for share in JUDGED_TWICE:
            rng = np.random.default_rng(1)
            taught = rng.random(len(judged)) < share
            cell = (whole.pair_topic[judged], first[judged], second[judged])
            n_levels = int(max(first.max(), second.max())) + 1
            counts = np.zeros((len(whole.query_ids), n_levels, n_levels), dtype=np.int64)
            np.add.at(counts, tuple(x[taught] for x in cell), 1)
            topic, row, column = (x[~taught] for x in cell)
            prior = np.full((n_levels, n_levels), PRIOR_COUNT)
            one = counts.sum(axis=0) + prior
            density = [float(np.log(one / one.sum(axis=1, keepdims=True))[row, column].mean())]
            drawn = draw_confusion(counts, prior, 300, rng)
            density.append(by_topic(counts, drawn.chance, drawn.concentration[:, None], topic, row, column))
            of_levels = [
                draw_confusion(np.where(np.arange(n_levels)[:, None] == a, counts, 0), prior, 300, rng)
                for a in range(n_levels)
            ]
            chance = np.stack([each.chance[:, a] for a, each in enumerate(of_levels)], axis=1)
            concentration = np.stack([each.concentration for each in of_levels], axis=1)
            density.append(by_topic(counts, chance, concentration, topic, row, column))
            shown = " | ".join(f"{each:.3f}" for each in density)
            kappa = float(np.median(drawn.concentration))
            print(f"| {name} | {other} | {share:.0%} | {shown} | {kappa:.1f} |", flush=True)


def by_topic(
    counts: np.ndarray,
    chance: np.ndarray,
    concentration: np.ndarray,
    topic: np.ndarray,
    row: np.ndarray,
    column: np.ndarray,
) -> float:
    """Mean log density of held-out documents under topics with chances of their own, averaged over draws."""
    density = np.zeros(len(topic))
    for of_draw, kappa in zip(chance, concentration, strict=True):
        there = kappa.reshape(1, -1, 1) * of_draw + counts
        density += (there / there.sum(axis=2, keepdims=True))[topic, row, column] / len(chance)
    return float(np.log(density).mean())


if __name__ == "__main__":
    main()

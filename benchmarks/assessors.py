"""What would another assessor have given? Do its intervals hold, and do topics differ in how levels change?

    BAYESPOOL_COLLECTIONS=folder python benchmarks/assessors.py density
    python benchmarks/assessors.py simulated [--collections 200] [-m P@10]
    python benchmarks/assessors.py parts --collections 10 [-m P@10]
    BAYESPOOL_COLLECTIONS=folder python benchmarks/assessors.py judges [-m P@10] [--draws 75] [--whole]

*density*: the qrels of DL 2021 and its three language-model judges in pairs, one as first assessor and one as
second. A share of the documents is judged twice; the mean log density of the other documents' levels by the
second assessor under one matrix, then with effects of topics, how high runs rank a document, slopes of single
runs, and what documents of one organization have of their own.

*simulated*: collections of 20 topics and two new runs (`bayespool.experiments.simulate`), and a second
assessor who changes levels by known chances, alike on all topics or with a concentration of 8. A share of the
judged documents is judged twice, at random. The truth is the score of a new run with every document judged
by the second assessor. Of the 95 % intervals the share that holds it, rms of (estimate − truth) / standard
deviation, the mean absolute error, and that of the plain posterior mean, which takes the first assessor's
levels for the second's.

*parts*: the share of the variance that is due to unjudged documents, on the collections of *simulated* whose
topics are alike: from all pairs of 200 completions and 200 assessors, by analysis of variance, and as
`bayespool score` estimates it by 400 pairs of 4,000 draws, with five seeds. Means over runs, and the standard
deviation over seeds, which is the Monte Carlo error.

*judges*: the same as *simulated* on DL 2021: each organization is left out in turn, with one of the four as
first assessor and another one as second; the truth is the score with all the second one's judgments. Other
documents are judged twice for each organization. With ``--whole`` nobody is left out: next to nothing is
unjudged, and the intervals are of the assessor alone.
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
from scipy.special import expit

from bayespool import Collection
from bayespool.collection import SecondAssessors, read_qrels
from bayespool.collection.judges import find_pairs
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments.simulation import Simulation, SimulationSettings, simulate
from bayespool.inference.confusion import Features, JudgedTwice, draw_confusion
from bayespool.measures import Estimates, Measure, parse_measure
from bayespool.measures.assessor_variance import unjudged_share
from bayespool.models.confusion import PRIOR_COUNT
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.another_assessor import AnotherAssessor, values_by_another
from bayespool.posterior.completion import Completion

JUDGED_TWICE = (0.1, 0.5)
SMALL = SimulationSettings(n_topics=20, n_organizations=5, max_runs=2, n_new=2, n_candidates=150)
CHANCES = np.array([[0.93, 0.05, 0.02], [0.3, 0.55, 0.15], [0.1, 0.3, 0.6]])  # of a simulated assessor
LEVEL = 0.95
SEEDS = np.arange(1, 6)


def main() -> None:
    """Print the table that was asked for."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=("density", "simulated", "parts", "judges"))
    parser.add_argument("-m", "--measure", default="P@10")
    parser.add_argument("--collections", type=int, default=200)
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    parser.add_argument("--whole", action="store_true", help="leave nobody out")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    measure = parse_measure(asked.measure)
    if asked.table == "simulated":
        print_simulated(measure, asked.collections, asked.draws)
        return
    if asked.table == "parts":
        print_parts(measure, asked.collections)
        return
    place = collections_folder(parser) / "dl21-passage"
    if asked.table == "density":
        print_densities(place)
    else:
        print_judges(place, measure, asked.draws, whole=asked.whole)


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
    made, second, twice = judged_by_two(concentration, share, seed)
    runs = made.new_run_ids
    completion = PosteriorEstimator(model="ratio", draws=draws).complete(made.collection, runs, measure)
    yield from graded(completion, second, twice, measure, second)


def judged_by_two(concentration: float, share: float, seed: int) -> tuple[Simulation, np.ndarray, np.ndarray]:
    """A simulated collection, levels of its documents by a second assessor, and which are judged twice."""
    made, rng = simulate(SMALL, random_seed=seed), np.random.default_rng([seed, 1])
    collection, first = made.collection, made.true_relevance()
    chances = np.broadcast_to(CHANCES, (SMALL.n_topics, *CHANCES.shape))
    if np.isfinite(concentration):
        chances = rng.gamma(concentration * chances)
        chances = chances / chances.sum(axis=2, keepdims=True)
    at_most = np.cumsum(chances, axis=2)[collection.pair_topic, first, :-1]
    second = (rng.random(len(first))[:, None] >= at_most).sum(axis=1).astype(np.int16)
    return made, second, collection.judged & (rng.random(len(first)) < share)


def print_parts(measure: Measure, n: int) -> None:
    """A row for each share judged twice."""
    print("| judged twice | runs | due to unjudged, all pairs | 400 pairs | difference | sd over seeds |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for share in (0.1, 1.0):
        of_all_pairs, of_400_pairs = list[float](), list[np.ndarray]()
        for seed in range(n):
            made, second, twice = judged_by_two(np.inf, share, seed)
            levels = SecondAssessors(np.where(twice, second, -1).astype(np.int16))
            both = dataclasses.replace(made.collection, second=levels)
            for run in made.new_run_ids:
                estimators = [
                    PosteriorEstimator(model="ratio", random_seed=s) for s in (SEEDS + 100 * seed).tolist()
                ]
                completion = estimators[0].complete(both, run, measure)
                of_all_pairs.append(share_of_all_pairs(completion, both, measure))
                estimates = [estimator.estimate(both, run, measure)[0] for estimator in estimators]
                of_400_pairs.append(np.concatenate([share_of_400_pairs(e) for e in estimates]))
        by_seed, known = np.array(of_400_pairs), float(np.mean(of_all_pairs))
        spread = float(np.sqrt(by_seed.var(axis=1, ddof=1).mean()))
        off = by_seed.mean() - known
        cells = f"{known:.3f} | {by_seed.mean():.3f} | {off:+.3f} | {spread:.3f}"
        print(f"| {share:.0%} | {len(of_all_pairs)} | {cells} |", flush=True)


def share_of_400_pairs(e: Estimates) -> np.ndarray:
    """Share due to unjudged documents of each run, as `bayespool score` has it."""
    assert e.by_another is not None
    assert e.exchanged is not None
    return unjudged_share(e.by_another.means(), e.exchanged.means())


def share_of_all_pairs(completion: Completion, both: Collection, measure: Measure, n: int = 200) -> float:
    """Share due to unjudged documents of a run, from n completions that n assessors judge each."""
    another, each = AnotherAssessor(both, completion.n_draws, completion.random_seed), np.arange(n)
    judged = values_by_another(completion, another, [measure], np.repeat(each, n), np.tile(each, n))
    scores = judged[0].means().reshape(n, n)
    of_completion, of_assessor = scores.mean(axis=1), scores.mean(axis=0)
    rest = scores - of_completion[:, None] - of_assessor + scores.mean()
    both_at_once = (rest**2).sum() / (n - 1) ** 2
    of_unjudged = max(0.0, of_completion.var(ddof=1) - both_at_once / n)
    return float(of_unjudged / (of_unjudged + of_assessor.var(ddof=1) + both_at_once * (1 - 1 / n)))


def print_judges(place: Path, measure: Measure, draws: int, *, whole: bool) -> None:
    """A row for each first assessor and share judged twice, over the others as second assessors."""
    collection = read(place, order="rank")
    levels = assessors(place, collection)
    print("| first assessor | judged twice | runs | in 95 % | rms | MAE | MAE of the first assessor's |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    of_all: dict[float, list[tuple[float, ...]]] = {share: [] for share in JUDGED_TWICE}
    for name, first in levels.items():
        rows: dict[float, list[tuple[float, ...]]] = {share: [] for share in JUDGED_TWICE}
        by_first = np.where(collection.judged, first, collection.relevance).astype(np.int16)
        judged = dataclasses.replace(collection, relevance=by_first)
        away = [(judged, judged.pooled_run_ids)] if whole else left_out(judged)
        for place_away, (rest, runs) in enumerate(away):
            estimator = PosteriorEstimator(estimand="pooled", draws=draws, together=True)
            completion = estimator.complete(rest, runs, measure)
            for place_of, (other, second) in enumerate(levels.items()):
                for share in JUDGED_TWICE if other != name else ():
                    rng = np.random.default_rng([place_of, round(100 * share), place_away])
                    chosen = rng.random(len(second)) < share
                    truth = np.where(collection.judged, second, 0).astype(np.int16)
                    rows[share] += graded(completion, second, rest.judged & chosen, measure, truth)
        for share, each in rows.items():
            of_all[share] += each
            print(f"| {name} | {share:.0%} | {cells(each)} |", flush=True)
    for share, each in of_all.items():
        print(f"| all | {share:.0%} | {cells(each)} |")


def left_out(collection: Collection) -> Iterator[tuple[Collection, list[str]]]:
    """Each organization's runs, and the collection without it in the pool."""
    for organization in sorted(
        {collection.organizations[o] for o in collection.organization[collection.pooled]}
    ):
        of_it = collection.organization == collection.organizations.index(organization)
        runs = [
            run for run, is_its in zip(collection.run_ids, of_it & collection.pooled, strict=True) if is_its
        ]
        yield collection.unpool(organization=organization), runs


def graded(
    completion: Completion, second: np.ndarray, twice: np.ndarray, measure: Measure, truth: np.ndarray
) -> Iterator[tuple[float, ...]]:
    """For each run whether the interval holds the truth, error over deviation, error, plain error."""
    collection = completion.unknowns.collection
    runs, n_draws = completion.unknowns.run_ids, completion.n_draws
    both = dataclasses.replace(
        collection, second=SecondAssessors(np.where(twice, second, -1).astype(np.int16))
    )
    (values,) = values_by_another(completion, AnotherAssessor(both, n_draws, 1), [measure])
    (plain,) = completion.evaluate(measure)
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
    print("| first | second | judged twice | one matrix | topics | ranks | runs | organizations |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for (name, first), (other, second) in itertools.permutations(levels.items(), 2):
        for share in JUDGED_TWICE:
            taught = np.random.default_rng(1).random(len(judged)) < share
            both = dataclasses.replace(whole, relevance=np.where(whole.judged, first, -1).astype(np.int16))
            again = np.full(len(second), -1, dtype=np.int16)
            again[judged] = second[judged]
            both = dataclasses.replace(both, second=SecondAssessors(again))
            shown = " | ".join(f"{each:.3f}" for each in densities(AnotherAssessor(both, 200, 1), taught))
            print(f"| {name} | {other} | {share:.0%} | {shown} |", flush=True)


def densities(another: AnotherAssessor, taught: np.ndarray) -> Iterator[float]:
    """Mean log density of held-out documents under models with more and more in them."""
    judged = np.flatnonzero(another.first >= 0)
    topic = another.collection.pair_topic[judged].astype(np.int64)
    first, second, n_levels = another.first[judged], another.second[judged], len(another.levels)
    n_topics, prior = len(another.collection.query_ids), np.full((n_levels, n_levels), PRIOR_COUNT)
    one = prior.copy()
    np.add.at(one, (first[taught], second[taught]), 1)
    chance = one / one.sum(axis=1, keepdims=True)
    yield float(np.log(chance[first[~taught], second[~taught]]).mean())
    every = another.features(judged, another.contributor[judged])
    ranks = Features(every.free[:, 2:], every.of_run[:, :0], every.of_organization[:, :0])
    nothing = Features(*np.zeros((3, len(judged), 0)))
    for features in (nothing, ranks, dataclasses.replace(ranks, of_run=every.of_run), every):
        taught_by = topic[taught], first[taught], second[taught], features.at(taught)
        twice = JudgedTwice(*taught_by, n_topics=n_topics, n_levels=n_levels)
        drawn = draw_confusion(twice, prior, another.n_draws, np.random.default_rng(1))
        draws, total = np.arange(another.n_draws), 0.0
        for t in range(n_topics):
            here = np.flatnonzero(~taught & (topic == t))
            reached = np.ones((len(draws), len(here)))
            density = np.zeros(len(here))
            for rung in range(n_levels):
                onward = np.zeros_like(reached)
                if rung < n_levels - 1:
                    of_rung = drawn.log_odds(rung, t, first[here], features.matrix[here], draws)
                    onward = reached * expit(of_rung)
                density += np.where(second[here] == rung, (reached - onward).mean(axis=0), 0)
                reached = onward
            total += float(np.log(density).sum())
        yield total / int((~taught).sum())


if __name__ == "__main__":
    main()

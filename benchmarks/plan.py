"""Is the power that `bayespool plan` predicts found? On halves of the topics of TREC-8, at five sizes.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/plan.py [--collection trec8-adhoc] [--draws 75]
    BAYESPOOL_COLLECTIONS=folder python benchmarks/plan.py --judgments

One half of the topics says which difference of P@10 is told in half and in 80 % of the cases with 10, 15, 25,
50 and 100 topics. On the other half the differences of the same pairs of runs are shifted so that their true
mean is just that, and topics are drawn from it with replacement, as many as planned: the share of pairs and
drawings that are told is the power that is found. Ten halvings, each both ways.

*Judged*: pooled runs, with nothing unjudged; told by the paired t test. *Unjudged*: runs of five
organizations at a time that leave the pool, three times; their draws are of posterior-combined, shifted by
the true mean of the fully judged scores, so that what the posterior misses counts. Told where the interval
on topics like these, of the mean and the variance over draws, leaves out 0.

With ``--judgments`` instead: a random quarter and half of the unjudged documents of these left-out runs are
judged, as all judgments say, and the runs scored again, on TREC-8 and Medical 2011. Standard deviation of a
mean difference due to unjudged documents, and smallest difference told in 80 % of cases, as they are, as
planned, and as found: means over pairs, three sets of organizations and two choices of documents.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from at_hand import collections_folder, read
from intervals import READING
from scipy import stats

from bayespool import Collection, score
from bayespool.comparisons import PairVariances
from bayespool.comparisons.settings import ComparingSettings
from bayespool.evidence import score_bounds
from bayespool.measures import Values, parse_measure
from bayespool.posterior.unknowns import find_unknowns

MEASURE = parse_measure("P@10")
SHARES = (0.25, 0.5)
SIZES, POWERS, LEVEL = (10, 15, 25, 50, 100), (0.5, 0.8), 0.05
N_HALVES, N_PAIRS, N_DRAWINGS, N_SETS, N_ORGANIZATIONS = 10, 60, 10, 3, 5

Row = tuple[int, float, float, float]


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", default="trec8-adhoc")
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    parser.add_argument("--judgments", action="store_true", help="what more judgments do")
    asked = parser.parse_args()
    if asked.judgments:
        print_judgments(collections_folder(parser), asked.draws)
        return
    place: Path = collections_folder(parser) / asked.collection
    warnings.simplefilter("ignore")
    whole = read(place, **READING.get(place.name, {}))
    print("| runs | topics | difference | predicted | found |")
    print("| --- | ---: | ---: | ---: | ---: |")
    print_rows("judged", [of_pooled_runs(whole)])
    print_rows("unjudged", list(left_out(whole, asked.draws)))


def print_rows(what: str, sets: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Rows by size and power, means over halves and sets of runs."""
    rows = [
        row
        for i, (draws, truth) in enumerate(sets)
        for half in range(N_HALVES)
        for row in both_ways(draws, truth, np.random.default_rng([i, half]))
    ]
    frame = pd.DataFrame(rows, columns=["topics", "predicted", "difference", "found"])
    for (topics, predicted), each in frame.groupby(["topics", "predicted"]):
        mean = each.mean()
        print(
            f"| {what} | {topics} | {mean['difference']:.3f} | {predicted:.2f} | {mean['found']:.3f} |",
            flush=True,
        )


def print_judgments(folder: Path, draws: int) -> None:
    """Rows by collection and share of the unjudged documents that is judged."""
    warnings.simplefilter("ignore")
    print("| collection | judged | sd: now | planned | found | smallest: now | planned | found |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in ("trec8-adhoc", "trec2011-medical"):
        whole = read(folder / name, **READING.get(name, {}))
        rows = [row for chosen in organizations(whole) for row in judged_more(whole, chosen, draws)]
        for share, each in pd.DataFrame(rows).groupby(0):
            cells = " | ".join(f"{x:.4f}" for x in each.drop(columns=0).mean())
            print(f"| {name} | {share:.0%} | {cells} |", flush=True)


def judged_more(whole: Collection, chosen: list[str], draws: int) -> Iterator[tuple[float, ...]]:
    """Share judged, and deviations and smallest differences now, as planned and as found."""
    rest = whole
    for organization in chosen:
        rest = rest.unpool(organization=organization)
    of_them = np.isin(np.array(whole.organizations)[whole.organization], chosen) & whole.pooled
    runs = [run for run, is_theirs in zip(whole.run_ids, of_them, strict=True) if is_theirs]
    settings = ComparingSettings(measures=(MEASURE,), estimand="pooled", draws=draws)
    unknown = find_unknowns(rest, runs, MEASURE.cutoff, "pooled").pair
    unknown = unknown[whole.judged[unknown]]
    now = variances(rest, runs, settings)
    n_topics = now.n_topics
    for share, seed in itertools.product(SHARES, (1, 2)):
        more = unknown[np.random.default_rng(seed).random(len(unknown)) < share]
        found = variances(rest.with_added(more, whole.relevance[more]), runs, settings)
        of = [now.of_unjudged(n_topics), now.of_unjudged(n_topics, share), found.of_unjudged(n_topics)]
        smallest = [
            now.smallest(0.8, n_topics), now.smallest(0.8, n_topics, share), found.smallest(0.8, n_topics)
        ]  # fmt: skip
        yield share, *(float(np.sqrt(each).mean()) for each in of), *smallest


def variances(collection: Collection, runs: list[str], settings: ComparingSettings) -> PairVariances:
    """Variances of the differences of runs by the posterior."""
    (estimates,) = (e for e in score(collection, runs, settings=settings).estimates if e.draws is not None)
    assert estimates.draws is not None
    return PairVariances.of(estimates.draws)


def organizations(whole: Collection) -> Iterator[list[str]]:
    """Sets of organizations that leave the pool together."""
    rng = np.random.default_rng(1)
    pooled = sorted({whole.organizations[o] for o in whole.organization[whole.pooled]})
    for _ in range(N_SETS):
        yield list(map(str, rng.choice(pooled, N_ORGANIZATIONS, replace=False)))


def of_pooled_runs(whole: Collection) -> tuple[np.ndarray, np.ndarray]:
    """Scores of the pooled runs, as one draw, and as the truth."""
    scores = score_bounds(whole, whole.pooled_run_ids, MEASURE).low
    return scores.amount[None], scores.scores()


def left_out(whole: Collection, draws: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draws of runs of some organizations that leave the pool together, and their true scores."""
    for chosen in organizations(whole):
        settings = ComparingSettings(
            measures=(MEASURE,), unpool=tuple(chosen), estimand="pooled", draws=draws
        )
        (estimates,) = (e for e in score(whole, settings=settings).estimates if e.draws is not None)
        assert estimates.draws is not None
        yield estimates.draws.amount, score_bounds(whole, estimates.run_ids, MEASURE).low.scores()


def both_ways(draws: np.ndarray, truth: np.ndarray, rng: np.random.Generator) -> Iterator[Row]:
    """Rows of `of_half` from each of two halves of the topics to the other."""
    order = rng.permutation(truth.shape[1])
    yield from of_half(draws, truth, order[::2], order[1::2], rng)
    yield from of_half(draws, truth, order[1::2], order[::2], rng)


def of_half(
    draws: np.ndarray, truth: np.ndarray, here: np.ndarray, there: np.ndarray, rng: np.random.Generator
) -> Iterator[Row]:
    """Size, predicted power, difference and found power, from one half of the topics to the other."""
    planned = PairVariances.of(Values(draws[:, :, here], MEASURE.unit))
    pairs = np.array(list(itertools.combinations(range(len(truth)), 2)))
    pairs = pairs[rng.permutation(len(pairs))[:N_PAIRS]]
    for n_topics, power in itertools.product(SIZES, POWERS):
        difference = planned.smallest(power, n_topics, level=LEVEL)
        told = []
        for a, b in pairs:
            true = truth[a, there] - truth[b, there]
            drawn = (draws[:, a, there] - draws[:, b, there]) / MEASURE.unit
            # a half is less spread than the population that it is drawn from
            wide = np.sqrt(len(there) / (len(there) - 1))
            drawn = (drawn - true.mean()) * wide + difference
            told += [is_told(drawn[:, rng.integers(len(there), size=n_topics)]) for _ in range(N_DRAWINGS)]
        yield n_topics, power, difference, float(np.mean(told))


def is_told(draws: np.ndarray) -> bool:
    """Whether the interval of a difference, from draws by topic, is above 0."""
    n_topics = draws.shape[1]
    error = np.sqrt(draws.var(axis=1, ddof=1).mean() / n_topics + draws.mean(axis=1).var())
    return bool(draws.mean() > stats.t.ppf(1 - LEVEL / 2, n_topics - 1) * error)


if __name__ == "__main__":
    main()

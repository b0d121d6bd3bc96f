"""Is the power that `bayespool plan` predicts found? On halves of the topics of TREC-8, at five sizes.

    python research/decisions/plan.py [--collection trec8-adhoc] [--draws 75]
    python research/decisions/plan.py --judgments

One half of the topics says which difference of P@10 is told in half and in 80 % of the cases. On the other
half the differences of the same pairs of runs are shifted so that their true mean is just that, and topics
are drawn from it with replacement, as many as planned. Ten halvings, each both ways. *Judged*: pooled runs.
*Unjudged*: runs of five organizations at a time that leave the pool, three times, with draws of
posterior-combined, shifted by the true mean of the fully judged scores. --judgments: a random quarter and
half of the unjudged documents of these left-out runs are judged, and the runs scored again: standard
deviation of a mean difference due to unjudged documents, and smallest difference told in 80 % of cases, as
they are, as planned, and as found (docs/plan.md).
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from shared import READING, contributors, head, markdown, read

from bayespool import Collection, PosteriorEstimator, score
from bayespool.comparisons import PairVariances
from bayespool.evidence import score_bounds
from bayespool.measures import Estimates, Values, parse_measure
from bayespool.posterior import find_unknowns

MEASURE = parse_measure("P@10")
SIZES, POWERS, LEVEL = (10, 15, 25, 50, 100), (0.5, 0.8), 0.05
N_HALVES, N_PAIRS, N_DRAWINGS, N_SETS, N_ORGANIZATIONS = 10, 60, 10, 3, 5


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--collection", default="trec8-adhoc")
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    parser.add_argument("--judgments", action="store_true", help="what more judgments do")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.judgments:
        head("collection", "judged", "sd: now", "planned", "found", "smallest: now", "planned", "found")
        for name in ("trec8-adhoc", "trec2011-medical"):
            whole = read(name, **READING.get(name, {}))
            rows = [row for chosen in sets(whole) for row in judged_more(whole, chosen, asked.draws)]
            for share, each in pd.DataFrame(rows).groupby(0):
                markdown([name, f"{share:.0%}", *(f"{x:.4f}" for x in each.drop(columns=0).mean())])
        return
    whole = read(asked.collection, **READING.get(asked.collection, {}))
    head("runs", "topics", "difference", "predicted", "found")
    scores = score_bounds(whole, whole.pooled_run_ids, MEASURE).low
    print_rows("judged", [(scores.amount[None], scores.scores())])
    print_rows("unjudged", [left_out(whole, chosen, asked.draws) for chosen in sets(whole)])


def print_rows(what: str, cases: list[tuple[np.ndarray, np.ndarray]]) -> None:
    rows: list[tuple[float, ...]] = []
    for (i, (draws, truth)), half in itertools.product(enumerate(cases), range(N_HALVES)):
        rng = np.random.default_rng([i, half])
        order = rng.permutation(truth.shape[1])
        for here, there in ((order[::2], order[1::2]), (order[1::2], order[::2])):
            rows += of_half(draws, truth, here, there, rng)
    frame = pd.DataFrame(rows, columns=["topics", "predicted", "difference", "found"])
    for (topics, predicted), each in frame.groupby(["topics", "predicted"]):
        mean = each.mean()
        markdown([what, topics, f"{mean['difference']:.3f}", f"{predicted:.2f}", f"{mean['found']:.3f}"])


def sets(whole: Collection) -> Iterator[list[str]]:
    """Sets of organizations that leave the pool together."""
    rng, pooled = np.random.default_rng(1), sorted(name for name, _ in contributors(whole))
    for _ in range(N_SETS):
        yield list(map(str, rng.choice(pooled, N_ORGANIZATIONS, replace=False)))


def estimated(collection: Collection, draws: int, **asked: Any) -> Estimates:
    scores = score(
        collection,
        measures=[MEASURE],
        estimand="pooled",
        posterior_settings=PosteriorEstimator(draws=draws),
        **asked,
    )
    (estimates,) = (e for e in scores.estimates if e.draws is not None)
    return estimates


def judged_more(whole: Collection, chosen: list[str], draws: int) -> Iterator[tuple[float, ...]]:
    """Share judged, and deviations and smallest differences now, as planned and as found."""
    rest, runs = whole, [run for name, its in contributors(whole) if name in chosen for run in its]
    runs = [run for run in whole.run_ids if run in runs]
    for organization in chosen:
        rest = rest.unpool(organization=organization)
    unknown = find_unknowns(rest, runs, MEASURE.cutoff, "pooled").pair
    unknown = unknown[whole.judged[unknown]]
    now = PairVariances.from_draws(estimated(rest, draws, run_ids=runs).draws)
    n = now.n_topics
    for share, seed in itertools.product((0.25, 0.5), (1, 2)):
        more = unknown[np.random.default_rng(seed).random(len(unknown)) < share]
        judged = rest.with_own_judgments(more, whole.relevance[more])
        then = PairVariances.from_draws(estimated(judged, draws, run_ids=runs).draws)
        of = (now.unjudged_variance(n), now.unjudged_variance(n, share), then.unjudged_variance(n))
        smallest = (now.smallest(0.8, n), now.smallest(0.8, n, share), then.smallest(0.8, n))
        yield share, *(float(np.sqrt(each).mean()) for each in of), *smallest


def left_out(whole: Collection, chosen: list[str], draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Draws of runs of some organizations that leave the pool together, and their true scores."""
    e = estimated(whole, draws, unpool=tuple(chosen))
    assert e.draws is not None
    return e.draws.amount, score_bounds(whole, e.run_ids, MEASURE).low.scores()


def of_half(
    draws: np.ndarray, truth: np.ndarray, here: Any, there: Any, rng: Any
) -> Iterator[tuple[float, ...]]:
    """Size, predicted power, difference and found power, from one half of the topics to the other."""
    planned = PairVariances.from_draws(Values(draws[:, :, here], MEASURE.unit))
    pairs = np.array(list(itertools.combinations(range(len(truth)), 2)))
    pairs = pairs[rng.permutation(len(pairs))[:N_PAIRS]]
    wide = np.sqrt(len(there) / (len(there) - 1))  # a half is less spread than what it is drawn from
    for n_topics, power in itertools.product(SIZES, POWERS):
        difference, told = planned.smallest(power, n_topics, level=LEVEL), []
        for a, b in pairs:
            true = (truth[a, there] - truth[b, there]).mean()
            drawn = ((draws[:, a, there] - draws[:, b, there]) / MEASURE.unit - true) * wide + difference
            told += [is_told(drawn[:, rng.integers(len(there), size=n_topics)]) for _ in range(N_DRAWINGS)]
        yield n_topics, power, difference, float(np.mean(told))


def is_told(draws: np.ndarray) -> bool:
    """Whether the interval of a difference, from draws by topic, is above 0."""
    n_topics = draws.shape[1]
    error = np.sqrt(draws.var(axis=1, ddof=1).mean() / n_topics + draws.mean(axis=1).var())
    return bool(draws.mean() > stats.t.ppf(1 - LEVEL / 2, n_topics - 1) * error)


if __name__ == "__main__":
    main()

"""Do intervals of topics like these hold? On random halves of the topics, and where the truth is simulated.

    python research/decisions/population.py [COLLECTION …] [-m P@10] [--draws 75]
    python research/decisions/population.py --simulated [--collections 1000]

Every organization is left out of the pool in turn, and its runs are scored. Then the topics are halved at
random, 300 times: the score on one half, with its interval on topics like these, speaks of the other half,
where all judgments are at hand. The other half is a sample, too: the distance from the estimate to an end of
the interval and the half-width of the t interval of the other half are added as squares. *population* is
`score --scope population`; *t* and *bootstrap* are of the scores as judged, *known* is the t interval of
scores with nothing unjudged. --simulated compares three ways to let topics be uncertain where the truth is
known: the normal model within draws, the Bayesian bootstrap within draws, and the normal model whose topics
vary as their means over draws (docs/computation.md, *Population of topics*).
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit, logit
from shared import READING, contributors, head, markdown, read

from bayespool import parse_measure, score
from bayespool.evidence import score_bounds
from bayespool.measures import Estimates, Measure, Values, estimate_population, population_draws

COLLECTIONS = ("trec8-adhoc", "trec2011-medical", "dl21-passage", "covid-round4")
N_HALVES, LEVEL, N_DRAWS = 300, 0.95, 500
CHANCES = stats.beta.ppf((np.arange(2000) + 0.5) / 2000, 0.8, 1.2)  # of topics, to be relevant


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=COLLECTIONS)
    parser.add_argument("-m", "--measure", type=parse_measure, default="P@10")
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--collections", type=int, default=1000, help="simulated ones")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.simulated:
        print_simulated(asked.collections)
        return
    head("collection", "topics", "runs", "way", "in 95 %", "width", "bias")
    for name in asked.names:
        print_halves(name, asked.measure, asked.draws)


def print_halves(name: str, measure: Measure, draws: int) -> None:
    whole, n_runs, rows = read(name, **READING.get(name, {})), 0, list[tuple[str, bool, float, float]]()
    for organization, _ in sorted(contributors(whole)):
        asked = {
            "measures": measure,
            "estimators": "posterior-combined",
            "estimand": "pooled",
            "posterior_settings": f"draws={draws}",
        }
        scores = score(whole, unpool=organization, **asked)
        (bounds,), (e,) = scores.bounds, scores.estimates
        truth = score_bounds(whole, scores.run_ids, measure).low.scores()
        n_runs += len(truth)
        rng = np.random.default_rng(1)  # the same halves for all organizations
        for _ in range(N_HALVES):
            order = rng.permutation(truth.shape[1])
            rows += graded(e, bounds.low.scores(), truth, np.sort(order[::2]), np.sort(order[1::2]))
    frame = pd.DataFrame(rows, columns=["way", "held", "width", "bias"])
    for way, each in frame.groupby("way", sort=False).mean().iterrows():
        cells = [f"{each['held']:.1%}", f"{each['width']:.3f}", f"{each['bias']:+.4f}"]
        markdown([name, len(whole.query_ids), n_runs, way, *cells])


def graded(
    e: Estimates, as_judged: np.ndarray, truth: np.ndarray, half: np.ndarray, other: np.ndarray
) -> Iterator[tuple[str, bool, float, float]]:
    """A row for each way and run: whether the interval holds the mean of the other half."""
    assert e.draws is not None
    mean, margin, per_topic = truth[:, other].mean(axis=1), t_margin(truth[:, other]), e.per_topic[:, half]
    part = dataclasses.replace(
        e,
        query_ids=tuple(e.query_ids[t] for t in half),
        per_topic=per_topic,
        value=per_topic.mean(axis=1),
        draws=Values(e.draws.amount[:, :, half], e.draws.unit),
    )
    judged = dataclasses.replace(part, draws=None, per_topic=as_judged[:, half])
    there, resampled = estimate_population(part, LEVEL), estimate_population(judged, LEVEL)
    ways = {"population": (part.value, there.lower, there.upper)}
    for way, scores in (("t", as_judged[:, half]), ("known", truth[:, half])):
        value, wide = scores.mean(axis=1), t_margin(scores)
        ways[way] = (value, value - wide, value + wide)
    ways["bootstrap"] = (ways["t"][0], resampled.lower, resampled.upper)
    for way, (value, lower, upper) in ways.items():
        low, high = value - np.hypot(value - lower, margin), value + np.hypot(upper - value, margin)
        held = (low <= mean) & (mean <= high)
        yield from zip(itertools.repeat(way), held, upper - lower, value - mean, strict=False)


def t_margin(scores: np.ndarray) -> np.ndarray:
    """Half the width of the t interval of runs' means, shape (run,)."""
    n = scores.shape[1]
    return np.asarray(stats.t.ppf((1 + LEVEL) / 2, n - 1) * scores.std(axis=1, ddof=1) / np.sqrt(n))


def print_simulated(n: int) -> None:
    ways = ("normal", "bootstrap", "normal of means")
    head("topics", "unjudged", *(f"{way}: {what}" for way in ways for what in ("in 95 %", "width")))
    for n_topics, unjudged in itertools.product((5, 10, 25, 50, 100), (0.0, 0.1, 0.3, 0.6)):
        rng = np.random.default_rng([n_topics, round(100 * unjudged)])
        means = np.array([simulated(n_topics, unjudged, rng) for _ in range(n)]).mean(axis=0)
        cells = [cell for held, width in means for cell in (f"{held:.1%}", f"{width:.3f}")]
        markdown([n_topics, f"{unjudged:.0%}", *cells])


def simulated(n_topics: int, unjudged: float, rng: np.random.Generator) -> list[tuple[bool, float]]:
    """For each way whether its interval holds the true mean P@10 over all topics, and its width."""
    error = rng.normal(scale=0.3)
    truth = ((1 - unjudged) * CHANCES + unjudged * of_unjudged(CHANCES, error)).mean()
    chance = rng.beta(0.8, 1.2, n_topics)
    n_unjudged = rng.binomial(10, unjudged, n_topics)
    relevant = rng.binomial(10 - n_unjudged, chance)
    shared = rng.normal(scale=0.3, size=(N_DRAWS, 1))
    draws = relevant + rng.binomial(n_unjudged, of_unjudged(chance, shared))
    means = draws.mean(axis=0)
    weights = rng.dirichlet(np.ones(n_topics), N_DRAWS)
    seed = int(rng.integers(2**31))
    spread = population_draws(np.broadcast_to(means, draws.shape)[:, None], random_seed=seed)[:, 0]
    made = (
        population_draws(draws[:, None], random_seed=seed)[:, 0],
        (weights * draws).sum(axis=1),
        spread + draws.mean(axis=1) - means.mean(),
    )
    ends = [np.quantile(values / 10, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) for values in made]
    return [(bool(low <= truth <= high), float(high - low)) for low, high in ends]


def of_unjudged(chance: np.ndarray, error: np.ndarray | float) -> np.ndarray:
    """Chance that an unjudged document is relevant, by that of the judged ones and a shared error."""
    return np.asarray(expit(0.7 * logit(np.clip(chance, 0.01, 0.99)) - 0.7 + error))


if __name__ == "__main__":
    main()

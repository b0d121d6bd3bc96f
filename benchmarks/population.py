"""Do intervals of topics like these hold? On random halves of the topics, and where the truth is simulated.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/population.py [COLLECTION …] [-m P@10] [--draws 75]
    python benchmarks/population.py --simulated

Every organization is left out of the pool in turn, and its runs are scored. Then the topics are halved at
random, 300 times: the score on one half, with its interval on topics like these, speaks of the other half,
where all judgments are at hand. The other half is a sample, too: the distance from the estimate to an end of
the interval and the half-width of the t interval of the other half are added as squares. Models are fitted
once, on all topics. A row for each collection and way: of the 95 % intervals the share that holds the mean
of the other half, their mean width before that is added, and the bias. *population* is `score --scope
population`; *t* and *bootstrap* are of the scores as judged, whose unjudged documents are nonrelevant, and
*known* is the t interval of scores with nothing unjudged: what is possible at this number of topics.

``--simulated`` compares three ways to let topics be uncertain where the truth is known: the normal model
within draws, the Bayesian bootstrap within draws, and the normal model whose topics vary as their means over
draws. Scores are P@10 with a chance to be relevant by topic; some of the ranks are unjudged, with an error of
their chance that all topics share.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from at_hand import collections_folder, read
from intervals import READING
from scipy import stats
from scipy.special import expit, logit

from bayespool import score
from bayespool.evidence import score_bounds
from bayespool.measures import Estimates, Measure, Values, parse_measure
from bayespool.measures.populations import population_draws, population_of

COLLECTIONS = ("trec8-adhoc", "trec2011-medical", "dl21-passage", "covid-round4")
ESTIMATOR = "posterior-combined"
N_HALVES, LEVEL = 300, 0.95
N_SIMULATED, N_DRAWS = 1000, 500
CHANCES = stats.beta.ppf((np.arange(2000) + 0.5) / 2000, 0.8, 1.2)  # of topics, to be relevant


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="*", metavar="COLLECTION", default=list(COLLECTIONS))
    parser.add_argument("-m", "--measure", default="P@10")
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    parser.add_argument("--simulated", action="store_true")
    asked = parser.parse_args()
    if asked.simulated:
        print_simulated()
        return
    folder = collections_folder(parser)
    warnings.simplefilter("ignore")
    print("| collection | topics | runs | way | in 95 % | width | bias |")
    print("| --- | ---: | ---: | --- | ---: | ---: | ---: |")
    for name in asked.collections:
        print_halves(folder / name, parse_measure(asked.measure), asked.draws)


def print_halves(place: Path, measure: Measure, draws: int) -> None:
    """Rows of one collection."""
    rows, n_runs, n_topics = [], 0, 0
    for estimates, as_judged, truth in left_out(place, measure, draws):
        n_runs, n_topics = n_runs + len(truth), truth.shape[1]
        rng = np.random.default_rng(1)  # the same halves for all organizations
        for _ in range(N_HALVES):
            order = rng.permutation(n_topics)
            rows += graded(estimates, as_judged, truth, np.sort(order[::2]), np.sort(order[1::2]))
    frame = pd.DataFrame(rows, columns=["way", "held", "width", "bias"])
    for way, each in frame.groupby("way", sort=False).mean().iterrows():
        cells = f"{each['held']:.1%} | {each['width']:.3f} | {each['bias']:+.4f}"
        print(f"| {place.name} | {n_topics} | {n_runs} | {way} | {cells} |", flush=True)


def left_out(place: Path, measure: Measure, draws: int) -> Iterator[tuple[Estimates, np.ndarray, np.ndarray]]:
    """For each organization its runs' estimates, scores as judged without it, and true scores by topic."""
    whole = read(place, **READING.get(place.name, {}))
    organizations = {whole.organizations[o] for o in whole.organization[whole.pooled]}
    for organization in sorted(organizations):
        found = score(
            whole, measures=measure, estimators=ESTIMATOR, unpool=organization, estimand="pooled", draws=draws
        )
        (bounds,), (estimates,) = found.bounds, found.estimates
        truth = score_bounds(whole, found.run_ids, measure).low.scores()
        yield estimates, bounds.low.scores(), truth


def graded(
    estimates: Estimates, as_judged: np.ndarray, truth: np.ndarray, half: np.ndarray, other: np.ndarray
) -> Iterator[tuple[str, bool, float, float]]:
    """A row for each way and run: whether the interval holds the mean of the other half."""
    assert estimates.draws is not None
    mean, margin = truth[:, other].mean(axis=1), t_margin(truth[:, other])
    part = dataclasses.replace(
        estimates,
        query_ids=tuple(estimates.query_ids[t] for t in half),
        per_topic=estimates.per_topic[:, half],
        value=estimates.per_topic[:, half].mean(axis=1),
        draws=Values(estimates.draws.amount[:, :, half], estimates.draws.unit),
    )
    judged = dataclasses.replace(part, draws=None, per_topic=as_judged[:, half])
    there, resampled = population_of(part, LEVEL), population_of(judged, LEVEL)
    ways = {"population": (part.value, there.lower, there.upper)}
    for way, scores in (("t", as_judged), ("known", truth)):
        value, wide = scores[:, half].mean(axis=1), t_margin(scores[:, half])
        ways[way] = (value, value - wide, value + wide)
    ways["bootstrap"] = (ways["t"][0], resampled.lower, resampled.upper)
    for way, (value, lower, upper) in ways.items():
        low = value - np.hypot(value - lower, margin)
        high = value + np.hypot(upper - value, margin)
        held = (low <= mean) & (mean <= high)
        yield from zip(itertools.repeat(way), held, upper - lower, value - mean, strict=False)


def t_margin(scores: np.ndarray) -> np.ndarray:
    """Half the width of the t interval of runs' means, shape (run,)."""
    n = scores.shape[1]
    return np.asarray(stats.t.ppf((1 + LEVEL) / 2, n - 1) * scores.std(axis=1, ddof=1) / np.sqrt(n))


def print_simulated() -> None:
    """Coverage and width of three ways, by number of topics and share of unjudged ranks."""
    ways = ("normal", "bootstrap", "normal of means")
    print("| topics | unjudged | " + " | ".join(f"{way}: in 95 % | width" for way in ways) + " |")
    print("| ---: | ---: |" + " ---: |" * 2 * len(ways))
    for n_topics, unjudged in itertools.product((5, 10, 25, 50, 100), (0.0, 0.1, 0.3, 0.6)):
        rng = np.random.default_rng([n_topics, round(100 * unjudged)])
        found = np.array([simulated(n_topics, unjudged, rng) for _ in range(N_SIMULATED)]).mean(axis=0)
        cells = " | ".join(f"{held:.1%} | {width:.3f}" for held, width in found)
        print(f"| {n_topics} | {unjudged:.0%} | {cells} |", flush=True)


def simulated(n_topics: int, unjudged: float, rng: np.random.Generator) -> list[tuple[bool, float]]:
    """For each way whether its interval holds the truth, and its width."""
    error = rng.normal(scale=0.3)
    truth = population_mean(unjudged, error)
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


def population_mean(unjudged: float, error: float) -> float:
    """Mean P@10 over all topics, by quadrature."""
    return float(((1 - unjudged) * CHANCES + unjudged * of_unjudged(CHANCES, error)).mean())


if __name__ == "__main__":
    main()

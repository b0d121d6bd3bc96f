"""Are rank intervals right for all runs at once, and what does the best of many runs score elsewhere?

    python research/decisions/ranks.py [--collections 500]

Simulated collections, in two scopes. *These topics*: 20 topics and eight new runs, whose judgments `compare`
completes with posterior-ratio; the truth is their P@10 with everything judged. *Topics like these*: scores of
runs on 50 topics, everything judged; runs' true means are equal but for a millionth, or spread with a
standard deviation of .02, .05 or .1, where that of a difference on a topic is .21. A row has the share of
collections in which the rank intervals of all runs at once hold, their mean width in ranks, that of intervals
that hold for each run alone, and the quotient; and how much the highest of the runs is above its true mean,
as it is and by the column ``expected``, both relative to the mean of all runs (docs/comparisons.md).
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from shared import head, markdown

from bayespool import SimulationSettings, compare, simulate
from bayespool.comparisons import compare_runs_by_draws, generalizability
from bayespool.measures import population_draws

LEVEL, N_DRAWS, N_TOPICS = 0.95, 1000, 50
SIZES = ((10, 0.0), (10, 0.02), (10, 0.05), (10, 0.1), (30, 0.0), (30, 0.05), (30, 0.1))
SMALL = SimulationSettings(n_topics=20, n_organizations=5, max_runs=2, n_new=8, n_candidates=150)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--collections", type=int, default=500)
    n = parser.parse_args().collections
    warnings.simplefilter("ignore")
    head("scope", "runs", "spread", "all at once", "width", "alone", "quotient", "winner", "expected")
    for n_runs, spread in SIZES:
        rows = [like_these(n_runs, spread, seed) for seed in range(n)]
        markdown(["topics like these", n_runs, f"{spread:g}", *cells(rows)])
    markdown(["these topics", SMALL.n_new, "", *cells([these_topics(seed) for seed in range(n)])])


def cells(rows: list[tuple[float, ...]]) -> list[str]:
    held, wide, single, winner, expected = np.array(rows).mean(axis=0)
    shown = [f"{held:.1%}", f"{wide:.2f}", f"{single:.2f}", f"{wide / single:.2f}"]
    return [*shown, f"{winner:+.4f}", f"{expected:+.4f}"]


def like_these(n_runs: int, spread: float, seed: int) -> tuple[float, ...]:
    """One collection whose runs have known means over the population of topics."""
    rng = np.random.default_rng([n_runs, round(1000 * spread), seed])
    truth = 0.4 + rng.normal(scale=max(spread, 1e-6), size=n_runs)
    scores = truth[:, None] + rng.normal(scale=0.2, size=N_TOPICS)
    scores += rng.normal(scale=0.15, size=scores.shape)
    values = population_draws(np.broadcast_to(scores, (N_DRAWS, *scores.shape)), random_seed=seed)
    lead = scores.mean(axis=1) - scores.mean()
    best, true_lead = lead.argmax(), truth - truth.mean()
    errors = lead[best] - true_lead[best], float(generalizability(scores)) * lead[best] - true_lead[best]
    return (*graded(values, truth), *errors)


def these_topics(seed: int) -> tuple[float, ...]:
    """One collection with unjudged documents."""
    made = simulate(SMALL, random_seed=seed)
    runs = list(made.new_run_ids)
    asked = {
        "estimators": "posterior-ratio",
        "posterior_settings": f"draws={N_DRAWS // 4}",
        "scope": "these-topics",
    }
    e = compare(made.collection, runs, "P@10", **asked).scores["P@10", "posterior-ratio"]
    truth = np.array(list(made.true_values("P@10", runs).values()))
    lead, true_lead = e.value - e.value.mean(), truth - truth.mean()
    error = float((lead - true_lead)[lead.argmax()])
    assert e.draws is not None
    return (*graded(e.draws.totals(), truth), error, error)


def graded(values: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    """Whether rank intervals hold the true ranks of all runs, their width, and that of single ones."""
    lower, upper = compare_runs_by_draws(values, ci_prob=LEVEL).rank_interval
    first, last = 1 + (truth[:, None] < truth).sum(axis=1), len(truth) - (truth[:, None] > truth).sum(axis=1)
    held = ((lower <= first) & (last <= upper)).all()
    single = np.mean([alone(values, r) for r in range(len(truth))])
    return float(held), float((upper - lower + 1).mean()), float(single)


def alone(values: np.ndarray, run: int) -> int:
    """Number of ranks in the interval that holds for one run: only its pairs count."""
    difference = values[:, [run]] - np.delete(values, run, axis=1)
    mean, spread = difference.mean(axis=0), difference.std(axis=0)
    off = np.divide(np.abs(difference - mean), spread, out=np.zeros(difference.shape), where=spread > 0)
    critical = np.quantile(off.max(axis=1), LEVEL, method="inverted_cdf")
    return values.shape[1] - int((np.abs(mean) > critical * spread).sum())


if __name__ == "__main__":
    main()

"""Means of groups, and differences of systems: do their intervals contain the truth?

    python -m research.checks.groups_and_systems --repetitions 1000

Each repetition simulates a collection as `bayespool.experiments.simulate` does, with topics in three groups
of unequal size and richness, and two systems of three runs each that were not pooled. Runs of a system differ
in strength and noise. Counted is how often 95 % intervals contain the truth, which is hidden: the difference
of two runs in the mean of groups, and of the two systems, on these topics (with unjudged documents), and on
topics (and runs) like these (the mean over many other topics, and strengths).
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from bayespool import compare, read_collection

GROUPS = {"rich": (12, -2.2), "middling": (8, -2.8), "poor": (4, -3.4)}  # topics, logit of relevant ones
N_CANDIDATES, N_ORGANIZATIONS, N_RUNS, DEPTH = 200, 8, 3, 10
N_OTHER, N_STRENGTHS = 200, 5  # topics of a group, and strengths of a system's runs, that the truth is over


@dataclass(frozen=True)
class System:
    """Weight of relevance in the scores of a system's runs: mean, and deviation of runs."""

    strength: float
    spread: float


def draw_topics(rng: np.random.Generator, sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return prominence and relevance of candidates, shape (topic, candidate)."""
    means = np.repeat([mean for _, mean in GROUPS.values()], sizes)[:, None]
    prominence = rng.normal(size=(len(means), N_CANDIDATES))
    p_relevant = expit(rng.normal(means, 0.8) + 0.6 * prominence)
    return prominence, (rng.random(p_relevant.shape) < p_relevant).astype(int)


def rank(rng: np.random.Generator, strength: float, base: np.ndarray, relevance: np.ndarray) -> np.ndarray:
    """Return the candidates of a run, the best first; ``base`` has prominence and the system's taste."""
    score = strength * relevance + base + rng.normal(scale=0.6, size=base.shape)
    return np.argsort(-score, axis=1)[:, : 2 * DEPTH]


def precision(ranking: np.ndarray, relevance: np.ndarray) -> np.ndarray:
    """Return the true P@10 on each topic."""
    return np.take_along_axis(relevance, ranking[:, :10], axis=1).mean(axis=1)


def mean_of_groups(values: np.ndarray, sizes: list[int]) -> float:
    """Return the mean of the groups' means."""
    return float(np.mean([part.mean() for part in np.split(values, np.cumsum(sizes)[:-1])]))


def repetition(random_seed: int, estimator: str, spread: float = 0.4) -> pd.DataFrame:
    """Compare two runs and two systems of a simulated collection; return whether intervals hold the truth."""
    rng, sizes = np.random.default_rng(random_seed), [n for n, _ in GROUPS.values()]
    systems = {name: System(rng.normal(1.5, 0.4), spread) for name in ("old", "new")}
    prominence, relevance = draw_topics(rng, sizes)
    runs, pool, organizations, members, here = {}, {}, {}, {}, {}
    judged, strengths = np.zeros(relevance.shape, dtype=bool), {}
    for name in [*(f"pool-{o}" for o in range(N_ORGANIZATIONS)), *systems]:
        base = prominence + rng.normal(scale=0.8, size=prominence.shape)
        system = systems.get(name, System(rng.normal(1.5, 0.4), 0.13))
        for r in range(N_RUNS):
            run, strength = f"{name}-{r}", rng.normal(system.strength, system.spread)
            ranking = rank(rng, strength, base, relevance)
            listed = {
                f"q{t}": {f"d{t}x{d}": 1 / (k + 1) for k, d in enumerate(row)}
                for t, row in enumerate(ranking)
            }
            if name in systems:
                runs[run], members[run], strengths[run] = listed, name, strength
                here[run] = precision(ranking, relevance)
            else:
                pool[run], organizations[run] = listed, name
                np.put_along_axis(judged, ranking[:, :DEPTH], True, axis=1)
    qrels: dict[str, dict[str, int]] = {f"q{t}": {} for t in range(sum(sizes))}
    for t, d in np.argwhere(judged).tolist():
        qrels[f"q{t}"][f"d{t}x{d}"] = int(relevance[t, d])
    collection = read_collection(qrels, runs, pool=pool, organizations=organizations)
    groups = {f"q{t}": name for t, name in enumerate(np.repeat(list(GROUPS), sizes).tolist())}

    others, there = [N_OTHER] * len(GROUPS), dict[str, float]()
    prominence, relevance = draw_topics(rng, others)
    quantiles = norm.ppf((np.arange(N_STRENGTHS) + 0.5) / N_STRENGTHS)
    quantiles /= quantiles.std()
    for name, system in systems.items():
        base = prominence + rng.normal(scale=0.8, size=prominence.shape)
        for place, strength in [
            (f"{name}-0", strengths[f"{name}-0"]),
            *((name, system.strength + system.spread * z) for z in quantiles),
        ]:
            values = precision(rank(rng, strength, base, relevance), relevance)
            there[place] = there.get(place, 0) + mean_of_groups(values, others) / (
                N_STRENGTHS if place == name else 1
            )
    asked = {
        "measures": "P@10",
        "estimators": estimator,
        "groups": groups,
        "posterior_settings": "draws=500",
        "control": "none",
    }
    pair = ["new-0", "old-0"]
    of_runs = compare(collection, pair, **asked).groups()
    of_systems = compare(collection, list(runs), systems=members, **asked).system_differences()
    now = {run: mean_of_groups(values, sizes) for run, values in here.items()}
    now |= {name: np.mean([now[f"{name}-{r}"] for r in range(N_RUNS)]) for name in systems}
    rows = []
    for what, frame, (a, b) in (
        ("runs", of_runs, ("run_a", "run_b")),
        ("systems", of_systems, ("system_a", "system_b")),
    ):
        rows_of = frame[(frame["group"] == "mean of groups") & (frame["estimator"] == estimator)]
        for row in rows_of.to_dict("records"):
            truth = now if row["scope"] == "these-topics" else there
            true = truth[row[a]] - truth[row[b]]
            rows.append(
                {"what": what, "scope": row["scope"], "true": true, "error": row["difference"] - true}
            )
            rows[-1] |= {"holds": row["lower"] - 1e-9 <= true <= row["upper"] + 1e-9}
            rows[-1] |= {"width": row["upper"] - row["lower"]}
    return pd.DataFrame(rows)


def coverage(n: int, estimator: str = "posterior-ratio", first_seed: int = 1) -> pd.DataFrame:
    """Summarize ``n`` repetitions, half of whose systems have runs that differ much, and half little."""
    with warnings.catch_warnings(action="ignore"):
        rows = pd.concat(
            repetition(seed, estimator, spread=(0.1, 0.6)[seed % 2]).assign(
                runs_differ=("little", "much")[seed % 2]
            )
            for seed in range(first_seed, first_seed + n)
        )
    by = rows.groupby(["what", "scope", "runs_differ"], sort=False)
    return by.agg(
        n=("holds", "size"), holds=("holds", "mean"), width=("width", "mean"), bias=("error", "mean")
    )


def main() -> None:
    """Print coverage of means of groups of two runs, and of two systems, by scope."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--estimator", default="posterior-ratio")
    parser.add_argument("--first-seed", type=int, default=1)
    asked = parser.parse_args()
    print(coverage(asked.repetitions, asked.estimator, asked.first_seed).round(4).to_string())


if __name__ == "__main__":
    main()

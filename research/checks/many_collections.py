"""The mean over several collections: does its interval contain the hidden truth of all of them at once?

    python -m research.checks.many_collections --repetitions 300

Five collections that differ in topics, organizations, pool depth, richness and measure are simulated at a
time, with two new runs in each; unjudged documents have a hidden truth. Counted is how often the true mean
over the five collections, and the true difference of the two runs' means, lie in their 95 % intervals, beside
the runs' scores on each collection alone.

Simulated runs never fail on a topic and are of no new kind, for both of which the posteriors leave room, so
that their intervals hold more than 95 % of these truths. With ``--truth model`` the truths of a collection
are draws of its posterior from another seed: single intervals then hold 95 % by construction, but for the
steps of the measure, and what is checked is the mean of them.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

from bayespool import score, score_several
from bayespool.experiments import Simulation, SimulationSettings, simulate

COLLECTIONS = {
    "many-topics": ("P@10", SimulationSettings(n_topics=40, n_organizations=20)),
    "few-topics": ("nDCG@10", SimulationSettings(n_topics=10, n_organizations=24)),
    "shallow": ("nDCG@10", SimulationSettings(n_topics=20, n_organizations=20, pool_depth=5)),
    "rich": ("P@10", SimulationSettings(n_topics=20, n_organizations=16, relevance_mean=-1.5)),
    "deep": ("P@20", SimulationSettings(n_topics=20, n_organizations=20, pool_depth=20)),
}
RUNS = ["new-a", "new-b"]
N_TRUTHS = 50  # of a repetition, from the model


def draw_truths(simulation: Simulation, measure: str, estimator: str, random_seed: int) -> np.ndarray:
    """Return scores of the runs in draws of a posterior from a seed of its own, shape (draw, run)."""
    asked = {"estimators": estimator, "random_seed": random_seed}
    draws = score(simulation.collection, RUNS, measure, **asked)[measure, estimator].draws.means()
    return draws[np.random.default_rng(random_seed).permutation(len(draws))[:N_TRUTHS]]


def repetition(random_seed: int, estimator: str, truth: str = "simulated") -> pd.DataFrame:
    """Score two runs on five simulated collections; return whether intervals hold the truths."""
    simulations = {
        name: simulate(settings, random_seed=1000 * random_seed + place)
        for place, (name, (_, settings)) in enumerate(COLLECTIONS.items())
    }
    measures = {name: measure for name, (measure, _) in COLLECTIONS.items()}
    if truth == "model":
        drawn = {
            name: draw_truths(simulation, measures[name], estimator, 1000 * random_seed + 500 + place)
            for place, (name, simulation) in enumerate(simulations.items())
        }
    else:
        of_all = {name: simulations[name].true_values(measures[name], RUNS) for name in simulations}
        drawn = {name: np.array([[of[run] for run in RUNS]]) for name, of in of_all.items()}
    true = {(name, run): drawn[name][:, place] for name in drawn for place, run in enumerate(RUNS)}
    over_all = {run: np.mean([true[name, run] for name in drawn], axis=0) for run in RUNS}
    found = score_several(
        {name: simulation.collection for name, simulation in simulations.items()},
        RUNS,
        measures,
        estimators=estimator,
        scope="these-topics",
    )
    rows = [
        ("one collection", row["value"], row["lower"], row["upper"], true[row["collection"], row["run_id"]])
        for row in found.scores.to_dict("records")
        if row["collection"] != "mean"
    ]
    rows += [
        ("mean of a run", row["value"], row["lower"], row["upper"], over_all[row["run_id"]])
        for row in found.runs.to_dict("records")
    ]
    (row,) = found.differences.to_dict("records")
    lead = over_all[RUNS[0]] - over_all[RUNS[1]]
    rows.append(("difference of means", row["difference"], row["lower"], row["upper"], lead))
    frame = pd.DataFrame(rows, columns=["quantity", "value", "lower", "upper", "true"])
    frame = frame.explode("true").astype({"true": float})
    holds = (frame["lower"] - 1e-9 <= frame["true"]) & (frame["true"] <= frame["upper"] + 1e-9)
    return frame.assign(
        holds=holds, width=frame["upper"] - frame["lower"], error=frame["value"] - frame["true"]
    )


def coverage(
    n: int, estimator: str = "posterior-combined", first_seed: int = 1, truth: str = "simulated"
) -> pd.DataFrame:
    """Summarize ``n`` repetitions."""
    with warnings.catch_warnings(action="ignore"):
        rows = pd.concat([repetition(first_seed + i, estimator, truth) for i in range(n)])
    return rows.groupby("quantity", sort=False).agg(
        n=("holds", "size"), holds=("holds", "mean"), width=("width", "mean"), bias=("error", "mean")
    )


def main() -> None:
    """Print coverage by quantity."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--estimator", default="posterior-combined")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--truth", choices=("simulated", "model"), default="simulated")
    asked = parser.parse_args()
    found = coverage(asked.repetitions, asked.estimator, asked.first_seed, asked.truth)
    print(found.round(4).to_string())


if __name__ == "__main__":
    main()

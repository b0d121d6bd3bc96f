"""The mean over several collections: does its interval contain the hidden truth of all of them at once?

    python -m research.checks.many_collections --repetitions 300

Five collections that differ in topics, organizations, pool depth, richness and measure are simulated at a
time, with two new runs in each; unjudged documents have a hidden truth. Counted is how often the true mean
over the five collections, and the true difference of the two runs' means, lie in their 95 % intervals, beside
the runs' scores on each collection alone.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

from bayespool import score_several
from bayespool.experiments import SimulationSettings, simulate

COLLECTIONS = {
    "many-topics": ("P@10", SimulationSettings(n_topics=40, n_organizations=20)),
    "few-topics": ("nDCG@10", SimulationSettings(n_topics=10, n_organizations=24)),
    "shallow": ("nDCG@10", SimulationSettings(n_topics=20, n_organizations=20, pool_depth=5)),
    "rich": ("P@10", SimulationSettings(n_topics=20, n_organizations=16, relevance_mean=-1.5)),
    "deep": ("P@20", SimulationSettings(n_topics=20, n_organizations=20, pool_depth=20)),
}
RUNS = ["new-a", "new-b"]


def repetition(random_seed: int, estimator: str) -> pd.DataFrame:
    """Score two runs on five simulated collections; return whether intervals hold the truth."""
    simulations = {
        name: simulate(settings, random_seed=1000 * random_seed + place)
        for place, (name, (_, settings)) in enumerate(COLLECTIONS.items())
    }
    measures = {name: measure for name, (measure, _) in COLLECTIONS.items()}
    true = {name: dict(simulations[name].true_values(measures[name], RUNS)) for name in simulations}
    over_all = {run: float(np.mean([of_runs[run] for of_runs in true.values()])) for run in RUNS}
    found = score_several(
        {name: simulation.collection for name, simulation in simulations.items()},
        RUNS,
        measures,
        estimators=estimator,
        scope="these-topics",
    )
    rows = [
        ("one collection", row["value"], row["lower"], row["upper"], true[row["collection"]][row["run_id"]])
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
    holds = (frame["lower"] - 1e-9 <= frame["true"]) & (frame["true"] <= frame["upper"] + 1e-9)
    return frame.assign(
        holds=holds, width=frame["upper"] - frame["lower"], error=frame["value"] - frame["true"]
    )


def coverage(n: int, estimator: str = "posterior-combined", first_seed: int = 1) -> pd.DataFrame:
    """Summarize ``n`` repetitions."""
    with warnings.catch_warnings(action="ignore"):
        rows = pd.concat([repetition(first_seed + i, estimator) for i in range(n)])
    return rows.groupby("quantity", sort=False).agg(
        n=("holds", "size"), holds=("holds", "mean"), width=("width", "mean"), bias=("error", "mean")
    )


def main() -> None:
    """Print coverage by quantity."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--estimator", default="posterior-combined")
    parser.add_argument("--first-seed", type=int, default=1)
    asked = parser.parse_args()
    print(coverage(asked.repetitions, asked.estimator, asked.first_seed).round(4).to_string())


if __name__ == "__main__":
    main()

"""Calibration of an estimator over several leave-out experiments.

    python benchmarks/calibration.py RESULT RESULT … [--estimator posterior-combined]

RESULT is the folder that ``bayespool leave-out --output`` wrote. Over all pooled runs with anything unjudged:
mean absolute error over the runs reported, and the share of randomised PIT values inside the central 95 % and
50 %, expected over their random part, by folder and measure and over all.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from bayespool.experiments import central_share


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--estimator", default="posterior-combined")
    arguments = parser.parse_args()
    rows = []
    print(f"{'':24}{'measure':>9}{'MAE':>9}{'runs':>6}{'in 95 %':>9}{'in 50 %':>9}{'mean PIT':>10}")
    for folder in arguments.results:
        table = pd.read_parquet(folder / "runs.parquet")
        table = table[table["estimator"] == arguments.estimator]
        for measure, of_one in table.groupby("measure", sort=False):
            known = of_one[of_one["n_unjudged"] > 0]
            reported = of_one[of_one["reported"]]
            error = (reported["value"] - reported["truth"]).abs().mean()
            print(f"{folder.name:24}{measure:>9}{error:>9.4f}{shares(known)}")
            rows.append(known)
    print(f"{'all':24}{'':>18}{shares(pd.concat(rows))}")


def shares(runs: pd.DataFrame) -> str:
    """Number of values, their shares in the central 95 % and 50 %, and their mean."""
    lower, upper = runs["pit_lower"], runs["pit_upper"]
    inside = [central_share(lower, upper, p) for p in (0.95, 0.5)]
    return f"{len(runs):>6}{inside[0]:>9.3f}{inside[1]:>9.3f}{((lower + upper) / 2).mean():>10.2f}"


if __name__ == "__main__":
    main()

"""Where the truth lies in the posterior of runs that are left out, and what its errors depend on.

    python research/decisions/center.py [--collections …] [--posterior SETTINGS] [--store FOLDER]
    python research/decisions/center.py --shifts

Each organization is left out of the pool that is found, and counts once: shares of the randomized PIT in the
central 50, 80 and 95 %, rms of z = (truth − estimate) / sd, its mean over all runs, the better and the worse
half, MAE and CRPS. --shifts: MAE and CRPS (of normals) over those as they are, once estimates are moved by
the mean of z or its slope on the estimate, or sd is multiplied by rms z, learned from others.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from shared import head, markdown, read

from bayespool import leave_out, parse_measure
from bayespool.experiments import central_share

NAMES = ("dl21-passage", "covid-round4", "trec2011-medical", "trec2-adhoc")
MEASURES = ("P@10", "P(rel=2)@10", "P(rel=3)@10", "nDCG@10", "RR@10", "AP@100")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--collections", nargs="*", default=NAMES)
    parser.add_argument("--posterior", default="draws=250", help="settings, as of leave-out")
    parser.add_argument("--store", type=Path, help="folder of finished work")
    parser.add_argument("--shifts", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    frames = {name: left_out(name, asked) for name in asked.collections}
    if asked.shifts:
        for measure in MEASURES:
            of = {name: part(x, measure) for name, x in frames.items() if measure in set(x["measure"])}
            print_shifts(measure, of)
        return
    columns = ("in 50 %", "80 %", "95 %", "rms z", "mean z", "better", "worse", "MAE", "CRPS")
    head("collection", "measure", "runs", *columns)
    for name, frame in (frames | {"all": pd.concat(frames.values())}).items():
        for measure, rows in frame.groupby("measure", sort=False):
            better = rows["truth"] >= rows["truth"].median()
            inside = [f"{share(rows, prob):.2f}" for prob in (0.5, 0.8, 0.95)]
            means = [f"{mean(some['z'], some):+.2f}" for some in (rows, rows[better], rows[~better])]
            errors = [mean((rows["value"] - rows["truth"]).abs(), rows), mean(rows["crps"], rows)]
            rms = f"{mean(rows['z'] ** 2, rows) ** 0.5:.2f}"
            markdown([name, measure, len(rows), *inside, rms, *means, *(f"{each:.5f}" for each in errors)])


def left_out(name: str, asked: argparse.Namespace) -> pd.DataFrame:
    """Runs left out of which anything is unjudged, with weights by which each organization counts once."""
    collection = read(name, found=True)
    measures = [each for each in MEASURES if parse_measure(each).rel <= collection.levels[-1]]
    settings: dict[str, Any] = {"estimators": "posterior-combined", "posterior_settings": asked.posterior}
    settings["folder"] = None if asked.store is None else asked.store / name
    frame = leave_out(collection, measures, **settings).to_frame("runs")
    frame = frame[(frame["std"] > 0) & frame["pit_lower"].notna()].reset_index(drop=True)
    n_runs = frame.groupby(["measure", "organization"])["run_id"].transform("count")
    return frame.assign(z=(frame["truth"] - frame["value"]) / frame["std"], weight=1 / n_runs)


def mean(values: Any, rows: pd.DataFrame) -> float:
    return float(np.average(values, weights=rows["weight"]))


def share(rows: pd.DataFrame, prob: float) -> float:
    ends = zip(rows["pit_lower"], rows["pit_upper"], strict=True)
    return mean([central_share([low], [high], prob) for low, high in ends], rows)


def part(frame: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Runs under a measure, with their quality in standard deviations of runs."""
    rows = frame[frame["measure"] == measure]
    off = rows["value"] - (rows["value"] * rows["weight"]).sum() / rows["weight"].sum()
    sd = ((off**2 * rows["weight"]).sum() / rows["weight"].sum()) ** 0.5
    return rows.assign(x=off / sd, z=rows["z"].clip(-4, 4))


def print_shifts(measure: str, parts: dict[str, pd.DataFrame]) -> None:
    every = pd.concat(parts.values(), keys=parts, names=["collection"]).reset_index("collection")
    slopes = every.assign(xz=every["weight"] * every["x"] * every["z"], xx=every["weight"] * every["x"] ** 2)
    sums = slopes.groupby(["collection", "organization"])[["xz", "xx"]].sum()
    slope = sums["xz"].sum() / sums["xx"].sum()
    error = ((sums["xz"] - slope * sums["xx"]) ** 2).sum() ** 0.5 / sums["xx"].sum()
    print(f"\n{measure}: slope {slope:.2f} ± {error:.2f} of z per standard deviation of runs\n")
    head("what", "learned from other", *(f"{name}: MAE, CRPS" for name in parts))
    for what in ("mean", "slope", "spread"):
        for source in ("organization", "collection"):
            cells = []
            for name, rows in parts.items():
                own = every["collection"] == name
                away = {o: own & (every["organization"] != o) for o in rows["organization"].unique()}
                after, before = [], []
                for _, run in rows.iterrows():
                    other = every[away[run["organization"]] if source == "organization" else ~own]
                    after.append(moved(run, other, what))
                    before.append(moved(run, other[:0], what))
                ratio = np.average(after, 0, rows["weight"]) / np.average(before, 0, rows["weight"])
                cells.append(", ".join(f"{each:.2f}" for each in ratio))
            markdown([what, f"{source}s", *cells])


def moved(run: pd.Series, other: pd.DataFrame, what: str) -> tuple[float, float]:
    """Absolute error and CRPS of a normal posterior once moved, or made wider or narrower."""
    z, weight, x = other["z"], other["weight"], other["x"] if what == "slope" else 1.0
    step, wide = float((weight * x * z).sum() / ((weight * x**2).sum() + 10)), 1.0  # 10 organizations: none
    if what == "spread":
        step, wide = 0.0, float((10 + (weight * z**2).sum()) / (10 + weight.sum())) ** 0.5
    off = float(run["z"] - step * (run["x"] if what == "slope" else 1.0))
    crps = off * (2 * norm.cdf(off / wide) - 1) + wide * (2 * norm.pdf(off / wide) - np.pi**-0.5)
    return abs(off) * run["std"], crps * run["std"]


if __name__ == "__main__":
    main()

"""Constants of the corrections of Ravana & Moffat (2010): the printed ones beside those fitted to the pool.

    python research/decisions/constants.py [--pools trec2-adhoc ...] [-m P@10 ...]

Each organization of five pools is left out. The fitted constants are of ``fit="pool"``: from the
organizations that are left, so that nothing of the runs to estimate is in them. Errors with either constants
and the constants that each whole pool leads to; then means over pools, and on how many of them the fitted
ones have the smaller error (diary, *Fitted constants*).
"""

from __future__ import annotations

import argparse
import warnings

import pandas as pd
from shared import read

from bayespool import leave_out
from bayespool.corrections import fit_constants_to_pool

POOLS = ("trec2-adhoc", "trec8-adhoc", "trec2011-medical", "dl21-passage", "covid-round4")
MEASURES = ("P@10", "P@100", "RBP(p=0.95)@100", "SDCG@100", "nDCG@10", "AP@100")
PLACED = ("background", "interpolated", "smoothed")
ERRORS = ["mae", "bias", "topic_rmse", "sre"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pools", nargs="+", default=POOLS)
    parser.add_argument("-m", "--measure", action="append")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    measures = tuple(asked.measure or MEASURES)
    estimators = {name: name for name in PLACED} | {f"{n} fitted": f"{n}(fit='pool')" for n in PLACED}
    frames = []
    for pool in asked.pools:
        collection = read(pool)
        frame = leave_out(collection, measures, estimators=estimators).to_frame("summary").assign(pool=pool)
        frames.append(frame.set_index(["pool", "measure", "estimator"])[ERRORS])
        print(frames[-1].round(4).to_string(), flush=True)
        for measure in measures:
            for name in PLACED:
                constants = fit_constants_to_pool(name, collection, measure)
                found = ", ".join(f"{key.upper()} = {x:.2f}" for key, x in constants.values.items())
                print(f"{pool}, {measure}, {name}: {found}")
    errors = pd.concat(frames)
    for name in PLACED:
        printed, fitted = (errors.xs(label, level="estimator") for label in (name, f"{name} fitted"))
        for title, table in (("printed", printed), ("fitted", fitted)):
            print(f"\n{name}, {title}\n{table.groupby('measure', sort=False).mean().round(4).to_string()}")
        better = (fitted.abs() < printed.abs()).groupby("measure", sort=False).sum()
        print(f"\n{name}, fitted is better on\n{better.to_string()}")


if __name__ == "__main__":
    main()

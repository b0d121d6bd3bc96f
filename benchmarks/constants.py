"""Constants of the corrections of Ravana & Moffat (2010): the printed ones beside those fitted to the pool.

    BAYESPOOL_COLLECTIONS=folder python benchmarks/constants.py [-m P@10 …]

Each organization of five pools is left out (`leave_out`, all pooled runs reported). The fitted constants are
of ``fit="pool"``: from the organizations that are left, so that nothing of the runs to estimate is in them.
Prints MAE, bias, the error on single topics and SRE with either constants, and the constants that each whole
pool leads to; then means over the pools, and on how many of them the fitted ones have the smaller error.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from at_hand import collections_folder, read

from bayespool import leave_out
from bayespool.corrections import fit_constants_to_pool

POOLS = ("trec2-adhoc", "trec8-adhoc", "trec2011-medical", "dl21-passage", "covid-round4")
MEASURES = ("P@10", "P@100", "RBP(p=0.95)@100", "SDCG@100", "nDCG@10", "AP@100")
METHODS = ("background", "interpolated", "smoothed")
ERRORS = ("mae", "bias", "topic_rmse", "sre")


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-m", "--measure", action="append")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    folder = collections_folder(parser)
    warnings.simplefilter("ignore")
    measures = tuple(asked.measure or MEASURES)
    estimators: dict[str, str] = {"as-judged": "as-judged"}
    for name in METHODS:
        estimators |= {name: name, f"{name} fitted": f"{name}(fit='pool')"}
    frames = []
    print("| pool | measure | method | C, E | printed: MAE | bias | per topic | SRE ", end="")
    print("| fitted: MAE | bias | per topic | SRE |")
    print("| --- | --- | --- | --- |" + " ---: |" * 8)
    for pool in POOLS:
        collection = read(folder / pool)
        found = leave_out(collection, measures, estimators=estimators, n_jobs=asked.jobs).to_frame("summary")
        frames.append(found.assign(pool=pool))
        for measure in measures:
            rows = found[found["measure"] == measure].set_index("estimator")
            for name in METHODS:
                constants = fit_constants_to_pool(name, collection, measure)  # type: ignore[arg-type]
                told = " | ".join(cells(rows.loc[label]) for label in (name, f"{name} fitted"))
                values = ", ".join("–" if np.isnan(x) else f"{x:.2f}" for x in (constants.c, constants.e))
                print(f"| {pool} | {measure} | {name} | {values} | {told} |", flush=True)
    table = pd.concat(frames).set_index(["pool", "measure", "estimator"])
    print(
        "\n| measure | method | MAE: printed | fitted | better on | per topic: printed | fitted | better on ",
        end="",
    )
    print("| SRE: printed | fitted | better on |")
    print("| --- | --- |" + " ---: |" * 9)
    for measure in measures:
        for name in METHODS:
            printed, fitted = (
                table.xs((measure, label), level=("measure", "estimator"))
                for label in (name, f"{name} fitted")
            )
            told = []
            for error in ("mae", "topic_rmse", "sre"):
                means = (table_of[error].mean() for table_of in (printed, fitted))
                told += [f"{mean:.0f}" if error == "sre" else f"{mean:.4f}" for mean in means]
                told.append(f"{int((fitted[error] < printed[error]).sum())} of {len(POOLS)}")
            print(f"| {measure} | {name} | {' | '.join(told)} |")


def cells(row: pd.Series) -> str:
    """Errors of one method, as cells."""
    numbers = [f"{row[error]:+.4f}" if error == "bias" else f"{row[error]:.4f}" for error in ERRORS[:-1]]
    return " | ".join([*numbers, f"{row['sre']:.0f}"])


if __name__ == "__main__":
    main()

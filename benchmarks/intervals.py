"""Do 95 % intervals contain the truth, under every measure, near and far, on every collection at hand?

    BAYESPOOL_COLLECTIONS=folder python benchmarks/intervals.py [COLLECTION …] [--draws 75] [--by cluster]

Every organization of a collection is left out in turn, or with ``--by cluster`` every cluster of runs that
retrieve alike, and its runs are estimated under each measure of the package's list that unjudged documents
may change; ERR, INST and SDCG over the levels of the collection. Measures with a cutoff below the pool depth
are estimated down to it, as the truth of the experiment is. The benchmark prints by collection and measure,
over runs whose posterior has a width: how many, MAE, bias, CRPS, the root mean square of
(estimate − truth) / standard deviation, which should be 1, and the shares of 95 and 80 % intervals that hold.
Runs of one organization miss together, so a share over few organizations is rough.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from at_hand import collections_folder, read

from bayespool import Collection, PosteriorEstimator, leave_out
from bayespool.measures import MEASURES

READING: dict[str, dict[str, Any]] = {"dl21-passage": {"order": "rank"}, "trec8-adhoc": {"max_holes": 0}}
NOT_ASKED = ("Judged@10", "P(rel=2)@10")  # the first is known; the second where there are levels
ESTIMATOR = "posterior-combined"


def main() -> None:
    """Print a table for each collection."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collections", nargs="*", metavar="COLLECTION", help="folders; default: all")
    parser.add_argument("--draws", type=int, default=75, help="per chain, of four")
    parser.add_argument("--by", choices=("organization", "cluster"), default="organization")
    asked = parser.parse_args()
    folder = collections_folder(parser)
    warnings.simplefilter("ignore")
    for place in sorted(folder.iterdir()):
        if (place / "qrels.txt").exists() and (not asked.collections or place.name in asked.collections):
            print_table(place, asked.draws, asked.by)


def print_table(place: Path, draws: int, by: str) -> None:
    """One experiment, and its table in Markdown."""
    collection = read(place, **READING.get(place.name, {}))
    clusters = {"n_clusters": 10} if by == "cluster" else {}
    result = leave_out(
        collection,
        measures=measures_of(collection),
        estimators=ESTIMATOR,
        by=by,
        posterior_settings=PosteriorEstimator(draws=draws),
        **clusters,
    )
    rows = result.to_frame("runs")
    rows = rows[(rows["estimator"] == ESTIMATOR) & (rows["std"] > 0)]
    print(f"\n{place.name}, {by} left out\n")
    print("| measure | runs | MAE | bias | CRPS | rms | in 95 % | in 80 % |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for measure, of_measure in rows.groupby("measure", sort=False):
        print(line(str(measure), of_measure), flush=True)


def measures_of(collection: Collection) -> list[str]:
    """Measures of the list, those of gains over the collection's levels."""
    top = collection.levels[-1]
    measures = [name for family in MEASURES.values() for name in family.examples if name not in NOT_ASKED]
    if top > 1:
        measures += ["P(rel=2)@10", "RR(rel=2)@10"]
    with_levels = ("ERR@", "INST@", "SDCG@")
    return [
        name.replace("@", f"(max_rel={top})@") if name.startswith(with_levels) else name for name in measures
    ]


def line(measure: str, rows: pd.DataFrame) -> str:
    """Cells of one measure."""
    off = rows["value"] - rows["truth"]
    rms = np.sqrt(((off / rows["std"]) ** 2).mean())
    means = f"{off.abs().mean():.4f} | {off.mean():+.4f} | {rows['crps'].mean():.4f} | {rms:.2f}"
    held = " | ".join(f"{rows[f'covered_{level}'].mean():.1%}" for level in (95, 80))
    return f"| {measure} | {len(rows)} | {means} | {held} |"


if __name__ == "__main__":
    main()

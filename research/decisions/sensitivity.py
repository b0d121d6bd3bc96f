"""How much the default depends on its priors, on a real collection (docs/model-checks.md).

    BAYESPOOL_COLLECTIONS=folder python research/decisions/sensitivity.py --output research/decisions/tables

Every fifth organization of Medical 2011 leaves the pool, and its runs are scored as new ones, under the
default priors and with each scale halved and doubled, and each location moved. Writes ``sensitivity.csv``: by
measure and prior the mean change of estimates, the mean absolute change of ends, and the mean width.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import pandas as pd

from bayespool import read_collection, score

PRIORS = {
    "default": "",
    "sigma_organization": "HalfNormal(0.5)|HalfNormal(2)",
    "sigma_interaction": "HalfNormal(0.5)|HalfNormal(2)",
    "sigma_topic": "HalfNormal(0.5)|HalfNormal(2)",
    "sigma_slope": "HalfNormal(0.25)|HalfNormal(1)",
    "mu": "Normal(-3.7, 1.5)|Normal(-0.7, 1.5)",
    "beta": "Normal(0, 0.5)|Normal(0, 2)",
    "below_pool": "Normal(-0.25, 0.2)|Normal(0.15, 0.2)",
    "shift": "Normal(-0.25, 0.25)|Normal(0.25, 0.25)",
}
"""By variable the prior that is narrower or lower, and the one that is wider or higher."""


def main() -> None:
    """Write the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", default="trec2011-medical")
    parser.add_argument("--draws", type=int, default=250)
    parser.add_argument("--output", type=Path, default=Path("research/decisions/tables"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    place = Path(os.environ["BAYESPOOL_COLLECTIONS"]) / asked.collection
    files = {"pool": place / "runs", "organizations": place / "organizations.csv"}
    collection = read_collection(place / "qrels.txt", **files, strict=False)
    runs = [
        run
        for run, number in zip(collection.run_ids, collection.organization, strict=True)
        if run in collection.pooled_run_ids and number % 5 == 0
    ]
    newcomers = collection.unpool(runs)
    rows, base = [], pd.DataFrame()
    for variable, priors in PRIORS.items():
        for which, prior in zip(("lower", "higher"), priors.split("|"), strict=False):
            settings = f"draws={asked.draws}" + f", {variable}={prior}" * bool(prior)
            scores = score(
                newcomers,
                runs,
                ["P@10", "AP@100"],
                estimators="posterior-combined",
                posterior_settings=settings,
            )
            frame = scores.to_frame().set_index(["measure", "run_id"])
            base = frame if base.empty else base
            change = frame[["value", "lower", "upper"]] - base[["value", "lower", "upper"]]
            for measure in ("P@10", "AP@100"):
                of = change.loc[measure]
                ends = of[["lower", "upper"]].abs().to_numpy().mean()
                width = (frame["upper"] - frame["lower"]).loc[measure].mean()
                means = {
                    "n_runs": len(of),
                    "value_change": of["value"].mean(),
                    "end_change": ends,
                    "width": width,
                }
                rows.append(
                    {"variable": variable, "which": which, "prior": prior, "measure": measure} | means
                )
                print(variable, prior, measure, {k: round(float(v), 4) for k, v in means.items()}, flush=True)
    pd.DataFrame(rows).to_csv(asked.output / "sensitivity.csv", index=False, float_format="%.5g")


if __name__ == "__main__":
    main()

"""How much the default depends on its priors, on a real collection (docs/model-checks.md).

    BAYESPOOL_COLLECTIONS=folder python research/decisions/sensitivity.py --output research/decisions/tables

Organizations, and clusters, of Medical 2011 are left out, under the default priors and with each scale halved
and doubled, and each location moved by its standard deviation. Writes ``sensitivity.csv``: by measure and
prior the errors, coverage and width, the mean change of estimates, and the mean absolute change of ends.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import pandas as pd

from bayespool import leave_out, read_collection

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
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--output", type=Path, default=Path("research/decisions/tables"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    place = Path(os.environ["BAYESPOOL_COLLECTIONS"]) / asked.collection
    files = {"pool": place / "runs", "organizations": place / "organizations.csv"}
    collection = read_collection(place / "qrels.txt", **files, strict=False)
    rows, base = [], dict[str, pd.DataFrame]()
    for variable, priors in PRIORS.items():
        for which, prior in zip(("lower", "higher"), priors.split("|"), strict=False):
            for by in ("organization", "cluster"):
                settings = f"draws={asked.draws}" + f", {variable}={prior}" * bool(prior)
                result = leave_out(
                    collection,
                    ["P@10", "AP@100"],
                    estimators="posterior-combined",
                    posterior_settings=settings,
                    by=by,
                    n_clusters=10 if by == "cluster" else None,
                    n_jobs=1,
                )
                frame = result.to_frame().set_index(["measure", "run_id"])
                base.setdefault(by, frame)
                summary = result.to_frame("summary").set_index("measure")
                ends = [
                    (frame[end] - base[by][end]).abs().groupby("measure").mean() for end in ("lower", "upper")
                ]
                changed = {
                    "value_change": (frame["value"] - base[by]["value"]).groupby("measure").mean(),
                    "end_change": sum(ends) / 2,
                }
                for measure, row in summary.iterrows():
                    errors = {
                        name: row[name] for name in ("mae", "bias", "coverage_95", "coverage_95_se", "width")
                    }
                    changes = {name: values[measure] for name, values in changed.items()}
                    front = {
                        "variable": variable,
                        "which": which,
                        "prior": prior,
                        "by": by,
                        "measure": measure,
                    }
                    rows.append(front | errors | changes)
                    print(
                        variable,
                        prior,
                        by,
                        measure,
                        {k: round(float(v), 4) for k, v in rows[-1].items() if k in (*errors, *changes)},
                        flush=True,
                    )
    pd.DataFrame(rows).to_csv(asked.output / "sensitivity.csv", index=False, float_format="%.5g")


if __name__ == "__main__":
    main()

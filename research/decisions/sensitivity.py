"""How much the default depends on its priors, on a real collection (docs/model-checks.md).

    BAYESPOOL_COLLECTIONS=folder python research/decisions/sensitivity.py --output research/decisions/tables
    BAYESPOOL_COLLECTIONS=folder python research/decisions/sensitivity.py --kinds

Every fifth organization of Medical 2011 leaves the pool, and its runs are scored as new ones, under the
default priors and with each scale halved and doubled, and each location moved. Writes ``sensitivity.csv``: by
measure and prior the mean change of estimates, the mean absolute change of ends, and the mean width. θ, c and
ν (docs/models.md) have no setting: they are replaced in the package while it runs. ``--kinds`` leaves out all
neural runs of DL 2021, with θ of 0 (no run is of a new kind), 3, 6 and 12, and organizations one by one with
c halved and doubled, and prints errors and coverage.
"""

from __future__ import annotations

import argparse
import importlib
import os
import warnings
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from bayespool import leave_out, read_collection, score

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
    "theta": "3|12",
    "c": "Exponential(1/8)|Exponential(1/32)",
    "nu": "Gamma(2, 0.2)|Gamma(2, 0.05)",
}
"""By variable the prior that is narrower or lower, and the one that is wider or higher."""
DISTANCE = "bayespool.posterior.distance"
FAMILIES = {"c": "Exponential", "nu": "Gamma"}


def with_theta(theta: float) -> AbstractContextManager[object]:
    """The package with other prior odds of a new kind."""
    return mock.patch(f"{DISTANCE}._NEW_KIND_CONCENTRATION", theta)


def replaced(variable: str, which: str) -> AbstractContextManager[object]:
    """The package with another θ, or with draws of c or ν half or twice as large."""
    if variable == "theta":
        return with_theta({"lower": 3.0, "higher": 12.0}[which])
    if variable not in FAMILIES:
        return nullcontext()
    draw_prior = importlib.import_module(DISTANCE).draw_prior

    def scaled(prior: Any, *asked: Any) -> np.ndarray:
        factor = {"lower": 0.5, "higher": 2.0}[which] if prior.distribution == FAMILIES[variable] else 1.0
        return np.asarray(draw_prior(prior, *asked) * factor)

    return mock.patch(f"{DISTANCE}.draw_prior", scaled)


def kinds(folder: Path) -> None:
    """Print what θ does to the neural runs of DL 2021, and c to its organizations."""
    files = {
        "pool": folder / "runs",
        "organizations": [folder / "organizations.csv", folder / "run-types.csv"],
    }
    collection = read_collection(folder / "qrels.txt", **files, order="rank")
    asked: dict[str, Any] = {
        "estimators": "posterior-combined",
        "posterior_settings": "draws=100",
        "n_jobs": 1,
    }
    neural = {"by": "type", "types": ["neural"], "repool_to": 10, "runs": "all"}
    tries: list[tuple[str, AbstractContextManager[object], dict[str, Any]]] = [
        (f"neural runs, θ = {theta:.0f}", with_theta(theta), neural) for theta in (1e-9, 3.0, 6.0, 12.0)
    ]
    tries += [(f"organizations, c {which}", replaced("c", which), {}) for which in ("lower", "higher")]
    for title, change, design in tries:
        with change:
            result = leave_out(collection, ["P(rel=2)@10", "nDCG@10"], **asked, **design)
        shown = ["measure", "n_runs", "mae", "bias", "width", "coverage_95", "coverage_95_se", "pit_95"]
        print(f"{title}\n{result.to_frame('summary')[shown].round(4).to_string(index=False)}", flush=True)


def main() -> None:
    """Write the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collection", default="trec2011-medical")
    parser.add_argument("--draws", type=int, default=250)
    parser.add_argument("--output", type=Path, default=Path("research/decisions/tables"))
    parser.add_argument("--kinds", action="store_true", help="θ and c on DL 2021 instead")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    if asked.kinds:
        kinds(Path(os.environ["BAYESPOOL_COLLECTIONS"]) / "dl21-passage")
        return
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
            is_setting = bool(prior) and variable not in ("theta", *FAMILIES)
            settings = f"draws={asked.draws}" + f", {variable}={prior}" * is_setting
            with replaced(variable, which):
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

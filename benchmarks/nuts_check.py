"""Do the sampler's draws pass their checks at the default settings?

    python benchmarks/nuts_check.py [COLLECTION] [--models ratio,evidence] [--seeds 10] [-m P@10]

Every model is fitted by NUTS, with the seeds 1, 2, …, to the hidden documents of the embedded example, or
of a collection at hand (a folder with ``runs/`` and ``qrels.txt``) whose first organization is left out of
the pool. Printed are the checks of each fit, the variable with the fewest effective draws, and how many fits
pass.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import arviz_stats
import numpy as np
import pandas as pd
from at_hand import read

from bayespool import load_example, parse_measure
from bayespool.errors import DiagnosticsWarning
from bayespool.inference import NUTS, Fit
from bayespool.models import MODEL_NAMES
from bayespool.posterior import ScoringProblem


def main() -> None:
    """Print the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collection", nargs="?", type=Path)
    parser.add_argument("--models", default=",".join(MODEL_NAMES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("-m", "--measure", default="P@10")
    asked = parser.parse_args()
    if asked.collection is None:
        collection = load_example()
        runs = collection.unpooled_run_ids
    else:
        whole = read(
            asked.collection, **({"order": "rank"} if asked.collection.name.startswith("dl") else {})
        )
        first = whole.organizations[whole.organization[whole.pooled].min()]
        collection = whole.unpool(organization=first)
        runs = collection.unpooled_run_ids[:1]
    problem = ScoringProblem(collection, runs, parse_measure(asked.measure), "complete")
    rows = []
    for model in asked.models.split(","):
        prepared = problem.prepare(model, {})
        engine = NUTS()
        for seed in range(1, asked.seeds + 1):
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DiagnosticsWarning)
                fit = engine.fit(prepared.spec, prepared.evidence, seed)
            rows.append({"model": model, "seed": seed} | checked(fit, time.perf_counter() - start))
            print(", ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
    frame = pd.DataFrame(rows)
    worst = {"passed": "sum", "r_hat": "max", "ess_bulk": "min", "ess_tail": "min", "divergences": "sum"}
    print(f"\n{frame['passed'].sum()} of {len(frame)} fits pass their checks; the worst of each model:\n")
    print(frame.groupby("model", sort=False).agg({**worst, "seconds": "median"}).to_string())


def checked(fit: Fit, seconds: float) -> dict[str, object]:
    """Checks of a fit, and its variable with the fewest effective draws."""
    d = fit.diagnostics
    ess = arviz_stats.ess(fit.posterior["posterior"].to_dataset(), method="bulk")
    fewest = {str(name): float(np.nanmin(values)) for name, values in ess.data_vars.items() if values.size}
    return {
        "passed": d.passed,
        "r_hat": round(d.max_r_hat, 4),
        "ess_bulk": round(d.min_ess_bulk),
        "ess_tail": round(d.min_ess_tail),
        "divergences": d.n_divergences,
        "fewest": min(fewest, key=lambda name: fewest[name]),
        "steps": round(float(fit.sample_stats["n_steps"].mean())),
        "seconds": round(seconds, 1),
    }


if __name__ == "__main__":
    main()

"""Do the sampler's draws pass their checks at the default settings (diary, *NUTS at its defaults*)?

    python research/decisions/nuts_check.py [COLLECTION] [--models ratio,evidence] [--seeds 10] [-m P@10]

Every model is fitted by NUTS, with the seeds 1, 2, …, to the hidden documents of the embedded example, or of
a collection at hand whose first organization is left out of the pool.
"""

from __future__ import annotations

import argparse
import time
import warnings

import arviz_stats
import numpy as np
import pandas as pd
from shared import READING, contributors, read

from bayespool import load_example, parse_measure
from bayespool.inference import NUTS
from bayespool.models import MODEL_NAMES
from bayespool.posterior import ScoringProblem


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collection", nargs="?")
    parser.add_argument("--models", default=",".join(MODEL_NAMES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("-m", "--measure", type=parse_measure, default="P@10")
    parser.add_argument("--draws", type=int, default=1000, help="as many to tune")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    collection, n_runs = load_example(), None
    if asked.collection:
        whole, n_runs = read(asked.collection, **READING.get(asked.collection, {})), 1
        collection = whole.unpool(organization=next(contributors(whole))[0])
    runs = collection.unpooled_run_ids[:n_runs]
    problem, rows = ScoringProblem(collection, runs, asked.measure, "complete"), []
    for model in asked.models.split(","):
        prepared, engine = problem.prepare(model, {}), NUTS(draws=asked.draws, tune=asked.draws)
        for seed in range(1, asked.seeds + 1):
            start = time.perf_counter()
            fit = engine.fit(prepared.spec, prepared.evidence, seed)
            d, seconds = fit.diagnostics, time.perf_counter() - start
            ess = arviz_stats.ess(fit.posterior["posterior"].to_dataset(), method="bulk").data_vars
            fewest = min((float(np.nanmin(values)), str(name)) for name, values in ess.items() if values.size)
            rows.append(
                {
                    "model": model, "seed": seed, "passed": d.passed, "r_hat": round(d.max_r_hat, 4),
                    "ess_bulk": round(d.min_ess_bulk), "ess_tail": round(d.min_ess_tail),
                    "divergences": d.n_divergences, "fewest": fewest[1], "seconds": round(seconds, 1),
                }
            )  # fmt: skip
            print(rows[-1], flush=True)
    frame = pd.DataFrame(rows)
    worst = {"passed": "sum", "r_hat": "max", "ess_bulk": "min", "ess_tail": "min", "divergences": "sum"}
    print(f"\n{frame['passed'].sum()} of {len(frame)} fits pass their checks; the worst of each model:")
    print(frame.groupby("model", sort=False).agg({**worst, "seconds": "median"}).to_string())


if __name__ == "__main__":
    main()

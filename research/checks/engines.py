"""Is the fast engine as good as the reference? Both predict runs whose organizations left the pool.

    python -m research.checks.engines --models ratio,evidence --draws 3000
    python -m research.checks.engines --qrels qrels.txt --pool runs/ --organizations organizations.csv

Every fifth organization leaves the pool, both engines learn from the others, and the runs that left are
scored with the same random numbers. Posterior means should agree within 2 % of the width of the 95 % interval
of NUTS, and ends of intervals within 5 %, but for two Monte-Carlo errors.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayespool import Collection, load_example, parse_measure, read_collection
from bayespool.errors import DiagnosticsWarning
from bayespool.models import MODEL_NAMES
from bayespool.posterior import PosteriorEstimator

N_FOLDS = 5
TAILS = (0.025, 0.975)
WITHIN = {"mean": 0.02, "lower": 0.05, "upper": 0.05}
"""Tolerated differences, as shares of the width of the reference's interval."""

N_BATCHES = 20  # batch means give the Monte-Carlo error of autocorrelated draws


def compare_engines(
    collection: Collection,
    models: Sequence[str] = MODEL_NAMES,
    measures: Sequence[str] = ("P@10",),
    *,
    engine: str = "laplace",
    reference: str = "nuts",
    **settings: Any,
) -> pd.DataFrame:
    """Compare an engine with the reference, a row per measure, model and run that left the pool."""
    pooled = np.flatnonzero(collection.pooled)
    number = np.unique(collection.organization[pooled], return_inverse=True)[1]
    runs = [collection.run_ids[i] for i in pooled[number % N_FOLDS == 0]]
    without = collection.unpool(runs)
    rows = []
    for measure in map(parse_measure, measures):
        for model in models:
            draws, problems = {}, []
            for name in (engine, reference):
                posterior = PosteriorEstimator(model=model, engine=name, target_accept=0.95, **settings)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DiagnosticsWarning)
                    (estimates,) = posterior.estimate(without, runs, measure)
                draws[name] = estimates.draws.totals()
                if estimates.diagnostics is not None:
                    problems += [f"{name}: {problem}" for problem in estimates.diagnostics.problems]
            compared = differences(draws[engine], draws[reference])
            compared.insert(0, "run_id", runs)
            rows.append(compared.assign(measure=str(measure), model=model, problems="; ".join(problems)))
    frame = pd.concat(rows, ignore_index=True)
    return frame[frame["width"] > 0]  # the others have nothing unjudged


def differences(checked: np.ndarray, reference: np.ndarray) -> pd.DataFrame:
    """Compare draws of totals, shape (draw, run), with their Monte-Carlo errors, as shares of the width.

    Whole numbers get uniform noise in ±½ for the ends of intervals, so that rounding neither hides a
    difference nor makes one.
    """
    statistics, errors = [], []
    for draws in (checked, reference):
        smooth = draws
        if draws.dtype.kind in "iu":
            smooth = draws + np.random.default_rng(1).uniform(-0.5, 0.5, draws.shape)
        statistics.append(np.vstack([draws.mean(axis=0), np.quantile(smooth, TAILS, axis=0)]))
        size = max(1, len(draws) // N_BATCHES)
        batches = [smooth[i : i + size] for i in range(0, size * N_BATCHES, size)]
        of_batches = [np.vstack([b.mean(axis=0), np.quantile(b, TAILS, axis=0)]) for b in batches]
        errors.append(np.std(of_batches, axis=0, ddof=1) / np.sqrt(N_BATCHES))
    varies = np.ptp(reference, axis=0) > 0
    width = np.where(varies, statistics[1][2] - statistics[1][1], 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = (statistics[0] - statistics[1]) / width
        off_se = np.hypot(*errors) / width
    columns = {"width": width}
    for name, value, se in zip(WITHIN, off, off_se, strict=True):
        columns |= {f"{name}_off": value, f"{name}_off_se": se}
    return pd.DataFrame(columns)


def agreement(frame: pd.DataFrame) -> pd.DataFrame:
    """Summarize differences by measure and model, and how often they are tolerated."""
    off = frame[[f"{name}_off" for name in WITHIN]].abs().set_axis(list(WITHIN), axis=1)
    errors = frame[[f"{name}_off_se" for name in WITHIN]].set_axis(list(WITHIN), axis=1)
    agrees = off <= pd.Series(WITHIN) + 2 * errors
    return (
        frame[["measure", "model", "problems"]]
        .assign(
            mean_off=off["mean"],
            mean_agrees=agrees["mean"],
            ends_off=off[["lower", "upper"]].mean(axis=1),
            ends_agree=agrees[["lower", "upper"]].mean(axis=1),
        )
        .groupby(["measure", "model", "problems"], sort=False)
        .mean()
        .reset_index()
    )


def main() -> None:
    """Compare the engines, and print the agreement by measure and model."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name in ("qrels", "pool", "organizations", "output"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--models", default=",".join(MODEL_NAMES))
    parser.add_argument("--measures", default="P@10")
    parser.add_argument("--engine", default="laplace")
    parser.add_argument("--draws", type=int, default=2000)
    asked = parser.parse_args()
    collection = load_example()
    if asked.qrels:
        collection = read_collection(asked.qrels, pool=asked.pool, organizations=asked.organizations)
    named = asked.models.split(","), asked.measures.split(",")
    frame = compare_engines(collection, *named, engine=asked.engine, draws=asked.draws)
    print(agreement(frame).round(3).to_string(index=False))
    if asked.output:
        frame.to_csv(asked.output, index=False)


if __name__ == "__main__":
    main()

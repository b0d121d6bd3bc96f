"""Separability, reversals and announced risks on a real collection, and the time of `prob_significant`.

    python research/decisions/compare.py trec8-adhoc --exclude UB99SW,UB99T --max-holes 0 --seeds 10
    python research/decisions/compare.py --speed

The first prints what the tables of docs/comparisons.md are from: means over orders of the judgments within a
rank, in per cent of pairs, and the range of reversals; Ravana & Moffat (2010) print theirs in table 2. The
second repeats tests for 1,035 pairs of runs over 50 topics in 4,000 draws.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from shared import read

from bayespool import count_reversals
from bayespool.comparisons import Reversals, significant_draws


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("collection", nargs="?")
    parser.add_argument("--exclude", default="")
    parser.add_argument("--max-holes", type=int)
    parser.add_argument("--unpool", help="a run that shall not count as contributing")
    parser.add_argument("-m", "--measure", action="append")
    parser.add_argument("--judgments", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--estimators", default="interpolated,smoothed,posterior-combined")
    parser.add_argument("--draws", type=int, default=500, help="per chain, of four")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--speed", action="store_true")
    asked = parser.parse_args()
    if asked.speed or asked.collection is None:
        measure_speed()
        return
    warnings.simplefilter("ignore")
    collection = read(asked.collection, max_holes=asked.max_holes)
    if asked.unpool:
        collection = collection.unpool([asked.unpool])
    runs = [run for run in collection.run_ids if run not in asked.exclude.split(",")]
    settings = {"judgments": asked.judgments, "estimators": asked.estimators.split(",")}
    settings |= {"posterior_settings": f"draws={asked.draws}", "test": "paired-t", "level": 0.01}
    orders = [
        count_reversals(collection, runs, asked.measure or ["P@10"], random_seed=seed, **settings)
        for seed in range(1, asked.seeds + 1)
    ]

    def show(title: str, table: Callable[[Reversals], pd.DataFrame], keys: list[str], places: int) -> None:
        frame = pd.concat([table(order) for order in orders])
        numbers = [name for name in frame.select_dtypes("number") if name not in keys]
        print(f"\n{title}\n{frame.groupby(keys, sort=False)[numbers].mean().round(places).to_string()}")

    of_estimator = ["measure", "group", "estimator", "judgments"]
    show("shares of pairs", lambda o: o.rates().query("against == 'same estimator'"), of_estimator, 4)
    every = pd.concat([o.rates().query("against == 'same estimator'") for o in orders])
    print(f"\n{every.groupby(of_estimator, sort=False)['reversed'].agg(['min', 'max']).round(4).to_string()}")
    show("means, and RMSE from all judgments", lambda o: o.trends(), of_estimator, 4)
    for measure, name in orders[0].constants:
        fits = [order.constants[measure, name] for order in orders]
        mean = [np.mean([getattr(fit, part) for fit in fits]) for part in ("c", "e", "rmse")]
        print(f"{measure}, {name}: C = {mean[0]:.3f}, E = {mean[1]:.3f}, RMSE = {mean[2]:.4f}")
    if orders[0].draws:
        keys = ["group", "estimator", "judgments", "statement"]
        show("pairs, and pairs times what was announced and what happened", weighted, [*keys, "bin_lower"], 3)
        show("announced and happened, Brier scores", lambda o: o.grades(), keys, 4)


def weighted(order: Reversals) -> pd.DataFrame:
    """Announced chances by tenths, with sums over pairs, so that orders can be added up."""
    frame = order.calibration()
    return frame.assign(announced=frame["n"] * frame["announced"], happened=frame["n"] * frame["happened"])


def measure_speed() -> None:
    rng = np.random.default_rng(1)
    base = rng.integers(1, 10, size=(46, 50))
    draws = (base + rng.integers(-1, 2, size=(4_000, 46, 50))).clip(0, 10).astype(np.int32)
    for test, control in (("paired-t", "none"), ("paired-t", "holm"), ("tukey-hsd", "none")):
        before, start = peak(), time.perf_counter()
        significant_draws(draws, test=test, control=control)
        seconds = time.perf_counter() - start
        print(f"{test}, {control}: {seconds:.2f} s, {1024 * (peak() - before):.0f} MiB more than before")
    print(f"peak {peak():.2f} GiB, draws and imports included")


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()

"""Separability, reversals and announced risks on a real collection, and the time of `prob_significant`.

    python benchmarks/compare.py COLLECTIONS/trec8-adhoc --exclude UB99SW,UB99T --max-holes 0 --seeds 10
    python benchmarks/compare.py --speed

The first prints the tables of docs/comparisons.md: means over orders of the judgments within a rank, and the
range of reversals. The second repeats the paired t test and Tukey's for 1,035 pairs of runs over 50 topics in
4,000 draws.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from bayespool import parse_measure, read_collection, reversals
from bayespool.comparisons import Reversals, significant_draws

# Ravana & Moffat (2010), table 2: separable with 1,000 judgments and with all, reversed
PAPER = {
    "P": {"as-judged": (68.9, 67.5, 5.8), "interpolated": (58.6, 65.0, 2.2), "smoothed": (64.7, 62.7, 6.1)},
    "SDCG": {
        "as-judged": (74.5, 74.9, 5.5),
        "interpolated": (56.2, 71.6, 4.1),
        "smoothed": (74.1, 67.7, 11.3),
    },
    "RBP": {
        "as-judged": (74.1, 74.8, 4.9),
        "interpolated": (56.9, 72.9, 3.1),
        "smoothed": (72.1, 70.0, 7.8),
    },
    "AP": {"as-judged": (69.1, 71.4, 5.4)},
    "nDCG": {"as-judged": (75.8, 79.9, 4.3)},
}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection", type=Path, nargs="?")
    parser.add_argument("--exclude", default="")
    parser.add_argument("--max-holes", type=int)
    parser.add_argument("--unpool", help="a run that shall not count as contributing")
    parser.add_argument("-m", "--measure", action="append")
    parser.add_argument("--judgments", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--estimators", default="interpolated,smoothed,posterior-combined")
    parser.add_argument("--test", default="paired-t")
    parser.add_argument("--level", type=float, default=0.01)
    parser.add_argument("--draws", type=int, default=500, help="per chain, of four")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--speed", action="store_true")
    args = parser.parse_args()
    if args.speed or args.collection is None:
        measure_speed()
        return
    warnings.simplefilter("ignore")
    folder = args.collection
    collection = read_collection(
        folder / "qrels.txt",
        pool=folder / "runs",
        organizations=folder / "organizations.csv",
        strict=False,
        max_holes=args.max_holes,
    )
    if args.unpool:
        collection = collection.unpool([args.unpool])
    runs = [run for run in collection.run_ids if run not in args.exclude.split(",")]
    start = time.perf_counter()
    found = [
        reversals(
            collection,
            runs,
            args.measure or ["P@10"],
            judgments=args.judgments,
            estimators=args.estimators.split(","),
            test=args.test,
            level=args.level,
            draws=args.draws,
            random_seed=seed,
        )
        for seed in range(1, args.seeds + 1)
    ]
    for measure in map(str, found[0].measures):
        for group, members in found[0].groups.items():
            n_pairs = len(members) * (len(members) - 1) // 2
            print(f"\n{measure}, {group}: {len(members)} runs, {n_pairs} pairs; per cent\n")
            print_rates(found, measure, group)
            print(f"\n{measure}, {group}: means, and the RMSE of runs, and of topics, from all judgments\n")
            print_trends(found, measure, group)
    print()
    for measure, name in found[0].constants:
        fits = [f.constants[measure, name] for f in found]
        mean = [np.mean([getattr(fit, part) for fit in fits]) for part in ("c", "e", "rmse")]
        print(f"{measure}, {name}: C = {mean[0]:.3f}, E = {mean[1]:.3f}, RMSE = {mean[2]:.4f}")
    if not found[0].draws:
        return
    for statement in ("reversed", "significant"):
        print(f"\n{statement}: pairs, announced, happened\n")
        print_calibration(found, statement)
    print()
    print_grades(found)
    print(f"\n{time.perf_counter() - start:.0f} s, {_peak():.2f} GiB")


def print_rates(found: Sequence[Reversals], measure: str, group: str) -> None:
    """Separability and reversals per method, in per cent of the group's pairs, beside the paper's."""
    every = pd.concat([f.rates() for f in found])
    every = every[(every["measure"] == measure) & (every["group"] == group)]
    every = every[every["against"] == "same method"]
    sizes = found[0].n_judgments[:-1]
    header = ["method", *(f"separable, {n:,}" for n in sizes), "separable, all"]
    for what in ("reversed", "swapped", "gained"):
        header += [f"{what}, {n:,}" for n in sizes]
    header += ["TREC-9: 1,000", "69,100", "reversed"]
    rows = []
    for method in found[0].methods:
        mine = every[every["method"] == method]
        at = {n: 100 * mine[mine["judgments"] == n].select_dtypes("number") for n in sizes}
        cells = [method, *(f"{at[n]['separability'].mean():.1f}" for n in sizes)]
        cells.append(f"{100 * mine['separability_all'].mean():.1f}")
        for what in ("reversed", "swapped", "gained"):
            show = _with_range if what == "reversed" else _mean
            cells += [show(at[n][what]) for n in sizes]
        printed = PAPER.get(parse_measure(measure).name, {})
        rows.append([*cells, *(f"{x:.1f}" for x in printed.get(method, ()))])
    _print(header, rows)


def print_trends(found: Sequence[Reversals], measure: str, group: str) -> None:
    """Mean scores and errors by judgments."""
    every = pd.concat([f.trends() for f in found])
    every = every[(every["measure"] == measure) & (every["group"] == group)]
    every = every[~every["method"].str.contains(">=")]
    sizes = found[0].n_judgments
    mean = every.groupby(["method", "judgments"], sort=False)[
        ["residual", "value", "rmse", "topic_rmse"]
    ].mean()
    methods = list(dict.fromkeys(every["method"]))
    residual = [f"{mean.loc[(methods[0], n), 'residual']:.3f}" for n in sizes]
    rows = [["residual Δ", *residual]]
    for method in methods:
        values = [f"{mean.loc[(method, n), 'value']:.4f}" for n in sizes]
        errors = [f"{mean.loc[(method, n), e]:.4f}" for e in ("rmse", "topic_rmse") for n in sizes[:-1]]
        rows.append([method, *values, *errors])
    errors = [f"RMSE{of}, {n:,}" for of in ("", " per topic") for n in sizes[:-1]]
    _print(["", *(f"{n:,}" for n in sizes), *errors], rows)


def print_calibration(found: Sequence[Reversals], statement: str) -> None:
    """Announced chances by tenths and what happened, over all orders together; pairs per order."""
    every = pd.concat([f.calibration() for f in found])
    every = every[every["statement"] == statement]
    every = every.assign(said=every["n"] * every["announced"], came=every["n"] * every["happened"])
    total = every.groupby(["group", "method", "judgments", "bin_lower"], sort=False)[
        ["n", "said", "came"]
    ].sum()
    keys = list(dict.fromkeys((g, m, n) for g, m, n, _ in total.index))
    rows = []
    for bin_lower in dict.fromkeys(every["bin_lower"]):
        cells = [f"{bin_lower:.1f}–{bin_lower + 0.1:.1f}"]
        for key in keys:
            n, said, came = total.loc[(*key, bin_lower)]
            shares = f", {said / n:.2f}, {came / n:.2f}" if n else ""
            cells.append(f"{n / len(found):.0f}{shares}")
        rows.append(cells)
    _print(["announced", *(f"{g}, {m}, {n:,}" for g, m, n in keys)], rows)


def print_grades(found: Sequence[Reversals]) -> None:
    """Announced and observed shares, and Brier scores."""
    named = ["group", "method", "judgments", "statement"]
    table = pd.concat([f.grades() for f in found]).groupby(named, sort=False).mean(numeric_only=True)
    rows = [
        [*map(str, key), f"{row['n']:.0f}", *(f"{row[x]:.3f}" for x in ("announced", "happened"))]
        + [f"{row[x]:.4f}" for x in ("brier", "brier_constant")]
        for key, row in table.iterrows()
    ]
    _print([*named, "pairs", "announced", "happened", "Brier", "of that share"], rows)


def measure_speed() -> None:
    """Time and memory for 46 runs, 50 topics and 4,000 draws."""
    rng = np.random.default_rng(1)
    base = rng.integers(1, 10, size=(46, 50))
    draws = (base + rng.integers(-1, 2, size=(4_000, 46, 50))).clip(0, 10).astype(np.int32)
    for test, control in (("paired-t", "none"), ("paired-t", "holm"), ("tukey-hsd", "none")):
        before, start = _peak(), time.perf_counter()
        significant_draws(draws, test=test, control=control)  # type: ignore[arg-type]
        seconds = time.perf_counter() - start
        print(f"{test}, {control}: {seconds:.2f} s, {1024 * (_peak() - before):.0f} MiB more than before")
    print(f"peak {_peak():.2f} GiB, draws and imports included")


def _with_range(values: pd.Series) -> str:
    low, high = f"{values.min():.1f}", f"{values.max():.1f}"
    return low if low == high else f"{_mean(values)} ({low}–{high})"


def _mean(values: pd.Series) -> str:
    return f"{values.mean():.1f}"


def _print(header: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    header = list(header)
    print(f"| {' | '.join(header)} |\n|{' --- |' * len(header)}")
    for row in rows:
        cells = [*row]
        print(f"| {' | '.join(cells + [''] * (len(header) - len(cells)))} |")


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()

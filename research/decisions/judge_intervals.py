"""Intervals of a judge's agreement: how often one from half of the topics contains that of the other half.

    python research/decisions/judge_intervals.py [--halves 50]

The value of the other half is as noisy, so that intervals are widened by √2 on their own scale. DL 2021 with
its judges, nDCG@10. Shares by quantity, the least and the largest over judges, levels and documents.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import numpy as np
import pandas as pd
from shared import place, read

from bayespool import check_judges

QUANTITIES = ("auc", "kappa", "weighted_kappa", "kendall_tau_b", "tau_ap", "tau_of_best")


def scaled(name: str, values: pd.Series) -> np.ndarray:
    """Values on Fisher's scale."""
    x = np.asarray(values, dtype=float)
    return np.arctanh((2 * x - 1 if name == "auc" else x).clip(-0.999, 0.999))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--halves", type=int, default=50)
    asked, name = parser.parse_args(), "dl21-passage"
    judges = {file.stem: file for file in sorted((place(name) / "judges").iterdir())}
    topics, inside = read(name).query_ids, defaultdict(list)
    for seed in range(asked.halves):
        order, halves = np.random.default_rng(seed).permutation(topics), []
        for half in np.array_split(order[: len(order) - len(order) % 2], 2):
            collection = read(name, judges=judges, topics=half.tolist())
            check = check_judges(collection, "nDCG@10", run_ids=(), random_seed=seed)
            halves.append(pd.concat([check.to_frame("agreement"), check.to_frame("ranking")]))
        for one, other in (halves, halves[::-1]):
            for quantity in QUANTITIES:
                value, low, high = (
                    scaled(quantity, one[f"{quantity}{end}"]) for end in ("", "_lower", "_upper")
                )
                apart = scaled(quantity, other[quantity]) - value
                inside[quantity].append(
                    (apart >= np.sqrt(2) * (low - value)) & (apart <= np.sqrt(2) * (high - value))
                )
                inside[f"{quantity} known"].append(np.isfinite(apart + low + high))
    for quantity in QUANTITIES:
        hits, known = np.array(inside[quantity]), np.array(inside[f"{quantity} known"])
        shares = [hits[known[:, row], row].mean() for row in np.flatnonzero(known.any(axis=0))]
        print(f"{quantity:<16} {min(shares):.2f} to {max(shares):.2f}, in the mean {np.mean(shares):.3f}")


if __name__ == "__main__":
    main()

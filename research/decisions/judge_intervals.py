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

from bayespool import parse_measure
from bayespool.collection import add_judges, read_labels
from bayespool.experiments.judge_agreement import agreement_rows, draw_topics, find_confusions, ranking_rows

MEASURE = parse_measure("nDCG@10")
QUANTITIES = ("auc", "kappa", "weighted_kappa", "kendall_tau_b", "tau_ap", "tau_of_best")


def scaled(name: str, values: pd.Series) -> np.ndarray:
    """Values on Fisher's scale."""
    x = np.asarray(values, dtype=float)
    return np.arctanh((2 * x - 1 if name == "auc" else x).clip(-0.999, 0.999))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--halves", type=int, default=50)
    asked, name = parser.parse_args(), "dl21-passage"
    files = sorted((place(name) / "judges").iterdir())
    collection = add_judges(read(name), {file.stem: read_labels(file) for file in files})
    confusions, n = find_confusions(collection, [MEASURE]), len(collection.query_ids)
    rng, inside = np.random.default_rng(1), defaultdict(list)
    for seed in range(asked.halves):
        order, halves = rng.permutation(n), []
        for half in np.array_split(order[: n - n % 2], 2):
            times = np.zeros((1001, n), dtype=np.int64)
            times[:, half] = draw_topics(len(half), seed)
            rows = [
                *agreement_rows(collection, confusions, times, 0.95),
                *ranking_rows(collection, [MEASURE], times, 0.95),
            ]
            halves.append(pd.DataFrame(rows))
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

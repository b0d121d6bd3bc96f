"""Table 2 of Lipani et al. (2017), its 72 signs, under the readings that the paper leaves open.

    python research/papers/pooling_signs.py --output FOLDER

The paper compares eight strategies with Take@N on TREC-8 and its pool of 66 runs, by three measures and three
errors: is a strategy less biased? Each line has a reading and how many of the signs agree, in all and by
strategy (of 9 each). FOLDER keeps finished parts, so that the next call goes on from there: half an hour
without them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from bayespool import Collection, compare_budgets

sys.path.insert(0, str(Path(__file__).parents[1] / "decisions"))

from shared import markdown, read

MEASURES = ("P@100", "AP@100", "nDCG@100")
ERRORS = ("mae", "sre", "sre_star")
BUDGETS = tuple(range(5_000, 80_001, 5_000))
COMBINATIONS = ("combmax", "combmin", "combmed", "combsum", "combanz", "combmnz")
PAPER = ("take", "borda", "condorcet", *COMBINATIONS)

PRINTED: Mapping[str, tuple[str, str, str]] = {
    "borda": ("+--", "+--", "+--"),
    "condorcet": ("---", "---", "---"),
    "combmax": ("+-+", "+++", "+-+"),
    "combmin": ("---", "---", "---"),
    "combmed": ("-++", "-++", "-++"),
    "combsum": ("+--", "+++", "+-+"),
    "combanz": ("-++", "-++", "-++"),
    "combmnz": ("+--", "+++", "+--"),
}
"""Signs of P@100, MAP and NDCG by error (MAE, SRE, SRE*), as table 2 has them."""

VARIANTS: Mapping[str, tuple[str, ...]] = {
    "as the package has them": PAPER[1:],
    "the scores of a run sum to 1": tuple(f"{name}(normalization='sum')" for name in COMBINATIONS),
    "ranks for scores": tuple(f"{name}(normalization='rank')" for name in COMBINATIONS),
    "equal scores count 0": tuple(f"{name}(constant=0.0)" for name in COMBINATIONS),
    "absent documents score 0": ("combmin(missing='zero')", "combmed(missing='zero')"),
    "the other count of scores": ("combanz(count='retrieved')", "combmnz(count='positive')"),
    "absent documents have no rank": ("borda(missing='nothing')",),
    "absent documents have the next rank": ("borda(missing='next')",),
    "all retrieved documents are candidates": ("borda(n_candidates=528155)",),
    "a run votes on what it has alone": ("condorcet(missing='nothing')",),
    "the same, ties by lot": ("condorcet(missing='nothing', ties='lot')",),
    "ties by lot": ("condorcet(ties='lot')",),
}
"""Readings of strategies; those not named are as in the first."""


def paper_pool() -> Collection:
    """TREC-8 with the paper's pool: the pooled runs with 100 documents on every topic."""
    whole = read("trec8-adhoc")
    full = [run for run in whole.pooled_run_ids if whole.length[whole.run_index([run])].min() >= 100]
    return read("trec8-adhoc", scores=True, pooled_run_ids=full, known_depth=100)


def agreement(signs: Iterable[tuple[str, str, str, bool]]) -> dict[str, int]:
    """Number of signs that agree with the paper's by strategy, of (strategy, error, measure, less biased)."""
    n: dict[str, int] = {}
    for strategy, error, measure, is_less in signs:
        printed = PRINTED[strategy.partition("(")[0]][ERRORS.index(error)][MEASURES.index(measure)]
        n[strategy] = n.get(strategy, 0) + (is_less == (printed == "+"))
    return n


def of_means(result: Any) -> dict[str, int]:
    """Agreement of the means over budgets."""
    frame = result.to_frame("ranking").query("strategy != 'take'")
    columns = (frame[name] for name in ("strategy", "bias_measure", "measure", "beats_first"))
    return agreement(zip(*columns, strict=True))


def of_budgets(result: Any, chosen: Iterable[int], *, most: bool = False) -> dict[str, int]:
    """Agreement of the means over some budgets, or of what holds at most of them."""
    errors, keys = list(ERRORS), ["measure", "strategy", "budget"]
    frame = result.to_frame("summary").set_index(keys)[errors]
    frame = frame[frame.index.get_level_values("budget").isin(tuple(chosen))]
    less = frame.reset_index("strategy")
    difference = less[errors] - frame.xs("take", level="strategy").reindex(less.index)
    difference = (difference > 1e-12).astype(float) - (difference < -1e-12) if most else difference
    difference = difference.assign(strategy=less["strategy"]).reset_index("measure")
    means = difference.groupby(["measure", "strategy"])[errors].mean() < -1e-12
    rows = [(*key, row) for key, row in means.iterrows() if key[1] != "take"]
    return agreement((strategy, e, measure, bool(row[e])) for measure, strategy, row in rows for e in ERRORS)


def line(reading: str, truth: str, of_strategies: Mapping[str, int]) -> None:
    cells = [str(of_strategies.get(name, "")) for name in PAPER[1:]]
    markdown([reading, truth, sum(of_strategies.values()), *cells])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    collection = paper_pool()

    def run(strategies: Iterable[str], name: str, **settings: Any) -> Any:
        asked = {"budgets": BUDGETS, "folder": given.output / name, "n_jobs": given.jobs} | settings
        return compare_budgets(collection, MEASURES, strategies=list(strategies), **asked)

    markdown(["reading", "`--truth`", "of 72", *PAPER[1:]])
    for truth in ("full", "pooled"):
        for top in (75, 100):
            result = run(PAPER, "equal", truth=truth, top=top)
            line("best 75 %, mean" if top == 75 else "all runs, mean", truth, of_means(result))
            if top == 75:
                line("what holds at most budgets", truth, of_budgets(result, BUDGETS, most=True))
                line("mean over budgets to 20,000", truth, of_budgets(result, BUDGETS[:4]))
                for budget in (5_000, 10_000, 20_000, 40_000):
                    line(f"{budget:,} documents alone", truth, of_budgets(result, [budget]))
        few = {"budgets": (5_000, 20_000, 40_000), "shares": "global"}
        shared = run(("take", *COMBINATIONS), "global", truth=truth, **few)
        line("5,000, shared by value (of 54)", truth, of_budgets(shared, [5_000]))
        line("three budgets, shared by value (of 54)", truth, of_means(shared))
    every = list(dict.fromkeys(["take", *(text for texts in VARIANTS.values() for text in texts)]))
    by_truth = {truth: run(every, "equal", truth=truth) for truth in ("full", "pooled")}
    rows = []
    for reading, texts in VARIANTS.items():
        for text in texts:
            agree = {truth: of_means(result)[text] for truth, result in by_truth.items()}
            small = of_budgets(by_truth["full"], [5_000])[text]
            rows.append({"strategy": text, "reading": reading, **agree, "full, 5,000": small})
    frame = pd.DataFrame(rows)
    print(frame.to_string(index=False))
    best = frame.groupby(frame["strategy"].str.partition("(")[0]).max(numeric_only=True)
    print("the best reading of each strategy:", best.sum().to_dict())


if __name__ == "__main__":
    main()

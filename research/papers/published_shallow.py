"""Ravana & Moffat (2010) on TREC-8 beside what they print of TREC-9: tables of research/papers/reproduction.

    python research/papers/published_shallow.py COLLECTIONS/trec8-adhoc --published FOLDER [--seeds 1]

prints them alone. `reproduction.py` writes them as CSV. FOLDER has ravana-moffat-2010-table1.csv
(`quantity,judgments,measure,value`) and ravana-moffat-2010-table2.csv (`measure,predictor,collection,
separability_1000_pct,separability_69100_pct,reversals_pct`), what the paper prints.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayespool import Collection, count_reversals, parse_measure
from bayespool.comparisons import FIT_JUDGMENTS, Reversals, judgment_subset
from bayespool.corrections import Interpolated, Smoothed
from bayespool.evidence import score_bounds

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from at_hand import read
from figures import first_unjudged, rmse_surface

MEASURES = {
    "P@10": "P@10",
    "SDCG": "SDCG@100",
    "RBP": "RBP(p=0.95)@1000",
    "AP": "AP(ideal='judged')@1000",
    "NDCG": "nDCG(ideal='judged')@1000",
}
ODD = ("UB99SW", "UB99T")  # runs that are oddly unjudged
EXTRA = "Dm8TFidf"
PREDICTORS = {"Simplistic": "as-judged", "Interpolated": "interpolated", "Smoothed": "smoothed"}
GROUP = "non-contributing"
SIZES = (1_000, 10_000)


def pool(place: Path) -> Collection:
    """TREC-8 with the runs that are judged without a hole down to rank 100."""
    return read(place, max_holes=0)


def results(
    collection: Collection, measures: Sequence[str], estimators: Sequence[str], seeds: int
) -> list[Reversals]:
    """Reversals by order of the judgments within a rank."""
    runs = [run for run in collection.run_ids if run not in ODD]
    asked: dict[str, Any] = {
        "measures": list(measures),
        "judgments": list(SIZES),
        "estimators": list(estimators),
        "unseen": "estimated",  # the paper has residuals under all judgments
    }
    return [count_reversals(collection, runs, **asked, random_seed=seed) for seed in range(1, seeds + 1)]


def rows_of(found: Sequence[Reversals], table: str) -> pd.DataFrame:
    """Means over orders of the rows of the non-contributing runs."""
    frame = pd.concat([f.to_frame(table) for f in found])
    frame = frame[frame["group"] == GROUP]
    if "against" in frame:
        frame = frame[frame["against"] == "same estimator"]
    return frame.groupby(["measure", "estimator", "judgments"], sort=False).mean(numeric_only=True)


def table_1(found: Sequence[Reversals], printed: pd.DataFrame) -> str:
    """Scores and residuals by number of judgments."""
    trends, sizes = rows_of(found, "trends"), found[0].n_judgments
    told = printed.set_index(["quantity", "measure", "judgments"])["value"]
    lines = [row("", "judgments here", *MEASURES, *(f"{m}, TREC-9" for m in MEASURES))]
    lines.append("| --- | ---: |" + " ---: |" * (2 * len(MEASURES)))
    names = {"P@10": "P@10", "SDCG": "SDCG@100", "RBP": "RBP(p=0.95)", "AP": "AP", "NDCG": "NDCG"}
    quantities = {"base": "as-judged", "residual": "as-judged", "interpolated": "interpolated"}
    for quantity, method in (quantities | {"smoothed": "smoothed"}).items():
        for n, there in zip(sizes, (1_000, 10_000, 69_100), strict=True):
            column = "residual" if quantity == "residual" else "value"
            ours, theirs = [], []
            for name, measure in MEASURES.items():
                is_printed = (quantity, names[name], there) in told.index
                ours.append(f"{trends.loc[(measure, method, n), column]:.4f}" if is_printed else "–")
                theirs.append(f"{told[quantity, names[name], there]:.4f}" if is_printed else "–")
            lines.append(row(quantity, f"{n:,}", *ours, *theirs))
    return "\n".join(lines)


def table_2(found: Sequence[Reversals], printed: pd.DataFrame) -> str:
    """Separability and reversals, in percent of the pairs."""
    rates, n = rows_of(found, "rates"), SIZES[0]
    told = printed.set_index(["measure", "predictor"])
    lines = [row("", "predictor", "1,000", "all", "reversed", "TREC-9: 1,000", "all", "reversed")]
    lines.append("| --- | --- |" + " ---: |" * 6)
    for name, measure in MEASURES.items():
        for predictor, method in PREDICTORS.items():
            of = rates.loc[(measure, method, n)]
            ours = [f"{100 * of[c]:.1f}" for c in ("separability", "separability_all", "reversed")]
            theirs = ["–"] * 3
            if (name, predictor) in told.index:
                theirs = [f"{x:.1f}" for x in told.loc[(name, predictor)].iloc[1:]]
            lines.append(row(name, predictor, *ours, *theirs))
    return "\n".join(lines)


def constants(found: Sequence[Reversals]) -> str:
    """Constants fitted to the contributing runs."""
    lines = [row("", "method", "C", "E", "RMSE", "TREC-9: C", "E", "RMSE"), "| --- | --- |" + " ---: |" * 6]
    paper = {
        ("P@10", "interpolated"): ("0.42", "0.01", "0.065"),
        ("P@10", "smoothed"): ("0.91", "0.05", "0.086"),
    }
    for (measure, method), _ in found[0].constants.items():
        fits = [f.constants[measure, method] for f in found]
        known = [{**fit.values, "rmse": fit.rmse} for fit in fits]
        values = [np.mean([fit.get(part, np.nan) for fit in known]) for part in ("c", "e", "rmse")]
        told = [f"{values[0]:.2f}", f"{values[1]:.3f}", f"{values[2]:.3f}"]
        told = ["–" if text == "nan" else text for text in told]
        lines.append(row(measure, method, *told, *paper.get((measure, method), ("–",) * 3)))
    return "\n".join(lines)


def surfaces(collection: Collection) -> str:
    """Figures 2 and 3: least, printed and largest error of the surfaces, on a grid of hundredths."""
    runs = collection.pooled_run_ids
    subsets = [judgment_subset(collection, n) for n in FIT_JUDGMENTS]
    grid, places = np.linspace(0, 1, 101), {Interpolated: (42, 1), Smoothed: (91, 5)}
    lines = [row("", "method", "least RMSE", "at C, E", "at the paper's C, E", "as judged", "largest")]
    lines.append("| --- | --- |" + " ---: |" * 5)
    for name in ("P@10", "SDCG", "RBP"):
        measure = parse_measure(MEASURES[name])
        truth = score_bounds(collection, runs, measure)
        bounds = [score_bounds(subset, runs, measure) for subset in subsets]
        for correction, place in places.items():
            surface = rmse_surface(correction, bounds, truth, c=grid, e=grid)
            c, e = np.unravel_index(surface.argmin(), surface.shape)
            ends = [f"{x:.4f}" for x in (surface[place], surface[0, 0], surface.max())]
            lines.append(
                row(
                    name,
                    correction.__name__.lower(),
                    f"{surface.min():.4f}",
                    f"{grid[c]:.2f}, {grid[e]:.2f}",
                    *ends,
                )
            )
    return "\n".join(lines)


def figure_1(collection: Collection) -> str:
    """Shares of runs and topics by the rank of the first unjudged document, with 1,000 judgments."""
    runs = [run for run in collection.run_ids if run not in ODD]
    ranks = first_unjudged(judgment_subset(collection, SIZES[0]), runs)
    lines = [row("", "runs", *(f"rank {r}" for r in range(1, 6)), "deeper or none")]
    lines.append("| --- | ---: |" + " ---: |" * 6)
    for group, rows in ranks.groupby("group"):
        share = [100 * (rows["rank"] == r).mean() for r in range(1, 6)]
        cells = [f"{x:.1f} %" for x in (*share, 100 - sum(share))]
        lines.append(row(str(group), str(rows["run_id"].nunique()), *cells))
    return "\n".join(lines)


def contributors(collection: Collection, seeds: int) -> str:
    """P@10 with and without the run that is one too many."""
    lines = [
        row("contributing", "others", "predictor", "1,000", "all", "reversed", "C", "E", "RMSE of the fit")
    ]
    lines.append("| ---: | ---: | --- |" + " ---: |" * 6)
    for changed in (collection, collection.unpool([EXTRA])):
        found = results(changed, ["P@10"], ["interpolated", "smoothed"], seeds)
        rates, groups = rows_of(found, "rates"), found[0].groups
        n_runs = [str(len(groups[name])) for name in ("contributing", GROUP)]
        for predictor, method in PREDICTORS.items():
            of = rates.loc[("P@10", method, SIZES[0])]
            cells = [f"{100 * of[c]:.1f}" for c in ("separability", "separability_all", "reversed")]
            fits = [f.constants[("P@10", method)] for f in found if ("P@10", method) in f.constants]
            means = [
                f"{np.mean([getattr(fit, part) for fit in fits]):.3f}" for part in ("c", "e", "rmse") if fits
            ]
            lines.append(row(*n_runs, predictor, *cells, *(means or ["–"] * 3)))
    return "\n".join(lines)


def row(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def parts(place: Path, published: Path, seeds: int = 1) -> dict[str, str]:
    """Tables by the names of their files."""
    warnings.simplefilter("ignore")
    collection = pool(place)
    found = results(collection, list(MEASURES.values()), ["background", "interpolated", "smoothed"], seeds)
    return {
        "shallow_table_1": table_1(found, pd.read_csv(published / "ravana-moffat-2010-table1.csv")),
        "shallow_table_2": table_2(found, pd.read_csv(published / "ravana-moffat-2010-table2.csv")),
        "shallow_constants": constants(found),
        "shallow_surfaces": surfaces(collection),
        "shallow_figure_1": figure_1(collection),
        "shallow_contributors": contributors(collection, seeds),
    }


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collection", type=Path)
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=1)
    asked = parser.parse_args()
    for name, part in parts(asked.collection, asked.published, asked.seeds).items():
        print(f"{name}\n\n{part}\n", flush=True)


if __name__ == "__main__":
    main()

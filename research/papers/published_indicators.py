"""What "Splitting Water" says of its indicators (§3 to §5.2): tables of research/papers/reproduction.

    python research/papers/published_indicators.py COLLECTIONS

prints them alone, in some minutes. `reproduction.py` writes them as CSV.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import warnings
from collections.abc import Mapping, Sequence
from math import factorial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from bayespool.experiments import LeaveOutResult, leave_out_several

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from at_hand import read as read_as_found
from published_experiments import CUTOFFS, EXPERIMENTS, METHODS, read, run

FIVE = ("trec2-adhoc", "trec8-adhoc", "trec2011-medical", "dl21-passage", "covid-round4")
TRIGGERS = {
    "as judged": "as-judged",
    "λ > 0": "anti-precision",
    "ΔP > 0": "anti-precision(trigger='precision')",
    "ΔP̄ < 0": "anti-precision(trigger='anti-precision')",
}
ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
INDICATORS = {"delta_precision": "ΔP", "delta_anti_precision": "ΔP̄", "delta_k_bar": "Δk̄", "lambda": "λ"}


def of_paper(collections: Path, estimators: Mapping[str, str], top: float = 75) -> dict[str, LeaveOutResult]:
    """The paper's experiments, on the best runs or all, by title."""
    found = {}
    for experiment in (e for e in EXPERIMENTS if e.source == "paper"):
        changed = dataclasses.replace(experiment, top=top)
        found[experiment.title] = run(read(collections, experiment), changed, estimators, n_jobs=1)
    return found


def errors(result: LeaveOutResult) -> pd.DataFrame:
    """MAE and SRE by cutoff and label."""
    return result.errors_by_cutoff().set_index(["cutoff", "estimator"])


def triggers(found: Mapping[str, LeaveOutResult]) -> str:
    """MAE and SRE by trigger."""
    lines = [header("", "", *TRIGGERS), "| --- | --- |" + " ---: |" * len(TRIGGERS)]
    best = dict.fromkeys(list(TRIGGERS)[1:], 0)
    for title, result in found.items():
        table = errors(result)
        for n in CUTOFFS:
            cells = {label: f"{table.loc[(n, label), 'mae']:.4f}" for label in TRIGGERS}
            least = min(cells[label] for label in best)
            for label in best:
                best[label] += cells[label] == least
            told = [
                f"{'**' if label in best and cells[label] == least else ''}{cells[label]}"
                f"{'**' if label in best and cells[label] == least else ''}, "
                f"{table.loc[(n, label), 'sre']:.0f}"
                for label in TRIGGERS
            ]
            lines.append(header(title, f"P@{n}", *told))
    counts = [f"{n} of {len(found) * len(CUTOFFS)}" for n in best.values()]
    lines.append(header("least MAE of the three, ties to all", "", "", *counts))
    return "\n".join(lines)


def alphas(found: Mapping[str, LeaveOutResult]) -> str:
    """MAE by α."""
    labels = {a: f"α = {a:g}" if a < 1 else "λ > 0" for a in ALPHAS}
    lines = [header("", "", *(f"α = {a:g}" for a in ALPHAS)), "| --- | --- |" + " ---: |" * len(ALPHAS)]
    for title, result in found.items():
        table = errors(result)
        for n in CUTOFFS:
            lines.append(
                header(title, f"P@{n}", *(f"{table.loc[(n, labels[a]), 'mae']:.4f}" for a in ALPHAS))
            )
    return "\n".join(lines)


def figure_1(found: Mapping[str, LeaveOutResult]) -> str:
    """Rank correlations of the indicators with the residual error."""
    lines = [header("", "runs", *INDICATORS.values(), "corrected"), "| --- | ---: |" + " ---: |" * 5]
    for title, result in found.items():
        rows = result.to_frame("runs").query("measure == 'P@10' and estimator == 'anti-precision'")
        error = rows["truth"] - rows["as_judged"]
        rho = [f"{stats.spearmanr(rows[name], error).statistic:+.2f}" for name in INDICATORS]
        lines.append(header(title, str(len(rows)), *rho, f"{int(rows['triggered'].sum())}"))
    return "\n".join(lines)


def figure_4(of_all: Mapping[str, LeaveOutResult], of_best: Mapping[str, LeaveOutResult]) -> str:
    """SRE by cutoff, of all runs and of the best 75 %."""
    lines = [
        header("", "method", *(f"P@{n}, all" for n in CUTOFFS), *(f"P@{n}, best 75 %" for n in CUTOFFS)),
        "| --- | --- |" + " ---: |" * (2 * len(CUTOFFS)),
    ]
    for title in of_all:
        tables = errors(of_all[title]), errors(of_best[title])
        for method in METHODS:
            cells = [f"{table.loc[(n, method), 'sre']:.0f}" for table in tables for n in CUTOFFS]
            lines.append(header(title, method, *cells))
    return "\n".join(lines)


def figure_2(collections: Path) -> str:
    """The gain of anti-precision against the reliability, over the collections at hand."""
    pools = {name: read_as_found(collections / name) for name in FIVE}
    found = leave_out_several(
        pools, measures=["P@10", "P@100"], estimators="as-judged,anti-precision", top=75, unseen="estimated"
    )
    summary = found.to_frame("summary").query("estimator == 'anti-precision'")
    lines = [header("", "measure", "change of the MAE, %", "Eρ²", "Φ"), "| --- | --- | ---: | ---: | ---: |"]
    for row in summary.itertuples(index=False):
        of = found.results[row.collection].reliability(row.measure)
        numbers = (f"{row.mae_change:+.1f}", f"{of.generalizability:.3f}", f"{of.dependability:.3f}")
        lines.append(header(row.collection, row.measure, *numbers))
    lines += ["", header("measure", "coefficient", "ρ", "p", "ρ in the paper (15 collections)")]
    lines.append("| --- | --- | ---: | ---: | ---: |")
    paper = {("P@10", "g"): "0.48", ("P@10", "d"): "0.36", ("P@100", "g"): "0.17", ("P@100", "d"): "0.09"}
    for measure, rows in summary.groupby("measure", sort=False):
        reliable = [found.results[name].reliability(measure) for name in rows["collection"]]
        for coefficient, name in (("generalizability", "Eρ²"), ("dependability", "Φ")):
            x = np.array([getattr(each, coefficient) for each in reliable])
            rho, p = rank_correlation(x, rows["mae_change"].to_numpy())
            printed = paper[measure, coefficient[0]]
            lines.append(header(measure, name, f"{rho:+.2f}", f"{p:.2f}", printed))
    return "\n".join(lines)


def rank_correlation(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return Spearman's ρ and its two-sided p-value over all orders of the few collections."""
    x, y = np.round(x, 9), np.round(y, 9)  # equal numbers that were computed differently are ties
    all_orders = stats.PermutationMethod(n_resamples=factorial(len(x)))
    tested = stats.pearsonr(stats.rankdata(x), stats.rankdata(y), method=all_orders)
    return float(tested.statistic), float(tested.pvalue)


def header(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def parts(collections: Path) -> dict[str, str]:
    """Tables by the names of their files."""
    of_alpha = {f"α = {a:g}": f"anti-precision(alpha={a})" for a in ALPHAS if a < 1}
    found = of_paper(collections, TRIGGERS | of_alpha)
    of_all = of_paper(collections, METHODS, 100)
    return {
        "triggers": triggers(found),
        "alphas": alphas(found),
        "figure_1": figure_1(of_all),
        "figure_2": figure_2(collections),
        "figure_4": figure_4(of_all, of_paper(collections, METHODS)),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", type=Path)
    warnings.simplefilter("ignore")
    for name, part in parts(parser.parse_args(arguments).collections).items():
        print(f"{name}\n\n{part}\n", flush=True)


if __name__ == "__main__":
    main()

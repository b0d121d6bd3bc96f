"""Errors and calibration of an estimator over several leave-out experiments.

    python benchmarks/calibration.py RESULT RESULT … [--estimator posterior-combined]

RESULT is a folder that ``bayespool leave-out --output`` wrote. Near newcomers are runs of organizations (or
runs) that were left out, far ones those of clusters and types.

Near: the share of randomized PIT values inside the central 95 %, 80 % and 50 %, over all pooled runs with
anything unjudged. Over the runs reported, MAE and SRE of the uncorrected run, of the better of the two
corrections of table 2 of "Splitting Water", of the best of all point corrections in hindsight, and of the
estimator; and how much it is below the best of all, with a standard error over organizations. Far: over all
runs left out, MAE and bias of each estimator; how many times the MAE of the best point correction the
estimator's is; coverage and PIT; geometric means over the rows, and the figures over all runs. By distance:
over all runs with anything unjudged, by how unlike the pool the estimator takes them to be, their mean chance
of a new kind, error, width and coverage, and the rank correlation of distance and error.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd

from bayespool.experiments import central_share
from bayespool.measures import overtaken_runs

AS_IT_STANDS = "as-judged"
TABLE_2 = ("systems-adjustment", "anti-precision")
CENTRAL = (0.95, 0.8, 0.5)
DISTANCES = (0, 0.5, 1, 1.5, 2, 3, np.inf)


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--estimator", default="posterior-combined")
    arguments = parser.parse_args()
    near: list[tuple[str, pd.DataFrame]] = []
    away: list[tuple[str, pd.DataFrame]] = []
    for folder in arguments.results:
        table = pd.read_parquet(folder / "runs.parquet")
        if arguments.estimator not in set(table["estimator"]):
            known = ", ".join(dict.fromkeys(table["estimator"]))
            parser.error(f"{folder} has no {arguments.estimator!r}; it has {known}")
        if (by := left_out_by(folder)) == "type":
            away += [(f"{folder}, {kind}", group) for kind, group in table.groupby("fold", sort=False)]
        elif by == "cluster":
            away.append((str(folder), table))
        else:
            near.append((str(folder), table))
    parts = [calibration(near, arguments.estimator), errors(near, arguments.estimator)] if near else []
    parts += [far(away, arguments.estimator)] if away else []
    parts += [by_distance([*near, *away], arguments.estimator)]
    print("\n\n".join(short(part) for part in parts if part))


def left_out_by(folder: Path) -> str:
    """Return what was left out of the pool at a time."""
    described = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    by: str = described["settings"]["by"]
    return by


def short(text: str) -> str:
    """A table with numbers without the zero before the point."""
    return re.sub(r"(?<![\w.])0\.", ".", text).replace("|  |", "| |")


def calibration(tables: list[tuple[str, pd.DataFrame]], estimator: str) -> str:
    """Shares of PIT values, one row per result and measure, and one over all."""
    lines = ["| | measure | runs | " + " | ".join(f"in {p:.0%}" for p in CENTRAL) + " | mean PIT |"]
    lines.append("| --- | --- |" + " ---: |" * (len(CENTRAL) + 2))
    known = []
    for name, table in tables:
        chosen = table[(table["estimator"] == estimator) & table["pit_lower"].notna()]
        for i, (measure, runs) in enumerate(chosen.groupby("measure", sort=False)):
            lines.append(f"| {'' if i else name} | {measure} | {shares(runs)} |")
        known.append(chosen)
    lines.append(f"| all | | {shares(pd.concat(known))} |")
    return "\n".join(lines)


def shares(runs: pd.DataFrame) -> str:
    """Number of values, their shares in the central parts, and their mean."""
    lower, upper = runs["pit_lower"], runs["pit_upper"]
    inside = [f"{central_share(lower, upper, p):.3f}" for p in CENTRAL]
    return " | ".join([f"{len(runs)}", *inside, f"{((lower + upper) / 2).mean():.2f}"])


def errors(tables: list[tuple[str, pd.DataFrame]], estimator: str) -> str:
    """MAE and SRE of the estimator and of the point corrections, one row per result and measure."""
    four = ("uncorrected", "best in table 2", "best of all", estimator.removeprefix("posterior-"))
    head = ["measure", *(f"MAE {what}" for what in four), "below", *(f"SRE {what}" for what in four), "below"]
    lines = ["| | " + " | ".join(head) + " |", "| --- | --- |" + " ---: |" * 10]
    for name, table in tables:
        groups = table[table["reported"]].groupby("measure", sort=False)
        for i, (measure, runs) in enumerate(groups):
            by_label = {label: group.set_index("run_id") for label, group in runs.groupby("estimator")}
            absolute, moved = {}, {}
            for label, group in by_label.items():
                if group["value"].isna().any():
                    continue  # no error without an estimate of every run
                absolute[label] = (group["value"] - group["truth"]).abs() / len(group)
                passed = overtaken_runs(group["truth"], group["value"]).sum(axis=1)
                moved[label] = pd.Series(passed, index=group.index)
            organization = by_label[estimator]["organization"]
            row = [*compared(absolute, estimator, organization, "{:.4f}", "{:+.4f} ± {:.4f}")]
            row += compared(moved, estimator, organization, "{:.0f}", "{:+.0f} ± {:.0f}")
            lines.append(f"| {'' if i else name} | {measure} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def far(tables: list[tuple[str, pd.DataFrame]], estimator: str) -> str:
    """Errors and calibration of far newcomers: a row per result and measure, geometric means, all runs."""
    labels = list(dict.fromkeys(m for _, table in tables for m in table["estimator"] if m != estimator))
    columns = [*labels, estimator]
    head = ["measure", "runs", *(f"MAE {m.removeprefix('posterior-')} (bias)" for m in columns)]
    head += ["times the best correction", "truth in 95 %", *(f"PIT in {p:.0%}" for p in CENTRAL)]
    lines = ["| | " + " | ".join(head) + " |", "| --- | --- |" + " ---: |" * (len(head) - 1)]
    absolute: list[pd.Series] = []
    every = pd.concat([table for _, table in tables])
    for name, table in tables:
        for i, (measure, runs) in enumerate(table.groupby("measure", sort=False)):
            mae, cells = errors_by_label(runs, columns)
            absolute.append(mae)
            graded = runs[runs["estimator"] == estimator]
            row = [str(measure), str(len(graded)), *cells, beside_best(mae, estimator), held(graded)]
            lines.append(f"| {'' if i else name} | " + " | ".join(row) + " |")
    together = pd.DataFrame(absolute).reindex(columns=columns)
    with np.errstate(divide="ignore"):
        mean = np.exp(np.log(together).mean(skipna=False))
    cells = ["" if np.isnan(mean[m]) else f"{mean[m]:.4f}" for m in columns]
    blank = [""] * (2 + len(CENTRAL) - 1)
    row = ["", "", *cells, beside_best(mean, estimator), *blank]
    lines.append("| geometric mean | " + " | ".join(row) + " |")
    mae, cells = errors_by_label(every, columns, n_runs=int((every["estimator"] == estimator).sum()))
    graded = every[every["estimator"] == estimator]
    row = ["", str(len(graded)), *cells, beside_best(mae, estimator), held(graded)]
    lines.append("| pooled | " + " | ".join(row) + " |")
    return "\n".join(lines)


def by_distance(tables: list[tuple[str, pd.DataFrame]], estimator: str) -> str:
    """Errors and coverage by how unlike the pool a run is taken to be; empty where nobody asked."""
    lines = ["| distance | runs | new kind | MAE | width | truth in 95 % |", "| --- |" + " ---: |" * 5]
    graded = [
        table[(table["estimator"] == estimator) & table["pit_lower"].notna()].assign(result=name)
        for name, table in tables
        if "distance" in table
    ]
    runs = pd.concat(graded) if graded else pd.DataFrame({"distance": []})
    if not len(runs := runs[runs["distance"].notna()]):
        return ""
    runs = runs.assign(off=(runs["value"] - runs["truth"]).abs(), width=runs["upper"] - runs["lower"])
    for low, high in itertools.pairwise(DISTANCES):
        there = runs[(runs["distance"] >= low) & (runs["distance"] < high)]
        if len(there):
            mean = there[["new_kind", "off", "width"]].mean()
            cells = f"{mean.new_kind:.2f} | {mean.off:.4f} | {mean.width:.3f}"
            named = f"{low:g} to {high:g}" if np.isfinite(high) else f"{low:g} and more"
            lines.append(
                f"| {named} | {len(there)} | {cells} | {there['covered_95'].astype(float).mean():.3f} |"
            )
    whole = runs["distance"].corr(runs["off"], method="spearman")
    within = runs.groupby(["result", "measure"])[["distance", "off"]].apply(
        lambda group: group["distance"].corr(group["off"], method="spearman")
    )
    lines.append("")
    lines.append(f"rank correlation with the absolute error: {whole:.2f}, within results {within.mean():.2f}")
    return "\n".join(lines)


def errors_by_label(
    runs: pd.DataFrame, labels: list[str], n_runs: int | None = None
) -> tuple[pd.Series, list[str]]:
    """MAE of each estimator, and its cell with the bias; NaN and empty where it has none of a run."""
    error = (runs["value"] - runs["truth"]).groupby(runs["estimator"], sort=False)
    n_runs = int(error.size().max()) if n_runs is None else n_runs
    whole = (error.count() == n_runs).reindex(labels, fill_value=False)
    mae = error.agg(lambda e: e.abs().mean()).reindex(labels).where(whole)
    bias = error.mean().reindex(labels)
    return mae, [f"{mae[m]:.4f} ({bias[m]:+.3f})" if whole[m] else "" for m in labels]


def beside_best(mae: pd.Series, estimator: str) -> str:
    """How many times the MAE of the best point correction the estimator's is, and which one that is."""
    points = [m for m in mae.index if not m.startswith("posterior-") and m != AS_IT_STANDS]
    rivals = mae[points].dropna()
    if rivals.empty or rivals.min() == 0:
        return ""
    return f"{mae[estimator] / rivals.min():.2f} ({rivals.idxmin()})"


def held(runs: pd.DataFrame) -> str:
    """Of runs with anything unjudged, the share of 95 % intervals with the truth, and of PIT values in
    the central parts.
    """
    unsure = runs[runs["pit_lower"].notna()]
    if unsure.empty:
        return " | ".join([""] * (1 + len(CENTRAL)))
    inside = [f"{central_share(unsure['pit_lower'], unsure['pit_upper'], p):.3f}" for p in CENTRAL]
    return " | ".join([f"{unsure['covered_95'].astype(float).mean():.3f}", *inside])


def compared(
    parts: dict[str, pd.Series], estimator: str, organization: pd.Series, form: str, difference: str
) -> list[str]:
    """The four errors and how far the estimator's is below the best one, from what each run adds to them."""
    sums = {label: float(part.sum()) for label, part in parts.items()}
    points = [label for label in sums if not label.startswith("posterior-") and label != AS_IT_STANDS]
    best = min(points, key=lambda label: sums[label], default=None)
    of_table_2 = [sums[label] for label in TABLE_2 if label in sums]
    cells = [sums.get(AS_IT_STANDS), min(of_table_2, default=None), None if best is None else sums[best]]
    shown = ["" if cell is None else form.format(cell) for cell in [*cells, sums[estimator]]]
    if best is None:
        return [*shown, ""]
    by_organization = (parts[best] - parts[estimator]).groupby(organization).sum()
    error = np.sqrt(len(by_organization)) * by_organization.std()
    return [*shown, difference.format(sums[best] - sums[estimator], error) + f" ({best})"]


if __name__ == "__main__":
    main()

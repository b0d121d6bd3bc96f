"""Errors and calibration of an estimator over several leave-out experiments.

    python benchmarks/calibration.py RESULT RESULT … [--estimator posterior-combined]

RESULT is the folder that ``bayespool leave-out --output`` wrote. Two tables in Markdown. Calibration, over
all pooled runs with anything unjudged: the share of randomised PIT values inside the central 95 %, 80 % and
50 %, expected over their random part, by folder and measure and over all. Errors, over the runs reported: MAE
and SRE of the run as it stands, of the better of the two corrections of table 2 of "Splitting Water", of the
best of all point corrections in the result (each best chosen in hindsight, for MAE and for SRE apart), and of
the estimator; and how much it is below the best of all, with a standard error over organizations.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
import pandas as pd

from bayespool.experiments import central_share
from bayespool.experiments.error_measures import passed_over

AS_IT_STANDS = "lower-bound"
TABLE_2 = ("systems-adjustment", "anti-precision")
CENTRAL = (0.95, 0.8, 0.5)


def main() -> None:
    """Print the tables."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--estimator", default="posterior-combined")
    arguments = parser.parse_args()
    tables = [(str(folder), pd.read_parquet(folder / "runs.parquet")) for folder in arguments.results]
    for folder, table in tables:
        if arguments.estimator not in set(table["estimator"]):
            known = ", ".join(dict.fromkeys(table["estimator"]))
            parser.error(f"{folder} has no {arguments.estimator!r}; it has {known}")
    print(short(calibration(tables, arguments.estimator)))
    print()
    print(short(errors(tables, arguments.estimator)))


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
    four = ("as it stands", "best in table 2", "best of all", estimator.removeprefix("posterior-"))
    head = ["measure", *(f"MAE {what}" for what in four), "below", *(f"SRE {what}" for what in four), "below"]
    lines = ["| | " + " | ".join(head) + " |", "| --- | --- |" + " ---: |" * 10]
    for name, table in tables:
        groups = table[table["reported"]].groupby("measure", sort=False)
        for i, (measure, runs) in enumerate(groups):
            by_method = {method: of_one.set_index("run_id") for method, of_one in runs.groupby("estimator")}
            absolute, moved = {}, {}
            for method, of_one in by_method.items():
                if of_one["value"].isna().any():
                    continue  # no error without an estimate of every run
                absolute[method] = (of_one["value"] - of_one["truth"]).abs() / len(of_one)
                passed = passed_over(of_one["truth"], of_one["value"]).sum(axis=1)
                moved[method] = pd.Series(passed, index=of_one.index)
            organization = by_method[estimator]["organization"]
            row = [*compared(absolute, estimator, organization, "{:.4f}", "{:+.4f} ± {:.4f}")]
            row += compared(moved, estimator, organization, "{:.0f}", "{:+.0f} ± {:.0f}")
            lines.append(f"| {'' if i else name} | {measure} | " + " | ".join(row) + " |")
    return "\n".join(lines)


def compared(
    parts: dict[str, pd.Series], estimator: str, organization: pd.Series, form: str, difference: str
) -> list[str]:
    """The four errors and how far the estimator's is below the best one, from what each run adds to them."""
    sums = {method: float(part.sum()) for method, part in parts.items()}
    points = [method for method in sums if not method.startswith("posterior-") and method != AS_IT_STANDS]
    best = min(points, key=lambda method: sums[method], default=None)
    of_table_2 = [sums[method] for method in TABLE_2 if method in sums]
    cells = [sums.get(AS_IT_STANDS), min(of_table_2, default=None), None if best is None else sums[best]]
    shown = ["" if cell is None else form.format(cell) for cell in [*cells, sums[estimator]]]
    if best is None:
        return [*shown, ""]
    by_organization = (parts[best] - parts[estimator]).groupby(organization).sum()
    error = np.sqrt(len(by_organization)) * by_organization.std()
    return [*shown, difference.format(sums[best] - sums[estimator], error) + f" ({best})"]


if __name__ == "__main__":
    main()

"""Comparisons and reversals as terminal tables and files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.comparisons import MOST_HOLES, Comparison, Reversals, is_compared_across
from bayespool.report.files import write_tables
from bayespool.report.sentences import (
    TEST_NAMES,
    across_sentence,
    comparison_sentence,
    control_name,
)
from bayespool.report.terminal import number, percent, print_heading, print_line, print_table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

__all__ = [
    "COMPARISON_TABLES",
    "REVERSAL_TABLES",
    "print_comparison",
    "print_reversals",
    "write_comparison",
    "write_reversals",
]

COMPARISON_TABLES = ("differences", "across_measures", "ranks", "significance", "overview", "reliability")
REVERSAL_TABLES = ("rates", "trends", "p_values", "risks", "calibration", "grades")

_MOST_PAIRS = 45  # ten runs; beyond, what matters of the pairs and not all of them
_MOST_SENTENCES = 10
_RISKIEST = 20

_SCOPES = {
    "these-topics": "these {n} topics: only unjudged documents are uncertain",
    "population": "a population of topics: the {n} topics are a sample, too",
}


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print tables per measure and scope, the tests, and a sentence per pair where there are few.

    Parameters
    ----------
    comparison : Comparison
    console : rich.console.Console
        A table that does not fit is printed as wide as it is; no number is cut short.
    """
    n_runs, n_topics = len(comparison.run_ids), len(comparison.scores.query_ids)
    n_pairs = n_runs * (n_runs - 1) // 2
    few = n_pairs <= _MOST_PAIRS
    differences, ranks = _by_pair(comparison.differences(), comparison.run_ids), comparison.ranks()
    significance = _by_pair(comparison.significance(), comparison.run_ids)
    reliability, overview = comparison.reliability(), comparison.overview()
    for measure in comparison.measures:
        for scope, words in _SCOPES.items():
            pairs = _where(differences, measure=str(measure), scope=scope)
            if pairs.empty or scope not in comparison.metadata["scopes"]:
                continue
            print_heading(console, f"{measure}, {words.format(n=n_topics)}")
            if few:
                print_table(console, *_difference_cells(pairs, comparison), n_names=3)
            if not ranks.empty and n_runs > 2:
                print_table(
                    console, *_rank_cells(_where(ranks, measure=str(measure), scope=scope)), n_names=2
                )
        at = f"{measure}, a population of topics"
        print_heading(console, f"{at}: significance at {comparison.level:g}")
        for test in comparison.tests:
            of_test = _where(significance, measure=str(measure), test=test)
            title = f"{TEST_NAMES[test]}, {control_name(comparison.control, test, n_pairs)}"
            print_line(console, title)
            if few:
                print_table(console, *_test_cells(of_test), n_names=3)
                continue
            print_table(console, *_overview_cells(_where(overview, measure=str(measure), test=test)))
            riskiest = of_test.sort_values("reversal_risk", ascending=False, kind="stable")
            riskiest = riskiest[riskiest["reversal_risk"] > 0].head(_RISKIEST)
            if len(riskiest):
                print_line(console, f"the {len(riskiest)} pairs with the largest risk of reversal")
                print_table(console, *_test_cells(riskiest), n_names=3)
        print_heading(console, f"{at}: reliability of the comparison")
        print_table(console, *_reliability_cells(_where(reliability, measure=str(measure))), n_names=2)
        spoken = any((m, scope) == (measure, "these-topics") for m, _, scope in comparison.draws)
        if n_pairs <= _MOST_SENTENCES and spoken and not measure.of_judgments:
            for a in range(n_runs):
                for b in range(a + 1, n_runs):
                    said = comparison_sentence(
                        comparison, comparison.run_ids[a], comparison.run_ids[b], str(measure)
                    )
                    print_line(console, said)
    _print_across(comparison, console)
    _print_notes(comparison, console)


def _print_across(comparison: Comparison, console: Console) -> None:
    """What draws say of several measures at once, or that they say nothing."""
    if len(comparison.measures) < 2 or not comparison.draws:
        return
    across = _by_pair(comparison.across_measures(), comparison.run_ids)
    n_runs, n_topics = len(comparison.run_ids), len(comparison.scores.query_ids)
    n_pairs = n_runs * (n_runs - 1) // 2
    for measures in dict.fromkeys(across["measures"]):
        for scope, words in _SCOPES.items():
            pairs = _where(across, measures=measures, scope=scope)
            if pairs.empty:
                continue
            print_heading(console, f"{measures} at once, {words.format(n=n_topics)}")
            if n_pairs > _MOST_PAIRS:
                overview = _where(comparison.across_overview(), measures=measures, scope=scope)
                print_table(console, *_across_overview_cells(overview))
                continue
            print_table(console, *_across_cells(pairs), n_names=3)
            if scope == "these-topics" and n_pairs <= _MOST_SENTENCES:
                for row in _records(_where(pairs, method=pairs["method"].iloc[0])):
                    print_line(console, across_sentence(row, n_topics))
    for method in dict.fromkeys(method for _, method, _ in comparison.draws):
        said = {m for text in _where(across, method=method)["measures"] for m in text.split(", ")}
        apart = [str(m) for m in comparison.measures if is_compared_across(m) and str(m) not in said]
        if len(apart) > 1 or (apart and said):
            print_line(
                console,
                f"note: {method}: draws of {', '.join(apart)} are of completed judgments of their own, so "
                "that nothing is said across measures; --joint completes them together",
            )


def print_reversals(found: Reversals, console: Console) -> None:
    """Print separability and reversals per group, fitted constants, and how good announced risks were.

    Parameters
    ----------
    found : Reversals
    console : rich.console.Console
    """
    rates, trends, grades = found.rates(), found.trends(), found.grades()
    for group, runs in found.groups.items():
        n_pairs = len(runs) * (len(runs) - 1) // 2
        where = f"{TEST_NAMES[found.test]}, level {found.level:g}, "
        where += control_name(found.control, found.test, n_pairs)
        for n in found.n_judgments[:-1]:
            mine = _where(rates, group=group, judgments=n, against="same method")
            held = _where(rates, group=group, judgments=n, against="as they stand")
            of_size = _records(_where(trends, group=group, judgments=n))
            scores = {row["method"]: row["value"] for row in of_size}
            print_heading(
                console,
                f"{found.measure}, {len(runs)} {group} runs, {n_pairs} pairs: {n} of {found.n_judgments[-1]} "
                f"judgments (pool depth {found.pool_depth[n]}); {where}",
            )
            header = ["method", "mean", "separable", "separable,\nall judged", "kept", "reversed", "swapped"]
            header += ["gained", "taken back by\nscores as they\nstand then"]
            rows = [
                [
                    row["method"],
                    number(scores[row["method"]]),
                    *(percent(row[name]) for name in ("separability", "separability_all", "kept")),
                    *(percent(row[name]) for name in ("reversed", "swapped", "gained")),
                    percent(other["reversed"] + other["swapped"]),
                ]
                for row, other in zip(_records(mine), _records(held), strict=True)
            ]
            print_table(console, header, rows)
    for method, fitted in found.constants.items():
        print_line(
            console,
            f"{method}: fitted constants C = {number(fitted.c, 2)}, E = {number(fitted.e, 3)} "
            f"(RMSE {number(fitted.rmse, 3)})",
        )
    for group in found.groups:
        _print_unjudged(found, group, console, graded=len(grades) > 0)
    if len(grades):
        print_heading(console, "announced chances against what all judgments say")
        header = ["group", "judgments", "method", "statement", "pairs", "announced", "happened", "Brier"]
        header.append("Brier of\nthat share")
        rows = [
            [
                row["group"],
                str(row["judgments"]),
                row["method"],
                row["statement"],
                str(row["n"]),
                *(
                    number(x)
                    for x in (row["announced"], row["happened"], row["brier"], row["brier_constant"])
                ),
            ]
            for row in _records(grades)
        ]
        print_table(console, header, rows, n_names=4)
        for n, depth in found.pool_depth.items():
            if depth < found.measure.cutoff:
                print_line(
                    console,
                    f"note: {n} judgments reach down to rank {depth} of the pooled runs; what the posteriors "
                    f"say of deeper ranks of {found.measure} is extrapolated, and small risks tend to be too "
                    "large",
                )


def write_comparison(comparison: Comparison, path: Path, *, table: str = "differences") -> None:
    """Write a comparison to a file: JSON has every table and the metadata, CSV and Parquet have one table.

    Parameters
    ----------
    comparison : Comparison
    path : Path
        Ending in .csv, .json or .parquet.
    table : {"differences", "across_measures", "ranks", "significance", "overview", "reliability"}

    Raises
    ------
    OutputError
        The file cannot be written; what stood there is untouched.
    """
    made = {name: getattr(comparison, name)() for name in COMPARISON_TABLES}
    write_tables(path, made, table, comparison.metadata)


def _print_unjudged(found: Reversals, group: str, console: Console, *, graded: bool) -> None:
    """Say what all judgments leave unjudged of a group's runs, and which are graded by them."""
    shares, gradable = found.holes[group], found.gradable(group)
    if not shares.any():
        return
    said = (
        f"note: all judgments leave {percent(found.mean_holes(group))} of the {group} runs' ranks unjudged, "
        f"something of {int((shares > 0).sum())} of {len(shares)} runs; it counts as nonrelevant"
    )
    if graded:
        said += (
            f", and chances are graded on pairs of the {int(gradable.sum())} runs of which no more than "
            f"{percent(MOST_HOLES)} is unjudged"
        )
    print_line(console, said)


def write_reversals(found: Reversals, path: Path, *, table: str = "rates") -> None:
    """Write reversals to a file, as `write_comparison`.

    Parameters
    ----------
    found : Reversals
    path : Path
    table : {"rates", "trends", "p_values", "risks", "calibration", "grades"}

    Raises
    ------
    OutputError
        The file cannot be written; what stood there is untouched.
    """
    made = {name: getattr(found, name)() for name in REVERSAL_TABLES}
    write_tables(path, made, table, found.metadata)


def _difference_cells(pairs: pd.DataFrame, comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    header = ["run a", "run b", "method", "a − b", f"{100 * comparison.ci_prob:g} %\ninterval", "a > b"]
    header += ["a = b", "a < b", f"within\n±{comparison.rope:g}"]
    rows = [
        [
            row["run_a"],
            row["run_b"],
            row["method"],
            f"{row['difference']:+.4f}",
            _interval(row["lower"], row["upper"]),
        ]
        + [
            number(x, 3)
            for x in (row["prob_greater"], row["prob_equal"], row["prob_less"], row["prob_equivalent"])
        ]
        for row in _records(pairs)
    ]
    return header, rows


def _across_cells(pairs: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    header = [
        "run a",
        "run b",
        "method",
        "a > b\non all",
        "a < b\non all",
        "they\ndisagree",
        "a = b on\nsome",
    ]
    names = ("prob_all_greater", "prob_all_less", "prob_disagree", "prob_tied")
    rows = [
        [row["run_a"], row["run_b"], row["method"], *(number(row[name], 3) for name in names)]
        for row in _records(pairs)
    ]
    return header, rows


def _across_overview_cells(overview: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    header = ["method", "pairs", "one order on all,\nchance over 0.95", "they disagree:\nmean chance"]
    rows = [
        [row["method"], str(row["n_pairs"]), str(row["n_sure"]), number(row["prob_disagree"], 3)]
        for row in _records(overview)
    ]
    return header, rows


def _rank_cells(ranks: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    shown = [rank for rank in range(1, 7) if rank <= ranks["rank"].max()]
    header = ["run", "method", "value", "expected\nrank", *(f"rank {rank}" for rank in shown)]
    rows = []
    for (run, method), chances in ranks.groupby(["run_id", "method"], sort=False):
        first = chances.iloc[0]
        of_rank = dict(zip(chances["rank"], chances["prob_rank"], strict=True))
        cells = [str(run), str(method), number(first["value"]), f"{first['expected_rank']:.2f}"]
        rows.append((first["expected_rank"], [*cells, *(number(of_rank[rank], 3) for rank in shown)]))
    return header, [cells for _, cells in sorted(rows, key=lambda row: row[0])]


def _test_cells(tests: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    header = ["run a", "run b", "method", "a − b", "p", "adjusted\np", "significant"]
    header += ["chance, all\njudged", "risk of\nreversal"]
    rows = [
        [
            row["run_a"],
            row["run_b"],
            row["method"],
            f"{row['difference']:+.4f}",
            number(row["p_value"]),
            number(row["p_adjusted"]),
            "yes" if row["significant"] else "no",
            number(row["prob_significant"], 3),
            number(row["reversal_risk"], 3),
        ]
        for row in _records(tests)
    ]
    return header, rows


def _overview_cells(overview: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    header = ["method", "pairs", "significant", "chance, all judged:\nmean", "risk of reversal:\nmean"]
    rows = [
        [
            row["method"],
            str(row["n_pairs"]),
            str(row["n_significant"]),
            number(row["prob_significant"], 3),
            number(row["reversal_risk"], 3),
        ]
        for row in _records(overview)
    ]
    return header, rows


def _reliability_cells(reliability: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    signs = {"generalizability": "Eρ² (order of runs)", "dependability": "Φ (scores themselves)"}
    rows = [
        [
            signs[row["coefficient"]],
            row["method"],
            number(row["value"]),
            "–" if np.isnan(row["lower"]) else f"{row['lower']:.4f} … {row['upper']:.4f}",
        ]
        for row in _records(reliability)
    ]
    return ["coefficient", "method", "value", "interval"], rows


def _print_notes(comparison: Comparison, console: Console) -> None:
    lines: dict[str, list[str]] = {}
    for (run, _), note in comparison.scores.notes.items():
        if note and run not in lines.setdefault(note, []):
            lines[note].append(run)
    for note, runs in lines.items():
        who = "all runs" if 1 < len(runs) == len(comparison.run_ids) else ", ".join(runs)
        print_line(console, f"note: {who}: {note}")


def _where(frame: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    for name, value in wanted.items():
        frame = frame[frame[name] == value]
    return frame


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _by_pair(frame: pd.DataFrame, run_ids: Sequence[str]) -> pd.DataFrame:
    """Rows of a pair together, pairs in the order of the runs."""
    place = {run: i for i, run in enumerate(run_ids)}
    return frame.sort_values(["run_a", "run_b"], kind="stable", key=lambda column: column.map(place))


def _interval(lower: float, upper: float) -> str:
    return "–" if np.isnan(lower) else f"{lower:+.4f} … {upper:+.4f}"

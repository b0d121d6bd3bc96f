"""Printed tables and files of comparisons and reversals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bayespool.comparisons import Comparison, Reversals
from bayespool.comparisons.comparison import AS_THEY_STAND
from bayespool.comparisons.tables import (
    TEST_NAMES,
    across_cells,
    across_overview_cells,
    by_pair,
    control_name,
    difference_cells,
    in_order,
    order_of_pairs,
    overview_cells,
    rank_cells,
    records,
    reliability_cells,
    rows_where,
    tested_cells,
)
from bayespool.measures import parse_measure
from bayespool.report.files import write_paper, write_tables
from bayespool.report.sentences import across_sentence, comparison_sentence
from bayespool.report.terminal import (
    available_columns,
    fitting_tables,
    print_full_width,
    print_heading,
    print_line,
    print_note,
    print_table,
    print_words,
)
from bayespool.scoring.paper_tables import PAPER_FORMATS
from bayespool.scoring.stored import with_notes
from bayespool.tables.arrangement import Arrangement
from bayespool.tables.numbers import number, percent

if TYPE_CHECKING:
    from rich.console import Console

COMPARISON_TABLES = ("differences", "across_measures", "ranks", "significance", "overview", "reliability")
REVERSAL_TABLES = ("rates", "trends", "p_values", "risks", "calibration", "grades")

_MAX_PAIRS_LISTED = 45  # ten runs; of more only overviews and the riskiest pairs
_MAX_SENTENCES = 10
_N_RISKIEST_PAIRS = 20

_SCOPES = {
    "these-topics": "these {n} topics: only unjudged documents are uncertain",
    "population": "a population of topics: the {n} topics are a sample, too",
}


def print_comparison(
    comparison: Comparison, console: Console, *, arrangement: Arrangement | None = None
) -> None:
    """Print differences, ranks and tests per measure and scope, and a sentence for each of few pairs."""
    n_runs, n_topics = len(comparison.run_ids), len(comparison.scores.query_ids)
    n_pairs = n_runs * (n_runs - 1) // 2
    chosen = arrangement or Arrangement()
    lists_pairs = (chosen.top or n_pairs) <= _MAX_PAIRS_LISTED
    frames = (comparison.differences(), comparison.significance())
    differences, significance = (by_pair(frame, comparison.run_ids) for frame in frames)
    reliability, overview = comparison.reliability(), comparison.overview()
    ranks = comparison.ranks()
    for measure in map(str, comparison.measures):
        of_measure, tests = (rows_where(frame, measure=measure) for frame in (differences, significance))
        order = order_of_pairs(of_measure, tests, chosen, as_judged=AS_THEY_STAND)
        of_measure, tests = (in_order(frame, order) for frame in (of_measure, tests))
        for scope, words in _SCOPES.items():
            pairs = rows_where(of_measure, scope=scope)
            if pairs.empty or scope not in comparison.metadata["scopes"]:
                continue
            print_heading(console, f"{measure}, {words.format(n=n_topics)}")
            if lists_pairs:
                cells = difference_cells(pairs, comparison.ci_prob, comparison.rope)
                _print_pairs(console, *cells, may_go=(cells[0][-1], "a = b", "a < b"))
            if not ranks.empty and n_runs > 2:
                cells = rank_cells(rows_where(ranks, measure=measure, scope=scope))
                _print_pairs(console, *cells, may_go=[f"rank {i}" for i in range(6, 1, -1)], n_names=1)
        at = f"{measure}, a population of topics"
        print_heading(console, f"{at}: significance at {comparison.level:g}")
        for test in comparison.tests:
            of_test = rows_where(tests, test=test)
            title = f"{TEST_NAMES[test]}, {control_name(comparison.control, test, n_pairs)}"
            print_line(console, title)
            may_go = ("p", "significant", "chance, all\njudged")
            if lists_pairs:
                _print_pairs(console, *tested_cells(of_test), may_go=may_go)
                continue
            _print_pairs(
                console, *overview_cells(rows_where(overview, measure=measure, test=test)), n_names=0
            )
            riskiest = of_test.sort_values("reversal_risk", ascending=False, kind="stable")
            riskiest = riskiest[riskiest["reversal_risk"] > 0].head(_N_RISKIEST_PAIRS)
            if len(riskiest):
                print_line(console, f"the {len(riskiest)} pairs with the largest risk of reversal")
                _print_pairs(console, *tested_cells(riskiest), may_go=may_go)
        print_heading(console, f"{at}: reliability of the comparison")
        _print_pairs(console, *reliability_cells(rows_where(reliability, measure=measure)), n_names=1)
        has_draws = any((str(m), scope) == (measure, "these-topics") for m, _, scope in comparison.draws)
        if len(order) <= _MAX_SENTENCES and has_draws and not parse_measure(measure).of_judgments:
            for run_a, run_b in order:
                print_words(console, comparison_sentence(comparison, run_a, run_b, measure))
            console.print()
    _print_across(comparison, console)
    for note in comparison.notes:
        print_note(console, note)


def _print_pairs(
    console: Console,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    may_go: Sequence[str] = (),
    n_names: int = 2,
) -> None:
    """Print a table with a column of methods after its names; where it does not fit, a table per method."""
    room = available_columns(console)
    if len(whole := fitting_tables(header, rows, n_names + 1, console, room)) == 1:
        print_full_width(console, whole[0])
        return
    methods = list(dict.fromkeys(row[n_names] for row in rows))
    for method in methods:
        mine = [[*row[:n_names], *row[n_names + 1 :]] for row in rows if row[n_names] == method]
        names = [*header[:n_names], *header[n_names + 1 :]]
        kept = [i for i in range(len(names)) if i < n_names or {row[i] for row in mine} != {"–"}]
        if len(methods) > 1 and len(kept) == n_names + 1 < len(names):
            continue  # only differences, which the tests have, too
        print_line(console, f"{method}:")
        mine = [[row[i] for i in kept] for row in mine]
        for table in fitting_tables([names[i] for i in kept], mine, n_names, console, room, may_go=may_go):
            print_full_width(console, table)


def _print_across(comparison: Comparison, console: Console) -> None:
    """Print the chances of orders on several measures at once."""
    if len(comparison.measures) < 2 or not comparison.draws:
        return
    across = by_pair(comparison.across_measures(), comparison.run_ids)
    n_runs, n_topics = len(comparison.run_ids), len(comparison.scores.query_ids)
    n_pairs = n_runs * (n_runs - 1) // 2
    for measures in dict.fromkeys(across["measures"]):
        for scope, words in _SCOPES.items():
            pairs = rows_where(across, measures=measures, scope=scope)
            if pairs.empty:
                continue
            print_heading(console, f"{measures} at once, {words.format(n=n_topics)}")
            if n_pairs > _MAX_PAIRS_LISTED:
                overview = rows_where(comparison.across_overview(), measures=measures, scope=scope)
                print_table(console, *across_overview_cells(overview))
                continue
            _print_pairs(console, *across_cells(pairs), may_go=("a = b on\nsome",))
            if scope == "these-topics" and n_pairs <= _MAX_SENTENCES:
                for row in records(rows_where(pairs, method=pairs["method"].iloc[0])):
                    print_words(console, across_sentence(row, n_topics))
                console.print()


def print_reversals(result: Reversals, console: Console) -> None:
    """Print separability and reversals per group, fitted constants, and calibration of announced risks."""
    rates, trends, grades = result.rates(), result.trends(), result.grades()
    for group, runs in result.groups.items():
        n_pairs = len(runs) * (len(runs) - 1) // 2
        where = f"{TEST_NAMES[result.test]}, level {result.level:g}, "
        where += control_name(result.control, result.test, n_pairs)
        for n in result.n_judgments[:-1]:
            mine = rows_where(rates, group=group, judgments=n, against="same method")
            held = rows_where(rates, group=group, judgments=n, against="as they stand")
            of_size = records(rows_where(trends, group=group, judgments=n))
            scores = {row["method"]: row["value"] for row in of_size}
            print_heading(
                console,
                f"{result.measure}, {len(runs)} {group} runs, {n_pairs} pairs: {n} of "
                f"{result.n_judgments[-1]} judgments (pool depth {result.pool_depth[n]}); {where}",
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
                for row, other in zip(records(mine), records(held), strict=True)
            ]
            print_table(console, header, rows)
    for method, fitted in result.constants.items():
        print_line(
            console,
            f"{method}: fitted constants C = {number(fitted.c, 2)}, E = {number(fitted.e, 3)} "
            f"(RMSE {number(fitted.rmse, 3)})",
        )
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
            for row in records(grades)
        ]
        print_table(console, header, rows, n_names=4)
    for note in result.notes:
        print_note(console, note)


def write_comparison(
    comparison: Comparison,
    path: Path,
    *,
    table: str = "differences",
    arrangement: Arrangement | None = None,
) -> None:
    """Write a comparison: JSON has every table, CSV and Parquet one, .tex, .md and .html the pairs."""
    if path.suffix in PAPER_FORMATS:
        write_paper(comparison.paper(arrangement), path)
        return
    made = {name: getattr(comparison, name)() for name in COMPARISON_TABLES}
    statements = comparison.scores.statements
    write_tables(path, made, table, with_notes(comparison.metadata, comparison.notes, statements))


def write_reversals(result: Reversals, path: Path, *, table: str = "rates") -> None:
    """Write reversals: JSON has every table, CSV and Parquet one."""
    made = {name: getattr(result, name)() for name in REVERSAL_TABLES}
    write_tables(path, made, table, with_notes(result.metadata, result.notes))

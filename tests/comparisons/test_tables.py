"""What readers see of a comparison: in the terminal, in papers, in files and in the report."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from compared import compared, printed
from drawn import contents
from small import small

from bayespool import compare, judge_next, plan_comparison, score
from bayespool.comparisons import Comparison
from bayespool.errors import InputError, OutputError
from bayespool.measures import Values
from bayespool.plots import draw_comparison
from bayespool.report.result import print_result
from bayespool.report.stored import read_result
from bayespool.tables.formatting import interval
from bayespool.tables.markup import Arrangement

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    # runs of the pool are compared beside new ones
    pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning"),
]
RUNS = ("new-a", "new-b", "north-1")


def shown(found: Comparison, width: int = 80, **arranged: object) -> str:
    arrangement = Arrangement(**arranged) if arranged else None  # type: ignore[arg-type]
    return printed(lambda console: print_result(found, console, arrangement=arrangement), width=width)


def test_a_narrow_terminal_gets_tables_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows from other columns goes first, and a note names it; no number is cut short."""
    found = compared(*RUNS)
    rows, p = found.differences(), found.differences()["p"]
    assert (p < 0.00005).any()
    for width in (60, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        text = shown(found, width=width)
        assert max(len(line) for line in text.splitlines() if line.startswith(" ")) <= width
        for row in rows[rows["lower"].notna()].itertuples():
            assert interval(row.lower, row.upper, signed=True) in text
        assert all((f"{x:.4f}" if x >= 0.00005 else "< 0.0001") in text for x in p)
        assert " 0.0000  " not in text
    assert "too narrow for bounds, topics like these a > b, risk of reversal" in " ".join(text.split())
    text = shown(found, width=100)
    assert all(f"{amount:+.4f}" in text for amount in rows["as_judged"])
    assert "too narrow for bounds, topics like these a > b" in " ".join(text.split())
    monkeypatch.delenv("COLUMNS")
    wide, narrow = (shown(found, width=w) for w in (200, 40))
    assert re.findall(r"\d\.\d+", wide) == re.findall(r"\d\.\d+", narrow)
    assert "tier" in narrow


def test_pairs_are_sorted_and_the_first_ones_shown() -> None:
    found = compared(*RUNS)
    text = shown(found, sort="difference", top=2)
    table = text.split("Differences in P@10")[1].split("P@10")[0]
    pairs = [tuple(line.split()[:2]) for line in table.splitlines() if line.startswith((" new", " north"))]
    assert pairs == [("new-a", "new-b"), ("new-b", "north-1")]
    with pytest.raises(InputError, match="cannot sort by 'run'"):
        shown(found, sort="run")


def test_coefficients_without_a_value_are_dashes() -> None:
    found = compared(*RUNS)
    point, drawn = found.scores.estimates
    amount = drawn.draws.amount.copy()  # type: ignore[union-attr]
    amount[0] = 1  # a draw in which nothing differs
    odd = dataclasses.replace(drawn, draws=Values(amount, 10))
    found = dataclasses.replace(found, scores=dataclasses.replace(found.scores, estimates=(point, odd)))
    row = found.reliability().query("estimator == 'posterior-ratio'").iloc[0]
    assert row[["value", "lower", "upper", "ci_prob"]].isna().all()
    assert "nan" not in shown(found)


def test_letters_say_which_runs_are_significantly_worse() -> None:
    found = compared(*RUNS)
    (table,) = (text for text in found.read() if "Letters: " in text.caption)
    assert [row[:2] for row in table.rows] == list(zip("abc", RUNS, strict=True))
    better = found.better_as_judged(found.measures[0], "paired-t")
    judged = found.scores["P@10", "as-judged"].value
    raised = dict(zip("abc", "ᵃᵇᶜ", strict=True))
    for row, value, of in zip(table.rows, judged, better, strict=True):
        letters = "".join(raised["abc"[k]] for k in np.flatnonzero(of))
        assert row[2] == f"{value:.4f}{letters}"
    assert table.rows[0][2] == "0.5950ᵇ"
    assert r"0.5950\textsuperscript{b}" in found.to_latex()
    assert "at 0.05 (paired t test, Holm over 3 pairs)" in table.caption
    assert [text.label for text in compared().read() if text.label.startswith("runs ")] == []


def test_pairs_are_sorted_by_what_they_have() -> None:
    found = compared(*RUNS)
    for key in ("difference", "chance", "p", "risk"):
        rows = found.pairs_in_order(found.measures[0], Arrangement(sort=key))
        order = list(zip(rows["run_a"], rows["run_b"], strict=True))
        assert sorted(order) == [("new-a", "new-b"), ("new-a", "north-1"), ("new-b", "north-1")]
        pairs = (
            found.differences()
            .query("estimator == 'posterior-ratio' and scope == 'these-topics'")
            .set_index(["run_a", "run_b"])
            .loc[order]
        )
        if key == "p":
            assert pairs["p"].is_monotonic_increasing
        if key == "difference":
            assert pairs["difference"].abs().is_monotonic_decreasing
        if key == "chance":
            assert pairs["prob_greater"].sub(0.5).abs().is_monotonic_decreasing
    with pytest.raises(InputError, match="cannot sort by 'mean'"):
        found.to_latex(sort="mean")
    with pytest.raises(InputError, match="no column 'lower'"):
        found.to_latex(columns=["lower"])


def test_every_table_is_that_of_its_method_and_is_read_back_as_it_was(tmp_path: Path) -> None:
    found = compared(*RUNS)
    for table in found.tables():
        pd.testing.assert_frame_equal(table.frame, getattr(found, table.name)())
        assert found.to_frame(table.name).equals(table.frame)
    found.save(tmp_path / "a.json")
    again = read_result(tmp_path / "a.json")
    assert again.read() == found.read()
    assert (again.notes(), again.sentences()) == (found.notes(), found.sentences())
    assert again.citations() == found.citations()
    assert contents(again.figures()[0].draw()) == contents(draw_comparison(found))  # type: ignore[misc]
    found.save(tmp_path / "a.parquet", table="runs")
    assert read_result(tmp_path / "a.parquet").figures() == ()
    assert "holm-1979" in [citation.key for citation in again.citations()]


def test_unknown_table_or_format_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table 'several'; there are differences"):
        compared().save(tmp_path / "a.csv", table="several")
    with pytest.raises(OutputError, match=r"cannot write \.txt"):
        compared().save(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_what_ideal_rankings_are_of_is_said_once_by_table_and_caption() -> None:
    """Under the first table of each measure over one, and in captions of papers; in no note."""
    found = compare(
        small(),
        measures=["P@5", "nDCG@5", "AP(ideal='shared')@5"],
        estimators="posterior-ratio",
        posterior_settings="draws=50",
    )
    own = "Ideal ranking of nDCG@5: all judged documents, and unjudged ones of the run itself where they"
    shared = "Ideal ranking of AP(ideal='shared')@5: all judged documents, and unjudged ones of any of these"
    told = " ".join(shown(found, width=500).split())
    assert (told.count("Ideal ranking"), told.count(own), told.count(shared)) == (2, 1, 1)
    assert not any("ideal" in note.lower() for note in found.notes())
    captions = [line for line in found.to_latex().splitlines() if "caption{Differences" in line]
    assert [line.count("Ideal ranking") for line in captions] == [0, 1, 1]
    assert own in captions[1]
    for made in (
        plan_comparison(small(), measures="nDCG@5", estimators="posterior-ratio(draws=50)"),
        judge_next(small(), measures="nDCG@5", estimators="posterior-ratio(draws=50)", budget=1),
        score(small(), measures="nDCG@5", estimators="posterior-ratio", posterior_settings="draws=50"),
    ):
        told = " ".join(printed(lambda console, made=made: print_result(made, console), width=500).split())
        assert told.count("Ideal ranking") == told.count(own) == 1, made


def test_the_answer_comes_first_and_each_table_once() -> None:
    """Sentences, a table of differences, ranks on topics like these; by name the other tables, too."""
    found = compared(*RUNS)
    text = shown(found, width=120)
    assert text.startswith(found.sentences()[0][:40])
    headings = [line for line in text.splitlines() if line.startswith("P@10, ") or "Differences in" in line]
    assert headings == [
        "Differences in P@10 of 3 pairs of runs on 20 topics",
        "P@10, leaderboard, a population of topics: the 20 topics are a sample, too (posterior-ratio)",
    ]
    significance = printed(lambda console: print_result(found, console, table="significance"), width=120)
    assert significance.startswith("P@10, a population of topics: significance at 0.05 (paired t test, Holm")
    assert found.sentences()[0][:40] not in significance
    media = [text.medium for text in found.read()]
    assert sorted(set(media)) == ["", "named", "paper", "report", "terminal"]
    in_report = [text.label.split()[0] for text in found._page_tables()]
    assert in_report.count("differences") == len(found.measures)

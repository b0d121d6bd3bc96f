"""Comparisons and reversals printed and written."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from compared import NEW, compared, printed

from bayespool.comparisons import Reversals, reversals
from bayespool.errors import InputError, OutputError
from bayespool.experiments import load_example
from bayespool.report.comparisons import (
    REVERSAL_TABLES,
    print_comparison,
    print_reversals,
    write_comparison,
    write_reversals,
)
from bayespool.tables.arrangement import Arrangement

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


@cache
def reversed_example() -> Reversals:
    return reversals(load_example(), judgments=[300], estimators=["smoothed", "posterior-ratio"], draws=50)


# --- tables ------------------------------------------------------------------------------------------------


def test_table_of_differences_has_the_frames_numbers() -> None:
    text = printed(lambda console: print_comparison(compared(), console))
    row = compared().differences().iloc[1]
    assert row["method"] == "posterior-ratio"
    shown = next(
        line.split() for line in text.splitlines() if line.startswith(" new-a  new-b  posterior-ratio")
    )
    assert shown == [
        "new-a",
        "new-b",
        "posterior-ratio",
        f"{row['difference']:+.4f}",
        f"{row['lower']:+.4f}",
        "…",
        f"{row['upper']:+.4f}",
        *(f"{row[name]:.3f}" for name in ("prob_greater", "prob_equal", "prob_less", "prob_equivalent")),
    ]
    assert "rank 1" not in text  # two runs: the chances say it


def test_no_number_is_cut_short_on_a_narrow_terminal() -> None:
    wide, narrow = (
        printed(lambda console: print_comparison(compared(*NEW, "north-2"), console), width=w)
        for w in (200, 40)
    )
    assert re.findall(r"\d\.\d+", wide) == re.findall(r"\d\.\d+", narrow)
    assert "rank 3" in narrow


@pytest.mark.slow
def test_many_runs_are_summed_up() -> None:
    many = load_example().run_ids[:12]
    text = printed(lambda console: print_comparison(compared(*many), console))
    found = compared(*many)
    assert "on these 20 topics" not in text.lower(), "no sentence for each of 66 pairs"
    overview = found.overview().iloc[0]
    line = next(line.split() for line in text.splitlines() if line.startswith(" lower-bound"))
    assert line[:3] == ["lower-bound", "66", str(overview["n_significant"])]


def test_reversals_table_has_the_frames_numbers() -> None:
    text = printed(lambda console: print_reversals(reversed_example(), console))
    rates = reversed_example().rates()
    row = rates[(rates["method"] == "smoothed") & (rates["group"] == "contributing")].iloc[0]
    shown = next(line.split() for line in text.splitlines() if line.startswith(" smoothed "))
    assert shown[2] == f"{100 * row['separability']:.1f}"
    assert shown[8] == f"{100 * row['reversed']:.1f}"
    constants = reversed_example().constants["smoothed"]
    assert f"smoothed: fitted constants C = {constants.c:.2f}, E = {constants.e:.3f}" in text
    assert "announced" in text
    unjudged, note = (line for line in text.splitlines() if line.startswith("note: "))
    assert unjudged == (
        "note: all judgments leave 15.5 % of the non-contributing runs' ranks unjudged, something of 2 of 2 "
        "runs; it counts as nonrelevant, and chances are graded on pairs of the 0 runs of which no more than "
        "1.0 % is unjudged"
    )
    assert note.startswith("note: 300 judgments reach down to rank 2 of the pooled runs;")


# --- files -------------------------------------------------------------------------------------------------


def test_json_keeps_small_p_values_and_says_none_where_there_is_no_number(tmp_path: Path) -> None:
    write_comparison(compared(), tmp_path / "a.json")
    rows = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["significance"]
    expected = compared().significance()
    assert [row["p_value"] for row in rows] == expected["p_value"].tolist()
    assert [row["prob_significant"] is None for row in rows] == expected["prob_significant"].isna().tolist()
    assert rows[0]["significant"] is bool(expected["significant"].iloc[0])


def test_unknown_table_or_format_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table 'pairs'; known: differences"):
        write_comparison(compared(), tmp_path / "a.csv", table="pairs")
    with pytest.raises(OutputError, match=r"cannot write \.txt"):
        write_reversals(reversed_example(), tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_tables_of_reversals_are_written(tmp_path: Path) -> None:
    for name in REVERSAL_TABLES:
        write_reversals(reversed_example(), tmp_path / f"{name}.csv", table=name)
        frame = pd.read_csv(tmp_path / f"{name}.csv")
        assert len(frame) == len(getattr(reversed_example(), name)())
    risks = pd.read_csv(tmp_path / "risks.csv")
    np.testing.assert_array_equal(risks["reversal_risk"].notna(), risks["significant"])


# --- 80 columns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_gets_tables_that_fit(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each method has a table of its own, and what follows from other columns goes first."""
    monkeypatch.setenv("COLUMNS", str(width))
    found = compared("new-a", "new-b", "north-1")
    text = printed(lambda console: print_comparison(found, console), width=width)
    lines = text.splitlines()
    assert max(len(line) for line in lines if line.startswith(" ")) <= width
    assert "posterior-ratio:" in lines
    assert "…" in text  # of intervals, which are whole
    rows = found.differences()
    for row in rows[rows["lower"].notna()].itertuples():
        assert f"{row.difference:+.4f}  {row.lower:+.4f} … {row.upper:+.4f}  {row.prob_greater:.3f}" in text
    p = found.significance()["p_adjusted"]
    assert all((f"{x:.4f}" if x >= 0.00005 else "< 0.0001") in text for x in p)
    assert (p < 0.00005).any()
    assert " 0.0000  " not in text


def test_pairs_are_sorted_and_the_first_ones_shown() -> None:
    found = compared("new-a", "new-b", "north-1")
    asked = Arrangement(sort="difference", top=2)
    text = printed(lambda console: print_comparison(found, console, arrangement=asked))
    table = text.split("these 20 topics")[1].split("note:")[0]
    pairs = [tuple(line.split()[:2]) for line in table.splitlines() if line.startswith((" new", " north"))]
    assert pairs[:4] == [("new-a", "new-b")] * 2 + [("new-b", "north-1")] * 2
    assert text.count("On these 20 topics") == 2
    with pytest.raises(InputError, match="cannot sort by 'run'"):
        printed(lambda console: print_comparison(found, console, arrangement=Arrangement(sort="run")))


def test_a_paper_is_written_by_its_ending(tmp_path: Path) -> None:
    write_comparison(compared(), tmp_path / "a.tex")
    assert (tmp_path / "a.tex").read_text(encoding="utf-8") == compared().to_latex()

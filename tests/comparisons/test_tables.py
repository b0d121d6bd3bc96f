"""What readers see of a comparison: in the terminal, in papers, in files and in the report."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from compared import compared, printed
from drawn import contents

from bayespool.comparisons import Comparison
from bayespool.errors import InputError, OutputError
from bayespool.experiments import load_example
from bayespool.measures import Values
from bayespool.plots import draw_comparison
from bayespool.report.page import page_html
from bayespool.report.reading import read_result
from bayespool.report.terminal import print_result
from bayespool.tables.formatting import interval
from bayespool.tables.markup import Arrangement, TextTable

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    # runs of the pool are compared beside new ones
    pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning"),
]
RUNS = ("new-a", "new-b", "north-1")
TABLES = (
    "differences",
    "pairs",
    "runs",
    "across_measures",
    "leaderboard",
    "system_scores",
    "system_variance",
)
TABLES += ("ranks", "significance", "overview", "reliability", "across_overview")


def shown(found: Comparison, width: int = 80, **arranged: object) -> str:
    arrangement = Arrangement(**arranged) if arranged else None  # type: ignore[arg-type]
    return printed(lambda console: print_result(found, console, arrangement=arrangement), width=width)


def paper(found: Comparison, arrangement: Arrangement | None = None) -> TextTable:
    (table,) = (text for text in found.read(arrangement) if text.label.startswith("pairs "))
    return table


# --- terminal ----------------------------------------------------------------------------------------------


def test_table_of_differences_has_the_frames_numbers() -> None:
    text = shown(compared())
    row = compared().differences().iloc[1]
    assert row["method"] == "posterior-ratio"
    line = next(line for line in text.splitlines() if line.startswith(" new-a  new-b  posterior-ratio"))
    assert line.split() == [
        *("new-a", "new-b", "posterior-ratio", f"{row['difference']:+.4f}"),
        *interval(row["lower"], row["upper"], signed=True).split(),
        *(f"{row[name]:.3f}" for name in ("prob_greater", "prob_equal", "prob_less", "prob_equivalent")),
    ]
    assert "rank 1" not in text  # two runs: the chances say it


@pytest.mark.slow
def test_of_many_pairs_the_terminal_has_the_overview_and_the_riskiest() -> None:
    found = compared(*load_example().run_ids[:12])
    text = shown(found)
    assert len(found.summary()) == 2, "one on the best in each scope, none for each of 66 pairs"
    assert "a − b" not in text
    overview = found.overview().iloc[0]
    line = next(line.split() for line in text.splitlines() if line.startswith(" as-judged"))
    assert line[:3] == ["as-judged", "66", str(overview["n_significant"])]
    risks = found.significance().query("test == 'tukey-hsd' and reversal_risk > 0")["reversal_risk"]
    if len(risks):
        riskiest = text.split(f"the {len(risks)} pairs with the largest risk of reversal (Tukey's")[1]
        assert f"{risks.max():.3f}" in riskiest
    assert "a − b" in shown(found, top=3)


def test_a_narrow_terminal_gets_tables_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows from other columns goes first, and a note names it; no number is cut short."""
    found = compared(*RUNS)
    rows, p = found.differences(), found.significance()["p_adjusted"]
    assert (p < 0.00005).any()
    for width in (60, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        text = shown(found, width=width)
        assert max(len(line) for line in text.splitlines() if line.startswith(" ")) <= width
        for row in rows[rows["lower"].notna()].itertuples():
            assert interval(row.lower, row.upper, signed=True) in text
        assert all((f"{x:.4f}" if x >= 0.00005 else "< 0.0001") in text for x in p)
        assert " 0.0000  " not in text
    assert "too narrow for within ±0.01, a = b;" in " ".join(text.split())
    monkeypatch.delenv("COLUMNS")
    wide, narrow = (shown(found, width=w) for w in (200, 40))
    assert re.findall(r"\d\.\d+", wide) == re.findall(r"\d\.\d+", narrow)
    assert "rank 3" in narrow


def test_pairs_are_sorted_and_the_first_ones_shown() -> None:
    found = compared(*RUNS)
    text = shown(found, sort="difference", top=2)
    table = text.split("these 20 topics")[1].split("P@10")[0]
    pairs = [tuple(line.split()[:2]) for line in table.splitlines() if line.startswith((" new", " north"))]
    assert pairs == [("new-a", "new-b")] * 2 + [("new-b", "north-1")] * 2
    with pytest.raises(InputError, match="cannot sort by 'run'"):
        shown(found, sort="run")


def test_coefficients_without_a_value_are_dashes() -> None:
    found = compared(*RUNS)
    point, drawn = found.scores.estimates
    amount = drawn.draws.amount.copy()  # type: ignore[union-attr]
    amount[0] = 1  # a draw in which nothing differs
    odd = dataclasses.replace(drawn, draws=Values(amount, 10))
    found = dataclasses.replace(found, scores=dataclasses.replace(found.scores, estimates=(point, odd)))
    row = found.reliability().query("method == 'posterior-ratio'").iloc[0]
    assert row[["value", "lower", "upper", "ci_prob"]].isna().all()
    assert "nan" not in shown(found)


# --- papers ------------------------------------------------------------------------------------------------


def test_a_pair_has_what_is_judged_beside_what_may_be() -> None:
    found = compared(*RUNS)
    table = paper(found)
    assert table.header[:4] == ("run a", "run b", "a − b\nas judged", "p")
    assert [row[:2] for row in table.rows] == [("new-a", "new-b"), ("new-a", "north-1"), ("new-b", "north-1")]
    here = found.differences().set_index(["method", "scope", "run_a", "run_b"])
    row = here.loc[("posterior-ratio", "these-topics", "new-a", "north-1")]
    assert table.rows[1][2:4] == ("+0.0450", "0.2063")
    assert table.rows[1][4] == f"{row['difference']:+.4f}"
    assert table.rows[1][5] == f"{row['lower']:+.4f} to {row['upper']:+.4f}"
    assert table.rows[1][6:] == (f"{row['prob_greater']:.3f}", "–")
    assert "paired t test, Holm over 3 pairs" in table.caption
    some = paper(found, Arrangement(["p"], sort="p", top=1))
    assert (some.header, len(some.rows)) == (("run a", "run b", "p"), 1)
    assert "1 of 3 pairs" in some.caption
    assert found.to_latex().count(r"\begin{table}") == 4  # pairs, runs, and a leaderboard for each scope


def test_letters_say_which_runs_are_significantly_worse() -> None:
    found = compared(*RUNS)
    (table,) = (text for text in found.read() if text.label.startswith("runs "))
    assert [row[:2] for row in table.rows] == list(zip("abc", RUNS, strict=True))
    better = found.better_as_judged(found.measures[0], "paired-t")
    judged = found.scores["as-judged", "P@10"].value
    raised = dict(zip("abc", "ᵃᵇᶜ", strict=True))
    for row, value, of in zip(table.rows, judged, better, strict=True):
        letters = "".join(raised["abc"[k]] for k in np.flatnonzero(of))
        assert row[2] == f"{value:.4f}{letters}"
    assert table.rows[0][2] == "0.5950ᵇ"
    assert r"0.5950\textsuperscript{b}" in found.to_latex()
    assert "at 0.05 (paired t test, Holm over 3 pairs)" in table.caption
    assert [text.label for text in compared().read() if text.label.startswith("runs ")] == []


def test_a_run_unlike_the_pool_is_marked_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compared(*RUNS)
    *others, e = found.scores.estimates
    moved = dataclasses.replace(e, distance=np.array([2.0, 2.0, 1.0]), new_kind=np.array([0.6, 0.4, 0.6]))
    far = dataclasses.replace(found, scores=dataclasses.replace(found.scores, estimates=(*others, moved)))
    for text in (paper(far), *far.scores.read()):
        assert text.rows[0][0] == "new-a\xa0†"
        assert not any("†" in name for row in text.rows for name in row if not name.startswith("new-a"))
        assert any(note.startswith("† unlike the pool") for note in text.notes)
    assert r"new-a~$\dagger$ &" in far.to_latex()
    for kind in (type(far), type(far.scores)):
        monkeypatch.setattr(kind, "figures", lambda _: ())
    assert "new-a\xa0†" in page_html(far)
    assert "new-a\xa0†" in page_html(far.scores)
    assert "†" not in found.to_markdown()


def test_pairs_in_short_are_those_of_the_other_tables() -> None:
    found = compared(*RUNS)
    pairs = found.pairs()
    drawn = found.differences().query("method == 'posterior-ratio' and scope == 'these-topics'")
    tested = found.significance()
    for test in found.tests:
        mine, of_test = pairs[pairs["test"] == test], tested[tested["test"] == test]
        judged = of_test[of_test["method"] == "as-judged"]
        for name, column, frame in (
            ("difference", "difference", drawn),
            ("chance", "prob_greater", drawn),
            ("upper", "upper", drawn),
            ("as_judged", "difference", judged),
            ("p", "p_adjusted", judged),
            ("risk", "reversal_risk", of_test[of_test["method"] == "posterior-ratio"]),
        ):
            np.testing.assert_array_equal(mine[name], frame[column], err_msg=name)


def test_pairs_are_sorted_by_what_they_have() -> None:
    found = compared(*RUNS)
    for key in ("difference", "chance", "p", "risk"):
        order = found.pairs_in_order(found.measures[0], Arrangement(sort=key))
        assert sorted(order) == [("new-a", "new-b"), ("new-a", "north-1"), ("new-b", "north-1")]
        pairs = found.pairs().query("test == 'paired-t'").set_index(["run_a", "run_b"]).loc[order]
        if key == "p":
            assert pairs["p"].is_monotonic_increasing
        if key == "difference":
            assert pairs["difference"].abs().is_monotonic_decreasing
        if key == "chance":
            assert pairs["chance"].sub(0.5).abs().is_monotonic_decreasing
    with pytest.raises(InputError, match="cannot sort by 'mean'"):
        found.to_latex(sort="mean")
    with pytest.raises(InputError, match="no column 'lower'"):
        found.to_latex(columns=["lower"])


# --- files and report --------------------------------------------------------------------------------------


def test_json_keeps_small_p_values_and_says_none_where_there_is_no_number(tmp_path: Path) -> None:
    compared().save(tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert tuple(document) == ("metadata", *TABLES)
    rows, expected = document["significance"], compared().significance()
    assert [row["p_value"] for row in rows] == expected["p_value"].tolist()
    assert [row["prob_significant"] is None for row in rows] == expected["prob_significant"].isna().tolist()
    assert rows[0]["significant"] is bool(expected["significant"].iloc[0])


def test_every_table_is_that_of_its_method_and_is_read_back_as_it_was(tmp_path: Path) -> None:
    found = compared(*RUNS)
    for table in found.tables():
        pd.testing.assert_frame_equal(table.frame, getattr(found, table.name)())
        assert found.to_frame(table.name).equals(table.frame)
    found.save(tmp_path / "a.json")
    again = read_result(tmp_path / "a.json")
    assert again.read() == found.read()
    assert (again.notes(), again.summary()) == (found.notes(), found.summary())
    assert again.citations() == found.citations()
    assert contents(again.figures()[0].draw()) == contents(draw_comparison(found))  # type: ignore[misc]
    found.save(tmp_path / "a.parquet", table="ranks")
    assert read_result(tmp_path / "a.parquet").figures() == ()
    assert "holm-1979" in [citation.key for citation in again.citations()]


def test_unknown_table_or_format_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table 'several'; there are differences"):
        compared().save(tmp_path / "a.csv", table="several")
    with pytest.raises(OutputError, match=r"cannot write \.txt"):
        compared().save(tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_the_report_has_the_sentence_on_the_population_and_the_figure(tmp_path: Path) -> None:
    compared().save(tmp_path / "a.json")
    read_result(tmp_path / "a.json").write_report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "For the population of topics that these are sampled from" in page
    assert "<figure" in page.split('id="figures"')[1].split("</section>")[0]

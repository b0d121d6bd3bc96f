"""Scores as a paper and a terminal have them."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pytest
from compared import compared
from known_scores import with_posterior
from toys import toy_collection

from bayespool import load_example
from bayespool.errors import InputError
from bayespool.scoring import Scores, score
from bayespool.scoring.score_tables import note_lines
from bayespool.tables.markup import Arrangement, TextTable, broken_heading

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


def scores_of(*measures: str, estimators: tuple[str, ...] = ("background", "smoothed")) -> Scores:
    return with_posterior(score(toy_collection(), ["s2", "u"], measures, estimators=estimators))


def rows(scores: Scores, **asked: Any) -> list[str]:
    """First cells of the rows of the only table."""
    (table,) = scores.read(Arrangement(**asked))
    return [row[0] for row in table.rows]


def test_rows_are_sorted_by_any_column() -> None:
    scores = scores_of("P@3")
    assert rows(scores) == rows(scores, sort="run") == ["s2", "u"]
    for by in ("mean", "interval", "upper"):
        assert rows(scores, sort=by) == ["u", "s2"], by
    assert rows(scores, top=1) == ["u"]
    with pytest.raises(InputError, match="cannot sort by 'distance'"):
        scores.read(Arrangement(sort="distance"))


def with_smoothed(scores: Scores, *values: float) -> Scores:
    """The scores with other values of one correction."""
    others = [
        dataclasses.replace(e, value=np.array(values)) if e.method == "smoothed" else e
        for e in scores.estimates
    ]
    return dataclasses.replace(scores, estimates=tuple(others))


def test_runs_without_a_value_come_last_and_columns_without_any_are_left_out() -> None:
    without = with_smoothed(scores_of("P@3"), 0.1, np.nan)
    assert rows(without, sort="smoothed") == ["s2", "u"]
    assert rows(without, sort="smoothed", top=1) == ["s2"]
    (table,) = with_smoothed(scores_of("P@3"), np.nan, np.nan).read()
    assert "smoothed" not in table.headings()
    assert "background" in table.headings()


def test_an_estimator_stands_with_its_interval_and_all_is_the_wide_table() -> None:
    scores = scores_of("P@3")
    (one,) = scores.read(Arrangement(["posterior-known"]))
    assert one.headings() == ["run", "posterior known", "90 % interval"]
    (alone,) = scores.read(Arrangement(["interval"]))
    assert alone.headings() == ["run", "90 % interval"]
    assert scores.read(Arrangement(["all"]))[0].headings()[:7] == [
        *("run", "lower", "upper", "residual", "unjudged", "background", "smoothed")
    ]
    with pytest.raises(InputError, match="no column 'none'"):
        scores.read(Arrangement(["none"]))


def test_notes_say_once_of_which_runs_they_are() -> None:
    runs = [f"r{i}" for i in range(10)]
    said: dict[tuple[str, str], tuple[str, ...]] = {(run, "P@5"): ("of all", "both") for run in runs}
    said |= {(run, "P@10"): (("of some",) if i > 1 else ()) for i, run in enumerate(runs)}
    assert note_lines(said, runs, ["P@5", "P@10"]) == [
        "all runs: of all; both (P@5)",
        "r2, r3, r4, r5, r6 and 3 more: of some (P@10)",
    ]


@cache
def scored() -> Scores:
    """Corrections and a posterior, of few draws."""
    estimators = ["as-judged", "background", "posterior-ratio"]
    return score(load_example(), measures=["P@10", "nDCG@10"], estimators=estimators, draws=50)


def width_in_inches(table: TextTable) -> float:
    """Width of a table in 8 point Times, with 2.5 points beside each column."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    font = FontProperties(family="STIXGeneral", size=8)

    def of(text: str) -> float:
        lines = broken_heading(text).split("\n")
        return max(
            float(TextPath((0, 0), line, prop=font).get_extents().width) if line else 0 for line in lines
        )

    cells = [table.header, *table.rows]
    columns = [max(of(row[i]) for row in cells) for i in range(len(table.header))]
    return (sum(columns) + 5 * (len(columns) - 1)) / 72


def test_tables_fit_in_one_column_of_a_paper() -> None:
    """The columns of acmart are 3.33 inches wide."""
    column = Arrangement(width="column")
    two = scored()
    (text,) = two.read(dataclasses.replace(column, columns=["as-judged", "mean", "interval"]))
    scores = dataclasses.replace(text, rows=tuple(("bm25-rm3-monoT5", *row[1:]) for row in text.rows))
    assert [name for name, _ in scores.groups] == ["P@10", "nDCG@10"]
    assert scores.rows[0][1] == ".595"
    compared_runs = [
        text for text in compared("new-a", "new-b", "north-1").read(column) if text.medium == "paper"
    ]
    assert [text.label.partition(" ")[0] for text in compared_runs] == ["pairs", "runs"]
    for text in (scores, *compared_runs):
        assert 1 < width_in_inches(text) <= 3.33
        assert text.is_compact
    latex = two.to_latex(width="column")
    assert latex.count(r"\begin{table}") == latex.count(r"\footnotesize") == 1
    assert "as\\\\judged" in latex
    with pytest.raises(InputError, match="width cannot be 'wide'"):
        Arrangement(width="wide")

"""Scores for papers: one text in each format."""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest
from compared import compared

from bayespool import load_example, score
from bayespool.errors import InputError
from bayespool.scoring import Scores
from bayespool.tables.markup import Arrangement, TextTable, broken_heading


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


@pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")
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

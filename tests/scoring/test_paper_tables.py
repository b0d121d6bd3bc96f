"""Scores for papers: one text in each format."""

from __future__ import annotations

import dataclasses
from functools import cache

import pytest
from compared import compared

from bayespool import load_example, score
from bayespool.errors import InputError, OutputError
from bayespool.report.saving import content
from bayespool.scoring import Scores
from bayespool.tables.markup import Arrangement, TextTable, broken_heading


@cache
def scored() -> Scores:
    """Corrections and a posterior, of few draws."""
    estimators = ["as-judged", "background", "posterior-ratio"]
    return score(load_example(), measures=["P@10", "nDCG@10"], estimators=estimators, draws=50)


def test_formats_go_by_the_ending() -> None:
    scores = scored()
    version, fingerprint = scores.metadata["bayespool"], scores.metadata["fingerprint"]
    quoted = f"bayespool {version}, collection {fingerprint}"
    start = f"% needs \\usepackage{{booktabs}}\n% {quoted}\n\\begin{{table}}"
    assert scores.text(".tex").startswith(start)
    assert scores.text(".md").startswith("**P@10, mean over 20 topics**\n\n| run ")
    assert "<title>Scores of new-a, new-b: P@10, nDCG@10</title>" in scores.text(".html")
    assert content(scores, ".tex") == scores.text(".tex")
    with pytest.raises(OutputError, match=r"cannot write \.txt"):
        scores.save("scores.txt")


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


def test_results_are_set_as_they_are_arranged() -> None:
    scores = scored()
    assert scores.to_latex() == content(scores, ".tex")
    text = scores.to_markdown(columns=["lower", "mean"], sort="run", top=1)
    rows = [line for line in text.splitlines() if line.startswith("| new-")]
    assert {row.split()[1] for row in rows} == {"new-a"}
    assert "<title>Scores of new-a, new-b: P@10, nDCG@10</title>" in scores.to_html()
    shown = scores._repr_html_()
    assert shown.count("<table") == 2
    assert "&lt;Scores: P@10" in shown
    assert compared("new-a", "new-b", "north-1").to_latex().count(r"\begin{table}") == 4

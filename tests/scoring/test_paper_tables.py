"""Papers: one text in each format."""

from __future__ import annotations

import pytest
from compared import compared
from known_scores import example_scores

from bayespool.errors import InputError
from bayespool.scoring.paper_tables import Paper
from bayespool.tables import TextTable

PAPER = Paper("title", (TextTable("caption", ("Run",), (("a",),)),), ("quoted",))


def test_formats_go_by_the_ending() -> None:
    assert PAPER.text(".tex").startswith("% needs \\usepackage{booktabs}\n% quoted\n\\begin{table}")
    assert PAPER.text(".md").startswith("**caption**\n\n| Run |")
    assert "<title>title</title>" in PAPER.text(".html")
    with pytest.raises(InputError, match=r"'\.csv'"):
        PAPER.text(".csv")


@pytest.mark.slow
def test_results_are_set_as_they_are_arranged() -> None:
    scores = example_scores()
    assert scores.to_latex() == scores.paper().text(".tex")
    text = scores.to_markdown(columns=["lower", "mean"], sort="run", top=1)
    rows = [line for line in text.splitlines() if line.startswith("| new-")]
    assert [row.split()[1] for row in rows] == ["new-a"] * 3  # three measures
    assert "<title>Scores: P@5, P@10, P(rel=2)@10</title>" in scores.to_html()
    shown = scores._repr_html_()
    assert shown.count("<table") == 3
    assert "&lt;Scores: P@5" in shown
    assert compared().to_latex().count(r"\begin{table}") == 1

"""Scores for papers: one text in each format."""

from __future__ import annotations

import pytest
from compared import compared
from known_scores import example_scores

from bayespool.errors import OutputError
from bayespool.report.saving import content


def test_formats_go_by_the_ending() -> None:
    scores = example_scores()
    version, fingerprint = scores.metadata["bayespool"], scores.metadata["fingerprint"]
    quoted = f"bayespool {version}, collection {fingerprint}"
    start = f"% needs \\usepackage{{booktabs}}\n% {quoted}\n\\begin{{table}}"
    assert scores.text(".tex").startswith(start)
    assert scores.text(".md").startswith("**P@5, mean over 20 topics**\n\n| run ")
    assert "<title>Scores of new-a, new-b: P@5, P@10, P(rel=2)@10</title>" in scores.text(".html")
    assert content(scores, ".tex") == scores.text(".tex")
    with pytest.raises(OutputError, match=r"cannot write \.txt"):
        scores.save("scores.txt")


@pytest.mark.slow
def test_results_are_set_as_they_are_arranged() -> None:
    scores = example_scores()
    assert scores.to_latex() == content(scores, ".tex")
    text = scores.to_markdown(columns=["lower", "mean"], sort="run", top=1)
    rows = [line for line in text.splitlines() if line.startswith("| new-")]
    assert [row.split()[1] for row in rows] == ["new-a"] * 3  # three measures
    assert "<title>Scores of new-a, new-b: P@5, P@10, P(rel=2)@10</title>" in scores.to_html()
    shown = scores._repr_html_()
    assert (
        shown.count("<table") == 6
    )  # the scores of three measures, and pairs of a correction and its posterior
    assert "&lt;Scores: P@5" in shown
    assert compared().to_latex().count(r"\begin{table}") == 1

"""Tables of text as LaTeX, Markdown and HTML: whatever a name is, it stays text."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest

from bayespool import compare, load_example, score
from bayespool.errors import BayespoolWarning
from bayespool.tables import TextColumn, TextTable, html_table, latex_tables, markdown_tables, text_table
from bayespool.tables.markup import html_page

WICKED = "<img src=x onerror=alert(1)>"
NAMES = (
    WICKED,
    r"\input{/etc/passwd}",
    "a_b&c%d#e$f^g~h",
    "[x]",
    "*star*",
    "a--b---c",
    "p|q",
    "line\nend",
    "esc\x1b[31m",
    "naïve Übung − ± ρ Φ ² → …",
)
TABLE = text_table(
    "Runs & more",
    ("Run", "Lower", "95 %\ninterval"),
    tuple((name, "-0.1000", "0.1000–0.2000") for name in NAMES),
    label="Scores P(rel=2)@10",
    notes=(f"{WICKED}: odd\nname",),
)


def body_of(text: str) -> list[str]:
    lines = text.splitlines()
    return lines[lines.index(r"    \midrule") + 1 : lines.index(r"    \bottomrule")]


WRITTEN = {
    r"\input{x}": r"\textbackslash{}input\{x\}",
    "a_b&c%d#e$f^g~h": r"a\_b\&c\%d\#e\$f\textasciicircum{}g\textasciitilde{}h",
    "[x]*": "{[}x{]}{*}",
    "a--b---c": "a-{}-b-{}-{}-c",
    "<b>": r"\textless{}b\textgreater{}",
    "esc\x1b[31m": r"esc\textbackslash{}x1b{[}31m",
    "naïve 名": "naïve 名",
}


def test_latex_of_a_name_is_the_name() -> None:
    rows = body_of(latex_tables([text_table("t", ("Run", "x"), [(name, "1") for name in WRITTEN])]))
    assert rows == [rf"    {written} & 1 \\" for written in WRITTEN.values()]


def test_latex_is_balanced_and_groups_have_their_rules() -> None:
    groups = {"Run": "", "a": "P@10", "b": "P@10", "c": "nDCG_10"}
    columns = [TextColumn(name, ("1",), is_text=not group, group=group) for name, group in groups.items()]
    grouped = TextTable("t", tuple(columns))
    two_names = latex_tables([TextTable("t", (columns[0], *columns), n_names=2)])
    assert "\n     &  & \\multicolumn{2}{c}{P@10} & " in two_names
    lines = [line.strip() for line in latex_tables([grouped]).splitlines()]
    assert r"& \multicolumn{2}{c}{P@10} & \multicolumn{1}{c}{nDCG\_10} \\" in lines
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-4}" in lines
    text = latex_tables([TABLE, TABLE])
    plain = re.sub(r"\\[{}]", "", "\n".join(x for x in text.splitlines() if not x.startswith("%")))
    assert plain.count("{") == plain.count("}")
    for environment in ("table", "tabular"):
        assert text.count(rf"\begin{{{environment}}}") == text.count(rf"\end{{{environment}}}")


def test_markdown_has_a_line_per_row_and_no_html() -> None:
    lines = markdown_tables([TABLE]).splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    assert len(rows) == len(NAMES) + 2
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert rows[2].startswith(r"| &lt;img src=x onerror=alert(1)&gt; ")
    assert "<" not in "".join(lines)
    assert lines[-1] == r"Note: &lt;img src=x onerror=alert(1)&gt;: odd\\nname"


def test_html_shows_names_as_text_and_asks_for_nothing() -> None:
    for text in (html_table(TABLE), html_page(WICKED, [TABLE], [WICKED])):
        assert html.escape(WICKED) in text
        assert not re.search(r"<(img|script|link|iframe)|<[^>]*(src|href|onerror)=|http", text)
        assert text.count("<tr") == len(NAMES) + 1
    assert "color-scheme: light dark" in html_page("t", [TABLE])
    assert "color:" not in html_table(TABLE)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex on this machine")
def test_latex_takes_the_tables(tmp_path: Path) -> None:
    """Whatever runs are called, and with every column that scores and comparisons have."""
    if subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False).returncode:
        pytest.skip("LaTeX on this machine lacks the package booktabs")
    example, asked = load_example(), {"measures": ["P@10", "nDCG@10"], "posterior_settings": "draws=200"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayespoolWarning)
        scores = score(example, estimators=["background", "posterior-ratio"], **asked)
        comparison = compare(example, ["new-a", "new-b", "coast-1"], posterior_settings="draws=200")
    tables = "\n".join((latex_tables([TABLE]), scores.to_latex(), comparison.to_latex()))
    head = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
    (tmp_path / "paper.tex").write_text(f"{head}{tables}\n\\end{{document}}", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-1500:]
    assert "Missing character" not in (tmp_path / "paper.log").read_text(encoding="latin-1")

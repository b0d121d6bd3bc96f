"""What follows from a result for all of them: print, seven formats, reading back, notebook, report."""

from __future__ import annotations

import dataclasses
import inspect
import io
import json
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console
from small import small
from toy_result import Toy

from bayespool import score
from bayespool.errors import InputError, OutputError
from bayespool.report.page import page_html
from bayespool.report.reading import StoredResult, read_result
from bayespool.report.result import Result
from bayespool.report.saving import content
from bayespool.report.terminal import print_result
from bayespool.tables import formatting
from bayespool.tables.table import Table

TOY = Toy({"a": (0.5, 0.4, 0.6), "b<i>": (0.25, 0.125, 0.375)})


def printed(result: Result) -> str:
    console = Console(file=io.StringIO(), width=200)
    print_result(result, console)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_the_terminal_has_the_table_and_the_sentence() -> None:
    assert len(inspect.getsource(Toy).splitlines()) <= 40, "more than a class of one's own needs"
    lines = [line.split() for line in printed(TOY).splitlines() if line.strip()]
    assert lines[0] == ["Toy", "of", "runs"]
    assert ["a", "0.5000", "0.4000–0.6000"] in lines
    assert lines[-1] == ["The", "best", "is", "a."]


@pytest.mark.parametrize("suffix", [".json", ""])
def test_tables_are_read_back_in_their_order(tmp_path: Path, suffix: str) -> None:
    class Two(Toy):
        def tables(self) -> tuple[Table, ...]:
            (first,) = super().tables()
            return first, dataclasses.replace(first, name="another")

    path = tmp_path / f"two{suffix}"
    Two(TOY.rows).save(path, figures="none")
    assert [table.name for table in read_result(path).tables()] == ["toy", "another"]


def test_an_interval_has_one_notation_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line that says how an interval looks is changed, and every output follows."""
    source = inspect.getsource(formatting.interval)
    line = 'return f"{text(lower, digits)}{between}{text(upper, digits)}"'
    assert source.count(line) == 1
    changed = dict(vars(formatting))
    exec(source.replace(line, 'return f"<{text(lower, digits)} | {text(upper, digits)}>"'), changed)
    monkeypatch.setattr(formatting.interval, "__code__", changed["interval"].__code__)
    scores = score(small(), "new-a", "P@10", estimators="posterior-ratio", draws=20)
    low, high = (end[0] for end in scores["posterior-ratio", "P@10"].interval())
    assert f"<{low:.4f} | {high:.4f}>" in printed(scores)
    assert rf"\textless{{}}{low:.4f} \textbar{{}} {high:.4f}\textgreater{{}}" in scores.to_latex()
    assert f"&lt;{low:.4f} | {high:.4f}&gt;" in scores.to_html()
    assert f"&lt;{low:.4f} | {high:.4f}&gt;" in page_html(scores)
    sentence = f"95 % interval <{low:.3f} | {high:.3f}>"
    assert sentence in scores.summary()[0]
    assert sentence in json.loads(content(scores, ".json"))["metadata"]["summary"][0]


def test_a_result_without_views_is_written_whole() -> None:
    with pytest.raises(InputError, match=r"no text of tables for '\.txt'"):
        TOY.text(".txt")

    class Plain(Toy):
        def tables(self) -> tuple[Table, ...]:
            (table,) = super().tables()
            return (dataclasses.replace(table, views=()),)

    plain = Plain(TOY.rows)
    assert "| a          |   0.5000 |" in plain.to_markdown()
    assert "a & 0.5000 & 0.4000 & 0.6000 & 95 \\% \\\\" in plain.to_latex()
    assert "0.5000</td>" in plain.to_html()


def test_it_is_saved_in_seven_formats_and_read_back_from_three(tmp_path: Path) -> None:
    shown = {".tex": "b\\textless{}i\\textgreater{} & 0.2500", ".md": "| b&lt;i&gt; | ", ".html": "<td"}
    for suffix in (".csv", ".json", ".parquet", ".tex", ".md", ".html", ""):
        path = tmp_path / f"toy{suffix}"
        TOY.save(path)
        if suffix == ".csv":
            pd.testing.assert_frame_equal(pd.read_csv(path), TOY.to_frame())
        elif suffix in shown:
            assert shown[suffix] in path.read_text("utf-8")
            assert "b<i>" not in path.read_text("utf-8")
        else:
            stored = read_result(path)
            assert isinstance(stored, StoredResult)
            pd.testing.assert_frame_equal(stored.to_frame(), TOY.to_frame())
            assert stored.read() == TOY.read()
            assert (stored.notes(), stored.summary()) == (TOY.notes(), TOY.summary())
            assert stored.citations() == TOY.citations()
            assert (stored.command, stored.title) == ("toy", "A toy")
            assert stored.metadata["fingerprint"] == "ab"
            assert [figure.name for figure in stored.figures()] == (["values"] if suffix == "" else [])
            assert printed(stored) == printed(TOY)
    assert {file.name for file in path.iterdir()} == {"toy.csv", "toy.parquet", "values.png", "settings.json"}
    stored.save(tmp_path / "twice")
    for file in path.iterdir():
        assert (tmp_path / "twice" / file.name).read_bytes() == file.read_bytes(), file.name


def test_a_notebook_and_a_report_show_it(tmp_path: Path) -> None:
    TOY.write_report(tmp_path / "toy.html")
    page, shown = (tmp_path / "toy.html").read_text("utf-8"), TOY._repr_html_()
    parts = ("<title>A toy</title>", "The best is a.", "Values of runs", "background: ", "<svg")
    assert not [part for part in parts if part not in page]
    for html in (page, shown):
        assert "0.4000–0.6000" in html
        assert "b<i>" not in html
    assert "b&lt;i&gt;" in shown
    assert {citation.key for citation in TOY.citations()} == {"bayespool", "ravana-moffat-2010"}
    with pytest.raises(OutputError, match=r"a report is an \.html file"):
        TOY.write_report(tmp_path / "page.pdf")

"""What follows from a result for all of them: print, seven formats, reading back, notebook, report."""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console
from snapshots import expected

from bayespool.errors import InputError, OutputError
from bayespool.notes import SEVERITIES
from bayespool.report.result import Figure, Result, print_result
from bayespool.report.stored import StoredResult, read_result
from bayespool.tables.table import COLUMNS, KINDS, IntervalColumn, Table, View


@dataclass(frozen=True, eq=False)
class Toy(Result):
    """Interval of each of some runs."""

    rows: Mapping[str, tuple[float, float, float]]
    metadata: Mapping[str, Any] = field(
        default_factory=lambda: {"fingerprint": "ab", "estimators": ["background"]}
    )
    command, title = "toy", "A toy"

    def tables(self) -> tuple[Table, ...]:
        frame = pd.DataFrame.from_dict(self.rows, "index", columns=["value", "lower", "upper"])
        frame = frame.rename_axis("run_id").reset_index().assign(ci_prob=0.95)
        view = View(title="Toy of runs", names=("run_id",), columns=("value", IntervalColumn()))
        return (Table("toy", "Runs of the toy", frame, views=(view,)),)

    def sentences(self) -> tuple[str, ...]:
        return (f"The best is {max(self.rows, key=lambda run: self.rows[run])}.",)

    def figures(self) -> tuple[Figure, ...]:
        return (Figure("values", "Values of runs", self.draw),)

    def draw(self) -> Any:
        from bayespool.plots import figure_grid

        figure, (axes,) = figure_grid(1)
        axes.plot([value for value, _, _ in self.rows.values()], "o")
        return figure


TOY = Toy({"a": (0.5, 0.4, 0.6), "b<i>": (0.25, 0.125, 0.375)})


def printed(result: Result) -> str:
    console = Console(file=io.StringIO(), width=200)
    print_result(result, console)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("suffix", [".json", ""])
def test_tables_are_read_back_in_their_order(tmp_path: Path, suffix: str) -> None:
    class Two(Toy):
        def tables(self) -> tuple[Table, ...]:
            (first,) = super().tables()
            return first, dataclasses.replace(first, name="another")

    path = tmp_path / f"two{suffix}"
    Two(TOY.rows).save(path, figures="none")
    assert [table.name for table in read_result(path).tables()] == ["toy", "another"]


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
            for one, other in ((stored.read(), TOY.read()), (stored.citations(), TOY.citations())):
                assert one == other
            assert (stored.notes(), stored.sentences()) == (TOY.notes(), TOY.sentences())
            assert (stored.command, stored.title) == ("toy", "A toy")
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
    with pytest.raises(OutputError, match=r"cannot write a report into \.\w+; use \.html"):
        TOY.write_report(tmp_path / "page.pdf")


def test_a_summary_prints_a_table_and_sentences() -> None:
    summary = TOY.summary()
    heading, *_, first, second, _, said = str(summary).splitlines()
    assert (heading, first.split()) == ("Toy of runs", ["a", "0.5000", "0.4000–0.6000"])
    assert second.split()[0] == "b<i>"
    assert (said, summary.sentences) == ("The best is a.", TOY.sentences())
    assert str(summary) == repr(summary) == f"{summary.table}\n{said}"
    page = summary._repr_html_()
    assert "<p>The best is a.</p>" in page
    assert "b&lt;i&gt;" in page
    assert "b<i>" not in page


def test_a_figure_is_drawn_by_its_name(tmp_path: Path) -> None:
    for figure in (TOY.plot(), TOY.plot("values")):
        assert figure.axes[0].lines[0].get_ydata().tolist() == [0.5, 0.25]
    with pytest.raises(InputError, match=r"no figure 'valuesx'; did you mean 'values'\? there are values"):
        TOY.plot("valuesx")
    TOY.save(tmp_path / "toy")
    with pytest.raises(InputError, match="of the figure 'values' only an image is stored"):
        read_result(tmp_path / "toy").plot()
    TOY.save(tmp_path / "toy.json")
    with pytest.raises(InputError, match=r"^no figure$"):
        read_result(tmp_path / "toy.json").plot()


SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "_static" / "result.schema.json"


def test_the_schema_has_the_columns_of_results() -> None:
    columns = {
        name: {"type": [KINDS[column.kind].json_type, "null"], "description": column.help}
        for name, column in COLUMNS.items()
    }
    assert columns["ci_prob"]["type"] == ["number", "null"]
    schema = json.loads(SCHEMA.read_text("utf-8"))
    parts = schema["properties"]
    parts["tables"]["additionalProperties"]["items"]["properties"] = columns
    of_columns = parts["columns"]["additionalProperties"]["additionalProperties"]["properties"]
    of_columns["kind"] = {"enum": list(KINDS)}
    parts["note_kinds"]["items"] = {"enum": list(SEVERITIES)}
    text = json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
    assert expected(SCHEMA, text) == text

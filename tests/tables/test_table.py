"""Tables of results: long frames with described columns, and what people read of them."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from bayespool.errors import InputError
from bayespool.tables.markup import Arrangement, TextTable
from bayespool.tables.table import COLUMNS, KINDS, Column, IntervalColumn, Pivot, Table, View, table_from_json

FRAME = pd.DataFrame(
    {
        "run_id": ["a", "a", "b", "b"],
        "estimator": ["point", "drawn", "point", "drawn"],
        "value": [0.25, 0.5, 0.125, None],
        "lower": [None, 0.4, None, None],
        "upper": [None, 0.6, None, None],
        "ci_prob": 0.9,
        "n": [1200, 1200, 3, 3],
    }
)
OWN = {"n": Column("number\nof", "count", "How many.")}
WIDE = View(
    title="Two runs",
    names=("run_id",),
    columns=("n", Pivot(("value", IntervalColumn()), "estimator", {"drawn": "posterior"})),
    note="A legend.",
    spare=("n",),
)


def table(*views: View) -> Table:
    return Table("scores", "Scores", FRAME, OWN, views)


def read(view: View, arrangement: Arrangement | None = None) -> TextTable:
    (text,) = table(view).read(arrangement)
    return text


def headings(text: TextTable) -> list[str]:
    return [column.heading for column in text.columns]


def test_the_wide_table_comes_from_the_long_one() -> None:
    text = read(WIDE)
    assert headings(text) == ["run", "number\nof", "point", "posterior", "90 %\ninterval"]
    assert text.rows == (("a", "1,200", "0.2500", "0.5000", "0.4000–0.6000"), ("b", "3", "0.1250", "–", "–"))
    assert [column.values[0] for column in text.columns] == [None, 1200, 0.25, 0.5, 0.4]
    assert (text.n_names, text.notes, text.spare) == (1, ("A legend.",), ("n",))
    assert [column.is_text for column in text.columns[:3]] == [True, False, False]
    described = json.loads(json.dumps(table(WIDE).description()))  # what a file keeps of it
    assert table_from_json("scores", FRAME, described).read() == table(WIDE).read()
    text = read(of(Pivot(("value", IntervalColumn()), "estimator", grouped=True)))
    assert text.spans == (("point", 2, 2), ("drawn", 3, 4))
    titles = ["run", "point estimate", "drawn estimate", "drawn 90 % interval"]
    assert [column.title for column in text.columns] == titles


def test_views_that_another_version_described_are_left_out() -> None:
    described = {**table(WIDE).description(), "views": [{"names": ["run_id"], "shape": "wide"}]}
    read_back = table_from_json("scores", FRAME, described)
    assert read_back.views == ()
    assert read_back.frame.equals(FRAME)
    assert read_back.caption == "Scores"


def of(*columns: Any, **more: Any) -> View:
    return View(**{"title": "", "names": ("run_id",), "columns": columns} | more)


def test_an_arrangement_chooses_columns_sorts_and_cuts() -> None:
    text = read(WIDE, Arrangement(["drawn", "n"], "n", 1))
    assert headings(text) == ["run", "posterior", "number\nof"]
    assert text.rows == (("a", "0.5000", "1,200"),)
    by_name = read(WIDE, Arrangement(None, "point", None))
    assert [row[0] for row in by_name.rows] == ["a", "b"]
    assert [row[0] for row in read(WIDE, Arrangement(None, "run-id", None)).rows] == ["a", "b"]
    for unknown in (Arrangement(["nowhere"]), Arrangement(None, "nowhere")):
        with pytest.raises(InputError, match=r"nowhere.*there are run-id, n, point, drawn"):
            read(WIDE, unknown)
    with pytest.raises(InputError, match="the column 'n' of the table 'scores' has no description"):
        Table("scores", "Scores", FRAME)


def test_a_view_has_its_rows_in_its_own_order() -> None:
    for name in ("point", "drawn"):  # b has no value of the latter
        view = of(Pivot(("value",), "estimator"), sort=f"-{name}")
        (best_first,) = Table("scores", "Scores", FRAME[::-1], OWN, (view,)).read()
        assert [row[0] for row in best_first.rows] == ["a", "b"], name
    view = View(title="", names=("run_id", "estimator"), columns=("value",), sort="-value", top=2)
    assert [row[:2] for row in read(view).rows] == [("a", "drawn"), ("a", "point")]
    some = of("value", where={"run_id": "b"}, medium="paper")
    assert [row[0] for row in read(some).rows] == ["b"]
    assert (read(some).medium, read(some).label) == ("paper", "scores b")


def test_a_column_of_a_paper_has_no_zero_before_the_point() -> None:
    frame = pd.DataFrame({"run_id": ["a", "b"], "value": [0.5, 10.5]})
    (text,) = Table("scores", "Scores", frame, views=(of("value"),)).read(Arrangement(width="column"))
    assert text.rows == (("a", ".500"), ("b", "10.500"))


def test_the_kind_of_a_column_decides_how_it_is_printed() -> None:
    for kind, value, text in (
        ("run", "a", "a"),
        ("flag", True, "yes"),
        ("count", 12000, "12,000"),
        ("size", 1.234, "1.23"),
        ("score", 0.12345, "0.1235"),
        ("difference", 0.5, "+0.5000"),
        ("chance", 0.1234, "0.123"),
        ("share", 0.5, "50.0 %"),
        ("threshold", 0.25, "0.25"),
        ("p-value", 0.00001, "< 0.0001"),
        ("score", float("nan"), "–"),
    ):
        assert Column("", kind, "").text(value) == text, kind
    for name, column in COLUMNS.items():
        assert (column.kind in KINDS, column.help[-1:], bool(column.label)) == (True, ".", True), name


def test_what_nobody_can_want_is_refused() -> None:
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"top": 0}, "top cannot be 0"),
        ({"columns": []}, "of one at least"),
        ({"columns": "lower"}, "a list of names"),
        ({"columns": ["lower", "upper", "lower"]}, "'lower' is named twice"),
    )
    for asked, said in wrong:
        with pytest.raises(InputError, match=said):
            Arrangement(**asked)
    Arrangement(["a"], sort="b", top=1).check(["a"], ["b"])
    with pytest.raises(InputError, match="no column 'a'"):
        Arrangement(["a"]).check(["b"], [])
    with pytest.raises(InputError, match="cannot sort by 'a'"):
        Arrangement(sort="a").check([], ["b"])

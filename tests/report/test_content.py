"""Tables of pages: what is a number, what moves into a note, what is left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bayespool.report.content import Cell, Column, Section, Table, cell_text, frame_table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "yes"),
        (np.int64(3), "3"),
        (-0.25, "-0.2500"),
        (1234.0, "1,234"),
        (0.00001, "1.00e-05"),
        (-0.00009, "-9.00e-05"),
        (0.0001, "0.0001"),
        (0.0, "0"),
        ([1, "a"], "1, a"),
        ("<b>", "<b>"),
    ],
)
def test_a_value_as_it_is_shown(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_numbers_are_sorted_by_value_and_texts_are_not() -> None:
    frame = pd.DataFrame({"run_id": ["b", "a"], "value": [0.5, np.nan], "n": [2, 10]})
    table = frame_table("t", "Caption", frame)
    assert table.columns == (Column("run id"), Column("value", is_number=True), Column("n", is_number=True))
    assert table.rows[0] == (Cell("b"), Cell("0.5000", 0.5), Cell("2", 2.0))
    assert table.rows[1] == (Cell("a"), Cell("–"), Cell("10", 10.0))
    assert table.note == ""


def test_columns_of_a_wide_table_that_say_the_same_move_into_a_note() -> None:
    frame = pd.DataFrame(
        {f"c{i}": [i, i + 1] for i in range(8)} | {"measure": ["P@10"] * 2, "note": [""] * 2}
    )
    table = frame_table("t", "Caption", frame)
    assert [column.name for column in table.columns] == [f"c{i}" for i in range(8)]
    assert table.note == "In every row: measure P@10."
    assert len(frame_table("t", "Caption", frame, whole=True).columns) == 10


def test_a_table_of_very_many_rows_is_left_out_and_says_so() -> None:
    table = frame_table("t", "Caption", pd.DataFrame({"x": np.arange(1001)}))
    assert table.rows == ()
    assert "1,001 rows" in table.note
    assert len(frame_table("t", "Caption", pd.DataFrame({"x": np.arange(1000)})).rows) == 1000


def test_wide_tables_are_printed_in_landscape_and_tall_ones_scroll() -> None:
    wide = Table("t", "", tuple(Column(str(i)) for i in range(11)), ())
    tall = Table("t", "", (Column("x"),), ((Cell("a"),),) * 41)
    assert Section("s", "s", tables=(wide,)).is_wide
    assert not Section("s", "s", tables=(tall,)).is_wide
    assert (wide.is_tall, tall.is_tall) == (False, True)

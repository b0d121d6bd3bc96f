"""A column of runs has one line, from which frames, tables, papers and help follow."""

from __future__ import annotations

from known_scores import example_scores

from bayespool.scoring.columns import RUN_COLUMNS, SCORE_COLUMNS
from bayespool.tables.table import COLUMNS


def test_frames_have_them_in_order_and_each_has_a_heading() -> None:
    names = [column.name for column in RUN_COLUMNS]
    for per_topic in (False, True):
        frame = example_scores().to_frame(per_topic=per_topic)
        assert [name for name in frame if name in names] == names
    assert set(names) <= set(COLUMNS)
    assert SCORE_COLUMNS[: len(names)] == tuple(column.asked_as for column in RUN_COLUMNS)

"""A column of runs has one line, from which frames, tables, papers and help follow."""

from __future__ import annotations

from known_scores import example_scores

from bayespool.scoring.columns import RUN_COLUMNS, SCORE_COLUMNS, is_time
from bayespool.tables.table import COLUMNS


def test_frames_have_them_in_order_and_each_has_a_heading() -> None:
    names = [column.name for column in RUN_COLUMNS]
    for per_topic in (False, True):
        frame = example_scores().to_frame(per_topic=per_topic)
        assert [name for name in frame if name in names] == names
    assert set(names) <= set(COLUMNS)
    assert SCORE_COLUMNS[: len(names)] == tuple(column.asked_as for column in RUN_COLUMNS)


def test_bounds_are_in_papers_and_stay_on_narrow_terminals_where_there_is_no_pool() -> None:
    def named(place: str, *, has_pool: bool) -> list[str]:
        return [c.name for c in RUN_COLUMNS if is_time(getattr(c, place), has_pool=has_pool)]

    assert named("in_papers", has_pool=True) == ["bound_lower", "unjudged"]
    assert named("in_papers", has_pool=False) == ["bound_lower", "bound_upper", "unjudged"]
    assert named("spare", has_pool=True) == ["bound_upper", "residual"]
    assert named("spare", has_pool=False) == ["residual"]

"""How much is unjudged, by run and topic, from what the metadata of scores say."""

from __future__ import annotations

import numpy as np
import pytest
from hostile import many_runs

from bayespool import load_example, score
from bayespool.report.unjudged import read_unjudged, unjudged_section


def test_shares_are_those_of_the_bounds() -> None:
    scores = score(load_example(), None, ["P@10", "nDCG@10", "P@5"], estimators="background")
    ten, five = read_unjudged(scores.metadata, scores.run_ids, scores.measures)
    assert (ten.measure.cutoff, five.measure.cutoff) == (10, 5)  # once for each cutoff
    assert np.allclose(ten.of_runs, scores.bounds[0].unjudged_share)
    assert np.allclose(ten.share, scores.bounds[0].n_unjudged / 10)
    assert ten.of_topics.tolist() == pytest.approx(ten.share.sum(axis=0) / 2)


def test_few_runs_are_columns_of_a_table_and_many_rows_of_a_heat_map() -> None:
    few = score(load_example(), None, "P@10", estimators="background")
    section = unjudged_section(read_unjudged(few.metadata, few.run_ids, few.measures))
    assert section is not None
    assert [column.name for column in section.tables[0].columns] == ["topic", "new-a", "new-b"]
    assert section.heats == ()
    assert section.sentences[0].startswith("Of the top 10 of these 2 runs, 15.5 % is unjudged.")
    cell = next(row for row in section.tables[0].rows if row[0].text == "715")[2]
    assert (cell.text, cell.value, cell.shade) == ("50 %", 0.5, 5)
    many = many_runs(30)
    section = unjudged_section(read_unjudged(many.metadata, many.run_ids, many.measures))
    assert section is not None
    assert len(section.heats[0].rows) == 30
    assert {len(shades) for _, shades in section.heats[0].rows} == {20}
    assert len(section.tables[0].columns) == 2


def test_older_or_damaged_metadata_have_none() -> None:
    scores = score(load_example(), None, "P@10", estimators="background")
    assert read_unjudged({}, scores.run_ids, scores.measures) == []
    assert read_unjudged({**scores.metadata, "query_ids": ["1"]}, scores.run_ids, scores.measures) == []
    assert unjudged_section([]) is None

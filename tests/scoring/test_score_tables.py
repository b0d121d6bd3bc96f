"""Scores as a paper and a terminal have them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from known_scores import with_posterior
from toys import toy_collection

from bayespool.errors import InputError
from bayespool.scoring import Scores, score
from bayespool.scoring.score_tables import estimators_in, note_lines, paper_columns
from bayespool.tables.markup import Arrangement

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


def scores_of(*measures: str, estimators: tuple[str, ...] = ("background", "smoothed")) -> Scores:
    return with_posterior(score(toy_collection(), ["s2", "u"], measures, estimators=estimators))


def rows(scores: Scores, **asked: Any) -> list[str]:
    """First cells of the rows of the only table."""
    (table,) = scores.read(Arrangement(**asked))
    return [row[0] for row in table.rows]


def test_a_paper_has_run_lower_bound_estimates_mean_and_interval() -> None:
    scores = scores_of("P@3")
    known = {"background": False, "smoothed": False, "posterior-known": True}  # with an interval or without
    assert estimators_in(scores.to_frame()) == known
    (table,) = scores.read(Arrangement(paper_columns(scores.to_frame())))
    assert table.headings() == [
        *("run", "lower", "unjudged", "background", "smoothed", "posterior known", "90 % interval")
    ]
    assert table.rows[1] == ("u", "0.3333", "55.6 %", "0.3500", "0.4848", "0.6111", "0.3333–0.8889")
    assert (table.caption, table.label, table.groups) == ("P@3, mean over 3 topics", "scores P@3", ())
    assert table.notes[0].startswith("Lower: unjudged documents are nonrelevant. Unjudged: share of")
    latex = scores.to_latex()
    assert "u & 0.3333 & 55.6 \\% & 0.3500 & 0.4848 & 0.6111 & 0.3333--0.8889" in latex
    assert "% note: s2: 1 of 3 topics missing from the run; nothing unjudged" in latex


def test_measures_stand_side_by_side_where_there_is_room() -> None:
    scores = scores_of("P@3", "P@2")
    (together,) = scores.read(Arrangement(["lower", "mean"], sort="mean", top=1))
    assert together.groups == (("P@3", 2), ("P@2", 2))
    assert [row[0] for row in together.rows] == ["u"]
    assert together.caption == "P@3 and P@2, mean over 3 topics, 1 of 2 runs"
    frame = scores.to_frame().query("run_id == 'u' and measure == 'P@2'")
    assert together.rows[0][3] == f"{frame['bound_lower'].iloc[0]:.4f}"
    assert [table.label for table in scores.read()] == ["scores P@3", "scores P@2"]


def test_rows_are_sorted_by_any_column() -> None:
    scores = scores_of("P@3")
    assert rows(scores) == rows(scores, sort="run") == ["s2", "u"]
    for by in ("mean", "interval", "upper"):
        assert rows(scores, sort=by) == ["u", "s2"], by
    assert rows(scores, top=1) == ["u"]
    with pytest.raises(InputError, match="cannot sort by 'distance'"):
        scores.read(Arrangement(sort="distance"))


def with_smoothed(scores: Scores, *values: float) -> Scores:
    """The scores with other values of one correction."""
    others = [
        dataclasses.replace(e, value=np.array(values)) if e.method == "smoothed" else e
        for e in scores.estimates
    ]
    return dataclasses.replace(scores, estimates=tuple(others))


def test_runs_without_a_value_come_last_and_columns_without_any_are_left_out() -> None:
    without = with_smoothed(scores_of("P@3"), 0.1, np.nan)
    assert rows(without, sort="smoothed") == ["s2", "u"]
    assert rows(without, sort="smoothed", top=1) == ["s2"]
    (table,) = with_smoothed(scores_of("P@3"), np.nan, np.nan).read()
    assert "smoothed" not in table.headings()
    assert "background" in table.headings()


def test_an_estimator_stands_with_its_interval_and_all_is_the_wide_table() -> None:
    scores = scores_of("P@3")
    (one,) = scores.read(Arrangement(["posterior-known"]))
    assert one.headings() == ["run", "posterior known", "90 % interval"]
    (alone,) = scores.read(Arrangement(["interval"]))
    assert alone.headings() == ["run", "90 % interval"]
    assert scores.read(Arrangement(["all"]))[0].headings()[:7] == [
        *("run", "lower", "upper", "residual", "unjudged", "background", "smoothed")
    ]
    with pytest.raises(InputError, match="no column 'none'"):
        scores.read(Arrangement(["none"]))


def test_notes_say_once_of_which_runs_they_are() -> None:
    runs = [f"r{i}" for i in range(10)]
    said: dict[tuple[str, str], tuple[str, ...]] = {(run, "P@5"): ("of all", "both") for run in runs}
    said |= {(run, "P@10"): (("of some",) if i > 1 else ()) for i, run in enumerate(runs)}
    assert note_lines(said, runs, ["P@5", "P@10"]) == [
        "all runs: of all; both (P@5)",
        "r2, r3, r4, r5, r6 and 3 more: of some (P@10)",
    ]

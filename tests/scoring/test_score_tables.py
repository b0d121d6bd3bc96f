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
from bayespool.scoring.score_tables import note_lines
from bayespool.tables.markup import Arrangement

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


def scores_of(*measures: str, estimators: tuple[str, ...] = ("background", "smoothed")) -> Scores:
    return with_posterior(score(toy_collection(), ["s2", "u"], measures, estimators=estimators))


def rows(scores: Scores, **asked: Any) -> list[str]:
    """First cells of the rows of the only table."""
    (table,) = scores.read(Arrangement(**asked))
    return [row[0] for row in table.rows]


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

"""Scores as a paper and a terminal have them."""

from __future__ import annotations

import pytest
from known_scores import with_posterior
from toys import toy_collection

from bayespool.errors import InputError
from bayespool.scoring import Scores, score
from bayespool.scoring.score_tables import arranged, columns_of, methods_in, note_lines, paper_tables
from bayespool.tables.arrangement import Arrangement

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


def scores_of(*measures: str, estimators: tuple[str, ...] = ("background", "smoothed")) -> Scores:
    return with_posterior(score(toy_collection(), ["s2", "u"], measures, estimators=estimators))


def test_methods_are_found_in_the_columns() -> None:
    frame = scores_of("P@3").to_frame()
    assert methods_in(frame) == {"background": False, "smoothed": False, "posterior-known": True}
    assert methods_in(frame.drop(columns="unjudged")) == methods_in(frame)


def test_one_measure_has_run_bounds_estimates_mean_and_interval() -> None:
    scores = scores_of("P@3")
    (table,) = scores.paper().tables
    assert table.header == (
        "Run",
        "Lower",
        "Unjudged",
        "Background",
        "Smoothed",
        "Posterior\nmean",
        "90 %\ninterval",
    )
    assert table.rows[1] == ("u", "0.3333", "55.6 %", "0.3500", "0.4848", "0.6111", "0.3333–0.8889")
    assert table.caption.startswith("P@3 of 2 runs, mean over 3 topics. Lower: unjudged documents are non")
    assert table.notes == ("s2: 1 of 3 topics missing from the run; nothing unjudged",)
    assert (table.label, table.groups) == ("scores P@3", ())


def test_measures_stand_side_by_side_where_there_is_room() -> None:
    scores = scores_of("P@3", "P@2")
    together = scores.paper(Arrangement(["lower", "mean"], sort="mean", top=1)).tables
    assert [table.groups for table in together] == [(("P@3", 2), ("P@2", 2))]
    assert [row[0] for row in together[0].rows] == ["u"]
    assert "1 of 2 runs" in together[0].caption
    frame = scores.to_frame().set_index(["run_id", "measure"])
    assert together[0].rows[0][3] == f"{frame.loc[('u', 'P@2'), 'bound_lower']:.4f}"
    apart = scores.paper().tables
    assert [table.label for table in apart] == ["scores P@3", "scores P@2"]


def test_per_topic_has_a_row_per_topic() -> None:
    scores = scores_of("P@3")
    (table,) = scores.paper(per_topic=True).tables
    assert (table.header[:2], table.n_names, len(table.rows)) == (("Run", "Topic"), 2, 6)


def test_rows_are_sorted_by_any_column() -> None:
    frame = scores_of("P@3").to_frame()
    assert arranged(frame, Arrangement(sort="mean"))["run_id"].tolist() == ["u", "s2"]
    assert arranged(frame, Arrangement(sort="interval"))["run_id"].tolist() == ["u", "s2"]
    assert arranged(frame, Arrangement(sort="run"))["run_id"].tolist() == ["s2", "u"]
    assert arranged(frame, Arrangement(top=1))["run_id"].tolist() == ["u"]
    with pytest.raises(InputError, match="cannot sort by 'distance'"):
        arranged(frame, Arrangement(sort="distance"))


def test_runs_without_a_value_come_last() -> None:
    frame = scores_of("P@3").to_frame()
    without = frame.assign(smoothed=[float("nan") if run == "u" else 0.1 for run in frame["run_id"]])
    assert arranged(without, Arrangement(sort="smoothed"))["run_id"].tolist() == ["s2", "u"]
    assert arranged(without, Arrangement(sort="smoothed", top=1))["run_id"].tolist() == ["s2"]


def test_a_method_stands_with_its_interval_and_all_is_the_wide_table() -> None:
    frame = scores_of("P@3").to_frame()
    assert [c.name for c in columns_of(frame, ["posterior-known"], 0.9)] == [
        "posterior-known",
        "posterior-known interval",
    ]
    wide = [c.name for c in columns_of(frame, ["all"], 0.9)]
    assert wide[:5] == ["lower", "upper", "residual", "background", "smoothed"]
    with pytest.raises(InputError, match="no column 'none'"):
        columns_of(frame, ["none"], 0.9)


def test_columns_without_a_value_are_left_out_of_a_paper() -> None:
    frame = scores_of("P@3").to_frame().assign(smoothed=float("nan"))
    (table,) = paper_tables(frame, ci_prob=0.9, scope="here")
    assert "Smoothed" not in table.header


def test_notes_say_once_of_which_runs_they_are() -> None:
    runs = [f"r{i}" for i in range(10)]
    said: dict[tuple[str, str], tuple[str, ...]] = {(run, "P@5"): ("of all", "both") for run in runs}
    said |= {(run, "P@10"): (("of some",) if i > 1 else ()) for i, run in enumerate(runs)}
    assert note_lines(said, runs, ["P@5", "P@10"]) == [
        "all runs: of all; both (P@5)",
        "r2, r3, r4, r5, r6 and 3 more: of some (P@10)",
    ]

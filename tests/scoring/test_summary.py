"""Sentences, figures and the page of scores say what their table says, live and read back."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hostile import many_runs
from known_scores import with_posterior

from bayespool import load_example, read_scores, score
from bayespool.plots import draw_forest
from bayespool.scoring import Scores
from bayespool.tables.markup import TextTable

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


@pytest.fixture(scope="module")
def scores() -> Scores:
    return with_posterior(score(load_example(), None, ["P@10"], estimators=["background"]))


def texts(scores: Any, name: str) -> tuple[TextTable, ...]:
    table = scores.table(name)
    return table.read() or (table.whole(),)


def test_the_summary_is_in_plain_words(scores: Scores) -> None:
    assert scores.title == "Scores of new-a, new-b: P@10"
    assert scores.summary()[0] == (
        "The P@10 of new-a is 0.640 (90 % interval 0.595–0.685, posterior-known), mean over 20 "
        "topics. As judged, with unjudged documents counted as nonrelevant, it is "
        "0.595; 9.0 % of its top 10 is unjudged."
    )
    assert scores.notes() == ()


def test_other_posteriors_are_said_beside_the_first(scores: Scores) -> None:
    """The posterior of known draws, and two of other names that are .01 and .02 higher."""
    more = [
        dataclasses.replace(e, method=f"posterior-{k}", value=e.value + k / 100)
        for e in scores.estimates
        if e.method == "posterior-known"
        for k in (1, 2)
    ]
    one, two = (dataclasses.replace(scores, estimates=(*scores.estimates, *more[:n])) for n in (1, 2))
    assert "mean over 20 topics; the other posterior gives 0.650. As judged," in one.summary()[0]
    assert "mean over 20 topics; the other 2 posteriors give 0.650 to 0.660. As judged," in two.summary()[0]


def test_the_table_of_runs_has_the_numbers_of_the_frame(scores: Scores) -> None:
    table = texts(scores, "scores")[0]
    row = dict(zip(table.headings(), table.values[1], strict=True))
    frame = scores.to_frame().query("run_id == 'new-b' and estimator == 'posterior-known'").iloc[0]
    assert row["posterior known"] == frame["value"]
    assert row["90 % interval"] == frame["lower"]
    assert row["upper"] == frame["bound_upper"]
    assert row["unjudged"] == pytest.approx(0.22)


def test_live_scores_and_those_of_a_file_say_the_same(scores: Scores, tmp_path: Path) -> None:
    for name in ("scores.json", "scores.parquet", "scores.nc"):
        scores.save(tmp_path / name)
        stored = read_scores(tmp_path / name)
        assert (stored.title, stored.summary(), stored.notes()) == (
            scores.title,
            scores.summary(),
            scores.notes(),
        )
        assert texts(stored, "scores") == texts(scores, "scores")
        assert stored.read() == scores.read()
        whole = [figure.name for figure in scores.figures()]
        assert [figure.name for figure in stored.figures()] == (
            ["forest-P_10"] if name.endswith("parquet") else whole  # which has one table
        )


def test_scores_by_topic_are_read_by_topic_and_have_the_same_figures(scores: Scores, tmp_path: Path) -> None:
    by_topic = scores.per_topic()
    by_topic.save(tmp_path / "topics.json")
    stored = read_scores(tmp_path / "topics.json")
    assert len(stored.read()[0].rows) == len(by_topic.read()[0].rows) == 40
    assert stored.read()[0].caption == "P@10, on each of 20 topics"
    assert stored.to_frame().equals(scores.to_frame(per_topic=True))
    assert [figure.name for figure in by_topic.figures()] == [figure.name for figure in scores.figures()]


@pytest.mark.slow
def test_many_runs_have_one_sentence_and_forests_of_36() -> None:
    many = many_runs(90)
    (sentence,) = many.summary()
    assert sentence.startswith(
        "90 runs were scored under P@10 over 20 topics. Between 9.0 % and 22.0 % of a run's top 10"
    )
    assert "run-000: 0.640" in sentence
    assert [figure.name for figure in many.figures()] == [
        "forest-P_10-1",
        "forest-P_10-2",
        "forest-P_10-3",
        "unjudged-10",
    ]
    assert many.table("topics").views == ()  # too many for a page


def test_a_posterior_is_said_and_drawn_before_a_correction_with_an_interval() -> None:
    adjustment = "topics-adjustment(common_query_ids=('701', '702', '703'))"
    found = with_posterior(score(load_example(), "new-a", "P@10", estimators=adjustment))
    assert found.to_frame()["estimator"].tolist() == ["topics-adjustment", "posterior-known"]
    assert "posterior-known), mean over 20 topics" in found.summary()[0]
    assert "Means and intervals (posterior-known) are over what" in found.read()[0].notes[0]
    assert "Intervals of corrections (topics-adjustment) are over" in found.read()[0].notes[0]
    labels = [text.get_text() for text in draw_forest(found).legends[0].get_texts()]
    assert "posterior-known, 90 %" in labels


def test_failed_checks_are_in_their_table_and_notes_have_their_runs(scores: Scores) -> None:
    failed = {"method": "m", "measure": "P@10", "engine": "nuts", "max_r_hat": 1.2, "problems": ["R-hat 1.2"]}
    off = dataclasses.replace(
        scores,
        metadata={**scores.metadata, "diagnostics": [failed], "runs_of_the_user": list(scores.run_ids)},
    )
    assert off.notes() == ("all runs: 2 runs without a listed organization count as one organization, yours",)
    assert texts(off, "checks")[0].rows == (("m", "P@10", "R-hat 1.2", "nuts", "1.2000"),)


def test_without_a_posterior_the_bounds_are_said_and_a_run_that_is_judged_is_known() -> None:
    bare = score(load_example(), "new-a", "P@10", estimators="background")
    assert "lies between 0.595 and 0.685" in bare.summary()[0]
    with pytest.warns(UserWarning, match="judged in full"):
        known = score(load_example(), load_example().pooled_run_ids[0], "P@10", estimators="background")
    assert "nothing that could change it is unjudged" in known.summary()[0]


def test_distance_and_checks_have_tables_and_figures_where_they_are_known() -> None:
    made = score(load_example(), None, "P@10", estimators="posterior-combined", draws=100)
    assert [table.name for table in made.tables()] == ["scores", "topics", "unjudged", "checks", "statements"]
    names = ["forest-P_10", "topics-P_10", "unjudged-10", "distance"]
    assert [figure.name for figure in made.figures()] == names
    (_, distances) = texts(made, "scores")
    assert [row[1] for row in distances.values] == made.to_frame()["distance"].tolist()


def test_unjudged_shares_are_those_of_the_bounds() -> None:
    made = score(load_example(), None, ["P@10", "nDCG@10", "P@5"], estimators="background")
    frame = made.to_frame("unjudged")
    assert frame["cutoff"].unique().tolist() == [10, 5]  # once for each cutoff
    shares = frame[frame["cutoff"] == 10]["unjudged"].to_numpy().reshape(2, 20)
    assert np.allclose(shares, made.bounds[0].n_unjudged / 10)
    assert np.allclose(shares.mean(axis=1), made.bounds[0].unjudged_share)
    table = texts(made, "unjudged")[0]
    assert table.header == ("topic", "new-a", "new-b")
    assert table.notes[0].startswith("Of the top 10 of these 2 runs, 15.5 % is unjudged.")
    (row,) = [row for row in table.rows if row[0] == "715"]
    assert row[2] == "50.0 %"


def test_what_a_simulation_knows_is_said_last(scores: Scores) -> None:
    known = {**scores.metadata, "truth": {"P@10": {"new-a": 0.625}}}
    last = dataclasses.replace(scores, metadata=known).summary()[-1]
    assert last == "truth of the simulation, P@10 if all were judged: new-a 0.6250"

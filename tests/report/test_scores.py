"""The report of scores says what its table says, live and read back."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hostile import many_runs
from known_scores import with_posterior

from bayespool import load_example, read_scores, score
from bayespool.report import write_scores
from bayespool.report.content import Page, Section
from bayespool.report.drawing import Styles
from bayespool.report.scores import scores_page
from bayespool.scoring import Scores


@pytest.fixture(scope="module")
def scores() -> Scores:
    return with_posterior(score(load_example(), None, ["P@10"], estimators=["background"]))


def section(page: Page, name: str) -> Section:
    return next(one for one in page.sections if one.name == name)


def test_the_summary_is_in_plain_words(scores: Scores) -> None:
    page = scores_page(scores, Styles())
    assert page.title == "Scores of new-a, new-b: P@10"
    assert page.summary[0] == (
        "The P@10 of new-a is 0.640 (90 % interval 0.595 to 0.685, posterior-known), mean over 20 "
        "topics. As judged, with unjudged documents counted as nonrelevant, it is "
        "0.595; 9.0 % of its top 10 is unjudged."
    )
    assert page.problems == ()


def test_the_table_of_runs_has_the_numbers_of_the_frame(scores: Scores) -> None:
    table = section(scores_page(scores, Styles()), "runs").tables[0]
    names = [column.name for column in table.columns]
    row = dict(zip(names, (cell.value for cell in table.rows[1]), strict=True))
    frame = scores.frame().set_index("run_id").loc["new-b"]
    assert names[:4] == ["run", "corrected", "interval from", "interval to"]
    assert row["corrected"] == frame["posterior-known"]
    assert row["interval to"] == frame["posterior-known_upper"]
    assert row["as judged"] == frame["as_judged"]
    assert row["unjudged share"] == pytest.approx(0.22)


def test_live_scores_and_those_of_a_file_say_the_same(scores: Scores, tmp_path: Path) -> None:
    live = scores_page(scores, Styles())
    for name in ("scores.json", "scores.parquet"):
        write_scores(scores, tmp_path / name)
        stored = scores_page(read_scores(tmp_path / name), Styles())
        assert (stored.title, stored.summary, stored.problems) == (live.title, live.summary, live.problems)
        kept = {one.name for one in live.sections} - {"topics"}  # which a file without them lacks
        assert {one.name for one in stored.sections} == kept
        assert section(stored, "runs") == section(live, "runs")


def test_a_file_with_topics_shows_them_and_says_what_it_lacks(scores: Scores, tmp_path: Path) -> None:
    write_scores(scores, tmp_path / "topics.json", per_topic=True)
    page = scores_page(read_scores(tmp_path / "topics.json"), Styles())
    assert "without --per-topic" in page.summary[0]
    assert len(section(page, "topics").tables[0].rows) == 40


@pytest.mark.slow
def test_many_runs_have_one_sentence(scores: Scores) -> None:
    (said,) = scores_page(many_runs(90), Styles()).summary
    assert said.startswith(
        "90 runs were scored under P@10 over 20 topics. Between 9.0 % and 22.0 % of a run's top 10"
    )
    assert "run-000: 0.640" in said


def test_without_a_posterior_the_bounds_are_said() -> None:
    page = scores_page(score(load_example(), "new-a", "P@10", estimators="background"), Styles())
    assert page.summary[0].startswith("The P@10 of new-a lies between 0.595 and 0.685 over 20 topics")


def test_failed_checks_and_notes_are_problems_with_the_runs_that_they_are_about(scores: Scores) -> None:
    failed = {"method": "m", "measure": "P@10", "engine": "nuts", "max_r_hat": 1.2, "problems": ["R-hat 1.2"]}
    off = dataclasses.replace(
        scores,
        metadata={**scores.metadata, "diagnostics": [failed], "runs_of_the_user": list(scores.run_ids)},
    )
    page = scores_page(off, Styles())
    assert page.problems == (
        "m, P@10: R-hat 1.2",
        "all runs: 2 runs that no list names count as one organization, yours",
    )
    table = section(page, "diagnostics").tables[0]
    assert table.rows[0][-1].text == "R-hat 1.2"


def test_a_run_that_is_judged_is_known() -> None:
    pooled = load_example().pooled_run_ids[0]
    with pytest.warns(UserWarning, match="judged in full"):
        known = score(load_example(), pooled, "P@10", estimators="background")
    assert "nothing that could change it is unjudged" in scores_page(known, Styles()).summary[0]


def test_distance_pool_and_checks_have_sections_where_they_are_known() -> None:
    found = score(load_example(), None, "P@10", estimators="posterior-combined", draws=100)
    page = scores_page(found, Styles())
    assert [one.name for one in page.sections] == [
        *("runs", "unjudged", "topics", "distance", "pool", "diagnostics", "methods", "made"),
    ]
    assert section(page, "pool").sentences[0].startswith("21 of 23 runs pooled to depth 10")
    distances = section(page, "distance").tables[0]
    assert [cell.value for cell in distances.rows[-1]][1] == found.frame()[
        "posterior-combined_distance"
    ].max()

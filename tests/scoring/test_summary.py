"""Sentences, figures and the page of scores say what their table says, live and read back."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from known_scores import with_posterior
from published_sample import write_sample
from toys import toy_collection

from bayespool import load_example, read_scores, score
from bayespool.collection import Collection, qrels_from_frame
from bayespool.errors import NoPoolWarning
from bayespool.plots import draw_forest
from bayespool.pooling import describe_pool, read_collection
from bayespool.scoring import Scores
from bayespool.scoring.readable import pool_condition
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


def test_live_scores_and_those_of_a_file_say_the_same(scores: Scores, tmp_path: Path) -> None:
    for name in ("scores.json", "scores.parquet", "scores.nc"):
        scores.save(tmp_path / name)
        stored = read_scores(tmp_path / name)
        assert (stored.title, stored.summary()) == (scores.title, scores.summary())
        assert stored.notes() == scores.notes()
        assert texts(stored, "scores") == texts(scores, "scores")
        assert stored.read() == scores.read()
        whole = [figure.name for figure in scores.figures()]
        assert [figure.name for figure in stored.figures()] == (
            ["forest-P_10"] if name.endswith("parquet") else whole  # which has one table
        )


def test_a_posterior_is_said_and_drawn_before_a_correction_with_an_interval() -> None:
    adjustment = "topics-adjustment(common_query_ids=('701', '702', '703'))"
    found = with_posterior(score(load_example(), "new-a", "P@10", estimators=adjustment))
    assert found.to_frame()["estimator"].tolist() == ["topics-adjustment", "posterior-known"]
    assert "posterior-known), mean over 20 topics" in found.summary()[0]
    assert "Means and intervals (posterior-known) are over what" in found.read()[0].notes[0]
    assert "Intervals of corrections (topics-adjustment) are over" in found.read()[0].notes[0]
    labels = [text.get_text() for text in draw_forest(found).legends[0].get_texts()]
    assert "posterior-known, 90 %" in labels


def test_distance_and_checks_have_tables_and_figures_where_they_are_known() -> None:
    made = score(load_example(), None, "P@10", estimators="posterior-combined", draws=100)
    assert [table.name for table in made.tables()] == ["scores", "topics", "unjudged", "checks", "statements"]
    names = ["forest-P_10", "topics-P_10", "unjudged-10", "distance"]
    assert [figure.name for figure in made.figures()] == names
    (_, distances) = texts(made, "scores")
    assert [row[1] for row in distances.values] == made.to_frame()["distance"].tolist()


def condition(collection: Collection) -> str:
    return pool_condition({"pool": dataclasses.asdict(describe_pool(collection))})


def test_conditions_say_what_posteriors_rest_on(tmp_path: Path) -> None:
    toy = toy_collection()
    assert condition(toy) == ""
    alone = dataclasses.replace(toy, pooled=np.zeros_like(toy.pooled))
    assert condition(alone) == "no pool, posteriors on priors alone"
    own = alone.add_judgments(qrels_from_frame({"1": {"l": 1, "d": 0}}))
    assert condition(own) == "no pool, posteriors on priors and judgments of your own"
    assert condition(toy.unpool(["s1", "s2"])) == "a pool of one organization, posteriors on priors alone"
    sample, _, run = write_sample(tmp_path)
    with pytest.warns(NoPoolWarning):
        read = read_collection(sample, run)
    assert condition(read) == "no pool, posteriors on the published sample"

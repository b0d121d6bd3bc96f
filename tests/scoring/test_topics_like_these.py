"""Scores on topics like these: in the frame, in tables, sentences and files, live and read back."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from known_scores import with_posterior

from bayespool import load_example, read_collection, score
from bayespool.errors import InputError
from bayespool.measures.populations import population_of
from bayespool.scoring import Scores

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")


@pytest.fixture(scope="module")
def scores() -> Scores:
    made = score(load_example(), None, ["P@10", "P@5"], estimators=["background"], scope="population")
    return with_posterior(made)


def test_the_frame_has_both_intervals_and_says_what_the_second_is_over(scores: Scores) -> None:
    frame = scores.to_frame().query("run_id == 'new-b' and measure == 'P@10'").set_index("estimator")
    there = population_of(scores["posterior-known", "P@10"], 0.9)
    row = frame.loc["posterior-known"]
    assert (row["lower"], row["population_lower"]) == (pytest.approx(0.35), there.lower[1])
    assert (row["population_by"], row["unjudged_variance"]) == ("draws", there.unjudged_share[1])
    corrected = frame.loc["background"]
    assert corrected["population_by"] == "bootstrap"
    assert np.isnan(corrected["unjudged_variance"])
    assert corrected["population_lower"] < corrected["value"] < corrected["population_upper"]
    assert "population_lower" not in scores.to_frame(per_topic=True)
    here = score(load_example(), "new-a", "P@10", estimators="background")
    assert "population_lower" not in here.to_frame()


def test_a_sentence_says_whether_judgments_or_topics_are_missing(scores: Scores) -> None:
    there = population_of(scores["posterior-known", "P@10"], 0.9)
    share = there.unjudged_share[1]
    sentence = next(text for text in scores.summary() if text.startswith("The P@10 of new-b"))
    assert f"interval is {there.lower[1]:.3f}–{there.upper[1]:.3f}. Judging everything" in sentence
    assert f"{100 * (1 - np.sqrt(1 - share)):.1f} % narrower" in sentence
    assert sentence.endswith("judge more documents.") == (share > 1 / 3)
    assert "topics like these" not in dataclasses.replace(scores, scope="these-topics").summary()[0]


def test_one_topic_is_refused_before_anything_is_estimated() -> None:
    one = read_collection(
        {"q": {"d": 1}},
        {"mine": {"q": {"e": 2.0}}},
        pool={"theirs": {"q": {"d": 2.0}}},
        organizations={"theirs": "them"},
    )
    with pytest.raises(InputError, match="one topic says nothing"):
        score(one, measures="P@1", estimators="background", scope="population")

"""Scores by another assessor: in the frame, in tables, sentences, comparisons and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayespool import compare, load_example, read_scores, score
from bayespool.collection import add_second_assessors, qrels_from_frame
from bayespool.collection.contents import Collection
from bayespool.errors import InputError
from bayespool.measures.populations import unjudged_share
from bayespool.scoring import Scores
from bayespool.scoring.readable import _in_wider_scope

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")
FEW = {"posterior": "draws=50", "estimators": ["background", "posterior-ratio"]}


@pytest.fixture(scope="module")
def both() -> Collection:
    example, again = load_example(), dict[str, dict[str, int]]()
    rng = np.random.default_rng(1)
    for pair in np.flatnonzero(example.judged & (rng.random(len(example.relevance)) < 0.4)).tolist():
        level = int(example.relevance[pair])
        of_topic = again.setdefault(example.query_ids[example.pair_topic[pair]], {})
        of_topic[example.doc_id(pair)] = abs(level - 1) if rng.random() < 0.2 else level
    return add_second_assessors(example, qrels_from_frame(again))


@pytest.fixture(scope="module")
def scores(both: Collection) -> Scores:
    return score(both, None, ["P@10", "P@5"], scope="another-assessor", **FEW)


def test_the_frame_has_both_intervals(scores: Scores) -> None:
    frame = scores.to_frame().query("run_id == 'new-b' and measure == 'P@10'").set_index("estimator")
    row, found = frame.loc["posterior-ratio"], scores["posterior-ratio", "P@10"].by_another
    low, _ = found.interval()
    assert (row["another_value"], row["another_lower"]) == (found.expected()[1], low[1])
    assert row["another_upper"] - row["another_lower"] > row["upper"] - row["lower"]
    shares = ["unjudged_variance", "assessor_variance"]
    exchanged = scores["posterior-ratio", "P@10"].exchanged
    assert row["unjudged_variance"] == unjudged_share(found.means(), exchanged.means())[1]
    assert row[shares].sum() == pytest.approx(1)
    assert np.isnan(frame.loc["background", ["another_value", *shares]].astype(float)).all()
    assert "another_value" not in scores.to_frame(per_topic=True)


def test_a_sentence_says_what_is_missing() -> None:
    """By share of the unjudged documents."""
    row = {"another_value": 0.5, "another_lower": 0.4, "another_upper": 0.6}
    said = (
        (np.nan, "(interval 0.400–0.600)."),
        (0.0, "due to the assessor, not to unjudged documents."),
        (0.19, "10.0 % only: 81.0 % of the variance is due to the assessor."),
        (0.64, "36.0 % of the variance is due to the assessor."),
    )
    for share, end in said:
        assert _in_wider_scope(row | {"unjudged_variance": share}).endswith(end)


def test_what_is_stored_says_the_same(scores: Scores, tmp_path: Path) -> None:
    scores.save(tmp_path / "scores.json")
    assert read_scores(tmp_path / "scores.json").sentences() == scores.sentences()
    (axes,) = scores.figures()[0].draw().axes
    assert "another assessor, 95 %" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_differences_are_joint_and_have_a_sentence(both: Collection) -> None:
    three = both.pooled_run_ids[:3]
    scopes = ("these-topics", "another-assessor")
    found = compare(
        both, three, ["P@10", "P@5"], scope=scopes, estimators="posterior-ratio", posterior="draws=50"
    )
    values = found.scores["posterior-ratio", "P@10"].by_another
    rows = found.differences().query("scope == 'another-assessor' and measure == 'P@10'")
    off = values.means()[:, 0] - values.means()[:, 1]
    assert rows["difference"].iloc[0] == pytest.approx(off.mean())
    assert set(found.runs()["scope"]) == set(scopes) == set(found.across_measures()["scope"])
    assert "By another assessor of the same kind the difference would be" in " ".join(found.sentences())
    assert "by another assessor of the same kind" in " ".join(map(str, found.sentences()))


def test_a_stated_confusion_does_without_a_file(both: Collection) -> None:
    stated = "90 8 2; 20 70 10; 5 25 70"
    (row,) = score(
        load_example(), "new-a", "P@10", scope="another-assessor", confusion=stated, posterior="draws=50",
        estimators="posterior-ratio",
    ).to_frame().to_dict("records")  # fmt: skip
    assert row["another_lower"] < row["another_value"] < row["another_upper"]


def test_what_is_missing_or_idle_is_refused() -> None:
    scope: Any = {"scope": "another-assessor"}
    for asked, words in (
        (FEW | scope, "nothing says what another assessor"),
        (FEW | {"confusion": "9 1; 1 9"}, "a confusion is only for the scope another-assessor"),
        (FEW | scope | {"confusion": "9 1; 1 9"}, "2 levels, and the judgments have 3: 0, 1, 2"),
        (scope | {"estimators": "background"}, "no posterior among the estimators"),
    ):
        with pytest.raises(InputError, match=words):
            score(load_example(), "new-a", **asked)
    with pytest.raises(InputError, match="no posterior among the estimators"):
        compare(load_example(), scope=("another-assessor",), estimators="background")

"""Sparse judgments: a relevant document or two for each topic, none judged nonrelevant."""

from __future__ import annotations

import pytest

from bayespool import compare, read_collection, score
from bayespool.collection import Collection
from bayespool.errors import SparseJudgmentsWarning
from bayespool.posterior import PosteriorEstimator

SPARSE = {"q1": {"d1": 1}, "q2": {"d2": 1}}
"""A relevant document for each topic, and nothing else."""
OF_TWO = {
    "a": {"q1": {"d1": 3.0, "x": 2.0}, "q2": {"y": 3.0, "z": 2.0}},
    "b": {"q1": {"x": 3.0, "z": 2.0}, "q2": {"d2": 3.0, "w": 2.0}},
}


def sparse(**options: object) -> Collection:
    with pytest.warns(
        SparseJudgmentsWarning, match="every judged document is relevant: judged precision is 1"
    ):
        return read_collection(SPARSE, OF_TWO, **options)  # type: ignore[arg-type]


def test_posteriors_have_no_value_where_relevant_documents_alone_are_judged() -> None:
    collection = sparse()
    scores = score(collection, measures=["RR@1", "P@2"], estimators=["as-judged", "posterior-combined"])
    rows = scores.to_frame().set_index(["measure", "estimator", "run_id"])
    assert rows.loc[("RR@1", "as-judged", "a"), ["value", "bound_lower", "bound_upper"]].tolist() == [
        0.5,
        0.5,
        1.0,
    ]
    posterior = rows.xs("posterior-combined", level="estimator")
    assert posterior["value"].isna().all()
    assert posterior["lower"].isna().all()
    assert posterior["note"].str.contains("needs documents judged nonrelevant").all()
    assert any(
        "interpolated, smoothed and condensed-list follow it, and say nothing" in n for n in scores.notes()
    )
    assert scores.metadata["pool"]["is_sparse"]
    # the sentence is on the bounds, which are what is known
    assert scores.summary()[0].startswith(
        "The RR@1 of a lies between 0.500 and 1.000 over 2 topics, whatever"
    )


def test_a_run_with_nothing_unjudged_has_its_value_there() -> None:
    with pytest.warns(SparseJudgmentsWarning):
        collection = read_collection(SPARSE, {"a": {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}})
    (estimate,) = PosteriorEstimator().estimate(collection, "a", "RR@1")
    assert estimate.value.tolist() == [1.0]
    assert estimate.notes == ("",)


def test_a_few_judgments_of_ones_own_give_posteriors_a_value() -> None:
    collection = sparse(own_judgments={"q1": {"x": 0, "z": 0}, "q2": {"y": 0}})
    value = score(collection, "a", "P@2", estimators="posterior-combined", draws=50).to_frame()["value"][0]
    assert 0.25 <= value <= 0.5  # one document of four is relevant, one unjudged


def test_comparisons_of_sparse_judgments_are_as_judged() -> None:
    result = compare(sparse(), measures="RR@2", estimators=["as-judged", "posterior-combined"], draws=50)
    rows = result.significance().set_index("method")
    assert rows.loc["posterior-combined", ["difference", "p_value", "p_adjusted"]].isna().all()
    assert rows.loc["as-judged", "difference"] == 0.0
    assert "posterior" not in " ".join(result.summary())

"""Sparse judgments: a relevant document or two for each topic, none judged nonrelevant."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from bayespool import compare, read_collection, score
from bayespool.collection import Collection
from bayespool.comparisons import plan_comparison
from bayespool.errors import BayespoolWarning, InputError, NoPoolWarning, SparseJudgmentsWarning

SPARSE = {"q1": {"d1": 1}, "q2": {"d2": 1}}
"""A relevant document for each topic, and nothing else."""
OF_TWO = {
    "a": {"q1": {"d1": 3.0, "x": 2.0}, "q2": {"y": 3.0, "z": 2.0}},
    "b": {"q1": {"x": 3.0, "z": 2.0}, "q2": {"d2": 3.0, "w": 2.0}},
}


SAID = pytest.mark.filterwarnings("ignore::bayespool.errors.SparseJudgmentsWarning")


def sparse(**options: object) -> Collection:
    return read_collection(SPARSE, OF_TWO, **options)  # type: ignore[arg-type]


def test_posteriors_have_no_value_where_relevant_documents_alone_are_judged() -> None:
    collection = sparse()
    with pytest.warns(SparseJudgmentsWarning, match="posteriors have no value, quote bounds") as warned:
        scores = score(collection, measures=["RR@1", "P@2"], estimators=["as-judged", "posterior-combined"])
    assert [str(warning.message) for warning in warned] == [scores.notes()[0]]
    with warnings.catch_warnings(action="error"):  # once per collection
        score(collection, measures="P@2", estimators="posterior-combined")
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
    assert any("interpolated, smoothed and condensed-list rest on it" in n for n in scores.notes())
    assert scores.metadata["pool"]["is_sparse"]
    # the sentence is on the bounds, which are what is known
    assert scores.sentences()[0].startswith(
        "The RR@1 of a lies between 0.500 and 1.000 over 2 topics, whatever"
    )


@SAID
def test_a_few_judgments_of_ones_own_give_posteriors_a_value() -> None:
    collection = sparse(own_judgments={"q1": {"x": 0, "z": 0}, "q2": {"y": 0}})
    value = score(
        collection, "a", "P@2", estimators="posterior-combined", posterior_settings="draws=50"
    ).to_frame()["value"][0]
    assert 0.25 <= value <= 0.5  # one document of four is relevant, one unjudged


@SAID
def test_comparisons_of_sparse_judgments_are_as_judged() -> None:
    result = compare(
        sparse(),
        measures="RR@2",
        estimators=["as-judged", "posterior-combined"],
        posterior_settings="draws=50",
    )
    rows = result.significance().set_index("estimator")
    assert rows.loc["posterior-combined", ["difference", "p_value", "p_adjusted"]].isna().all()
    assert rows.loc["as-judged", "difference"] == 0.0
    assert rows.loc["posterior-combined", "significant"] is pd.NA
    assert rows.loc["as-judged", "significant"] is pd.NA
    (sentence,) = result.sentences()
    assert "the same as judged" in sentence
    assert "Unjudged are 75.0 % of the top 2 of a and 75.0 % of the top 2 of b; the difference" in sentence
    assert "would not be significant at 0.05 if all that is unjudged were nonrelevant" in sentence
    assert "p = 1.0000" in sentence
    with pytest.raises(InputError, match="has no value of RR@2: it needs documents judged"):
        plan_comparison(sparse(), measures="RR@2")


def test_a_few_nonrelevant_documents_on_few_topics_do_not_change_that() -> None:
    topics = [f"q{t}" for t in range(20)]
    for n_zeros, is_sparse in ((1, True), (2, True), (3, False)):
        judgments = {q: {"d": 1} | ({"x": 0, "y": 0} if t < n_zeros else {}) for t, q in enumerate(topics)}
        collection = read_collection(judgments, {"a": {q: {"d": 2.0, "z": 1.0} for q in topics}})
        assert collection.is_sparse == is_sparse, n_zeros
        with pytest.warns(SparseJudgmentsWarning if is_sparse else NoPoolWarning):
            score(collection, measures="P@2", estimators="posterior-combined", posterior_settings="draws=20")


@SAID
def test_a_sentence_names_the_difference_as_judged_and_its_test() -> None:
    judgments = {f"q{t}": {"d": 1} for t in range(6)}
    better = {q: {"d": 2.0, "x": 1.0} if q != "q0" else {"x": 2.0} for q in judgments}
    worse = {q: {"x": 2.0, "d": 1.0} if q != "q1" else {"d": 2.0} for q in judgments}
    collection = read_collection(judgments, {"a": worse, "b": better})
    (sentence,) = compare(
        collection, measures="RR@2", estimators=["as-judged", "posterior-combined"]
    ).sentences()
    # RR of a: .5 on five topics, 1 on one; of b: 1 on four, 0 on q0, .5 on q1
    assert "RR@2 of b is higher than that of a by 0.250 as judged" in sentence


def graded(lowest: int, *, pool: bool) -> Collection:
    """Three levels, the lowest of which most documents have, and a run with unjudged documents."""
    topics = [f"q{t}" for t in range(8)]
    others = {
        name: {q: {f"{name if i % 2 else 'all'}{i}": -i for i in range(6)} for q in topics} for name in "abcd"
    }
    pooled = sorted({d for documents in others.values() for d in documents["q0"]})
    judgments = {
        q: {d: lowest + (i + t) % 5 // 2 for i, d in enumerate(pooled)} for t, q in enumerate(topics)
    }
    runs = {"new": {q: {f"{'all' if i % 3 else 'x'}{i}": -i for i in range(12)} for q in topics}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayespoolWarning)
        return read_collection(judgments, runs, pool=others if pool else None)


def test_judgments_are_sparse_for_measures_to_which_all_are_relevant() -> None:
    collection = graded(1, pool=False)
    assert not collection.is_sparse
    assert (collection.is_sparse_at(1), collection.is_sparse_at(2)) == (True, False)
    with pytest.warns(SparseJudgmentsWarning, match="more: posteriors of P@5 have no value"):
        scores = score(
            collection,
            "new",
            ["P@5", "P(rel=3)@5"],
            estimators="posterior-combined",
            posterior_settings="draws=50",
        )
    assert np.isnan(scores.to_frame()["value"]).tolist() == [True, False]
    assert [note for note in scores.notes() if note.startswith("P@5: only relevant documents are judged")]

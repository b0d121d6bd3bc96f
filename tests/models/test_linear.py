"""Rows of evidence: hidden documents that no predictor tells apart, with their labels and without."""

from __future__ import annotations

import math

import numpy as np
import pytest
from predicted import unjudged_document_table
from toys import toy_collection

from bayespool.collection import Collection, add_judges, labels_from_frame
from bayespool.evidence import hidden_document_table
from bayespool.models import gather_documents

# of the hidden documents b and c of topic 1, p and r of topic 2 and b of topic 3 have a label: all north's
LABELS = {"1": {"a": 2, "b": 0, "c": 2, "l": 2}, "2": {"p": 0, "r": 2}, "3": {"b": 0}}
NAMES = ("llm ≥ 2", "llm without label")
SLOPES = {"precision": (0.2, 0.5), "llm ≥ 2": (1.5, 0.8), "llm without label": (0.0, 0.5)}


def labeled() -> Collection:
    return add_judges(toy_collection(), {"llm": labels_from_frame(LABELS)})


def gathered(slopes: dict[str, tuple[float, float]], collection: Collection | None = None):
    collection = labeled() if collection is None else collection
    return gather_documents(
        collection, hidden_document_table(collection, cutoff=3, names=tuple(slopes)), slopes
    )


def test_rows_of_rankings_are_split_by_label() -> None:
    """Run, topic, label, documents, relevant ones: by hand, from the toy's picture."""
    evidence = gathered(SLOPES)
    names = [toy_collection().run_ids[run] for run in evidence.run]
    own_scale = evidence.predictors * evidence.unit + evidence.center
    reaches, is_missing = own_scale[:, 1:].round().astype(int).T.tolist()
    label = ["none" if m else str(r) for m, r in zip(is_missing, reaches, strict=True)]
    rows = set(
        zip(
            names,
            [evidence.query_ids[t] for t in evidence.topic],
            label,
            evidence.n_hidden.tolist(),
            evidence.n_hidden_relevant.tolist(),
            strict=True,
        )
    )
    assert rows == {
        ("n1", "1", "1", 1, 1),  # c
        ("n2", "1", "0", 1, 0),  # b, which n2 ranks first
        ("n2", "1", "none", 1, 1),  # f
        ("n2", "2", "0", 1, 1),  # p
        ("n2", "2", "1", 1, 1),  # r
        ("n2", "3", "0", 1, 0),
        ("s1", "1", "none", 1, 0),
        ("s1", "2", "none", 2, 1),  # v and w: nothing tells them apart
        ("s2", "1", "none", 2, 1),
        ("s2", "3", "none", 1, 0),
    }
    assert len(evidence.run) == 10


def test_without_labels_a_ranking_is_one_row() -> None:
    with_labels, without = gathered(SLOPES), gathered({"precision": (0.2, 0.5)})
    assert len(without.run) == 8
    assert len(set(zip(without.run.tolist(), without.topic.tolist(), strict=True))) == 8
    for evidence in (with_labels, without):
        assert evidence.n_hidden.sum() == 12
        assert evidence.n_hidden_relevant.sum() == 6
    plain = gathered({"precision": (0.2, 0.5)}, toy_collection())
    assert plain.predictors.tobytes() == without.predictors.tobytes()


def test_a_document_without_a_label_is_an_average_one() -> None:
    """Average over the documents that have one: two of five reach it."""
    evidence = gathered(SLOPES)
    assert evidence.center[1:].tolist() == pytest.approx([2 / 5, 7 / 12])
    missing = evidence.predictors[:, 2] > 0
    assert missing.sum() == 5
    assert (evidence.predictors[missing, 1] == 0).all()
    assert np.unique(evidence.predictors[~missing, 1].round(12)).tolist() == pytest.approx(
        [-0.4 * 0.8, 0.6 * 0.8]
    )
    # the mean over hidden documents is zero, of those with a label for what it reaches
    means = (evidence.predictors * evidence.n_hidden[:, None]).sum(axis=0)
    assert means == pytest.approx(0, abs=1e-12)


def test_slopes_are_expected_in_units_of_their_standard_deviations() -> None:
    evidence = gathered(SLOPES)
    assert evidence.predictor_names == tuple(SLOPES)
    assert evidence.unit.tolist() == pytest.approx([1 / 0.5, 1 / 0.8, 1 / 0.5])
    assert evidence.expected.tolist() == pytest.approx([0.2 / 0.5, 1.5 / 0.8, 0])


def test_documents_to_predict_are_on_the_same_scale() -> None:
    collection = labeled()
    evidence = gathered(SLOPES)
    table = unjudged_document_table(collection, ("u",), cutoff=3, names=tuple(SLOPES))
    standard = evidence.standardize(table)
    assert np.isfinite(standard).all()
    of = {collection.doc_id(int(pair)): row for pair, row in zip(table.pair, standard, strict=True)}
    assert of["l"][1:] == pytest.approx([0.6 * 0.8, -7 / 12 * 0.5])  # reaches 2
    assert of["d"][1:] == pytest.approx([0, 5 / 12 * 0.5])  # without a label


def test_rows_of_documents_stay_one_document_each() -> None:
    evidence = gathered({"log_rank": (-0.1, 0.2), **SLOPES})
    assert evidence.n_hidden.tolist() == [1] * 12
    assert (evidence.predictors[:, 2] == 0).sum() == 7


def test_a_judge_of_no_hidden_document_tells_nothing() -> None:
    """All labels are of documents that are no evidence: the column is zero, and so is its center."""
    collection = add_judges(toy_collection(), {"llm": labels_from_frame({"1": {"a": 2, "l": 0}})})
    evidence = gathered({"precision": (0.2, 0.5), "llm ≥ 2": (1.0, 0.5)}, collection)
    assert (evidence.predictors[:, 1] == 0).all()
    assert evidence.center[1] == 0
    assert len(evidence.run) == 8
    assert not math.isnan(evidence.expected[1])


def test_evidence_of_some_organizations_keeps_their_rows() -> None:
    evidence = gathered(SLOPES)
    north = evidence.of_organizations(np.array([True, False]))
    assert north.organizations == ("north",)
    assert north.n_hidden.sum() == 6
    assert north.center.tolist() == evidence.center.tolist()

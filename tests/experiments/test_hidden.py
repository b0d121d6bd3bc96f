"""Hidden documents that every model predicts are the same ones."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from checked import every_model, example_hidden, prepared, two_models
from hypothesis import given, strategies as st
from toys import pooled_collections, toy_collection

from bayespool.collection import Collection, qrels_from_frame
from bayespool.experiments import load_example
from bayespool.experiments.hidden import HiddenDocuments, pool_alone
from bayespool.measures import parse_measure
from bayespool.models import MODEL_NAMES, LinearEvidence
from bayespool.posterior import ScoringProblem


def test_hidden_documents_of_the_toy_are_those_worked_out_by_hand() -> None:
    """North alone contributed b c f, p r, b; south h i k, v w, d (see toys.py); here with two more ranks."""
    collection = toy_collection()
    hidden = HiddenDocuments(ScoringProblem(collection, (), parse_measure("P@5"), "pooled"))
    run, topic, pair, number = hidden.places
    found = [
        (hidden.counts.run_ids[r], collection.query_ids[t], collection.doc_id(p))
        for r, t, p in zip(run, topic, pair, strict=True)
    ]
    # n1 and n2 both retrieve b and c on topic 1 and p and r on topic 2: north's in the places of each
    assert found == [
        *(("n1", "1", d) for d in "bc"),
        *(("n1", "2", d) for d in "pr"),
        ("n1", "3", "b"),
        *(("n2", "1", d) for d in "bfc"),
        *(("n2", "2", d) for d in "pr"),
        ("n2", "3", "b"),
        *(("s1", "1", d) for d in "hi"),
        *(("s1", "2", d) for d in "vw"),
        ("s1", "3", "d"),
        *(("s2", "1", d) for d in "hk"),
        ("s2", "3", "d"),
    ]
    assert len(set(number)) == len({(q, d) for _, q, d in found}) == 12
    assert hidden.organizations == ("north", "south")
    assert hidden.organization.tolist() == [0, 0, 1, 1]


@given(pooled_collections(), st.sampled_from(MODEL_NAMES), st.integers(1, 5))
def test_rows_of_every_model_hold_every_hidden_document_once(
    collection: Collection, model: str, cutoff: int
) -> None:
    """Also where a model learns from documents below the cutoff."""
    measure = parse_measure(f"P@{cutoff}")
    task = ScoringProblem(collection, (), measure, "pooled")
    hidden = HiddenDocuments(task)
    run, topic, pair, number = hidden.places
    counted = np.zeros(hidden.counts.n_hidden.shape[:2], dtype=int)
    np.add.at(counted, (run, topic), 1)
    np.testing.assert_array_equal(counted, hidden.counts.n_hidden[:, :, 0])
    rows = hidden.rows(task.prepare(model, {}).evidence)  # type: ignore[arg-type]
    assert len(rows.of_document) == len(set(number)) == rows.n_hidden.sum()
    relevant = np.zeros(len(rows.of_document), dtype=int)
    relevant[number] = collection.relevance[pair] >= measure.rel
    np.testing.assert_array_equal(
        np.bincount(rows.of_document, relevant, len(rows.n_hidden)).astype(int), rows.n_hidden_relevant
    )
    np.testing.assert_array_equal(hidden.organization[run], rows.organization[rows.of_document[number]])
    np.testing.assert_array_equal(topic, rows.topic[rows.of_document[number]])


def test_rows_that_are_neither_documents_nor_cells_are_refused() -> None:
    evidence = prepared("ratio").evidence
    with pytest.raises(ValueError, match="neither hidden documents nor"):
        example_hidden().rows(dataclasses.replace(evidence, n_hidden=evidence.n_hidden + 1))


@every_model
def test_models_predict_the_same_documents_at_a_shallow_cutoff(model: str) -> None:
    task = ScoringProblem(load_example(), (), parse_measure("P@5"), "pooled")
    hidden = HiddenDocuments(task)
    rows = hidden.rows(task.prepare(model, {}).evidence)  # type: ignore[arg-type]
    of_runs = np.bincount(rows.run, rows.n_hidden, len(hidden.organization))
    np.testing.assert_array_equal(of_runs, hidden.counts.n_credited.sum(axis=(1, 2)))
    relevant = np.bincount(rows.run, rows.n_hidden_relevant, len(hidden.organization))
    np.testing.assert_array_equal(relevant, hidden.counts.n_credited_relevant.sum(axis=(1, 2)))


@two_models
def test_organizations_are_taken_out_with_their_hidden_documents_alone(model: str) -> None:
    evidence = prepared(model).evidence
    kept = np.array([True, False, True, True, True, True, False, True])
    fewer: Any = evidence.of_organizations(kept)
    whose = "organization" if isinstance(evidence, LinearEvidence) else "hidden_organization"
    mine = kept[getattr(evidence, whose)]
    assert fewer.organizations == tuple(np.array(evidence.organizations)[kept])
    before, after = np.array(evidence.organizations), np.array(fewer.organizations)
    np.testing.assert_array_equal(after[getattr(fewer, whose)], before[getattr(evidence, whose)][mine])
    for name, values in evidence.arrays().items():
        field = name if hasattr(evidence, name) else name.removeprefix("hidden_")
        if len(values) == len(mine) and name not in ("hidden_organization", "hidden_organization_topic"):
            np.testing.assert_array_equal(getattr(fewer, field), getattr(evidence, field)[mine])
    if isinstance(evidence, LinearEvidence):
        of_topics = [  # organization and topic of each row by name
            np.array(e.coords["organization_topic"])[e.arrays()["hidden_organization_topic"]]
            for e in (evidence, fewer)
        ]
        np.testing.assert_array_equal(of_topics[1], of_topics[0][mine])
        assert len(fewer.coords["organization_topic"]) == 6 * len(evidence.query_ids)
    else:
        assert fewer.n_judged is evidence.n_judged


def test_judgments_of_ones_own_take_no_part() -> None:
    example = load_example()
    run = example.run_ids.index("new-a")
    pair = next(p for p in example.document[run].ravel() if p >= 0 and example.relevance[p] < 0)
    topic = example.query_ids[example.pair_topic[pair]]
    more = example.add_judgments(qrels_from_frame({topic: {example.doc_id(int(pair)): 1}}))
    assert pool_alone(more).fingerprint == example.fingerprint
    assert pool_alone(example) is example

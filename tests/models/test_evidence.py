"""The evidence of a model, counted by hand: of cells, and of rows that no predictor tells apart."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import evidence_of
from predicted import unjudged_document_table
from toys import toy_collection

from bayespool.collection import Collection, add_judges
from bayespool.evidence import hidden_document_table
from bayespool.models import gather_documents
from bayespool.reading import labels_from_frame


def test_evidence_of_the_toy_is_what_one_counts_by_hand() -> None:
    evidence = evidence_of(toy_collection(), "u", cutoff=3)
    assert evidence.query_ids == ("1", "2", "3")
    assert evidence.organizations == ("north", "south")
    assert evidence.run_ids == ("n1", "n2", "s1", "s2", "u")
    e = evidence
    counted = (e.hidden_run, e.hidden_topic, e.hidden_organization, e.n_hidden, e.n_hidden_relevant)
    cells = zip(*(of.tolist() for of in (*counted, (3 * e.hidden_residual).round(12))), strict=True)
    # run, topic, organization, documents credited, relevant ones, hidden or unjudged ranks of three
    assert list(cells) == [
        (0, 0, 0, 1, 1, 2),  # n1 on topic 1: c; b is credited to n2, which ranks it first
        (1, 0, 0, 2, 1, 2),  # n2: b and f
        (1, 1, 0, 2, 2, 2),  # n2 on topic 2: p and r, for n1 too
        (1, 2, 0, 1, 0, 1),
        (2, 0, 1, 1, 0, 2),  # s1 on topic 1: i; h is credited to s2
        (2, 1, 1, 2, 1, 2),
        (3, 0, 1, 2, 1, 2),
        (3, 2, 1, 1, 0, 1),
    ]
    rankings = (of.tolist() for of in (e.judged_run, e.judged_topic, e.n_judged, e.n_relevant))
    assert set(zip(*rankings, strict=True)) == {
        (0, 0, 1, 1), (0, 1, 1, 0), (0, 2, 2, 0),
        (1, 0, 1, 1), (1, 1, 1, 0), (1, 2, 2, 0),
        (2, 0, 1, 1), (2, 1, 1, 0), (2, 2, 2, 0),
        (3, 2, 1, 0),  # s2 on topic 1: all hidden; on topic 2: nothing retrieved
        (4, 0, 1, 1), (4, 1, 2, 2),  # u on topic 3: nothing judged
    }  # fmt: skip
    assert len(evidence.judged_run) == 12


def test_run_to_score_is_not_its_own_evidence() -> None:
    evidence = evidence_of(toy_collection(), ["s1"], cutoff=3)
    assert evidence.run_ids == ("n1", "n2", "s2", "s1")
    assert 3 not in evidence.hidden_run
    assert evidence.organizations == ("north", "south")
    alone = evidence_of(toy_collection(), ["s1", "s2"], cutoff=3)
    assert alone.organizations == ("north",)
    assert set(alone.hidden_organization.tolist()) == {0}


# of the hidden documents b and c of topic 1, p and r of topic 2 and b of topic 3 have a label: all north's
LABELS = {"1": {"a": 2, "b": 0, "c": 2, "l": 2}, "2": {"p": 0, "r": 2}, "3": {"b": 0}}
SLOPES = {"precision": (0.2, 0.5), "llm ≥ 2": (1.5, 0.8), "llm without label": (0.0, 0.5)}


def labeled() -> Collection:
    return add_judges(toy_collection(), {"llm": labels_from_frame(LABELS)})


def gathered():
    table = hidden_document_table(labeled(), cutoff=3, names=tuple(SLOPES))
    return gather_documents(labeled(), table, SLOPES)


def test_rows_of_rankings_are_split_by_label() -> None:
    """Run, topic, label, documents, relevant ones: by hand, from the toy's picture."""
    evidence = gathered()
    own_scale = evidence.predictors * evidence.unit + evidence.center
    reaches, is_missing = own_scale[:, 1:].round().astype(int).T.tolist()
    label = ["none" if m else str(r) for m, r in zip(is_missing, reaches, strict=True)]
    names = [toy_collection().run_ids[run] for run in evidence.run]
    topics, counted = (
        [evidence.query_ids[t] for t in evidence.topic],
        (evidence.n_hidden, evidence.n_hidden_relevant),
    )
    assert set(zip(names, topics, label, *(of.tolist() for of in counted), strict=True)) == {
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


def test_a_document_without_a_label_is_an_average_one() -> None:
    """Average over the documents that have one: two of five reach it."""
    evidence = gathered()
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


def test_documents_to_predict_are_on_the_same_scale() -> None:
    collection = labeled()
    evidence = gathered()
    table = unjudged_document_table(collection, ("u",), cutoff=3, names=tuple(SLOPES))
    standard = evidence.standardize(table)
    assert np.isfinite(standard).all()
    of = {collection.doc_id(int(pair)): row for pair, row in zip(table.pair, standard, strict=True)}
    assert of["l"][1:] == pytest.approx([0.6 * 0.8, -7 / 12 * 0.5])  # reaches 2
    assert of["d"][1:] == pytest.approx([0, 5 / 12 * 0.5])  # without a label


def test_evidence_of_some_organizations_keeps_their_rows() -> None:
    evidence = gathered()
    north = evidence.select_organizations(np.array([True, False]))
    assert north.organizations == ("north",)
    assert north.n_hidden.sum() == 6
    assert north.center.tolist() == evidence.center.tolist()


def test_evidence_on_some_topics_keeps_their_rows() -> None:
    evidence = gathered()
    kept = np.arange(len(evidence.query_ids)) > 0
    later = evidence.select_topics(kept)
    assert later.query_ids == evidence.query_ids[1:]
    rows = evidence.topic > 0
    assert later.topic.tolist() == (evidence.topic[rows] - 1).tolist()
    assert later.n_hidden_relevant.tolist() == evidence.n_hidden_relevant[rows].tolist()
    assert later.organizations == evidence.organizations

"""Predictors of documents, by hand."""

from __future__ import annotations

import dataclasses

import numpy as np
from each import cases
from predicted import unjudged_document_table
from toys import documents_of

from bayespool.collection import build_collection
from bayespool.collection.contents import DepthPool
from bayespool.collection.pools import sole_contributor
from bayespool.evidence import PREDICTORS, document_table, hidden_document_table
from bayespool.evidence.composition import composition_effects
from bayespool.evidence.predictor_table import with_predictors
from bayespool.evidence.predictors import COMPOSITION_PREDICTORS, evidence_predictors
from bayespool.experiments import load_example
from bayespool.reading import qrels_from_frame, run_from_frame

OTHERS = tuple(name for name in PREDICTORS if name not in evidence_predictors())
ALL = (*evidence_predictors(), *(name for name in OTHERS if name not in COMPOSITION_PREDICTORS))  # any cutoff


def toy():
    """Two pooled runs to depth 2 and one to score, on one topic.

    Only a contributed d1, which is relevant, only b d4, which is relevant, both d2, which is not.
    """
    rankings = {"a": "d1 d2 d3", "b": "d2 d4 d1", "t": "d5 d1 d4"}
    runs = [
        run_from_frame({"q": {doc: -i for i, doc in enumerate(docs.split())}}, run)
        for run, docs in rankings.items()
    ]
    qrels = qrels_from_frame({"q": {"d1": 1, "d2": 0, "d4": 1}})
    return build_collection(runs, qrels, pooled_run_ids=["a", "b"], pool_depth=2)


def test_predictors_of_a_hidden_document_by_hand():
    table = hidden_document_table(toy(), cutoff=2)
    assert [toy().doc_id(pair) for pair in table.pair] == ["d1", "d4"]
    assert table.relevant.tolist() == [1, 1]
    expected = {
        "log_rank": np.log(1),
        "precision": np.log(0.5 / 1.5),  # of a without its own d1: d2, not relevant
        "run_precision": np.log(0.5 / 1.5),
        "support": 1.0,  # b retrieves it
        "log_best_rank": np.log(3),
        "fusion": np.log1p(10 * 0.5 / np.log2(4)),  # b's precision is (1 + ½)/(2 + 1)
        "local_precision": np.log((0 + 0.25) / (1 / 1.2 + 0.75)),  # d2 one rank away; a's precision is ½/2
        "run_unjudged": np.log(2.5 / 1.5),  # d1 and d3 against d2
    }
    assert tuple(expected) == evidence_predictors()
    np.testing.assert_allclose(table.predictors[0], list(expected.values()), rtol=1e-12)


def test_predictors_of_an_unjudged_document_by_hand():
    table = unjudged_document_table(toy(), ("t",), cutoff=2)
    assert [toy().doc_id(pair) for pair in table.pair] == ["d5"]
    of_run = 2.5 / 3
    expected = {
        "log_rank": 0.0,
        "precision": np.log(2.5 / 0.5),
        "run_precision": np.log(2.5 / 0.5),
        "support": 0.0,
        "log_best_rank": np.log(6),  # nobody: twice the longest ranking
        "fusion": 0.0,
        "local_precision": np.log((1 / 1.2 + 1 / 1.4 + of_run) / (1 - of_run)),
        "run_unjudged": np.log(1.5 / 2.5),
    }
    np.testing.assert_allclose(table.predictors[0], list(expected.values()), rtol=1e-12)


@cases("depths", [5, (10, 4, 7)])
def test_what_is_hidden_tells_nothing_of_itself(depths):
    """Turn the relevance of all that one organization alone contributed: its predictors stay.

    Runs of one organization that were judged to depths of their own are among them.
    """
    collection = load_example()
    if isinstance(depths, tuple):
        own = np.where(collection.pooled, np.resize(depths, len(collection.run_ids)), 10)
        collection = collection.with_pool(collection.pooled, DepthPool(10, tuple(own.tolist())))
    elif depths < collection.pool_depth:
        collection = collection.truncate_pool(depths)
    before = hidden_document_table(collection, cutoff=10, names=tuple(PREDICTORS))
    for o in np.unique(collection.organization[collection.pooled]):
        own = sole_contributor(collection) == o
        turned = np.where(
            own & (collection.relevance >= 0), 1 - collection.relevance.clip(0, 1), collection.relevance
        )
        changed = dataclasses.replace(collection, relevance=turned.astype(np.int16))
        after = hidden_document_table(changed, cutoff=10, names=tuple(PREDICTORS))
        rows = collection.organization[before.run] == o
        assert rows.any()
        assert (after.relevant[rows] == 1 - before.relevant[rows]).all()
        np.testing.assert_array_equal(after.predictors[rows], before.predictors[rows])


def test_composition_predictors_are_the_effects_without_the_organization():
    collection = load_example()
    plain = hidden_document_table(collection, cutoff=10)
    table = with_predictors(plain, plain.context(collection, cutoff=10), COMPOSITION_PREDICTORS)
    run, topic = int(table.run[0]), int(table.topic[0])
    organization = collection.organizations[collection.organization[run]]
    effects = composition_effects(
        collection.unpool(organization=organization), collection.run_ids[run], cutoffs=10
    )
    expected = [effects.delta_precision[0, topic, 0], effects.delta_antiprecision[0, topic, 0]]
    np.testing.assert_array_equal(table.columns(COMPOSITION_PREDICTORS)[0], expected)


def test_nothing_hidden_and_nothing_unjudged_are_empty_tables():
    collection = toy().with_pool(np.zeros(3, dtype=bool), 0)
    hidden = hidden_document_table(collection, cutoff=5)
    assert hidden.predictors.shape == (0, len(evidence_predictors()))
    judged = dataclasses.replace(toy(), relevance=np.ones_like(toy().relevance))
    unjudged = unjudged_document_table(judged, ("t",), cutoff=5)
    assert unjudged.predictors.shape == (0, len(evidence_predictors()))


@cases("depth", [1, 10, 29])
def test_values_do_not_depend_on_the_depth_nor_on_what_else_is_asked(depth):
    collection = load_example()
    run, topic, rank, pair = documents_of(collection, ("new-a", "new-b"), 100)
    everything = document_table(collection, run, topic, rank, pair, depth=100, names=ALL)
    within = (rank <= depth) & (collection.run_index("new-a")[0] == run)
    some = run[within], topic[within], rank[within], pair[within]
    alone = document_table(collection, *some, depth=depth, names=ALL)
    assert len(alone) == 20 * depth
    np.testing.assert_array_equal(alone, everything[within])

"""Relevant, nonrelevant, unjudged and missing documents, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from each import cases
from toys import toy_collection

from bayespool.errors import InputError
from bayespool.evidence import JudgmentCounts, condensed_counts, held_out_counts, judgment_counts
from bayespool.evidence.bounds import unjudged_documents
from bayespool.evidence.composition import composition_effects


def split(counts: JudgmentCounts, cutoff: int) -> dict[str, list[tuple[int, int, int, int]]]:
    """Relevant, nonrelevant, unjudged, missing per run and topic."""
    c = counts.cutoffs.index(cutoff)
    parts = (counts.n_relevant, counts.n_nonrelevant, counts.n_unjudged, counts.n_missing)
    table = np.stack([part[:, :, c] for part in parts], axis=-1).tolist()
    return {run: [tuple(row) for row in rows] for run, rows in zip(counts.run_ids, table, strict=True)}


def test_counts_of_the_toy() -> None:
    counts = judgment_counts(toy_collection(), cutoffs=[3, 5])
    assert split(counts, 3) == {
        "n1": [(2, 1, 0, 0), (2, 1, 0, 0), (0, 3, 0, 0)],  # a1 b0 c2, q0 p1 r2, a0 b0 c0
        "n2": [(2, 1, 0, 0), (2, 1, 0, 0), (0, 3, 0, 0)],
        "s1": [(2, 1, 0, 0), (1, 2, 0, 0), (0, 3, 0, 0)],
        "s2": [(1, 1, 0, 1), (0, 0, 0, 3), (0, 2, 0, 1)],
        "u": [(1, 0, 2, 0), (2, 0, 1, 0), (0, 0, 2, 1)],
    }
    assert split(counts, 5) == {
        "n1": [(2, 1, 2, 0), (2, 1, 2, 0), (0, 3, 0, 2)],
        "n2": [(3, 1, 1, 0), (2, 1, 1, 1), (0, 3, 0, 2)],
        "s1": [(2, 3, 0, 0), (2, 2, 1, 0), (0, 3, 1, 1)],
        "s2": [(1, 1, 0, 3), (0, 0, 0, 5), (0, 2, 0, 3)],  # no document on topic 2
        "u": [(2, 0, 3, 0), (2, 0, 2, 1), (0, 0, 2, 3)],  # m is judged −1
    }


def test_pooled_estimand_leaves_what_is_below_the_pool_nonrelevant() -> None:
    counts = judgment_counts(toy_collection(), ["n1", "u"], cutoffs=[3, 5], estimand="pooled")
    assert split(counts, 5) == {
        "n1": [(2, 3, 0, 0), (2, 3, 0, 0), (0, 3, 0, 2)],
        "u": [(2, 1, 2, 0), (2, 1, 1, 1), (0, 0, 2, 3)],  # m and x are below depth 3
    }
    complete = judgment_counts(toy_collection(), ["n1", "u"], cutoffs=[3, 5])
    assert split(counts, 3) == split(complete, 3)


@cases("cutoffs", [[], 0, [5, 0], [-1]])
def test_cutoffs_begin_at_one(cutoffs: int | list[int]) -> None:
    for count in (judgment_counts, condensed_counts, held_out_counts, composition_effects):
        with pytest.raises(InputError, match="give at least one, each 1 or more"):
            count(toy_collection(), cutoffs=cutoffs)


def test_unjudged_documents_of_the_toy() -> None:
    collection = toy_collection()
    run, topic, rank, pair = unjudged_documents(collection, ["u", "n1"], cutoff=5)
    assert run.tolist() == [0] * 7 + [1] * 4
    assert topic.tolist() == [0, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1]
    assert [collection.doc_id(p) for p in pair] == list("ldmzxef" + "dest")
    assert pair[1] == pair[7]  # d of topic 1, in both runs
    assert np.array_equal(collection.document[collection.run_index(["u", "n1"])[run], topic, rank - 1], pair)
    assert (collection.pair_topic[pair] == topic).all()
    run, topic, _, pair = unjudged_documents(collection, ["u", "n1"], cutoff=5, estimand="pooled")
    assert [collection.doc_id(p) for p in pair] == list("ldzef")
    assert (run.tolist(), topic.tolist()) == ([0] * 5, [0, 0, 1, 2, 2])

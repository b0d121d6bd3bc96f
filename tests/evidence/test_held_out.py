"""What is judged, relevant and unjudged, and what is hidden when runs are held out, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
import toys
from each import cases
from hypothesis import given, strategies as st
from toys import from_rankings, toy_collection

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import (
    HeldOutCounts,
    JudgmentCounts,
    condensed_counts,
    held_out_counts,
    judgment_counts,
)
from bayespool.evidence.bounds import unjudged_documents
from bayespool.evidence.composition import composition_effects
from bayespool.evidence.held_out import held_out_documents


def table_of(counts: HeldOutCounts | JudgmentCounts, cutoff: int, *names: str) -> dict[str, list[tuple]]:
    """The named counts per run and topic."""
    c = counts.cutoffs.index(cutoff)
    table = np.stack([getattr(counts, name)[:, :, c] for name in names], axis=-1).tolist()
    return {run: [tuple(row) for row in rows] for run, rows in zip(counts.run_ids, table, strict=True)}


KNOWN = ("n_relevant", "n_nonrelevant", "n_unjudged")
HIDDEN = ("n_hidden", "n_hidden_relevant")
CREDITED = ("n_credited", "n_credited_relevant")


def test_organizations_held_out_of_the_toy() -> None:
    """The north alone had b c f, p r, and b; the south h i k, v w, and d."""
    counts = held_out_counts(toy_collection(), cutoffs=5)
    assert counts.run_ids == ("n1", "n2", "s1", "s2")
    assert counts.organizations == ("new", "north", "south")
    assert counts.organization.tolist() == [1, 1, 2, 2]
    assert table_of(counts, 5, *HIDDEN) == {
        "n1": [(2, 1), (2, 2), (1, 0)],  # b0 c2, p1 r2, b0
        "n2": [(3, 2), (2, 2), (1, 0)],  # b0 f1 c2: c stands below the depth here, within it in n1
        "s1": [(2, 1), (2, 1), (1, 0)],  # h1 i0, v1 w0, d0
        "s2": [(2, 1), (0, 0), (1, 0)],  # h1 k0, -, d0
    }
    assert table_of(counts, 5, *KNOWN) == {
        "n1": [(1, 0, 2), (0, 1, 2), (0, 2, 0)],  # a1 d? e?, q0 s? t?, a0 c0
        "n2": [(1, 0, 1), (0, 1, 1), (0, 2, 0)],
        "s1": [(1, 2, 0), (1, 1, 1), (0, 2, 1)],  # a1 b0 j0, q0 p1 x?, c0 a0 e?
        "s2": [(0, 0, 0), (0, 0, 0), (0, 1, 0)],
    }


def test_document_of_two_runs_of_an_organization_is_one_observation() -> None:
    """Each goes to the run that ranks it best."""
    counts = held_out_counts(toy_collection(), cutoffs=[1, 5])
    assert table_of(counts, 5, *CREDITED) == {
        "n1": [(1, 1), (0, 0), (0, 0)],  # c: third here, fourth in n2
        "n2": [(2, 1), (2, 2), (1, 0)],  # b0 and f1, p1 and r2, b0
        "s1": [(1, 0), (2, 1), (0, 0)],  # i0, v1 w0
        "s2": [(2, 1), (0, 0), (1, 0)],  # h1 and k0, d0
    }
    # at the first rank: n2 has b and p and b there, s2 has h
    assert table_of(counts, 1, *CREDITED) == {
        "n1": [(0, 0), (0, 0), (0, 0)],
        "n2": [(1, 0), (1, 1), (1, 0)],
        "s1": [(0, 0), (0, 0), (0, 0)],
        "s2": [(1, 1), (0, 0), (0, 0)],
    }


def test_substitute_keeps_its_documents_judged() -> None:
    """The new run has a l d, v p z, and e f within depth 3, so that p and v stay judged."""
    collection = toy_collection()
    by_organization = held_out_counts(collection, cutoffs=5, substitute="u")
    assert table_of(by_organization, 5, *HIDDEN) == {
        "n1": [(2, 1), (1, 1), (1, 0)],
        "n2": [(3, 2), (1, 1), (1, 0)],
        "s1": [(2, 1), (1, 0), (1, 0)],
        "s2": [(2, 1), (0, 0), (1, 0)],
    }
    by_run = held_out_counts(collection, cutoffs=5, by="run", substitute="u")
    assert table_of(by_run, 5, *HIDDEN)["s1"] == [(1, 0), (1, 0), (0, 0)]
    # h stands at u's fourth rank, below the pool depth, and does not stay
    assert table_of(by_organization, 5, *KNOWN)["s1"][0] == (1, 2, 0)


def test_hole_in_the_pool_is_unjudged_and_not_hidden() -> None:
    collection = from_rankings(
        {"p": {"1": "abz"}, "q": {"1": "bca"}},
        {"1": {"a": 1, "b": 0, "c": 1}},
        pooled_run_ids=("p", "q"),
        pool_depth=3,
    )
    counts = held_out_counts(collection, cutoffs=3)
    assert table_of(counts, 3, *HIDDEN, *CREDITED) == {"p": [(0, 0, 0, 0)], "q": [(1, 1, 1, 1)]}
    assert table_of(counts, 3, *KNOWN) == {"p": [(1, 1, 1)], "q": [(1, 1, 0)]}
    assert [pair.tolist() for pair in held_out_documents(collection, cutoff=3)[:3]] == [[1], [0], [2]]


@given(toys.pooled_collections(), st.integers(1, 8), st.integers(1, 2))
def test_hidden_is_what_unpooling_the_run_hides(collection: Collection, cutoff: int, rel: int) -> None:
    counts = held_out_counts(collection, cutoffs=cutoff, rel=rel, by="run")
    for row, run_id in enumerate(counts.run_ids):
        before = judgment_counts(collection, run_id, cutoffs=cutoff, rel=rel)
        after = judgment_counts(collection.unpool(run_id), run_id, cutoffs=cutoff, rel=rel)
        lost = before.n_relevant + before.n_nonrelevant - after.n_relevant - after.n_nonrelevant
        assert np.array_equal(counts.n_hidden[row], lost[0])
        assert np.array_equal(counts.n_hidden_relevant[row], (before.n_relevant - after.n_relevant)[0])
        assert np.array_equal(counts.n_relevant[row], after.n_relevant[0])
        assert np.array_equal(counts.n_nonrelevant[row], after.n_nonrelevant[0])
        assert np.array_equal(counts.n_unjudged[row], before.n_unjudged[0])


@given(toys.pooled_collections(), st.integers(1, 8))
def test_credited_documents_are_distinct_and_all(collection: Collection, cutoff: int) -> None:
    counts = held_out_counts(collection, cutoffs=cutoff)
    assert (counts.n_credited <= counts.n_hidden).all()
    assert (counts.n_credited_relevant <= counts.n_hidden_relevant).all()
    hidden: set[tuple[int, int]] = set()
    for row, run_id in enumerate(counts.run_ids):
        organization = counts.organizations[counts.organization[row]]
        smaller = collection.unpool(organization=organization)
        gone = (collection.relevance >= 0) & (smaller.relevance < 0)
        top = collection.document[collection.run_ids.index(run_id), :, :cutoff]
        hidden |= {(int(counts.organization[row]), int(pair)) for pair in top[top >= 0] if gone[pair]}
    assert counts.n_credited.sum() == len(hidden)
    assert counts.n_credited_relevant.sum() == sum(collection.relevance[pair] > 0 for _, pair in hidden)


@given(toys.pooled_collections(), st.integers(1, 8), st.integers(1, 2))
def test_held_out_documents_are_the_credited_ones(collection: Collection, cutoff: int, rel: int) -> None:
    counts = held_out_counts(collection, cutoffs=cutoff, rel=rel)
    run, topic, rank, pair, relevant = held_out_documents(collection, cutoff=cutoff, rel=rel)
    assert (collection.document[run, topic, rank - 1] == pair).all()
    assert np.array_equal(relevant, collection.relevance[pair] >= rel)
    credited, credited_relevant = (np.zeros(collection.document.shape[:2], dtype=int) for _ in range(2))
    np.add.at(credited, (run, topic), 1)
    np.add.at(credited_relevant, (run, topic), relevant)
    index = collection.run_index(counts.run_ids)
    assert np.array_equal(credited[index], counts.n_credited[:, :, 0])
    assert np.array_equal(credited_relevant[index], counts.n_credited_relevant[:, :, 0])
    assert credited.sum() == len(run)


PARTS = ("n_relevant", "n_nonrelevant", "n_unjudged", "n_missing")


def test_counts_of_the_toy() -> None:
    counts = judgment_counts(toy_collection(), cutoffs=[3, 5])
    assert table_of(counts, 3, *PARTS) == {
        "n1": [(2, 1, 0, 0), (2, 1, 0, 0), (0, 3, 0, 0)],  # a1 b0 c2, q0 p1 r2, a0 b0 c0
        "n2": [(2, 1, 0, 0), (2, 1, 0, 0), (0, 3, 0, 0)],
        "s1": [(2, 1, 0, 0), (1, 2, 0, 0), (0, 3, 0, 0)],
        "s2": [(1, 1, 0, 1), (0, 0, 0, 3), (0, 2, 0, 1)],
        "u": [(1, 0, 2, 0), (2, 0, 1, 0), (0, 0, 2, 1)],
    }
    assert table_of(counts, 5, *PARTS) == {
        "n1": [(2, 1, 2, 0), (2, 1, 2, 0), (0, 3, 0, 2)],
        "n2": [(3, 1, 1, 0), (2, 1, 1, 1), (0, 3, 0, 2)],
        "s1": [(2, 3, 0, 0), (2, 2, 1, 0), (0, 3, 1, 1)],
        "s2": [(1, 1, 0, 3), (0, 0, 0, 5), (0, 2, 0, 3)],  # no document on topic 2
        "u": [(2, 0, 3, 0), (2, 0, 2, 1), (0, 0, 2, 3)],  # m is judged −1
    }


def test_pooled_estimand_leaves_what_is_below_the_pool_nonrelevant() -> None:
    counts = judgment_counts(toy_collection(), ["n1", "u"], cutoffs=[3, 5], estimand="pooled")
    assert table_of(counts, 5, *PARTS) == {
        "n1": [(2, 3, 0, 0), (2, 3, 0, 0), (0, 3, 0, 2)],
        "u": [(2, 1, 2, 0), (2, 1, 1, 1), (0, 0, 2, 3)],  # m and x are below depth 3
    }
    complete = judgment_counts(toy_collection(), ["n1", "u"], cutoffs=[3, 5])
    assert table_of(counts, 3, *PARTS) == table_of(complete, 3, *PARTS)


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

"""Counts, held-out evidence and composition effects, by hand on the toy and as properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import toys
from hypothesis import given
from hypothesis import strategies as st
from toys import from_rankings, toy_collection

from bayespool.collection import Collection
from bayespool.counts import (
    HeldOutCounts,
    JudgmentCounts,
    composition_effects,
    condensed_counts,
    held_out_counts,
    held_out_documents,
    judgment_counts,
    unjudged_documents,
)
from bayespool.errors import InputError
from bayespool.simulation import load_example

CUTOFFS = st.lists(st.integers(1, 12), min_size=1, max_size=4)


def split(counts: JudgmentCounts, cutoff: int) -> dict[str, list[tuple[int, int, int, int]]]:
    """Relevant, nonrelevant, unjudged, missing per run and topic."""
    c = counts.cutoffs.index(cutoff)
    parts = (counts.n_relevant, counts.n_nonrelevant, counts.n_unjudged, counts.n_missing)
    table = np.stack([part[:, :, c] for part in parts], axis=-1).tolist()
    return {run: [tuple(row) for row in rows] for run, rows in zip(counts.run_ids, table, strict=True)}


# Judgment counts


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


def test_bounds_of_the_toy() -> None:
    counts = judgment_counts(toy_collection(), "u", cutoffs=[2, 5])
    assert counts.lower[0].tolist() == [[0.5, 0.4], [1.0, 0.4], [0.0, 0.0]]
    assert counts.upper[0].tolist() == [[1.0, 1.0], [1.0, 0.8], [1.0, 0.4]]
    assert counts.residual[0].tolist() == [[0.5, 0.6], [0.0, 0.4], [1.0, 0.4]]


def test_only_highly_relevant_ones_count_at_rel_2() -> None:
    counts = judgment_counts(toy_collection(), ["n1", "u"], cutoffs=5, rel=2)
    assert split(counts, 5) == {
        "n1": [(1, 2, 2, 0), (1, 2, 2, 0), (0, 3, 0, 2)],  # c and r
        "u": [(0, 2, 3, 0), (0, 2, 2, 1), (0, 0, 2, 3)],
    }
    assert not judgment_counts(toy_collection(), cutoffs=5, rel=3).n_relevant.any()


def test_pooled_estimand_leaves_what_is_below_the_pool_nonrelevant() -> None:
    counts = judgment_counts(toy_collection(), ["n1", "u"], cutoffs=[3, 5], estimand="pooled")
    assert split(counts, 5) == {
        "n1": [(2, 3, 0, 0), (2, 3, 0, 0), (0, 3, 0, 2)],
        "u": [(2, 1, 2, 0), (2, 1, 1, 1), (0, 0, 2, 3)],  # m and x are below depth 3
    }
    complete = judgment_counts(toy_collection(), ["n1", "u"], cutoffs=[3, 5])
    assert split(counts, 3) == split(complete, 3)


def test_run_of_another_order_and_one_cutoff() -> None:
    collection = toy_collection()
    counts = judgment_counts(collection, ["u", "n1"], cutoffs=3)
    assert counts.run_ids == ("u", "n1")
    assert counts.query_ids == ("1", "2", "3")
    assert counts.cutoffs == (3,)
    assert split(counts, 3)["u"][0] == (1, 0, 2, 0)


def test_cutoff_beyond_every_run_is_padded() -> None:
    counts = judgment_counts(toy_collection(), "s2", cutoffs=1000)
    assert split(counts, 1000)["s2"] == [(1, 1, 0, 998), (0, 0, 0, 1000), (0, 2, 0, 998)]
    assert counts.lower[0, 0, 0] == 0.001


@pytest.mark.parametrize("cutoffs", [[], 0, [5, 0], [-1]])
def test_cutoffs_begin_at_one(cutoffs: int | list[int]) -> None:
    for count in (judgment_counts, condensed_counts, held_out_counts, composition_effects):
        with pytest.raises(InputError, match="give at least one, each 1 or more"):
            count(toy_collection(), cutoffs=cutoffs)


@given(toys.pooled_collections(), CUTOFFS, st.integers(1, 3), st.sampled_from(["complete", "pooled"]))
def test_counts_sum_to_the_cutoff(
    collection: Collection, cutoffs: list[int], rel: int, estimand: Any
) -> None:
    counts = judgment_counts(collection, cutoffs=cutoffs, rel=rel, estimand=estimand)
    parts = (counts.n_relevant, counts.n_nonrelevant, counts.n_unjudged, counts.n_missing)
    assert all((part >= 0).all() for part in parts)
    total = sum(parts)
    assert np.array_equal(total, np.broadcast_to(cutoffs, total.shape))
    assert np.allclose(counts.upper - counts.lower, counts.residual, atol=1e-12)


@given(toys.pooled_collections(), CUTOFFS, st.integers(1, 2), st.data())
def test_many_cutoffs_equal_one_at_a_time(
    collection: Collection, cutoffs: list[int], rel: int, data: st.DataObject
) -> None:
    run_ids = data.draw(st.lists(st.sampled_from(collection.run_ids), min_size=1))
    substitute = data.draw(st.sampled_from([None, *collection.run_ids]))

    def all_of(at: Sequence[int]) -> list[np.ndarray]:
        counts = judgment_counts(collection, run_ids, cutoffs=at, rel=rel)
        held_out = held_out_counts(collection, cutoffs=at, rel=rel, substitute=substitute)
        effects = composition_effects(collection, run_ids, cutoffs=at, rel=rel)
        return [
            *(counts.n_relevant, counts.n_nonrelevant, counts.n_unjudged, counts.n_missing),
            condensed_counts(collection, run_ids, cutoffs=at, rel=rel),
            *(held_out.n_relevant, held_out.n_nonrelevant, held_out.n_hidden, held_out.n_hidden_relevant),
            *(held_out.n_credited, held_out.n_credited_relevant, held_out.n_unjudged),
            *(effects.delta_precision, effects.delta_antiprecision),
        ]

    together = all_of(cutoffs)
    for c, cutoff in enumerate(cutoffs):
        for many, one in zip(together, all_of([cutoff]), strict=True):
            assert np.array_equal(many[..., c], one[..., 0])


@given(toys.pooled_collections(), st.integers(1, 8), st.integers(1, 2), st.data())
def test_unpooling_only_moves_counts_to_unjudged(
    collection: Collection, cutoff: int, rel: int, data: st.DataObject
) -> None:
    run_ids = data.draw(st.lists(st.sampled_from(collection.run_ids), unique=True))
    before = judgment_counts(collection, cutoffs=cutoff, rel=rel)
    after = judgment_counts(collection.unpool(run_ids), cutoffs=cutoff, rel=rel)
    assert (after.n_relevant <= before.n_relevant).all()
    assert (after.n_nonrelevant <= before.n_nonrelevant).all()
    assert np.array_equal(after.n_missing, before.n_missing)
    assert (after.lower <= before.lower).all()
    assert (before.lower <= after.upper).all()


# The condensed list


def test_condensed_counts_of_the_toy() -> None:
    condensed = condensed_counts(toy_collection(), cutoffs=[1, 2, 3, 5])
    table = dict(zip(toys.RUNS, condensed.tolist(), strict=True))
    assert table["u"] == [[1, 2, 2, 2], [1, 2, 2, 2], [0, 0, 0, 0]]  # a1 h1, v1 p1, nothing
    assert table["n2"] == [[0, 1, 2, 3], [1, 2, 2, 2], [0, 0, 0, 0]]  # b0 a1 f1 c2, p1 r2 q0
    assert table["s1"] == [[1, 2, 2, 2], [0, 1, 1, 2], [0, 0, 0, 0]]  # a1 h1 i0 b0 j0, q0 v1 w0 p1
    assert table["s2"] == [[1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert condensed_counts(toy_collection(), "n2", cutoffs=5, rel=2).tolist() == [[[1], [1], [0]]]


@given(toys.pooled_collections(), st.integers(1, 8))
def test_condensed_counts_lie_between_the_bounds(collection: Collection, cutoff: int) -> None:
    """The judged documents of the top n stay among the first n judged ones."""
    counts = judgment_counts(collection, cutoffs=cutoff)
    condensed = condensed_counts(collection, cutoffs=cutoff)
    assert (counts.n_relevant <= condensed).all()
    assert (condensed <= counts.n_relevant + counts.n_unjudged).all()


# Held-out evidence


def held_out(counts: HeldOutCounts, cutoff: int, *names: str) -> dict[str, list[tuple[int, ...]]]:
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
    assert held_out(counts, 5, *HIDDEN) == {
        "n1": [(2, 1), (2, 2), (1, 0)],  # b0 c2, p1 r2, b0
        "n2": [(3, 2), (2, 2), (1, 0)],  # b0 f1 c2: c stands below the depth here, within it in n1
        "s1": [(2, 1), (2, 1), (1, 0)],  # h1 i0, v1 w0, d0
        "s2": [(2, 1), (0, 0), (1, 0)],  # h1 k0, -, d0
    }
    assert held_out(counts, 5, *KNOWN) == {
        "n1": [(1, 0, 2), (0, 1, 2), (0, 2, 0)],  # a1 d? e?, q0 s? t?, a0 c0
        "n2": [(1, 0, 1), (0, 1, 1), (0, 2, 0)],
        "s1": [(1, 2, 0), (1, 1, 1), (0, 2, 1)],  # a1 b0 j0, q0 p1 x?, c0 a0 e?
        "s2": [(0, 0, 0), (0, 0, 0), (0, 1, 0)],
    }


def test_document_of_two_runs_of_an_organization_is_one_observation() -> None:
    """Each goes to the run that ranks it best."""
    counts = held_out_counts(toy_collection(), cutoffs=[1, 5])
    assert held_out(counts, 5, *CREDITED) == {
        "n1": [(1, 1), (0, 0), (0, 0)],  # c: third here, fourth in n2
        "n2": [(2, 1), (2, 2), (1, 0)],  # b0 and f1, p1 and r2, b0
        "s1": [(1, 0), (2, 1), (0, 0)],  # i0, v1 w0
        "s2": [(2, 1), (0, 0), (1, 0)],  # h1 and k0, d0
    }
    # at the first rank: n2 has b and p and b there, s2 has h
    assert held_out(counts, 1, *CREDITED) == {
        "n1": [(0, 0), (0, 0), (0, 0)],
        "n2": [(1, 0), (1, 1), (1, 0)],
        "s1": [(0, 0), (0, 0), (0, 0)],
        "s2": [(1, 1), (0, 0), (0, 0)],
    }


def test_document_on_equal_ranks_goes_to_the_first_run() -> None:
    rankings = {"r1": {"1": "ab"}, "r2": {"1": "ac"}, "r3": {"1": "bc"}}
    collection = from_rankings(
        rankings,
        {"1": {"a": 1, "b": 0, "c": 1}},
        dict.fromkeys(rankings, "o"),
        pooled_run_ids=tuple(rankings),
        pool_depth=2,
    )
    counts = held_out_counts(collection, cutoffs=2)
    assert held_out(counts, 2, *HIDDEN) == {"r1": [(2, 1)], "r2": [(2, 2)], "r3": [(2, 1)]}
    # a: r1 and r2 at rank 1; b: r3 at rank 1; c: r2 and r3 at rank 2
    assert held_out(counts, 2, *CREDITED) == {"r1": [(1, 1)], "r2": [(1, 1)], "r3": [(1, 0)]}


def test_runs_held_out_of_the_toy() -> None:
    counts = held_out_counts(toy_collection(), cutoffs=5, by="run")
    assert counts.organizations == tuple(toys.RUNS)
    assert counts.organization.tolist() == [0, 1, 2, 3]
    expected = {
        "n1": [(1, 1), (0, 0), (0, 0)],  # c2
        "n2": [(1, 1), (0, 0), (0, 0)],  # f1
        "s1": [(1, 0), (2, 1), (0, 0)],  # i0, v1 w0
        "s2": [(1, 0), (0, 0), (0, 0)],  # k0
    }
    assert held_out(counts, 5, *HIDDEN) == expected
    assert held_out(counts, 5, *CREDITED) == expected  # a run alone has no duplicates


def test_substitute_keeps_its_documents_judged() -> None:
    """The new run has a l d, v p z, and e f within depth 3, so that p and v stay judged."""
    collection = toy_collection()
    by_organization = held_out_counts(collection, cutoffs=5, substitute="u")
    assert held_out(by_organization, 5, *HIDDEN) == {
        "n1": [(2, 1), (1, 1), (1, 0)],
        "n2": [(3, 2), (1, 1), (1, 0)],
        "s1": [(2, 1), (1, 0), (1, 0)],
        "s2": [(2, 1), (0, 0), (1, 0)],
    }
    by_run = held_out_counts(collection, cutoffs=5, by="run", substitute="u")
    assert held_out(by_run, 5, *HIDDEN)["s1"] == [(1, 0), (1, 0), (0, 0)]
    # h stands at u's fourth rank, below the pool depth, and does not stay
    assert held_out(by_organization, 5, *KNOWN)["s1"][0] == (1, 2, 0)


def test_hole_in_the_pool_is_unjudged_and_not_hidden() -> None:
    collection = from_rankings(
        {"p": {"1": "abz"}, "q": {"1": "bca"}},
        {"1": {"a": 1, "b": 0, "c": 1}},
        pooled_run_ids=("p", "q"),
        pool_depth=3,
    )
    counts = held_out_counts(collection, cutoffs=3)
    assert held_out(counts, 3, *HIDDEN, *CREDITED) == {"p": [(0, 0, 0, 0)], "q": [(1, 1, 1, 1)]}
    assert held_out(counts, 3, *KNOWN) == {"p": [(1, 1, 1)], "q": [(1, 1, 0)]}
    assert [pair.tolist() for pair in held_out_documents(collection, cutoff=3)[:3]] == [[1], [0], [2]]


def test_held_out_at_rel_2() -> None:
    counts = held_out_counts(toy_collection(), cutoffs=5, rel=2)
    assert held_out(counts, 5, *HIDDEN)["n2"] == [(3, 1), (2, 1), (1, 0)]
    assert held_out(counts, 5, *KNOWN)["n2"] == [(0, 1, 1), (0, 1, 1), (0, 2, 0)]


def test_held_out_without_a_pool_has_no_rows() -> None:
    counts = held_out_counts(toy_collection(pooled_run_ids=(), pool_depth=0), cutoffs=[3, 5])
    assert counts.run_ids == ()
    for name in (*KNOWN, *HIDDEN, *CREDITED):
        assert getattr(counts, name).shape == (0, 3, 2)


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
def test_hidden_is_what_unpooling_the_organization_hides(collection: Collection, cutoff: int) -> None:
    counts = held_out_counts(collection, cutoffs=cutoff)
    for row, run_id in enumerate(counts.run_ids):
        smaller = collection.unpool(organization=counts.organizations[counts.organization[row]])
        after = judgment_counts(smaller, run_id, cutoffs=cutoff)
        assert np.array_equal(counts.n_relevant[row], after.n_relevant[0])
        assert np.array_equal(counts.n_nonrelevant[row], after.n_nonrelevant[0])
        assert np.array_equal(counts.n_hidden[row] + counts.n_unjudged[row], after.n_unjudged[0])


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


def test_held_out_documents_of_the_toy() -> None:
    collection = toy_collection()
    run, topic, rank, pair, relevant = held_out_documents(collection, cutoff=5)
    rows = zip(run, topic, rank, (collection.doc_id(p) for p in pair), relevant, strict=True)
    assert sorted((collection.run_ids[r], t + 1, k, d, bool(x)) for r, t, k, d, x in rows) == [
        ("n1", 1, 3, "c", True),
        *[("n2", 1, 1, "b", False), ("n2", 1, 3, "f", True)],
        *[("n2", 2, 1, "p", True), ("n2", 2, 2, "r", True), ("n2", 3, 1, "b", False)],
        *[("s1", 1, 3, "i", False), ("s1", 2, 2, "v", True), ("s1", 2, 3, "w", False)],
        *[("s2", 1, 1, "h", True), ("s2", 1, 2, "k", False), ("s2", 3, 2, "d", False)],
    ]


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


# What composing a run with the pooled runs does to them


def effects_of(collection: Collection, run_id: str, cutoff: int, **options: Any) -> list[list[float]]:
    """Sums over pooled runs of the change in relevant and in nonrelevant documents, per topic."""
    effects = composition_effects(collection, run_id, cutoffs=cutoff, **options)
    n_others = len(set(collection.pooled_run_ids) - {run_id})
    changes = (effects.delta_precision[0, :, 0], effects.delta_antiprecision[0, :, 0])
    return [np.round(change * cutoff * n_others, 9).tolist() for change in changes]


# Composed with u (α = 1; a document that both have stands at u's rank, and on equal ranks behind one that u
# does not have):
#     topic 1, u: a l d h m    n1: a1 b2 c3 d3 e5 → a b c d e     n2: b1 a1 f3 c4 g5 → b a f c g
#                              s1: a1 i3 b4 h4 j5 → a i b h j     s2: k2 h4 → k h
#     topic 2, u: v p z x      n1: q1 p2 r3 s4 t5 → q p r s t     n2: r2 p2 q3 t4 → r p q t
#                              s1: q1 v1 p2 w3 x4 y6 → q v p w x y
#     topic 3, u: e f          s1: c1 e1 a2 d3 → c e a d          the others as they are


@pytest.mark.parametrize(
    ("cutoff", "relevant", "nonrelevant"),
    [
        (1, [-1, 0, 0], [1, 0, 0]),  # s2: h1 → k0; n2: p1 → r2
        (2, [-1, 0, 0], [1, 0, -1]),  # s1: a1 h1 → a1 i0; s1: c0 a0 → c0 e?
        (3, [-1, 1, 0], [1, -1, -1]),  # s1: h1 → b0; s1: w0 → p1; s1: d0 → e?
        (4, [0, 0, 0], [0, 0, 0]),
        (5, [0, 0, 0], [0, 0, 0]),
        (100, [0, 0, 0], [0, 0, 0]),
    ],
)
def test_composition_effects_of_the_toy(cutoff: int, relevant: list[int], nonrelevant: list[int]) -> None:
    assert effects_of(toy_collection(), "u", cutoff) == [relevant, nonrelevant]


def test_composition_effects_are_means_over_pooled_runs() -> None:
    effects = composition_effects(toy_collection(), "u", cutoffs=3)
    assert np.allclose(effects.delta_precision[0, :, 0], [-1 / 12, 1 / 12, 0], atol=1e-15)
    assert np.allclose(effects.delta_antiprecision[0, :, 0], [1 / 12, -1 / 12, -1 / 12], atol=1e-15)


def test_composition_effects_at_rel_2() -> None:
    # n2: p1 → r2 at the first rank of topic 2; s2: h1 → k0 is no change
    assert effects_of(toy_collection(), "u", 1, rel=2) == [[0, 1, 0], [0, -1, 0]]


def test_composition_halfway() -> None:
    """Of α = ½: s1 on topic 1 has a1 i3 h3 b4 j5, so that i, which u does not have, goes before h."""
    collection = toy_collection()
    assert effects_of(collection, "u", 2, alpha=0.5) == [[-1, 0, 0], [1, 0, 0]]
    # s1 on topic 2: q1 v1.5 w3 p3 x4.5 y6, w before p; on topic 3: c1 a2 e2.5 d3
    assert effects_of(collection, "u", 3, alpha=0.5) == [[0, 0, 0], [0, 0, -1]]
    # s2 on topic 1: k2 h2.5
    assert effects_of(collection, "u", 1, alpha=0.5) == [[-1, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize(
    ("new", "relevant"),
    [
        ("xb", -1),  # b moves from 1 to 2, where a is that only the pooled run has: a b
        ("xyb", -1),
        ("b", 0),  # b stays at 1
        ("a", 0),  # a moves from 2 to 1, where b is that only the pooled run has: b a
    ],
)
def test_common_document_goes_after_the_exclusive_one(new: str, relevant: int) -> None:
    """Whether it moved down or up."""
    collection = from_rankings(
        {"p": {"1": "ba"}, "u": {"1": new}},
        {"1": {"a": 0, "b": 1}},
        pooled_run_ids=("p",),
        pool_depth=2,
    )
    assert effects_of(collection, "u", 1) == [[relevant], [-relevant]]


@pytest.mark.parametrize(
    ("alpha", "before", "after"),
    [
        (1 / 3, 5, 4),  # ⅓·1 + ⅔·5 = 3⅔, behind the third
        (1 / 3, 4, 4),  # ⅓·1 + ⅔·4 = 3, which is 3.0000000000000004 in floating point
        (0.34, 4, 3),  # 2.98, before the third
        (0.7, 11, 5),  # 0.7·1 + 0.3·11 = 4, which is 4.000000000000001
        (0.9, 11, 3),  # 0.9·1 + 0.1·11 = 2, which is 1.9999999999999996
        (0.91, 11, 2),  # 1.9
    ],
)
def test_fractional_positions_that_are_equal_tie(alpha: float, before: int, after: int) -> None:
    """The one document in common, first in u, moves up and stops behind the one of equal position."""
    ours = "abcdefghij"[: before - 1] + "R"
    collection = from_rankings(
        {"p": {"1": ours}, "u": {"1": "R"}},
        {"1": {d: int(d == "R") for d in ours}},
        pooled_run_ids=("p",),
        pool_depth=11,
    )
    effects = composition_effects(collection, "u", cutoffs=range(1, 12), alpha=alpha)
    gained = np.round(effects.delta_precision[0, 0] * np.arange(1, 12)).tolist()
    assert gained == [int(after <= cutoff < before) for cutoff in range(1, 12)]


@given(toys.pooled_collections(), CUTOFFS)
def test_alpha_0_moves_nothing(collection: Collection, cutoffs: list[int]) -> None:
    effects = composition_effects(collection, cutoffs=cutoffs, alpha=0)
    assert not effects.delta_precision.any()
    assert not effects.delta_antiprecision.any()


def test_topic_that_the_run_misses_has_no_effect() -> None:
    collection = from_rankings(
        {"p": {"1": "ba", "2": "ba"}, "u": {"1": "xb"}},
        {"1": {"a": 0, "b": 1}, "2": {"a": 0, "b": 1}},
        pooled_run_ids=("p",),
        pool_depth=2,
    )
    assert effects_of(collection, "u", 1) == [[-1, 0], [1, 0]]


def test_run_is_not_composed_with_itself() -> None:
    """A pooled run's effects are those on the others."""
    alone = toy_collection(pooled_run_ids=("n1",))
    assert effects_of(toy_collection(pooled_run_ids=("n1", "n2")), "n1", 1) == effects_of(
        toy_collection(pooled_run_ids=("n2",)), "n1", 1
    )
    effects = composition_effects(alone, "n1", cutoffs=[1, 3])
    assert not effects.delta_precision.any()


def test_no_pooled_run_no_effect() -> None:
    effects = composition_effects(toy_collection(pooled_run_ids=()), cutoffs=[1, 3])
    assert effects.delta_precision.shape == (5, 3, 2)
    assert not effects.delta_precision.any()
    assert not effects.delta_antiprecision.any()


@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan")])
def test_alpha_is_a_weight(alpha: float) -> None:
    with pytest.raises(InputError, match="is not between 0 and 1"):
        composition_effects(toy_collection(), cutoffs=5, alpha=alpha)


def composed(ours: str, theirs: str, alpha: float) -> str:
    """Equation 2 of Lipani et al. (2015), as it stands there."""
    rank_in_ours = {d: rank for rank, d in enumerate(ours, start=1)}
    rank_in_theirs = {d: rank for rank, d in enumerate(theirs, start=1)}

    def position(d: str) -> tuple[float, bool, int]:
        shared = d in rank_in_theirs
        place = rank_in_ours[d] * (1 - alpha) + rank_in_theirs[d] * alpha if shared else rank_in_ours[d]
        return round(place, 6), shared, rank_in_ours[d]

    return "".join(sorted(ours, key=position))


@given(
    toys.pooled_collections(),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.9, 1.0]),
)
def test_composition_effects_are_those_of_equation_2(
    collection: Collection, cutoff: int, alpha: float
) -> None:
    effects = composition_effects(collection, cutoffs=cutoff, alpha=alpha)
    relevance = toys.judgments(collection)
    for row, run_id in enumerate(collection.run_ids):
        others = [r for r in collection.pooled_run_ids if r != run_id]
        for t, query_id in enumerate(collection.query_ids):
            theirs = "".join(toys.ranking(collection, run_id, query_id))
            change = [0, 0]
            for other in others:
                ours = "".join(toys.ranking(collection, other, query_id))
                for sign, documents in ((1, composed(ours, theirs, alpha)), (-1, ours)):
                    grades = [relevance[query_id].get(d) for d in documents[:cutoff]]
                    change[0] += sign * sum(g is not None and g > 0 for g in grades)
                    change[1] += sign * grades.count(0)
            n = cutoff * max(len(others), 1)
            assert effects.delta_precision[row, t, 0] == pytest.approx(change[0] / n, abs=1e-12)
            assert effects.delta_antiprecision[row, t, 0] == pytest.approx(change[1] / n, abs=1e-12)


# What is to be imputed


def test_unjudged_documents_of_the_toy() -> None:
    collection = toy_collection()
    run, topic, rank, pair = unjudged_documents(collection, ["u", "n1"], cutoff=5)
    assert run.tolist() == [0] * 7 + [1] * 4
    assert topic.tolist() == [0, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1]
    assert [collection.doc_id(p) for p in pair] == list("ldmzxef" + "dest")
    assert pair[1] == pair[7]  # d of topic 1, in both runs
    assert np.array_equal(collection.document[collection.run_index(["u", "n1"])[run], topic, rank - 1], pair)
    assert (collection.pair_topic[pair] == topic).all()


def test_unjudged_documents_of_the_pooled_estimand() -> None:
    collection = toy_collection()
    run, topic, _, pair = unjudged_documents(collection, ["u", "n1"], cutoff=5, estimand="pooled")
    assert [collection.doc_id(p) for p in pair] == list("ldzef")
    assert run.tolist() == [0] * 5
    assert topic.tolist() == [0, 0, 1, 2, 2]


@given(toys.pooled_collections(), st.integers(1, 8), st.sampled_from(["complete", "pooled"]))
def test_unjudged_documents_are_those_that_are_counted(
    collection: Collection, cutoff: int, estimand: Any
) -> None:
    counts = judgment_counts(collection, cutoffs=cutoff, estimand=estimand)
    run, topic, rank, pair = unjudged_documents(collection, cutoff=cutoff, estimand=estimand)
    n_unjudged = np.zeros_like(counts.n_unjudged[:, :, 0])
    np.add.at(n_unjudged, (run, topic), 1)
    assert np.array_equal(n_unjudged, counts.n_unjudged[:, :, 0])
    assert (collection.relevance[pair] < 0).all()
    assert np.array_equal(collection.document[run, topic, rank - 1], pair)


# At size


def test_example_counts_and_unpooling_agree() -> None:
    """On the embedded example: 21 pooled runs, 8 organizations, real ranks."""
    collection = load_example()
    counts = held_out_counts(collection, cutoffs=[5, 10, 20], by="run")
    for row, run_id in enumerate(counts.run_ids):
        before = judgment_counts(collection, run_id, cutoffs=[5, 10, 20])
        after = judgment_counts(collection.unpool(run_id), run_id, cutoffs=[5, 10, 20])
        assert np.array_equal(counts.n_hidden[row], (after.n_unjudged - before.n_unjudged)[0])
    assert counts.n_hidden.sum() > 0

"""What composing a run with the pooled runs does to them, and overlaps of runs, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import toys
from each import cases
from hypothesis import given, strategies as st
from toys import toy_collection

from bayespool.collection import Collection
from bayespool.evidence.composition import composition_effects


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
@cases(
    ("cutoff", "relevant", "nonrelevant"),
    [
        (1, [-1, 0, 0], [1, 0, 0]),  # s2: h1 → k0; n2: p1 → r2
        (2, [-1, 0, 0], [1, 0, -1]),  # s1: a1 h1 → a1 i0; s1: c0 a0 → c0 e?
        (3, [-1, 1, 0], [1, -1, -1]),  # s1: h1 → b0; s1: w0 → p1; s1: d0 → e?
        (4, [0, 0, 0], [0, 0, 0]),
        (100, [0, 0, 0], [0, 0, 0]),
        (10**12, [0, 0, 0], [0, 0, 0]),  # takes no memory for ranks that no run has
    ],
)
def test_composition_effects_of_the_toy(cutoff: int, relevant: list[int], nonrelevant: list[int]) -> None:
    assert effects_of(toy_collection(), "u", cutoff) == [relevant, nonrelevant]


def test_run_is_not_composed_with_itself() -> None:
    """A pooled run's effects are those on the others."""
    both, other, alone = (toy_collection(pooled_run_ids=ids) for ids in (("n1", "n2"), ("n2",), ("n1",)))
    assert effects_of(both, "n1", 1) == effects_of(other, "n1", 1)
    assert not composition_effects(alone, "n1", cutoffs=[1, 3]).delta_precision.any()


def test_effects_on_single_pooled_runs_of_the_toy() -> None:
    """Means over topics, of rankings as above; s2 has two documents on two topics, none on the other."""
    effects = composition_effects(toy_collection(), cutoffs=(1, 2, 3))
    u, s1 = effects.run_ids.index("u"), effects.run_ids.index("s1")
    assert effects.pooled_run_ids == ("n1", "n2", "s1", "s2")
    relevant, nonrelevant = (
        (x * 3 * [1, 2, 3]).round(9).tolist()
        for x in (effects.single_precision[u], effects.single_antiprecision[u])
    )
    # s1: h1 → i0 and a0 → e? within 2, h1 → b0, w0 → p1 and d0 → e? within 3; s2: h1 → k0 within 1
    assert relevant == [[0, 0, 0], [0, 0, 0], [0, -1, 0], [-1, 0, 0]]
    assert nonrelevant == [[0, 0, 0], [0, 0, 0], [0, 0, -1], [1, 0, 0]]
    assert np.isnan(effects.single_precision[s1, 2]).all()
    others = np.nanmean(effects.single_precision, axis=1)
    assert others == pytest.approx(effects.delta_precision.mean(axis=1), abs=1e-12)


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

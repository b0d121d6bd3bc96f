"""Repeated documents are found whatever their ids are, and unlike ones never taken for repeated."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from bayespool.collection.lines import has_repeats, pair_codes, repeats

ENDINGS = st.sampled_from(["", "x", "é", "-0000-00-00000", "/2009/11/index.html"])
IDS = st.builds(str.__add__, st.text("ab", min_size=1, max_size=20), ENDINGS)


def columns(pairs: list[tuple[int, str]]) -> tuple[pa.DictionaryArray, pa.StringArray]:
    """Topics and documents; the latter a slice, whose bytes begin within the buffer."""
    topics = pa.array(np.array([topic for topic, _ in pairs], dtype=np.int32))
    names = pa.array([f"q{t}" for t in range(max(topic for topic, _ in pairs) + 1)])
    documents = pa.array(["before", *(document for _, document in pairs), "after"], pa.string())
    return pa.DictionaryArray.from_arrays(topics, names), documents.slice(1, len(pairs))


@given(st.lists(st.tuples(st.integers(0, 3), IDS), min_size=1, max_size=40))
def test_repeats_are_the_entries_seen_before(pairs: list[tuple[int, str]]) -> None:
    seen_before = [i for i, pair in enumerate(pairs) if pair in pairs[:i]]
    assert repeats(*columns(pairs)).tolist() == seen_before
    assert has_repeats(*columns(pairs)) == bool(seen_before)
    assert len(set(pair_codes(*columns(pairs)).tolist())) == len(set(pairs))


def test_ids_that_end_alike_are_told_apart() -> None:
    pairs = [(0, f"{site}/2009/11/index.html") for site in ("a.org", "b.org", "c.org")]
    assert not has_repeats(*columns(pairs))
    assert repeats(*columns([*pairs, pairs[1]])).tolist() == [3]


def test_repeats_across_blocks_of_lines() -> None:
    for n in (1 << 13, (1 << 13) + 1, 3 * (1 << 13)):
        pairs = [(0, f"D{i}") for i in range(n)]
        assert not has_repeats(*columns(pairs))
        assert repeats(*columns([*pairs, pairs[0]])).tolist() == [n]


def test_fingerprints_spare_nearly_every_file_the_longer_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def longer_way(*_: object) -> None:
        raise AssertionError("documents were compared")

    monkeypatch.setattr("bayespool.collection.lines.pair_codes", longer_way)
    n_topics, depth = 50, 1000
    ids = [f"FBIS{3 + i % 2}-{7919 * i % 60000}" for i in range(depth)]
    assert not has_repeats(*columns([(t, id_) for t in range(n_topics) for id_ in ids]))

"""Random numbers of a document depend on the seed, the topic and the document alone."""

from __future__ import annotations

import numpy as np

from bayespool.randomness import document_keys, key_of, normals, scrambled


def test_keys_are_of_seed_topic_and_document() -> None:
    keys = document_keys(1, "401", ["a", "b"])
    assert keys.dtype == np.uint64
    assert document_keys(1, "401", ["b", "a"])[::-1].tolist() == keys.tolist()
    others = [document_keys(2, "401", ["a"])[0], document_keys(1, "40", ["1a"])[0], keys[1]]
    assert len({int(keys[0]), *map(int, others)}) == 4
    # the finalizer of SplitMix64, from its reference implementation with seed 0
    assert int(scrambled(np.array([0]))[0]) == 0xE220A8397B1DCDAF
    assert np.array_equal(normals(5, "a", 1), normals(9, "a", 1)[:5])


def test_a_document_of_two_topics_has_a_number_on_each() -> None:
    (one,), (other,) = document_keys(1, "401", ["a"]), document_keys(1, "402", ["a"])
    assert one != other


def test_names_that_run_together_are_told_apart() -> None:
    assert key_of("run", 11, 1) != key_of("run", 1, 11)
    assert key_of("ab", "c") == key_of("ab", "c") != key_of("a", "bc")
    assert normals(3, 1, "a1").tolist() != normals(3, 1, "a", 1).tolist()

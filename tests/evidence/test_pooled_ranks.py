"""Ranks of documents in runs: the plain ones, whichever documents are asked for first."""

from __future__ import annotations

import dataclasses
import gc
import weakref

import numpy as np

from bayespool.collection.rankings import Rankings, lengths
from bayespool.evidence.ideals import rank_tables
from bayespool.evidence.pooled_ranks import PooledRanks, find_ranks, pooled_ranks, rank_gains
from bayespool.experiments import load_example


def test_ranks_are_those_of_each_run_in_any_order_of_asking() -> None:
    collection, rng = load_example(), np.random.default_rng(1)
    runs = np.flatnonzero(collection.pooled)
    plain = np.array([table.copy() for _, table in rank_tables(collection, runs)]).T
    table = PooledRanks(collection)
    for n in (5, 300, 0, 40):
        pair = rng.integers(0, len(collection.relevance), n)
        np.testing.assert_array_equal(table.of(collection, pair), plain[pair])
        np.testing.assert_array_equal(pooled_ranks(collection, pair), plain[pair])
        np.testing.assert_array_equal(find_ranks(collection, runs[:2], pair), plain[pair, :2])


def test_ragged_rankings_have_the_ranks_of_dense_ones() -> None:
    collection, document = load_example(), np.asarray(load_example().document)
    ragged = Rankings(document[document >= 0], lengths(document), -1)
    other = dataclasses.replace(collection, document=ragged)
    pair, runs = np.arange(len(collection.relevance)), np.arange(len(collection.run_ids))
    np.testing.assert_array_equal(find_ranks(other, runs, pair), find_ranks(collection, runs, pair))


def test_a_table_keeps_no_collection_in_memory() -> None:
    collection = dataclasses.replace(load_example())
    pooled_ranks(collection, np.arange(3))
    gone = weakref.ref(collection)
    del collection
    gc.collect()
    assert gone() is None


def test_gains_fall_with_the_rank_and_are_0_without_one() -> None:
    gain = rank_gains(load_example())
    np.testing.assert_allclose(gain[:4], [0, 1, 1 / np.log2(3), 1 / 2])

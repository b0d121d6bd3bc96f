"""Rankings of unlike lengths, kept without what is beyond their ends, are read as dense ones are."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest
from small import small

from bayespool.collection import Collection, build_collection, rankings as module, rows
from bayespool.collection.rankings import Rankings, blocks, lengths, longest, ranked, within
from bayespool.comparisons.reversing import judgment_ranks, unpooled_copies
from bayespool.errors import InputError
from bayespool.evidence import condensed_counts, score_bounds
from bayespool.evidence.composition import composition_effects
from bayespool.measures import parse_measure
from bayespool.pooling import discover_pool
from bayespool.pooling.discovery import PoolRule
from bayespool.pooling.pools import with_strategy_pool
from bayespool.reading import files as memory, qrels_from_frame, run_from_frame


def ragged_of(dense: npt.NDArray[Any], end: float = -1) -> Rankings:
    there = ~np.isnan(dense) if np.isnan(end) else dense != end
    return Rankings(dense[there], there.sum(axis=2, dtype=np.int32), end)


def ragged(collection: Collection) -> Collection:
    scores = None if collection.score is None else ragged_of(np.asarray(collection.score), np.nan)
    return dataclasses.replace(collection, document=ragged_of(np.asarray(collection.document)), score=scores)


def uneven() -> Collection:
    """A small collection whose rankings end at ranks from 12 to 40, below the depth of its pool."""
    document = np.array(small().document)
    n_ranks = np.random.default_rng(3).integers(12, 41, size=document.shape[:2])
    document[np.arange(document.shape[2]) >= n_ranks[..., None]] = -1
    return dataclasses.replace(small(), document=document)


@pytest.fixture(scope="module")
def dense() -> npt.NDArray[np.int32]:
    rng = np.random.default_rng(5)
    length = rng.integers(0, 9, size=(6, 4))
    length[2, 1], length[3], length[:, 2] = 12, 0, 0
    document = rng.permutation(6 * 4 * 12).reshape(6, 4, 12).astype(np.int32)
    document[np.arange(12) >= length[..., None]] = -1
    return document


RUNS, TOPICS, RANKS = np.array([5, 2, 2, 0]), np.array([3, 1, 2, 0]), np.array([0, 11, 3, 1])
KEYS: dict[str, Any] = {
    "all": slice(None),
    "a run": 2,
    "a run, ranks": (2, slice(None), slice(0, 3)),
    "runs by a mask": np.array([True, False, True, True, False, False]),
    "runs, ranks": (RUNS, slice(None), slice(None, 7)),
    "ranks beyond the deepest": (RUNS, slice(None), slice(None, 99)),
    "ranks below a depth": (slice(None), slice(None), slice(4, 9)),
    "runs of a topic": (RUNS, 1, slice(None, 5)),
    "a topic": (slice(None), 1),
    "runs of topics": (RUNS, TOPICS),
    "no run": (np.zeros(0, dtype=np.intp), slice(None), slice(None, 3)),
    "places": (RUNS, TOPICS, RANKS),
    "the last of all": (2, 1, -1),
    "first ranks": (RUNS, slice(None), 0),
}


def test_rankings_are_indexed_as_a_dense_array(dense: npt.NDArray[np.int32]) -> None:
    few = ragged_of(dense)
    for name, key in KEYS.items():
        found, expected = few[key], dense[key]
        np.testing.assert_array_equal(found, expected, err_msg=name)
        assert (found.dtype, found.shape) == (np.int32, expected.shape), name
    of_one = np.array([1])
    for key in ((0, 0, 12), (0, 0, -13), (0, 0, slice(0, 5, 2)), (slice(None), 0, of_one), (0, 0, 0, 0), ...):
        with pytest.raises(IndexError):
            few[key]
    scores = np.where(dense < 0, np.nan, dense / 7).astype(np.float32)
    np.testing.assert_array_equal(ragged_of(scores, np.nan)[RUNS, 1], scores[RUNS, 1])
    assert ragged_of(scores, np.nan)[RUNS, TOPICS, RANKS].dtype == np.float32


def test_what_is_taken_of_both(dense: npt.NDArray[np.int32]) -> None:
    few = ragged_of(dense)
    np.testing.assert_array_equal(few, dense)
    np.testing.assert_array_equal(lengths(few), lengths(dense))
    np.testing.assert_array_equal(rows(few, RUNS), rows(dense, RUNS))
    for run in range(6):
        documents, rank = ranked(dense, run)
        there = documents >= 0
        assert [a.tolist() for a in ranked(few, run)] == [documents[there].tolist(), rank[there].tolist()]
        assert within(few, np.int64(run), None).tolist() == documents[there].tolist()
    for depth in (None, 1, 5, 20):
        found = np.sort(within(few, RUNS, depth), axis=None)
        np.testing.assert_array_equal(
            found, np.sort(within(dense, RUNS, depth)[within(dense, RUNS, depth) >= 0])
        )


def test_blocks_hold_every_document_and_few_empty_ranks(dense: npt.NDArray[np.int32]) -> None:
    few = ragged_of(dense)
    assert blocks(dense, RUNS) == [(slice(None), 12)]
    assert longest(dense, 2) == [12] * 4
    assert longest(few, 2) == np.maximum(lengths(dense)[2], 1).tolist()
    found = np.full((4, 12), -1)
    for topics, depth in blocks(few, 2):
        assert depth < 2 * lengths(dense)[2, topics].max(initial=1)
        found[topics, :depth] = few[2, topics, :depth]
    np.testing.assert_array_equal(found, dense[2])


def test_nothing_in_them_changes(dense: npt.NDArray[np.int32]) -> None:
    again = pickle.loads(pickle.dumps(ragged_of(dense)))
    np.testing.assert_array_equal(again, dense)
    with pytest.raises(ValueError, match="read-only"):
        again.values[0] = 1
    assert repr(again) == f"<Rankings: 6 runs, 4 topics, {(dense >= 0).sum()} documents to rank 12>"


def test_a_dense_array_that_is_too_large_is_refused(
    dense: npt.NDArray[np.int32], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ragged_of(dense)
    monkeypatch.setattr(memory, "free_memory", lambda: 6 * 4 * 5 * 4 * 4)
    assert few[:, :, :5].shape == (6, 4, 5)
    monkeypatch.setattr(memory, "free_memory", lambda: 6 * 4 * 12 * 4 - 1)
    with pytest.raises(InputError, match="24 rankings in full, 12 ranks each as the longest has"):
        few[:]


def test_collections_are_built_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ties, negative scores, topics in any order and topics that a run lacks, with scores and without."""
    rng = np.random.default_rng(2)
    runs = []
    for i in range(7):
        scores: dict[str, dict[str, float]] = {}
        for q in rng.permutation(9)[: rng.integers(1, 9)].tolist():
            chosen = rng.permutation(60)[: rng.integers(1, 50)]
            scores[str(q)] = {f"d{d}": float(rng.integers(-5, 5)) for d in chosen}
        runs.append(run_from_frame(scores, f"r{i}"))
    qrels = qrels_from_frame({str(q): {f"d{d}": int(d % 3) for d in range(40)} for q in range(9)})
    expected = build_collection(runs, qrels, scores=True)
    assert isinstance(expected.document, np.ndarray)
    monkeypatch.setattr(module, "_MAX_BYTES_ALWAYS_DENSE", 0)
    monkeypatch.setattr(module, "_MIN_RANKS_PER_DOCUMENT", 0)
    found = build_collection(runs, qrels, scores=True)
    assert isinstance(found.document, Rankings)
    assert isinstance(found.score, Rankings)
    for name in ("document", "score", "length", "relevance"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert found.doc_ids == expected.doc_ids
    np.testing.assert_array_equal(build_collection(runs, qrels).document, expected.document)


def test_counts_are_the_same() -> None:
    few, whole = ragged(uneven()), uneven()
    for measure in ("P@10", "AP@1000", "nDCG@20", "RBP(p=0.8)@30"):
        one, other = (score_bounds(c, None, parse_measure(measure)) for c in (whole, few))
        for end in ("low", "high", "least", "most"):
            assert getattr(one, end).amount.tobytes() == getattr(other, end).amount.tobytes(), (measure, end)
    one, other = (condensed_counts(c, cutoffs=(5, 1000)) for c in (whole, few))
    assert one.tobytes() == other.tobytes()
    for alpha in (1.0, 0.5):
        one, other = (composition_effects(c, cutoffs=(5, 10), alpha=alpha) for c in (whole, few))
        assert one.delta_precision.tobytes() == other.delta_precision.tobytes()
        assert one.delta_antiprecision.tobytes() == other.delta_antiprecision.tobytes()
    assert judgment_ranks(few).tobytes() == judgment_ranks(whole).tobytes()
    copied = [whole.pooled_run_ids[0], whole.run_ids[-1]]
    copies, one = (unpooled_copies(c, copied)[0] for c in (few, whole))
    assert isinstance(copies.document, Rankings)
    np.testing.assert_array_equal(copies.document, one.document)


def test_pools_are_the_same() -> None:
    few, whole = ragged(uneven()), uneven()
    for rule in get_args(PoolRule):
        found, expected = (discover_pool(c, rule=rule) for c in (few, whole))
        assert found.pooled.tolist() == expected.pooled.tolist(), rule
        assert found.pool == expected.pool, rule
    left = whole.organizations[0]
    one, other = (c.unpool(organization=left).relevance for c in (whole, few))
    assert one.tobytes() == other.tobytes()
    for strategy in ("take", "rrf", "move-to-front", "hedge", "rbp-a", "thompson"):
        one, other = (with_strategy_pool(c, strategy, 60) for c in (whole, few))
        assert one.relevance.tobytes() == other.relevance.tobytes(), strategy
        assert np.array_equal(one.in_pool(), other.in_pool()), strategy


ONE_LONG_TOPIC = """
import resource
import numpy as np
from bayespool.reading import qrels_from_frame, run_from_frame
from bayespool import score
from bayespool.collection import build_collection

topics = [str(t) for t in range(50)]
short = [
    run_from_frame({q: {f"d{(7 * r + i) % 60}": -i for i in range(30)} for q in topics}, f"r{r}")
    for r in range(21)
]
long = run_from_frame({**{q: {"d1": 1} for q in topics}, "7": {f"x{i}": -i for i in range(200_000)}}, "long")
qrels = qrels_from_frame({q: {f"d{i}": int(i % 3 == 0) for i in range(60)} for q in topics})
names = [run.run_id for run in short]

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

before = peak()
collection = build_collection([*short, long], qrels, pooled_run_ids=names, pool_depth=30)
found = score(collection, "long", measures="P@10", estimators="as-judged")
print(collection.document.nbytes, collection.length.max(), peak() - before)
"""


@pytest.mark.slow
def test_one_long_topic_takes_the_memory_of_its_documents() -> None:
    """200,000 documents of one run on one of 50 topics, beside 21 short runs: 880 MB as a dense array."""
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", ONE_LONG_TOPIC], capture_output=True, text=True, check=True)
    n_bytes, longest_ranking, peak = map(int, done.stdout.split())
    assert longest_ranking == 200_000
    assert n_bytes < 1.1e6
    if sys.platform == "linux":
        assert peak * 1024 < 200e6

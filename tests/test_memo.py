"""What is derived from a collection stays with it, and goes with it."""

from __future__ import annotations

import dataclasses
import gc
import pickle
import weakref

from toys import toy_collection

from bayespool.collection import Collection
from bayespool.memo import Memo


def test_once_by_name_and_key_and_the_last_alone() -> None:
    memo, made = Memo(), list[str]()

    def make(text: str) -> str:
        made.append(text)
        return text

    for key in (1, 1, 2, 1):
        assert memo.once("a", lambda key=key: make(f"a{key}"), key) == f"a{key}"
    assert memo.once("b", lambda: make("b"), 1) == "b"
    assert made == ["a1", "a2", "b"]
    for key in (1, 2, 2, 1):
        memo.once("last", lambda key=key: make(f"last{key}"), key, keep=1)
    assert made[3:] == ["last1", "last2", "last1"]


def test_copies_and_other_processes_begin_anew() -> None:
    collection = toy_collection()
    collection.memo.once("x", lambda: weakref.ref(collection))  # which cannot be pickled
    collection.memo.joined = collection
    for other in (dataclasses.replace(collection), pickle.loads(pickle.dumps(collection))):
        assert other.fingerprint == collection.fingerprint
        assert other.memo.joined is None
        assert other.memo.once("x", lambda: "new") == "new"


def test_results_do_not_keep_their_collection() -> None:
    def leave() -> weakref.ref[Collection]:
        collection = dataclasses.replace(toy_collection())
        collection.memo.once("itself", lambda: collection)
        return weakref.ref(collection)

    gone = leave()
    gc.collect()
    assert gone() is None

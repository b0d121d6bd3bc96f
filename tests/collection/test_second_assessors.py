"""Judgments of second assessors on documents of a collection."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest
from toys import toy_collection, toy_qrels

from bayespool.collection import add_second_assessors, qrels_from_frame, with_confusion
from bayespool.errors import InputError, InputWarning
from bayespool.experiments import load_example


def levels_of(collection, query_id: str) -> dict[str, int]:
    assert collection.second is not None
    topic = collection.query_ids.index(query_id)
    pairs = np.flatnonzero(collection.second.judged & (collection.pair_topic == topic))
    return {collection.doc_id(pair): int(collection.second.relevance[pair]) for pair in pairs}


def test_judgments_go_to_their_documents_and_change_nothing_else() -> None:
    toy = toy_collection()
    both = add_second_assessors(
        toy, qrels_from_frame({"1": {"a": 0, "c": 1, "l": 2, "b": -1}, "3": {"a": 1}})
    )
    assert (levels_of(both, "1"), levels_of(both, "3")) == ({"a": 0, "c": 1, "l": 2}, {"a": 1})
    assert np.array_equal(both.relevance, toy.relevance)
    assert both.fingerprint != toy.fingerprint
    assert pickle.loads(pickle.dumps(both)).fingerprint == both.fingerprint


def test_they_leave_the_pool_with_the_first_judgment() -> None:
    both = add_second_assessors(toy_collection(), qrels_from_frame({"1": {"a": 0, "c": 1, "l": 2}}))
    assert levels_of(both.unpool("n1"), "1") == {"a": 0, "l": 2}  # only n1 brought c


def test_documents_of_nobody_are_told_and_left_out() -> None:
    again = qrels_from_frame({"1": {"a": 1, "zz": 1}, "9": {"a": 1}})
    with pytest.warns(InputWarning, match="2 judgments of documents that the qrels do not judge"):
        both = add_second_assessors(toy_collection(), again)
    assert levels_of(both, "1") == {"a": 1}


def test_the_wrong_file_is_refused(tmp_path: Path) -> None:
    other = dataclasses.replace(qrels_from_frame({"1": {"l": 1}}), path=tmp_path / "second.txt")
    with pytest.raises(
        InputError, match=r"second\.txt.*no document is judged by the second assessors and in"
    ):
        add_second_assessors(toy_collection(), other)
    example = load_example()
    copy: dict[str, dict[str, int]] = {}
    for pair in np.flatnonzero(example.judged).tolist():
        of_topic = copy.setdefault(example.query_ids[example.pair_topic[pair]], {})
        of_topic[example.doc_id(pair)] = int(example.relevance[pair])
    with pytest.raises(InputError, match="are those of the qrels"):
        add_second_assessors(example, qrels_from_frame(copy))
    del copy[example.query_ids[0]]  # those of a part may agree throughout
    assert add_second_assessors(example, qrels_from_frame(copy)).second is not None


def test_a_confusion_is_stated_with_judgments_or_without() -> None:
    stated = ((9.0, 1.0), (2.0, 8.0))
    alone = with_confusion(toy_collection(), stated)
    assert alone.second is not None
    assert (alone.second.confusion, alone.second.judged.any()) == (stated, False)
    both = with_confusion(add_second_assessors(toy_collection(), toy_qrels()), stated)
    assert both.second is not None
    assert both.second.judged.sum() == toy_collection().judged.sum()

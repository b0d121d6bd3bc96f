"""Judgments of second assessors on documents of a collection."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from toys import toy_collection

from bayespool.collection import add_second_assessors, qrels_from_frame
from bayespool.errors import InputError, InputWarning
from bayespool.experiments import load_example


def levels_of(collection, query_id: str) -> dict[str, int]:
    assert collection.second is not None
    topic = collection.query_ids.index(query_id)
    pairs = np.flatnonzero(collection.second.judged & (collection.pair_topic == topic))
    return {collection.doc_id(pair): int(collection.second.relevance[pair]) for pair in pairs}


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

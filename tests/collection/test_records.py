"""What has been read shows itself briefly."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from trec_files import PLAIN, Write

from bayespool import collection as trec
from bayespool.collection import Judge


def test_a_run_shows_itself_briefly(write: Write) -> None:
    assert repr(trec.read_run(write(PLAIN))) == "<Run a: 3 documents, 2 topics>"
    assert repr(trec.read_qrels(write(b"1 0 a 1\n"))) == "<Qrels: 1 judgment, 1 topic>"
    assert repr(trec.read_labels(write(b"1 0 a 0.5\n2 0 a 1\n"))) == "<Labels: 2 documents, 2 topics>"


def labels_of_three(name: str) -> Judge:
    return Judge(name, np.array([0.0, 1.0, np.nan]))


def test_what_has_arrays_equals_itself_alone() -> None:
    one = labels_of_three("a")
    assert one == one
    assert one not in (labels_of_three("a"), labels_of_three("b"))
    assert len({one, labels_of_three("a")}) == 2


def test_arrays_cannot_be_written_to_even_unpickled() -> None:
    one = labels_of_three("a")
    assert one.grade.tolist() == [0, 1, -1]  # kept from here on
    for judge in (one, pickle.loads(pickle.dumps(one))):
        for array in (judge.label, judge.grade):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1

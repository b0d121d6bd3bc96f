"""What has been read shows itself briefly, equals itself alone, and cannot be written to."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from trec_files import PLAIN, Write

from bayespool import collection as trec
from bayespool.collection import Judge


def test_what_was_read_shows_itself_briefly(write: Write) -> None:
    assert repr(trec.read_run(write(PLAIN))) == "<Run a: 3 documents, 2 topics>"
    assert repr(trec.read_qrels(write(b"1 0 a 1\n"))) == "<Qrels: 1 judgment, 1 topic>"
    assert repr(trec.read_labels(write(b"1 0 a 0.5\n2 0 a 1\n"))) == "<Labels: 2 documents, 2 topics>"


def test_what_has_arrays_equals_itself_alone_and_is_read_only_even_unpickled() -> None:
    one, same, other = (Judge(name, np.array([0.0, 1.0, np.nan])) for name in "aab")
    assert one == one
    assert one not in (same, other)
    assert len({one, same}) == 2
    assert one.grade.tolist() == [0, 1, -1]  # kept from here on
    for judge in (one, pickle.loads(pickle.dumps(one))):
        for array in (judge.label, judge.grade):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1

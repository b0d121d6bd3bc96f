"""What has been read shows itself briefly, equals itself alone, and cannot be written to."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from bayespool.collection import Judge


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

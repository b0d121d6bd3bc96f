"""Precision counts what is relevant to its cutoff."""

from __future__ import annotations

import numpy as np

from bayespool.measures import Precision


def test_amounts_are_whole_numbers() -> None:
    amounts = Precision(4).amounts(np.array([[[2, 0, 1, 0, 1]]], dtype=np.int16))
    assert amounts.dtype == np.int32
    assert amounts.tolist() == [[2]]
    assert Precision(1).is_exact

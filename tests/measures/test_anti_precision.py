"""Anti-precision, precision and the unjudged share add up."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from bayespool.measures import NonrelevantShare, Precision
from bayespool.measures.base import MISSING_RANK

RANKINGS = st.lists(st.integers(MISSING_RANK, 3), max_size=8)


@given(RANKINGS, st.integers(1, 10), st.integers(1, 3))
def test_shares_sum_to_one(ranking: list[int], cutoff: int, rel: int) -> None:
    """P@n + AntiP@n + unjudged share = 1 (Lipani et al. 2015, §3)."""
    levels = np.array(ranking, dtype=np.int16)
    anti, precision = NonrelevantShare(cutoff, rel), Precision(cutoff, rel)
    n_unjudged = int((levels[:cutoff] == -1).sum())
    assert anti.amounts(levels) + precision.amounts(precision.read(levels)) + n_unjudged == cutoff

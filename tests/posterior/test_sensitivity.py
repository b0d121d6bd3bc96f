"""What a run would be worth under two assumptions, by hand."""

from __future__ import annotations

import pytest
from toys import from_rankings

from bayespool import parse_measure
from bayespool.posterior.distance import sensitivity


def test_as_hidden_documents_and_as_judged_ones() -> None:
    # a alone has c (relevant), b alone d and e (not): a third of hidden documents is relevant
    rankings = {"a": {"1": "pqc"}, "b": {"1": "pdeq"}, "new": {"1": "pqxy"}}
    judged = {"1": {"p": 1, "q": 0, "c": 1, "d": 0, "e": 0}}
    collection = from_rankings(rankings, judged, pooled_run_ids=("a", "b"), pool_depth=4)
    as_pool, as_run = sensitivity(collection, ["new"], parse_measure("P@4"))
    assert as_pool == pytest.approx([(1 + 2 / 3) / 4])
    assert as_run == pytest.approx([(1 + 2 * 0.5) / 4])  # one of two judged documents is relevant

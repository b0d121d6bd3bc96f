"""What a run would be worth under two assumptions, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from toys import from_rankings

from bayespool import load_example, parse_measure
from bayespool.corrections import Background, Interpolated
from bayespool.posterior.distance import sensitivity


def test_as_hidden_documents_and_as_judged_ones() -> None:
    # a alone has c (relevant), b alone d and e (not): a third of hidden documents is relevant
    rankings = {"a": {"1": "pqc"}, "b": {"1": "pdeq"}, "new": {"1": "pqxy"}}
    judged = {"1": {"p": 1, "q": 0, "c": 1, "d": 0, "e": 0}}
    collection = from_rankings(rankings, judged, pooled_run_ids=("a", "b"), pool_depth=4)
    as_pool, as_run = sensitivity(collection, ["new"], parse_measure("P@4"))
    assert as_pool == pytest.approx([(1 + 2 / 3) / 4])
    assert as_run == pytest.approx([(1 + 2 * 0.5) / 4])  # one of two judged documents is relevant


def test_without_hidden_documents_what_is_unjudged_counts_as_nonrelevant() -> None:
    rankings = {"a": {"1": "pq"}, "b": {"1": "qp"}, "new": {"1": "px"}}
    collection = from_rankings(rankings, {"1": {"p": 1, "q": 0}}, pooled_run_ids=("a", "b"), pool_depth=2)
    as_pool, as_run = sensitivity(collection, ["new"], parse_measure("P@2"))
    assert (as_pool.tolist(), as_run.tolist()) == ([0.5], [1.0])


def test_every_measure_has_both() -> None:
    example = load_example()
    runs = example.unpooled_run_ids
    for measure in ("nDCG@10", "AP@100", "RR@10", "RBP(p=0.8)@10", "P(rel=2)@5"):
        found = sensitivity(example, runs, parse_measure(measure))
        (low,) = Background(e=0.0).estimate(example, runs, measure)
        (good,) = Interpolated(c=1.0).estimate(example, runs, measure)
        assert (found[0] > low.value).all(), measure
        assert found[1] == pytest.approx(good.value, abs=0.02), measure


def test_below_the_pool_depth_nothing_is_added_where_that_is_asked() -> None:
    """And where nothing is judged there is no second assumption."""
    rankings = {"a": {"1": "pqc"}, "b": {"1": "pdq"}, "new": {"1": "pxyz"}, "other": {"1": "xyz"}}
    judged = {"1": {"p": 1, "q": 0, "c": 1, "d": 0}}
    collection = from_rankings(rankings, judged, pooled_run_ids=("a", "b"), pool_depth=3)
    pooled, _ = sensitivity(collection, ["new"], parse_measure("P@4"), "pooled")
    complete, _ = sensitivity(collection, ["new"], parse_measure("P@4"))
    assert pooled[0] < complete[0]
    as_pool, as_run = sensitivity(collection, ["other"], parse_measure("P@3"))
    assert as_pool == pytest.approx([0.5])
    assert np.isnan(as_run).all()

"""The documents of an audit: values of every draw lie between the sums, and chances are the posterior's."""

from __future__ import annotations

import numpy as np
import pytest
from small import small

from bayespool import complete, parse_measure
from bayespool.auditing import Urn
from bayespool.auditing.urns import find_urn
from bayespool.posterior import Completion

pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


def worth_of_draws(urn: Urn, completion: Completion) -> np.ndarray:
    """Worth of the urn's documents in each draw, shape (draw, document)."""
    place = {key: i for i, key in enumerate(zip(urn.query_ids, urn.doc_ids, strict=True))}
    worth = np.zeros((completion.n_draws, len(urn)))
    for t, query_id in enumerate(completion.unknowns.collection.query_ids):
        block = completion.block(t)
        for j, doc_id in enumerate(completion.unknowns.doc_ids(t)):
            if (query_id, doc_id) in place:
                level = np.array(completion.levels)[block[:, j]]
                worth[:, place[query_id, doc_id]] = np.array(urn.worth)[level]
    return worth


def test_values_of_all_draws_lie_between() -> None:
    """Of a run, and of the difference of two."""
    asked = [*((text, 1) for text in ("P@10", "nDCG@10", "R@20", "RR@10")), ("RBP(p=0.8)@10", 2)]
    for text, n_runs in (*asked, ("AP(ideal='shared')@20", 2)):
        measure, runs = parse_measure(text), small().unpooled_run_ids[:n_runs]
        completion = complete(small(), runs, measure, model="ratio", draws=50)
        urn = find_urn(completion, measure)
        means = completion.evaluate(measure)[0].means()
        value = means[:, 0] - (means[:, 1] if n_runs == 2 else 0)
        worth = worth_of_draws(urn, completion)
        low, high = urn.base_low + worth @ urn.low, urn.base_high + worth @ urn.high
        assert ((low <= value + 1e-9) & (value <= high + 1e-9)).all(), text
        assert ((urn.least <= value + 1e-9) & (value <= urn.most + 1e-9)).all(), text
        assert (value.mean(), value.std()) == pytest.approx((urn.mean, urn.std)), text
        if text.startswith(("P", "RBP")):
            assert low == pytest.approx(value)
            assert high == pytest.approx(value)


def test_chances_spreads_and_what_is_shared_are_those_of_the_draws() -> None:
    completion = complete(small(), small().unpooled_run_ids[:1], "P@10", model="ratio", draws=250)
    urn = find_urn(completion, parse_measure("P@10"))
    worth = worth_of_draws(urn, completion)
    assert urn.chance == pytest.approx(worth.mean(axis=0), abs=0.08)  # of a thousand draws
    assert urn.spread == pytest.approx(worth.std(axis=0), abs=0.08)
    both = np.sqrt(urn.low**2 @ (urn.spread**2 - urn.shared**2) + (urn.low @ urn.shared) ** 2)
    assert both == pytest.approx(urn.std, rel=0.1)

"""Whether judgments are those that the stated strategy asks for."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import toys

from bayespool import load_example
from bayespool.collection import UNJUDGED, Collection
from bayespool.errors import StatedPoolWarning
from bayespool.pooling import pool_of_strategy
from bayespool.pooling.discovery import misfit_of, warn_of_misfit
from bayespool.pooling.pools import with_strategy_pool


def stated(collection: Collection, strategy: str, budget: int, **options: object) -> Collection:
    return pool_of_strategy(
        collection,
        strategy,
        budget,
        pooled_run_ids=collection.pooled_run_ids,
        **{"run_depth": 10} | options,  # type: ignore[arg-type]
    )


def test_counts_of_a_toy() -> None:
    """Two runs of four documents; Take@4 chooses c d e f. z and y are of a run that did not contribute."""
    rankings = {"a": {"1": "cegi"}, "b": {"1": "dfhj"}, "u": {"1": "zy"}}
    judged = {"c": 1, "d": 0, "e": 1, "g": 0, "z": 1, "y": 0}
    bare = toys.from_rankings(rankings, {"1": judged}, pooled_run_ids=("a", "b"), pool_depth=4)
    assert misfit_of(bare) is None
    for budget, depth, counts in (
        (4, 4, (1, 1, False)),
        (4, 2, (1, 0, False)),  # g at rank 3 of a run that may be judged to rank 2 could not have been chosen
        (2, 4, (0, 2, True)),
    ):
        found = misfit_of(stated(bare, "take", budget, run_depth=depth))
        assert found is not None
        assert (found.n_unjudged, found.n_others, found.is_large) == counts


def test_a_warning_where_it_is_large() -> None:
    made = with_strategy_pool(load_example(), "uniform", 400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not warn_of_misfit(made)
        assert not warn_of_misfit(load_example())
    with pytest.warns(StatedPoolWarning, match=r"uniform, budget 300.*not of the sample: 100; .*no value"):
        assert warn_of_misfit(stated(made, "uniform", 300))
    unjudged = made.without_judgments(made.in_pool() & (np.arange(len(made.relevance)) % 3 == 0))
    with pytest.warns(StatedPoolWarning, match=r"documents of the sample without a judgment: \d+ of 400"):
        assert warn_of_misfit(unjudged)
    assert (unjudged.relevance[unjudged.in_pool()] == UNJUDGED).sum() > 100

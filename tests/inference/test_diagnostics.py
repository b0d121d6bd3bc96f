"""Diagnostics of draws that are made up."""

from __future__ import annotations

import arviz_base
import arviz_stats
import numpy as np
from each import cases

from bayespool.inference.fit import MAX_R_HAT, MIN_ESS, diagnose


def tree_of(draws: np.ndarray, n_divergences: int = 0, **more: np.ndarray) -> object:
    """Draws of ``x``, shape (chain, draw), as a sampler returns them."""
    diverging = np.zeros(draws.shape[:2], dtype=bool)
    diverging.flat[:n_divergences] = True
    return arviz_base.from_dict({"posterior": {"x": draws, **more}, "sample_stats": {"diverging": diverging}})


def independent(n_chains: int, n_draws: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n_chains, n_draws))


def test_diagnostics_are_arvizs_over_the_worst_parameter() -> None:
    rng = np.random.default_rng(2)
    good = rng.normal(size=(4, 500))
    slow = np.cumsum(rng.normal(size=(4, 500, 2)), axis=1) * np.array([0.02, 1.0]) + good[:, :, None]
    tree = tree_of(good, y=slow)
    found = diagnose(tree, engine="nuts")
    posterior = tree["posterior"].to_dataset()  # type: ignore[index]

    def values(statistic: object) -> np.ndarray:
        return np.concatenate([np.ravel(v) for v in statistic.data_vars.values()])  # type: ignore[attr-defined]

    assert found.max_r_hat == values(arviz_stats.rhat(posterior)).max()
    assert found.min_ess_bulk == values(arviz_stats.ess(posterior, method="bulk")).min()
    assert found.min_ess_tail == values(arviz_stats.ess(posterior, method="tail")).min()
    assert found.max_r_hat > 1.2
    assert len(found.problems) == 3


def test_few_effective_draws_are_a_problem() -> None:
    found = diagnose(tree_of(independent(4, 50)), engine="nuts")
    assert found.min_ess_bulk < MIN_ESS
    assert f"bulk effective sample size is {found.min_ess_bulk:.0f}, should be over 400" in found.problems
    assert f"tail effective sample size is {found.min_ess_tail:.0f}, should be over 400" in found.problems
    assert not any("R-hat" in p for p in found.problems) or found.max_r_hat >= MAX_R_HAT


def test_divergences_and_a_single_chain_are_problems() -> None:
    found = diagnose(tree_of(independent(4, 1000), n_divergences=7), engine="nuts")
    assert (found.n_divergences, found.problems) == (7, ("7 divergent transitions",))
    found = diagnose(tree_of(independent(1, 4000)), engine="nuts")
    assert np.isnan(found.max_r_hat)
    assert found.problems == ("one chain has no R-hat",)
    assert found.min_ess_bulk > 3000


def test_constants_and_empty_effects_do_not_count_and_are_not_trusted_alone() -> None:
    draws = independent(4, 1000)
    more = {"fixed": np.zeros((4, 1000, 3)), "none": np.zeros((4, 1000, 0))}
    found, alone = diagnose(tree_of(draws, **more), engine="nuts"), diagnose(tree_of(draws), engine="nuts")
    assert found == alone
    found = diagnose(tree_of(np.ones((4, 1000))), engine="nuts")
    assert not found.passed
    assert np.isnan(found.min_ess_bulk)


@cases("value", [np.nan, np.inf])
def test_draws_that_are_not_finite_are_a_problem(value: float) -> None:
    draws = independent(4, 1000)
    draws[1, 2] = value
    found = diagnose(tree_of(independent(4, 1000), y=draws), engine="nuts")
    assert "some draws are not finite" in found.problems

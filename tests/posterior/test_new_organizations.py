"""Tails of new organizations' effects, and how alike they are from rung to rung."""

from __future__ import annotations

import numpy as np
from scipy import stats

from bayespool.models import Effect
from bayespool.posterior.new_organizations import (
    NewOrganizations,
    _log_ratio_of_pairs,
    _log_ratio_of_tails,
    new_organizations,
)

N = 20_000


def rung(freedom: float, correlation: float = 0.0, below: NewOrganizations | None = None) -> NewOrganizations:
    """New organizations with values that are known."""
    above = () if below is None else (len(below.above) + 2,)
    none = np.zeros((N, 0))
    return NewOrganizations(none, np.full(N, freedom), np.full(N, correlation), (), 1, above, below)


def test_effects_have_their_tails_and_their_scale() -> None:
    """They go by the name of the organization."""
    scale = np.repeat([0.5, 2.0], N // 2)
    for freedom in (3.0, 1e6):
        effects = rung(freedom).effects(scale, ["north", "south", "north"])
        assert np.array_equal(effects[:, 0], effects[:, 2])
        for column in (0, 1):
            assert stats.kstest(effects[:, column] / scale, stats.t(freedom).cdf).pvalue > 1e-3, freedom
        assert abs(np.corrcoef(effects[:, 0], effects[:, 1])[0, 1]) < 0.05
        alone = rung(freedom).effects(scale, ["south"])
        assert np.array_equal(alone[:, 0], effects[:, 1])


def test_effects_are_alike_from_rung_to_rung() -> None:
    first = rung(1e6)
    second = rung(1e6, 0.8, first)
    third = rung(1e6, 0.5, second)
    of_rungs = np.array([new.effects(np.ones(N), ["a"])[:, 0] for new in (first, second, third)])
    expected = [[1, 0.8, 0.4], [0.8, 1, 0.5], [0.4, 0.5, 1]]
    np.testing.assert_allclose(np.corrcoef(of_rungs), expected, atol=0.03)
    assert np.array_equal(first.stretch("a"), third.stretch("a"))
    slopes = np.array([new.slopes(np.ones(N), ("x",), ["a"])[:, 0, 0] for new in (first, second, third)])
    np.testing.assert_allclose(np.corrcoef(slopes), expected, atol=0.03)


def test_densities_are_those_of_scipy() -> None:
    x, y = np.random.default_rng(1).normal(size=(2, 5, 4))
    of_t = (stats.t(3.5).logpdf(x) - stats.norm.logpdf(x)).sum(axis=1)
    np.testing.assert_allclose(_log_ratio_of_tails(x)(3.5), of_t)
    both = stats.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]]).logpdf(np.stack([x, y], axis=-1))
    of_pairs = (both - stats.norm.logpdf(x) - stats.norm.logpdf(y)).sum(axis=1)
    np.testing.assert_allclose(_log_ratio_of_pairs(x, y)(0.6), of_pairs)


def known_effects(standard: np.ndarray, n: int = 100) -> dict[str, np.ndarray]:
    """Draws of effects that are known."""
    return {"organization_effect": np.tile(standard, (n, 1)), "sigma_organization": np.ones(n)}


def test_ranks_of_tails_and_correlation_are_uniform() -> None:
    """Simulation-based calibration where the effects of twenty organizations are known."""
    rng, effect = np.random.default_rng(5), Effect("organization")
    names, ranks = tuple("abcdefghijklmnopqrst"), []
    for seed in range(25):
        freedom, correlation = rng.gamma(2, 10), rng.random()
        stretched = rng.standard_t(freedom, size=len(names))
        below = rng.normal(size=len(names))
        here = correlation * below + np.sqrt(1 - correlation**2) * rng.normal(size=len(names))
        first = new_organizations(effect, known_effects(stretched), names, seed, (), None)
        lower = new_organizations(effect, known_effects(below), names, seed, (), None)
        second = new_organizations(effect, known_effects(here[::-1]), names[::-1], seed, (2,), lower)
        ranks.append([(first.freedom < freedom).mean(), (second.correlation < correlation).mean()])
    for of_value in np.transpose(ranks):
        assert stats.kstest(of_value, stats.uniform.cdf).pvalue > 0.01

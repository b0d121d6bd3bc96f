"""Distributions that the models share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc as pm
import pytest
from each import cases
from graphs import NO_LINKER
from scipy import stats
from scipy.special import expit, gammaln

from bayespool.models import Prior
from bayespool.models.graphs import binomial, group_effect


def test_binomial_has_the_mass_and_draws_of_one() -> None:
    n, k, eta = np.array([1, 4, 10, 3]), np.array([0, 4, 3, 0]), np.array([0.3, -2.0, 1.0, -30.0])
    with pm.Model() as graph:
        x = pm.Normal("x")
        binomial("k", eta + x, n, k)
    (terms,) = graph.compile_logp(vars=[graph["k"]], sum=False, **NO_LINKER)({"x": np.array(0.0)})
    coefficient = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    assert terms == pytest.approx(stats.binom(n, expit(eta)).logpmf(k) - coefficient, rel=1e-7)
    with pm.do(graph, {"x": np.array(0.0)}):
        drawn = pm.draw(pm.do(graph, {"x": np.array(0.0)})["k"], draws=4000, random_seed=1, **NO_LINKER)
    assert drawn.dtype == np.int64
    p = expit(eta)
    error = np.sqrt(n * p * (1 - p) / 4000)
    assert (np.abs(drawn.mean(axis=0) - n * p) <= 5 * error + 1e-12).all()
    assert drawn.var(axis=0)[1:3] == pytest.approx((n * p * (1 - p))[1:3], rel=0.15)


@cases(
    ("prior", "symmetric"),
    [
        (Prior("HalfNormal", (2.0,)), stats.norm(scale=2)),
        (Prior("HalfCauchy", (0.3,)), stats.cauchy(scale=0.3)),
    ],
)
def test_scale_is_the_size_of_a_factor_of_either_sign(prior: Prior, symmetric: Any) -> None:
    with pm.Model(coords={"group": list("abc")}) as graph:
        group_effect("group", prior, "group", centered=False)
    signed = {v.name: v for v in graph.free_RVs}["standard_sigma_group"]
    (terms,) = graph.compile_logp(vars=[signed], sum=False, **NO_LINKER)(
        {"standard_sigma_group": np.array(-0.4), "standard_group_zerosum__": np.zeros(2)}
    )
    assert float(terms) == pytest.approx(symmetric.logpdf(-0.4), rel=1e-6)
    fixed = pm.do(
        graph, {"standard_sigma_group": np.array(-0.4), "standard_group": np.array([1.0, 0.5, -1.5])}
    )
    sigma, effect = pm.draw([fixed["sigma_group"], fixed["group_effect"]], **NO_LINKER)
    assert float(sigma) == 0.4
    assert effect.tolist() == pytest.approx([-0.4, -0.2, 0.6])


@cases("n_groups", [0, 1])
def test_single_group_has_no_effect_and_keeps_its_scale(n_groups: int) -> None:
    with pm.Model(coords={"group": list("ab")[:n_groups]}) as graph:
        effect = group_effect("group", Prior("HalfNormal", (1.0,)), "group", centered=True)
    assert effect.eval(mode="FAST_COMPILE").tolist() == [0.0] * n_groups
    assert [v.name for v in graph.free_RVs] == ["sigma_group"]
    assert graph.named_vars_to_dims["group_effect"] == ("group",)

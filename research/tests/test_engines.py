"""Engines agree that are alike, and are told apart where one is off. NUTS is played by Laplace."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

from bayespool import load_example
from bayespool.inference import ENGINES, Fit, Laplace, register_engine
from research.checks.engines import agreement, compare_engines, differences


@dataclasses.dataclass(frozen=True)
class Played(Laplace):
    """Laplace with another seed, an intercept that is too high, or a scale that is too large."""

    name: ClassVar[str] = "played"
    shift: ClassVar[float] = 0.0
    factor: ClassVar[float] = 1.0

    def fit(self, spec: Any, evidence: Any, random_seed: int, *, known: Any = None) -> Fit:
        fit = super().fit(spec, evidence, random_seed + 1, known=known)
        variables = {**fit.variables, "mu": fit.variables["mu"] + self.shift}
        if "sigma_interaction" in variables:
            variables["sigma_interaction"] = self.factor * variables["sigma_interaction"]
        return dataclasses.replace(fit, variables=variables)


@pytest.fixture(autouse=True)
def played() -> Iterator[None]:
    register_engine(Played)
    yield
    del ENGINES["played"]


@pytest.mark.parametrize(("shift", "factor"), [(0.0, 1.0), (0.5, 1.0), (0.0, 5.0)])
def test_an_engine_that_is_off_is_told_apart(shift: float, factor: float, monkeypatch: Any) -> None:
    monkeypatch.setattr(Played, "shift", shift)
    monkeypatch.setattr(Played, "factor", factor)
    frame = compare_engines(load_example(), ["background", "ratio"], reference="played", draws=500)
    found = agreement(frame).set_index("model")
    assert (found["mean_agrees"] == (0 if shift else 1))[["background"]].all()
    assert (found.loc["ratio", "ends_agree"] > 0.8) == (shift == 0 and factor == 1)


def test_differences_are_shares_of_the_width() -> None:
    rng = np.random.default_rng(1)
    nuts = rng.binomial(200, 0.3, size=(20_000, 2)).astype(np.int32)
    found = differences(nuts + np.int32(1), nuts)
    width = found["width"]
    np.testing.assert_allclose(width, 2 * 1.96 * np.sqrt(200 * 0.3 * 0.7), rtol=0.03)
    for name in ("mean", "lower", "upper"):
        np.testing.assert_allclose(found[f"{name}_off"], 1 / width, rtol=1e-9)
    standard = np.sqrt(200 * 0.3 * 0.7) * np.sqrt(2 / 20_000) / width
    np.testing.assert_allclose(found["mean_off_se"], standard, rtol=0.6)

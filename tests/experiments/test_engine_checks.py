"""The engines hold their draws against each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from checked import every_model
from real import read_real

from bayespool.experiments import EngineComparison, compare_engines, load_example
from bayespool.experiments.engine_checks import _compare
from bayespool.experiments.hidden import Fitting
from bayespool.models import MODEL_NAMES
from bayespool.posterior import PreparedModel

at_a_desk = pytest.mark.at_a_desk


def test_differences_of_engines_are_shares_of_the_width() -> None:
    rng = np.random.default_rng(1)
    nuts = rng.binomial(200, 0.3, size=(20_000, 2)).astype(np.int32)
    found = _compare({"laplace": nuts + np.int32(1), "nuts": nuts}, np.array([10, 20]), 400, 0.95)
    width = found["width"] * 400
    np.testing.assert_allclose(width, 2 * 1.96 * np.sqrt(200 * 0.3 * 0.7), rtol=0.03)
    for name in ("mean", "lower", "upper"):
        np.testing.assert_allclose(found[f"{name}_off"], 1 / width, rtol=1e-9)
    np.testing.assert_allclose(found["mean_nuts"] * 400, [70, 80], atol=0.3)
    standard = np.sqrt(200 * 0.3 * 0.7) * np.sqrt(2 / 20_000) / width
    np.testing.assert_allclose(found["mean_off_se"], standard, rtol=0.6)


@pytest.mark.slow
def test_engines_are_told_apart_where_one_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """NUTS is played by Laplace with another seed, then by Laplace with chances that are too high."""
    fit = Fitting.fit
    shift, factor = 0.0, 1.0

    def play(
        self: Fitting, prepared: PreparedModel, evidence: Any, random_seed: int, known: Any = None
    ) -> Any:
        if self.engine == "laplace":
            return fit(self, prepared, evidence, random_seed, known)
        fast = dataclasses.replace(self, engine="laplace")
        other = fit(fast, prepared, evidence, random_seed + 1, known)
        variables = {**other.variables, "mu": other.variables["mu"] + shift}
        if "sigma_interaction" in variables:
            variables["sigma_interaction"] = factor * variables["sigma_interaction"]
        return dataclasses.replace(other, variables=variables)

    monkeypatch.setattr(Fitting, "fit", play)
    settings = {"models": ("background", "ratio"), "draws": 1000}
    compared = compare_engines(load_example(), **settings)
    assert compared.to_frame()["run_id"].tolist() == ["coast-1", "coast-2", "coast-3", "ridge-1"] * 2
    summary = compared.to_frame("summary")
    assert (summary[["mean_agrees", "ends_agree"]] == 1).all(axis=None)
    assert (summary["n_runs"] == 4).all()
    factor = 5.0
    summary = compare_engines(load_example(), **settings).to_frame("summary").set_index("model")
    assert summary["ends_agree"]["ratio"] < 0.7
    assert summary["ends_agree"]["background"] == 1
    shift, factor = 0.5, 1.0
    summary = compare_engines(load_example(), **settings).to_frame("summary")
    assert (summary["mean_agrees"] == 0).all()


def agrees(folder: Path, model: str, draws: int) -> None:
    """Means within 2 % of the interval's width and ends within 5 %, Monte-Carlo errors allowed for."""
    compared = compare_engines(read_real(folder), "P@10", models=model, draws=draws)
    frame = compared.to_frame()
    assert (frame["mean_off_se"] < 0.01).all(), frame  # else an engine that is off would be forgiven
    assert (frame[["lower_off_se", "upper_off_se"]].mean() < 0.025).all(), frame
    (summary,) = compared.to_frame("summary").to_dict("records")
    assert summary["problems"] == "" or model == "smoothed"  # which NUTS would then sample
    assert summary["mean_agrees"] > 0.9, frame
    assert summary["ends_agree"] > 0.9, frame


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [pytest.param(model, marks=() if model == "background" else at_a_desk) for model in MODEL_NAMES],
)
def test_laplace_agrees_with_nuts_on_medical(
    model: str, collections: Path, repetitions: Callable[[int, int], int]
) -> None:
    agrees(collections / "trec2011-medical", model, draws=repetitions(3000, 1000))


@pytest.mark.slow
@at_a_desk
@every_model
def test_laplace_agrees_with_nuts_on_trec_2(
    model: str, collections: Path, repetitions: Callable[[int, int], int]
) -> None:
    agrees(collections / "trec2-adhoc", model, draws=repetitions(3000, 1000))


def test_the_title_names_the_engine() -> None:
    for engine, title in (("laplace", "Laplace against NUTS"), ("own", "Own against NUTS")):
        compared = EngineComparison(pd.DataFrame(), {"engine": engine})
        assert compared.title == compared.figures()[0].caption == title

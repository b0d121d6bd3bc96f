"""Scores of systems from their runs: parts of the variance by hand, coverage, and what readers see."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayespool import compare, load_example
from bayespool.comparisons import system_scores
from bayespool.measures import Values
from bayespool.report.stored import read_result

pytestmark = [
    pytest.mark.usefixtures("fits_of_all_tests"),
    pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning"),
]
SYSTEMS = {"new-a": "new", "new-b": "new", "north-1": "north", "north-2": "north", "coast-1": "coast"}


def test_parts_of_the_variance_by_hand() -> None:
    # two draws of runs a1, a2 and b on two topics, in tenths
    draws = np.array([[[4, 6], [6, 8], [1, 3]], [[4, 6], [8, 10], [3, 5]]])
    found = system_scores(Values(draws, 10), {"a": [0, 1], "b": [2]})
    np.testing.assert_allclose(found.draws, [[0.6, 0.2], [0.7, 0.4]])
    np.testing.assert_allclose(found.value, [0.65, 0.3])
    np.testing.assert_allclose(found.topics_variance, [0.02 / 2, 0.02 / 2])
    # means .5 and .7, then .5 and .9: squares .02 and .08, one degree of freedom
    assert found.run == pytest.approx(0.05)
    np.testing.assert_allclose(found.runs_variance, [0.025, 0.05])
    np.testing.assert_allclose(found.unjudged_variance, [0.0025, 0.01])
    # variance between .6 and .2, .7 and .4, less what runs add
    assert found.system == pytest.approx((0.08 + 0.045) / 2 - 0.0375)


def test_single_runs_say_nothing_of_runs_like_them() -> None:
    draws = np.random.default_rng(1).integers(0, 10, size=(50, 2, 8))
    found = system_scores(Values(draws, 10), {"a": [0], "b": [1]})
    assert np.isnan(found.run)
    assert np.isnan(found.runs_variance).all()
    assert np.isfinite(found.like_these).all()


def test_intervals_hold_the_mean_over_topics_and_runs() -> None:
    rng, held = np.random.default_rng(2), []
    systems = dict(zip("abcd", np.arange(12).reshape(4, 3).tolist(), strict=True))
    for seed in range(200):
        truth = rng.normal(0.5, 0.05, size=4)
        runs = np.repeat(truth, 3) + rng.normal(scale=0.03, size=12)
        hard = rng.normal(scale=0.1, size=30) + np.repeat(rng.normal(scale=0.1, size=(4, 30)), 3, axis=0)
        scores = runs[:, None] + hard + rng.normal(scale=0.05, size=(12, 30))
        values = Values(np.repeat(scores[None], 300, axis=0))
        found = system_scores(values, systems, random_seed=seed)
        low, high = found.interval(0.95, like_these=True)
        held.append((low <= truth) & (truth <= high))
    assert 0.93 <= np.mean(held) <= 0.985


def test_a_comparison_has_systems(tmp_path: Path) -> None:
    asked = {"estimators": "posterior-ratio", "posterior_settings": "draws=20", "systems": SYSTEMS}
    found = compare(load_example(), list(SYSTEMS), "P@10", **asked)
    frame, shares = found.variance(), ["topics_variance", "runs_variance", "unjudged_variance"]
    values = found.scores["P@10", "posterior-ratio"].draws
    assert values is not None
    here = frame[frame["scope"] == "these-topics"].set_index("system")
    assert here.loc["new", "value"] == pytest.approx(values.means()[:, :2].mean())
    assert here[shares].isna().all(axis=None)
    any_system = frame[frame["value"].isna()].set_index("scope")
    assert any_system.index.tolist() == ["population"]
    parts = any_system[["systems_variance", *shares]]
    assert parts.sum(axis=1).tolist() == pytest.approx([1])
    assert any_system["n_runs"].tolist() == [len(SYSTEMS)]
    there = frame[frame["system"] == "new"].set_index("scope").loc["population"]
    sentence = next(text for text in found.sentences() if "runs like these the P@10 of new" in text)
    assert sentence.endswith(f"{100 * there['unjudged_variance']:.1f} % to unjudged documents.")
    found.save(tmp_path / "found.json")
    assert read_result(tmp_path / "found.json").to_frame("variance").equals(frame)

"""`check_models`: what it refuses, and that it repeats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from checked import P10
from toys import from_rankings, toy_collection

from bayespool.errors import InputError
from bayespool.experiments import check_models, load_example


def test_pool_from_which_nothing_can_be_held_out_is_an_error() -> None:
    with pytest.raises(InputError, match="2 organizations, and holding some out needs three"):
        check_models(toy_collection(), "P@3", models="ratio")
    with pytest.raises(InputError, match="n_folds cannot be 1; at least 2"):
        check_models(load_example(), models="ratio", n_folds=1)
    same = from_rankings(
        {run: {"1": "abc"} for run in "xyz"},
        {"1": {"a": 1, "b": 0, "c": 0}},
        pooled_run_ids=("x", "y", "z"),
        pool_depth=3,
    )
    with pytest.raises(InputError, match="contributed by one organization alone"):
        check_models(same, "P@3", models="ratio")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"models": ("ratio", "linear")}, "no model 'linear' to check"),
        ({"models": ("combined",)}, "it is checked where all of its models are: ratio, rankings"),
        ({"models": ()}, "models cannot be empty; leave it out"),
        ({"models": "ratio", "priors": {"gamma": "Normal(0, 1)"}}, "no prior 'gamma'"),
        ({"models": "ratio", "engine": "advi"}, "no engine 'advi'"),
        ({"models": "ratio", "draws": 0}, "draws cannot be 0; at least 1"),
    ],
)
def test_wrong_settings_say_what_is_right(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_models(load_example(), **arguments)


@pytest.mark.slow
def test_checks_repeat_to_the_byte_and_change_with_the_seed() -> None:
    a, b, other = (
        check_models(load_example(), models="ratio", draws=40, containers=False, random_seed=seed)
        for seed in (1, 1, 2)
    )
    assert a["ratio", P10].draws.tobytes() == b["ratio", P10].draws.tobytes()
    assert a["ratio", P10].draws.tobytes() != other["ratio", P10].draws.tobytes()
    pd.testing.assert_frame_equal(a.to_frame("runs"), b.to_frame("runs"))


@pytest.mark.slow
def test_a_rung_that_no_hidden_document_reaches_rests_on_the_priors() -> None:
    rankings = {"x": {"1": "asb"}, "y": {"1": "sct"}, "z": {"1": "tsd"}, "w": {"1": "tse"}}
    collection = from_rankings(
        rankings,
        {"1": dict.fromkeys("abcde", 0) | {"s": 2, "t": 1}},
        {run: run for run in rankings},
        pooled_run_ids=tuple(rankings),
        pool_depth=3,
    )
    checks = check_models(collection, "DCG@3", models=("ratio", "smoothed"), draws=60)
    assert sorted(model for _, model in checks.containers) == ["ratio", "smoothed"]
    for model in ("ratio", "smoothed"):
        prediction = checks[model, "DCG@3"]
        assert not prediction.observed.any()
        assert (prediction.draws >= 0).all()
        assert len(np.unique(prediction.draws)) > 3
        assert np.isnan(prediction.densities[1]).all()

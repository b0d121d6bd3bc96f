"""Defaults of the package: what is set is checked, used by functions, methods and tables, and put back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from bayespool import judge_next, load_example, rc_context, rcParams, score
from bayespool.comparisons import simultaneous_order
from bayespool.errors import InputError
from bayespool.measures.values import Values


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"ci_porb": 0.9},
            r"no default 'ci_porb'; did you mean 'ci_prob'\? known: ci_prob, decimals, figure_width",
        ),
        ({"ci_prob": 95}, "ci_prob cannot be 95; above 0 and below 1"),
        ({"ci_prob": "0.9"}, "ci_prob cannot be '0.9'; a number"),
        ({"ci_prob": None}, "ci_prob cannot be None; a number"),
        ({"decimals": 2.5}, "decimals cannot be 2.5; a whole number"),
        ({"ci_prob": 0.9, "decimals": -1}, "decimals cannot be -1; at least 0 and at most 9"),
        ({"figure_width": "wide"}, "figure_width cannot be 'wide'; inches, or own, column, page"),
        ({"figure_width": 1.5}, "figure_width cannot be 1.5; at least 2 and at most 20"),
    ],
)
def test_a_wrong_default_is_refused_and_nothing_is_set(values: Mapping[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=f"^{said}$"), rc_context(values):
        pass
    with pytest.raises(ZeroDivisionError), rc_context({"ci_prob": 0.5}):
        _ = 1 / 0
    assert dict(rcParams) == {"ci_prob": 0.95, "decimals": 4, "figure_width": 0.0}
    with pytest.raises(InputError, match="no default 'level'"):
        _ = rcParams["level"]
    assert "level" not in rcParams
    assert repr(rcParams) == "RcParams({'ci_prob': 0.95, 'decimals': 4, 'figure_width': 0.0})"


def test_intervals_have_the_default_probability_and_results_say_which() -> None:
    example, asked = load_example(), {"estimators": "posterior-ratio(draws=40)"}
    totals = np.random.default_rng(1).normal([0, 1, 5], size=(400, 3))
    draws = Values(np.arange(100).reshape(100, 1, 1))
    with rc_context({}):
        rcParams["ci_prob"] = 0.5
        scores = score(example, "new-a", "P@10", estimators="posterior-ratio", posterior_settings="draws=40")
        assert simultaneous_order(totals).tolist() == simultaneous_order(totals, ci_prob=0.5).tolist()
        assert draws.interval()[0].item() == draws.interval(0.5)[0].item() == 25
        assert judge_next(example, "new-a", "P@10", **asked).metadata["ci_prob"] == 0.5  # type: ignore[arg-type]
    assert draws.interval()[0].item() == draws.interval(0.95)[0].item() == 2
    same = score(
        example, "new-a", "P@10", estimators="posterior-ratio", posterior_settings="draws=40", ci_prob=0.5
    )
    assert scores.to_frame().equals(same.to_frame())
    assert scores.metadata["settings"]["ci_prob"] == scores.to_frame()["ci_prob"].item() == 0.5
    assert "50 %\ninterval" in [column.heading for column in scores.table().read()[0].columns]


def test_tables_have_the_default_number_of_decimals() -> None:
    scores = score(load_example(), "new-a", "P@10", estimators="background")
    for decimals, shown in ((4, "0.5950"), (2, "0.59"), (6, "0.595000")):
        with rc_context({"decimals": decimals}):
            (row, *_) = scores.table().read()[0].rows
            assert row[1] == shown
            assert f" {shown} " in str(scores.summary())
            assert f" {shown} &" in scores.to_latex()

"""The benchmark of judge-next on the embedded example: its rules, its stopping rule, its tables."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayespool import load_example
from bayespool.scoring import parse_estimator

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import judge_next as benchmark

STAGES = (0, 2, 5, 8)


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """One quick model, few judgments."""
    monkeypatch.setattr(benchmark, "posterior", quick)
    monkeypatch.setattr(benchmark, "STAGES", STAGES)


@cache
def quick(fold: benchmark.Fold) -> Any:
    return parse_estimator("posterior-background", random_seed=fold.seed, draws=1000)


def north() -> benchmark.Fold:
    """An organization of two runs."""
    folds = benchmark.folds_of(load_example(), benchmark.RULES, "P@10", {}, None)
    return next(fold for fold in folds if fold.organization == "north")


@pytest.mark.slow
def test_every_rule_spends_its_judgments(capsys: pytest.CaptureFixture[str]) -> None:
    fold = north()
    rows = pd.DataFrame(benchmark.spend(load_example(), fold))
    assert set(rows["rule"]) == set(benchmark.RULES)
    for _, of_rule in rows.groupby("rule"):
        assert of_rule["stage"].tolist() == [stage for stage in STAGES for _ in fold.runs]
        assert of_rule["n_told"].tolist() == [2 * stage for stage in STAGES for _ in fold.runs]
    width = (rows["upper"] - rows["lower"]).groupby([rows["rule"], rows["stage"]]).mean().unstack()
    assert width[0].nunique() == 1
    assert (width[8] < width[0]).all()
    assert width.loc["judge-next", 8] <= width[8].median()  # two runs say no more
    told = rows.set_index(["rule", "stage", "run_id"])["expected_width"]
    assert told.notna().sum() == 6  # three stages of judge-next, two runs
    assert told["judge-next"].loc[8].mean() == pytest.approx(width.loc["judge-next", 8], rel=0.25)
    truth = rows.groupby("run_id")["truth"].first()
    example = load_example()
    for run in fold.runs:
        document = example.document[example.run_index([run])[0], :, :10]
        assert truth[run] == pytest.approx((example.relevance[document] > 0).mean())
    benchmark.report(rows.assign(collection="example"))
    printed = capsys.readouterr().out
    for part in (
        "example: 2 runs",
        "PIT in the central 95 %",
        "expected over actual width",
        "judgments of take",
    ):
        assert part in printed


def test_judging_goes_on_in_tens_until_intervals_are_narrow() -> None:
    rows = pd.DataFrame(benchmark.stop(load_example(), north(), until=[0.9, 0.04]))
    rows["width"] = rows["upper"] - rows["lower"]
    assert rows["until"].tolist() == [0.9, 0.9, 0.04, 0.04]
    assert (rows["width"] <= rows["until"]).all()
    assert rows["n_told"][:2].tolist() == rows["n_expected"][:2].tolist() == [0, 0]
    n_told, n_expected = rows["n_told"][2], rows["n_expected"][2]
    assert n_told % benchmark.STEP == 0
    assert 0 < n_expected <= n_told + benchmark.STEP


def test_what_was_not_to_be_expected_is_no_part_of_a_mean(capsys: pytest.CaptureFixture[str]) -> None:
    """Three organizations of one run each: nothing to do; 20 judgments of 14; 90, never expected to do."""
    rows = pd.DataFrame(
        {
            "organization": ["a", "b", "c"],
            "run_id": ["a1", "b1", "c1"],
            "until": 0.05,
            "n_told": [0, 20, 90],
            "n_expected": [0, 14, -1],
            "truth": [0.5, 0.5, 0.5],
            "estimate": [0.5, 0.51, 0.6],
            "lower": [0.49, 0.49, 0.58],
            "upper": [0.51, 0.53, 0.62],
            "pit_lower": [0.4, 0.4, 0.0],
            "pit_upper": [0.6, 0.6, 0.01],
            "is_open": True,
            "collection": "toy",
        }
    )
    wide = rows.assign(width=rows["upper"] - rows["lower"], error=0.0, inside=[True, True, False])
    (all_of_them,) = benchmark.stopped(wide).to_dict("records")
    (judged,) = benchmark.stopped(wide[wide["n_told"] > 0]).to_dict("records")
    names = ("organizations", "judgments", "of these", "expected", "not expected", "inside")
    assert [all_of_them[name] for name in names] == pytest.approx([3, 110 / 3, 10, 7, 1, 2 / 3])
    assert [judged[name] for name in names] == pytest.approx([2, 55, 20, 14, 1, 1 / 2])
    assert np.isclose(judged["PIT in 95 %"], 0.5)
    benchmark.report_stopping(rows)
    printed = capsys.readouterr().out
    assert printed.index("all organizations") < printed.index("those where anything was judged")

"""Rounds of judging narrow intervals, and judgments that were looked for are told from others."""

from __future__ import annotations

import numpy as np
import pytest

from bayespool.experiments import simulate_example
from bayespool.posterior import PosteriorEstimator
from research.rounds.judging import judge_in_rounds

EXAMPLE = simulate_example()
QUICK = PosteriorEstimator(model="ratio", draws=200, chains=2)


def test_rounds_narrow_the_intervals() -> None:
    frame = judge_in_rounds(
        EXAMPLE.collection, ["new-a", "new-b"], EXAMPLE.truth, QUICK, budget=8, n_rounds=2
    )
    rounds = frame.groupby(["order", "n_judgments"])[["width", "expected"]].mean()
    chosen, at_random = rounds.loc["judge-next"], rounds.loc["random"]
    assert chosen.index.tolist() == at_random.index.tolist() == [0, 8, 16]
    assert chosen["width"].iloc[0] == at_random["width"].iloc[0]
    assert (np.diff(chosen["width"]) < 0).all()
    assert (chosen["expected"].to_numpy()[1:] < chosen["width"].to_numpy()[:-1]).all()
    assert at_random["expected"].isna().all()


def test_rounds_end_where_nothing_is_unjudged() -> None:
    frame = judge_in_rounds(
        EXAMPLE.collection, ["new-a"], EXAMPLE.truth, QUICK, budget=500, orders=["random"]
    )
    assert frame["width"].iloc[1:].tolist() == [0]
    assert frame["value"].iloc[1] == pytest.approx(EXAMPLE.true_values("P@10")["new-a"])

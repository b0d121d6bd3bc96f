"""Rounds of judging narrow intervals, and judgments that were looked for are told from others."""

from __future__ import annotations

import numpy as np
import pytest
from unexplained import with_found

from bayespool.experiments import simulate_example
from bayespool.posterior import PosteriorEstimator
from research.rounds.judging import judge_in_rounds
from research.rounds.unexplained import predict_unexplained

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


@pytest.mark.parametrize("chances", [(0.4, 0.4), (0.8, 0.2)])
def test_documents_that_were_looked_for_show(chances: tuple[float, float]) -> None:
    """The interval holds the shares of the relevant and the nonrelevant left over one another."""
    posterior = PosteriorEstimator(draws=250, chains=2)
    frame = predict_unexplained(with_found(*chances), posterior, ["P@20"])
    whole = frame[(frame["first"] == 1) & (frame["last"] == 20)]
    assert whole["runs"].tolist() == ["pooled", "other"]
    truth = np.log((1 - chances[0]) / (1 - chances[1]))
    assert ((whole["shift_lower"] < truth) & (truth < whole["shift_upper"])).all()
    assert whole["depends_on_relevance"].iloc[0] == (chances[0] != chances[1])

"""What models are asked on each step of the ladder, and the levels that are drawn from their answers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from checked import tasks_of

from bayespool.experiments import load_example, predict_held_out
from bayespool.experiments.hidden import Fitting, HeldOutRankings, HiddenDocuments, draw_levels, questions_of
from bayespool.experiments.predictions import deal_folds
from bayespool.models.structure import draw_priors

QUICK = Fitting(draws=20, chains=2)


def test_documents_climb_as_long_as_the_answer_is_yes() -> None:
    chances = (0.6, 0.5, 0.2)
    log_odds = [np.full((20_000, 3), np.log(p / (1 - p))) for p in chances]
    level = draw_levels(log_odds, np.random.default_rng(1))
    for k, share in enumerate(np.cumprod(chances)):
        assert (level > k).mean() == pytest.approx(share, abs=0.01)
    first = draw_levels(log_odds[:1], np.random.default_rng(1))
    assert np.abs(np.corrcoef(first[:, 0], first[:, 1])[0, 1]) < 0.03
    assert set(np.unique(level)) == {0, 1, 2, 3}


@pytest.mark.parametrize("model", ["smoothed", "evidence"])
@pytest.mark.parametrize("measure", ["DCG@10", "nDCG@10", "P(rel=2)@10"])
def test_certain_answers_give_the_highest_level(model: str, measure: str) -> None:
    """Priors that leave nothing open: every hidden document is of the highest relevance."""
    example = load_example()
    tight = {"sigma_topic": "HalfNormal(1e-6)", "sigma_organization": "HalfNormal(1e-6)"}
    if model == "evidence":
        always = tight | {"mu": "Normal(60, 1e-6)", "beta": "Normal(0, 1e-6)"}
    else:
        always = tight | {"a": "Normal(60, 1e-6)", "sigma_run": "HalfNormal(1e-6)", "c": "Beta(1e9, 1)"}
        always |= {"mu": "Normal(60, 1e-6)", "sigma_background": "HalfNormal(1e-6)"}
    tasks = tasks_of(example, measure)
    questions = questions_of(
        [task.prepare(model, always) for task in tasks],  # type: ignore[arg-type]
        rankings := HeldOutRankings(HiddenDocuments(tasks[0])),
    )
    assert [q.hidden.problem.asked.rel for q in questions] == [1, 2]
    rng = np.random.default_rng(1)
    log_odds = [q.prior_log_odds(draw_priors(q.prepared.structure(), 5, rng), rng) for q in questions]
    every = np.arange(len(rankings.documents.pair))
    level = draw_levels([o[:, q.rows.of_document] for o, q in zip(log_odds, questions, strict=True)], rng)
    assert (level == 2).all()
    runs = np.arange(len(rankings.hidden.organization))
    best = rankings.values(runs, every, level).totals()
    assert (best == best[0]).all()
    if measure != "nDCG@10":  # over the ideal of as many more
        assert (best[0] > rankings.observed(runs).totals()).all()


@pytest.mark.slow
def test_upper_rungs_know_nothing_of_levels_they_predict() -> None:
    """Hidden documents of a fold lose or gain relevance, and their predictions hardly move: by where the
    centers of the predictors are.
    """
    example = load_example()
    hidden = HiddenDocuments(tasks_of(example, "DCG@10")[0])
    fold = deal_folds(len(hidden.organizations), 5)[hidden.organization]
    run, _, pair, _ = hidden.places
    theirs = np.unique(pair[fold[run] == 1])
    relevance = example.relevance.copy()
    relevance[theirs] = np.where(relevance[theirs] > 0, 0, 2)
    moved = []
    for collection in (example, dataclasses.replace(example, relevance=relevance)):
        tasks = tasks_of(collection, "DCG@10")
        steps = [task.prepare("ratio", {}) for task in tasks]
        moved.append(predict_held_out(steps, HiddenDocuments(tasks[0]), Fitting(draws=150)))
    first, second = moved
    mine = first.fold == 1
    assert second.observed[mine].sum() > 3 * first.observed[mine].sum()
    difference = (second.draws.mean(axis=0) - first.draws.mean(axis=0)) / first.draws.std(axis=0)
    assert np.abs(difference[mine]).max() < 0.15
    assert difference[~mine].mean() > 0.3


def test_a_model_for_each_rung_is_asked_for() -> None:
    tasks = tasks_of(load_example(), "DCG@10")
    first = tasks[0].prepare("ratio", {})
    with pytest.raises(ValueError, match="a model for each, from the first on"):
        predict_held_out(first, HiddenDocuments(tasks[0]), QUICK)
    with pytest.raises(ValueError, match="a model for each, from the first on"):
        predict_held_out([first, first], HiddenDocuments(tasks[1]), QUICK)

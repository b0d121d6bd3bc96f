"""Checks of models: what is hidden, its predictions and their grades, by hand and against ArviZ."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import arviz_stats
import arviz_stats.utils
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from checked import (
    BELOW_THE_POOL,
    FAMILIES,
    P10,
    example_hidden,
    example_task,
    prepared,
    tasks_of,
    with_the_first_arviz_stats,
)
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import expit, logsumexp
from toys import from_rankings, pooled_collections, toy_collection

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.experiments import (
    HeldOutPrediction,
    calibration_frame,
    central_share,
    check_models,
    covered,
    crps,
    elpd_frame,
    load_example,
    pit_range,
    predict_held_out,
    randomized_pit,
    stack,
)
from bayespool.experiments.design import interval_columns, interval_summary
from bayespool.experiments.hidden import (
    HiddenDocuments,
    draw_levels,
    prediction_targets,
    without_own_judgments,
)
from bayespool.experiments.predictions import deal_folds
from bayespool.inference import Laplace
from bayespool.measures import Estimates, Values, parse_measure
from bayespool.models import MODEL_NAMES
from bayespool.models.formulas import draw_priors
from bayespool.posterior import ScoringProblem, stacking_weights
from bayespool.reading import qrels_from_frame
from bayespool.tables import container_bytes
from bayespool.tables.files import atomic_write


def test_pit_of_what_was_drawn_is_uniform_over_its_step() -> None:
    draws = np.repeat([0, 1, 2, 3], [10, 20, 30, 40])[:, None]
    steps = {-1: (0, 0), 0: (0, 0.1), 1: (0.1, 0.3), 2: (0.3, 0.6), 3: (0.6, 1), 4: (1, 1)}
    for value, (low, high) in steps.items():
        many = np.full(2000, value)
        pit = randomized_pit(np.repeat(draws, 2000, axis=1), many, np.random.default_rng(1))
        assert pit.min() >= low
        assert pit.max() <= high
        assert pit.mean() == pytest.approx((low + high) / 2, abs=0.01)


def test_crps_is_the_integral_over_thresholds() -> None:
    """Σ over thresholds of (share of draws up to it − [truth up to it])², for integers."""
    rng = np.random.default_rng(5)
    draws, truth = rng.integers(0, 9, size=(40, 6)), rng.integers(-2, 12, size=6)
    thresholds = np.arange(-5, 20)[:, None, None]
    distance = (draws <= thresholds).mean(axis=1) - (truth <= thresholds[:, 0])
    np.testing.assert_allclose(crps(draws, truth), (distance**2).sum(axis=0), atol=1e-12)
    # one draw: the absolute error
    np.testing.assert_array_equal(crps(draws[:1], truth), np.abs(draws[0] - truth))
    with pytest.raises(InputError, match="no draws"):
        crps(draws[:0], truth)


def test_coverage_counts_the_ends() -> None:
    draws = np.repeat(np.arange(10, 20), 10)[:, None]  # 10 % at each of 10 … 19
    inside = [bool(covered(draws, np.array([truth]), 0.8)[0]) for truth in range(9, 21)]
    assert inside == [False, False, *[True] * 8, False, False]


@pytest.mark.parametrize("prob", [0.5, 0.8, 0.9, 0.95])
def test_a_truth_just_outside_an_end_is_outside_for_the_pit_too(prob: float) -> None:
    truth = np.arange(-1, 801, 2)  # which no draw equals
    draws = 2 * np.arange(400)[:, None] + np.zeros_like(truth)
    pit, _ = pit_range(draws, truth)
    inside = covered(draws, truth, prob)
    assert 0 < inside.sum() < len(truth)
    assert [central_share([p], [p], prob) == 1 for p in pit] == inside.tolist()


def test_central_share_by_hand() -> None:
    points = [0.025, 0.026, 0.974, 0.975, np.nan]
    assert central_share(points, points, 0.95) == 0.5
    assert central_share([0.0, 0.7, 0.0], [0.5, 0.8, 1.0], 0.5) == pytest.approx((0.5 + 0.5 + 0.5) / 3)
    assert np.isnan(central_share([np.nan], [np.nan], 0.5))
    with pytest.raises(InputError, match="prob"):
        central_share([0.5], [0.5], 1.0)


MEASURE = parse_measure("P@10")
RUNS = ("a", "b", "c")


def of_draws(totals: list[list[int]] | None) -> Estimates:
    """Draws of the relevant documents of each run on the one topic, shape (draw, run)."""
    values = np.zeros((3, 1)) if totals is None else np.array(totals).mean(axis=0)[:, None] / 10
    return Estimates(
        estimator="known", measure=MEASURE, run_ids=RUNS, query_ids=("1",), per_topic=values,
        value=values[:, 0], fingerprint="0",
        draws=None if totals is None else Values(np.array(totals)[:, :, None], 10),
    )  # fmt: skip


def columns(totals: list[list[int]] | None, truth: list[int], open_: list[bool]) -> pd.DataFrame:
    values = Values(np.array(truth)[:, None], 10)
    found = interval_columns(of_draws(totals), values, np.array(open_), ci_prob=0.95, seed=1)
    return pd.DataFrame(found)


# a is 1 to 5, b always 4, c 1 or 3; c has nothing unjudged
DRAWS = [[1, 4, 1], [2, 4, 3], [3, 4, 1], [4, 4, 3], [5, 4, 1]]


def test_columns_by_hand() -> None:
    rows = columns(DRAWS, [3, 5, 3], [True, True, False])
    assert rows["lower"].tolist() == [0.1, 0.4, 0.1]
    assert rows["upper"].tolist() == [0.5, 0.4, 0.3]
    assert (rows["ci_prob"] == 0.95).all()
    assert rows["covered_95"].tolist() == [True, False, None]
    assert rows["pit_lower"].tolist()[:2] == [0.4, 1]
    assert rows["pit_upper"].tolist()[:2] == [0.6, 1]
    assert 0.4 <= rows["pit"][0] <= 0.6
    assert rows[["pit", "pit_lower", "pit_upper"]].isna().loc[2].all()
    # mean distance to the truth, less half the mean difference of two draws: 6/5 − 40/50, 1 − 0
    assert rows["crps"].tolist()[:2] == pytest.approx([(6 / 5 - 40 / 50) / 10, 0.1])


def test_means_and_standard_errors_have_the_denominator_of_the_scores() -> None:
    truth, none_closed = Values(np.array([[3], [5], [3]]), 10), np.ones(3, dtype=bool)
    point = dataclasses.replace(of_draws(None), std=np.array([0.1, 0.2, 0.3]))
    for found, name, expected in (
        (of_draws(DRAWS), "upper", [0.5, 0.2, 0.3]),
        (point, "std", [0.1, 0.1, 0.3]),
    ):
        half = interval_columns(found, truth, none_closed, ci_prob=0.95, seed=1, n_topics=np.array([1, 2, 1]))
        assert half[name].tolist() == expected


def test_summary_is_over_runs_with_something_unjudged() -> None:
    rows = columns(DRAWS, [3, 5, 3], [True, True, False])
    rows["organization"] = ["one", "two", "two"]
    summary = interval_summary(rows, pd.Series([True, True, False]))
    assert (summary["n_open"], summary["n_organizations"]) == (2, 2)
    assert (summary["coverage_95"], summary["coverage_95_se"]) == (0.5, 0.5)
    assert summary["pit_95"] == 0.5
    assert summary["width"] == pytest.approx(0.2)
    assert summary["crps"] == pytest.approx(rows["crps"].mean())


def test_coverage_and_pit_are_means_over_organizations() -> None:
    """One organization's run holds, and none of the other's two: a share of ½, not of ⅓."""
    rows = columns(DRAWS, [3, 5, 5], [True] * 3)
    rows["organization"] = ["one", "two", "two"]
    summary = interval_summary(rows, pd.Series([True] * 3))
    assert (summary["coverage_95"], summary["pit_95"]) == (0.5, 0.5)
    alone = interval_summary(rows[1:], pd.Series([True] * 2, index=rows.index[1:]))
    assert alone["coverage_95"] == 0
    assert np.isnan(alone["coverage_95_se"])


QUICK = Laplace(draws=20, chains=2)


def places(hidden: HiddenDocuments) -> tuple[Any, ...]:
    """Run, topic, pair and number of hidden documents in a top n, once for each run that retrieves them."""
    run, topic, _, number = hidden.places
    return run, topic, hidden.documents.pair[number], number


def test_hidden_documents_of_the_toy_are_those_worked_out_by_hand() -> None:
    """North alone contributed b c f, p r, b; south h i k, v w, d (see toys.py); here with two more ranks."""
    collection = toy_collection()
    hidden = HiddenDocuments(collection, parse_measure("P@5"))
    run, topic, pair, number = places(hidden)
    found: dict[tuple[str, str], str] = {}
    for r, t, p in zip(run, topic, pair, strict=True):
        key = hidden.counts.run_ids[r], collection.query_ids[t]
        found[key] = found.get(key, "") + collection.doc_id(p)
    # n1 and n2 both retrieve b and c on topic 1 and p and r on topic 2: north's in the places of each
    assert found == {
        ("n1", "1"): "bc", ("n1", "2"): "pr", ("n1", "3"): "b",
        ("n2", "1"): "bfc", ("n2", "2"): "pr", ("n2", "3"): "b",
        ("s1", "1"): "hi", ("s1", "2"): "vw", ("s1", "3"): "d",
        ("s2", "1"): "hk", ("s2", "3"): "d",
    }  # fmt: skip
    assert len(set(number)) == len({(q, d) for (_, q), docs in found.items() for d in docs}) == 12
    assert hidden.organizations == ("north", "south")
    assert hidden.organization.tolist() == [0, 0, 1, 1]


@given(pooled_collections(), st.sampled_from(MODEL_NAMES), st.integers(1, 5))
def test_rows_of_every_model_hold_every_hidden_document_once(
    collection: Collection, model: str, cutoff: int
) -> None:
    """Also where a model learns from documents below the cutoff."""
    measure = parse_measure(f"P@{cutoff}")
    task = ScoringProblem(collection, (), measure, "pooled")
    hidden = HiddenDocuments(collection, measure)
    run, topic, pair, number = places(hidden)
    counted = np.zeros(hidden.counts.n_hidden.shape[:2], dtype=int)
    np.add.at(counted, (run, topic), 1)
    np.testing.assert_array_equal(counted, hidden.counts.n_hidden[:, :, 0])
    rows = hidden.rows(task.prepare(model, {}).evidence)  # type: ignore[arg-type]
    assert len(rows.document_row) == len(set(number)) == rows.n_hidden.sum()
    relevant = np.zeros(len(rows.document_row), dtype=int)
    relevant[number] = collection.relevance[pair] >= measure.rel
    np.testing.assert_array_equal(
        np.bincount(rows.document_row, relevant, len(rows.n_hidden)).astype(int), rows.n_hidden_relevant
    )
    np.testing.assert_array_equal(hidden.organization[run], rows.organization[rows.document_row[number]])
    np.testing.assert_array_equal(topic, rows.topic[rows.document_row[number]])


def test_judgments_of_ones_own_take_no_part() -> None:
    example = load_example()
    run = example.run_ids.index("new-a")
    pair = next(p for p in example.document[run].ravel() if p >= 0 and example.relevance[p] < 0)
    topic = example.query_ids[example.pair_topic[pair]]
    more = example.add_judgments(qrels_from_frame({topic: {example.doc_id(int(pair)): 1}}))
    assert without_own_judgments(more).fingerprint == example.fingerprint
    assert without_own_judgments(example) is example


def test_documents_climb_as_long_as_the_answer_is_yes() -> None:
    chances = (0.6, 0.5, 0.2)
    log_odds = [np.full((20_000, 3), np.log(p / (1 - p))) for p in chances]
    level = draw_levels(log_odds, np.random.default_rng(1))
    for k, share in enumerate(np.cumprod(chances)):
        assert (level > k).mean() == pytest.approx(share, abs=0.01)
    first = draw_levels(log_odds[:1], np.random.default_rng(1))
    assert np.abs(np.corrcoef(first[:, 0], first[:, 1])[0, 1]) < 0.03
    assert set(np.unique(level)) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("model", "measure"),
    [("smoothed", "DCG@10"), ("smoothed", "nDCG@10"), ("evidence", "P(rel=2)@10"), ("evidence", "nDCG@10")],
)
def test_certain_answers_give_the_highest_level(model: str, measure: str) -> None:
    """Priors that leave nothing open: every hidden document is of the highest relevance."""
    always = {"sigma_topic": "HalfNormal(1e-6)", "sigma_organization": "HalfNormal(1e-6)"}
    always["mu"] = "Normal(60, 1e-6)"
    if model == "evidence":
        always |= {"beta": "Normal(0, 1e-6)"}
    else:
        always |= {"a": "Normal(60, 1e-6)", "sigma_run": "HalfNormal(1e-6)", "c": "Beta(1e9, 1)"}
        always |= {"sigma_background": "HalfNormal(1e-6)"}
    tasks = tasks_of(load_example(), measure)
    targets = prediction_targets(
        [task.prepare(model, always) for task in tasks],  # type: ignore[arg-type]
        rankings := HiddenDocuments(load_example(), tasks[0].measure),
    )
    assert [q.hidden.threshold.rel for q in targets] == [1, 2]
    rng = np.random.default_rng(1)
    everybody = np.ones(len(rankings.organizations), dtype=bool)
    log_odds = [
        q.held_out_log_odds(draw_priors(q.prepared.structure(), 5, rng), everybody, rng)[1] for q in targets
    ]
    every = np.arange(len(rankings.documents.pair))
    level = draw_levels([o[:, q.rows.document_row] for o, q in zip(log_odds, targets, strict=True)], rng)
    assert (level == 2).all()
    runs = np.arange(len(rankings.organization))
    best = rankings.values(runs, every, level).totals()
    assert (best == best[0]).all()
    if measure != "nDCG@10":  # over the ideal of as many more
        assert (best[0] > rankings.judged_values(runs, with_hidden=True).totals()).all()


def graded() -> Collection:
    """Three organizations of a run each, whose own documents are a, of relevance 2, b, of 1, and c, of 0."""
    rankings = {"x": {"1": "asb"}, "y": {"1": "sct"}, "z": {"1": "tsd"}}
    return from_rankings(
        rankings,
        {"1": {"a": 2, "b": 1, "c": 0, "d": 1, "s": 1, "t": 0}},
        {run: run for run in rankings},
        pooled_run_ids=tuple(rankings),
        pool_depth=3,
    )


def test_values_are_those_of_the_collection_with_and_without_the_organization() -> None:
    example = load_example()
    for measure in (*FAMILIES, *BELOW_THE_POOL):
        of = parse_measure(measure)
        rankings = hidden = HiddenDocuments(example, of)
        every = np.arange(len(hidden.organization))
        known, observed = (rankings.judged_values(every, with_hidden=with_) for with_ in (False, True))
        assert (known.amount != observed.amount).any(), measure
        for o, organization in enumerate(hidden.organizations):
            mine = hidden.organization == o
            runs = tuple(example.run_ids[r] for r in hidden.run_index[mine])
            reduced = example.unpool(organization=organization)
            expected = score_bounds(reduced, runs, of).lower
            np.testing.assert_allclose(known.scores()[mine], expected, atol=1e-12, err_msg=measure)
            there = values_on_fuller(reduced, example, runs, of)
            np.testing.assert_allclose(observed.scores()[mine], there.scores(), atol=1e-12, err_msg=measure)


def test_drawn_documents_are_in_the_ranking_and_in_the_ideal() -> None:
    """Run x has a s b on a topic whose judged rest is s and d, each of relevance 1."""
    discount = 1 / np.log2([2, 3, 4])
    for measure, expected in (
        ("P@3", [[1 / 3, 2 / 3, 1.0]]),
        ("DCG@3", [[discount[1], discount @ [2, 1, 0], discount @ [2, 1, 1]]]),
        ("R@3", [[1 / 2, 2 / 3, 3 / 4]]),
        ("R(ideal='judged')@3", [[1 / 2, 1.0, 3 / 2]]),
        ("RR(rel=2)@3", [[0.0, 1.0, 1.0]]),
    ):
        rankings = HiddenDocuments(graded(), parse_measure(measure))
        assert [graded().doc_id(int(pair)) for pair in rankings.documents.pair] == list("abcd")
        top = len(rankings.levels) - 1
        block = np.array([[0, 0], [min(2, top), 0], [min(2, top), 1]], dtype=np.uint8)
        drawn = rankings.values(np.array([0]), np.array([0, 1]), block)
        np.testing.assert_allclose(drawn.scores()[:, :, 0].T, expected, err_msg=measure)


def test_what_cannot_be_predicted_is_refused() -> None:
    tasks = tasks_of(load_example(), "DCG@10")
    first = tasks[0].prepare("ratio", {})
    hidden = HiddenDocuments(load_example(), tasks[0].measure)
    above = dataclasses.replace(hidden, asked_threshold=tasks[1].threshold)
    for steps, asked in ((first, hidden), ([first, first], above)):
        with pytest.raises(ValueError, match="a model for each"):
            predict_held_out(steps, asked, QUICK)
    with pytest.raises(InputError, match="describes the judgments"):
        HiddenDocuments(load_example(), parse_measure("Judged@10"))
    evidence = prepared("ratio").evidence
    with pytest.raises(ValueError, match="neither hidden documents nor"):
        example_hidden().rows(dataclasses.replace(evidence, n_hidden=evidence.n_hidden + 1))


QUICK = Laplace(draws=60, chains=2)


def test_folds_are_dealt_out() -> None:
    assert deal_folds(7, 3).tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert deal_folds(3, 5).tolist() == [0, 1, 2]


@pytest.mark.parametrize("model", ["background", pytest.param("ratio", marks=pytest.mark.slow)])
def test_predictions_know_nothing_of_what_they_predict(model: Any) -> None:
    """All hidden documents of a fold's organizations turned round: their predictions stay as they are."""
    example, hidden = load_example(), example_hidden()
    fold = deal_folds(len(hidden.organizations), 5)[hidden.organization]
    run, _, pair, _ = places(hidden)
    theirs = np.unique(pair[fold[run] == 1])
    relevance = example.relevance.copy()
    relevance[theirs] = 1 - np.minimum(relevance[theirs], 1)
    found = []
    for collection in (example, dataclasses.replace(example, relevance=relevance)):
        task = ScoringProblem(collection, (), P10, "pooled")
        one = task.prepare(model, {})
        found.append(
            predict_held_out(one, HiddenDocuments(collection, P10), Laplace(draws=200, chains=4), n_folds=5)
        )
    first, second = found
    mine = first.fold == 1
    assert second.n_hidden_relevant[mine].sum() > 3 * first.n_hidden_relevant[mine].sum()
    np.testing.assert_array_equal(first.draws[:, mine], second.draws[:, mine])
    moved = (second.draws.mean(axis=0) - first.draws.mean(axis=0)) / first.draws.std(axis=0)
    assert moved[~mine].mean() > 0.3


def test_log_density_of_certain_chances_is_the_normal_one() -> None:
    """With priors that leave nothing open, p is expit(−1) for all and the density can be written down."""
    tight = {"mu": "Normal(-1, 1e-6)", "sigma_topic": "HalfNormal(1e-6)"}
    one = example_task().prepare("background", tight | {"sigma_organization": "HalfNormal(1e-6)"})
    p = predict_held_out(one, example_hidden(), QUICK)
    rows, chance = example_hidden().rows(one.evidence), expit(-1.0)
    n = np.bincount(rows.run, rows.n_hidden, len(p.run_ids))
    k = np.bincount(rows.run, rows.n_hidden_relevant, len(p.run_ids))
    with np.errstate(divide="ignore"):
        expected = stats.norm.logpdf(k, n * chance, np.sqrt(n * chance * (1 - chance) + 1 / 12))
    np.testing.assert_allclose(p.log_density[n > 0], expected[n > 0], atol=1e-3)
    assert np.isnan(p.log_density[n == 0]).all()


def test_organizations_and_not_runs_decide_the_weights() -> None:
    """Nine runs of one organization speak for the first model, one of another as clearly for the second."""
    densities = np.array([[1.0, 0.0]] * 9 + [[0.0, 1.0]])
    weight = np.array([1 / 9] * 9 + [1.0])
    assert stacking_weights(densities, weight) == pytest.approx([0.5, 0.5])
    alone = stacking_weights(densities[:9], weight[:9])
    assert alone[0] > 0.8
    assert stacking_weights(densities[:1], np.ones(1)) == pytest.approx(alone), "as one run would"


def made_up(model: str, log_density: list[float], **changes: Any) -> HeldOutPrediction:
    """Four runs of three organizations on 10 ranks; draws 0 … 9 of each."""
    n = len(log_density)
    values: dict[str, Any] = {
        "model": model, "measure": P10, "run_ids": tuple(f"r{i}" for i in range(n)),
        "organizations": ("a", "a", "b", "c")[:n], "per_mean": 10, "known": np.zeros(n, dtype=np.int32),
        "n_hidden": np.full(n, 9, dtype=np.int32),
        "n_hidden_relevant": np.array([0, 4, 5, 9][:n], dtype=np.int32),
        "observed": np.array([0, 4, 5, 9][:n], dtype=np.int32), "fold": np.array([0, 0, 1, 2][:n]),
        "draws": np.repeat(np.arange(10, dtype=np.int32)[:, None], n, axis=1),
        "pit": np.array([0.05, 0.45, 0.55, 0.95][:n]),
        "n_predicted": np.full(n, 4.5), "densities": np.array([log_density]),
    }  # fmt: skip
    return HeldOutPrediction(**values | changes)


def test_calibration_by_hand() -> None:
    frame = calibration_frame([made_up("m", [-1.0] * 4)], [0.5, 0.8, 0.95]).set_index("ci_prob")
    assert frame["pit_inside"].tolist() == [0.5, 0.5, 1.0]
    # organization a has one run inside and one not, which cancel; b is inside, c is not
    # all are inside at 95 %, which says nothing of the error
    assert frame["se"].tolist() == pytest.approx([np.sqrt(0.5**2 + 0.5**2) / 4] * 2 + [np.nan], nan_ok=True)
    # the central 50 % of ten draws are 2 … 7 with ends, of 80 % 1 … 8, of 95 % all
    assert frame["covered"].tolist() == [0.5, 0.5, 1.0]
    assert frame["width"].tolist() == pytest.approx([0.5, 0.7, 0.9])
    assert frame["mae"].tolist() == pytest.approx([(4.5 + 0.5 + 0.5 + 4.5) / 4 / 10] * 3)
    for name, value in {"pit_mean": 0.5, "n_runs": 4, "n_organizations": 3}.items():
        assert (frame[name] == value).all(), name
    p = made_up("m", [-1, -1, -1, np.nan], n_hidden=np.array([9, 9, 9, 0], dtype=np.int32))
    assert (calibration_frame([p])["n_runs"] == 3).all()  # nothing is hidden of the fourth
    assert elpd_frame([p])["n_organizations"].tolist() == [2]


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, in arviz_stats
@with_the_first_arviz_stats
def test_elpd_counts_organizations_once_and_is_as_arviz_has_it() -> None:
    a, b = made_up("a", [-1.0, -3.0, -2.0, -4.0]), made_up("b", [-2.0, -2.0, -4.0, -4.5])
    frame = elpd_frame([b, a], combined=("a", "b")).set_index("model")
    assert frame.index.tolist() == ["a", "b"]
    assert frame["elpd"].tolist() == [-2 - 2 - 4, -2 - 4 - 4.5]
    assert frame["elpd_diff"].tolist() == [0, 2.5]
    by_organization = {"a": [-2.0, -2.0, -4.0], "b": [-2.0, -4.0, -4.5]}
    theirs = arviz_stats.compare({name: elpd_data(values) for name, values in by_organization.items()})
    for column in ("rank", "elpd", "elpd_diff", "se", "dse"):
        np.testing.assert_allclose(
            frame[column].astype(float),
            theirs.loc[["a", "b"], column].astype(float),
            atol=1e-12,
            err_msg=column,
        )
    assert frame["weight"].sum() == pytest.approx(1)
    assert frame["weight_combined"].sum() == pytest.approx(1)
    assert frame["weight"].tolist() == frame["weight_combined"].tolist()
    mixed = elpd_frame([b, a, dataclasses.replace(a, model="combined")]).set_index("model")
    assert mixed["weight"].isna().tolist() == (mixed.index == "combined").tolist()
    assert mixed["weight_combined"].isna().all()


def elpd_data(values: list[float]) -> Any:
    """ArviZ's own object for log densities of observations."""
    n = len(values)
    return arviz_stats.utils.ELPDData(
        kind="loo_kfold", elpd=sum(values), se=np.sqrt(n * np.var(values)), p=0.0, n_samples=100,
        n_data_points=n, scale="log", warning=False, good_k=0.7,
        elpd_i=xr.DataArray(values, dims="organization"),
        pareto_k=xr.DataArray(np.zeros(n), dims="organization"),
    )  # fmt: skip


def test_mixture_of_a_fold_has_weights_of_the_other_folds() -> None:
    """Model a is better everywhere but in fold 2, whose weights do not know it."""
    a = made_up("a", [-1.0, -1.0, -1.0, -9.0], draws=np.full((50, 4), 3, dtype=np.int32))
    b = made_up("b", [-3.0, -3.0, -3.0, -1.0], draws=np.full((50, 4), 7, dtype=np.int32))
    mixed = stack([a, b])
    densities = np.column_stack([a.log_density, b.log_density])
    weight = np.array([0.5, 0.5, 1.0, 1.0])
    for fold, runs in ((0, [0, 1]), (1, [2]), (2, [3])):
        others = a.fold != fold
        weights = stacking_weights(densities[others], weight[others])
        expected = logsumexp(np.log(weights) + densities[runs], axis=1)
        np.testing.assert_allclose(mixed.log_density[runs], expected)
        share = (mixed.draws[:, runs] == 3).mean(axis=0)
        np.testing.assert_allclose(share, weights[0], atol=0.021)
    assert weights[0] > 0.6  # fold 2: the others speak for a
    assert mixed.model == "combined"
    assert np.isin(mixed.draws, [3, 7]).all()


def test_what_cannot_be_checked_is_refused() -> None:
    same = from_rankings(
        {run: {"1": "abc"} for run in "xyz"},
        {"1": {"a": 1, "b": 0, "c": 0}},
        pooled_run_ids=("x", "y", "z"),
        pool_depth=3,
    )
    for pool, message in ((toy_collection(), "needs three"), (same, "by one organization alone")):
        with pytest.raises(InputError, match=message):
            check_models(pool, "P@3", models="ratio")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"n_folds": 1}, "n_folds cannot be 1"),
        ({"models": ("ratio", "linear")}, "no model 'linear'"),
        ({"models": ("combined",)}, "where all of its models are: ratio, rankings"),
        ({"models": ()}, "no model to check"),
        ({"posterior_settings": "gamma=Normal(0, 1)"}, "no prior 'gamma'"),
        ({"posterior_settings": "engine=advi"}, "no engine 'advi'"),
        ({"posterior_settings": "draws=0"}, "draws"),
        (
            {"posterior_settings": "ratio(draws=50)"},
            "settings name the model 'ratio'; name it among the models",
        ),
    ]
    for arguments, message in refused:
        with pytest.raises(InputError, match=message):
            check_models(load_example(), **{"models": "ratio"} | arguments)


@pytest.mark.slow
def test_checks_and_containers_repeat_to_the_byte_and_change_with_the_seed() -> None:
    a, b, other = (
        check_models(load_example(), models="background", posterior_settings="draws=20", random_seed=seed)
        for seed in (1, 1, 2)
    )
    draws = [found[P10, "background"].draws.tobytes() for found in (a, b, other)]
    assert draws[0] == draws[1] != draws[2]
    pd.testing.assert_frame_equal(a.to_frame("runs"), b.to_frame("runs"))
    first, second = (container_bytes(found.containers["P@10", "background"]) for found in (a, b))
    assert first == second


def test_container_is_what_arviz_reads(tmp_path: Path) -> None:
    model = "background"
    checked = check_models(load_example(), models=model, posterior_settings="draws=150, chains=2")
    atomic_write(tmp_path / "model.nc", container_bytes(checked.containers["P@10", model]))
    with xr.open_datatree(tmp_path / "model.nc", engine="h5netcdf") as opened:
        tree = opened.load()
    assert set(tree.children) == {"posterior_predictive", "observed_data", "log_likelihood", "constant_data"}
    assert tree.attrs["model"] == model
    assert tree.attrs["collection_fingerprint"] == load_example().fingerprint
    p = checked[P10, model]
    predictive, observed = tree["posterior_predictive"], tree["observed_data"]
    assert predictive["precision"].dims == ("chain", "draw", "pooled_run")
    assert predictive["pooled_run"].values.tolist() == list(p.run_ids)
    np.testing.assert_array_equal(predictive["n_hidden_relevant"].values.reshape(len(p.draws), -1), p.draws)
    np.testing.assert_allclose(observed["precision"].values, (p.known + p.n_hidden_relevant) / p.per_mean)
    assert observed["n_hidden_relevant"].values.tolist() == p.n_hidden_relevant.tolist()
    assert tree["constant_data"]["organization"].values.tolist() == list(p.organizations)
    likelihood = tree["log_likelihood"]["hidden_relevant"]
    assert likelihood.dims == ("chain", "draw", "threshold", "pooled_run")
    density = logsumexp(likelihood.values, axis=(0, 1))[0] - np.log(len(p.draws))
    np.testing.assert_allclose(density, p.log_density)
    assert np.nansum(density) > -np.log(p.n_hidden[p.has_hidden] + 1).sum()  # better than any number alike
    error = np.abs(predictive["precision"].mean(("chain", "draw")) - observed["precision"]).mean()
    theirs = arviz_stats.metrics(tree, kind="mae", var_name="precision", round_to="none")
    assert theirs.mean == pytest.approx(float(error))


def test_container_has_thresholds_and_a_mixture_no_likelihood() -> None:
    checked = check_models(load_example(), "nDCG@10", models="background", posterior_settings="draws=20")
    tree = checked.containers["nDCG@10", "background"]
    assert tree["log_likelihood"]["hidden_relevant"].sizes["threshold"] == 2
    assert set(tree["posterior_predictive"].data_vars) == {"value"}
    two = [checked["nDCG@10", "background"]] * 2
    assert "log_likelihood" not in stack(two).to_datatree().children

"""Scores by design: residuals and errors by hand, intervals that hold whatever labels are worth, refusals."""

from __future__ import annotations

import dataclasses

import answered
import numpy as np
import pytest
from each import cases

from bayespool.collection import Collection
from bayespool.corrections import ByDesign
from bayespool.corrections.by_design import NO_DESIGN, _predict
from bayespool.evidence import score_bounds
from bayespool.measures import parse_measure

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.InputWarning")


def test_a_judged_document_is_predicted_without_it() -> None:
    rng = np.random.default_rng(1)
    x, ridge, judged = rng.normal(size=(9, 3)), np.array([1e-9, 1.0, 4.0]), np.array([0, 2, 3, 5, 8])
    gain = rng.random(5)
    predicted, residual = _predict(x, ridge, judged, gain)
    for i in range(5):
        others = np.delete(judged, i)
        slopes = np.linalg.solve(x[others].T @ x[others] + np.diag(ridge), x[others].T @ np.delete(gain, i))
        assert residual[i] == pytest.approx(gain[i] - x[judged[i]] @ slopes)
    assert predicted.shape == (9,)


def test_errors_of_strata_are_those_of_the_textbook_and_shared_by_runs() -> None:
    """N √((1 − n/N) s²/n), times the deviation of t; the difference of two runs has that of its own."""
    rng = np.random.default_rng(2)
    error = rng.normal(size=(2, 50))
    stratum = np.repeat([0, 1, 2], [20, 20, 10])
    size, n = np.array([100, 40, 10]), np.array([20, 20, 10])  # the last is judged in full
    drawn = ByDesign(n_draws=40_000)._errors(error, stratum, size, n)
    for values, of in ((drawn, error), (drawn[:, :1] - drawn[:, 1:], error[:1] - error[1:])):
        s2 = [of[:, stratum == h].var(axis=1, ddof=1) for h in (0, 1)]
        variance = 100**2 * 0.8 * s2[0] / 20 + 40**2 * 0.5 * s2[1] / 20
        assert values.std(axis=0) == pytest.approx(np.sqrt(variance * 19 / 17), rel=0.02)


@cases("labels", ["given", "useless"])
def test_intervals_hold_whatever_labels_are_worth(labels: str) -> None:
    truth, n_seeds = answered.truth(), 40
    values, inside = np.zeros((n_seeds, 2)), np.zeros((n_seeds, 3), dtype=bool)
    for seed in range(n_seeds):
        (made,) = ByDesign(n_draws=300).estimate(judged_by(labels, seed), None, answered.MEASURE)
        assert made.draws is not None
        means = made.draws.means()
        drawn = np.column_stack([means, means[:, 0] - means[:, 1]])
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        true = np.append(truth, truth[0] - truth[1])
        values[seed], inside[seed] = made.value, (low <= true) & (true <= high)
    assert np.abs(values.mean(axis=0) - truth).max() < 4 * (values.std(axis=0) / np.sqrt(n_seeds)).max()
    assert inside.mean(axis=0).min() >= 0.88


def judged_by(labels: str, seed: int) -> Collection:
    collection = answered.answered(80, seed)
    if labels == "given":
        return collection
    (judge,) = collection.judges
    label = np.random.default_rng(seed).permutation(judge.label)
    return dataclasses.replace(collection, judges=(type(judge)(judge.name, label),))


def test_all_answers_leave_no_doubt() -> None:
    collection = answered.answered(320, 1)
    (made,) = ByDesign(n_draws=50).estimate(collection, None, answered.MEASURE)
    assert made.value.tolist() == pytest.approx(answered.truth().tolist())
    assert made.draws is not None
    assert np.ptp(made.draws.means(), axis=0).tolist() == [0.0, 0.0]


def test_a_value_stays_within_the_bounds_and_has_no_other_measure() -> None:
    collection = answered.answered(60, 3)
    for measure in ("RBP(p=0.8)@10", "DCG@10"):
        (made,) = ByDesign(n_draws=200).estimate(collection, None, measure)
        bounds = score_bounds(collection, None, parse_measure(measure))
        assert made.draws is not None
        means = made.draws.means()
        assert (means >= bounds.least.means() - 1e-9).all()
        assert (means <= bounds.most.means() + 1e-9).all()
        assert np.abs(means.mean(axis=0) - made.value).max() < 0.2 * means.std(axis=0).max()
    (ndcg,) = ByDesign().estimate(collection, None, "nDCG@10")
    assert np.isnan(ndcg.value).all()
    assert "no ideal ranking divides" in ndcg.notes[0][0]


def test_what_could_not_be_drawn_has_no_value() -> None:
    few = answered.answered(4, 1)
    (made,) = ByDesign().estimate(few, None, answered.MEASURE)
    assert np.isnan(made.value).all()
    assert made.draws is None
    assert "in strata of fewer than two answers" in made.notes[0][0]
    whole = answered.answered(80, 1)
    assert whole.sample is not None
    pair = int(
        np.flatnonzero(~whole.judged & np.isin(np.arange(len(whole.relevance)), whole.document[0, 0]))[0]
    )
    stratum = whole.sample.stratum.copy()  # type: ignore[union-attr]
    stratum[pair] = -1
    sample = dataclasses.replace(whole.sample, stratum=stratum)
    (made,) = ByDesign().estimate(dataclasses.replace(whole, sample=sample), None, answered.MEASURE)
    assert np.isnan(made.value[0])
    assert made.notes[0][0].startswith("no value: 1 of its documents were not in the design")
    (others,) = ByDesign().estimate(whole, None, answered.MEASURE)
    assert made.value[1] == pytest.approx(others.value[1], abs=0.01)
    for ends, of_all in zip(made.interval(0.95), others.interval(0.95), strict=True):
        assert np.isnan(ends[0])
        assert ends[1] == pytest.approx(of_all[1], abs=0.01)
    assert made.comparable_estimates().draws is None
    assert others.comparable_estimates() is others
    sample = dataclasses.replace(whole.sample, by_topic=True)
    (none,) = ByDesign().estimate(dataclasses.replace(whole, sample=sample), None, answered.MEASURE)
    assert none.notes[0] == (NO_DESIGN,)

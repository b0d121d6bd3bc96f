"""Completions: one relevance per document and draw, whoever asks, and everything computed from it."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import ir_measures
import numpy as np
import pytest
from completed import RUNS, completed
from fits import TARGETS
from graded_example import graded_completion
from scipy import stats
from scipy.special import expit
from small import small

from bayespool.collection import Collection, qrels_from_frame
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.evidence import judgment_counts, score_bounds
from bayespool.experiments import load_example
from bayespool.measures import Additive, Measure, Precision, parse_measure
from bayespool.posterior import PosteriorEstimator, complete, completion
from bayespool.scoring import score


@dataclasses.dataclass(frozen=True, order=True)
class Reciprocal(Measure):
    """Reciprocal rank: no sum over ranks, and no whole number."""

    name = "RR"

    def evaluate(self, levels: np.ndarray) -> np.ndarray:
        relevant = levels[..., : self.cutoff] >= self.rel
        return np.where(relevant.any(axis=-1), 1 / (1 + relevant.argmax(axis=-1)), 0.0)


class Graded(Additive):
    """A sum of weights that are no whole numbers, over gains that are none."""

    name = "Graded"
    range = (0.0, 4.0)

    def weights(self) -> np.ndarray:
        return np.arange(self.cutoff, 0, -1)

    def gains(self, levels: np.ndarray) -> np.ndarray:
        return np.asarray(levels * 0.3)


class LaidOut(Measure):
    """The same sum, of the completed rankings."""

    name = "LaidOut"
    evaluate = Graded.evaluate
    weights = Graded.weights
    gains = Graded.gains


@dataclasses.dataclass(frozen=True, order=True)
class Any_(Measure):
    """Whether anything is relevant: truth values, not numbers."""

    name = "Any"

    def evaluate(self, levels: np.ndarray) -> np.ndarray:
        return np.asarray((levels[..., : self.cutoff] >= self.rel).any(axis=-1))


# --- what a document's draws depend on ---------------------------------------------------------------------


def test_other_runs_chunks_and_measures_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"effect": 0.8, "scale": 0.5}
    both = completed(-0.3, 300, ("one", "two"), **settings)
    swapped = completed(-0.3, 300, ("two", "one"), **settings)
    five, three = both.evaluate("P@5", "P@3")
    assert np.array_equal(five.amount, swapped.evaluate("P@5")[0].amount[:, ::-1])
    assert np.array_equal(three.amount, both.evaluate("P@3")[0].amount)
    whole = both.block(0)
    pieces = [both.block(0, slice(first, first + 7)) for first in range(0, 300, 7)]
    assert np.array_equal(whole, np.vstack(pieces))
    monkeypatch.setattr(completion, "CELLS", 17)
    assert np.array_equal(five.amount, both.evaluate("P@5")[0].amount)


def test_copies_of_a_run_and_measures_beside_change_no_byte() -> None:
    """A run alone, completed together with copies of itself, of one organization; P@10 alone and beside
    others.
    """
    example = small()
    name = example.run_ids[int(np.flatnonzero(~example.pooled)[-1])]
    b = int(example.run_index(name)[0])

    def with_copies(n: int) -> Collection:
        return dataclasses.replace(
            example,
            run_ids=(*example.run_ids, *(f"copy-{i:02}" for i in range(n))),
            document=np.concatenate([example.document, *[example.document[b : b + 1]] * n]),
            organization=np.concatenate([example.organization, np.repeat(example.organization[b], n)]),
            pooled=np.concatenate([example.pooled, np.zeros(n, dtype=bool)]),
        )

    def draws(n: int, *measures: str) -> np.ndarray:
        collection = with_copies(n)
        runs = [name, *collection.run_ids[len(example.run_ids) :]]
        settings: dict[str, Any] = {"estimators": "posterior-combined", "draws": 100, "together": True}
        scores = score(collection, runs, measures, **settings)
        found = scores["posterior-combined", "P@10"].draws
        return found.amount[:, 0]

    alone = draws(0, "P@10")
    assert alone.std(axis=0).sum() > 0
    for n, measures in ((1, ["P@10"]), (8, ["P@20", "P@10", "P@5"])):
        assert np.array_equal(alone, draws(n, *measures)), n


@pytest.mark.slow
def test_what_another_run_does_not_share_stays() -> None:
    """Beside ``new-a`` the documents that ``new-b`` alone has keep their draws."""
    example, estimator = load_example(), PosteriorEstimator(draws=100)
    a = int(example.run_index("new-a")[0])
    alone = estimator.complete(example, "new-b", "P@10")
    beside = estimator.complete(example, TARGETS, "P@10")
    n_same = 0
    for t in range(len(example.query_ids)):
        one, both = alone.unknowns, beside.unknowns
        mine = one.pair[one.on_topic(t)]
        theirs = both.pair[both.on_topic(t)]
        shared = np.isin(theirs, example.document[a, t])
        place = np.searchsorted(theirs, mine)
        kept = ~shared[place]
        n_same += int(kept.sum())
        assert np.array_equal(alone.block(t)[:, kept], beside.block(t)[:, place[kept]])
    assert n_same > 20


@pytest.mark.slow
def test_in_every_draw_deeper_cutoffs_have_no_fewer_relevant_documents() -> None:
    scores = score(load_example(), TARGETS, ["P@20", "P@5", "P@10", "P@1"], estimators="posterior-combined")
    amounts = [scores["posterior-combined", f"P@{n}"].draws.amount for n in (1, 5, 10, 20)]
    for shallow, deep in pairwise(amounts):
        assert (shallow <= deep).all()


# --- measures ----------------------------------------------------------------------------------------------


def test_a_measure_that_is_no_sum_is_evaluated_on_the_completed_rankings() -> None:
    found = completed(0.0, 400)
    values, precision = found.evaluate(Reciprocal(5), Precision(5))
    for draw in (0, 17, 399):
        qrels = found.qrels(draw)
        judged = [
            ir_measures.Qrel(q, d, r)
            for q, d, r in zip(
                qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), qrels.relevance.tolist(), strict=True
            )
        ]
        for r, run in enumerate(("one", "two")):
            ranked = [
                ir_measures.ScoredDoc(q, d, -i) for q, docs in RUNS[run].items() for i, d in enumerate(docs)
            ]
            measures = [ir_measures.RR @ 5, ir_measures.P @ 5]
            per_topic = {
                (str(m.measure), m.query_id): m.value for m in ir_measures.iter_calc(measures, judged, ranked)
            }
            for t, q in enumerate(("1", "2")):
                assert values.scores()[draw, r, t] == pytest.approx(per_topic["RR@5", q])
                assert precision.scores()[draw, r, t] == pytest.approx(per_topic["P@5", q])


def test_sums_are_what_completed_rankings_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fractions of gains and whole weights, without the rankings and with them; truth values are numbers."""
    found = completed(0.3, 200)
    added, laid_out, any_, precision = found.evaluate(Graded(5), LaidOut(5), Any_(3), "P@3")
    assert added.amount.dtype == any_.amount.dtype == np.float64
    assert added.amount.std(axis=0).min() > 0
    np.testing.assert_allclose(added.amount, laid_out.amount, atol=1e-12)
    assert np.array_equal(any_.amount > 0, precision.amount > 0)
    first, second = found.evaluate("P@5", "P_5")
    assert np.array_equal(first.amount, second.amount)
    whole = found.evaluate(Reciprocal(5))[0].amount
    monkeypatch.setattr(completion, "CELLS", 40)  # rankings laid out in pieces
    assert np.array_equal(whole, found.evaluate(Reciprocal(5))[0].amount)


def test_values_lie_between_the_bounds_and_nothing_unjudged_is_certain() -> None:
    example = load_example()
    measures = [parse_measure(name) for name in ("P@1", "P@10", "P@30")]
    completion = PosteriorEstimator(draws=50).complete(example, TARGETS, measures)
    for measure, values in zip(measures, completion.evaluate(*measures), strict=True):
        found = score_bounds(example, TARGETS, measure)
        assert (values.amount >= found.low.amount).all()
        assert (values.amount <= found.high.amount).all()
    pooled = example.pooled_run_ids[:2]
    nothing = PosteriorEstimator(draws=5).complete(example, pooled, "P@10")
    assert len(nothing.unknowns) == 0
    assert nothing.posteriors == ()
    counts = judgment_counts(example, pooled, cutoffs=10).n_relevant[:, :, 0]
    assert (nothing.evaluate("P@10")[0].amount == counts).all()


def test_what_is_beyond_the_completion_is_refused() -> None:
    found = completed(0.0, 10)
    for measure, words in (("P@6", "deeper than rank 5"), ("P(rel=2)@5", "relevance of 2")):
        with pytest.raises(InputError, match=words):
            found.evaluate(measure)
    with pytest.raises(InputError, match="there is no draw 10"):
        found.qrels(10)
    with pytest.raises(InputError, match="'foo'"):
        complete(load_example(), "new-b", foo=1)
    for judged in ({"1": {"q": -1}}, {"1": {"a": 1}}):
        with pytest.raises(InputError, match="no judgment is of an unknown document"):
            found.observe(qrels_from_frame(judged))


# --- expectations ------------------------------------------------------------------------------------------


def test_expected_relevance_is_the_chance_that_draws_are_made_with() -> None:
    """A document is relevant where a uniform number is below its chance: log odds, then its effect."""
    found = completed(lambda draws, topic, pairs: 0.01 * draws[:, None] - topic - 0.1 * pairs, 300)
    for topic in (0, 1):
        pairs = found.unknowns.pair[found.unknowns.on_topic(topic)]
        p = expit(0.01 * np.arange(300)[:, None] - topic - 0.1 * pairs)
        mean, variance = found.expected(topic, np.array([0.0, 1.0]))
        np.testing.assert_allclose(mean, p, rtol=1e-12)
        np.testing.assert_allclose(variance, p * (1 - p), rtol=1e-9)
        mean, variance = found.expected(topic, np.array([0.5, 2.5]), slice(20, 50))
        np.testing.assert_allclose(mean, 0.5 + 2 * p[20:50], rtol=1e-12)
        np.testing.assert_allclose(variance, 4 * (p * (1 - p))[20:50], rtol=1e-9)


def test_draws_have_the_mean_and_the_variance_that_are_expected() -> None:
    """With effects of organizations and of organizations on topics, drawn before the documents are."""
    n = 40_000
    found = completed(-0.3, n, effect=0.8, scale=0.5)
    for topic in (0, 1):
        drawn = found.block(topic).astype(float)
        mean, variance = found.expected(topic, np.array([0.0, 1.0]))
        error = np.sqrt(variance.mean(axis=0) / n)  # given the effects, which both have
        assert (np.abs(drawn.mean(axis=0) - mean.mean(axis=0)) < 4.5 * error).all()
        assert mean.std(axis=0).min() > 0.1
        np.testing.assert_allclose((variance.mean(axis=0) + mean.var(axis=0)), drawn.var(axis=0), rtol=0.03)


@pytest.mark.slow
def test_expected_gains_of_graded_documents() -> None:
    found = graded_completion()
    assert found.levels == (0, 1, 2, 3)
    worth, error, apart = np.array([0, 0.2, 0.5, 1.0]), [], []
    for topic in range(len(found.unknowns.collection.query_ids)):
        drawn = worth[found.block(topic)]
        mean, variance = found.expected(topic, worth)
        assert (variance >= 0).all()
        error.append(variance.mean(axis=0) / len(drawn))
        apart.append(drawn.mean(axis=0) - mean.mean(axis=0))
        square = found.expected(topic, worth**2)[0]
        np.testing.assert_allclose(variance, square - mean**2, atol=1e-12)
    z = np.concatenate(apart) / np.sqrt(np.concatenate(error))
    assert len(z) > 20
    assert np.abs(z).max() < 4.8


def test_a_known_document_is_worth_what_it_is() -> None:
    found = completed(0.0, 1000).observe(qrels_from_frame({"1": {"q": 1, "s": 0}}))
    mean, variance = found.expected(0, np.array([0.0, 1.0]))
    names = found.unknowns.doc_ids(0)
    for name, value in (("q", 1), ("s", 0)):
        assert (mean[:, names.index(name)] == value).all()
        assert (variance[:, names.index(name)] == 0).all()
    assert (mean[:, names.index("r")] == 0.5).all()
    nothing = completed(0.0, 10, ("one",)).expected(1, np.array([0.0, 1.0]))[0]
    assert nothing.shape == (10, 2)


# --- more judgments ----------------------------------------------------------------------------------------


def test_observed_documents_are_known_and_the_others_are_not() -> None:
    found = completed(0.0, 4000).observe(qrels_from_frame({"1": {"q": 1, "r": 0, "a": 1}, "2": {"u": 1}}))
    assert found.block(0)[:, :2].tolist() == [[1, 0]] * 4000
    assert found.block(1)[:, 1].tolist() == [1] * 4000
    assert found.block(0)[:, 2:].mean(axis=0) == pytest.approx([0.5] * 3, abs=0.05)
    known = found.observe(qrels_from_frame({"1": {"s": 0}}))
    assert known.block(0)[:, :3].tolist() == [[1, 0, 0]] * 4000
    with pytest.raises(InputError, match="no judgment is of an unknown document"):
        found.observe(qrels_from_frame({"1": {"q": 1}}))


def test_observed_grades_and_negatives_mean_what_they_mean_in_the_qrels() -> None:
    """A grade of 2 is relevant and stays a 2, −2 is not relevant, −1 says that nobody judged."""
    found = completed(0.0, 1000).observe(qrels_from_frame({"1": {"q": 2, "r": -2, "s": -1}}))
    assert found.block(0)[:, :2].tolist() == [[1, 0]] * 1000
    assert 0 < found.block(0)[:, 2].mean() < 1
    qrels = found.qrels(0)
    drawn = dict(zip(qrels.doc_id.to_pylist(), qrels.relevance.tolist(), strict=True))
    assert (drawn["q"], drawn["r"]) == (2, 0)


def test_observed_answers_teach_what_the_organization_is_worth() -> None:
    """One effect N(0, 2²) for all documents of ``one``: after 3 of 3 the rest follow (by integral)."""
    n = 200_000
    prior = completed(0.0, n, ("one",), effect=2.0)
    told = prior.observe(qrels_from_frame({"1": {"q": 1, "r": 1, "s": 1}}))
    x = np.linspace(-12, 12, 4001)
    weight = stats.norm(0, 2).pdf(x) * expit(x) ** 3
    expected = float((weight * expit(x)).sum() / weight.sum())
    assert prior.block(1).mean() == pytest.approx(0.5, abs=0.01)
    assert told.block(1).mean() == pytest.approx(expected, abs=0.01)
    both = float((told.block(1) == 1).all(axis=1).mean())
    assert both == pytest.approx(float((weight * expit(x) ** 2).sum() / weight.sum()), abs=0.01)


def test_too_few_draws_left_are_warned_of() -> None:
    found = completed(lambda source, _, __: np.where(source[:, None] == 3, 30.0, -30.0), 100)
    with pytest.warns(DiagnosticsWarning, match="leave 1 effective draws"):
        told = found.observe(qrels_from_frame({"1": {"q": 1}}))
    assert "1 effective draws" in told.notes[0]
    assert set(told.posteriors[0].mixture.source.tolist()) == {3}


@pytest.mark.slow
def test_observing_agrees_with_a_new_fit() -> None:
    """The unjudged documents of ``new-b`` on two topics judged relevant: its mean moves the same way, and
    further, since a new organization has heavier tails than one that is evidence.
    """
    example, estimator = load_example(), PosteriorEstimator(draws=8000)
    found = estimator.complete(example, "new-b", "P@10")
    answers = {example.query_ids[t]: dict.fromkeys(found.unknowns.doc_ids(t), 1) for t in range(2)}
    qrels = qrels_from_frame({q: docs for q, docs in answers.items() if docs})
    (anew,) = estimator.complete(example.add_judgments(qrels), "new-b", "P@10").evaluate("P@10")
    (told,) = found.observe(qrels).evaluate("P@10")
    (before,) = found.evaluate("P@10")
    moved = anew.expected()[0] - before.expected()[0]
    assert moved > 0.01
    assert told.expected()[0] - before.expected()[0] == pytest.approx(moved, rel=0.45)

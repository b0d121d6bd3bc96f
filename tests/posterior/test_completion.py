"""Completions: what is unknown, drawn level by level, and how far that is what was found."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from completed import NO_FIT, completed, toy
from fits import TARGETS
from graded_example import graded_example
from scipy import stats
from scipy.special import expit, logit

from bayespool.errors import InputError
from bayespool.evidence.ideals import judged_tally, ranked_levels
from bayespool.experiments import load_example
from bayespool.measures import MEASURES, parse_measure
from bayespool.posterior import (
    Completion,
    FittedModel,
    ScoringProblem,
    Threshold,
    ThresholdPosterior,
    complete,
    completion,
    find_unknowns,
)
from bayespool.posterior.drawing import count_levels, promote_relevance
from bayespool.posterior.mixtures import Mixture
from bayespool.posterior.thresholds import find_thresholds, threshold_levels
from bayespool.posterior.unknowns import find_places
from bayespool.reading import qrels_from_frame
from bayespool.scoring import score


def test_unknowns_are_each_once_and_credited_to_the_best_rank() -> None:
    unknowns = find_unknowns(toy(), ("one", "two"), 5)
    found = [
        (unknowns.collection.doc_id(pair), unknowns.run_ids[run], int(rank))
        for pair, run, rank in zip(unknowns.pair, unknowns.run, unknowns.rank, strict=True)
    ]
    # q stands second in both: the run that comes first by name has it
    assert found == [
        *[("q", "one", 2), ("r", "one", 3), ("s", "two", 1), ("v", "two", 4), ("w", "two", 5)],
        *[("t", "one", 2), ("u", "one", 3)],
    ]
    assert unknowns.start.tolist() == [0, 5, 7]
    assert unknowns.doc_ids(1) == ["t", "u"]


def test_reach_ends_at_the_depth_and_for_the_pooled_estimand_at_the_pool() -> None:
    assert len(find_unknowns(toy(), ("one",), 2)) == 2  # q and t
    assert len(find_unknowns(toy(), ("one",), 5)) == 5
    assert len(find_unknowns(toy(), ("two",), 5, "pooled")) == 3  # s, q and t
    assert len(find_unknowns(toy(), ("x",), 3)) == 0
    assert len(find_unknowns(toy(), ("x",), 5)) == 4  # d e and l m


def test_places_are_in_the_order_of_documents_ranks_and_runs() -> None:
    places = find_places(find_unknowns(toy(), ("two", "one"), 3), 5)
    found = [
        (int(d), ("two", "one")[r], int(k))
        for d, r, k in zip(places.document, places.run, places.rank, strict=True)
    ]
    # q r s of topic 1, t u of topic 2; v and w lie beyond rank 3
    assert found == [
        *[(0, "one", 2), (0, "two", 2), (1, "one", 3), (2, "two", 1), (2, "one", 4)],
        *[(3, "one", 2), (3, "two", 2), (4, "one", 3)],
    ]
    assert places.start.tolist() == [0, 2, 3, 5, 7, 8]
    second = places.of(slice(1, 3))
    assert second.document.tolist() == [0, 1, 1]
    assert second.start.tolist() == [0, 1, 3]


def test_each_document_is_drawn_with_its_chance() -> None:
    chances = {"q": 0.3, "r": 0.9, "s": 0.05, "v": 0.5, "w": 0.999, "t": 0.001, "u": 0.7}
    n, of_pair = 40_000, toy()

    def log_odds(_: np.ndarray, __: int, pairs: np.ndarray) -> np.ndarray:
        p = np.array([chances[of_pair.doc_id(pair)] for pair in pairs])
        return np.log(p / (1 - p))

    found = completed(log_odds, n)
    drawn = np.hstack([found.block(0), found.block(1)]).astype(float)
    p = np.array([chances[d] for t in (0, 1) for d in found.unknowns.doc_ids(t)])
    assert (np.abs(drawn.mean(axis=0) - p) < 5 * np.sqrt(p * (1 - p) / n) + 1e-9).all()
    some = (p > 0.01) & (p < 0.99)
    correlation = np.corrcoef(drawn[:, some], rowvar=False)
    assert np.abs(correlation - np.eye(some.sum())).max() < 5 / np.sqrt(n)
    # nor does a draw tell the next one
    lagged = [np.corrcoef(drawn[1:, j], drawn[:-1, j])[0, 1] for j in np.flatnonzero(some)]
    assert np.abs(lagged).max() < 5 / np.sqrt(n)


def test_shared_document_has_one_relevance_in_a_draw() -> None:
    """``one`` and ``two`` share q, s and t: their totals differ by r, u, v and w only."""
    (values,) = completed(0.0, 20_000).evaluate("P@5")
    known = np.array([[1, 0], [1, 2]])
    added = values.amount - known
    assert values.unit == 5
    assert added.min(axis=(0, 2)).tolist() == [0, 0]
    assert added.max(axis=0).tolist() == [[3, 2], [4, 1]]
    difference = added[:, 1, 0] - added[:, 0, 0]
    assert set(difference.tolist()) == {-1, 0, 1, 2}  # v + w − r
    assert difference.var() == pytest.approx(0.75, rel=0.05)
    assert np.cov(added[:, :, 0], rowvar=False)[0, 1] == pytest.approx(0.5, abs=0.03)  # q and s


@pytest.mark.parametrize("scale", [0.0, 2.0])
def test_effect_of_organization_and_topic_is_shared_by_its_documents(scale: float) -> None:
    """q, r and s of ``one`` on topic 1, t and u on topic 2: moments by Gauss and Hermite. These are the
    means over the effect, nearer to a half than expit(η).
    """
    n = 40_000
    node, share = np.polynomial.hermite_e.hermegauss(61)
    share = share / share.sum()
    p = expit(-1.0 + scale * node)
    mean = share @ p
    spread = share @ p**2 - mean**2
    assert (mean > expit(-1.0) + 0.01) == (scale > 0)
    drawn = completed(-1.0, n, ("one",), scale=scale).evaluate("P@5")[0].amount[:, 0]
    for topic, (known, m) in enumerate(((1, 3), (0, 2))):
        variance = m * mean * (1 - mean) + m * (m - 1) * spread
        amount = drawn[:, topic]
        assert amount.mean() == pytest.approx(known + m * mean, abs=4.5 * np.sqrt(variance / n))
        assert amount.var() == pytest.approx(variance, rel=0.04)
    assert abs(np.corrcoef(drawn, rowvar=False)[0, 1]) < 4.5 / np.sqrt(n)


def test_a_document_climbs_by_what_is_left_of_its_number() -> None:
    """Probabilities of ¼ and then ½: below 1/4 at the next level, below 1/8 at the one after it."""
    rest = np.array([[0.05, 0.2, 0.3, 0.05]])
    level = np.array([[1, 1, 1, 0]], dtype=np.uint8)
    promote_relevance(np.full((1, 4), logit(0.25)), 1, rest, level)
    assert level.tolist() == [[2, 2, 1, 0]]
    assert rest[0] == pytest.approx([0.2, 0.8, 0.3, 0.05])
    promote_relevance(np.zeros((1, 4)), 2, rest, level)
    assert level.tolist() == [[3, 2, 1, 0]]
    assert rest[0] == pytest.approx([0.4, 0.8, 0.3, 0.05])
    tally = np.zeros((1, 3), dtype=np.int64)
    count_levels(level, np.array([True, True, False, True]), tally)
    assert tally.tolist() == [[0, 1, 1]]


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


def test_what_is_beyond_the_completion_is_refused() -> None:
    found = completed(0.0, 10)
    for measure, words in (("P@6", "deeper than rank 5"), ("P(rel=2)@5", "relevance of 2")):
        with pytest.raises(InputError, match=words):
            found.evaluate(measure)
    with pytest.raises(InputError, match="there is no draw 10"):
        found.qrels(10)
    with pytest.raises(InputError, match="'foo'"):
        complete(load_example(), "new-b", posterior_settings="foo=1")
    for judged in ({"1": {"q": -1}}, {"1": {"a": 1}}):
        with pytest.raises(InputError, match="no judgment is of an unknown document"):
            found.observe(qrels_from_frame(judged))


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


def test_observed_documents_are_known_and_the_others_are_not() -> None:
    found = completed(0.0, 4000).observe(qrels_from_frame({"1": {"q": 1, "r": 0, "a": 1}, "2": {"u": 1}}))
    assert found.block(0)[:, :2].tolist() == [[1, 0]] * 4000
    assert found.block(1)[:, 1].tolist() == [1] * 4000
    assert found.block(0)[:, 2:].mean(axis=0) == pytest.approx([0.5] * 3, abs=0.05)
    known = found.observe(qrels_from_frame({"1": {"s": 0}}))
    assert known.block(0)[:, :3].tolist() == [[1, 0, 0]] * 4000
    with pytest.raises(InputError, match="no judgment is of an unknown document"):
        found.observe(qrels_from_frame({"1": {"q": 1}}))


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


NAMES = (
    "P(rel=2)@10", "Success(rel=3)@5", "RR@30", "R@30", "AP@30", "AP(rel=2)@30", "nDCG@10", "DCG@10",
    "nDCG(dcg='exp-log2')@30", "nDCG(ideal='judged')@10", "nDCG(ideal='shared')@10", "SDCG(max_rel=3)@10",
    "RBP(p=0.8)@10", "ERR@10", "INST@10", "AntiP@10", "Judged@10", "ContextPrecision@10",
)  # fmt: skip


def test_amounts_are_those_of_completed_rankings() -> None:
    """Judgments completed by hand, one draw at a time, and scored as if they were the collection's."""
    assert {parse_measure(name).name for name in NAMES} == set(MEASURES)
    collection = graded_example()
    completion = complete(collection, TARGETS, ["nDCG@30"], estimators="posterior-ratio(draws=3, chains=1)")
    index, levels = collection.run_index(TARGETS), (0, *collection.levels)
    u, measures = completion.unknowns, [parse_measure(name) for name in NAMES]
    found = completion.evaluate(*measures)
    for draw in range(completion.n_draws):
        relevance = collection.relevance.copy()
        for t in range(len(collection.query_ids)):
            level = np.array(completion.levels)[completion.block(t, slice(draw, draw + 1))[0]]
            relevance[u.pair[u.on_topic(t)]] = level
        table = np.append(np.maximum(relevance, -1), np.int16(-2))
        for measure, values in zip(measures, found, strict=True):
            ranked = table[collection.document[index, :, : measure.cutoff]]
            if measure.describes_judgments:
                ranked = ranked_levels(collection, index, measure.cutoff)
            for row in range(len(index)):
                of_ideal = {"judged": index[:0], "shared": index}.get(
                    getattr(measure, "ideal", ""), index[[row]]
                )
                near = collection.document[of_ideal, :, : max(measure.cutoff, 10)]
                made_of = collection.relevance.copy()
                made_of[near[near >= 0]] = relevance[near[near >= 0]]
                tally = judged_tally(collection, levels, relevance=made_of)
                expected = measure.values(measure.read(ranked[[row]]), tally).amount[0]
                assert values.amount[draw, row] == pytest.approx(expected, rel=1e-12, abs=1e-12), str(measure)


def test_rungs_are_the_levels_that_a_measure_tells_apart() -> None:
    for levels, measure, thresholds, reached in (
        ((1,), "nDCG@10", [(0, 1)], (0, 1)),
        ((1, 2, 3), "P@10", [(0, 1)], (0, 1)),
        ((1, 2, 3), "P(rel=2)@10", [(0, 1), (1, 2)], (0, 1, 2)),
        ((1, 2, 3), "nDCG@10", [(0, 1), (1, 2), (2, 3)], (0, 1, 2, 3)),
        ((1, 2, 3), "P(rel=5)@10", [(0, 1), (1, 2), (2, 3), (3, 5)], (0, 1, 2, 3, 5)),
        # levels that are not there ask nothing: 1 and 2 are the same question, 3 and 4, too
        ((2, 4), "P(rel=2)@10", [(0, 1)], (0, 2)),
        ((2, 4), "P(rel=3)@10", [(0, 1), (1, 4)], (0, 2, 4)),
        ((2, 4), "nDCG@10", [(0, 1), (1, 4)], (0, 2, 4)),
    ):
        collection = graded_example(levels)
        found = find_thresholds(collection, parse_measure(measure))
        assert list(found) == [Threshold(*threshold) for threshold in thresholds], (levels, measure)
        assert threshold_levels(collection, found) == reached, (levels, measure)
    example = load_example()
    nothing = dataclasses.replace(example, relevance=np.minimum(example.relevance, np.int16(0)))
    assert find_thresholds(nothing, parse_measure("P(rel=2)@10")) == (Threshold(0, 2),)
    assert find_thresholds(nothing, parse_measure("nDCG@10")) == (Threshold(0, 1),)


def test_the_lowest_level_is_the_floor_where_nothing_is_below() -> None:
    graded = graded_example((1, 2))
    higher = np.where(graded.judged, graded.relevance + 1, -1).astype(np.int16)
    above = dataclasses.replace(graded, relevance=higher)
    for measure, thresholds in (
        ("P@10", [(0, 1)]),
        ("nDCG@10", [(0, 1), (1, 2), (2, 3)]),
        ("P(rel=2)@10", [(0, 2, 1)]),
        ("P(rel=3)@10", [(0, 2, 1), (2, 3, 1)]),
        ("nDCG(rel=2)@10", [(0, 2, 1), (2, 3, 1)]),
    ):
        assert list(find_thresholds(above, parse_measure(measure))) == [
            Threshold(*threshold) for threshold in thresholds
        ], measure
    assert [threshold.above_floor for threshold in find_thresholds(above, parse_measure("P(rel=3)@10"))] == [
        1,
        2,
    ]


def test_too_many_levels_are_refused() -> None:
    relevance = load_example().relevance.copy()
    relevant = np.flatnonzero(relevance > 0)
    relevance[relevant] = 1 + np.arange(len(relevant)) % 11
    many = dataclasses.replace(load_example(), relevance=relevance)
    assert len(find_thresholds(many, parse_measure("P(rel=10)@10"))) == 10
    with pytest.raises(InputError, match="tells 11 levels of relevance apart"):
        find_thresholds(many, parse_measure("nDCG@10"))
    assert [threshold.rel for threshold in find_thresholds(many, parse_measure("ERR@10"))] == [1, 2, 3, 4]
    assert [threshold.rel for threshold in find_thresholds(many, parse_measure("SDCG(max_rel=3)@10"))] == [
        1,
        2,
        3,
    ]


def test_a_rung_learns_from_documents_that_reached_the_one_below() -> None:
    collection = graded_example()
    measure = parse_measure("nDCG@10")
    first, second, third = (
        ScoringProblem(collection, TARGETS, measure, "complete", 1, threshold).hidden
        for threshold in find_thresholds(collection, measure)
    )
    relevance = collection.relevance
    assert len(second.pair) == first.relevant.sum() > 0
    assert set(second.pair) == set(first.pair[first.relevant == 1])
    assert set(third.pair) == set(second.pair[second.relevant == 1])
    assert np.array_equal(second.relevant, relevance[second.pair] >= 2)
    assert np.array_equal(third.relevant, relevance[third.pair] >= 3)
    binary = ScoringProblem(load_example(), TARGETS, parse_measure("P@10"), "complete").hidden
    assert first.predictors.tobytes() == binary.predictors.tobytes()
    assert first.relevant.tobytes() == binary.relevant.tobytes()


def test_log_odds_are_filled_in_as_they_are_computed_apart() -> None:
    """Of two runs that may be of a new kind, under both models and at all thresholds."""
    found = complete(graded_example(), ["new-a", "new-b"], "nDCG@10", posterior_settings="draws=60")
    assert len(found.posteriors) > 1
    assert all(part.below is not None for part in found.posteriors[0].components)
    for topic, k in itertools.product(range(4), range(len(found.posteriors))):
        posterior, documents = found.posteriors[k], found.unknowns.on_topic(topic)
        apart = slowly(posterior)
        chosen, cells = np.arange(240)[::-2], found.cell_effects(topic)[k]
        of = chosen, topic, documents, found.unknowns.run[documents], cells
        assert posterior.log_odds(*of).tobytes() == apart.log_odds(*of).tobytes()


def slowly(posterior: ThresholdPosterior) -> ThresholdPosterior:
    """The posterior whose models tell nothing of their parts."""

    def of(mixture: Mixture) -> Mixture:
        assert all(part.linear is not None for part in mixture.components)
        return dataclasses.replace(
            mixture, components=tuple(dataclasses.replace(part, linear=None) for part in mixture.components)
        )

    assert posterior.new_kind is not None
    new_kind = dataclasses.replace(posterior.new_kind, mixture=of(posterior.new_kind.mixture))
    return dataclasses.replace(posterior, mixture=of(posterior.mixture), new_kind=new_kind)


def with_thresholds(log_odds: tuple[float, ...], n_draws: int = 4000) -> Completion:
    """A completion with thresholds 1, 2, … of made-up log odds."""
    one = completed(log_odds[0], n_draws)
    (first,) = one.posteriors
    posteriors = [first]
    for rel, value in enumerate(log_odds[1:], start=2):

        def of(source: np.ndarray, topic: int, documents: slice, value: float = value) -> np.ndarray:
            return np.full((len(source), documents.stop - documents.start), value)

        effect = np.zeros_like(first.components[0].effect)
        component = FittedModel("made up", NO_FIT, of, effect)
        posteriors.append(
            ThresholdPosterior(
                Threshold(rel - 1, rel), dataclasses.replace(first.mixture, components=(component,))
            )
        )
    thresholds = tuple(posterior.threshold for posterior in posteriors)
    return dataclasses.replace(one, posteriors=tuple(posteriors), thresholds=thresholds)


def test_shares_of_levels_are_products_of_chances() -> None:
    """And the first threshold is the binary draw."""
    found, binary = with_thresholds((0.4, -0.6, 1.2)), completed(0.4, 4000)
    p = expit([0.4, -0.6, 1.2])
    block = np.hstack([found.block(0), found.block(1)])
    assert np.array_equal(block > 0, np.hstack([binary.block(0), binary.block(1)]))
    assert np.array_equal(found.evaluate("P@5")[0].amount, binary.evaluate("P@5")[0].amount)
    for level, chance in enumerate(np.cumprod(p), start=1):
        n, k = block.size, int((block >= level).sum())
        assert stats.binomtest(k, n, chance).pvalue > 1e-3, level


def test_learning_weighs_draws_by_all_rungs_that_were_asked() -> None:
    """Draws with high log odds at the second threshold explain documents of level 2, not of level 1."""
    one = with_thresholds((0.0, 0.0))
    first, second = one.posteriors
    odds = np.where(np.arange(4000) < 2000, 2.0, -2.0)

    def of(source: np.ndarray, topic: int, documents: slice) -> np.ndarray:
        return np.repeat(odds[source][:, None], documents.stop - documents.start, axis=1)

    component = dataclasses.replace(second.components[0], log_odds=of)
    second = ThresholdPosterior(
        second.threshold, dataclasses.replace(second.mixture, components=(component,))
    )
    spread = dataclasses.replace(one, posteriors=(first, second))
    for level, share in ((2, expit(2.0)), (1, expit(-2.0)), (0, 0.5)):
        told = spread.observe(qrels_from_frame({"1": {"q": level}}))
        assert (told.posteriors[1].mixture.source < 2000).mean() == pytest.approx(share, abs=0.01)
        assert np.array_equal(told.posteriors[0].mixture.source, told.posteriors[1].mixture.source)


def test_thresholds_come_from_one_fit_and_never_contradict_each_other() -> None:
    measures = ["P@10", "P(rel=2)@10", "P(rel=3)@10"]
    scores = score(
        graded_example(), TARGETS, measures, estimators="posterior-ratio", posterior_settings="draws=100"
    )
    one, two, three = (scores[measure, "posterior-ratio"].draws for measure in measures)
    assert (three.amount <= two.amount).all()
    assert (two.amount <= one.amount).all()
    assert (two.amount < one.amount).any()
    assert scores[measures[2], "posterior-ratio"].fits.keys() == {"ratio", "ratio, 2 of 1", "ratio, 3 of 2"}
    binary = score(
        load_example(), TARGETS, "P@10", estimators="posterior-ratio", posterior_settings="draws=100"
    )
    assert binary["P@10", "posterior-ratio"].draws.amount.tobytes() == one.amount.tobytes()

"""Corrections by labels of a judge: which judge, rates by grade, values by hand, what all have in common."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path

import numpy as np
import pytest
from corrected import LABELS, close, estimate, with_any_labels, with_labels
from each import cases
from hypothesis import given, strategies as st
from small import small
from toys import from_rankings, pooled_collections, toy_collection

from bayespool import leave_out, load_example, read_collection
from bayespool.collection import Collection, Judge, add_judges
from bayespool.corrections import JudgeFilled, JudgeRates, PredictionPowered
from bayespool.corrections.labels import (
    LabelCorrection,
    find_judge,
    grade_relevance,
    hidden_documents,
    is_on_scale,
    label_relevance,
    level_rates,
)
from bayespool.errors import InputError, PoolWarning
from bayespool.evidence import score_bounds
from bayespool.evidence.ideals import values_on_fuller
from bayespool.measures import MEASURES, Estimates, parse_measure
from bayespool.measures.base import Additive
from bayespool.reading import labels_from_frame

POWERED = (PredictionPowered(n_draws=50), PredictionPowered(sample="judged", n_draws=50))
by_correction = cases("correction", [JudgeFilled(), JudgeRates(), *POWERED])


def two_judges() -> Collection:
    return add_judges(with_labels(LABELS), {"other": labels_from_frame({"1": {"l": 1, "a": 0}})})


def test_a_name_is_needed_among_several() -> None:
    both = two_judges()
    assert find_judge(both, "other", "judge-rates") is both.judges[1]
    for collection, name, message in (
        (both, None, r"judge-rates: there are 2 judges, name one; .*known: llm, other"),
        (both, "lm", "judge-rates: no judge 'lm'; known: llm, other"),
        (toy_collection(), "llm", "no judge 'llm'; give labels: --judge"),
    ):
        with pytest.raises(InputError, match=message):
            find_judge(collection, name, "judge-rates")


@by_correction
def test_the_judge_that_is_named_is_asked(correction: LabelCorrection) -> None:
    alone = estimate(correction, "P@5", "u", with_labels(LABELS))
    named = estimate(dataclasses.replace(correction, judge="llm"), "P@5", "u", two_judges())
    other = estimate(dataclasses.replace(correction, judge="other"), "P@5", "u", two_judges())
    assert np.array_equal(alone.per_topic, named.per_topic)
    if getattr(correction, "sample", "hidden") == "hidden":
        assert not np.array_equal(alone.per_topic, other.per_topic)
    with pytest.raises(InputError, match="name one"):
        estimate(correction, "P@5", "u", two_judges())


def test_rates_by_grade() -> None:
    collection = with_labels(LABELS)
    (judge,) = collection.judges
    hidden = hidden_documents(collection, 5)
    assert sorted(collection.doc_id(pair) for pair in hidden) == sorted("bcfhik" + "prvw" + "bd")
    # 2: c2 r2 p1 b0; 1: none; 0: f1 i0 k0 w0; all twelve: six 0, four 1, two 2
    rates = level_rates(collection, judge, hidden, (0, 1, 2))
    np.testing.assert_allclose(
        rates, [[3 / 4, 1 / 4, 0], [1 / 2, 1 / 3, 1 / 6], [1 / 4, 1 / 4, 1 / 2], [1 / 2, 1 / 3, 1 / 6]]
    )
    assert rates[judge.grade[hidden]].sum(axis=1) == pytest.approx(1)
    # relevance 1 counts at level 0 where there are the levels 0 and 2 alone
    assert level_rates(collection, judge, hidden, (0, 2))[-1] == pytest.approx([5 / 6, 1 / 6])


def test_hidden_documents_are_counted_down_to_rank_30() -> None:
    deep = "".join(map(chr, range(200, 240)))
    collection = from_rankings(
        {"p": {"1": deep}, "q": {"1": deep[0]}},
        {"1": {**dict.fromkeys(deep, 0), deep[0]: 1}},
        {"p": "x", "q": "y"},
        pooled_run_ids=("p", "q"),
        pool_depth=40,
    )
    assert [len(hidden_documents(collection, depth)) for depth in (1, 30, 35, 100)] == [29, 29, 34, 39]


def within(result: Estimates, collection: Collection, run_id: str) -> None:
    """A point between the bounds, with draws that are, too."""
    found = score_bounds(collection, run_id, result.measure)
    low = np.minimum(found.lower, found.least.scores())
    high = np.maximum(found.upper, found.most.scores())
    assert (result.per_topic >= low - 1e-9).all(), result.measure
    assert (result.per_topic <= high + 1e-9).all(), result.measure
    np.testing.assert_allclose(result.per_topic.mean(axis=1), result.value, atol=1e-12)
    if not found.has_unjudged.any():
        assert np.array_equal(result.value, found.low.means())
        assert result.notes == ((),)
    if result.draws is not None:
        assert (result.draws.scores() >= low - 1e-9).all()
        assert (result.draws.scores() <= high + 1e-9).all()


@by_correction
@given(pooled_collections(), st.sampled_from(["P@4", "P(rel=2)@2", "DCG@3", "RBP(p=0.5)@4", "AntiP@3"]))
def test_values_lie_between_the_bounds(
    correction: LabelCorrection, collection: Collection, measure: str
) -> None:
    labeled = with_any_labels(collection)
    for run_id in labeled.run_ids:
        result = estimate(correction, measure, run_id, labeled)
        if np.isfinite(result.value).all():
            within(result, labeled, run_id)


@by_correction
def test_every_family_has_a_value_or_a_note(correction: LabelCorrection) -> None:
    example = with_any_labels(load_example())
    measures = [f"{name}@10" for name, one in MEASURES.items() if one.__module__.startswith("bayespool.")]
    for result in correction.estimate(example, ["new-a", "new-b"], measures):
        if np.isnan(result.value).any():
            assert result.notes == (("defined for sums of gains",),) * 2
            is_sum = isinstance(result.measure, Additive)
            assert not (is_sum if isinstance(correction, PredictionPowered) else result.measure.has_gains)
            continue
        assert np.isfinite(result.per_topic).all()
        if result.measure.describes_judgments:
            assert np.array_equal(
                result.value, score_bounds(example, ["new-a", "new-b"], result.measure).low.means()
            )


@pytest.mark.slow
def test_labels_of_gpt4_on_dl21(collections: Path) -> None:
    """Each organization left out, best 75 %: as truth labels make runs too good by .02; as evidence, even in
    the plainest way, errors are a third of that. The interval of prediction-powered inference is too narrow.
    """
    folder = collections / "dl21-passage"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoolWarning)
        collection = read_collection(
            folder / "qrels.txt",
            pool=folder / "runs",
            organizations=folder / "organizations.csv",
            order="rank",
            max_holes=0,
            judges=folder / "judges" / "umbrela-gpt4.txt",
        )
    names = ["as-judged", "judge-filled", "judge-rates", "prediction-powered"]
    found = leave_out(collection, "P(rel=2)@10", estimators=names, top=75).to_frame("summary")
    table = found.set_index("estimator")
    assert table["mae"].round(4).to_dict() == {
        "as-judged": 0.0335,
        "judge-filled": 0.0206,
        "judge-rates": 0.0063,
        "prediction-powered": 0.0064,
    }
    assert table.loc["judge-filled", "bias"] == pytest.approx(table.loc["judge-filled", "mae"])
    assert (
        0.7 < table.loc["prediction-powered", "coverage_95"] < table.loc["judge-rates", "coverage_95"] < 0.95
    )


# u has a1 l? d? h1 m? | v1 p1 z? x? | e? f?; labels l2 d0 m1 | z2 | e0


def filled(measure: str) -> list[float]:
    return estimate(JudgeFilled(), measure, collection=with_labels(LABELS)).per_topic[0].tolist()


def test_labels_count_as_judgments() -> None:
    assert filled("P@5") == close(4 / 5, 3 / 5, 0)
    assert filled("P(rel=2)@5") == close(1 / 5, 1 / 5, 0)
    assert filled("DCG@3") == close(1 + 2 / np.log2(3), 1 + 1 / np.log2(3) + 2 / 2, 0)
    assert filled("RR(rel=2)@5") == close(1 / 2, 1 / 3, 0)
    assert filled("AntiP@5") == close(1 / 5, 1 / 5, 4 / 5)  # three ranks are missing, f is not known


def test_ideal_rankings_have_all_labeled_documents() -> None:
    """a1 l2 of c2 f1 h1 a1 and l2; v1 p1 of r2 p1 v1 and z2, which u has at rank 3."""
    log3 = np.log2(3)
    assert filled("nDCG@2") == close((1 + 2 / log3) / (2 + 2 / log3), (1 + 1 / log3) / (2 + 2 / log3), 0)
    assert filled("nDCG(ideal='judged')@2") == close(
        (1 + 2 / log3) / (2 + 1 / log3), (1 + 1 / log3) / (2 + 1 / log3), 0
    )
    assert filled("R@5") == close(4 / 6, 3 / 4, 0)
    (both,) = JudgeFilled().estimate(with_labels(LABELS), ["u", "n1"], "nDCG@2")
    assert both.per_topic[0].tolist() == filled("nDCG@2")


def test_a_document_of_another_run_alone_counts_in_the_ideal_as_in_filled_qrels() -> None:
    """s1 alone has x, and no run has w: the run u has the same value as with both among the judgments."""
    collection = with_labels({**LABELS, "1": {**LABELS["1"], "x": 2, "w": 1}})
    log3 = np.log2(3)
    for measure, ratio in {
        "nDCG@3": (1 + 2 / log3) / (2 + 2 / log3 + 2 / 2),
        "R@5": 4 / 8,
        "AP@5": (1 + 1 + 3 / 4 + 4 / 5) / 8,
    }.items():
        found = estimate(JudgeFilled(), measure, "u", collection).per_topic[0, 0]
        assert found == pytest.approx(ratio, abs=1e-12), measure


def test_labels_of_documents_that_only_runs_out_of_the_pool_contributed_count_for_these_alone() -> None:
    """With labels as people judged, runs that left have the values that each has alone back in the pool."""
    whole, runs, apart = small(), ["north-1", "north-2", "south-1", "south-2"], {}
    labels = Judge("people", np.where(whole.judged, whole.relevance, np.nan))
    reduced = dataclasses.replace(whole.unpool(runs), judges=(labels,))
    for name in ("nDCG@10", "R@10", "AP@10"):
        measure = parse_measure(name)
        (found,) = JudgeFilled().estimate(reduced, runs, measure)
        alone = values_on_fuller(whole.unpool(runs), whole, runs, measure).scores()
        assert found.per_topic == pytest.approx(alone, abs=1e-12), name
        apart[name] = np.abs(alone - score_bounds(whole, runs, measure).lower).max()
    assert min(apart["R@10"], apart["AP@10"]) > 0.01  # all together have another ideal


def test_a_judgment_is_never_overruled() -> None:
    against = with_labels({"1": {"a": 0, "h": 0, "l": 2}, "2": {"v": 0}, "3": {"a": 2}})
    found = estimate(JudgeFilled(), "P@5", collection=against)
    assert found.per_topic[0].tolist() == close(3 / 5, 2 / 5, 0)


def test_two_labels_are_not_relevant_and_relevant() -> None:
    # of a1 b0 c2 h1, which have the higher label, those that count have the median relevance 1, or 2
    binary = with_labels({"1": {"a": 1, "b": 1, "c": 1, "h": 1, "l": 1, "d": 0}, "2": {"q": 0, "z": 1}})
    (judge,) = binary.judges
    assert not is_on_scale(binary, judge)
    assert grade_relevance(binary, judge).tolist() == [0, 1]
    assert grade_relevance(binary, judge, 2).tolist() == [0, 2]
    unseen = with_labels({"1": {"a": 0, "l": 1}})  # relevant, of no judged document: the least that counts
    assert grade_relevance(unseen, unseen.judges[0], 2).tolist() == [0, 2]
    assert grade_relevance(unseen, unseen.judges[0]).tolist() == [0, 1]
    found = estimate(JudgeFilled(), "P(rel=2)@5", collection=binary)
    assert found.per_topic[0].tolist() == close(1 / 5, 1 / 5, 0)
    assert found.notes[0][-1] == "labels stand for relevance: from 0 for 0, from 1 for 2"
    discounted = estimate(JudgeFilled(), "DCG@2", collection=binary)
    assert discounted.per_topic[0].tolist() == close(1 + 1 / np.log2(3), 1 + 1 / np.log2(3), 0)


def test_labels_beyond_the_levels_of_judgments_are_of_another_scale() -> None:
    three = with_labels({"1": {"c": 3, "a": 3, "h": 3, "l": 3, "d": 0}, "2": {"q": 1, "z": 2}})
    (judge,) = three.judges
    assert not is_on_scale(three, judge)
    # 3: c2 a1 h1; 2: nothing judged; 1: q0
    assert label_relevance(three, judge)[judge.label == 3].tolist() == [1] * 4
    assert grade_relevance(three, judge).tolist() == [0, 0, 0, 1]


# u has a1 l? d? h1 m? | v1 p1 z? x? | e? f?; labels l2 d0 m1 | z2 | e0. Of hidden documents with the label 2
# a quarter are of relevance 1 and a half of 2, with the label 0 a quarter of 1; of all twelve 1/3 and 1/6,
# which counts where a document has no label and where no hidden one has its label, as m's.


def by_rates(measure: str) -> list[float]:
    result = estimate(JudgeRates(), measure, collection=with_labels(LABELS))
    assert result.notes == ((),)
    return result.per_topic[0].tolist()


def test_rates_are_as_uncertain_as_their_counts() -> None:
    """Of the label 2 one hidden document in four is of relevance 1 and two of 2: Dirichlet(3/2, 3/2, 5/2)."""
    result = estimate(JudgeRates(n_draws=20_000), "P(rel=2)@2", collection=with_labels(LABELS))
    assert result.draws is not None
    drawn = result.draws.scores()[:, 0, 0]  # of the first topic, whose first document is not of relevance 2
    assert set(np.unique(drawn)) <= {0.0, 0.5}
    assert drawn.mean() == pytest.approx(2.5 / 5.5 / 2, abs=0.03)  # by a normal distribution
    (deeper,) = JudgeRates().estimate(with_labels(LABELS), result.run_ids, "AP@5")
    assert deeper.draws is None


def test_chances_add_up() -> None:
    assert by_rates("P@5") == close(
        (2 + 3 / 4 + 1 / 4 + 1 / 2) / 5, (2 + 3 / 4 + 1 / 2) / 5, (1 / 4 + 1 / 2) / 5
    )
    assert by_rates("P(rel=2)@5") == close((1 / 2 + 1 / 6) / 5, (1 / 2 + 1 / 6) / 5, (1 / 6) / 5)
    assert by_rates("DCG@3") == close(
        1 + (1 / 4 + 2 / 2) / np.log2(3) + (1 / 4) / 2,
        1 + 1 / np.log2(3) + (1 / 4 + 2 / 2) / 2,
        1 / 4 + (1 / 3 + 2 / 6) / np.log2(3),
    )
    # known not to be relevant: none | none | three missing ranks, and of e and f 3/4 and 1/2
    assert by_rates("AntiP@5")[2] == pytest.approx((3 + 3 / 4 + 1 / 2) / 5)


def test_measures_that_are_no_sums_are_expectations() -> None:
    assert by_rates("RR@5")[2] == pytest.approx(1 / 4 + 3 / 4 * 1 / 2 / 2)
    assert by_rates("Success@2")[2] == pytest.approx(1 - 3 / 4 * 1 / 2)
    assert by_rates("RR@5")[:2] == [1, 1]


def test_over_the_ideal_of_the_judged_documents() -> None:
    ideal = 2 + 1 / np.log2(3)
    assert by_rates("nDCG@2") == close(
        (1 + (1 / 4 + 2 / 2) / np.log2(3)) / ideal, (1 + 1 / np.log2(3)) / ideal, 0
    )
    # of the three relevant documents of topic 2 it has two, and would have 3 1/4: completions have 4 of 5
    most = score_bounds(with_labels(LABELS), "u", parse_measure("R@5")).most.scores()[0]
    assert by_rates("R@5")[1] == pytest.approx(4 / 5)
    assert most[1] == pytest.approx(4 / 5)

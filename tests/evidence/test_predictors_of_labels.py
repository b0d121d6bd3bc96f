"""Predictors from labels: their names, their values and the slopes that are expected of them, by hand."""

from __future__ import annotations

import dataclasses
import math
from itertools import islice

import numpy as np
import pytest
from each import cases
from predicted import unjudged_document_table
from toys import from_rankings, toy_collection

from bayespool.collection import Collection, add_judges, labels_from_frame
from bayespool.evidence import grade_counts, hidden_document_table
from bayespool.evidence.predictors import evidence_predictors
from bayespool.evidence.predictors_of_labels import (
    LabelRatios,
    label_predictors,
    label_ratios,
    label_slopes,
    usable_judges,
)
from bayespool.experiments import load_example, simulate_example, simulate_judge

# Hidden documents of the toy have labels but for f and the south's; of the unjudged ones l has one.
LABELS = {"1": {"a": 2, "b": 0, "c": 2, "l": 1, "d": 0}, "2": {"p": 1, "r": 2, "z": 2}, "3": {"b": 0}}
NAMES = ("llm ≥ 1", "llm ≥ 2", "llm without label")
OF_RUN, ON_TOPIC = "llm of the run", "llm on the topic"
ALL = (*NAMES[:2], OF_RUN, ON_TOPIC, NAMES[2])
NAN = math.nan


def labeled(labels: dict[str, dict[str, float]] = LABELS, name: str = "llm") -> Collection:
    return add_judges(toy_collection(), {name: labels_from_frame(labels)})


def known_judge(*counts: tuple[int, ...]) -> Collection:
    """Two organizations that have all in common: so many judged documents of each grade from 0 up, the most
    relevant ones first and the nonrelevant ones last.
    """
    letters = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    relevance: dict[str, int] = {}
    labels: dict[str, float] = {}
    for level, of_grade in enumerate(reversed(counts)):
        for grade, n in enumerate(of_grade):
            for letter in islice(letters, n):
                relevance[letter], labels[letter] = level, float(grade)
    ranking = {"q": "".join(relevance)}
    collection = from_rankings(
        {"x": ranking, "y": ranking},
        {"q": relevance},
        {"x": "X", "y": "Y"},
        pooled_run_ids=("x", "y"),
        pool_depth=len(relevance),
    )
    return add_judges(collection, {"llm": labels_from_frame({"q": labels})})


def shrunk(relevant: tuple[int, ...], nonrelevant: tuple[int, ...]) -> tuple[list[float], list[float]]:
    """As many documents more of both as there are grades, spread like all with half a document of each."""
    n_grades = len(relevant)
    all_of = [r + n + 0.5 for r, n in zip(relevant, nonrelevant, strict=True)]
    more = [n_grades * count / sum(all_of) for count in all_of]
    return (
        [count + m for count, m in zip(relevant, more, strict=True)],
        [count + m for count, m in zip(nonrelevant, more, strict=True)],
    )


def steps(relevant: tuple[int, ...], nonrelevant: tuple[int, ...]) -> list[tuple[float, float]]:
    """Steps of the log odds ratio from grade to grade, and their standard deviations."""
    r, n = shrunk(relevant, nonrelevant)
    ratio = [math.log(r[g] / sum(r)) - math.log(n[g] / sum(n)) for g in range(len(r))]
    variance = [1 / r[g] + 1 / n[g] for g in range(len(r))]
    return [
        (ratio[g] - ratio[g - 1], min(1.5, math.sqrt(0.5**2 + variance[g] + variance[g - 1])))
        for g in range(1, len(r))
    ]


# --- names and values --------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:llm. all labels of judge")
def test_a_judge_has_predictors_of_its_grades_the_run_the_topic_and_no_label() -> None:
    found = label_predictors(labeled())
    assert tuple(found) == ALL
    per = {predictor.name: predictor.per for predictor in found.values()}
    assert per == {**dict.fromkeys(ALL, "label"), OF_RUN: "ranking"}
    assert label_predictors(toy_collection()) == {}
    both = add_judges(labeled(), {"gpt-4": labels_from_frame({"1": {"a": 0.25, "b": -1}})})
    of_other = ("gpt-4 ≥ 0.25", "gpt-4 of the run", "gpt-4 on the topic", "gpt-4 without label")
    assert tuple(label_predictors(both)) == (*ALL, *of_other)
    assert label_predictors(labeled({"1": {"a": 1, "b": 1}})) == {}  # which says nothing


def test_values_of_hidden_documents_by_hand() -> None:
    collection = labeled()
    table = hidden_document_table(collection, cutoff=3, names=NAMES)
    assert table.names == NAMES
    found = {
        (collection.query_ids[collection.pair_topic[pair]], collection.doc_id(int(pair))): values.tolist()
        for pair, values in zip(table.pair, table.predictors, strict=True)
    }
    without = [NAN, NAN, 1.0]
    expected = {
        ("1", "b"): [0, 0, 0], ("1", "c"): [1, 1, 0], ("1", "f"): without,
        ("2", "p"): [1, 0, 0], ("2", "r"): [1, 1, 0], ("3", "b"): [0, 0, 0],
        ("1", "h"): without, ("1", "i"): without, ("1", "k"): without,
        ("2", "v"): without, ("2", "w"): without, ("3", "d"): without,
    }  # fmt: skip
    assert found.keys() == expected.keys()
    for document, values in expected.items():
        np.testing.assert_array_equal(found[document], values, err_msg=str(document))


def test_values_of_unjudged_documents_by_hand() -> None:
    collection = labeled()
    table = unjudged_document_table(collection, ("u",), cutoff=3, names=NAMES)
    found = dict(zip(map(collection.doc_id, table.pair.tolist()), table.predictors, strict=True))
    expected = {"l": [1, 0, 0], "d": [0, 0, 0], "z": [1, 1, 0], "e": [NAN, NAN, 1], "f": [NAN, NAN, 1]}
    assert found.keys() == expected.keys()
    for document, values in expected.items():
        np.testing.assert_array_equal(found[document], values, err_msg=document)


def test_what_labels_say_of_a_run_by_hand() -> None:
    """Rates of grades, of a alone, which several have: .75, .75 and .875, and .75 of all.

    The new run has l, d and z unjudged with labels 1, 0 and 2. Without the north's own documents n1 has b, c
    and d of topic 1, p and r of topic 2 and b of topic 3, with labels 0, 2, 0, 1, 2 and 0; n2 has b, c, p, r
    and b. Nobody labels the south's. Hidden documents with labels are two of 0, one of 1 and two of 2: .8 of
    them are relevant as usual, and five such documents are added to a run's.
    """
    collection = labeled()
    assert grade_counts(collection, collection.judges[0]).rate.tolist() == [0.75, 0.75, 0.875]
    unjudged = unjudged_document_table(collection, ("u",), cutoff=3, names=(OF_RUN,))
    expected = 0.75 + 0.75 + 0.875
    np.testing.assert_allclose(unjudged.predictors[:, 0], math.log((expected + 4) / (3 - expected + 1)))
    table = hidden_document_table(collection, cutoff=3, names=(OF_RUN,))
    for run, expected, n in (("n1", 4.75, 6), ("n2", 4.0, 5)):
        values = table.predictors[table.run == collection.run_ids.index(run), 0]
        assert len(values)
        np.testing.assert_allclose(values, math.log((expected + 4) / (n - expected + 1)), err_msg=run)
    assert np.isnan(table.predictors[table.run == collection.run_ids.index("s1"), 0]).all()


def test_what_labels_are_worth_on_a_topic_by_hand() -> None:
    """Of the documents that count a alone is judged, relevant, of the highest grade and on topic 1.

    With half a document more of each grade the shares of relevant ones are .2, .2 and .6. On topic 1 they are
    those of a and of twenty of all topics: 4, 4 and 13 of 21. Of nonrelevant ones there are none.
    """
    collection = labeled()
    table = hidden_document_table(collection, cutoff=3, names=(ON_TOPIC,))
    found = {
        (collection.query_ids[collection.pair_topic[pair]], collection.doc_id(int(pair))): float(value)
        for pair, value in zip(table.pair, table.predictors[:, 0], strict=True)
    }
    assert {document for document, value in found.items() if math.isnan(value)} == {
        ("1", "f"), ("1", "h"), ("1", "i"), ("1", "k"), ("2", "v"), ("2", "w"), ("3", "d"),
    }  # fmt: skip
    assert found["1", "b"] == pytest.approx(math.log((4 / 21) / 0.2))
    assert found["1", "c"] == pytest.approx(math.log((13 / 21) / 0.6))
    for document in (("2", "p"), ("2", "r"), ("3", "b")):
        assert found[document] == pytest.approx(0, abs=1e-12)


def test_a_label_is_worth_more_on_a_topic_whose_judged_documents_say_so() -> None:
    ranking = {"1": "abcdefgh", "2": "abcdefgh"}
    collection = from_rankings(
        {"x": ranking, "y": ranking, "u": {"1": "zabc", "2": "zabc"}},
        {
            "1": {**dict.fromkeys("abcd", 1), **dict.fromkeys("efgh", 0)},
            "2": {**dict.fromkeys("aceg", 1), **dict.fromkeys("bdfh", 0)},
        },
        {"x": "X", "y": "Y", "u": "U"},
        pooled_run_ids=("x", "y"),
        pool_depth=8,
    )
    high = dict.fromkeys("abcdz", 1) | dict.fromkeys("efgh", 0)  # tells all of topic 1, nothing of topic 2
    judged = add_judges(collection, {"llm": labels_from_frame({"1": high, "2": high})})
    first, second = unjudged_document_table(judged, ("u",), cutoff=1, names=(ON_TOPIC,)).predictors[:, 0]
    assert first > 0.15 > -0.15 > second


def test_other_predictors_do_not_know_of_labels() -> None:
    plain, with_labels = (hidden_document_table(c, cutoff=3) for c in (toy_collection(), labeled()))
    assert with_labels.names == evidence_predictors()
    assert plain.predictors.tobytes() == with_labels.predictors.tobytes()


def test_labels_of_a_favored_organization_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bayespool.evidence.predictors_of_labels.favored_organizations", lambda *args, **asked: {"north": 0.3}
    )
    collection = labeled()
    table = hidden_document_table(collection, cutoff=3, names=NAMES)
    of_north = collection.organization[table.run] == collection.organizations.index("north")
    assert of_north.sum() == 6
    np.testing.assert_array_equal(table.predictors[of_north], [[NAN, NAN, 1.0]] * 6)
    unjudged = unjudged_document_table(collection, ("u",), cutoff=3, names=NAMES)
    assert (unjudged.predictors[:, 2] == 0).sum() == 3  # those of the new run count as before


# --- slopes ------------------------------------------------------------------------------------------------


def test_slopes_are_steps_of_log_odds_ratios_by_hand() -> None:
    slopes = label_slopes(known_judge((1, 2, 5), (8, 3, 1)))
    assert tuple(slopes) == ALL
    # of 20 documents 9, 5 and 6 have the grades: 3 × 9.5, 5.5 and 6.5 of 21.5 more of both
    more = [3 * n / 21.5 for n in (9.5, 5.5, 6.5)]
    assert slopes["llm ≥ 1"] == pytest.approx(
        (
            math.log((2 + more[1]) / (3 + more[1])) - math.log((1 + more[0]) / (8 + more[0])),
            math.sqrt(0.25 + sum(1 / n for n in (1 + more[0], 8 + more[0], 2 + more[1], 3 + more[1]))),
        )
    )
    assert [slopes["llm ≥ 1"], slopes["llm ≥ 2"]] == [
        pytest.approx(step) for step in steps((1, 2, 5), (8, 3, 1))
    ]
    mean, std = slopes["llm without label"]
    assert std == 0.5
    # none is hidden, so that others say how often labels occur; the mean of chances is what all of them have
    share, rate = [9 / 20, 5 / 20, 6 / 20], [(r + 8.5 / 21) / (n + 1) for r, n in ((1, 9), (2, 5), (5, 6))]
    ratio = [0.0, *np.cumsum([slopes["llm ≥ 1"][0], slopes["llm ≥ 2"][0]])]
    usual = float(np.dot(share, rate))
    at_mean = math.log(usual / (1 - usual)) - mean  # log odds at the mean label
    level = at_mean - float(np.dot(share, ratio))
    assert np.dot(share, [1 / (1 + math.exp(-level - r)) for r in ratio]) == pytest.approx(usual)
    assert slopes[OF_RUN] == slopes[ON_TOPIC] == (0.5, 0.5)


def test_standard_deviations_have_a_most_and_slopes_may_be_below_zero() -> None:
    mean, std = label_slopes(known_judge((0, 5), (5, 0)))["llm ≥ 1"]
    assert mean == pytest.approx(2 * math.log(6))  # one document more of each grade and kind
    assert std == 1.5
    upside_down = label_slopes(known_judge((8, 2, 1), (1, 3, 8)))
    assert max(upside_down["llm ≥ 1"][0], upside_down["llm ≥ 2"][0]) < 0


def test_slopes_are_of_the_relevance_asked_for() -> None:
    collection = known_judge((0, 1, 5), (5, 2, 1), (8, 3, 1))  # of relevance 2, 1 and 0
    for asked, relevant, nonrelevant in (
        ({}, (5, 3, 6), (8, 3, 1)),
        ({"rel": 2}, (0, 1, 5), (13, 5, 2)),
        ({"rel": 2, "given": 1}, (0, 1, 5), (5, 2, 1)),
    ):
        slopes = label_slopes(collection, **asked)
        found = [slopes["llm ≥ 1"], slopes["llm ≥ 2"]]
        assert found == [pytest.approx(step) for step in steps(relevant, nonrelevant)], asked


@cases(
    ("n_relevant", "n_nonrelevant", "usable"),
    [((0, 5), (5, 0), True), ((0, 4), (20, 0), False), ((2, 18), (4, 0), False), ((2, 3), (1, 4), True)],
)
def test_a_judge_is_used_where_ten_judged_documents_tell_of_it(
    n_relevant: tuple[int, ...], n_nonrelevant: tuple[int, ...], usable: bool
) -> None:
    collection = known_judge(n_relevant, n_nonrelevant)
    assert usable_judges(collection) == (collection.judges if usable else ())
    assert bool(label_slopes(collection)) == usable


def test_hidden_documents_are_no_part_of_their_own_prior() -> None:
    """Turn the labels of all that one organization alone contributed: the expected slopes of labels stay."""
    example = load_example()
    labels = simulate_judge(simulate_example(), quality=2.0, random_seed=1)
    collection = add_judges(example, {"llm": labels})
    (judge,) = collection.judges
    hidden = hidden_document_table(collection, cutoff=100).pair
    turned = judge.label.copy()
    turned[hidden] = 3 - turned[hidden]
    other = {
        query_id: {
            example.doc_id(int(pair)): turned[pair] for pair in np.flatnonzero(example.pair_topic == t)
        }
        for t, query_id in enumerate(example.query_ids)
    }
    changed = label_slopes(add_judges(example, {"llm": labels_from_frame(other)}))
    same = {name for name, slope in label_slopes(collection).items() if changed[name] == slope}
    # how often labels occur among hidden documents says what it means to have none
    assert same == set(changed) - {"llm without label"}


def test_a_useless_judge_has_slopes_near_zero_and_a_good_one_has_not() -> None:
    example = load_example()
    for quality, low, high in ((0.0, -0.6, 0.6), (3.0, 0.8, 6.0)):
        labels = simulate_judge(simulate_example(), quality=quality, random_seed=1)
        slopes = label_slopes(add_judges(example, {"llm": labels}))
        found = [slopes[f"llm ≥ {grade}"][0] for grade in (1, 2, 3)]
        assert low < min(found), found
        assert max(found) < high, found


# --- for models that learn nothing of labels themselves ----------------------------------------------------


def ratios_of(collection: Collection) -> LabelRatios:
    (run,) = collection.run_index("x")
    pair = collection.document[run, 0]
    (found,) = label_ratios(collection, np.full(len(pair), run), pair.astype(np.intp))
    return found


def test_ratios_of_grades_by_hand() -> None:
    collection = known_judge((1, 2, 5), (8, 3, 1))
    found = ratios_of(collection)
    assert found.judge == "llm"
    relevant, nonrelevant = shrunk((1, 2, 5), (8, 3, 1))
    assert found.relevant.tolist() == pytest.approx(relevant)
    assert found.nonrelevant.tolist() == pytest.approx(nonrelevant)
    assert found.grade.tolist() == [0] * 8 + [1] * 3 + [2] + [0] + [1] * 2 + [2] * 5
    assert label_ratios(known_judge((0, 4), (20, 0)), np.array([0]), np.array([0])) == ()


def test_ratios_in_draws_are_one_per_grade_and_zero_without_a_label() -> None:
    found = LabelRatios(
        "llm", np.array([10.0, 20, 50]), np.array([80.0, 30, 10]), np.array([2, -1, 0, 2], dtype=np.int8)
    )
    drawn = found.of_draws(np.arange(4000), slice(0, 4))
    assert drawn.shape == (4000, 4)
    assert (drawn[:, 1] == 0).all()
    assert np.array_equal(drawn[:, 0], drawn[:, 3])
    shares = [of / of.sum() for of in (found.relevant, found.nonrelevant)]
    for column, grade in ((0, 2), (2, 0)):
        expected = math.log(shares[0][grade] / shares[1][grade])
        assert drawn[:, column].mean() == pytest.approx(expected, abs=0.1)
    # a draw has its numbers whichever others are asked for
    some = found.of_draws(np.array([7, 3]), slice(2, 4))
    assert np.array_equal(some, drawn[[7, 3], 2:])


def test_a_judge_that_is_hardly_known_raises_nothing_on_average() -> None:
    """Random labels of six grades, five documents relevant and five not: chances stay about what they are."""
    found = ratios_of(known_judge((1, 1, 1, 1, 1, 0), (1, 1, 1, 0, 1, 1)))
    drawn = dataclasses.replace(found, grade=np.arange(6, dtype=np.int8)).of_draws(
        np.arange(4000), slice(0, 6)
    )
    chances = 0.1 * np.exp(drawn) / (0.9 + 0.1 * np.exp(drawn))
    how_often = 0.1 * found.relevant + 0.9 * found.nonrelevant
    assert np.average(chances.mean(axis=0), weights=how_often) == pytest.approx(0.13, abs=0.03)

"""Predictors from labels: their values and the slopes expected of them, by hand; who goes without."""

from __future__ import annotations

import dataclasses
import math
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from each import cases
from predicted import unjudged_document_table
from toys import from_rankings, toy_collection

from bayespool.collection import Collection, Judge, add_judges
from bayespool.evidence import DocumentTable, document_table, grade_counts, hidden_document_table
from bayespool.evidence.predictor_table import without_some_labels
from bayespool.evidence.predictors_of_labels import (
    LabelRatios,
    company_slopes,
    label_predictors,
    label_ratios,
    label_slopes,
    usable_judges,
)
from bayespool.experiments import load_example, simulate_example, simulate_judge
from bayespool.reading import labels_from_frame

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


def test_labels_of_a_favored_organization_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def lift(collection: Collection, *args: object, **asked: object) -> SimpleNamespace:
        return SimpleNamespace(is_favored=np.array(collection.organizations) == "north")

    monkeypatch.setattr("bayespool.evidence.predictors_of_labels.label_lift", lift)
    collection = labeled()
    table = hidden_document_table(collection, cutoff=3, names=NAMES)
    of_north = collection.organization[table.run] == collection.organizations.index("north")
    assert of_north.sum() == 6
    np.testing.assert_array_equal(table.predictors[of_north], [[NAN, NAN, 1.0]] * 6)
    unjudged = unjudged_document_table(collection, ("u",), cutoff=3, names=NAMES)
    assert (unjudged.predictors[:, 2] == 0).sum() == 3  # those of the new run count as before


def test_slopes_of_a_company_by_several_judges_have_one_prior_together() -> None:
    collection = known_judge((1, 2, 5), (8, 3, 1))
    (judge,) = collection.judges
    twice = dataclasses.replace(collection, judges=(judge, dataclasses.replace(judge, name="other")))
    (one,), both = (list(company_slopes(c).values()) for c in (collection, twice))
    assert [sum(mean for mean, _ in both), math.hypot(*(std for _, std in both))] == pytest.approx(one)


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
    collection = add_judges(example, {"llm": simulate_judge(simulate_example(), quality=2.0, random_seed=1)})
    (judge,) = collection.judges
    hidden = hidden_document_table(collection, cutoff=100).pair
    turned = judge.label.copy()
    turned[hidden] = 3 - turned[hidden]
    changed = label_slopes(dataclasses.replace(example, judges=(Judge("llm", turned),)))
    same = {name for name, slope in label_slopes(collection).items() if changed[name] == slope}
    # how often labels occur among hidden documents says what it means to have none
    assert same == set(changed) - {"llm without label"}


def ratios_of(collection: Collection) -> LabelRatios:
    (run,) = collection.run_index("x")
    pair = collection.document[run, 0]
    (found,) = label_ratios(collection, np.full(len(pair), run), pair.astype(np.intp))
    return found


def test_ratios_of_grades_by_hand() -> None:
    found, more = ratios_of(known_judge((1, 2, 5), (8, 3, 1))), 3 * np.array([9.5, 5.5, 6.5]) / 21.5
    assert found.relevant == pytest.approx(more + np.array([1, 2, 5]))
    assert found.nonrelevant == pytest.approx(more + np.array([8, 3, 1]))
    assert found.grade.tolist() == [0] * 8 + [1] * 3 + [2] + [0] + [1] * 2 + [2] * 5
    assert label_ratios(known_judge((0, 4), (20, 0)), np.array([0]), np.array([0])) == ()


def test_a_judge_that_is_hardly_known_raises_nothing_on_average() -> None:
    """Random labels of six grades, five relevant documents and five not: values stay about the same."""
    found = ratios_of(known_judge((1, 1, 1, 1, 1, 0), (1, 1, 1, 0, 1, 1)))
    every_grade = dataclasses.replace(found, grade=np.arange(6, dtype=np.int8))
    drawn = every_grade.draw_ratios(np.arange(4000), slice(0, 6))
    chances = 0.1 * np.exp(drawn) / (0.9 + 0.1 * np.exp(drawn))
    how_often = 0.1 * found.relevant + 0.9 * found.nonrelevant
    assert np.average(chances.mean(axis=0), weights=how_often) == pytest.approx(0.13, abs=0.03)


def with_labels_of(of_unjudged: float) -> Collection:
    """The example with labels of the judged documents and of a share of the unjudged ones."""
    example, rng = load_example(), np.random.default_rng(1)
    labels = simulate_judge(simulate_example(), quality=2.0, random_seed=1)
    (judge,) = add_judges(example, {"llm": labels}).judges
    kept = rng.random(len(judge.label)) < np.where(example.judged, 1.0, of_unjudged)
    return dataclasses.replace(example, judges=(Judge("llm", np.where(kept, judge.label, np.nan)),))


def tables(collection: Collection) -> tuple[DocumentTable, DocumentTable]:
    """Documents of the first pooled run and of the first new one, with predictors from labels."""
    names = tuple(label_predictors(collection))
    found = []
    for run_id in (collection.pooled_run_ids[0], collection.unpooled_run_ids[0]):
        (run,) = collection.run_index(run_id)
        pair = collection.document[run, :, :10].ravel()
        topic, rank = np.repeat(np.arange(len(collection.query_ids)), 10), np.tile(np.arange(1, 11), 20)
        kept = collection.judged[pair] == bool(collection.pooled[run])
        runs = np.full(int(kept.sum()), run)
        place = runs, topic[kept], rank[kept], pair[kept]
        columns = document_table(collection, *place, depth=10, names=names)
        found.append(DocumentTable(*place, np.zeros(len(runs), dtype=np.int64), columns, names))
    return found[0], found[1]


@cases(("of_unjudged", "expected"), [(1.0, 0.0), (0.85, 0.2), (0.5, 0.5), (0.0, 1.0)])
def test_as_many_go_without_as_documents_in_question(of_unjudged: float, expected: float) -> None:
    collection = with_labels_of(of_unjudged)
    hidden, unjudged = tables(collection)
    assert not hidden.columns(("llm without label",)).any()
    changed, of_unjudged_now = without_some_labels(collection, hidden, unjudged)
    missing = changed.columns(("llm without label",))[:, 0] > 0
    assert missing.mean() == pytest.approx(expected, abs=0.12)
    for name in ("llm ≥ 1", "llm on the topic"):
        assert np.isnan(changed.columns((name,))[:, 0]).tolist() == missing.tolist()
    for table in (changed, of_unjudged_now):
        assert np.isnan(table.columns(("llm of the run",))).all() == (expected == 1)

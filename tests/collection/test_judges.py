"""Labels of judges: grades, no judgments among them, what stays."""

from __future__ import annotations

import dataclasses
import pickle
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import toys
from toys import judgments, toy_collection
from trec_files import refused

from bayespool.collection import Collection, Judge, add_judges
from bayespool.collection.contents import MOST_GRADES
from bayespool.collection.judges import find_copied_labels
from bayespool.errors import InputError, InputWarning
from bayespool.experiments import load_example, simulate_example, simulate_judge
from bayespool.reading import labels_from_frame, qrels_from_frame

NAN = float("nan")
LABELS = {"1": {"a": 2, "l": 0, "d": 1}, "2": {"z": 2, "p": 0}}


def judge(*labels: float) -> Judge:
    return Judge("llm", np.array(labels, dtype=float))


def labeled_toy() -> Collection:
    return add_judges(toy_collection(), {"llm": labels_from_frame(LABELS)})


def labels_of(collection: Collection, name: str) -> dict[str, dict[str, float]]:
    (found,) = [judge for judge in collection.judges if judge.name == name]
    labels: dict[str, dict[str, float]] = {}
    for pair in np.flatnonzero(found.is_labeled):
        query_id = collection.query_ids[collection.pair_topic[pair]]
        labels.setdefault(query_id, {})[collection.doc_id(int(pair))] = float(found.label[pair])
    return labels


def test_grades_by_hand() -> None:
    cases: list[tuple[tuple[float, ...], tuple[float, ...], list[int]]] = [
        ((0, 3, NAN, 1, 3), (1, 3), [0, 2, -1, 1, 2]),
        ((-2.5, NAN, 0.25), (0.25,), [0, -1, 1]),
        ((-1, -1, NAN), (), [0, 0, -1]),
        ((NAN, NAN), (), [-1, -1]),
        ((6, 5, 4, 3, 2, 1), (2, 3, 4, 5, 6), [5, 4, 3, 2, 1, 0]),
        ((np.inf, 0, -np.inf), (0, np.inf), [2, 1, 0]),
    ]
    for labels, thresholds, grades in cases:
        found = judge(*labels)
        assert (found.thresholds, found.grade.tolist()) == (thresholds, grades), labels
        assert found.is_labeled.tolist() == [grade >= 0 for grade in grades], labels


def test_labels_of_many_values_are_cut_where_relevant_documents_are_told_apart() -> None:
    """At a quarter, a half, three quarters, seven eighths and nineteen twentieths, at labels there are."""
    for labels, thresholds, counts in (
        (range(100), (25, 50, 75, 87, 95), [25, 25, 25, 12, 8, 5]),
        ([0.0] * 80 + [*range(1, 21)], (8, 16), [87, 8, 5]),
        ([0.0] * 993 + [*range(1, 8)], (1,), [993, 7]),
        ([9.0] * 993 + [*range(1, 8)], (9,), [7, 993]),
    ):
        found = judge(*labels)
        assert (found.thresholds, np.bincount(found.grade).tolist()) == (thresholds, counts)
    assert judge(*range(MOST_GRADES)).thresholds == (1, 2, 3, 4, 5)
    assert len(judge(*range(MOST_GRADES + 1)).thresholds) <= MOST_GRADES - 1


def test_two_judges_of_one_name_and_labels_of_another_collection_are_refused() -> None:
    labels = dataclasses.replace(labels_from_frame(LABELS), path=Path("more.txt"))
    error = refused(add_judges, labeled_toy(), {"llm": labels})
    assert (error.path, error.reason) == (Path("more.txt"), "two judges are called 'llm'")
    others = labels_from_frame({"1": {"x": 1}, "9": {"a": 1}})
    assert (
        "none of the labels of judge 'llm'" in refused(add_judges, toy_collection(), {"llm": others}).reason
    )
    with pytest.warns(InputWarning, match="llm.* are the same and say nothing"):
        collection = add_judges(toy_collection(), {"llm": labels_from_frame({"1": {"a": 1, "b": 1}})})
    assert collection.judges[0].thresholds == ()


KEPT: dict[str, Callable[[Collection], Collection]] = {
    "unpooled run": lambda c: c.unpool("s1"),
    "unpooled organization": lambda c: c.unpool(organization="north"),
    "shallow pool": lambda c: c.truncate_pool(2),
    "other pool": lambda c: c.with_pool(c.pooled, 2),
    "without judgments": lambda c: c.without_judgments(np.ones(len(c.relevance), dtype=bool)),
    "own judgments": lambda c: c.add_judgments(qrels_from_frame(toys.COMMON)),
    "pickled": lambda c: pickle.loads(pickle.dumps(c)),
}


def test_judges_stay_with_the_collection() -> None:
    before = labeled_toy()
    for name, change in KEPT.items():
        after, plain = change(before), change(toy_collection())
        assert labels_of(after, "llm") == LABELS, name
        assert [judge.fingerprint for judge in after.judges] == [before.judges[0].fingerprint], name
        assert after.judges[0].thresholds == (1, 2), name
        assert plain.judges == (), name
        assert judgments(after) == judgments(plain), name


def test_fingerprint_of_a_collection_changes_with_its_labels() -> None:
    """And without any it is what it was before there were judges, so that what was stored is known by it."""
    plain, labeled = toy_collection(), labeled_toy()
    other = add_judges(plain, {"llm": labels_from_frame({**LABELS, "2": {"z": 1, "p": 0}})})
    renamed = add_judges(plain, {"gpt": labels_from_frame(LABELS)})
    both = add_judges(labeled, {"gpt": labels_from_frame(LABELS)})
    found = [c.fingerprint for c in (plain, labeled, other, renamed, both)]
    assert len(set(found)) == len(found)
    assert pickle.loads(pickle.dumps(labeled)).fingerprint == labeled.fingerprint
    assert load_example().fingerprint == "7608b52019a399b0"


def judgments_of(collection: Collection, n: int | None = None) -> dict[str, dict[str, float]]:
    """The first of them, or all, as labels."""
    found: dict[str, dict[str, float]] = {}
    for pair in np.flatnonzero(collection.judged)[:n]:
        query_id = collection.query_ids[collection.pair_topic[pair]]
        found.setdefault(query_id, {})[collection.doc_id(int(pair))] = float(collection.relevance[pair])
    return found


def test_judgments_are_no_labels() -> None:
    example = load_example()
    for n in (None, 60):
        labels = labels_from_frame(judgments_of(example, n))
        assert "are the judgments" in refused(add_judges, example, {"llm": labels}).reason, n
    # few labels of a judge who agrees are labels
    (found,) = add_judges(example, {"llm": labels_from_frame(judgments_of(example, 49))}).judges
    assert found.is_labeled.sum() == 49


def test_negative_whole_numbers_are_no_labels() -> None:
    """A judge that failed has −1; log odds are labels."""
    labels = {"1": {"a": 2, "l": -1, "d": 1}, "2": {"z": 0, "p": -2}}
    with pytest.warns(InputWarning, match="2 labels of judge 'llm' below 0 count as missing"):
        collection = add_judges(toy_collection(), {"llm": labels_from_frame(labels)})
    assert labels_of(collection, "llm") == {"1": {"a": 2, "d": 1}, "2": {"z": 0}}
    odds = {"1": {"a": 2.5, "l": -1.0}}
    assert labels_of(add_judges(toy_collection(), {"llm": labels_from_frame(odds)}), "llm") == odds


@cache
def labels_of_judge(quality: float, grades: int) -> npt.NDArray[np.float64]:
    """Labels of a simulated judge on the example, shape (pair,)."""
    labels = simulate_judge(simulate_example(), quality=quality, grades=grades, random_seed=1)
    (judge,) = add_judges(load_example(), {"llm": labels}).judges
    return judge.label


def found(label: npt.NDArray[np.float64], share: float = 0.0, *, collection: Collection | None = None) -> str:
    """What is found where judgments were copied over a share of the labels."""
    example = collection or load_example()
    copied = example.judged & (np.random.default_rng(1).random(len(label)) < share)
    return find_copied_labels(example, Judge("llm", np.where(copied, example.relevance, label)))


def binary() -> Collection:
    return dataclasses.replace(load_example(), relevance=np.minimum(load_example().relevance, np.int16(1)))


def test_pure_labels_of_any_quality_contain_no_judgments() -> None:
    for quality, grades in ((-2, 2), (0, 3), (1, 4), (2, 2), (2, 4), (3, 2), (3, 3), (3, 4)):
        label = labels_of_judge(quality, grades)
        assert not found(label), (quality, grades)
        assert not found(label, collection=binary()), (quality, grades)


def test_copied_judgments_are_found() -> None:
    """By agreement that no judge reaches, or because the judge's own labels are worse."""
    for share in (0.5, 0.9, 0.98, 1):
        for grades in (2, 4):
            copies = found(labels_of_judge(1, grades), share)
            n_same, n_judged = (int(n.replace(",", "")) for n in re.findall(r"[0-9][0-9,]*", copies)[:2])
            assert n_judged == load_example().judged.sum(), (share, grades)
            agreement = re.search(r"who agrees on (\d+) %", copies)
            assert agreement is None or int(agreement[1]) < 100 * n_same / n_judged


def test_qrels_whose_holes_a_judge_filled_are_refused() -> None:
    example = load_example()
    label = np.where(example.judged, example.relevance, labels_of_judge(2, 4))
    frame: dict[str, dict[str, float]] = {query_id: {} for query_id in example.query_ids}
    for pair in range(len(label)):
        frame[example.query_ids[example.pair_topic[pair]]][example.doc_id(pair)] = float(label[pair])
    with pytest.raises(InputError, match="contain judgments: they say the same on 1,181 of 1,181") as caught:
        add_judges(example, {"llm": labels_from_frame(frame)})
    assert "the judge's own labels" in caught.value.hint


def test_what_has_arrays_equals_itself_alone_and_is_read_only_even_unpickled() -> None:
    one, same, other = (Judge(name, np.array([0.0, 1.0, np.nan])) for name in "aab")
    assert one == one
    assert one not in (same, other)
    assert len({one, same}) == 2
    assert one.grade.tolist() == [0, 1, -1]  # kept from here on
    for judge in (one, pickle.loads(pickle.dumps(one))):
        for array in (judge.label, judge.grade):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1

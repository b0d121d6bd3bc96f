"""Labels that contain the judgments, and pure ones, by the example and its simulated judges."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from bayespool.collection import Collection, Judge, add_judges, labels_from_frame
from bayespool.collection.copied_labels import CopiedLabels, find_copied_labels
from bayespool.errors import InputError
from bayespool.experiments import load_example, simulate_example, simulate_judge


@cache
def labels_of_judge(quality: float, grades: int) -> npt.NDArray[np.float64]:
    """Labels of a simulated judge on the example, shape (pair,)."""
    labels = simulate_judge(simulate_example(), quality=quality, grades=grades, random_seed=1)
    (judge,) = add_judges(load_example(), {"llm": labels}).judges
    return judge.label


def found(
    label: npt.NDArray[np.float64], share: float = 0.0, *, collection: Collection | None = None
) -> CopiedLabels | None:
    """What is found where judgments were copied over a share of the labels."""
    example = collection or load_example()
    copied = example.judged & (np.random.default_rng(1).random(len(label)) < share)
    return find_copied_labels(example, Judge("llm", np.where(copied, example.relevance, label)))


def binary() -> Collection:
    return dataclasses.replace(load_example(), relevance=np.minimum(load_example().relevance, np.int16(1)))


def test_pure_labels_of_any_quality_contain_no_judgments() -> None:
    for quality, grades in ((-2, 2), (0, 3), (1, 4), (2, 2), (2, 4), (3, 2), (3, 3), (3, 4)):
        label = labels_of_judge(quality, grades)
        assert found(label) is None, (quality, grades)
        assert found(label, collection=binary()) is None, (quality, grades)


def test_copied_judgments_are_found() -> None:
    """By agreement that no judge reaches, or because the judge's own labels are worse."""
    for share in (0.5, 0.9, 0.98, 1):
        for grades in (2, 4):
            copies = found(labels_of_judge(1, grades), share)
            assert copies is not None, (share, grades)
            assert copies.n_judged == load_example().judged.sum()
            assert np.isnan(copies.agreement) or copies.agreement < copies.n_same / copies.n_judged


def test_qrels_whose_holes_a_judge_filled_are_refused() -> None:
    example = load_example()
    label = np.where(example.judged, example.relevance, labels_of_judge(2, 4))
    frame: dict[str, dict[str, float]] = {query_id: {} for query_id in example.query_ids}
    for pair in range(len(label)):
        frame[example.query_ids[example.pair_topic[pair]]][example.doc_id(pair)] = float(label[pair])
    with pytest.raises(InputError, match="contain judgments: they say the same on 1,181 of 1,181") as caught:
        add_judges(example, {"llm": labels_from_frame(frame)})
    assert "the judge's own labels" in caught.value.hint

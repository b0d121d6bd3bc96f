"""Labels of judges that contain the judgments, and labels that only agree with them."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pytest

from bayespool import Collection
from bayespool.collection import Judge, Labels, add_judges
from bayespool.collection.copied_labels import find_copied_labels
from bayespool.errors import InputError
from bayespool.experiments import SimulationSettings, simulate
from bayespool.experiments.simulation import Simulation, simulate_judge


@cache
def simulated(seed: int) -> Simulation:
    return simulate(SimulationSettings(n_topics=20, n_new=2), random_seed=seed)


def label_of(simulation: Simulation, quality: float, share: float, *, grades: int = 3) -> Judge:
    """A judge's labels, of which a share of those of judged documents are the judgments."""
    collection = simulation.collection
    labels = simulate_judge(simulation, quality=quality, grades=grades, random_seed=1)
    (judge,) = add_judges(collection, {"pure": labels}).judges
    copied = collection.judged & (np.random.default_rng(2).random(len(collection.relevance)) < share)
    label = np.where(copied, np.minimum(collection.relevance, grades - 1), judge.label)
    return Judge("merged", label)


def labels_from(collection: Collection, judge: Judge) -> Labels:
    """Labels as they are read from a file."""
    from bayespool.collection import labels_from_frame

    rows: dict[str, dict[str, float]] = {}
    for pair in np.flatnonzero(judge.is_labeled):
        topic = collection.query_ids[collection.pair_topic[pair]]
        rows.setdefault(topic, {})[collection.doc_id(pair)] = float(judge.label[pair])
    return labels_from_frame(rows)


@pytest.mark.parametrize("share", [0.9, 0.98, 1])
def test_labels_that_contain_the_judgments_are_refused(share: float) -> None:
    simulation = simulated(1)
    judge = label_of(simulation, 2, share)
    found = find_copied_labels(simulation.collection, judge)
    assert found is not None
    assert found.share == pytest.approx(share, abs=0.1)
    with pytest.raises(InputError, match="the labels of judge 'llm' contain the judgments"):
        add_judges(simulation.collection, {"llm": labels_from(simulation.collection, judge)})


@pytest.mark.parametrize("quality", [0.5, 1, 2, 4])
@pytest.mark.parametrize("grades", [2, 3])
def test_pure_labels_are_refused_of_no_judge(quality: float, grades: int) -> None:
    judge = label_of(simulated(2), quality, 0, grades=grades)
    assert find_copied_labels(simulated(2).collection, judge) is None


def test_a_judge_of_few_documents_is_believed() -> None:
    judge = label_of(simulated(1), 2, 1)
    few = np.where(np.random.default_rng(1).random(len(judge.label)) < 0.01, judge.label, np.nan)
    changed: Any = dataclasses.replace(judge, label=few)
    assert find_copied_labels(simulated(1).collection, changed) is None

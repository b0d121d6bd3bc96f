"""Documents that a judge should label, and its labels collected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayespool import collect_labels, documents_to_label, load_example
from bayespool.errors import InputError
from bayespool.evidence.bounds import unjudged_documents
from bayespool.evidence.held_out import held_out_documents
from bayespool.reading import read_labels

TASKS = pd.DataFrame({"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "a"]})


def places(tasks: pd.DataFrame) -> np.ndarray:
    """Index of each document in the example, shape (document,)."""
    example = load_example()
    topics = [example.query_ids[topic] for topic in example.pair_topic]
    index = {ids: i for i, ids in enumerate(zip(topics, example.doc_ids.to_pylist(), strict=True))}
    return np.array([index[ids] for ids in zip(tasks["query_id"], tasks["doc_id"], strict=True)])


def test_all_holes_and_hidden_documents_evenly_over_topics_are_to_be_labeled() -> None:
    example = load_example()
    tasks = documents_to_label(example, ["new-a", "new-b"], ["P@5", "P@10"], n_known=200)
    pair = places(tasks)
    holes = np.unique(unjudged_documents(example, ["new-a", "new-b"], cutoff=10)[3])
    known = np.setdiff1d(pair, holes)
    assert len(pair) == len(set(pair)) == len(holes) + 200
    assert set(holes) < set(pair)
    assert example.judged[known].all()
    assert set(known) < set(held_out_documents(example, cutoff=30)[3])
    of_topic = np.bincount(example.pair_topic[known], minlength=len(example.query_ids))
    assert set(of_topic) == {10}
    assert (pair != np.sort(pair)).any()  # holes and others are not told apart by their place
    again = documents_to_label(example, ["new-a", "new-b"], ["P@5", "P@10"], n_known=200)
    pd.testing.assert_frame_equal(tasks, again)


def test_labels_are_asked_once(tmp_path: Path) -> None:
    path, asked = tmp_path / "labels.jsonl", []

    def label(query_id: str, doc_id: str) -> float | None:
        asked.append(query_id + doc_id)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return None if doc_id == "b" else 2

    with pytest.raises(KeyboardInterrupt):
        collect_labels(TASKS, label, path)
    assert read_labels(path).label.tolist() == [2]
    seen: list[tuple[int, int]] = []
    collect_labels(TASKS, label, path, progress=lambda _, n=0, of=0: seen.append((n, of)))
    assert asked == ["1a", "1b", "2a", "1b", "2a"]  # what failed is asked again
    assert seen == [(1, 2), (2, 2)]
    labels = read_labels(path)
    assert dict(zip(labels.query_id.to_pylist(), labels.label.tolist(), strict=True)) == {"1": 2, "2": 2}


@pytest.mark.parametrize("answer", ["relevant", float("nan")])
def test_what_is_no_number_is_refused(answer: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of topic 1, document a, is no number"):
        collect_labels(TASKS, lambda query_id, doc_id: answer, tmp_path / "labels.jsonl")  # type: ignore[arg-type, return-value]
    assert not (tmp_path / "labels.jsonl").exists()

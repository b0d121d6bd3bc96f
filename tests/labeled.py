"""Labels of LLM judges on the toy and on the example."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import numpy.typing as npt
from toys import toy_collection

from bayespool.collection import Collection, Judge, add_judges
from bayespool.experiments import load_example, simulate_example
from bayespool.reading import labels_from_frame

# Labels 0 to 2; i and q have none, nor have all documents that nobody judged but l and e.
LABELS = {
    "1": {"a": 2, "b": 0, "c": 2, "f": 1, "h": 0, "k": 1, "j": 0, "l": 1},
    "2": {"p": 2, "r": 1, "v": 0, "w": 1},
    "3": {"b": 0, "d": 0, "a": 0, "c": 1, "e": 0},
}


def labeled_toy() -> Collection:
    """`toys.toy_collection` with a judge."""
    return add_judges(toy_collection(), {"llm": labels_from_frame(LABELS)})


@cache
def true_levels() -> npt.NDArray[np.int16]:
    """Relevance of every document of the example, as its simulation has it, shape (pair,)."""
    example = simulate_example()
    columns = (getattr(example.truth, name) for name in ("query_id", "doc_id"))
    pairs = zip(*(column.to_pylist() for column in columns), strict=True)
    known = dict(zip(pairs, example.truth.relevance.tolist(), strict=True))
    collection = load_example()
    topics = (collection.query_ids[topic] for topic in collection.pair_topic)
    asked = zip(topics, collection.doc_ids.to_pylist(), strict=True)
    return np.array([known[pair] for pair in asked], dtype=np.int16)


def top_of(collection: Collection, organization: str, depth: int = 10) -> npt.NDArray[np.bool_]:
    """Which documents the runs of an organization rank as high, shape (pair,)."""
    runs = collection.organization == collection.organizations.index(organization)
    inside = np.zeros(len(collection.relevance) + 1, dtype=bool)
    inside[collection.document[runs, :, :depth]] = True
    return inside[:-1]


def with_judge(collection: Collection, label: npt.NDArray[np.float64], name: str = "llm") -> Collection:
    """The collection with one more judge."""
    return dataclasses.replace(collection, judges=(*collection.judges, Judge(name, label)))


def right_labels() -> npt.NDArray[np.float64]:
    """Whether documents of the example are relevant in truth."""
    return np.minimum(true_levels(), 1).astype(float)


def favoring_labels(organization: str = "north") -> npt.NDArray[np.float64]:
    """The same, and 1 for whatever an organization ranks in its top 10."""
    return np.where(top_of(load_example(), organization), 1.0, right_labels())

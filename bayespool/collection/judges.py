"""Labels of second judges on the documents of a collection, such as those of a language model."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.collection.negatives import UNJUDGED
from bayespool.collection.records import Labels
from bayespool.errors import InputError, InputWarning, warn_caller

if TYPE_CHECKING:
    from bayespool.collection.contents import Collection

MOST_GRADES = 6
"""Labels of more distinct values are cut into as many grades, finer at the top."""

_MANY = 50  # labels that are no judgments do not agree with so many of them without an exception

_TAIL = (0.25, 0.5, 0.75, 0.875, 0.95)  # where they are cut: relevant documents are few


@dataclass(frozen=True, eq=False, repr=False)
class Judge:
    """A second judge: a label for some of a collection's documents. Evidence, never a judgment.

    Attributes
    ----------
    name : str
    label : ndarray of float64, shape (pair,)
        NaN where there is none.
    organization : ndarray of int32, shape (run,), optional
        Who submitted which run, where the collection's organizations are something else; an index into them.
    """

    name: str
    label: npt.NDArray[np.float64]
    organization: npt.NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        label = self.label.view()
        label.flags.writeable = False
        object.__setattr__(self, "label", label)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.pop("grade", None)  # arrays come out of a pickle writeable
        self.__post_init__()

    def __repr__(self) -> str:
        grades = "" if len(self.thresholds) == 0 else f", {len(self.thresholds) + 1} grades"
        return f"<Judge {self.name}: {self.is_labeled.sum():,} labels{grades}>"

    @property
    def is_labeled(self) -> npt.NDArray[np.bool_]:
        """Which documents have a label, shape (pair,)."""
        return ~np.isnan(self.label)

    @cached_property
    def thresholds(self) -> tuple[float, ...]:
        """Where a grade begins, but for the lowest, ascending: every label that there is, or five cuts of
        them where there are more than `MOST_GRADES`, fewer where many labels are equal.
        """
        values = np.unique(self.label[self.is_labeled])
        if len(values) > MOST_GRADES:
            cuts = np.quantile(self.label[self.is_labeled], _TAIL, method="higher")
            cuts = cuts if cuts[-1] > values[0] else values[1:2]  # nearly all are the lowest
            values = np.unique(np.append(values[0], cuts))
        return tuple(values[1:].tolist())

    @cached_property
    def grade(self) -> npt.NDArray[np.int8]:
        """How many thresholds a label reaches, shape (pair,); −1 where there is none."""
        grade = np.searchsorted(self.thresholds, self.label, side="right").astype(np.int8)
        grade[~self.is_labeled] = -1
        grade.flags.writeable = False
        return grade

    @cached_property
    def fingerprint(self) -> str:
        """Changes with its name and every label."""
        digest = hashlib.blake2b(self.name.encode(), digest_size=8)
        digest.update(np.ascontiguousarray(self.label).data)
        return digest.hexdigest()


def add_judges(collection: Collection, judges: Mapping[str, Labels]) -> Collection:
    """The collection with labels of second judges.

    They are no judgments: no measure counts them. Models with predictors learn from documents whose relevance
    is known what a label is worth (:doc:`Labels of second judges </judges>`).

    Parameters
    ----------
    collection : Collection
    judges : mapping of str to Labels
        By name. Labels of documents that no run retrieves and nobody judged are passed over.

    Returns
    -------
    Collection

    Raises
    ------
    InputError
        A judge of that name is there already, or none of the labels is of a document of the collection; or
        the labels are the judgments themselves.

    Warns
    -----
    InputWarning
        All labels of a judge are the same, so that they say nothing.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.collection import labels_from_frame
    >>> example = load_example()
    >>> labels = {example.query_ids[0]: {example.doc_id(0): 1, example.doc_id(1): 0}}
    >>> add_judges(example, {"llm": labels_from_frame(labels)}).judges
    (<Judge llm: 2 labels, 2 grades>,)
    """
    added = list(collection.judges)
    for name, labels in judges.items():
        if name in [judge.name for judge in added]:
            raise InputError(f"two judges are called {name!r}", path=labels.path, hint="rename one")
        pair = find_pairs(collection, labels.query_id, labels.doc_id)
        if not (pair >= 0).any():
            raise InputError(
                f"none of the labels of judge {name!r} is of a document of the collection",
                path=labels.path,
                hint="are these labels of its topics?",
            )
        label = np.full(len(collection.relevance), np.nan)
        label[pair[pair >= 0]] = labels.label[pair >= 0]
        if _are_judgments(collection, label):
            raise InputError(
                f"the labels of judge {name!r} are the judgments: the same relevance on the same documents",
                path=labels.path,
                hint="give labels of another judge, such as a language model, and the qrels as qrels alone",
            )
        judge = Judge(name, label)
        if not judge.thresholds:
            warn_caller(
                f"{labels.path or name}: all labels of judge {name!r} are the same and say nothing",
                InputWarning,
            )
        added.append(judge)
    return dataclasses.replace(collection, judges=tuple(added))


def judged_by(collection: Collection, judge: Judge) -> Collection:
    """The collection as if just the documents that have a label of a judge were judged, and relevant."""
    relevance = np.where(judge.is_labeled, np.int16(1), np.int16(UNJUDGED))
    return dataclasses.replace(collection, relevance=relevance)


def _are_judgments(collection: Collection, label: npt.NDArray[np.float64]) -> bool:
    """Whether labels are many of the collection's judgments, without an exception, and of no other document.

    A negative one stands for no judgment, or for not relevant, as in qrels.
    """
    labeled, judged = ~np.isnan(label), collection.judged
    same = judged & (np.maximum(label, 0) == collection.relevance)
    other = labeled & np.where(judged, ~same, label >= 0)
    return int(same.sum()) >= _MANY and not other.any()


def find_pairs(
    collection: Collection, query_id: pa.DictionaryArray, doc_id: pa.StringArray
) -> npt.NDArray[np.intp]:
    """Pair codes of documents of topics, −1 where the collection does not have them, shape (line,)."""
    topic = topic_codes(collection, query_id)
    pairs = np.full(len(topic), -1)
    for t in np.unique(topic[topic >= 0]):
        first, last = np.searchsorted(collection.pair_topic, [t, t + 1])
        on_topic = np.flatnonzero(topic == t)
        place = pc.index_in(
            doc_id.take(pa.array(on_topic)), value_set=collection.doc_ids.slice(first, last - first)
        )
        pairs[on_topic] = np.where(place.is_valid(), first + place.fill_null(0).to_numpy(), -1)
    return pairs


def topic_codes(collection: Collection, query_id: pa.DictionaryArray) -> npt.NDArray[Any]:
    """Position of each line's topic, −1 for another's, shape (line,)."""
    topic_of = {name: t for t, name in enumerate(collection.query_ids)}
    names = query_id.dictionary.to_pylist()
    codes: npt.NDArray[Any] = np.array([topic_of.get(name, -1) for name in names], dtype=np.intp)
    of_lines: npt.NDArray[Any] = codes[query_id.indices.to_numpy()]
    return of_lines

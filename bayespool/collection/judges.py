"""Second judges, such as language models, and their labels on the documents of a collection."""

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

from bayespool.collection.copied_labels import CopiedLabels, find_copied_labels
from bayespool.collection.records import UNJUDGED, Labels, ReadOnlyArrays
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.tables.formatting import counted

if TYPE_CHECKING:
    from bayespool.collection.contents import Collection

MOST_GRADES = 6
"""Largest number of grades; labels of more distinct values are cut into as many, finer at the top."""

_MIN_AGREEMENTS = 50  # without exception, which suffice to recognize labels as the judgments themselves

_WITHOUT_COPIES = (
    "give the judge's own labels of judged and unjudged documents, not qrels whose holes it filled: labels "
    "that were copied from judgments are no evidence of what its labels are worth"
)
_GRADE_QUANTILES = (0.25, 0.5, 0.75, 0.875, 0.95)  # finer at the top, as relevant documents are few


@dataclass(frozen=True, eq=False, repr=False)
class Judge(ReadOnlyArrays):
    """A second judge: labels of some documents of a collection, which are evidence and no judgments.

    Attributes
    ----------
    name : str
    label : ndarray of float64, shape (pair,)
        Label of each document; NaN for none.
    organization : ndarray of int32, shape (run,), optional
        Index of the submitter of each run, if that differs from the collection's organizations.
    """

    name: str
    label: npt.NDArray[np.float64]
    organization: npt.NDArray[np.int32] | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(
            {name: value for name, value in state.items() if name != "grade"}
        )  # a cached array

    def __repr__(self) -> str:
        grades = "" if len(self.thresholds) == 0 else f", {len(self.thresholds) + 1} grades"
        return f"<Judge {self.name}: {counted(int(self.is_labeled.sum()), 'label')}{grades}>"

    @property
    def is_labeled(self) -> npt.NDArray[np.bool_]:
        """Whether each document has a label, shape (pair,)."""
        return ~np.isnan(self.label)

    @cached_property
    def thresholds(self) -> tuple[float, ...]:
        """Smallest label of each grade but the lowest, ascending.

        Each distinct label is a grade; of more than `MOST_GRADES` five quantiles are, fewer where labels are
        equal.
        """
        values = np.unique(self.label[self.is_labeled])
        if len(values) > MOST_GRADES:
            cuts = np.quantile(self.label[self.is_labeled], _GRADE_QUANTILES, method="higher")
            cuts = cuts if cuts[-1] > values[0] else values[1:2]  # nearly all labels are the lowest
            values = np.unique(np.append(values[0], cuts))
        return tuple(values[1:].tolist())

    @cached_property
    def grade(self) -> npt.NDArray[np.int8]:
        """Number of thresholds that each label reaches, shape (pair,); −1 for no label."""
        grade = np.searchsorted(self.thresholds, self.label, side="right").astype(np.int8)
        grade[~self.is_labeled] = -1
        grade.flags.writeable = False
        return grade

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that change with the name and every label."""
        digest = hashlib.blake2b(self.name.encode(), digest_size=8)
        digest.update(np.ascontiguousarray(self.label).data)
        return digest.hexdigest()


def add_judges(collection: Collection, judges: Mapping[str, Labels]) -> Collection:
    """Add labels of second judges to a collection.

    No measure counts them. Models with predictors learn from judged documents how much a label is worth
    (:doc:`Labels of second judges </judges>`).

    Parameters
    ----------
    collection : Collection
    judges : mapping of str to Labels
        Labels by name. Those of documents that no run retrieves and nobody judged are ignored.

    Raises
    ------
    InputError
        A judge has the name of another; no label is of a document of the collection; or the labels are the
        judgments themselves, or contain them.

    Warns
    -----
    InputWarning
        All labels of a judge are the same, or some are negative whole numbers, as where the judge failed.

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
        if are_judgments(collection, label):
            raise InputError(
                f"the labels of judge {name!r} are the judgments: the same relevance on the same documents",
                path=labels.path,
                hint="give labels of another judge, such as a language model, and the qrels as qrels alone",
            )
        label = _without_failures(label, labels, name)
        judge = Judge(name, label)
        if (copied := find_copied_labels(collection, judge)) is not None:
            raise InputError(_copy_reason(name, copied), path=labels.path, hint=_WITHOUT_COPIES)
        if not judge.thresholds:
            warn_caller(
                f"{labels.path or name}: all labels of judge {name!r} are the same and say nothing",
                InputWarning,
            )
        added.append(judge)
    return dataclasses.replace(collection, judges=tuple(added))


def _without_failures(label: npt.NDArray[np.float64], labels: Labels, name: str) -> npt.NDArray[np.float64]:
    """Labels without negative ones among whole numbers, which say that the judge gave none."""
    failed = label < 0
    if not failed.any() or (labels.label % 1 != 0).any():  # negative fractions are log odds and the like
        return label
    n_failed = counted(int(failed.sum()), "label")
    warn_caller(f"{labels.path or name}: {n_failed} of judge {name!r} below 0 count as missing", InputWarning)
    return np.where(failed, np.nan, label)


def _copy_reason(name: str, copied: CopiedLabels) -> str:
    """What shows that labels contain the judgments."""
    because = "more than any judge agrees with"
    if not np.isnan(copied.agreement):
        per_cent = round(100 * copied.agreement)
        because = f"but its labels of unjudged ones are those of a judge who agrees on {per_cent} %"
    same = f"{copied.n_same:,} of {copied.n_judged:,} judged documents"
    return f"the labels of judge {name!r} contain judgments: they say the same on {same}, {because}"


def judged_where_labeled(collection: Collection, judge: Judge) -> Collection:
    """Collection in which exactly the documents labeled by a judge are judged, and relevant."""
    relevance = np.where(judge.is_labeled, np.int16(1), np.int16(UNJUDGED))
    return dataclasses.replace(collection, relevance=relevance)


def are_judgments(collection: Collection, label: npt.NDArray[np.float64]) -> bool:
    """Whether labels equal many judgments without exception, and all other labels are negative."""
    labeled, judged = ~np.isnan(label), collection.judged
    same = judged & (np.maximum(label, 0) == collection.relevance)
    other = labeled & np.where(judged, ~same, label >= 0)
    return int(same.sum()) >= _MIN_AGREEMENTS and not other.any()


def find_pairs(
    collection: Collection, query_id: pa.DictionaryArray, doc_id: pa.StringArray
) -> npt.NDArray[np.intp]:
    """Pair codes of documents of topics, shape (line,); −1 for documents outside the collection."""
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
    """Position of the topic of each line, shape (line,); −1 for topics outside the collection."""
    topic_of = {name: t for t, name in enumerate(collection.query_ids)}
    names = query_id.dictionary.to_pylist()
    codes: npt.NDArray[Any] = np.array([topic_of.get(name, -1) for name in names], dtype=np.intp)
    return np.asarray(codes[query_id.indices.to_numpy()])

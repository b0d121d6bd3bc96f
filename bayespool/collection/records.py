"""What a file holds once it is read: a run, a set of judgments, and what was left out of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Skipped:
    """What ``strict=False`` left out of a file, or read otherwise, for one reason.

    Attributes
    ----------
    path : Path
        The file.
    reason : str
        What was done and why. Only the reasons that begin with ``skipped`` lost a line.
    n_lines : int
        How many lines.
    first_line : int
        The first of them, counted from 1: the line that ``strict=True`` names for this reason. A document on
        several lines is counted, and its line given, from its second line on, whichever of them was kept.
    """

    path: Path
    reason: str
    n_lines: int
    first_line: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """Lines of one run, in the order of the file; a ranking only once a `Collection` has ordered them.

    Attributes
    ----------
    run_id : str
        Name of the run.
    query_id : pyarrow.DictionaryArray of int32 -> string, shape (line,)
    doc_id : pyarrow.StringArray, shape (line,)
        Topic and document of each line. No pair of them stands twice.
    score : ndarray of float64, shape (line,)
        Scores as written; never NaN, possibly infinite.
    rank : ndarray of int32, shape (line,), or None
        Ranks as written, None when they were not asked for or are not there.
    path : Path or None
        The file read, None for a run made from a frame.
    skipped : tuple of Skipped
        What ``strict=False`` left out.
    """

    run_id: str
    query_id: pa.DictionaryArray
    doc_id: pa.StringArray
    score: npt.NDArray[np.float64]
    rank: npt.NDArray[np.int32] | None = None
    path: Path | None = None
    skipped: tuple[Skipped, ...] = ()

    def __repr__(self) -> str:
        return f"<Run {self.run_id}: {len(self.doc_id):,} documents, {_topics(self.query_id)}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Qrels:
    """Judgments, in the order of the file.

    Attributes
    ----------
    query_id : pyarrow.DictionaryArray of int32 -> string, shape (line,)
    doc_id : pyarrow.StringArray, shape (line,)
        Topic and document of each judgment. No pair of them stands twice.
    relevance : ndarray of int16, shape (line,)
        Relevance as written; what a negative one means is for `Collection` to say.
    path : Path or None
        The file read, None for judgments made from a frame.
    skipped : tuple of Skipped
        What ``strict=False`` left out.
    """

    query_id: pa.DictionaryArray
    doc_id: pa.StringArray
    relevance: npt.NDArray[np.int16]
    path: Path | None = None
    skipped: tuple[Skipped, ...] = ()

    def __repr__(self) -> str:
        return f"<Qrels: {len(self.doc_id):,} judgments, {_topics(self.query_id)}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labels:
    """Labels of a second judge, in the order of the file.

    Attributes
    ----------
    query_id : pyarrow.DictionaryArray of int32 -> string, shape (line,)
    doc_id : pyarrow.StringArray, shape (line,)
        Topic and document of each label. No pair of them stands twice.
    label : ndarray of float64, shape (line,)
        Labels as written, of any range; never NaN.
    path : Path or None
        The file read, None for labels made from a frame.
    skipped : tuple of Skipped
        What ``strict=False`` left out.
    """

    query_id: pa.DictionaryArray
    doc_id: pa.StringArray
    label: npt.NDArray[np.float64]
    path: Path | None = None
    skipped: tuple[Skipped, ...] = ()

    def __repr__(self) -> str:
        return f"<Labels: {len(self.doc_id):,} documents, {_topics(self.query_id)}>"


def _topics(query_id: pa.DictionaryArray) -> str:
    n = len(query_id.dictionary)
    return f"{n:,} topic{'' if n == 1 else 's'}"

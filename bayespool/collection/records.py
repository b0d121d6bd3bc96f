"""Records of one file each: a run, judgments or labels, and the lines left out of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Skipped:
    """Lines of a file that ``strict=False`` left out or read differently, for one reason.

    Attributes
    ----------
    path : Path
        The file.
    reason : str
        What was done and why. Only reasons that begin with ``skipped`` lost a line.
    n_lines : int
        Number of lines.
    first_line : int
        The first of them, counted from 1, which ``strict=True`` names for this reason. Of a document on
        several lines the second and later ones count, whichever line was kept.
    """

    path: Path
    reason: str
    n_lines: int
    first_line: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """Lines of one run in file order; a `Collection` orders them into a ranking.

    Attributes
    ----------
    run_id : str
        Name of the run.
    query_id : pyarrow.DictionaryArray of int32 -> string, shape (line,)
    doc_id : pyarrow.StringArray, shape (line,)
        Topic and document of each line; each pair occurs once.
    score : ndarray of float64, shape (line,)
        Scores as written; never NaN, possibly infinite.
    rank : ndarray of int32, shape (line,), or None
        Ranks as written; None when they were not requested or are missing.
    path : Path or None
        The file; None for a run made from a frame.
    skipped : tuple of Skipped
        Lines that ``strict=False`` left out.
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
    """Judgments in file order.

    Attributes
    ----------
    query_id : pyarrow.DictionaryArray of int32 -> string, shape (line,)
    doc_id : pyarrow.StringArray, shape (line,)
        Topic and document of each judgment; each pair occurs once.
    relevance : ndarray of int16, shape (line,)
        Relevance as written; `Collection` interprets negative values.
    path : Path or None
        The file; None for judgments made from a frame.
    skipped : tuple of Skipped
        Lines that ``strict=False`` left out.
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
    """Labels of a second judge in file order.

    Attributes
    ----------
    query_id : pyarrow.DictionaryArray of int32 -> string, shape (line,)
    doc_id : pyarrow.StringArray, shape (line,)
        Topic and document of each label; each pair occurs once.
    label : ndarray of float64, shape (line,)
        Labels as written, of any range; never NaN.
    path : Path or None
        The file; None for labels made from a frame.
    skipped : tuple of Skipped
        Lines that ``strict=False`` left out.
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

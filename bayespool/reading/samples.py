"""Judgments published as a random sample, with strata or inclusion probabilities."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from bayespool.arrays import BoolArray, FloatArray, IntArray
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.reading.lines import repeats
from bayespool.reading.records import Qrels, ReadOnlyArrays, Skipped
from bayespool.tables.formatting import counted

_Columns = Sequence[Sequence[bytes]]

_N_COLUMNS = 5
_N_INSPECTED = 100
_LEAST_DISTINCT = 0.8  # share of lines, where a column is of documents
_N_RANKS = 3  # of a topic, that tell ranks from strata
_INTEGER = re.compile(rb"[+-]?[0-9]{1,9}")
_NOT_SAMPLED = -999  # of prels, and below
_CERTAIN_METHODS = (0, 2)  # of prels: chosen for what it tells of runs, and by lot as well
_NO_PROBABILITY = b"NA"
OVER_TOPICS = "all-topics"
"""Second column of a sample whose strata go over all topics."""


@dataclass(frozen=True, eq=False, repr=False)
class Sample(ReadOnlyArrays):
    """Random sample of documents selected for judging.

    Attributes
    ----------
    inclusion : ndarray of float, shape (pair,)
        Probability with which a document of the sample came into it; NaN for all others.
    stratum : ndarray of int32, shape (pair,), or None
        Stratum of each document that could come into it, from 0; −1 for others. None where probabilities are
        all that is known.
    candidates : ndarray of bool, shape (pair,)
        Documents that could come into it.
    as_trec_eval : bool
        Whether it is uniform, for trec_eval's infAP; else for that of sample_eval.
    is_published : bool
        Whether the judgments came with it; a strategy draws it anew otherwise.
    by_topic : bool
        Whether each topic's strata were sampled alone; else strata go over all topics.
    """

    inclusion: FloatArray
    stratum: IntArray | None
    candidates: BoolArray
    as_trec_eval: bool = False
    is_published: bool = True
    by_topic: bool = True

    @property
    def chosen(self) -> BoolArray:
        """Mask of sampled documents, shape (pair,)."""
        return ~np.isnan(self.inclusion)

    def judgment_inclusion(self, judged: BoolArray) -> FloatArray:
        """Return inclusion probabilities of judgments, shape (pair,); 1 if not sampled, NaN if unjudged."""
        return np.where(judged, np.where(self.chosen, self.inclusion, 1.0), np.nan)

    @property
    def fingerprint(self) -> str:
        """Hash in 16 hexadecimal digits over the sample."""
        settings = self.as_trec_eval, self.is_published, *(() if self.by_topic else ("together",))
        digest = hashlib.blake2b(repr(settings).encode(), digest_size=8)
        for part in (self.inclusion, self.candidates, *([] if self.stratum is None else [self.stratum])):
            digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()

    @property
    def rates(self) -> FloatArray:
        """Sampling rate in each document's stratum over all topics, shape (pair,); NaN outside strata.

        Half a document stands for none.
        """
        if self.stratum is None:
            return np.full(len(self.inclusion), np.nan)
        size, n = (np.bincount(self.stratum[m & (self.stratum >= 0)]) for m in (np.bool_(True), self.chosen))
        n = np.pad(n, (0, len(size) - len(n)))
        share = np.maximum(n, 0.5) / np.maximum(size, 1)
        return np.where(self.stratum >= 0, share[self.stratum], np.nan)

    def without(self, documents: BoolArray, pair_topic: IntArray) -> Sample:
        """Return the sample with the given documents removed from it and from the candidates."""
        inclusion = np.where(documents, np.nan, self.inclusion)
        stratum = None if self.stratum is None else np.where(documents, np.int32(-1), self.stratum)
        if stratum is not None and self.is_published:
            chosen = ~np.isnan(inclusion)
            shares = stratum_shares(stratum, chosen, pair_topic * self.by_topic)
            inclusion = np.where(chosen, shares, np.nan)
        return dataclasses.replace(
            self, inclusion=inclusion, stratum=stratum, candidates=self.candidates & ~documents
        )

    def __str__(self) -> str:
        """Return a short description of the sample."""
        n = int(self.chosen.sum())
        if self.stratum is None:
            return f"{counted(n, 'document')} judged with known probabilities"
        n_strata, total = len(np.unique(self.stratum[self.stratum >= 0])), int((self.stratum >= 0).sum())
        strata = "one stratum" if n_strata == 1 else f"{n_strata} strata"
        inside = f" in {strata}" if self.by_topic or n_strata > 1 else ""
        together = "" if self.by_topic else ", sampled over all topics at once"
        return f"{n:,} of {counted(total, 'document')}{inside} judged{together}"


def stratum_shares(stratum: IntArray, chosen: BoolArray, pair_topic: IntArray) -> FloatArray:
    """Return the sampled share in each document's topic and stratum, shape (pair,); NaN outside strata."""
    place = pair_topic.astype(np.int64) * (int(stratum.max(initial=0)) + 1) + stratum
    inside = stratum >= 0
    size, n = (np.bincount(place[mask], minlength=1) for mask in (inside, inside & chosen))
    n = np.pad(n, (0, len(size) - len(n)))
    share = np.full(len(stratum), np.nan)
    share[inside] = n[place[inside]] / size[place[inside]]
    return share


def sample_notes(sample: Sample, qrels: Qrels) -> list[str]:
    """Return what a sample is; of a design also which documents its answers passed over, with a warning.

    A design without any answer is an `InputError`.
    """
    if sample.by_topic or qrels.stratum is None:
        return [f"the judgments are a published sample: {sample}, the others left out at random"]
    is_answered, skipped = qrels.relevance >= 0, list[int]()
    if not is_answered.any():
        hint = "judge its documents from the top, and give the answers, too: --qrels DESIGN --qrels ANSWERS"
        raise InputError("a design without answers: nobody judged a document", path=qrels.path, hint=hint)
    for stratum in np.unique(qrels.stratum):
        of = np.flatnonzero(qrels.stratum == stratum)
        n = len(of) - int(is_answered[of][::-1].argmax()) if is_answered[of].any() else 0
        skipped += of[:n][~is_answered[of[:n]]].tolist()
    notes = [f"the judgments are answers to a design: {sample}"]
    if skipped:
        first = min(skipped)
        text = (
            f"answers passed over {counted(len(skipped), 'document')} of the design, the first "
            f"{qrels.doc_id[first]} of topic {qrels.query_id[first]}: scores by design hold where each "
            "stratum is judged from the top; judge these, too, or take out the answers below them"
        )
        warn_caller(f"{qrels.path or 'design'}: {text}", InputWarning)
        notes.append(text)
    return notes


def sampled_qrels(text: bytes, path: Path, *, strict: bool) -> Qrels | None:
    """Return judgments with strata or inclusion probabilities from a five-column text; None for other texts.

    The columns are ``topic iteration document stratum relevance``, as NIST's sample_eval reads them, the last
    two in either order; the same with a probability for the stratum; or prels, ``topic document relevance
    method probability``, as statAP_MQ_eval reads them.
    """
    first = [fields for line in text.split(b"\n", _N_INSPECTED)[:_N_INSPECTED] if (fields := line.split())]
    if 2 * sum(map(_may_be_sampled, first)) <= len(first):
        return None
    lines = [
        (number, fields) for number, line in enumerate(text.split(b"\n"), start=1) if (fields := line.split())
    ]
    rows = [(number, fields) for number, fields in lines if _may_be_sampled(fields)]
    columns = list(zip(*(fields for _, fields in rows), strict=True))
    order = _column_order(columns, path)
    if order is None:
        return None
    skipped: tuple[Skipped, ...] = ()
    if bad := [number for number, fields in lines if not _may_be_sampled(fields)]:
        reason = f"is not {' '.join(order)}, as most lines are"
        if strict:
            raise InputError(reason, path=path, line=bad[0], hint="mend the line, or take it out")
        skipped = (Skipped(path, "skipped, other columns than most lines", len(bad), bad[0]),)
    named = dict(zip(order, columns, strict=True))
    query_id = pa.array([q.decode() for q in named["topic"]], pa.string()).dictionary_encode()
    doc_id = pa.array([d.decode() for d in named["document"]], pa.string())
    if (again := repeats(query_id, doc_id)).size:
        line = int(again[0])
        reason = f"document {doc_id[line]} is repeated in topic {query_id[line]}"
        raise InputError(reason, path=path, line=rows[line][0], hint="keep one of the lines")
    relevance = np.array([int(r) for r in named["relevance"]], dtype=np.int64)
    probability = stratum = None
    if "stratum" in named:
        stratum = np.array([int(s) for s in named["stratum"]], dtype=np.int32)
    else:
        probability = _probabilities(named)
        relevance = np.where(relevance <= _NOT_SAMPLED, -1, relevance)
    return Qrels(
        query_id=query_id,
        doc_id=doc_id,
        relevance=np.clip(relevance, -(2**15), 2**15 - 1).astype(np.int16),
        path=path,
        skipped=skipped,
        stratum=stratum,
        inclusion=probability,
        over_topics=stratum is not None and set(named["iteration"]) == {OVER_TOPICS.encode()},
    )


def _may_be_sampled(fields: Sequence[bytes]) -> bool:
    """Return whether a line has five columns, the last two of them numbers."""
    return len(fields) == _N_COLUMNS and _is_number(fields[3]) and _is_number(fields[4])


def _is_number(token: bytes) -> bool:
    try:
        return token == _NO_PROBABILITY or -np.inf < float(token) < np.inf
    except ValueError:
        return False


def _column_order(columns: _Columns, path: Path) -> tuple[str, ...] | None:
    """Return the names of five columns, or None for a file of another kind."""
    topic, second, third, fourth, fifth = columns
    whole3, whole4, whole5 = (all(map(_INTEGER.fullmatch, column)) for column in (third, fourth, fifth))
    by_second, by_third = (
        len(set(zip(topic, column, strict=True))) > _LEAST_DISTINCT * len(topic) for column in (second, third)
    )
    has_iteration = by_third and (not by_second or len(set(second)) == 1)
    if whole3 and whole4 and by_second and not has_iteration and _are_probabilities(fifth):
        return "topic", "document", "relevance", "method", "probability"
    if not by_third:
        return None
    start = "topic", "iteration", "document"
    if _are_ranks(topic, second, fourth):
        return None
    if whole4 and whole5:
        return *start, *_strata_and_relevance(fourth, fifth, path)
    if whole4 != whole5 and _are_probabilities(fifth if whole4 else fourth):
        return *start, *(("relevance", "probability") if whole4 else ("probability", "relevance"))
    return None


def _are_probabilities(column: Sequence[bytes]) -> bool:
    values = [float(token) for token in column if token != _NO_PROBABILITY]
    return max(values, default=2.0) <= 1


def _are_ranks(topic: Sequence[bytes], second: Sequence[bytes], column: Sequence[bytes]) -> bool:
    """Return whether a column numbers the lines for each topic, as in a run without a tag."""
    n_lines = Counter(topic)
    if max(n_lines.values()) < _N_RANKS and any(value.upper() != b"Q0" for value in second):
        return False
    last: dict[bytes, int] = {}
    for query_id, value in zip(topic, column, strict=True):
        rank = int(value) if _INTEGER.fullmatch(value) else -1
        if rank < 0 or rank != last.get(query_id, min(rank, 1) - 1) + 1:
            return False
        last[query_id] = rank
    return True


def _strata_and_relevance(fourth: Sequence[bytes], fifth: Sequence[bytes], path: Path) -> tuple[str, str]:
    """Return the names of two integer columns, where relevance −1 marks documents outside the sample."""
    lowest = [min(map(int, set(column))) for column in (fourth, fifth)]
    marks = [low < 0 for low in lowest] if (lowest[0] < 0) != (lowest[1] < 0) else [low < 1 for low in lowest]
    if marks[0] == marks[1]:
        raise InputError(
            "has five columns, and the last two do not tell which is the stratum and which the relevance",
            path=path,
            hint="number strata from 1, and list documents that were not sampled with relevance −1",
        )
    return ("stratum", "relevance") if marks[1] else ("relevance", "stratum")


def _probabilities(named: Mapping[str, Sequence[bytes]]) -> FloatArray:
    """Return inclusion probabilities, NaN if unsampled and 1 if judged with certainty, shape (line,)."""
    given = np.array([np.nan if p == _NO_PROBABILITY else float(p) for p in named["probability"]])
    probability = np.where((given > 0) & (given <= 1), given, np.nan)
    if "method" in named:
        certain = np.isin([int(m) for m in named["method"]], _CERTAIN_METHODS)
        probability = np.where(certain & (given >= 0) & (given <= 1), 1.0, probability)
    return probability

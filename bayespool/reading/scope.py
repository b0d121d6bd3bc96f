"""Selection of topics to score and exclusion of documents from runs and judgments."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.arrays import BoolArray, OrderArray
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.reading.files import read_text
from bayespool.reading.frames import qrels_from_frame
from bayespool.reading.readers import Reading
from bayespool.reading.records import Qrels, Run
from bayespool.reading.sources import Judgments, Runs, gather_qrels, gather_runs, irds_name
from bayespool.tables.formatting import counted, some_of

Lines = TypeVar("Lines", Run, Qrels)
Exclude = str | os.PathLike[str] | Judgments | Mapping[Any, Iterable[Any]] | Sequence[Any]
"""Documents to exclude: ``"query"``, a file, judgments, ``{query_id: [doc_id, …]}``, or a list of paths."""
Topics = str | os.PathLike[str] | Iterable[str]
"""Topics to score: ``"qrels"``, ``"run"``, a file, or a list of topics."""

OWN_DOCUMENT = "query"
_SEPARATOR = "\t"  # in no topic or document of a file
_N_NAMED = 3


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Excluded (topic, document) pairs, and the number of lines removed so far."""

    source: str  # in words
    own: bool = False  # whether a document with the id of its topic is taken out
    pairs: pa.StringArray = field(default_factory=lambda: pa.array([], pa.string()))
    n_lines: dict[type, int] = field(default_factory=lambda: {Run: 0, Qrels: 0})

    def take_out(self, source: Lines) -> Lines:
        """Return the run or judgments without the excluded documents, and count the removed lines."""
        is_excluded = self._are_excluded(source)
        if not is_excluded.any():
            return source
        self.n_lines[type(source)] += int(is_excluded.sum())
        if is_excluded.all():
            raise InputError(
                f"nothing is left of it without the documents of {self.source}",
                path=source.path,
                hint="what is excluded are the documents to leave out, not those to keep",
            )
        return select_lines(source, np.flatnonzero(~is_excluded))

    def _are_excluded(self, source: Run | Qrels) -> BoolArray:
        topics = source.query_id.cast(pa.string())
        is_excluded = np.zeros(len(topics), dtype=bool)
        if self.own:
            is_excluded |= pc.equal(topics, source.doc_id).to_numpy(zero_copy_only=False)
        if len(self.pairs):
            pairs = pc.binary_join_element_wise(topics, source.doc_id, _SEPARATOR)
            is_excluded |= pc.is_in(pairs, value_set=self.pairs).to_numpy(zero_copy_only=False)
        return is_excluded

    @property
    def note(self) -> str:
        """Note on the number of excluded documents."""
        return (
            f"taken out before anything is scored ({self.source}): "
            f"{counted(self.n_lines[Run], 'document')} of runs and {counted(self.n_lines[Qrels], 'judgment')}"
        )

    def warn_if_idle(self) -> None:
        """Warn (`InputWarning`) if no run or judgment contains an excluded document."""
        if not any(self.n_lines.values()):
            warn_caller(f"{self.source}: no run and no judgment has a document to be taken out", InputWarning)


def read_exclusion(source: Exclude | None, *, reading: Reading = Reading()) -> Exclusion | None:
    """Read the documents to exclude; None if there are none.

    Judgments, such as those of an earlier round, stand for all documents that they judge: a relevance of −1
    is none.
    """
    if source is None:
        return None
    is_list = isinstance(source, list | tuple) and all(isinstance(s, str | os.PathLike) for s in source)
    parts = list(source) if is_list else [source]  # type: ignore[arg-type]
    pairs, names = list[pa.StringArray](), list[str]()
    for part in parts:
        if part == OWN_DOCUMENT:
            names.append("documents with the id of their topic")
        else:
            listed = _read_pairs(part, reading)
            text = os.fsdecode(part) if isinstance(part, str | os.PathLike) else "exclude"
            names.append(text if irds_name(part) else Path(text).name)
            topics = listed.query_id.cast(pa.string())
            pairs.append(pc.binary_join_element_wise(topics, listed.doc_id, _SEPARATOR))
    joined = pa.concat_arrays(pairs) if pairs else pa.array([], pa.string())
    return Exclusion(", ".join(names), OWN_DOCUMENT in parts, joined)


def gather_kept_qrels(source: Judgments, exclusion: Exclusion | None, reading: Reading) -> Qrels:
    """Read judgments, without the excluded documents."""
    qrels = gather_qrels(source, reading=reading)
    return qrels if exclusion is None else exclusion.take_out(qrels)


def _read_pairs(source: Any, reading: Reading) -> Qrels:
    """Return the (topic, document) pairs in a two-column file, judgments or a mapping of lists."""
    if isinstance(source, Mapping) and not any(isinstance(value, Mapping) for value in source.values()):
        return _as_qrels((q, document) for q, ids in source.items() for document in ids)
    if isinstance(source, str | os.PathLike) and not irds_name(source):
        lines = read_text(Path(source), max_size=reading.max_file_size).decode().splitlines()
        rows = [line.split() for line in lines]
        if all(len(row) in (0, 2) for row in rows):
            return _as_qrels((row[0], row[1]) for row in rows if row)
    qrels = gather_qrels(source, reading=reading)
    return select_lines(qrels, np.flatnonzero(qrels.relevance != -1))


def _as_qrels(pairs: Iterable[tuple[Any, Any]]) -> Qrels:
    """Return (topic, document) tuples as judgments, without duplicates."""
    documents: dict[Any, dict[Any, int]] = {}
    for query_id, doc_id in pairs:
        documents.setdefault(query_id, {})[doc_id] = 1
    return qrels_from_frame(documents)


def select_lines(source: Lines, lines: OrderArray) -> Lines:
    """Return a run or judgments restricted to the given lines."""
    taken: dict[str, Any] = {}
    for f in dataclasses.fields(source):
        value = getattr(source, f.name)
        if isinstance(value, pa.DictionaryArray):
            taken[f.name] = value.take(pa.array(lines)).cast(pa.string()).dictionary_encode()
        elif isinstance(value, pa.Array | np.ndarray):
            taken[f.name] = value.take(pa.array(lines)) if isinstance(value, pa.Array) else value[lines]
    return dataclasses.replace(source, **taken)


def select_topics(
    qrels: Qrels, topics: Topics, runs: Runs | None, *, reading: Reading = Reading()
) -> tuple[Qrels, str]:
    """Return judgments restricted to the selected topics, and a note on the selection."""
    judged = dict.fromkeys(qrels.query_id.unique().to_pylist())
    if topics == "qrels":
        return qrels, ""
    chosen, source = (
        (_run_topics(runs, judged, reading), "those of the run")
        if topics == "run"
        else _read_topics(topics, reading)
    )
    missing = [q for q in chosen if q not in judged]
    if len(missing) == len(chosen):
        raise InputError(
            f"none of the topics ({source}) is in the qrels: {some_of(missing, _N_NAMED)}",
            path=qrels.path,
            hint="are these the qrels of these topics?",
        )
    if missing:
        warn_caller(
            f"{counted(len(missing), 'topic')} ({source}) not in the qrels, and left out: "
            f"{some_of(missing, _N_NAMED)}",
            InputWarning,
        )
    kept = pc.is_in(qrels.query_id.cast(pa.string()), value_set=pa.array(list(chosen), pa.string()))
    n_topics = len(chosen) - len(missing)
    note = f"{n_topics} of the {counted(len(judged), 'topic')} of the qrels count ({source})"
    return select_lines(qrels, np.flatnonzero(kept.to_numpy(zero_copy_only=False))), note


def _run_topics(runs: Runs | None, judged: Mapping[str, None], reading: Reading) -> dict[str, None]:
    """Return the topics shared by runs and qrels, or raise `InputError` if the runs' topics differ."""
    (read,) = gather_runs(runs, reading=dataclasses.replace(reading, progress=None))
    if not read:
        hint = "name the runs to score, or give the topics in a file"
        raise InputError("the topics of the run, and no run to score", hint=hint)
    topic_sets = [dict.fromkeys(run.query_id.unique().to_pylist()) for run in read]
    for run, run_topics in zip(read, topic_sets, strict=True):
        if other := [q for q in judged if (q in run_topics) != (q in topic_sets[0])]:
            raise InputError(
                f"runs {read[0].run_id!r} and {run.run_id!r} have other topics ({some_of(other, _N_NAMED)}), "
                "so that their means would be over other topics",
                hint="give the topics to compare them on in a file (--reading topics=FILE, topics=[…])",
            )
    if shared := [q for q in topic_sets[0] if q in judged]:
        return dict.fromkeys(shared)
    return topic_sets[0]


def _read_topics(topics: Topics, reading: Reading) -> tuple[dict[str, None], str]:
    """Return the topics in a file (the first word on each line) or a list, and their source in words."""
    if not isinstance(topics, str | os.PathLike):
        return dict.fromkeys(map(str, topics)), "a list"
    lines = read_text(Path(topics), max_size=reading.max_file_size).decode().splitlines()
    return dict.fromkeys(line.split()[0] for line in lines if line.strip()), f"those of {topics}"


@dataclass(frozen=True)
class StrangeTopics:
    """Topics found only in a run or only in the qrels.

    Attributes
    ----------
    run_id : str
    run_topics, qrels_topics : tuple of str
        Topics that the qrels lack, and those that the run lacks.
    hint : str
        What would join them; empty where nothing simple would.
    """

    run_id: str
    run_topics: tuple[str, ...]
    qrels_topics: tuple[str, ...]
    hint: str


def find_strange_topics(run: Run, query_ids: Sequence[str]) -> StrangeTopics | None:
    """Return topics found only in the run and only in the qrels, or None unless there are both."""
    there, known = set(run.query_id.dictionary.to_pylist()), set(query_ids)
    run_topics, qrels_topics = sorted(there - known), [q for q in query_ids if q not in there]
    if not run_topics or not qrels_topics:
        return None
    return StrangeTopics(
        run.run_id, tuple(run_topics), tuple(qrels_topics), join_hint(run_topics, qrels_topics)
    )


def strange_topic_note(strange: Sequence[StrangeTopics], n_runs: int) -> str:
    """Return a note on runs whose topics match the qrels only in part, or ''."""
    if not strange:
        return ""
    most = max(strange, key=lambda each: min(len(each.run_topics), len(each.qrels_topics)))
    others = f", and likewise {len(strange) - 1} of {counted(n_runs, 'run')}" if len(strange) > 1 else ""
    cause = most.hint or "are these runs and judgments of the same topics?"
    extra, lacking = some_of(most.run_topics, _N_NAMED), some_of(most.qrels_topics, _N_NAMED)
    return (
        f"{most.run_id} has {counted(len(most.run_topics), 'topic')} that the qrels lack ({extra}), and "
        f"lacks {counted(len(most.qrels_topics), 'topic')} of theirs ({lacking}), which count as 0{others}; "
        f"{cause}"
    )


def _without_zeros(topic: str) -> str:
    return topic.lstrip("0") or topic[-1:]


def _number(topic: str) -> str:
    """Return a topic id from its first digit to its end."""
    return re.sub(r"^[^0-9]+", "", topic)


_FORMS: Mapping[str, Callable[[str], str]] = {
    "leading zeros": _without_zeros,
    "upper case": str.lower,
    "what is before the number": _number,
    "what is before the number, and leading zeros": lambda topic: _without_zeros(_number(topic)),
}


def join_hint(run_topics: Iterable[str], qrels_topics: Iterable[str]) -> str:
    """Return a hint on the spelling difference that prevents most topics from matching, or ''.

    Examples
    --------
    >>> join_hint(["01", "02", "77"], ["1", "2", "3"])
    '2 topics agree but for leading zeros, such as 01 in the run and 1 in the qrels: write them alike'
    >>> join_hint(["a"], ["b"])
    ''
    """
    best: tuple[int, str, tuple[str, str]] | None = None
    for name, form in _FORMS.items():
        runs, qrels = _by_form(run_topics, form), _by_form(qrels_topics, form)
        if joined := [(runs[text], qrels[text]) for text in runs if text in qrels]:
            best = max(best or (0, "", ("", "")), (len(joined), name, joined[0]), key=lambda each: each[0])
    if best is None:
        return ""
    n, name, (in_run, in_qrels) = best
    return (
        f"{counted(n, 'topic')} {'agrees' if n == 1 else 'agree'} but for {name}, such as {in_run} in the "
        f"run and {in_qrels} in the qrels: write them alike"
    )


def _by_form(topics: Iterable[str], form: Callable[[str], str]) -> dict[str, str]:
    """Return a mapping from normalized to original topic id, without ambiguous ones."""
    together: dict[str, list[str]] = {}
    for topic in topics:
        together.setdefault(form(topic), []).append(topic)
    return {text: each[0] for text, each in together.items() if text and len(each) == 1}

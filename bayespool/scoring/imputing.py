"""Completed qrels for any evaluation tool, from draws of the posterior."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Unpack

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import IndexArray, Progress
from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence.ideals import ideal_reach
from bayespool.measures import Measure, Normalized
from bayespool.measures.parsing import refuse_judgment_measures
from bayespool.names import describe_estimator
from bayespool.notes import Note, noted
from bayespool.posterior import Completion, PosteriorEstimator
from bayespool.posterior.completion import judged_by_topic
from bayespool.reading import Qrels
from bayespool.reading.readers import qrels_content
from bayespool.reading.records import relevance_codes
from bayespool.report.result import Result
from bayespool.scoring.asked import Asked, AskedKeywords
from bayespool.tables.files import PathLike
from bayespool.tables.formatting import counted, number
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Table
from bayespool.validation import check_count


@dataclass(frozen=True, eq=False, repr=False)
class Imputations(Result):
    """Completed qrels from `bayespool.impute`, each based on one posterior draw of the judgments.

    Attributes
    ----------
    completion : Completion
        All draws, from which these are taken.
    measures : tuple of Measure
        Measures that the judgments are completed for.
    draws : tuple of int
        Number of the draw in the completion of each set of qrels.
    judged : mapping of str to mapping of str to int
        Relevance by topic and document of the lines that all sets have.
    completed : ndarray of int, shape (draw, unknown)
        Relevance of the completed documents, in the order of ``completion.unknowns``.
    metadata : dict
        Version, fingerprint, pool and settings, to quote with the files.
    """

    completion: Completion
    measures: tuple[Measure, ...]
    draws: tuple[int, ...]
    judged: Mapping[str, Mapping[str, int]]
    completed: IndexArray
    metadata: Mapping[str, Any]

    command = "impute"
    title = "Completed judgments"

    def __len__(self) -> int:
        return len(self.draws)

    def __repr__(self) -> str:
        completion = repr(self.completion).replace("<", "").replace(">", "")
        return one_line("Imputations", f"{len(self)} of {completion}")

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Ids of the runs whose unjudged documents are completed."""
        return self.completion.unknowns.run_ids

    @property
    def query_ids(self) -> tuple[str, ...]:
        """Topic ids in collection order."""
        return self.completion.unknowns.collection.query_ids

    @property
    def n_judged(self) -> int:
        """Number of judged lines shared by all sets of qrels."""
        return sum(map(len, self.judged.values()))

    @property
    def n_relevant(self) -> float:
        """Mean number of relevant completed documents over the sets of qrels."""
        return float((self.completed > 0).sum(axis=1).mean())

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """File names for the completed qrels."""
        digits = max(2, len(str(len(self))))
        return tuple(f"qrels-{i + 1:0{digits}}.txt" for i in range(len(self)))

    def tables(self) -> tuple[Table, ...]:
        """Return a table with one row per set of completed qrels."""
        columns = {"file": self._names, "draw": self.draws, "n_judged": self.n_judged}
        columns |= {"n_completed": self.completed.shape[1], "n_relevant": (self.completed > 0).sum(axis=1)}
        return (Table("files", "Completed qrels", pd.DataFrame(columns), _COLUMNS),)

    def files(self) -> Mapping[str, bytes]:
        """Return the completed qrels as files ``qrels-01.txt``, ``qrels-02.txt``, …"""
        return {name: qrels_content(self.qrels(i), name) for i, name in enumerate(self._names)}

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the files' contents, with a command that evaluates a run with them."""
        n_completed, runs = self.completed.shape[1], self.run_ids
        sentences = [
            f"{len(self)} completed qrels: {self._names[0]} to {self._names[-1]}",
            f"each has {self.n_judged} judgments as they are, and on average "
            f"{number(n_completed / len(self.query_ids), 1)} completed documents per topic: {n_completed} in "
            f"all, {number(self.n_relevant, 1)} of them relevant",
        ]
        if n_completed:
            sentences.append(
                f"completed: unjudged documents down to rank {self.completion.unknowns.depth} of "
                f"{', '.join(runs) if len(runs) < 4 else f'{len(runs)} runs'}, with relevance "
                f"{_listed(self.completion.levels)}"
            )
        return (
            *sentences,
            f"next, in the folder of the files, for each RUN file: {self.evaluation()}",
            "the mean of what it prints is the estimate, the standard deviation its uncertainty "
            "(bayespool docs impute)",
        )

    def evaluation(self, folder: PathLike = ".", run: str = "RUN") -> str:
        """Return the shell command that evaluates a run file with every set of qrels in ``folder``."""
        place = "" if str(folder) == "." else f"{shlex.quote(str(folder))}/"
        measures = " ".join(shlex.quote(str(measure)) for measure in self.measures)
        return f'for qrels in {place}qrels-*.txt; do ir_measures "$qrels" {shlex.quote(run)} {measures}; done'

    def notes(self) -> tuple[Note, ...]:
        """Return notes on the pool, the posterior draws and the files."""
        unknowns, levels = self.completion.unknowns, self.completion.levels
        notes: list[str] = [*self.metadata["pool_notes"], *self.completion.notes]
        notes += [f"judgments of your own passed over: {p}" for p in self.metadata["passed_over"]]
        if not len(unknowns):
            notes.append("nothing is unjudged: each file has the judgments of the qrels and nothing else")
        qrels_levels = unknowns.collection.levels
        if len(unknowns) and not set(qrels_levels) <= set(levels):
            notes.append(
                f"the qrels have relevance {_listed(qrels_levels)}, completed documents {_listed(levels)}: "
                "these measures tell no more apart; ask for a graded one for the rest"
            )
        for measure in self.measures:
            reach = ideal_reach(unknowns.collection, measure)
            if isinstance(measure, Normalized) and len(self.run_ids) > 1 and len(unknowns):
                notes.append(
                    f"tools make one ideal ranking of {measure} for these runs, score one of each run's own: "
                    "ask score for the shared one (nDCG(ideal='shared')@10), or impute for one run at a time"
                )
            if isinstance(measure, Normalized) and reach < unknowns.depth:
                notes.append(
                    f"the ideal ranking of {measure} has completed documents down to rank {reach}, and the "
                    f"files down to rank {unknowns.depth}: ask for it alone to have what score gives"
                )
        n_completed = np.diff(unknowns.start)
        bare = [q for q, n in zip(self.query_ids, n_completed, strict=True) if not (self.judged[q] or n)]
        if bare:
            notes.append(
                f"no judgment is left and nothing completed on {len(bare)} of "
                f"{counted(len(self.query_ids), 'topic')} ({bare[0]!r} for one), which tools leave out"
            )
        return noted(notes, "files")

    def qrels(self, i: int) -> Qrels:
        """Return one set of completed qrels by its index.

        Parameters
        ----------
        i : int
            From 0.

        Returns
        -------
        Qrels
            By topic, the judgments and then the completed documents in the order of their ids. Unjudged
            documents that are not completed are left out, unless the qrels list them as unjudged.

        Raises
        ------
        InputError
            ``i`` is out of range.
        """
        if not 0 <= i < len(self):
            raise InputError(f"there are no qrels {i}", hint=f"0 to {len(self) - 1}")
        return self.completion.qrels(self.draws[i], self.judged)


_COLUMNS = {
    "file": Column("file", "text", "File of the completed qrels."),
    "draw": Column("draw", "count", "Number of the draw in the completion, from 0."),
    "n_judged": Column("judged", "count", "Judgments that all files have."),
    "n_completed": Column("completed", "count", "Documents with a relevance from the draw."),
    "n_relevant": Column("relevant", "count", "Completed documents that are relevant."),
}


def impute(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | PosteriorEstimator = "posterior-combined",
    draws: int = 20,
    qrels: Qrels | None = None,
    progress: Progress | None = None,
    **asked: Unpack[AskedKeywords],
) -> Imputations:
    """Complete qrels with posterior draws of the missing judgments, for use in any evaluation tool.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        Runs whose unjudged documents are completed. Default: the runs that were not pooled, or with
        ``unpool`` only those named there.
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, …. They say how deep judgments are completed and which levels of
        relevance are distinguished; one completion serves them all.
    estimators : str or PosteriorEstimator, default "posterior-combined"
        The posterior whose draws are written, by name: 'posterior-ratio'.
    draws : int, default 20
        Completed qrels to write: as many draws, spread evenly over those of the posterior. The first of 40
        are the 20 that are written when 20 are asked for.
    qrels : Qrels, optional
        The judgments as they were read, whose lines keep their order and their negative relevances. Default:
        judgments in the order of topics and document ids, with 0 for negative ones.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.
    **asked
        Keywords of every question: `bayespool.Question`.

    Returns
    -------
    Imputations

    Raises
    ------
    InputError
        An estimator without draws of judgments; unknown run, measure or setting; more qrels than draws; a
        measure with the ideal ranking of the judged documents alone, which tools cannot tell from completed
        qrels.

    Warns
    -----
    DiagnosticsWarning
        A check of the draws failed.
    JudgeWarning
        Labels of an LLM judge are not used, or absent on just the unjudged documents.

    Notes
    -----
    Under one measure, the mean and standard deviation over all draws are those of `bayespool.score`; those
    over ``draws`` of them differ by Monte-Carlo error.

    Examples
    --------
    >>> from bayespool import impute, load_example
    >>> imputations = impute(load_example(), "new-b", "P@10", draws=5, estimators="posterior-ratio")
    >>> imputations.qrels(0)
    <Qrels: 1,225 judgments, 20 topics>
    >>> imputations.draws
    (0, 2048, 1024, 3072, 512)
    """
    check_count("draws", draws, least=2)
    question = Asked(collection, run_ids, measures, estimators=estimators, **asked)
    parsed, estimator = question.asked_measures, question.sole_posterior
    refuse_judgment_measures(parsed)
    if draws > (n_available := estimator.draws * estimator.chains):
        raise InputError(
            f"{draws} completed qrels out of {n_available} draws",
            hint=f"ask for more, as in {estimator.name}(draws={-(-draws // estimator.chains)})",
        )
    for measure in parsed:
        if isinstance(measure, Normalized) and measure.ideal == "judged":
            raise InputError(
                f"{measure}: tools make the ideal ranking of all documents of the qrels, completed ones too",
                hint="leave ideal='judged' out",
            )
    targets = question.resolve((estimator,), estimand=estimator.estimand)
    if progress is not None:
        progress(f"completing: {estimator.name}")
    estimator = dataclasses.replace(estimator, joint=True)
    completion = estimator.complete(targets.collection, targets.run_ids, parsed)
    numbers = spread_draws(completion.n_draws, draws)
    return Imputations(
        completion=completion,
        measures=parsed,
        draws=numbers,
        judged=_lines(completion, qrels),
        completed=_completed(completion, numbers),
        metadata={
            "bayespool": __version__,
            "estimand": estimator.estimand,
            "runs": list(targets.run_ids),
            "measures": [str(measure) for measure in parsed],
            "estimator": describe_estimator(estimator),
            "weights": dict(completion.weights),
            "levels": list(completion.levels),
            "depth": completion.unknowns.depth,
            "n_completed": len(completion.unknowns),
            "draws": list(numbers),
            **targets.metadata,
        },
    )


def spread_draws(n_draws: int, n_taken: int) -> tuple[int, ...]:
    """Return the indices of ``n_taken`` evenly spread draws (van der Corput). A smaller number gives the
    first of these.

    Examples
    --------
    >>> spread_draws(1000, 6)
    (0, 512, 256, 768, 128, 640)
    """
    rest = np.arange(1 << max(1, (n_draws - 1).bit_length()))
    mirrored, n_left = np.zeros_like(rest), len(rest)
    while n_left > 1:
        mirrored, rest, n_left = 2 * mirrored + rest % 2, rest // 2, n_left // 2
    return tuple(mirrored[mirrored < n_draws][:n_taken].tolist())


def _completed(completion: Completion, draws: tuple[int, ...]) -> IndexArray:
    """Return the relevance of the completed documents in selected draws, shape (draw, unknown)."""
    unknowns, levels = completion.unknowns, np.array(completion.levels)
    completed = np.zeros((len(draws), len(unknowns)), dtype=np.int64)
    for t in np.flatnonzero(np.diff(unknowns.start)).tolist():
        completed[:, unknowns.on_topic(t)] = levels[completion.block(t, np.array(draws))]
    return completed


def _lines(completion: Completion, qrels: Qrels | None) -> dict[str, dict[str, int]]:
    """Return the relevance of judged and listed documents by topic and document, as in ``qrels``."""
    unknowns, collection = completion.unknowns, completion.unknowns.collection
    judged = judged_by_topic(collection)
    if qrels is None:
        return judged
    completed = {query_id: set(unknowns.doc_ids(t)) for t, query_id in enumerate(collection.query_ids)}
    codes, _ = relevance_codes(qrels.relevance, collection.negatives.meaning)
    lines: dict[str, dict[str, int]] = {}
    columns: list[list[Any]] = [qrels.query_id.to_pylist(), qrels.doc_id.to_pylist()]
    for query_id, doc_id, value, code in zip(*columns, qrels.relevance.tolist(), codes.tolist(), strict=True):
        topic_lines = lines.setdefault(query_id, {})
        judged_value = judged.get(query_id, {}).pop(doc_id, None)
        if judged_value is not None:
            topic_lines[doc_id] = value if code == judged_value else judged_value
        elif code < 0 and doc_id not in completed.get(query_id, ()):
            topic_lines[doc_id] = value
    for query_id, added in judged.items():
        lines.setdefault(query_id, {}).update(added)
    return lines


def _listed(levels: Iterable[int]) -> str:
    """Return relevance levels as comma-separated text."""
    return ", ".join(map(str, levels))

"""Documents to judge as lists for assessors, and candidate pools side by side."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.evidence.ideals import n_relevant_documents
from bayespool.notes import Note
from bayespool.pooling import (
    STRATEGIES,
    Contributions,
    PoolReport,
    PoolSelection,
    count_contributions,
    describe_pool,
    estimated_recall,
    restrict_judgments,
    selection_frame,
    selection_qrels,
)
from bayespool.pooling.candidates import CandidatePool, candidate_pools
from bayespool.pooling.registry import stopping_text, strategy_text
from bayespool.reading import Qrels
from bayespool.reading.readers import qrels_content
from bayespool.report.result import Result
from bayespool.tables.citations import Citation, cite
from bayespool.tables.formatting import counted, percent
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Table, View

_N_DEPTHS = 3  # the best ones


@dataclass(frozen=True, eq=False, repr=False)
class CandidatePools(Result):
    """Candidate pools for a collection, including the one in use.

    Attributes
    ----------
    collection : Collection
        With the pool that was found or stated.

    Examples
    --------
    >>> from bayespool import load_example
    >>> pools = CandidatePools(load_example())
    >>> columns = ["depth", "holes", "n_runs", "explained", "n_holes", "relevant", "is_taken"]
    >>> print(pools.to_frame()[columns].tail(2).round(2).to_string(index=False))
     depth  holes  n_runs  explained  n_holes  relevant  is_taken
        10    0.0      21        1.0        0      0.10      True
        10    0.1      22        1.0       18      0.09     False
    """

    collection: Collection

    command = "pool"
    title = "Pools that may have been"

    def __repr__(self) -> str:
        return one_line(type(self).__name__, str(self.report))

    @cached_property
    def report(self) -> PoolReport:
        """Summary of the pool in use."""
        return describe_pool(self.collection)

    @cached_property
    def pools(self) -> tuple[CandidatePool, ...]:
        """Candidate pools with the best depths, deepest first, each group of runs once."""
        given = set(self.collection.given_run_ids) - set(self.collection.pooled_run_ids)
        index = self.collection.run_index([run for run in self.collection.run_ids if run not in given])
        best = candidate_pools(self.collection, index)
        taken = [self.collection.pool_depth] * bool(self.collection.pooled.any())
        depths = list(dict.fromkeys([*taken, *(pool.depth for pool in best)]))[:_N_DEPTHS]
        pools = [p for d in depths for p in candidate_pools(self.collection, index, depth=d)]
        return tuple(sorted(pools, key=lambda pool: (-pool.depth, len(pool.runs))))

    @cached_property
    def held_out(self) -> tuple[tuple[int, float], ...]:
        """Number of held-out documents in each candidate pool and their share of relevant ones."""
        return tuple(pool.held_out(self.collection) for pool in self.pools)

    @property
    def metadata(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Metadata with version, fingerprint and the pool in use."""
        return {
            "bayespool": __version__,
            "fingerprint": self.collection.fingerprint,
            "pool": str(self.report),
            "settings": {"describe": True},
        }

    def tables(self) -> tuple[Table, ...]:
        """Return a table with one row per candidate pool."""
        pooled = tuple(np.flatnonzero(self.collection.pooled).tolist())
        n_judged, rows = max(self.report.n_judged, 1), []
        for pool, (n_held_out, relevant) in zip(self.pools, self.held_out, strict=True):
            is_taken = (pool.depth, pool.runs) == (self.collection.pool_depth, pooled)
            explained = pool.n_explained / n_judged
            shown = (pool.depth, pool.share, len(pool.runs), explained, pool.n_holes)
            rows.append((*shown, n_held_out, relevant, is_taken))
        return (Table("pools", _VIEW.title, pd.DataFrame(rows, columns=list(_COLUMNS)), _COLUMNS, (_VIEW,)),)

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the pool in use and on how much the evidence depends on this choice."""
        known = [share for _, share in self.held_out if not np.isnan(share)]
        sentences = [str(self.report)]
        if known:
            sentences.append(
                "estimates rest on documents that only one organization brought: of these "
                f"{percent(min(known))} to {percent(max(known))} are relevant in "
                f"{counted(len(self.pools), 'candidate pool')}"
            )
        return tuple(sentences)

    def notes(self) -> tuple[Note, ...]:
        """Return the pool's warning and a note on a pool that explains nearly as many judgments, if any."""
        notes = [Note("pool-in-doubt", self.report.warning_text)] * bool(self.report.doubts)
        other = [Note("another-pool", f"nearly as good: {self.report.alternative}")]
        return (*notes, *other * bool(self.report.alternative))


_COLUMNS = {
    "depth": Column("depth", "count", "Rank down to which the documents of each run were judged."),
    "holes": Column("holes", "share", "Share of a run's documents that may be unjudged (max_holes)."),
    "n_runs": Column("runs", "count", "Runs that keep to that."),
    "explained": Column("judgments\nexplained", "share", "Share of the judgments that these runs brought."),
    "n_holes": Column("unjudged", "count", "Documents of these runs down to the depth without a judgment."),
    "n_held_out": Column(
        "held\nout", "count", "Judged documents that only one organization brought: what estimates rest on."
    ),
    "relevant": Column("of them\nrelevant", "share", "Share of these that is relevant."),
    "is_taken": Column("taken", "flag", "Whether this is the pool of the collection."),
}
_VIEW = View(
    title="Pools that may have been",
    names=("depth", "holes"),
    columns=tuple(list(_COLUMNS)[2:]),
    note="By default the pool is taken that explains most judgments, less three for each unjudged document.",
)


class ListForAssessors(Result):
    """Base class for lists of documents to judge, which can be saved in qrels format. Files without ending,
    or in .txt, .qrels or .gz, have that format.
    """

    formats: ClassVar[tuple[str, ...]] = (".txt", ".qrels", ".gz", "")

    @abstractmethod
    def qrels(self) -> Qrels:
        """Return documents as qrels in judging order, with relevance −1 if unjudged."""

    def to_format(self, suffix: str) -> bytes | str:
        """Return the list in qrels format, compressed for ``.gz``."""
        return qrels_content(self.qrels(), f"list{suffix}")


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsToJudge(ListForAssessors):
    """Documents chosen by a pooling strategy, with the organizations that contributed them.

    Attributes
    ----------
    collection : Collection
        The runs, with the judgments that there are.
    chosen : PoolSelection
        Made by `bayespool.pooling.choose`.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling import choose
    >>> example = load_example()
    >>> documents = DocumentsToJudge(example, choose(example, "take", 200))
    >>> documents
    <DocumentsToJudge: 200 documents of 20 topics by take>
    >>> print(documents.sentences()[1])
    judged already: 200, 97 of them relevant; to judge: 0
    """

    collection: Collection
    chosen: PoolSelection

    command = "pool"
    title = "Documents to judge"

    def __len__(self) -> int:
        return len(self.chosen)

    def __repr__(self) -> str:
        n_topics = len(self.collection.query_ids)
        text = f"{counted(len(self), 'document')} of {counted(n_topics, 'topic')} by {self.strategy}"
        return one_line(type(self).__name__, text)

    @property
    def strategy(self) -> str:
        """Name of the strategy, with non-default settings."""
        return strategy_text(self.chosen.plan.strategy)

    @cached_property
    def contributions(self) -> Contributions:
        """Numbers of documents contributed by each organization."""
        return count_contributions(self.collection, self.chosen)

    @property
    def metadata(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Metadata with version, fingerprint and settings."""
        return {
            "bayespool": __version__,
            "fingerprint": self.collection.fingerprint,
            "settings": self.chosen.plan.describe(),
        }

    def qrels(self) -> Qrels:
        """Return documents as qrels, topic by topic in judging order, with existing judgments."""
        return selection_qrels(self.collection, self.chosen)

    def tables(self) -> tuple[Table, ...]:
        """Return tables with the documents (and ``relevance`` if judged) and with their contributors."""
        frame = selection_frame(self.collection, self.chosen, relevance=bool(self.collection.judged.any()))
        documents = Table("documents", "Documents to judge", frame, _DOCUMENTS)
        stopped = (self._topics(),) if self.chosen.plan.stop is not None else ()
        return (documents, self._contributors(), *stopped)

    def _topics(self) -> Table:
        """Return a table of judgments per topic up to the end set by the stopping rule or the budget."""
        rows = []
        for topic, query_id in enumerate(self.collection.query_ids):
            pair = self.chosen.pair[self.chosen.start[topic] : self.chosen.start[topic + 1]]
            relevant = self.collection.relevance[pair] >= self.chosen.plan.rel
            n_there, is_known = int(self.chosen.n_documents[topic]), self.collection.judged[pair].all()
            recall = estimated_recall(relevant, n_there)[-1] if len(pair) and is_known else float("nan")
            rows.append((query_id, n_there, len(pair), int(relevant.sum()), recall))
        columns = ["query_id", "n_there", "n_documents", "n_relevant", "estimated_recall"]
        frame = pd.DataFrame(rows, columns=columns)
        view = View(title="Where topics ended", names=("query_id",), columns=tuple(columns[1:]))
        return Table("topics", view.title, frame, _TOPICS, (view,))

    def _contributors(self) -> Table:
        """Return a table of contributions per organization, or per run if each organization has one run."""
        who = self.contributions
        alone = bool((who.n_runs == 1).all())
        frame = pd.DataFrame(
            {
                **({"run_id": who.names} if alone else {"organization": who.names, "n_runs": who.n_runs}),
                "n_documents": who.n_documents,
                "share": who.n_documents / max(len(self), 1),
                "n_alone": who.n_alone,
            }
        )
        name, *others = map(str, frame)
        view = View(title="Who contributed the documents", names=(name,), columns=tuple(others))
        return Table("contributions", view.title, frame, _CONTRIBUTIONS, (view,))

    def notes(self) -> tuple[Note, ...]:
        """Return a note on the stopping rule, or on a budget larger than the number of documents."""
        stop, budget = self.chosen.plan.stop, self.chosen.plan.budget
        if stop is not None:
            of = "" if budget is None else f"; the budget was {budget}"
            return (Note("design", f"topics end by {stopping_text(stop)}{of}"),)
        is_short = bool(budget) and len(self) < (budget or 0)
        return (Note("design", f"there are no more; the budget was {budget}"),) * is_short

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the numbers of chosen and of judged documents."""
        counts = self.contributions.n_of_topic
        least, most = int(counts.min()), int(counts.max())
        each = f"{least} each" if least == most else f"from {least} to {most} each"
        sentences = [
            f"{self.strategy}: {counted(len(self), 'document')} of {counted(len(counts), 'topic')}, {each}"
        ]
        judged = restrict_judgments(self.collection, self.chosen)
        if n_judged := int(judged.judged.sum()):
            n_relevant = n_relevant_documents(judged, self.chosen.plan.rel)
            sentences.append(
                f"judged already: {n_judged}, {n_relevant} of them relevant; to judge: {len(self) - n_judged}"
            )
        return tuple(sentences)

    def citations(self) -> tuple[Citation, ...]:
        """Return citations for the strategy and bayespool itself."""
        return cite(["bayespool", *STRATEGIES[self.chosen.plan.strategy.name].citations])


_DOCUMENTS = {
    "order": Column("order", "count", "Place in the order of judging of the topic, from 1."),
    "inclusion": Column(
        "inclusion", "chance", "Probability that the list has the document; 1 where nothing is sampled.", 4
    ),
    "relevance": Column("relevance", "count", "Relevance in the judgments; empty where nobody judged."),
}
_CONTRIBUTIONS = {
    "n_runs": Column("runs", "count", "Runs that contribute."),
    "n_documents": Column("documents", "count", "Documents of the list that these runs retrieve."),
    "share": Column("of all", "share", "Share of the list that these runs retrieve."),
    "n_alone": Column("nobody\nelse has", "count", "Documents of the list that nobody else retrieves."),
}
_TOPICS = {
    "n_there": Column("retrieved", "count", "Documents of the topic that could be judged."),
    "n_documents": Column("documents", "count", "Documents of the list."),
    "n_relevant": Column("relevant", "count", "Relevant ones among them."),
    "estimated_recall": Column(
        "estimated\nrecall",
        "share",
        "Relevant documents found, of these and those expected among the rest if they yield what the last 50 "
        "did; empty where documents are unjudged, before 50, and without a relevant one.",
    ),
}

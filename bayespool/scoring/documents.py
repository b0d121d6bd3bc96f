"""Documents to judge, as tables and as lists that assessors fill in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bayespool import __version__
from bayespool.collection import Collection, Qrels
from bayespool.collection.writers import qrels_content
from bayespool.evidence.ideals import n_relevant_documents
from bayespool.pooling import (
    STRATEGIES,
    Chosen,
    Contributions,
    choice_frame,
    contributions_of,
    estimated_recall,
    judged_by,
    qrels_of_choice,
)
from bayespool.pooling.registry import strategy_text
from bayespool.pooling.stopping import stopping_text
from bayespool.report.result import Result
from bayespool.tables.citations import Citation, cite
from bayespool.tables.columns import Column
from bayespool.tables.formatting import counted
from bayespool.tables.markup import one_line
from bayespool.tables.table import Table, View


class ListForAssessors(Result):
    """Documents to judge; a file without ending, or in .txt, .qrels or .gz, is a list in qrels format."""

    formats = (".txt", ".qrels", ".gz", "")

    @abstractmethod
    def qrels(self) -> Qrels:
        """Documents in the order of judging, with relevance −1 where nobody judged."""

    def in_format(self, suffix: str) -> bytes:
        """List in qrels format, compressed for ``.gz``."""
        return qrels_content(self.qrels(), f"list{suffix}")


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsToJudge(ListForAssessors):
    """Documents that a pooling strategy chooses, and who contributed them.

    Attributes
    ----------
    collection : Collection
        The runs, with the judgments that there are.
    chosen : Chosen
        Made by `bayespool.pooling.choose`.
    settings : mapping of str to object
        Arguments of `choose`, such as ``depth`` and ``rel``.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling import choose
    >>> example = load_example()
    >>> documents = DocumentsToJudge(example, choose(example, "take", 200), {})
    >>> documents
    <DocumentsToJudge: 200 documents of 20 topics by take>
    >>> print(documents.summary()[1])
    judged already: 200, 97 of them relevant; to judge: 0
    """

    collection: Collection
    chosen: Chosen
    settings: Mapping[str, Any]

    command = "pool"
    title = "Documents to judge"

    def __len__(self) -> int:
        return len(self.chosen)

    def __repr__(self) -> str:
        n_topics = len(self.collection.query_ids)
        return one_line(
            type(self).__name__,
            f"{counted(len(self), 'document')} of {counted(n_topics, 'topic')} by {self.strategy}",
        )

    @property
    def strategy(self) -> str:
        """The strategy, with settings that differ from their defaults."""
        return strategy_text(self.chosen.strategy)

    @cached_property
    def contributions(self) -> Contributions:
        """Documents that each organization contributed."""
        return contributions_of(self.collection, self.chosen, depth=self.settings.get("depth"))

    @property
    def metadata(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Version, fingerprint and settings."""
        return {
            "bayespool": __version__,
            "fingerprint": self.collection.fingerprint,
            "settings": {**self.settings, "strategy": self.strategy},
        }

    def qrels(self) -> Qrels:
        """Documents topic by topic in the order of judging, with the judgments that there are."""
        return qrels_of_choice(self.collection, self.chosen)

    def tables(self) -> tuple[Table, ...]:
        """The documents, with ``relevance`` where there are judgments; who contributed them."""
        frame = choice_frame(self.collection, self.chosen, relevance=bool(self.collection.judged.any()))
        documents = Table("documents", "Documents to judge", frame, _DOCUMENTS)
        stopped = (self._topics(),) if self.chosen.stop is not None else ()
        return (documents, self._contributors(), *stopped)

    def _topics(self) -> Table:
        """Judgments of each topic by the time that the stopping rule, or the budget, ended it."""
        import pandas as pd

        rows = []
        for topic, query_id in enumerate(self.collection.query_ids):
            pair = self.chosen.pair[self.chosen.start[topic] : self.chosen.start[topic + 1]]
            relevant = self.collection.relevance[pair] >= self.settings.get("rel", 1)
            n_there, is_known = int(self.chosen.n_documents[topic]), self.collection.judged[pair].all()
            recall = estimated_recall(relevant, n_there)[-1] if len(pair) and is_known else float("nan")
            rows.append((query_id, n_there, len(pair), int(relevant.sum()), recall))
        columns = ["query_id", "n_there", "n_documents", "n_relevant", "estimated_recall"]
        frame = pd.DataFrame(rows, columns=columns)
        view = View(title="Where topics ended", names=("query_id",), columns=tuple(columns[1:]))
        return Table("topics", view.title, frame, _TOPICS, (view,))

    def _contributors(self) -> Table:
        """Contributions of organizations, or of runs where each is of its own."""
        import pandas as pd

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

    def notes(self) -> tuple[str, ...]:
        """What ended topics; whether the runs have fewer documents than the budget."""
        stop, budget = self.chosen.stop, self.chosen.budget
        if stop is not None:
            of = "" if budget is None else f"; the budget was {budget}"
            return (f"topics end by {stopping_text(stop)}{of}",)
        return (f"there are no more; the budget was {budget}",) if budget and len(self) < budget else ()

    def summary(self) -> tuple[str, ...]:
        """Numbers of documents, and of those that are judged."""
        of_topic = self.contributions.n_of_topic
        least, most = int(of_topic.min()), int(of_topic.max())
        each = f"{least} each" if least == most else f"from {least} to {most} each"
        sentences = [
            f"{self.strategy}: {counted(len(self), 'document')} of {counted(len(of_topic), 'topic')}, {each}"
        ]
        judged = judged_by(self.collection, self.chosen)
        if n_judged := int(judged.judged.sum()):
            n_relevant = n_relevant_documents(judged, self.settings.get("rel", 1))
            sentences.append(
                f"judged already: {n_judged}, {n_relevant} of them relevant; to judge: {len(self) - n_judged}"
            )
        return tuple(sentences)

    def citations(self) -> tuple[Citation, ...]:
        """What to cite for the strategy, and bayespool itself."""
        return cite(["bayespool", *STRATEGIES[self.chosen.strategy.name].citations])


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

"""The `Collection` class: runs leave its pool, judgments and attributes are added."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from bayespool.arrays import AnyArray
from bayespool.collection.attributes import NO_ATTRIBUTES, Attributes, Of, Table, gather_attributes
from bayespool.collection.contents import AnyCollection, Contents
from bayespool.collection.document_columns import gather_document_columns
from bayespool.collection.own import (
    attach_own_judgments,
    leave_pool,
    refuse_contradictions,
    set_own_judgments,
)
from bayespool.collection.rankings import most_tied
from bayespool.errors import InputError, NoCollectionError, did_you_mean, some
from bayespool.notes import Note
from bayespool.reading.readers import Reading, read_systems
from bayespool.reading.records import Qrels


class Collection(Contents):
    """Test collection with its topics, runs and relevance judgments.

    Made by `build_collection` or `bayespool.read_collection`. It is immutable and its arrays are read-only;
    `unpool` and `truncate_pool` return another collection that shares the rankings.

    Attributes
    ----------
    run_ids : tuple of str
        Names of the runs, pooled or not, sorted, in the order of axis ``run``.
    query_ids : tuple of str
        Topics of the qrels, numeric ones in numeric order; every mean is over all of them.
    document : ndarray of int32, shape (run, topic, rank), or Rankings
        Pair codes from the first rank down, −1 after the end of the run. `Rankings` are indexed alike and
        replace a dense array that would be large and less than half full.
    relevance : ndarray of int16, shape (pair,)
        Judged relevance, 0 or more; for unjudged documents `LISTED` if the qrels list them as being in the
        pool (−1 in the file), `NEVER_JUDGED` in experiments if the truth does not judge them either, else
        `UNJUDGED`.
    pair_topic : ndarray of int32, shape (pair,)
        Topic of a pair, ascending.
    doc_ids : pyarrow.StringArray, shape (pair,)
        Document id of a pair, in byte order within a topic.
    organizations : tuple of str
        Names of the organizations.
    organization : ndarray of int32, shape (run,)
        Index into `organizations` for each run.
    pooled : ndarray of bool, shape (run,)
        Whether a run contributed to the pool.
    pool : Pool
        Rule by which contributing runs determine the judged documents, such as a depth per run.
    attributed_run : ndarray of int32, shape (pair,)
        Run to which a judgment added by `add_judgments` is attributed; −1 for all others.
    negatives : Negatives
        Negative judgments of the qrels file and their meaning.
    given_run_ids : tuple of str
        Runs to score, in the order of the user; empty if they were not distinguished.
    user_organization : int
        Index of the user's own organization, that of runs to score which no list of organizations names;
        −1 if there is no such run.
    score : ndarray of float32, shape (run, topic, rank), or Rankings, or None
        Scores of the documents in `document`, in single precision, NaN after the end of the run. They need
        not descend if runs are ordered by rank. None if they were not kept.
    judges : tuple of Judge
        LLM judges and their labels.
    own : OwnJudgments or None
        The user's own judgments, active or not (`add_judgments`).
    scope_notes : tuple of str
        Which topics count, and which documents were taken out, where not all are as in the files.
    sample : Sample or None
        The published sample that the judgments are.
    rank_conflicts : tuple of RankConflict
        Runs that are ordered by score and whose ranks say otherwise, the one that differs most at the top
        first.
    order : {"score", "single-precision", "rank"}
        What orders the rankings (`build_collection`).
    ties : tuple of Ties
        Where documents tie in that order; runs without a tie are left out.
    strange_topics : tuple of StrangeTopics
        Runs with topics that the qrels lack, and without some that they have.
    unranked : tuple of str
        Runs to score that scores order, since they have no ranks, where ranks order the others.
    formerly_pooled_run_ids : tuple of str
        Runs that were taken out of the pool (`unpool`).
    copied_runs : tuple of (str, str)
        Runs to score that rank as a run of the pool, each with that run, as which it counts.
    runs, topics : Attributes
        Columns of attributes of runs, such as a type, and of topics, which formulas of models may name.
    documents : tuple of DocumentColumns
        Columns of numbers of documents, which formulas of models may name, too.
    memo : Memo
        What was derived from the collection.
    """

    def with_attributes(self, runs: Table = None, topics: Table = None, documents: Table = None) -> Self:
        """Return the collection with columns of runs, topics or documents.

        Parameters
        ----------
        runs, topics : path or several, data frame, rows, or mapping of str to mapping, optional
            A table with a row for each run (``run_id``) or topic (``query_id``), or their values by id and
            column. Texts are levels, and numbers are numbers.
        documents : path or several, data frame or rows, optional
            A table of numbers with a row for each document (``doc_id``), or topic and document.

        Examples
        --------
        >>> from bayespool import load_example
        >>> lengths = {topic: {"length": len(topic)} for topic in load_example().query_ids}
        >>> load_example().with_attributes(topics=lengths).topics.columns["length"]["701"]
        '3'
        """
        of_runs = gather_attributes(runs, "run", organization=("organization",))
        if isinstance(runs, Mapping) and runs and not of_runs:
            raise InputError("runs without columns", hint='write {"run": {"column": value}}')
        return with_attributes(self, of_runs, topics, documents)

    def add_judgments(self, qrels: Qrels) -> Self:
        """Add user judgments on unjudged documents.

        They count in every measure, and models learn from them: each is attributed to the run outside the
        pool that ranks its document best, as a pooled document is to a pooled run. Where such runs lack more
        than a tenth of the documents, other runs brought them, and models do not learn from any. A judgment
        of a document that the qrels judge comes into use once that judgment goes because runs leave the pool
        (`unpool`, `truncate_pool`), so that the order of the two steps does not matter.

        Parameters
        ----------
        qrels : Qrels
            Judgments of any documents. One that no run retrieves counts as in the qrels, in ideal rankings
            and numbers of relevant documents. Topics that the collection lacks are ignored with a warning. A
            negative relevance has the meaning that it has in the collection's qrels.

        Raises
        ------
        InputError
            A document has another relevance already; no line is a judgment, or none is of a topic of the
            collection.

        Warns
        -----
        InputWarning
            Judgments of topics that the collection does not have, with their number and the first of them;
            or no judgment is of a document that a run retrieves.
        """
        collection = self.attach_judgments(qrels)
        refuse_contradictions(collection)
        return collection

    def attach_judgments(self, qrels: Qrels) -> Self:
        """Add user judgments (`add_judgments`) without checking for contradictions with the qrels."""
        return attach_own_judgments(self, qrels)

    def with_own_judgments(self, pair: AnyArray, relevance: AnyArray) -> Self:
        """Add user judgments given as arrays of pair codes and relevance.

        Parameters
        ----------
        pair : ndarray of int, shape (document,)
            Pair codes, each once.
        relevance : ndarray of int, shape (document,)
            Relevance, 0 or more.
        """
        return set_own_judgments(self, pair, relevance)

    def unpool(self, run_ids: str | Iterable[str] | None = None, *, organization: str | None = None) -> Self:
        """Return the collection as it would be judged if the given runs or organization had not been pooled.

        A judgment goes if its document is not in the pool of the remaining runs. Judgments that no pooled run
        explains stay, and so do the user's own, including those that the qrels' judgments kept out of use.
        The runs keep their rankings, and `run_depths` still gives their former depth. A pool of a fixed
        budget takes other documents instead, with their judgments as far as these are known.

        Parameters
        ----------
        run_ids : str or iterable of str, optional
            Runs to take out of the pool. Unpooled runs change nothing.
        organization : str, optional
            Take out all runs of this organization instead.

        Raises
        ------
        InputError
            Unknown run or organization, or not exactly one of the two given.

        Examples
        --------
        >>> from bayespool import load_example
        >>> example = load_example()
        >>> smaller = example.unpool(organization="north")
        >>> int((example.relevance >= 0).sum()) > int((smaller.relevance >= 0).sum())
        True
        """
        if (run_ids is None) == (organization is None):
            raise InputError("unpool takes run ids or an organization, one of the two")
        if organization is not None:
            if organization not in self.organizations:
                question = did_you_mean(organization, self.organizations)
                raise InputError(
                    f"no organization {organization!r}",
                    hint=f"{question} known: {some(self.organizations)}".lstrip(),
                )
            removed = self.organization == self.organizations.index(organization)
        else:
            removed = np.zeros(len(self.run_ids), dtype=bool)
            removed[self.run_index(run_ids)] = True
        return leave_pool(self, removed)

    def truncate_pool(self, depth: int) -> Self:
        """Return the collection as it would be judged if runs had been pooled to rank ``depth`` only.

        The user's own judgments stay, as in `unpool`. Runs that were pooled less deep keep their depth. A
        depth that is not between 1 and that of the deepest pooled run is an `InputError`.
        """
        return leave_pool(self, np.zeros(len(self.run_ids), dtype=bool), depth)


def expect_collection(collection: object) -> None:
    """Raise `NoCollectionError` unless the argument is a `Collection`."""
    if not isinstance(collection, Collection):
        hint = "make one of runs and judgments first: read_collection(qrels, runs, pool=…)"
        raise NoCollectionError(f"a {type(collection).__name__} where a Collection is expected", hint=hint)


Systems = tuple[tuple[str, str], ...]


def parse_systems(given: str | os.PathLike[str] | Mapping[str, str] | None) -> Systems:
    """Return (run id, system) tuples from a CSV file or a mapping; empty for None."""
    if given is None:
        return ()
    systems = given if isinstance(given, Mapping) else read_systems(given)
    return tuple((str(run_id), str(system)) for run_id, system in systems.items())


def group_systems(collection: Collection, systems: Systems) -> Collection:
    """Return the collection with the runs from each system in one organization.

    This is the organization of the system's first listed run.
    They are held out, and leave the pool, together.

    Raises
    ------
    InputError
        No run that is listed is in the collection.
    """
    present = set(collection.run_ids)
    known = [(run_id, system) for run_id, system in systems if run_id in present]
    if systems and not known:
        raise InputError("no run of the list of systems is in the collection", hint="are these its run ids?")
    organization = collection.organization.copy()
    first: dict[str, int] = {}
    for (_, system), run in zip(known, collection.run_index([run_id for run_id, _ in known]), strict=True):
        organization[run] = first.setdefault(system, int(organization[run]))
    return dataclasses.replace(collection, organization=organization)


def with_attributes(
    collection: AnyCollection,
    runs: Attributes,
    topics_table: Table,
    documents_table: Table = None,
    *,
    reading: Reading = Reading(),
) -> AnyCollection:
    """Return the collection with attributes of its runs, and those of tables of topics and of documents."""
    topics = gather_attributes(topics_table, "topic", reading=reading)
    if topics and not topics.select(collection.query_ids):
        listed = some(list(next(iter(topics.columns.values()))))
        names = f"{listed}, the collection {some(collection.query_ids)}"
        raise InputError(f"no topic with attributes is in the collection: the table has {names}")
    documents = gather_document_columns(documents_table, reading=reading)
    for table in documents:
        if collection.document_rows(table).null_count == len(collection.doc_ids):
            its, others = (some(ids[:4].to_pylist()) for ids in (table.doc_id, collection.doc_ids))
            reason = f"no document of the table is in the collection: it has {its}, the collection {others}"
            raise InputError(reason, hint="are its ids of documents and topics those of the judgments?")
    names_of = [name for table in documents for name in table.columns]
    if twice := [name for name in names_of if names_of.count(name) > 1]:
        raise InputError(f"two tables of documents have a column {twice[0]!r}", hint="rename one of them")
    given: dict[str, Any] = {"runs": runs, "topics": topics, "documents": documents}
    changed = {name: value for name, value in given.items() if value}
    return dataclasses.replace(collection, **changed) if changed else collection


def find_column(collection: Collection, name: str) -> tuple[Of, Attributes, tuple[str, ...]]:
    """Return what a column is of, and for runs or topics the table that has it and their ids, or raise
    `InputError`.
    """
    tables: dict[Of, Attributes] = {"run": collection.runs, "topic": collection.topics}
    names: dict[Of, list[str]] = {of: list(table.columns) for of, table in tables.items()}
    names["document"] = [column for table in collection.documents for column in table.columns]
    having = [of for of, columns in names.items() if name in columns]
    if len(having) > 1:
        both = f"{having[0]}s and {having[1]}s both have a column {name!r}"
        raise InputError(both, hint="rename one of them")
    if not having:
        named = [f"{', '.join(columns)} of {of}s" for of, columns in names.items() if columns]
        hint = "give columns beside --organizations, or by --reading topics_table=… or documents_table=…"
        hint = f"it has {' and '.join(named)}" if named else hint
        hint += " (empty columns, and texts of documents, are left out)"
        raise InputError(f"the collection has no column {name!r}", hint=hint)
    of, ids = having[0], collection.run_ids if having == ["run"] else collection.query_ids
    table = tables.get(of, NO_ATTRIBUTES)
    if of != "document" and not table.select(ids).columns.get(name):
        given = f"the table has {some(list(table.columns[name]))}, the collection {some(ids)}"
        raise InputError(f"no {of} of the collection has a {name}: {given}")
    return of, table, ids


_MANY_TIES = 0.5  # of a run's top ranks


def tie_notes(collection: Collection, run_ids: Sequence[str], cutoffs: Iterable[int]) -> tuple[Note, ...]:
    """Return notes on the number of ranks within each cutoff that are decided by ties."""
    ties = {each.run_id: each for each in collection.ties if each.run_id in set(run_ids)}
    position = {run: i for i, run in enumerate(collection.run_ids)}
    tied, rounded, has_many = list[str](), list[str](), False
    for cutoff in sorted(set(cutoffs)):
        n_ranks = {run: int(np.minimum(collection.length[position[run]], cutoff).sum()) for run in ties}
        for part, name in ((tied, "n_topics"), (rounded, "n_if_rounded")):
            n = {run: int(getattr(each, name)[:cutoff].sum()) for run, each in ties.items()}
            has_many |= name == "n_topics" and any(n[run] > _MANY_TIES * n_ranks[run] for run in n)
            part += [f"top {cutoff}: {runs}" for runs in [most_tied(n, n_ranks)] if runs]
    by_score = set(ties if collection.order != "rank" else collection.unranked)
    kind = " or ".join(sorted({"scores" if run in by_score else "ranks" for run in ties}))
    by_id = f"ranks of equal {kind}, which document ids order, descending: {'; '.join(tied)}"
    by_precision = (
        "ranks of scores that are equal in single precision alone, so that trec_eval 9 and pytrec_eval may "
        f"order them otherwise (--reading order=single-precision): {'; '.join(rounded)}"
    )
    notes = Note("many-ties" if has_many else "ties", by_id), Note("ties", by_precision)
    return tuple(note for note, parts in zip(notes, (tied, rounded), strict=True) if parts)

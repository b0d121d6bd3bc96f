"""Unjudged documents within reach of runs, and their places in the runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.evidence import Estimand
from bayespool.evidence.bounds import unjudged_documents


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Unjudged documents within reach, each once, sorted by topic and document id.

    A document that several runs retrieve is credited to the one that ranks it best, of runs outside the pool
    if there is one (the first by name on ties): it has the effects of that run's organization. A pooled run
    has it below the depth to which it was judged.

    Attributes
    ----------
    collection : Collection
    run_ids : tuple of str
        The runs that reach them.
    depth : int
        Deepest rank within reach.
    estimand : {"complete", "pooled"}
        ``"pooled"`` reaches no deeper than a run's pool depth.
    pair : ndarray of int32, shape (unknown,)
        Pair codes, ascending.
    run, rank : ndarray of int, shape (unknown,)
        The run that a document is credited to, as a position in ``run_ids``, and its rank there from 1.
    start : ndarray of int, shape (topic + 1,)
        Documents of topic t are ``start[t]`` to ``start[t + 1]``.
    place_run, place_rank, place_unknown : ndarray of int, shape (place,)
        Every (run, topic, rank) with an unknown document, by topics, runs and ranks; ranks from 0, documents
        counted from the first of their topic.
    place_start : ndarray of int, shape (topic + 1,)
        Places of topic t are ``place_start[t]`` to ``place_start[t + 1]``.
    """

    collection: Collection
    run_ids: tuple[str, ...]
    depth: int
    estimand: Estimand
    pair: IntArray
    run: IndexArray
    rank: IndexArray
    start: IndexArray
    place_run: IntArray
    place_rank: IntArray
    place_unknown: IntArray
    place_start: IndexArray

    def __len__(self) -> int:
        return len(self.pair)

    @property
    def topic(self) -> IndexArray:
        """Topic index for each document, shape (unknown,)."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def on_topic(self, topic: int) -> slice:
        """Return the slice for a topic's documents."""
        return slice(int(self.start[topic]), int(self.start[topic + 1]))

    def places_on(self, topic: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return run, rank (from 0) and document index for each retrieval, each of shape (place,)."""
        places = slice(self.place_start[topic], self.place_start[topic + 1])
        return self.place_run[places], self.place_rank[places], self.place_unknown[places]

    def document_mask(self, topic: int, run_mask: BoolArray) -> BoolArray:
        """Return what holds for a topic's documents, from (draw, run) to (draw, document).

        It holds for a document if it does for the run that it is credited to, and for all runs of other
        organizations that have it.
        """
        run, _, document = self.places_on(topic)
        order = np.argsort(document, kind="stable")
        run, document, credited = run[order], document[order], self.run[self.on_topic(topic)]
        organization = self.collection.organization[self.run_index]
        is_mate = organization[run] == organization[credited[document]]
        first = np.searchsorted(document, np.arange(len(credited)))
        holds = np.logical_and.reduceat(run_mask[:, run] | is_mate, first, axis=1)
        return np.asarray(holds & run_mask[:, credited])

    @cached_property
    def best_rank(self) -> IndexArray:
        """Best rank for each document over the runs, from 1, shape (unknown,)."""
        best = np.full(len(self), np.iinfo(np.int64).max)
        start = np.repeat(self.start[:-1], np.diff(self.place_start))
        np.minimum.at(best, start + self.place_unknown, self.place_rank + 1)
        return best

    @cached_property
    def run_index(self) -> OrderArray:
        """Indices of the runs in the collection, shape (run,)."""
        return self.collection.run_index(self.run_ids)

    def doc_ids(self, topic: int) -> list[str]:
        """Return ids for a topic's unjudged documents."""
        import pyarrow as pa

        taken = self.collection.doc_ids.take(pa.array(self.pair[self.on_topic(topic)]))
        return [str(doc_id) for doc_id in taken.to_pylist()]


def find_unknowns(
    collection: Collection,
    run_ids: str | Iterable[str],
    depth: int,
    estimand: Estimand = "complete",
    evidence_depth: int | None = None,
) -> Unknowns:
    """Return the unjudged documents within reach of the runs.

    An unknown run or estimand is an `InputError`.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str
    depth : int
        Ranks that a run reaches, at least 1.
    estimand : {"complete", "pooled"}
    evidence_depth : int, optional
        Depth of the places that are compared first when a document is credited to a run, that of the
        evidence, so that a deeper measure changes nothing. Default: ``depth``.
    """
    names = (run_ids,) if isinstance(run_ids, str) else tuple(run_ids)
    credit = evidence_depth or depth
    run, topic, rank, pair = unjudged_documents(
        collection, names, cutoff=max(depth, credit), estimand=estimand
    )
    kept = np.isin(pair, pair[rank <= depth])
    run, topic, rank, pair = run[kept], topic[kept], rank[kept], pair[kept]
    by_name = _order_of_names(names)
    pooled = collection.pooled[collection.run_index(names)]
    keys = by_name[run], rank, pooled[run], rank > credit, pair
    order = np.lexsort(keys) if len(pair) else np.zeros(0, dtype=np.intp)
    first = np.ones(len(order), dtype=bool)
    first[1:] = pair[order][1:] != pair[order][:-1]
    best = order[first]
    n_topics = len(collection.query_ids)
    start = np.searchsorted(topic[best], np.arange(n_topics + 1))
    credited = pair[best], run[best], rank[best]
    shallow = rank <= depth
    run, topic, rank, pair = run[shallow], topic[shallow], rank[shallow], pair[shallow]
    unknown = np.searchsorted(credited[0], pair) - start[topic]
    places = np.lexsort((rank, run, topic))
    return Unknowns(
        collection=collection,
        run_ids=names,
        depth=depth,
        estimand=estimand,
        pair=credited[0],
        run=credited[1].astype(np.int64),
        rank=credited[2].astype(np.int64),
        start=start.astype(np.int64),
        place_run=run[places].astype(np.int32),
        place_rank=(rank[places] - 1).astype(np.int32),
        place_unknown=unknown[places].astype(np.int32),
        place_start=np.searchsorted(topic[places], np.arange(n_topics + 1)).astype(np.int64),
    )


@dataclass(frozen=True, eq=False)
class DocumentPlaces:
    """Runs and ranks at which each unjudged document is retrieved, sorted by document and rank."""

    document: IndexArray  # positions, shape (place,)
    run: IndexArray
    rank: IndexArray  # from 1
    start: IndexArray  # places of document d, at least one, are ``start[d]`` to ``start[d + 1]``

    def span(self, documents: slice) -> slice:
        """Return the slice of retrievals for a slice of documents."""
        return slice(int(self.start[documents.start]), int(self.start[documents.stop]))

    def of(self, documents: slice) -> DocumentPlaces:
        """Return retrievals for a slice of documents, with document indices starting at 0."""
        start, some = self.start[documents.start : documents.stop + 1], self.span(documents)
        return DocumentPlaces(
            self.document[some] - documents.start, self.run[some], self.rank[some], start - start[0]
        )

    def mean(self, values: FloatArray) -> FloatArray:
        """Average an array over each document's retrievals, from shape (place, ...) to (document, ...)."""
        if not len(values):
            return values
        # exactly the value where all are equal, so that copies of a run change nothing
        first, n = self.start[:-1], np.diff(self.start)
        off = np.add.reduceat(values - values[first][self.document], first, axis=0)
        return values[first] + off / n.reshape(-1, *[1] * (values.ndim - 1))


def find_places(unknowns: Unknowns, depth: int) -> DocumentPlaces:
    """Return runs and ranks for each unjudged document down to the evidence depth.

    Documents found only deeper have their deeper ranks.
    """
    # They do not depend on the measures, so that a measure beside another changes nothing. Places in pooled
    # runs count only for documents that no other run has: predictors already tell of pooled runs, and a run
    # has the same value whether or not pooled runs are scored beside it.
    names = unknowns.run_ids
    run, _, rank, pair = unjudged_documents(
        unknowns.collection, names, cutoff=max(depth, unknowns.depth), estimand=unknowns.estimand
    )
    document = np.searchsorted(unknowns.pair, pair)
    known = np.zeros(len(pair), dtype=bool)
    inside = document < len(unknowns)
    known[inside] = unknowns.pair[document[inside]] == pair[inside]
    pooled = unknowns.collection.pooled[unknowns.run_index][run]
    beside = np.zeros(len(unknowns) + 1, dtype=bool)
    beside[document[known & ~pooled]] = True
    known &= ~pooled | ~beside[document]
    if unknowns.depth > depth:
        near = np.zeros(len(unknowns) + 1, dtype=bool)
        near[document[known & (rank <= depth)]] = True
        known &= (rank <= depth) | ~near[document]
    run, rank, document = run[known], rank[known], document[known]
    if len(np.unique(document)) != len(unknowns):
        raise AssertionError("an unknown document stands nowhere")
    order = np.lexsort((_order_of_names(names)[run], rank, document))
    return DocumentPlaces(
        document[order].astype(np.int64),
        run[order].astype(np.int64),
        rank[order].astype(np.int64),
        np.searchsorted(document[order], np.arange(len(unknowns) + 1)).astype(np.int64),
    )


def _order_of_names(names: tuple[str, ...]) -> OrderArray:
    """Return the alphabetical rank of each name, shape (name,)."""
    return np.argsort(np.argsort(np.array(names, dtype=str), kind="stable"), kind="stable")

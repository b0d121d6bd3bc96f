"""Rankings of the pooled runs with draws of the documents that only their own organizations contributed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayespool.collection import IntArray
from bayespool.collection.contributors import sole_contributor
from bayespool.evidence.held_out import held_out_documents
from bayespool.evidence.ideals import ranked_levels, reach_of_ideal, tally_of
from bayespool.experiments.hidden import HiddenDocuments
from bayespool.measures import Measure, Normalized, Tally, Values
from bayespool.posterior.amounts import completing
from bayespool.posterior.drawing import count_levels
from bayespool.posterior.ladder import levels_of

IndexArray = npt.NDArray[np.int64]
Levels = npt.NDArray[np.uint8]


class Documents(NamedTuple):
    """Distinct hidden documents, each of the run of its organization that ranks it best: run (position in the
    collection), topic, rank from 1 and pair, each of shape (document,).
    """

    run: npt.NDArray[np.intp]
    topic: npt.NDArray[np.intp]
    rank: npt.NDArray[np.intp]
    pair: IntArray


@dataclass(frozen=True, eq=False)
class HeldOutRankings:
    """Values of the pooled runs, each with its organization out of the pool, given its hidden documents;
    documents unjudged with all organizations pooled count as in a score as judged. `hidden` is of the first
    rung of the measure's ladder.
    """

    hidden: HiddenDocuments

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self.hidden.measure

    @cached_property
    def documents(self) -> Documents:
        """The hidden documents that the values depend on: within the cutoff, or within reach of an ideal
        ranking.
        """
        reach = reach_of_ideal(self.hidden.collection, self.measure)
        return Documents(*held_out_documents(self.hidden.collection, cutoff=reach)[:4])

    @cached_property
    def organization(self) -> IndexArray:
        """Organization of each document among those with a pooled run, shape (document,)."""
        own = self.hidden.collection.organization
        present = np.unique(own[self.hidden.run_index])
        return np.searchsorted(present, own[self.documents.run]).astype(np.int64)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Relevance at each rung of the ladder."""
        return levels_of(self.hidden.collection, self.hidden.rungs)

    @cached_property
    def judged(self) -> Levels:
        """Rung that each document reached by its judgment, shape (document,)."""
        rels = [rung.rel for rung in self.hidden.rungs]
        relevance = self.hidden.collection.relevance[self.documents.pair]
        return np.searchsorted(rels, relevance, side="right").astype(np.uint8)

    def known(self, runs: npt.NDArray[np.intp], measure: Measure | None = None) -> Values:
        """Values without the judgments that only the runs' organizations contributed, shape (run, topic)."""
        none = np.zeros((1, 0), dtype=np.uint8)
        drawn = self.values(runs, np.zeros(0, dtype=np.intp), none, measure)
        return Values(drawn.amount[0], drawn.unit)

    def observed(self, runs: npt.NDArray[np.intp], measure: Measure | None = None) -> Values:
        """Values with the hidden documents as judged, shape (run, topic)."""
        drawn = self.values(runs, np.arange(len(self.judged)), self.judged[None], measure)
        return Values(drawn.amount[0], drawn.unit)

    def values(
        self,
        runs: npt.NDArray[np.intp],
        documents: npt.NDArray[np.intp],
        block: Levels,
        measure: Measure | None = None,
    ) -> Values:
        """Values of some pooled runs with some hidden documents as drawn and the others unjudged, shape
        (draw, run, topic); `runs` and `documents` are ascending positions, `block` the rung of each document,
        shape (draw, document), and `measure` another one that looks as deep and has no ideal ranking.
        """
        scored_measure = measure or self.measure
        ranked = scored_measure.read(self._ranked[runs][:, :, : scored_measure.cutoff])
        base = scored_measure.amounts(ranked)
        amount = np.empty((len(block), *base.shape), dtype=base.dtype)
        amount[:] = base
        run, topic, rank, number = self._places(self.measure.cutoff)
        mine = np.isin(run, runs) & np.isin(number, documents)
        run, topic, rank, number = (part[mine] for part in (run, topic, rank, number))
        row, column = np.searchsorted(runs, run), np.searchsorted(documents, number)
        for t in np.unique(topic):
            on_topic = topic == t
            distinct, which = np.unique(column[on_topic], return_inverse=True)
            where = row[on_topic].astype(np.int32), rank[on_topic].astype(np.int32), which.astype(np.int32)
            drawn_documents = np.ascontiguousarray(block[:, distinct])
            completing(scored_measure, ranked[:, t], where, self.levels)(amount[:, :, t], drawn_documents)
        if isinstance(scored_measure, Normalized):
            self._normalize(scored_measure, amount, runs, documents, block)
        return Values(amount, scored_measure.unit)

    def _normalize(
        self,
        measure: Normalized,
        amount: npt.NDArray[Any],
        runs: npt.NDArray[np.intp],
        documents: npt.NDArray[np.intp],
        block: Levels,
    ) -> None:
        """Divide amounts by those of ideal rankings of the judgments without the organization's and of its
        documents as drawn, those of the run alone unless runs share their ideal rankings.
        """
        of_run, of_document = self.hidden.organization[runs], self.organization[documents]
        topic = self.documents.topic[documents]
        run, _, _, number = self._places(reach_of_ideal(self.hidden.collection, measure))
        for o in np.unique(of_run):
            rows, judged = of_run == o, self._tally_without(int(o))
            own = [of_document == o] * int(rows.sum())
            if measure.ideal == "own":
                own = [np.isin(documents, number[run == r]) for r in runs[rows]]
            for t in range(amount.shape[2]):
                n = np.zeros((len(block), len(own), 1, len(judged.levels)), dtype=np.int64)
                if measure.ideal != "judged" and (mine := (of_document == o) & (topic == t)).any():
                    drawn = np.ascontiguousarray(block[:, mine])
                    for row, of_this in enumerate(own):
                        count_levels(drawn, of_this[mine], n[:, row, 0])
                tally = Tally(n + judged.n[t], judged.levels)
                amount[:, rows, t] = measure.normalize(amount[:, rows, t][:, :, None], tally)[:, :, 0]

    def _tally_without(self, organization: int) -> Tally:
        """The judged documents of each topic without those that an organization alone contributed."""
        collection = self.hidden.collection
        own = np.unique(collection.organization[self.hidden.run_index])[organization]
        gone = sole_contributor(collection) == own
        relevance = np.where(gone, np.int16(-1), collection.relevance)
        return tally_of(collection, self.levels, relevance=relevance)

    @cached_property
    def _ranked(self) -> npt.NDArray[np.int16]:
        """Relevance of the first documents of the pooled runs, shape (run, topic, rank), −1 for a hidden
        one.
        """
        ranked = ranked_levels(self.hidden.collection, self.hidden.run_index, self.measure.cutoff).copy()
        run, topic, rank, _ = self._places(self.measure.cutoff)
        ranked[run, topic, rank] = -1
        return ranked

    def _places(self, depth: int) -> tuple[npt.NDArray[np.intp], ...]:
        """Run, topic, rank from 0 and document number wherever a run has a hidden document of its own
        organization down to a depth.
        """
        if depth not in self._places_by_depth:
            self._places_by_depth[depth] = self._find_places(depth)
        return self._places_by_depth[depth]

    @cached_property
    def _places_by_depth(self) -> dict[int, tuple[npt.NDArray[np.intp], ...]]:
        return {}

    def _find_places(self, depth: int) -> tuple[npt.NDArray[np.intp], ...]:
        """Compute `_places` of a depth."""
        hidden, collection = self.hidden, self.hidden.collection
        number = np.full(len(collection.relevance) + 1, -1)
        number[self.documents.pair] = np.arange(len(self.documents.pair))
        number_at = number[collection.document[hidden.run_index, :, :depth]]
        owner = np.append(self.organization, -1)  # other documents have number −1
        run, topic, rank = np.nonzero(owner[number_at] == hidden.organization[:, None, None])
        return run, topic, rank, number_at[run, topic, rank]

"""A completion: a recipe for draws of the judgments, from which every measure is computed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Negative, Qrels, qrels_from_frame
from bayespool.collection.negatives import relevance_codes
from bayespool.errors import DiagnosticsWarning, InputError, warn_caller
from bayespool.evidence.ideals import ranked_levels, reach_of_ideal, tally_of
from bayespool.measures import Diagnostics, Measure, Normalized, Tally, Values, parse_measure, parse_measures
from bayespool.posterior.amounts import CELLS, completing, in_threads
from bayespool.posterior.distance import PoolDistance
from bayespool.posterior.drawing import chances, climb, count_levels, count_levels_by_run, relevances
from bayespool.posterior.ladder import Rung, levels_of, rungs_of
from bayespool.posterior.steps import Step
from bayespool.posterior.unknowns import Unknowns
from bayespool.randomness import document_keys, normals, scrambled
from bayespool.tables.reprs import Shown, one_line

if TYPE_CHECKING:
    from bayespool.inference import Fit

FloatArray = npt.NDArray[np.float64]
Levels = npt.NDArray[np.uint8]

_LEAST_EFFECTIVE = 400  # draws, for an interval


@dataclass(frozen=True, eq=False, repr=False)
class Completion(Shown):
    """Draws of the relevance of every unjudged document in reach of some runs.

    In each draw a document has one relevance, whichever runs retrieve it, and all measures are computed from
    the same draws. Nothing of the size of draws × documents is ever held: draws are made topic by topic. The
    random part of a document depends on the seed, the topic, the document id and the draw alone, that of an
    organization on its name. Other measures change nothing. Other runs of the same completion do: where they
    rank a document is evidence of what it is worth, for all runs that retrieve it.

    Made by `bayespool.complete` or `bayespool.posterior.PosteriorEstimator.complete`.

    Attributes
    ----------
    unknowns : Unknowns
        The documents, the runs, the collection.
    n_draws : int
    steps : tuple of Step
        The rungs between the levels, each with its models; none where nothing is unknown.
    rungs : tuple of Rung
    known : ndarray of int16, shape (unknown,)
        Relevance that `observe` was told of; −1 for all others.
    weights : mapping of str to float
        Shares of the models in the draws, means over runs.
    random_seed : int
    diagnostics : Diagnostics or None
        Of the fits; None where nothing is unknown.
    notes : tuple of str
        What is off with the draws.
    distance : PoolDistance or None
        How unlike the pool the runs are; None where no model asks.
    """

    unknowns: Unknowns
    n_draws: int
    steps: tuple[Step, ...]
    rungs: tuple[Rung, ...]
    known: npt.NDArray[np.int16]
    weights: Mapping[str, float]
    random_seed: int
    diagnostics: Diagnostics | None = None
    notes: tuple[str, ...] = ()
    distance: PoolDistance | None = None

    def __repr__(self) -> str:
        u = self.unknowns
        documents = f"{self.n_draws} draws of {len(u)} unjudged documents down to rank {u.depth}"
        return one_line("Completion", f"{documents} of {len(u.run_ids)} runs, levels {self.levels}")

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Relevance that a document may have: 0, and the levels that the measures tell apart."""
        return levels_of(self.unknowns.collection, self.rungs)

    @property
    def fits(self) -> dict[str, Fit]:
        """The fits of all models by their names."""
        return {
            name: component.fit
            for step in self.steps
            for name, component in zip(step.names, step.components, strict=True)
        }

    def block(self, topic: int, draws: slice | npt.NDArray[np.intp] = slice(None)) -> Levels:
        """Relevance of a topic's unknown documents.

        Parameters
        ----------
        topic : int
            Position among the collection's topics.
        draws : slice or ndarray of int
            Which draws.

        Returns
        -------
        ndarray of uint8, shape (draw, unknown)
            Indices into ``levels``, in the order of ``unknowns``.
        """
        n_topics = len(self.unknowns.collection.query_ids)
        if not 0 <= topic < n_topics:
            raise InputError(f"there is no topic {topic}", hint=f"0 to {n_topics - 1}")
        return self._draw(topic, np.arange(self.n_draws)[draws], self._cell_effects(topic))

    def _draw(
        self, topic: int, chosen: npt.NDArray[np.intp], cells: Sequence[Sequence[FloatArray]]
    ) -> Levels:
        """`block` of some draws, given the topic's `_cell_effects`."""
        documents = self.unknowns.on_topic(topic)
        block = np.zeros((len(chosen), documents.stop - documents.start), dtype=np.uint8)
        if not block.size:
            return block
        first, *above = self.steps
        rest = np.zeros((len(chosen), block.shape[1] if above else 0))
        log_odds = self._log_odds(first, topic, chosen, cells[0])
        block = relevances(log_odds, self._keys[documents], scrambled(chosen), rest)
        for k, step in enumerate(above, start=1):
            climb(self._log_odds(step, topic, chosen, cells[k]), k, rest, block)
        told = self._told(documents)
        block[:, told >= 0] = told[told >= 0]
        return block

    def expected(
        self, topic: int, values: npt.NDArray[np.float64], draws: slice = slice(None)
    ) -> tuple[FloatArray, FloatArray]:
        """What a topic's unknown documents are expected to be worth in each draw of the parameters, before
        their relevance is drawn.

        Parameters
        ----------
        topic : int
        values : ndarray of float, shape (level,)
            Worth of a document of each of ``levels``.
        draws : slice
            Which draws.

        Returns
        -------
        mean, variance : ndarray of float, each of shape (draw, unknown)
            Given the draw's models, slopes and effects; a document that is known has no variance.
        """
        documents = self.unknowns.on_topic(topic)
        chosen = np.arange(self.n_draws)[draws]
        shape = len(chosen), documents.stop - documents.start
        mean, square = np.full(shape, values[0]), np.full(shape, values[0] ** 2)
        reached, cells = np.ones(shape), self._cell_effects(topic)
        for k, step in enumerate(self.steps if shape[1] else ()):
            reached *= chances(self._log_odds(step, topic, chosen, cells[k]))
            mean += reached * (values[k + 1] - values[k])
            square += reached * (values[k + 1] ** 2 - values[k] ** 2)
        told = self._told(documents)
        mean[:, told >= 0] = values[told[told >= 0]]
        square[:, told >= 0] = values[told[told >= 0]] ** 2
        return mean, np.maximum(square - mean**2, 0)

    def _told(self, documents: slice) -> npt.NDArray[np.int64]:
        """Rung of each document that is known, −1 for the others."""
        known = self.known[documents]
        return np.where(known >= 0, np.searchsorted([r.rel for r in self.rungs], known, side="right"), -1)

    @cached_property
    def _keys(self) -> npt.NDArray[np.uint64]:
        """Of the unknown documents, shape (unknown,)."""
        query_ids = self.unknowns.collection.query_ids
        keys = [
            document_keys(self.random_seed, query_id, self.unknowns.doc_ids(t))
            for t, query_id in enumerate(query_ids)
        ]
        return np.concatenate(keys)

    def _log_odds(
        self, step: Step, topic: int, chosen: npt.NDArray[np.intp], cells: Sequence[FloatArray]
    ) -> FloatArray:
        """Log odds of a topic's unknowns with all effects in some draws, shape (draw, document). ``cells``
        are the topic's `_cell_effects` of the step.
        """
        documents = self.unknowns.on_topic(topic)
        return step.log_odds(chosen, topic, documents, self.unknowns.run[documents], cells)

    def _cell_effects(self, topic: int) -> list[list[FloatArray]]:
        """Effects of organization × topic for all draws of parameters, shape (draw, run), by step and
        model.
        """
        unknowns, collection = self.unknowns, self.unknowns.collection
        organization = collection.organization[unknowns.run_index]
        present = np.unique(organization[unknowns.run[unknowns.on_topic(topic)]])
        found = []
        for step in self.steps:
            above = (step.rung.rel,) if step.rung.given else ()
            of_step = []
            for component in step.components:
                effects = np.zeros(component.effect.shape)
                scale = component.cell_scale
                for o in present if scale is not None else ():
                    assert scale is not None
                    cell = (collection.organizations[o], collection.query_ids[topic], *above)
                    new = scale * normals(len(effects), self.random_seed, "cell", *cell)
                    effects[:, organization == o] = new[:, None]
                    if o in component.cells:
                        known = component.known & (organization == o)
                        effects[:, known] = component.cells[o][:, topic, None]
                of_step.append(effects)
            found.append(of_step)
        return found

    def evaluate(self, *measures: object) -> tuple[Values, ...]:
        """Values of the runs under measures, all from the same draws.

        Parameters
        ----------
        *measures : measure
            None looks deeper than the unknowns reach, or tells levels apart that the completion does not.

        Returns
        -------
        tuple of Values, each of shape (draw, run, topic)
            One per measure.

        Raises
        ------
        InputError
            A measure that this completion does not serve.
        """
        asked = parse_measures(measures)
        for measure in asked:
            self._check(measure)
        found = dict(zip(asked, self._evaluate(asked), strict=True))
        return tuple(found[parse_measure(measure)] for measure in measures)

    def _evaluate(self, asked: Sequence[Measure]) -> tuple[Values, ...]:
        u = self.unknowns
        n_topics, n_runs = len(u.collection.query_ids), len(u.run_ids)
        ranked = ranked_levels(u.collection, u.run_index, max(measure.cutoff for measure in asked))
        judged = tally_of(u.collection, self.levels)
        amounts = []
        for measure in asked:
            base = measure.amounts(measure.read(ranked))
            amounts.append(np.empty((self.n_draws, n_runs, n_topics), dtype=base.dtype))
            amounts[-1][:] = base
        ideals = [
            (reach_of_ideal(u.collection, m), m.ideal == "shared" or n_runs == 1)
            if isinstance(m, Normalized) and m.ideal != "judged"
            else None
            for m in asked
        ]
        topics = np.flatnonzero(np.diff(u.start))

        def complete_topic(t: int) -> None:
            cells, where = self._cell_effects(t), u.places_on(t)
            add = [completing(m, m.read(ranked[:, t]), where, self.levels) for m in asked]
            step = max(1, CELLS // int(u.start[t + 1] - u.start[t]))
            for first in range(0, self.n_draws, step):
                block = self._draw(t, np.arange(self.n_draws)[first : first + step], cells)
                tallies = {
                    ideal: self._tally(judged, t, block, *ideal) for ideal in set(ideals) if ideal is not None
                }
                for i, (measure, ideal) in enumerate(zip(asked, ideals, strict=True)):
                    part = amounts[i][first : first + step, :, t]
                    add[i](part, block)
                    if ideal is not None:
                        part[:] = measure.normalize(part[:, :, None], tallies[ideal])[:, :, 0]

        in_threads(complete_topic, topics.tolist())
        for measure, amount, ideal in zip(asked, amounts, ideals, strict=True):
            rest = np.setdiff1d(np.arange(n_topics), topics) if ideal else np.arange(n_topics)
            if isinstance(measure, Normalized) and len(rest):
                amount[:, :, rest] = measure.normalize(
                    amount[:, :, rest], Tally(judged.n[rest], judged.levels)
                )
        return tuple(Values(a, m.unit) for a, m in zip(amounts, asked, strict=True))

    def _tally(self, judged: Tally, topic: int, block: Levels, reach: int, shared: bool) -> Tally:
        """The documents of a topic's ideal rankings in some draws, shape (draw, run, 1, level): judged ones,
        and those within reach of each run, or of any run where all share them.
        """
        u = self.unknowns
        n = np.zeros((len(block), 1 if shared else len(u.run_ids), len(judged.levels)), dtype=np.int64)
        if shared:
            count_levels(block, u.best_rank[u.on_topic(topic)] <= reach, n[:, 0])
        else:
            run, rank, unknown = u.places_on(topic)
            count_levels_by_run(block, run[rank < reach], unknown[rank < reach], n)
        return Tally((n + judged.n[topic])[:, :, None], judged.levels)

    def _check(self, measure: Measure) -> None:
        if measure.cutoff > self.unknowns.depth:
            raise InputError(
                f"{measure} looks deeper than rank {self.unknowns.depth}, where completed judgments end",
                hint="complete them for a measure that looks as deep",
            )
        rungs = rungs_of(self.unknowns.collection, measure)
        if rungs != self.rungs[: len(rungs)]:
            raise InputError(
                f"{measure} asks for a relevance of {rungs[-1].rel}, and documents were completed for "
                f"{', '.join(str(level) for level in self.levels[1:])}",
                hint="complete the judgments for this measure",
            )

    def qrels(self, draw: int) -> Qrels:
        """The judgments with those of one draw added.

        Parameters
        ----------
        draw : int
            From 0.

        Returns
        -------
        Qrels
            All judged documents, and every unknown one with the relevance that it has in the draw. Unjudged
            documents out of reach stay out.

        Raises
        ------
        InputError
            There is no such draw.
        """
        if not 0 <= draw < self.n_draws:
            raise InputError(f"there is no draw {draw}", hint=f"0 to {self.n_draws - 1}")
        collection = self.unknowns.collection
        relevance, there = collection.relevance.astype(np.int64), collection.judged
        there[self.unknowns.pair] = True
        for t in range(len(collection.query_ids)):
            level = np.array(self.levels)[self.block(t, slice(draw, draw + 1))[0]]
            documents = self.unknowns.on_topic(t)
            told = self.known[documents]
            relevance[self.unknowns.pair[documents]] = np.where(told >= 0, told, level)
        judged: dict[str, dict[str, int]] = {q: {} for q in collection.query_ids}
        ids = collection.doc_ids.to_pylist()
        for pair, value in zip(np.flatnonzero(there).tolist(), relevance[there].tolist(), strict=True):
            judged[collection.query_ids[collection.pair_topic[pair]]][ids[pair]] = value
        return qrels_from_frame({query_id: of_topic for query_id, of_topic in judged.items() if of_topic})

    def observe(self, qrels: Qrels) -> Completion:
        """The completion given judgments of some of its documents.

        Draws are taken anew from those there are, in proportion to the chance that they gave the judgments:
        what the answers say of models, slopes and organizations is learnt, without another fit. The rest of
        the documents are drawn afresh.

        Parameters
        ----------
        qrels : Qrels
            Documents that are not among the unknowns are passed over. A negative relevance means what it
            means in the collection's qrels.

        Returns
        -------
        Completion
            With as many draws, in which the documents have the relevance told.

        Raises
        ------
        InputError
            No judgment is of an unknown document.

        Warns
        -----
        DiagnosticsWarning
            The judgments agree with so few draws that a new fit is called for
            (`bayespool.collection.Collection.add_judgments`).
        """
        known, n_new = self.known.copy(), 0
        log_likelihood = np.zeros(self.n_draws)
        judged = _by_topic(qrels, self.unknowns.collection.negatives.meaning)
        for t, query_id in enumerate(self.unknowns.collection.query_ids):
            documents = self.unknowns.on_topic(t)
            answers = judged.get(query_id, {})
            told = np.array([answers.get(doc_id, -1) for doc_id in self.unknowns.doc_ids(t)], dtype=np.int16)
            new = np.flatnonzero((told >= 0) & (known[documents] < 0)) if len(told) else np.zeros(0, np.intp)
            if not len(new):
                continue
            cells = self._cell_effects(t)
            for k, step in enumerate(self.steps):
                asked = new[told[new] >= step.rung.given]
                yes = told[asked] >= step.rung.rel
                log_odds = self._log_odds(step, t, np.arange(self.n_draws), cells[k])[:, asked]
                log_likelihood += np.log(chances(np.where(yes, log_odds, -log_odds))).sum(axis=1)
            known[documents.start + new] = told[new]
            n_new += len(new)
        if not n_new:
            raise InputError("no judgment is of an unknown document", path=qrels.path)
        weight = np.exp(log_likelihood - log_likelihood.max())
        weight /= weight.sum()
        n_effective = float(1 / (weight**2).sum())
        position = (np.arange(self.n_draws) + 0.5) / self.n_draws
        taken = np.searchsorted(np.cumsum(weight), position).clip(max=self.n_draws - 1)
        notes = self.notes
        if n_effective < _LEAST_EFFECTIVE:
            notes += (f"the judgments observed leave {n_effective:.0f} effective draws",)
            warn_caller(
                f"{notes[-1]}: fit anew with them (Collection.add_judgments)",
                DiagnosticsWarning,
            )
        steps = tuple(step.of_draws(taken) for step in self.steps)
        weights: dict[str, float] = {}
        for step in steps:
            weights |= dict(zip(step.names, step.shares, strict=True))
        return dataclasses.replace(self, steps=steps, known=known, weights=weights, notes=notes)


def _by_topic(qrels: Qrels, negative: Negative) -> dict[str, dict[str, int]]:
    codes, _ = relevance_codes(qrels.relevance, negative)
    judged: dict[str, dict[str, int]] = {}
    lines: Sequence[Any] = (qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), codes.tolist())
    for query_id, doc_id, relevance in zip(*lines, strict=True):
        judged.setdefault(str(query_id), {})[str(doc_id)] = relevance
    return judged

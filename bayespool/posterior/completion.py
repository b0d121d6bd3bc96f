"""Completions: recipes for draws of the unjudged documents, from which measures are computed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray, LevelArray, Levels, OrderArray
from bayespool.collection import Collection
from bayespool.compiled import in_threads
from bayespool.errors import DiagnosticsWarning, InputError, warn_caller
from bayespool.evidence.ideals import ideal_reach, judged_tally, ranked_levels
from bayespool.inference.variables import is_large, release_memory
from bayespool.measures import Diagnostics, Measure, Normalized, Tally, Values, parse_measure, parse_measures
from bayespool.notes import Note, joined
from bayespool.posterior.distance import PoolDistance
from bayespool.posterior.drawing import (
    CELLS,
    chances,
    draw_relevance,
    make_gain_adder,
    promote_relevance,
    tally_levels,
)
from bayespool.posterior.failures import FAILED_LOG_ODDS, Failures
from bayespool.posterior.lots import Lots
from bayespool.posterior.mixtures import ThresholdPosterior
from bayespool.posterior.thresholds import Threshold, find_thresholds, threshold_levels
from bayespool.posterior.unknowns import Unknowns
from bayespool.randomness import document_keys, normals, scrambled
from bayespool.reading import Negative, Qrels, qrels_from_frame
from bayespool.reading.records import relevance_codes
from bayespool.tables.formatting import counted
from bayespool.tables.markup import ReprHTMLMixin, one_line

if TYPE_CHECKING:
    from bayespool.inference import Fit


_MIN_EFFECTIVE_DRAWS = 400  # for an interval


@dataclass(frozen=True, eq=False, repr=False)
class Completion(ReprHTMLMixin):
    """Posterior draws of the relevance of every unjudged document within reach of the runs.

    In each draw a document has one relevance, whichever runs retrieve it, and all measures are computed from
    the same draws. Draws are made topic by topic, and never held for all documents. The random part of a
    document depends on the seed, the topic, the document id and the draw alone, that of an organization on
    its name. Other measures change nothing; other runs of the same completion do, as the ranks of a document
    in them are evidence of its relevance.

    Made by `bayespool.complete` or `bayespool.posterior.PosteriorEstimator.complete`.

    Attributes
    ----------
    unknowns : Unknowns
        The documents, the runs, the collection.
    n_draws : int
    posteriors : tuple of ThresholdPosterior
        The thresholds between the levels, each with its models; none where nothing is unknown.
    thresholds : tuple of Threshold
    known : ndarray of int16, shape (unknown,)
        Relevance passed to `observe`; −1 for all others.
    weights : mapping of str to float
        Shares of the models in the draws, means over runs.
    random_seed : int
    diagnostics : Diagnostics or None
        Of the fits; None where nothing is unknown.
    notes : tuple of Note
        Problems of the draws.
    distance : PoolDistance or None
        Distances of the runs from the pool; None where no model uses them.
    lots : Lots or None
        Posteriors of documents that were left out of a published sample at random.
    failures : Failures or None
        Topics on which runs may have found nothing; None where they found something on all.
    """

    unknowns: Unknowns
    n_draws: int
    posteriors: tuple[ThresholdPosterior, ...]
    thresholds: tuple[Threshold, ...]
    known: LevelArray
    weights: Mapping[str, float]
    random_seed: int
    diagnostics: Diagnostics | None = None
    notes: tuple[Note, ...] = ()
    distance: PoolDistance | None = None
    lots: Lots | None = None
    failures: Failures | None = None

    def __repr__(self) -> str:
        u = self.unknowns
        documents = f"{counted(len(u), 'unjudged document')} down to rank {u.depth}"
        runs = counted(len(u.run_ids), "run")
        return one_line(
            "Completion", f"{counted(self.n_draws, 'draw')} of {documents} of {runs}, levels {self.levels}"
        )

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Relevance levels that a document may be drawn at, ascending from 0."""
        return threshold_levels(self.unknowns.collection, self.thresholds)

    @property
    def fits(self) -> dict[str, Fit]:
        """Fits of all models, by model name."""
        of_lots = () if self.lots is None else self.lots.posteriors
        return {name: fit for p in (*self.posteriors, *of_lots) for name, fit in p.fits.items()}

    def block(self, topic: int, draws: slice | OrderArray = slice(None)) -> Levels:
        """Draw levels for a topic's unjudged documents, as indices into ``levels``, shape (draw, unknown).

        Parameters
        ----------
        topic : int
            Position among the collection's topics.
        draws : slice or ndarray of int
            Draws to make.
        """
        n_topics = len(self.unknowns.collection.query_ids)
        if not 0 <= topic < n_topics:
            raise InputError(f"there is no topic {topic}", hint=f"0 to {n_topics - 1}")
        return self.draw_block(topic, np.arange(self.n_draws)[draws], self.cell_effects(topic))

    def draw_block(
        self,
        topic: int,
        chosen: OrderArray,
        cells: Sequence[Sequence[FloatArray]],
        log_odds: FloatArray | None = None,
    ) -> Levels:
        """Draw level indices for a topic's unjudged documents, shape (draw, unknown).

        ``log_odds`` are those of the first threshold, where they are at hand.
        """
        documents = self.unknowns.on_topic(topic)
        block = np.zeros((len(chosen), documents.stop - documents.start), dtype=np.uint8)
        if not block.size:
            return block
        n_thresholds = len(self.posteriors)
        rest = np.zeros((len(chosen), block.shape[1] if n_thresholds > 1 else 0))
        if log_odds is None:
            log_odds = self.log_odds(0, topic, chosen, cells[0])
        block = draw_relevance(log_odds, self._keys[documents], self._draw_keys[chosen], rest)
        for k in range(1, n_thresholds):
            promote_relevance(self.log_odds(k, topic, chosen, cells[k]), k, rest, block)
        threshold = self._known_thresholds(documents)
        block[:, threshold >= 0] = threshold[threshold >= 0]
        return block

    def expected(
        self, topic: int, values: FloatArray, draws: slice = slice(None)
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of level values for a topic's unjudged documents in each parameter draw.

        Parameters
        ----------
        topic : int
        values : ndarray of float, shape (level,)
            Worth of a document of each of ``levels``.
        draws : slice
            Draws to use.

        Returns
        -------
        mean, variance : ndarray of float, each of shape (draw, unknown)
            Given the draw's models, slopes and effects; the variance of a known document is 0.
        """
        documents = self.unknowns.on_topic(topic)
        chosen = np.arange(self.n_draws)[draws]
        shape = len(chosen), documents.stop - documents.start
        mean, square = np.full(shape, values[0]), np.full(shape, values[0] ** 2)
        reached, cells = np.ones(shape), self.cell_effects(topic)
        for k in range(len(self.posteriors) if shape[1] else 0):
            reached *= chances(self.log_odds(k, topic, chosen, cells[k]))
            mean += reached * (values[k + 1] - values[k])
            square += reached * (values[k + 1] ** 2 - values[k] ** 2)
        threshold = self._known_thresholds(documents)
        mean[:, threshold >= 0] = values[threshold[threshold >= 0]]
        square[:, threshold >= 0] = values[threshold[threshold >= 0]] ** 2
        return mean, np.maximum(square - mean**2, 0)

    def _known_thresholds(self, documents: slice) -> IndexArray:
        """Return the number of thresholds that each document of known relevance reaches, else −1."""
        known = self.known[documents]
        return np.where(
            known >= 0, np.searchsorted([r.rel for r in self.thresholds], known, side="right"), -1
        )

    @cached_property
    def _keys(self) -> npt.NDArray[np.uint64]:
        """Random-number keys for the unjudged documents, shape (unknown,)."""
        query_ids = self.unknowns.collection.query_ids
        keys = [
            document_keys(self.random_seed, query_id, self.unknowns.doc_ids(t))
            for t, query_id in enumerate(query_ids)
        ]
        return np.concatenate(keys)

    @cached_property
    def _draw_keys(self) -> npt.NDArray[np.uint64]:
        """Random-number keys for the draws, shape (draw,)."""
        return scrambled(np.arange(self.n_draws))

    def log_odds(
        self, threshold: int, topic: int, chosen: OrderArray, cells: Sequence[FloatArray]
    ) -> FloatArray:
        """Return log odds for a topic's unjudged documents at one threshold, shape (draw, document)."""
        posterior, documents = self.posteriors[threshold], self.unknowns.on_topic(topic)
        log_odds = posterior.log_odds(chosen, topic, documents, self.unknowns.run[documents], cells)
        if self.failures is not None and threshold == 0:
            failed = self.failures.on_topic(topic, len(self.unknowns.run_ids))
            if failed is not None:
                of_documents = self.unknowns.document_mask(topic, failed[chosen])
                np.minimum(log_odds, FAILED_LOG_ODDS, out=log_odds, where=of_documents)
        if self.lots is not None and (by_lot := self.lots.by_lot[documents]).any():
            log_odds[:, by_lot] = self.lots.log_odds(threshold, topic, documents, chosen)[:, by_lot]
        return log_odds

    def cell_effects(self, topic: int) -> list[list[FloatArray]]:
        """Draw effects of organization × topic for each threshold and model, each of shape (draw, run)."""
        collection, run = self.unknowns.collection, self.unknowns.run[self.unknowns.on_topic(topic)]
        organization = collection.organization[self.unknowns.run_index]
        is_alone = bool((organization == organization[0]).all())
        present = organization[: min(len(run), 1)] if is_alone else np.unique(organization[run])
        effects_by_threshold = []
        columns: dict[int, slice | BoolArray] = {
            o: slice(None) if is_alone else organization == o for o in present
        }
        for posterior in self.posteriors:
            of_threshold, stream = [], posterior.threshold.stream
            standard = dict[tuple[int, int], FloatArray]()  # shared by the models
            for component in posterior.components:
                effects = np.zeros(component.effect.shape)
                scale, new = component.cell_scale, component.new
                seed = self.random_seed if new is None else new.random_seed
                for o in present if scale is not None else ():
                    assert scale is not None
                    if (o, seed) not in standard:
                        cell = (collection.organizations[o], collection.query_ids[topic], *stream)
                        standard[o, seed] = normals(len(effects), seed, "cell", *cell)
                    effects[:, columns[o]] = (scale * standard[o, seed])[:, None]
                    if o in component.cells:
                        known = component.known & (organization == o)
                        effects[:, known] = component.cells[o][:, topic, None]
                of_threshold.append(effects)
            effects_by_threshold.append(of_threshold)
        return effects_by_threshold

    def evaluate(self, *measures: object) -> tuple[Values, ...]:
        """Evaluate measures in the same draws; one array of shape (draw, run, topic) per measure.

        Parameters
        ----------
        *measures : measure
            With cutoffs and levels of relevance that the completion covers.

        Raises
        ------
        InputError
            A measure that this completion does not cover.
        """
        distinct = parse_measures(measures)
        for measure in distinct:
            self._refuse_uncovered(measure)
        values = dict(zip(distinct, self._evaluate(distinct), strict=True))
        return tuple(values[parse_measure(measure)] for measure in measures)

    def _evaluate(self, measures: Sequence[Measure]) -> tuple[Values, ...]:
        """Evaluate distinct measures in the same draws; one array of shape (draw, run, topic) per measure."""
        u = self.unknowns
        n_topics, n_runs = len(u.collection.query_ids), len(u.run_ids)
        ranked = ranked_levels(u.collection, u.run_index, max(measure.cutoff for measure in measures))
        judged = judged_tally(u.collection, self.levels)
        amounts: list[AnyArray] = []
        order: Literal["F", "C"] = "C"
        if is_large(self.n_draws, n_topics):
            release_memory()
            order = "F"  # draws of a topic stand together
        for measure in measures:
            base = measure.amounts(measure.read(ranked))
            amounts.append(np.empty((self.n_draws, n_runs, n_topics), dtype=base.dtype, order=order))
            amounts[-1][:] = base
        ideals = [
            (ideal_reach(u.collection, m), m.ideal == "shared" or n_runs == 1)
            if isinstance(m, Normalized) and m.ideal != "judged"
            else None
            for m in measures
        ]
        topics = np.flatnonzero(np.diff(u.start) > 0 if self.lots is None else np.ones(n_topics, bool))

        def complete_topic(t: int) -> None:
            cells, where = self.cell_effects(t), u.places_on(t)
            add = [make_gain_adder(m, m.read(ranked[:, t]), where, self.levels) for m in measures]
            step = max(1, CELLS // max(1, int(u.start[t + 1] - u.start[t])))
            for first in range(0, self.n_draws, step):
                chosen = np.arange(self.n_draws)[first : first + step]
                block = self.draw_block(t, chosen, cells)
                tallies = {
                    ideal: self._tally(judged, t, block, chosen, *ideal)
                    for ideal in set(ideals)
                    if ideal is not None
                }
                for i, (measure, ideal) in enumerate(zip(measures, ideals, strict=True)):
                    part = amounts[i][first : first + step, :, t]
                    add[i](part, block)
                    if ideal is not None:
                        part[:] = measure.normalize(part[:, :, None], tallies[ideal])[:, :, 0]

        in_threads(complete_topic, topics.tolist())
        for measure, amount, ideal in zip(measures, amounts, ideals, strict=True):
            rest = np.setdiff1d(np.arange(n_topics), topics) if ideal else np.arange(n_topics)
            if isinstance(measure, Normalized) and len(rest):
                amount[:, :, rest] = measure.normalize(
                    amount[:, :, rest], Tally(judged.n[rest], judged.levels)
                )
        return tuple(Values(a, m.unit) for a, m in zip(amounts, measures, strict=True))

    def _tally(
        self, judged: Tally, topic: int, block: Levels, chosen: OrderArray, reach: int, shared: bool
    ) -> Tally:
        """Return level counts for a topic's ideal rankings, shape (draw, run or 1, 1, level)."""
        u, by_run = self.unknowns, None
        within = np.zeros(block.shape[1], dtype=bool)
        if self.lots is not None:  # documents of the sample's strata count, whoever retrieves them
            within |= self.lots.by_lot[u.on_topic(topic)]
        if shared:
            within |= u.best_rank[u.on_topic(topic)] <= reach
        else:
            run, rank, unknown = u.places_on(topic)
            kept = (rank < reach) & ~within[unknown]
            by_run = len(u.run_ids), run[kept], unknown[kept]
        n = tally_levels(block, len(judged.levels), within, by_run) + judged.n[topic]
        if self.lots is not None:
            n += self.lots.n_elsewhere[topic, chosen][:, None]
        return Tally(n[:, :, None], judged.levels)

    def _refuse_uncovered(self, measure: Measure) -> None:
        """Raise `InputError` if a measure has a cutoff or levels that the completion does not cover."""
        if measure.cutoff > self.unknowns.depth:
            raise InputError(
                f"{measure} looks deeper than rank {self.unknowns.depth}, where completed judgments end",
                hint="complete them for a measure that looks as deep",
            )
        thresholds = find_thresholds(
            self.unknowns.collection, measure, least_rel=min(self.thresholds[0].rel, measure.rel)
        )
        if thresholds != self.thresholds[: len(thresholds)]:
            raise InputError(
                f"{measure} asks for a relevance of {thresholds[-1].rel}, and documents were completed for "
                f"{', '.join(str(level) for level in self.levels[1:])}",
                hint="complete the judgments for this measure",
            )

    def qrels(self, draw: int, judged: Mapping[str, Mapping[str, int]] | None = None) -> Qrels:
        """Return judgments completed with the relevance levels of one draw.

        All judged documents, then every unknown one with its relevance in the draw; no unjudged documents out
        of reach.

        Parameters
        ----------
        draw : int
            From 0.
        judged : mapping of str to mapping of str to int, optional
            Relevance by topic and document of the lines that come first. Default: `judged_by_topic`.

        Raises
        ------
        InputError
            There is no such draw.
        """
        if not 0 <= draw < self.n_draws:
            raise InputError(f"there is no draw {draw}", hint=f"0 to {self.n_draws - 1}")
        collection = self.unknowns.collection
        first = judged_by_topic(collection) if judged is None else judged
        lines = {query_id: dict(judged_there) for query_id, judged_there in first.items()}
        for t, query_id in enumerate(collection.query_ids):
            drawn = np.array(self.levels)[self.block(t, slice(draw, draw + 1))[0]]
            known = self.known[self.unknowns.on_topic(t)]
            relevance = np.where(known >= 0, known, drawn).tolist()
            lines[query_id].update(zip(self.unknowns.doc_ids(t), relevance, strict=True))
        return qrels_from_frame(lines)

    def observe(self, qrels: Qrels) -> Completion:
        """Return the completion updated with new judgments, with as many draws.

        Draws are resampled in proportion to the likelihood of the judgments, which updates models, slopes and
        organizations without another fit. The other documents are drawn afresh.

        Parameters
        ----------
        qrels : Qrels
            Documents that are not among the unknowns are ignored. A negative relevance has its meaning in the
            collection's qrels.

        Raises
        ------
        InputError
            No judgment is of an unknown document.

        Warns
        -----
        DiagnosticsWarning
            The judgments leave too few effective draws; fit again with
            `bayespool.collection.Collection.add_judgments`.
        """
        known, n_new = self.known.copy(), 0
        log_likelihood = np.zeros(self.n_draws)
        judged = _judgments_by_topic(qrels, self.unknowns.collection.negatives.meaning)
        for t, query_id in enumerate(self.unknowns.collection.query_ids):
            documents = self.unknowns.on_topic(t)
            answers = judged.get(query_id, {})
            observed = np.array(
                [answers.get(doc_id, -1) for doc_id in self.unknowns.doc_ids(t)], dtype=np.int16
            )
            new = np.flatnonzero((observed >= 0) & (known[documents] < 0))
            if not len(new):
                continue
            cells = self.cell_effects(t)
            for k, posterior in enumerate(self.posteriors):
                reached = new[observed[new] >= posterior.threshold.given]
                yes = observed[reached] >= posterior.threshold.rel
                log_odds = self.log_odds(k, t, np.arange(self.n_draws), cells[k])[:, reached]
                log_likelihood += np.log(chances(np.where(yes, log_odds, -log_odds))).sum(axis=1)
            known[documents.start + new] = observed[new]
            n_new += len(new)
        if not n_new:
            raise InputError("no judgment is of an unknown document", path=qrels.path)
        weight = np.exp(log_likelihood - log_likelihood.max())
        weight /= weight.sum()
        n_effective = float(1 / (weight**2).sum())
        position = (np.arange(self.n_draws) + 0.5) / self.n_draws
        taken = np.searchsorted(np.cumsum(weight), position).clip(max=self.n_draws - 1)
        notes = self.notes
        if n_effective < _MIN_EFFECTIVE_DRAWS:
            left = Note("effective-draws", "the judgments observed leave {:.0f} effective draws", n_effective)
            notes += (left,)
            cure = "fit again with them (Collection.add_judgments)"
            warn_caller(joined("diagnostics", ": ", [left, cure]), DiagnosticsWarning)
        posteriors = tuple(posterior.select_draws(taken) for posterior in self.posteriors)
        weights: dict[str, float] = {}
        for posterior in posteriors:
            weights |= dict(zip(posterior.names, posterior.shares, strict=True))
        lots = None if self.lots is None else self.lots.select_draws(taken)
        failures = None if self.failures is None else self.failures.select_draws(taken)
        changed: dict[str, Any] = {"posteriors": posteriors, "lots": lots, "failures": failures}
        return dataclasses.replace(self, known=known, weights=weights, notes=notes, **changed)


def judged_by_topic(collection: Collection) -> dict[str, dict[str, int]]:
    """Return the relevance of the judged documents by topic and document id."""
    pairs, ids = np.flatnonzero(collection.judged), collection.doc_ids.to_pylist()
    columns = (pairs, collection.pair_topic[pairs], collection.relevance[pairs])
    judged: dict[str, dict[str, int]] = {query_id: {} for query_id in collection.query_ids}
    for pair, topic, value in zip(*(column.tolist() for column in columns), strict=True):
        judged[collection.query_ids[topic]][ids[pair]] = value
    return judged


def _judgments_by_topic(qrels: Qrels, negative: Negative) -> dict[str, dict[str, int]]:
    """Return a nested dictionary with the relevance for each topic and document id."""
    codes, _ = relevance_codes(qrels.relevance, negative)
    judged: dict[str, dict[str, int]] = {}
    lines: Sequence[Any] = (qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), codes.tolist())
    for query_id, doc_id, relevance in zip(*lines, strict=True):
        judged.setdefault(str(query_id), {})[str(doc_id)] = relevance
    return judged

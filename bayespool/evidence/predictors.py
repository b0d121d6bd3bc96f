"""Predictors of relevance: their class, their registry, and the package's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.rankings import ranked
from bayespool.compiled import compiled
from bayespool.errors import InputError, known_names
from bayespool.evidence.composition import composition_effects
from bayespool.evidence.held_out import states_without_own
from bayespool.evidence.ideals import MISSING, NONRELEVANT, RELEVANT, UNJUDGED_STATE
from bayespool.evidence.learned_fusion import FUSION_UNITS, LearnedFusion, learned_fusion
from bayespool.evidence.pooled_ranks import pooled_ranks, rank_gains

_ABSENT_RANK_FACTOR = 2  # times the longest pooled ranking: rank of a document that no other run retrieves
_NEIGHBOR_DEPTH = 100  # ranks
_FULL_DEPTH = 1000  # ranks whose matrix takes 8 MB, however short the runs are
_LEAST_RUNS, _LEAST_SPREAD = 5, 1e-9  # with fewer, or a smaller deviation, no run is better than others
_TOP_DEPTH_RANGE = (10, 30)  # ranks; the pool depth is clipped to this range


class AmongOthers(NamedTuple):
    """Summaries of document ranks in other organizations' pooled runs, each of shape (document,)."""

    n_runs: FloatArray  # number of those runs, at least 1
    n_retrieving: FloatArray  # number of those that retrieve the document at any depth
    best_rank: FloatArray  # among them; twice the longest pooled ranking where none retrieves the document
    # sum of precision/log₂(1 + rank), 0 for a run that does not retrieve it; a run's precision is that of its
    # own contribution to the pool
    fusion: FloatArray


class KnownFusion(NamedTuple):
    """Result of learned fusion for documents and their runs, without the fusion itself."""

    odds: IntArray  # log odds of relevance times `FUSION_UNITS`, shape (document,)
    skill: FloatArray  # of each run's regression on them, with the next two, shape (row,)
    slope: FloatArray
    mean: FloatArray


@dataclass(frozen=True, eq=False)
class DocumentContext:
    """Documents whose predictors are computed, and the runs that retrieved them.

    A document's values depend neither on the other documents nor on unpooled runs other than its own.

    Attributes
    ----------
    collection : Collection
    run, topic : ndarray of int, shape (document,)
        The run that retrieved the document, as an index into the collection's runs, and the topic.
    rank : ndarray of int, shape (document,)
        Its rank there, from 1, at most ``depth``.
    pair : ndarray of int32, shape (document,)
        Its code.
    depth : int
        Largest possible rank of the documents.
    rel, given : int
        Smallest relevance that counts as relevant, and of documents that count.
    cutoff : int
        Cutoff of the measure, for predictors about P@n itself.
    known : KnownFusion, optional
        Result of learned fusion for these documents, where it was found before.
    """

    collection: Collection
    run: OrderArray
    topic: OrderArray
    rank: OrderArray
    pair: IntArray
    depth: int
    rel: int
    given: int
    cutoff: int
    known: KnownFusion | None = None

    @cached_property
    def runs(self) -> OrderArray:
        """Distinct runs that retrieved the documents."""
        return np.unique(self.run)

    @cached_property
    def row(self) -> OrderArray:
        """Index into ``runs`` for each document's run, shape (document,)."""
        return np.searchsorted(self.runs, self.run)

    @cached_property
    def state(self) -> npt.NDArray[np.int8]:
        """Document states in each run's top ranks with its organization held out, (run, topic, rank).

        There are max(``depth``, 100) ranks; shorter runs are filled with missing documents. Of more than
        1,000 there are no more than the longest of these runs has.
        """
        # the shape must not depend on how long other runs are: sums over neighbors would round differently
        longest = int(self.collection.length[self.runs].max(initial=0))
        reach = max(min(self.depth, max(longest, _FULL_DEPTH)), _NEIGHBOR_DEPTH)
        state = states_without_own(self.collection, self.runs, reach, rel=self.rel, given=self.given)
        lacking = reach - state.shape[2]
        return np.pad(state, ((0, 0), (0, 0), (0, lacking)), constant_values=np.int8(MISSING))

    @cached_property
    def relevant(self) -> BoolArray:
        """Whether the document at each rank is relevant in ``state``, shape (run, topic, rank)."""
        return np.asarray(self.state == RELEVANT)

    @cached_property
    def nonrelevant(self) -> BoolArray:
        """Whether the document at each rank is nonrelevant in ``state``, shape (run, topic, rank)."""
        return np.asarray(self.state == NONRELEVANT)

    @cached_property
    def top(self) -> int:
        """Number of top ranks used to describe a run: the pool depth, limited to between 10 and 30."""
        return int(np.clip(self.collection.pool_depth, *_TOP_DEPTH_RANGE))

    @cached_property
    def top_relevant(self) -> IndexArray:
        """Number of relevant documents in each run's ``top`` ranks, shape (run, topic)."""
        return _count(self.relevant[:, :, : self.top])

    @cached_property
    def top_nonrelevant(self) -> IndexArray:
        """Number of nonrelevant documents in each run's ``top`` ranks, shape (run, topic)."""
        return _count(self.nonrelevant[:, :, : self.top])

    @cached_property
    def among_others(self) -> AmongOthers:
        """Summaries of document ranks in other organizations' pooled runs."""
        collection, pooled = self.collection, np.flatnonzero(self.collection.pooled)
        longest = max(1, int(collection.length[pooled].max(initial=0)))
        absent = float(_ABSENT_RANK_FACTOR * longest)
        top = np.minimum(collection.run_depths(pooled), _TOP_DEPTH_RANGE[1])
        document = collection.document[pooled, :, : int(top.max(initial=0))]
        level = np.append(collection.relevance, np.int16(-1))[document]
        level = np.where(np.arange(level.shape[2]) < top[:, None, None], level, np.int16(-1))
        precision = ((level >= self.rel).sum(axis=2) + 0.5) / ((level >= self.given).sum(axis=2) + 1)
        n_runs, n_retrieving, best, fusion = _summarize(
            pooled_ranks(collection, self.pair),
            self.topic.astype(np.int64),
            collection.organization[self.run].astype(np.int64),
            collection.organization[pooled].astype(np.int64),
            rank_gains(collection),
            precision,
            absent,
        )
        return AmongOthers(np.maximum(n_runs, 1), n_retrieving, best, fusion)

    @cached_property
    def learned_odds(self) -> FloatArray:
        """Relevance log odds from learned fusion over other organizations' pooled runs."""
        if self.known is not None:
            return self.known.odds / FUSION_UNITS
        return self._learned.log_odds(self.run, self.topic, self.pair)

    @cached_property
    def run_skill_regression(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Intercept, slope and mean of `learned_odds` in each run's regression, arrays of shape (row,)."""
        if self.known is not None:
            return self.known.skill, self.known.slope, self.known.mean
        return self._learned.run_skill_regression(self.runs)

    @property
    def fusion(self) -> KnownFusion:
        """Result of learned fusion for the documents and their runs."""
        odds = np.rint(self.learned_odds * FUSION_UNITS).astype(np.int32)
        return KnownFusion(odds, *self.run_skill_regression)

    @property
    def _learned(self) -> LearnedFusion:
        collection = self.collection
        contributing = collection.organization[collection.contributors]
        held_out = bool(np.isin(collection.organization[self.runs], contributing).any())
        return learned_fusion(collection, rel=self.rel, given=self.given, held_out=held_out)

    @cached_property
    def composition(self) -> tuple[FloatArray, FloatArray]:
        """Mean change in pooled runs' P@n and anti-precision after composition with the document's run.

        Two arrays of shape (document,); the run's organization is out of the pool.
        """
        collection = self.collection
        delta_precision, delta_antiprecision = np.zeros(len(self.run)), np.zeros(len(self.run))
        run_organization = collection.organization[self.run]
        for o in np.unique(run_organization):
            reduced = collection.unpool(organization=collection.organizations[o])
            rows = np.flatnonzero(run_organization == o)
            runs, row = np.unique(self.run[rows], return_inverse=True)
            effects = composition_effects(
                reduced,
                [collection.run_ids[r] for r in runs],
                cutoffs=self.cutoff,
                rel=self.rel,
                given=self.given,
            )
            delta_precision[rows] = effects.delta_precision[row, self.topic[rows], 0]
            delta_antiprecision[rows] = effects.delta_antiprecision[row, self.topic[rows], 0]
        return delta_precision, delta_antiprecision


@compiled
def _summarize(
    ranks: IntArray,
    topic: IndexArray,
    own: IndexArray,
    organization: IndexArray,
    gain: FloatArray,
    precision: FloatArray,
    absent: float,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the parts of `AmongOthers` for documents with these ranks in pooled runs."""
    n_runs, n_retrieving, fusion = np.zeros(len(own)), np.zeros(len(own)), np.zeros(len(own))
    best = np.full(len(own), absent)
    for d in range(len(own)):
        for r in range(len(organization)):
            if organization[r] == own[d]:
                continue
            n_runs[d] += 1
            rank = ranks[d, r]
            if rank > 0:
                n_retrieving[d] += 1
                fusion[d] += gain[rank] * precision[r, topic[d]]
                best[d] = min(best[d], float(rank))
    return n_runs, n_retrieving, best, fusion


def _count(mask: BoolArray) -> IndexArray:
    """Return the number of True entries along the last axis."""
    return np.asarray(mask.sum(axis=-1))


Per = Literal["ranking", "label", "document"]


@dataclass(frozen=True, kw_only=True)
class Predictor:
    """Quantity known about a document before it is judged, used to predict relevance.

    Parameters
    ----------
    name : str
    description : str
        One line in Markdown, for the tables of the documentation.
    per : {"ranking", "label", "document"}
        Whether all documents of a run and topic have the same value, or one of a few by their labels. A model
        without predictors per document counts the documents of a ranking in one row, or in a few.
    compute : callable
        `DocumentContext` → ndarray of float, shape (document,), finite; predictors of labels have NaN where
        there is none. Documents that the document's own organization alone contributed must not take part.
    slope : (float, float), optional
        Prior mean and standard deviation of its slope in the evidence model, per unit of its own scale.
        Without one the evidence model does not use it.
    version : str, optional
        Of your own predictor: change it with ``compute``. Experiments use stored folds again for the same
        version only; without one they compute all folds again.

    Raises
    ------
    InputError
        A slope without a spread, or an unknown ``per``.
    """

    name: str
    description: str
    per: Per
    compute: Callable[[DocumentContext], FloatArray] = field(repr=False)
    slope: tuple[float, float] | None = None
    version: str = ""

    def __post_init__(self) -> None:
        if self.per not in get_args(Per):
            raise InputError(
                f"predictor {self.name}: no per {self.per!r}", hint=known_names(self.per, get_args(Per))
            )
        if self.slope is not None and not (np.isfinite(self.slope).all() and self.slope[1] > 0):
            raise InputError(
                f"predictor {self.name}: its slope {self.slope} is not a mean and a standard deviation over 0"
            )


PREDICTORS: dict[str, Predictor] = {}
"""Registered predictors, keyed by name, in the order of table columns and model slopes."""


def register_predictor(predictor: Predictor) -> None:
    """Register a predictor, which the evidence model uses if it has an expected slope.

    A name that another predictor has is an `InputError`; ``del PREDICTORS[name]`` frees it.
    """
    if predictor.name in PREDICTORS:
        raise InputError(f"there is a predictor {predictor.name!r} already", hint="give it another name")
    PREDICTORS[predictor.name] = predictor


def evidence_predictors() -> tuple[str, ...]:
    """Return the names of the evidence model's predictors, which have an expected slope."""
    return tuple(name for name, predictor in PREDICTORS.items() if predictor.slope is not None)


Compute = Callable[[DocumentContext], FloatArray]


def _predictor(
    per: Per, description: str, slope: tuple[float, float] | None = None
) -> Callable[[Compute], Compute]:
    """Register the decorated function as a predictor under its own name."""

    def register(compute: Compute) -> Compute:
        name = compute.__name__.removeprefix("_")
        register_predictor(
            Predictor(name=name, description=description, per=per, compute=compute, slope=slope)
        )
        return compute

    return register


def _log_odds(n: IndexArray, n_other: IndexArray) -> FloatArray:
    """Return the log odds between two numbers of documents, with ½ added to each."""
    return np.log((n + 0.5) / (n_other + 0.5))


@_predictor("document", "log of the document's rank in the run", slope=(-0.1, 0.2))
def _log_rank(documents: DocumentContext) -> FloatArray:
    return np.log(documents.rank)


@_predictor(
    "ranking",
    "log odds of relevant and nonrelevant judged documents (each plus ½) of the run on the topic, in the top "
    "10 to 30, as deep as the pool",
    slope=(0.2, 0.3),
)
def _precision(documents: DocumentContext) -> FloatArray:
    return _log_odds(documents.top_relevant, documents.top_nonrelevant)[documents.row, documents.topic]


@_predictor("ranking", "`precision` with the documents of all topics of the run summed", slope=(0.9, 0.5))
def _run_precision(documents: DocumentContext) -> FloatArray:
    run_rate = _log_odds(documents.top_relevant.sum(axis=1), documents.top_nonrelevant.sum(axis=1))
    return run_rate[documents.row]


@_predictor(
    "document",
    "share of the pooled runs of other organizations that retrieve the document at any depth",
    slope=(0.0, 1.0),
)
def _support(documents: DocumentContext) -> FloatArray:
    others = documents.among_others
    return others.n_retrieving / others.n_runs


@_predictor(
    "document",
    "log of the document's best rank in a pooled run; twice the longest ranking of one where none has it",
    slope=(-0.5, 0.3),
)
def _log_best_rank(documents: DocumentContext) -> FloatArray:
    return np.log(documents.among_others.best_rank)


@_predictor(
    "document",
    r"$\log\bigl(1 + 10 \cdot \text{mean of precision}/\log_2(1 + \text{rank})\bigr)$ over them, 0 for a "
    "run that does not retrieve it; the precision is that of what the run contributed to the pool on the "
    "topic, to rank 30 at most",
    slope=(4.0, 3.0),
)
def _fusion(documents: DocumentContext) -> FloatArray:
    others = documents.among_others
    return np.log1p(10 * others.fusion / others.n_runs)


_HALF_WEIGHT_DISTANCE = 5.0  # ranks to a judged neighbor that counts half


@_predictor(
    "document",
    "log odds of relevant and nonrelevant judged documents of the run around the document, down to rank "
    "100, or the cutoff if that is deeper: a neighbor $d$ ranks away weighs $1/(1 + d/5)$, and the run's "
    "precision over all topics counts as one more neighbor",
    slope=(0.8, 0.4),
)
def _local_precision(documents: DocumentContext) -> FloatArray:
    """Return the logit of weighted precision around each document's rank, shape (document,).

    The run's precision counts as one more neighbor.
    """
    # all ranks of ``state`` are summed: a matrix product of another shape may round its sums in another order
    relevant, nonrelevant = documents.relevant, documents.nonrelevant
    ranks = np.arange(relevant.shape[2])
    nearness = 1 / (1 + np.abs(ranks[:, None] - ranks) / _HALF_WEIGHT_DISTANCE)
    n_relevant, n_nonrelevant = relevant.sum(axis=(1, 2)), nonrelevant.sum(axis=(1, 2))
    run_rate = ((n_relevant + 0.5) / (n_relevant + n_nonrelevant + 1))[documents.row]
    place = documents.row, documents.topic, documents.rank - 1
    near_relevant, near_nonrelevant = (relevant @ nearness)[place], (nonrelevant @ nearness)[place]
    return np.asarray(np.log((near_relevant + run_rate) / (near_nonrelevant + 1 - run_rate)))


@_predictor(
    "ranking",
    "log odds of a document in the run's top 10 to 30 being unjudged, over all topics: how far the run is "
    "from the pool",
    slope=(0.2, 0.15),
)
def _run_unjudged(documents: DocumentContext) -> FloatArray:
    top = documents.state[:, :, : documents.top]
    n_unjudged, n_missing = (_count(top == state).sum(axis=1) for state in (UNJUDGED_STATE, MISSING))
    n_judged = top.shape[1] * top.shape[2] - n_unjudged - n_missing
    return _log_odds(n_unjudged, n_judged)[documents.row]


@_predictor(
    "ranking",
    r"$\Delta P$: what composing the run with the pooled runs, without those of its organization, does to "
    "their P@n on the topic",
)
def _delta_precision(documents: DocumentContext) -> FloatArray:
    return documents.composition[0]


@_predictor(
    "ranking", r"$\Delta \bar P$: what it does to their anti-precision, the share of nonrelevant documents"
)
def _delta_antiprecision(documents: DocumentContext) -> FloatArray:
    return documents.composition[1]


COMPOSITION_PREDICTORS = ("delta_precision", "delta_antiprecision")
"""Names of predictors based on composing the run with pooled runs (Lipani et al. 2015)."""


@_predictor(
    "document",
    "log odds of relevance that the judged documents teach of the pooled runs of other organizations that "
    "retrieve the document: by weights of runs, by documents that the same runs retrieve, by its support and "
    "best rank (*Learned fusion* in docs/models.md)",
)
def _learned_fusion(documents: DocumentContext) -> FloatArray:
    return documents.learned_odds


@_predictor(
    "ranking",
    "shift of these log odds at which they fit the run's own judged documents in its top 30: what the run "
    "knows beyond the others",
)
def _run_skill(documents: DocumentContext) -> FloatArray:
    return documents.run_skill_regression[0][documents.row]


@_predictor(
    "document",
    "slope at which these log odds fit the run's own judged documents, less 1, times the document's log odds "
    "less their mean there: whether the run finds relevant documents that others pass over",
)
def _run_slope(documents: DocumentContext) -> FloatArray:
    _, slope, mean = documents.run_skill_regression
    return slope[documents.row] * (documents.learned_odds - mean[documents.row])


@_predictor(
    "document", "log of the rate at which a published sample took documents of its stratum; 0 for others"
)
def _log_rate(documents: DocumentContext) -> FloatArray:
    sample = documents.collection.sample
    if sample is None:
        return np.zeros(len(documents.pair))
    return np.nan_to_num(np.log(sample.rates))[documents.pair]


@_predictor(
    "document",
    r"log of 1 plus the sum of $1/\log_2(1 + \text{rank})$ over the pooled runs that retrieve the document, "
    "at any depth",
)
def _log_pooled_mass(documents: DocumentContext) -> FloatArray:
    collection, mass = documents.collection, np.zeros(len(documents.collection.relevance) + 1)
    for run in np.flatnonzero(collection.pooled):
        document, rank = ranked(collection.document, run)
        mass[document] += 1 / np.log2(2 + rank)  # no document, −1, is the last
    return np.log1p(mass)[documents.pair]


@_predictor("document", "share of the pooled runs that rank the document in their top 10")
def _pooled_share(documents: DocumentContext) -> FloatArray:
    pooled = documents.collection.pooled
    return _count_runs(documents, pooled, _TOP_DEPTH_RANGE[0]) / max(1, int(pooled.sum()))


def _count_runs(documents: DocumentContext, runs: BoolArray, depth: int) -> IndexArray:
    """Return the number of runs, a mask, that have each document in their top ranks, shape (document,)."""
    pair = documents.collection.document[runs, :, :depth]
    return np.bincount(pair[pair >= 0], minlength=len(documents.collection.relevance))[documents.pair]


@_predictor(
    "document",
    "log of the number of runs outside the pool, its own included, that rank the document in their top 10 to "
    "30, as deep as the pool",
)
def _log_runs_outside(documents: DocumentContext) -> FloatArray:
    n_runs = _count_runs(documents, ~documents.collection.pooled, documents.top)
    return np.log(np.maximum(n_runs, 1))


def company_means(documents: DocumentContext, values: FloatArray) -> FloatArray:
    """Return the mean quality of the pooled runs that have each document in their top, shape (document,).

    The quality of a run is the mean of ``values`` at its top ranks, of shape (run, topic, rank) and NaN where
    there is none, in standard deviations over pooled runs; 0 where there are fewer than five.
    """
    collection, there = documents.collection, ~np.isnan(values)
    pooled, n = np.flatnonzero(collection.pooled), there.sum(axis=(1, 2))
    mean = np.where(there, values, 0.0).sum(axis=(1, 2)) / np.maximum(n, 1)
    known = mean[pooled][n[pooled] > 0]
    center, unit = (known.mean(), known.std()) if len(known) else (0.0, 0.0)
    is_spread = unit > _LEAST_SPREAD and len(known) >= _LEAST_RUNS
    quality = np.where((n > 0) & is_spread, (mean - center) / max(unit, _LEAST_SPREAD), 0.0)
    document = collection.document[pooled, :, : documents.top]
    weight = np.broadcast_to(1 / np.log2(2 + np.arange(document.shape[2])), document.shape)
    total, summed = (
        np.bincount(document[document >= 0], w[document >= 0], len(collection.relevance))[documents.pair]
        for w in (weight, weight * quality[pooled, None, None])
    )
    return np.where(total > 0, summed / np.where(total > 0, total, 1.0), quality[documents.run])

"""The corrections as the published tool computes them, step by step, for `reproduction.py`.

bayespool follows the papers. The tool that came with "Splitting Water" (A. Lipani, M. Lupu and A. Hanbury,
SIGIR 2015) leaves them in small ways, in the version of 2015, behind table 2 of the paper, and in that of
2020. Each way is a switch here, so that it can be turned off and its effect be seen. They are estimators
like any other, handed to `bayespool.leave_out`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.corrections import Corrected, PointCorrection
from bayespool.evidence import MISSING, NONRELEVANT, RELEVANT, Bounds, count_within, held_out_counts, states

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

ORDER_BITS = 11  # of a rank in a run, when position and rank are packed into one integer


def rounded(values: npt.ArrayLike, decimals: int | None) -> FloatArray:
    """Rounded half up, as the tool rounds; as they are for None."""
    array = np.asarray(values, dtype=float)
    if decimals is None:
        return array
    unit = 10.0**decimals
    return np.floor(array * unit + 0.5) / unit


def shifted(found: Bounds, added: FloatArray) -> Corrected:
    """P@n as it stands with a constant of shape (run,) added on every topic."""
    return Corrected(found.lower + np.where(np.abs(added) < 1e-12, 0, added)[:, None])


@dataclass(frozen=True, kw_only=True)
class ToolAntiPrecision(PointCorrection):
    """The correction of Lipani et al. (2015) as the tool computes it.

    Parameters
    ----------
    decimals : int or None
        P@n and anti-P@n are rounded before they are used, P@n as it stands included.
    moved_up_first : bool
        Of two documents that compete for a rank, one that moved up to it goes first, and one that moved down
        goes last. The text below equation 2, and bayespool, always let the document that only the pooled run
        has go first.
    missing_unjudged : bool
        Missing ranks of a short list are part of the unjudged share. In bayespool they are not relevant.
    own_topics : bool
        Means are over the topics that a run has, and those of a composed run over the topics that both have.
        In bayespool they are over all topics.
    composed_with : mapping of int to tuple of str, optional
        By cutoff, the runs composed with u, u itself left out: in 2015 all that were kept, with those of u's
        own organization. None for the runs that are still in the pool, as in 2020 and in bayespool.
    """

    decimals: int | None = 4
    moved_up_first: bool = True
    missing_unjudged: bool = True
    own_topics: bool = True
    composed_with: Mapping[int, tuple[str, ...]] | None = None

    @property
    def name(self) -> str:
        """``tool-anti-precision``."""
        return "tool-anti-precision"

    def correct(self, collection: Collection, found: Bounds) -> Corrected:
        """Algorithm 1 on means over topics."""
        return shifted(found, self.added(collection, found, found.measure.cutoff, found.measure.rel))

    def added(self, collection: Collection, found: Bounds, cutoff: int, rel: int) -> FloatArray:
        table = np.append(states(collection.relevance, rel), np.int8(MISSING))
        pooled = np.flatnonzero(collection.pooled)
        if self.composed_with is not None:
            pooled = collection.run_index(self.composed_with[cutoff])
        has = collection.length > 0
        counted = has if self.own_topics else np.ones_like(has)
        document = collection.document[pooled]
        before = split(table[document[:, :, :cutoff]], cutoff)
        stands = [self.mean_score(part, counted[pooled], cutoff) for part in before]
        rank = np.zeros(len(collection.relevance) + 1, dtype=np.int64)
        added = np.zeros(len(found.run_ids))
        for row, u in enumerate(collection.run_index(found.run_ids)):
            own = split(table[collection.document[u : u + 1, :, :cutoff]], cutoff)
            s, anti = (float(self.mean_score(part, counted[u : u + 1], cutoff)[0]) for part in own)
            k = 1 - s - anti
            if not self.missing_unjudged:
                k = found.n_unjudged[row].sum() / (cutoff * counted[u].sum())
                anti = 1 - s - k
            rank[:] = 0
            rank[collection.document[u]] = np.arange(1, document.shape[2] + 1)
            rank[-1] = 0
            now = [part.copy() for part in before]
            for t in np.flatnonzero(has[u]):
                state = table[composed(document[:, t], rank, cutoff, up_first=self.moved_up_first)]
                for part, of_topic in zip(now, split(state[:, None, :], cutoff), strict=True):
                    part[:, t] = of_topic[:, 0]
            both = counted[pooled] & counted[u]
            others = pooled != u
            delta_p, delta_anti = (
                (self.mean_score(part, both, cutoff) - stood)[others].mean()
                for part, stood in zip(now, stands, strict=True)
            )
            adjustment = 0.0
            if abs(k) > 1e-12 and delta_p * anti - delta_anti * s > 0:
                adjustment = k * max(-delta_p - delta_anti, 0)
            as_it_stands = found.low.amount[row].sum() / (cutoff * counted[u].sum())
            added[row] = s + adjustment - as_it_stands
        return added

    def mean_score(self, n: IntArray, counted: npt.NDArray[np.bool_], cutoff: int) -> FloatArray:
        """Mean share of the top n over the counted topics of each run."""
        total = np.where(counted, n, 0).sum(axis=1)
        return rounded(total / (cutoff * counted.sum(axis=1)), self.decimals)


def split(state: npt.NDArray[np.int8], cutoff: int) -> tuple[IntArray, IntArray]:
    """Numbers of relevant and of nonrelevant documents in the top n, shape (run, topic)."""
    relevant = count_within(state == RELEVANT, (cutoff,))[:, :, 0]
    return relevant, count_within(state == NONRELEVANT, (cutoff,))[:, :, 0]


def composed(document: IntArray, rank: npt.NDArray[np.int64], depth: int, *, up_first: bool) -> IntArray:
    """The first documents of runs (run, rank) when those that u has move to the ranks that it gives them."""
    own = np.arange(1, document.shape[1] + 1)
    theirs = rank[document]
    place = np.where(theirs > 0, theirs, own)
    arrives = np.where(theirs == own, 1, np.where(theirs > own, 2, 0)) if up_first else 2
    packed = (place << 2 | np.where(theirs > 0, arrives, 1)) << ORDER_BITS | own
    packed[document < 0] = np.iinfo(np.int64).max
    depth = min(depth, document.shape[1])
    packed = np.sort(np.partition(packed, depth - 1, axis=1)[:, :depth], axis=1)
    missing = packed == np.iinfo(np.int64).max
    column = np.where(missing, 0, (packed & (2**ORDER_BITS - 1)) - 1)
    return np.where(missing, -1, np.take_along_axis(document, column, axis=1))


@dataclass(frozen=True, kw_only=True)
class ToolSystemsAdjustment(PointCorrection):
    """The adjustment of Webber & Park (2009) as the tool of 2020 computes it.

    Parameters
    ----------
    own_topics : bool
        What a pooled run loses is its mean over the topics that it has. In bayespool it is over all topics.
    tags : mapping of str to str
        Runs whose files carry one and the same tag: they leave the pool together.
    """

    own_topics: bool = True
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``tool-systems-adjustment``."""
        return "tool-systems-adjustment"

    def correct(self, collection: Collection, found: Bounds) -> Corrected:
        """P@n as it stands plus the mean loss of the pooled runs, one left out at a time."""
        names = [self.tags.get(run, run) for run in collection.run_ids]
        units = tuple(dict.fromkeys(names))
        by_tag = dataclasses.replace(
            collection,
            organizations=units,
            organization=np.array([units.index(name) for name in names], dtype=np.int32),
        )
        cutoff = found.measure.cutoff
        held_out = held_out_counts(by_tag, cutoffs=cutoff, rel=found.measure.rel)
        n_topics = topics_of(collection, held_out.run_ids, own=self.own_topics)
        lost = held_out.n_hidden_relevant[:, :, 0].sum(axis=1) / (n_topics * cutoff)
        return shifted(found, np.full(len(found.run_ids), lost.mean()))


@dataclass(frozen=True, kw_only=True)
class PaperSystemsAdjustment(PointCorrection):
    """The adjustment of Webber & Park (2009) as the tool of 2015 computes it.

    What the figures say: the inner loop takes the run u alone out of the pool, and not u's organization, so
    that the judgments of u's siblings are back, though not in the pool that u is scored on; and the mean is
    over all runs but u, in which the siblings count with a loss of 0.

    Parameters
    ----------
    whole : Collection
        With nobody left out.
    runs : mapping of int to tuple of str
        By cutoff, the runs that the pool is made of.
    decimals : int or None
        All P@n are rounded before they are used.
    siblings_in_pool : bool
        False takes the siblings' judgments away again.
    siblings_in_mean : bool
        False takes the mean over the runs of other organizations.
    """

    whole: Collection
    runs: Mapping[int, tuple[str, ...]]
    decimals: int | None = 4
    siblings_in_pool: bool = True
    siblings_in_mean: bool = True

    @property
    def name(self) -> str:
        """``paper-systems-adjustment``."""
        return "paper-systems-adjustment"

    def correct(self, collection: Collection, found: Bounds) -> Corrected:
        """P@n as it stands plus the mean loss."""
        added, cutoff = np.zeros(len(found.run_ids)), found.measure.cutoff
        still = set(collection.pooled_run_ids)
        for row, run in enumerate(found.run_ids):
            pool = [r for r in self.runs[cutoff] if r != run and (self.siblings_in_pool or r in still)]
            lost = self.losses(pool, cutoff, found.measure.rel)
            n_runs = len(self.runs[cutoff]) - 1 if self.siblings_in_mean else len(still)
            mean = sum(loss for r, loss in lost.items() if r in still) / n_runs
            n_topics = int(topics_of(collection, (run,), own=True)[0])
            stands = found.low.amount[row].sum() / (cutoff * n_topics)
            added[row] = float(rounded(stands, self.decimals)) + mean - stands
        return shifted(found, added)

    def losses(self, pool: list[str], cutoff: int, rel: int) -> dict[str, float]:
        gone = set(self.whole.pooled_run_ids) - set(pool)
        reduced = self.whole.unpool(sorted(gone)) if gone else self.whole
        held_out = held_out_counts(reduced, cutoffs=cutoff, rel=rel, by="run")
        n_ranks = topics_of(self.whole, held_out.run_ids, own=True) * cutoff
        without = held_out.n_relevant[:, :, 0].sum(axis=1)
        hidden = held_out.n_hidden_relevant[:, :, 0].sum(axis=1)
        lost = rounded((without + hidden) / n_ranks, self.decimals) - rounded(
            without / n_ranks, self.decimals
        )
        return dict(zip(held_out.run_ids, lost.tolist(), strict=True))


def topics_of(collection: Collection, run_ids: tuple[str, ...], *, own: bool) -> npt.NDArray[np.intp]:
    """Number of topics that each run has, or of all topics."""
    if not own:
        return np.full(len(run_ids), len(collection.query_ids))
    return np.asarray((collection.length[collection.run_index(run_ids)] > 0).sum(axis=1))

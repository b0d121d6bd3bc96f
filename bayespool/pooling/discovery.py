"""Discover which runs were pooled and how deep, and compare judgments with a stated pooling strategy."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayespool.arrays import BoolArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.contents import SPARSE_NOTE, DepthPool
from bayespool.collection.copies import TOP_OF_OVERLAP, find_copied_organizations
from bayespool.collection.own import describe_others
from bayespool.collection.rankings import blocks
from bayespool.errors import InputError, NoPoolWarning, PoolWarning, StatedPoolWarning, warn_caller
from bayespool.notes import Kind, Note, noted
from bayespool.pooling.candidates import (
    SHARES,
    CandidatePool,
    PoolPlausibility,
    candidate_pools,
    find_alternative,
    missing_pairs,
    rank_counts,
)
from bayespool.pooling.pools import StrategyPool
from bayespool.tables.formatting import counted, percent, some_of
from bayespool.validation import check_choice, check_count, check_number

PoolRule = Literal["leading", "skipping"]

_MAX_MISSING_SHARE = 0.01  # of a run's documents down to a depth of its own, if the pool has fewer
_MIN_OWN_DOCUMENTS = 10
_MIN_RUNS_PER_TIER = 2


@dataclass(frozen=True, slots=True)
class PoolReport:
    """Summary of a collection's pool.

    Attributes
    ----------
    n_pooled_runs, n_runs : int
        Runs that contributed, and all runs.
    n_organizations : int
        Organizations with a pooled run.
    depth : int
        Pool depth, the common one; 0 without a pooled run.
    n_holes : int
        Unjudged (topic, document) pairs that a pooled run retrieved within its depth, or that the strategy of
        the pool chooses; 0 in a clean pool.
    n_judged, n_unexplained : int
        Judgments, and those among them whose document no pooled run retrieved within its depth (absent or
        deeper contributors, sampling, manual searches), or the strategy does not choose.
    n_candidates : int
        Runs that may have been pooled: all but those to score.
    depths : tuple of (int, int)
        Each depth to which a run was pooled, the deepest first, and the number of runs.
    alternative : str
        Another pool that explains the judgments nearly as well, and how it is chosen; mostly empty.
    negatives : str
        Number and meaning of negative judgments; empty without any.
    strategy : str
        Strategy and budget that made the pool; empty where it has a depth. ``depth`` is then that of a depth
        pool of the same size.
    ranks : str
        Runs whose ranks and scores disagree (`Collection.rank_note`); mostly empty.
    scope : tuple of str
        Topics that count, and documents that were taken out (`Collection.scope_notes`).
    topics : str
        Runs whose topics agree with those of the qrels in part only (`Collection.topic_note`); mostly empty.
    is_sparse : bool
        Whether hardly any document but relevant ones is judged, without a pool, whatever a measure asks for
        (`Collection.is_sparse`).
    own_judgments : tuple of str
        Notes on the user's judgments: what audits that they are of say of the posterior without them
        (`Audit.apply_to`), and whether posteriors learn from them.
    doubts : tuple of str
        Reasons to doubt the pool: it explains little, or its documents are hardly judged more often than
        others (`bayespool.pooling.candidates.PoolPlausibility`).
    evidence : str
        What posteriors rest on where no organization can be left out of a pool; mostly empty.
    copies : tuple of str
        Notes on organizations of the pool that are copies.
    """

    n_pooled_runs: int
    n_runs: int
    n_organizations: int
    depth: int
    n_holes: int
    n_judged: int
    n_unexplained: int
    n_candidates: int = 0
    depths: tuple[tuple[int, int], ...] = ()
    alternative: str = ""
    negatives: str = ""
    strategy: str = ""
    ranks: str = ""
    scope: tuple[str, ...] = ()
    topics: str = ""
    is_sparse: bool = False
    own_judgments: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    evidence: str = ""
    copies: tuple[str, ...] = ()

    def __str__(self) -> str:
        negatives = f", {self.negatives}" if self.negatives else ""
        if self.n_pooled_runs == 0:
            runs = counted(self.n_runs, "run")
            return f"no pooled run among {runs}; {counted(self.n_judged, 'judgment')}{negatives}"
        pooling = f"by {self.strategy}" if self.strategy else f"to depth {self.depth}"
        if len(self.depths) > 1:
            pooling = "to depths " + ", ".join(f"{depth} ({counted(n, 'run')})" for depth, n in self.depths)
        return (
            f"{self.n_pooled_runs} of {counted(self.n_runs, 'run')} pooled {pooling} "
            f"({counted(self.n_organizations, 'organization')}), {counted(self.n_holes, 'hole')}; "
            f"{self.n_judged - self.n_unexplained:,} of {counted(self.n_judged, 'judged document')} "
            f"in this pool{negatives}"
        )

    @property
    def warning_text(self) -> str:
        """Reasons to doubt the pool as a warning text, or ''."""
        return f"the pool is in doubt: {'; '.join(self.doubts)}" if self.doubts else ""

    @property
    def _alternative_text(self) -> str:
        return self.alternative and f"another pool explains the judgments nearly as well: {self.alternative}"

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes to read before quoting a result, such as doubts about the pool."""
        texts: dict[Kind, tuple[str, ...]] = {
            "pool-in-doubt": (self.warning_text,),
            "another-pool": (self._alternative_text,),
            "copies": self.copies,
            "scope": self.scope,
            "sparse": (SPARSE_NOTE,) * self.is_sparse,
            "own-judgments": self.own_judgments,
            "ranks": (self.ranks,),
            "topics": (self.topics,),
        }
        return tuple(note for kind, of_kind in texts.items() for note in noted(filter(None, of_kind), kind))

    def text(self) -> str:
        """Return the report with notes on scope and any alternative pool."""
        return "\n  ".join(filter(None, (str(self), *self.scope, self._alternative_text)))


def describe_pool(collection: Collection) -> PoolReport:
    """Summarize a collection's pool.

    Examples
    --------
    >>> from bayespool import load_example
    >>> describe_pool(load_example()).n_holes
    0
    """
    judged = collection.relevance >= 0
    inside = collection.in_pool()
    pooled = np.flatnonzero(collection.pooled)
    depths, n_runs = np.unique(collection.run_depths(pooled), return_counts=True)
    pool, n_judged, n_unexplained = collection.pool, int(judged.sum()), int((judged & ~inside).sum())
    by_strategy, n_candidates = isinstance(pool, StrategyPool), int(_may_be_pooled(collection).sum())
    n_organizations = len(np.unique(collection.organization[pooled]))
    copied = find_copied_organizations(collection)
    n_apart = n_organizations - sum(len(names) - 1 for names in copied)
    evidence = "" if n_apart > 1 else "priors alone"
    if evidence and collection.sample is not None:
        is_published = collection.sample.by_topic or collection.sample.as_trec_eval
        evidence = "the published sample" if is_published else "answers to a design"
    elif evidence and (collection.attributed_run >= 0).any():
        evidence = "priors and judgments of your own"
    if collection.judges and not len(pooled):
        evidence = f"{evidence.removesuffix(' alone')} and labels of a judge"
    return PoolReport(
        n_pooled_runs=len(pooled),
        n_runs=len(collection.run_ids),
        n_organizations=n_organizations,
        depth=collection.pool_depth,
        n_holes=int((inside & ~judged).sum()),
        n_judged=n_judged,
        n_unexplained=n_unexplained,
        depths=tuple((int(d), int(n)) for d, n in zip(depths[::-1], n_runs[::-1], strict=True)),
        n_candidates=n_candidates,
        alternative=pool.alternative if isinstance(pool, DepthPool) else "",
        negatives=str(collection.negatives),
        strategy=str(pool) if by_strategy else "",
        ranks=collection.rank_note,
        scope=collection.scope_notes,
        topics=collection.topic_note,
        is_sparse=collection.is_sparse,
        own_judgments=() if collection.own is None else (*collection.own.notes, describe_others(collection)),
        doubts=_doubts(collection) if len(pooled) else (),
        evidence=evidence,
        copies=_copies(copied),
    )


def _copies(groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return a note on each group of organizations that are copies."""
    return tuple(
        f"{some_of(names, 5)} have nine tenths of their top {TOP_OF_OVERLAP} in common: posteriors count "
        "these organizations as one"
        for names in groups
    )


def _may_be_pooled(collection: Collection) -> BoolArray:
    """Return a mask of runs that may have been pooled, shape (run,): all but those to score."""
    to_score = {*collection.given_run_ids, *collection.formerly_pooled_run_ids}
    return np.asarray(collection.pooled | [run not in to_score for run in collection.run_ids])


def _doubts(collection: Collection) -> tuple[str, ...]:
    """Return reasons to doubt the pool, with the runs that were taken out of it as if they were in it."""
    if isinstance(collection.pool, DepthPool) and collection.pool.doubts:
        return collection.pool.doubts  # of a prepared collection
    if (joined := collection.memo.joined) is not None and collection.own is None:
        pool: Collection = joined.pool  # runs to score give no reason to doubt it
        return pool.memo.once("doubts", lambda: _doubts(pool))
    whole = _with_former_runs(collection)
    inside = whole.in_pool()
    judged = whole.judged & (inside | ~whole.is_own)
    candidates, n_pooled, doubts = _may_be_pooled(whole), int(whole.pooled.sum()), list[str]()
    n_others = int(candidates.sum()) - n_pooled
    # judgments that the pool does not explain are no reason where all runs at hand are in it: others
    # contributed, or judging went on
    if n_others and 2 * int((judged & ~inside).sum()) > int(judged.sum()):
        doubts.append(
            f"it explains less than half of the judgments, and {n_others} of "
            f"{counted(int(candidates.sum()), 'run')} of the campaign are not in it"
        )
    if not isinstance(whole.pool, StrategyPool):
        doubts += PoolPlausibility.of(whole, np.flatnonzero(candidates)).objections
    return tuple(doubts)


def _with_former_runs(collection: Collection) -> Collection:
    """Return the collection with runs back in the pool that were taken out, and their documents judged."""
    if not collection.formerly_pooled_run_ids:
        return collection
    pooled = collection.pooled.copy()
    pooled[collection.run_index(collection.formerly_pooled_run_ids)] = True
    whole = collection.with_pool(pooled, collection.pool)
    gone = whole.in_pool() & ~collection.in_pool() & ~collection.judged
    return dataclasses.replace(whole, relevance=np.where(gone, np.int16(0), collection.relevance))


def discover_pool(
    collection: Collection,
    candidates: Iterable[str] | None = None,
    *,
    depth: int | None = None,
    max_holes: float | None = None,
    pooled_run_ids: Iterable[str] | None = None,
    rule: PoolRule = "leading",
) -> Collection:
    """Discover which runs were pooled and their pool depths.

    The collection that comes back shares all arrays with the input.

    Parameters
    ----------
    collection : Collection
    candidates : iterable of str, optional
        Runs that may have been pooled (default: all), not those to score as new.
    depth : int, optional
        Pool depth where it is known.
    max_holes : float, optional
        What a pooled run may lack down to the depth: below 1 a share of its documents, else a number of
        documents on every topic. By default the share is chosen with the runs and the depth (for
        ``rule="skipping"`` a tenth of the depth, on every topic).
    pooled_run_ids : iterable of str or "all", optional
        The pooled runs where they are known, whatever their judgments; ``"all"`` for all candidates. Runs
        get depths of their own only where depth, holes and runs are all left out.
    rule : {"leading", "skipping"}
        Rule of discovery (:doc:`/files`); ``"skipping"`` is for reproductions of 2015.

    Raises
    ------
    InputError
        Unknown run or rule, negative depth or holes, pooled runs whose depth cannot be discovered, a depth
        that explains less than half of the judgments that another one does.

    Warns
    -----
    NoPoolWarning
        No candidate looks pooled.
    PoolWarning
        The pooled runs explain fewer than half of the judgments, and there are other candidates, so that
        held-out evidence may mislead.
    """
    check_count("pool depth", depth)
    check_number("max_holes", max_holes, least=0)
    if max_holes is not None and max_holes > 1 and max_holes != int(max_holes):
        hint = "below 1 a share of a run's documents, else a whole number of documents per topic"
        raise InputError(f"max_holes cannot be {max_holes!r}", hint=hint)
    check_choice("pool rule", rule, PoolRule)
    index = collection.run_index(candidates)
    n_runs, share, alternative, why = len(collection.run_ids), 0.0, None, ""
    if pooled_run_ids is not None:
        runs = index if means_all(pooled_run_ids) else collection.run_index(pooled_run_ids)
        pool_depth = depth or _find_depth(collection, runs, rule)
        if pool_depth == 0 and len(runs):
            hint = "give the depth (known_depth, --known-depth)"
            raise InputError("the judgments do not show the depth of the named runs' pool", hint=hint)
    elif rule == "skipping" or (max_holes is not None and (max_holes >= 1 or max_holes == 0)):
        pool_depth = depth or _find_depth(collection, index, rule)
        reached = min(
            pool_depth, int(collection.length[index].max(initial=0))
        )  # a stated depth may be larger
        n_holes = reached // 10 if max_holes is None else max_holes
        runs = index[_is_pooled(collection, index, reached, n_holes, rule)]
    else:
        pools = candidate_pools(
            collection, index, depth=depth, shares=SHARES if max_holes is None else (max_holes,)
        )
        pool_depth, runs = 0, index[:0]
        is_asked = depth is not None or max_holes is not None  # then the user answers for the pool
        believed = pools if is_asked else _plausible_pools(pools, collection, index)
        if depth is not None and max_holes is None:
            _refuse_far_depth(collection, index, depth, pools)
        if believed:
            pool_depth, runs, share = believed[0].depth, np.array(believed[0].runs), believed[0].share
            alternative = find_alternative(believed)
        elif pools:
            why = _objection_text(pools[0], collection, index)
    pooled = np.zeros(n_runs, dtype=bool)
    pooled[runs] = pool_depth > 0
    pool_depth = pool_depth if pooled.any() else 0
    other = "" if alternative is None else _option_text(alternative, collection)
    discovered = collection.with_pool(pooled, DepthPool(pool_depth, (pool_depth,) * n_runs, other))
    if pooled.any() and depth is None and max_holes is None and pooled_run_ids is None and rule == "leading":
        discovered = _with_other_depths(discovered, index, max(share, _MAX_MISSING_SHARE))
    if discovered.pooled.any():
        warn_of_doubt(describe_pool(discovered))
    else:
        reason = f"these runs are not the pool of these judgments ({why})" if why else "no run looks pooled"
        warn_caller(f"{reason}; name pooled runs and a depth if you know them", NoPoolWarning)
    return discovered


def _refuse_far_depth(
    collection: Collection, index: OrderArray, depth: int, pools: list[CandidatePool]
) -> None:
    """Raise `InputError` if another depth explains more than twice as many judgments as the stated one."""
    shown = _plausible_pools(candidate_pools(collection, index), collection, index)
    n_stated = pools[0].n_explained if pools else 0
    if shown and shown[0].n_explained > 2 * n_stated:
        stated, other = (percent(n / collection.judged.sum()) for n in (n_stated, shown[0].n_explained))
        reason = f"runs pooled to depth {depth} explain {stated} of the judgments, to depth {shown[0].depth} "
        raise InputError(
            reason + other,
            hint="leave out the known depth, or name the pooled runs, too (--reading pooled_run_ids=…)",
        )


def _plausible_pools(
    pools: list[CandidatePool], collection: Collection, index: OrderArray
) -> list[CandidatePool]:
    """Return candidate pools from the first plausible one on, if it scores at least half the best score."""
    for i, pool in enumerate(pools):
        if 2 * pool.score < pools[0].score:
            break
        if not PoolPlausibility.of(pool.of(collection), index).objections:
            return pools[i:]
    return []


def _objection_text(pool: CandidatePool, collection: Collection, index: OrderArray) -> str:
    """Return a candidate pool and the objections to it as text."""
    reasons = "; ".join(PoolPlausibility.of(pool.of(collection), index).objections)
    return f"the best candidate is {counted(len(pool.runs), 'run')} to depth {pool.depth}, but {reasons}"


def means_all(pooled_run_ids: Iterable[str]) -> bool:
    """Return whether ``pooled_run_ids`` is ``"all"``, meaning all candidates."""
    return pooled_run_ids in ("all", ("all",), ["all"])


def warn_of_doubt(report: PoolReport) -> None:
    """Warn (`PoolWarning`) if there are reasons to doubt a pool."""
    if report.warning_text:
        hint = "are runs of the campaign missing, or is its depth another one? bayespool pool --describe"
        warn_caller(f"{report.warning_text} ({report}); {hint} compares pools", PoolWarning)


def _with_other_depths(collection: Collection, candidates: OrderArray, share: float) -> Collection:
    """Return the collection with run-specific depths where judgments show them (step 4 of docs/files.md)."""
    common = collection.pool_depth
    depths = np.full(len(collection.run_ids), common, dtype=np.int32)
    missing, n_ranks = missing_pairs(collection), collection.document.shape[2]
    outside = np.append(~collection.in_pool(), False)  # the last is that of −1, no document
    for run in candidates:
        top, end = (common, n_ranks) if collection.pooled[run] else (0, min(common, n_ranks))
        counts = rank_counts(collection, run, n_ranks, missing, outside, outside & missing)
        n_documents, n_missing, n_own, n_own_missing = counts
        balance = np.append(0, np.cumsum((n_own - 5 * n_own_missing)[top:end]))
        depth = top + int(balance.argmax())
        within, below = slice(top, depth), slice(depth, min(end, max(2 * depth - top, common)))
        if (
            n_missing[within].sum() <= share * n_documents[within].sum()
            and min(n_own[within].sum(), n_own[below].sum()) >= _MIN_OWN_DOCUMENTS
            and 2 * n_own_missing[below].sum() >= n_own[below].sum()
        ):
            depths[run] = depth
    tiers, n_runs = np.unique(depths, return_counts=True)
    depths[~np.isin(depths, tiers[n_runs >= _MIN_RUNS_PER_TIER])] = common
    pooled = collection.pooled | (depths != common)
    pooled_depths, n_runs = np.unique(depths[pooled], return_counts=True)
    common = int(pooled_depths[n_runs == n_runs.max()].max())  # what would be judged of other runs, too
    depths[~pooled] = common
    alternative = collection.pool.alternative if isinstance(collection.pool, DepthPool) else ""
    return collection.with_pool(pooled, DepthPool(common, tuple(depths.tolist()), alternative))


def _option_text(pool: CandidatePool, collection: Collection) -> str:
    """Return an alternative pool as text, with its explained judgments and the options that select it."""
    n_judged = int((~missing_pairs(collection)[:-1]).sum())
    return (
        f"{pool} explain {percent(pool.n_explained / n_judged)} of the judgments: "
        f"--known-depth {pool.depth} --reading max_holes={pool.share:g}"
    )


def _find_depth(collection: Collection, index: OrderArray, rule: PoolRule) -> int:
    """Return the pool depth suggested by the judgments.

    0 if judgments do not show it.
    """
    if not len(index):
        return 0
    if rule == "skipping":
        n_leading = _count_leading(collection, index, max_holes=0).ravel()
        depths, frequency = np.unique(n_leading[n_leading > 0], return_counts=True)
        return int(depths[frequency == frequency.max()].max()) if len(depths) else 0
    pools = candidate_pools(collection, index)
    return pools[0].depth if pools else 0


def _is_pooled(
    collection: Collection, index: OrderArray, depth: int, max_holes: float, rule: PoolRule
) -> BoolArray:
    if depth == 0:
        return np.zeros(len(index), dtype=bool)
    length = collection.length[index]
    if rule == "leading":
        within = np.asarray(_count_leading(collection, index, max_holes) >= np.minimum(length, depth))
    else:
        present = _count_leading(collection, index, max_holes, present_only=True)
        within = np.asarray((present >= depth) | (10 * (length - present) <= depth))
    return np.asarray(within.all(axis=1))


def _count_leading(
    collection: Collection, index: OrderArray, max_holes: float, *, present_only: bool = False
) -> IntArray:
    """Return the number of top ranks with at most ``max_holes`` gaps, shape (run, topic).

    A gap is an unjudged document that the qrels do not list. ``present_only`` leaves gaps out of the length.
    """
    missing = missing_pairs(collection)
    n_leading = np.empty((len(index), len(collection.query_ids)), dtype=np.int32)
    for row, run in enumerate(index):
        for topics, depth in blocks(collection.document, run):
            hole = missing[collection.document[run, topics, :depth]]
            n_holes: OrderArray = np.cumsum(hole, axis=1)
            before = n_holes <= max_holes
            n_leading[row, topics] = np.minimum(before.sum(axis=1), collection.length[run, topics])
            if present_only:
                n_leading[row, topics] -= (before & hole).sum(axis=1)
    return n_leading


_MAX_MISFIT_SHARE = 0.01  # of the documents chosen


@dataclass(frozen=True, kw_only=True)
class Misfit:
    """Number of documents in which judgments differ from the pool that a strategy would choose."""

    n_chosen: int  # by the strategy
    n_unjudged: int  # of those chosen
    n_others: int  # judged documents that it could have chosen and did not, without added judgments
    is_sample: bool

    @property
    def is_large(self) -> bool:
        """Whether either number of differing documents exceeds 1 % of the chosen documents, and exceeds 1."""
        return max(self.n_unjudged, self.n_others) > max(1, _MAX_MISFIT_SHARE * self.n_chosen)

    def __str__(self) -> str:
        scope = "of the sample" if self.is_sample else "that the strategy chooses"
        parts = [f"documents {scope} without a judgment: {self.n_unjudged} of {self.n_chosen}"]
        others = f"judgments that are not {scope}: {self.n_others}"
        if not self.is_sample:
            others = f"judgments of others that it could have chosen: {self.n_others}"
        return ", ".join(parts * bool(self.n_unjudged) + [others] * bool(self.n_others))


def strategy_misfit(collection: Collection) -> Misfit | None:
    """Return the differences between judgments and the collection's strategy pool; None for other pools."""
    pool = collection.pool
    if not isinstance(pool, StrategyPool):
        return None
    pooled = np.flatnonzero(collection.pooled)
    chosen = pool.judged(collection, pooled)
    others = pool.candidates(collection, pooled) & ~chosen & collection.judged & ~collection.is_own
    return Misfit(
        n_chosen=int(chosen.sum()),
        n_unjudged=int((chosen & ~collection.judged).sum()),
        n_others=int(others.sum()),
        is_sample=pool.is_sample,
    )


def warn_of_misfit(collection: Collection) -> bool:
    """Warn (`StatedPoolWarning`) if the misfit is large, and return whether it is."""
    misfit = strategy_misfit(collection)
    if misfit is None or not misfit.is_large:
        return False
    rest = "; corrections for samples give no value" if misfit.is_sample else ""
    warn_caller(
        f"the pool was not made as stated ({collection.pool}): {misfit}; look at strategy, budget, run "
        f"depth, shares, rel and seed, and at who contributed{rest}",
        StatedPoolWarning,
    )
    return True

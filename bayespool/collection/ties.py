"""Documents that tie in the order of a run, and what to note of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.arrays import IntArray
from bayespool.tables.formatting import counted, some_of

if TYPE_CHECKING:
    from bayespool.collection.contents import Collection

_TOP_RANKS = 10  # of the warning of equal ranks
_MOST_RUNS = 3  # that a note names


@dataclass(frozen=True, eq=False)
class Ties:
    """Ranks of a run, over all topics, whose documents tie with others of the topic.

    Attributes
    ----------
    run_id : str
    n_topics : ndarray of int32, shape (rank,)
        Topics on which the document at a rank ties in the order of the run.
    n_if_rounded : ndarray of int32, shape (rank,)
        Topics on which it would tie if scores were rounded to single precision, as they are in trec_eval 9
        and pytrec_eval, and does not tie.
    """

    run_id: str
    n_topics: IntArray
    n_if_rounded: IntArray


def count_ties(
    run_id: str, topic: npt.NDArray[np.int32], key: npt.NDArray[Any], *, by_score: bool
) -> Ties | None:
    """Count ties of keys in order, by topic; None if there is none, in single precision either."""
    tied = _is_tied(topic, key)
    rounded = np.zeros_like(tied)
    if by_score:
        with np.errstate(over="ignore"):
            rounded = _is_tied(topic, key.astype(np.float32)) & ~tied
    if not tied.any() and not rounded.any():
        return None
    rank = ranks_in(topic)
    of_ties, if_rounded = (np.bincount(rank[each]).astype(np.int32) for each in (tied, rounded))
    return Ties(run_id, of_ties, if_rounded)


def _is_tied(topic: npt.NDArray[np.int32], key: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether the document of each line ties with the one before it or behind it."""
    same = (topic[1:] == topic[:-1]) & (key[1:] == key[:-1])
    tied = np.concatenate([[False], same])
    tied[:-1] |= same
    return np.asarray(tied)


def ranks_in(topic: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """Rank of each line within its topic, from 0."""
    place = np.arange(len(topic))
    is_first = np.concatenate([[True], topic[1:] != topic[:-1]])[: len(topic)]
    return place - np.maximum.accumulate(np.where(is_first, place, 0))


def tie_notes(collection: Collection, run_ids: Sequence[str], cutoffs: Iterable[int]) -> tuple[str, ...]:
    """Say how many ranks within each cutoff hang on ties, of the runs that have any."""
    ties = {each.run_id: each for each in collection.ties if each.run_id in set(run_ids)}
    position = {run: i for i, run in enumerate(collection.run_ids)}
    tied, rounded = list[str](), list[str]()
    for cutoff in sorted(set(cutoffs)):
        n_ranks = {run: int(np.minimum(collection.length[position[run]], cutoff).sum()) for run in ties}
        for part, name in ((tied, "n_topics"), (rounded, "n_if_rounded")):
            n = {run: int(getattr(each, name)[:cutoff].sum()) for run, each in ties.items()}
            part += [f"top {cutoff}: {runs}" for runs in [_runs(n, n_ranks)] if runs]
    kind = "ranks" if collection.order == "rank" else "scores"
    notes = (
        (f"ranks of equal {kind}, which document ids order, descending", tied),
        (
            "ranks of scores that are equal in single precision alone, so that trec_eval 9 and pytrec_eval "
            "may order them otherwise (--order single-precision)",
            rounded,
        ),
    )
    return tuple(f"{what}: {'; '.join(part)}" for what, part in notes if part)


def _runs(n: dict[str, int], n_ranks: dict[str, int]) -> str:
    """Runs with their numbers, the largest first; empty where all are 0."""
    order = sorted((run for run in n if n[run]), key=lambda run: -n[run])
    return some_of((f"{run} {n[run]:,} of {n_ranks[run]:,}" for run in order), _MOST_RUNS)


def equal_rank_note(ties: Sequence[Ties], n_runs: int) -> str:
    """What to know where runs are ordered by ranks, and ranks are equal; empty where none are."""
    n = {each.run_id: int(each.n_topics[:_TOP_RANKS].sum()) for each in ties}
    if not n:
        return ""
    most = max(n, key=lambda run: n[run])
    return (
        f"ranks are equal on a topic in {len(n)} of {counted(n_runs, 'run')}"
        f"{', most often in' if len(n) > 1 else ','} {most} ({counted(n[most], 'place')} of the top "
        f"{_TOP_RANKS}); such documents are in the order of their ids, descending, unless scores order runs "
        "(--order score, order='score')"
    )

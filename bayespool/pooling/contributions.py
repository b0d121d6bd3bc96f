"""Documents that each run or organization contributed to a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.collection.rankings import within
from bayespool.pooling.choosing import Chosen

BoolArray = npt.NDArray[np.bool_]
CountArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contributions to a pool; a document of several contributors counts for each.

    Attributes
    ----------
    names : tuple of str
        Contributors, organizations or runs.
    n_runs : ndarray of int, shape (contributor,)
    n_documents : ndarray of int, shape (contributor,)
        Documents of the pool that the contributor retrieves.
    n_alone : ndarray of int, shape (contributor,)
        Those that nobody else retrieves.
    n_of_topic : ndarray of int, shape (topic,)
        Documents of the pool, whoever retrieves them.
    """

    names: tuple[str, ...]
    n_runs: CountArray
    n_documents: CountArray
    n_alone: CountArray
    n_of_topic: CountArray


@dataclass(frozen=True, eq=False)
class Membership:
    """Documents that each contributor retrieves, among those that any of them retrieves.

    Attributes
    ----------
    names : tuple of str
    n_runs : ndarray of int, shape (contributor,)
    pair : ndarray of int32, shape (document,)
    has : ndarray of bool, shape (contributor, document)
    """

    names: tuple[str, ...]
    n_runs: CountArray
    pair: npt.NDArray[np.int32]
    has: BoolArray

    @classmethod
    def of(
        cls,
        collection: Collection,
        run_index: npt.NDArray[np.intp],
        names: Sequence[str],
        depth: int | None = None,
    ) -> Membership:
        """Membership of runs down to a depth, each under the name of its contributor."""
        distinct = tuple(dict.fromkeys(names))
        has = np.zeros((len(distinct), len(collection.relevance) + 1), dtype=bool)
        for run, name in zip(run_index, names, strict=True):
            has[distinct.index(name), within(collection.document, run, depth)] = True
        pair = np.flatnonzero(has[:, :-1].any(axis=0)).astype(np.int32)
        n_runs = np.array([list(names).count(name) for name in distinct], dtype=np.int64)
        return cls(distinct, n_runs, pair, has[:, pair])

    def contributions(self, collection: Collection, pooled: BoolArray) -> Contributions:
        """Contributions to the documents that are pooled, a mask of shape (pair,)."""
        inside = pooled[self.pair]
        has = self.has[:, inside]
        return Contributions(
            names=self.names,
            n_runs=self.n_runs,
            n_documents=has.sum(axis=1),
            n_alone=has[:, has.sum(axis=0) == 1].sum(axis=1),
            n_of_topic=np.bincount(
                collection.pair_topic[self.pair[inside]], minlength=len(collection.query_ids)
            ),
        )


def contributions_to(
    collection: Collection,
    pooled: BoolArray,
    run_index: npt.NDArray[np.intp],
    names: Sequence[str],
    *,
    depth: int | None = None,
) -> Contributions:
    """Count what contributors have in a pool.

    Parameters
    ----------
    collection : Collection
    pooled : ndarray of bool, shape (pair,)
        The documents of the pool.
    run_index : ndarray of int
        The contributing runs.
    names : sequence of str
        Contributor of each of these runs.
    depth : int, optional
        Maximum rank of a run that may be judged.

    Returns
    -------
    Contributions
        In the order in which names first come.
    """
    return Membership.of(collection, run_index, names, depth).contributions(collection, pooled)


def contributions_of(collection: Collection, chosen: Chosen, *, depth: int | None = None) -> Contributions:
    """Count what each organization has among the chosen documents, in the order of names.

    Parameters
    ----------
    collection : Collection
    chosen : Chosen
        By `choose`, from all pooled runs.
    depth : int, optional
        The depth of that choice.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling import choose
    >>> example = load_example()
    >>> contributions = contributions_of(example, choose(example, "take", 200))
    >>> contributions.names[:2], contributions.n_documents[:2].tolist(), contributions.n_alone[:2].tolist()
    (('coast', 'delta'), [197, 186], [0, 0])
    """
    pooled = np.zeros(len(collection.relevance), dtype=bool)
    pooled[chosen.pair] = True
    index = np.flatnonzero(collection.pooled)
    names = [collection.organizations[o] for o in collection.organization[index]]
    by_name = np.argsort(np.array(names), kind="stable")
    return contributions_to(collection, pooled, index[by_name], [names[i] for i in by_name], depth=depth)

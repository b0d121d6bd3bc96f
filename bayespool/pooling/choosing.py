"""Choosing what to judge: a strategy, a budget and its shares over topics give the documents to judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray
from bayespool.errors import InputError
from bayespool.pooling.registry import parse_strategy
from bayespool.pooling.retrieved import Retrieved, retrieved_by
from bayespool.pooling.sampling import Sampling
from bayespool.pooling.strategy import Strategy
from bayespool.randomness import key_of

__all__ = ["Chosen", "choose", "equal_shares", "inclusion_of_topic", "order_of_topic"]


@dataclass(frozen=True, eq=False)
class Chosen:
    """Documents to judge.

    Attributes
    ----------
    strategy : Strategy
    budget : int
        How many documents were asked for.
    pair : ndarray of int32, shape (document,)
        Pair codes, topic by topic, in each topic in the order of judging.
    start : ndarray of int, shape (topic + 1,)
        Documents of topic t are ``start[t]`` to ``start[t + 1]``.
    inclusion : ndarray of float, shape (document,)
        The probability with which each was to be judged: of a sample what `Sampling.inclusion` says, else 1.
    """

    strategy: Strategy
    budget: int
    pair: IntArray
    start: npt.NDArray[np.int64]
    inclusion: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.pair)


def equal_shares(n_documents: npt.NDArray[np.integer], budget: int) -> npt.NDArray[np.int64]:
    """Shares of topics in a budget: equal ones, as far as topics have documents.

    Parameters
    ----------
    n_documents : ndarray of int, shape (topic,)
        How many documents there are.
    budget : int

    Returns
    -------
    ndarray of int, shape (topic,)
        At most ``n_documents``; they add up to the budget, or to all documents if these are fewer. What
        cannot be divided goes to the first topics that have documents left, one each.

    Examples
    --------
    >>> import numpy as np
    >>> equal_shares(np.array([5, 1, 9]), 10).tolist()
    [5, 1, 4]
    """
    n = np.asarray(n_documents, dtype=np.int64)
    budget = min(int(budget), int(n.sum()))
    low, high = 0, int(n.max(initial=0))
    while low < high:  # the largest even share that the budget pays for
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(n, middle).sum() <= budget else (low, middle - 1)
    shares: npt.NDArray[np.int64] = np.minimum(n, low)
    shares[np.flatnonzero(n > low)[: budget - int(shares.sum())]] += 1
    return shares


def order_of_topic(
    strategy: Strategy,
    topic: Retrieved,
    relevance: npt.NDArray[np.int16],
    n: int,
    *,
    rel: int = 1,
    random_seed: int = 1,
) -> IntArray:
    """The first n documents of a topic in the order of judging, as pair codes.

    Parameters
    ----------
    strategy : Strategy
    topic : Retrieved
    relevance : ndarray of int16, shape (pair,)
        What an assessor says of each pair of the collection; negative where nobody does, which adaptive
        strategies take for not relevant.
    n : int
        As many, or all where there are fewer.
    rel : int, default 1
        Smallest relevance that counts.
    random_seed : int, default 1
    """
    rng = np.random.default_rng(key_of(random_seed, strategy.name, topic.query_id))
    order = strategy.order(topic, relevance[topic.pair] >= rel, min(n, len(topic)), rng)
    pairs: IntArray = topic.pair[order]
    return pairs


def inclusion_of_topic(
    strategy: Strategy,
    topic: Retrieved,
    relevance: npt.NDArray[np.int16],
    pairs: IntArray,
    *,
    rel: int = 1,
    random_seed: int = 1,
) -> npt.NDArray[np.float64]:
    """The probability with which each chosen document was to be judged, 1 if the strategy is no sample.

    Parameters
    ----------
    strategy, topic, relevance, rel, random_seed
        As for `order_of_topic`.
    pairs : ndarray of int32, shape (n,)
        What `order_of_topic` returned.

    Returns
    -------
    ndarray of float, shape (n,)
    """
    if not isinstance(strategy, Sampling):
        return np.ones(len(pairs))
    rng = np.random.default_rng(key_of(random_seed, strategy.name, topic.query_id))
    inclusion = strategy.inclusion(topic, relevance[topic.pair] >= rel, len(pairs), rng)
    return inclusion[np.searchsorted(topic.pair, pairs)]


def choose(
    collection: Collection,
    strategy: str | Strategy,
    budget: int,
    *,
    run_index: npt.NDArray[np.intp] | None = None,
    depth: int | None = None,
    shares: Literal["equal"] = "equal",
    rel: int = 1,
    random_seed: int = 1,
) -> Chosen:
    """The documents that a strategy judges for a budget.

    Parameters
    ----------
    collection : Collection
    strategy : str or Strategy
    budget : int
        Documents over all topics.
    run_index : ndarray of int, optional
        The contributing runs; default: the pooled ones.
    depth : int, optional
        Ranks of a run that may be judged at most.
    shares : {"equal"}
        How topics share the budget.
    rel : int, default 1
        Smallest relevance that counts, for adaptive strategies.
    random_seed : int, default 1

    Raises
    ------
    InputError
        A budget below 1, no contributing run.

    Examples
    --------
    >>> from bayespool import load_example
    >>> len(choose(load_example(), "take", 500))
    500
    """
    chosen = parse_strategy(strategy)
    if budget < 1:
        raise InputError(f"a budget of {budget} documents", hint="give 1 or more")
    index = np.flatnonzero(collection.pooled) if run_index is None else run_index
    if not len(index):
        raise InputError("no run contributes", hint="name runs of the pool")
    topics = list(retrieved_by(collection, index, depth=depth, random_seed=random_seed))
    n = equal_shares(np.array([len(topic) for topic in topics]), budget)
    pairs = [
        order_of_topic(chosen, topic, collection.relevance, int(k), rel=rel, random_seed=random_seed)
        for topic, k in zip(topics, n, strict=True)
    ]
    inclusion = [
        inclusion_of_topic(chosen, topic, collection.relevance, p, rel=rel, random_seed=random_seed)
        for topic, p in zip(topics, pairs, strict=True)
    ]
    start = np.append(0, np.cumsum([len(p) for p in pairs]))
    return Chosen(chosen, budget, np.concatenate(pairs), start, np.concatenate(inclusion))

"""Documents to judge, from a strategy, a budget and its shares over topics."""

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
from bayespool.pooling.strategy import FixedOrder, Strategy
from bayespool.randomness import key_of

Shares = Literal["equal", "global"]


@dataclass(frozen=True, eq=False)
class Chosen:
    """Documents to judge.

    Attributes
    ----------
    strategy : Strategy
    budget : int or None
        Documents requested; None where the strategy decides.
    pair : ndarray of int32, shape (document,)
        Pair codes, topic by topic, in the order of judging.
    start : ndarray of int, shape (topic + 1,)
        Documents of topic t are ``start[t]`` to ``start[t + 1]``.
    inclusion : ndarray of float, shape (document,)
        Inclusion probability of each document: `Sampling.inclusion` of a sample, else 1.
    """

    strategy: Strategy
    budget: int | None
    pair: IntArray
    start: npt.NDArray[np.int64]
    inclusion: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.pair)


def equal_shares(n_documents: npt.NDArray[np.integer], budget: int) -> npt.NDArray[np.int64]:
    """Share a budget among topics, as equally as their documents allow.

    Parameters
    ----------
    n_documents : ndarray of int, shape (topic,)
        Documents of each topic.
    budget : int

    Returns
    -------
    ndarray of int, shape (topic,)
        At most ``n_documents``; they sum to the budget, or to all documents if these are fewer. A remainder
        goes to the first topics that have documents left, one each.

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


def check_budget(strategy: Strategy, budget: int | None) -> None:
    """Refuse a budget below 1, or none where the strategy needs one (`InputError`)."""
    if budget is None and strategy.needs_budget:
        raise InputError(f"{strategy.name!r} does not say how much to judge", hint="give a budget")
    if budget is not None and budget < 1:
        raise InputError(f"a budget of {budget} documents", hint="give 1 or more")


def _most(strategy: Strategy, topic: Retrieved, budget: int | None) -> int:
    """Maximum number of documents of a topic that a strategy judges."""
    size = strategy.size(topic)
    return len(topic) if size is None else min(size, len(topic))


def _global_shares(
    strategy: Strategy, topics: list[Retrieved], n_documents: npt.NDArray[np.integer], budget: int
) -> npt.NDArray[np.int64]:
    """Documents of each topic, of those with the largest values over all topics, shape (topic,)."""
    if not (isinstance(strategy, FixedOrder) and strategy.topics_compare):
        raise InputError(
            f"the values of {strategy.name!r} say nothing across topics", hint="give topics equal shares"
        )
    parts = []
    for topic, n in zip(topics, n_documents, strict=True):
        value, order = strategy.values_in_order(topic)
        parts.append((value[:n], topic.best_rank[order[:n]], topic.lot[order[:n]]))
    value, best_rank, lot = (np.concatenate(column) for column in zip(*parts, strict=True))
    of_topic = np.repeat(np.arange(len(topics)), n_documents)
    taken = of_topic[np.lexsort((lot, best_rank, -value))[:budget]]
    return np.bincount(taken, minlength=len(topics))


def shares_of(
    strategy: Strategy, topics: list[Retrieved], budget: int | None, shares: Shares = "equal"
) -> npt.NDArray[np.int64]:
    """Number of documents of each topic that a strategy judges, shape (topic,)."""
    n = np.array([_most(strategy, topic, budget) for topic in topics])
    if budget is None:
        return n
    return _global_shares(strategy, topics, n, budget) if shares == "global" else equal_shares(n, budget)


def order_of_topic(
    strategy: Strategy,
    topic: Retrieved,
    relevance: npt.NDArray[np.int16],
    n: int,
    *,
    rel: int = 1,
    random_seed: int = 1,
) -> IntArray:
    """Pair codes of the first n documents of a topic in the order of judging, shape (n,).

    Parameters
    ----------
    strategy : Strategy
    topic : Retrieved
    relevance : ndarray of int16, shape (pair,)
        Relevance of each pair of the collection; negative without a judgment, which adaptive strategies take
        for not relevant.
    n : int
        Number of documents, or all where there are fewer.
    rel : int, default 1
        Smallest relevance that counts.
    random_seed : int, default 1

    Raises
    ------
    InputError
        The strategy needs scores of runs, and the collection has none; or its answer is not an order: not n
        numbers, numbers out of range, or a number twice.
    """
    if strategy.needs_scores:
        topic.scores()
    rng = np.random.default_rng(key_of(random_seed, strategy.name, topic.query_id))
    k = min(n, len(topic))
    order = np.asarray(strategy.order(topic, relevance[topic.pair] >= rel, k, rng))
    _check_order(order, strategy, topic, k)
    pairs: IntArray = topic.pair[order.astype(np.int32)]
    return pairs


def _check_order(order: npt.NDArray[np.generic], strategy: Strategy, topic: Retrieved, n: int) -> None:
    """Refuse what is not an order of n documents of a topic, as strategies may be a user's own."""
    if order.shape != (n,) or (n and order.dtype.kind not in "iu"):
        problem = f"an array of {order.dtype} of shape {order.shape}"
    elif n and not (order.min() >= 0 and order.max() < len(topic)):
        problem = f"numbers from {order.min()} to {order.max()}, where there are 0 to {len(topic) - 1}"
    else:
        seen = np.zeros(len(topic), dtype=bool)
        seen[order.astype(np.int32)] = True
        if seen.sum() == n:
            return
        problem = f"only {seen.sum()} different ones"
    request = f"strategy {strategy.name!r} was asked for {n} documents of topic {topic.query_id}"
    raise InputError(
        f"{request}, and gave {problem}",
        hint="`order` returns n distinct numbers of documents, which count from 0",
    )


def inclusion_of_topic(
    strategy: Strategy,
    topic: Retrieved,
    relevance: npt.NDArray[np.int16],
    pairs: IntArray,
    *,
    rel: int = 1,
    random_seed: int = 1,
) -> npt.NDArray[np.float64]:
    """Inclusion probability of each chosen document, 1 if the strategy is not a sample.

    Parameters
    ----------
    strategy, topic, relevance, rel, random_seed
        As for `order_of_topic`.
    pairs : ndarray of int32, shape (n,)
        Result of `order_of_topic`.

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
    budget: int | None = None,
    *,
    run_index: npt.NDArray[np.intp] | None = None,
    depth: int | None = None,
    shares: Shares = "equal",
    rel: int = 1,
    random_seed: int = 1,
    labels: npt.NDArray[np.int16] | None = None,
) -> Chosen:
    """Choose the documents that a strategy judges, for a budget or its own size.

    Parameters
    ----------
    collection : Collection
    strategy : str or Strategy
    budget : int, optional
        Documents over all topics. Strategies with a size of their own (``depth(k=10)``) need none; the
        smaller of size and budget rules.
    run_index : ndarray of int, optional
        The contributing runs; default: the pooled ones.
    depth : int, optional
        Maximum rank of a run that may be judged.
    shares : {"equal", "global"}
        How topics share the budget: as equally as their documents allow (`equal_shares`), or by the largest
        values over all topics, of equals the smaller best rank, then lot. The latter needs a strategy of
        fixed order whose values compare across topics.
    rel : int, default 1
        Smallest relevance that counts, for adaptive strategies.
    random_seed : int, default 1
    labels : ndarray of int16, shape (pair,), optional
        Relevance of each document; default: the collection's judgments.

    Raises
    ------
    InputError
        A budget below 1, or none where one is needed; no contributing run; scores that are needed and were
        not read; global shares of a strategy whose values do not compare.

    Examples
    --------
    >>> from bayespool import load_example
    >>> example = load_example()
    >>> len(choose(example, "take", 500))
    500
    >>> len(choose(example, "depth(k=10)")) == int(example.pool().sum())
    True
    """
    chosen = parse_strategy(strategy)
    check_budget(chosen, budget)
    index = np.flatnonzero(collection.pooled) if run_index is None else run_index
    if not len(index):
        raise InputError("no run contributes", hint="name runs of the pool")
    relevance = collection.relevance if labels is None else labels
    topics = list(retrieved_by(collection, index, depth=depth, random_seed=random_seed))
    n = shares_of(chosen, topics, budget, shares)
    pairs = [
        order_of_topic(chosen, topic, relevance, int(k), rel=rel, random_seed=random_seed)
        for topic, k in zip(topics, n, strict=True)
    ]
    inclusion = [
        inclusion_of_topic(chosen, topic, relevance, p, rel=rel, random_seed=random_seed)
        for topic, p in zip(topics, pairs, strict=True)
    ]
    start = np.append(0, np.cumsum([len(p) for p in pairs]))
    return Chosen(chosen, budget, np.concatenate(pairs), start, np.concatenate(inclusion))

"""Plan what is judged, choose documents within a budget, count contributions, list them for assessors."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, LevelArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.contents import Contents
from bayespool.collection.rankings import within
from bayespool.errors import InputError, known_names
from bayespool.names import Shares, split_list
from bayespool.pooling.registry import (
    STRATEGIES,
    StoppingRule,
    parse_stopping_rule,
    parse_strategy,
    stopping_text,
    stops_at,
    strategy_text,
)
from bayespool.pooling.sampling import Sampling
from bayespool.pooling.strategy import FixedOrder, Strategy, TopicRankings, retrieved_by
from bayespool.randomness import key_of
from bayespool.reading import Qrels
from bayespool.validation import check_choice, check_count

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class PoolPlan:
    """Strategy, budget and other settings that determine which documents are judged.

    Parameters
    ----------
    strategy : Strategy
    budget : int, optional
        Documents over all topics. Strategies with a size of their own (``depth(k=10)``) need none; the
        smaller of size and budget rules.
    run_depth : int, optional
        Maximum rank of a run that may be judged; default: all.
    shares : {"equal", "global"}
        How topics share the budget: as equally as their documents allow (`equal_shares`), or by the largest
        values over all topics, of equals the smaller best rank, then lot. The latter needs a strategy of
        fixed order whose values compare across topics.
    rel : int, default 1
        Smallest relevance that counts, for an adaptive strategy.
    random_seed : int, default 1
    stop : StoppingRule, optional
        Rule that may end a topic before the budget does (`bayespool.pooling.STOPPING_RULES`).

    Raises
    ------
    InputError
        No budget where the strategy needs one; unknown shares; a budget, a rank or a relevance below 1; a
        stopping rule for a sample.

    Examples
    --------
    >>> plan = PoolPlan.of("combmnz(budget=300, shares=global, normalization='sum')")
    >>> plan.budget, plan.rel, str(plan)
    (300, 1, "combmnz(normalization='sum'), budget 300, global shares")
    """

    strategy: Strategy
    budget: int | None = None
    run_depth: int | None = None
    shares: Shares = "equal"
    rel: int = 1
    random_seed: int = 1
    stop: StoppingRule | None = None

    def __post_init__(self) -> None:
        name = self.strategy.name
        if self.stop is not None and isinstance(self.strategy, Sampling):
            raise InputError(
                f"{name!r} is a random sample; a stopping rule would bias it", hint="give a budget alone"
            )
        if self.budget is None and self.stop is None and self.strategy.needs_budget:
            raise InputError(f"{name!r} does not say how much to judge", hint="give a budget")
        check_choice("shares", self.shares, Shares)
        check_count("budget", self.budget)
        check_count("run_depth", self.run_depth)
        check_count("rel", self.rel)
        check_count("random_seed", self.random_seed, least=0)

    @classmethod
    def of(
        cls,
        strategy: str | Strategy | PoolPlan,
        budget: int | None = None,
        *,
        run_depth: int | None = None,
        shares: Shares | None = None,
        rel: int | None = None,
        random_seed: int | None = None,
        stop: str | StoppingRule | None = None,
    ) -> PoolPlan:
        """Return a plan made from a strategy, a text such as ``rrf(k=60, budget=5000)`` or another plan.

        In a text settings of the plan stand beside those of the strategy, whose own have precedence;
        ``depth`` is short for ``run_depth``. What is given besides replaces what text or plan say. An unknown
        strategy or setting, or a value that one cannot have, is an `InputError`.
        """
        if isinstance(strategy, PoolPlan):
            settings = vars(strategy)
        else:
            chosen, settings = split_plan(strategy) if isinstance(strategy, str) else (strategy, {})
            settings["strategy"] = parse_strategy(chosen)
        given = {
            "budget": budget,
            "run_depth": run_depth,
            "shares": shares,
            "rel": rel,
            "random_seed": random_seed,
            "stop": None if stop is None else parse_stopping_rule(stop),
        }
        return cls(**settings | {name: value for name, value in given.items() if value is not None})

    def describe(self) -> dict[str, Any]:
        """Return the arguments of `bayespool.pooling.choose` that the plan stands for, as JSON types."""
        return {
            "strategy": strategy_text(self.strategy),
            "budget": self.budget,
            "depth": self.run_depth,
            "shares": self.shares,
            "rel": self.rel,
            "stop": self.stop and stopping_text(self.stop),
            "random_seed": self.random_seed,
        }

    def __str__(self) -> str:
        """Return the strategy and all non-default settings as text."""
        return ", ".join(
            [
                strategy_text(self.strategy),
                *([] if self.budget is None else [f"budget {self.budget}"]),
                *([] if self.run_depth is None else [f"runs to rank {self.run_depth}"]),
                *([] if self.shares == "equal" else [f"{self.shares} shares"]),
                *([] if self.rel == 1 else [f"relevance from {self.rel}"]),
            ]
        )


def split_plan(text: str) -> tuple[str, dict[str, Any]]:
    """Return a strategy's text without the settings of its plan, and these."""
    name, _, inside = text.strip().partition("(")
    entry = STRATEGIES.get(name.strip().lower())
    if entry is None or not inside.endswith(")"):
        return text, {}  # the strategy's own message says what is wrong
    known, rest, settings = [f.name for f in fields(PoolPlan)][1:], list[str](), dict[str, Any]()
    for part in split_list(inside[:-1]):
        key, _, value = (each.strip() for each in part.partition("="))
        place = "run_depth" if key == "depth" else key
        if key in entry.settings or not key.isidentifier():
            rest.append(part)
        elif place not in known:
            hint = known_names(key, [*entry.settings, *known], before=f"{name} has ")
            raise InputError(f"strategy {text!r}: there is no setting {key!r}", hint=hint)
        elif place in settings:
            raise InputError(f"strategy {text!r}: {key} twice", hint="leave one of the two out")
        elif place == "stop":
            settings[place] = parse_stopping_rule(value)
        else:
            is_whole = value.removeprefix("-").isdecimal() and place != "shares" and len(value) < 20
            settings[place] = int(value) if is_whole else value.strip("'\"")
    return (f"{name}({', '.join(rest)})" if rest else name), settings


@dataclass(frozen=True, eq=False)
class PoolSelection:
    """Documents selected for judging by a strategy.

    Attributes
    ----------
    plan : PoolPlan
        Strategy, budget and other settings.
    pair : ndarray of int32, shape (document,)
        Pair codes, topic by topic, in the order of judging.
    start : ndarray of int, shape (topic + 1,)
        Documents of topic t are ``start[t]`` to ``start[t + 1]``.
    inclusion : ndarray of float, shape (document,)
        Inclusion probability of each document: `Sampling.inclusion` of a sample, else 1.
    n_documents : ndarray of int, shape (topic,)
        Documents that could be judged.
    """

    plan: PoolPlan
    pair: IntArray
    start: IndexArray
    inclusion: FloatArray
    n_documents: IndexArray

    def __len__(self) -> int:
        return len(self.pair)


def equal_shares(n_documents: npt.NDArray[np.integer], budget: int) -> IndexArray:
    """Divide a budget among topics as evenly as their numbers of documents allow.

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
    possible = range(1, int(n.max(initial=0)) + 1)
    even = bisect_right(possible, budget, key=lambda share: int(np.minimum(n, share).sum()))
    shares: IndexArray = np.minimum(n, even)
    shares[np.flatnonzero(n > even)[: budget - int(shares.sum())]] += 1
    return shares


def _global_shares(
    strategy: Strategy, topics: list[TopicRankings], n_documents: npt.NDArray[np.integer], budget: int
) -> IndexArray:
    """Return the number of documents per topic among those with the largest values, shape (topic,)."""
    if not (isinstance(strategy, FixedOrder) and strategy.topics_compare):
        raise InputError(
            f"values of {strategy.name!r} are not comparable across topics", hint="give topics equal shares"
        )
    parts = []
    for topic, n in zip(topics, n_documents, strict=True):
        value, order = strategy.values_in_order(topic)
        parts.append((value[:n], topic.best_rank[order[:n]], topic.lot[order[:n]]))
    value, best_rank, lot = (np.concatenate(column) for column in zip(*parts, strict=True))
    topic_index = np.repeat(np.arange(len(topics)), n_documents)
    taken = topic_index[np.lexsort((lot, best_rank, -value))[:budget]]
    return np.bincount(taken, minlength=len(topics))


def topic_shares(
    strategy: Strategy, topics: list[TopicRankings], budget: int | None, shares: Shares = "equal"
) -> IndexArray:
    """Return the number of documents that a strategy judges for each topic, shape (topic,)."""
    sizes = [(strategy.size(topic), len(topic)) for topic in topics]
    n = np.array([n_there if size is None else min(size, n_there) for size, n_there in sizes])
    if budget is None:
        return n
    return _global_shares(strategy, topics, n, budget) if shares == "global" else equal_shares(n, budget)


def judging_order(
    strategy: Strategy,
    topic: TopicRankings,
    relevance: LevelArray,
    n: int,
    *,
    rel: int = 1,
    random_seed: int = 1,
) -> IntArray:
    """Return the first n documents to judge for a topic, as pair codes in judging order, shape (n,).

    Parameters
    ----------
    strategy : Strategy
    topic : TopicRankings
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
    if problem := _order_problem(order, len(topic), k):
        request = f"strategy {strategy.name!r} was asked for {k} documents of topic {topic.query_id}"
        hint = "`order` returns n distinct numbers of documents, which count from 0"
        raise InputError(f"{request}, and gave {problem}", hint=hint)
    return topic.pair[order.astype(np.int32)]


def _order_problem(order: npt.NDArray[np.generic], n_documents: int, n: int) -> str:
    """Return why an order is not n distinct document numbers; empty if it is."""
    if order.shape != (n,) or (n and order.dtype.kind not in "iu"):
        return f"an array of {order.dtype} of shape {order.shape}"
    if n and not (order.min() >= 0 and order.max() < n_documents):
        return f"numbers from {order.min()} to {order.max()}, where there are 0 to {n_documents - 1}"
    n_different = len(np.unique(order))
    return f"only {n_different} different ones" if n_different < n else ""


def inclusion_probabilities(
    strategy: Strategy,
    topic: TopicRankings,
    relevance: LevelArray,
    pairs: IntArray,
    *,
    rel: int = 1,
    random_seed: int = 1,
) -> FloatArray:
    """Return each chosen document's inclusion probability, shape (n,); 1 if the strategy does not sample.

    Parameters
    ----------
    strategy, topic, relevance, rel, random_seed
        As for `judging_order`.
    pairs : ndarray of int32, shape (n,)
        Result of `judging_order`.
    """
    if not isinstance(strategy, Sampling):
        return np.ones(len(pairs))
    rng = np.random.default_rng(key_of(random_seed, strategy.name, topic.query_id))
    inclusion = strategy.inclusion(topic, relevance[topic.pair] >= rel, len(pairs), rng)
    return inclusion[np.searchsorted(topic.pair, pairs)]


def choose(
    collection: Contents,
    strategy: str | Strategy | PoolPlan,
    budget: int | None = None,
    *,
    run_index: OrderArray | None = None,
    depth: int | None = None,
    shares: Shares | None = None,
    rel: int | None = None,
    random_seed: int | None = None,
    labels: LevelArray | None = None,
    stop: str | StoppingRule | None = None,
) -> PoolSelection:
    """Choose the documents that a strategy judges for a given budget or for its own size.

    Parameters
    ----------
    collection : Collection
    strategy : str, Strategy or PoolPlan
        Which documents are judged: a strategy, with settings in parentheses: "take(budget=5000, depth=100)".
        Among the settings may be the arguments that follow (`PoolPlan`), which replace them.
    budget : int, optional
        Documents to judge, over all topics; a strategy with a size of its own, such as depth, needs none.
    depth : int, optional
        Ranks of a run that may be judged at most; default: all.
    shares : {"equal", "global"}, optional
        How topics share a budget: as evenly as they have documents, or by the values of documents (global).
    rel : int, optional
        Smallest relevance that counts as relevant for adaptive strategies, and in counts of documents.
    random_seed : int, optional
        Random seed; the same inputs and seed give the same bytes.
    stop : str or StoppingRule, optional
        Rule that may end a topic before the budget: nonrelevant(n=50), recall(target=0.9), yield(share=0.05).
        A topic ends after so many nonrelevant documents in a row; when the estimated recall is reached; when
        fewer of the last 50 documents are relevant.
    run_index : ndarray of int, optional
        The contributing runs; default: the pooled ones.
    labels : ndarray of int16, shape (pair,), optional
        Relevance of each document; default: the collection's judgments.

    Raises
    ------
    InputError
        As for `PoolPlan`; no contributing run; scores that are needed and were not read; global shares of a
        strategy whose values do not compare.

    Examples
    --------
    >>> from bayespool import load_example
    >>> example = load_example()
    >>> len(choose(example, "take", 500)), len(choose(example, "take(budget=400)"))
    (500, 400)
    >>> len(choose(example, "depth(k=10)")) == int(example.in_pool().sum())
    True
    """
    plan = PoolPlan.of(
        strategy, budget, run_depth=depth, shares=shares, rel=rel, random_seed=random_seed, stop=stop
    )
    index = np.flatnonzero(collection.pooled) if run_index is None else run_index
    if not len(index):
        raise InputError("no run contributes", hint="name runs of the pool")
    relevance = collection.relevance if labels is None else labels
    topics = list(retrieved_by(collection, index, depth=plan.run_depth, random_seed=plan.random_seed))
    n = topic_shares(plan.strategy, topics, plan.budget, plan.shares)
    settings = {"rel": plan.rel, "random_seed": plan.random_seed}
    pairs, inclusion = [], []
    for topic, k in zip(topics, n.tolist(), strict=True):
        pair = judging_order(plan.strategy, topic, relevance, k, **settings)
        if plan.stop is not None:
            pair = pair[: stops_at(plan.stop, relevance[pair], len(topic), plan.rel)]
        pairs.append(pair)
        inclusion.append(inclusion_probabilities(plan.strategy, topic, relevance, pair, **settings))
    start = np.append(0, np.cumsum([len(pair) for pair in pairs]))
    n_documents = np.array([len(topic) for topic in topics])
    return PoolSelection(plan, np.concatenate(pairs), start, np.concatenate(inclusion), n_documents)


@dataclass(frozen=True, eq=False)
class Contributions:
    """Number of pool documents from each contributor, with shared documents counted for each.

    Attributes
    ----------
    names : tuple of str
        Contributors, organizations or runs.
    n_runs : ndarray of int, shape (contributor,)
    n_documents, n_alone : ndarray of int, shape (contributor,)
        Documents of the pool that the contributor retrieves, and those that nobody else retrieves.
    n_of_topic : ndarray of int, shape (topic,)
        Documents of the pool, whoever retrieves them.
    """

    names: tuple[str, ...]
    n_runs: IndexArray
    n_documents: IndexArray
    n_alone: IndexArray
    n_of_topic: IndexArray


@dataclass(frozen=True, eq=False)
class Membership:
    """Documents retrieved by each contributor.

    Attributes
    ----------
    names : tuple of str
    n_runs : ndarray of int, shape (contributor,)
    pair : ndarray of int32, shape (document,)
    has : ndarray of bool, shape (contributor, document)
    """

    names: tuple[str, ...]
    n_runs: IndexArray
    pair: IntArray
    has: BoolArray

    @classmethod
    def of(
        cls, collection: Collection, run_index: OrderArray, names: Sequence[str], depth: int | None = None
    ) -> Membership:
        """Return the documents in the top ``depth`` ranks of runs, grouped by contributor name."""
        distinct = tuple(dict.fromkeys(names))
        has = np.zeros((len(distinct), len(collection.relevance) + 1), dtype=bool)
        for run, name in zip(run_index, names, strict=True):
            has[distinct.index(name), within(collection.document, run, depth)] = True
        pair = np.flatnonzero(has[:, :-1].any(axis=0)).astype(np.int32)
        n_runs = np.array([list(names).count(name) for name in distinct], dtype=np.int64)
        return cls(distinct, n_runs, pair, has[:, pair])

    def contributions(self, collection: Collection, pooled: BoolArray) -> Contributions:
        """Return the contributions to the documents in ``pooled``, a mask of shape (pair,)."""
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


def count_contributions(collection: Collection, chosen: PoolSelection) -> Contributions:
    """Count the chosen documents that each organization retrieves, in order of organization name.

    Parameters
    ----------
    collection : Collection
    chosen : PoolSelection
        By `choose`, from all pooled runs.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling import choose
    >>> example = load_example()
    >>> contributions = count_contributions(example, choose(example, "take", 200))
    >>> contributions.names[:2], contributions.n_documents[:2].tolist(), contributions.n_alone[:2].tolist()
    (('coast', 'delta'), [197, 186], [0, 0])
    """
    pooled = np.zeros(len(collection.relevance), dtype=bool)
    pooled[chosen.pair] = True
    index = np.flatnonzero(collection.pooled)
    names = [collection.organizations[o] for o in collection.organization[index]]
    by_name = np.argsort(np.array(names), kind="stable")
    members = Membership.of(collection, index[by_name], [names[i] for i in by_name], chosen.plan.run_depth)
    return members.contributions(collection, pooled)


def restrict_judgments(collection: Collection, chosen: PoolSelection) -> Collection:
    """Return the collection with judgments on the chosen documents only.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling import choose
    >>> example = load_example()
    >>> int(restrict_judgments(example, choose(example, "take", 200)).judged.sum())
    200
    """
    gone = np.ones(len(collection.relevance), dtype=bool)
    gone[chosen.pair] = False
    return collection.without_judgments(gone)


def selection_qrels(collection: Collection, chosen: PoolSelection) -> Qrels:
    """Return the chosen documents as qrels in judging order, with relevance from the collection.

    A document without a judgment has relevance −1: in the pool and not judged.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling import choose
    >>> example = load_example()
    >>> selection_qrels(example, choose(example, "take", 200))
    <Qrels: 200 judgments, 20 topics>
    """
    topic = np.repeat(np.arange(len(collection.query_ids), dtype=np.int32), np.diff(chosen.start))
    return Qrels(
        query_id=pa.DictionaryArray.from_arrays(topic, pa.array(collection.query_ids, pa.string())),
        doc_id=collection.doc_ids.take(pa.array(chosen.pair)).cast(pa.string()),
        relevance=np.maximum(collection.relevance[chosen.pair], np.int16(-1)),
    )


def selection_frame(collection: Collection, chosen: PoolSelection, *, relevance: bool = True) -> pd.DataFrame:
    """Return a data frame with the chosen documents and their inclusion probabilities.

    Parameters
    ----------
    collection : Collection
    chosen : PoolSelection
    relevance : bool, default True
        Whether to add the collection's judgments.

    Returns
    -------
    pandas.DataFrame
        A row per document, topic by topic in the order of judging: ``query_id``, ``doc_id``, ``order`` (from
        1 in each topic), ``inclusion`` (1 where the strategy is not a sample) and, on request, ``relevance``,
        None without a judgment.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.pooling import choose
    >>> example = load_example()
    >>> frame = selection_frame(example, choose(example, "uniform", 200), relevance=False)
    >>> list(frame.columns), len(frame)
    (['query_id', 'doc_id', 'order', 'inclusion'], 200)
    """
    import pandas as pd

    n_of_topic = np.diff(chosen.start)
    level = collection.relevance[chosen.pair]
    columns = {
        "query_id": np.repeat(np.array(collection.query_ids, dtype=object), n_of_topic),
        "doc_id": np.array(collection.doc_ids.take(pa.array(chosen.pair)).to_pylist(), dtype=object),
        "order": np.concatenate([np.arange(1, n + 1) for n in n_of_topic]),
        "inclusion": chosen.inclusion,
    }
    if relevance:
        values = [value if value >= 0 else None for value in level.tolist()]
        columns["relevance"] = np.array(values, dtype=object)
    return pd.DataFrame(columns)

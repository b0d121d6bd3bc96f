"""What runs retrieved on one topic, written down in a line, and orders of documents as texts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import strategies as st

from bayespool.collection import build_collection
from bayespool.pooling import FixedOrder, Strategy, TopicRankings, parse_strategy
from bayespool.pooling.strategy import retrieved_by
from bayespool.reading import qrels_from_frame, run_from_frame


def topic_of_scores(scores: Mapping[str, Mapping[str, float]]) -> TopicRankings:
    """A topic of ``{run: {document: score}}`` whose lots are in alphabetical order."""
    runs = [run_from_frame({"1": documents}, run_id) for run_id, documents in scores.items()]
    judged = next(iter(next(iter(scores.values()))))
    collection = build_collection(runs, qrels_from_frame({"1": {judged: 1}}), scores=True)
    (topic,) = retrieved_by(collection, np.arange(len(runs)))
    return with_lots(topic, "".join(collection.doc_ids.to_pylist()))


def topic_of(rankings: Mapping[str, str]) -> TopicRankings:
    """A topic of ``{run: "abc"}``, where each letter is a document and the first ranks best."""
    return topic_of_scores({r: {d: -rank for rank, d in enumerate(docs)} for r, docs in rankings.items()})


def with_lots(topic: TopicRankings, documents: str) -> TopicRankings:
    """The topic with lots that ascend in the order of these documents."""
    names = sorted(documents)
    lot = np.array([documents.index(name) for name in names]) / len(names)
    return TopicRankings(topic.query_id, topic.pair, topic.document, topic.score, lot)


def values(strategy: str, topic: TopicRankings, documents: str) -> dict[str, float]:
    """Values of the documents, named in alphabetical order."""
    fixed = parse_strategy(strategy)
    assert isinstance(fixed, FixedOrder)
    return dict(zip(documents, fixed.value(topic).tolist(), strict=True))


def order_of(
    strategy: str | Strategy,
    topic: TopicRankings,
    documents: str,
    *,
    relevant: str = "",
    n: int | None = None,
) -> str:
    """The documents, named in alphabetical order, in the order of judging."""
    is_relevant = np.array([name in relevant for name in documents])
    n = len(topic) if n is None else n
    order = parse_strategy(strategy).order(topic, is_relevant, n, np.random.default_rng(1))
    return "".join(documents[i] for i in order)


@st.composite
def some_rankings(draw: st.DrawFn, most: int = 6) -> dict[str, str]:
    """Rankings of one to five runs."""
    ranking = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=most, unique=True)
    rankings = draw(st.lists(ranking, min_size=1, max_size=5))
    return {f"r{i}": "".join(documents) for i, documents in enumerate(rankings)}


def documents_of(rankings: Mapping[str, str]) -> str:
    return "".join(sorted(set("".join(rankings.values()))))

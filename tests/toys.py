"""Collections small enough to work out by hand, and the grid of edge cases that every estimator must stand.

The toy has three topics, five runs of three organizations, pooled to depth 3 (all but ``u``, which is new). A
bar marks the pool depth, the figure behind a document its relevance, ``?`` an unjudged one.

    topic 1   n1: a1 b0 c2 | d? e?         topic 2   n1: q0 p1 r2 | s? t?         topic 3   n1: a0 b0 c0
              n2: b0 a1 f1 | c2 g?                   n2: p1 r2 q0 | t?                      n2: b0 c0 a0
              s1: a1 h1 i0 | b0 j0                   s1: q0 v1 w0 | p1 x? y?                s1: c0 a0 d0 | e?
              s2: h1 k0                              s2: -                                  s2: a0 d0
              u : a1 l? d? | h1 m?                   u : v1 p1 z? | x?                      u : e? f?

``n1`` and ``n2`` are the north's, ``s1`` and ``s2`` the south's. What is odd on purpose: ties (``b`` before
``a`` in n2, ``q`` before ``p`` in n1, ``l`` before ``d`` in u: document id descending), rows in no order, a
run of two documents, a run without topic 2, a topic without relevant documents, relevance 2, relevance −1
(``m``, so unjudged), ``j``, which no pooled run accounts for, and documents that stand on several topics with
different relevance.

Who alone contributed what within depth 3:

    organization  north: b c f, p r, b on topic 3     south: h i k, v w, d on topic 3
    run           n1: c   n2: f   s1: i, v w   s2: k
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from hypothesis import strategies as st

from bayespool.collection import Collection, build_collection
from bayespool.reading import Qrels, Run, qrels_from_frame, run_from_frame

ORGANIZATIONS = {"n1": "north", "n2": "north", "s1": "south", "s2": "south", "u": "new"}
POOLED = ("n1", "n2", "s1", "s2")
DEPTH = 3

RUNS: dict[str, dict[str, dict[str, float]]] = {
    "n1": {
        "3": {"c": 0.1, "a": 0.3, "b": 0.2},
        "1": {"e": 1, "a": 5, "c": 3, "b": 4, "d": 2},
        "2": {"p": 1, "t": -3, "q": 1, "r": 0.5, "s": -2},
    },
    "n2": {
        "1": {"a": 3, "b": 3, "g": 0, "c": 0.5, "f": 2.5},
        "2": {"t": 1, "q": 2, "r": 3, "p": 4},
        "3": {"a": 1, "c": 2, "b": 3},
    },
    "s1": {
        "1": {"a": 9, "h": 8, "i": 7, "b": 6, "j": 5},
        "2": {"y": 0, "x": 1, "p": 2, "w": 3, "v": 4, "q": 5},
        "3": {"e": 6, "c": 9, "a": 8, "d": 7},
    },
    "s2": {"1": {"k": 1, "h": 2}, "3": {"d": -2, "a": -1}},
    "u": {
        "1": {"a": 9, "d": 2, "l": 2, "m": 1, "h": 1.5},
        "2": {"x": 1, "z": 2, "p": 3, "v": 4},
        "3": {"f": 1, "e": 2},
    },
}
RANKINGS = {
    ("n1", "1"): "abcde", ("n1", "2"): "qprst", ("n1", "3"): "abc",
    ("n2", "1"): "bafcg", ("n2", "2"): "prqt", ("n2", "3"): "bca",
    ("s1", "1"): "ahibj", ("s1", "2"): "qvwpxy", ("s1", "3"): "cade",
    ("s2", "1"): "hk", ("s2", "2"): "", ("s2", "3"): "ad",
    ("u", "1"): "aldhm", ("u", "2"): "vpzx", ("u", "3"): "ef",
}  # fmt: skip

JUDGMENTS: dict[str, dict[str, int]] = {
    "2": {"w": 0, "p": 1, "v": 1, "q": 0, "r": 2},
    "1": {"a": 1, "b": 0, "c": 2, "f": 1, "h": 1, "i": 0, "k": 0, "j": 0, "m": -1},
    "3": {"a": 0, "b": 0, "c": 0, "d": 0},
}
# The new run's documents judged on topics 1 and 2: what Webber & Park's common topics need.
COMMON: dict[str, dict[str, int]] = {"1": {"l": 1, "d": 0, "m": 1}, "2": {"z": 0, "x": 1}}


def toy_runs() -> list[Run]:
    return [run_from_frame(topics, run_id) for run_id, topics in RUNS.items()]


def toy_qrels(more: Mapping[str, Mapping[str, int]] | None = None) -> Qrels:
    """The toy's judgments, others added to them."""
    return qrels_from_frame({q: {**judged, **(more or {}).get(q, {})} for q, judged in JUDGMENTS.items()})


def toy_collection(
    *,
    more: Mapping[str, Mapping[str, int]] | None = None,
    pooled_run_ids: tuple[str, ...] = POOLED,
    pool_depth: int = DEPTH,
    scores: bool = False,
) -> Collection:
    """The toy, the same object for the same arguments: nothing changes a collection."""
    added = tuple((q, tuple(judged.items())) for q, judged in (more or {}).items())
    return _toy(added, pooled_run_ids, pool_depth, scores)


@cache
def _toy(
    more: tuple[tuple[str, tuple[tuple[str, int], ...]], ...],
    pooled_run_ids: tuple[str, ...],
    pool_depth: int,
    scores: bool,
) -> Collection:
    return build_collection(
        toy_runs(), toy_qrels({q: dict(judged) for q, judged in more}), organizations=ORGANIZATIONS,
        pooled_run_ids=pooled_run_ids, pool_depth=pool_depth, scores=scores,
    )  # fmt: skip


def ranking(collection: Collection, run_id: str, query_id: str) -> list[str]:
    """Document ids of a run on a topic, from the first rank down."""
    run, topic = collection.run_ids.index(run_id), collection.query_ids.index(query_id)
    return [collection.doc_id(pair) for pair in collection.document[run, topic] if pair >= 0]


def judgments(collection: Collection) -> dict[str, dict[str, int]]:
    """Judged documents of each topic and their relevance."""
    found: dict[str, dict[str, int]] = {query_id: {} for query_id in collection.query_ids}
    for pair in np.flatnonzero(collection.relevance >= 0):
        query_id = collection.query_ids[collection.pair_topic[pair]]
        found[query_id][collection.doc_id(int(pair))] = int(collection.relevance[pair])
    return found


def judged(collection: Collection) -> list[str]:
    """Judged documents of each topic in the collection's order, as one text per topic."""
    return ["".join(sorted(documents)) for documents in judgments(collection).values()]


def from_rankings(
    rankings: Mapping[str, Mapping[str, str]],
    relevance: Mapping[str, Mapping[str, int]],
    organizations: Mapping[str, str] | None = None,
    *,
    pooled_run_ids: tuple[str, ...] = (),
    pool_depth: int | Mapping[str, int] = 0,
) -> Collection:
    """Collection of ``{run: {topic: "abc"}}``, where each letter is a document and the first ranks best."""
    runs = [
        run_from_frame({q: {d: -rank for rank, d in enumerate(docs)} for q, docs in topics.items()}, run_id)
        for run_id, topics in rankings.items()
    ]
    return build_collection(
        runs,
        qrels_from_frame(relevance),
        organizations=organizations,
        pooled_run_ids=pooled_run_ids,
        pool_depth=pool_depth,
    )


@st.composite
def pooled_collections(draw: st.DrawFn) -> Collection:
    """Random small collections with a pool judged exactly to its depth, but for a few judgments of other
    origin.
    """
    documents = "abcdefgh"
    n_runs = draw(st.integers(2, 5))
    n_topics = draw(st.integers(1, 3))
    depth = draw(st.integers(1, 4))
    topics = [str(t) for t in range(n_topics)]
    rankings: dict[str, dict[str, str]] = {}
    for r in range(n_runs):
        taken = draw(st.lists(st.sampled_from(topics), min_size=1, unique=True))
        rankings[f"r{r}"] = {
            q: "".join(draw(st.lists(st.sampled_from(documents), min_size=1, unique=True))) for q in taken
        }
    pooled = tuple(draw(st.lists(st.sampled_from(sorted(rankings)), unique=True)))
    grade = st.integers(0, 2)
    relevance = {}
    for q in topics:
        inside = {d for r in pooled for d in rankings[r].get(q, "")[:depth]}
        # a judgment at the least, or the topic would not be one
        inside |= set(draw(st.lists(st.sampled_from(documents), min_size=1, max_size=2)))
        relevance[q] = {d: draw(grade) for d in sorted(inside)}
    first = relevance[topics[0]]
    first[min(first)] = 1
    organizations = {r: draw(st.sampled_from(["x", "y", "z"])) for r in rankings}
    return from_rankings(rankings, relevance, organizations, pooled_run_ids=pooled, pool_depth=depth)


# The grid of edge cases: name → collection and the run to score

_POOL = {
    "x1": {"1": "abcdefgh", "2": "ijklmnop"},
    "x2": {"1": "badcfehg", "2": "jilknmpo"},
    "y1": {"1": "cafbhdge", "2": "kinjplom"},
}
_POOL_RELEVANCE = {
    "1": {"a": 1, "b": 0, "c": 2, "d": 0, "f": 1},
    "2": {"i": 0, "j": 1, "k": 0, "l": 1, "n": 0},
}
_POOL_ORGANIZATIONS = {"x1": "x", "x2": "x", "y1": "y"}


def _with(
    run: Mapping[str, str],
    *,
    relevance: Mapping[str, Mapping[str, int]] | None = None,
    pool: Mapping[str, Mapping[str, str]] = _POOL,
    more: Mapping[str, Mapping[str, int]] | None = None,
) -> tuple[Collection, str]:
    """A run beside three runs of two organizations that were pooled to depth 3."""
    base = _POOL_RELEVANCE if relevance is None else relevance
    collection = from_rankings(
        {**pool, "target": run},
        {q: {**judged, **(more or {}).get(q, {})} for q, judged in base.items()},
        _POOL_ORGANIZATIONS,
        pooled_run_ids=tuple(pool),
        pool_depth=3 if pool else 0,
    )
    return collection, "target"


def ties() -> tuple[Collection, str]:
    """All scores of all runs equal, so that document ids decide."""
    runs = [
        run_from_frame({q: dict.fromkeys(docs, 0.5) for q, docs in topics.items()}, run_id)
        for run_id, topics in {**_POOL, "target": {"1": "abcdyz", "2": "ijklyz"}}.items()
    ]
    # within depth 3 then: h g f and p o n in the pool; z y d and z y l in the target
    qrels = qrels_from_frame({"1": {"h": 1, "g": 0, "f": 2, "d": 1}, "2": {"p": 0, "o": 1, "n": 0}})
    pool = {"organizations": _POOL_ORGANIZATIONS, "pooled_run_ids": tuple(_POOL), "pool_depth": 3}
    return build_collection(runs, qrels, **pool), "target"


def no_pool() -> tuple[Collection, str]:
    """Judgments and a run, and nothing to learn from."""
    return _with({"1": "ayczb", "2": "jyzlw"}, pool={})


EDGE_CASES: dict[str, Callable[[], tuple[Collection, str]]] = {
    name: cache(case)
    for name, case in {
        "nothing judged": lambda: _with({"1": "qrstuvwxyz", "2": "qrstuvwxyz"}),
        "everything judged": lambda: _with(
            {"1": "eabcduvwxyz", "2": "lmoijuvwxyz"},
            more={"1": dict.fromkeys("eghuvwxyz", 0), "2": dict.fromkeys("mopuvwxyz", 1)},
        ),
        # a pooled run that is short enough to be judged to its end
        "everything judged in the pool": lambda: (
            from_rankings(
                _POOL | {"short": {"1": "ab", "2": "ijl"}},
                _POOL_RELEVANCE,
                {**_POOL_ORGANIZATIONS, "short": "z"},
                pooled_run_ids=(*_POOL, "short"),
                pool_depth=3,
            ),
            "short",
        ),
        "run too short": lambda: _with({"1": "az", "2": "zl"}),
        "one document": lambda: _with({"1": "z", "2": "i"}),
        "ties": ties,
        "no relevant document on a topic": lambda: _with(
            {"1": "ayzbw", "2": "jyzlw"},
            relevance={"1": dict.fromkeys("abcdf", 0), "2": _POOL_RELEVANCE["2"]},
        ),
        "missing topic": lambda: _with({"1": "ayczb"}),
        "cutoff deeper than the run": lambda: _with({"1": "aybz", "2": "jiyz"}),
        "cutoff deeper than the pool": lambda: _with({"1": "abcqrstuvwxyz", "2": "ijkqrstuvwxyz"}),
        # a pooled target: its organization's other runs are in the pool, too
        "shared with an organization": lambda: (_with({"1": "z", "2": "z"})[0], "x1"),
        "no pool": no_pool,
        # the pool is the target itself; below its depth it is unjudged
        "only pooled run": lambda: (
            from_rankings(
                {"target": {"1": "acbde", "2": "jikmn"}},
                {"1": {"a": 1, "b": 0, "c": 2}, "2": {"i": 0, "j": 1, "k": 0}},
                pooled_run_ids=("target",),
                pool_depth=3,
            ),
            "target",
        ),
    }.items()
}
# Cases in which something is unjudged and no other run was pooled.
WITHOUT_A_POOL = ("no pool", "only pooled run")
EDGE_MEASURES = ("P@1", "P@3", "P@5", "P@10", "P(rel=2)@5")


def in_pool(collection: Collection, run_ids: list[str] | None = None) -> list[str]:
    inside = collection.in_pool(None if run_ids is None else collection.run_index(run_ids))
    found = [""] * len(collection.query_ids)
    for pair in np.flatnonzero(inside):
        found[collection.pair_topic[pair]] += collection.doc_id(int(pair))
    return found


def documents_of(collection, run_ids, depth):
    """Every document of runs down to a depth: run, topic, rank, pair."""
    index = collection.run_index(run_ids)
    document = collection.document[index, :, :depth]
    row, topic, rank = np.nonzero(document >= 0)
    return index[row], topic, rank + 1, document[row, topic, rank]

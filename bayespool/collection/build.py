"""From runs and judgments that have been read to a `Collection`; the only place that orders a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bayespool.collection.contents import UNJUDGED, Collection, IntArray, some
from bayespool.errors import InputError
from bayespool.trec import Qrels, Run

__all__ = ["Order", "build_collection"]

Order = Literal["score", "rank"]
_N_THREADS = 2  # numpy and pyarrow give up the GIL in long loops


def build_collection(
    runs: Sequence[Run],
    qrels: Qrels,
    *,
    organizations: Mapping[str, str] | None = None,
    order: Order = "score",
    pooled_run_ids: Iterable[str] = (),
    pool_depth: int = 0,
) -> Collection:
    """A collection from runs and judgments that have been read.

    Parameters
    ----------
    runs : sequence of Run
        At least one; run ids distinct.
    qrels : Qrels
        The judgments; their topics are the topics. A negative relevance means unjudged.
    organizations : mapping of str to str, optional
        Run id to organization. A run that is missing counts as an organization of its own.
    order : {"score", "rank"}
        ``"score"`` is trec_eval's order: score descending in single precision, ties by document id
        descending; ``"rank"`` takes the ranks of the run files, which some campaigns pooled by.
    pooled_run_ids : iterable of str
        The runs that contributed to the pool; `bayespool.pool.discover_pool` finds them where they are not
        known.
    pool_depth : int
        Down to which rank they did.

    Returns
    -------
    Collection

    Raises
    ------
    InputError
        No run, two runs with one id, a run without any topic of the qrels, qrels without a relevant document,
        ranks asked for and not read.
    """
    _check(runs, qrels, order)
    query_ids, query_codes = _query_codes(runs, qrels)
    names, doc_codes = _doc_codes([*(run.doc_id for run in runs), qrels.doc_id])
    with ThreadPoolExecutor(1) as sorter:  # beside the stacking, which needs no order yet
        sorting = sorter.submit(pc.sort_indices, names)
        document, sort_key = _stack(runs, query_codes[:-1], doc_codes[:-1], len(query_ids), order)
        by_bytes = sorting.result()
    place = np.full(len(names) + 1, -1, dtype=np.int32)  # the last is that of no document, −1
    place[by_bytes.to_numpy()] = np.arange(len(names), dtype=np.int32)

    def on_topic(t: int) -> tuple[IntArray, npt.NDArray[np.int16]]:
        """Documents of a topic and their relevance; replaces the codes in its rankings by positions among the
        documents, best first.
        """
        judged_here = query_codes[-1] == t
        judged, retrieving = place[doc_codes[-1][judged_here]], place[document[:, t, :]]
        seen = np.zeros(len(names) + 1, dtype=bool)
        seen[retrieving] = True
        seen[judged] = True
        present = np.flatnonzero(seen[:-1]).astype(np.int32)
        position = np.empty(len(names), dtype=np.int32)
        position[present] = np.arange(len(present), dtype=np.int32)
        document[:, t, :] = _order(position[retrieving], sort_key[:, t, :], retrieving >= 0)
        relevance = np.full(len(present), UNJUDGED, dtype=np.int16)
        relevance[position[judged]] = np.maximum(qrels.relevance[judged_here], UNJUDGED)
        return present, relevance

    with ThreadPoolExecutor(_N_THREADS) as threads:
        present, relevance = zip(*threads.map(on_topic, range(len(query_ids))), strict=True)
    n_present = np.array([len(documents) for documents in present], dtype=np.int32)
    document += np.where(document >= 0, (np.cumsum(n_present) - n_present)[:, None], 0)
    run_ids = tuple(run.run_id for run in runs)
    organization_names, organization = _organizations(run_ids, organizations or {})
    pooled_ids = set(pooled_run_ids)
    return Collection(
        run_ids=run_ids,
        query_ids=query_ids,
        document=document,
        relevance=np.concatenate(relevance),
        pair_topic=np.repeat(np.arange(len(query_ids), dtype=np.int32), n_present),
        pair_doc=np.concatenate(present),
        doc_ids=names.take(by_bytes),
        organizations=organization_names,
        organization=organization,
        pooled=np.array([run in pooled_ids for run in run_ids]),
        pool_depth=pool_depth,
        added_for=np.full(int(n_present.sum()), -1, dtype=np.int32),
    )


def _check(runs: Sequence[Run], qrels: Qrels, order: Order) -> None:
    if not runs:
        raise InputError("no runs given")
    if order not in ("score", "rank"):
        raise InputError(f"no order {order!r}", hint="score or rank")
    first: dict[str, Run] = {}
    for run in runs:
        if run.run_id in first:
            raise InputError(
                f"two runs are called {run.run_id!r}",
                path=run.path,
                hint=f"the other is {first[run.run_id].path}; rename one",
            )
        first[run.run_id] = run
        if order == "rank" and run.rank is None:
            raise InputError(
                f"run {run.run_id!r} has no ranks to order by", path=run.path, hint="order by score instead"
            )
    if not (qrels.relevance > 0).any():
        raise InputError("no document is relevant", path=qrels.path, hint="is this the right qrels file?")


def _query_codes(runs: Sequence[Run], qrels: Qrels) -> tuple[tuple[str, ...], list[IntArray]]:
    """Topics of the qrels in order, and for each run (then the qrels) the topic index of its lines, −1 for
    other topics.
    """
    topics = {str(q) for q in qrels.query_id.unique().to_pylist()}
    query_ids = tuple(
        sorted(topics, key=lambda q: (0, int(q), q) if q.isascii() and q.isdigit() else (1, 0, q))
    )
    index = {q: i for i, q in enumerate(query_ids)}
    codes = []
    sources: list[Run | Qrels] = [*runs, qrels]
    for source in sources:
        names = source.query_id.dictionary.to_pylist()
        to_index = np.array([index.get(q, -1) for q in names], dtype=np.int32)
        code = to_index[source.query_id.indices.to_numpy(zero_copy_only=False)]
        if not (code >= 0).any():
            raise InputError(
                f"none of its topics is in the qrels: it has {some(names)}, the qrels {some(query_ids)}",
                path=source.path,
                hint="are these the qrels of this run's topics?",
            )
        codes.append(code)
    return query_ids, codes


def _doc_codes(columns: Sequence[pa.DictionaryArray]) -> tuple[pa.StringArray, list[IntArray]]:
    """All document ids in the order they are met, and each column as indices into them.

    Equal ids of all columns are found in two halves at once (pyarrow gives up the GIL), then between them.
    """
    half = (len(columns) + 1) // 2
    with ThreadPoolExecutor(_N_THREADS) as threads:
        halves = list(threads.map(_unify, filter(None, (columns[:half], columns[half:]))))
        names, to_names = _unify(
            [pa.DictionaryArray.from_arrays(np.arange(len(part), dtype=np.int32), part) for part, _ in halves]
        )
        codes = halves[0][1]  # those met first keep their codes
        for (_, part), to_code in zip(halves[1:], to_names[1:], strict=True):
            codes += threads.map(to_code.take, part)
        return names, codes


def _unify(columns: Sequence[pa.DictionaryArray]) -> tuple[pa.StringArray, list[IntArray]]:
    """The distinct values of all columns, and each column as indices into them."""
    chunks = pa.chunked_array(columns).unify_dictionaries().chunks
    return chunks[0].dictionary, [chunk.indices.to_numpy(zero_copy_only=False) for chunk in chunks]


def _stack(
    runs: Sequence[Run], query_codes: list[IntArray], doc_codes: list[IntArray], n_topics: int, order: Order
) -> tuple[IntArray, npt.NDArray[np.uint32]]:
    """Document codes and ascending sort keys in file order, both of shape (run, topic, rank), codes −1 where
    there is none.
    """
    lengths = [np.bincount(code[code >= 0], minlength=n_topics) for code in query_codes]
    shape = (len(runs), n_topics, max(int(length.max()) for length in lengths))
    document = np.full(shape, -1, dtype=np.int32)
    sort_key = np.zeros(shape, dtype=np.uint32)

    def place(r: int) -> None:
        run, code, start = runs[r], query_codes[r], np.cumsum(lengths[r]) - lengths[r]
        keep = np.argsort(code, kind="stable")[np.count_nonzero(code < 0) :]
        topic = code[keep]
        position = np.arange(len(keep)) - start[topic]
        document[r, topic, position] = doc_codes[r][keep]
        if order == "score":
            sort_key[r, topic, position] = _descending(run.score)[keep]
        elif run.rank is not None:
            sort_key[r, topic, position] = (run.rank.astype(np.int64) + 2**31).astype(np.uint32)[keep]

    with ThreadPoolExecutor(_N_THREADS) as threads:
        list(threads.map(place, range(len(runs))))
    return document, sort_key


def _descending(score: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """Keys that ascend as the single-precision score descends; equal floats, 0.0 and −0.0 among them, have
    equal keys.
    """
    with np.errstate(over="ignore"):
        bits = (score.astype(np.float32) + np.float32(0)).view(np.uint32)
    ascending = np.where(bits >> 31, ~bits, bits | np.uint32(0x80000000))
    return ~ascending


def _order(pair: IntArray, key: npt.NDArray[np.uint32], retrieved: npt.NDArray[np.bool_]) -> IntArray:
    """Rankings of one topic: by key ascending, then by pair code descending; one integer sort over (run,
    rank). The lower word stays under 2³¹, so that all bits set stand for no document.
    """
    mirrored = np.uint64(0x7FFFFFFF) - pair.astype(np.uint32).astype(np.uint64)
    packed = np.where(retrieved, (key.astype(np.uint64) << np.uint64(32)) | mirrored, np.uint64(2**64 - 1))
    packed.sort(axis=1)
    ordered = (np.uint64(0x7FFFFFFF) - (packed & np.uint64(0x7FFFFFFF))).astype(np.int32)
    ordered[packed == np.uint64(2**64 - 1)] = -1
    return ordered


def _organizations(
    run_ids: Sequence[str], organization_of: Mapping[str, str]
) -> tuple[tuple[str, ...], IntArray]:
    taken = set(organization_of.values())  # a run without an organization does not join one of its name
    per_run = [organization_of.get(run, f"{run} (run)" if run in taken else run) for run in run_ids]
    names = tuple(sorted(set(per_run)))
    index = {name: i for i, name in enumerate(names)}
    return names, np.array([index[name] for name in per_run], dtype=np.int32)

"""Documents that people should judge where nobody has: drawn by what labels leave open."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from bayespool import __version__
from bayespool.arrays import FloatArray, IndexArray, OrderArray, Progress
from bayespool.collection import Collection
from bayespool.collection.collection import expect_collection
from bayespool.collection.own import find_targets
from bayespool.errors import InputError
from bayespool.evidence.ideals import open_ranks
from bayespool.measures import Additive, Normalized
from bayespool.measures.parsing import parse_sole_measure
from bayespool.randomness import document_keys
from bayespool.reading import Qrels
from bayespool.scoring.pools import ListForAssessors
from bayespool.tables.formatting import counted, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Table, View
from bayespool.validation import check_count

_CHANCES = 0.05, 0.6  # of relevance by the lowest labels and by the highest, as people found on DL 2021
_MOST_STRATA = 6
_LEAST_OF_STRATUM = 10  # documents, on average
_N_SHOWN = 20
_NORMAL = 1.96
COLUMNS = {
    "order": Column("order", "count", "Place in the order of judging."),
    "stratum": Column("stratum", "count", "Stratum: 1 has the documents that tell least."),
}


@dataclass(frozen=True, eq=False, repr=False)
class SamplingDesign(ListForAssessors):
    """Design from `draw_design`: all documents that runs' scores depend on, in the order of judging.

    Whoever judges from the top, and stops anywhere, has judged a random sample of each stratum.

    Attributes
    ----------
    documents : DataFrame
        Columns ``order``, ``query_id``, ``doc_id`` and ``stratum``.
    run_ids : tuple of str
    measure : str
    variance : ndarray of float, shape (run, stratum)
        What the documents of a stratum are expected to add to the variance of a run's score, were one of two
        judged.
    metadata : mapping
        Version, fingerprint and settings.
    """

    documents: pd.DataFrame
    run_ids: tuple[str, ...]
    measure: str
    variance: FloatArray
    metadata: Mapping[str, Any]

    command = "audit"
    title = "Documents for people to judge, by design"
    formats = (*ListForAssessors.formats, ".jsonl")

    def __repr__(self) -> str:
        text = f"{self.measure} of {some_of(self.run_ids, 3)}, {counted(len(self.documents), 'document')}"
        return one_line("SamplingDesign", text)

    def half_width(self, n: int) -> float:
        """Return half the width that a run's 95 % interval by design is expected to have with n answers.

        Of the run for which it is largest. Labels say how much a document leaves open; answers may say else.
        """
        n_strata = self.variance.shape[1]
        stratum = self.documents["stratum"].to_numpy() - 1
        size, judged = (np.bincount(of, minlength=n_strata) for of in (stratum, stratum[:n]))
        if (judged < np.minimum(size, 2)).any():
            return float("inf")
        return float(_NORMAL * np.sqrt((self.variance @ (size / judged - 1)).max()))

    def n_answers(self, half_width: float) -> int:
        """Return the least number of answers with which intervals are expected to be so narrow."""
        low, high = 0, len(self.documents)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.half_width(middle) <= half_width else (middle + 1, high)
        return low

    def qrels(self) -> Qrels:
        """Return all documents as qrels in the order of judging, with their strata and relevance −1."""
        topics, documents = (pa.array(self.documents[name], pa.string()) for name in ("query_id", "doc_id"))
        return Qrels(
            topics.dictionary_encode(),
            documents,
            np.full(len(self.documents), -1, dtype=np.int16),
            stratum=self.documents["stratum"].to_numpy(dtype=np.int32),
            over_topics=True,
        )

    def to_format(self, suffix: str) -> bytes | str:
        """Return the design in qrels format, or for ``.jsonl`` the documents as tasks, one JSON per line."""
        if suffix != ".jsonl":
            return super().to_format(suffix)
        rows = self.documents[["query_id", "doc_id"]].to_dict("records")
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)

    def tables(self) -> tuple[Table, ...]:
        """Return the table of documents."""
        view = View(
            title="To judge, from the top",
            names=("order", "query_id", "doc_id"),
            columns=("stratum",),
            top=_N_SHOWN,
        )
        return (Table("documents", self.title, self.documents, COLUMNS, (view,)),)

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the number of answers that intervals of two widths take, and what to do."""
        return (
            self.needed,
            f"fix how many of the {counted(len(self.documents), 'document')} you judge, then judge from the "
            "top, in any number of rounds: write answers over the design's −1, or into qrels of their own",
            "then: bayespool score RUNS --judge LABELS --qrels DESIGN [--qrels ANSWERS]",
        )

    @property
    def needed(self) -> str:
        """Sentence on the answers of people that bring two widths of intervals."""
        wide, narrow = (f"{self.n_answers(half):,}" for half in (0.02, 0.01))
        of = self.run_ids[0] if len(self.run_ids) == 1 else f"each of {len(self.run_ids)} runs"
        return (
            f"{self.measure} of {of}: about {wide} answers of people bring ±.02, {narrow} bring ±.01, as far "
            "as labels foretell"
        )


def draw_design(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    random_seed: int = 1,
    progress: Progress | None = None,
) -> SamplingDesign:
    """Draw the order in which people judge documents with labels, so that any number is a stratified sample.

    Parameters
    ----------
    collection : Collection
        With labels (`bayespool.collection.add_judges`), and unjudged documents.
    run_ids : str or iterable of str, optional
        Runs of interest; default: as of `bayespool.score`.
    measures : measure, default "P@10"
        P, RBP or DCG; one of them.
    random_seed : int, default 1
        Decides the order within strata.
    progress : callable, optional
        Not called.

    Returns
    -------
    SamplingDesign

    Raises
    ------
    InputError
        No labels; another measure; nothing unjudged; unknown run.

    Notes
    -----
    The size of a document is √(mean over runs of w²) √(p(1 − p)), where w is the weight of its rank and p the
    chance of relevance between .05 and .6 that the mean of judges' labels names, each scaled to its range. So
    documents count that many runs have, and on which labels are in the middle or disagree. Strata go over
    all topics: documents ordered by size, cut where the sizes of each stratum have the same sum. Each stratum
    gives one document after the other in random order, so that those of large size are judged more often
    (Neyman's allocation).

    Examples
    --------
    >>> from bayespool import read_collection
    >>> from bayespool.auditing import draw_design
    >>> run = {f"q{t}": {f"d{i}": 9 - i for i in range(9)} for t in range(20)}
    >>> labels = {f"q{t}": {f"d{i}": int(i < 4) for i in range(9)} for t in range(20)}
    >>> design = draw_design(read_collection(None, run, judges={"llm": labels}), measures="P@5")
    >>> len(design.documents), design.n_answers(0.05)
    (100, 73)
    """
    check_count("random_seed", random_seed, least=0)
    measure = parse_sole_measure(measures)
    if not isinstance(measure, Additive) or isinstance(measure, Normalized):
        raise InputError(f"{measure} has no score by design", hint="P, RBP and DCG have")
    expect_collection(collection)
    collection, targets, _ = find_targets(collection, run_ids)
    if not collection.judges:
        raise InputError("no labels to draw by", hint="--judge FILE, or judges=")
    index = collection.run_index(targets)
    document = collection.document[index, :, : measure.cutoff]
    run, topic, rank = np.nonzero(open_ranks(collection, index, measure.cutoff, "complete"))
    pair, place = np.unique(document[run, topic, rank], return_inverse=True)
    if not len(pair):
        raise InputError("no document of the runs is unjudged", hint="score says their values")
    n_topics = len(collection.query_ids)
    weights = np.zeros((len(index), len(pair)))
    weights[run, place] = measure.weights()[rank] / measure.unit / n_topics
    chance = _chances(collection, pair)
    size = np.sqrt((weights**2).mean(axis=0) * chance * (1 - chance))
    stratum = _cut(size)
    n_strata = int(stratum.max()) + 1
    per_document = weights**2 * (chance * (1 - chance))
    variance = np.stack([per_document[:, stratum == h].sum(axis=1) for h in range(n_strata)], axis=1)
    order = _order(collection, pair, stratum, random_seed)
    topics = [collection.query_ids[t] for t in collection.pair_topic[pair[order]]]
    documents = pd.DataFrame(
        {
            "order": np.arange(len(order)) + 1,
            "query_id": topics,
            "doc_id": [collection.doc_id(i) for i in pair[order].tolist()],
            "stratum": stratum[order] + 1,
        }
    )
    return SamplingDesign(
        documents=documents,
        run_ids=tuple(targets),
        measure=str(measure),
        variance=variance,
        metadata={
            "bayespool": __version__,
            "fingerprint": collection.fingerprint,
            "measure": str(measure),
            "runs": list(targets),
            "judges": [judge.name for judge in collection.judges],
            "random_seed": random_seed,
        },
    )


def _chances(collection: Collection, pair: OrderArray) -> FloatArray:
    """Return chances of relevance by labels alone, shape (document,); in the middle without a label."""
    scaled = []
    for judge in collection.judges:
        lowest, highest = np.nanmin(judge.label), np.nanmax(judge.label)
        scaled.append((judge.label[pair] - lowest) / max(highest - lowest, 1e-12))
    labels = np.array(scaled)
    there = ~np.isnan(labels)
    mean = np.where(there, labels, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.interp(np.where(there.any(axis=0), mean, 0.5), (0, 1), _CHANCES)


def _cut(size: FloatArray) -> IndexArray:
    """Return strata from 0 of documents ordered by size, each with the same sum of sizes."""
    n_strata = min(max(len(size) // _LEAST_OF_STRATUM, 1), _MOST_STRATA)
    ordered = np.argsort(size, kind="stable")
    share = np.cumsum(size[ordered]) / size.sum()
    stratum = np.empty(len(size), dtype=np.int64)
    stratum[ordered] = np.minimum(np.ceil(share * n_strata - 1e-9) - 1, n_strata - 1)
    return np.unique(stratum, return_inverse=True)[1].astype(np.int64)


def _order(collection: Collection, pair: OrderArray, stratum: IndexArray, random_seed: int) -> OrderArray:
    """Return documents in the order of judging: of each stratum one in turn, in random order within."""
    topic = collection.pair_topic[pair]
    lot = np.zeros(len(pair), dtype=np.uint64)
    for t in np.unique(topic):
        ids = [collection.doc_id(i) for i in pair[topic == t].tolist()]
        lot[topic == t] = document_keys(random_seed, collection.query_ids[t], ids)
    by_lot = np.lexsort((lot, stratum))
    first = np.searchsorted(stratum[by_lot], stratum[by_lot])
    turn = np.arange(len(pair)) - first
    return np.asarray(by_lot[np.lexsort((-stratum[by_lot], turn))])

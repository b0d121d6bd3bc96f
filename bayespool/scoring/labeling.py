"""Documents that an LLM judge should label, and its labels collected."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from bayespool.arrays import AnyArray, OrderArray, Progress
from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.evidence.bounds import unjudged_documents
from bayespool.evidence.held_out import held_out_documents
from bayespool.evidence.labels import TOP_OF_LABELS, is_other
from bayespool.measures import parse_measures
from bayespool.reading import read_labels
from bayespool.scoring.scoring import find_targets
from bayespool.tables.files import PathLike, atomic_write, read_back
from bayespool.validation import check_count

_BATCH = 50  # labels after which they are written


def documents_to_label(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    n_known: int = 1000,
    unpool: str | Iterable[str] = (),
    random_seed: int = 1,
) -> pd.DataFrame:
    """List the documents that an LLM judge should label, in random order.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        The runs to score; default: as of `bayespool.score`.
    measures : measure or iterable of measures, default "P@10"
        The unjudged documents of the runs down to the deepest cutoff are to be labeled, all of them.
    n_known : int, default 1000
        Judged documents to be labeled, too, which show what the labels are worth. Hidden documents, from
        which the models learn, come first, then others in the top 30 of a run; drawn evenly over topics,
        whatever their relevance, so that having a label says nothing.
    unpool : str or iterable of str, optional
        Runs or organizations to score as if they were new.
    random_seed : int, default 1

    Returns
    -------
    DataFrame
        Columns ``query_id`` and ``doc_id``. It does not tell which are judged: a judge should not know.

    Raises
    ------
    InputError
        Unknown run, or no run to score.

    Examples
    --------
    >>> from bayespool import load_example
    >>> tasks = documents_to_label(load_example(), "new-a", n_known=100)
    >>> len(tasks), list(tasks)
    (118, ['query_id', 'doc_id'])
    """
    check_count("n_known", n_known, least=0)
    check_count("random_seed", random_seed, least=0)
    collection, targets = find_targets(collection, run_ids, unpool=unpool)[:2]
    cutoff = max(measure.cutoff for measure in parse_measures(measures))
    rng = np.random.default_rng(random_seed)
    holes = np.unique(unjudged_documents(collection, targets, cutoff=cutoff)[3])
    hidden: AnyArray = np.unique(held_out_documents(collection, cutoff=max(cutoff, TOP_OF_LABELS))[3])
    others: AnyArray = np.setdiff1d(np.flatnonzero(is_other(collection)), hidden)
    known = [_even_over_topics(collection, documents, rng) for documents in (hidden, np.asarray(others))]
    pair = rng.permutation(np.concatenate([holes, np.concatenate(known)[:n_known]]))
    topics = [collection.query_ids[topic] for topic in collection.pair_topic[pair]]
    return pd.DataFrame({"query_id": topics, "doc_id": [collection.doc_id(i) for i in pair.tolist()]})


def _even_over_topics(collection: Collection, documents: OrderArray, rng: np.random.Generator) -> OrderArray:
    """Return documents in random order, one of each topic after the other."""
    documents = rng.permutation(documents)
    topic, turn = collection.pair_topic[documents], np.zeros(len(documents), dtype=np.intp)
    for t in np.unique(topic):
        turn[topic == t] = np.arange((topic == t).sum())
    return np.asarray(documents[np.argsort(turn, kind="stable")])


def collect_labels(
    tasks: pd.DataFrame,
    label: Callable[[str, str], float | None],
    path: PathLike,
    *,
    progress: Progress | None = None,
) -> None:
    """Ask a function for labels of documents, and write them to a file that ``judges`` may name.

    Labels are written after every 50 documents. The same call goes on where it stopped, and asks again for
    documents without a label.

    Parameters
    ----------
    tasks : DataFrame
        With ``query_id`` and ``doc_id``, as of `documents_to_label`.
    label : callable
        Called with the ids of topic and document; returns a number, or None where the judge fails.
    path : path
        A file of JSON lines with ``query_id``, ``doc_id`` and ``label``.
    progress : callable, optional
        Called with a text, the number of documents asked, and of all.

    Raises
    ------
    InputError
        The file has other content; a label is no number.

    Examples
    --------
    >>> import pandas as pd, tempfile
    >>> from bayespool.reading import read_labels
    >>> tasks = pd.DataFrame({"query_id": ["1", "1"], "doc_id": ["a", "b"]})
    >>> path = f"{tempfile.mkdtemp()}/labels.jsonl"
    >>> collect_labels(tasks, lambda query_id, doc_id: 2 if doc_id == "a" else 0, path)
    >>> read_labels(path)
    <Labels: 2 documents, 1 topic>
    """
    labels: dict[tuple[str, str], float] = {}
    if read_back(path):
        former = read_labels(path)
        pairs = zip(former.query_id.to_pylist(), former.doc_id.to_pylist(), strict=True)
        labels = dict(zip(pairs, former.label.tolist(), strict=True))
    columns = (tasks[name].astype(str) for name in ("query_id", "doc_id"))
    asked = [pair for pair in zip(*columns, strict=True) if pair not in labels]
    try:
        for n, (query_id, doc_id) in enumerate(asked, 1):
            given = label(query_id, doc_id)
            if given is not None:
                labels[query_id, doc_id] = _checked(given, query_id, doc_id)
            if n % _BATCH == 0:
                _write(labels, path)
            if progress is not None:
                progress("labeling", n, len(asked))
    finally:
        _write(labels, path)


def _checked(label: float, query_id: str, doc_id: str) -> float:
    """Return a label as a number; `InputError` for none."""
    try:
        number = float(label)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"label {label!r} of topic {query_id}, document {doc_id}, is no number")
    return number


def _write(labels: dict[tuple[str, str], float], path: PathLike) -> None:
    """Write labels as JSON lines, if there are any."""
    lines = (
        json.dumps({"query_id": query_id, "doc_id": doc_id, "label": label}, ensure_ascii=False)
        for (query_id, doc_id), label in labels.items()
    )
    if labels:
        atomic_write(path, "".join(f"{line}\n" for line in lines))

"""LLM judges, such as language models, and the labels they give documents."""

from __future__ import annotations

import dataclasses
from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from bayespool.arrays import BoolArray, FloatArray, IndexArray, IntArray, LevelArray, OrderArray
from bayespool.collection.contents import (
    AnyCollection,
    Contents,
    Judge,
    find_pairs,
    place_values,
    topic_codes,
)
from bayespool.collection.rankings import Rankings
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.reading.records import UNJUDGED, Labels, Qrels
from bayespool.tables.formatting import counted

_DEPTH = 30  # of documents that are compared: nonrelevant ones further down are easier to tell
_MIN_DOCUMENTS = 50  # judged ones with labels
_BEST_KAPPA = 0.97  # of any judge; two assessors reach .5 to .8
_CHANCE = 0.01  # that the best judge disagrees as rarely
_MIN_LOG_RATIO = 10.0  # of likelihoods with copies and without, where there are two levels of relevance
_MORE_LOG_RATIO = 7.0  # for each further level, whose frequency on unjudged documents may be off
_USUAL_KAPPA = 0.6  # of a judge; one who agrees less has less to copy, and
_LACK_WEIGHT = 50.0  # needs so much more log ratio for each 1 that κ lacks
_N_BINS = 20  # of unjudged documents by their odds of relevance
_PRIOR_DOCUMENTS = 5.0  # weight of the mean share of relevant documents in that of a topic
_SHIFT_SD = 0.6  # of the log odds of relevance of unjudged documents, beyond what places say
_LEVEL_SD = 1.0  # of that of each level less their mean
_SLOPE_SD = 0.2  # of the slope of log odds on unjudged documents, less that on judged ones
_PSEUDO_AGREEMENTS = 4.0  # documents, of all levels, on which a judge agrees; it disagrees on half as many


def find_copied_labels(collection: Contents, judge: Judge) -> str:
    """Return evidence that a judge's labels were copied from the judgments, or '' if there is none.

    Either the judge agrees with them better than any judge does (Cohen's κ over .97), or its labels of
    unjudged documents are those of a worse judge. Only documents in the top 30 of some run count.
    """
    from scipy.stats import poisson

    best, support, is_top = _places(collection)
    seen = judge.is_labeled & is_top
    judged, unjudged = (np.flatnonzero(seen & is_kind) for is_kind in (collection.judged, ~collection.judged))
    levels, level = np.unique(collection.relevance[judged], return_inverse=True)
    if len(judged) < _MIN_DOCUMENTS or len(levels) < 2:
        return ""
    category = _categories(judge, levels, seen)
    table = np.zeros((len(levels), category.max() + 1))
    np.add.at(table, (level, category[judged]), 1)
    copy = table.argmax(axis=1)  # the label that a copied judgment would have
    if len(np.unique(copy)) < 2:
        return ""
    n_same, n = int(table[np.arange(len(levels)), copy].sum()), len(judged)
    shares = table.sum(axis=1) / n
    chance = float(shares @ table.sum(axis=0)[copy] / n)
    tail = float(poisson.cdf(n - n_same, (1 - _BEST_KAPPA) * n * (1 - chance)))
    evidence = f"they say the same on {n_same:,} of {n:,} judged documents"
    if tail < _CHANCE:
        return f"{evidence}, more than any judge agrees with"
    if len(unjudged) < _MIN_DOCUMENTS:
        return ""
    odds = _log_odds(collection, judged, unjudged, level, np.log(best), np.log(support))
    order = np.argsort(odds.mean(axis=0), kind="stable")
    parts = np.array_split(order, _N_BINS)
    holes = np.array([np.bincount(category[unjudged[part]], minlength=table.shape[1]) for part in parts])
    bin_odds = np.array([odds[:, part].mean(axis=1) for part in parts])
    pure, _ = _fit_judge(table, copy, holes, bin_odds, (0.0,))
    copied, labels = _fit_judge(table, copy, holes, bin_odds, (0.3, 0.9))
    kappa = 1 - (1 - n_same / n) / (1 - chance)
    needed = _MIN_LOG_RATIO + _MORE_LOG_RATIO * (len(levels) - 2)
    needed += _LACK_WEIGHT * max(0.0, _USUAL_KAPPA - kappa)
    if copied - pure - np.log(tail) < needed:
        return ""
    per_cent = round(100 * float(shares @ labels[np.arange(len(levels)), copy]))
    return f"{evidence}, but its labels of unjudged ones are those of a judge who agrees on {per_cent} %"


def _places(collection: Contents) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return each document's best rank, its reciprocal-rank support, and whether it is in a run's top 30."""
    n, given = len(collection.relevance), set(collection.given_run_ids)
    others = [r for r, name in enumerate(collection.run_ids) if name not in given or collection.pooled[r]]
    others = others or list(range(len(collection.run_ids)))
    best, support = np.full(n + 1, _DEPTH + 1.0), np.full(n + 1, 1 / (2 * _DEPTH))
    is_top = np.zeros(n + 1, dtype=bool)  # the last is that of −1, no document
    for run in range(len(collection.run_ids)):
        document = collection.document[run, :, :_DEPTH]
        rank = np.arange(1, document.shape[1] + 1)
        is_top[document] = True
        if run in others:
            best[document] = np.minimum(best[document], rank)
            support[document] += 1 / (10 + rank)
    return best[:-1], support[:-1], is_top[:-1]


def _categories(judge: Judge, levels: LevelArray, seen: BoolArray) -> OrderArray:
    """Return each document's label category (relevance level or grade), shape (pair,); −1 if not used."""
    is_level = np.isin(judge.label, levels)
    key = np.where(is_level, judge.label, levels.max() + 1.0 + judge.grade)
    category = np.full(len(key), -1)
    category[seen] = np.unique(key[seen], return_inverse=True)[1]
    return category


def _log_odds(
    collection: Contents, judged: OrderArray, unjudged: OrderArray, level: OrderArray, *places: FloatArray
) -> FloatArray:
    """Return predicted log odds that unjudged documents reach each level, shape (level − 1, unjudged)."""
    topic, n_topics = collection.pair_topic, len(collection.query_ids)
    is_even = np.arange(len(judged)) % 2 == 0

    def topic_odds(reached: FloatArray, among: BoolArray) -> FloatArray:
        n = np.bincount(topic[judged[among]], minlength=n_topics)
        n_reached = np.bincount(topic[judged[among]], reached[among], n_topics)
        share = (n_reached + _PRIOR_DOCUMENTS * reached.mean()) / (n + _PRIOR_DOCUMENTS)
        return np.asarray(np.log(share / (1 - share)))

    def predictors(documents: OrderArray, topic_log_odds: FloatArray) -> FloatArray:
        centered = [place[documents] - place[judged].mean() for place in places]
        return np.column_stack([np.ones(len(documents)), *centered, topic_log_odds])

    odds = np.empty((level.max(), len(unjudged)))
    for k in range(1, level.max() + 1):
        reached = (level >= k).astype(float)
        even, odd, every = (topic_odds(reached, among) for among in (is_even, ~is_even, is_even | ~is_even))
        others = np.where(is_even, odd[topic[judged]], even[topic[judged]])  # never by the document itself
        coefficients = fit_logistic(predictors(judged, others - every.mean()), reached)
        odds[k - 1] = predictors(unjudged, every[topic[unjudged]] - every.mean()) @ coefficients
    return np.minimum.accumulate(odds, axis=0)


def fit_logistic(x: FloatArray, y: FloatArray, ridge: float = 0.1) -> FloatArray:
    """Fit a ridge-penalized logistic regression and return its coefficients."""
    at = np.zeros(x.shape[1])
    for _ in range(25):
        p = 1 / (1 + np.exp(-x @ at))
        curvature = (x.T * (p * (1 - p))) @ x + ridge * np.eye(len(at))
        step = np.linalg.solve(curvature, x.T @ (y - p) - ridge * at)
        at = at + step / max(1.0, float(np.abs(step).max()))
    return at


def _fit_judge(
    table: FloatArray, copy: OrderArray, holes: IndexArray, odds: FloatArray, starts: tuple[float, ...]
) -> tuple[float, FloatArray]:
    """Fit a model for a judge's labels and return its log likelihood and label probabilities for each level.

    No label is a copy (a start of 0), or a share of them is.

    A judged document has the label ``copy`` of its level with the copied share, else the judge's. An unjudged
    one has the judge's, at levels that its bin's odds say, tilted alike for all bins but for the slope.
    """
    from scipy.optimize import minimize

    n_levels, n_labels = table.shape
    n_cells, n_tilts = table.size, n_levels - 1
    is_copy = np.zeros(table.shape)
    is_copy[np.arange(n_levels), copy] = 1
    reached = 1 / (1 + np.exp(-odds))
    ones = np.ones((len(odds), 1))
    base = np.log((-np.diff(np.hstack([ones, reached, 0 * ones]))).clip(1e-6))
    pseudo = np.where(is_copy > 0, 1.0, 0.5 / (n_labels - 1)) * _PSEUDO_AGREEMENTS / n_levels
    steps = np.tri(n_levels)[:, 1:]  # levels that each tilt raises
    slope = np.outer(odds.mean(axis=1) - odds.mean(), np.arange(n_levels))
    tilt_ones, own = np.ones((n_tilts, n_tilts)), np.eye(n_tilts)
    precision = np.linalg.inv(_SHIFT_SD**2 * tilt_ones + _LEVEL_SD**2 * (own - tilt_ones / n_tilts))

    def unpacked(at: FloatArray) -> tuple[FloatArray, FloatArray, float, float]:
        logits, copied = at[:n_cells].reshape(table.shape), 0.0
        if starts[0]:
            copied = float(1 / (1 + np.exp(-at[-1])))
        return _softmax(logits), at[n_cells:-2], float(at[-2]), copied

    def loss(at: FloatArray) -> tuple[float, FloatArray]:
        labels, tilt, turn, copied = unpacked(at)
        mixed = (1 - copied) * labels + copied * is_copy
        level = _softmax(base + steps @ tilt + turn * slope)
        expected = level @ labels
        weight = holes / expected
        value = (table * np.log(mixed)).sum() + (holes * np.log(expected)).sum()
        value += (pseudo * np.log(labels)).sum()
        value -= tilt @ precision @ tilt / 2 + (turn / _SLOPE_SD) ** 2 / 2
        label_gradient = (1 - copied) * table / mixed + level.T @ weight + pseudo / labels
        level_gradient = _softmax_gradient(level, weight @ labels.T)
        gradient = np.concatenate(
            [
                _softmax_gradient(labels, label_gradient).ravel(),
                (level_gradient @ steps).sum(axis=0) - precision @ tilt,
                [(level_gradient * slope).sum() - turn / _SLOPE_SD**2],
                [(table / mixed * (is_copy - labels)).sum() * copied * (1 - copied)],
            ]
        )
        return -float(value), -gradient

    best = -np.inf, table
    for start in starts:
        counts = table * (1 - min(1.05 * start, 0.95) * is_copy) + 1
        guess = np.log(counts / counts.sum(axis=1, keepdims=True)).ravel()
        at = np.concatenate([guess, np.zeros(n_tilts + 1), [np.log((start + 1e-3) / (1 - start))]])
        optimum = minimize(loss, at, jac=True, method="L-BFGS-B", options={"maxiter": 500})
        if -optimum.fun > best[0]:
            best = -float(optimum.fun), unpacked(optimum.x)[0]
    return best


def _softmax(logits: FloatArray) -> FloatArray:
    """Return the softmax of each row, bounded away from zero."""
    share = np.exp(logits - logits.max(axis=1, keepdims=True)) + 1e-12
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def _softmax_gradient(share: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return the gradient with respect to logits, given that with respect to softmax probabilities."""
    return np.asarray(share * (gradient - (gradient * share).sum(axis=1, keepdims=True)))


_MIN_AGREEMENTS = 50  # without exception, which suffice to recognize labels as the judgments themselves

_WITHOUT_COPIES = (
    "give the judge's own labels of judged and unjudged documents, not qrels whose holes it filled: labels "
    "that were copied from judgments are no evidence of what its labels are worth"
)


def add_judges(collection: AnyCollection, judges: Mapping[str, Labels | Sequence[Labels]]) -> AnyCollection:
    """Add labels from LLM judges to a collection.

    No measure counts them. Models with predictors learn from judged documents how much a label is worth
    (:doc:`Labels of LLM judges </judges>`).

    Parameters
    ----------
    collection : Collection
    judges : mapping of str to Labels or sequence of Labels
        Labels by name; several of a judge that was asked several times, whose mean counts.

    Raises
    ------
    InputError
        A judge has the name of another; no label is of a document of the collection; or the labels are the
        judgments themselves, or contain them.

    Warns
    -----
    InputWarning
        All labels of a judge are the same, or some are negative whole numbers, as where the judge failed.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.reading import labels_from_frame
    >>> example = load_example()
    >>> labels = {example.query_ids[0]: {example.doc_id(0): 1, example.doc_id(1): 0}}
    >>> add_judges(example, {"llm": labels_from_frame(labels)}).judges
    (<Judge llm: 2 labels, 2 grades>,)
    """
    for name, given in judges.items():
        several = [given] if isinstance(given, Labels) else list(given)
        if name in [judge.name for judge in collection.judges]:
            raise InputError(f"two judges are called {name!r}", path=several[0].path, hint="rename one")
        for labels in several:
            if not (find_pairs(collection, labels.query_id, labels.doc_id) >= 0).any():
                raise InputError(
                    f"none of the labels of judge {name!r} is of a document of the collection",
                    path=labels.path,
                    hint="are these labels of its topics?",
                )
            collection, _ = with_documents(collection, labels, np.ones(len(labels.label), dtype=bool))
        replicates = np.array([_labels_of_pairs(collection, name, labels) for labels in several])
        judge = Judge(name, replicates[0])
        if len(several) > 1:
            with np.errstate(invalid="ignore"):  # NaN for a document without a label
                label = np.nansum(replicates, axis=0) / (~np.isnan(replicates)).sum(axis=0)
            judge = Judge(name, label, replicates=replicates)
        if not judge.thresholds:
            warn_caller(
                f"{several[0].path or name}: all labels of judge {name!r} are the same and say nothing",
                InputWarning,
            )
        collection = dataclasses.replace(collection, judges=(*collection.judges, judge))
    return collection


def _labels_of_pairs(collection: Contents, name: str, labels: Labels) -> FloatArray:
    """Return a judge's label of each document, shape (pair,); `InputError` for labels that are none."""
    pair = find_pairs(collection, labels.query_id, labels.doc_id)
    label = np.full(len(collection.relevance), np.nan)
    label[pair[pair >= 0]] = labels.label[pair >= 0]
    if are_judgments(collection, label):
        raise InputError(
            f"the labels of judge {name!r} are the judgments: the same relevance on the same documents",
            path=labels.path,
            hint="give labels of another judge, such as a language model, and the qrels as qrels alone",
        )
    label = _without_failures(label, labels, name)
    if evidence := find_copied_labels(collection, Judge(name, label)):
        reason = f"the labels of judge {name!r} contain judgments: {evidence}"
        raise InputError(reason, path=labels.path, hint=_WITHOUT_COPIES)
    return label


def _without_failures(label: FloatArray, labels: Labels, name: str) -> FloatArray:
    """Return labels with negative values set to NaN if all labels are whole numbers."""
    failed = label < 0
    if not failed.any() or (labels.label % 1 != 0).any():  # negative fractions are log odds and the like
        return label
    n_failed = counted(int(failed.sum()), "label")
    warn_caller(f"{labels.path or name}: {n_failed} of judge {name!r} below 0 count as missing", InputWarning)
    return np.where(failed, np.nan, label)


def judge_where_labeled(
    collection: AnyCollection, judge: Judge, relevance: LevelArray | int = 1
) -> AnyCollection:
    """Return the collection with a judge's labeled documents judged, and all others unjudged.

    They are relevant, or of the relevance that their labels stand for, shape (pair,).
    """
    judged = np.where(judge.is_labeled, relevance, UNJUDGED).astype(np.int16)
    return dataclasses.replace(collection, relevance=judged)


def are_judgments(collection: Contents, label: FloatArray) -> bool:
    """Return whether labels repeat the judgments exactly and cover no other document."""
    labeled, judged = ~np.isnan(label), collection.judged
    same = judged & (np.maximum(label, 0) == collection.relevance)
    other = labeled & np.where(judged, ~same, label >= 0)
    return int(same.sum()) >= _MIN_AGREEMENTS and not other.any()


def with_documents(
    collection: AnyCollection, lines: Qrels | Labels, chosen: BoolArray
) -> tuple[AnyCollection, OrderArray]:
    """Return the collection with pairs for documents that no run retrieves and the qrels do not list.

    Of the chosen lines, a mask of shape (line,); they are unjudged. The pair code of each line comes
    with it, −1 for other topics.
    """
    topic = topic_codes(collection, lines.query_id)
    pair = find_pairs(collection, lines.query_id, lines.doc_id)
    lacking = np.flatnonzero(chosen & (topic >= 0) & (pair < 0))
    if not len(lacking):
        return collection, pair
    first = np.searchsorted(collection.pair_topic, np.arange(len(collection.query_ids) + 1))
    before, new_topic, new_ids = list[int](), list[int](), list[str]()
    for t in np.unique(topic[lacking]):
        known = collection.doc_ids.slice(first[t], first[t + 1] - first[t]).cast(pa.binary()).to_pylist()
        ids = lines.doc_id.take(pa.array(lacking[topic[lacking] == t])).unique().to_pylist()
        for doc_id in sorted(ids, key=str.encode):
            before.append(int(first[t]) + bisect(known, doc_id.encode()))
            new_topic.append(int(t))
            new_ids.append(doc_id)
    n_old, n = len(collection.relevance), len(collection.relevance) + len(new_ids)
    place = np.arange(n_old) + np.searchsorted(before, np.arange(n_old), side="right")
    new = np.array(before) + np.arange(len(new_ids))
    source = np.empty(n, dtype=np.int64)
    source[place], source[new] = np.arange(n_old), n_old + np.arange(len(new_ids))

    place = place.astype(np.int32)
    moved = partial(place_values, place=place, n_pairs=n)
    pair_topic = moved(collection.pair_topic, 0)
    pair_topic[new] = new_topic
    document: IntArray | Rankings
    if isinstance(collection.document, Rankings):
        document = dataclasses.replace(collection.document, values=place[collection.document.values])
    else:
        document = np.append(place, np.int32(-1))[collection.document]
    ids = pa.concat_arrays([collection.doc_ids, pa.array(new_ids, collection.doc_ids.type)])
    own, sample = collection.own, collection.sample
    larger = dataclasses.replace(
        collection,
        document=document,
        relevance=moved(collection.relevance, UNJUDGED),
        pair_topic=pair_topic,
        doc_ids=ids.take(pa.array(source)),
        pool=collection.pool.place_documents(place, n),
        attributed_run=moved(collection.attributed_run, -1),
        judges=tuple(
            dataclasses.replace(
                judge,
                label=moved(judge.label, np.nan),
                replicates=None if judge.replicates is None else moved(judge.replicates, np.nan),
            )
            for judge in collection.judges
        ),
        own=own
        and dataclasses.replace(
            own, relevance=moved(own.relevance, UNJUDGED), is_active=moved(own.is_active, False)
        ),
        sample=sample
        and dataclasses.replace(
            sample,
            inclusion=moved(sample.inclusion, np.nan),
            stratum=None if sample.stratum is None else moved(sample.stratum, -1),
            candidates=moved(sample.candidates, False),
        ),
    )
    return larger, find_pairs(larger, lines.query_id, lines.doc_id)

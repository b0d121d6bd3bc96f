"""Judgments that count where runs leave the pool, judgments of the user, and of second assessors."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from bayespool.arrays import AnyArray, BoolArray, IntArray
from bayespool.collection.contents import AnyCollection, Contents, OwnJudgments, topic_codes
from bayespool.collection.judges import with_documents
from bayespool.collection.rankings import ranked
from bayespool.errors import InputError, InputWarning, did_you_mean, some, warn_caller
from bayespool.names import By
from bayespool.reading.records import UNJUDGED, Qrels, relevance_codes
from bayespool.validation import check_choice, listed

_MAX_DOCUMENTS_IN_MESSAGE = 5
_MAX_SHARE_OF_OTHERS = 0.1  # of judgments that are evidence: documents that no run outside the pool retrieves


def attach_own_judgments(collection: AnyCollection, qrels: Qrels) -> AnyCollection:
    """Attach user judgments and activate those on unjudged documents (`Collection.attach_judgments`)."""
    codes, _ = relevance_codes(qrels.relevance, collection.negatives.meaning)
    if len(codes) and not (codes >= 0).any():
        raise InputError(
            "no line is a judgment: none has a relevance of 0 or more",
            path=qrels.path,
            hint="−1 lists a document for an assessor, who fills in its relevance",
        )
    on_topic = topic_codes(collection, qrels.query_id) >= 0
    known = on_topic & (codes >= 0)
    if not known.any():
        raise InputError(
            "no judgment is of a topic of the collection",
            path=qrels.path,
            hint="are these the topics of this collection?",
        )
    collection, line_pair = with_documents(collection, qrels, known)
    pair, value, own = line_pair[known], codes[known], _own_or_empty(collection)
    if not (_best_runs(collection, np.ones(len(collection.run_ids), dtype=bool))[pair] >= 0).any():
        warn_caller(
            f"{qrels.path or 'judgments of your own'}: no judgment is of a document that a run retrieves, so "
            "that all count in ideal rankings and numbers of relevant documents alone; are these the ids of "
            "the runs' documents?",
            InputWarning,
        )
    before = own.relevance[pair]
    if len(conflicts := pair[(before >= 0) & (before != value)]):
        document, other = _documents(collection, conflicts[:1]), own.relevance[conflicts[0]]
        reason = f"{document} has relevance {other} in other judgments of your own"
        raise InputError(reason, path=qrels.path, hint="keep one of them")
    relevance = own.relevance.copy()
    relevance[pair] = value
    useless = np.flatnonzero((codes >= 0) & ~on_topic)
    some_useless = _some_documents(qrels.doc_id, qrels.query_id, useless)
    reason = f"{len(useless)} of topics that the collection does not have ({some_useless})"
    reasons = (reason,) if len(useless) else ()
    own = dataclasses.replace(
        own, relevance=relevance, path=qrels.path, ignored_judgments=(*own.ignored_judgments, *reasons)
    )
    _warn_of_ignored(own, reasons)
    return activate_own_judgments(dataclasses.replace(collection, own=own))


def add_note(collection: AnyCollection, note: str) -> AnyCollection:
    """Attach a note to the collection's user judgments."""
    own = _own_or_empty(collection)
    return dataclasses.replace(collection, own=dataclasses.replace(own, notes=(*own.notes, note)))


def activate_own_judgments(collection: AnyCollection) -> AnyCollection:
    """Activate the user judgments on all documents that are now unjudged."""
    if collection.own is None:
        return collection
    new = np.flatnonzero(collection.own.is_inactive & collection.may_be_relevant)
    return set_own_judgments(collection, new, collection.own.relevance[new])


def set_own_judgments(collection: AnyCollection, pair: AnyArray, value: AnyArray) -> AnyCollection:
    """Set user judgments for the given pair codes, shape (document,) (`Collection.with_own_judgments`).

    Where other runs than those outside the pool brought many of the documents, none is evidence.
    """
    relevance, attributed_run = collection.relevance.copy(), collection.attributed_run.copy()
    own = _own_or_empty(collection)
    own_relevance, is_active = own.relevance.copy(), own.is_active.copy()
    relevance[pair] = own_relevance[pair] = value
    is_active[pair] = True
    best = _best_runs(collection, ~collection.pooled)
    attributed_run[is_active] = best[is_active]
    if is_active.any() and (best[is_active] < 0).mean() > _MAX_SHARE_OF_OTHERS:
        attributed_run[is_active] = -1  # what two runs share is relevant more often than what one has alone
    own = dataclasses.replace(own, relevance=own_relevance, is_active=is_active)
    return dataclasses.replace(collection, relevance=relevance, attributed_run=attributed_run, own=own)


def leave_pool(collection: AnyCollection, leaving: BoolArray, depth: int | None = None) -> AnyCollection:
    """Return the collection as it would be judged without some runs, a mask of shape (run,), in the pool.

    Where ``depth`` is given, the pool ends there, too. The user's own judgments come into use where documents
    are then unjudged.
    """
    pool, before = collection.pool, np.flatnonzero(collection.pooled)
    if depth is not None:
        deepest = int(pool.run_depths(before).max(initial=pool.depth))
        if not 1 <= depth <= deepest:
            raise InputError(
                f"cannot re-pool to depth {depth}",
                hint=f"the pool's is {deepest}; known_depth states another",
            )
        pool = pool.truncate(depth)
    pooled = collection.pooled & ~leaving
    inside = pool.judged(collection, np.flatnonzero(pooled))
    gone = ~inside if depth is not None else ~inside & pool.judged(collection, before)
    notes, n_gone = collection.scope_notes, int((gone & collection.judged).sum())
    if depth is not None and n_gone:
        removed = f"{n_gone:,} of {int(collection.judged.sum()):,} judgments removed"
        notes = (*notes, f"re-pooled to depth {depth}: {removed}")
    whole = collection
    if (own := collection.own) is not None:
        unused = dataclasses.replace(own, is_active=np.zeros_like(own.is_active))
        whole = dataclasses.replace(collection.without_judgments(own.is_active), own=unused)
    smaller, known = whole.without_judgments(gone), pool.known_relevance(whole)
    new = inside & smaller.may_be_relevant & (known != UNJUDGED)
    relevance = np.where(new, known, smaller.relevance)
    former = (
        *collection.formerly_pooled_run_ids,
        *(collection.run_ids[i] for i in np.flatnonzero(collection.pooled & leaving)),
    )
    smaller = dataclasses.replace(
        smaller,
        pooled=pooled,
        pool=pool,
        relevance=relevance,
        scope_notes=notes,
        formerly_pooled_run_ids=former,
    )
    return activate_own_judgments(smaller)


def names_in_pool(collection: AnyCollection, names: Iterable[str]) -> list[str]:
    """Return those of the names that are of a run, or an organization, in the pool."""
    homes = (collection.organizations[o] for o in collection.organization[collection.pooled].tolist())
    known = {*collection.pooled_run_ids, *homes}
    return [name for name in names if name in known]


def unpool_runs(
    collection: AnyCollection, names: Sequence[str], *, by: By = "organization", depth: int | None = None
) -> tuple[AnyCollection, dict[str, str]]:
    """Return the collection without runs or organizations in its pool, which ends at ``depth`` if given, and
    what left the pool for each run to score.
    """
    check_choice("unpool_by", by, By)
    if not names and depth is None:
        return collection, {}
    members: dict[str, list[str]] = {}
    for run, organization in zip(collection.run_ids, collection.organization.tolist(), strict=True):
        members.setdefault(collection.organizations[organization], []).append(run)
    home = {run: organization for organization, runs in members.items() for run in runs}
    leaving_runs: dict[str, list[str]] = {}
    taken: dict[str, str] = {}
    for name in names:
        if name in home and name in members and members[name] != [name]:
            raise InputError(
                f"{name!r} is a run and an organization of other runs",
                hint=f"name the runs of the organization ({some(members[name])}), or rename one of the two",
            )
        if name not in home and name not in members:
            raise InputError(
                f"{name!r} is neither a run nor an organization",
                hint=f"{did_you_mean(name, (*home, *members))} runs: {some(collection.run_ids)}; "
                f"organizations: {some(collection.organizations)}".lstrip(),
            )
        if name not in home and by == "run":
            raise InputError(f"{name!r} is an organization", hint="by run, name runs")
        organization = home.get(name, name)
        unit = f"{by} {name if by == 'run' else organization}"
        leaving_runs[unit] = list(collection.originals([name])) if by == "run" else members[organization]
        taken |= dict.fromkeys([name] if name in home else leaving_runs[unit], unit)
    pooled = set(collection.pooled_run_ids)
    for unit, runs in leaving_runs.items():
        if not pooled.intersection(runs):
            hint = "name the files of its runs as the runs to score"
            raise InputError(f"{unit} is not in the pool", hint=hint)
    gone = {run for runs in leaving_runs.values() for run in runs}
    return leave_pool(collection, np.array([run in gone for run in collection.run_ids], bool), depth), taken


def find_targets(
    collection: AnyCollection,
    run_ids: str | Iterable[str] | None,
    *,
    unpool: str | Iterable[str] = (),
    unpool_by: By = "organization",
    repool_to: int | None = None,
    common_topics: Sequence[str] = (),
) -> tuple[AnyCollection, tuple[str, ...], dict[str, str]]:
    """Return the collection with the pool that runs are scored by, these runs, and the unpooled ones.

    Parameters are as in `bayespool.score`. The collection has no judgments that only the unpooled runs
    contributed, and the user's own of documents that are then unjudged. Unpooled runs come with what left the
    pool because of them.

    Raises
    ------
    InputError
        Nothing to score; a name to unpool that is neither a run nor an organization, or both; a depth beyond
        the pool's; a judgment of one's own that contradicts one of the pool.

    Warns
    -----
    InputWarning
        Judgments of one's own that are ignored (`check_own_judgments`).
    """
    names = listed("unpool", unpool, may_be_empty=True)
    was_pooled = set(collection.pooled_run_ids)
    collection, unpooled = unpool_runs(collection, names, by=unpool_by, depth=repool_to)
    collection = check_own_judgments(collection)
    by_default = collection.given_run_ids if run_ids is None else run_ids
    named = (by_default,) if isinstance(by_default, str) else tuple(by_default)
    # an organization's runs are scored, or those of the campaign's that are named
    own = set(collection.given_run_ids) - was_pooled
    narrowed = {unpooled[run] for run in unpooled.keys() & set(named) - own}
    asked = [run for run, unit in unpooled.items() if run in names or unit not in narrowed]
    targets = tuple(dict.fromkeys((*named, *asked)))
    if run_ids is None:
        targets = targets or collection.unpooled_run_ids
    if not targets:
        raise InputError("no run to score", hint="name run files, or runs of the pool as unpool (--unpool)")
    if common_topics:
        collection = _adopt_judgments(collection, targets, common_topics)
    return collection, targets, unpooled


def _adopt_judgments(
    collection: AnyCollection, run_ids: Sequence[str], query_ids: Sequence[str]
) -> AnyCollection:
    """Turn judgments on the given runs' documents into user judgments if no pooled run contributed them.

    Only the given topics count.
    """
    retrieved = _best_runs(collection, np.isin(collection.run_ids, run_ids)) >= 0
    inside = collection.pool.judged(collection, np.flatnonzero(collection.pooled))
    topics = np.isin(collection.query_ids, query_ids)[collection.pair_topic]
    added = collection.attributed_run >= 0
    pair = np.flatnonzero(retrieved & topics & collection.judged & ~added & ~inside)
    return set_own_judgments(collection, pair, collection.relevance[pair])


def check_own_judgments(collection: AnyCollection) -> AnyCollection:
    """Drop inactive user judgments with a warning, or raise `InputError` if one contradicts the qrels."""
    own = collection.own
    if own is None or not own.is_inactive.any():
        return collection
    refuse_contradictions(collection)
    if not own.is_active.any():
        raise InputError(
            "no judgment is of a document that the qrels leave unjudged",
            path=own.path,
            hint="the qrels judge all of these documents; name runs that are to leave the pool with --unpool",
        )
    inactive = np.flatnonzero(own.is_inactive)
    reason = f"{len(inactive)} of documents that the qrels judge already ({_documents(collection, inactive)})"
    _warn_of_ignored(own, (reason,))
    own = dataclasses.replace(
        own,
        relevance=np.where(own.is_active, own.relevance, np.int16(UNJUDGED)),
        ignored_judgments=(*own.ignored_judgments, reason),
    )
    return dataclasses.replace(collection, own=own)


def describe_others(collection: Contents) -> str:
    """Return a note on user judgments that are no evidence because other runs brought them, or ''."""
    is_own = collection.is_own
    if not is_own.any() or (collection.attributed_run[is_own] >= 0).any():
        return ""
    n_others = int((_best_runs(collection, ~collection.pooled)[is_own] < 0).sum())
    return (
        f"judgments of your own count in every score, but posteriors do not learn from them: {n_others:,} of "
        f"{int(is_own.sum()):,} are of documents that no run outside the pool retrieves; name the runs that "
        "they were made for, too"
    )


def refuse_contradictions(collection: Contents) -> None:
    """Raise `InputError` if a user judgment differs from the qrels."""
    own = collection.own
    if own is None:
        return
    conflicts = np.flatnonzero(own.is_inactive & (own.relevance != collection.relevance))
    if len(conflicts):
        document, relevance = _documents(collection, conflicts[:1]), collection.relevance[conflicts[0]]
        raise InputError(
            f"{document} has relevance {relevance} in the qrels and another one here",
            path=own.path,
            hint="provide judgments only for unjudged documents; unpool runs (--unpool) before adding them",
        )


def _own_or_empty(collection: Contents) -> OwnJudgments:
    """Return the collection's user judgments, or an empty set of them."""
    nothing = np.full(len(collection.relevance), UNJUDGED, dtype=np.int16)
    return collection.own or OwnJudgments(nothing, np.zeros(len(nothing), dtype=bool))


def _best_runs(collection: Contents, runs: BoolArray) -> IntArray:
    """Return the run, of a mask of shape (run,), that ranks each document best, shape (pair,); −1 if none."""
    best = np.full(len(collection.relevance) + 1, collection.document.shape[2], dtype=np.int32)
    run = np.full(len(collection.relevance) + 1, -1, dtype=np.int32)
    for r in np.flatnonzero(runs):
        document, ranks = ranked(collection.document, r)
        better = ranks < best[document]
        best[document[better]], run[document[better]] = ranks[better], r
    return run[:-1]


def _documents(collection: Contents, pairs: AnyArray) -> str:
    """Return the first documents in a list of pair codes, with their topics, as text for a message."""
    topics = pa.array(collection.query_ids).take(pa.array(collection.pair_topic))
    return _some_documents(collection.doc_ids, topics, pairs)


def _some_documents(doc_id: pa.Array, query_id: pa.Array, index: AnyArray) -> str:
    """Return the first documents at the given array indices, with their topics, as text for a message."""
    first = index[:_MAX_DOCUMENTS_IN_MESSAGE].tolist()
    names = ", ".join(f"document {doc_id[i]} of topic {query_id[i]}" for i in first)
    n_more = len(index) - _MAX_DOCUMENTS_IN_MESSAGE
    return names + (f", and {n_more} more" if n_more > 0 else "")


def _warn_of_ignored(own: OwnJudgments, reasons: tuple[str, ...]) -> None:
    """Warn (`InputWarning`) about user judgments that are never used."""
    if reasons:
        warn_caller(f"{own.path or 'judgments of your own'}: ignored {' and '.join(reasons)}", InputWarning)

"""Contributions of organizations to a pool, and unjudged documents by topic: facts of a card."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bayespool.arrays import FloatArray, IntArray
from bayespool.collection import Collection
from bayespool.collection.pools import sole_contributor
from bayespool.evidence import score_bounds
from bayespool.evidence.bounds import unjudged_documents
from bayespool.experiments.design import contributors
from bayespool.measures import Measure
from bayespool.tables.formatting import counted, percent, some_of
from bayespool.tables.table import Column, Table, View

_N_SHOWN = 5  # organizations
_MOST_NAMED = 10  # runs
_COLUMNS = {
    "n_pooled": Column("pooled\nruns", "count", "Number of its runs that are in the pool."),
    "n_alone": Column("brought\nalone", "count", "Judged documents that nobody else brought into the pool."),
    "n_relevant": Column("of them\nrelevant", "count", "Those of relevance 1 or more."),
    "measure": Column("measure", "text", "The measure of the ranks."),
    "ranks_lost": Column(
        "ranks\nlost", "count", "Most ranks as judged that a run of it loses without what it brought alone."
    ),
    "run_id": Column("by run", "text", "The run that loses most ranks."),
}


def contribution_table(collection: Collection, measure: Measure) -> Table | None:
    """Return what each pooled organization alone brought, and how many ranks its runs would lose without it.

    Organizations whose runs lose most come first. None without a pool of two organizations.
    """
    runs_of = contributors(collection, "organization")
    if len(runs_of) < 2:
        return None
    alone, index = sole_contributor(collection), {run: i for i, run in enumerate(collection.run_ids)}
    before, rows = _ranks(collection, measure), []
    for name, runs in runs_of.items():
        brought = collection.judged & (alone == collection.organizations.index(name))
        lost = (_ranks(collection.unpool(runs), measure) - before)[[index[run] for run in runs]]
        most, n_relevant = int(lost.argmax()), int((collection.relevance[brought] >= 1).sum())
        of_measure = str(measure), int(lost[most]), runs[most] if lost[most] > 0 else ""
        rows.append((name, len(runs), int(brought.sum()), n_relevant, *of_measure))
    frame = pd.DataFrame(rows, columns=["organization", *_COLUMNS])
    order = ["ranks_lost", "n_alone"]
    frame = frame.sort_values(order, ascending=False, kind="stable", ignore_index=True)
    which = f" ({_N_SHOWN} of {len(rows)})" * (len(rows) > _N_SHOWN)
    view = View(
        title=f"What organizations alone brought, and ranks lost without it, as judged by {measure}{which}",
        names=("organization",),
        columns=("n_pooled", "n_alone", "n_relevant", "ranks_lost", "run_id"),
        top=_N_SHOWN,
    )
    return Table("organizations", "What organizations brought", frame, _COLUMNS, (view,))


def _ranks(collection: Collection, measure: Measure) -> IntArray:
    """Return the rank of each run as judged, from 1, shape (run,); equal scores share the best."""
    scores = score_bounds(collection, collection.run_ids, measure).low.means().round(12)
    scores = -scores if measure.falls else scores
    ranks: IntArray = 1 + (scores[:, None] < scores).sum(axis=1)
    return ranks


def hole_fact(collection: Collection, cutoff: int) -> tuple[str, int, str]:
    """Return how many documents of the pooled runs' top n are unjudged, with the topics that have most."""
    runs = collection.pooled_run_ids or collection.run_ids
    documents = np.unique(unjudged_documents(collection, runs, cutoff=cutoff)[3])
    counts = np.bincount(collection.pair_topic[documents], minlength=len(collection.query_ids))
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    topics = some_of([f"{collection.query_ids[t]}: {counts[t]:,}" for t in order], 2)
    which = f"{'pooled ' * bool(collection.pooled_run_ids)}run"
    details = f"top {cutoff} of {counted(len(runs), which)}" + f"; by topic {topics}" * bool(topics)
    return "unjudged", len(documents), details


def unpooled_sentence(collection: Collection) -> str:
    """Return a sentence on runs that are not in the pool, with the shares that kept them out, if any."""
    pooled, others = collection.pooled_run_ids, collection.unpooled_run_ids
    if not (pooled and others):
        return ""
    depth = max(collection.pool_depth, 1)
    shares, most = (_unjudged_shares(collection, runs, depth) for runs in (others, pooled))
    order = np.argsort(-shares, kind="stable").tolist()
    named = some_of([f"{others[r]} {percent(shares[r])}" for r in order], _MOST_NAMED)
    return (
        f"Not in the pool, with the share of their top {depth} that is unjudged (of pooled runs "
        f"{percent(most.max())} at most): {named}."
    )


def _unjudged_shares(collection: Collection, runs: Sequence[str], cutoff: int) -> FloatArray:
    """Return the share of each run's documents in the top n that is unjudged, shape (run,)."""
    run = unjudged_documents(collection, runs, cutoff=cutoff)[0]
    n = (collection.document[collection.run_index(runs), :, :cutoff] >= 0).sum(axis=(1, 2))
    return np.asarray(np.bincount(run, minlength=len(runs)) / np.maximum(n, 1))

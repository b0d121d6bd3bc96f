"""Warnings and notes on the levels that measures count, and on runs that are judged in full."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from bayespool.collection import Collection
from bayespool.errors import InputWarning, PooledRunWarning, warn_caller
from bayespool.evidence import Bounds
from bayespool.measures import Measure
from bayespool.notes import Note
from bayespool.tables.formatting import counted, some_of


def warn_of_unused_relevance(collection: Collection, measures: Iterable[Measure]) -> None:
    """Warn for each measure whose relevance threshold no document in the qrels reaches."""
    for measure in measures:
        if not (collection.relevance >= measure.rel).any():
            warn_caller(
                f"no document of the qrels has relevance {measure.rel} or more, which {measure} asks for",
                InputWarning,
            )


def clipping_notes(collection: Collection, measures: Iterable[Measure]) -> list[Note]:
    """Return notes on measures that clip judgments above their highest relevance level."""
    notes, top = [], max(collection.levels, default=0)
    for measure in measures:
        highest = getattr(measure, "max_rel", top)
        if n := int((collection.relevance > highest).sum()):
            above = f"relevance above {highest} (max_rel) counts as {highest}, in {counted(n, 'judgment')}"
            notes.append(Note("clipped-levels", f"{measure}: {above}"))
    return notes


_MANY_LEVELS = 3  # of which what a binary measure counts is a choice


def binary_notes(collection: Collection, measures: Iterable[Measure]) -> list[Note]:
    """Return a note on the least level that binary measures count, where there are many levels."""
    top = max(collection.levels, default=0)
    binary = [m for m in measures if m.rel == 1 and not m.is_graded and not m.describes_judgments]
    if top < _MANY_LEVELS or not binary:
        return []
    names, stricter = (
        list(dict.fromkeys(map(str, each)))
        for each in (binary, [dataclasses.replace(m, rel=2) for m in binary])
    )
    counts = "counts" if len(names) == 1 else "count"
    more = f"{', '.join(names)} {counts} 1 and more; {', '.join(stricter)} {counts} 2 and more"
    return [Note("levels", f"relevance goes to {top}: {more}")]


def warn_of_judged_runs(collection: Collection, bounds: Sequence[Bounds]) -> None:
    """Warn about pooled runs without unjudged documents under every measure."""
    pooled, judged = set(collection.pooled_run_ids), np.all([~one.has_unjudged for one in bounds], 0)
    runs = zip(bounds[0].run_ids, collection.originals(bounds[0].run_ids), judged, strict=True)
    complete = [(run, original) for run, original, done in runs if done and original in pooled]
    if complete:
        (first, original), *more = complete
        warn_caller(
            f"{first}{f' and {len(more)} more' if more else ''}: in the pool and judged in full, so that "
            "nothing is left to estimate; to score a run as if it were new "
            f"take it out of the pool: --unpool {original}, or unpool={original!r}",
            PooledRunWarning,
        )


def judged_run_notes(collection: Collection, bounds: Sequence[Bounds]) -> list[Note]:
    """Return a note on runs outside of the pool whose ranks that count are all judged."""
    if not collection.pooled.any() or collection.is_own.any():
        return []
    known = {*collection.pooled_run_ids, *collection.formerly_pooled_run_ids}
    is_judged = np.all([(one.n_unjudged == 0).all(axis=1) for one in bounds], axis=0)
    names = bounds[0].run_ids
    originals = collection.originals(names)
    runs = [r for r, o, done in zip(names, originals, is_judged, strict=True) if done and o not in known]
    if not runs:
        return []
    depth = max(one.measure.cutoff for one in bounds)
    text = (
        f"{some_of(runs)}: all of the top {depth} is judged: if of the campaign, give it with the pool and "
        "its organization, and --unpool (unpool=) scores it as new"
    )
    return [Note("campaign-run", text)]

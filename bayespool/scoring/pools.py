"""Candidate pools side by side: what each explains, and what estimates would rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayespool import __version__
from bayespool.collection import Collection
from bayespool.pooling import PoolReport, describe_pool
from bayespool.pooling.candidates import CandidatePool, candidate_pools
from bayespool.report.result import Result
from bayespool.tables.formatting import counted, percent
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Table, View

_N_DEPTHS = 3  # the best ones


@dataclass(frozen=True, eq=False, repr=False)
class CandidatePools(Result):
    """Candidate pools for a collection, including the one in use.

    Attributes
    ----------
    collection : Collection
        With the pool that was found or stated.

    Examples
    --------
    >>> from bayespool import load_example
    >>> pools = CandidatePools(load_example())
    >>> columns = ["depth", "holes", "n_runs", "explained", "n_holes", "relevant", "is_taken"]
    >>> print(pools.to_frame()[columns].tail(2).round(2).to_string(index=False))
     depth  holes  n_runs  explained  n_holes  relevant  is_taken
        10    0.0      21        1.0        0      0.10      True
        10    0.1      22        1.0       18      0.09     False
    """

    collection: Collection

    command = "pool"
    title = "Pools that may have been"

    def __repr__(self) -> str:
        return one_line(type(self).__name__, str(self.report))

    @cached_property
    def report(self) -> PoolReport:
        """Summary of the pool in use."""
        return describe_pool(self.collection)

    @cached_property
    def pools(self) -> tuple[CandidatePool, ...]:
        """Candidate pools with the best depths, deepest first, each group of runs once."""
        given = set(self.collection.given_run_ids) - set(self.collection.pooled_run_ids)
        index = self.collection.run_index([run for run in self.collection.run_ids if run not in given])
        best = candidate_pools(self.collection, index)
        taken = [self.collection.pool_depth] * bool(self.collection.pooled.any())
        depths = list(dict.fromkeys([*taken, *(pool.depth for pool in best)]))[:_N_DEPTHS]
        pools = [p for d in depths for p in candidate_pools(self.collection, index, depth=d)]
        return tuple(sorted(pools, key=lambda pool: (-pool.depth, len(pool.runs))))

    @cached_property
    def held_out(self) -> tuple[tuple[int, float], ...]:
        """Number of held-out documents in each candidate pool and their share of relevant ones."""
        return tuple(pool.held_out(self.collection) for pool in self.pools)

    @property
    def metadata(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Metadata with version, fingerprint and the pool in use."""
        return {
            "bayespool": __version__,
            "fingerprint": self.collection.fingerprint,
            "pool": str(self.report),
            "settings": {"describe": True},
        }

    def tables(self) -> tuple[Table, ...]:
        """Return a table with one row per candidate pool."""
        import pandas as pd

        pooled = tuple(np.flatnonzero(self.collection.pooled).tolist())
        n_judged, rows = max(self.report.n_judged, 1), []
        for pool, (n_held_out, relevant) in zip(self.pools, self.held_out, strict=True):
            is_taken = (pool.depth, pool.runs) == (self.collection.pool_depth, pooled)
            explained = pool.n_explained / n_judged
            shown = (pool.depth, pool.share, len(pool.runs), explained, pool.n_holes)
            rows.append((*shown, n_held_out, relevant, is_taken))
        return (Table("pools", _VIEW.title, pd.DataFrame(rows, columns=list(_COLUMNS)), _COLUMNS, (_VIEW,)),)

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the pool in use and on how much the evidence depends on this choice."""
        known = [share for _, share in self.held_out if not np.isnan(share)]
        sentences = [str(self.report)]
        if known:
            sentences.append(
                "estimates rest on documents that one organization alone brought: of these "
                f"{percent(min(known))} to {percent(max(known))} are relevant in "
                f"{counted(len(self.pools), 'candidate pool')}"
            )
        return tuple(sentences)

    def notes(self) -> tuple[str, ...]:
        """Return the pool's warning and a note on a pool that explains nearly as many judgments, if any."""
        other = [f"nearly as good: {self.report.alternative}"] * bool(self.report.alternative)
        return (*[self.report.warning_text] * bool(self.report.warning_text), *other)


_COLUMNS = {
    "depth": Column("depth", "count", "Rank down to which the documents of each run were judged."),
    "holes": Column("holes", "share", "Share of a run's documents that may be unjudged (max_holes)."),
    "n_runs": Column("runs", "count", "Runs that keep to that."),
    "explained": Column("judgments\nexplained", "share", "Share of the judgments that these runs brought."),
    "n_holes": Column("unjudged", "count", "Documents of these runs down to the depth without a judgment."),
    "n_held_out": Column(
        "held\nout",
        "count",
        "Judged documents that one organization alone brought: what estimates rest on.",
    ),
    "relevant": Column("of them\nrelevant", "share", "Share of these that is relevant."),
    "is_taken": Column("taken", "flag", "Whether this is the pool of the collection."),
}
_VIEW = View(
    title="Pools that may have been",
    names=("depth", "holes"),
    columns=tuple(list(_COLUMNS)[2:]),
    note="By default the pool is taken that explains most judgments, less three for each unjudged document.",
)

"""How much of each run is unjudged on each topic: a table of few runs, a heat map of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.measures import Measure
from bayespool.report.content import Cell, Column, Heat, Section, Table

_FEW = 8  # runs that fit beside each other in a table


@dataclass(frozen=True, eq=False)
class Unjudged:
    """Shares of the ranks down to a measure's cutoff that are unjudged.

    Attributes
    ----------
    measure : Measure
    run_ids, query_ids : sequence of str
    share : ndarray of float, shape (run, topic)
    of_runs, of_topics : ndarray of float
        Over all topics, and over all runs.
    """

    measure: Measure
    run_ids: Sequence[str]
    query_ids: Sequence[str]
    share: npt.NDArray[np.float64]
    of_runs: npt.NDArray[np.float64]
    of_topics: npt.NDArray[np.float64]


def read_unjudged(
    metadata: Mapping[str, Any], run_ids: Sequence[str], measures: Sequence[Measure]
) -> list[Unjudged]:
    """What the metadata of scores say of it: once for measures of one cutoff; nothing of older results."""
    found: dict[int, Unjudged] = {}
    query_ids = list(metadata.get("query_ids", ()))
    for measure in measures:
        lines = metadata.get("unjudged", {}).get(str(measure))
        if lines is None or measure.cutoff in found:
            continue
        counts = np.array([[int(n) for n in line.split()] for line in lines], dtype=np.int64)
        if counts.shape != (len(run_ids), len(query_ids)):
            continue
        n, (n_runs, n_topics) = measure.cutoff, counts.shape
        found[n] = Unjudged(
            measure=measure,
            run_ids=run_ids,
            query_ids=query_ids,
            share=counts / n,
            of_runs=counts.sum(axis=1) / (n * n_topics),
            of_topics=counts.sum(axis=0) / (n * n_runs),
        )
    return list(found.values())


def unjudged_section(found: Sequence[Unjudged]) -> Section | None:
    """Shares by run and topic; None where nothing is known of them."""
    if not found:
        return None
    said, heats, tables = [], [], []
    for one in found:
        top, n_topics = f"top {one.measure.cutoff}", len(one.query_ids)
        worst = int(np.argmax(one.of_topics))
        said.append(
            f"Of the {top} of {_runs(one)}, {percent(float(one.share.sum() / one.share.size))} is "
            "unjudged. The "
            f"topic with most is {one.query_ids[worst]} ({percent(float(one.of_topics[worst]))}); on "
            f"{int((one.of_topics == 0).sum())} of {n_topics} topics everything is judged."
        )
        caption = f"Unjudged share of the {top}"
        if len(one.run_ids) <= _FEW:
            tables.append(_by_topic(one, f"{caption}, by topic and run"))
        else:
            heats.append(
                Heat(
                    f"{caption}: a row per run, a column per topic in the order {_ends(one.query_ids)}.",
                    f"Heat map. {said[-1]} The tables below have the numbers by topic; the table of runs has "
                    "those by run.",
                    tuple(
                        (run, tuple(map(_shade, row)))
                        for run, row in zip(one.run_ids, one.share, strict=True)
                    ),
                )
            )
            tables.append(_over_runs(one, f"{caption}, by topic, over all runs"))
    return Section("What is unjudged", "unjudged", tuple(said), heats=tuple(heats), tables=tuple(tables))


def percent(share: float) -> str:
    """A share in words.

    Examples
    --------
    >>> percent(0.125), percent(0.0)
    ('12.5 %', '0.0 %')
    """
    return f"{100 * share:.1f} %"


def _runs(one: Unjudged) -> str:
    return one.run_ids[0] if len(one.run_ids) == 1 else f"these {len(one.run_ids)} runs"


def _ends(query_ids: Sequence[str]) -> str:
    return query_ids[0] if len(query_ids) == 1 else f"{query_ids[0]} to {query_ids[-1]}"


def _shade(share: float) -> int:
    return min(9, int(np.ceil(9 * share)))


def _cell(share: float) -> Cell:
    return Cell(f"{100 * share:.0f} %", share, _shade(share))


def _by_topic(one: Unjudged, caption: str) -> Table:
    columns = (Column("topic"), *(Column(run, is_number=True) for run in one.run_ids))
    rows = tuple(
        (Cell(topic), *map(_cell, shares)) for topic, shares in zip(one.query_ids, one.share.T, strict=True)
    )
    return Table(f"unjudged-{one.measure.cutoff}", caption, columns, rows)


def _over_runs(one: Unjudged, caption: str) -> Table:
    columns = (Column("topic"), Column("unjudged", is_number=True))
    rows = tuple(
        (Cell(topic), _cell(float(share))) for topic, share in zip(one.query_ids, one.of_topics, strict=True)
    )
    return Table(f"unjudged-{one.measure.cutoff}", caption, columns, rows)

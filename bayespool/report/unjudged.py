"""Section of a report on unjudged shares by run and topic: a table of few runs, a heat map of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool.measures import Measure
from bayespool.report.content import Cell, Column, Heat, Section, Table
from bayespool.tables.numbers import percent

_MAX_RUNS_IN_TABLE = 8


@dataclass(frozen=True, eq=False)
class Unjudged:
    """Unjudged shares of the ranks down to a measure's cutoff: ``share`` has the shape (run, topic)."""

    measure: Measure
    run_ids: Sequence[str]
    query_ids: Sequence[str]
    share: npt.NDArray[np.float64]
    of_runs: npt.NDArray[np.float64]
    of_topics: npt.NDArray[np.float64]


def read_unjudged(
    metadata: Mapping[str, Any], run_ids: Sequence[str], measures: Sequence[Measure]
) -> list[Unjudged]:
    """Unjudged shares in the metadata of scores, one per cutoff; empty for results of older versions."""
    by_cutoff: dict[int, Unjudged] = {}
    query_ids = list(metadata.get("query_ids", ()))
    for measure in measures:
        lines = metadata.get("unjudged", {}).get(str(measure))
        if lines is None or measure.cutoff in by_cutoff:
            continue
        counts = np.array([[int(n) for n in line.split()] for line in lines], dtype=np.int64)
        if counts.shape != (len(run_ids), len(query_ids)):
            continue
        n, (n_runs, n_topics) = measure.cutoff, counts.shape
        by_cutoff[n] = Unjudged(
            measure=measure,
            run_ids=run_ids,
            query_ids=query_ids,
            share=counts / n,
            of_runs=counts.sum(axis=1) / (n * n_topics),
            of_topics=counts.sum(axis=0) / (n * n_runs),
        )
    return list(by_cutoff.values())


def unjudged_section(shares: Sequence[Unjudged]) -> Section | None:
    """Section on shares by run and topic; None where nothing is known of them."""
    if not shares:
        return None
    sentences, heats, tables = [], [], []
    for unjudged in shares:
        top, n_topics = f"top {unjudged.measure.cutoff}", len(unjudged.query_ids)
        worst = int(np.argmax(unjudged.of_topics))
        mean_share, worst_share = unjudged.share.sum() / unjudged.share.size, unjudged.of_topics[worst]
        sentences.append(
            f"Of the {top} of {_runs(unjudged)}, {percent(float(mean_share))} is unjudged. The "
            f"topic with most is {unjudged.query_ids[worst]} ({percent(float(worst_share))}); on "
            f"{int((unjudged.of_topics == 0).sum())} of {n_topics} topics everything is judged."
        )
        caption = f"Unjudged share of the {top}"
        if len(unjudged.run_ids) <= _MAX_RUNS_IN_TABLE:
            tables.append(_by_topic(unjudged, f"{caption}, by topic and run"))
        else:
            heats.append(
                Heat(
                    f"{caption}: a row per run, a column per topic in the order {_ends(unjudged.query_ids)}.",
                    f"Heat map. {sentences[-1]} The tables below have the numbers by topic; the table of "
                    "runs has those by run.",
                    tuple(
                        (run, tuple(map(_shade, row)))
                        for run, row in zip(unjudged.run_ids, unjudged.share, strict=True)
                    ),
                )
            )
            tables.append(_over_runs(unjudged, f"{caption}, by topic, over all runs"))
    return Section("What is unjudged", "unjudged", tuple(sentences), heats=tuple(heats), tables=tuple(tables))


def _runs(unjudged: Unjudged) -> str:
    return unjudged.run_ids[0] if len(unjudged.run_ids) == 1 else f"these {len(unjudged.run_ids)} runs"


def _ends(query_ids: Sequence[str]) -> str:
    return query_ids[0] if len(query_ids) == 1 else f"{query_ids[0]} to {query_ids[-1]}"


def _shade(share: float) -> int:
    return min(9, int(np.ceil(9 * share)))


def _cell(share: float) -> Cell:
    return Cell(f"{100 * share:.0f} %", share, _shade(share))


def _by_topic(unjudged: Unjudged, caption: str) -> Table:
    columns = (Column("topic"), *(Column(run, is_number=True) for run in unjudged.run_ids))
    rows = tuple(
        (Cell(topic), *map(_cell, shares))
        for topic, shares in zip(unjudged.query_ids, unjudged.share.T, strict=True)
    )
    return Table(f"unjudged-{unjudged.measure.cutoff}", caption, columns, rows)


def _over_runs(unjudged: Unjudged, caption: str) -> Table:
    columns = (Column("topic"), Column("unjudged", is_number=True))
    rows = tuple(
        (Cell(topic), _cell(float(share)))
        for topic, share in zip(unjudged.query_ids, unjudged.of_topics, strict=True)
    )
    return Table(f"unjudged-{unjudged.measure.cutoff}", caption, columns, rows)

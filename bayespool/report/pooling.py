"""Documents that a strategy chose: files for assessors and the printed table of contributors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayespool.collection import Collection, write_qrels
from bayespool.errors import OutputError
from bayespool.pooling import STRATEGIES, Chosen, Contributions, choice_frame, qrels_of
from bayespool.pooling.registry import strategy_text
from bayespool.report.files import TABLE_FORMATS, check_place, write_tables
from bayespool.report.terminal import print_line, print_note, print_table
from bayespool.scoring.stored import with_notes
from bayespool.tables.numbers import percent

if TYPE_CHECKING:
    from rich.console import Console


def check_list(path: Path) -> None:
    """Raise for a list that cannot be written, because of its compression or its folder."""
    if path.suffix in (".xz", ".zst"):
        raise OutputError(f"{path}: cannot be written: plain text or .gz, not {path.suffix}")
    check_place(path)


def write_choice(
    collection: Collection,
    chosen: Chosen,
    path: Path,
    *,
    relevance: bool = True,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Write documents in the order of judging, as a table or as qrels with −1 where unjudged."""
    if path.suffix not in TABLE_FORMATS:
        write_qrels(qrels_of(collection, chosen), path)
        return
    frame = choice_frame(collection, chosen, relevance=relevance)
    described = with_notes(metadata or {}, _notes_of(chosen))
    write_tables(path, {"documents": frame}, "documents", described)


def strategy_rows() -> list[dict[str, Any]]:
    """A row per pooling strategy: ``name``, default ``settings``, ``needs``, ``description``."""
    return [
        {
            "name": name,
            "settings": dict(entry.settings),
            "needs": list(entry.needs),
            "description": entry.description,
        }
        for name, entry in STRATEGIES.items()
    ]


def print_strategies(console: Console) -> None:
    """Print the name, default settings, needs and description of every pooling strategy."""
    rows = [
        [
            row["name"],
            ", ".join(f"{setting}={default!r}" for setting, default in row["settings"].items()),
            ", ".join(row["needs"]),
            row["description"],
        ]
        for row in strategy_rows()
    ]
    print_table(console, ["name", "settings", "needs", "documents judged first"], rows, n_names=4)


def print_choice(
    chosen: Chosen, contributions: Contributions, console: Console, *, n_judged: int = 0, n_relevant: int = 0
) -> None:
    """Print the number of documents to judge, and a table of their contributors."""
    n, of_topic = len(chosen), contributions.n_of_topic
    least, most = int(of_topic.min()), int(of_topic.max())
    each = f"{least} each" if least == most else f"from {least} to {most} each"
    print_line(console, f"{strategy_text(chosen.strategy)}: {n} documents of {len(of_topic)} topics, {each}")
    for note in _notes_of(chosen):
        print_note(console, note)
    if n_judged:
        line = f"judged already: {n_judged}, {n_relevant} of them relevant; to judge: {n - n_judged}"
        print_line(console, line)
    alone = bool((contributions.n_runs == 1).all())
    header = ["run" if alone else "organization", *([] if alone else ["runs"])]
    rows = [
        [name, *([] if alone else [str(n_runs)]), str(has), percent(has / n if n else 0.0), str(only)]
        for name, n_runs, has, only in zip(
            contributions.names,
            contributions.n_runs.tolist(),
            contributions.n_documents.tolist(),
            contributions.n_alone.tolist(),
            strict=True,
        )
    ]
    print_table(console, [*header, "documents", "of all", "nobody\nelse has"], rows)


def _notes_of(chosen: Chosen) -> list[str]:
    is_short = chosen.budget is not None and len(chosen) < chosen.budget
    return [f"there are no more; the budget was {chosen.budget}"] if is_short else []

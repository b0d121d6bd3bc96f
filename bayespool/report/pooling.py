"""The documents that a strategy chose: the list for assessors, and who contributed to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bayespool.errors import OutputError
from bayespool.pooling import Chosen, Contributions, strategy_text
from bayespool.report.files import check_place
from bayespool.report.terminal import percent, print_line, print_table
from bayespool.trec import Qrels, write_qrels

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["check_list", "print_choice", "write_choice"]


def check_list(path: Path) -> None:
    """Raise before any work is done for a file that could not be written after it.

    Raises
    ------
    OutputError
        A folder, no folder to write into, or a compression that is not written.
    """
    if path.suffix in (".xz", ".zst"):
        raise OutputError(f"{path}: cannot be written: plain text or .gz, not {path.suffix}")
    check_place(path)


def write_choice(listed: Qrels, path: Path) -> None:
    """Write the documents chosen as qrels, in the order of judging, whole or not at all.

    Raises
    ------
    OutputError
        The file cannot be written; what stood there is untouched.
    """
    write_qrels(listed, path)


def print_choice(
    chosen: Chosen, found: Contributions, console: Console, *, n_judged: int = 0, n_relevant: int = 0
) -> None:
    """Print how many documents there are to judge, and a table of who contributed them.

    Parameters
    ----------
    chosen : Chosen
    found : Contributions
    console : rich.console.Console
    n_judged, n_relevant : int
        Documents chosen that are judged already, and those of them that are relevant.
    """
    n, of_topic = len(chosen), found.n_of_topic
    least, most = int(of_topic.min()), int(of_topic.max())
    each = f"{least} each" if least == most else f"from {least} to {most} each"
    print_line(console, f"{strategy_text(chosen.strategy)}: {n} documents of {len(of_topic)} topics, {each}")
    if chosen.budget is not None and n < chosen.budget:
        print_line(console, f"note: there are no more; the budget was {chosen.budget}")
    if n_judged:
        told = f"judged already: {n_judged}, {n_relevant} of them relevant; to judge: {n - n_judged}"
        print_line(console, told)
    alone = bool((found.n_runs == 1).all())
    header = ["run" if alone else "organization", *([] if alone else ["runs"])]
    rows = [
        [name, *([] if alone else [str(n_runs)]), str(has), percent(has / n if n else 0.0), str(only)]
        for name, n_runs, has, only in zip(
            found.names,
            found.n_runs.tolist(),
            found.n_documents.tolist(),
            found.n_alone.tolist(),
            strict=True,
        )
    ]
    print_table(console, [*header, "documents", "of all", "nobody\nelse has"], rows)

"""The command ``report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayespool.cli.messages import tell
from bayespool.cli.results import is_as_json, print_document


def report(
    result: Annotated[
        Path,
        typer.Argument(
            help="What a command wrote with --output: a .json, .parquet or .nc file, or a folder of results."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The .html file to write.")] = Path(
        "report.html"
    ),
) -> None:
    """Write a report of a result: one HTML file with figures, tables that sort and filter, and all that is
    needed to quote the result. It loads nothing from anywhere.
    """
    from bayespool.report import read_result, write_report
    from bayespool.report.writing import check_report

    check_report(output)
    write_report(read_result(result), output)
    if is_as_json():
        print_document({"files": [{"file": str(output)}]})
    else:
        tell(f"Wrote {output}.", err=False)

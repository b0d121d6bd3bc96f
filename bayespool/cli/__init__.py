"""The command line: a thin face over the library; one module per group of commands."""

from __future__ import annotations

import contextlib
import sys
import warnings
from typing import Annotated, Any

import typer

from bayespool import __version__, files
from bayespool.cli.check import check
from bayespool.cli.compare import compare, reversals
from bayespool.cli.estimator_help import CommandWithEstimators
from bayespool.cli.impute import impute
from bayespool.cli.judge_next import judge_next
from bayespool.cli.judges import judges
from bayespool.cli.leave_out import leave_out
from bayespool.cli.messages import is_of_output, leave_streams, prepare_streams, tell
from bayespool.cli.options import is_interruption
from bayespool.cli.pooling import budgets, pool
from bayespool.cli.random_pools import common_topics, pool_width, run_types
from bayespool.cli.report import report
from bayespool.cli.score import demo, score
from bayespool.errors import BayespoolError, BayespoolWarning
from bayespool.provenance import command_line

__all__ = ["app", "main"]

app = typer.Typer(
    help="Posterior intervals for the corrected scores of runs on incompletely judged test collections.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    score,
    impute,
    judge_next,
    compare,
    reversals,
    leave_out,
    pool_width,
    common_topics,
    run_types,
    pool,
    budgets,
    check,
    judges,
    report,
    demo,
):
    app.command(cls=CommandWithEstimators)(command)


@app.callback(invoke_without_command=True)
def _for_every_command(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    csv_for_spreadsheets: Annotated[
        bool,
        typer.Option(
            "--csv-for-spreadsheets",
            help="Put an apostrophe before texts in CSV files that a spreadsheet would take for formulas.",
        ),
    ] = False,
) -> None:
    if version:
        tell(f"bayespool {__version__}", err=False)
        raise typer.Exit
    if csv_for_spreadsheets:
        context.with_resource(files.csv_for_spreadsheets())


def main() -> None:
    """Run the command line: errors of the user's become a line and status 1, Ctrl-C status 130."""
    prepare_streams()
    warnings.showwarning = _show_warning
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", BayespoolWarning)
    try:
        with command_line(sys.argv[1:]):
            app()
    except BayespoolError as error:
        tell("\n".join([f"error: {error}", *getattr(error, "__notes__", ())]))
        sys.exit(1)
    except MemoryError as error:
        said = f" ({error})" if str(error) else ""
        tell(f"error: there is not enough memory{said}; ask for less at a time, or where there is more")
        sys.exit(1)
    except OSError as error:
        if not is_of_output(error):
            raise
        with contextlib.suppress(OSError):
            tell(f"error: what was to be printed cannot be written: {error.strerror}")
        leave_streams()
        sys.exit(1)
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interruption(error):
            raise
        tell("interrupted; nothing was written")
        sys.exit(130)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    tell(f"warning: {message}")

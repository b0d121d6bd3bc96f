"""Command line of bayespool: one module per group of commands."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from bayespool import __version__
from bayespool.cli.check import check
from bayespool.cli.compare import compare, reversals
from bayespool.cli.doctor import doctor
from bayespool.cli.help import GroupedCommand, GroupedCommands
from bayespool.cli.impute import impute
from bayespool.cli.judge_next import judge_next
from bayespool.cli.judges import judges
from bayespool.cli.leave_out import leave_out
from bayespool.cli.messages import discard_streams, is_output_error, prepare_streams, quietly, tell
from bayespool.cli.options import is_interruption
from bayespool.cli.pooling import budgets, pool
from bayespool.cli.random_pools import common_topics, pool_width, run_types
from bayespool.cli.report import report
from bayespool.cli.results import collect_warning, with_answers
from bayespool.cli.score import demo, score
from bayespool.errors import BayespoolError, BayespoolWarning
from bayespool.report.provenance import command_line
from bayespool.tables import files
from bayespool.tables.printable import printable

__all__ = ["COMMANDS", "app", "main"]

COMMANDS: dict[str, dict[Callable[..., None], str]] = {
    "Score": {
        score: "Score runs: bounds, published corrections, posteriors",
        impute: "Write completed judgments for trec_eval and other tools",
        report: "Write a report of a result, one HTML page",
        demo: "Score two runs of the embedded example, whose truth is known",
    },
    "Compare": {
        compare: "Compare runs: differences, ranks, significance tests",
        reversals: "Count the significant differences that more judgments undo",
    },
    "Campaign": {
        pool: "Choose the documents to judge: a strategy and a budget",
        judge_next: "Choose what to judge next, and when to stop",
        budgets: "Show how biased pools of different strategies and budgets are",
    },
    "Study": {
        leave_out: "Leave organizations out of the pool and grade every estimator",
        pool_width: "Show how the number of pooled runs decides the bias",
        common_topics: "Show what judging a new run in full on some topics is worth",
        run_types: "Leave all runs of a type out of the pool",
        check: "Check the models on a pool",
        judges: "Say what the labels of second judges are worth",
    },
    "Installation": {
        doctor: "Say what is installed, whether it works, and how fast it is",
    },
}
"""Commands by group, each with its line in the help."""

_TABLE_COMMANDS = (score, demo, compare, reversals, pool, judge_next)  # take --format

app = typer.Typer(
    cls=GroupedCommands,
    help="Posterior intervals for the corrected scores of runs on incompletely judged test collections.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group, commands in COMMANDS.items():
    for command, line in commands.items():
        answering = with_answers(command, tables=command in _TABLE_COMMANDS)
        app.command(cls=GroupedCommand, short_help=line, rich_help_panel=group)(answering)


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
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print results and errors alone; also after the command.")
    ] = False,
) -> None:
    if version:
        tell(f"bayespool {__version__}", err=False)
        raise typer.Exit
    if csv_for_spreadsheets:
        context.with_resource(files.csv_for_spreadsheets())
    context.with_resource(quietly(quiet))


def main() -> None:
    """Run the command line, with status 1 after errors, 2 without a valid command and 130 after Ctrl-C."""
    prepare_streams()
    warnings.showwarning = _show_warning
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", BayespoolWarning)
    try:
        with command_line(sys.argv[1:]):
            app()
    except BayespoolError as error:
        tell("\n".join([f"error: {error}", *getattr(error, "__notes__", ())]), always=True)
        sys.exit(1)
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        tell(
            f"error: there is not enough memory{detail}; ask for less at a time, or use a larger machine",
            always=True,
        )
        sys.exit(1)
    except OSError as error:
        if not is_output_error(error):
            raise
        with contextlib.suppress(OSError):
            tell(f"error: cannot write to standard output: {error.strerror}", always=True)
        discard_streams()
        sys.exit(1)
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interruption(error):
            raise
        tell("interrupted; nothing was written", always=True)
        sys.exit(130)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    collect_warning(printable(str(message), one_line=True))
    tell(f"warning: {message}")

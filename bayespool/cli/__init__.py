"""Command line of bayespool: one module per group of commands."""

from __future__ import annotations

import contextlib
import sys
import warnings
from typing import Any

import click

from bayespool.cli.experiments import (
    budgets,
    check_predictions,
    common_topics,
    judges,
    leave_out,
    pool_width,
)
from bayespool.cli.help import GroupedCommand, GroupedCommands
from bayespool.cli.judging import audit, impute, judge_next, pool
from bayespool.cli.messages import discard_streams, echo, is_output_error, prepare_streams, quietly
from bayespool.cli.options import is_interruption
from bayespool.cli.parameters import Command, own_option
from bayespool.cli.results import collect_warning, with_output_options
from bayespool.cli.score import compare, demo, plan, report, reversals, score
from bayespool.errors import BayespoolError, BayespoolWarning
from bayespool.report.provenance import command_line, versions
from bayespool.tables.formatting import printable

__all__ = ["COMMANDS", "app", "commands", "main"]

COMMANDS: dict[str, dict[Command, str]] = {
    "Score": {
        score: "Score runs: bounds, published corrections, posteriors",
        impute: "Write completed judgments for trec_eval and other tools",
        report: "Write a report of a result, one HTML page",
        demo: "Score two runs of the embedded example, whose truth is known",
    },
    "Compare": {
        compare: "Compare runs: differences, ranks, significance tests",
        reversals: "Count significant differences that more judgments reverse",
    },
    "Campaign": {
        pool: "Choose the documents to judge: a strategy and a budget",
        plan: "Plan: which differences can be detected, and what helps",
        judge_next: "Choose what to judge next, and when to stop",
        audit: "Draw documents to judge: an interval that needs no model",
        budgets: "Show how biased pools of different strategies and budgets are",
    },
    "Study": {
        leave_out: "Leave organizations out of the pool and grade every estimator",
        pool_width: "Show how the number of pooled runs decides the bias",
        common_topics: "Show what judging a new run in full on some topics is worth",
        judges: "Evaluate the labels of second judges",
    },
    "Check": {
        check_predictions: "Check the models on a pool: organizations held out",
    },
}
"""Commands by group, each with its line in the help."""

_TABLE_COMMANDS = (score, demo, compare, plan, reversals, pool, judge_next, audit)  # take --format


def _print_versions(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo("\n".join(f"{name} {version}" for name, version in versions().items()))
        context.exit()


@click.command("bayespool", cls=GroupedCommands)
@own_option("--quiet", "-q", type=bool, help="Print only results and errors; also after the command.")
@own_option(
    "--version",
    type=bool,
    is_eager=True,
    expose_value=False,
    callback=_print_versions,
    group="Help",
    help="Print the versions of bayespool, of Python and of the packages that decide numbers.",
)
def app(quiet: bool) -> None:
    """Posterior intervals for the corrected scores of runs on incompletely judged test collections."""
    click.get_current_context().with_resource(quietly(quiet))


def _add_commands() -> None:
    for heading, functions in COMMANDS.items():
        for function, line in functions.items():
            name = function.__name__.replace("check_", "check ").replace("_", "-")
            command = click.command(name.split()[-1], cls=GroupedCommand, short_help=line)(function)
            app.add(heading, name, with_output_options(command, tables=function in _TABLE_COMMANDS))


_add_commands()


def commands() -> dict[str, click.Command]:
    """Commands by name, such as ``check predictions``."""
    return {name: command for members in app.headings.values() for name, command in members.items()}


def main() -> None:
    """Run the command line, with status 1 after errors, 2 without a valid command and 130 after Ctrl-C."""
    prepare_streams()
    warnings.showwarning = _show_warning
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", BayespoolWarning)
    try:
        with command_line(sys.argv[1:]):
            sys.exit(app.main(prog_name="bayespool", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BayespoolError as error:
        echo("\n".join([f"error: {error}", *getattr(error, "__notes__", ())]), always=True)
        sys.exit(1)
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        echo(
            f"error: there is not enough memory{detail}; ask for less at a time, or use a larger machine",
            always=True,
        )
        sys.exit(1)
    except OSError as error:
        if not is_output_error(error):
            raise
        with contextlib.suppress(OSError):
            echo(f"error: cannot write to standard output: {error.strerror}", always=True)
        discard_streams()
        sys.exit(1)
    except (KeyboardInterrupt, SystemError, click.Abort) as error:
        if not is_interruption(error):
            raise
        echo("interrupted; nothing was written", always=True)
        sys.exit(130)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    collect_warning(printable(str(message), one_line=True))
    echo(f"warning: {message}")

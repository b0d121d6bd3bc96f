"""Command line of bayespool: one module per group of commands."""

from __future__ import annotations

import contextlib
import sys
import warnings
from typing import Any

import click

from bayespool.cli.commands import Commands
from bayespool.cli.experiments import budgets, check_predictions, judges, leave_out, random_pools
from bayespool.cli.files import is_interruption
from bayespool.cli.judging import audit, impute, judge_next, pool
from bayespool.cli.messages import discard_streams, echo, is_output_error, prepare_streams, quietly
from bayespool.cli.pages import docs
from bayespool.cli.parameters import own_option
from bayespool.cli.preparing import describe, prepare
from bayespool.cli.results import collect_warning
from bayespool.cli.score import compare, demo, gate, plan, report, reversals, score
from bayespool.errors import BayespoolError, BayespoolWarning
from bayespool.interruption import INTERRUPTED, describe_interruption
from bayespool.report.provenance import command_line, versions
from bayespool.tables.formatting import printable

__all__ = ["COMMANDS", "app", "commands", "main"]

COMMANDS = {
    "Score": (score, prepare, describe, impute, report, demo),
    "Compare": (compare, gate, reversals),
    "Campaign": (pool, plan, judge_next, audit, budgets),
    "Study": (leave_out, random_pools, judges),
    "Check": (check_predictions,),
}
"""Commands by group."""


def _print_versions(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo("\n".join(f"{name} {version}" for name, version in versions().items()))
        context.exit()


app = Commands(
    "bayespool",
    help="Posterior intervals for the corrected scores of runs on incompletely judged test collections.",
    params=[
        own_option(
            "--quiet", "-q", type=bool, help="Print only results and errors; also after the command."
        )(),
        own_option(
            "--version",
            type=bool,
            is_eager=True,
            expose_value=False,
            callback=_print_versions,
            help="Print the versions of bayespool, of Python and of the packages that decide numbers.",
        )(),
    ],
    callback=lambda quiet: click.get_current_context().with_resource(quietly(quiet)),
)
for _heading, _members in COMMANDS.items():
    for _command in _members:
        app.add(_heading, str(_command.name).replace("check-", "check "), _command)


app.add("Read", "docs", docs)


def commands() -> dict[str, click.Command]:
    """Commands that compute by name, such as ``check predictions``."""
    return {name: command for heading in COMMANDS for name, command in app.headings[heading].items()}


def main() -> None:
    """Run the command line, with status 1 after errors, 2 without a valid command and 130 after Ctrl-C.

    Of ``gate``, whose verdicts are 0 to 2, every error has status 3.
    """
    of_gate = next((word for word in sys.argv[1:] if not word.startswith("-")), "") == "gate"
    prepare_streams()
    warnings.showwarning = _show_warning
    warnings.simplefilter("ignore")
    warnings.simplefilter("always", BayespoolWarning)
    status = 1
    try:
        with command_line(sys.argv[1:]):
            sys.exit(app.main(prog_name="bayespool", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except BayespoolError as error:
        echo("\n".join([f"error: {error}", *getattr(error, "__notes__", ())]), always=True)
        status = getattr(error, "exit_code", status)
    except MemoryError as error:
        detail = f" ({error})" if str(error) else ""
        hint = "ask for less at a time, or use a larger machine"
        echo(f"error: there is not enough memory{detail}; {hint}", always=True)
    except OSError as error:
        if not is_output_error(error):
            raise
        with contextlib.suppress(OSError):
            echo(f"error: cannot write to standard output: {error.strerror}", always=True)
        discard_streams()
    except (KeyboardInterrupt, click.Abort) as error:
        if not is_interruption(error):
            raise
        echo(describe_interruption(error), always=True)
        sys.exit(INTERRUPTED)
    sys.exit(3 if of_gate else status)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    collect_warning(printable(str(message), one_line=True))
    echo(f"warning: {message}")

"""Help in groups on 80 columns without heavy imports, with names of estimators and strategies."""

from __future__ import annotations

from typing import Any

import click

from bayespool import names
from bayespool.cli.parameters import GROUPS, GroupedOption, descriptions
from bayespool.errors import InputError
from bayespool.names import split_list

_ESTIMATOR_KINDS = ("estimators", "posteriors")
_SECTIONS = (
    ("Estimators: corrections as published", ("estimators",), "point"),
    ("Estimators: posteriors, which have intervals", _ESTIMATOR_KINDS, "posterior"),
    ("Strategies: which documents are judged first", ("strategies", "strategy"), "strategy"),
)
"""Titles of lists below the options, the kinds of names that options take, and kinds of descriptions."""


def option_group(parameter: click.Parameter) -> str:
    """Heading of an option or an argument in the help."""
    return getattr(parameter, "group", "Help")


class _InGroups(click.Command):
    """Command whose help groups its options, of which each that has one value may be given once."""

    def __init__(self, name: str, **attributes: Any) -> None:
        super().__init__(name, context_settings={"help_option_names": ["-h", "--help"]}, **attributes)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; an option that is given twice and has one value is an `InputError`."""
        given = list(args)
        rest = super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=given)
        for place, parameter in enumerate(order):
            if isinstance(parameter, GroupedOption) and not parameter.multiple and parameter in order[:place]:
                flag = max(parameter.opts, key=len)
                raise InputError(f"{flag} is given twice", hint="give it once: one of the two would be lost")
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        groups: dict[str, list[tuple[str, str]]] = {name: [] for name in GROUPS}
        parameters = self.get_params(ctx)
        for parameter in sorted(parameters, key=lambda p: not isinstance(p, click.Argument)):
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups[option_group(parameter)].append(record)
        for name, rows in groups.items():
            if rows:
                with formatter.section(name):
                    formatter.write_dl(rows, col_max=26)


class GroupedCommand(_InGroups):
    """A command with its short line for the list of commands."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names that options take below them, with those by default marked."""
        options = [p for p in self.params if isinstance(p, GroupedOption) and p.group != "Pool"]
        defaults = [str(o.default) for o in options if o.names in _ESTIMATOR_KINDS and o.default]
        by_default = set(split_list(",".join(defaults)))
        if "default" in by_default:
            by_default |= set(names.DEFAULT_ESTIMATORS)
        for title, kinds, kind in _SECTIONS:
            if any(option.names in kinds for option in options):
                texts = descriptions(kind)
                marks = {name: " *" for name in texts if name in by_default}
                rows = [(f"{name}{marks.get(name, '')}", text) for name, text in texts.items()]
                with formatter.section(f"{title} (* by default)" if marks else title):
                    formatter.write_dl(rows)


class GroupedCommands(_InGroups, click.Group):
    """Commands whose help has them under headings, and groups of them, such as ``check``."""

    def __init__(self, name: str, **attributes: Any) -> None:
        super().__init__(name, no_args_is_help=True, **attributes)
        self.headings: dict[str, dict[str, click.Command]] = {}

    def add(self, heading: str, name: str, command: click.Command) -> None:
        """Add a command under a heading; one named ``check predictions`` in a group of commands."""
        self.headings.setdefault(heading, {})[name] = command
        within, _, last = name.rpartition(" ")
        if not within:
            self.add_command(command)
            return
        group = self.commands.setdefault(within, GroupedCommands(within, short_help=heading))
        assert isinstance(group, GroupedCommands)
        group.add(heading, last, command)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by heading, then the options."""
        width = max(map(len, self.commands))
        for heading, members in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), c.short_help or "") for name, c in members.items()])
        super().format_options(ctx, formatter)

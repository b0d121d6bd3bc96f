"""Commands made from functions, with a short help and a whole one, on 80 columns without heavy imports."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from bayespool import names
from bayespool.cli.files import FILE_OPTIONS, Files, is_run_name
from bayespool.cli.functions import Parameter, parameter_instead, parameters_of
from bayespool.cli.parameters import Argument, Option, descriptions, flag_of, function_option, function_value
from bayespool.cli.paths import check_paths
from bayespool.cli.results import OUTPUT_OPTIONS, Outputs, options_of_all
from bayespool.errors import InputError
from bayespool.names import split_list

_SECTIONS = (
    ("Estimators: corrections as published", ("estimators",), "point"),
    ("Estimators: posteriors, which have intervals", ("estimators", "posterior"), "posterior"),
    ("Strategies: which documents are judged first", ("strategies", "strategy"), "strategy"),
)
"""Titles of lists below the whole help, the options whose names they have, and kinds of descriptions."""


_OPTIONS_OF_OTHERS = {
    **dict.fromkeys(("--metric", "--metrics", "--measures"), "--measure"),
    "--judged": "--own-judgments",
    "--own-judgments": "--judged",
    "--run-types": "--organizations once more, with the file of types",
    "--topics-table": "--reading topics_table=FILE",
    "--documents-table": "--reading documents_table=FILE",
    "--run": "the files of runs without an option",
}
"""Replacements of options that other programs or commands have, by option."""


class WordingError(InputError):
    """Error for an option that is not there, with status 2."""

    exit_code = 2


def _show_all(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.meta["all_options"] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


_HELP_ALL = functools.partial(
    Option, ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_show_all
)


@contextlib.contextmanager
def _name_options_of_others(context: click.Context, args: Sequence[str]) -> Iterator[None]:
    """Raise `InputError` with what to write for another program's option; beside ``--help``, show help."""
    asks_help = bool({*context.help_option_names} & {*args})
    try:
        yield
    except click.NoSuchOption as error:
        if asks_help:
            click.echo(context.get_help(), color=context.color)
            context.exit()
        known = {flag for p in context.command.get_params(context) for flag in p.opts}
        instead = _OPTIONS_OF_OTHERS.get(error.option_name, "")
        if instead and (instead.split()[0] if instead.startswith("-") else "--measure") in known:
            raise WordingError(f"there is no {error.option_name}", hint=f"write {instead}") from None
        raise


@contextlib.contextmanager
def _name_flags(keywords: Mapping[str, Any]) -> Iterator[None]:
    """Name the option where a value of it cannot be."""
    try:
        yield
    except InputError as error:
        for name, value in keywords.items():
            for one in value if isinstance(value, list) else [value]:
                if error.reason == f"{name} cannot be {one!r}":
                    raise InputError(f"{flag_of(name)} cannot be {one!r}", hint=error.hint) from None
        raise


class Command(click.Command):
    """Command whose options are made when they are needed, of which each with one value may be given once.

    ``function`` is the place of the function whose parameters it has (`parameters_of`).
    """

    def __init__(
        self, name: str, make: Callable[[], Sequence[click.Parameter]], function: str = "", **attributes: Any
    ) -> None:
        super().__init__(name, context_settings={"help_option_names": ["-h", "--help"]}, **attributes)
        self._make, self.function = functools.cache(make), function

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Arguments and options, those of the short help first."""
        self.params = list(self._make())
        return super().get_params(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments; an option that is given twice and has one value is an `InputError`."""
        given = list(args)
        with _name_options_of_others(ctx, args):
            rest = super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=given)
        for place, parameter in enumerate(order):
            if isinstance(parameter, Option) and not parameter.multiple and parameter in order[:place]:
                flag = max(parameter.opts, key=len)
                raise InputError(f"{flag} is given twice", hint="give it once: one of the two would be lost")
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options that one needs first, or all."""
        parameters = self.get_params(ctx)
        first = [p for p in parameters if isinstance(p, Argument) or getattr(p, "first", False)]
        others = [p for p in parameters if p not in first]
        shows_all = bool(ctx.meta.get("all_options")) or len(others) < 5
        for title, shown in (("Options", first), ("More options", others if shows_all else [])):
            rows = [record for p in shown if (record := p.get_help_record(ctx)) is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=26)
        if not shows_all:
            formatter.write_paragraph()
            formatter.write(f"--help-all shows {len(others)} more options, and the names they take.\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names that options take below all of them, with those by default marked."""
        if not ctx.meta.get("all_options"):
            return
        options = [p for p in self.get_params(ctx) if isinstance(p, Option)]
        defaults = [str(o.shown_default) for o in options if o.name == "estimators" and o.shown_default]
        by_default = set(split_list(",".join(defaults)))
        if "default" in by_default:
            by_default |= set(names.DEFAULT_ESTIMATORS)
        for title, of_options, kind in _SECTIONS:
            if any(option.offers in of_options for option in options):
                texts = descriptions(kind)
                marks = {name: " *" for name in texts if name in by_default}
                rows = [(f"{name}{marks.get(name, '')}", text) for name, text in texts.items()]
                with formatter.section(f"{title} (* by default)" if marks else title):
                    formatter.write_dl(rows)


class Commands(click.Group):
    """Commands whose help has them under headings, and groups of them, such as ``check``."""

    def __init__(self, name: str, **attributes: Any) -> None:
        settings = {"help_option_names": ["-h", "--help"]}
        super().__init__(name, no_args_is_help=True, context_settings=settings, **attributes)
        self.headings: dict[str, dict[str, click.Command]] = {}

    def add(self, heading: str, name: str, command: click.Command) -> None:
        """Add a command under a heading; one named ``check predictions`` in a group of commands."""
        self.headings.setdefault(heading, {})[name] = command
        within, _, last = name.rpartition(" ")
        if not within:
            self.add_command(command, name)
            return
        group = self.commands.setdefault(within, Commands(within, short_help=heading))
        assert isinstance(group, Commands)
        group.add(heading, last, command)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments, with a hint for an option of another program."""
        with _name_options_of_others(ctx, args):
            return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by heading, then the options."""
        width = max(map(len, self.commands))
        for heading, members in self.headings.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), c.short_help or "") for name, c in members.items()])
        click.Command.format_options(self, ctx, formatter)


def command(
    function: str,
    *,
    first: str,
    more: str = "",
    argument: Argument | None = None,
    own: Mapping[str, Callable[..., Option]] | None = None,
    instead: Mapping[str, str] | None = None,
    formats: Sequence[str] = (),
    short: str,
) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator that makes a command whose options are parameters of a function, files and outputs.

    Parameters
    ----------
    function : str
        Place of the function, such as ``scoring/scoring.py:score``; empty without one.
    first, more : str
        Names of the options of the short help, and of all others, in their order: fields of `Files` and
        `Outputs`, parameters of the function, or keys of ``own``.
    argument : Argument, optional
        Files that are named without an option.
    own : mapping of str to callable, optional
        Options of this command alone (`own_option`), also in place of those of files and outputs.
    instead : mapping of str to str, optional
        Places of other functions by the parameter of theirs that asks for them.
    formats : sequence of str
        Endings of files that the result has besides those of every result.
    short : str
        Line in the list of commands.

    Notes
    -----
    The decorated function is called with ``files``, with ``keywords`` for the function (those that are given
    alone), with ``outputs`` and with the values of its own options.
    """
    makers = {**FILE_OPTIONS, **OUTPUT_OPTIONS, **(own or {})}
    named = {*makers, *([] if argument is None else [argument.name])}

    def parameters() -> dict[str, Parameter]:
        others = {option: parameter_instead(place, option) for option, place in (instead or {}).items()}
        return (parameters_of(function) if function else {}) | others

    def options() -> list[click.Parameter]:
        made: list[click.Parameter] = [] if argument is None else [argument]
        for is_first, listed in ((True, first), (False, more)):
            for option in listed.split():
                if option in makers:
                    made.append(makers[option](first=is_first))
                else:
                    made.append(function_option(parameters()[option], first=is_first))
        shown = _HELP_ALL(help="Show all options, and the names they take.")
        return [*made, *options_of_all(made), shown]

    def decorate(body: Callable[..., None]) -> Command:
        def run(**values: Any) -> None:
            given = {n: v for n, v in values.items() if v is not None and v != ()}
            files, outputs = (
                {n: given.pop(n) for n in cls.__annotations__ if n in given} for cls in (Files, Outputs)
            )
            of_function = [n for n in given if n not in named]
            keywords = {n: function_value(parameters()[n], given.pop(n)) for n in of_function}
            if "unpool" in keywords and "runs" in files:
                named_runs = [(i, str(path)) for i, path in enumerate(files["runs"]) if is_run_name(path)]
                files["runs"] = tuple(path for path in files["runs"] if not is_run_name(path))
                files["names"] = tuple(named_runs)
            written = Outputs(**outputs)
            written.check(formats)
            check_paths(tuple(Files.__annotations__))
            with _name_flags(keywords):
                body(files=Files(**files), keywords=keywords, outputs=written, **given)

        title = body.__name__.replace("_", "-")
        return Command(title, options, function, callback=run, help=body.__doc__, short_help=short)

    return decorate

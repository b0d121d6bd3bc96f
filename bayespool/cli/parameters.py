"""Options of commands: those of a function, from its signature and docstring, and a command's own."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from bayespool import names
from bayespool.cli.functions import Parameter, described_corrections, measure_examples
from bayespool.errors import InputError
from bayespool.names import split_list

_OWN = {
    "point": ("bayespool.corrections.registry", "ESTIMATORS", names.POINT_ESTIMATORS),
    "posterior": ("bayespool.corrections.registry", "ESTIMATORS", names.POSTERIOR_ESTIMATORS),
    "strategy": ("bayespool.pooling.registry", "STRATEGIES", names.STRATEGIES),
}


def descriptions(kind: str) -> Mapping[str, str]:
    """Return descriptions by name of a kind: the package's own, and those that a user has registered."""
    module, registry, own = _OWN[kind]
    own = own | described_corrections() if kind == "point" else own
    entries = getattr(sys.modules.get(module), registry, {})  # help imports nothing heavy
    users = {name: e for name, e in entries.items() if name not in own and getattr(e, "kind", kind) == kind}
    return own | {name: entry.description for name, entry in users.items()}


_NAMES: Mapping[str, Callable[[], Iterable[str]]] = {
    "measures": measure_examples,
    "estimators": lambda: ["default", "all", "pairs", *descriptions("point"), *descriptions("posterior")],
    "models": lambda: names.MODELS,
    "pool_strategy": lambda: descriptions("strategy"),
    "posterior": lambda: descriptions("posterior"),
    "strategy": lambda: descriptions("strategy"),
    "strategies": lambda: ["paper", "all", *descriptions("strategy")],
}
"""Names that an option takes, by the name of its parameter."""


def offered(parameter: str, typed: str) -> list[str]:
    """Texts that the shell offers for the last of several names with commas between.

    Examples
    --------
    >>> offered("estimators", "background,posterior-rat")
    ['background,posterior-ratio']
    """
    before, comma, last = typed.rpartition(",")
    taken = before.split(",")
    return [
        f"{before}{comma}{name}"
        for name in _NAMES.get(parameter, tuple)()
        if name.startswith(last) and name not in taken
    ]


class Option(click.Option):
    """Option with a default that only the help says: a function that is called without it has it.

    ``first`` options are in the short help. ``writes`` is what an option names that the command writes:
    "file" or "folder", else empty. ``offers`` is the kind of names that it takes, by default its own.
    """

    def __init__(
        self,
        *args: Any,
        shown_default: Any = None,
        first: bool = False,
        writes: str = "",
        offers: str = "",
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.offers = offers or str(self.name)
        self.shown_default = shown_default
        self.first, self.writes = first, writes

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names that the option takes, or what click offers."""
        items = [CompletionItem(text) for text in offered(self.offers, incomplete)]
        return items or super().shell_complete(ctx, incomplete)

    def make_metavar(self, ctx: click.Context) -> str:
        """``<int>``, ``<path>`` or ``<one|other>``."""
        if isinstance(self.type, click.Choice) and self.metavar is None:
            return f"<{'|'.join(map(str, self.type.choices))}>"
        kind = self.type.name.partition(" ")[0]
        return self.metavar or f"<{'int' if kind == 'integer' else kind}>"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Flags, and the description with the default."""
        record = super().get_help_record(ctx)
        default = self.shown_default
        if record is None or default is None or default is False or default == ():
            return record
        text = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
        return record[0], f"{record[1]}  [default: {'yes' if default is True else text}]"


class Argument(click.Argument):
    """Argument that the help describes."""

    def __init__(self, *args: Any, description: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.description = description

    def make_metavar(self, ctx: click.Context) -> str:
        """``[runs]...``."""
        name = str(self.name) if self.required else f"[{self.name}]"
        return f"{name}..." if self.nargs == -1 else name

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Usage and description."""
        return f"{self.name}{'...' if self.nargs == -1 else ''} <path>", self.description


_PATH = click.Path(path_type=Path)
_FLAGS = {"measures": ("--measure", "-m"), "n_common": ("--common",), "posterior_settings": ("--posterior",)}
"""Flags of parameters whose names are not theirs."""
_REPEATED = ("measures", "unpool")


def own_option(*flags: str, type: Any = str, **attributes: Any) -> Callable[..., Option]:
    """Return what makes an option of the command line alone; ``type`` is a type or the choices.

    Calling it with ``first`` makes the option.
    """
    if type is bool:
        attributes = {"is_flag": True, "default": False} | attributes
    return functools.partial(Option, list(flags), type=_click_type(type), **attributes)


def function_option(parameter: Parameter, *, first: bool = False) -> Option:
    """Return the option of a function's parameter."""
    name, kind, is_listed = parameter.name, parameter.type, parameter.is_listed
    is_repeated = name in _REPEATED and " of " in parameter.documented_type
    flags = _FLAGS.get(name, (f"--{name.removeprefix('n_').replace('_', '-')}",))
    if kind is bool and parameter.default:
        flags = (f"{flags[0]}/--no-{flags[0].removeprefix('--')}",)
    texts = is_listed and not is_repeated
    return Option(
        [*flags, name],
        type=str if texts else _click_type(kind),
        is_flag=kind is bool,
        default=None,
        multiple=is_repeated,
        metavar=f"<{_kind_name(kind)},…>" if texts else None,
        shown_default=parameter.default,
        first=first,
        offers="" if texts or name != "estimators" else "posterior",
        help=first_sentence(parameter.description) + (" May be repeated." if is_repeated else ""),
    )


def flag_of(name: str) -> str:
    """Return the flag of an option of the current command, by the name of its parameter."""
    context = click.get_current_context()
    return next(max(p.opts, key=len) for p in context.command.get_params(context) if p.name == name)


def _click_type(kind: Any) -> Any:
    return click.Choice(kind) if isinstance(kind, tuple) else _PATH if kind is Path else kind


def _kind_name(kind: Any) -> str:
    return "|".join(kind) if isinstance(kind, tuple) else str(kind.__name__).replace("str", "name")


def first_sentence(text: str) -> str:
    """Return the first sentence of a description.

    Examples
    --------
    >>> first_sentence("Depth, e.g. 10. By default all.")
    'Depth, e.g. 10.'
    """
    return re.split(r"(?<=[.…])\s+(?=[A-Z])", text, maxsplit=1)[0]


def function_value(parameter: Parameter, value: Any) -> Any:
    """Return the function's argument for a value of the command line.

    Raises
    ------
    InputError
        A part of a list is not a number where numbers are wanted, or not one of the choices.
    """
    if not parameter.is_listed or isinstance(value, tuple):
        return list(value) if isinstance(value, tuple) else value
    parts, kind = split_list(value), parameter.type
    if kind not in (int, float):
        return parts
    try:
        return [kind(part) for part in parts]
    except ValueError:
        wanted = "whole numbers" if kind is int else "numbers"
        raise InputError(
            f"--{parameter.name.removeprefix('n_').replace('_', '-')} {value}: not {wanted}",
            hint="give them with commas between",
        ) from None


def stored_value(name: str) -> Any:
    """Return what the context of the command stores under a name, if there is a command."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(name)


def store_in_context(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Callback of an option whose value others ask for."""
    context.meta[str(parameter.name)] = value

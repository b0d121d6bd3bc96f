"""Options of commands: made of settings classes, and a command's own."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

import click
from click.shell_completion import CompletionItem

from bayespool import names
from bayespool.errors import InputError
from bayespool.names import split_list
from bayespool.options import Group, Option, Settings, options_of

_OWN = {
    "point": ("bayespool.corrections.registry", "ESTIMATORS", names.POINT_ESTIMATORS),
    "posterior": ("bayespool.corrections.registry", "ESTIMATORS", names.POSTERIOR_ESTIMATORS),
    "strategy": ("bayespool.pooling.registry", "STRATEGIES", names.STRATEGIES),
}


def descriptions(kind: str) -> Mapping[str, str]:
    """Return descriptions by name of a kind: the package's own, and those that a user has registered."""
    module, registry, own = _OWN[kind]
    entries = getattr(sys.modules.get(module), registry, {})  # help imports nothing heavy
    users = {name: e for name, e in entries.items() if name not in own and getattr(e, "kind", kind) == kind}
    return own | {name: entry.description for name, entry in users.items()}


_NAMES: Mapping[str, Callable[[], Iterable[str]]] = {
    "measures": lambda: names.MEASURES,
    "estimators": lambda: ["default", "all", "pairs", *descriptions("point"), *descriptions("posterior")],
    "posteriors": lambda: descriptions("posterior"),
    "models": lambda: names.MODELS,
    "strategy": lambda: descriptions("strategy"),
    "strategies": lambda: ["paper", "all", *descriptions("strategy")],
}


def offered(kind: str, typed: str) -> list[str]:
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
        for name in _NAMES.get(kind, tuple)()
        if name.startswith(last) and name not in taken
    ]


GROUPS: tuple[Group, ...] = get_args(Group)
"""Headings of options in the help of a command, in their order."""

Command = Callable[..., None]
_PATH = click.Path(path_type=Path)


class GroupedOption(click.Option):
    """Option with its heading in the help, the names that it takes, and the flag that makes it needless."""

    def __init__(
        self, *args: Any, group: Group, names: str = "", unless: str = "", **attributes: Any
    ) -> None:
        super().__init__(*args, **{"show_default": True, **attributes})
        self.group = group
        self.names = names
        self.unless = unless

    def value_is_missing(self, value: Any) -> bool:
        """Return whether a required option is not given, unless another one makes it needless."""
        return super().value_is_missing(value) and not stored_value(self.unless)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names that the option takes, or what click offers."""
        names = [CompletionItem(text) for text in offered(self.names, incomplete)]
        return names or super().shell_complete(ctx, incomplete)

    def make_metavar(self, ctx: click.Context) -> str:
        """``<int>``, ``<path>`` or ``<one|other>``."""
        if isinstance(self.type, click.Choice) and self.metavar is None:
            return f"<{'|'.join(map(str, self.type.choices))}>"
        kind = self.type.name.partition(" ")[0]  # "integer range"
        return self.metavar or f"<{'int' if kind == 'integer' else kind}>"


def store_in_context(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Callback of an option whose value other options ask for."""
    context.meta[str(parameter.name)] = value


def stored_value(name: str) -> Any:
    """Return what the context of the command stores under a name, if there is a command."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(name)


def own_option(
    *flags: str,
    group: Group = "Output",
    type: Any = str,
    least: float | None = None,
    most: float | None = None,
    **attributes: Any,
) -> Callable[[Command], Command]:
    """Decorator that gives a command an option of its own; ``type`` is a type or the choices."""
    kind: Any = click.Choice(type) if isinstance(type, tuple) else _PATH if type is Path else type
    if least is not None or most is not None:
        kind = (click.IntRange if type is int else click.FloatRange)(least, most)  # type: ignore[arg-type]
    if type is bool:
        attributes = {"is_flag": True, "default": False} | attributes
    return click.option(*flags, cls=GroupedOption, group=group, type=kind, **attributes)


input_path = functools.partial(own_option, type=Path, group="Input")
input_paths = functools.partial(input_path, multiple=True)


def group_options(
    cls: Any, argument: str, *added: Callable[[Command], Command]
) -> Callable[[Command], Command]:
    """Decorator that gives a command options, and hands it one object of the class that is made of them."""
    names = {field.name for field in dataclasses.fields(cls)}

    def decorate(command: Command) -> Command:
        own: set[str] = set()

        @functools.wraps(command)
        def with_object(**values: Any) -> None:
            given = {name: values.pop(name) for name in own & set(values)}
            command(**{argument: cls(**given)}, **values)

        before = set(_names(with_object))
        decorated: Command = with_object
        for add in reversed(added):
            decorated = add(decorated)
        own |= (set(_names(decorated)) - before | {"reading"}) & names
        return decorated

    return decorate


def _names(command: Command) -> list[str]:
    """Names of the options that a command has so far."""
    return [parameter.name for parameter in getattr(command, "__click_params__", ())]


class Argument(click.Argument):
    """Argument that the help describes."""

    group: Group = "Input"

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


def files_argument(name: str, *, help: str, nargs: int = -1) -> Callable[[Command], Command]:
    """Decorator that gives a command files as arguments."""
    return click.argument(name, cls=Argument, description=help, nargs=nargs, type=_PATH)


def settings_option(
    cls: type[Settings],
    argument: str = "settings",
    *,
    only: tuple[str, ...] = (),
    unless: str = "",
    **defaults: Any,
) -> Callable[[Command], Command]:
    """Decorator that gives a command the options of a settings class, or ``only`` some of them.

    The command's ``argument`` is an object of the class; ``defaults`` replace those of the class. ``unless``
    names a flag with the callback `store_in_context`: where it is given, the argument is None.
    """
    options = {
        name: (option, defaults.get(name, default))
        for name, (option, default) in options_of(cls).items()
        if not option.python_only and (name in only or not only)
    }
    measures = next((name for name in ("measures", "measure") if name in options), "")

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_settings(**values: Any) -> None:
            given = {name: _value(name, option, values.pop(name)) for name, (option, _) in options.items()}
            if stored_value(unless):
                command(**{argument: None}, **values)
                return
            if measures:
                threshold = values.pop("relevance_threshold")
                given[measures] = [m for text in given[measures] for m in _with_threshold(text, threshold)]
            command(**{argument: cls.of(**given)}, **values)

        for name, (option, default) in reversed(options.items()):
            if name == measures:
                _threshold(with_settings)
            _click_option(name, option, default, unless)(with_settings)
        return with_settings

    return decorate


def _click_option(name: str, option: Option, default: Any, unless: str) -> Callable[[Command], Command]:
    flags, is_listed = option.flags(name), option.multiple == "listed"
    if is_listed and isinstance(default, tuple):
        default = ",".join(map(str, default))
    if option.multiple == "repeated" and isinstance(default, str):
        default = [default]
    if name == "strict":
        default = False
    if option.type is bool and default:
        flags = [f"{flags[0]}/--no-{flags[0].removeprefix('--')}"]
    limits = {} if is_listed else {"least": option.least, "most": option.most}
    return own_option(
        *flags,
        name,
        group=option.group,
        names=option.names,
        type=str if is_listed else option.choices or option.type,
        multiple=option.multiple == "repeated",
        unless=unless,
        help=option.help,
        **limits,
        **({"required": True} if default is ... else {"default": default}),
    )


_threshold = own_option(
    "--relevance-threshold",
    group="Estimation",
    type=int,
    least=1,
    help="Smallest relevance that counts, as trec_eval's -l, for measures that do not say rel= themselves "
    "and count relevant documents; nDCG, DCG, SDCG, ERR and INST sum gains.",
)


def _value(name: str, option: Option, value: Any) -> Any:
    """Argument of the library for a value of the command line."""
    if value is None or value == ():
        return None
    if name in _READ:
        return _READ[name](value)
    if option.multiple == "listed" and option.type in (int, float):
        try:
            return [option.type(part) for part in split_list(value)]
        except ValueError:
            kind = "whole numbers" if option.type is int else "numbers"
            raise InputError(
                f"{option.flags(name)[0]} {value}: not {kind}", hint="give them with commas between"
            ) from None
    return split_list(value) if option.multiple == "listed" else value


def _priors(texts: tuple[str, ...]) -> dict[str, str]:
    """Priors by variable from texts such as ``mu=Normal(-2,1)``."""
    priors = {}
    for text in texts:
        name, equals, distribution = text.partition("=")
        if not equals:
            raise InputError(
                f"prior {text!r} is not of the form name=Distribution(…)", hint="for example mu=Normal(-2,1)"
            )
        priors[name.strip()] = distribution.strip()
    return priors


def _judges(texts: tuple[str, ...]) -> dict[str, Path]:
    """Files of labels by judge, from texts such as ``labels.txt`` or ``gpt4=labels.txt``."""
    from bayespool.collection.readers import run_id_from_file

    judges: dict[str, Path] = {}
    for text in texts:
        name, named, file = text.partition("=")
        path = Path(file) if named and not Path(text).exists() else Path(text)
        name = name if named and path == Path(file) else run_id_from_file(path)
        if not name or (not file and named):
            raise InputError(f"--judge {text}: give a name and a file", hint="--judge NAME=FILE")
        if name in judges:
            raise InputError(f"--judge {text}: two judges are called {name!r}", hint="--judge NAME=FILE")
        judges[name] = path
    return judges


def _known_strategy(text: str) -> str:
    """The text, if it is that of a strategy."""
    from bayespool.pooling import parse_strategy

    parse_strategy(text)
    return text


def _run_types(path: Path) -> dict[str, str]:
    from bayespool.collection import read_run_types

    max_file_size = click.get_current_context().params["max_file_size"]
    return read_run_types(path, max_file_size=max_file_size)


_READ: Mapping[str, Callable[[Any], Any]] = {
    "priors": _priors,
    "judges": _judges,
    "pool_strategy": _known_strategy,
    "run_types": _run_types,
    "strict": lambda lenient: not lenient,
}


def _with_threshold(text: str, threshold: int | None) -> list[str]:
    """Measures of a text, with a threshold unless they name one themselves or sum gains."""
    from bayespool.measures import parse_measure
    from bayespool.measures.parsing import split_measures

    measures = []
    for part in split_measures(text):
        parsed = parse_measure(part)
        names_its_own = parsed.rel > 1 or "rel=" in part.replace(" ", "")
        if threshold is not None and not names_its_own and not parsed.gains_by_level:
            parsed = dataclasses.replace(parsed, rel=threshold)
        measures.append(str(parsed))
    return measures

"""Options of commands made from settings classes, and conversion of their values."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from bayespool.cli.completion import completion_of
from bayespool.cli.refusals import refuse_priors
from bayespool.errors import InputError
from bayespool.options import MAX_FILE_SIZE, Option, options_of

OptionValues = dict[str, Any]
"""Values by Python name for a parameter ``Annotated[OptionValues, SettingsClass]``; a mapping of other
defaults may follow the class.
"""

Threshold = Annotated[
    int | None,
    typer.Option(help="Smallest relevance that counts, for measures that do not say rel= themselves.", min=1),
]


def from_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Replace parameters ``Annotated[OptionValues, …]`` by options of their classes, earlier ones first."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, dict[str, Option]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        hint = hints[name]
        if get_origin(hint) is not Annotated or get_args(hint)[0] != OptionValues:
            parameters.append(parameter.replace(annotation=hint, kind=parameter.KEYWORD_ONLY))
            continue
        _, cls, *others = get_args(hint)
        defaults = others[0] if others else {}
        groups[name] = {}
        taken = {key for options in groups.values() for key in options}
        for key, (option, default) in options_of(cls).items():
            if key in taken:
                continue
            groups[name][key] = option
            parameters.append(_parameter(key, option, defaults.get(key, default)))
            if key == "measures":
                threshold = inspect.Parameter(
                    "relevance_threshold", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Threshold
                )
                parameters.append(threshold)

    def grouped(**arguments: Any) -> None:
        threshold = arguments.pop("relevance_threshold", None)
        max_file_size = arguments.get("max_file_size", MAX_FILE_SIZE)
        for name, options in groups.items():
            values = {key: _value(key, option, arguments.pop(key)) for key, option in options.items()}
            for key, value in values.items():
                options[key].check(key, tuple(value) if isinstance(value, list) else value)
            if values.get("run_types") is not None:
                values["run_types"] = _run_types(values["run_types"], max_file_size)
            if "measures" in values:
                values["measures"] = [_with_threshold(m, threshold) for m in values["measures"]]
            arguments[name] = values
            if "priors" in values:
                # an estimator's name may choose the engine
                engine = "nuts" if "nuts" in str(arguments) else values["engine"]
                refuse_priors(values["priors"], engine)
            if values.get("pool_strategy") is not None:
                _refuse_strategy(values["pool_strategy"])
        command(**arguments)

    grouped.__name__, grouped.__doc__, grouped.__module__ = command.__name__, command.__doc__, __name__
    grouped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    grouped.__annotations__ = {p.name: p.annotation for p in parameters}
    return grouped


def split_list(text: str) -> list[str]:
    """Split at commas outside parentheses."""
    parts, depth = [""], 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def _parameter(name: str, option: Option, default: Any) -> inspect.Parameter:
    """Parameter of which typer makes the option."""
    kind: Any = option.of
    bounds: dict[str, Any] = (
        {"min": option.least, "max": option.most} if kind in (int, float) and option.many != "listed" else {}
    )
    flags = option.flags(name)
    if option.many == "listed":
        kind = str
        default = default if default is None or isinstance(default, str) else ",".join(map(str, default))
    elif option.many == "repeated":
        kind = list[kind]
        default = [default] if isinstance(default, str) else None if default is None else list(default)
    elif kind is bool:
        default = default if name != "strict" else False
        flags = [f"{flags[0]}/--no-{flags[0].removeprefix('--')}"] if default else flags
    required = default is ...
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else default,
        annotation=Annotated[
            kind if required or default is not None else kind | None,
            typer.Option(*flags, help=option.help, autocompletion=completion_of(name), **bounds),
        ],
    )


def _value(name: str, option: Option, value: Any) -> Any:
    """Argument of the library for a value of the command line."""
    if name == "priors":
        return _priors(value or [])
    if name == "judges":
        return _judges(value or [])
    if value is None:
        return None
    if name == "strict":
        return not value
    if option.many == "listed" and option.of in (int, float):
        try:
            return [option.of(part) for part in split_list(value)]
        except ValueError:
            kind = "whole numbers" if option.of is int else "numbers"
            raise InputError(
                f"{option.flags(name)[0]} {value}: not {kind}", hint="give them with commas between"
            ) from None
    return split_list(value) if option.many == "listed" else value


def _priors(texts: list[str]) -> dict[str, str]:
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


def _judges(texts: list[str]) -> dict[str, Path]:
    """Files of labels by judge, from texts such as ``labels.txt`` or ``gpt4=labels.txt``."""
    from bayespool.collection.readers import id_of_file

    judges: dict[str, Path] = {}
    for text in texts:
        name, named, file = text.partition("=")
        path = Path(file) if named and not Path(text).exists() else Path(text)
        name = name if named and path == Path(file) else id_of_file(path)
        if not name or (not file and named):
            raise InputError(f"--judge {text}: give a name and a file", hint="--judge NAME=FILE")
        if name in judges:
            raise InputError(f"--judge {text}: two judges are called {name!r}", hint="--judge NAME=FILE")
        judges[name] = path
    return judges


def _refuse_strategy(text: str) -> None:
    from bayespool.pooling import parse_strategy

    parse_strategy(text)


def _run_types(path: Path, max_file_size: int) -> dict[str, str]:
    from bayespool.collection import read_run_types

    return read_run_types(path, max_file_size=max_file_size)


def _with_threshold(measure: str, threshold: int | None) -> str:
    """The measure with a threshold unless it names one itself."""
    from bayespool.measures import parse_measure

    parsed = parse_measure(measure)
    if threshold is not None and "rel=" not in measure:
        parsed = dataclasses.replace(parsed, rel=threshold)
    return str(parsed)

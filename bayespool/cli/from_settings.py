"""Options of a command made from settings classes, and what becomes of their texts."""

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

Asked = dict[str, Any]
"""Values by name, as the functions of the library take them: what a command gets for
``Annotated[Asked, SettingsClass]``; a mapping of other defaults may follow.
"""

Threshold = Annotated[
    int | None,
    typer.Option(help="Smallest relevance that counts, for measures that do not say rel= themselves.", min=1),
]


def from_settings(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of the settings classes among its parameters' types in their places. An
    option that an earlier class has, too, is the earlier one's.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, dict[str, Option]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        hint = hints[name]
        if get_origin(hint) is not Annotated or get_args(hint)[0] != Asked:
            parameters.append(parameter.replace(annotation=hint, kind=parameter.KEYWORD_ONLY))
            continue
        _, cls, *others = get_args(hint)
        defaults = others[0] if others else {}
        groups[name] = {}
        taken = {key for options in groups.values() for key in options}
        for key, (what, default) in options_of(cls).items():
            if key in taken:
                continue
            groups[name][key] = what
            parameters.append(_parameter(key, what, defaults.get(key, default)))
            if key == "measures":
                threshold = inspect.Parameter(
                    "relevance_threshold", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Threshold
                )
                parameters.append(threshold)

    def grouped(**given: Any) -> None:
        threshold = given.pop("relevance_threshold", None)
        max_file_size = given.get("max_file_size", MAX_FILE_SIZE)
        for name, options in groups.items():
            asked = {key: _value(key, what, given.pop(key)) for key, what in options.items()}
            for key, value in asked.items():
                options[key].check(key, tuple(value) if isinstance(value, list) else value)
            if asked.get("run_types") is not None:
                asked["run_types"] = _run_types(asked["run_types"], max_file_size)
            if "measures" in asked:
                asked["measures"] = [_with_threshold(m, threshold) for m in asked["measures"]]
            given[name] = asked
            if "priors" in asked:
                engine = "nuts" if "nuts" in str(given) else asked["engine"]  # which a name may ask for, too
                refuse_priors(asked["priors"], engine)
            if asked.get("pool_strategy") is not None:
                _refuse_strategy(asked["pool_strategy"])
        command(**given)

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


def _parameter(name: str, what: Option, default: Any) -> inspect.Parameter:
    """A parameter that typer makes the option of."""
    kind: Any = what.of
    bounds: dict[str, Any] = (
        {"min": what.least, "max": what.most} if kind in (int, float) and what.many != "listed" else {}
    )
    flags = what.flags(name)
    if what.many == "listed":
        kind = str
        default = default if default is None or isinstance(default, str) else ",".join(map(str, default))
    elif what.many == "repeated":
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
            typer.Option(*flags, help=what.help, autocompletion=completion_of(name), **bounds),
        ],
    )


def _value(name: str, what: Option, given: Any) -> Any:
    """What the library takes for what the command line gave."""
    if name == "priors":
        return _priors(given or [])
    if name == "judges":
        return _judges(given or [])
    if given is None:
        return None
    if name == "strict":
        return not given
    if what.many == "listed" and what.of in (int, float):
        try:
            return [what.of(part) for part in split_list(given)]
        except ValueError:
            kind = "whole numbers" if what.of is int else "numbers"
            raise InputError(
                f"{what.flags(name)[0]} {given}: not {kind}", hint="give them with commas between"
            ) from None
    return split_list(given) if what.many == "listed" else given


def _priors(given: list[str]) -> dict[str, str]:
    """Priors by variable from texts such as ``mu=Normal(-2,1)``."""
    priors = {}
    for text in given:
        name, found, distribution = text.partition("=")
        if not found:
            raise InputError(
                f"prior {text!r} is not of the form name=Distribution(…)", hint="for example mu=Normal(-2,1)"
            )
        priors[name.strip()] = distribution.strip()
    return priors


def _judges(given: list[str]) -> dict[str, Path]:
    """Files of labels by the judge's name, from texts such as ``labels.txt`` or ``gpt4=labels.txt``."""
    from bayespool.collection.readers import id_of_file

    judges: dict[str, Path] = {}
    for text in given:
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
    """The measure with a threshold where it names none itself."""
    from bayespool.measures import parse_measure

    parsed = parse_measure(measure)
    if threshold is not None and "rel=" not in measure:
        parsed = dataclasses.replace(parsed, rel=threshold)
    return str(parsed)

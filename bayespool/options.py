"""Options common to commands and functions, each described once in a settings class.

From its fields come a command's options, a function's keywords, a docstring's parameters, stored settings,
and tables of the documentation. Values are checked where the settings object is made.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Literal, Self, TypeVar, get_args, get_origin

from bayespool.errors import InputError, did_you_mean, known_names
from bayespool.names import describe_estimator as describe_estimator, type_hints

__all__ = [
    "SEED",
    "Option",
    "PosteriorSettings",
    "Settings",
    "describe_estimator",
    "option",
    "options_of",
    "refuse_unknown",
    "takes",
]

Returned = TypeVar("Returned")
Group = Literal["Input", "Pool", "Design", "Estimation", "Comparison", "Sampling", "Output", "Help"]


@dataclass(frozen=True, kw_only=True)
class Option:
    """Option for both a function and a command.

    Attributes
    ----------
    help : str
        Description in a sentence or two, for commands, docstrings and tables.
    details : str
        More, for docstrings and tables only.
    type : type or Literal
        Of one value on the command line; by default that of the field.
    multiple : {"", "repeated", "listed"}
        Whether there may be several values: a repeated option of a command, or one text with commas. A field
        of several plain values is ``"listed"`` by default.
    docstring_type : str
        Type in a docstring, if ``type`` does not suffice.
    flag : str
        Names on the command line, if they are not the argument's: ``--seed``, ``--measure -m``.
    group : str
        Heading in the help of a command.
    names : {"", "measures", "estimators", "posteriors", "models", "strategies"}
        What values are names of: the shell completes them, and the help lists them.
    least, most, above, below : float, optional
        Bounds of a number, inclusive (the first two) or exclusive.
    parse : callable, optional
        Makes the value that the settings hold of the one given.
    affects_parts : bool
        Whether changing it invalidates stored parts of an experiment, such as folds. Other options set the
        number of parts or what is reported of them.
    may_be_empty : bool
        Whether an empty sequence may be given.
    is_open : bool
        Whether other values than the choices are permitted in Python, such as registered names.
    python_only : bool
        Whether commands do not have it.
    """

    help: str
    details: str = ""
    type: Any = None
    multiple: Literal["", "repeated", "listed"] = ""
    docstring_type: str = ""
    flag: str = ""
    group: Group = "Design"
    names: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    parse: Callable[[Any], Any] | None = None
    affects_parts: bool = True
    may_be_empty: bool = False
    is_open: bool = False
    python_only: bool = False

    @property
    def choices(self) -> tuple[Any, ...]:
        """Allowed values on the command line, empty unless ``type`` is a Literal."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    def flags(self, name: str) -> list[str]:
        """Return the option's names on the command line."""
        return (self.flag or f"--{name.removeprefix('n_').replace('_', '-')}").split()

    def validated(self, name: str, value: Any) -> Any:
        """Return a given value in immutable form, or raise `InputError` if it is invalid."""
        if self.parse is not None:
            value = self.parse(value)
        elif isinstance(value, Mapping):
            value = tuple(value.items())
        elif value is None:
            value = () if self.multiple else None
        elif self.multiple:
            value = (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
        self.check(name, value)
        return value

    def check(self, name: str, value: Any) -> None:
        """Raise `InputError` for a value with the wrong type, outside the choices or out of bounds.

        None always passes.
        """
        for item in value if self.multiple and isinstance(value, tuple) else (value,):
            if item is None:
                continue
            if self.choices and item not in self.choices and not self.is_open:
                raise InputError(f"{name} cannot be {item!r}", hint=known_names(item, self.choices))
            if (wanted := _WANTED.get(self.type)) is not None and not wanted[0](item):
                raise InputError(f"{name} cannot be {item!r}", hint=wanted[1])
            if isinstance(item, int) and abs(item) > _MAX_INTEGER and not name.endswith("seed"):
                raise InputError(f"{name} cannot be {item!r}", hint=f"at most {_MAX_INTEGER:,}")
            bounds = list(self._bounds(item))
            if not all(is_inside for _, is_inside in bounds):
                hint = " and ".join(words for words, _ in bounds)
                raise InputError(f"{name} cannot be {item!r}", hint=hint)

    def _bounds(self, value: Any) -> Iterator[tuple[str, bool]]:
        """Yield each bound in words, and whether the value is inside it."""
        for words, bound, is_inside in (
            ("at least", self.least, operator.ge),
            ("above", self.above, operator.gt),
            ("at most", self.most, operator.le),
            ("below", self.below, operator.lt),
        ):
            if bound is not None:
                yield f"{words} {bound:{',' if self.type is int else 'g'}}", is_inside(value, bound)


_MAX_INTEGER = 2**31 - 1  # of any option but a seed
_WANTED: dict[Any, tuple[Callable[[Any], bool], str]] = {
    int: (lambda x: hasattr(x, "__index__"), "a whole number"),
    float: (lambda x: hasattr(x, "__float__"), "a number"),
    bool: (lambda x: x in (True, False), "True or False"),
}


def option(default: Any, spec: Option | str, *, compare: bool = True, **attributes: Any) -> Any:
    """Return a dataclass field for a settings class, required if the default is ``...``.

    A field that is not compared is not stored.

    ``spec`` is the option's help, or an option described already, of which ``attributes`` change some.
    """
    known = Option(help=spec) if isinstance(spec, str) else spec
    metadata = {"option": dataclasses.replace(known, **attributes), "default": default}
    if default is ...:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata, compare=compare)


def options_of(cls: type) -> Mapping[str, tuple[Option, Any]]:
    """Return a settings class's options with their defaults, keyed by name.

    Options that most classes have come first and last, those of posteriors at the end.
    """
    return _options_of(cls)


@functools.cache
def _options_of(cls: Any) -> Mapping[str, tuple[Option, Any]]:
    last = ["ci_prob", "random_seed"]
    if cls is not PosteriorSettings and issubclass(cls, PosteriorSettings):
        last += [f.name for f in dataclasses.fields(PosteriorSettings) if not _is_own(cls, f.name)]
    places = {"measures": -3, "measure": -3, "estimators": -2} | {name: k for k, name in enumerate(last)}
    hints = type_hints(cls)
    fields = sorted(dataclasses.fields(cls), key=lambda f: places.get(f.name, -1))
    return {
        f.name: (_completed(spec, hints[f.name]), f.metadata["default"])
        for f in fields
        if (spec := f.metadata.get("option")) is not None
    }


def _is_own(cls: Any, name: str) -> bool:
    """Return whether a subclass of `PosteriorSettings` defines this option itself."""
    return cls.__dataclass_fields__[name] is not PosteriorSettings.__dataclass_fields__[name]


def _completed(spec: Option, hint: Any) -> Option:
    """Return an option completed from its field's type hint: value type, and whether it is repeatable."""
    parts = get_args(hint) if NoneType in get_args(hint) else (hint,)
    one, multiple = Path if Path in parts else parts[0], spec.multiple
    if get_origin(one) is tuple:
        one = get_args(one)[0]
        if get_origin(one) is not tuple and spec.parse is None:
            multiple = multiple or "listed"
    one_type = one if one in (int, float, bool, Path) or get_origin(one) is Literal else str
    return dataclasses.replace(spec, type=spec.type or one_type, multiple=multiple)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base class for settings, which validates values on creation and holds them immutable."""

    def __post_init__(self) -> None:
        for name, (spec, default) in options_of(type(self)).items():
            value = getattr(self, name)
            if value is None and default is not None:
                raise InputError(f"{name} cannot be None", hint="leave it out for its default")
            self._hold(name, spec.validated(name, value))

    def _hold(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def of(cls, *, function: str = "", **given: Any) -> Self:
        """Return settings made from a function's arguments, with None for a default of None.

        Raises
        ------
        InputError
            An unknown name, an empty sequence, or a value that an option cannot have.
        """
        options = options_of(cls)
        if not set(given) <= set(options):
            shared = options_of(PosteriorSettings) if issubclass(cls, PosteriorSettings) else {}
            own = [name for name in options if name not in shared or _is_own(cls, name)]
            rest = sorted(set(options) - set(own))
            more = f"; estimators have {', '.join(rest)}" if rest else ""
            refuse_unknown(given, options, f"{function or cls.__name__} has {', '.join(own)}{more}")
        for name, value in given.items():
            is_empty = isinstance(value, Collection) and not isinstance(value, str) and not value
            if is_empty and not options[name][0].may_be_empty:
                raise InputError(f"{name} cannot be empty", hint="leave it out, or name some")
        return cls(**{n: v for n, v in given.items() if v is not None or options[n][1] is not None})

    def describe(self) -> dict[str, Any]:
        """Return all options as JSON-compatible values."""
        fields = (type(self).__dataclass_fields__[name] for name in options_of(type(self)))
        return {f.name: _plain(getattr(self, f.name)) for f in fields if f.compare}

    def keywords(self) -> dict[str, Any]:
        """Return the options as keyword arguments, without empty ones."""
        values = {name: getattr(self, name) for name in options_of(type(self))}
        return {n: dict(v) if _are_pairs(v) else v for n, v in values.items() if v != ()}


def refuse_unknown(given: Iterable[str], known: Collection[str], hint: str) -> None:
    """Raise `InputError` for unknown setting names, with a suggestion.

    Examples
    --------
    >>> refuse_unknown({"tun": 3}, ["tune", "draws"], "score has tune, draws")
    Traceback (most recent call last):
        ...
    bayespool.errors.InputError: unknown settings ['tun']; did you mean 'tune'? score has tune, draws
    """
    if unknown := sorted(set(given) - set(known)):
        raise InputError(
            f"unknown settings {unknown}", hint=f"{did_you_mean(unknown[0], known)} {hint}".lstrip()
        )


def _are_pairs(value: Any) -> bool:
    return isinstance(value, tuple) and value != () and all(isinstance(item, tuple) for item in value)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if _are_pairs(value):
        return {name: _plain(item) for name, item in value}
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return describe_estimator(value) if hasattr(value, "estimate") else str(value)


def takes(
    cls: type[Settings], *, positional: str = "measures"
) -> Callable[[Callable[..., Returned]], Callable[..., Returned]]:
    """Make a function's ``settings`` argument from its keyword arguments (decorator).

    The function is called with the fields of the class as keywords, or with ``settings``, an object of the
    class. Its signature has them, and its docstring in the place of ``{options}``. Arguments of its own come
    before fields of the same name.

    Parameters
    ----------
    cls : type
        A settings class.
    positional : str
        The field that may follow the function's positional arguments.
    """

    def decorate(function: Callable[..., Returned]) -> Callable[..., Returned]:
        own = dict(inspect.signature(function).parameters)
        settings_parameter = own.pop("settings")
        options = {name: entry for name, entry in options_of(cls).items() if name not in own}
        more = [p.name for p in own.values() if p.kind is p.VAR_KEYWORD]
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            *(p for p in own.values() if p.kind is p.POSITIONAL_OR_KEYWORD),
            *(
                inspect.Parameter(
                    name,
                    inspect.Parameter.POSITIONAL_OR_KEYWORD if name == positional else keyword,
                    default=inspect.Parameter.empty if default is ... else default,
                )
                for name, (_, default) in options.items()
            ),
            settings_parameter.replace(default=None),
            *(p for p in own.values() if p.kind in (keyword, p.VAR_KEYWORD)),
        ]
        signature = inspect.Signature(
            sorted(parameters, key=lambda p: p.kind),
            return_annotation=inspect.signature(function).return_annotation,
        )

        @functools.wraps(function)
        def with_settings(*args: Any, **keywords: Any) -> Returned:
            unknown = {} if more else {n: keywords.pop(n) for n in set(keywords) - set(signature.parameters)}
            arguments = signature.bind_partial(*args, **keywords).arguments
            given = {name: arguments.pop(name) for name in options if name in arguments} | unknown
            for name in more:
                arguments |= arguments.pop(name, {})
            settings = arguments.pop("settings", None)
            if settings is not None and given:
                raise InputError(f"{', '.join(given)} beside settings", hint="give one or the other")
            if settings is None:
                settings = cls.of(function=function.__name__, **given)
            return function(settings=settings, **arguments)

        with_settings.__signature__ = signature  # type: ignore[attr-defined]
        if function.__doc__ is not None:  # python -OO has none
            text = inspect.cleandoc(function.__doc__)
            with_settings.__doc__ = text.replace("{options}", _parameters(cls, options))
        return with_settings

    return decorate


def _parameters(cls: type, options: Mapping[str, tuple[Option, Any]]) -> str:
    """Return numpydoc parameter descriptions for options and their settings class."""
    lines = []
    for name, (spec, default) in options.items():
        ends = "" if default is ... else ", optional" if default is None else f", default {default!r}"
        lines.append(f"{name} : {spec.docstring_type or _type(spec)}{ends}".replace("'", '"'))
        lines += textwrap.wrap(
            f"{_in_python(spec.help)} {spec.details}", 106, initial_indent="    ", subsequent_indent="    "
        )
    return "\n".join([*lines, f"settings : {cls.__name__}, optional", "    In place of all these."])


def _in_python(help: str) -> str:
    """Return an option's help without words that apply only to the command line.

    Examples
    --------
    >>> _in_python("Comma-separated tests of a pair."), _in_python("Size of a set; may be repeated.")
    ('Tests of a pair.', 'Size of a set.')
    """
    text = help.replace("; may be repeated.", ".")
    listed = text.removeprefix("Comma-separated ")
    return text if listed == text else listed[0].upper() + listed[1:]


def _type(spec: Option) -> str:
    if spec.choices:
        item = f"{{{', '.join(repr(choice) for choice in spec.choices)}}}"
    else:
        item = "path" if spec.type is Path else str(spec.type.__name__)
    return f"sequence of {item}" if spec.multiple else item


SEED = Option(
    help="Random seed; the same inputs and seed give the same bytes.",
    least=0,
    flag="--seed",
    group="Sampling",
)
_sampling_option = functools.partial(option, group="Sampling")


@dataclass(frozen=True, kw_only=True)
class PosteriorSettings(Settings):
    """Settings of the posteriors among estimators."""

    posterior: Any = option(
        None,
        "Settings of the posteriors: 'draws=4000, engine=nuts, mu=Normal(-2,1)'.",
        group="Sampling",
        type=str,
        docstring_type="str or PosteriorEstimator",
    )

    def posterior_overrides(self) -> dict[str, Any]:
        """Return the given settings of posteriors, or raise `InputError` for a model among them."""
        from bayespool.posterior.estimator import shared_settings

        return shared_settings(self.posterior)

"""Options that commands and functions share, each described once in a settings class.

From its fields come a command's options, a docstring's parameters, stored settings, and tables of the
documentation.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from bayespool.errors import InputError, known_names

__all__ = [
    "CI_PROB",
    "ESTIMAND",
    "ESTIMATORS",
    "IDEAL",
    "MAX_FILE_SIZE",
    "MEASURES",
    "POOL_DEPTH",
    "SEED",
    "FilesSettings",
    "Option",
    "ReadingRunsSettings",
    "ReadingSettings",
    "SamplingSettings",
    "ScoringSettings",
    "Settings",
    "TargetSettings",
    "check_types",
    "describe_estimator",
    "documented",
    "name_in",
    "option",
    "options_of",
    "settings_in",
]


Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Option:
    """One option of a function and of a command.

    Attributes
    ----------
    help : str
        Description in a sentence or two, for commands, docstrings and tables.
    more : str
        Further details, for docstrings and tables only.
    of : type or Literal
        Type of one value.
    many : {"", "repeated", "listed"}
        Whether there may be several values: a repeated option of a command, or one text with commas.
    typed : str
        Type in a docstring, if ``of`` does not suffice.
    flag : str
        Names on the command line, if they are not the argument's: ``--seed``, ``--measure -m``.
    least, most, above, below : float, optional
        Bounds of a number, inclusive (the first two) or exclusive.
    of_parts : bool
        Whether changing it invalidates stored parts of an experiment, such as folds. Other options set the
        number of parts or what is reported of them.
    """

    help: str
    more: str = ""
    of: Any = str
    many: Literal["", "repeated", "listed"] = ""
    typed: str = ""
    flag: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    of_parts: bool = True

    @property
    def choices(self) -> tuple[Any, ...]:
        """Permitted values, empty unless ``of`` is a Literal."""
        return get_args(self.of) if get_origin(self.of) is Literal else ()

    def flags(self, name: str) -> list[str]:
        """Names on the command line."""
        return (self.flag or f"--{name.replace('_', '-')}").split()

    def check(self, name: str, value: Any) -> None:
        """Raise `InputError` for a value that is no choice or out of bounds; None always passes."""
        for item in value if self.many and isinstance(value, tuple) else (value,):
            if item is None:
                continue
            if self.choices and item not in self.choices:
                raise InputError(f"{name} cannot be {item!r}", hint=known_names(item, self.choices))
            if isinstance(item, int) and abs(item) > _MAX_INTEGER and not name.endswith("seed"):
                raise InputError(f"{name} cannot be {item!r}", hint=f"at most {_MAX_INTEGER:,}")
            if not all(inside(item) for _, inside in self._bounds()):
                hint = " and ".join(bound for bound, _ in self._bounds())
                raise InputError(f"{name} cannot be {item!r}", hint=hint)

    def _shown(self, bound: float) -> str:
        return f"{bound:,}" if self.of is int else f"{bound:g}"

    def _bounds(self) -> Iterator[tuple[str, Callable[[Any], bool]]]:
        if self.least is not None:
            yield f"at least {self._shown(self.least)}", lambda x: bool(x >= self.least)
        if self.above is not None:
            yield f"above {self._shown(self.above)}", lambda x: bool(x > self.above)
        if self.most is not None:
            yield f"at most {self._shown(self.most)}", lambda x: bool(x <= self.most)
        if self.below is not None:
            yield f"below {self._shown(self.below)}", lambda x: bool(x < self.below)


_MAX_INTEGER = 2**31 - 1  # of any option but a seed
_SAME_AS_DEFAULT: Any = object()


def option(default: Any, spec: Option, *, held: Any = _SAME_AS_DEFAULT) -> Any:
    """Make a field of a settings class.

    Parameters
    ----------
    default : object
        Default of function and command.
    spec : Option
    held : object, optional
        Default of the field, if it is something else; ``...`` for a field without a default, which is made
        from the argument.
    """
    metadata = {"option": spec, "default": default}
    if held is ...:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=default if held is _SAME_AS_DEFAULT else held, metadata=metadata)


def options_of(cls: type) -> dict[str, tuple[Option, Any]]:
    """Options of a settings class by name, each with the default of function and command.

    Options that most classes have come first and last.
    """
    places = {"measures": 0, "estimators": 1, "ci_prob": 3, "random_seed": 4}
    fields = sorted(dataclasses.fields(cls), key=lambda f: places.get(f.name, 2))
    return {f.name: (f.metadata["option"], f.metadata["default"]) for f in fields if "option" in f.metadata}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Base of the settings classes, which checks values on creation."""

    def __post_init__(self) -> None:
        for name, (spec, default) in options_of(type(self)).items():
            value = getattr(self, name)
            if value is None and default is not None:
                raise InputError(f"{name} cannot be None", hint="leave it out for its default")
            spec.check(name, value)


def describe_estimator(estimator: Any) -> dict[str, Any]:
    """Name and settings of an estimator, as JSON can hold them."""
    fields = getattr(estimator, "__dataclass_fields__", {})
    settings = {name: getattr(estimator, name) for name, f in fields.items() if f.compare}
    return {"name": estimator.name} | {
        name: dict(value) if isinstance(value, Mapping) else value for name, value in settings.items()
    }


def check_types(settings: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    """Refuse settings of the wrong type, read from a text such as ``rrf(k=60)``.

    Parameters
    ----------
    settings : mapping of str to object
    hints : mapping of str to type
        Type of each setting; settings without one are not checked.

    Raises
    ------
    ValueError
        A value is of another type.
    """
    numbers = {int: (int,), float: (int, float)}
    for name, value in settings.items():
        hint = hints.get(name)
        if hint in numbers and (not isinstance(value, numbers[hint]) or isinstance(value, bool)):
            raise ValueError(f"{name} must be {'a whole number' if hint is int else 'a number'}")
        if hint is bool and not isinstance(value, bool):
            raise ValueError(f"{name} must be True or False")
        if get_origin(hint) is Literal and value not in get_args(hint):
            raise ValueError(f"{name} must be one of {', '.join(map(repr, get_args(hint)))}")


def documented(cls: type) -> Callable[[Function], Function]:
    """Decorator that replaces ``{options}`` in a docstring by the options of a settings class."""

    def put(function: Function) -> Function:
        if function.__doc__ is not None:  # python -OO has none
            text = inspect.cleandoc(function.__doc__)
            function.__doc__ = text.replace("{options}", _parameters(cls))
        return function

    return put


def _parameters(cls: type) -> str:
    """Options as parameters of a numpydoc docstring."""
    lines = []
    for name, (spec, default) in options_of(cls).items():
        ends = ", optional" if default is None else f", default {default!r}"
        lines.append(f"{name} : {spec.typed or _type(spec)}{ends}".replace("'", '"'))
        lines += textwrap.wrap(
            f"{spec.help} {spec.more}", 106, initial_indent="    ", subsequent_indent="    "
        )
    return "\n".join(lines)


def _type(spec: Option) -> str:
    if spec.choices:
        item = f"{{{', '.join(repr(choice) for choice in spec.choices)}}}"
    else:
        item = "path" if spec.of is Path else str(spec.of.__name__)
    return f"sequence of {item}" if spec.many else item


MEASURES = Option(
    help="P@10, nDCG@10, P(rel=2)@10, AP@100, …; may be repeated.",
    many="repeated",
    typed="measure or iterable of measures",
    flag="--measure -m",
)
ESTIMATORS = Option(
    help="'default', 'all', or comma-separated names with settings in parentheses: "
    "background(e=0.05),posterior-smoothed.",
    more="In Python a name, a sequence of names and estimators, or a mapping of labels to them; ``default`` "
    "and ``all`` are `bayespool.scoring.DEFAULT_ESTIMATORS` and `bayespool.scoring.ALL_ESTIMATORS`.",
    many="listed",
    typed="str, Estimator, sequence or mapping of them",
)
POOL_DEPTH = Option(
    help="Re-pool to this depth first: judgments of documents that no pooled run has down to it go.",
    of=int,
    least=1,
)
ESTIMAND = Option(
    help="Whether unjudged documents below the pool depth are estimated (complete) or stay nonrelevant "
    "(pooled).",
    more="The two coincide down to the pool depth.",
    of=Literal["complete", "pooled"],
)
IDEAL = Option(
    help="Ideal ranking of nDCG, AP and R: of the judged documents and the completed ones in reach of the "
    "run itself (own), of any run scored (shared), or of the judged documents alone (judged).",
    more="It holds for measures whose text names no other, such as ``nDCG@10``.",
    of=Literal["own", "shared", "judged"],
)
CI_PROB = Option(
    help="Probability of the intervals.", more="They are equal-tailed.", of=float, above=0, below=1
)
SEED = Option(
    help="Random seed; the same inputs and seed give the same bytes.", of=int, least=0, flag="--seed"
)
MAX_FILE_SIZE = 512  # MiB: some ten million lines


@dataclass(frozen=True, kw_only=True)
class FilesSettings(Settings):
    """How files are read: options of every command that reads any."""

    organizations: str | Path | None = option(
        None, Option(help="Who submitted which run: CSV with run_id,organization, or XML.", of=Path)
    )
    order: Literal["score", "rank"] = option(
        "score",
        Option(help="trec_eval's order by score, or the ranks of the files.", of=Literal["score", "rank"]),
    )
    negative: Literal["listed", "unjudged", "nonrelevant"] = option(
        "listed",
        Option(
            help="Negative relevance: -1 in the pool and unjudged, less nonrelevant (listed); or all of it "
            "alike.",
            of=Literal["listed", "unjudged", "nonrelevant"],
        ),
    )
    run_id: Literal["file", "tag"] = option(
        "file", Option(help="Name runs by their files or by their tags.", of=Literal["file", "tag"])
    )
    strict: bool = option(
        True,
        Option(
            help="Skip unusable lines, and report them, instead of stopping.",
            of=bool,
            flag="--lenient",
        ),
    )
    max_file_size: int = option(
        MAX_FILE_SIZE,
        Option(
            help="Most MiB of text in one file, decompressed: what is larger is refused.", of=int, least=1
        ),
    )


@dataclass(frozen=True, kw_only=True)
class ReadingSettings(FilesSettings):
    """How files are read and the pool is found: arguments of `read_collection` and options of its
    commands.
    """

    judges: tuple[tuple[str, str], ...] | None = option(
        None,
        Option(
            help="Labels of a second judge, such as a language model, as qrels with any numbers: FILE or "
            "NAME=FILE; may be repeated. They are evidence, never judgments.",
            many="repeated",
            typed="path, sequence of paths, or mapping of str to path",
            flag="--judge",
        ),
    )
    known_depth: int | None = option(
        None, Option(help="Depth to which the pool was judged, if known; else discovered.", of=int, least=1)
    )
    max_holes: int | None = option(
        None,
        Option(
            help="Unjudged documents per topic that a pooled run may have; default: a twentieth of the "
            "depth.",
            of=int,
            least=0,
        ),
    )
    pooled_run_ids: tuple[str, ...] | None = option(
        None,
        Option(
            help="Comma-separated ids of the pooled runs, if known; else discovered.",
            many="listed",
            flag="--pooled-runs",
        ),
    )
    pool_rule: Literal["leading", "skipping"] = option(
        "leading",
        Option(
            help="How pooled runs are found; 'skipping' is the rule of 2015, for reproductions.",
            of=Literal["leading", "skipping"],
        ),
    )
    pool_strategy: str | None = option(
        None,
        Option(
            help="The strategy that made the pool, with settings in parentheses; else a depth is discovered.",
            typed="str or Strategy",
        ),
    )
    pool_budget: int | None = option(
        None,
        Option(help="Documents that the strategy of the pool judged, over all topics.", of=int, least=1),
    )
    pool_run_depth: int | None = option(
        None, Option(help="Ranks of a run that it judged at most; default: all.", of=int, least=1)
    )
    pool_shares: Literal["equal", "global"] = option(
        "equal", Option(help="How topics shared that budget.", of=Literal["equal", "global"])
    )
    pool_rel: int = option(
        1,
        Option(
            help="Smallest relevance that counted as relevant for the strategy, if it is adaptive.",
            of=int,
            least=1,
        ),
    )
    pool_seed: int = option(
        1, Option(help="Random seed of the strategy that made the pool.", of=int, least=0)
    )


@dataclass(frozen=True, kw_only=True)
class ReadingRunsSettings(ReadingSettings):
    """The same for commands that read runs to score beside the campaign's."""

    each_its_own: bool = option(
        False,
        Option(
            help="The runs to score are of an organization each, where the list does not name theirs; else "
            "they are of one, yours.",
            of=bool,
        ),
    )


@dataclass(frozen=True, kw_only=True)
class SamplingSettings(Settings):
    """Settings of posterior estimators, which functions pass on to the named ones."""

    priors: tuple[tuple[str, str], ...] | None = option(
        None,
        Option(
            help="Replace a prior: mu=Normal(-2,1); the model pages name them; may be repeated.",
            many="repeated",
            typed="mapping of str to str",
            flag="--prior",
        ),
    )
    engine: Literal["laplace", "nuts"] = option(
        "laplace",
        Option(help="Fast approximation, or the reference sampler.", of=Literal["laplace", "nuts"]),
    )
    draws: int = option(
        1000,
        Option(
            help="Posterior draws per chain; laplace draws that many times the chains.",
            of=int,
            least=1,
            most=10**7,
        ),
    )
    tune: int = option(1000, Option(help="Tuning draws per chain.", of=int, least=1, most=10**7))
    chains: int = option(4, Option(help="Chains.", of=int, least=1, most=1000))


@dataclass(frozen=True, kw_only=True)
class TargetSettings(Settings):
    """Runs and pool to estimate, estimand and seed."""

    unpool: tuple[str, ...] = option(
        None,
        Option(
            help="A run of the campaign, or an organization, to score as if it were new: it leaves the pool; "
            "may be repeated.",
            more="A run leaves with all runs of its organization, and it alone is scored. Of an organization "
            "all runs are scored.",
            many="repeated",
        ),
        held=(),
    )
    unpool_by: Literal["organization", "run"] = option(
        "organization",
        Option(
            help="What leaves the pool with a run that is named: its organization, or nothing.",
            of=Literal["organization", "run"],
        ),
    )
    pool_depth: int | None = option(None, POOL_DEPTH)
    estimand: Literal["complete", "pooled"] = option("complete", ESTIMAND)
    random_seed: int = option(1, SEED)


@dataclass(frozen=True, kw_only=True)
class ScoringSettings(TargetSettings):
    """Common settings of `score` and `compare` beside measures and estimators."""

    ideal: Literal["own", "shared", "judged"] | None = option("own", IDEAL)
    ci_prob: float = option(0.95, CI_PROB)


def name_in(text: str) -> str:
    """Name at the beginning of a text.

    Examples
    --------
    >>> name_in(" rrf(k=60)")
    'rrf'
    """
    return text.partition("(")[0].strip()


def settings_in(
    text: str, kind: str, make: type[Any], *, fixed: Collection[str] = frozenset()
) -> dict[str, Any]:
    """Parse the settings in a text.

    Parameters
    ----------
    text : str
        ``name``, or ``name(setting=value, …)`` with numbers, quoted texts, tuples, True or False as values.
    kind : str
        What the name is of, in messages: ``"strategy"``.
    make : type
        Its class, whose arguments the settings are.
    fixed : collection of str
        Arguments that the text may not set.

    Raises
    ------
    InputError
        The text has another form, an unknown setting, or a value that cannot be read or has another type.

    Examples
    --------
    >>> from bayespool.pooling import RRF
    >>> settings_in("rrf(k=60)", "strategy", RRF)
    {'k': 60}
    >>> settings_in("rrf(q=60)", "strategy", RRF)
    Traceback (most recent call last):
        ...
    bayespool.errors.InputError: strategy 'rrf(q=60)': there is no setting 'q'; rrf has k
    """
    name, (_, opened, rest) = name_in(text), text.strip().partition("(")
    if not opened:
        return {}
    subject, known = f"{kind} {text!r}", _arguments(make)
    form = f"write {name}({_example(make, fixed)})"
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
    except SyntaxError:
        problem = "cannot be read" if rest.endswith(")") else "the parenthesis is not closed"
        raise InputError(f"{subject}: {problem}", hint=form) from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise InputError(f"{subject}: write settings as name=value", hint=form)
    settings = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise InputError(f"{subject}: write settings as name=value", hint=form)
        if keyword.arg in fixed or (known is not None and keyword.arg not in known):
            has = [argument for argument in known or () if argument not in fixed] or ["none"]
            raise InputError(
                f"{subject}: there is no setting {keyword.arg!r}",
                hint=known_names(keyword.arg, has, before=f"{name} has "),
            )
        try:
            settings[keyword.arg] = ast.literal_eval(keyword.value)
        except ValueError:
            raise InputError(
                f"{subject}: {keyword.arg} cannot be {ast.unparse(keyword.value)}",
                hint="write a number, a text in quotes, True or False",
            ) from None
    try:
        check_types(settings, _hints(make))
    except ValueError as error:
        raise InputError(f"{subject}: {error}") from None
    return settings


def _arguments(make: type[Any]) -> tuple[str, ...] | None:
    """Names of the arguments of a class; None if it accepts any."""
    parameters = inspect.signature(make).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return tuple(parameter.name for parameter in parameters)


def _example(make: type[Any], fixed: Collection[str]) -> str:
    """A setting of a class with its default, as written in a text."""
    for parameter in inspect.signature(make).parameters.values():
        if parameter.name not in fixed and isinstance(parameter.default, int | float | str | tuple):
            return f"{parameter.name}={parameter.default!r}"
    return "setting=value"


def _hints(make: type[Any]) -> dict[str, Any]:
    try:
        return get_type_hints(make)
    except NameError:  # a user's own class whose annotations are only for readers
        return {}

"""Registry of estimators by name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from bayespool.corrections.base import PointCorrection
from bayespool.errors import InputError, known_names
from bayespool.measures import Estimator
from bayespool.names import DEFAULT_ESTIMATORS, description_of, leading_name, settings_in, split_effects
from bayespool.tables.citations import citation_names

Kind = Literal["point", "posterior"]
Class = TypeVar("Class", bound=type)

_LISTS = ("all", "default", "pairs")  # each is several estimators


@dataclass(frozen=True, kw_only=True)
class EstimatorEntry:
    """Registered estimator with its metadata.

    Attributes
    ----------
    name : str
    make : type
        Class of the estimator.
    description : str
        One line on what it does.
    label : str
        Heading of a narrow column; may have two lines.
    source : str
        Author, year and equation; empty for what is the package's own.
    citations : tuple of str
        Keys of `bayespool.tables.CITATIONS`: what to cite.
    kind : {"point", "posterior"}
    default : bool
        Whether it is used by default.
    fixed : mapping of str to object
        Settings that the name implies.
    needs_sample : bool
        Whether it needs a pool that is a random sample. ``"all"`` leaves it out.
    needs_judge : bool
        Whether it needs labels of an LLM judge. ``"all"`` leaves it out.
    remedy : str
        Where the settings without a default come from, for the message where they are missing.
    """

    name: str
    make: type[Any]
    description: str
    label: str
    source: str = ""
    citations: tuple[str, ...] = ()
    kind: Kind = "point"
    default: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)
    needs_sample: bool = False
    needs_judge: bool = False
    remedy: str = ""

    def __call__(self, effects: str = "", **settings: Any) -> Estimator:
        """Create the estimator with the given settings, and with effects added to its model."""
        fixed = dict(self.fixed)
        if effects and "model" not in fixed:
            hint = "posteriors of a model do, such as posterior-ratio"
            raise InputError(f"{self.name} takes no effects, and {effects!r} is added to it", hint=hint)
        if effects:
            fixed["model"] = f"{fixed['model']} + {effects}"
        estimator: Estimator = self.make(**fixed, **settings)
        if leading_name(estimator.name) != self.name:
            raise ValueError(f"registered as {self.name}, it calls itself {estimator.name}")
        return estimator

    @property
    def required(self) -> tuple[str, ...]:
        """Names of settings without a default."""
        parameters = inspect.signature(self.make).parameters.values()
        return tuple(
            p.name
            for p in parameters
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
            and p.default is p.empty
            and p.name not in self.fixed
        )


ESTIMATORS: dict[str, EstimatorEntry] = {}
"""Registered estimators by name, complete once `bayespool.scoring.estimators` is imported.

All are registered once `bayespool.scoring.estimators` is imported.
"""


def register_estimator(
    name: str,
    *,
    description: str | None = None,
    label: str | None = None,
    source: str | None = None,
    citations: tuple[str, ...] = (),
    kind: Kind = "point",
    default: bool = False,
    fixed: Mapping[str, Any] | None = None,
    needs_sample: bool = False,
    needs_judge: bool = False,
    remedy: str = "",
) -> Callable[[Class], Class]:
    """Return a class decorator that registers an estimator under a name.

    Parameters
    ----------
    name : str
        Lower-case letters, digits and hyphens; equal to the estimator's ``name``.
    description, label, source, citations, kind, default, fixed, needs_sample, needs_judge, remedy
        See `EstimatorEntry`. The default label is the name, the default source the short names of citations.
        Many of the package's own have their descriptions, and are marked as default, in `bayespool.names`.

    Returns
    -------
    callable
        Returns the class unchanged.

    Raises
    ------
    InputError
        An unknown citation; an invalid name, or one that another class has. ``del ESTIMATORS[name]`` frees
        it; a class that is defined again, as in a notebook, replaces itself.
    """

    def register(cls: Class) -> Class:
        names = citation_names(citations)
        entry = EstimatorEntry(
            name=name,
            make=cls,
            description=description_of(name, description),
            label=name if label is None else label,
            source=names if source is None else source,
            citations=tuple(citations),
            kind=kind,
            default=default or name in DEFAULT_ESTIMATORS,
            fixed=dict(fixed or {}),
            needs_sample=needs_sample,
            needs_judge=needs_judge,
            remedy=remedy,
        )
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or name in _LISTS:
            raise InputError(
                f"no estimator can be called {name!r}",
                hint="lower-case letters, digits and hyphens between them; not 'all', 'default' or 'pairs'",
            )
        registered = ESTIMATORS.get(name)
        if registered is not None and (_identity(registered) != _identity(entry)):
            raise InputError(f"there is an estimator {name!r} already", hint="give it another name")
        ESTIMATORS[name] = entry
        if issubclass(cls, PointCorrection) and not cls.registered_name:
            cls.registered_name = name
        return cls

    return register


def estimator_from_text(text: str, **settings: Any) -> Estimator:
    """Create an estimator from its registered name, with settings in parentheses.

    Other ``settings`` are defaults, as far as the estimator has them, and its base estimator if it has one.

    Raises
    ------
    InputError
        Unknown name or setting, or none where one is needed.

    Examples
    --------
    >>> estimator_from_text("background(e=0.05)")
    Background(estimand='complete', fit='none', e=0.05)
    """
    name, (named, effects) = leading_name(text), split_effects(text)
    if name not in ESTIMATORS:
        points_first = sorted(ESTIMATORS, key=lambda known: ESTIMATORS[known].kind == "posterior")
        of_model = "posterior-combined" if name == "posterior" else f"posterior-{name.replace('_', '-')}"
        meant = of_model if of_model in ESTIMATORS else name
        raise InputError(f"no estimator {name!r}", hint=known_names(meant, points_first))
    entry = ESTIMATORS[name]
    text_settings = settings_in(named, "estimator", entry.make, fixed=entry.fixed)
    if isinstance(text_settings.get("base"), str):
        base_settings = {setting: value for setting, value in settings.items() if setting != "priors"}
        text_settings["base"] = estimator_from_text(text_settings["base"], **base_settings)
    fields = getattr(entry.make, "__dataclass_fields__", {})
    inherited = {k: v for k, v in settings.items() if k in fields and k not in entry.fixed}
    merged = inherited | text_settings
    if missing := [setting for setting in entry.required if setting not in merged]:
        raise InputError(f"estimator {text!r} needs {' and '.join(missing)}", hint=entry.remedy or None)
    try:
        return entry(effects, **merged)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(f"estimator {text!r}: {error}") from error


def _identity(entry: EstimatorEntry) -> tuple[str, str, Mapping[str, Any]]:
    return entry.make.__module__, entry.make.__qualname__, entry.fixed

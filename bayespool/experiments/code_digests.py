"""Digests of the user's own estimators, which keep stored work of one from being taken for another's."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import reprlib
from collections.abc import Callable, Iterable, Iterator
from types import CodeType, FunctionType, MemberDescriptorType
from typing import Any

from bayespool.evidence import PREDICTORS, Predictor
from bayespool.inference import ENGINES
from bayespool.measures import Estimator, Measure
from bayespool.models import own_models

_PLAIN_TYPES = (str, bytes, int, float, bool, type(None))
_FILES_OF_GENERATED_METHODS = (
    "<string>",
    dataclasses.__file__,
    reprlib.__file__,
)  # where dataclass() takes its methods from
_CLASS_CELL = "__class__"  # the closure of super()


class _NotComparable(Exception):
    """An object whose code cannot be compared."""


def own_estimators(
    estimators: Iterable[tuple[str, Estimator]], measures: Iterable[Measure] = ()
) -> dict[str, Any]:
    """Digests of the code of estimators, measures, engines, predictors and models that are not the package's,
    by kind and label; empty without any. Only dataclasses of plain values compare equal, by their methods and
    class attributes (fields are described as settings); code called outside the class is not compared.
    """
    by_kind: dict[str, Any] = {}
    estimators = tuple(estimators)
    classes: list[tuple[str, str, type]] = [
        ("estimators", label, type(estimator)) for label, estimator in estimators
    ]
    classes += [("measures", str(measure), type(measure)) for measure in measures]
    engines = [getattr(estimator, "engine", None) for _, estimator in estimators]
    classes += [("engines", name, engine) for name, engine in ENGINES.items() if name in engines]
    for kind, label, cls in classes:
        if _is_built_in(cls):
            continue
        try:
            if "__dataclass_fields__" not in vars(cls):
                raise _NotComparable
            digests = [_digest(c) for c in cls.__mro__ if not _is_built_in(c) and c.__module__ != "builtins"]
            by_kind.setdefault(f"own {kind}", {})[label] = digests
        except _NotComparable:
            by_kind.setdefault(f"own {kind} that are not plain dataclasses", {})[label] = os.urandom(8).hex()
    if own := [predictor for predictor in PREDICTORS.values() if not _is_built_in(predictor.compute)]:
        by_kind["own predictors"] = {predictor.name: _digest_predictor(predictor) for predictor in own}
    used = {getattr(estimator, "model", None) for _, estimator in estimators}
    if models := {name: spec for name, spec in own_models().items() if name in used}:
        by_kind["own models"] = {name: _hash(repr(spec)) for name, spec in models.items()}
    return by_kind


def _digest_predictor(predictor: Predictor) -> str:
    try:
        code = _value(predictor.compute)
    except _NotComparable:
        return os.urandom(8).hex()
    described = repr([predictor.per, predictor.slope, code])
    return _hash(described)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _is_built_in(defined: type | Callable[..., Any]) -> bool:
    return str(getattr(defined, "__module__", "")).partition(".")[0] == "bayespool"


def _digest(cls: type) -> str:
    parts = [f"{name}={part}" for name, member in sorted(vars(cls).items()) for part in _parts(name, member)]
    return f"{cls.__qualname__} {_hash(chr(10).join(parts))}"


def _parts(name: str, member: Any) -> Iterator[str]:
    """A member of a class as text; nothing for members that Python adds."""
    dunder = name.startswith("__") and name.endswith("__")
    if isinstance(member, staticmethod | classmethod):
        member = member.__func__
    if isinstance(member, property):
        for function in (member.fget, member.fset, member.fdel):
            yield from [] if function is None else _parts(name, function)
    elif isinstance(member, functools.cached_property):
        yield from _parts(name, member.func)
    elif isinstance(member, FunctionType):
        if not (dunder and member.__code__.co_filename in _FILES_OF_GENERATED_METHODS):
            yield _function(member)
    elif not dunder and name != "_abc_impl" and not isinstance(member, MemberDescriptorType):
        yield _plain(member)


def _function(function: FunctionType) -> str:
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    held = [_value(cell.cell_contents) for name, cell in cells if name != _CLASS_CELL]
    defaults = [_value(x) for x in function.__defaults__ or ()]
    named = [f"{name}={_value(x)}" for name, x in sorted((function.__kwdefaults__ or {}).items())]
    return repr([_code(function.__code__), held, defaults, named])


def _value(value: Any) -> str:
    return _function(value) if isinstance(value, FunctionType) else _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return repr([_plain(x) for x in value])
    if not isinstance(value, _PLAIN_TYPES):
        raise _NotComparable
    return repr(value)


def _code(code: CodeType) -> str:
    constants = [
        _code(x) if isinstance(x, CodeType) else repr(sorted(map(repr, x)) if isinstance(x, frozenset) else x)
        for x in code.co_consts
    ]
    return repr([code.co_code.hex(), code.co_names, code.co_varnames, constants])

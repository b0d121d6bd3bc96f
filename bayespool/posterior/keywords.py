"""Typed keyword arguments of functions that pass settings on to posterior estimators."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypedDict

from bayespool.errors import InputError, did_you_mean
from bayespool.evidence import Estimand


class EngineOptions(TypedDict, total=False):
    """Settings of `bayespool.posterior.PosteriorEstimator` that every function passes on."""

    engine: str
    priors: Mapping[str, str]
    tune: int
    chains: int
    target_accept: float
    shift: float


class ExperimentOptions(EngineOptions, total=False):
    """Settings that `bayespool.leave_out` and other experiments pass on; ``progress`` is their own."""

    draws: int
    joint: bool


class ImputeOptions(EngineOptions, total=False):
    """Settings that `bayespool.impute` passes on; ``draws`` is its own."""

    progress: bool


class CompareOptions(ImputeOptions, total=False):
    """Settings that `bayespool.compare` passes on; ``joint`` is its own."""

    draws: int


class PosteriorOptions(CompareOptions, total=False):
    """Settings that `bayespool.score` and others pass on to the named estimators that have them."""

    joint: bool
    together: bool


class JudgesOptions(PosteriorOptions, total=False):
    """Settings that `bayespool.check_judges` passes on to its one posterior."""

    model: str


class FoundOptions(JudgesOptions, total=False):
    """Settings that `bayespool.experiments.check_found` passes on."""

    estimand: Estimand


class CompletionOptions(FoundOptions, total=False):
    """All settings, which `bayespool.complete` passes on."""

    random_seed: int


def refuse_unknown_settings(
    given: Iterable[str], known: Collection[str], *, of: str = "estimators", more: Mapping[str, Iterable[str]]
) -> None:
    """Refuse settings that no estimator has, with a suggestion; ``more`` has the calling function's own
    arguments.

    Examples
    --------
    >>> refuse_unknown_settings({"tun": 3}, ["tune"], of="all", more={"f": ["n"]})
    Traceback (most recent call last):
        ...
    bayespool.errors.InputError: unknown settings ['tun']; did you mean 'tune'? f has n; all have tune
    """
    unknown = sorted(set(given) - set(known))
    if not unknown:
        return
    own = [name for names in more.values() for name in names]
    suggestion = did_you_mean(unknown[0], [*known, *own])
    has = [f"{function} has {', '.join(names)}" for function, names in more.items()]
    hint = "; ".join([*has, f"{of} have {', '.join(sorted(known))}"])
    raise InputError(f"unknown settings {unknown}", hint=f"{suggestion} {hint}".lstrip())

"""Settings of posterior estimators as keyword arguments of functions, with their types, so that editors and
type checkers know them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypedDict

from bayespool.errors import InputError, did_you_mean
from bayespool.evidence import Estimand


class EngineOptions(TypedDict, total=False):
    """Settings of `bayespool.posterior.PosteriorEstimator` that every function hands on to it."""

    engine: str
    priors: Mapping[str, str]
    tune: int
    chains: int
    target_accept: float
    shift: float


class ExperimentOptions(EngineOptions, total=False):
    """Those that `bayespool.leave_out` and other experiments hand on, with their own ``progress``."""

    draws: int
    joint: bool


class ImputeOptions(EngineOptions, total=False):
    """Those that `bayespool.impute` hands on, which has ``draws`` of its own."""

    progress: bool


class CompareOptions(ImputeOptions, total=False):
    """Those that `bayespool.compare` hands on, which has ``joint`` of its own."""

    draws: int


class PosteriorOptions(CompareOptions, total=False):
    """Those that functions hand on to the named estimators that have them: `bayespool.score` and others."""

    joint: bool
    together: bool


class JudgesOptions(PosteriorOptions, total=False):
    """Those of `bayespool.check_judges`, which asks one posterior."""

    model: str


class FoundOptions(JudgesOptions, total=False):
    """Those of `bayespool.experiments.check_found`."""

    estimand: Estimand


class CompletionOptions(FoundOptions, total=False):
    """Those of `bayespool.complete`: all that there are."""

    random_seed: int


def refuse_unknown_settings(
    given: Iterable[str], known: Collection[str], *, of: str = "estimators", more: Mapping[str, Iterable[str]]
) -> None:
    """Refuse settings that no estimator has, and say which was probably meant.

    Parameters
    ----------
    given : iterable of str
        Names of settings.
    known : collection of str
        Those that there are.
    of : str
        Whose they are, in the plural.
    more : mapping of str to iterable of str
        The function that was called, and its own arguments.

    Raises
    ------
    InputError

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
    asked = did_you_mean(unknown[0], [*known, *own])
    has = [f"{function} has {', '.join(names)}" for function, names in more.items()]
    hint = "; ".join([*has, f"{of} have {', '.join(sorted(known))}"])
    raise InputError(f"unknown settings {unknown}", hint=f"{asked} {hint}".lstrip())

"""Completion of option values in the shell, without heavy imports."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bayespool.cli.names import MEASURES, MODELS, estimators, strategies

Offer = Callable[[str], list[str]]


def completion_of(option: str) -> Offer | None:
    """Completion of the option of this Python name; None without one.

    Examples
    --------
    >>> completion_of("estimators")("background,posterior-r")
    ['background,posterior-ratio']
    """
    return _OFFERS.get(option)


def _one_of(names: Callable[[], Iterable[str]]) -> Offer:
    def offer(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return offer


def _some_of(names: Callable[[], Iterable[str]]) -> Offer:
    """Completion of the last of several names with commas between."""

    def offer(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        taken = before.split(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last) and name not in taken]

    return offer


_OFFERS: dict[str, Offer] = {
    "measures": _one_of(lambda: MEASURES),
    "estimators": _some_of(lambda: ["default", "all", *(choice.name for choice in estimators())]),
    "estimator": _one_of(lambda: [choice.name for choice in estimators() if choice.kind == "posterior"]),
    "models": _some_of(lambda: MODELS),
    "strategy": _one_of(lambda: [choice.name for choice in strategies()]),
    "strategies": _some_of(lambda: ["paper", "all", *(choice.name for choice in strategies())]),
    "pool_strategy": _one_of(lambda: [choice.name for choice in strategies()]),
}

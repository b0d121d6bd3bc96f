"""What the shell offers for the values of options, without loading what would keep it waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bayespool.cli.names import MEASURES, MODELS, estimators, strategies

Offer = Callable[[str], list[str]]


def completion_of(option: str) -> Offer | None:
    """What completes the value of an option that has this Python name; None where nothing does.

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
    """Names with commas between: what is typed before the last comma stays."""

    def offer(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        taken = before.split(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last) and name not in taken]

    return offer


_OFFERS: dict[str, Offer] = {
    "measures": _one_of(lambda: MEASURES),
    "estimators": _some_of(lambda: ["default", "all", *(one.name for one in estimators())]),
    "estimator": _one_of(lambda: [one.name for one in estimators() if one.kind == "posterior"]),
    "models": _some_of(lambda: MODELS),
    "strategy": _one_of(lambda: [one.name for one in strategies()]),
    "strategies": _some_of(lambda: ["paper", "all", *(one.name for one in strategies())]),
    "pool_strategy": _one_of(lambda: [one.name for one in strategies()]),
}

"""Names that the shell completes and the help lists, without heavy imports."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from bayespool import names


def estimators(kind: str) -> Mapping[str, str]:
    """Descriptions by name of estimators of a kind, "point" or "posterior"; registered ones once loaded."""
    if "bayespool.scoring.estimators" not in sys.modules:
        return names.POINT_ESTIMATORS if kind == "point" else names.POSTERIOR_ESTIMATORS
    from bayespool.scoring import ESTIMATOR_NAMES, ESTIMATORS

    return {name: ESTIMATORS[name].description for name in ESTIMATOR_NAMES if ESTIMATORS[name].kind == kind}


def strategies() -> Mapping[str, str]:
    """Descriptions of strategies by name; registered ones once they are loaded."""
    if "bayespool.pooling" not in sys.modules:
        return names.STRATEGIES
    from bayespool.pooling import STRATEGIES

    return {name: entry.description for name, entry in STRATEGIES.items()}


_NAMES: dict[str, Callable[[], list[str]]] = {
    "measures": lambda: list(names.MEASURES),
    "estimators": lambda: ["default", "all", "pairs", *estimators("point"), *estimators("posterior")],
    "posteriors": lambda: list(estimators("posterior")),
    "models": lambda: list(names.MODELS),
    "strategy": lambda: list(strategies()),
    "strategies": lambda: ["paper", "all", *strategies()],
}


def offered(kind: str, typed: str) -> list[str]:
    """Texts that the shell offers for the last of several names with commas between.

    Examples
    --------
    >>> offered("estimators", "background,posterior-rat")
    ['background,posterior-ratio']
    """
    before, comma, last = typed.rpartition(",")
    taken = before.split(",")
    return [
        f"{before}{comma}{name}"
        for name in _NAMES.get(kind, list)()
        if name.startswith(last) and name not in taken
    ]

"""Package-wide defaults, as matplotlib and ArviZ have them."""

from __future__ import annotations

import contextlib
from collections import UserDict
from collections.abc import Iterator, Mapping
from typing import Any

from bayespool.errors import InputError, known_names
from bayespool.validation import check_number

__all__ = ["RcParams", "fill_ci_prob", "rcParams", "rc_context"]


_PACKAGE_DEFAULTS: dict[str, Any] = {"ci_prob": 0.95, "decimals": 4, "figure_width": 0.0}
_BOUNDS: dict[str, dict[str, float]] = {
    "ci_prob": {"above": 0, "below": 1},
    "decimals": {"least": 0, "most": 9},
    "figure_width": {"least": 2, "most": 20},
}
_FIGURE_WIDTHS = {"own": 0.0, "column": 3.3, "page": 6.9}  # inches


class RcParams(UserDict[str, Any]):
    """Default values by name, checked when they are set: ``rcParams["ci_prob"] = 0.9``.

    ``ci_prob`` (0.95) is the probability of intervals where a function is given none; ``decimals`` (4) are
    those of scores and differences in tables; ``figure_width`` ("own") is that of figures, in inches,
    "column" (3.3) or "page" (6.9) of a journal. An unknown name or a bad value is an `InputError`.
    """

    def __missing__(self, name: str) -> Any:
        raise InputError(f"no default {name!r}", hint=known_names(name, _PACKAGE_DEFAULTS))

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in _PACKAGE_DEFAULTS:
            self.__missing__(name)
        if value is None:
            raise InputError(f"{name} cannot be None", hint="a number")
        if name == "figure_width" and isinstance(value, str):
            if value not in _FIGURE_WIDTHS:
                raise InputError(
                    f"{name} cannot be {value!r}", hint=f"inches, or {', '.join(_FIGURE_WIDTHS)}"
                )
            value = _FIGURE_WIDTHS[value]
        if value != _PACKAGE_DEFAULTS[name]:
            check_number(name, value, whole=name == "decimals", **_BOUNDS[name])
        super().__setitem__(name, type(_PACKAGE_DEFAULTS[name])(value))

    def __repr__(self) -> str:
        return f"RcParams({self.data})"


rcParams = RcParams(_PACKAGE_DEFAULTS)
"""The package's defaults."""


@contextlib.contextmanager
def rc_context(values: Mapping[str, Any]) -> Iterator[None]:
    """Set defaults inside a ``with`` block.

    Parameters
    ----------
    values : mapping of str to object
        Values by name, as in `RcParams`.

    Raises
    ------
    InputError
        An unknown name, or a bad value.

    Examples
    --------
    >>> from bayespool import load_example, rc_context, score
    >>> scores = score(load_example(), "new-a", "P@10", estimators="background")
    >>> with rc_context({"decimals": 2}):
    ...     print(scores.summary().table.splitlines()[-3])
     new-a    0.59   0.59   0.69   9.0 %    0.60
    """
    before = dict(rcParams)
    try:
        rcParams.update(values)
        yield
    finally:
        rcParams.update(before)


def fill_ci_prob(given: float | None) -> float:
    """Return the given probability of intervals, or the default of the package.

    Examples
    --------
    >>> fill_ci_prob(0.5), fill_ci_prob(None)
    (0.5, 0.95)
    """
    ci_prob: float = rcParams["ci_prob"] if given is None else given
    check_number("ci_prob", ci_prob, above=0, below=1)
    return ci_prob

"""Package-wide defaults, as matplotlib and ArviZ have them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from bayespool.errors import InputError, known_names
from bayespool.validation import check_number

__all__ = ["RcParams", "fill_ci_prob", "rcParams", "rc_context"]


class RcParams(Mapping[str, Any]):
    """Default values by name, checked when they are set: ``rcParams["ci_prob"] = 0.9``.

    ``ci_prob`` (0.95) is the probability of intervals where a function is given none; ``decimals`` (4) are
    those of scores and differences in tables. An unknown name or a bad value is an `InputError`.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {"ci_prob": 0.95, "decimals": 4}

    def __getitem__(self, name: str) -> Any:
        self._check_name(name)
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def update(self, values: Mapping[str, Any]) -> None:
        """Set several defaults, or none if one is wrong."""
        for name, value in values.items():
            self._check_name(name)
            if value is None:
                raise InputError(f"{name} cannot be None", hint="a number")
            bounds = {"above": 0, "below": 1} if name == "ci_prob" else {"least": 0, "most": 9}
            check_number(name, value, whole=name == "decimals", **bounds)
        self._values |= {name: type(self._values[name])(value) for name, value in values.items()}

    def _check_name(self, name: str) -> None:
        if name not in self._values:
            raise InputError(f"no default {name!r}", hint=known_names(name, self._values))

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"RcParams({self._values})"


rcParams = RcParams()
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
     new-a   0.59   0.69    0.09   9.0 %    0.60
    """
    before = dict(rcParams)
    rcParams.update(values)
    try:
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

"""Warnings that point at the line of whoever called the package, however deep inside they come up."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_caller"]

_PASSED_OVER = {"bayespool", "concurrent", "contextlib", "functools", "joblib"}
"""Packages whose frames are no caller's: ours, and those that call our functions for us."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Give a warning at the first line outside the package, going out from here.

    Parameters
    ----------
    message : str
    category : type
        Out of `bayespool.errors`, as a rule.

    Warns
    -----
    Warning
        The one given. Its ``filename`` and ``lineno`` are those of the call of a public function, in a
        script, a notebook or a test. An estimator of the user's own that calls the package is such a caller.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _name(frame.f_globals).split(".")[0] in _PASSED_OVER:
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=_name(frame.f_globals),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _name(names: dict[str, object]) -> str:
    """Name of the module that a frame runs in; functions that a dataclass is given have its module's."""
    return str(names.get("__name__") or "")

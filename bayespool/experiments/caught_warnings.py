"""Warnings raised in the parts of an experiment: stored with each part and issued once."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import bayespool.errors
from bayespool.errors import BayespoolWarning, CacheWarning, warn_caller

CaughtWarnings = tuple[tuple[str, str], ...]
"""Class and text of each warning of a part."""


def own_warnings(caught: Sequence[warnings.WarningMessage]) -> CaughtWarnings:
    """Class and text of bayespool's own warnings, each once; all others, and those about this machine's
    cache, are issued again.
    """
    ours: dict[tuple[str, str], None] = {}
    for message in caught:
        if issubclass(message.category, BayespoolWarning) and message.category is not CacheWarning:
            ours[message.category.__name__, str(message.message)] = None
        else:
            warnings.warn_explicit(message.message, message.category, message.filename, message.lineno)
    return tuple(ours)


def warn_once(warnings_of_parts: Sequence[CaughtWarnings], parts: str) -> None:
    """Issue the warnings of all parts, one for those that differ in numbers only; `parts` is the plural that
    the text names ("folds").
    """
    texts: dict[tuple[str, str], dict[str, None]] = {}
    n_parts: dict[tuple[str, str], int] = {}
    for of_part in warnings_of_parts:
        kinds = [(name, re.sub(r"\d+", "0", text)) for name, text in of_part]
        for kind, (_, text) in zip(kinds, of_part, strict=True):
            texts.setdefault(kind, {})[text] = None
        for kind in dict.fromkeys(kinds):
            n_parts[kind] = n_parts.get(kind, 0) + 1
    for kind, of_kind in texts.items():
        more = " and the like" if len(of_kind) > 1 else ""
        text = f"in {n_parts[kind]} of {len(warnings_of_parts)} {parts}: {next(iter(of_kind))}{more}"
        category = getattr(bayespool.errors, kind[0], BayespoolWarning)
        warn_caller(text, category)

"""Evaluation measures as values with a canonical text, in the dialect of ir_measures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bayespool.errors import InputError

__all__ = ["Precision", "parse_measure", "parse_measures"]

_PRECISION = re.compile(r"P(?:\(rel=(?P<rel>\d+)\))?@(?P<cutoff>\d+)|P_(?P<trec>\d+)")


@dataclass(frozen=True, slots=True, order=True)
class Precision:
    """Precision at a cutoff, P@n.

    Parameters
    ----------
    cutoff : int
        The n of P@n, at least 1; always the denominator, however short the run.
    rel : int, default 1
        The smallest relevance that counts as relevant, at least 1.

    Examples
    --------
    >>> str(Precision(10)), str(Precision(10, rel=2))
    ('P@10', 'P(rel=2)@10')
    """

    cutoff: int
    rel: int = 1

    def __post_init__(self) -> None:
        if self.cutoff < 1 or self.rel < 1:
            raise InputError(f"P(rel={self.rel})@{self.cutoff}: cutoff and rel must be at least 1")

    def __str__(self) -> str:
        return f"P@{self.cutoff}" if self.rel == 1 else f"P(rel={self.rel})@{self.cutoff}"


def parse_measure(measure: object) -> Precision:
    """The measure that a text, an ir_measures object or a `Precision` stands for.

    Parameters
    ----------
    measure : object
        A `Precision`, or anything whose ``str`` reads ``P@10``, ``P(rel=2)@10`` or, as trec_eval prints it,
        ``P_10``.

    Returns
    -------
    Precision

    Raises
    ------
    InputError
        The text names no measure that bayespool estimates.

    Examples
    --------
    >>> parse_measure("P(rel=2)@10")
    Precision(cutoff=10, rel=2)
    """
    if isinstance(measure, Precision):
        return measure
    found = _PRECISION.fullmatch(str(measure).strip().replace(" ", ""))
    if found is None:
        raise InputError(f"unknown measure {str(measure)!r}", hint="write P@10 or P(rel=2)@10")
    return Precision(int(found["cutoff"] or found["trec"]), int(found["rel"] or 1))


def parse_measures(measures: object) -> tuple[Precision, ...]:
    """The distinct measures of one measure or an iterable of them, in the order given."""
    given = measures if isinstance(measures, Iterable) and not isinstance(measures, str) else [measures]
    parsed = tuple(dict.fromkeys(parse_measure(m) for m in given))
    if not parsed:
        raise InputError("no measure given", hint="for example P@10")
    return parsed

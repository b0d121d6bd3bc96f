"""Numbers as text for tables."""

from __future__ import annotations


def number(x: float, digits: int = 4) -> str:
    """A number with fixed decimals, such as ``0.1235``; a dash for NaN."""
    return "–" if x != x else f"{x:.{digits}f}"


def p_value(p: float) -> str:
    """A p-value to four decimals, at least ``< 0.0001``; a dash for NaN."""
    return "< 0.0001" if p < 0.00005 else number(p)


def percent(x: float) -> str:
    """A share as a percentage, such as ``50.0 %``; a dash for NaN."""
    return "–" if x != x else f"{100 * x:.1f} %"


def difference(x: float, digits: int = 4) -> str:
    """A number with its sign, such as ``+0.5000``; a dash for NaN."""
    return "–" if x != x else f"{x:+.{digits}f}"


def spread(lower: float, upper: float, *, signed: bool = False) -> str:
    """An interval, such as ``0.5000–0.7500`` or, with signs, ``-0.2500 … +0.5000``; a dash for NaN."""
    if lower != lower:
        return "–"
    if signed:
        return f"{difference(lower)} … {difference(upper)}"
    return f"{number(lower)}–{number(upper)}"

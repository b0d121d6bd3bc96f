"""Numbers as tables have them."""

from __future__ import annotations


def number(x: float, digits: int = 4) -> str:
    """A number for a table; a dash where there is none.

    Examples
    --------
    >>> number(0.12345), number(float("nan"))
    ('0.1235', '–')
    """
    return "–" if x != x else f"{x:.{digits}f}"


def p_value(p: float) -> str:
    """A p-value to four decimals, never zero; a dash where there is none.

    Examples
    --------
    >>> p_value(0.0436), p_value(0.00004), p_value(float("nan"))
    ('0.0436', '< 0.0001', '–')
    """
    return "< 0.0001" if p < 0.00005 else number(p)


def percent(x: float) -> str:
    """A share as a percentage; a dash where there is none.

    Examples
    --------
    >>> percent(0.5)
    '50.0 %'
    """
    return "–" if x != x else f"{100 * x:.1f} %"


def difference(x: float, digits: int = 4) -> str:
    """A number with its sign; a dash where there is none.

    Examples
    --------
    >>> difference(0.5), difference(-0.25)
    ('+0.5000', '-0.2500')
    """
    return "–" if x != x else f"{x:+.{digits}f}"


def spread(lower: float, upper: float, *, signed: bool = False) -> str:
    """An interval; a dash where there is none.

    Examples
    --------
    >>> spread(0.5, 0.75), spread(-0.25, 0.5, signed=True)
    ('0.5000–0.7500', '-0.2500 … +0.5000')
    """
    if lower != lower:
        return "–"
    if signed:
        return f"{difference(lower)} … {difference(upper)}"
    return f"{number(lower)}–{number(upper)}"

"""Formatting for numbers and untrusted text in tables."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Controls (C0 but for the line feed, DEL, C1), surrogates, other ends of lines, bidirectional controls, and
# what cannot be seen: joiners, fillers, soft hyphens, blanks, variation selectors, annotations and tags.
_UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2060-\u2065\u061c"
    "\u206a-\u206f\u180e\ufeff\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufff9-\ufffb\U000e0000-\U000e007f"
    "\xad\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)


def printable(text: str, *, one_line: bool = False) -> str:
    r"""Escape control and other unsafe characters as ``\x1b``, including line ends if ``one_line``.

    Examples
    --------
    >>> printable("a\u200bb\u202ec\ufe0f\u2800")
    'a\\u200bb\\u202ec\\ufe0f\\u2800'
    """
    shown = _UNSAFE.sub(_escaped, text)
    return shown.replace("\n", r"\n") if one_line else shown


def literal(label: object) -> str:
    r"""Return a label in which matplotlib does not read ``$…$`` as a formula.

    Examples
    --------
    >>> print(literal(r"auto$\frac$"))
    auto\$\frac\$
    """
    return printable(str(label), one_line=True).replace("$", r"\$")


def some_of(names: Iterable[object], most: int = 5) -> str:
    """Join names with commas, shortening more than ``most`` + 1 of them to ``most`` and a number."""
    listed_names = [str(name) for name in names]
    if len(listed_names) <= most + 1:
        return ", ".join(listed_names)
    return f"{', '.join(listed_names[:most])} and {len(listed_names) - most} more"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, such as ``1 topic`` or ``1,050 topics``.

    Examples
    --------
    >>> counted(1, "unjudged document"), counted(0, "hole"), counted(1050, "topic")
    ('1 unjudged document', '0 holes', '1,050 topics')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def number(x: float, digits: int = 4) -> str:
    """Return a number with fixed decimals, such as ``0.1235``, or a dash for NaN."""
    return "–" if x != x else f"{x:z.{digits}f}"


def p_value(p: float) -> str:
    """Return a p-value with four decimals or as ``< 0.0001``, or a dash for NaN."""
    return "< 0.0001" if p < 0.00005 else number(p)


def percent(x: float, error: float = float("nan")) -> str:
    """Return a share as a percentage: ``50.0 %``, with its error ``50.0 ± 1.0 %``, a dash for NaN."""
    around = f" ± {100 * error:.1f}" if error == error else ""
    return "–" if x != x else f"{100 * x:.1f}{around} %"


def difference(x: float, digits: int = 4) -> str:
    """Return a number with its sign, such as ``+0.5000``, ``0.0000`` without, or a dash for NaN."""
    written = number(x, digits)
    return f"+{written}" if x > 0 and float(written) else written


def interval(lower: float, upper: float, digits: int = 4, *, signed: bool = False, most: int = 5) -> str:
    """Return an interval as ``0.5000–0.7500``, or signed as ``-0.2500 to +0.5000``, or a dash for NaN.

    Ends that would look alike get more decimals, ``most`` at the most.

    Examples
    --------
    >>> interval(0.5, 0.75), interval(-0.25, 0.5, 3, signed=True), interval(0.12341, 0.12344, 3)
    ('0.5000–0.7500', '-0.250 to +0.500', '0.12341–0.12344')
    """
    if lower != lower or upper != upper:
        return "–"
    text, between = (difference, " to ") if signed else (number, "–")
    while text(lower, digits) == text(upper, digits) and lower != upper and digits < most:
        digits += 1
    return f"{text(lower, digits)}{between}{text(upper, digits)}"


def level(ci_prob: float) -> str:
    """Return an interval's probability as a percentage, such as ``95 %``."""
    return f"{100 * ci_prob:g} %"

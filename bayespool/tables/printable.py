"""What a terminal or a figure may be shown of texts from files, names and arguments: nothing that it would
obey.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Controls (C0 but for the end of a line, DEL, C1), halves of surrogate pairs, other ends of lines, and what
# turns the direction of writing.
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str, *, one_line: bool = False) -> str:
    r"""Text with characters that a terminal would obey, or could not show, as ``\x1b`` and the like.

    Parameters
    ----------
    text : str
    one_line : bool
        Whether the end of a line is such a character, too.

    Examples
    --------
    >>> print(printable("run \x1b[31m"))
    run \x1b[31m
    """
    shown = _OBEYED.sub(_escaped, text)
    return shown.replace("\n", r"\n") if one_line else shown


def literal(label: object) -> str:
    r"""A label that matplotlib draws as it stands: what is between two ``$`` is no formula.

    Examples
    --------
    >>> print(literal(r"auto$\frac$"))
    auto\$\frac\$
    """
    return printable(str(label), one_line=True).replace("$", r"\$")


def some_of(names: Iterable[object], most: int = 5) -> str:
    """Names with commas between; of a long list the first ones, and how many more there are.

    Parameters
    ----------
    names : iterable
    most : int, default 5
        Names that are listed at most. One more than these is listed, too: "and 1 more" is no shorter.

    Examples
    --------
    >>> some_of(["a", "b", "c"]), some_of("abcdefgh", 3)
    ('a, b, c', 'a, b, c and 5 more')
    """
    known = [str(name) for name in names]
    if len(known) <= most + 1:
        return ", ".join(known)
    return f"{', '.join(known[:most])} and {len(known) - most} more"


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

"""Escapes of control characters in untrusted text, for terminals and figures."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Controls (C0 but for the line feed, DEL, C1), surrogates, other ends of lines, and bidirectional controls.
_UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str, *, one_line: bool = False) -> str:
    r"""Text with control and other unsafe characters escaped as ``\x1b``; line ends, too, if ``one_line``."""
    shown = _UNSAFE.sub(_escaped, text)
    return shown.replace("\n", r"\n") if one_line else shown


def literal(label: object) -> str:
    r"""Label that matplotlib draws without reading ``$…$`` as a formula.

    Examples
    --------
    >>> print(literal(r"auto$\frac$"))
    auto\$\frac\$
    """
    return printable(str(label), one_line=True).replace("$", r"\$")


def some_of(names: Iterable[object], most: int = 5) -> str:
    """Names separated by commas; of more than ``most`` + 1 the first ``most`` and the number of others."""
    known = [str(name) for name in names]
    if len(known) <= most + 1:
        return ", ".join(known)
    return f"{', '.join(known[:most])} and {len(known) - most} more"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

"""What was probably meant by a name that nothing has."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean", "known_names"]

_BEGINNING = 3  # characters of a name that stand for it


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """The question which of the known names was meant; empty where none is near.

    Parameters
    ----------
    name : object
        What was given. Upper and lower case count alike. The beginning of one name alone, three characters
        at least, stands for that name.
    known : iterable of object
        Names that there are.

    Examples
    --------
    >>> did_you_mean("posterior_combined", ["background", "posterior-combined"])
    "did you mean 'posterior-combined'?"
    >>> did_you_mean("drawz", ["draws", "tune"])
    "did you mean 'draws'?"
    >>> did_you_mean("sigma_org", ["sigma_topic", "sigma_organization"])
    "did you mean 'sigma_organization'?"
    >>> did_you_mean("elephant", ["draws", "tune"])
    ''
    """
    names = {str(one).lower(): str(one) for one in known}
    given = str(name).lower()
    begun = [one for one in names if len(given) >= _BEGINNING and one.startswith(given)]
    near = begun if len(begun) == 1 else difflib.get_close_matches(given, names, n=1, cutoff=0.7)
    return f"did you mean {names[near[0]]!r}?" if near else ""


def known_names(name: object, known: Iterable[object], *, before: str = "known: ") -> str:
    """A hint: which name was probably meant, and all that there are.

    Parameters
    ----------
    name : object
        What was given.
    known : iterable of object
        Names that there are, in the order in which they are listed.
    before : str
        What stands before the list.

    Examples
    --------
    >>> known_names("combnz", ["take", "combmnz"])
    "did you mean 'combmnz'? known: take, combmnz"
    >>> known_names("x", ["take", "combmnz"], before="there are: ")
    'there are: take, combmnz'
    """
    names = [str(one) for one in known]
    asked = did_you_mean(name, names)
    return f"{asked} {before}{', '.join(names)}".lstrip()

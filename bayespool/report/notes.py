"""Notes as people read them: those that change the reading come first, and bookkeeping is counted."""

from __future__ import annotations

from collections.abc import Iterable

from bayespool.notes import Note
from bayespool.tables.formatting import counted


def brief_notes(notes: Iterable[Note]) -> list[str]:
    """Return notes as people read them, the gravest first, with bookkeeping as a number in one line.

    Examples
    --------
    >>> brief_notes([Note("nothing-unjudged", "u: nothing unjudged"), Note("no-pool", "no pool: priors")])
    ['no pool: priors', '1 minor note left out; files have it']
    """
    in_order = sorted(dict.fromkeys(notes), key=lambda note: note.severity)
    read = [note for note in in_order if note.severity < 2]
    n = len(in_order) - len(read)
    left_out = f"{counted(n, 'minor note')} left out; files have {'it' if n == 1 else 'them'}"
    return [*read, *[left_out] * bool(n)]

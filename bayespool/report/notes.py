"""Severities of notes: those that change the reading come first, and bookkeeping is counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bayespool.corrections import ESTIMATORS
from bayespool.tables.formatting import counted

_CHANGES_READING = re.compile(
    r"no pool|the pool is in doubt|a pool of one organization|unlike the pool|below the pool depth|refuted|"
    r"diagnostics failed|judgments decided|intervals contain only|have no value|missing from the run|"
    r"nothing of its top|judged if a suffix were cut|if of the campaign|ranks and scores disagree|"
    r"interval has no width|not fully judged|nothing was drawn"
)
_BOOKKEEPING = re.compile(
    r"nothing unjudged|ranks of (equal )?scores (that|which)|ranks of equal|"
    r"are treated as one organization"
)
_TIES = re.compile(r"(\d+) of (\d+)")
_MANY_TIES = 0.5  # of a run's top ranks
_NUMBER = re.compile(r"(?<![\w.@=()-])\d[\d,]*(?:\.\d+)?(?![\w.]*\w)")


def severity(note: str) -> int:
    """Return 0 if a note changes how a result is read, 1 if it is good to know, 2 for bookkeeping.

    Notes of corrections without a posterior are bookkeeping, but for what changes the reading.

    Examples
    --------
    >>> [severity(note) for note in ("new-a: unlike the pool", "judged twice: 3 documents")]
    [0, 1]
    >>> severity("new-b: anti-precision: left uncorrected, since λ ≤ 0")
    2
    """
    if _CHANGES_READING.search(note):
        return 0
    if "ranks of equal" in note and any(int(n) > _MANY_TIES * int(of) for n, of in _TIES.findall(note)):
        return 1
    names = (part.partition("(")[0] for part in note.split(": ")[:2])
    is_of_point = any(name in ESTIMATORS and ESTIMATORS[name].kind == "point" for name in names)
    return 2 if is_of_point or _BOOKKEEPING.search(note) else 1


def brief_notes(notes: Iterable[str]) -> list[str]:
    """Return notes as people read them, the gravest first, with bookkeeping as a number in one line.

    Examples
    --------
    >>> brief_notes(["u: nothing unjudged", "no pool: posteriors on priors"])
    ['no pool: posteriors on priors', '1 minor note left out; files have it']
    """
    in_order = sorted(dict.fromkeys(notes), key=severity)
    read = [note for note in in_order if severity(note) < 2]
    n = len(in_order) - len(read)
    left_out = f"{counted(n, 'minor note')} left out; files have {'it' if n == 1 else 'them'}"
    return [*read, *[left_out] * bool(n)]


def without_numbers(text: str) -> str:
    """Return a text without its numbers; texts of which it is the same differ in numbers alone."""
    return _NUMBER.sub("", text)


def ranged(texts: Sequence[str]) -> str:
    """Return texts that differ in numbers alone as one text with the ranges of the numbers.

    Examples
    --------
    >>> ranged(["labels 16 of 18", "labels 7 of 18", "labels 3 of 18"])
    'labels 3 to 16 of 18'
    """
    columns = iter(zip(*(_NUMBER.findall(text) for text in texts), strict=True))

    def range_of_place(_: re.Match[str]) -> str:
        values = sorted(set(next(columns)), key=lambda text: float(text.replace(",", "")))
        return values[0] if len(values) == 1 else f"{values[0]} to {values[-1]}"

    return _NUMBER.sub(range_of_place, texts[0])

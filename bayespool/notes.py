"""Notes on results: texts of a kind, from which follows how grave they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, get_args

__all__ = ["SEVERITIES", "Kind", "Note", "joined", "likeness", "merged", "noted"]

Grave = Literal[
    "no-pool",
    "one-organization",
    "pool-in-doubt",
    "unlike-pool",
    "below-pool-depth",
    "ids-match-when-cut",
    "campaign-run",
    "refuted",
    "unverified",
    "diagnostics",
    "held-out",
    "judgments-decided",
    "no-value",
    "no-width",
    "topics-missing",
    "nothing-judged",
    "not-fully-judged",
    "order-conflict",
]
Useful = Literal[
    "another-pool",
    "as-if-new",
    "audit",
    "caution",
    "clipped-levels",
    "company",
    "copies",
    "design",
    "effective-draws",
    "estimator",
    "experiment",
    "files",
    "few-draws",
    "judge",
    "judge-unused",
    "levels",
    "lots",
    "many-ties",
    "own-judgments",
    "priors-unused",
    "ranks",
    "scope",
    "sparse",
    "split-topics",
    "topics",
    "warning",
]
Minor = Literal["nothing-unjudged", "point-estimator", "ties", "user-organization"]
Kind = Grave | Useful | Minor

SEVERITIES: dict[str, int] = {
    kind: severity for severity, kinds in enumerate((Grave, Useful, Minor)) for kind in get_args(kinds)
}
"""Severity of each kind: 0 if it changes how a result is read, 1 if it is good to know, 2 for bookkeeping."""


class Note(str):
    """Caveat to read before quoting a result: a text of a kind.

    Parameters
    ----------
    kind : str
        One of `SEVERITIES`.
    template : str
        The text; with values, it has ``{}`` in place of each.
    *values : int, float or str
        What differs between notes alike.

    Examples
    --------
    >>> note = Note("topics-missing", "{} of {} topics missing from the run", 2, 50)
    >>> note, note.severity
    ('2 of 50 topics missing from the run', 0)
    """

    __slots__ = ("kind", "template", "values")

    kind: Kind
    template: str
    values: tuple[Any, ...]

    def __new__(cls, kind: Kind, template: str, *values: Any) -> Note:  # noqa: D102  # as the class says
        note = super().__new__(cls, template.format(*values) if values else template)
        note.kind, note.template, note.values = kind, template, values
        return note

    def __reduce__(self) -> tuple[type[Note], tuple[Any, ...]]:
        return Note, (self.kind, self.template, *self.values)

    @property
    def severity(self) -> int:
        """0 if the note changes how a result is read, 1 if it is good to know, 2 for bookkeeping."""
        return SEVERITIES[self.kind]

    def of(self, whom: str) -> Note:
        """Return the note as one of a run, an estimator or a measure, which its text begins with."""
        if self.values:
            return Note(self.kind, "{}: " + self.template, whom, *self.values)
        return Note(self.kind, f"{whom}: {self}")


def noted(texts: Iterable[str], kind: Kind) -> tuple[Note, ...]:
    """Return texts as notes: those that are notes as they are, others as notes of a kind."""
    return tuple(text if isinstance(text, Note) else Note(kind, text) for text in texts)


def joined(kind: Kind, separator: str, texts: Iterable[str]) -> Note:
    """Return texts and notes one after the other as one note, which differs in what the notes differ in.

    Examples
    --------
    >>> found = Note("diagnostics", "{} divergent transitions", 3)
    >>> note = joined("diagnostics", "; ", [found, "sampled again"])
    >>> note, note.values
    ('3 divergent transitions; sampled again', (3,))
    """
    notes = noted(texts, kind)
    values = [value for note in notes for value in note.values]
    if not values:
        return Note(kind, separator.join(notes))
    plain = (str(note).replace("{", "{{").replace("}", "}}") for note in notes)
    templates = (note.template if note.values else text for note, text in zip(notes, plain, strict=True))
    return Note(kind, separator.join(templates), *values)


class _Range(NamedTuple):
    """Least and greatest of the numbers in a place of notes alike."""

    least: float
    most: float

    def __format__(self, spec: str) -> str:
        texts = [format(end, spec) for end in self]
        return " to ".join(dict.fromkeys(texts))


def likeness(note: Note) -> tuple[object, ...]:
    """Return what notes have in common that differ in numbers alone."""
    return note.kind, note.template, *(value if isinstance(value, str) else "" for value in note.values)


def merged(notes: Sequence[Note]) -> Note:
    """Return notes that differ in numbers alone as one note with the ranges of the numbers.

    Examples
    --------
    >>> merged([Note("judge", "{} labels {} of {}", "gpt-4", n, 18) for n in (16, 7, 3)])
    'gpt-4 labels 3 to 16 of 18'
    """
    first, columns = notes[0], zip(*(note.values for note in notes), strict=True)
    values = (value[0] if isinstance(value[0], str) else _Range(min(value), max(value)) for value in columns)
    return Note(first.kind, first.template, *values)

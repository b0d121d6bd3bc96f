"""Formulas of effects that are added to a model, and the columns that they name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayespool.arrays import FloatArray, IndexArray, IntArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.attributes import Of, describe_unknown
from bayespool.collection.collection import find_column
from bayespool.errors import InputError, some
from bayespool.evidence.columns import standardized
from bayespool.tables.formatting import counted

_TERM = re.compile(r"\(\s*1\s*\|\s*(?P<group>[A-Za-z]\w*)\s*\)|(?P<number>[A-Za-z]\w*)")
_FORM = (
    'write "posterior-ratio + (1 | type) + topic_length": (1 | column) for levels, a name for numbers; '
    "names are of letters, digits and underscores"
)
MOST_LEVELS = 24
"""Largest number of levels of a grouping: the time of a fit grows with its square."""


class Terms(NamedTuple):
    """Effects of a formula: columns of levels, with an effect for each, and columns of numbers.

    Attributes
    ----------
    groups, numbers : tuple of str
    """

    groups: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


def parse_terms(text: str) -> tuple[Terms, str]:
    """Return the terms of a formula, and the formula in the form in which it is part of a name.

    Examples
    --------
    >>> parse_terms("(1|type)+topic_length")
    (Terms(groups=('type',), numbers=('topic_length',)), '(1 | type) + topic_length')
    """
    columns: dict[str, list[str]] = {"group": [], "number": []}
    written = []
    for part in text.split("+"):
        match = _TERM.fullmatch(part.strip())
        if match is None:
            within = f" in {text.strip()!r}" if part != text else ""
            raise InputError(f"no effect {part.strip()!r}{within}", hint=_FORM)
        kind = str(match.lastgroup)
        columns[kind].append(match[kind])
        written.append(f"(1 | {match[kind]})" if kind == "group" else match[kind])
    names = columns["group"] + columns["number"]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"{twice[0]!r} is in the formula twice", hint="leave one of the two out")
    return Terms(tuple(columns["group"]), tuple(columns["number"])), " + ".join(written)


@dataclass(frozen=True)
class Factor:
    """Levels of runs, or of topics, by a column of the collection.

    Attributes
    ----------
    name : str
        The column.
    levels : tuple of str
        Of runs, those of the pool and of runs with judgments of their own; the last, without evidence, is
        that of all others.
    of : {"run", "topic"}
    level : tuple of int
        Of each run or topic, as an index into ``levels``.
    """

    name: str
    levels: tuple[str, ...]
    of: Of
    level: tuple[int, ...]

    def select(self, kept: OrderArray, of: Of) -> Factor:
        """Return the factor for evidence that numbers runs or topics otherwise, as in these indices."""
        if self.of != of:
            return self
        return Factor(self.name, self.levels, of, tuple(self.level[k] for k in kept))

    def at(self, run: IndexArray, topic: IndexArray) -> IndexArray:
        """Return the level of each row, given its run and its topic, shape (row,)."""
        return np.array(self.level, dtype=np.int64)[run if self.of == "run" else topic]


def find_factor(collection: Collection, name: str) -> Factor:
    """Return the levels of a column, or raise `InputError` if there is none, or if it has too many."""
    of, table, ids = find_column(collection, name)
    if of == "document":
        raise InputError(f"{name} is of documents, and levels are of runs or topics", hint=f"write {name}")
    texts = table.texts(name, ids)
    seen = [texts[i] for i in collection.contributors] if of == "run" else texts
    levels = sorted(set(seen))
    if len(levels) > MOST_LEVELS:
        raise InputError(
            f"{name} has {len(levels)} levels, more than {MOST_LEVELS}: {some(levels)}", hint="merge levels"
        )
    if of == "run":
        levels.append("(new)" if "(new)" not in levels else "(other)")
    place = {text: k for k, text in enumerate(levels)}
    return Factor(name, tuple(levels), of, tuple(place.get(text, len(levels) - 1) for text in texts))


def indicators(collection: Collection, names: Iterable[str], run: OrderArray) -> list[FloatArray]:
    """Return the levels of runs as indicators, for each column of shape (row, level)."""
    factors = (find_factor(collection, name) for name in names)
    return [np.eye(len(factor.levels))[factor.at(run, run)] for factor in factors]


def refuse_lacking_columns(collection: Collection, terms: Terms) -> None:
    """Raise `InputError` unless the collection has the columns, of texts or numbers as they are used."""
    for name in terms.groups:
        find_factor(collection, name)
    for name in terms.numbers:
        of, table, ids = find_column(collection, name)
        if of != "document" and table.numbers(name, ids) is None:
            reason = f"{name} has texts, which are levels: {table.first_text(name)!r}"
            raise InputError(reason, hint=f"write (1 | {name}), or leave empty what is no number")


def column_notes(
    collection: Collection, terms: Terms, run_ids: tuple[str, ...], unjudged: IntArray
) -> list[str]:
    """Return texts on runs, topics and unjudged documents, of these pair codes, whose value is unknown, and
    on runs to score of a new level.
    """
    notes = []
    for name in (*terms.groups, *terms.numbers):
        of, table, ids = find_column(collection, name)
        if of == "document":
            if n_lacking := int(np.isnan(collection.document_values(name)[unjudged]).sum()):
                share = f"{n_lacking:,} of {counted(len(unjudged), 'unjudged document')}"
                verb = "has" if n_lacking == 1 else "have"
                notes.append(f"{share} {verb} no {name}: the topic's mean")
            continue
        used = {*run_ids, *(collection.run_ids[i] for i in collection.contributors)}
        lacking = [i for i in ids if i not in table.columns[name] and (of == "topic" or i in used)]
        new: list[str] = []
        if name in terms.groups and of == "run":
            factor = find_factor(collection, name)
            new = [r for r in run_ids if factor.level[ids.index(r)] == len(factor.levels) - 1]
        if others := [i for i in lacking if i not in new]:
            notes.append(describe_unknown(of, name, others, is_level=name in terms.groups))
        if new:
            verb, unknown = "is" if len(new) == 1 else "are", ", or of none" if {*new} & {*lacking} else ""
            notes.append(f"{some(new)} {verb} of a {name} that no run of the pool has{unknown}")
        numbers = standardized(collection, of, name) if name in terms.numbers else None
        if numbers is not None and not numbers.any():
            notes.append(f"{name} is the same wherever it is known: no slope is learned")
    return notes

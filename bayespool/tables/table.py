"""Result tables: a long data frame with described columns, and views for readers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayespool.defaults import rcParams
from bayespool.errors import InputError, known_names
from bayespool.tables.files import read_back
from bayespool.tables.formatting import difference, interval, level, number, p_value, percent
from bayespool.tables.markup import SUPERSCRIPTS, Arrangement, TextColumn, TextTable, text_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Kind:
    """Kind of column: JSON type and text format for its values."""

    json_type: str  # in a JSON document, besides null
    text: Callable[[Any, int], str]  # of a value that is not missing and a number of decimals
    decimals: int | None = 0  # unless a column asks for others; None: those of `bayespool.rcParams`


KINDS: dict[str, Kind] = {
    **dict.fromkeys(
        ("run", "topic", "document", "organization", "measure", "estimator", "text"),
        Kind("string", lambda value, _: str(value)),
    ),
    "flag": Kind("boolean", lambda value, _: "yes" if value else "no"),
    "count": Kind("integer", lambda value, _: f"{value:,.0f}"),
    "size": Kind("number", number, 2),
    "score": Kind("number", number, None),
    "difference": Kind("number", difference, None),
    "chance": Kind("number", number, 3),
    "coefficient": Kind("number", number, 3),
    "share": Kind("number", lambda value, _: percent(value)),
    "level": Kind("number", lambda value, _: level(value)),
    "threshold": Kind("number", lambda value, _: f"{value:g}"),
    "p-value": Kind("number", lambda value, _: p_value(value)),
}
"""Kinds of columns: names, whole numbers, scores, differences, probabilities, shares, levels, p-values."""


@dataclass(frozen=True)
class Column:
    """Description of a table column.

    Parameters
    ----------
    label : str
        Heading for readers; a line end marks where it may be broken, after a soft hyphen within a word.
    kind : str
        One of `KINDS`.
    help : str
        What the values are, in a sentence.
    decimals : int, optional
        Decimals of its numbers; default: those of the kind.
    """

    label: str
    kind: str
    help: str
    decimals: int | None = None

    def text(self, value: Any) -> str:
        """Return a value as text, or a dash if it is missing.

        Examples
        --------
        >>> Column("MAE", "score", "Mean absolute error.").text(0.12345)
        '0.1235'
        """
        if value is None or value != value:
            return "–"
        return KINDS[self.kind].text(value, self.shown_decimals)

    @property
    def shown_decimals(self) -> int:
        """Decimals of its numbers: its own, those of its kind, or those of `bayespool.rcParams`."""
        decimals = KINDS[self.kind].decimals if self.decimals is None else self.decimals
        return int(rcParams["decimals"]) if decimals is None else decimals

    @property
    def is_number(self) -> bool:
        """Whether values are right-aligned and sorted as numbers."""
        return KINDS[self.kind].json_type in ("number", "integer")


_ENTRIES = tomllib.loads(read_back(Path(__file__).with_name("columns.toml")) or "")
COLUMNS: dict[str, Column] = {name: Column(**entry) for name, entry in _ENTRIES.items()}
"""Columns common to several results, keyed by name, to which tables add their own."""


EXTRA_INTERVAL_SCOPES = {"population": "topics like these"}
"""Targets of additional score intervals, such as a population of topics, keyed by column prefix."""


def extra_interval_scopes(columns: Container[str]) -> dict[str, str]:
    """Return the entries in `EXTRA_INTERVAL_SCOPES` for which a table has columns.

    Examples
    --------
    >>> extra_interval_scopes(["run_id", "population_lower", "population_upper"])
    {'population': 'topics like these'}
    """
    return {name: words for name, words in EXTRA_INTERVAL_SCOPES.items() if f"{name}_lower" in columns}


_MAX_ROWS, _MAX_COLUMNS = 600, 12  # of a table that has no view
_MAX_DIGITS, _COMPACT_DIGITS = 9, 3  # decimals of scores, and those in a column of a paper


@dataclass(frozen=True)
class IntervalColumn:
    """Interval shown in one cell, from the two columns with its ends."""

    lower: str = "lower"
    upper: str = "upper"
    label: str = "{level}\ninterval"
    signed: bool = False
    decimals: int | None = None


@dataclass(frozen=True)
class WithSuperscripts:
    """Number with superscript letters from another column in one cell, such as ``0.6182ᵇᶜ``."""

    value: str
    letters: str


@dataclass(frozen=True)
class Pivot:
    """Columns repeated side by side for each value in another column.

    Parameters
    ----------
    columns : tuple of str, IntervalColumn, WithSuperscripts or Pivot
    across : str
        Column of a value for each group; its text is the heading of the group's first column.
    labels : mapping of str to str
        Headings in place of these texts.
    label : str
        Heading in which ``{}`` is that text.
    grouped : bool
        Whether the text stands above all of the group's columns instead.
    values : tuple of object, optional
        Values that have columns, in this order; default: all.
    """

    columns: tuple[str | IntervalColumn | WithSuperscripts | Pivot, ...]
    across: str
    labels: Mapping[str, str] = field(default_factory=dict)
    label: str = "{}"
    grouped: bool = False
    values: tuple[Any, ...] | None = None


ViewColumn = str | IntervalColumn | WithSuperscripts | Pivot


@dataclass(frozen=True, kw_only=True)
class View:
    """Selection of a table's rows and columns for readers.

    Parameters
    ----------
    title : str
        Heading in the terminal, and caption.
    names : tuple of str
        Columns that name a row.
    columns : tuple of str, IntervalColumn, WithSuperscripts or Pivot
        The other columns, from left to right.
    where : mapping of str to object
        Values of columns that the rows have; default: all rows.
    sort : str
        Column of the table to sort rows by, ascending, or descending after a minus sign; or, after one, a
        column that is shown, such as an estimator: then within the values of the last name, if there are
        several. Default: the order of the table.
    top : int, optional
        Number of rows, the first ones; default: all.
    note : str
        Sentences below the table.
    spare : tuple of str
        Columns that a narrow terminal does without, the first ones first.
    keep_empty : bool
        Whether columns without any value stay.
    medium : {"", "terminal", "paper", "report", "named"}
        Where it is read: everywhere; in the terminal; in papers, notebooks and reports; in reports, and in
        the terminal where its table is named; or there alone.
    """

    title: str
    names: tuple[str, ...]
    columns: tuple[ViewColumn, ...]
    where: Mapping[str, Any] = field(default_factory=dict)
    sort: str = ""
    top: int | None = None
    note: str = ""
    spare: tuple[str, ...] = ()
    keep_empty: bool = False
    medium: str = ""


@dataclass(frozen=True, eq=False)
class Table:
    """Result table in long form, with described columns and views for readers.

    Parameters
    ----------
    name : str
        Name in files.
    caption : str
        What it holds, in a few words.
    frame : pandas.DataFrame
    columns : mapping of str to Column
        Columns that `COLUMNS` does not describe, or describes otherwise.
    views : tuple of View
        How people read it; without one the terminal does not print it.

    Raises
    ------
    InputError
        A column without a description.

    Examples
    --------
    >>> import pandas as pd
    >>> values = {"value": [0.5, 0.25], "lower": [0.4, 0.2], "upper": [0.6, 0.3]}
    >>> frame = pd.DataFrame({"run_id": ["a", "b"], **values})
    >>> view = View(title="Two runs", names=("run_id",), columns=("value", IntervalColumn(label="interval")))
    >>> text = Table("scores", "Scores", frame, views=(view,)).read()[0]
    >>> [column.heading for column in text.columns], text.rows[0]
    (['run', 'estimate', 'interval'], ('a', '0.5000', '0.4000–0.6000'))
    """

    name: str
    caption: str
    frame: pd.DataFrame = field(repr=False)
    columns: Mapping[str, Column] = field(default_factory=dict, repr=False)
    views: tuple[View, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name in map(str, self.frame):
            self.column(name)

    def column(self, name: str) -> Column:
        """Return a column's description, or raise `InputError` if there is none."""
        if (column := self.columns.get(name) or COLUMNS.get(name)) is None:
            raise InputError(
                f"the column {name!r} of the table {self.name!r} has no description",
                hint="give the table a Column(label, kind, help) for it",
            )
        return column

    def read(self, arrangement: Arrangement | None = None) -> tuple[TextTable, ...]:
        """Return one text table per view, with the columns and rows selected by an arrangement."""
        return tuple(text for view in self.views if (text := _read(self, view, arrangement)) is not None)

    def truncated(self) -> TextTable:
        """Return the columns and rows that fit on a page as a text table, for tables without views."""
        names = [str(name) for name in self.frame][:_MAX_COLUMNS]
        n_names = next((i for i, name in enumerate(names) if self.column(name).is_number), len(names))
        if len(self.frame) > _MAX_ROWS:
            n = f"{len(self.frame):,}"
            note = f"The table has {n} rows, too many for a page; the result's own file has them."
            header = [self.column(name).label for name in names]
            return text_table(self.caption, header, (), n_names, notes=(note,))
        n_more = len(self.frame.columns) - len(names)
        view = View(
            title=self.caption,
            names=tuple(names[: n_names or 1]),
            columns=tuple(names[n_names or 1 :]),
            note=f"The file has {n_more} more columns." if n_more else "",
        )
        return _text(self, view, self.frame.assign(**{_ROW: range(len(self.frame))}))

    def description(self) -> dict[str, Any]:
        """Return caption, columns and views as JSON-compatible values."""
        columns = {
            name: {key: value for key, value in vars(self.column(name)).items() if value is not None}
            for name in map(str, self.frame)
        }
        return {"caption": self.caption, "columns": columns, "views": list(map(asdict, self.views))}


def table_from_json(name: str, frame: pd.DataFrame, described: Mapping[str, Any]) -> Table:
    """Return a table from a data frame and the output of `Table.description`.

    Columns of an unknown kind are text. Views that another version described in its own way are left out.
    """
    columns = {
        column: Column(
            str(each["label"]),
            each["kind"] if each["kind"] in KINDS else "text",
            str(each["help"]),
            each.get("decimals"),
        )
        for column, each in described["columns"].items()
    }
    try:
        views = tuple(View(**{**view, "columns": _parts(view["columns"])}) for view in described["views"])
    except (KeyError, TypeError):
        views = ()
    return Table(name, str(described["caption"]), frame, columns, views)


def _parts(described: Iterable[Any]) -> tuple[ViewColumn, ...]:
    """Return the parts of a view from names of columns, and fields of parts by name."""
    parts: list[ViewColumn] = []
    for part in described:
        if isinstance(part, str):
            parts.append(part)
        elif "across" in part:
            parts.append(Pivot(**{**part, "columns": _parts(part["columns"])}))
        else:
            parts.append(WithSuperscripts(**part) if "letters" in part else IntervalColumn(**part))
    return tuple(parts)


_ROW = "row of the text"  # column of a frame: the place of the row that people read


def _read(table: Table, view: View, arrangement: Arrangement | None) -> TextTable | None:
    """Return a view of a table as a text table, or None if it has no rows."""
    rows = table.frame
    for name, value in view.where.items():
        rows = rows[rows[name] == value]
    if rows.empty:
        return None
    column = view.sort.removeprefix("-")
    if column in rows:
        rows = rows.sort_values(column, ascending=column == view.sort, kind="stable")
    rows = rows.assign(**{_ROW: rows.groupby(list(view.names), sort=False, dropna=False).ngroup()})
    return _text(table, view, rows if view.top is None else rows[rows[_ROW] < view.top], arrangement)


def _text(table: Table, view: View, rows: pd.DataFrame, arrangement: Arrangement | None = None) -> TextTable:
    is_compact = arrangement is not None and arrangement.width == "column"
    digits = _COMPACT_DIGITS if is_compact else _MAX_DIGITS
    order = list(range(rows[_ROW].nunique()))
    named = _text_columns(table, view.names, rows, len(order), _MAX_DIGITS)
    names = [replace(column, is_text=True) for column in named]
    columns = list(_text_columns(table, view.columns, rows, len(order), digits))
    if is_compact:
        columns = list(map(_compact, columns))
    if not view.keep_empty:
        columns = [c for c in columns if set(c.cells) - {"–", ""}] or columns
    for column in columns:  # such as that of an estimator
        if view.sort == f"-{column.name}":
            order = _from_the_highest(order, column)
            groups = list(dict.fromkeys(names[-1].cells)) if len(names) > 1 else []
            order.sort(key=lambda i: groups.index(names[-1].cells[i]) if groups else 0)
    if arrangement is not None:
        columns, order = _arranged(columns, names, order, arrangement)
    return TextTable(
        caption=view.title,
        columns=tuple(column.take(order) for column in (*names, *columns)),
        n_names=len(names),
        label=" ".join([table.name, *map(str, view.where.values())]),
        notes=(view.note,) if view.note else (),
        spare=tuple(view.spare),
        medium=view.medium,
        is_compact=is_compact,
    )


def _compact(column: TextColumn) -> TextColumn:
    """Return a numeric column without the zero before the decimal point."""
    if column.is_text:
        return column
    return replace(column, cells=tuple(re.sub(r"(?<![\d.])0(?=\.\d)", "", cell) for cell in column.cells))


def _arranged(
    columns: list[TextColumn], names: list[TextColumn], order: list[int], arrangement: Arrangement
) -> tuple[list[TextColumn], list[int]]:
    """Return columns and row order selected by an arrangement, with hyphens allowed for underscores."""
    by_key = {column.name.replace("_", "-"): column for column in (*names, *columns)}

    def named(name: str, what: str) -> TextColumn:
        key = name.replace("_", "-")
        if key not in by_key:
            raise InputError(f"{what} {name!r}", hint=known_names(key, list(by_key), before="there are "))
        return by_key[key]

    if arrangement.sort is not None:
        key = named(arrangement.sort, "cannot sort by")
        if any(value is not None for value in key.values):
            order = _from_the_highest(order, key)
        else:
            order = sorted(order, key=lambda i: key.cells[i])
    if arrangement.columns is not None:
        columns = [named(name, "no column") for name in arrangement.columns]
    return columns, order[: arrangement.top]


def _from_the_highest(order: list[int], key: TextColumn) -> list[int]:
    """Return row indices sorted from the highest value in a numeric column, missing values last."""
    return sorted(order, key=lambda i: float("inf") if (v := key.values[i]) is None else -v)


def _text_columns(
    table: Table, parts: Iterable[ViewColumn], rows: pd.DataFrame, n_rows: int, digits: int
) -> Iterator[TextColumn]:
    """Yield text columns for the parts of a view, with at most ``digits`` decimals."""
    firsts = rows.drop_duplicates(_ROW).set_index(_ROW)

    def values_of(name: str) -> list[Any]:
        if name not in firsts:
            return [None] * n_rows
        values = firsts[name].astype(object).reindex(range(n_rows))
        return [
            None if is_missing else value for value, is_missing in zip(values, values.isna(), strict=True)
        ]

    for part in parts:
        if isinstance(part, Pivot):
            yield from _pivoted(table, part, rows, n_rows, digits)
        elif isinstance(part, WithSuperscripts):
            (column,) = _text_columns(table, [part.value], rows, n_rows, digits)
            raised = str.maketrans(SUPERSCRIPTS)
            letters = [str(each or "").translate(raised) for each in values_of(part.letters)]
            yield replace(column, cells=tuple(map(str.__add__, column.cells, letters)))
        elif isinstance(part, IntervalColumn):
            decimals = table.column(part.lower).shown_decimals if part.decimals is None else part.decimals
            lower, upper = values_of(part.lower), values_of(part.upper)
            cells = tuple(
                "–"
                if low is None or high is None
                else interval(low, high, min(digits, decimals), signed=part.signed, most=0)
                for low, high in zip(lower, upper, strict=True)
            )
            probs = [prob for prob in values_of("ci_prob") if prob is not None]
            heading = part.label.format(level=level(probs[0] if probs else rcParams["ci_prob"]))
            name = "interval" if part.lower == "lower" else part.lower
            yield TextColumn(heading, cells, is_text=False, values=_numbers(lower), name=name)
        else:
            described, values = table.column(part), values_of(part)
            numbers = _numbers(values if described.is_number else [None] * n_rows)
            if described.kind in ("score", "difference"):
                described = replace(described, decimals=min(digits, described.shown_decimals))
            cells = tuple(map(described.text, values))
            yield TextColumn(described.label, cells, not described.is_number, numbers, name=part)


def _pivoted(table: Table, part: Pivot, rows: pd.DataFrame, n_rows: int, digits: int) -> Iterator[TextColumn]:
    column, known_values = table.column(part.across), rows[part.across].drop_duplicates().tolist()
    values = known_values if part.values is None else [v for v in part.values if v in known_values]
    for value in values:
        text = part.labels.get(str(value), column.text(value))
        inner = _text_columns(table, part.columns, rows[rows[part.across] == value], n_rows, digits)
        for i, made in enumerate(inner):
            name = str(value) if i == 0 else f"{value} {made.name}"
            if part.grouped:
                yield replace(made, name=name, group=text)
            else:
                yield replace(made, name=name, heading=part.label.format(text) if i == 0 else made.heading)


def _numbers(values: Iterable[Any]) -> tuple[float | None, ...]:
    return tuple(None if value is None else float(value) for value in values)

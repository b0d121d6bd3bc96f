"""Result tables: a long data frame with described columns, and views for readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from bayespool.defaults import rcParams
from bayespool.errors import InputError, known_names, renamed_attributes
from bayespool.tables.files import records
from bayespool.tables.formatting import difference, interval, level, number, p_value, percent
from bayespool.tables.markup import SUPERSCRIPTS, Arrangement, TextTable, heading_groups

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
        ("run", "topic", "document", "organization", "measure", "method", "text"),
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


COLUMNS: dict[str, Column] = {
    # what a row is about
    "run_id": Column("run", "run", "The run."),
    "query_id": Column("topic", "topic", "The topic."),
    "doc_id": Column("document", "document", "The document."),
    "organization": Column("organization", "organization", "Who submitted the run."),
    "measure": Column("measure", "measure", "The measure, in the words of ir_measures."),
    "estimator": Column("estimator", "method", "The estimator, under its label."),
    "method": Column("method", "method", "The estimator."),
    "model": Column("model", "method", "The model."),
    "note": Column("note", "text", "What to know before quoting the row; empty if there is nothing."),
    # scores
    "value": Column("estimate", "score", "The estimate."),
    "lower": Column("from", "score", "Lower end of the interval."),
    "upper": Column("to", "score", "Upper end of the interval."),
    "ci_prob": Column("level", "level", "Probability of the interval."),
    "std": Column(
        "s. d.", "score", "Posterior standard deviation, or standard error of a correction that has one."
    ),
    "as_judged": Column(
        "as\njudged",
        "score",
        "The score with unjudged documents nonrelevant, as evaluation tools count them.",
    ),
    "bound_lower": Column("lower", "score", "No relevance of the run's own unjudged documents gives less."),
    "bound_upper": Column("upper", "score", "No relevance of the run's own unjudged documents gives more."),
    "residual": Column("resid\xad\nual", "score", "Δ: how much the score can rise."),
    "unjudged": Column("un\xad\njudged", "share", "Share of the measure's ranks with an unjudged document."),
    "distance": Column(
        "distance", "size", "Distance of the run from the pool, in standard deviations between organizations."
    ),
    "new_kind": Column("new\nkind", "size", "Chance that the run is of a kind that the pool does not have."),
    # the anti-precision correction
    "delta_precision": Column(
        "ΔP", "difference", "Mean change of pooled runs' precision if composed with it."
    ),
    "delta_anti_precision": Column("ΔP̄", "difference", "Mean change of their anti-precision."),
    "delta_k_bar": Column("Δk̄", "difference", "Mean change of their unjudged share: −ΔP − ΔP̄."),
    "k_bar": Column("k̄", "score", "Unjudged share of the run itself."),
    "lambda": Column("λ", "difference", "k̄·(ΔP·s̄ − ΔP̄·s), the indicator of pool bias.", 5),
    "triggered": Column("trig\xad\ngered", "size", "Whether the run is corrected: 1 or 0.", 0),
    # constants fitted to the pool
    "constant_c": Column("C", "coefficient", "The constant C of the correction, fitted to the pool."),
    "constant_e": Column("E", "coefficient", "The constant E of the correction, fitted to the pool."),
    "adjustment": Column("a", "difference", "The adjustment of the run, before it is cut to the bounds."),
    # errors of experiments, whose truth is known
    "truth": Column("truth", "score", "The true score, with the judgments that were concealed."),
    "error": Column("error", "difference", "Estimate − truth."),
    "reported": Column("reported", "flag", "Whether the run is among the best, which summaries are over."),
    "n_runs": Column("runs", "count", "Number of runs that the row is over."),
    "n_pool_runs": Column("pool\nruns", "size", "Number of runs in the pool."),
    "n_unjudged": Column("un\xad\njudged", "count", "Unjudged documents in the top n, over all topics."),
    "n_unknown": Column("unknown", "count", "Documents in the top n that are unjudged in truth, too."),
    "n_open": Column("open\nruns", "count", "Number of runs with anything unjudged."),
    "mae": Column("MAE", "score", "Mean absolute error."),
    "rmse": Column("RMSE", "score", "Root mean squared error."),
    "bias": Column("bias", "difference", "Mean of estimate − truth."),
    "topic_rmse": Column("RMSE\nper topic", "score", "Root mean squared error over topics."),
    "sre": Column("SRE", "size", "Places by which estimates miss their runs' true ranks, summed.", 0),
    "sre_star": Column("SRE*", "size", "SRE of runs that differ significantly in truth.", 0),
    "kendall_tau_b": Column("τ_b", "coefficient", "Kendall's rank correlation of estimates and truth.", 4),
    # calibration of intervals and posteriors
    "covered_50": Column("in 50 %", "flag", "Whether the 50 % interval holds the truth, ends included."),
    "covered_80": Column("in 80 %", "flag", "Whether the 80 % interval holds the truth, ends included."),
    "covered_95": Column("in 95 %", "flag", "Whether the 95 % interval holds the truth, ends included."),
    "pit": Column("PIT", "chance", "Randomized PIT: place of the truth in the posterior, from 0 to 1."),
    "pit_lower": Column("PIT from", "chance", "Lower end of the range that PIT is drawn from."),
    "pit_upper": Column("PIT to", "chance", "Upper end of the range that PIT is drawn from."),
    "crps": Column("CRPS", "score", "Continuous ranked probability score, comparable with MAE."),
    "coverage_50": Column("truth in\n50 %", "chance", "Share of 50 % intervals that hold the truth."),
    "coverage_80": Column("truth in\n80 %", "chance", "Share of 80 % intervals that hold the truth."),
    "coverage_95": Column("truth in\n95 %", "chance", "Share of 95 % intervals that hold the truth."),
    "pit_50": Column("PIT in\n50 %", "chance", "Share of randomized PIT values in the central 50 %."),
    "pit_80": Column("PIT in\n80 %", "chance", "Share of randomized PIT values in the central 80 %."),
    "pit_95": Column("PIT in\n95 %", "chance", "Share of randomized PIT values in the central 95 %."),
    "width": Column("width of\ninterval", "score", "Mean width of the intervals."),
}
"""Columns common to several results, keyed by name, to which tables add their own."""


EXTRA_INTERVAL_SCOPES = {"population": "topics like these", "another": "another assessor"}
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
_COMPACT_DIGITS = 3  # decimals of scores in a column of a paper


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


Part = str | IntervalColumn | WithSuperscripts | Pivot


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
        column that is shown, such as an estimator. Default: the order of the table.
    top : int, optional
        Number of rows, the first ones; default: all.
    note : str
        Sentences below the table.
    spare : tuple of str
        Columns that a narrow terminal does without, the first ones first.
    keep_empty : bool
        Whether columns without any value stay.
    medium : {"", "terminal", "paper"}
        Where it is read: everywhere, or in the terminal or in papers and notebooks alone; a report has all.
    """

    title: str
    names: tuple[str, ...]
    columns: tuple[Part, ...]
    where: Mapping[str, Any] = field(default_factory=dict)
    sort: str = ""
    top: int | None = None
    note: str = ""
    spare: tuple[str, ...] = ()
    keep_empty: bool = False
    medium: str = ""


@renamed_attributes(described="description", whole="truncated")
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
    >>> text.header, text.rows[0]
    (('run', 'estimate', 'interval'), ('a', '0.5000', '0.4000–0.6000'))
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
            header = tuple(self.column(name).label for name in names)
            return TextTable(self.caption, header, (), n_names, notes=(note,))
        n_more = len(self.frame.columns) - len(names)
        view = View(
            title=self.caption,
            names=tuple(names[: n_names or 1]),
            columns=tuple(names[n_names or 1 :]),
            note=f"The file has {n_more} more columns." if n_more else "",
        )
        return _text(self, view, [[row] for row in records(self.frame)])

    def description(self) -> dict[str, Any]:
        """Return caption, columns and views as JSON-compatible values."""
        columns = {
            name: {key: value for key, value in vars(self.column(name)).items() if value is not None}
            for name in map(str, self.frame)
        }
        return {"caption": self.caption, "columns": columns, "views": list(map(_part_as_json, self.views))}


def table_from_json(name: str, frame: pd.DataFrame, described: Mapping[str, Any]) -> Table:
    """Return a table from a data frame and the output of `Table.description`.

    Columns of an unknown kind are text.
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
    views = tuple(map(_part_from_json, described["views"]))
    return Table(name, str(described["caption"]), frame, columns, views)


_PARTS = {"ends": IntervalColumn, "marked": WithSuperscripts, "spread": Pivot, "view": View}


def _part_as_json(part: Part | View) -> Any:
    """Return a part of a view as JSON-compatible values."""
    if isinstance(part, str):
        return part
    values = {each.name: getattr(part, each.name) for each in fields(part)}
    if "columns" in values:
        values["columns"] = [_part_as_json(column) for column in values["columns"]]
    return {next(kind for kind, cls in _PARTS.items() if isinstance(part, cls)): values}


def _part_from_json(plain: Any) -> Any:
    """Return the part of a view that `_part_as_json` encoded."""
    if isinstance(plain, str):
        return plain
    ((kind, values),) = plain.items()
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    if "columns" in values:
        values["columns"] = tuple(map(_part_from_json, values["columns"]))
    return _PARTS[kind](**values)


@dataclass(frozen=True)
class _Cells:
    """Text column with its name, heading, group, cells and sort values (None for text)."""

    name: str
    heading: str
    group: str
    texts: tuple[str, ...]
    values: tuple[float | None, ...]
    is_text: bool = False


_Group = list[dict[str, Any]]  # rows of the frame that have one name, and are one row of the text


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
    by_name: dict[tuple[Any, ...], _Group] = {}
    for row in records(rows):
        by_name.setdefault(tuple(row[name] for name in view.names), []).append(row)
    return _text(table, view, list(by_name.values())[: view.top], arrangement)


def _text(table: Table, view: View, rows: list[_Group], arrangement: Arrangement | None = None) -> TextTable:
    is_compact = arrangement is not None and arrangement.width == "column"
    names = list(_cells(table, view.names, rows))
    made = list(_cells(table, view.columns, rows))
    if is_compact:
        made = [_compact(cells) for cells in _cells(table, view.columns, rows, digits=_COMPACT_DIGITS)]
    if not view.keep_empty:
        made = [c for c in made if set(c.texts) - {"–", ""}] or made
    order = list(range(len(rows)))
    for key in made:  # such as that of an estimator
        if view.sort == f"-{key.name}":
            order = _from_the_highest(order, key)
    if arrangement is not None:
        made, order = _arranged(made, names, order, arrangement)
    all_cells = [*names, *made]
    is_grouped = any(c.group for c in made)
    return TextTable(
        caption=view.title,
        header=tuple(c.heading for c in all_cells),
        rows=tuple(tuple(c.texts[i] for c in all_cells) for i in order),
        n_names=len(names),
        texts=tuple(i for i, c in enumerate(all_cells) if c.is_text and i >= len(names)),
        groups=heading_groups([c.group for c in made]) if is_grouped else (),
        label=" ".join([table.name, *map(str, view.where.values())]),
        notes=(view.note,) if view.note else (),
        values=tuple(tuple(c.values[i] for c in all_cells) for i in order),
        spare=tuple(i for name in view.spare for i, c in enumerate(all_cells) if c.name == name),
        medium=view.medium,
        is_compact=is_compact,
    )


def _compact(cells: _Cells) -> _Cells:
    """Return a numeric column without the zero before the decimal point."""
    if cells.is_text:
        return cells
    return replace(cells, texts=tuple(re.sub(r"(?<![\d.])0(?=\.\d)", "", text) for text in cells.texts))


def _arranged(
    made: list[_Cells], names: list[_Cells], order: list[int], arrangement: Arrangement
) -> tuple[list[_Cells], list[int]]:
    """Return columns and rows selected by an arrangement, with hyphens allowed for underscores."""
    cells_by_key = {c.name.replace("_", "-"): c for c in [*names, *made]}

    def named(name: str, what: str) -> _Cells:
        key = name.replace("_", "-")
        if key not in cells_by_key:
            raise InputError(
                f"{what} {name!r}", hint=known_names(key, list(cells_by_key), before="there are ")
            )
        return cells_by_key[key]

    if arrangement.sort is not None:
        key = named(arrangement.sort, "cannot sort by")
        if any(v is not None for v in key.values):
            order = _from_the_highest(order, key)
        else:
            order = sorted(order, key=lambda i: key.texts[i])
    if arrangement.columns is not None:
        made = [named(name, "no column") for name in arrangement.columns]
    return made, order[: arrangement.top]


def _from_the_highest(order: list[int], key: _Cells) -> list[int]:
    """Return row indices sorted from the highest value in a numeric column, missing values last."""
    return sorted(order, key=lambda i: float("inf") if (v := key.values[i]) is None else -v)


def _cells(
    table: Table, parts: Iterable[Part], groups: Sequence[_Group], *, digits: int = 9
) -> Iterator[_Cells]:
    """Yield text columns for the parts of a view, with at most ``digits`` decimals."""
    rows = [group[0] if group else {} for group in groups]
    for part in parts:
        if isinstance(part, Pivot):
            yield from _spread(table, part, groups, digits)
        elif isinstance(part, WithSuperscripts):
            (cells,) = _cells(table, [part.value], groups, digits=digits)
            letters = [str(row.get(part.letters) or "") for row in rows]
            raised = ["".join(SUPERSCRIPTS.get(letter, letter) for letter in each) for each in letters]
            texts = tuple(text + above for text, above in zip(cells.texts, raised, strict=True))
            yield replace(cells, texts=texts)
        elif isinstance(part, IntervalColumn):
            column = table.column(part.lower)
            n_decimals = min(digits, column.shown_decimals if part.decimals is None else part.decimals)
            ends = [(row.get(part.lower), row.get(part.upper)) for row in rows]
            shown = [
                "–"
                if low is None or low != low or high is None
                else interval(low, high, n_decimals, signed=part.signed)
                for low, high in ends
            ]
            prob = next(
                (row["ci_prob"] for row in rows if row.get("ci_prob", float("nan")) == row.get("ci_prob")),
                rcParams["ci_prob"],
            )
            heading = part.label.format(level=level(prob))
            name = "interval" if part.lower == "lower" else part.lower
            yield _Cells(name, heading, "", tuple(shown), tuple(_number(low) for low, _ in ends))
        else:
            column = table.column(part)
            values = [row.get(part) for row in rows]
            numbers = tuple(_number(v) if column.is_number else None for v in values)
            if column.kind in ("score", "difference"):
                column = replace(column, decimals=min(digits, column.shown_decimals))
            texts = tuple(map(column.text, values))
            yield _Cells(part, column.label, "", texts, numbers, not column.is_number)


def _spread(table: Table, part: Pivot, groups: Sequence[_Group], digits: int) -> Iterator[_Cells]:
    column = table.column(part.across)
    known_values = dict.fromkeys(row[part.across] for group in groups for row in group)
    for value in (
        known_values if part.values is None else [value for value in part.values if value in known_values]
    ):
        text = part.labels.get(str(value), column.text(value))
        inner = [[row for row in group if row[part.across] == value] for group in groups]
        for i, cells in enumerate(_cells(table, part.columns, inner, digits=digits)):
            name = str(value) if i == 0 else f"{value} {cells.name}"
            if part.grouped:
                yield replace(cells, name=name, group=text)
            else:
                heading = part.label.format(text) if i == 0 else cells.heading
                yield replace(cells, name=name, heading=heading)


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)

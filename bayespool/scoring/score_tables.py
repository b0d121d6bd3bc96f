"""Tables and notes of scores for readers: a row per run, with bounds, estimates and intervals."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.corrections import ESTIMATORS
from bayespool.errors import InputError
from bayespool.tables import TextTable
from bayespool.tables.arrangement import Arrangement
from bayespool.tables.numbers import number, percent, spread
from bayespool.tables.printable import some_of

if TYPE_CHECKING:
    import pandas as pd

SCORE_COLUMNS = (
    "as-judged",
    "lower",
    "upper",
    "residual",
    "unjudged",
    "estimates",
    "mean",
    "interval",
    "distance",
    "new-kind",
)
"""Names of columns, beside those of estimators; ``estimates`` are all point corrections, ``mean`` and
``interval`` those of each posterior."""
_BOUNDS = {
    "as-judged": "as_judged",
    "lower": "bound_lower",
    "upper": "bound_upper",
    "residual": "residual",
    "unjudged": "unjudged",
}
_IDEALS = {
    "own": "the judged documents and, in each draw, the completed ones in reach of the run itself",
    "shared": "the judged documents and, in each draw, the completed ones in reach of any of these runs",
    "judged": "the judged documents as they stand, as trec_eval has it",
}
_AS_JUDGED = (
    "as judged is the score with unjudged documents nonrelevant, as trec_eval has it; no completion of the "
    "judgments goes below lower or beyond upper"
)
_ENDS = re.compile(r"_(lower|upper|std|distance|new_kind)$")
_MAX_NUMBERS_PER_ROW = 8  # that fit on a page


@dataclass(frozen=True)
class Column:
    """One column of numbers as text; the heading has line ends where it may break, the label is short."""

    name: str
    heading: str
    label: str
    cells: tuple[str, ...]


def methods_in(frame: pd.DataFrame) -> dict[str, bool]:
    """Estimators with columns in a frame of scores, each with whether it has an interval."""
    first = max(i for i, name in enumerate(frame.columns) if name in _BOUNDS.values()) + 1
    names = [str(name) for name in frame.columns[first:] if name not in ("ci_prob", "note")]
    methods = [name for name in names if _ENDS.sub("", name) == name or _ENDS.sub("", name) not in names]
    return {method: f"{method}_lower" in names for method in methods}


def whole_columns(frame: pd.DataFrame) -> list[str]:
    """Names of all columns of a wide table."""
    return [*_as_judged(frame), "lower", "upper", "residual", *methods_in(frame)]


def short_columns(frame: pd.DataFrame) -> list[str]:
    """Names of columns that fit 80 characters: lower bound, share unjudged, posterior or else estimates."""
    drawn = any(methods_in(frame).values())
    return [*_as_judged(frame), "lower", "unjudged", *(["mean", "interval"] if drawn else ["estimates"])]


def _paper_columns(frame: pd.DataFrame) -> list[str]:
    methods = methods_in(frame)
    points, drawn = not all(methods.values()), any(methods.values())
    names = [*_as_judged(frame), "lower", "unjudged", *(["estimates"] if points else [])]
    return [*names, *(["mean", "interval"] if drawn else [])]


def has_as_judged(frame: pd.DataFrame) -> bool:
    """Whether a completion of the judgments may take a run below its score as judged."""
    return bool((frame["as_judged"] - frame["bound_lower"] > 1e-9).any())


def _as_judged(frame: pd.DataFrame) -> list[str]:
    return ["as-judged"] if has_as_judged(frame) else []


def check_arrangement(arrangement: Arrangement, methods: Sequence[str]) -> None:
    """Raise `InputError` for columns or sort keys that no table of these estimators has."""
    known = [*SCORE_COLUMNS, *methods]
    arrangement.check(["all", *known], ["run", *(name for name in known if name != "estimates")])


def arranged(frame: pd.DataFrame, arrangement: Arrangement) -> pd.DataFrame:
    """Sort the rows of one measure and keep the first; an unknown column raises `InputError`."""
    key = arrangement.sort or ("mean" if arrangement.top is not None else None)
    if key == "run":
        frame = frame.sort_values("run_id", kind="stable")
    elif key is not None:
        order = np.argsort(-np.nan_to_num(_values(frame, key), nan=-np.inf), kind="stable")
        frame = frame.iloc[order]
    return frame if arrangement.top is None else frame.head(arrangement.top)


def _values(frame: pd.DataFrame, key: str) -> npt.NDArray[np.float64]:
    """Numbers to sort rows by, shape (row,); those of ``interval`` are widths."""
    methods = methods_in(frame)
    drawn = [name for name, has in methods.items() if has]
    column = _BOUNDS.get(key, key)
    if key in ("mean", "interval", "distance", "new-kind"):
        method = (drawn or list(methods) or [""])[0]
        column = method if key == "mean" else f"{method}_{key.replace('-', '_')}"
    if key == "interval" and drawn:
        return (frame[f"{drawn[0]}_upper"] - frame[f"{drawn[0]}_lower"]).to_numpy(dtype=float)
    if column not in frame:
        raise InputError(f"cannot sort by {key!r}: these scores have no such column")
    return frame[column].to_numpy(dtype=float)


def columns_of(frame: pd.DataFrame, names: Sequence[str], ci_prob: float) -> list[Column]:
    """Columns of one measure, by names of `SCORE_COLUMNS` or estimators, or ``all``."""
    methods = methods_in(frame)
    drawn = [name for name, has in methods.items() if has]
    made: list[Column] = []
    for name in names:
        if name == "all":
            made += columns_of(frame, whole_columns(frame), ci_prob)
        elif name in _BOUNDS:
            made.append(_bound(frame, name))
        elif name == "estimates":
            made += [_value(frame, method) for method in methods if method not in drawn]
        elif name in ("mean", "interval"):
            for method in drawn:
                if name == "mean":
                    made.append(_value(frame, method, alone=len(drawn) == 1))
                if name == "interval" or "interval" in names:
                    made += (
                        [] if any(_is_of(c, method) for c in made) else [_interval(frame, method, ci_prob)]
                    )
        elif name in ("distance", "new-kind"):
            made += [_of_run(frame, method, name) for method in drawn if _suffixed(method, name) in frame]
        elif name in methods:
            made.append(_value(frame, name))
            if name in drawn:
                made.append(_interval(frame, name, ci_prob))
        else:
            raise InputError(f"no column {name!r}", hint=f"there are {', '.join([*SCORE_COLUMNS, *methods])}")
    return made


def _is_of(column: Column, method: str) -> bool:
    return column.name == f"{method} interval"


def _bound(frame: pd.DataFrame, name: str) -> Column:
    column = _BOUNDS[name]
    shown = frame[column] if column in frame else np.full(len(frame), np.nan)
    label = {"as-judged": "as\njudged", "residual": "resid-\nual", "unjudged": "un-\njudged"}.get(name, name)
    form = percent if name == "unjudged" else number
    heading = "As\njudged" if name == "as-judged" else name.capitalize()
    return Column(name, heading, label, tuple(form(float(x)) for x in shown))


def _value(frame: pd.DataFrame, method: str, *, alone: bool = False) -> Column:
    label = ESTIMATORS[method].label if method in ESTIMATORS else method.replace("posterior-", "posterior\n")
    words = method.replace("anti-", "anti\0").capitalize().replace("-", "\n").replace("\0", "-")
    heading = "Posterior\nmean" if alone else words
    return Column(method, heading, label, tuple(number(float(x)) for x in frame[method]))


def _interval(frame: pd.DataFrame, method: str, ci_prob: float) -> Column:
    ends = zip(frame[f"{method}_lower"], frame[f"{method}_upper"], strict=True)
    named = f"{100 * ci_prob:g} %\ninterval"
    return Column(f"{method} interval", named, named, tuple(spread(float(a), float(b)) for a, b in ends))


def _of_run(frame: pd.DataFrame, method: str, name: str) -> Column:
    cells = tuple(number(float(x), 2) for x in frame[_suffixed(method, name)])
    words = name.replace("-", "\n")
    return Column(f"{method} {name}", words.capitalize(), words, cells)


def _suffixed(method: str, name: str) -> str:
    return f"{method}_{name.replace('-', '_')}"


def ideal_lines(metadata: Mapping[str, Any]) -> list[str]:
    """Notes on what the ideal rankings of measures are made of."""
    lines = []
    for ideal, what in _IDEALS.items():
        if measures := [name for name, group in metadata.get("ideals", {}).items() if group == ideal]:
            names = ", ".join(measures)
            lines.append(f"{names}: ideal ranking and number of relevant documents are of {what}")
    return lines


def note_lines(
    statements: Mapping[tuple[str, Any], Sequence[str]],
    run_ids: Sequence[str],
    measures: Sequence[object],
) -> list[str]:
    """Notes of runs, those of the most runs first; each statement once, with its runs and measures."""
    runs_of: dict[tuple[str, str], list[str]] = {}
    for (run, measure), texts in statements.items():
        for statement in texts:
            runs = runs_of.setdefault((str(measure), statement), [])
            if run not in runs:
                runs.append(run)
    measures_of: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for (measure, statement), group in runs_of.items():
        measures_of.setdefault((tuple(group), statement), []).append(measure)
    together: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (of_runs, statement), of in measures_of.items():
        together.setdefault((of_runs, tuple(of)), []).append(statement)
    lines = []
    for (of_runs, of_measures), texts in sorted(together.items(), key=lambda item: -len(item[0][0])):
        who = "all runs" if 1 < len(of_runs) == len(run_ids) else some_of(of_runs)
        where = "" if len(of_measures) == len(measures) else f" ({', '.join(of_measures)})"
        lines.append(f"{who}: {'; '.join(texts)}{where}")
    return lines


def score_notes(
    frame: pd.DataFrame,
    metadata: Mapping[str, Any],
    statements: Mapping[tuple[str, Any], Sequence[str]],
    shown: Collection[str] | None = None,
) -> list[str]:
    """All notes of scores, one line each; with ``shown`` only those on columns of these names."""
    run_ids, measures = (list(dict.fromkeys(frame[name])) for name in ("run_id", "measure"))
    lines = ideal_lines(metadata)
    if has_as_judged(frame) and (shown is None or "as-judged" in shown):
        lines.append(_AS_JUDGED)
    if shown is not None:
        hidden = [m for m in methods_in(frame) if not any(f"{name} ".startswith(f"{m} ") for name in shown)]
        statements = shown_statements(statements, hidden)
    return [*lines, *note_lines(statements, run_ids, measures)]


def shown_statements(
    statements: Mapping[tuple[str, Any], Sequence[str]], hidden: Collection[str]
) -> dict[tuple[str, Any], tuple[str, ...]]:
    """Statements but those of ``hidden`` methods; a statement of a method begins with its name.

    Examples
    --------
    >>> statements = {("a", "AP@100"): ["anti-precision: defined for P@n alone", "2 topics missing"]}
    >>> shown_statements(statements, ["anti-precision"])
    {('a', 'AP@100'): ('2 topics missing',)}
    """
    starts = tuple(f"{method}: " for method in hidden)
    return {
        key: tuple(text for text in texts if not text.startswith(starts)) for key, texts in statements.items()
    }


def paper_tables(
    frame: pd.DataFrame,
    *,
    ci_prob: float,
    scope: str,
    arrangement: Arrangement | None = None,
    notes: Sequence[str] = (),
) -> list[TextTable]:
    """Tables of a paper, one for all measures if at most eight numbers are in a row, otherwise one for each.

    ``scope`` names the topics ("mean over 50 topics"); ``notes`` are put below the last table.
    """
    chosen = arrangement or Arrangement()
    check_arrangement(chosen, list(methods_in(frame)))
    keys = ["run_id", *(["query_id"] if "query_id" in frame else [])]
    measures = list(dict.fromkeys(map(str, frame["measure"])))
    n_all = frame["run_id"].nunique()
    of_measure, columns = {}, {}
    for measure in measures:
        rows = frame[frame["measure"] == measure]
        of_measure[measure] = arranged(rows, chosen)
        columns[measure] = _shown(of_measure[measure], chosen, ci_prob)
    together = len(measures) > 1 and sum(map(len, columns.values())) <= _MAX_NUMBERS_PER_ROW
    first = of_measure[measures[0]]
    if together:  # one order of the rows, that of the first measure
        for measure in measures:
            rows = frame[frame["measure"] == measure].set_index(keys)
            same = rows.loc[first.set_index(keys).index].reset_index()
            of_measure[measure], columns[measure] = same, _shown(same, chosen, ci_prob)
    groups = [measures] if together else [[measure] for measure in measures]
    made = []
    for group in groups:
        rows = of_measure[group[0]]
        names = [tuple(map(str, rows[key])) for key in keys]
        shown = [column for measure in group for column in columns[measure]]
        made.append(
            TextTable(
                caption=_caption(group, shown, rows, n_all, scope, frame, chosen),
                header=("Run", *(["Topic"] if len(keys) > 1 else []), *(c.heading for c in shown)),
                rows=tuple(zip(*names, *(c.cells for c in shown), strict=True)),
                n_names=len(keys),
                groups=tuple((m, len(columns[m])) for m in group) if together else (),
                label=" ".join(["scores", *group]),
                notes=tuple(notes) if group is groups[-1] else (),
            )
        )
    return made


def _shown(frame: pd.DataFrame, chosen: Arrangement, ci_prob: float) -> list[Column]:
    """Columns but the empty ones of corrections that are not defined for the measure."""
    made = columns_of(frame, chosen.columns or _paper_columns(frame), ci_prob)
    return [column for column in made if set(column.cells) != {"–"}] or made


def _caption(
    measures: Sequence[str],
    shown: Sequence[Column],
    rows: pd.DataFrame,
    n_all: int,
    scope: str,
    frame: pd.DataFrame,
    chosen: Arrangement,
) -> str:
    n = rows["run_id"].nunique()
    runs = f"{n_all} run{'' if n_all == 1 else 's'}" if n == n_all else f"{n} of {n_all} runs"
    sentences = [f"{' and '.join(measures)} of {runs}, {scope}."]
    names = {column.name for column in shown}
    below = [m for m in measures if _as_judged(frame[frame["measure"] == m])]
    if "as-judged" in names:
        sentences.append("As judged: unjudged documents are nonrelevant.")
    if "lower" in names and not below:
        sentences.append("Lower: unjudged documents are nonrelevant.")
    elif "lower" in names:
        sentences.append("Lower: no completion of the judgments goes below it.")
    if "unjudged" in names:
        sentences.append("Unjudged: share of the ranks that the measure looks at.")
    drawn = [m for m, has in methods_in(frame).items() if has and {m, f"{m} interval"} & names]
    if drawn:
        sentences.append(
            f"Means and intervals ({', '.join(drawn)}) are over what the unjudged documents may be."
        )
    return " ".join(sentences)

"""What reports of experiments, comparisons and checks say first: a sentence or two from their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bayespool.report.content import shown
from bayespool.report.folder import file_name
from bayespool.report.sentences import leave_out_sentence

if TYPE_CHECKING:
    import pandas as pd

TITLES = {
    "leave-out": "Organizations left out of the pool",
    "budgets": "Pools of several budgets",
    "check": "Check of the models on this pool",
    "check --sbc": "Simulation-based calibration of the models",
    "check --compare-engines": "Laplace against NUTS",
    "check --found": "Judgments that no pooled run explains",
    "judges": "What labels of second judges are worth",
    "pool-width": "Pools of fewer contributors",
    "common-topics": "Topics judged in full",
    "run-types": "Pools without a type of runs",
    "completed qrels": "Completed judgments",
    "compare": "Comparison of runs",
    "reversals": "Claims that more judgments take back",
    "documents": "Documents to judge",
}
"""Titles of reports, by the command that made the result."""

_CAPTIONS = {
    "summary": "Summary",
    "runs": "Run by run",
    "reliability": "Reliability of the scores",
    "differences": "Differences of pairs of runs",
    "across_measures": "Pairs of runs on several measures at once",
    "ranks": "Chances of ranks",
    "significance": "Significance tests",
    "overview": "Significant pairs",
    "elpd": "How well each model predicts held-out organizations",
    "calibration": "Calibration of predictions",
    "pools": "The pools",
    "ranking": "Strategies by their mean bias",
    "by_organization": "Bias by organization",
    "bias": "Bias run by run",
    "documents": "Documents, the most telling first",
}
_FIGURES = {
    "mae": "Mean absolute error of every estimator",
    "truth": "Estimates against true scores; on the diagonal an estimate is right",
    "pit": "Where the truth lies in the posterior of each run; flat where intervals are right",
    "predictive": "Predictions of held-out organizations and what was observed",
    "elpd": "How well each model predicts held-out organizations; higher is better",
    "bias": "Bias of the pools of each strategy, by budget",
    "ranking": "How well the pools of each strategy rank the runs",
    "engines": "Laplace against NUTS",
    "pool-width": "Errors by the number of contributors",
    "common-topics": "Errors by the number of topics judged in full",
    "run-types": "Errors of runs by their type",
    "self-calibration": "Ranks of the true parameters in their posteriors; flat where the models are right",
}
_COLUMNS = {
    "runs": (
        *(
            "fold",
            "run_id",
            "measure",
            "estimator",
            "truth",
            "value",
            "lower",
            "upper",
            "as_judged",
            "n_unjudged",
        ),
        "note",
    )
}
_MOST_PAIRS = 6

Tables = Mapping[str, "pd.DataFrame"]
Row = Mapping[str, Any]


def captions(table: str) -> str:
    """Caption of a table of this name.

    Examples
    --------
    >>> captions("elpd"), captions("p_values")
    ('How well each model predicts held-out organizations', 'P values')
    """
    return _CAPTIONS.get(table, table.replace("_", " ").replace("-", " ").capitalize())


def figure_caption(name: str, measures: Iterable[str] = ()) -> str:
    """Caption of a figure whose file has this name, without its ending.

    Parameters
    ----------
    name : str
    measures : iterable of str
        Measures of the result, which names of files have without parentheses and the like.

    Examples
    --------
    >>> figure_caption("mae"), figure_caption("surface-P_10")
    ('Mean absolute error of every estimator', 'Surface P 10')
    >>> figure_caption("truth-P_rel_2_10", ["P(rel=2)@10"])
    'Estimates against true scores; on the diagonal an estimate is right (P(rel=2)@10)'
    """
    of = {file_name(measure): measure for measure in measures}
    for start, caption in _FIGURES.items():
        if name == start:
            return caption
        if name.startswith(f"{start}-"):
            rest = name[len(start) + 1 :]
            return f"{caption} ({of.get(rest, rest.replace('_', '@', 1))})"
    said = name.replace("_", " ").replace("-", " ")
    return said[:1].upper() + said[1:]


def main_columns(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The columns of a wide table that a page has room for; all of other tables."""
    wanted = [c for c in _COLUMNS.get(name, ()) if c in frame]
    return frame[wanted] if len(wanted) > len(_COLUMNS.get(name, ())) // 2 and wanted else frame


def summary(kind: str, tables: Tables, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """What a result says, in sentences; what it is of, where there are none for its kind.

    Parameters
    ----------
    kind : str
        The command.
    tables : mapping of str to pandas.DataFrame
    metadata : mapping
    """
    say = _SENTENCES.get(kind)
    said: list[str] = []
    if say is not None:
        try:
            said = say(tables)
        except (KeyError, IndexError, ValueError, TypeError):
            said = []  # a table of another version
    pool = metadata.get("pool")
    if isinstance(pool, str):
        said.append(f"The pool: {pool}.")
    return tuple(said) or (f"These are the results of bayespool {kind}; the tables have the numbers.",)


def _of_leave_out(tables: Tables) -> list[str]:
    return [leave_out_sentence(rows) for _, rows in _by_measure(tables["summary"])]


def _of_budgets(tables: Tables) -> list[str]:
    said = []
    for measure, rows in _by_measure(tables["summary"]):
        by_error = sorted(rows, key=lambda row: (row["budget"], row["mae"]))
        least, most = by_error[0], next(row for row in by_error if row["budget"] == by_error[-1]["budget"])
        said.append(
            f"{measure}: with a budget of {least['budget']:,} judgments the pool of {least['strategy']} "
            "misleads least "
            f"about runs left out (mean absolute error {least['mae']:.4f}); with {most['budget']:,} that of "
            f"{most['strategy']} ({most['mae']:.4f})."
        )
    return said


def _of_comparison(tables: Tables) -> list[str]:
    rows = [row for row in _rows(tables["differences"]) if row.get("prob_greater") == row.get("prob_greater")]
    here = [row for row in rows if row["scope"] == "these-topics" and row["prob_greater"] is not None]
    if not here or len(here) > _MOST_PAIRS:
        n = len(here) or len(tables["differences"])
        return [f"{n} differences of pairs of runs; the tables have them."]
    return [_difference(row) for row in here]


def _difference(row: Row) -> str:
    a, b, sign = row["run_a"], row["run_b"], 1
    if row["difference"] < 0:
        a, b, sign = b, a, -1
    greater = row["prob_greater"] if sign == 1 else row["prob_less"]
    if row["prob_equal"] == 1:
        same = f"The {row['measure']} of {a} and {b} is the same, whatever the unjudged documents are"
        return f"{same} ({row['method']})."
    low, high = sorted((sign * row["lower"], sign * row["upper"]))
    return (
        f"On these topics the {row['measure']} of {a} is higher than that of {b} by "
        f"{abs(row['difference']):.3f} "
        f"({100 * row['ci_prob']:g} % interval {low:.3f} to {high:.3f}, {row['method']}); the chance "
        "that it is "
        f"higher is {shown(float(greater), 3)}."
    )


def _of_check(tables: Tables) -> list[str]:
    said = []
    for measure, rows in _by_measure(tables["elpd"]):
        said.append(
            f"{measure}: of {len(rows)} models {rows[0]['model']} predicts held-out organizations best, "
            "by expected log "
            "predictive density."
        )
    return said


def _of_documents(tables: Tables) -> list[str]:
    rows = next(iter(tables.values()))
    n_topics = len(set(rows["query_id"])) if "query_id" in rows else 0
    return [f"{len(rows):,} documents on {n_topics} topics."]


def _by_measure(frame: pd.DataFrame) -> list[tuple[str, list[Row]]]:
    rows = _rows(frame)
    names = list(dict.fromkeys(row["measure"] for row in rows))
    return [(name, [row for row in rows if row["measure"] == name]) for name in names]


def _rows(frame: pd.DataFrame) -> list[Row]:
    return frame.to_dict("records")  # type: ignore[return-value]


_SENTENCES: dict[str, Callable[[Tables], list[str]]] = {
    "leave-out": _of_leave_out,
    "budgets": _of_budgets,
    "compare": _of_comparison,
    "check": _of_check,
    "documents": _of_documents,
}

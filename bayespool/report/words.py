"""Titles, captions and summaries in reports of experiments, comparisons and checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bayespool.report.content import cell_text
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
_MAIN_COLUMNS = {
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
_MAX_PAIRS_WITH_SENTENCES = 6

Tables = Mapping[str, "pd.DataFrame"]
Row = Mapping[str, Any]


def table_caption(table: str) -> str:
    """Caption of a table of this name.

    Examples
    --------
    >>> table_caption("elpd"), table_caption("p_values")
    ('How well each model predicts held-out organizations', 'P values')
    """
    return _CAPTIONS.get(table, table.replace("_", " ").replace("-", " ").capitalize())


def figure_caption(name: str, measures: Iterable[str] = ()) -> str:
    """Caption of a figure of this file name without its ending; ``measures`` restore parentheses in their
    names.

    Examples
    --------
    >>> figure_caption("mae"), figure_caption("surface-P_10")
    ('Mean absolute error of every estimator', 'Surface P 10')
    >>> figure_caption("truth-P_rel_2_10", ["P(rel=2)@10"])
    'Estimates against true scores; on the diagonal an estimate is right (P(rel=2)@10)'
    """
    measure_of_name = {file_name(measure): measure for measure in measures}
    for start, caption in _FIGURES.items():
        if name == start:
            return caption
        if name.startswith(f"{start}-"):
            rest = name[len(start) + 1 :]
            return f"{caption} ({measure_of_name.get(rest, rest.replace('_', '@', 1))})"
    text = name.replace("_", " ").replace("-", " ")
    return text[:1].upper() + text[1:]


def main_columns(name: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of a wide table that fit on a page; all columns of other tables."""
    wanted = [c for c in _MAIN_COLUMNS.get(name, ()) if c in frame]
    return frame[wanted] if len(wanted) > len(_MAIN_COLUMNS.get(name, ())) // 2 and wanted else frame


def summary(kind: str, tables: Tables, metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """Sentences that summarize a result, by its command; a general one where there are none."""
    describe = _SENTENCES.get(kind)
    sentences: list[str] = []
    if describe is not None:
        try:
            sentences = describe(tables)
        except (KeyError, IndexError, ValueError, TypeError):
            sentences = []  # a table written by another version
    pool = metadata.get("pool")
    if isinstance(pool, str):
        sentences.append(f"The pool: {pool}.")
    return tuple(sentences) or (f"These are the results of bayespool {kind}; the tables have the numbers.",)


def _describe_leave_out(tables: Tables) -> list[str]:
    return [leave_out_sentence(rows) for _, rows in _by_measure(tables["summary"])]


def _describe_budgets(tables: Tables) -> list[str]:
    sentences = []
    for measure, rows in _by_measure(tables["summary"]):
        by_error = sorted(rows, key=lambda row: (row["budget"], row["mae"]))
        least, most = by_error[0], next(row for row in by_error if row["budget"] == by_error[-1]["budget"])
        sentences.append(
            f"{measure}: with a budget of {least['budget']:,} judgments the pool of {least['strategy']} "
            "misleads least "
            f"about runs left out (mean absolute error {least['mae']:.4f}); with {most['budget']:,} that of "
            f"{most['strategy']} ({most['mae']:.4f})."
        )
    return sentences


def _describe_comparison(tables: Tables) -> list[str]:
    rows = [row for row in _rows(tables["differences"]) if row.get("prob_greater") == row.get("prob_greater")]
    rows_of_topics = [
        row for row in rows if row["scope"] == "these-topics" and row["prob_greater"] is not None
    ]
    if not rows_of_topics or len(rows_of_topics) > _MAX_PAIRS_WITH_SENTENCES:
        n = len(rows_of_topics) or len(tables["differences"])
        return [f"{n} differences of pairs of runs; the tables have them."]
    return [_difference(row) for row in rows_of_topics]


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
        f"higher is {cell_text(float(greater), 3)}."
    )


def _describe_check(tables: Tables) -> list[str]:
    sentences = []
    for measure, rows in _by_measure(tables["elpd"]):
        sentences.append(
            f"{measure}: of {len(rows)} models {rows[0]['model']} predicts held-out organizations best, "
            "by expected log "
            "predictive density."
        )
    return sentences


def _describe_documents(tables: Tables) -> list[str]:
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
    "leave-out": _describe_leave_out,
    "budgets": _describe_budgets,
    "compare": _describe_comparison,
    "check": _describe_check,
    "documents": _describe_documents,
}

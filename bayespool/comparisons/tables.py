"""Tables of comparisons for readers: pairs of runs, tests, and chances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayespool.tables import TextTable
from bayespool.tables.arrangement import Arrangement
from bayespool.tables.numbers import difference, number, p_value, spread

if TYPE_CHECKING:
    import pandas as pd

PAIR_COLUMNS = ("as-judged", "p", "difference", "interval", "chance", "risk")
"""Columns of `pair_tables`, by name."""
PAIR_KEYS = ("difference", "chance", "p", "risk")
"""Keys to sort pairs by: largest difference, surest order, smallest p-value, largest risk first."""
Pair = tuple[str, str]

TEST_NAMES = {
    "paired-t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "randomization": "randomization test",
    "tukey-hsd": "Tukey's HSD",
}
_CONTROLS = {
    "none": "unadjusted",
    "holm": "Holm over {n} pairs",
    "benjamini-hochberg": "Benjamini–Hochberg over {n} pairs",
    "tukey-hsd": "over {n} pairs",
}


def control_name(control: str, test: str, n_pairs: int) -> str:
    """Name of the adjustment of a test's p-values over pairs."""
    if n_pairs == 1:
        return "one pair"
    return _CONTROLS[test if test == "tukey-hsd" else control].format(n=n_pairs)


def order_of_pairs(
    differences: pd.DataFrame,
    significance: pd.DataFrame,
    arrangement: Arrangement | None,
    *,
    as_judged: str,
) -> list[Pair]:
    """Pairs of one measure, sorted and cut as arranged; p-values are of the first test on ``as_judged``."""
    chosen = arrangement or Arrangement()
    chosen.check(PAIR_COLUMNS, PAIR_KEYS)
    pairs = list(dict.fromkeys(zip(differences["run_a"], differences["run_b"], strict=True)))
    key = chosen.sort or ("difference" if chosen.top is not None else None)
    if key is not None:
        on_these_topics = rows_where(differences, scope="these-topics")
        on_these_topics = on_these_topics if len(on_these_topics) else differences
        tested = (
            rows_where(significance, test=significance["test"].iloc[0]) if len(significance) else significance
        )
        if key == "p":
            ordered = _by_key(rows_where(tested, method=as_judged), "p_adjusted", descending=False)
        elif key == "risk":
            ordered = _by_key(rows_where(tested, method=_main_method(on_these_topics)), "reversal_risk")
        else:
            group = rows_where(on_these_topics, method=_main_method(on_these_topics))
            surest = group[["prob_greater", "prob_less"]].max(axis=1)
            values = group["difference"].abs() if key == "difference" else surest
            ordered = _by_key(group.assign(key=values), "key")
        pairs = [*ordered, *(pair for pair in pairs if pair not in set(ordered))]
    return pairs if chosen.top is None else pairs[: chosen.top]


def _main_method(differences: pd.DataFrame) -> str:
    """First method with draws, or the first."""
    drawn = differences[differences["lower"].notna()]
    return str((drawn if len(drawn) else differences)["method"].iloc[0])


def _by_key(frame: pd.DataFrame, key: str, *, descending: bool = True) -> list[Pair]:
    rows = frame.sort_values(key, ascending=not descending, kind="stable", na_position="last")
    return list(zip(rows["run_a"], rows["run_b"], strict=True))


def pair_tables(
    differences: pd.DataFrame,
    significance: pd.DataFrame,
    *,
    ci_prob: float,
    control: str,
    n_topics: int,
    as_judged: str,
    arrangement: Arrangement | None = None,
    notes: Sequence[str] = (),
) -> list[TextTable]:
    """Tables of a paper, one per measure, of pairs as judged and by the posterior; the last one has
    ``notes``.
    """
    made, chosen = [], arrangement or Arrangement()
    measures = list(dict.fromkeys(differences["measure"]))
    for measure in measures:
        of_measure, tested = (
            rows_where(differences, measure=measure),
            rows_where(significance, measure=measure),
        )
        test = str(tested["test"].iloc[0])
        pairs = order_of_pairs(of_measure, tested, chosen, as_judged=as_judged)
        on_these_topics = rows_where(of_measure, scope="these-topics")
        method = _main_method(on_these_topics) if len(on_these_topics) else ""
        tested = rows_where(tested, test=test)
        judged, all_judged = rows_where(tested, method=as_judged), rows_where(tested, method=method)
        drawn = _row_by_pair(rows_where(on_these_topics, method=method))
        rows_by_table = {"judged": _row_by_pair(judged), "drawn": drawn, "tested": _row_by_pair(all_judged)}
        has_draws = any(row["lower"] == row["lower"] for row in drawn.values())
        names = chosen.columns or (PAIR_COLUMNS if has_draws else PAIR_COLUMNS[:2])
        n = len(_row_by_pair(judged))
        made.append(
            TextTable(
                caption=_caption(str(measure), pairs, n, n_topics, names, method)
                + (f" p: {TEST_NAMES[test]}, {control_name(control, test, n)}." if "p" in names else ""),
                header=("Run A", "Run B", *(_heading(name, ci_prob) for name in names)),
                rows=tuple(
                    (*pair, *(_pair_cell(rows_by_table, pair, name) for name in names)) for pair in pairs
                ),
                n_names=2,
                label=f"comparison {measure}",
                notes=tuple(notes) if measure == measures[-1] else (),
            )
        )
    return made


def _row_by_pair(frame: pd.DataFrame) -> dict[Pair, dict[str, Any]]:
    return {(row["run_a"], row["run_b"]): row for row in records(frame)}


def _heading(name: str, ci_prob: float) -> str:
    headings = {"as-judged": "A − B\nas judged", "p": "p", "difference": "A − B\nposterior"}
    headings |= {"interval": f"{100 * ci_prob:g} %\ninterval", "chance": "Chance\nof A > B"}
    return headings.get(name, "Risk of\nreversal")


def _pair_cell(rows_by_table: dict[str, dict[Pair, dict[str, Any]]], pair: Pair, name: str) -> str:
    table, column = {
        "as-judged": ("judged", "difference"),
        "p": ("judged", "p_adjusted"),
        "difference": ("drawn", "difference"),
        "interval": ("drawn", "lower"),
        "chance": ("drawn", "prob_greater"),
        "risk": ("tested", "reversal_risk"),
    }[name]
    row = rows_by_table[table].get(pair, {})
    value = row.get(column, float("nan"))
    if name == "interval":
        return spread(value, row.get("upper", value), signed=True).replace(" … ", " to ")
    if name == "p" and value < 0.00005:
        return "< 0.0001"
    if name in ("as-judged", "difference"):
        return difference(value)
    return number(value, 4 if name == "p" else 3)


def _caption(
    measure: str, pairs: Sequence[Pair], n: int, n_topics: int, names: Sequence[str], method: str
) -> str:
    which = f"{n} pair{'' if n == 1 else 's'}" if len(pairs) == n else f"{len(pairs)} of {n} pairs"
    sentences = [f"Differences in {measure} of {which} of runs on {n_topics} topics."]
    if "as-judged" in names:
        sentences.append("As judged: unjudged documents are nonrelevant.")
    if {"difference", "interval", "chance"} & set(names):
        sentences.append(
            f"Posterior ({method}), interval and chance are over what the unjudged documents may be."
        )
    if "risk" in names:
        sentences.append("Risk: the chance that judging them takes a significant difference back.")
    return " ".join(sentences)


def difference_cells(pairs: pd.DataFrame, ci_prob: float, rope: float) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of differences of pairs, with the chance of each order."""
    header = ["run a", "run b", "method", "a − b", f"{100 * ci_prob:g} %\ninterval", "a > b"]
    header += ["a = b", "a < b", f"within\n±{rope:g}"]
    rows = [
        [
            row["run_a"],
            row["run_b"],
            row["method"],
            difference(row["difference"]),
            spread(row["lower"], row["upper"], signed=True),
        ]
        + [
            number(x, 3)
            for x in (row["prob_greater"], row["prob_equal"], row["prob_less"], row["prob_equivalent"])
        ]
        for row in records(pairs)
    ]
    return header, rows


def across_cells(pairs: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of pairs on several measures at once."""
    header = [
        "run a",
        "run b",
        "method",
        "a > b\non all",
        "a < b\non all",
        "they\ndisagree",
        "a = b on\nsome",
    ]
    names = ("prob_all_greater", "prob_all_less", "prob_disagree", "prob_tied")
    rows = [
        [row["run_a"], row["run_b"], row["method"], *(number(row[name], 3) for name in names)]
        for row in records(pairs)
    ]
    return header, rows


def across_overview_cells(overview: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of pairs on several measures at once, summarized over pairs."""
    header = ["method", "pairs", "one order on all,\nchance over 0.95", "they disagree:\nmean chance"]
    rows = [
        [row["method"], str(row["n_pairs"]), str(row["n_sure"]), number(row["prob_disagree"], 3)]
        for row in records(overview)
    ]
    return header, rows


def rank_cells(ranks: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of the chances of ranks, the best run first."""
    shown = [rank for rank in range(1, 7) if rank <= ranks["rank"].max()]
    header = ["run", "method", "value", "expected\nrank", *(f"rank {rank}" for rank in shown)]
    rows = []
    for (run, method), chances in ranks.groupby(["run_id", "method"], sort=False):
        first = chances.iloc[0]
        of_rank = dict(zip(chances["rank"], chances["prob_rank"], strict=True))
        cells = [str(run), str(method), number(first["value"]), f"{first['expected_rank']:.2f}"]
        rows.append((first["expected_rank"], [*cells, *(number(of_rank[rank], 3) for rank in shown)]))
    return header, [cells for _, cells in sorted(rows, key=lambda row: row[0])]


def tested_cells(tests: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of one test on pairs, with the chances that completed judgments confirm it."""
    header = ["run a", "run b", "method", "a − b", "p", "adjusted\np", "significant"]
    header += ["chance, all\njudged", "risk of\nreversal"]
    rows = [
        [
            row["run_a"],
            row["run_b"],
            row["method"],
            difference(row["difference"]),
            p_value(row["p_value"]),
            p_value(row["p_adjusted"]),
            "yes" if row["significant"] else "no",
            number(row["prob_significant"], 3),
            number(row["reversal_risk"], 3),
        ]
        for row in records(tests)
    ]
    return header, rows


def overview_cells(overview: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of tests summarized over pairs."""
    header = ["method", "pairs", "significant", "chance, all judged:\nmean", "risk of reversal:\nmean"]
    rows = [
        [
            row["method"],
            str(row["n_pairs"]),
            str(row["n_significant"]),
            number(row["prob_significant"], 3),
            number(row["reversal_risk"], 3),
        ]
        for row in records(overview)
    ]
    return header, rows


def reliability_cells(reliability: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Heading and rows of the coefficients of reliability."""
    signs = {"generalizability": "Eρ² (order of runs)", "dependability": "Φ (scores themselves)"}
    rows = [
        [
            signs[row["coefficient"]],
            row["method"],
            number(row["value"]),
            "–" if row["lower"] != row["lower"] else f"{row['lower']:.4f} … {row['upper']:.4f}",
        ]
        for row in records(reliability)
    ]
    return ["coefficient", "method", "value", "interval"], rows


def rows_where(frame: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """Rows with these values in the named columns."""
    for name, value in wanted.items():
        frame = frame[frame[name] == value]
    return frame


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as mappings from columns to values."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def by_pair(frame: pd.DataFrame, run_ids: Sequence[str]) -> pd.DataFrame:
    """Sort rows by pair, in the order of the runs."""
    place = {run: i for i, run in enumerate(run_ids)}
    return frame.sort_values(["run_a", "run_b"], kind="stable", key=lambda column: column.map(place))


def in_order(frame: pd.DataFrame, pairs: Sequence[Pair]) -> pd.DataFrame:
    """Rows of these pairs, in their order."""
    place = {pair: i for i, pair in enumerate(pairs)}
    of_rows = [place.get(pair, -1) for pair in zip(frame["run_a"], frame["run_b"], strict=True)]
    rows = frame.assign(_place=of_rows)
    rows = rows[rows["_place"] >= 0].sort_values("_place", kind="stable")
    return rows.drop(columns="_place")

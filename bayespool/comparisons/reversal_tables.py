"""Tables of reversals: their columns, and how readers see them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from bayespool.comparisons.tables import PAIR, TEST_NAMES, control_name, count_pairs
from bayespool.tables.columns import Column
from bayespool.tables.formatting import counted
from bayespool.tables.table import Spread, Table, View

if TYPE_CHECKING:
    import pandas as pd

    from bayespool.comparisons.outcomes import Reversals

_COLUMNS = PAIR | {
    "group": Column("group", "text", "Whether the runs contributed to the pool."),
    "judgments": Column("judgments", "count", "Size of the smaller judgment set."),
    "all_judgments": Column("all\njudgments", "count", "Number of all judgments."),
    "pool_depth": Column("pool\ndepth", "count", "Depth of the pool of these judgments."),
    "residual": Column("residual", "score", "Mean Δ of the runs: how much their scores can rise."),
    "value": Column("mean", "score", "Mean score of the runs."),
    "rmse": Column("RMSE", "score", "Root mean square error of the runs' scores against all judgments."),
    "topic_rmse": Column("RMSE\nper topic", "score", "The same over runs and topics."),
    "against": Column(
        "against", "text", "Standard of comparison under all judgments: the same method, or as judged."
    ),
    "n_pairs": Column("pairs", "count", "Number of pairs of runs."),
    "separability": Column("separable", "share", "Share of pairs that are significant."),
    "separability_all": Column(
        "separable,\nall judged", "share", "Share of pairs that are significant under all judgments."
    ),
    "kept": Column("kept", "share", "Share of pairs significant under both sets the same way."),
    "reversed": Column("reversed", "share", "Share of pairs significant under the smaller set alone."),
    "swapped": Column("swapped", "share", "Share of pairs significant under both sets, opposite ways."),
    "gained": Column("gained", "share", "Share of pairs significant under all judgments alone."),
    "reversed_of_significant": Column(
        "taken\nback", "share", "Share reversed or swapped of the pairs significant under the smaller set."
    ),
    "p_value": Column("p", "p-value", "Adjusted p-value under the smaller set."),
    "p_value_all": Column("p, all\njudged", "p-value", "Adjusted p-value under all judgments."),
    "statement": Column(
        "statement",
        "text",
        "reversed: a significant difference will not be; significant: a difference will be.",
    ),
    "n": Column("pairs", "count", "Number of pairs graded."),
    "bin_lower": Column("from", "chance", "Lower end of the bin of chances."),
    "bin_upper": Column("to", "chance", "Upper end of the bin of chances."),
    "announced": Column("announced", "chance", "Mean chance announced.", decimals=4),
    "happened": Column("happened", "chance", "Share that all judgments bear out.", decimals=4),
    "brier": Column("Brier", "chance", "Brier score of the chances.", decimals=4),
    "brier_constant": Column(
        "Brier of\nthat share", "chance", "Brier score of announcing that share for every pair.", decimals=4
    ),
}
_RISKS = _COLUMNS | {
    "significant": Column("significant", "flag", "Whether the pair is significant as judged."),
    "reversal_risk": Column("risk of\nreversal", "chance", "Chance that all judgments do not confirm that."),
    "reversed": Column("reversed", "flag", "Whether all judgments did not confirm it."),
    "prob_significant": Column(
        "chance, all\njudged", "chance", "Chance that all judgments make it significant."
    ),
    "significant_all": Column(
        "significant,\nall judged", "flag", "Whether all judgments made it significant."
    ),
    "gradable": Column("gradable", "flag", "Whether nearly all of both runs is judged in the end."),
}


_CAPTIONS = {
    "rates": "Separability and reversals",
    "trends": "Scores as judgments grow",
    "p_values": "P-values of pairs under fewer and under all judgments",
    "risks": "Announced chances of pairs",
    "calibration": "Announced chances by bins",
    "grades": "Announced chances, graded",
}
"""Captions of the tables, each called like the method that gives its frame."""


def reversal_tables(result: Reversals) -> tuple[Table, ...]:
    """Tables of reversals."""
    frames = {name: getattr(result, name)() for name in _CAPTIONS}
    views = {"rates": _views_of_rates(result, frames["rates"]), "trends": _views_of_trends(result)}
    if not frames["grades"].empty:
        names = ("measure", *_GRADES.names) if len(result.measures) > 1 else _GRADES.names
        views["grades"] = (replace(_GRADES, names=names),)
    return tuple(
        Table(name, caption, frames[name], _RISKS if name == "risks" else _COLUMNS, views.get(name, ()))
        for name, caption in _CAPTIONS.items()
    )


def _views_of_rates(result: Reversals, rates: pd.DataFrame) -> tuple[View, ...]:
    """Views of each group and number of judgments; one where both ways of counting agree, as they do where
    everything is judged in the end.
    """
    shares = ("separability", "separability_all", "kept", "reversed", "swapped", "gained")
    views = []
    for measure, group in product(map(str, result.measures), result.groups):
        for n in result.n_judgments[:-1]:
            some = f"{n:,} of {result.n_judgments[-1]:,} judgments (pool depth {result.pool_depth[n]})"
            control = control_name(result.control, result.test, count_pairs(result.groups[group]))
            test = f"{TEST_NAMES[result.test]}, level {result.level:g}, {control}"
            ways = {
                "same method": f"{some}; {test}",
                "as-judged": f"{some} against the scores as judged by all of them",
            }
            of_n = rates.query("measure == @measure and group == @group and judgments == @n")
            both = [
                of_n.loc[of_n["against"] == against, ["method", *shares]].to_dict("records")
                for against in ways
            ]
            if both[0] == both[1]:
                del ways["as-judged"]
            for against, more in ways.items():
                where = {"measure": measure, "group": group, "judgments": n, "against": against}
                title = f"{_pairs_of(result, measure, group)}: {more}"
                views.append(View(title=title, names=("method",), columns=shares, where=where))
    return tuple(views)


def _views_of_trends(result: Reversals) -> tuple[View, ...]:
    return tuple(
        View(
            title=f"{_pairs_of(result, measure, group)}: scores as judgments grow",
            names=("method",),
            columns=(Spread(("value", "rmse", "topic_rmse"), "judgments", label="mean,\n{} judged"),),
            where={"measure": measure, "group": group},
        )
        for measure, group in product(map(str, result.measures), result.groups)
    )


_GRADES = View(
    title="announced chances against what all judgments say",
    names=("group", "judgments", "method", "statement"),
    columns=("n", "announced", "happened", "brier", "brier_constant"),
    spare=("brier_constant",),
)


def _pairs_of(result: Reversals, measure: str, group: str) -> str:
    n, n_pairs = len(result.groups[group]), count_pairs(result.groups[group])
    return f"{measure}, {counted(n, f'{group} run')}, {counted(n_pairs, 'pair')}"

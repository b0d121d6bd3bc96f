"""Sentences on runs as a mean of groups of topics, and on systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from bayespool.comparisons.compared import Compared
from bayespool.comparisons.sentences import amount, chance_text, conditional, p_text
from bayespool.comparisons.tables import mean_test_text
from bayespool.measures import Measure, Normalized
from bayespool.measures.groups import ALL_TOPICS, MEAN_OF_GROUPS, groups_text
from bayespool.names import AS_JUDGED, Scope
from bayespool.tables.formatting import counted, interval, level, number, p_value, some_of

_MAX_PAIRS = 3
_SAMPLES: dict[bool, dict[Scope, str]] = {
    False: {"population": "On topics like these, within groups,", "groups": "On groups like these"},
    True: {"population": "On topics and runs like these", "groups": "On groups and runs like these"},
}
"""Names of the wider scopes in sentences, by whether systems are compared."""


def contrast_sentences(comparison: Compared) -> Iterator[str]:
    """Yield sentences on means of groups, or on systems: on up to three pairs, or how many pairs differ."""
    contrasts = comparison.contrasts
    if contrasts is None:
        return
    noun, names = "system" if contrasts.units.are_systems else "run", contrasts.units.names
    frame = comparison.system_differences() if contrasts.units.are_systems else comparison.groups()
    for measure in comparison.measures:
        estimator = comparison.shown_estimator(measure)
        rows = frame[(frame["measure"] == str(measure)) & (frame["estimator"] == estimator)]
        if measure.describes_judgments:
            continue
        if len(contrasts.pairs[0]) > _MAX_PAIRS:
            yield _all_pairs_sentence(comparison, measure, rows, f"{noun}s")
            continue
        for a, b in zip(*contrasts.pairs, strict=True):
            is_pair = (rows[f"{noun}_a"] == names[a]) & (rows[f"{noun}_b"] == names[b])
            yield _sentence(comparison, measure, estimator, rows[is_pair], (int(a), int(b)))


def _mean_text(comparison: Compared) -> tuple[str, str]:
    """Return the name of the part that sentences speak of, and what it is a mean of."""
    assert comparison.contrasts is not None
    groups = comparison.contrasts.groups
    return (ALL_TOPICS, "") if groups is None else (MEAN_OF_GROUPS, f"As a mean of {groups_text(groups)}, ")


def _all_pairs_sentence(comparison: Compared, measure: Measure, rows: pd.DataFrame, nouns: str) -> str:
    """Return a sentence on how many pairs differ significantly."""
    part, of = _mean_text(comparison)
    whole = rows[(rows["group"] == part) & (rows["scope"] == "these-topics")]
    significant = whole["significant"]
    n, n_doubtful = (
        int(significant.fillna(False).sum()),
        int((significant.isna() & whole["p_value"].notna()).sum()),
    )
    text = f"{of}{n} of {counted(len(whole), 'pair')} of {nouns} differ significantly in {measure} as judged"
    more = f"; {n_doubtful} more {'is' if n_doubtful == 1 else 'are'} too uncertain to declare significant"
    return f"{text} at {comparison.level:g} ({mean_test_text(comparison)}){more * bool(n_doubtful)}."


def _sentence(
    comparison: Compared, measure: Measure, estimator: str, rows: pd.DataFrame, pair: tuple[int, int]
) -> str:
    """Return a sentence on a pair, the better first, given its rows by one estimator."""
    contrasts = comparison.contrasts
    assert contrasts is not None
    units, groups = contrasts.units, contrasts.groups
    part, of_what = _mean_text(comparison)
    whole = rows[rows["group"] == part].set_index("scope")
    here: Any = whole.iloc[0]
    turn = 1
    if here["difference"] < 0:
        turn, pair = -1, (pair[1], pair[0])
    first, second = map(units.text, pair)
    lead, subject = turn * here["difference"], f"{of_what or 'On these topics '}the {measure} of {first}"
    text = f"{subject} is higher than that of {second} by {amount(lead)}"
    if not lead:
        text = f"{subject} and {second} is the same"
    is_open = bool(here["bound_lower"] < here["bound_upper"])
    if estimator == AS_JUDGED:
        between = " and ".join(number(end, 3) for end in _ends(here, turn, "bound_lower", "bound_upper"))
        text += " as judged"
        reach = " in reach" * isinstance(measure, Normalized)
        text += f", between {between} whatever the unjudged documents{reach} are" * is_open
    elif is_open and "these-topics" in whole.index:
        runs = [comparison.run_ids[run] for i in pair for run in units.members[i]]
        by = conditional(comparison, estimator, [measure], runs)
        text += f" ({level(comparison.ci_prob)} interval {_interval(here, turn)} due to unjudged documents, "
        text += f"{by}; probability that it is higher {_chance(here, turn)})"
    text += "."
    has_samples = any(len(runs) > 1 for runs in units.members)  # of one run nothing is known of runs like it
    for scope, where in _SAMPLES[units.are_systems and has_samples].items():
        if scope in whole.index:
            row: Any = whole.loc[scope]
            where = where if groups is not None else where.replace(", within groups,", "")
            text += f" {where} the {level(comparison.ci_prob)} interval is {_interval(row, turn)} "
            tested = f", t test over groups p {p_value(row['p_adjusted'])}" * (scope == "groups")
            text += f"(probability that it is higher {_chance(row, turn)}{tested})."
    text += _significance(comparison, measure, here, turn, is_open=is_open)
    if groups is None:
        return text
    by_group = rows[rows["scope"] == here.name]
    single = by_group[by_group["group"].isin(groups.names)]
    over: Any = by_group[by_group["group"] == ALL_TOPICS].iloc[0]
    is_so = single["significant"].fillna(False) & (single["difference"] * turn > 0)
    clear = single[is_so]["group"].tolist()
    lead_over = turn * over["difference"]
    text += f" It is higher in {int((single['difference'] * turn > 0).sum())} of {len(groups.names)} groups"
    text += f" (significantly so in {some_of(clear)})" * bool(clear)
    way = "lower" if lead_over < 0 else "higher"
    return f"{text}, and over all {over['n_topics']} topics {way} by {amount(abs(lead_over))}."


def _significance(comparison: Compared, measure: Measure, row: Any, turn: int, *, is_open: bool) -> str:
    """Return a sentence on the test of a pair; without a verdict where judging could take it back."""
    p = float(row["p_adjusted"])
    text = f" On the existing judgments the difference of {amount(turn * row['as_judged'])}"
    if np.isnan(p):
        return f"{text} has no test."
    is_low = p <= comparison.level
    in_doubt = pd.isna(row["significant"]) if is_low else is_open and not comparison.decides(measure)
    verb = f"{'would' if in_doubt else 'is'}{' not' * (not is_low)}{' be' * in_doubt}"
    condition = " if all that is unjudged were nonrelevant" * in_doubt
    test = f"{mean_test_text(comparison)}: {p_text(p)}, standard error {number(row['standard_error'], 3)}"
    return f"{text} {verb} significant at {comparison.level:g}{condition} ({test})."


def _ends(row: Any, turn: int, lower: str, upper: str) -> tuple[float, float]:
    """Return the ends of how much higher the first of a pair is."""
    return (row[lower], row[upper]) if turn > 0 else (-row[upper], -row[lower])


def _interval(row: Any, turn: int) -> str:
    return interval(*_ends(row, turn, "lower", "upper"), 3, signed=True).replace("+", "")


def _chance(row: Any, turn: int) -> str:
    return chance_text(row["prob_greater"] if turn > 0 else row["prob_less"])

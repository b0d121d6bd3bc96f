"""Sentences for papers on comparisons and experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayespool.comparisons import Comparison, SignificantDraws
from bayespool.comparisons.comparison import AS_THEY_STAND
from bayespool.comparisons.tables import TEST_NAMES, control_name
from bayespool.errors import InputError, known_names
from bayespool.measures import Measure
from bayespool.tables.numbers import percent


def comparison_sentence(
    comparison: Comparison,
    run_a: str,
    run_b: str,
    measure: object | None = None,
    *,
    method: str | None = None,
    test: str | None = None,
) -> str:
    """Sentence on a pair of runs, the better one first; defaults are the first measure, method with draws and
    test.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.comparisons import compare
    >>> two = compare(load_example(), ["new-b", "new-a"], "P@10", draws=250)
    >>> print(comparison_sentence(two, "new-b", "new-a").split(" by ")[0])
    On these 20 topics the P@10 of new-a is higher than that of new-b
    """
    a, b = (_position(comparison.run_ids, run, "run") for run in (run_a, run_b))
    chosen_measure = comparison.measures[_position([str(m) for m in comparison.measures], measure, "measure")]
    with_draws = list(dict.fromkeys(m for _, m, _ in comparison.draws))
    if not with_draws:
        raise InputError("no method has draws to speak of chances with", hint="add a posterior estimator")
    chosen_method = with_draws[_position(with_draws, method, "method with draws")]
    chosen_test = comparison.tests[_position(comparison.tests, test, "test")]
    if (chosen_measure, chosen_method, "these-topics") not in comparison.draws:
        raise InputError("the scope these-topics was left out of the comparison")
    draws = comparison.draws[chosen_measure, chosen_method, "these-topics"]
    if draws.difference[a, b] < 0:
        a, b = b, a
    better, worse = comparison.run_ids[a], comparison.run_ids[b]
    if draws.prob_equal[a, b] == 1:
        n = len(comparison.scores.query_ids)
        same = (
            f"the {chosen_measure} of {better} and {worse} is the same, whatever the unjudged documents are"
        )
        return f"On these {n} topics {same} ({chosen_method})."
    level = f"{100 * comparison.ci_prob:g} %"
    n_topics = len(comparison.scores.query_ids)
    chance = _chance(draws.prob_greater[a, b])
    text = (
        f"On these {n_topics} topics the {chosen_measure} of {better} is higher than that of {worse} by "
        f"{draws.difference[a, b]:.3f}"
    )
    if is_certain := _is_fully_judged(comparison, chosen_measure, a, b):
        text += ": nothing of either is unjudged."
    else:
        ends = _range(draws.lower[a, b], draws.upper[a, b])
        text += f" ({level} interval {ends} over what the unjudged documents may be, {chosen_method}; "
        text += f"chance that it is higher {chance}"
        text += f", equal {_chance(draws.prob_equal[a, b])})." if draws.n_equal[a, b] else ")."
    if (chosen_measure, chosen_method, "population") in comparison.draws:
        population = comparison.draws[chosen_measure, chosen_method, "population"]
        text += (
            f" For the population of topics that they are a sample of the interval is "
            f"{_range(population.lower[a, b], population.upper[a, b])} (chance that it is higher "
            f"{_chance(population.prob_greater[a, b])})."
        )
    return text + _significance_clause(
        comparison, chosen_measure, chosen_method, chosen_test, a, b, is_certain=is_certain
    )


def across_sentence(row: Mapping[str, Any], n_topics: int) -> str:
    """Sentence on a pair of runs on several measures, from a row of `Comparison.across_measures`, likelier
    order first.

    Examples
    --------
    >>> row = {"measures": "nDCG@10, AP@100", "run_a": "a", "run_b": "b", "method": "posterior-combined"}
    >>> row |= {"prob_all_greater": 0.02, "prob_all_less": 0.9, "prob_disagree": 0.08, "prob_tied": 0.0}
    >>> for sentence in across_sentence(row, 50).split(". "):
    ...     print(sentence)
    On these 50 topics b is higher than a on nDCG@10 and on AP@100 with a chance of 0.900 (posterior-combined)
    The chance that it is lower on all of them is 0.020, that the measures disagree 0.080.
    """
    a, b = str(row["run_a"]), str(row["run_b"])
    up, down = float(row["prob_all_greater"]), float(row["prob_all_less"])
    if up < down:
        a, b, up, down = b, a, down, up
    *first, last = (f"on {name}" for name in str(row["measures"]).split(", "))
    text = (
        f"On these {n_topics} topics {a} is higher than {b} {', '.join(first)} and {last} with a chance of "
        f"{_chance(up)} ({row['method']}). The chance that it is lower on all of them is {_chance(down)}, "
        f"that the measures disagree {_chance(float(row['prob_disagree']))}"
    )
    return f"{text}, that they tie {_chance(row['prob_tied'])}." if row["prob_tied"] > 0 else f"{text}."


def leave_out_sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    """Sentences on the bias as judged and the best estimator, from the rows of one measure of
    `LeaveOutResult.summary_frame`.

    Examples
    --------
    >>> plain = {"measure": "P@10", "estimator": "lower-bound", "n_runs": 20, "bias": -0.03, "rmse": 0.04}
    >>> best = {"estimator": "posterior-combined", "bias": 0.001, "rmse": 0.01, "coverage_95": 0.95}
    >>> rows = [plain | {"coverage_95": float("nan")}, plain | best]
    >>> for clause in leave_out_sentence(rows).split(". "):
    ...     print(clause)
    P@10, over 20 runs left out of the pool: as judged a run is underestimated by 0.0300 on average
    posterior-combined comes nearest to the truth (root mean square error 0.0100 against 0.0400 as judged)
    The 95 % intervals of posterior-combined hold the truth of 95.0 % of the runs with anything unjudged.
    """
    best = min(rows, key=lambda row: float(row["rmse"]))
    plain = [row for row in rows if row["estimator"] == "lower-bound"]
    text = f"{best['measure']}, over {best['n_runs']} runs left out of the pool:"
    if plain:
        side = "underestimated" if plain[0]["bias"] < 0 else "overestimated"
        text += f" as judged a run is {side} by {abs(plain[0]['bias']):.4f} on average."
    if plain and best is plain[0]:
        text += f" No estimator comes nearer to the truth (root mean square error {best['rmse']:.4f})."
    else:
        text += f" {best['estimator']} comes nearest to the truth (root mean square error {best['rmse']:.4f}"
        text += f" against {plain[0]['rmse']:.4f} as judged)." if plain else ")."
    covered = [
        row for row in rows if row["coverage_95"] is not None and row["coverage_95"] == row["coverage_95"]
    ]
    for row in covered[:1]:
        share = percent(row["coverage_95"])
        text += (
            f" The 95 % intervals of {row['estimator']} hold the truth of {share} of the runs "
            "with anything unjudged."
        )
    return text


def _is_fully_judged(comparison: Comparison, measure: Measure, a: int, b: int) -> bool:
    """Whether nothing of the two runs, nor of their ideal rankings, is unjudged."""
    bounds = comparison.scores.bounds[comparison.measures.index(measure)]
    return not bounds.has_unjudged[[a, b]].any()


def _significance_clause(
    comparison: Comparison, measure: Measure, method: str, test: Any, a: int, b: int, *, is_certain: bool
) -> str:
    n_runs = len(comparison.run_ids)
    p = float(comparison.p_adjusted[measure, AS_THEY_STAND, test][a, b])
    named = f"{TEST_NAMES[test]}, {control_name(comparison.control, test, n_runs * (n_runs - 1) // 2)}"
    if np.isnan(p):
        return f" On the judgments as they stand the two have the same score on every topic ({named})."
    value = comparison.scores[AS_THEY_STAND, measure].value
    significant = p <= comparison.level
    text = (
        f" On the judgments as they stand the difference of {value[a] - value[b]:.3f} is "
        f"{'' if significant else 'not '}significant at {comparison.level:g} ({named}: {_p_value(p)})"
    )
    draws: SignificantDraws | None = comparison.significant.get((measure, method, test))
    if draws is None or is_certain:
        return text + "."
    if not significant:
        chance = _chance(float(draws.prob_significant[a, b]))
        return f"{text}; with all documents judged it would be with a chance of {chance}."
    risk = draws.reversal_risk(comparison.better_as_they_stand(measure, test))[a, b]
    return text + f"; the chance that judging the unjudged documents takes it back is {_chance(risk)}."


def _position(known: Sequence[str], wanted: object | None, kind: str) -> int:
    if wanted is None:
        return 0
    if str(wanted) not in known:
        raise InputError(
            f"no {kind} {str(wanted)!r} in the comparison",
            hint=known_names(str(wanted), known, before="it has "),
        )
    return list(known).index(str(wanted))


def _range(lower: float, upper: float) -> str:
    """An interval as text, with as many decimals as its ends need to differ."""
    for digits in (3, 4, 5):
        ends = f"{lower:.{digits}f}", f"{upper:.{digits}f}"
        if ends[0] != ends[1]:
            return " to ".join(ends)
    return f"narrower than 0.00001, at {lower:.3f}"


def _chance(x: float) -> str:
    written = f"{x:.3f}"
    return {"0.000": "under 0.001", "1.000": "over 0.999"}.get(written, written)


def _p_value(p: float) -> str:
    return "p < 0.0001" if p < 0.00005 else f"p = {p:.4f}"

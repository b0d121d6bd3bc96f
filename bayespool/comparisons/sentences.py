"""Sentences on pairs of runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, get_args

import numpy as np

from bayespool.comparisons.compared import Compared, TestKey
from bayespool.comparisons.draws import DrawComparison, SignificantDraws
from bayespool.comparisons.significance import effect_sizes
from bayespool.comparisons.tables import test_text
from bayespool.errors import InputError, known_names
from bayespool.evidence.difference_bounds import are_differences_sharp
from bayespool.measures import Measure, Normalized
from bayespool.names import AS_JUDGED, BY_DESIGN, Scope, SignificanceTest
from bayespool.scoring.score_tables import conditions, missing_topics
from bayespool.tables.formatting import counted, interval, level, number, p_value, percent, some_of

_CAUSES = {"topics": "topics", "runs": "runs", "unjudged": "unjudged documents"}
"""Names of what the variance of a system's score is due to, keyed by the beginnings of columns."""
_UNLIKELY = 0.01  # a direction that is not worth naming
_MAX_PAIRS = 3  # of three runs; a leaderboard says more of several


def comparison_sentences(comparison: Compared) -> Iterator[str]:
    """Yield sentences on baselines, on up to three pairs of runs, per measure and across measures, or on
    systems.
    """
    n_topics = len(comparison.scores.query_ids)
    systems = comparison.variance().dropna(subset="value").query("scope != 'these-topics'")
    if comparison.compares_systems:
        yield from map(system_sentence, systems.to_dict("records"))
        return
    for measure in comparison.measures:
        if not measure.describes_judgments:
            yield from _measure_sentences(comparison, measure)
    if len(comparison.run_ids) > 2:
        runs = comparison.runs().dropna(subset="value").sort_values("value", ascending=False, kind="stable")
        groups = dict(iter(runs.groupby(["measure", "estimator", "scope"])))
        widest = [scope for scope in get_args(Scope) if scope in comparison.metadata["scope"]][-1]
        for measure, estimator, scope in comparison.draws:
            if scope != widest:
                continue
            by = conditional(comparison, estimator, [measure], comparison.run_ids)
            rows = groups[str(measure), estimator, scope].assign(estimator=_with_missing(comparison, by))
            records, equal = rows.to_dict("records"), comparison.draws[measure, estimator, scope].prob_equal
            place = comparison.run_ids.index(records[0]["run_id"])
            same = {comparison.run_ids[i] for i in np.flatnonzero(equal[place] == 1)}
            tied = [row["run_id"] for row in records[1:] if row["run_id"] in same]
            yield leaderboard_sentence(records, n_topics, tied)
    yield from map(system_sentence, systems.to_dict("records"))
    if comparison.n_pairs <= _MAX_PAIRS:
        across = comparison.across_measures().query("scope == 'these-topics'")
        for _, rows in across.groupby("measures", sort=False):
            for row in rows[rows["estimator"] == rows["estimator"].iloc[0]].to_dict("records"):
                pair = row["run_a"], row["run_b"]
                by = conditional(comparison, row["estimator"], row["measures"].split(", "), pair)
                yield across_sentence(row | {"estimator": _with_missing(comparison, by, pair)}, n_topics)


def _measure_sentences(comparison: Compared, measure: Measure) -> Iterator[str]:
    """Yield sentences on the baselines, and on up to three pairs of runs, on one measure."""
    estimator = comparison.shown_estimator(measure)
    says_nothing = estimator == AS_JUDGED and comparison.has_draws(measure)
    pairs = comparison.pairs_in_order(measure, comparison.arrangement)
    lists_pairs = len(pairs) <= _MAX_PAIRS and not says_nothing
    if comparison.n_pairs > 1 and estimator != BY_DESIGN:  # whose few answers as judged are no comparison
        for baseline in comparison.baseline:
            text = _baseline_sentence(comparison, measure, baseline)
            if not lists_pairs:
                text += _highest_sentence(comparison, measure, estimator, baseline)
            yield text
        if not (comparison.baseline or lists_pairs):
            yield _all_pairs_sentence(comparison, measure)
    if lists_pairs:
        for run_a, run_b in zip(pairs["run_a"], pairs["run_b"], strict=True):
            yield comparison_sentence(comparison, run_a, run_b, measure)


def conditional(
    comparison: Compared, estimator: str, measures: Sequence[object], run_ids: Sequence[str]
) -> str:
    """Return an estimator's name with the conditions of its posteriors of some runs."""
    far = [run for run in run_ids if run in comparison.far_runs]
    condition = conditions(comparison.scores.metadata, measures, far, run_ids)
    return f"{estimator}; {condition}" if condition else estimator


def _with_missing(comparison: Compared, by: str, run_ids: Sequence[str] | None = None) -> str:
    """Return an estimator's name and conditions with the number of topics that runs lack."""
    return "; ".join(text for text in (by, missing_topics(comparison.scores.metadata, run_ids)) if text)


def p_text(p: float) -> str:
    """Format a p-value with its equality or inequality sign."""
    return f"p {'' if p_value(p).startswith('<') else '= '}{p_value(p)}"


def comparison_sentence(
    comparison: Compared,
    run_a: str,
    run_b: str,
    measure: object | None = None,
    *,
    estimator: str | None = None,
    test: str | None = None,
) -> str:
    """Return a sentence that compares two runs, the better run first.

    Defaults are the first measure, estimator with draws (without one the scores as judged) and test.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.comparisons import compare
    >>> two = compare(load_example(), ["new-b", "new-a"], "P@10", estimators="posterior-ratio")
    >>> print(comparison_sentence(two, "new-b", "new-a").split(" by ")[0])
    On these 20 topics the P@10 of new-a is higher than that of new-b
    """
    a, b = (_position(comparison.run_ids, run, "run") for run in (run_a, run_b))
    if comparison.baseline and (run_a in comparison.baseline) == (run_b in comparison.baseline):
        raise InputError(
            f"{run_a} and {run_b} are not compared", hint=f"only with {some_of(comparison.baseline)}"
        )
    chosen_measure = comparison.measures[_position(list(map(str, comparison.measures)), measure, "measure")]
    with_draws = [by for of, by, scope in comparison.draws if (of, scope) == (chosen_measure, "these-topics")]
    chosen_estimator = (with_draws or [AS_JUDGED])[_position(with_draws, estimator, "estimator with draws")]
    chosen_test = comparison.tests[_position(comparison.tests, test, "test")]
    return _pair_sentence(comparison, a, b, chosen_measure, chosen_estimator, chosen_test)


_OTHER_SCOPES: dict[Scope, str] = {
    "population": " For the population of topics that these are sampled from, the interval is {ends} "
    "(probability "
    "that it is {way} {chance}{equal})."
}


def _baseline_sentence(comparison: Compared, measure: Measure, baseline: str) -> str:
    """Return a sentence on the runs that differ significantly from a baseline."""
    place, test = comparison.run_ids.index(baseline), comparison.tests[0]
    announced = comparison.announced_as_judged(measure, test)
    silent = comparison.better_as_judged(measure, test) & ~announced
    silent, by_missing = silent | silent.T, comparison.is_by_missing_topics(measure, AS_JUDGED, test)
    groups = announced[:, place], announced[place], (silent & ~by_missing)[place], by_missing[place]
    others = _others(comparison)
    higher, lower, doubtful, missing = (
        [comparison.run_ids[i] for i in others if group[i]] for group in groups
    )
    named = [f" ({some_of(names)})" if names else "" for names in (higher, lower)]
    text = (
        f"Against {baseline}, {len(higher)} of {counted(len(others), 'run')} "
        f"{'has' if len(higher) == 1 else 'have'} a significantly higher {measure} as judged{named[0]} and "
        f"{len(lower)} a lower one{named[1]} at {comparison.level:g} ({test_text(comparison, test)})"
    )
    text += f"; that of {some_of(doubtful)} is too uncertain to declare significant" * bool(doubtful)
    if lacking := missing_topics(comparison.scores.metadata):
        text += f"; {lacking}"
        if len(missing) == 1:
            text += f": on the common topics {missing[0]} does not differ significantly"
        elif missing:
            either = "neither" if len(missing) == 2 else "none of"
            named_runs = " nor ".join(missing) if len(missing) == 2 else some_of(missing)
            text += f": on the common topics {either} {named_runs} differs significantly"
    return f"{text}."


def _all_pairs_sentence(comparison: Compared, measure: Measure) -> str:
    """Return a sentence on how many of all pairs of runs differ significantly."""
    test = comparison.tests[0]
    n_announced = int(comparison.announced_as_judged(measure, test).sum())
    n_doubtful = int(comparison.better_as_judged(measure, test).sum()) - n_announced
    text = (
        f"Of {counted(comparison.n_pairs, 'pair')} of runs, {n_announced} differ significantly in {measure} "
        f"as judged at {comparison.level:g} ({test_text(comparison, test)})"
    )
    are = "is" if n_doubtful == 1 else "are"
    return f"{text}{f'; {n_doubtful} more {are} too uncertain to declare significant' * bool(n_doubtful)}."


def _highest_sentence(comparison: Compared, measure: Measure, estimator: str, baseline: str) -> str:
    """Return sentences on the highest of the runs that are compared with a baseline."""
    place, value = comparison.run_ids.index(baseline), comparison.scores[measure, AS_JUDGED].value
    draws = comparison.draws.get((measure, estimator, "these-topics"))
    lead = value if draws is None else draws.difference[:, place]
    first = max(_others(comparison), key=lambda i: float(lead[i]))
    by = "as judged" if draws is None else f"by {estimator}"
    text = _pair_sentence(comparison, first, place, measure, estimator, comparison.tests[0])
    return f" The highest of them {by} is {comparison.run_ids[first]}. {text}"


def _others(comparison: Compared) -> list[int]:
    """Return the places of the runs that are no baselines."""
    return [i for i, run in enumerate(comparison.run_ids) if run not in comparison.baseline]


def _pair_sentence(
    comparison: Compared, a: int, b: int, measure: Measure, estimator: str, test: SignificanceTest
) -> str:
    """Return a sentence that compares two runs given by index, the better run first."""
    value = comparison.scores[measure, AS_JUDGED].value
    draws = comparison.draws.get((measure, estimator, "these-topics"))
    lead = value[a] - value[b] if draws is None else draws.difference[a, b]
    if lead < 0:
        a, b, lead = b, a, -lead
    run, other, way = comparison.run_ids[a], comparison.run_ids[b], "higher"
    where = _on_topics(len(comparison.scores.query_ids))
    if missing := missing_topics(comparison.scores.metadata, (run, other)):
        where += f" ({missing})"
    than, opening = f"than that of {other} ", where
    if comparison.baseline:
        if run in comparison.baseline:
            run, other, way = other, run, "lower"
        than, opening = "", f"Against {other}, {where[0].lower()}{where[1:]}"
    subject = f"{opening} the {measure} of {run}"
    if draws is not None and draws.prob_equal[a, b] == 1 and _bounds(comparison, a, b, measure) == (0, 0):
        reach = " in their reach" * isinstance(measure, Normalized)
        return f"{subject} and {other} is the same, whatever the unjudged documents{reach} are ({estimator})."
    bounds = comparison.scores.bounds[comparison.measures.index(measure)]
    is_certain = not bounds.has_unjudged[[a, b]].any()
    text = f"{subject} is {way} {than}by {amount(lead)}" if lead else f"{subject} and {other} is the same"
    equal = 0.0 if draws is None else float(draws.prob_equal[a, b])
    is_likely_equal = draws is not None and equal > draws.prob_greater[[a, b], [b, a]].max()
    if is_certain:
        text += ": nothing of either is unjudged."
    elif draws is None:
        text += " as judged, with unjudged documents counted as nonrelevant."
    else:
        agreed = ", without width since that many draws agree," * bool(draws.lower[a, b] == draws.upper[a, b])
        if is_likely_equal:
            text = f"{subject} equals that of {other} with a probability of {chance_text(equal)}"
            text += f"; its mean is {way} by {amount(lead)}" * bool(lead)
        text += f" ({level(comparison.ci_prob)} interval {_ends(draws, a, b)}{agreed} due to unjudged "
        by = conditional(comparison, estimator, [measure], (run, other))
        text += f"documents, {by}; probability that it is {way} "
        text += chance_text(draws.prob_greater[a, b])
        text += f", equal {chance_text(equal)})." if equal and not is_likely_equal else ")."
    if not (is_certain or measure.describes_judgments):
        text += _bounds_sentence(comparison, a, b, measure, is_tied=not lead)
    for scope, sentence in _OTHER_SCOPES.items():
        if (d := comparison.draws.get((measure, estimator, scope))) is not None:
            ends, chance, equal = _ends(d, a, b), chance_text(d.prob_greater[a, b]), float(d.prob_equal[a, b])
            equal_text = f", equal {chance_text(equal)}" * (round(equal, 3) > 0)
            text += sentence.format(ends=ends, chance=chance, equal=equal_text, way=way)
    if estimator == BY_DESIGN:
        return text
    text += _significance_clause(comparison, (measure, estimator, test), a, b, is_certain=is_certain)
    return text + _common_topics_sentence(comparison, (measure, AS_JUDGED, test), a, b)


def _common_topics_sentence(comparison: Compared, key: TestKey, a: int, b: int) -> str:
    """Return a sentence on two runs on the topics that both have; empty where both have all."""
    common = comparison.common[key]
    if common.n[a, b] == len(comparison.scores.query_ids):
        return ""
    n, p = int(common.n[a, b]), float(common.p[a, b])
    if not n:
        return " No topic is common to both: the missing topics decide."
    tested = "no test" if np.isnan(p) else p_text(p)
    text = f" On the {counted(n, 'topic')} that both have the difference is "
    text += f"{amount(common.difference[a, b])} ({tested})"
    return text + (": the missing topics decide." if comparison.is_by_missing_topics(*key)[a, b] else ".")


def _bounds_sentence(comparison: Compared, a: int, b: int, measure: Measure, *, is_tied: bool) -> str:
    """Return a sentence on what of two runs is unjudged, and whether judging it could reverse their order."""
    shares = comparison.scores.bounds[comparison.measures.index(measure)].unjudged_share
    top, (run, other) = f"the top {measure.cutoff} of", (comparison.run_ids[i] for i in (a, b))
    text = f" Unjudged are {percent(shares[a])} of {top} {run} and {percent(shares[b])} of {top} {other}"
    if (ends := _bounds(comparison, a, b, measure)) is None:
        return f"{text}."
    could = "no judgment can reverse the order"
    if is_tied:
        could = "judging could put either ahead"
    elif ends[0] < 0:
        could = "judging could reverse the order"
        if not are_differences_sharp(measure):
            could = "that judging reverses the order is not ruled out"
    between = " and ".join(number(end, 3) for end in ends)
    whatever = "they" if not isinstance(measure, Normalized) else "the unjudged documents in reach"
    return f"{text}; the difference is between {between} whatever {whatever} are: {could}."


def _bounds(comparison: Compared, a: int, b: int, measure: Measure) -> tuple[float, float] | None:
    """Return the bounds of the difference a minus b, if they are known."""
    if measure not in comparison.bounds:
        return None
    first, second = comparison.pair_places
    is_same, is_turned = (first == a) & (second == b), (first == b) & (second == a)
    least, most = (float(end[is_same | is_turned][0]) for end in comparison.bounds[measure])
    return (least, most) if is_same.any() else (-most, -least)


def _ends(draws: DrawComparison, a: int, b: int) -> str:
    """Return the interval of how much higher or lower a run is, without plus signs."""
    return interval(draws.lower[a, b], draws.upper[a, b], 3, signed=True).replace("+", "")


def across_sentence(row: Mapping[str, Any], n_topics: int) -> str:
    """Return a sentence that compares two runs on several measures, the likelier order first.

    ``row`` is from `Comparison.across_measures`.

    Examples
    --------
    >>> row = {"measures": "P@10, AP@100", "run_a": "a", "run_b": "b", "estimator": "posterior-ratio"}
    >>> row |= {"prob_all_greater": 0.02, "prob_all_less": 0.9, "prob_disagree": 0.08, "prob_tied": 0.0}
    >>> for sentence in across_sentence(row, 50).split(". "):
    ...     print(sentence)
    On these 50 topics b is higher than a on P@10 and on AP@100 with a probability of 0.900 (posterior-ratio)
    The probability that it is lower on all of them is 0.020, that the measures disagree 0.080.
    """
    a, b = str(row["run_a"]), str(row["run_b"])
    up, down = float(row["prob_all_greater"]), float(row["prob_all_less"])
    if up < down:
        a, b, up, down = b, a, down, up
    *first, last = (f"on {name}" for name in str(row["measures"]).split(", "))
    text = (
        f"{_on_topics(n_topics)} {a} is higher than {b} {', '.join(first)} and {last} with a probability of "
        f"{chance_text(up)} ({row['estimator']}). The probability that it is lower on all of them is "
        f"{chance_text(down)}, that the measures disagree {chance_text(float(row['prob_disagree']))}"
    )
    return f"{text}, that they tie {chance_text(row['prob_tied'])}." if row["prob_tied"] > 0 else f"{text}."


def leaderboard_sentence(rows: Sequence[Mapping[Any, Any]], n_topics: int, tied: Collection[str] = ()) -> str:
    """Return a sentence on the best run, given leaderboard rows in one scope, highest score first, and the
    runs that equal the first in every draw.

    Examples
    --------
    >>> row = {"measure": "P@10", "estimator": "posterior-combined", "scope": "population", "ci_prob": 0.95}
    >>> first = row | {"run_id": "a", "value": 0.431, "expected": 0.412, "among_best": True, "prob_best": 0.7}
    >>> second = row | {"run_id": "b", "value": 0.2, "expected": 0.22, "among_best": False, "prob_best": 0.0}
    >>> for sentence in leaderboard_sentence([first, second], 50).split("; "):
    ...     print(sentence)
    On topics like these a is the best of 2 runs by P@10 (95 %, all ranks at once
    posterior-combined). The probability that a is the best is 0.700
    chosen as the best of 2 it is expected to score 0.412, not 0.431.
    """
    best = rows[0]
    others = [str(row["run_id"]) for row in rows[1:] if row["among_best"] and row["run_id"] not in tied]
    like_these = best["scope"] == "population"
    where = "On topics like these" if like_these else _on_topics(n_topics)
    at_once = f"({level(best['ci_prob'])}, all ranks at once; {best['estimator']})"
    first, measure = best["run_id"], best["measure"]
    text = f"{where} {first} is the best of {len(rows)} runs by {measure} {at_once}."
    has = f"{first} has"
    if tied:
        first = f"{', '.join([first, *tied][:-1])} and {[*tied][-1]}"
        has = f"{first} share"
        text = f"{where} {has} the highest {measure} of {len(rows)} runs {at_once}."
    if others:
        text = f"{where} {has} the highest {measure} of {len(rows)} runs, and "
        number_of = counted(len(others), "run")
        text += f"{number_of} cannot be distinguished from the best {at_once}: {some_of(others)}."
    is_best = "are" if tied else "is"
    text += (
        f" The probability that {first} {is_best} the best is "
        f"{chance_text((1 + len(tied)) * best['prob_best'])}"
    )
    if not like_these:
        return f"{text}."
    expected, value = number(best["expected"], 3), number(best["value"], 3)
    which = "each" if tied else "it"
    return f"{text}; chosen as the best of {len(rows)} {which} is expected to score {expected}, not {value}."


def system_sentence(row: Mapping[Any, Any]) -> str:
    """Return a sentence on a system's score, given a row from `Comparison.variance`.

    Examples
    --------
    >>> row = {"measure": "P@10", "system": "a", "n_runs": 3, "value": 0.4, "lower": 0.3, "upper": 0.5}
    >>> row |= {"ci_prob": 0.95, "topics_variance": 0.8, "runs_variance": 0.15}
    >>> row |= {"unjudged_variance": 0.05}
    >>> for sentence in system_sentence(row).split(": "):
    ...     print(sentence)
    On topics and runs like these the P@10 of a is 0.400 (95 % interval 0.300–0.500), mean of 3 runs
    80.0 % of the variance is due to topics, 15.0 % to runs, 5.0 % to unjudged documents.
    """
    is_lone = row["n_runs"] == 1 and not row["runs_variance"] > 0  # of one run nothing is known of others
    where = "On topics like these" if is_lone else "On topics and runs like these"
    value, ends = number(row["value"], 3), interval(row["lower"], row["upper"], 3)
    text = (
        f"{where} the {row['measure']} of {row['system']} is {value} ({level(row['ci_prob'])} interval "
        f"{ends}), mean of {counted(row['n_runs'], 'run')}"
    )
    shares = {of: row.get(f"{name}_variance", np.nan) for name, of in _CAUSES.items()}
    if is_lone:
        del shares["runs"]
    due = [f"{percent(share)} to {of}" for of, share in shares.items() if not np.isnan(share)]
    if not due:
        return f"{text}."
    return f"{text}: {', '.join(due).replace(' to ', ' of the variance is due to ', 1)}."


def _on_topics(n: int) -> str:
    return f"On {'this' if n == 1 else 'these'} {counted(n, 'topic')}"


def _significance_clause(comparison: Compared, key: TestKey, a: int, b: int, *, is_certain: bool) -> str:
    measure, _, test = key
    p, test_name = float(comparison.p_adjusted[measure, AS_JUDGED, test][a, b]), test_text(comparison, test)
    if np.isnan(p):
        return f" On the existing judgments the two have the same score on every topic ({test_name})."
    value = comparison.scores[measure, AS_JUDGED].value
    significant = p <= comparison.level
    size = effect_sizes(comparison.scores[measure, AS_JUDGED].per_topic[[a, b]], test)[0, 1]
    letter = "r" if test == "wilcoxon" else "d"
    negation, condition = "" if significant else " not", ""
    verb = f"is{negation}"
    decides = comparison.decides(measure)
    of_passages = bool(comparison.has_passages[a, b])
    in_doubt = of_passages or bool(comparison.is_in_doubt(measure, AS_JUDGED, test)[a, b])
    if in_doubt and (significant or not decides):
        verb = f"would{negation} be"
        condition = " if all that is unjudged were nonrelevant"
    by_missing = bool(comparison.is_by_missing_topics(measure, AS_JUDGED, test)[a, b])
    if by_missing:
        verb = "would be"
        condition = f"{condition} and" if condition else " if"
        condition += " missing topics count as 0"
    elif significant and comparison.common[measure, AS_JUDGED, test].n[a, b] < len(
        comparison.scores.query_ids
    ):
        condition += f"{',' * bool(condition)} with missing topics counted as 0"
    text = (
        f" On the existing judgments the difference of {amount(value[a] - value[b])} {verb} significant "
        f"at {comparison.level:g}{condition} ({test_name}: {p_text(p)}, effect size {letter} = {size:.2f})"
    )
    text += "; no verdict" * (by_missing or of_passages)
    draws = comparison.significant.get(key)
    if draws is None or is_certain:
        return text + "."
    if not significant:
        chance = _significance_chance(comparison, draws, a, b)
        enough = ", enough to declare significant" * (decides and not of_passages and bool(draws.order[a, b]))
        return f"{text}; with all documents judged it would be with a probability of {chance}{enough}."
    risk = chance_text(draws.reversal_risk(comparison.better_as_judged(measure, test))[a, b])
    too_much = ": too uncertain to declare significant" * (not draws.order[a, b])
    if in_doubt and not decides:
        too_much = ": on priors alone, too uncertain to declare significant"
    text += f"; the probability that it is no longer significant with everything judged is {risk}"
    if (sign_change := comparison.prob_sign_change(measure, AS_JUDGED)) is not None:
        text += f", and that its sign changes is {chance_text(sign_change[a, b])}"
    return f"{text}{too_much}."


def _significance_chance(comparison: Compared, draws: SignificantDraws, a: int, b: int) -> str:
    """Return the probability that a difference is significant with all documents judged, and which run
    leads.
    """
    ways = {i: float(draws.n_greater[i, j] / draws.n_draws) for i, j in ((a, b), (b, a))}
    likely = [
        f"{chance_text(p)} with {comparison.run_ids[i]} ahead" for i, p in ways.items() if p > _UNLIKELY
    ]
    whole = chance_text(float(draws.prob_significant[a, b]))
    if len(likely) == 1:
        return likely[0]
    return f"{whole} ({' and '.join(likely)})" if likely else f"{whole} in one direction or the other"


def _position(names: Sequence[str], name: object | None, kind: str) -> int:
    if name is None:
        return 0
    if str(name) not in names:
        raise InputError(
            f"no {kind} {str(name)!r} in the comparison", hint=known_names(str(name), names, before="it has ")
        )
    return list(names).index(str(name))


def amount(x: float) -> str:
    """Format a difference to three decimals, never rounding a nonzero difference to 0."""
    written = f"{x:.3f}"
    return {"0.000": "under 0.001", "-0.000": "above -0.001"}.get(written, written) if x else written


def chance_text(x: float) -> str:
    """Return a probability with three decimals, or as ``under 0.001`` or ``over 0.999``."""
    written = f"{x:.3f}"
    return {"0.000": "under 0.001", "1.000": "over 0.999"}.get(written, written)

"""Compare runs: score them together, then compare every pair, or decide on a new one by its pair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack, get_args

import numpy as np

from bayespool.arrays import FloatArray, Progress
from bayespool.collection import Collection
from bayespool.collection.collection import Systems, expect_collection, parse_systems
from bayespool.comparisons.compared import TestKey
from bayespool.comparisons.comparison import Comparison
from bayespool.comparisons.contrasts import Contrasts, Part, Units, unit_bounds
from bayespool.comparisons.draws import (
    DRAW_TESTS,
    DrawComparison,
    SignificantDraws,
    compare_runs_by_draws,
    draws_in_scope,
    largest_difference,
    significant_draws,
)
from bayespool.comparisons.pairs import CommonTopics, check_baseline, compare_on_common_topics, compared_pairs
from bayespool.comparisons.sentences import chance_text
from bayespool.comparisons.significance import (
    ANNOUNCED_SHARE,
    adjust_p_values,
    check_announced,
    dunnett,
    p_values,
)
from bayespool.errors import InputError
from bayespool.evidence.difference_bounds import difference_bounds
from bayespool.measures import Estimates, Estimator, Measure, Normalized, equal_tailed_interval
from bayespool.measures.groups import groups_text
from bayespool.names import AS_JUDGED, BY_DESIGN, Control, Scope, SignificanceTest, leading_name
from bayespool.notes import Note
from bayespool.posterior import PosteriorEstimator
from bayespool.scoring import Scores
from bayespool.scoring.asked import Asked, AskedKeywords, Targets, runs_of_systems
from bayespool.scoring.score_tables import (
    far_runs,
    ideal_sentence,
    is_on_priors,
    list_conditions,
    missing_topics,
)
from bayespool.scoring.scoring import score_targets
from bayespool.tables.formatting import counted, difference, interval, level as level_text, some_of
from bayespool.validation import check_choice, check_number, check_share, described, listed

Verdict = Literal["better or equal", "worse", "cannot be told"]
_DECIMALS = 12
_SCOPES: dict[Scope, str] = {
    "these-topics": "these topics",
    "population": "topics like these",
    "groups": "groups like these",
}
_STATUS: dict[Verdict, int] = {"better or equal": 0, "worse": 1, "cannot be told": 2}


def compare(
    collection: Collection,
    run_ids: Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    baseline: str | Iterable[str] | None = None,
    estimators: str | Estimator | Iterable[str | Estimator] | None = None,
    scope: Scope | Iterable[Scope] = ("these-topics", "population"),
    tests: SignificanceTest | Iterable[SignificanceTest] = ("paired-t",),
    level: float = 0.05,
    control: Control = "holm",
    announce: float = 0.8,
    rope: float = 0.01,
    progress: Progress | None = None,
    **asked: Unpack[AskedKeywords],
) -> Comparison:
    """Compare runs using completed judgments, significance tests and reversal risks.

    Parameters
    ----------
    collection : Collection
    run_ids : iterable of str, optional
        Two or more, with those of ``unpool``. Default: the runs that were not pooled, or with ``unpool`` only
        those named there.
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    baseline : str or iterable of str, optional
        Run or system that all others are compared with, and they not with one another; or several. It need
        not be among ``run_ids``. Differences are of the others minus the baseline, and p-values are adjusted
        over only these pairs. Ranks are of all runs.
    estimators : str, Estimator or sequence of them, default "posterior-combined"
        Names with settings in parentheses, such as background(e=0.05), or 'default', 'all', 'pairs'. These
        three are `bayespool.scoring.DEFAULT_ESTIMATORS`, `bayespool.scoring.ALL_ESTIMATORS` and
        `bayespool.scoring.PAIRED_ESTIMATORS`. ``as-judged``, the scores as judged, is always among them. On
        priors alone, as without a pool, nothing that judging could reverse is called significant unless a
        posterior is named here.
    scope : {"these-topics", "population", "groups"} or sequence of them
        What differences speak of: these-topics, population, groups. On these topics only unjudged documents
        are uncertain; a population of topics is what these are a sample of; where groups are asked for, they
        may be a sample, too.
    tests : sequence of {"paired-t", "wilcoxon", "randomization", "tukey-hsd"}
        Tests of a pair. ``paired-t`` is the usual one, ``wilcoxon`` where differences are far from normal;
        ``randomization`` assumes no distribution; ``tukey-hsd`` is for all pairs at once. Means of groups
        and systems have a t test of their own, and no other.
    level : float, default 0.05
        Significant is an adjusted p-value of at most this.
    control : {"holm", "benjamini-hochberg", "none", "dunnett"}
        Adjustment of p-values over all pairs, or over those with a baseline; dunnett is for one baseline.
        The family-wise error rate is controlled by ``holm`` and ``dunnett``, the false discovery rate, for
        many pairs, by ``benjamini-hochberg``; tukey-hsd needs no control. With ``dunnett`` the t test of a
        pair has the error of all runs, on the additive model run + topic.
    announce : float, default 0.8
        Least share of completed judgments in which a difference has to be significant to be declared so.
        From 0.5 to 1. The less, the more differences are declared, true and false ones.
    rope : float, default 0.01
        A difference up to this is practically none. The region of practical equivalence.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.
    **asked
        Keywords of every question: `bayespool.Question`.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        Fewer than two runs or topics; unknown run, measure, estimator, test or setting.

    Notes
    -----
    All runs are scored together: a document that several runs retrieve has one relevance per draw, which
    cancels in their difference. Judgments are completed once for all measures, so that the same draws say
    how likely a run is better on all of them (`Comparison.across_measures`); with the setting
    ``joint=False`` each measure is as `score` has it. Joint draws learn from the evidence of the measure
    that looks deepest. Measures that look no deeper than rank 30 and tell the same levels apart share a
    completion either way.

    Examples
    --------
    >>> from bayespool import load_example
    >>> from bayespool.comparisons import compare
    >>> two = compare(load_example(), ["new-a", "new-b"], "P@10", estimators="posterior-ratio")
    >>> frame = two.differences()
    >>> print(frame[["estimator", "scope", "prob_greater"]].round(1).to_string(index=False))
          estimator        scope  prob_greater
          as-judged these-topics           NaN
    posterior-ratio these-topics           1.0
    posterior-ratio   population           1.0
    """
    question = Asked(collection, run_ids, measures, estimators=estimators, **asked)
    asked_scopes = listed("scope", scope, question.check_scope)
    scopes = ("these-topics", "population") if "groups" in asked_scopes else asked_scopes
    tested = listed("tests", tests, check_choice, SignificanceTest)
    if tested != ("paired-t",) and (question.groups, question.systems) != (None, None):
        reason = f"{', '.join(tested)}: means of groups and systems have a t test alone"
        raise InputError(reason, hint="leave the tests out, or groups and systems")
    check_share("level", level)
    check_announced(announce)
    check_choice("control", control, Control)
    check_number("rope", rope, least=0)
    compared = question.estimators_or("posterior-combined", has_as_judged=True, joint=True)
    expect_collection(collection)
    systems = parse_systems(question.systems)
    named_baseline = tuple(dict.fromkeys(listed("baseline", baseline)))
    against = runs_of_systems(named_baseline, systems, collection.run_ids)
    present = [system for run, system in systems if run in collection.run_ids]
    check_baseline(against, collection.run_ids, tested, control, systems=present)
    if against:
        by_default = collection.given_run_ids or (() if question.unpool else collection.unpooled_run_ids)
        named = by_default if run_ids is None else listed("run_ids", question.run_ids)
        question = replace(question, run_ids=tuple(dict.fromkeys((*named, *against))))
    comparing: dict[str, Any] = {"scope": scopes, "tests": tested, "level": level, "control": control}
    comparing |= {"announce": announce, "rope": rope, "baseline": against}
    targets = question.resolve(compared, may_group=True)
    _refuse_one_run(targets.run_ids)
    targets.metadata["pool_notes"] += _kinship(targets)
    as_asked = comparing | {"scope": asked_scopes, "baseline": named_baseline}
    settings = question.describe(measures=question.measures, estimators=compared, **as_asked)
    scores = score_targets(targets, settings=settings, ci_prob=question.interval_prob, progress=progress)
    pairs = compared_pairs(scores.run_ids, against)
    bounds = {
        b.measure: difference_bounds(targets.collection, b, pairs, targets.estimand) for b in scores.bounds
    }
    comparing |= {"systems": systems, "random_seed": question.random_seed, "progress": progress}
    comparing["is_named"] = estimators is not None
    comparison = compare_scores(scores, **comparing, bounds=bounds)
    contrasted = tuple(each for each in get_args(Scope) if each in (*scopes, *asked_scopes))
    return replace(comparison, contrasts=_contrasts(targets, scores, against, contrasted))


def _contrasts(
    targets: Targets, scores: Scores, baseline: Sequence[str], scopes: tuple[Scope, ...]
) -> Contrasts | None:
    """Return what is compared by group or by system, if groups or systems are asked for."""
    if targets.groups is None and not targets.systems:
        return None
    if targets.groups is not None and scopes != ("these-topics",):
        targets.groups.refuse_one_topic()
    units = Units.of(scores.run_ids, targets.systems)
    against = [name for name, runs in units.items() if {*baseline} & {scores.run_ids[r] for r in runs}]
    pairs = compared_pairs(units.names, against)
    if not len(pairs[0]):
        return None
    parts = Part.all_of(len(scores.query_ids), targets.groups)
    ends = {
        b.measure: unit_bounds(targets.collection, b, units, pairs, parts, targets.estimand)
        for b in scores.bounds
    }
    return Contrasts(units, pairs, parts, scopes, ends)


def _kinship(targets: Targets) -> list[Note]:
    """Return a note on which of the runs count as runs of one system, where there is no pool."""
    collection = targets.collection
    if collection.pooled.any() or not any(isinstance(e, PosteriorEstimator) for e in targets.estimators):
        return []
    members: dict[int, list[str]] = {}
    for run, place in zip(targets.run_ids, collection.run_index(targets.run_ids).tolist(), strict=True):
        members.setdefault(int(collection.organization[place]), []).append(run)
    alike = [some_of(runs) for runs in members.values() if len(runs) > 1]
    if alike:
        return [Note("no-pool", f"no pool: as runs of one system count {'; '.join(alike)}")]
    text = (
        "no pool: each run counts as a system of its own; --systems names the runs of a system, and "
        "--reading each_its_own=false says that all are"
    )
    return [Note("no-pool", text)]


def _refuse_one_run(run_ids: Sequence[str]) -> None:
    """Raise `InputError` unless there are two runs or more."""
    if len(run_ids) < 2:
        raise InputError("one run cannot be compared", hint="name two or more")


def compare_scores(
    scores: Scores,
    *,
    baseline: tuple[str, ...] = (),
    scope: tuple[Scope, ...] = ("these-topics", "population"),
    tests: tuple[SignificanceTest, ...] = ("paired-t",),
    level: float = 0.05,
    control: Control = "holm",
    announce: float = ANNOUNCED_SHARE,
    rope: float = 0.01,
    systems: Systems = (),
    bounds: Mapping[Measure, tuple[FloatArray, FloatArray]] | None = None,
    is_named: bool = True,
    random_seed: int = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Compare runs from existing scores, as `compare` does.

    ``as-judged`` must be among the estimators. ``bounds`` are those of `difference_bounds`, by measure;
    ``is_named`` says whether posteriors on priors alone give verdicts.
    """
    _refuse_one_run(scores.run_ids)
    for e in scores.estimates:
        if e.comparable_estimates() is not e:
            lacking = [run for run, value in zip(e.run_ids, e.value, strict=True) if np.isnan(value)]
            problem = f"{e.estimator} has no value of {some_of(lacking)}"
            raise InputError(problem, hint="compare the others without; score says why")
    if not any(e.estimator == AS_JUDGED for e in scores.estimates):
        raise InputError(
            f"no uncorrected scores to compare with: {AS_JUDGED} is missing",
            hint=f"score with {AS_JUDGED} among the estimators",
        )
    pairs = compared_pairs(scores.run_ids, baseline)
    if not len(pairs[0]):
        raise InputError("no run is compared with the baselines", hint="name one beside them")
    draws: dict[tuple[Measure, str, Scope], DrawComparison] = {}
    p: dict[TestKey, FloatArray] = {}
    adjusted: dict[TestKey, FloatArray] = {}
    significant: dict[TestKey, SignificantDraws] = {}
    common: dict[TestKey, CommonTopics] = {}
    has_topic = scores.has_topic
    for e in scores.estimates:
        if progress is not None:
            progress(f"comparing: {e.estimator} {e.measure}")
        for test in tests:
            key = (e.measure, e.estimator, test)
            p[key] = p_values(e.per_topic, test, random_seed=random_seed)
            applied: Control = "none" if test == "tukey-hsd" else control
            if applied == "dunnett":
                adjusted[key] = dunnett(e.per_topic, scores.run_ids.index(baseline[0]))
            else:
                adjusted[key] = adjust_p_values(p[key], applied, pairs)
            tested = (p[key], adjusted[key], test, control, pairs)
            common[key] = compare_on_common_topics(e.per_topic, has_topic, *tested, random_seed=random_seed)
            if e.draws is not None and test in DRAW_TESTS and not e.measure.describes_judgments:
                significant[key] = significant_draws(
                    e.draws.on_grid(), test=test, level=level, control=applied, pairs=pairs, announce=announce
                )
        if e.draws is not None:
            for each in scope:
                values, unit = draws_in_scope(e, each, random_seed)
                draws[e.measure, e.estimator, each] = compare_runs_by_draws(
                    values,
                    ci_prob=scores.ci_prob,
                    rope=rope,
                    unit=unit,
                    largest=largest_difference(e.measure),
                )
    testing: dict[str, Any] = {"tests": tests, "control": control, "level": level, "announce": announce}
    testing["rope"] = rope
    return Comparison(
        scores=scores,
        draws=draws,
        p_values=p,
        p_adjusted=adjusted,
        significant=significant,
        **testing,
        systems=systems,
        baseline=baseline,
        bounds=bounds or {},
        common=common,
        is_named=is_named,
        metadata={**scores.metadata, **described(scope=scope, **testing, random_seed=random_seed)},
    )


@dataclass(frozen=True, eq=False)
class Gate:
    """Verdict on a new run against another, created by `bayespool.gate`.

    Attributes
    ----------
    verdict : {"better or equal", "worse", "cannot be told"}
    sentence : str
        The verdict with what it rests on, on one line.
    difference, lower, upper : float
        Mean over draws of the new run's score minus the other's, and ends of its interval.
    prob_not_worse : float
        Probability that the new run's score is at least the other's minus the margin.
    metadata : dict
        Version, fingerprint, pool and settings, and the verdict with its numbers under ``gate``.
    """

    verdict: Verdict
    sentence: str
    difference: float
    lower: float
    upper: float
    prob_not_worse: float
    metadata: Mapping[str, Any]

    @property
    def status(self) -> int:
        """Exit status: 0 for better or equal, 1 for worse, 2 if neither can be told."""
        return _STATUS[self.verdict]

    def __str__(self) -> str:
        return self.sentence


def gate(
    collection: Collection,
    run_ids: Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    margin: float = 0.0,
    probability: float = 0.95,
    scope: Scope = "population",
    estimators: str | PosteriorEstimator | None = None,
    progress: Progress | None = None,
    **asked: Unpack[AskedKeywords],
) -> Gate:
    """Decide whether a new run is better than another or equal, or worse, as far as judgments tell.

    Both runs are scored together, as in `compare`. A topic that a run lacks counts as 0, and a verdict has to
    hold on the topics that both have, too.

    Parameters
    ----------
    collection : Collection
    run_ids : iterable of str
        Two runs: the one that there is, then the new one. With ``systems`` two systems, or their runs.
    measures : measure, default "P@10"
        The measure of the rankings: P@10, nDCG@10, AP@100, …; one of them.
    margin : float, default 0
        The new run may be lower by this and is still as good.
    probability : float, default 0.95
        Probability that a verdict needs: that the new run is not lower by more than the margin, or that it
        is.
    scope : {"these-topics", "population", "groups"}, default "population"
        What the verdict speaks of: a population of topics, these topics, or a population of groups. For a
        population these topics are a sample of its topics, which is what a change of a system is judged by,
        as its runs are of a system; on these topics only unjudged documents are uncertain. Of groups the
        verdict is on their mean with equal weight.
    estimators : str or PosteriorEstimator, optional
        The posterior, by name: 'posterior-ratio'; or 'by-design', with answers to a design. Default:
        'posterior-combined'. Without a pool, while documents are unjudged, only one that is named decides.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.
    **asked
        Keywords of every question: `bayespool.Question`.

    Returns
    -------
    Gate

    Raises
    ------
    InputError
        Not two runs; several measures, or one that is higher for worse runs; a probability of 0.5 or less,
        which both verdicts could have; unknown run, measure or posterior.

    Examples
    --------
    >>> from bayespool import gate, load_example
    >>> verdict = gate(load_example(), ["new-a", "new-b"], "P@10", estimators="posterior-ratio")
    >>> verdict.verdict, verdict.status
    ('worse', 1)
    >>> gate(load_example(), ["new-b", "new-a"], "P@10", estimators="posterior-ratio").status
    0
    """
    question = Asked(collection, run_ids, measures, estimators=estimators, **asked)
    measure = question.sole_measure
    if measure.falls:
        raise InputError(f"{measure} is higher for worse runs", hint="choose another measure")
    check_number("margin", margin, least=0)
    check_number("probability", probability, above=0.5, below=1)
    question.check_scope("scope", scope)
    is_by_design = leading_name(str(estimators)) == BY_DESIGN
    (estimator,) = question.estimators_or(()) if is_by_design else (question.sole_posterior,)
    expect_collection(collection)
    named = listed("run_ids", collection.given_run_ids if run_ids is None else question.run_ids)
    systems = parse_systems(question.systems)
    runs = runs_of_systems(named, systems, collection.run_ids)
    units = Units.of(runs, systems)
    if len(units.names) != 2 or (len(named) != 2 and not systems):
        noun = "system" if systems else "run"
        raise InputError(counted(len(units.names), noun), hint="name two: the one there is, the new one")
    deciding = {"margin": margin, "probability": probability}
    targets = replace(question, run_ids=runs).resolve((estimator,), measures=(measure,), may_group=True)
    targets.metadata["pool_notes"] += _kinship(targets)
    settings = question.describe(measures=measure, estimator=estimator, scope=scope, **deciding)
    scores = score_targets(targets, scope=scope, settings=settings, progress=progress)
    units, ci_prob = units.among(runs, scores.run_ids), question.interval_prob
    of_pair = [run for members in units.members for run in members]
    part = Part.all_of(len(scores.query_ids), targets.groups)[-1 if targets.groups is None else -2]
    (bounds,), (e,) = scores.bounds, (scores.estimates[0].comparable_estimates(),)
    is_open = bool(bounds.has_unjudged[of_pair].any())
    given: list[str] = [*list_conditions(scores.metadata, [measure], far_runs(scores.to_frame()), runs)]
    needed, lead = f"and a verdict needs {probability:g}", np.full(1, np.nan)
    if not is_open:
        given = []
    if e.draws is None:
        reasons = dict.fromkeys(note for run in of_pair for note in e.notes[run])
        given = [": ".join([estimator.name, *["; ".join(reasons)] * bool(reasons)])]
    else:
        lead = _draw_lead(e, scope, question.random_seed, units, part)
    lower, upper = (float(end) for end in equal_tailed_interval(lead, ci_prob))
    chance = np.nan if e.draws is None else _chance_of(lead, margin)
    numbers = {"difference": float(lead.mean()), "lower": lower, "upper": upper, "prob_not_worse": chance}
    verdict: Verdict = "cannot be told"
    if is_open and estimators is None and is_on_priors(scores.metadata):
        needed = "and without a pool only a posterior that is named decides (--estimators posterior-combined)"
    elif not scores.metadata["passages"].keys().isdisjoint(runs):
        needed = "and ids that match only without a suffix decide nothing (--reading documents=best-passage)"
    elif max(chance, 1 - chance) >= probability:
        verdict = "better or equal" if chance > 0.5 else "worse"
    both, missing = np.all(scores.has_topic[of_pair], axis=0), missing_topics(scores.metadata, runs)
    common_part = part.among(both)
    common = np.nan  # chance on the topics that both have
    if verdict != "cannot be told" and missing:
        if common_part.may_be_sampled if scope != "these-topics" else both.any():
            common = _chance_of(_draw_lead(e, scope, question.random_seed, units, common_part), margin)
        if not (common if chance > 0.5 else 1 - common) >= probability:  # NaN, too
            verdict, needed = "cannot be told", f"{needed}, also on the topics that both have"
    what = f"has no estimate ({'; '.join(given)})"
    if e.draws is not None:
        by = f"{level_text(ci_prob)} interval {interval(lower, upper, 3, signed=True)}, {estimator.name}"
        what = (
            f"is {difference(numbers['difference'], 3)} ({'; '.join([by, *given])}); the probability that "
            f"it is "
            f"at least {-margin or 0:g} is {chance_text(chance)}, {needed}"
        )
    where = _SCOPES[scope].replace("like", f"{'and runs ' * units.are_systems}like")
    if targets.groups is not None:
        where = f"{where}, as a mean of {groups_text(targets.groups)},"
    sentence = f"{verdict}: the {measure} of {units.text(1)} − {units.text(0)} on {where} {what}"
    decision: dict[str, Any] = {"run_ids": list(runs), "verdict": verdict, "status": _STATUS[verdict]}
    decision |= {"ci_prob": ci_prob, "conditions": given}
    decision |= {name: None if np.isnan(number) else number for name, number in numbers.items()}
    if is_open:
        places = np.array([1]), np.array([0])
        least, most = unit_bounds(targets.collection, bounds, units, places, (part,), targets.estimand)
        decision |= {"bound_lower": float(least[0, 0]), "bound_upper": float(most[0, 0])}
        between = " and ".join(difference(float(end[0, 0]), 3) for end in (least, most))
        reach = " in their reach" * isinstance(measure, Normalized)
        sentence += f"; on these topics it is between {between} whatever the unjudged documents{reach} are"
    if missing:
        sentence += f"; {missing}: {_lead_on(common_part, scores, units, common)}"
    sentence = f"{sentence}. {ideal_sentence(scores.metadata['ideals'])}".strip()
    return Gate(verdict, sentence, **numbers, metadata={**scores.metadata, "gate": decision})


def _draw_lead(e: Estimates, scope: Scope, random_seed: int, units: Units, part: Part) -> FloatArray:
    """Return draws of the second unit's score minus the first's."""
    values, largest = part.draws(e, units, scope, random_seed), largest_difference(e.measure)
    return np.asarray(np.round(values[:, 1] - values[:, 0], _DECIMALS).clip(-largest, largest))


def _chance_of(lead: FloatArray, margin: float) -> float:
    """Return the share of draws in which a run is not lower by more than the margin."""
    return float((lead >= -margin - 10.0**-_DECIMALS).mean())


def _lead_on(common: Part, scores: Scores, units: Units, chance: float) -> str:
    """Return a clause on the new run's lead on the topics that both have, with its probability if there is
    one.
    """
    if not common.topics.any():
        return "no topic is common to both"
    old, new = common.mean(units.average(scores.estimates[0].per_topic))
    of_chance = "" if np.isnan(chance) else f" (probability {chance_text(chance)})"
    n = int(common.topics.sum())
    return f"on the {counted(n, 'topic')} that both have it is {difference(new - old, 3)}{of_chance}"

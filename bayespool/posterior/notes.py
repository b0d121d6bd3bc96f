"""Notes on draws, on runs unlike the pool, and on LLM judges with unused, biased or missing labels."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from bayespool.arrays import BoolArray, IntArray
from bayespool.collection import Collection, Judge
from bayespool.errors import JudgeWarning, warn_caller
from bayespool.evidence import Estimand, favored_organizations, grade_counts
from bayespool.evidence.bounds import unjudged_documents
from bayespool.evidence.predictors_of_labels import usable_judges
from bayespool.inference.engines import is_independent
from bayespool.inference.fit import MIN_ESS
from bayespool.measures import Diagnostics, Measure
from bayespool.measures.estimates import worst_diagnostics
from bayespool.models import model_named
from bayespool.notes import Note, joined, noted
from bayespool.posterior.completion import Completion
from bayespool.posterior.distance import sensitivity
from bayespool.posterior.lots import Lots
from bayespool.posterior.mixtures import ThresholdPosterior
from bayespool.posterior.preparation import FALLBACK_MODEL, estimator_prior_names
from bayespool.posterior.thresholds import Threshold, describe_excess_levels, find_thresholds

_MIN_LABELED_SHARE = 0.1  # of the unjudged documents in reach
_REPEATED_SHARE = 0.98  # labels that are the relevance itself, which no other judge reaches
_MIN_REPEATED = 20
_TOP_OF_SPLIT = 10  # ranks, of topics with much and with little judged


def judge_problems(
    collection: Collection,
    run_ids: Sequence[str],
    measures: Sequence[Measure],
    *,
    estimand: Estimand = "complete",
) -> tuple[Note, ...]:
    """Return a sentence for each problem with a collection's LLM judges."""
    thresholds = list(
        dict.fromkeys(threshold for measure in measures for threshold in find_thresholds(collection, measure))
    )
    cutoffs = sorted({measure.cutoff for measure in measures}, reverse=True) if run_ids else []
    problems = list[str]()
    for judge in collection.judges:
        used = _used_thresholds(collection, judge, thresholds)
        if judge.thresholds and len(used) < len(thresholds):
            idle = [threshold for threshold in thresholds if threshold not in used]
            tally = grade_counts(collection, judge, **idle[0].levels)
            text = (
                f"judge {{}} is not used{_threshold_suffix(idle, thresholds)}: too few judged documents have "
                "its labels to know it by ({} relevant, {} not)"
            )
            n = int(tally.n_relevant.sum()), int(tally.n_nonrelevant.sum())
            problems.append(Note("judge-unused", text, judge.name, *n))
        for name, lift in _favored_lifts(collection, judge, used).items():
            in_100 = 50 + 100 * max(lift.values())
            problems.append(
                f"judge {judge.name} favors {name}: a document in the top 10 of its runs is labeled higher "
                f"than one of others that is as relevant in {in_100:.0f} of 100 pairs; labels of "
                f"{judge.name} are not used for runs of {name}{_threshold_suffix(list(lift), thresholds)}"
            )
        for cutoff in cutoffs if used else ():
            pair = unjudged_documents(collection, run_ids, cutoff=cutoff, estimand=estimand)[3]
            problem = _describe_missing_labels(collection, judge, np.unique(pair), cutoff)
            if problem:
                problems.append(joined("judge", " ", [f"judge {judge.name}", problem]))
                break
    return noted(problems, "judge")


def warn_of_judges(
    collection: Collection,
    run_ids: Sequence[str],
    measures: Sequence[Measure],
    *,
    estimand: Estimand = "complete",
) -> None:
    """Warn (`JudgeWarning`) for each of `judge_problems`."""
    few = [measure for measure in measures if not describe_excess_levels(collection, measure)]
    for problem in judge_problems(collection, run_ids, few, estimand=estimand):
        warn_caller(problem, JudgeWarning)


def draw_notes(
    posteriors: Sequence[ThresholdPosterior],
    lots: Lots | None,
    diagnostics: Diagnostics | None,
    n_draws: int,
    *,
    priors: Mapping[str, str],
    shift_prior: str | None,
    is_combined: bool,
) -> tuple[Note, ...]:
    """Return notes on problems with a completion's draws, such as failed diagnostics."""
    components = [component for posterior in posteriors for component in posterior.components]
    models = list(dict.fromkeys(component.model for component in components))
    problems = "; ".join(diagnostics.problems) if diagnostics is not None else ""
    notes = [Note("diagnostics", f"diagnostics failed: {problems}")] if problems else []
    if lots is not None and lots.by_lot.any():
        notes.append(Note("lots", lots.note))
    all_by_lot = lots is not None and bool(lots.by_lot.all())
    if is_combined and models == [FALLBACK_MODEL] and not all_by_lot:
        text = "no hidden documents to learn from, the odds-ratio model on its priors"
        notes.append(Note("estimator", text))
    if shift_prior is not None:
        text = (
            "judgments decided what was judged, so that unjudged documents may be less relevant "
            f"than hidden ones (prior of shift: {shift_prior}), which only "
            "judgments of a random sample of them would tell"
        )
        notes.append(Note("judgments-decided", text))
    idle = [name for name in priors if all(name not in estimator_prior_names(m) for m in models)]
    if idle and models:
        notes.append(Note("priors-unused", f"{' and '.join(models)} took no prior of {', '.join(idle)}"))
    held_out = min((p.held_out for p in posteriors if p.held_out.is_bad), default=None)
    if held_out is not None:
        text = (
            f"95 % intervals contain only {held_out.n_held} of the pool's {held_out.n_organizations} "
            "organizations when each is predicted by others"
        )
        notes.append(Note("held-out", text))
    if any(is_independent(c.fit.diagnostics.engine) for c in components) and n_draws < MIN_ESS:
        # a sampler's effective sample size is checked by its diagnostics
        notes.append(Note("few-draws", f"interval from only {n_draws} draws; use {MIN_ESS:.0f} or more"))
    return tuple(notes)


def run_notes(
    completion: Completion, measure: Measure, is_open: BoolArray, draws: Sequence[Note]
) -> tuple[tuple[Note, ...], ...]:
    """Return notes for each run with unjudged documents, on its draws, distance and judges."""
    far, failed = _distance_notes(completion, measure), _failure_notes(completion, measure)
    of_judges = judge_notes(completion, measure)
    return tuple(
        (*draws, *(each[r] for each in (far, failed) if r in each), *of_judges[r]) if open_ else ()
        for r, open_ in enumerate(is_open.tolist())
    )


def _distance_notes(completion: Completion, measure: Measure) -> dict[int, Note]:
    """Return notes on runs that are unlike the pool, by the index of the run."""
    unknowns, distance = completion.unknowns, completion.distance
    places = unknowns.place_run[unknowns.place_rank < measure.cutoff]
    n_ranks = measure.cutoff * len(unknowns.collection.query_ids)
    unjudged = np.bincount(places, minlength=len(unknowns.run_ids)) / n_ranks
    far = [] if distance is None else np.flatnonzero(distance.is_far(unjudged)).tolist()
    if distance is None or not far:
        return {}
    names, notes = [unknowns.run_ids[r] for r in far], {}
    as_pool, as_run = sensitivity(unknowns.collection, names, measure, unknowns.estimand)
    for r, pool, run in zip(far, as_pool, as_run, strict=True):
        known = [] if np.isnan(run) else [run]
        notes[r] = Note(
            "unlike-pool",
            "unlike the pool (distance {:.1f}; {:.3f} if what is unjudged is relevant as often as what "
            "single organizations add to the pool"
            f"{', {:.3f} if as often as its judged documents' * len(known)})",
            *(distance.distance[r], pool, *known),
        )
    return notes


def _failure_notes(completion: Completion, measure: Measure) -> dict[int, Note]:
    """Return notes on runs that found nothing on many topics, or may have, by index."""
    unknowns, notes = completion.unknowns, dict[int, Note]()
    n_topics, n_runs = len(unknowns.collection.query_ids), len(unknowns.run_ids)
    if completion.distance is None or measure.cutoff < _TOP_OF_SPLIT:
        return notes
    topic = np.repeat(np.arange(n_topics), np.diff(unknowns.place_start))
    shallow = unknowns.place_rank < _TOP_OF_SPLIT
    share = np.zeros((n_runs, n_topics))
    np.add.at(share, (unknowns.place_run[shallow], topic[shallow]), 1 / _TOP_OF_SPLIT)
    bare, known = share > 0.85, share < 0.5
    between = n_topics - bare.sum(axis=1) - known.sum(axis=1)
    is_split = (bare.sum(axis=1) >= np.maximum(3, 2 * between)) & (known.mean(axis=1) >= 0.25)
    for r in np.flatnonzero(is_split & (bare.mean(axis=1) >= 0.1)).tolist():
        notes[r] = Note(
            "split-topics",
            f"hardly anything of its top {_TOP_OF_SPLIT} is judged on {{}} of {n_topics} topics, and most on "
            "{}: if it failed on the former, its score is lower than the posterior",
            *(int(bare[r].sum()), int(known[r].sum())),
        )
    failures = completion.failures
    n_failed = np.zeros(n_runs) if failures is None else failures.expected(n_runs).round()
    for r in np.flatnonzero(n_failed >= max(3, n_topics / 10)).tolist():
        notes[r] = Note(
            "split-topics",
            f"probably found nothing on {{}} of {n_topics} topics, where hardly any document of its top is "
            "in other runs",
            int(n_failed[r]),
        )
    return notes


def judge_notes(completion: Completion, measure: Measure) -> list[list[Note]]:
    """Return the notes of each run on LLM judges under a measure."""
    unknowns = completion.unknowns
    collection, n_runs = unknowns.collection, len(unknowns.run_ids)
    models = {component.model for posterior in completion.posteriors for component in posterior.components}
    notes = list[list[Note]]([] for _ in range(n_runs))
    if not collection.judges or not models:
        return notes
    specs = [model_named(model) for model in models]
    if not any(spec.predictors or spec.evidence == "counts" for spec in specs):
        return [[Note("judge", "labels of judges are not used by this model")]] * n_runs
    thresholds = find_thresholds(collection, measure)
    shallow = unknowns.place_rank < measure.cutoff
    first = np.repeat(unknowns.start[:-1], np.diff(unknowns.place_start))
    pair, run = unknowns.pair[first + unknowns.place_unknown][shallow], unknowns.place_run[shallow]
    for judge in collection.judges:
        used = _used_thresholds(collection, judge, thresholds)
        idle = _threshold_suffix([threshold for threshold in thresholds if threshold not in used], thresholds)
        favored = _favored_lifts(collection, judge, used)
        alone = "" if len(collection.contributors) or not used else _basis_note(collection, judge, used[0])
        for r, o in enumerate(collection.organization[unknowns.run_index].tolist()):
            name = collection.organizations[o]
            if len(used) < len(thresholds):
                why = "too few judged documents have its labels" if judge.thresholds else "all are the same"
                notes[r].append(Note("judge", f"labels of judge {judge.name} not used{idle}: {why}"))
            if name in favored:
                where = _threshold_suffix(list(favored[name]), thresholds)
                favors = f"labels of judge {judge.name} not used{where}: it favors {name}"
                notes[r].append(Note("judge", favors))
            of_run = pair[run == r]
            labeled = int(judge.is_labeled[of_run].sum())
            if alone and labeled:
                notes[r].append(Note("judge", alone))
            if set(used) - set(favored.get(name, {})) and labeled < len(of_run):
                what = "unjudged document" if len(of_run) == 1 else "unjudged documents"
                text, values = f"judge {{}} labels {{}} of {{:,}} {what}", (judge.name, labeled, len(of_run))
                notes[r].append(Note("judge", text, *values))
    return notes


def _basis_note(collection: Collection, judge: Judge, threshold: Threshold) -> str:
    """Return a note with the number of judged documents from which a judge's accuracy is learned."""
    tally = grade_counts(collection, judge, **threshold.levels)
    return f"what labels of judge {judge.name} are worth rests on {tally.n.sum():,} judged documents only"


def _used_thresholds(
    collection: Collection, judge: Judge, thresholds: Sequence[Threshold]
) -> list[Threshold]:
    """Return the thresholds at which an LLM judge's labels are used."""
    return [threshold for threshold in thresholds if judge in usable_judges(collection, **threshold.levels)]


def _favored_lifts(
    collection: Collection, judge: Judge, thresholds: Sequence[Threshold]
) -> dict[str, dict[Threshold, float]]:
    """Return the lift for each organization that a judge favors, by name and threshold."""
    lifts: dict[str, dict[Threshold, float]] = {}
    for threshold in thresholds:
        for name, lift in favored_organizations(collection, judge, **threshold.levels).items():
            lifts.setdefault(name, {})[threshold] = lift
    return lifts


def _describe_missing_labels(collection: Collection, judge: Judge, unjudged: IntArray, cutoff: int) -> str:
    """Return a description of the problem if few unjudged documents have labels, else an empty string."""
    n, n_judged, labeled = len(unjudged), int(collection.judged.sum()), int(judge.is_labeled[unjudged].sum())
    known = int(judge.is_labeled[collection.judged].sum())
    where = f"within rank {cutoff} of the runs to score"
    if 2 * labeled >= n:
        return ""
    if _repeats_judgments(collection, judge):
        text = "hardly differs from the judgments, and labels {:,} of {:,} unjudged documents "
        return Note("judge", f"{text}{where}: are its labels a copy of the qrels?", labeled, n)
    if 2 * known > n_judged:
        text = f"labels {{:,}} of {{:,}} judged documents, but {{:,}} of {{:,}} unjudged ones {where}"
        return Note("judge", f"{text}; have it label these, too", known, n_judged, labeled, n)
    if labeled < _MIN_LABELED_SHARE * n:
        text = f"labels {{:,}} of {{:,}} unjudged documents {where}, too few to say much of them"
        return Note("judge", f"{text}; have it label these, too", labeled, n)
    return ""


def _repeats_judgments(collection: Collection, judge: Judge) -> bool:
    """Return whether a judge's labels nearly always equal the judgments."""
    both = collection.judged & judge.is_labeled
    same, relevant = judge.label[both] == collection.relevance[both], collection.relevance[both] > 0
    return all(
        of_level.sum() >= _MIN_REPEATED and of_level.mean() >= _REPEATED_SHARE
        for of_level in (same[relevant], same[~relevant])
    )


def _threshold_suffix(some: Sequence[Threshold], thresholds: Sequence[Threshold]) -> str:
    """Return text that names the given thresholds, empty if they are all."""
    if len(some) == len(thresholds):
        return ""
    return " for relevance " + " and ".join(f"{threshold.rel} or more" for threshold in some)


def worst_of_models(of_models: Mapping[str, Diagnostics]) -> Diagnostics | None:
    """Return the worst diagnostics over several models' fits, with model names in the problems."""
    named = [
        dataclasses.replace(d, problems=tuple(f"{model}: {p}" for p in d.problems))
        for model, d in of_models.items()
    ]
    return worst_diagnostics(named if len(named) > 1 else list(of_models.values())) if of_models else None

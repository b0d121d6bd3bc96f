"""What is to be said of second judges where runs are scored: whose labels are of no use, and for whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, Judge
from bayespool.errors import JudgeWarning, warn_caller
from bayespool.evidence import Estimand, favored_organizations, grade_counts
from bayespool.evidence.judged import unjudged_documents
from bayespool.evidence.predictors_of_labels import usable_judges
from bayespool.measures import Measure
from bayespool.models import model_named
from bayespool.posterior.ladder import Rung, rungs_of

if TYPE_CHECKING:
    from bayespool.posterior.completion import Completion


def judge_problems(
    collection: Collection,
    run_ids: Sequence[str],
    measures: Sequence[Measure],
    *,
    estimand: Estimand = "complete",
) -> tuple[str, ...]:
    """What is wrong with the judges of a collection.

    Too few judged documents have a judge's labels, so that it is not used; a judge favors an organization,
    whose runs its labels are not used for (`bayespool.evidence.favored_organizations`); labels are absent on
    just the documents in question: fewer than half of the unjudged documents within the cutoff of the runs to
    score have one, and more than half of all judged documents.

    Parameters
    ----------
    collection : Collection
    run_ids : sequence of str
        The runs to score; none before an experiment that conceals judgments.
    measures : sequence of Measure
        They say what is relevant, and how deep runs are looked at.
    estimand : {"complete", "pooled"}

    Returns
    -------
    tuple of str
        A sentence each; empty without judges.
    """
    rungs = list(dict.fromkeys(rung for measure in measures for rung in rungs_of(collection, measure)))
    cutoffs = sorted({measure.cutoff for measure in measures}, reverse=True) if run_ids else []
    said = []
    for judge in collection.judges:
        used = _used_on(collection, judge, rungs)
        if judge.thresholds and len(used) < len(rungs):
            idle = [rung for rung in rungs if rung not in used]
            counted = grade_counts(collection, judge, rel=idle[0].rel, given=idle[0].given)
            said.append(
                f"judge {judge.name} is not used{_where(idle, rungs)}: too few judged documents have its "
                f"labels to know it by ({counted.n_relevant.sum()} relevant, "
                f"{counted.n_nonrelevant.sum()} not)"
            )
        for name, lift in _favored(collection, judge, used).items():
            in_100 = 50 + 100 * max(lift.values())
            said.append(
                f"judge {judge.name} favors {name}: a document in the top 10 of its runs is labeled higher "
                f"than one of others that is as relevant in {in_100:.0f} of 100 pairs; labels of "
                f"{judge.name} are not used for runs of {name}{_where(list(lift), rungs)}"
            )
        for cutoff in cutoffs if used else ():
            pair = unjudged_documents(collection, run_ids, cutoff=cutoff, estimand=estimand)[3]
            absent = _absent(collection, judge, np.unique(pair))
            if absent:
                said.append(
                    f"judge {judge.name} {absent} within rank {cutoff} of the runs to score; have it label "
                    "these, too"
                )
                break
    return tuple(said)


def warn_of_judges(
    collection: Collection,
    run_ids: Sequence[str],
    measures: Sequence[Measure],
    *,
    estimand: Estimand = "complete",
) -> None:
    """Warn of what is wrong with the judges of a collection.

    Parameters
    ----------
    collection, run_ids, measures, estimand
        As of `judge_problems`.

    Warns
    -----
    JudgeWarning
        Once for each of `judge_problems`.
    """
    for problem in judge_problems(collection, run_ids, measures, estimand=estimand):
        warn_caller(problem, JudgeWarning)


def judge_notes(completion: Completion, measure: Measure) -> list[str]:
    """Of each run of a completion, what is to be noted of the judges under a measure; empty where nothing is.

    Parameters
    ----------
    completion : Completion
    measure : Measure

    Returns
    -------
    list of str
        One per run.
    """
    unknowns = completion.unknowns
    collection, n_runs = unknowns.collection, len(unknowns.run_ids)
    models = {component.model for step in completion.steps for component in step.components}
    if not collection.judges or not models:
        return [""] * n_runs
    specs = [model_named(model) for model in models]
    if not any(spec.predictors or spec.evidence == "counts" for spec in specs):
        return ["labels of judges are not used by this model"] * n_runs
    rungs, said = rungs_of(collection, measure), list[list[str]]([] for _ in range(n_runs))
    shallow = unknowns.place_rank < measure.cutoff
    first = np.repeat(unknowns.start[:-1], np.diff(unknowns.place_start))
    pair, run = unknowns.pair[first + unknowns.place_unknown][shallow], unknowns.place_run[shallow]
    for judge in collection.judges:
        used = _used_on(collection, judge, rungs)
        idle = _where([rung for rung in rungs if rung not in used], rungs)
        favored = _favored(collection, judge, used)
        alone = "" if len(collection.contributors) or not used else _known_by(collection, judge, used[0])
        for r, o in enumerate(collection.organization[unknowns.run_index].tolist()):
            name = collection.organizations[o]
            if len(used) < len(rungs):
                why = "too few judged documents have its labels" if judge.thresholds else "all are the same"
                said[r].append(f"labels of judge {judge.name} not used{idle}: {why}")
            if name in favored:
                where = _where(list(favored[name]), rungs)
                said[r].append(f"labels of judge {judge.name} not used{where}: it favors {name}")
            of_run = pair[run == r]
            labeled = int(judge.is_labeled[of_run].sum())
            if alone and labeled:
                said[r].append(alone)
            if set(used) - set(favored.get(name, {})) and labeled < len(of_run):
                said[r].append(f"judge {judge.name} labels {labeled} of {len(of_run)} unjudged documents")
    return ["; ".join(of_run) for of_run in said]


def _known_by(collection: Collection, judge: Judge, rung: Rung) -> str:
    """What labels rest on where nothing is hidden."""
    counted = grade_counts(collection, judge, rel=rung.rel, given=rung.given)
    return f"what labels of judge {judge.name} are worth rests on {counted.n.sum():,} judged documents alone"


def _used_on(collection: Collection, judge: Judge, rungs: Sequence[Rung]) -> list[Rung]:
    """The questions on which a judge is used."""
    return [r for r in rungs if judge in usable_judges(collection, rel=r.rel, given=r.given)]


def _favored(collection: Collection, judge: Judge, rungs: Sequence[Rung]) -> dict[str, dict[Rung, float]]:
    """Organizations that a judge favors, each with the questions on which it does, and by how much."""
    found: dict[str, dict[Rung, float]] = {}
    for rung in rungs:
        favored = favored_organizations(collection, judge, rel=rung.rel, given=rung.given)
        for name, lift in favored.items():
            found.setdefault(name, {})[rung] = lift
    return found


def _absent(collection: Collection, judge: Judge, unjudged: npt.NDArray[np.int32]) -> str:
    """That labels are absent on just these documents, if it is so."""
    n_judged, labeled = int(collection.judged.sum()), int(judge.is_labeled[unjudged].sum())
    known = int(judge.is_labeled[collection.judged].sum())
    if 2 * labeled >= len(unjudged) or 2 * known <= n_judged:
        return ""
    of_judged, of_unjudged = f"{known:,} of {n_judged:,}", f"{labeled:,} of {len(unjudged):,}"
    return f"labels {of_judged} judged documents, but {of_unjudged} unjudged ones"


def _where(some: Sequence[Rung], rungs: Sequence[Rung]) -> str:
    """Which questions these are, where they are not all."""
    if len(some) == len(rungs):
        return ""
    return " for relevance " + " and ".join(f"{rung.rel} or more" for rung in some)

"""Questions to a collection: parsed when they are made, and resolved once to what all answers read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeAlias, TypedDict

import numpy as np

from bayespool.collection import Collection
from bayespool.collection.collection import (
    Systems,
    expect_collection,
    group_systems,
    parse_systems,
    tie_notes,
)
from bayespool.collection.contents import SPARSE_NOTE
from bayespool.collection.own import find_targets
from bayespool.collection.passages import find_passages, refuse_unjudged_runs
from bayespool.corrections import TopicsAdjustment
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError, some
from bayespool.measures import Estimator, Measure
from bayespool.measures.base import with_ideal
from bayespool.measures.groups import Groups, find_groups
from bayespool.measures.parsing import parse_measures, parse_sole_measure
from bayespool.models.terms import refuse_lacking_columns
from bayespool.names import By, Estimand, Ideal, Scope
from bayespool.notes import Note, noted
from bayespool.pooling import describe_pool
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.estimator import shared_settings, sole_posterior
from bayespool.posterior.notes import warn_of_judges
from bayespool.scoring.cautions import binary_notes, clipping_notes, warn_of_unused_relevance
from bayespool.scoring.checked_by_design import answers_a_design
from bayespool.scoring.estimators import (
    named_estimators,
    parse_estimators,
    with_as_judged,
    with_common_topics,
)
from bayespool.scoring.no_pool import company_notes, describe_lack, warn_of_no_pool
from bayespool.tables.files import PathLike
from bayespool.tables.formatting import counted
from bayespool.validation import check_choice, check_count, described, listed

Estimators: TypeAlias = str | Estimator | Iterable[str | Estimator]


@dataclass(frozen=True, eq=False)
class Targets:
    """Resolved question to a collection: all that comes after reads this.

    Attributes
    ----------
    collection : Collection
        With the pool that runs are scored by, and the judgments that count (`find_targets`).
    given : Collection
        Before anything left the pool.
    run_ids : tuple of str
        Runs to score.
    unpooled : dict of str to str
        Unpooled runs, each with what left the pool because of it.
    measures : tuple of Measure
    estimators : tuple of Estimator
    estimand : {"complete", "pooled"}
    groups : Groups or None
        Of the topics, if they are asked for.
    systems : tuple of (str, str)
        Runs of the collection with the systems that they are of.
    metadata : dict
        Fingerprint, pool, unpooled runs and notes on the pool and the rankings, to quote with a result.
    """

    collection: Collection
    given: Collection
    run_ids: tuple[str, ...]
    unpooled: dict[str, str]
    measures: tuple[Measure, ...]
    estimators: tuple[Estimator, ...]
    estimand: Estimand
    groups: Groups | None = None
    systems: Systems = ()
    metadata: dict[str, Any] = field(default_factory=dict)


class AskedKeywords(TypedDict, total=False):
    """Keywords that all questions share, which `Asked` describes."""

    posterior_settings: str | PosteriorEstimator | None
    unpool: str | Iterable[str]
    unpool_by: By
    repool_to: int | None
    estimand: Estimand
    ideal: Ideal
    common_topics: str | Iterable[str]
    groups: PathLike | Mapping[str, str] | None
    systems: PathLike | Mapping[str, str] | None
    ci_prob: float | None
    random_seed: int


@dataclass(frozen=True, eq=False, repr=False)
class Asked:
    """Question to a collection, whatever its answer.

    Parameters
    ----------
    collection : Collection, optional
        Of runs and judgments, as `bayespool.read_collection` makes it of files and of objects in memory.
        Without one the question is only checked.
    run_ids : str or iterable of str, optional
        Runs of the collection. Default: the runs to score that the collection was read with
        (``given_run_ids``), else those that were not pooled; with ``unpool`` only those named there.
    measures : measure or iterable of measures, default "P@10"
        P@10, nDCG@10, P(rel=2)@10, AP@100, ….
    estimators : str, Estimator or iterable of them, optional
        Names with settings in parentheses: background(e=0.05),smoothed. Default: those of the answer.
    posterior_settings : str or PosteriorEstimator, optional
        Settings of the posteriors: "draws=4000, engine=nuts, mu=Normal(-2,1)".
    unpool : str or iterable of str, optional
        A run of the campaign, or an organization, to score as if it were new: it leaves the pool. A run
        leaves with all runs of its organization, and only it is scored. Of an organization all runs are
        scored, or those of them that ``run_ids`` names.
    unpool_by : {"organization", "run"}, default "organization"
        What leaves the pool with a run that is named: its organization, or nothing.
    repool_to : int, optional
        Re-pool to this depth, which removes the judgments of documents that no pooled run has down to it.
    estimand : {"complete", "pooled"}, default "complete"
        Whether unjudged documents below the pool depth are estimated, or stay nonrelevant (pooled).
        The two coincide down to the pool depth.
    ideal : {"own", "shared", "judged"}, default "own"
        Documents in the ideal ranking of nDCG, AP and R: the run's, all runs', or only the judged ones.
        Besides the judged documents, completed ones are in it that are in reach of the run itself (own) or
        of any run scored (shared). It holds for measures whose text names no other, such as ``nDCG@10``.
    common_topics : str or iterable of str, optional
        Topics on which the runs are fully judged. They add the topics adjustment to scores, and posteriors
        learn from the judgments there as from the runs' own.
    groups : path, name of a column or mapping of str to str, optional
        Groups of topics, for values by group and the mean of groups with equal weight: CSV with topic,group,
        or a column of topics_table. Of `score`, `compare`, `gate` and `plan_comparison`.
    systems : path or mapping of str to str, optional
        CSV with run_id,system: runs of one system, such as seeds or prompts. A system scores the mean of its
        runs, which are held out together; its name stands for them.
    ci_prob : float, optional
        Probability of the intervals; default: 0.95. They are equal-tailed, and `bayespool.rcParams` has the
        default.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.

    Raises
    ------
    InputError
        Unknown measure or choice, or a number out of its range.
    """

    collection: Collection | None = None
    run_ids: str | Iterable[str] | None = None
    measures: object = "P@10"
    _: KW_ONLY
    estimators: Estimators | None = None
    posterior_settings: str | PosteriorEstimator | None = None
    unpool: str | Iterable[str] = ()
    unpool_by: By = "organization"
    repool_to: int | None = None
    estimand: Estimand = "complete"
    ideal: Ideal = "own"
    common_topics: str | Iterable[str] = ()
    groups: PathLike | Mapping[str, str] | None = None
    systems: PathLike | Mapping[str, str] | None = None
    ci_prob: float | None = None
    random_seed: int = 1

    def __post_init__(self) -> None:
        check_count("random_seed", self.random_seed, least=0)
        check_count("repool_to", self.repool_to)
        check_choice("unpool_by", self.unpool_by, By)
        check_choice("estimand", self.estimand, Estimand)
        check_choice("ideal", self.ideal, Ideal)
        shared_settings(self.posterior_settings)
        parsed: dict[str, Any] = {
            "measures": parse_measures(self.measures),
            "ci_prob": fill_ci_prob(self.ci_prob),
            "run_ids": None if self.run_ids is None else listed("run_ids", self.run_ids, may_be_empty=True),
        }
        for name in ("unpool", "common_topics"):
            parsed[name] = listed(name, getattr(self, name), may_be_empty=True)
        if self.systems is not None:
            parsed["systems"] = dict(parse_systems(self.systems))
        if self.estimators is not None:
            parsed["estimators"] = named_estimators(self.estimators)
        for name, value in parsed.items():
            object.__setattr__(self, name, value)

    @property
    def asked_measures(self) -> tuple[Measure, ...]:
        """Measures with the ideal rankings asked for."""
        return with_ideal(parse_measures(self.measures), self.ideal)

    @property
    def sole_measure(self) -> Measure:
        """The one measure of rankings that is asked for, else `InputError`."""
        (measure,) = with_ideal([parse_sole_measure(self.measures)], self.ideal)
        return measure

    @property
    def sole_posterior(self) -> PosteriorEstimator:
        """The one posterior that is asked for, else `InputError`; default: posterior-combined."""
        named: Any = ("posterior-combined",) if self.estimators is None else self.estimators
        if len(named) != 1:
            raise InputError(f"{len(named)} estimators", hint="name one posterior")
        return sole_posterior(named[0], self.posterior_settings, **self._shared)

    @property
    def _shared(self) -> dict[str, Any]:
        return {"estimand": self.estimand, "random_seed": self.random_seed}

    @property
    def interval_prob(self) -> float:
        """Probability of the intervals."""
        return fill_ci_prob(self.ci_prob)

    def check_scope(self, name: str, scope: Any) -> None:
        """Raise `InputError` for an unknown scope, and for groups as a sample where none are asked for."""
        check_choice(name, scope, Scope)
        if scope == "groups" and self.groups is None:
            raise InputError("no groups to be a sample", hint="name the groups of topics: --groups FILE")

    def estimators_or(
        self, default: Estimators, *, has_as_judged: bool = False, **settings: Any
    ) -> tuple[Estimator, ...]:
        """Return the estimators asked for, or those by default, with settings of posteriors."""
        named = default if self.estimators is None else self.estimators
        if has_as_judged:
            named = with_as_judged(named)
        settings |= shared_settings(self.posterior_settings)
        requested = with_common_topics(named, tuple(self.common_topics), **self._shared)
        return parse_estimators(requested, settings, by_settings=True, **self._shared)

    def describe(self, **answer: Any) -> dict[str, Any]:
        """Return the settings of an answer, in the types of JSON: its own, and those of the question."""
        names = AskedKeywords.__annotations__
        return described(**answer, **{name: getattr(self, name) for name in names})

    def resolve(
        self,
        estimators: Sequence[Estimator],
        *,
        measures: Sequence[Measure] | None = None,
        estimand: Estimand | None = None,
        whole_campaign: bool = False,
        may_group: bool = False,
    ) -> Targets:
        """Resolve runs, pool, judgments, measures and estimators, and warn of what does not suit the
        collection.

        ``whole_campaign`` takes all runs of the collection where none is named, and lets runs pass of which
        no document is judged. ``may_group`` is for answers that have values by group of topics.
        """
        given, run_ids, taken = self.collection, self.run_ids, list[Note]()
        expect_collection(given)
        assert given is not None
        if self.groups is not None and not may_group:
            raise InputError("no values by group here", hint="score, compare, gate and plan have them")
        systems = parse_systems(self.systems)
        if systems:
            given = group_systems(given, systems)
            present = set(given.run_ids)
            if unknown := [run for run, _ in systems if run not in present]:
                text = f"{counted(len(unknown), 'run')} of the list of systems not in the collection"
                taken.append(Note("scope", f"{text}: {some(unknown)}"))
        run_ids = None if run_ids is None else runs_of_systems(run_ids, systems, given.run_ids)
        if whole_campaign and not (run_ids or self.unpool or given.given_run_ids):
            run_ids = given.run_ids
            text = f"no runs named: {counted(len(run_ids), 'run')} of the collection, as they are judged"
            taken.append(Note("scope", text))
        adjustments = [e for e in estimators if isinstance(e, TopicsAdjustment)]
        scored, targets, unpooled = find_targets(
            given,
            run_ids,
            unpool=self.unpool,
            unpool_by=self.unpool_by,
            repool_to=self.repool_to,
            common_topics=list(
                dict.fromkeys((*self.common_topics, *(q for e in adjustments for q in e.common_query_ids)))
            ),
        )
        if not whole_campaign:  # else it is asked what to judge
            refuse_unjudged_runs(given, targets)
        asked = Targets(
            scored,
            given,
            targets,
            unpooled,
            tuple(self.asked_measures if measures is None else measures),
            tuple(estimators),
            self.estimand if estimand is None else estimand,
            None if self.groups is None else find_groups(scored, self.groups),
            systems,
        )
        for estimator in estimators:
            if isinstance(estimator, PosteriorEstimator):
                refuse_lacking_columns(given, estimator.terms)
        has_posterior = any(isinstance(e, PosteriorEstimator) for e in estimators)
        lack = ""
        if has_posterior and not given.pooled.any() and not answers_a_design(given):
            lack = describe_lack(scored, targets, asked.measures)
        if lack:
            warn_of_no_pool(given, lack, asked.measures)
        warn_of_unused_relevance(scored, asked.measures)
        warn_of_judges(scored, targets, asked.measures, estimand=asked.estimand)
        for adjustment in adjustments:
            adjustment.is_common(scored)  # refuses topics that the collection does not have
        metadata = _describe_targets(asked, lack)
        metadata["pool_notes"] += taken
        return dataclasses.replace(asked, metadata=metadata)


def runs_of_systems(names: Iterable[str], systems: Systems, run_ids: Sequence[str]) -> tuple[str, ...]:
    """Return names of runs with a system's runs in place of its name, unless a run is called so.

    Examples
    --------
    >>> runs_of_systems(["bm25", "tuned"], [("t1", "tuned"), ("t2", "tuned")], ["bm25", "t1", "t2"])
    ('bm25', 't1', 't2')
    """
    members: dict[str, list[str]] = {}
    for run, system in systems:
        if run in run_ids:
            members.setdefault(system, []).append(run)
    runs = (each for name in names for each in ([name] if name in run_ids else members.get(name, [name])))
    return tuple(dict.fromkeys(runs))


def _describe_targets(targets: Targets, lack: str) -> dict[str, Any]:
    """Return metadata of targets: the pool that runs are scored by, what it lacks, notes on it and on
    rankings.
    """
    collection, given, measures = targets.collection, targets.given, targets.measures
    pool = describe_pool(collection)
    of_given = pool if given is collection else describe_pool(given)
    repooled = noted((note for note in pool.scope if note not in of_given.scope), "scope")
    notes = [*[Note("no-pool", lack)] * bool(lack), *of_given.notes, *repooled]
    if "rest on" in lack:
        notes += company_notes(collection, targets.run_ids, measures)
    notes += tie_notes(given, targets.run_ids, (m.cutoff for m in measures))
    notes += clipping_notes(given, measures)
    notes += binary_notes(given, measures)
    sparse = [str(measure) for measure in measures if given.is_sparse_at(measure.least_level)]
    if sparse and not given.is_sparse:
        notes.append(Note("sparse", f"{', '.join(sparse)}: {SPARSE_NOTE}"))
    return {
        "fingerprint": collection.fingerprint,
        "unpooled": targets.unpooled,
        "passed_over": list(collection.ignored_judgments),
        "pool": {name: getattr(pool, name) for name in type(pool).__dataclass_fields__},
        "pool_notes": notes,
        "query_ids": list(collection.query_ids),
        "missing_topics": _missing_topics(collection, targets.run_ids),
        "passages": _passage_shares(given, targets.run_ids),
        **({"sparse_measures": sparse} if sparse else {}),
    }


def _passage_shares(collection: Collection, run_ids: Sequence[str]) -> dict[str, float]:
    """Return the share of runs' top documents that would be judged if a suffix were cut, by run."""
    top = collection.document[collection.run_index(run_ids), :, :10]  # the ranks that are looked at
    matches = find_passages(run_ids, top, collection.judged, collection.doc_ids)
    return {each.run_id: each.n_joined / each.n_top for each in matches}


def _missing_topics(collection: Collection, run_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the topics for which runs retrieve nothing, by run; those that have all are left out."""
    is_missing = collection.document[collection.run_index(run_ids), :, 0] < 0
    topics = np.array(collection.query_ids, dtype=object)
    return {run: topics[row].tolist() for run, row in zip(run_ids, is_missing, strict=True) if row.any()}

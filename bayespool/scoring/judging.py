"""Choose the unjudged documents whose judgments reduce uncertainty most."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from bayespool import __version__
from bayespool.collection import Collection, IntArray
from bayespool.collection.no_pool import warn_of_no_pool
from bayespool.errors import InputError
from bayespool.evidence import Estimand
from bayespool.measures import Ideal, Measure, parse_measures
from bayespool.measures.normalized import with_ideal
from bayespool.options import describe_estimator, documented, options_of
from bayespool.pooling import describe_pool
from bayespool.posterior import Completion, PosteriorEstimator, PosteriorOptions
from bayespool.posterior.keywords import refuse_unknown_settings
from bayespool.posterior.second_judges import warn_of_judges
from bayespool.scoring.estimators import parse_posterior
from bayespool.scoring.judging_belief import Belief
from bayespool.scoring.judging_goals import Goal, Target, check_goal, find_target
from bayespool.scoring.judging_influence import Influence, find_influence
from bayespool.scoring.scoring import (
    expect_collection,
    find_targets,
    refuse_of_judgments,
    warn_of_unused_relevance,
)
from bayespool.scoring.settings import JudgeNextSettings
from bayespool.tables.reprs import Shown, one_line

if TYPE_CHECKING:
    import pandas as pd

FloatArray = npt.NDArray[np.float64]
_MAX_STEPS = 1000  # judgments that a plan looks ahead


@dataclass(frozen=True)
class Afterwards:
    """The effect of all your own judgments, beside the effect expected before the first of them.

    Each round of judging prints what it expects given the earlier answers; this covers all rounds together.

    Attributes
    ----------
    n : int
        Number of your own judgments.
    before, expected, now : float
        The quantity to reduce: without these judgments, its expectation then after judging these documents,
        and its present value.
    """

    n: int
    before: float
    expected: float
    now: float


class Plan(NamedTuple):
    """Documents to judge, each the most informative one given those before it.

    ``unknown``: positions among the completion's unknowns, shape (document,). ``expected``: expected total
    after each, shape (document,). ``left``: each interval or chance expected after all, shape (sum,).
    ``n_needed``: judgments expected to reach the target, None without one or beyond the steps looked ahead.
    """

    unknown: npt.NDArray[np.intp]
    expected: FloatArray
    left: FloatArray
    n_needed: int | None


@dataclass(frozen=True, eq=False, repr=False)
class NextJudgments(Shown):
    """Documents to judge, the most informative first, made by `bayespool.judge_next`.

    Attributes
    ----------
    completion : Completion
        The draws from which the expected effect of a judgment is computed.
    measure : Measure
    target : Target
        The quantities to reduce: intervals, or chances of a wrong order.
    unknown : ndarray of int, shape (document,)
        The documents, as positions among the completion's unknowns; none once judging may stop.
    expected : ndarray of float, shape (document,)
        The expected criterion after the documents down to this one are judged.
    left : ndarray of float, shape (sum,)
        Each interval or chance of the target expected after all of them are judged.
    chance : ndarray of float, shape (document,)
        Chance that each is relevant; under a graded measure its expected gain, from 0 to 1.
    until : float or None
        Value of the criterion at which judging may stop.
    n_needed : int or None
        Number of judgments expected to reach it; None without ``until``, or if the judgments looked ahead
        are not enough.
    afterwards : Afterwards or None
        The effect of your own judgments so far.
    metadata : dict
        Version, fingerprint, pool, settings.
    """

    completion: Completion
    measure: Measure
    target: Target
    unknown: npt.NDArray[np.intp]
    expected: FloatArray
    left: FloatArray
    chance: FloatArray
    until: float | None
    n_needed: int | None
    afterwards: Afterwards | None
    metadata: dict[str, Any]

    def __len__(self) -> int:
        return len(self.unknown)

    def __repr__(self) -> str:
        text = f"{len(self)} documents for {self.criterion} of {self.measure}"
        return one_line("NextJudgments", text)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the draws, one line each; every output has them."""
        return self.completion.notes

    @property
    def criterion(self) -> str:
        """The quantity to reduce, in words."""
        return self.target.criterion(self.until)

    @property
    def now(self) -> float:
        """Its present value."""
        return self.target.total(self.target.now, self.until)

    @property
    def expected_after(self) -> float:
        """Its expected value after all these documents are judged."""
        return float(self.expected[-1]) if len(self) else self.now

    @property
    def widest(self) -> tuple[float, float]:
        """The largest interval or chance of the target: now, and expected when all these are judged."""
        now, left = self.target.now, self.left
        return float(now.max(initial=0.0)), float(left.max(initial=0.0))

    @property
    def is_done(self) -> bool:
        """Whether judging may stop now."""
        return self.until is not None and self.now <= self.until

    @property
    def pair(self) -> IntArray:
        """Pair codes of the documents."""
        pairs: IntArray = self.completion.unknowns.pair[self.unknown]
        return pairs

    @cached_property
    def runs_of(self) -> tuple[tuple[str, ...], ...]:
        """Runs that have each document within the measure's depth, the best rank first."""
        u = self.completion.unknowns
        runs_by_document = []
        for document, t in zip(self.unknown, u.topic[self.unknown], strict=True):
            run, rank, unknown = u.places_on(t)
            places = np.flatnonzero((unknown == document - u.start[t]) & (rank < self.measure.cutoff))
            order = places[np.lexsort((run[places], rank[places]))]
            runs_by_document.append(tuple(u.run_ids[r] for r in run[order]))
        return tuple(runs_by_document)

    def to_frame(self) -> pd.DataFrame:
        """One row per document.

        Returns
        -------
        pandas.DataFrame
            Columns ``query_id``, ``doc_id``, ``rank`` (the best of any run), ``runs`` (separated by spaces),
            ``chance``, ``expected``.
        """
        import pandas as pd

        u = self.completion.unknowns
        return pd.DataFrame(
            {
                "query_id": [u.collection.query_ids[t] for t in u.collection.pair_topic[self.pair]],
                "doc_id": [u.collection.doc_id(pair) for pair in self.pair],
                "rank": u.best_rank[self.unknown],
                "runs": [" ".join(runs) for runs in self.runs_of],
                "chance": self.chance,
                "expected": self.expected,
            }
        )

    frame = to_frame


@documented(JudgeNextSettings)
def judge_next(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    goal: Goal = "interval",
    budget: int = 50,
    ideal: Ideal | None = None,
    until: float | None = None,
    estimator: str | PosteriorEstimator = "posterior-combined",
    unpool: str | Iterable[str] | None = None,
    unpool_by: Literal["organization", "run"] = "organization",
    pool_depth: int | None = None,
    estimand: Estimand = "complete",
    ci_prob: float = 0.95,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[PosteriorOptions],
) -> NextJudgments:
    """Choose the unjudged documents whose judgments are expected to be most informative about some runs.

    Parameters
    ----------
    collection : Collection
        With your own judgments so far (`Collection.add_judgments`), from which the models learn.
    run_ids : str or iterable of str, optional
        Default: the runs that were not pooled, or with ``unpool`` only those named there.
    measures : measure
        P@10, nDCG@10, AP@100, …; one of them.
    {options}
    report : callable, optional
        Called with a line on each stage of the work as it begins.
    **settings
        Settings of the posterior: ``engine``, ``draws``, ``chains``, ``priors``, ….

    Returns
    -------
    NextJudgments

    Raises
    ------
    InputError
        Several measures; a comparison of other than two runs; unknown run, goal, measure or setting.

    Warns
    -----
    JudgeWarning
        Labels of a second judge are not used, or absent on just the unjudged documents.

    Notes
    -----
    The worth of judging a document is the expected reduction of the variance of a run's mean or of a
    difference: its own share, and what it tells about other documents through slopes, the topic and the
    organization. Documents are chosen one by one, each given those before it. A document that several runs
    have is judged once, so runs are completed together, unlike in `score`.

    Examples
    --------
    >>> from bayespool import judge_next, load_example
    >>> judgments = judge_next(load_example(), "new-b", "P@10", budget=5)
    >>> len(judgments), judgments.expected_after < judgments.now
    (5, True)
    """
    JudgeNextSettings(
        goal=goal,
        budget=budget,
        ideal=ideal,
        until=until,
        unpool_by=unpool_by,
        pool_depth=pool_depth,
        estimand=estimand,
        ci_prob=ci_prob,
        random_seed=random_seed,
    )
    kind_of_ideal = ideal or ("own" if goal == "interval" else "shared")
    (measure,) = with_ideal([sole_measure(measures)], kind_of_ideal)
    known = set(PosteriorEstimator.__dataclass_fields__) - {"model", "estimand", "random_seed"}
    refuse_unknown_settings(
        settings, known, of="posteriors", more={"judge_next": options_of(JudgeNextSettings)}
    )
    chosen = parse_posterior(estimator, estimand=estimand, random_seed=random_seed, **settings)
    expect_collection(collection)
    warn_of_no_pool(collection)
    collection, targets, unpooled = find_targets(
        collection, run_ids, unpool=unpool, unpool_by=unpool_by, pool_depth=pool_depth
    )
    check_goal(goal, len(targets))
    warn_of_unused_relevance(collection, (measure,))
    warn_of_judges(collection, targets, (measure,), estimand=estimand)
    is_own = collection.is_own
    afterwards = None
    say = report or (lambda line: None)
    say(f"completing: {chosen.name}")
    completion = chosen.complete(collection, targets, measure)
    target, influence = _find_target_and_influence(completion, measure, goal, ci_prob)
    if is_own.any():
        say("completing without the judgments of your own")
        before = chosen.complete(collection.without_judgments(is_own), targets, measure)
        afterwards = _afterwards(
            _find_target_and_influence(before, measure, goal, ci_prob), before, is_own, target, until
        )
    say("choosing")
    planned = plan(influence, target, budget, until)
    now, pool = target.total(target.now, until), describe_pool(collection)
    return NextJudgments(
        completion=completion,
        measure=measure,
        target=target,
        **planned._asdict(),
        chance=influence.chance(planned.unknown),
        until=until,
        afterwards=afterwards,
        metadata={
            "bayespool": __version__,
            "fingerprint": collection.fingerprint,
            "goal": goal,
            "measure": str(measure),
            "runs": list(targets),
            "unpooled": unpooled,
            "passed_over": list(collection.passed_over),
            "ci_prob": ci_prob,
            "criterion": target.criterion(until),
            "criterion_now": now,
            "criterion_expected": float(planned.expected[-1]) if len(planned.expected) else now,
            "now": dict(zip(target.names, target.now.tolist(), strict=True)),
            "expected": dict(zip(target.names, planned.left.tolist(), strict=True)),
            "until": until,
            "n_needed": planned.n_needed,
            "is_done": planned.n_needed == 0,
            "afterwards": None if afterwards is None else dataclasses.asdict(afterwards),
            "estimator": describe_estimator(chosen),
            "pool": {name: getattr(pool, name) for name in type(pool).__dataclass_fields__},
        },
    )


def sole_measure(measures: object) -> Measure:
    """Parse the measure of `judge_next`; several, or one of the judgments themselves, raise `InputError`."""
    parsed = parse_measures(measures)
    if len(parsed) != 1:
        raise InputError(f"{len(parsed)} measures", hint="choose judgments for one at a time")
    refuse_of_judgments(parsed)
    return parsed[0]


def plan(influence: Influence, target: Target, budget: int, until: float | None = None) -> Plan:
    """Choose documents one by one; fewer than ``budget`` if no other is informative or judging may stop."""
    belief = Belief(influence, target.contrasts)
    before = belief.variance.copy()
    n_needed = 0 if until is not None and target.total(target.now, until) <= until else None
    steps = min(budget if until is None else max(budget, _MAX_STEPS), len(influence))
    chosen, expected, left = [], [], target.now
    for step in range(0 if n_needed == 0 else steps):
        if step >= budget and n_needed is not None:
            break
        gain = belief.gains(target.worth(before, belief.variance, until))
        best = int(gain.argmax())
        if gain[best] <= 0:
            break
        belief.judge(best)
        after = target.left_open(before, belief.variance)
        if step < budget:
            left = after
            chosen.append(influence.document[best])
            expected.append(target.total(after, until))
        if until is not None and n_needed is None and target.total(after, until) <= until:
            n_needed = step + 1
    return Plan(np.array(chosen, dtype=np.intp), np.array(expected, dtype=float), left, n_needed)


def _find_target_and_influence(
    completion: Completion, measure: Measure, goal: Goal, ci_prob: float
) -> tuple[Target, Influence]:
    """Quantities to reduce, and their dependence on documents."""
    values = completion.evaluate(measure)[0]
    return (
        find_target(goal, completion.unknowns.run_ids, values, ci_prob),
        find_influence(completion, measure, values),
    )


def _afterwards(
    at_start: tuple[Target, Influence],
    before: Completion,
    is_own: npt.NDArray[np.bool_],
    target: Target,
    until: float | None,
) -> Afterwards:
    """Compare the target without one's own judgments, its expectation after them, and its present value."""
    then, influence = at_start
    belief = Belief(influence, then.contrasts)
    variance = belief.variance.copy()
    for document in np.flatnonzero(is_own[before.unknowns.pair[influence.document]]):
        belief.judge(int(document))
    return Afterwards(
        n=int(is_own.sum()),
        before=then.total(then.now, until),
        expected=then.total(then.left_open(variance, belief.variance), until),
        now=target.total(target.now, until),
    )

"""What to judge next: the unjudged documents whose judgments should tell most."""

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
_MOST_STEPS = 1000
"""How many judgments a plan looks ahead at most."""


@dataclass(frozen=True)
class Afterwards:
    """The effect of all your own judgments together, beside the effect expected at the start.

    If you judge in rounds, each round prints what it expects, given the answers of the earlier ones. This
    class looks at all rounds from the start of the first one, with none of the answers.

    Attributes
    ----------
    n : int
        How many there are.
    before, expected, now : float
        The quantity to reduce: with none of the judgments, as expected from there after judging these
        documents, and as it is now.
    """

    n: int
    before: float
    expected: float
    now: float


class Plan(NamedTuple):
    """Documents to judge, each the most informative one given those before it.

    Attributes
    ----------
    unknown : ndarray of int, shape (document,)
        Positions among the completion's unknowns.
    expected : ndarray of float, shape (document,)
        The expected quantity after each.
    left : ndarray of float, shape (sum,)
        Each interval or chance as expected after all of them.
    n_needed : int or None
        After how many it is expected to be low enough; None without a target, or if all that the plan looks
        ahead are not enough.
    """

    unknown: npt.NDArray[np.intp]
    expected: FloatArray
    left: FloatArray
    n_needed: int | None


@dataclass(frozen=True, eq=False, repr=False)
class NextJudgments(Shown):
    """Documents to judge, the most informative first.

    Made by `bayespool.judge_next`.

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
        Each interval or chance of the target as expected after all of them are judged.
    chance : ndarray of float, shape (document,)
        Chance that each is relevant; under a graded measure its expected gain, from 0 to 1.
    until : float or None
        Where judging may stop.
    n_needed : int or None
        How many judgments that is expected to take; None without ``until``, or if all that the plan looks
        ahead are not enough.
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
        said = f"{len(self)} documents for {self.criterion} of {self.measure}"
        return one_line("NextJudgments", said)

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to note of the draws, a line each. Every output has these lines."""
        return self.completion.notes

    @property
    def criterion(self) -> str:
        """The quantity to reduce, in words (`Target.criterion`)."""
        return self.target.criterion(self.until)

    @property
    def now(self) -> float:
        """What it is now."""
        return self.target.total(self.target.now, self.until)

    @property
    def expected_after(self) -> float:
        """Its expected value after all these documents are judged."""
        return float(self.expected[-1]) if len(self) else self.now

    @property
    def widest(self) -> tuple[float, float]:
        """The largest interval or chance of the target: now, and as expected when all these are judged."""
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
        """Which of the runs have each document within the depth of the measure, the best rank first; none for
        one that an ideal ranking alone may have.
        """
        u = self.completion.unknowns
        found = []
        for document, t in zip(self.unknown, u.topic[self.unknown], strict=True):
            run, rank, unknown = u.places_on(t)
            there = np.flatnonzero((unknown == document - u.start[t]) & (rank < self.measure.cutoff))
            order = there[np.lexsort((run[there], rank[there]))]
            found.append(tuple(u.run_ids[r] for r in run[order]))
        return tuple(found)

    def to_frame(self) -> pd.DataFrame:
        """One row per document.

        Returns
        -------
        pandas.DataFrame
            Columns ``query_id``, ``doc_id``, ``rank`` (the best that a run gives it), ``runs`` (those that
            have it, with spaces between), ``chance``, ``expected``.
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
    """The unjudged documents whose judgment is expected to tell most of some runs.

    Parameters
    ----------
    collection : Collection
        With your own judgments so far (`Collection.add_judgments`), from which the models learn.
    run_ids : str or iterable of str, optional
        Default: the runs that were not pooled, or with ``unpool`` none but those named there.
    measures : measure
        P@10, nDCG@10, AP@100, …; one of them. Judgments are chosen for one at a time.
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
    A judgment of a document is worth what it takes, on average over its answers, from the variance of a run's
    mean or of a difference: its own share, and what it says of other documents through slopes, the topic and
    the organization. Documents are taken one by one, each given those before it. A document that several runs
    have is paid once, so that runs are completed together, other than in `score`.

    Examples
    --------
    >>> from bayespool import judge_next, load_example
    >>> found = judge_next(load_example(), "new-b", "P@10", budget=5)
    >>> len(found), found.expected_after < found.now
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
    needed = ideal or ("own" if goal == "interval" else "shared")
    (measure,) = with_ideal([sole_measure(measures)], needed)
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
    told = collection.is_own
    afterwards = None
    say = report or (lambda line: None)
    say(f"completing: {chosen.name}")
    completion = chosen.complete(collection, targets, measure)
    target, influence = _look(completion, measure, goal, ci_prob)
    if told.any():
        say("completing without the judgments of your own")
        before = chosen.complete(collection.without_judgments(told), targets, measure)
        afterwards = _afterwards(_look(before, measure, goal, ci_prob), before, told, target, until)
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
    """The one measure that judgments are chosen for.

    Raises
    ------
    InputError
        Several, or one of the judgments themselves.
    """
    asked = parse_measures(measures)
    if len(asked) != 1:
        raise InputError(f"{len(asked)} measures", hint="choose judgments for one at a time")
    refuse_of_judgments(asked)
    return asked[0]


def plan(influence: Influence, target: Target, budget: int, until: float | None = None) -> Plan:
    """Documents one by one, each the most telling given those before it.

    Parameters
    ----------
    influence : Influence
    target : Target
    budget : int
        Documents to choose at most.
    until : float, optional
        What is low enough.

    Returns
    -------
    Plan
        Of fewer documents than the budget where no other one is expected to tell anything; of none where it
        is low enough already.
    """
    belief = Belief(influence, target.contrasts)
    before = belief.variance.copy()
    n_needed = 0 if until is not None and target.total(target.now, until) <= until else None
    steps = min(budget if until is None else max(budget, _MOST_STEPS), len(influence))
    chosen, expected, left = [], [], target.now
    for step in range(0 if n_needed == 0 else steps):
        if step >= budget and n_needed is not None:
            break
        gain = belief.gains(target.worth(before, belief.variance, until))
        best = int(gain.argmax())
        if gain[best] <= 0:  # as it is where nothing is left open
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


def _look(completion: Completion, measure: Measure, goal: Goal, ci_prob: float) -> tuple[Target, Influence]:
    """What is open, and how it hangs on documents."""
    values = completion.evaluate(measure)[0]
    return (
        find_target(goal, completion.unknowns.run_ids, values, ci_prob),
        find_influence(completion, measure, values),
    )


def _afterwards(
    looked: tuple[Target, Influence],
    before: Completion,
    told: npt.NDArray[np.bool_],
    target: Target,
    until: float | None,
) -> Afterwards:
    """What was open without the judgments told, what was to be expected of them, and what they left."""
    then, influence = looked
    belief = Belief(influence, then.contrasts)
    at_first = belief.variance.copy()
    for document in np.flatnonzero(told[before.unknowns.pair[influence.document]]):
        belief.judge(int(document))
    return Afterwards(
        n=int(told.sum()),
        before=then.total(then.now, until),
        expected=then.total(then.left_open(at_first, belief.variance), until),
        now=target.total(target.now, until),
    )

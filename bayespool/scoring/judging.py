"""Choose the unjudged documents whose judgments reduce uncertainty most."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
import pyarrow as pa

from bayespool import __version__
from bayespool.arrays import BoolArray, FloatArray, IntArray, OrderArray, Progress
from bayespool.collection import Collection
from bayespool.measures import Measure
from bayespool.measures.populations import topic_width
from bayespool.names import Goal, describe_estimator
from bayespool.notes import Note
from bayespool.posterior import Completion, PosteriorEstimator
from bayespool.reading import Qrels
from bayespool.scoring.asked import Asked, AskedKeywords
from bayespool.scoring.judging_influence import (
    Belief,
    Influence,
    Target,
    check_goal,
    find_influence,
    find_target,
)
from bayespool.scoring.pools import ListForAssessors
from bayespool.scoring.score_tables import ideal_sentence, missing_topics
from bayespool.tables.formatting import counted, number
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Table, View
from bayespool.validation import check_choice, check_count, check_number

_MAX_STEPS = 1000  # judgments that a plan looks ahead
_MOST_NAMED = 5  # runs
_FIRST = 20  # documents, of which one topic may have most
_NARROW = 3  # times narrower than what the choice of topics leaves open: both together are 5 % wider


@dataclass(frozen=True)
class JudgingEffect:
    """Effect of all the user's own judgments, next to the effect expected before the first one.

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


class JudgingOrder(NamedTuple):
    """Documents to judge, each the most informative given the previous ones.

    ``unknown``: positions among the completion's unknowns, shape (document,). ``expected``: expected total
    after each, shape (document,). ``remaining``: each interval or probability expected after all, shape
    (sum,). ``n_needed``: judgments expected to reach the target; None without one, or if the planned ones do
    not.
    """

    unknown: OrderArray
    expected: FloatArray
    remaining: FloatArray
    n_needed: int | None


@dataclass(frozen=True, eq=False, repr=False)
class NextJudgments(ListForAssessors):
    """Documents to judge next, most informative first, from `bayespool.judge_next`.

    Attributes
    ----------
    completion : Completion
        The draws from which the expected effect of a judgment is computed.
    measure : Measure
    target : Target
        The quantities to reduce: intervals, or probabilities of a wrong order.
    unknown : ndarray of int, shape (document,)
        The documents, as positions among the completion's unknowns; none once judging may stop.
    expected : ndarray of float, shape (document,)
        The expected criterion after the documents down to this one are judged.
    remaining : ndarray of float, shape (sum,)
        Each interval or probability of the target expected after all of them are judged.
    chance : ndarray of float, shape (document,)
        Probability that each is relevant; under a graded measure its expected gain, from 0 to 1.
    until : float or None
        Value of the criterion at which judging may stop.
    n_needed : int or None
        Number of judgments expected to reach it; None without ``until``, or if it is not reached within the
        planned judgments.
    afterwards : JudgingEffect or None
        The effect of your own judgments so far.
    metadata : dict
        Version, fingerprint, pool, settings.
    """

    completion: Completion
    measure: Measure
    target: Target
    unknown: OrderArray
    expected: FloatArray
    remaining: FloatArray
    chance: FloatArray
    until: float | None
    n_needed: int | None
    afterwards: JudgingEffect | None
    metadata: dict[str, Any]

    command = "judge-next"
    title = "Documents to judge next"

    def __len__(self) -> int:
        return len(self.unknown)

    def __repr__(self) -> str:
        text = f"{counted(len(self), 'document')} for {self.criterion} of {self.measure}"
        return one_line("NextJudgments", text)

    @property
    def criterion(self) -> str:
        """Name of the quantity that judging should reduce."""
        return self.target.criterion(self.until)

    @property
    def now(self) -> float:
        """Present value of the quantity to reduce."""
        return self.target.total(self.target.now, self.until)

    @property
    def expected_after(self) -> float:
        """Expected value of the quantity to reduce after all proposed documents are judged."""
        return float(self.expected[-1]) if len(self) else self.now

    @property
    def is_done(self) -> bool:
        """Whether judging may stop now."""
        return self.target.is_reached(self.target.now, self.until)

    @property
    def pair(self) -> IntArray:
        """Indices for the documents' (topic, document) pairs in the collection."""
        pairs: IntArray = self.completion.unknowns.pair[self.unknown]
        return pairs

    @cached_property
    def gather_runs(self) -> tuple[tuple[str, ...], ...]:
        """Ids of the runs that rank each document within the measure's cutoff, best rank first."""
        u = self.completion.unknowns
        runs_by_document = []
        for document, t in zip(self.unknown, u.topic[self.unknown], strict=True):
            run, rank, unknown = u.places_on(t)
            places = np.flatnonzero((unknown == document - u.start[t]) & (rank < self.measure.cutoff))
            order = places[np.lexsort((run[places], rank[places]))]
            runs_by_document.append(tuple(u.run_ids[r] for r in run[order]))
        return tuple(runs_by_document)

    def tables(self) -> tuple[Table, ...]:
        """Return a table with one row per document, most informative first."""
        u = self.completion.unknowns
        frame = pd.DataFrame(
            {
                "query_id": [u.collection.query_ids[t] for t in u.collection.pair_topic[self.pair]],
                "doc_id": [u.collection.doc_id(pair) for pair in self.pair],
                "rank": u.best_rank[self.unknown],
                "n_runs": list(map(len, self.gather_runs)),
                "runs": [" ".join(runs) for runs in self.gather_runs],
                "chance": self.chance,
                "expected": self.expected,
            }
        )
        text = f"The {self.criterion} expected once the documents down to this one are judged."
        columns = _COLUMNS | {"expected": Column("expected\nafter it", "score", text)}
        view = View(
            title=f"{self.measure}: documents to judge, the most informative first",
            names=("query_id", "doc_id"),
            columns=("rank", "chance", "expected", "n_runs" if len(u.run_ids) > _MOST_NAMED else "runs"),
            spare=("runs", "rank"),
            note=ideal_sentence({str(self.measure): getattr(self.measure, "ideal", "")}),
        )
        return (Table("documents", "Documents, the most informative first", frame, columns, (view,)),)

    def qrels(self) -> Qrels:
        """Return the documents as qrels in judging order, with relevance −1."""
        frame = self.to_frame()
        topics = pa.array(frame["query_id"].tolist(), pa.string()).dictionary_encode()
        doc_ids = pa.array(frame["doc_id"].tolist(), pa.string())
        return Qrels(topics, doc_ids, np.full(len(self), -1, dtype=np.int16))

    def notes(self) -> tuple[Note, ...]:
        """Return notes on the pool and the posterior draws."""
        return (*self.metadata["pool_notes"], *self.completion.notes)

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the effect of judgments so far, when to stop and the documents to judge."""
        sentences, missing = [], missing_topics(self.metadata)
        about = f"{self.measure} ({missing})" if missing else str(self.measure)
        if (after := self.afterwards) is not None:
            before, expected, now_ = map(self._text, (after.before, after.expected, after.now))
            sentences.append(
                f"{counted(after.n, 'judgment')} of your own: {about}, {self.criterion} {before} with none "
                f"of them; expected from there {expected}; it is {now_}"
            )
        if self.target.goal == "interval":
            now = list(zip(self.target.names, self.target.now.tolist(), strict=True))
            which = "now"
            if len(now) > _MOST_NAMED:
                widest = sorted((run for run in now if run[1] > 0), key=lambda run: -run[1])
                which += f", the widest of {len(widest)} with anything unjudged"
                now = widest[:_MOST_NAMED]
            if now:
                widths = ", ".join(f"{run} {number(width)}" for run, width in now)
                sentences.append(f"{about}, widths of the intervals {which}: {widths}")
            sentences += self._narrow_enough()
        elif after is None:
            sentences.append(f"{about}, {self.criterion} now: {self._text(self.now)}")
        if self.until is not None:
            sentences.append(self._stopping_sentence())
        if len(self):
            sentences.append(
                f"{counted(len(self), 'judgment')} {'are' if len(self) > 1 else 'is'} expected to bring the "
                f"{self.criterion} from {self._text(self.now)} to {self._text(self.expected_after)}"
                f"{self._widest_clause()}"
            )
            sentences += self._topic_of_most()
        elif not self.is_done:
            sentences.append(f"nothing to judge: {self._reason_for_no_documents()}")
        return tuple(sentences)

    def _text(self, amount: float) -> str:
        """Return a width, or a probability that is never 0 while draws alone say so: by the rule of three."""
        text = number(amount)
        if self.target.goal == "interval" or float(text) or not len(self.completion.unknowns):
            return text
        return f"under {max(amount, 3 / self.completion.n_draws):.2g}"

    def _narrow_enough(self) -> list[str]:
        """Return a sentence on the width below which more judgments help less than more topics."""
        widest, width = float(self.target.now.max(initial=0)), self.metadata["topic_width"]
        if not widest or not width:
            return []
        n, enough = counted(len(self.completion.unknowns.collection.query_ids), "topic"), width / _NARROW
        text = f"narrow enough is {number(enough)}: it widens the uncertainty of {n} "
        text += f"({number(width)}) by 5 % only"
        return [text + "; all runs meet it: add topics instead" * (widest <= enough)]

    def _topic_of_most(self) -> list[str]:
        """Return a sentence on a topic that has most of the first documents, if one has."""
        u = self.completion.unknowns
        topics, counts = np.unique(u.topic[self.unknown[:_FIRST]], return_counts=True)
        n, topic = int(counts.max()), int(topics[counts.argmax()])
        if len(self) < _FIRST or 2 * n <= _FIRST:
            return []
        within = f"{np.diff(u.start)[topic]:,} of the {len(u):,} unjudged documents"
        return [
            f"{n} of the first {_FIRST} documents are of topic {u.collection.query_ids[topic]}, which has "
            f"{within} in these runs' top {self.measure.cutoff}"
        ]

    def _stopping_sentence(self) -> str:
        """Return a sentence that says whether judging may stop, or after how many expected judgments."""
        goal = f"{self.criterion} of at most {self.until:g}"
        if self.is_done:
            return f"stop: {goal} is reached ({self._text(self.now)})"
        if self.n_needed is None:
            return f"{goal}: not reached within the planned judgments"
        return f"{goal}: expected after {counted(self.n_needed, 'judgment')}"

    def _widest_clause(self) -> str:
        """Return a clause on the widest interval if the mean width over several runs is reduced, else empty
        text.
        """
        if self.target.goal != "interval" or self.until is not None or len(self.target.names) == 1:
            return ""
        return f", the widest from {number(self.target.now.max())} to {number(self.remaining.max())}"

    def _reason_for_no_documents(self) -> str:
        """Return the reason for proposing no document before the goal is reached."""
        if self.target.goal == "interval" or self.now > 0 or not len(self.completion.unknowns):
            return "no unjudged document is expected to tell anything"
        which = "order is" if self.target.goal == "comparison" else "ranking is"
        return (
            f"the {which} the same in all {self.completion.n_draws} draws, which exclude a larger "
            f"probability "
            "with 95 % confidence, though there are unjudged documents and intervals are open "
            "(--goal interval)"
        )


_COLUMNS = {
    "rank": Column("best\nrank", "count", "Best rank of the document in any of the runs."),
    "n_runs": Column(
        "in\nruns", "count", "Number of runs that have the document within the measure's depth."
    ),
    "runs": Column(
        "runs", "text", "Runs that have the document within the measure's depth, the best rank first."
    ),
    "chance": Column(
        "probability of\nrelevance",
        "chance",
        "Probability that the document is relevant; under a graded measure its expected gain, from 0 to 1.",
        4,
    ),
}


def judge_next(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | PosteriorEstimator = "posterior-combined",
    goal: Goal = "interval",
    budget: int = 50,
    until: float | None = None,
    progress: Progress | None = None,
    **asked: Unpack[AskedKeywords],
) -> NextJudgments:
    """Choose the unjudged documents whose judgments are expected to be most informative about the runs.

    Parameters
    ----------
    collection : Collection
        With your own judgments so far (`Collection.add_judgments`), from which the models learn.
    run_ids : str or iterable of str, optional
        Default: the runs to score that the collection was read with, with ``unpool`` only those named there,
        else all runs of the collection.
    measures : measure, default "P@10"
        P@10, nDCG@10, AP@100, …; one of them.
    estimators : str or PosteriorEstimator, default "posterior-combined"
        The posterior that says what is uncertain, by name: 'posterior-ratio'.
    goal : {"interval", "comparison", "ranking"}, default "interval"
        Aim of judging: narrower intervals of runs, the order of two runs, or the order of all runs.
        What comes down is the mean width of the runs' intervals (with ``until`` the widest), the probability
        that two runs are in the wrong order, or that of all pairs of runs.
    budget : int, default 50
        Documents to judge.
    until : float, optional
        Stop when this is reached: a width of the widest interval, or a probability of a wrong order. The
        result says how many judgments that is expected to take.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.
    **asked
        Keywords of every question: `bayespool.Question`.

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
        Labels of an LLM judge are not used, or absent on just the unjudged documents.

    Notes
    -----
    The worth of judging a document is the expected reduction of the variance of a run's mean or of a
    difference: its own share, and what it tells about other documents through slopes, the topic and the
    organization. Documents are chosen one by one, each given those before it. A document that several runs
    have is judged once.

    Examples
    --------
    >>> from bayespool import judge_next, load_example
    >>> judgments = judge_next(load_example(), "new-b", "P@10", budget=5, estimators="posterior-ratio")
    >>> len(judgments), judgments.expected_after < judgments.now
    (5, True)
    """
    check_choice("goal", goal, Goal)
    check_count("budget", budget)
    check_number("until", until, above=0)
    question = Asked(collection, run_ids, measures, estimators=estimators, **asked)
    measure, estimator, level = question.sole_measure, question.sole_posterior, question.interval_prob
    targets = question.resolve((estimator,), estimand=estimator.estimand, whole_campaign=True)
    check_goal(goal, len(targets.run_ids))
    is_own = targets.collection.is_own
    afterwards = None
    say = progress or (lambda *_: None)
    say(f"completing: {estimator.name}")

    def complete(judged: Collection) -> tuple[Completion, Target, Influence, float]:
        completion = estimator.complete(judged, targets.run_ids, measure)
        values = completion.evaluate(measure)[0]
        target = find_target(goal, completion.unknowns.run_ids, values, level)
        influence = find_influence(completion, measure, values)
        return completion, target, influence, topic_width(values, level)

    completion, target, influence, width = complete(targets.collection)
    if is_own.any():
        say("completing without the judgments of your own")
        before, then, early, _ = complete(targets.collection.without_judgments(is_own))
        own, n_own = is_own[before.unknowns.pair], int(is_own.sum())
        afterwards = _effect_of_own_judgments(then, early, own, n_own, target, until)
    say("choosing")
    planned = plan(influence, target, budget, until)
    now = target.total(target.now, until)
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
            "goal": goal,
            "measure": str(measure),
            "runs": list(targets.run_ids),
            "ci_prob": level,
            "topic_width": width,
            "criterion": target.criterion(until),
            "criterion_now": now,
            "criterion_expected": float(planned.expected[-1]) if len(planned.expected) else now,
            "now": dict(zip(target.names, target.now.tolist(), strict=True)),
            "expected": dict(zip(target.names, planned.remaining.tolist(), strict=True)),
            "until": until,
            "n_needed": planned.n_needed,
            "is_done": planned.n_needed == 0,
            "afterwards": None if afterwards is None else dataclasses.asdict(afterwards),
            "estimator": describe_estimator(estimator),
            **targets.metadata,
        },
    )


def plan(influence: Influence, target: Target, budget: int, until: float | None = None) -> JudgingOrder:
    """Choose documents to judge one at a time, up to ``budget``. Fewer if no other document is informative or
    judging may stop.
    """
    belief = Belief(influence, target.contrasts)
    before = belief.variance.copy()
    n_needed = 0 if target.is_reached(target.now, until) else None
    steps = min(budget if until is None else max(budget, _MAX_STEPS), len(influence))
    documents, expected, remaining = [], [], target.now
    for step in range(0 if n_needed == 0 else steps):
        if step >= budget and n_needed is not None:
            break
        gain = belief.gains(target.worth(before, belief.variance, until))
        best = int(gain.argmax())
        if gain[best] <= 0:
            break
        belief.judge(best)
        after = target.remaining_part(before, belief.variance)
        if step < budget:
            remaining = after
            documents.append(influence.document[best])
            expected.append(target.total(after, until))
        if n_needed is None and target.is_reached(after, until):
            n_needed = step + 1
    return JudgingOrder(
        np.array(documents, dtype=np.intp), np.array(expected, dtype=float), remaining, n_needed
    )


def _effect_of_own_judgments(
    then: Target, influence: Influence, is_own: BoolArray, n: int, target: Target, until: float | None
) -> JudgingEffect:
    """Compare the target before the user's judgments, as expected after them, and now.

    ``is_own``: whether they are of each unknown.
    """
    belief = Belief(influence, then.contrasts)
    variance = belief.variance.copy()
    for document in np.flatnonzero(is_own[influence.document]):
        belief.judge(int(document))
    return JudgingEffect(
        n=n,
        before=then.total(then.now, until),
        expected=then.total(then.remaining_part(variance, belief.variance), until),
        now=target.total(target.now, until),
    )

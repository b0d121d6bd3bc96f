"""Plans before judging: differences that are detected now, and with more topics, judgments or labels."""

from __future__ import annotations

import inspect
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, Unpack

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import AnyArray, FloatArray, Progress
from bayespool.collection import Collection
from bayespool.collection.collection import expect_collection
from bayespool.comparisons.contrasts import Units
from bayespool.errors import InputError, NoCollectionError, PooledRunWarning
from bayespool.evidence import score_bounds
from bayespool.measures import Measure, Values
from bayespool.measures.groups import Groups, groups_text, welch_degrees
from bayespool.measures.populations import AddedVariance, average_runs, crossed_degrees, refuse_one_topic
from bayespool.names import AS_JUDGED
from bayespool.notes import Note, noted
from bayespool.posterior import PosteriorEstimator
from bayespool.posterior.unknowns import find_unknowns
from bayespool.report.result import Result
from bayespool.scoring.asked import Asked, AskedKeywords
from bayespool.scoring.estimators import parse_estimator
from bayespool.scoring.score_tables import conditions, far_runs, ideal_sentence, missing_topics
from bayespool.scoring.scoring import score_targets
from bayespool.tables.formatting import counted, level, number
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Table, View
from bayespool.validation import check_count, check_number, check_share, listed

_MOST_RUNS = 20  # where none is named
_MAX_PAIRS = 100  # of all, evenly over their standard errors
_MOST_TOPICS = 100  # times those at hand
_COLUMNS = {
    "scenario": Column("scenario", "text", "What is added to the collection."),
    "labels": Column("labels", "flag", "Whether the labels of LLM judges inform the posterior."),
    "n_topics": Column("topics", "count", "Number of topics."),
    "n_judgments": Column("more\njudgments", "count", "Judgments that are added."),
    "more_runs": Column("more\nruns", "count", "Runs that are added to each system."),
    "smallest": Column("detectable\ndifference", "score", "Minimum detectable difference with this power."),
    "unjudged_variance": Column("due to\nunjudged", "share", "Share of the variance of a difference."),
    "power": Column("power", "chance", "Share of the cases in which a difference is detected."),
    "topics_needed": Column(
        "topics\nneeded", "count", "Least number of topics that detects the difference asked for."
    ),
}


@dataclass(frozen=True, eq=False)
class PairVariances:
    """Variance components for differences between pairs of runs, in units of the measure.

    Attributes
    ----------
    n_topics : int
        Topics at hand.
    topic_variance : ndarray of float, shape (pair,)
        Variance of a difference over topics, complete.
    topic_specific_error, common_error : ndarray of float, shape (pair,)
        Variance of the mean difference due to unjudged documents: of errors that topics have apart, and of
        errors that they share.
    topic_degrees : ndarray of float, shape (pair,), or None
        Degrees of freedom of ``topic_variance``, by default those of one group of topics.
    n_groups : int
        Groups of topics whose mean is taken, with equal weight.
    run_variance, run_noise, run_degrees : float, float, int
        Of systems, as `bayespool.measures.populations.AddedVariance` has them: the variance of their runs'
        means, what the topics at hand add to it by what runs do on single ones, and degrees of freedom.
    n_runs : ndarray of int, shape (pair, 2)
        Runs of each system.
    n_systems : int
    """

    n_topics: int
    topic_variance: FloatArray
    topic_specific_error: FloatArray
    common_error: FloatArray
    topic_degrees: FloatArray | None = None
    n_groups: int = 1
    run_variance: float = 0.0
    run_noise: float = 0.0
    run_degrees: int = 1
    n_runs: AnyArray = field(default_factory=lambda: np.ones((1, 2)))
    n_systems: int = 2

    @classmethod
    def from_draws(
        cls, values: Values, members: Sequence[Sequence[int]] = (), groups: Groups | None = None
    ) -> PairVariances:
        """Estimate variance components from draws (draw, run, topic), for at most 100 pairs of runs, or of
        systems, given the places of their runs, and of means of groups of topics, where there are groups.
        """
        groups, of_runs = groups or Groups(("",) * values.n_topics), values.scores()
        scores, added = average_runs(of_runs, members), AddedVariance.from_runs(of_runs, members, groups)
        first, second = np.triu_indices(scores.shape[1], 1)
        rows = [_variances(scores[:, a] - scores[:, b], groups) for a, b in zip(first, second, strict=True)]
        topic_variance, topic_specific_error, whole, degrees = np.array(rows).T
        n_runs = np.array([len(runs) for runs in members] or [1] * scores.shape[1])
        of_pairs, crossed = np.column_stack([n_runs[first], n_runs[second]]), dict[str, Any]()
        if added is not None:
            crossed["run_variance"] = float((added.variance * n_runs).mean())
            crossed |= {"run_noise": float(np.mean(added.noise)), "run_degrees": added.run_degrees}
        n_topics = values.n_topics
        runs_variance = crossed.get("run_variance", 0.0) * (1 / of_pairs).sum(axis=1)
        order = np.argsort(topic_variance / n_topics + whole + runs_variance, kind="stable")
        places = np.linspace(0, len(order) - 1, min(len(order), _MAX_PAIRS)).round().astype(int)
        common_error = np.maximum(whole - topic_specific_error, 0)
        shown = order[places]
        return cls(
            n_topics,
            topic_variance[shown],
            topic_specific_error[shown],
            common_error[shown],
            topic_degrees=degrees[shown],
            n_groups=len(groups.names),
            n_runs=of_pairs[shown],
            n_systems=len(n_runs),
            **crossed,
        )

    def with_runs(self, more: int) -> PairVariances:
        """Return the variances with more runs of each system, and unjudged documents as uncertain as now."""
        n_runs = self.n_runs + more
        gone = self.n_topics * self.run_noise * (1 / self.n_runs - 1 / n_runs).sum(axis=1)
        return replace(
            self,
            topic_variance=np.maximum(self.topic_variance - gone, 0),
            run_degrees=self.run_degrees + more * self.n_systems,
            n_runs=n_runs,
        )

    @property
    def runs_variance(self) -> FloatArray:
        """Variance of the mean difference due to the runs of systems, shape (pair,)."""
        return np.asarray(self.run_variance * (1 / self.n_runs).sum(axis=1))

    def degrees(self, n_topics: AnyArray | int) -> FloatArray:
        """Return the degrees of freedom of each pair's t interval on numbers of topics, shape (…, pair)."""
        n_free = np.asarray(n_topics) - self.n_groups
        of_topics = n_free * np.ones_like(self.topic_variance)
        if self.topic_degrees is not None:
            of_topics = of_topics * self.topic_degrees / (self.n_topics - self.n_groups)
        if not self.run_variance:
            return of_topics
        noise = self.run_noise * self.n_topics / np.asarray(n_topics)
        of_runs = crossed_degrees(self.run_variance, noise, self.run_degrees, self.run_degrees * n_free)
        variances = np.broadcast_arrays(self.topic_variance / n_topics, self.runs_variance)
        both = np.broadcast_arrays(of_topics, of_runs)
        return welch_degrees(np.stack(variances, axis=-1), np.stack(both, axis=-1))

    def unjudged_variance(self, n_topics: AnyArray | int, judged: float = 0.0) -> FloatArray:
        """Return the variance due to unjudged documents, given numbers of topics and further judgments."""
        open_share = 1 - judged
        return (
            open_share * self.topic_specific_error * self.n_topics / n_topics
            + open_share**2 * self.common_error
        )

    def unjudged_share(self, n_topics: int, judged: float = 0.0) -> float:
        """Return the mean share of variance due to unjudged documents, NaN without variance."""
        unjudged_variance = self.unjudged_variance(n_topics, judged)
        with np.errstate(invalid="ignore"):
            sampled = self.topic_variance / n_topics + self.runs_variance
            return float(np.mean(unjudged_variance / (unjudged_variance + sampled)))

    def power(self, difference: float, n_topics: int, judged: float = 0.0, *, level: float = 0.05) -> float:
        r"""Return the power to detect a true difference with a paired t interval.

        A difference is detected if the interval leaves out 0 on the right side.

        Parameters
        ----------
        difference : float
            True difference on topics like these.
        n_topics : int
            Two or more.
        judged : float from 0 to 1
            Share of the unjudged documents that are judged.
        level : float, default 0.05

        Notes
        -----
        The mean over pairs of the noncentral t distribution with :math:`T - 1` degrees of freedom (`degrees`
        of groups and of systems) and noncentrality :math:`\delta / s`, where :math:`s^2` is the variance due
        to topics, to runs of systems and to unjudged documents. Of systems with two or three runs the
        critical difference rises again on many topics, where the t interval has the few degrees of freedom of
        the runs: topics beyond its minimum are not counted on.

        Examples
        --------
        >>> pair = PairVariances(50, np.array([0.04]), np.zeros(1), np.zeros(1))  # a spread of 0.2
        >>> round(pair.power(0.081, 50), 2)  # as statsmodels.stats.power.TTestPower says
        0.8
        """
        return self._power(difference, *self._tested(n_topics, judged, level))

    def _spread(self, n_topics: AnyArray | int, judged: float) -> FloatArray:
        """Return the standard error of each pair's mean difference, shape (..., pair)."""
        of_topics = self.topic_variance / n_topics + self.unjudged_variance(n_topics, judged)
        return np.asarray(np.sqrt(of_topics + self.runs_variance))

    def _tested(self, n_topics: int, judged: float, level: float) -> tuple[FloatArray, ...]:
        """Return standard error, degrees of freedom and critical t value of each pair, on as many of the
        topics as make its critical difference least.
        """
        from scipy.stats import t

        used: AnyArray | int = n_topics
        if self.run_variance:
            tried = (self.n_topics * np.geomspace(1, _MOST_TOPICS, 300)).astype(int)[:, None]
            critical = t.ppf(1 - level / 2, self.degrees(tried)) * self._spread(tried, judged)
            used = np.minimum(n_topics, tried[critical.argmin(axis=0), 0])
        degrees = self.degrees(used)
        return self._spread(used, judged), degrees, np.asarray(t.ppf(1 - level / 2, degrees))

    @staticmethod
    def _power(difference: float, spread: FloatArray, degrees: FloatArray, end: FloatArray) -> float:
        """Return the mean over pairs of the chance that a t interval leaves 0 out."""
        from scipy.stats import nct

        chance, varies = np.full(len(spread), float(difference > 0)), spread > 0
        chance[varies] = nct.sf(end[varies], degrees[varies], difference / spread[varies])
        return float(chance.mean())

    def smallest(self, power: float, n_topics: int, judged: float = 0.0, *, level: float = 0.05) -> float:
        """Return the minimum detectable difference with the given power, 0 without variance."""
        from scipy.optimize import brentq

        tested = self._tested(n_topics, judged, level)
        most = 10 * float(tested[0].max())
        if most == 0:
            return 0.0
        while self._power(most, *tested) < power:  # as with two topics
            most *= 2
        return float(brentq(lambda d: self._power(d, *tested) - power, 0, most, xtol=1e-6))

    def topics_for(
        self, difference: float, power: float, judged: float = 0.0, *, level: float = 0.05
    ) -> int | None:
        """Return the smallest number of topics that detects a difference, None if too many are needed.

        It is at least the number at hand.
        """
        numbers = range(self.n_topics, _MOST_TOPICS * self.n_topics + 1)
        place = bisect_left(numbers, power, key=lambda n: self.power(difference, n, judged, level=level))
        return numbers[place] if place < len(numbers) else None


def _variances(difference: FloatArray, groups: Groups) -> tuple[float, float, float, float]:
    """Return the variance over topics, topic-specific error variance and total error variance of a pair's
    differences, shape (draw, topic), and the degrees of freedom of the first.
    """
    of_groups = groups.variances(difference).mean(axis=0)
    weight = 1 / (len(groups.names) * groups.n_topics[groups.topic_group])
    topic_specific_error = (difference.var(axis=0) * weight**2).sum()
    degrees = float(welch_degrees(of_groups, groups.n_topics - 1))
    whole = float(groups.mean(difference).var())
    return float(of_groups.sum()) * difference.shape[1], float(topic_specific_error), whole, degrees


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonPlan(Result):
    """Smallest detectable differences, now and with more topics, judgments or labels.

    Attributes
    ----------
    variances : mapping of bool to PairVariances
        Without and with the labels of LLM judges, as far as there are any.
    n_unjudged : int
        Unjudged documents within reach of the runs.
    metadata : dict
        Version, fingerprint, pool and settings, to quote with a result.
    measure : Measure
    judgments, more_topics, more_runs, difference, power, level
        As given to `plan_comparison`.
    of : str
        What differences are of, where these are no runs on all topics alike.
    """

    command = "plan"
    title = "What differences are detected"

    variances: Mapping[bool, PairVariances]
    n_unjudged: int
    metadata: Mapping[str, Any]
    measure: Measure
    judgments: tuple[int, ...]
    more_topics: tuple[int, ...]
    more_runs: tuple[int, ...]
    difference: float | None
    power: float
    level: float
    of: str = ""

    def __repr__(self) -> str:
        unjudged = counted(self.n_unjudged, "unjudged document")
        return one_line("ComparisonPlan", f"{self.measure}, {unjudged}")

    def notes(self) -> tuple[Note, ...]:
        """Return notes on the pool and on the runs taken."""
        return noted(self.metadata.get("pool_notes", ()), "scope")

    @property
    def _condition(self) -> str:
        """Conditions of the posterior, as in the other commands; mostly empty."""
        far = self.metadata.get("far_runs", ())
        return conditions(self.metadata, [self.measure], far) if self.n_unjudged else ""

    def scenarios(self) -> pd.DataFrame:
        """Return the smallest detectable difference for each scenario.

        Returns
        -------
        pandas.DataFrame
            One row per scenario: ``scenario``, ``labels``, ``n_topics``, ``n_judgments``, ``more_runs`` (of
            each system), ``smallest`` (the minimum detectable difference with the power asked for),
            ``unjudged_variance`` and ``power``. With a difference to detect also ``topics_needed``, judged
            like the scenario's; missing where even a hundred times the topics at hand are too few.
        """
        rows, scenarios = [], [("as it is", 0, 0, 0)]
        scenarios += [(f"{n:,} more judgments", 0, n, 0) for n in self.judgments if n < self.n_unjudged]
        scenarios += [("everything judged", 0, self.n_unjudged, 0)] * (self.n_unjudged > 0)
        scenarios += [(f"{m:,} more topics", m, 0, 0) for m in self.more_topics]
        if any(v.run_variance for v in self.variances.values()):
            scenarios += [(f"{counted(m, 'more run')} a system", 0, 0, m) for m in self.more_runs]
        for (labels, now), (scenario, more, n, runs) in product(self.variances.items(), scenarios):
            v = now.with_runs(runs)
            n_topics, judged = v.n_topics + more, n / self.n_unjudged if n else 0.0
            smallest = v.smallest(self.power, n_topics, judged, level=self.level)
            share = v.unjudged_share(n_topics, judged)
            row = [scenario, labels, n_topics, n, runs, smallest, share, self.power]
            if self.difference is not None:
                row.append(v.topics_for(self.difference, self.power, judged, level=self.level))
            rows.append(row)
        names = ["scenario", "labels", "n_topics", "n_judgments", "more_runs", "smallest"]
        names += ["unjudged_variance", "power"]
        if self.difference is None:
            return pd.DataFrame(rows, columns=names)
        return pd.DataFrame(rows, columns=[*names, "topics_needed"]).astype({"topics_needed": "Int64"})

    def tables(self) -> tuple[Table, ...]:
        """Return the table ``scenarios``."""
        title = (
            f"{self.measure}: minimum detectable difference{self.of} detected in {level(self.power)} of "
            f"cases, at "
            f"{self.level:g}"
        )
        columns = ["labels", "n_topics", "smallest", "unjudged_variance"]
        if self.difference is not None:
            title += f", and topics needed for a difference of {self.difference:g}"
            columns.append("topics_needed")
        title = "; ".join(filter(None, [title, missing_topics(self.metadata), self._condition]))
        note = ideal_sentence(self.metadata.get("ideals", {}))
        view = View(title=title, names=("scenario",), columns=tuple(columns), note=note)
        return (
            Table("scenarios", "Smallest differences that are detected", self.scenarios(), _COLUMNS, (view,)),
        )

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the smallest detectable difference and how to reduce it."""
        rows = self.scenarios().to_dict("records")
        base = rows[0]
        smallest, on = number(base["smallest"], 3), counted(base["n_topics"], "topic")
        on += f" ({missing})" if (missing := missing_topics(self.metadata)) else ""
        text = f"On {on} a difference of {smallest}{self.of} is detected in {level(self.power)} of cases "
        text += f"({'; '.join(filter(None, [f't interval at {self.level:g}', self._condition]))})."
        others = [row for row in rows[1:] if not row["labels"] or len(self.variances) == 1]
        if others:
            changes = (f"{number(row['smallest'], 3)} with {row['scenario']}" for row in others)
            text += f" It would be {', '.join(changes)}."
        if self.difference is None:
            return (text,)
        judged = [row for row in (base, *others) if row["n_topics"] == base["n_topics"]]
        most = f"more than {_MOST_TOPICS * base['n_topics']:,} topics"
        needed = [
            (most if pd.isna(row["topics_needed"]) else counted(row["topics_needed"], "topic"))
            + f" with {row['scenario']}" * (row is not base)
            for row in judged
        ]
        return text, f"Detecting a difference of {self.difference:g} takes {', or '.join(needed)}."


def plan_comparison(
    collection: Collection | None = None,
    run_ids: Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | PosteriorEstimator = "posterior-combined",
    topics_at_hand: int | None = None,
    sd: float | None = None,
    judgments: int | Iterable[int] = (100, 1000),
    more_topics: int | Iterable[int] = (25, 50),
    more_runs: int | Iterable[int] = (2, 5),
    difference: float | None = None,
    power: float = 0.8,
    level: float = 0.05,
    progress: Progress | None = None,
    **asked: Unpack[AskedKeywords],
) -> ComparisonPlan:
    """Plan a comparison by finding the smallest detectable difference and what reduces it.

    Parameters
    ----------
    collection : Collection, optional
        Without one the plan is of ``topics_at_hand`` and ``sd``, with nothing unjudged.
    run_ids : iterable of str, optional
        Two runs or more whose differences stand for those to come, as in `compare`. Default: the runs to
        score that the collection was read with, else the best pooled run of each organization as judged, 20
        at most.
    measures : measure, default "P@10"
        The measure of the rankings: P@10, nDCG@10, AP@100, …; one of them.
    estimators : str or PosteriorEstimator, default "posterior-combined"
        The posterior, by name: 'posterior-ratio'.
    topics_at_hand : int, optional
        Without a collection: topics at hand, with everything judged.
    sd : float, optional
        Without a collection: standard deviation, over topics, of the difference of two runs.
    judgments : int or sequence of int, default (100, 1000)
        Numbers of judgments that are added. Those below the number of unjudged documents in reach count.
    more_topics : int or sequence of int, default (25, 50)
        Numbers of topics that are added.
    more_runs : int or sequence of int, default (2, 5)
        Numbers of runs, such as seeds, that are added to each of the systems.
    difference : float, optional
        A difference to detect; the least number of topics that does is found.
    power : float, default 0.8
        Share of the cases in which a difference is detected.
    level : float, default 0.05
        A difference is detected if its interval at this leaves out 0.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.
    **asked
        Keywords of every question: `bayespool.Question`.

    Returns
    -------
    ComparisonPlan

    Raises
    ------
    InputError
        Fewer than two runs or topics, several measures, a run or setting that is unknown; a collection
        beside ``topics_at_hand``, or neither.

    Notes
    -----
    A difference is detected where its 95 % interval on topics like these, as of `compare`, leaves out 0. More
    topics divide the variance of topics and that of errors that topics have apart; errors that topics share
    stay, and so does the variance of systems' runs, which more runs divide. Judgments are taken to be of
    random documents; `judge_next` chooses better ones. Labels of second judges, where the collection has any,
    are left out once, so that both cases are there.

    Examples
    --------
    >>> from bayespool import load_example, plan_comparison
    >>> runs = ["new-a", "new-b"]
    >>> made = plan_comparison(load_example(), runs, estimators="posterior-ratio", more_topics=20)
    >>> now, *_, doubled = made.scenarios()["smallest"]
    >>> bool(0.7 < doubled / now < 0.85)  # of topics alone 1/√2
    True

    Before there is a collection:

    >>> made = plan_comparison(topics_at_hand=50, sd=0.25, more_topics=(50,))
    >>> made.scenarios()["smallest"].round(3).tolist()
    [0.101, 0.071]
    """
    question = Asked(collection, run_ids, measures, estimators=estimators, **asked)
    measure, estimator = question.sole_measure, question.sole_posterior
    counts = listed("judgments", judgments, check_count, may_be_empty=True)
    topics = listed("more_topics", more_topics, check_count, may_be_empty=True)
    runs = listed("more_runs", more_runs, check_count, may_be_empty=True)
    check_number("difference", difference, above=0)
    check_share("power", power)
    check_share("level", level)
    check_count("topics_at_hand", topics_at_hand, least=2)
    check_number("sd", sd, above=0)
    assumed: dict[str, Any] = {"judgments": counts, "more_topics": topics, "more_runs": runs}
    assumed |= {"difference": difference, "power": power, "level": level}
    given = {"topics_at_hand": topics_at_hand, "sd": sd}
    settings = question.describe(measures=measure, estimator=estimator, **given, **assumed)
    plan = partial(ComparisonPlan, measure=measure, **assumed)
    if topics_at_hand is not None and sd is not None:
        if collection is not None:
            raise InputError("a collection beside topics at hand", hint="give one or the other")
        _refuse_idle(question, estimators=estimators, judgments=counts, more_runs=runs)
        at_hand = PairVariances(topics_at_hand, np.array([sd**2]), np.zeros(1), np.zeros(1))
        metadata: dict[str, Any] = {"bayespool": __version__, "settings": settings}
        return plan(variances={False: at_hand}, n_unjudged=0, metadata=metadata)
    if topics_at_hand is not None or sd is not None:
        raise InputError(
            "a plan without a collection needs the topics at hand and the standard deviation",
            hint="give both: --topics-at-hand 50 --sd 0.25, or topics_at_hand= and sd=",
        )
    if collection is None:
        hint = "give one, or the topics at hand and the standard deviation"
        raise NoCollectionError("no collection", hint=hint)
    expect_collection(collection)
    if question.systems is None and runs != _usual("more_runs"):
        raise InputError("more_runs without systems", hint="say which runs are of one: systems=")
    taken = []
    if not (question.run_ids or question.unpool or collection.given_run_ids) and (
        best := best_pooled_runs(collection, measure)
    ):
        question, n = replace(question, run_ids=best), counted(len(best), "organization")
        text = f"no runs named: the best pooled runs of {n}, as they are judged; --unpool has new ones"
        taken = [Note("scope", text)]
    variances = dict[bool, PairVariances]()
    both = (parse_estimator(AS_JUDGED), estimator)
    for labels in (False, True) if collection.judges else (False,):
        labeled = collection if labels else replace(collection, judges=())
        targets = replace(question, collection=labeled).resolve(both, may_group=True)
        units = Units.of(targets.run_ids, targets.systems)
        if len(units.names) < 2:
            noun = "system" if targets.systems else "run"
            raise InputError(f"one {noun} has no difference to plan for", hint="name two or more")
        refuse_one_topic(len(targets.collection.query_ids))
        if targets.groups is not None:
            targets.groups.refuse_one_topic()
        with warnings.catch_warnings():
            if taken:
                warnings.simplefilter("ignore", PooledRunWarning)  # they are meant
            scores = score_targets(targets, settings=settings, progress=progress)
        estimates = scores.estimates[1]
        if estimates.draws is None:
            raise InputError(
                f"{estimates.estimator} has no value of {measure}: it {'; '.join(estimates.notes[0])}",
                hint="judge what judge-next lists, or plan with --topics-at-hand and --sd",
            )
        variances[labels] = PairVariances.from_draws(estimates.draws, units.members, targets.groups)
    n_unjudged = len(find_unknowns(targets.collection, targets.run_ids, measure.cutoff, targets.estimand))
    metadata = {**scores.metadata, "pool_notes": [*scores.metadata["pool_notes"], *taken]}
    metadata["far_runs"] = sorted(far_runs(scores.to_frame()))
    sizes = {len(runs) for runs in units.members}
    of = f" between systems{f' of {min(sizes)} runs' * (len(sizes) == 1)}" * units.are_systems
    if targets.groups is not None:
        of += f" in the mean of {groups_text(targets.groups)}"
    return plan(variances=variances, n_unjudged=n_unjudged, metadata=metadata, of=of)


def best_pooled_runs(collection: Collection, measure: Measure) -> tuple[str, ...]:
    """Return the best pooled run of each organization as judged, 20 at most; of one organization all runs."""
    pooled = collection.pooled_run_ids
    if not pooled:
        return ()
    best = dict[int, tuple[float, str]]()
    low = score_bounds(collection, pooled, measure).low.means()
    homes = collection.organization[collection.run_index(pooled)]
    for home, *run in zip(homes.tolist(), low.tolist(), pooled, strict=True):
        best[home] = max(best.get(home, (-np.inf, "")), tuple(run))
    runs = tuple(run for _, run in sorted(best.values())[-_MOST_RUNS:])
    return runs if len(runs) > 1 else pooled[:_MOST_RUNS]


def _usual(name: str) -> Any:
    """Return the default of a parameter of `plan_comparison`."""
    return inspect.signature(plan_comparison).parameters[name].default


def _refuse_idle(question: Asked, **own: Any) -> None:
    """Raise `InputError` for a setting that a plan without a collection does not use."""
    usual = Asked()
    names = AskedKeywords.__annotations__.keys() - {"random_seed"}
    pairs = {name: (value, _usual(name)) for name, value in own.items()}
    pairs |= {name: (getattr(question, name), getattr(usual, name)) for name in names}
    for name, (given, default) in pairs.items():
        if given != default:
            raise InputError(
                f"{name} beside topics_at_hand: without a collection nothing is unjudged",
                hint="leave it out, or give a collection instead of topics_at_hand and sd",
            )

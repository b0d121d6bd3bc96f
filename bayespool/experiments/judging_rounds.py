"""Simulation of judging in rounds with known answers, and the widths of intervals after each round."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np
import numpy.typing as npt

from bayespool import __version__
from bayespool.collection import Collection, IntArray, Qrels
from bayespool.errors import InputError, InputWarning, known_names
from bayespool.measures import Measure
from bayespool.measures.values import DEFAULT_CI_PROB
from bayespool.posterior import Completion, PosteriorEstimator, PosteriorOptions
from bayespool.posterior.keywords import refuse_unknown_settings
from bayespool.randomness import document_keys
from bayespool.scoring import find_targets
from bayespool.scoring.estimators import parse_posterior
from bayespool.scoring.judging import plan, sole_measure
from bayespool.scoring.judging_goals import find_target
from bayespool.scoring.judging_influence import find_influence
from bayespool.scoring.scoring import expect_collection
from bayespool.tables.printable import some_of
from bayespool.tables.reprs import Shown, one_line

if TYPE_CHECKING:
    import pandas as pd

JudgingOrder = Literal["judge-next", "random"]
JUDGING_ORDERS: tuple[JudgingOrder, ...] = get_args(JudgingOrder)
"""How documents are chosen: by `bayespool.judge_next` in each round, or at random."""

_OWN_PARAMETERS = ("answers", "budget", "n_rounds", "orders", "estimator", "ci_prob", "random_seed", "report")
_Row = dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class JudgingRounds(Shown):
    """Result of `judge_in_rounds`: intervals of some runs by the number of judgments.

    Attributes
    ----------
    measure : Measure
    run_ids : tuple of str
    orders : tuple of str
        Out of `JUDGING_ORDERS`.
    ci_prob : float
    metadata : mapping
        Version, fingerprint and settings.
    """

    measure: Measure
    run_ids: tuple[str, ...]
    orders: tuple[JudgingOrder, ...]
    ci_prob: float
    metadata: Mapping[str, Any]
    _rows: tuple[_Row, ...]

    def __repr__(self) -> str:
        most = max(row["n_judgments"] for row in self._rows)
        text = f"{self.measure} of {some_of(self.run_ids, 3)}, {most} judgments by {some_of(self.orders, 3)}"
        return one_line("JudgingRounds", text)

    def to_frame(self) -> pd.DataFrame:
        """One row per order, round and run.

        Returns
        -------
        pandas.DataFrame
            ``order``, ``n_judgments`` (so far for all runs), ``run_id``, ``value`` (the posterior mean),
            ``lower``, ``upper``, ``width``, ``expected`` (width expected when this round's documents were
            chosen; NaN at the start and for random choice), ``ci_prob``.
        """
        import pandas as pd

        return pd.DataFrame(list(self._rows)).assign(ci_prob=self.ci_prob)

    frame = to_frame

    def summary_frame(self) -> pd.DataFrame:
        """One row per order and round: means over the runs.

        Returns
        -------
        pandas.DataFrame
            ``order``, ``n_judgments``, ``width``, ``expected``, and ``widest``, the width of the widest
            interval.
        """
        groups = self.to_frame().groupby(["order", "n_judgments"], sort=False)
        means = groups[["width", "expected"]].mean()
        return means.assign(widest=groups["width"].max()).reset_index()


def judge_in_rounds(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    answers: Qrels,
    budget: int = 10,
    n_rounds: int = 4,
    orders: JudgingOrder | Iterable[JudgingOrder] = JUDGING_ORDERS,
    estimator: str | PosteriorEstimator = "posterior-combined",
    ci_prob: float = DEFAULT_CI_PROB,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    **settings: Unpack[PosteriorOptions],
) -> JudgingRounds:
    """Judge some runs' documents in rounds with known answers, and score the runs after each round.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        The runs to score; default: those that were not pooled.
    measures : measure
        A single one.
    answers : Qrels
        Judgments of every document that may be chosen: those of a simulation, or of a collection whose runs
        were left out of the pool.
    budget : int, default 10
        Documents judged in each round, at least 1.
    n_rounds : int, default 4
        At least 1. Rounds end early when no document is unjudged.
    orders : str or iterable of str
        Out of `JUDGING_ORDERS`; the random order draws unjudged documents in reach of the measure.
    estimator : str or PosteriorEstimator
        The posterior of the intervals.
    ci_prob : float
        Probability of the intervals, above 0 and below 1.
    random_seed : int
    report : callable, optional
        Called with a line on the current step.
    **settings
        Settings of the posterior, such as ``engine`` and ``draws``.

    Returns
    -------
    JudgingRounds

    Raises
    ------
    InputError
        Several measures; an unknown run, order or setting; the answers lack a document that was chosen.

    Examples
    --------
    >>> from bayespool.experiments import judge_in_rounds
    >>> from bayespool.experiments.simulation import simulate_example
    >>> example = simulate_example()
    >>> settings = {"n_rounds": 1, "orders": "judge-next", "estimator": "posterior-ratio", "draws": 200}
    >>> rounds = judge_in_rounds(example.collection, "new-b", answers=example.truth, **settings)
    >>> widths = rounds.summary_frame()["width"]
    >>> bool(widths[1] < widths[0])
    True
    """
    measure = sole_measure(measures)
    chosen = _check(orders, budget, n_rounds, ci_prob)
    known = set(PosteriorEstimator.__dataclass_fields__) - {"model", "estimand", "random_seed"}
    refuse_unknown_settings(settings, known, of="posteriors", more={"judge_in_rounds": _OWN_PARAMETERS})
    posterior = parse_posterior(estimator, random_seed=random_seed, **settings)
    expect_collection(collection)
    collection, targets, _ = find_targets(
        collection, run_ids, unpool=None, unpool_by="organization", pool_depth=None
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # for answers on documents that no run has
        answered = collection.add_judgments(answers)
    report_step = report or (lambda line: None)
    rows: list[_Row] = []
    report_step("completing")
    start = posterior.complete(collection, targets, measure)
    for order in chosen:
        judged, completion = collection, start
        expected = np.full(len(targets), np.nan)
        for round_ in range(n_rounds + 1):
            n_judgments = int((judged.judged & ~collection.judged).sum())
            rows += _rows(order, n_judgments, completion, measure, expected, ci_prob)
            if round_ == n_rounds or not len(completion.unknowns):
                break
            pairs, expected = _choose(order, completion, measure, budget, ci_prob, random_seed)
            judged = judged.with_added(pairs, _answers(answered, pairs))
            report_step(f"completing: {order}, {n_judgments + len(pairs)} judgments")
            completion = posterior.complete(judged, targets, measure)
    return JudgingRounds(
        measure=measure,
        run_ids=targets,
        orders=chosen,
        ci_prob=ci_prob,
        metadata={
            "version": __version__,
            "collection_fingerprint": collection.fingerprint,
            "measure": str(measure),
            "runs": list(targets),
            "orders": list(chosen),
            "estimator": posterior.name,
            "budget": budget,
            "n_rounds": n_rounds,
            "ci_prob": ci_prob,
            "random_seed": random_seed,
        },
        _rows=tuple(rows),
    )


def _check(
    orders: JudgingOrder | Iterable[JudgingOrder], budget: int, n_rounds: int, ci_prob: float
) -> tuple[JudgingOrder, ...]:
    """The orders, each once, after checks of the arguments."""
    distinct_orders: tuple[Any, ...] = (orders,) if isinstance(orders, str) else tuple(dict.fromkeys(orders))
    if not distinct_orders:
        raise InputError("no order of judging", hint=f"there are {', '.join(JUDGING_ORDERS)}")
    for order in distinct_orders:
        if order not in JUDGING_ORDERS:
            raise InputError(f"no order {order!r}", hint=known_names(order, JUDGING_ORDERS))
    for name, value in (("budget", budget), ("n_rounds", n_rounds)):
        if value < 1:
            raise InputError(f"{name} is {value}", hint="it is at least 1")
    if not 0 < ci_prob < 1:
        raise InputError(f"ci_prob is {ci_prob:g}", hint="it is above 0 and below 1")
    return distinct_orders


def _rows(
    order: JudgingOrder,
    n_judgments: int,
    completion: Completion,
    measure: Measure,
    expected: npt.NDArray[np.float64],
    ci_prob: float,
) -> list[_Row]:
    """Estimates and intervals of the runs after a round."""
    values = completion.evaluate(measure)[0]
    lower, upper = values.interval(ci_prob)
    columns = zip(
        completion.unknowns.run_ids, values.means().mean(axis=0), lower, upper, expected, strict=True
    )
    return [
        {
            "order": order,
            "n_judgments": n_judgments,
            "run_id": run,
            "value": float(value),
            "lower": float(low),
            "upper": float(high),
            "width": float(high - low),
            "expected": float(before),
        }
        for run, value, low, high, before in columns
    ]


def _choose(
    order: JudgingOrder,
    completion: Completion,
    measure: Measure,
    budget: int,
    ci_prob: float,
    random_seed: int,
) -> tuple[IntArray, npt.NDArray[np.float64]]:
    """Pair codes of the documents of a round, and the widths expected after it, shape (run,)."""
    unknowns = completion.unknowns
    if order == "random":
        collection, key = unknowns.collection, np.zeros(len(unknowns), dtype=np.uint64)
        for t in np.unique(unknowns.topic):
            on_topic = np.flatnonzero(unknowns.topic == t)
            doc_ids = [collection.doc_id(pair) for pair in unknowns.pair[on_topic]]
            key[on_topic] = document_keys(random_seed, collection.query_ids[t], doc_ids)
        drawn: IntArray = unknowns.pair[np.argsort(key, kind="stable")[:budget]]
        return drawn, np.full(len(unknowns.run_ids), np.nan)
    values = completion.evaluate(measure)[0]
    target = find_target("interval", unknowns.run_ids, values, ci_prob)
    planned = plan(find_influence(completion, measure, values), target, budget)
    most_informative: IntArray = unknowns.pair[planned.unknown]
    return most_informative, planned.left


def _answers(answered: Collection, pairs: IntArray) -> npt.NDArray[np.int16]:
    """Relevance of documents; `InputError` if the answers lack one."""
    known = answered.judged[pairs]
    if not known.all():
        pair = int(pairs[int((~known).argmax())])
        topic = answered.query_ids[answered.pair_topic[pair]]
        raise InputError(
            f"the answers lack document {answered.doc_id(pair)} of topic {topic}, which was chosen"
        )
    levels: npt.NDArray[np.int16] = answered.relevance[pairs]
    return levels

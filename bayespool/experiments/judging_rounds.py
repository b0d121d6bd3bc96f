"""Simulation of judging in rounds with known answers, and the widths of intervals after each round."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from bayespool import __version__
from bayespool.collection import Collection, IntArray, Qrels
from bayespool.errors import InputError, InputWarning
from bayespool.experiments.check_settings import JudgingOrder, JudgingRoundsSettings
from bayespool.measures import Measure
from bayespool.options import takes
from bayespool.posterior import Completion
from bayespool.randomness import document_keys
from bayespool.report.result import Figure, Result
from bayespool.scoring import find_targets
from bayespool.scoring.judging import plan
from bayespool.scoring.judging_influence import find_influence, find_target
from bayespool.scoring.scoring import expect_collection
from bayespool.scoring.settings import TargetSettings
from bayespool.tables.columns import Column
from bayespool.tables.formatting import level, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Table, View

JUDGING_ORDERS: tuple[JudgingOrder, ...] = get_args(JudgingOrder)
"""How documents are chosen: by `bayespool.judge_next` in each round, or at random."""

_Row = dict[str, Any]
_COLUMNS = {
    "order": Column("order", "method", "How documents are chosen."),
    "n_judgments": Column("judgments", "count", "Judgments so far, for all runs."),
    "width": Column("width", "score", "Width of the interval, or its mean over the runs."),
    "expected": Column(
        "expected", "score", "Width expected when this round's documents were chosen, where it was."
    ),
    "widest": Column("widest", "score", "Width of the widest interval."),
}


@dataclass(frozen=True, eq=False, repr=False)
class JudgingRounds(Result):
    """Result of `judge_in_rounds`: intervals of some runs by the number of judgments.

    Its tables are `runs`, a row per order, round and run, and `rounds`, the means over the runs.

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

    command = "judging rounds"
    title = "Judging in rounds"

    def __repr__(self) -> str:
        most = max(row["n_judgments"] for row in self._rows)
        text = f"{self.measure} of {some_of(self.run_ids, 3)}, {most} judgments by {some_of(self.orders, 3)}"
        return one_line("JudgingRounds", text)

    def tables(self) -> tuple[Table, ...]:
        """Runs after each round, and means over them."""
        import pandas as pd

        runs = pd.DataFrame(list(self._rows)).assign(ci_prob=self.ci_prob)
        groups = runs.groupby(["order", "n_judgments"], sort=False)
        rounds = groups[["width", "expected"]].mean().assign(widest=groups["width"].max()).reset_index()
        view = View(
            title=f"{self.measure}: mean width of {level(self.ci_prob)} intervals, {len(self.run_ids)} runs",
            names=("order", "n_judgments"),
            columns=("width", "expected", "widest"),
        )
        return Table("runs", "Run by run", runs, _COLUMNS), Table(
            "rounds", "Rounds", rounds, _COLUMNS, (view,)
        )

    def figures(self) -> tuple[Figure, ...]:
        """Mean widths by the number of judgments."""
        from bayespool.plots.checks import plot_judging

        caption = "Mean width of the intervals by the number of judgments"
        return (Figure("judging", caption, lambda: plot_judging(self).figure),)


@takes(JudgingRoundsSettings)
def judge_in_rounds(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    settings: JudgingRoundsSettings,
    answers: Qrels,
    report: Callable[[str], None] | None = None,
) -> JudgingRounds:
    """Judge some runs' documents in rounds with known answers, and score the runs after each round.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        The runs to score; default: those that were not pooled.
    {options}
    answers : Qrels
        Judgments of every document that may be chosen: those of a simulation, or of a collection whose runs
        were left out of the pool.
    report : callable, optional
        Called with a line on the current step.

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
    >>> widths = rounds.to_frame("rounds")["width"]
    >>> bool(widths[1] < widths[0])
    True
    """
    measure, posterior, chosen = settings.measures, settings.estimator, settings.orders
    budget, n_rounds, ci_prob = settings.budget, settings.n_rounds, settings.ci_prob
    expect_collection(collection)
    collection, targets, _ = find_targets(collection, run_ids, TargetSettings())
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
            pairs, expected = _choose(order, completion, measure, budget, ci_prob, settings.random_seed)
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
            "random_seed": settings.random_seed,
        },
        _rows=tuple(rows),
    )


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

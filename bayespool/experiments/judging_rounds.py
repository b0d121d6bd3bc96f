"""Simulation of judging in rounds with known answers, and the widths of intervals after each round."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection, IntArray, Qrels
from bayespool.errors import InputError, InputWarning
from bayespool.experiments.base import metadata_of
from bayespool.experiments.running import Running, Work, in_parts
from bayespool.experiments.settings import JudgingOrder, JudgingRoundsSettings
from bayespool.experiments.storage import Columns, Stored, add_rows
from bayespool.measures import Measure, Values
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
        How documents are chosen: by `bayespool.judge_next` in each round, or at random.
    ci_prob : float
    metadata : mapping
        Version, fingerprint and settings.
    """

    measure: Measure
    run_ids: tuple[str, ...]
    orders: tuple[JudgingOrder, ...]
    ci_prob: float
    metadata: Mapping[str, Any]
    _rows: Columns

    command = "judging rounds"
    title = "Judging in rounds"

    def __repr__(self) -> str:
        most = max(self._rows["n_judgments"])
        text = f"{self.measure} of {some_of(self.run_ids, 3)}, {most} judgments by {some_of(self.orders, 3)}"
        return one_line("JudgingRounds", text)

    def tables(self) -> tuple[Table, ...]:
        """Runs after each round, and means over them."""
        import pandas as pd

        runs = pd.DataFrame(self._rows).assign(ci_prob=self.ci_prob)
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


@dataclass(frozen=True, eq=False)
class RoundsOfJudging(Work):
    """Rounds of judging with known answers, by the order in which documents are chosen."""

    name: ClassVar[str] = "judging rounds"
    parts_name: ClassVar[str] = "orders"
    folder: ClassVar[str] = "rounds"
    run_ids: tuple[str, ...]
    answers: npt.NDArray[np.int16]

    def compute(
        self, collection: Collection, part: tuple[JudgingOrder], settings: JudgingRoundsSettings
    ) -> Stored:
        """Intervals of the runs after each round; answers are the relevance of documents, shape (pair,)."""
        (order,), measure, ci_prob = part, settings.measures, settings.ci_prob
        judged, expected = collection, np.full(len(self.run_ids), np.nan)
        rows: Columns = {}
        for round_ in range(settings.n_rounds + 1):
            completion = settings.estimator.complete(judged, self.run_ids, measure)
            n_judgments = int((judged.judged & ~collection.judged).sum())
            values = completion.evaluate(measure)[0]
            lower, upper = values.interval(ci_prob)
            row: dict[str, Any] = {"order": order, "n_judgments": n_judgments, "run_id": list(self.run_ids)}
            row |= {"value": values.means().mean(axis=0), "lower": lower, "upper": upper}
            add_rows(rows, row | {"width": upper - lower, "expected": expected})
            if round_ == settings.n_rounds or not len(completion.unknowns):
                break
            pairs, expected = _choose(order, completion, values, settings)
            judged = judged.with_added(pairs, self._answers_on(collection, pairs))
        return rows, {}

    def _answers_on(self, collection: Collection, pairs: IntArray) -> npt.NDArray[np.int16]:
        """Relevance of documents; `InputError` if the answers lack one."""
        levels = self.answers[pairs]
        for pair in pairs[levels < 0]:
            topic = collection.query_ids[collection.pair_topic[pair]]
            raise InputError(
                f"the answers lack document {collection.doc_id(pair)} of topic {topic}, which was chosen"
            )
        return levels

    def describe(self, settings: JudgingRoundsSettings) -> dict[str, Any]:
        """Runs and answers, too; but not the orders, to which more may be added."""
        described = {name: value for name, value in super().describe(settings).items() if name != "orders"}
        known = hashlib.blake2b(self.answers.tobytes(), digest_size=8).hexdigest()
        return described | {"runs": list(self.run_ids), "answers": known}


@in_parts(JudgingRoundsSettings, RoundsOfJudging)
def judge_in_rounds(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    *,
    settings: JudgingRoundsSettings,
    running: Running,
    answers: Qrels,
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
    {running}

    Returns
    -------
    JudgingRounds

    Raises
    ------
    InputError
        Several measures; an unknown run, order or setting; the answers lack a document that was chosen.
    {errors}

    Warns
    -----
    {warnings}

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
    measure, orders = settings.measures, settings.orders
    expect_collection(collection)
    collection, targets, _ = find_targets(collection, run_ids, TargetSettings())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # for answers on documents that no run has
        answered = collection.add_judgments(answers)
    relevance = np.where(answered.judged, answered.relevance, np.int16(-1))
    parts = [(order,) for order in orders]
    results = RoundsOfJudging(targets, relevance).run(collection, parts, settings, running)
    return JudgingRounds(
        measure=measure,
        run_ids=targets,
        orders=orders,
        ci_prob=settings.ci_prob,
        metadata=metadata_of(collection, settings, runs=list(targets)),
        _rows={name: [x for result in results for x in result.rows[name]] for name in results[0].rows},
    )


def _choose(
    order: JudgingOrder, completion: Completion, values: Values, settings: JudgingRoundsSettings
) -> tuple[IntArray, npt.NDArray[np.float64]]:
    """Pair codes of the documents of a round, and the widths expected after it, shape (run,)."""
    unknowns, budget = completion.unknowns, settings.budget
    if order == "random":
        collection, key = unknowns.collection, np.zeros(len(unknowns), dtype=np.uint64)
        for t in np.unique(unknowns.topic):
            on_topic = np.flatnonzero(unknowns.topic == t)
            doc_ids = [collection.doc_id(pair) for pair in unknowns.pair[on_topic]]
            key[on_topic] = document_keys(settings.random_seed, collection.query_ids[t], doc_ids)
        drawn: IntArray = unknowns.pair[np.argsort(key, kind="stable")[:budget]]
        return drawn, np.full(len(unknowns.run_ids), np.nan)
    target = find_target("interval", unknowns.run_ids, values, settings.ci_prob)
    planned = plan(find_influence(completion, settings.measures, values), target, budget)
    most_informative: IntArray = unknowns.pair[planned.unknown]
    return most_informative, planned.left

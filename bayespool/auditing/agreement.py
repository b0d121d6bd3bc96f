"""Agreement of judges' labels with people's judgments of documents drawn with known probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import BoolArray, FloatArray, OrderArray
from bayespool.auditing.differences import uniforms
from bayespool.collection import Judge
from bayespool.collection.judges import fit_logistic
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.measures.parsing import parse_sole_measure
from bayespool.notes import Note
from bayespool.reading import Labels, Qrels
from bayespool.report.provenance import cited_by
from bayespool.report.result import Result
from bayespool.tables.citations import Citation, cite
from bayespool.tables.formatting import counted, interval, level, number
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, IntervalColumn, Table, View
from bayespool.validation import check_count

MARGIN = 0.05
"""Half the width of the agreement's interval at which judging may stop."""
_CANDIDATES = 401  # values of each quantity
_CHANCES = 0.15, 0.55  # of relevance by no label and by all, before any judgment
_LEAST_CHANCE = 0.02
_LEAST_SIZE = 0.5  # of the mean; rarer draws weigh so much that bets on them have to be small
_LARGEST_BET = 0.9  # share of the capital that a payoff may take
_PRIOR_STEPS = 20.0  # that the model's variance of a payoff counts as
_RIDGE = 1.0
_MOST = 1e100  # capital


class _Quantity(NamedTuple):
    """A quantity θ of a judge, at which the sum of weights × relevance + ``shift`` + ``slope`` θ is 0.

    The weight of a document that the label says to be nonrelevant or relevant is ``weights`` + ``turn`` θ.
    """

    weights: tuple[float, float]
    turn: float
    shift: float
    slope: float
    candidates: FloatArray
    margin: float

    def solve(self, relevant: FloatArray) -> float:
        """Return θ by the shares of documents that are relevant and labeled nonrelevant or relevant."""
        return float(
            -(np.dot(self.weights, relevant) + self.shift) / (self.turn * relevant.sum() + self.slope)
        )


def _quantities(labeled: float) -> dict[str, _Quantity]:
    """Return agreement and κ of a judge that labels this share of documents relevant."""
    between, signed = np.linspace(0, 1, _CANDIDATES), np.linspace(-1, 1, 2 * _CANDIDATES - 1)
    turn = 2 * labeled - 1
    return {
        "agreement": _Quantity((-1, 1), 0.0, 1 - labeled, -1.0, between, MARGIN),
        "kappa": _Quantity((-2 * labeled, 2 - 2 * labeled), turn, 0.0, -labeled, signed, 2 * MARGIN),
    }


class _Payoff(NamedTuple):
    """Payoff of a judgment: shares expected to be relevant, label and residual of the document, ranges.

    ``relevant``, ``least``, ``most``: of documents labeled nonrelevant and relevant, shape (2,). A document's
    residual is between ``least`` and ``most`` of its label, and 0 in expectation.
    """

    relevant: FloatArray
    label: int
    residual: float
    least: FloatArray
    most: FloatArray
    variance: FloatArray


class _Bets:
    """Capital of bets against each candidate of a quantity, and the candidates that are left."""

    def __init__(self, quantity: _Quantity, ci_prob: float) -> None:
        self.quantity, self.refuting = quantity, 2 / (1 - ci_prob)
        self.capital = np.ones((2, len(quantity.candidates)))
        self.is_left = np.ones(len(quantity.candidates), dtype=bool)
        self.surprise, self.n, self.relevant = _PRIOR_STEPS, 0, np.zeros(2)
        self.ends = quantity.candidates[[0, -1]]

    def take(self, paid: _Payoff) -> tuple[float, float, float]:
        """Bet on a judgment, and return the estimate after it with the ends of its interval.

        If θ is the value, ``value`` has expectation 0, so that each capital has expectation 1 at most.
        """
        q = self.quantity
        weights = np.array(q.weights) + q.turn * q.candidates[:, None]
        expected = weights @ paid.relevant + q.shift + q.slope * q.candidates
        value = expected + weights[:, paid.label] * paid.residual
        ends = np.sort([weights * paid.least, weights * paid.most], axis=0)
        least, most = expected + ends[0].min(axis=1), expected + ends[1].max(axis=1)
        per_unit = q.turn * paid.relevant.sum() + q.slope
        weight = np.array(q.weights) + q.turn * np.clip(q.solve(paid.relevant), -1, 1)
        variance = float(weight**2 @ paid.variance)
        usual = max(variance * self.surprise / (self.n + _PRIOR_STEPS), 1e-12)
        horizon = max(2 * np.log(self.refuting) * usual / (q.margin * per_unit) ** 2, self.n + 1)
        bet = np.sqrt(2 * np.log(self.refuting) / (usual * horizon))
        for capital, payoff, worst in ((self.capital[0], value, -least), (self.capital[1], -value, most)):
            share = np.minimum(bet, _LARGEST_BET / np.maximum(worst, 1e-9))
            capital *= np.where(worst > 1e-9, 1 + share * payoff, np.where(payoff > 1e-9, _MOST, 1.0))
        np.minimum(self.capital, _MOST, out=self.capital)
        self.is_left &= self.capital.max(axis=0) < self.refuting
        self.surprise += float(weight[paid.label] * paid.residual) ** 2 / max(variance, 1e-12)
        self.n += 1
        self.relevant += paid.relevant
        self.relevant[paid.label] += paid.residual
        left = np.flatnonzero(self.is_left)
        if len(left):
            self.ends = q.candidates[[max(left[0] - 1, 0), min(left[-1] + 1, len(self.is_left) - 1)]]
        lower, upper = self.ends.tolist()
        return float(np.clip(q.solve(self.relevant / self.n), lower, upper)), lower, upper


COLUMNS = {
    "judge": Column("judge", "text", "The judge."),
    "label_from": Column("label\nfrom", "threshold", "A label of this or more says relevant."),
    "n_labeled": Column("labeled", "count", "Documents with labels, of which the agreement is."),
    "step": Column("judged", "count", "Documents drawn and judged by people."),
    "query_id": Column("topic", "text", "Topic of the document that was judged last."),
    "doc_id": Column("document", "text", "The document that was judged last."),
    "agreement": Column("agree-\nment", "chance", "Share of labels that say what people say, by design."),
    "agreement_lower": Column("from", "chance", "Lower end of the guaranteed interval of the agreement."),
    "agreement_upper": Column("to", "chance", "Upper end of that interval."),
    "kappa": Column("κ", "chance", "Cohen's κ, the agreement beyond chance."),
    "kappa_lower": Column("κ, from", "chance", "Lower end of the guaranteed interval of κ."),
    "kappa_upper": Column("κ, to", "chance", "Upper end of that interval."),
}
"""Columns of the tables of a `JudgeAudit`."""


@dataclass(frozen=True, eq=False, repr=False)
class JudgeAudit(Result):
    """Agreement of judges with people from `bayespool.audit_judges`, and the documents to judge next.

    Attributes
    ----------
    steps : DataFrame
        One row for each judgment and judge, with the agreement after it.
    tasks : DataFrame
        Documents to judge next, in this order; none when judging may stop.
    n_documents : int
        Documents with labels of all judges.
    cuts : mapping of str to float
        Smallest label of each judge that says relevant.
    metadata : mapping
        Version and settings.
    """

    steps: pd.DataFrame
    tasks: pd.DataFrame
    n_documents: int
    cuts: Mapping[str, float]
    metadata: Mapping[str, Any]

    command = "judges"
    title = "Agreement of judges with people"

    def __repr__(self) -> str:
        return one_line("JudgeAudit", f"{', '.join(self.cuts)}, {counted(self.n_judged, 'judgment')}")

    @property
    def n_judged(self) -> int:
        """Number of judgments that count."""
        return int(self.steps["step"].max()) if len(self.steps) else 0

    @property
    def is_done(self) -> bool:
        """Whether the agreement of each judge is known to ±0.05, so that judging may stop."""
        return not len(self.tasks)

    def tables(self) -> tuple[Table, ...]:
        """Return tables of the agreement now and after each judgment."""
        now = self.steps[self.steps["step"] == self.n_judged]
        now = now.assign(n_labeled=self.n_documents, label_from=now["judge"].map(self.cuts).astype(float))
        intervals = [IntervalColumn(f"{name}_lower", f"{name}_upper") for name in ("agreement", "kappa")]
        columns = ("n_labeled", "step", "agreement", intervals[0], "kappa", intervals[1])
        title = f"Agreement of labels with people on relevance {self.metadata['relevant_from']} or more"
        view = View(title=title, names=("judge", "label_from"), columns=columns)
        return (
            Table("agreement", self.title, now, COLUMNS, (view,) * bool(len(now))),
            Table("steps", "Agreement after each judgment", self.steps, COLUMNS),
        )

    def notes(self) -> tuple[Note, ...]:
        """Return a note on judgments that are not used."""
        if not (n := self.metadata["n_passed_over"]):
            return ()
        text = (
            f"{counted(n, 'judgment')} not used, of documents that were not drawn: judge what is drawn, in "
            "batches of one size and with one seed, since only draws make the intervals hold; judges without "
            "--batch (compare_judges) has the agreement by all judgments"
        )
        return (Note("audit", text),)

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the agreement of each judge, and on what to do next."""
        about, sentences = f"of {counted(self.n_documents, 'labeled document')}", []
        for row in self.tables()[0].frame.to_dict("records"):
            ends = [interval(row[f"{name}_lower"], row[f"{name}_upper"]) for name in ("agreement", "kappa")]
            sentences.append(
                f"{row['judge']} agrees on {number(row['agreement'])} ({ends[0]}) {about}; "
                f"κ {number(row['kappa'])} ({ends[1]})"
            )
        if self.n_judged:
            held = f"each interval holds at {level(self.metadata['ci_prob'])}, at any time"
            sentences.append(f"{held}, by {counted(self.n_judged, 'judgment')}")
        if self.is_done:
            sentences.append(f"stop: the agreement is known to ±{MARGIN:g}, or all is judged")
        else:
            sentences.append(f"to judge, in this order: {counted(len(self.tasks), 'document')}")
        return tuple(sentences)

    def citations(self) -> tuple[Citation, ...]:
        """Return citations for the interval's method and bayespool itself."""
        return cite([*cited_by(self.metadata), "shekhar-etal-2023", "waudby-smith-ramdas-2024"])


def audit_judges(
    labels: Mapping[str, Labels | Sequence[Labels]],
    judgments: Qrels | None = None,
    measures: object = "P@10",
    *,
    batch: int = 50,
    ci_prob: float | None = None,
    random_seed: int = 1,
) -> JudgeAudit:
    """Choose documents that people should judge, and say how well judges agree with them.

    Parameters
    ----------
    labels : mapping of str to Labels or sequence of Labels
        Labels by judge (`bayespool.reading.read_labels`). The documents that all judges labeled are drawn
        from.
    judgments : Qrels, optional
        Judgments by people so far. Those of documents that are not drawn are not used.
    measures : measure, default "P@10"
        One, whose ``rel`` says what is relevant.
    batch : int, default 50
        Documents to judge at a time. The same number and seed in each call go on with what was drawn before.
    ci_prob : float, optional
        Probability that no interval of a judge's agreement ever misses its value; the same for κ.
    random_seed : int, default 1

    Returns
    -------
    JudgeAudit
        With ``tasks``, the documents to judge next.

    Raises
    ------
    InputError
        No document has labels of all judges; labels of a judge that all say the same.

    Notes
    -----
    Of two labels the higher one says relevant; of a scale that reaches 2 those of ``rel`` or more; else those
    of 1/2 or more. Relevant by people is a document of ``rel`` or more.

    A document is drawn with probability q proportional to √(p(1 − p)), where p is its probability of
    relevance by a logistic regression on judges' labels and topics, learned from the batches before: the
    allocation of Neyman, by labels and topics. Agreement and κ are the values θ at which a sum of document
    weights × relevance is 0, with the judges' labels known. A payoff is what that sum is expected to be by
    p, with the drawn document's residual over q. Bets against each θ multiply a capital by 1 ± λ × payoff.
    By Ville's inequality that against the true θ ever reaches 2/α with a probability of at most α/2
    (Waudby-Smith & Ramdas 2024). Nothing is assumed of p.

    Examples
    --------
    >>> from bayespool.reading import labels_from_frame, qrels_from_frame
    >>> labels = {"llm": labels_from_frame({"q": {f"d{i}": i % 2 for i in range(400)}})}
    >>> planned = audit_judges(labels, batch=20)
    >>> len(planned.tasks), planned.n_judged
    (20, 0)
    >>> people = qrels_from_frame({"q": {f"d{i}": int(i % 8 > 3) for i in range(400)}})
    >>> audited = audit_judges(labels, people, batch=20)
    >>> audited.is_done, audited.to_frame()[["agreement_lower", "agreement_upper"]].round(2).values.tolist()
    (True, [[0.45, 0.55]])
    """
    check_count("batch", batch)
    check_count("random_seed", random_seed, least=0)
    prob, measure = fill_ci_prob(ci_prob), parse_sole_measure(measures)
    frame = _labeled_documents(labels)
    judges = [Judge(str(name), column.to_numpy()) for name, column in frame.items()]
    cuts = {judge.name: find_cut(judge, measure.rel) for judge in judges}
    relevance = np.full(len(frame), np.nan)
    if judgments is not None:
        judged = mean_by_document(judgments.query_id, judgments.doc_id, judgments.relevance)
        relevance = (judged[judged >= 0] >= measure.rel).reindex(frame.index).to_numpy(dtype=float)
    says = np.array([judge.label >= cuts[judge.name] for judge in judges])
    topics = frame.index.get_level_values(0).factorize()[0]
    drawn, rows = _draw(topics, judges, says, relevance, batch, prob, random_seed)
    ids = frame.index.to_frame(index=False)
    steps = pd.DataFrame(rows)
    if len(steps):
        steps = pd.concat([ids.iloc[steps.pop("document")].reset_index(drop=True), steps], axis=1)
    else:
        steps = pd.DataFrame(columns=["step", "judge"])
    settings = {"judges": list(cuts), "measure": str(measure), "relevant_from": measure.rel, "batch": batch}
    n_judged = int((~np.isnan(relevance)).sum())
    settings["n_passed_over"] = n_judged - len(rows) // len(judges)
    return JudgeAudit(
        steps=steps,
        tasks=ids.iloc[drawn].reset_index(drop=True),
        n_documents=len(frame),
        cuts=cuts,
        metadata={"bayespool": __version__, **settings, "ci_prob": prob, "random_seed": random_seed},
    )


def mean_by_document(query_id: Any, doc_id: Any, values: Any, *, sort: bool = True) -> pd.Series[Any]:
    """Return the mean value of each document, in the order of topics and documents, or as they come."""
    frame = pd.DataFrame({"query_id": query_id.to_pylist(), "doc_id": doc_id.to_pylist(), "value": values})
    return frame.groupby(["query_id", "doc_id"], sort=sort)["value"].mean()


def labels_by_document(labels: Mapping[str, Labels | Sequence[Labels]]) -> dict[str, pd.Series[Any]]:
    """Return the mean label of each document, by judge."""
    means = {}
    for name, given in labels.items():
        several = [given] if isinstance(given, Labels) else list(given)
        columns = [mean_by_document(one.query_id, one.doc_id, one.label) for one in several]
        means[str(name)] = pd.concat(columns).groupby(level=[0, 1]).mean()
    return means


def _labeled_documents(labels: Mapping[str, Labels | Sequence[Labels]]) -> pd.DataFrame:
    """Return labels of the documents that all judges labeled, a column for each judge."""
    means = labels_by_document(labels)
    frame = pd.concat(means, axis=1, join="inner").sort_index() if means else pd.DataFrame()
    if not len(frame):
        raise InputError("no document has labels of all judges", hint="--judge FILE, or labels=")
    return frame


def find_cut(judge: Judge, rel: int) -> float:
    """Return the smallest label that says relevant."""
    values = np.unique(judge.label)
    cut = float(values[-1] if len(values) == 2 else rel if values[-1] >= 2 else 0.5)
    if not values[0] < cut <= values[-1]:
        raise InputError(f"judge {judge.name!r}: all labels say the same of relevance {rel} or more")
    return cut


def kappa(one: BoolArray, other: BoolArray) -> float:
    """Return Cohen's κ of two masks; NaN where both say the same of all."""
    by_chance = one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean())
    return float(((one == other).mean() - by_chance) / (1 - by_chance)) if by_chance < 1 else float("nan")


def _draw(
    topics: OrderArray,
    judges: Sequence[Judge],
    says: BoolArray,
    relevance: FloatArray,
    batch: int,
    ci_prob: float,
    random_seed: int,
) -> tuple[list[int], list[dict[str, Any]]]:
    """Draw batches of documents until one is not judged; return it, and a row for each judgment and judge."""
    n = len(topics)
    columns = [topics, *(judge.grade.astype(np.intp) for judge in judges)]
    offsets = np.cumsum([1, *(column.max() + 1 for column in columns)])
    column = np.stack([c + o for c, o in zip(columns, offsets, strict=False)], axis=1)
    bets = [
        {name: _Bets(quantity, ci_prob) for name, quantity in _quantities(float(is_high.mean())).items()}
        for is_high in says
    ]
    is_open, chance = np.ones(n, dtype=bool), np.interp(says.mean(axis=0), (0, 1), _CHANCES)
    judged: list[int] = []
    rows: list[dict[str, Any]] = []
    while is_open.any():
        if judged:
            x = np.zeros((len(judged), offsets[-1]))
            x[:, 0] = 1
            x[np.arange(len(judged))[:, None], column[judged]] = 1
            at = fit_logistic(x, relevance[judged], _RIDGE)
            chance = 1 / (1 + np.exp(-at[0] - at[column].sum(axis=1)))
            chance = chance.clip(_LEAST_CHANCE, 1 - _LEAST_CHANCE)
        size = np.sqrt(chance * (1 - chance))
        size = np.maximum(size, _LEAST_SIZE * size[is_open].mean())
        drawn = _draw_batch(size, is_open, uniforms(random_seed, len(judged) + batch)[len(judged) :])
        ranges = [_Ranges.of(is_high[is_open], chance[is_open], size[is_open]) for is_high in says]
        for k in drawn:
            if np.isnan(relevance[k]):
                return [k for k in drawn if np.isnan(relevance[k])], rows
            scale = size[is_open].sum() / n
            residual = scale * (relevance[k] - chance[k]) / size[k]
            expected = np.where(is_open, chance, relevance)
            is_open[k] = False
            judged.append(k)
            is_done = True
            for judge, is_high, range_, bet in zip(judges, says, ranges, bets, strict=True):
                shares = np.bincount(is_high, expected, 2) / n
                scaled = (scale * range_.least, scale * range_.most, scale * range_.variance / n)
                paid = _Payoff(shares, int(is_high[k]), residual, *scaled)
                row: dict[str, Any] = {"document": k, "step": len(judged), "judge": judge.name}
                for name, each in bet.items():
                    value, lower, upper = each.take(paid)
                    row |= {name: value, f"{name}_lower": lower, f"{name}_upper": upper}
                is_done &= row["agreement_upper"] - row["agreement_lower"] <= 2 * MARGIN
                rows.append(row)
            if is_done:
                return [], rows
    return [], rows


class _Ranges(NamedTuple):
    """Ends and variance of residuals by label, shape (2,), but for what a draw is scaled by."""

    least: FloatArray
    most: FloatArray
    variance: FloatArray

    @classmethod
    def of(cls, is_high: BoolArray, chance: FloatArray, size: FloatArray) -> _Ranges:
        """Return the ranges of the residuals of documents that are open."""
        by_label = [is_high == label for label in (False, True)]
        least = [-(chance / size)[of].max(initial=0.0) for of in by_label]
        most = [((1 - chance) / size)[of].max(initial=0.0) for of in by_label]
        variance = np.bincount(is_high, chance * (1 - chance) / size, minlength=2)
        return cls(np.array(least), np.array(most), np.asarray(variance, dtype=float))


def _draw_batch(size: FloatArray, is_open: BoolArray, uniform: FloatArray) -> list[int]:
    """Return documents drawn one after the other with probabilities proportional to their sizes."""
    left, drawn = np.where(is_open, size, 0.0), []
    for mark in uniform[: int(is_open.sum())]:
        below = np.cumsum(left)
        drawn.append(int(np.searchsorted(below, mark * below[-1], side="right")))
        left[drawn[-1]] = 0.0
    return drawn

"""Agreement of judges with people and with each other, of labels and judgments alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import FloatArray
from bayespool.auditing.agreement import find_cut, labels_by_document, mean_by_document
from bayespool.collection import Judge
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.evidence import GradeCounts, auc
from bayespool.experiments.judge_agreement import Row, TopicIntervals, draw_topics
from bayespool.measures.parsing import parse_sole_measure
from bayespool.notes import Note, noted
from bayespool.reading import Labels, Qrels
from bayespool.report.result import Result
from bayespool.tables.formatting import counted, interval, number
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, IntervalColumn, Table, View
from bayespool.validation import check_count

PEOPLE = "people"
_LEAST_COPIED = 50  # documents without a difference
_NAMES = ("agreement", "kappa", "auc")
COLUMNS: Mapping[str, Column] = {
    "judge": Column("judge", "text", "The judge."),
    "reference": Column("compared\nwith", "text", "People, by the judgments, or another judge."),
    "label_from": Column("label\nfrom", "threshold", "A label of this or more says relevant."),
    "relevant_from": Column("relevant\nfrom", "threshold", "Where relevance begins by the other."),
    "n": Column("documents", "count", "Documents with a label and a judgment, or with labels of both."),
    "n_relevant": Column("relevant", "count", "Relevant documents by the other."),
    "agreement": Column("agree-\nment", "chance", "Share of documents on which the two agree."),
    "agreement_lower": Column("from", "chance", "Lower end of its interval, over topics."),
    "agreement_upper": Column("to", "chance", "Upper end of that interval."),
    "kappa": Column("κ", "chance", "Cohen's κ, the agreement beyond chance."),
    "kappa_lower": Column("κ, from", "chance", "Lower end of its interval, over topics."),
    "kappa_upper": Column("κ, to", "chance", "Upper end of that interval."),
    "auc": Column("AUC", "chance", "Probability that a relevant document is labeled higher; ties half."),
    "auc_lower": Column("AUC,\nfrom", "chance", "Lower end of its interval, over topics."),
    "auc_upper": Column("AUC,\nto", "chance", "Upper end of that interval."),
}


@dataclass(frozen=True, eq=False, repr=False)
class LabelAgreement(Result):
    """Agreement of judges with people and each other from `bayespool.experiments.compare_judges`.

    Attributes
    ----------
    agreement : DataFrame
        One row for each judge and what it is compared with: people, then other judges.
    metadata : mapping
        Version and settings.
    """

    agreement: pd.DataFrame
    metadata: Mapping[str, Any]

    command = "judges"
    title = "Agreement of labels with judgments and with each other"

    def __repr__(self) -> str:
        return one_line("LabelAgreement", ", ".join(self.metadata["judges"]))

    def tables(self) -> tuple[Table, ...]:
        """Return the table of the agreement."""
        intervals = (IntervalColumn(f"{name}_lower", f"{name}_upper") for name in _NAMES)
        columns = [part for pair in zip(_NAMES, intervals, strict=True) for part in pair]
        names = ("judge", "reference", "label_from", "relevant_from")
        view = View(title=self.title, names=names, columns=("n", "n_relevant", *columns))
        return (Table("agreement", self.title, self.agreement, COLUMNS, (view,)),)

    def notes(self) -> tuple[Note, ...]:
        """Return notes on what the documents are, and on labels that may be copies."""
        rows = self.agreement.to_dict("records")
        notes = [
            f"{row['judge']} and {row['reference']} agree on all of {counted(row['n'], 'document')}: is one "
            "a copy of the other?"
            for row in rows
            if row["n"] >= _LEAST_COPIED and row["agreement"] == 1
        ]
        if any(row["reference"] == PEOPLE for row in rows):
            notes.append(
                "of all documents that are judged and labeled; labels are worth less on those that a new run "
                "leaves unjudged, which --pool and --organizations show"
            )
        return noted(notes, "judge")

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence on each pair."""
        return tuple(
            f"{row['judge']} agrees with {row['reference']} on {_with_ends(row, 'agreement')} of "
            f"{counted(row['n'], 'document')}; κ {_with_ends(row, 'kappa')}"
            for row in self.agreement.to_dict("records")
        )


def _with_ends(row: Mapping[Any, Any], name: str) -> str:
    value, lower, upper = (row[f"{name}{end}"] for end in ("", "_lower", "_upper"))
    return f"{number(value)} ({interval(lower, upper)})" if lower <= value else number(value)


def compare_judges(
    labels: Mapping[str, Labels | Sequence[Labels]],
    judgments: Qrels | None = None,
    measures: object = "P@10",
    *,
    ci_prob: float | None = None,
    random_seed: int = 1,
) -> LabelAgreement:
    """Compare labels of judges with judgments and with each other, on all documents that have both.

    Parameters
    ----------
    labels : mapping of str to Labels or sequence of Labels
        Labels by judge (`bayespool.reading.read_labels`); several of a judge that was asked several times,
        whose mean counts.
    judgments : Qrels, optional
        Judgments by people. Without them two judges or more are compared with each other.
    measures : measure, default "P@10"
        One, whose ``rel`` says what is relevant.
    ci_prob : float, optional
        Probability of the intervals, which are over topics.
    random_seed : int, default 1
        Random seed; the same inputs and seed give the same bytes.

    Returns
    -------
    LabelAgreement

    Raises
    ------
    InputError
        One judge and no judgments; no document that both have; labels of a judge that all say the same.

    Notes
    -----
    Labels say relevant as in `bayespool.audit_judges`, and intervals are those of `bayespool.check_judges`.

    Examples
    --------
    >>> from bayespool.reading import labels_from_frame, qrels_from_frame
    >>> labels = {"llm": labels_from_frame({"q": {"a": 1, "b": 0, "c": 1, "d": 0}})}
    >>> people = qrels_from_frame({"q": {"a": 1, "b": 0, "c": 0, "e": 1}})
    >>> compare_judges(labels, people).to_frame()[["n", "agreement", "kappa"]].round(3).values.tolist()
    [[3.0, 0.667, 0.4]]
    """
    check_count("random_seed", random_seed, least=0)
    prob, measure = fill_ci_prob(ci_prob), parse_sole_measure(measures)
    if judgments is None and len(labels) < 2:
        hint = "give --qrels, or a second --judge"
        raise InputError(f"{counted(len(labels), 'judge')} and no judgments to compare with", hint=hint)
    columns = labels_by_document(labels)
    cuts = {name: find_cut(Judge(name, column.to_numpy()), measure.rel) for name, column in columns.items()}
    rows = []
    if judgments is not None:
        judged = mean_by_document(judgments.query_id, judgments.doc_id, judgments.relevance)
        judged = judged[judged >= 0]
        for name, column in columns.items():
            pair = _joined(name, column, PEOPLE, judged)
            rows.append(_row(name, PEOPLE, pair, cuts[name], measure.rel, prob, random_seed))
    for (one, a), (other, b) in combinations(columns.items(), 2):
        pair = _joined(one, a, other, b)
        rows.append(_row(one, other, pair, cuts[one], cuts[other], prob, random_seed))
    settings = {"judges": list(columns), "measure": str(measure), "ci_prob": prob, "random_seed": random_seed}
    return LabelAgreement(pd.DataFrame(rows), {"bayespool": __version__, **settings})


def _joined(one: str, a: pd.Series[Any], other: str, b: pd.Series[Any]) -> pd.DataFrame:
    """Return the values of two on the documents that both have."""
    pair = pd.concat([a, b], axis=1, join="inner", keys=["label", "value"]).sort_index()
    if not len(pair):
        hint = "are these labels and judgments of the same topics and documents?"
        raise InputError(f"no document has a label of {one} and one of {other}", hint=hint)
    return pair


def _row(
    judge: str, reference: str, pair: pd.DataFrame, cut: float, rel: float, ci_prob: float, random_seed: int
) -> Row:
    topics, query_ids = pair.index.get_level_values(0).factorize()
    label, is_relevant = pair["label"].to_numpy(), (pair["value"] >= rel).to_numpy()
    grades = np.unique(label, return_inverse=True)[1]
    counts = np.zeros((len(query_ids), 2, grades.max() + 1), dtype=np.int64)
    np.add.at(counts, (topics, is_relevant.astype(int), grades), 1)
    times = draw_topics(len(query_ids), random_seed)
    sampled = np.einsum("st,trg->srg", times, counts)
    first = int(np.searchsorted(np.unique(label), cut))
    agreement, kappa = _agreement(sampled[..., :first].sum(axis=-1), sampled[..., first:].sum(axis=-1))
    ranked = auc(GradeCounts(Judge(judge, label), sampled[:, 1], sampled[:, 0]))
    intervals = TopicIntervals(len(query_ids), ci_prob)
    return {
        "judge": judge,
        "reference": reference,
        "label_from": cut,
        "relevant_from": float(rel),
        "n": len(pair),
        "n_relevant": int(is_relevant.sum()),
        **intervals.columns("agreement", agreement, is_chance=True),
        **intervals.columns("kappa", kappa),
        **intervals.columns("auc", ranked, is_chance=True),
        "ci_prob": ci_prob,
    }


def _agreement(below: FloatArray, above: FloatArray) -> Iterator[FloatArray]:
    """Yield agreement and κ, (sample,), by numbers of nonrelevant and relevant documents, (sample, 2)."""
    n = (below + above).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = (below[:, 0] + above[:, 1]) / n
        by_chance = (
            below.sum(axis=1) * (below + above)[:, 0] + above.sum(axis=1) * (below + above)[:, 1]
        ) / n**2
        yield observed
        yield (observed - by_chance) / (1 - by_chance)

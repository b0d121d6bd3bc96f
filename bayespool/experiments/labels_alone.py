"""Scores of runs by labels of judges where nobody has judged: no interval, and no claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import FloatArray, LevelArray, Progress
from bayespool.auditing.agreement import find_cut, kappa
from bayespool.auditing.designs import draw_design
from bayespool.collection import Collection, Judge
from bayespool.collection.collection import expect_collection
from bayespool.collection.judges import judge_where_labeled
from bayespool.collection.own import find_targets
from bayespool.collection.rankings import within
from bayespool.errors import InputError
from bayespool.evidence import score_bounds
from bayespool.experiments import label_agreement
from bayespool.measures.parsing import parse_measures
from bayespool.notes import Note
from bayespool.report.result import Result
from bayespool.tables.formatting import counted, number, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Table, View

SPREAD = "spread"
COLUMNS: Mapping[str, Column] = {
    **label_agreement.COLUMNS,
    SPREAD: Column("spread", "score", "The highest less the lowest of the judges' values: no interval."),
}


@dataclass(frozen=True, eq=False, repr=False)
class LabelScores(Result):
    """Values of runs by the labels of each judge from `score_labels`, as no person has judged.

    Attributes
    ----------
    values : DataFrame
        A row for each run and measure: a column for each judge, and ``spread``.
    agreement : DataFrame
        Cohen's κ of each two judges, by measure.
    needed : str
        How many answers of people bring what.
    metadata : mapping
        Version, fingerprint and settings.
    """

    values: pd.DataFrame
    agreement: pd.DataFrame
    needed: str
    metadata: Mapping[str, Any]

    command = "score"
    title = "What judges say of runs"
    begins_with_sentences = True

    def __repr__(self) -> str:
        return one_line("LabelScores", f"{some_of(self.metadata['runs'], 3)} by {self._judges}")

    @property
    def _judges(self) -> str:
        return some_of(self.metadata["judges"], 3)

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of values and of agreement."""
        judges = self.metadata["judges"]
        columns = {
            name: Column(name, "score", "The measure with its labels for judgments.") for name in judges
        }
        shown = (*judges, SPREAD) if len(judges) > 1 else tuple(judges)
        views = tuple(
            View(
                title=f"{measure} on {counted(self.metadata['n_topics'], 'topic')}, labels for judgments",
                names=("run_id",),
                columns=shown,
                where={"measure": measure},
            )
            for measure in self.metadata["measures"]
        )
        kappas = Table("agreement", "Agreement of judges with each other", self.agreement, COLUMNS)
        return Table("values", self.title, self.values, {**columns, **COLUMNS}, views), kappas

    def sentences(self) -> tuple[str, ...]:
        """Return what people's answers would bring, and how judges agree."""
        draw = "the command that draws them: bayespool audit RUNS --judge LABELS -m MEASURE -o design.txt"
        agreed = [
            f"{row['measure']}: {row['judge']} and {row['reference']} agree with κ {number(row['kappa'], 2)}"
            for row in self.agreement.to_dict("records")
        ]
        relevant = [
            f"{measure}: relevant are labels from "
            + ", ".join(f"{cut:g} ({judge})" for judge, cut in of.items())
            for measure, of in self.metadata["label_from"].items()
        ]
        return (self.needed, draw, *relevant, *agreed)

    def notes(self) -> tuple[Note, ...]:
        """Return notes that these are no estimates, and on documents without labels."""
        text = (
            "nobody judged a document: this is what labels say, not how good the runs are; judges that agree "
            "may err alike, so that their spread is no interval; topics without any label do not count"
        )
        missing = [f"{n:,} of {of:,} ({judge})" for judge, (n, of) in self.metadata["n_without"].items() if n]
        without = (
            "documents within the cutoff without a label, which count as not relevant: "
            f"{', '.join(missing)}; label these, too"
        )
        return (Note("judge", text), *([Note("judge", without)] if missing else []))


def score_labels(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    random_seed: int = 1,
    progress: Progress | None = None,
) -> LabelScores:
    """Evaluate runs with each judge's labels in place of judgments, where nobody has judged.

    Parameters
    ----------
    collection : Collection
        With labels (`bayespool.collection.add_judges`).
    run_ids : str or iterable of str, optional
        Default: as of `bayespool.score`.
    measures : measure or iterable of measures, default "P@10"
    random_seed : int, default 1
        That of the design that says how many answers are needed.
    progress : callable, optional
        Not called.

    Returns
    -------
    LabelScores

    Raises
    ------
    InputError
        No labels; unknown run; labels of a judge that all say the same.

    Notes
    -----
    Labels that are whole numbers and reach 2 stand for themselves. Of others those that say relevant stand
    for ``rel`` (`bayespool.audit_judges`). A document without a label counts as not relevant.

    Examples
    --------
    >>> from bayespool import read_collection
    >>> from bayespool.experiments import score_labels
    >>> run = {f"q{t}": {f"d{i}": 9 - i for i in range(9)} for t in range(20)}
    >>> judges = {
    ...     name: {f"q{t}": {f"d{i}": int(i < n) for i in range(9)} for t in range(20)}
    ...     for name, n in (("one", 4), ("two", 3))
    ... }
    >>> scores = score_labels(read_collection(None, run, judges=judges), measures="P@5")
    >>> scores.values[["one", "two", "spread"]].round(2).values.tolist()
    [[0.8, 0.6, 0.2]]
    >>> scores.agreement["kappa"].round(2).tolist()
    [0.77]
    """
    parsed = parse_measures(measures)
    expect_collection(collection)
    collection, targets, _ = find_targets(collection, run_ids)
    if not collection.judges:
        raise InputError("no labels", hint="--judge FILE, or judges=")
    values, agreement, needed, cuts = [], [], "", dict[str, dict[str, float]]()
    names = [judge.name for judge in collection.judges]
    for measure in parsed:
        cut = cuts[str(measure)] = {judge.name: _cut(judge, measure.rel) for judge in collection.judges}
        relevances = {j.name: _relevance(j, measure.rel, cut[j.name]) for j in collection.judges}
        columns: dict[str, Any] = {"run_id": list(targets), "measure": str(measure)}
        for judge in collection.judges:
            labeled = judge_where_labeled(collection, judge, relevances[judge.name])
            columns[judge.name] = score_bounds(labeled, targets, measure).low.means()
        by_judge = np.array([columns[name] for name in names])
        values.append(pd.DataFrame(columns | {SPREAD: by_judge.max(axis=0) - by_judge.min(axis=0)}))
        for one, other in combinations(collection.judges, 2):
            both = one.is_labeled & other.is_labeled
            says = [relevances[judge.name][both] >= measure.rel for judge in (one, other)]
            row = {"measure": str(measure), "judge": one.name, "reference": other.name, "n": int(both.sum())}
            agreement.append(row | {"kappa": kappa(*says)})
        if not needed:
            try:
                needed = draw_design(collection, targets, measure, random_seed=random_seed).needed
            except InputError as error:  # of measures without a design
                needed = str(error) if measure is parsed[-1] else ""
    top = within(collection.document, collection.run_index(targets), max(m.cutoff for m in parsed))
    retrieved = np.unique(top[top >= 0])
    return LabelScores(
        values=pd.concat(values, ignore_index=True),
        agreement=pd.DataFrame(agreement, columns=["measure", "judge", "reference", "n", "kappa"]),
        needed=needed,
        metadata={
            "bayespool": __version__,
            "fingerprint": collection.fingerprint,
            "measures": [str(measure) for measure in parsed],
            "runs": list(targets),
            "judges": names,
            "n_topics": len(collection.query_ids),
            "label_from": cuts,
            "n_without": {
                judge.name: (int((~judge.is_labeled[retrieved]).sum()), len(retrieved))
                for judge in collection.judges
            },
        },
    )


def _cut(judge: Judge, rel: int) -> float:
    """Return the smallest label that says relevant."""
    label = judge.label[judge.is_labeled]
    return float(rel) if _are_levels(label) else find_cut(Judge(judge.name, label), rel)


def _are_levels(label: FloatArray) -> bool:
    """Return whether labels are whole numbers that reach 2, which stand for themselves."""
    return bool((label == np.floor(label)).all() and label.max() >= 2)


def _relevance(judge: Judge, rel: int, cut: float) -> LevelArray:
    """Return the relevance that each label stands for, 0 without a label, shape (pair,)."""
    if _are_levels(judge.label[judge.is_labeled]):
        return np.nan_to_num(judge.label, nan=0).clip(min=0).astype(np.int16)
    return np.where(np.nan_to_num(judge.label, nan=-np.inf) >= cut, rel, 0).astype(np.int16)

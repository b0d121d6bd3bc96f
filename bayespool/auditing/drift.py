"""Drift of a judge: labels of two dates on documents that people judged, and on what else is labeled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import betainc, betaln, logsumexp

from bayespool import __version__
from bayespool.arrays import BoolArray, FloatArray
from bayespool.auditing.agreement import find_cut, kappa, mean_by_document
from bayespool.collection import Judge
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.measures.parsing import parse_sole_measure
from bayespool.notes import Note
from bayespool.randomness import document_keys
from bayespool.reading import Labels, Qrels
from bayespool.report.provenance import cited_by
from bayespool.report.result import Result
from bayespool.tables.citations import Citation, cite
from bayespool.tables.formatting import counted, number, percent
from bayespool.tables.markup import one_line
from bayespool.tables.table import Column, Table, View
from bayespool.validation import check_count, check_number

_RATES = 0.5, 5.0  # prior of the rate at which labels change: small rates are likelier
_EVEN = 0.5, 0.5  # prior of the share of changes that go one way
_BETS = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.95])  # shares of the capital
_TILTS = np.array([0.25, 0.5, 1.0, 2.0, 4.0, 8.0])  # bets on the sign of a topic's change, by its size
_LARGEST = 1e6  # evidence that is shown
COLUMNS = {
    "verdict": Column("drift", "text", "none, judge or system."),
    "n": Column("anchors", "count", "Documents that people judged, with labels of both dates."),
    "n_worse": Column(
        "now\nwrong", "count", "Anchors whose label agreed with people first, and does not later."
    ),
    "n_better": Column("now\nright", "count", "Anchors whose label agrees with people later, and did not."),
    "kappa_old": Column("κ,\nfirst", "chance", "Cohen's κ with people of the labels named first."),
    "kappa_new": Column("κ,\nlater", "chance", "Cohen's κ with people of the later labels."),
    "evidence_judge": Column("evidence:\njudge", "size", "That labels of anchors changed, 1e6 at most."),
    "n_topics": Column("topics", "count", "Topics of documents beside the anchors, each of one date alone."),
    "share_old": Column(
        "relevant,\nfirst", "chance", "Share of those of the first date that labels call so."
    ),
    "share_new": Column("relevant,\nlater", "chance", "Share of those of the later date."),
    "evidence_system": Column(
        "evidence:\nsystem", "size", "That this share changed more than anchors explain, 1e6 at most."
    ),
    "step": Column("step", "count", "Anchors so far, in the order of the answers."),
    "query_id": Column("topic", "text", "Topic of the anchor."),
    "doc_id": Column("document", "text", "The anchor."),
    "evidence_worse": Column("evidence:\nworse", "size", "That more changes are away from people."),
    "evidence_better": Column("evidence:\nbetter", "size", "That more changes are toward people."),
}
"""Columns of the tables of a `JudgeDrift`."""


@dataclass(frozen=True, eq=False, repr=False)
class JudgeDrift(Result):
    """Whether a judge changed between two dates, or what it judges, from `detect_drift`.

    Attributes
    ----------
    drift : DataFrame
        One row: the verdict, and what it rests on.
    steps : DataFrame
        One row for each anchor, with the evidence after it.
    metadata : mapping
        Version and settings.
    """

    drift: pd.DataFrame
    steps: pd.DataFrame
    metadata: Mapping[str, Any]

    command = "judges"
    title = "Drift of a judge between two dates"
    begins_with_sentences = True

    def __repr__(self) -> str:
        return one_line("JudgeDrift", f"{self.verdict}, {counted(len(self.steps), 'anchor')}")

    @property
    def verdict(self) -> str:
        """``judge``: its labels changed; ``system``: what it judges; ``none``: neither is shown."""
        return str(self.drift["verdict"][0])

    @property
    def needed(self) -> float:
        """Evidence that shows a change of the judge, or of the system."""
        return _needed(self.metadata["ci_prob"])

    @property
    def direction(self) -> str:
        """Return ``worse`` or ``better`` where changed labels show it, or nothing."""
        last = self.steps.iloc[-1]
        shown = [name for name in ("worse", "better") if last[f"evidence_{name}"] >= 2 * self.needed]
        return shown[0] if shown else ""

    def tables(self) -> tuple[Table, ...]:
        """Return tables of the verdict, and of the evidence after each anchor."""
        columns = tuple(name for name in COLUMNS if name in self.drift)
        view = View(title=self.title, names=("verdict",), columns=columns[1:])
        steps = Table("steps", "Evidence after each anchor", self.steps, COLUMNS)
        return Table("drift", self.title, self.drift, COLUMNS, (view,)), steps

    def notes(self) -> tuple[Note, ...]:
        """Return a note on anchors without labels."""
        if not (n := self.metadata["n_without"]):
            return ()
        return (Note("judge", f"{counted(n, 'anchor')} without a label of both dates, not counted"),)

    def sentences(self) -> tuple[str, ...]:
        """Return the verdict, what it rests on, and what to do."""
        row, (old, new) = self.drift.iloc[0], self.metadata["labels"]
        changed = f"{row['n_worse'] + row['n_better']:,} of {counted(int(row['n']), 'anchor')}"
        rate = self.metadata["repeat_rate"]
        same = (
            "one that is the same differs as often as from itself, asked twice"
            if rate is None
            else f"one that is the same differs on {percent(rate)} or less (--repeat-rate)"
        )
        evidence = {
            name: f"evidence {row[f'evidence_{name}']:.3g}; {self.needed:g} is enough"
            for name in ("judge", "system")
        }
        kappas = f"κ {number(row['kappa_old'], 2)} with people, then {number(row['kappa_new'], 2)}"
        labels = f"{old} and {new} differ on {changed}, and {same} ({evidence['judge']})"
        elsewhere = (
            "no document beside the anchors has a label of one date alone: of the system nothing is known"
        )
        if row["n_topics"]:
            elsewhere = (
                f"beside the anchors labels call {percent(row['share_old'])} relevant, then "
                f"{percent(row['share_new'])}, on {counted(int(row['n_topics']), 'topic')} "
                f"({evidence['system']})"
            )
        if self.verdict == "judge":
            way = f"is {self.direction}" if self.direction else "is not shown to be worse or better"
            return (
                f"the judge changed: {labels}",
                f"its agreement with people {way} ({kappas})",
                "scores by labels of the two dates cannot be compared: label all documents with one of them, "
                "or have people answer (bayespool audit RUNS --judge LABELS)",
            )
        if self.verdict == "system":
            return (f"what is judged changed, not the judge: {elsewhere}", f"{labels}; {kappas}")
        return (f"no drift is shown: {labels}; {kappas}", elsewhere)

    def citations(self) -> tuple[Citation, ...]:
        """Return citations for the tests and bayespool itself."""
        return cite([*cited_by(self.metadata), "ramdas-etal-2023", "waudby-smith-ramdas-2024"])


def detect_drift(
    labels: Mapping[str, Labels | Sequence[Labels]],
    anchors: Qrels,
    measures: object = "P@10",
    *,
    repeat_rate: float = 0.01,
    ci_prob: float | None = None,
    random_seed: int = 1,
) -> JudgeDrift:
    r"""Test whether a judge changed between two dates, or versions, or else what it judges.

    Parameters
    ----------
    labels : mapping of str to Labels or sequence of Labels
        Labels of the first date, and of the later one (`bayespool.reading.read_labels`). Two of the first
        date if the judge was asked twice.
    anchors : Qrels
        Judgments by people of a sample of documents that both dates label.
    measures : measure, default "P@10"
        One, whose ``rel`` says what is relevant.
    repeat_rate : float, default 0.01
        Share of documents on which a judge that is the same contradicts itself, at most. Not used where it
        was asked twice.
    ci_prob : float, optional
        Probability that no wrong verdict is ever given, however often one looks.
    random_seed : int, default 1
        Decides which documents of a topic count where one date has more.

    Returns
    -------
    JudgeDrift

    Raises
    ------
    InputError
        Other than two dates; no anchor with labels of both; labels that all say the same; a rate that is not
        between 0 and 1/2.

    Notes
    -----
    Labels say relevant as in `bayespool.audit_judges`. The *judge* is the same if its labels differ on an
    anchor with a probability of ε (``repeat_rate``) at most, in either direction alike. With d differences
    among n anchors, w of them away from people, the evidence is

    .. math::

        \int_{p > \varepsilon} \frac{p^d (1 - p)^{n - d}}{\varepsilon^d (1 - \varepsilon)^{n - d}}
        \,\mathrm{d}\pi(p) \cdot \int \frac{q^w (1 - q)^{d - w}}{2^{-d}} \,\mathrm{d}\rho(q)

    with the priors Beta(1/2, 5) and Beta(1/2, 1/2): a supermartingale that starts at 1, so that it ever
    reaches 2/α with a probability of at most α/2 (Ramdas et al. 2023). Asked twice, the later label is the
    odd one out of three in a third of the cases, whatever ε is; cases in which the odd one is right, and
    wrong, have a factor each. *Worse* and *better* bet on the direction of the differences.

    The *system* is the same if the share that labels call relevant changes by as much on other documents,
    topic by topic, as on the anchors. Bets against each change m on the anchors' mean (Waudby-Smith & Ramdas
    2024) times bets on the sign of the topics' changes less m, given their sizes, are the evidence against m;
    the least of them counts. As many documents of either date are compared on a topic.

    Examples
    --------
    >>> from bayespool.auditing import detect_drift
    >>> from bayespool.reading import labels_from_frame, qrels_from_frame
    >>> people = qrels_from_frame({"q": {f"d{i}": int(i % 4 == 0) for i in range(200)}})
    >>> old = labels_from_frame({"q": {f"d{i}": int(i % 4 == 0) for i in range(200)}})
    >>> new = labels_from_frame({"q": {f"d{i}": int(i % 4 == 0 or i % 10 == 1) for i in range(200)}})
    >>> drift = detect_drift({"may": old, "june": new}, people)
    >>> drift.verdict, drift.direction, int(drift.drift["n_worse"][0])
    ('judge', 'worse', 20)
    """
    check_number("repeat_rate", repeat_rate, above=0, below=0.5)
    check_count("random_seed", random_seed, least=0)
    prob, measure = fill_ci_prob(ci_prob), parse_sole_measure(measures)
    says, cut = _says_relevant(labels, measure.rel)
    people = mean_by_document(anchors.query_id, anchors.doc_id, anchors.relevance, sort=False)
    people = people[people >= 0] >= measure.rel
    judged = says.reindex(people.index)
    of = judged.dropna()
    if not len(of):
        hint = "are these labels and answers of the same topics and documents?"
        raise InputError("no anchor has a label of both dates", hint=hint)
    y, first, later, *again = (c.to_numpy(dtype=bool) for c in (people[of.index], *(of[n] for n in of)))
    steps = of.index.to_frame(index=False)
    steps.insert(0, "step", np.arange(len(of)) + 1)
    evidence = judge_evidence(y, first, later, again[0] if again else None, repeat_rate=repeat_rate)
    for name, log in evidence.items():
        steps[f"evidence_{name}"] = _shown(log)
    shares = _shares_by_topic(says["old"], says["new"], random_seed)
    log_system = system_evidence(later * 1.0 - first, shares[:, 1] - shares[:, 0])
    system, needed = float(_shown(log_system)), _needed(prob)
    is_changed = steps["evidence_judge"].iloc[-1] >= needed
    row = {
        "verdict": "judge" if is_changed else "system" if system >= needed else "none",
        "n": len(of),
        "n_worse": int(((first == y) & (later != y)).sum()),
        "n_better": int(((first != y) & (later == y)).sum()),
        "kappa_old": kappa(first, y),
        "kappa_new": kappa(later, y),
        "evidence_judge": steps["evidence_judge"].iloc[-1],
        "n_topics": len(shares),
        "share_old": shares[:, 0].mean() if len(shares) else np.nan,
        "share_new": shares[:, 1].mean() if len(shares) else np.nan,
        "evidence_system": system if len(shares) else np.nan,
    }
    settings = {
        "labels": list(labels),
        "measure": str(measure),
        "relevant_from": measure.rel,
        "label_from": cut,
        "repeat_rate": None if again else repeat_rate,
        "n_without": len(people) - len(of),
        "ci_prob": prob,
        "random_seed": random_seed,
    }
    return JudgeDrift(pd.DataFrame([row]), steps, {"bayespool": __version__, **settings})


def _needed(prob: float) -> float:
    """Return the evidence that shows a change: of the judge and of the system with half the error each."""
    return float(2 / (1 - prob))


def _shown(log: FloatArray | float) -> FloatArray:
    """Return evidence from its log, at most what is shown."""
    return np.exp(np.minimum(log, np.log(_LARGEST)))


def _says_relevant(labels: Mapping[str, Labels | Sequence[Labels]], rel: int) -> tuple[pd.DataFrame, float]:
    """Return whether labels say relevant, NaN without one, and from which one they do.

    Columns ``old``, ``new``, and ``again`` if the judge was asked twice.
    """
    given = [[one] if isinstance(one, Labels) else list(one) for one in labels.values()]
    if [len(one) for one in given] not in ([1, 1], [2, 1]):
        hint = "--judge may=FILE --judge june=FILE; the first date a second time if the judge was asked twice"
        raise InputError("anchors take labels of two dates of one judge", hint=hint)
    all_of = {"old": given[0][0], "new": given[1][0]} | ({"again": given[0][1]} if len(given[0]) > 1 else {})
    frame = pd.concat(
        {name: mean_by_document(of.query_id, of.doc_id, of.label) for name, of in all_of.items()}, axis=1
    )
    values = frame.to_numpy()
    cut = find_cut(Judge(" and ".join(labels), values[~np.isnan(values)]), rel)
    return (frame >= cut).astype(float).where(frame.notna()), cut


def _log_evidence(
    hits: FloatArray, n: FloatArray, rate: float, prior: tuple[float, float] = _EVEN, *, above: bool = False
) -> FloatArray:
    """Return the log of how much likelier a mixture of rates makes so many hits of n than the rate does.

    Of rates ``above`` alone it is a supermartingale under all rates that are not.
    """
    a, b = hits + prior[0], n - hits + prior[1]
    log = betaln(a, b) - betaln(*prior) - hits * np.log(rate) - (n - hits) * np.log1p(-rate)
    if above:
        with np.errstate(divide="ignore"):
            log += np.log(betainc(b, a, 1 - rate)) - np.log(betainc(*prior[::-1], 1 - rate))
    return np.asarray(log, dtype=float)


def judge_evidence(
    relevant: BoolArray,
    first: BoolArray,
    later: BoolArray,
    again: BoolArray | None = None,
    *,
    repeat_rate: float = 0.01,
) -> dict[str, FloatArray]:
    """Return logs of the evidence after each anchor that labels changed, are worse, and are better.

    Parameters
    ----------
    relevant, first, later : ndarray of bool, shape (anchor,)
        What people say, and labels of the two dates.
    again : ndarray of bool, optional
        Labels of the first date, asked a second time.
    repeat_rate : float, default 0.01

    Returns
    -------
    dict of str to ndarray of float, shape (anchor,)
        ``judge``, ``worse`` and ``better`` (`detect_drift`).
    """
    y = relevant
    worse, better = (
        np.cumsum(of, dtype=float) for of in ((first == y) & (later != y), (first != y) & (later == y))
    )
    n, both = np.arange(1, len(y) + 1, dtype=float), worse + better
    if again is None:
        log = _log_evidence(both, n, repeat_rate, _RATES, above=True) + _log_evidence(worse, both, 0.5)
    else:
        n_ones = first * 1 + again + later
        is_mixed, odd = (n_ones == 1) | (n_ones == 2), n_ones == 1  # what the odd label says
        log = np.zeros(len(y))
        for is_right in (True, False):
            of = is_mixed & ((odd == y) == is_right)
            log += _log_evidence(
                np.cumsum(of & (later == odd), dtype=float), np.cumsum(of, dtype=float), 1 / 3
            )
    ways = {
        name: _log_evidence(hits, both, 0.5, above=True)
        for name, hits in (("worse", worse), ("better", better))
    }
    return {"judge": log, **ways}


def _shares_by_topic(old: pd.Series[Any], new: pd.Series[Any], random_seed: int) -> FloatArray:
    """Return shares that labels call relevant, shape (topic, 2), of documents of one date alone.

    Topics without documents of both are compared in pairs, in their order.
    """
    dates: list[dict[str, dict[str, float]]] = [{}, {}]
    for by_topic, says, other in zip(dates, (old, new), (new, old), strict=True):
        alone = says[says.notna() & other.isna()]
        for (topic, doc), value in zip(alone.index.tolist(), alone.tolist(), strict=True):
            by_topic.setdefault(topic, {})[doc] = value
    shared = [(t, t) for t in dates[0] if t in dates[1]]
    rest = [[t for t in one if t not in other] for one, other in (dates, dates[::-1])]
    shares = []
    for pair in [*shared, *zip(*rest, strict=False)]:
        parts = [of[topic] for of, topic in zip(dates, pair, strict=True)]
        n = min(map(len, parts))
        drawn = [np.argsort(document_keys(random_seed, t, p))[:n] for t, p in zip(pair, parts, strict=True)]
        shares.append([np.array(list(p.values()))[at].mean() for p, at in zip(parts, drawn, strict=True)])
    return np.array(shares, dtype=float).reshape(-1, 2)


def system_evidence(moved: FloatArray, change: FloatArray) -> float:
    """Return the log of the evidence that shares changed otherwise than labels of anchors.

    Parameters
    ----------
    moved : ndarray of float, shape (anchor,)
        Later label less the first, of 0 and 1.
    change : ndarray of float, shape (topic,)
        Change of the share of relevant labels, of documents beside the anchors.

    Returns
    -------
    float
        0 without topics.
    """
    if not len(change):
        return 0.0
    near = [mean + np.linspace(-0.03, 0.03, 31) for mean in (moved.mean(), change.mean())]
    candidates = np.concatenate([np.linspace(-0.95, 0.95, 39), *near]).clip(-0.95, 0.95)
    sizes, times = np.unique(moved, return_counts=True)
    above = sizes[:, None] - candidates
    bets = [
        times @ np.log1p(share * sign * above / (1 + sign * candidates))
        for share in _BETS
        for sign in (1, -1)
    ]
    tilts = [tilt * (change[:, None] - candidates) for tilt in [*_TILTS, *-_TILTS]]
    signs = [(z - np.logaddexp(z, -z) + np.log(2)).sum(axis=0) for z in tilts]
    return float(np.min(sum(logsumexp(logs, axis=0) - np.log(len(logs)) for logs in (bets, signs))))

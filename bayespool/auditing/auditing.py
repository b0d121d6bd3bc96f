"""Audits: judgments drawn with known probabilities, and an interval that holds whatever a model believes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bayespool import __version__
from bayespool.arrays import FloatArray, IndexArray
from bayespool.auditing.sequences import Walk, capital, confidence_sequence, uniforms, walk
from bayespool.auditing.tables import DOCUMENTS, REFUTING, STEPS, Foretold, foretell
from bayespool.auditing.urns import Urn
from bayespool.collection import Collection, Qrels
from bayespool.collection.own import noted
from bayespool.collection.records import relevance_codes
from bayespool.collection.writers import qrels_content
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.report.result import Figure, cited_by
from bayespool.scoring.judging_influence import ListForAssessors
from bayespool.tables.citations import Citation, cite
from bayespool.tables.files import digest
from bayespool.tables.formatting import counted, interval, level, number, p_value
from bayespool.tables.markup import one_line
from bayespool.tables.table import Ends, Table, View

URN_NUMBERS = ("base_low", "base_high", "least", "most", "mean", "std")
"""Numbers of an urn that its table does not have."""
_N_SHOWN = 20  # steps
ROUNDING = 1e-9
_IN_HINDSIGHT = (
    "posteriors take the judgments as evidence now, and may still be wrong where nothing is judged"
)


@dataclass(frozen=True, eq=False, repr=False)
class Audit(ListForAssessors):
    """Documents drawn for judgment, and what their judgments prove; made by `bayespool.audit`.

    Attributes
    ----------
    urn : Urn
        The documents that are drawn from.
    run_ids : tuple of str
        The run, or two runs whose difference is audited, the first less the second.
    measure : str
    relevance : ndarray of int, shape (document,)
        Relevance of each document of the urn, −1 for one that is not judged.
    known : ndarray of int, shape (step,)
        Number of judgments that were known when each document was drawn.
    random_seed : int
    ci_prob : float
        Probability that no interval misses the value.
    until : float or None
        Width at which judging may stop.
    size : ndarray of float, shape (document,), optional
        How much a document matters for what is drawn, where the draws serve more than this audit.
    details : dict
        Fingerprint, pool, estimator: more of the metadata.
    """

    urn: Urn
    run_ids: tuple[str, ...]
    measure: str
    relevance: IndexArray
    known: IndexArray
    random_seed: int
    ci_prob: float
    until: float | None
    details: dict[str, Any]
    size: FloatArray | None = None

    command = "audit"
    title = "Audit"

    def __len__(self) -> int:
        return len(self.known)

    def __repr__(self) -> str:
        text = f"{self.measure} of {self.name}, {counted(self.n_judged, 'judgment')}, {self._interval_text()}"
        return one_line("Audit", text)

    @property
    def name(self) -> str:
        """The run, or the difference of two."""
        return " − ".join(self.run_ids)

    @cached_property
    def worth(self) -> FloatArray:
        """Worth of each document, NaN for one that is not judged, shape (document,)."""
        by_relevance = np.append(self.urn.worth, np.nan)
        return np.asarray(by_relevance[np.minimum(self.relevance, len(self.urn.worth) - 1)])

    @cached_property
    def walked(self) -> Walk:
        """The documents drawn, in their order, and the payoffs of those that are judged."""
        return walk(
            self.urn.low,
            self.urn.high,
            self.urn.chance,
            self.worth,
            self.known,
            uniforms(self.random_seed, len(self.known)),
            self.size,
        )

    @property
    def n_judged(self) -> int:
        """Judged steps before the first document that is not judged."""
        return len(self.walked.low)

    @cached_property
    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """Ends of the guaranteed interval after each judged step, each of shape (judged step,)."""
        u = self.urn
        return confidence_sequence(self.walked, u.least, u.most, u.base_low, u.base_high, self.ci_prob)

    @property
    def interval(self) -> tuple[float, float]:
        """The guaranteed interval now: the value's bounds before the first judgment."""
        if not self.n_judged:
            return self.urn.least, self.urn.most
        low, high = self.intervals
        return float(low[-1]), float(high[-1])

    @property
    def width(self) -> float:
        """Width of `interval`."""
        return self.interval[1] - self.interval[0]

    @cached_property
    def estimates(self) -> FloatArray:
        """Design-based estimate after each judged step, within the interval, shape (judged step,).

        A mean of posterior means corrected by weighted residuals, in which a step with n documents still open
        weighs 1/n².
        """
        u, n = self.urn, self.n_judged
        payoff = (u.base_low + self.walked.low + u.base_high + self.walked.high) / 2
        weight = 1.0 / np.arange(len(u), len(u) - n, -1.0) ** 2
        return np.asarray(np.clip(np.cumsum(weight * payoff) / np.cumsum(weight), *self.intervals))

    @cached_property
    def foretold(self) -> Foretold:
        """What the posterior says after each judged step."""
        chosen = self.walked.chosen[: self.n_judged]
        return foretell(self.urn, chosen, self.worth[chosen])

    @property
    def evidence(self) -> float:
        """The largest evidence against the posterior so far; the posterior is refuted from 100."""
        return float(self.foretold.evidence.max(initial=1.0))

    @property
    def looseness(self) -> float:
        """Expected distance of the two sums that the value lies between; 0 for a sum of gains."""
        u = self.urn
        return float(u.base_high - u.base_low + (u.high - u.low) @ u.chance)

    @property
    def p_values(self) -> tuple[float, float]:
        """P-values, valid at any time, of the value being at most 0 and at least 0.

        They are 0 where what is judged leaves no such value.
        """
        u, w = self.urn, self.walked
        least = max([u.least, *(u.base_low + w.floor[-1:])])
        most = min([u.most, *(u.base_high + w.ceiling[-1:])])
        against_less = capital(w.low, w.least, -u.base_low).max(initial=1.0)
        against_more = capital(-w.high, -w.most, u.base_high).max(initial=1.0)
        return (
            0.0 if least > ROUNDING else float(1 / against_less),
            0.0 if most < -ROUNDING else float(1 / against_more),
        )

    @property
    def is_done(self) -> bool:
        """Whether judging may stop: the interval is narrow enough, or everything is judged."""
        return self.n_judged == len(self.urn) or (self.until is not None and self.width <= self.until)

    def go_on(self, qrels: Qrels, budget: int | None = None, until: float | None = None) -> Audit:
        """The audit with more judgments, and with documents drawn until as many wait as ``budget`` says.

        Parameters
        ----------
        qrels : Qrels
            Judgments of documents that were drawn; −1 for one that waits.
        budget : int, optional
            Drawn documents that are to wait for judgment; none once `is_done`. Default: as before.
        until : float, optional
            Width at which judging may stop. Default: as before.

        Raises
        ------
        InputError
            A document has another relevance than before, or a higher one than the measure knows.

        Warns
        -----
        InputWarning
            Judgments of documents that were not drawn are passed over; or none is new.
        """
        budget, until = next_round(self.known, self.until, budget, until)
        return dataclasses.replace(self, relevance=self.with_judgments(qrels), until=until).drawn(budget)

    def with_judgments(self, qrels: Qrels) -> IndexArray:
        """Relevance of each document, −1 without a judgment, with those of a list; shape (document,)."""
        drawn = {(self.urn.query_ids[i], self.urn.doc_ids[i]): int(i) for i in self.walked.chosen.tolist()}
        relevance = self.relevance.copy()
        codes, _ = relevance_codes(qrels.relevance, "listed")
        lines = zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), codes.tolist(), strict=True)
        n_others = 0
        for query_id, doc_id, code in lines:
            if code < 0:
                continue
            i = drawn.get((query_id, doc_id))
            if i is None:
                n_others += 1
                continue
            if relevance[i] not in (-1, code):
                raise InputError(
                    f"topic {query_id}: document {doc_id} has relevance {code}, and {relevance[i]} before",
                    path=qrels.path,
                    hint="an audit keeps its judgments; to correct one go on from the certificate before it",
                )
            if code >= len(self.urn.worth) and self._is_graded:
                raise InputError(
                    f"topic {query_id}: document {doc_id} has relevance {code}, and the audit was planned "
                    f"for at most {len(self.urn.worth) - 1}",
                    path=qrels.path,
                )
            relevance[i] = code
        if n_others:
            warn_caller(
                f"{qrels.path or 'judgments'}: {counted(n_others, 'judgment')} passed over, of documents "
                "that this audit has not drawn; each list goes with the certificate that was written with it",
                InputWarning,
            )
        waits = (relevance[self.walked.chosen] < 0).any()
        if waits and not n_others and np.array_equal(relevance, self.relevance):
            warn_caller(
                f"{qrels.path or 'judgments'}: no judgment is new; replace each −1 by the assessor's answer, "
                "from the top",
                InputWarning,
            )
        return relevance

    def drawn(self, budget: int) -> Audit:
        """The audit with documents drawn until as many wait for judgment; itself once it is done."""
        n = min(self.n_judged + budget, len(self.urn))
        if self.is_done or n <= len(self.known):
            return self
        more = np.full(n - len(self.known), self.n_judged, dtype=np.int64)
        return dataclasses.replace(self, known=np.append(self.known, more))

    def inform(self, collection: Collection, *, path: Path | None = None) -> Collection:
        """The collection with the audit's judgments as the user's own, which posteriors take as evidence.

        If they refute the posterior without them, a note says so in every result of the collection.

        Parameters
        ----------
        collection : Collection
            Of the same topics and documents.
        path : Path, optional
            The certificate, which messages name.

        Raises
        ------
        InputError
            Nothing is judged, or nothing of use (`Collection.add_judgments`).

        Examples
        --------
        >>> from bayespool import audit, load_example
        >>> from bayespool.collection import qrels_from_frame
        >>> example = load_example()
        >>> found = audit(example, "new-b", "P@10", budget=1, estimator="posterior-ratio", draws=100)
        >>> (topic,), (document,) = found.to_frame("steps")[["query_id", "doc_id"]].to_numpy().T
        >>> found = found.go_on(qrels_from_frame({topic: {document: 1}}))
        >>> int(found.inform(example).is_own.sum())
        1
        """
        return informed(collection, self.qrels(), (self.refutation,), path)

    @property
    def refutation(self) -> str:
        """That the posterior is refuted, with what is guaranteed; empty where it is not."""
        if self.evidence < REFUTING:
            return ""
        return (
            f"{self.measure} of {self.name}: an audit's judgments refute the posterior without them "
            f"(evidence {self.evidence:.3g}, and {REFUTING:g} is enough); {self._interval_text()} is "
            f"guaranteed at {level(self.ci_prob)}"
        )

    @property
    def _is_graded(self) -> bool:
        return len(set(self.urn.worth)) > 2

    # --- what it says ---

    @property
    def metadata(self) -> dict[str, Any]:  # type: ignore[override]
        """Version, fingerprint and settings, with all that `bayespool.read_audit` verifies."""
        u, settings = self.urn, [self.ci_prob, self.until, self.details]
        return {
            "bayespool": __version__,
            **self.details,
            "measure": self.measure,
            "runs": list(self.run_ids),
            "random_seed": self.random_seed,
            "ci_prob": self.ci_prob,
            "until": self.until,
            "urn": {name: getattr(u, name) for name in URN_NUMBERS} | {"worth": list(u.worth)},
            "urn_digest": digest(self.urn_text()),
            "digest": digest(
                json.dumps([self.urn_text(), self.relevance.tolist(), self.known.tolist(), settings])
            ),
            "interval": list(self.interval),
            "looseness": self.looseness,
            "evidence_against_posterior": self.evidence,
            "n_judged": self.n_judged,
            "is_done": self.is_done,
        }

    def urn_text(self) -> str:
        """Urn, runs, measure and seed as text: all that decides what is drawn before any judgment."""
        values = (getattr(self.urn, field.name) for field in dataclasses.fields(Urn))
        plain = [v.tolist() if isinstance(v, np.ndarray) else v for v in values]
        return json.dumps([plain, self.run_ids, self.measure, self.random_seed])

    def tables(self) -> tuple[Table, ...]:
        """One row per document drawn; all documents that could be."""
        import pandas as pd

        u, w, n = self.urn, self.walked, self.n_judged
        steps = np.arange(len(self)) + 1
        posterior_lower, posterior_upper = self.posterior_ends()
        after = {
            "estimate": self.estimates,
            "lower": self.intervals[0],
            "upper": self.intervals[1],
            "posterior": self.foretold.mean,
            "posterior_lower": posterior_lower,
            "posterior_upper": posterior_upper,
            "evidence": self.foretold.evidence,
        }
        waiting = np.full(len(self) - n, np.nan)
        drawn = pd.DataFrame(
            {
                "step": steps,
                "query_id": [u.query_ids[i] for i in w.chosen],
                "doc_id": [u.doc_ids[i] for i in w.chosen],
                "known": self.known,
                "probability": w.probability,
                "relevance": self.relevance[w.chosen],
                "is_judged": steps <= n,
                **{name: np.append(values, waiting) for name, values in after.items()},
            }
        )
        names, about = ("step", "query_id", "doc_id"), f"{self.measure} of {self.name}"
        posterior = Ends("posterior_lower", "posterior_upper", "posterior\n{level}", signed=self._is_pair)
        judged = View(
            title=f"{about}: after each judgment, the newest first",
            names=names,
            columns=(
                "probability",
                "relevance",
                "estimate",
                Ends(label="guaranteed\n{level}", signed=self._is_pair),
                posterior,
                "evidence",
            ),
            where={"is_judged": True},
            sort="-step",
            top=_N_SHOWN,
            spare=("evidence", "probability"),
        )
        waits = View(
            title=f"{about}: documents to judge, in this order",
            names=names,
            columns=("probability",),
            where={"is_judged": False},
            top=_N_SHOWN,
        )
        drawn["ci_prob"] = self.ci_prob
        documents = pd.DataFrame(
            {
                "query_id": u.query_ids,
                "doc_id": u.doc_ids,
                **{name: getattr(u, name) for name in ("low", "high", "chance", "spread", "shared")},
                "relevance": self.relevance,
            }
        )
        views = (*([judged] if n else []), *([waits] if n < len(self) and not self.is_done else []))
        return (
            Table("steps", "Documents drawn, and what each judgment proves", drawn, STEPS, views),
            Table("documents", "Documents that are drawn from", documents, DOCUMENTS),
        )

    def posterior_ends(self) -> tuple[FloatArray, FloatArray]:
        """Ends of the posterior's interval after each judged step, each of shape (judged step,)."""
        u, w, half = self.urn, self.walked, self._z * self.foretold.std
        least = np.maximum(u.base_low + w.floor, u.least)
        most = np.minimum(u.base_high + w.ceiling, u.most)
        return np.clip(self.foretold.mean - half, least, most), np.clip(
            self.foretold.mean + half, least, most
        )

    @property
    def _z(self) -> float:
        from scipy.special import ndtri

        return float(ndtri((1 + self.ci_prob) / 2))

    @property
    def _is_pair(self) -> bool:
        return len(self.run_ids) == 2

    def _interval_text(self) -> str:
        return interval(*self.interval, signed=self._is_pair)

    def qrels(self) -> Qrels:
        """Documents in the order in which they were drawn, with relevance −1 where nobody judged."""
        chosen = self.walked.chosen.tolist()
        topics = pa.array([self.urn.query_ids[i] for i in chosen], pa.string()).dictionary_encode()
        doc_ids = pa.array([self.urn.doc_ids[i] for i in chosen], pa.string())
        return Qrels(topics, doc_ids, self.relevance[chosen].astype(np.int16))

    def in_format(self, suffix: str) -> bytes:
        """List in qrels format, with probabilities in the second column, compressed for ``.gz``."""
        second = [f"{p:.6g}" for p in self.walked.probability]
        return qrels_content(self.qrels(), f"list{suffix}", second=second)

    def notes(self) -> tuple[str, ...]:
        """The pool's; whether nothing is left, or the posterior is refuted; the interval; what waits."""
        notes = list(self.details.get("pool_notes", ()))
        if self.width < -ROUNDING:
            notes.append(
                "no value is left, as the lower end is above the upper: the interval missed, which it does "
                "so often by chance, or judgments depended on what was drawn"
            )
        if self.evidence >= REFUTING:
            notes.append(
                f"the judgments refute the posterior (evidence {self.evidence:.3g}, and {REFUTING:g} is "
                "enough): do not rely on its interval; the guaranteed one holds"
            )
        if self.looseness > 1e-6:
            notes.append(
                f"{self.measure} is no sum of gains: the guaranteed interval lies around two sums, expected "
                f"to be {number(self.looseness)} apart, and gets no narrower than their distance"
            )
        waiting = int(np.isfinite(self.worth).sum()) - self.n_judged
        if waiting:
            notes.append(
                f"{counted(waiting, 'judgment')} count only when the documents drawn before are judged"
            )
        return tuple(notes)

    def summary(self) -> tuple[str, ...]:
        """The interval, the posterior's, order of a pair, when to stop."""
        u, n = self.urn, self.n_judged
        about = f"{self.measure} of {self.name}"
        proven = "the bounds, before any judgment"
        if n:
            estimate = number(float(self.estimates[-1]))
            proven = f"guaranteed at {level(self.ci_prob)} by {counted(n, 'judgment')}; estimate {estimate}"
        sentences = [f"{about}: {self._interval_text()}, {proven}"]
        mean = float(self.foretold.mean[-1]) if n else u.mean
        half = self._z * u.std
        ends = [max(u.mean - half, u.least), min(u.mean + half, u.most)]
        if n:
            ends = [float(each[-1]) for each in self.posterior_ends()]
        believed = interval(ends[0], ends[1], signed=self._is_pair)
        sentences.append(f"the posterior says {number(mean)} ({believed}), if it is right")
        if self._is_pair and n:
            less, more = self.p_values
            a, b = self.run_ids
            sentences.append(
                f"{a} is better than {b}: p {p_value(less)}; worse: p {p_value(more)}; at any time"
            )
        waiting = len(self) - n
        if self.is_done:
            why = "all is judged" if n == len(u) else f"a width of at most {self.until:g} is reached"
            sentences.append(f"stop: {why} ({number(self.width)})")
        elif waiting:
            of = counted(len(u), "unjudged document")
            sentences.append(f"to judge, in this order: {counted(waiting, 'document')} of {of}")
        sentences.append(f"seed {self.random_seed}, digest of what is drawn from {digest(self.urn_text())}")
        return tuple(sentences)

    def figures(self) -> tuple[Figure, ...]:
        """Intervals by the number of judgments."""
        from bayespool.plots import plot_audit

        caption = f"{self.measure} of {self.name}: what is guaranteed after each judgment"
        return (Figure("audit", caption, lambda: plot_audit(self).figure),)

    def citations(self) -> tuple[Citation, ...]:
        """What to cite for the interval, the posterior, and bayespool itself."""
        return cite([*cited_by(self.metadata), "shekhar-etal-2023", "waudby-smith-ramdas-2024"])


def informed(
    collection: Collection, qrels: Qrels, refutations: Iterable[str], path: Path | None
) -> Collection:
    """The collection with an audit's judgments, and a note of each refutation that is not empty."""
    collection = collection.remember_judgments(dataclasses.replace(qrels, path=path))
    for refutation in filter(None, refutations):
        collection = noted(collection, f"{refutation}; {_IN_HINDSIGHT}")
    return collection


def next_round(
    known: IndexArray, last_until: float | None, budget: int | None, until: float | None
) -> tuple[int, float | None]:
    """Documents that are to wait in the next round, and the width that ends it, by default as before.

    At first 50 are to wait; an `InputError` for a round that draws nothing, or that no width ends.
    """
    if budget is None:
        budget = int(len(known) - known[-1]) if len(known) else 50
    if budget < 1 or (until is not None and until <= 0):
        raise InputError(
            f"budget {budget}, until {until}", hint="draw one document or more, until a width above 0"
        )
    return budget, last_until if until is None else until

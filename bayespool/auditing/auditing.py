"""Audits: judgments drawn with known probabilities, and an interval that holds whatever a model believes."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bayespool import __version__
from bayespool.arrays import FloatArray, IndexArray
from bayespool.auditing.differences import (
    DIFFERENCES,
    DOCUMENTS,
    REFUTING,
    ROUNDING,
    STEPS,
    URN_NUMBERS,
    AuditedDifference,
)
from bayespool.auditing.urns import Urn
from bayespool.collection import Collection, Qrels
from bayespool.collection.own import add_note
from bayespool.collection.records import relevance_codes
from bayespool.collection.writers import qrels_content
from bayespool.errors import InputError, InputWarning, renamed_attributes, warn_caller
from bayespool.report.result import Figure, cited_by
from bayespool.scoring.judging_influence import ListForAssessors
from bayespool.tables.citations import Citation, cite
from bayespool.tables.files import digest
from bayespool.tables.formatting import counted, interval, level, number, p_value
from bayespool.tables.markup import one_line
from bayespool.tables.table import IntervalColumn, Table, View

_DEFAULT_BUDGET = 50  # documents of the first round
_N_SHOWN = 20  # steps
_IN_HINDSIGHT = (
    "posteriors take the judgments as evidence now, and may still be wrong where nothing is judged"
)


@renamed_attributes(go_on="continue_with", inform="apply_to", looseness="expected_gap", audits="differences")
@dataclass(frozen=True, eq=False, repr=False)
class Audit(ListForAssessors):
    """Audit from `bayespool.audit`: documents sampled for judgment and the guarantees from their judgments.

    A run is audited, the difference of two, or whether the leader of several is the best. The leader is the
    run of the best posterior mean, chosen before any judgment. Its difference with each of the other k runs
    is audited on the same draws, each at the level 1 − (1 − ``ci_prob``)/k, so that all intervals hold
    together.

    Attributes
    ----------
    urns : tuple of Urn
        Of each difference, all of the same documents.
    run_ids : tuple of str
        The run; two runs, the first less the second; or the leader and the other runs.
    measure : str
    relevance : ndarray of int, shape (document,)
        Relevance of each document of the urns, −1 for one that is not judged.
    n_known : ndarray of int, shape (step,)
        Number of judgments that were known when each document was drawn.
    random_seed : int
    ci_prob : float
        Probability that no interval of any difference misses its value.
    until : float or None
        Width at which judging may stop.
    details : dict
        Fingerprint, pool, estimator: more of the metadata.
    """

    urns: tuple[Urn, ...]
    run_ids: tuple[str, ...]
    measure: str
    relevance: IndexArray
    n_known: IndexArray
    random_seed: int
    ci_prob: float
    until: float | None
    details: dict[str, Any]

    command = "audit"
    title = "Audit"

    def __len__(self) -> int:
        return len(self.n_known)

    def __repr__(self) -> str:
        intervals = "" if self._has_leader else f", {self.differences[0].interval_text()}"
        return one_line("Audit", f"{self._about}, {counted(self.n_judged, 'judgment')}{intervals}")

    @property
    def name(self) -> str:
        """Name of the run, of the difference between two runs, or of the leader and its rivals."""
        n = len(self.run_ids) - 1
        return f"{self.run_ids[0]} and {n} other runs" if self._has_leader else " − ".join(self.run_ids)

    @cached_property
    def differences(self) -> tuple[AuditedDifference, ...]:
        """Differences between the first run and each other run, or the value of a single run.

        All draw the same documents: by the sum of what they add to the differences, without sign.
        """
        size = np.sum([np.maximum(np.abs(urn.low), np.abs(urn.high)) for urn in self.urns], axis=0)
        return tuple(
            AuditedDifference(
                urn=urn,
                run_ids=(self.run_ids[0], *self.run_ids[i : i + 1]),
                relevance=self.relevance,
                n_known=self.n_known,
                random_seed=self.random_seed,
                ci_prob=self.ci_prob,
                n_differences=len(self.urns),
                size=size,
            )
            for i, urn in enumerate(self.urns, start=1)
        )

    @property
    def n_judged(self) -> int:
        """Number of sampling steps judged before the first document without a judgment."""
        return self.differences[0].n_judged

    @property
    def urn(self) -> Urn:
        """Urn for the first difference."""
        return self.urns[0]

    @property
    def interval(self) -> tuple[float, float]:
        """Guaranteed interval for the first difference."""
        return self.differences[0].interval

    @property
    def estimates(self) -> FloatArray:
        """Estimate of the first difference after each judged step, shape (judged step,)."""
        return self.differences[0].estimates

    @property
    def evidence(self) -> float:
        """Largest evidence against the posterior so far; 100 or more refutes the posterior.

        At each step the mean over differences: a mean of martingales is one, so that the number of runs
        changes nothing.
        """
        return float(np.mean([each.forecast.evidence for each in self.differences], axis=0).max(initial=1.0))

    @property
    def expected_gap(self) -> float:
        """Largest expected gap between the lower and upper sums that bound a value. 0 for a measure that is a
        sum of gains.
        """
        return max(each.expected_gap for each in self.differences)

    @property
    def p_values(self) -> tuple[float, float]:
        """Anytime-valid p-values for the first difference being at most 0 and at least 0."""
        return self.differences[0].p_values

    @property
    def leader_is(self) -> dict[str, str]:
        """Guarantee for the first run against each other run: ``better``, ``worse``, ``equal`` or ``open``.

        Runs with the same documents are equal from the first judgment on.
        """
        return {each.run_ids[-1]: each.verdict for each in self.differences if each.is_pair}

    @property
    def is_done(self) -> bool:
        """Whether judging may stop: everything is judged, or each interval is narrow enough or decided.

        The difference of a leader may also have a sign.
        """
        return self.n_judged == len(self.urn) or all(
            (self.until is not None and each.width <= self.until)
            or (self._has_leader and each.verdict != "open")
            for each in self.differences
        )

    @property
    def is_refuting(self) -> bool:
        """Whether the judgments refute the posterior."""
        return self.evidence >= REFUTING

    @property
    def _has_leader(self) -> bool:
        return len(self.run_ids) > 2

    @property
    def _about(self) -> str:
        return f"{self.measure} of {self.name}"

    # --- rounds of judging ---

    def continue_with(self, qrels: Qrels, budget: int | None = None, until: float | None = None) -> Audit:
        """Add judgments, and sample documents until ``budget`` documents wait for judgment.

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
        if budget is None:
            budget = int(len(self) - self.n_known[-1]) if len(self) else _DEFAULT_BUDGET
        if budget < 1 or (until is not None and until <= 0):
            raise InputError(
                f"budget {budget}, until {until}", hint="draw one document or more, until a width above 0"
            )
        until = self.until if until is None else until
        judged = dataclasses.replace(self, relevance=self._relevance_with(qrels), until=until)
        return judged.draw_documents(budget)

    def _relevance_with(self, qrels: Qrels) -> IndexArray:
        """Return the relevance of each document after adding judgments from a list, shape (document,)."""
        documents = self.differences[0].walked.documents
        places = {(self.urn.query_ids[i], self.urn.doc_ids[i]): i for i in documents.tolist()}
        highest = len(self.urn.worth) - 1
        relevance, n_others = self.relevance.copy(), 0
        codes, _ = relevance_codes(qrels.relevance, "listed")
        lines = zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), codes.tolist(), strict=True)
        for query_id, doc_id, code in lines:
            i, fault, hint = places.get((query_id, doc_id)), "", ""
            if code < 0 or i is None:
                n_others += code >= 0
                continue
            if relevance[i] not in (-1, code):
                fault = f"{relevance[i]} before"
                hint = "an audit keeps its judgments; to correct one go on from the certificate before it"
            elif code > highest and len(set(self.urn.worth)) > 2:
                fault = f"the audit was planned for at most {highest}"
            if fault:
                reason = f"topic {query_id}: document {doc_id} has relevance {code}, and {fault}"
                raise InputError(reason, path=qrels.path, hint=hint)
            relevance[i] = code
        if n_others:
            warn_caller(
                f"{qrels.path or 'judgments'}: {counted(n_others, 'judgment')} passed over, of documents "
                "that this audit has not drawn; each list goes with the certificate that was written with it",
                InputWarning,
            )
        is_pending = (relevance[documents] < 0).any()
        if is_pending and not n_others and np.array_equal(relevance, self.relevance):
            warn_caller(
                f"{qrels.path or 'judgments'}: no judgment is new; replace each −1 by the assessor's answer, "
                "from the top",
                InputWarning,
            )
        return relevance

    def draw_documents(self, budget: int) -> Audit:
        """Sample documents until ``budget`` documents wait for judgment; none once the audit is done."""
        n_more = min(self.n_judged + budget, len(self.urn)) - len(self)
        if self.is_done or n_more <= 0:
            return self
        more = np.full(n_more, self.n_judged, dtype=np.int64)
        return dataclasses.replace(self, n_known=np.append(self.n_known, more))

    def apply_to(self, collection: Collection, *, path: Path | None = None) -> Collection:
        """Return the collection with the audit's judgments added as the user's own judgments.

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
        >>> planned = audit(example, "new-b", "P@10", budget=1, posterior="posterior-ratio(draws=100)")
        >>> (topic,), (document,) = planned.to_frame("steps")[["query_id", "doc_id"]].to_numpy().T
        >>> judged = planned.continue_with(qrels_from_frame({topic: {document: 1}}))
        >>> int(judged.apply_to(example).is_own.sum())
        1
        """
        collection = collection.attach_judgments(dataclasses.replace(self.qrels(), path=path))
        if not self.is_refuting:
            return collection
        guaranteed = f"{self.differences[0].interval_text()} is guaranteed at"
        if self._has_leader:
            guaranteed = "its certificate has the intervals that are guaranteed at"
        return add_note(
            collection,
            f"{self._about}: an audit's judgments refute the posterior without them (evidence "
            f"{self.evidence:.3g}, and {REFUTING:g} is enough); {guaranteed} {level(self.ci_prob)}; "
            f"{_IN_HINDSIGHT}",
        )

    # --- the result ---

    @property
    def metadata(self) -> dict[str, Any]:  # type: ignore[override]
        """Metadata with version, fingerprint, settings and all data verified in `bayespool.read_audit`."""
        settings = [self.ci_prob, self.until, self.details]
        urns = [
            {name: getattr(urn, name) for name in URN_NUMBERS} | {"worth": list(urn.worth)}
            for urn in self.urns
        ]
        return {
            "bayespool": __version__,
            **self.details,
            "measure": self.measure,
            "runs": list(self.run_ids),
            "random_seed": self.random_seed,
            "ci_prob": self.ci_prob,
            "until": self.until,
            **({"urns": urns} if self._has_leader else {"urn": urns[0]}),
            "urn_digest": digest(self.urn_text()),
            "digest": digest(
                json.dumps([self.urn_text(), self.relevance.tolist(), self.n_known.tolist(), settings])
            ),
            "interval": [end for each in self.differences for end in each.interval],
            "looseness": self.expected_gap,
            "evidence_against_posterior": self.evidence,
            "n_judged": self.n_judged,
            "is_done": self.is_done,
        }

    def urn_text(self) -> str:
        """Return the urns, runs, measure and seed that determine the sampling, as text."""
        texts = []
        for each in self.differences:
            values = (getattr(each.urn, field.name) for field in dataclasses.fields(Urn))
            plain = [v.tolist() if isinstance(v, np.ndarray) else v for v in values]
            texts.append(json.dumps([plain, each.run_ids, self.measure, self.random_seed]))
        return json.dumps(texts) if self._has_leader else texts[0]

    def tables(self) -> tuple[Table, ...]:
        """Return tables of the sampled documents and of all documents in the urn. Before them the differences
        of a leader, if there is one.
        """
        import pandas as pd

        n = self.n_judged
        steps = [each.steps_frame() for each in self.differences]
        documents = [each.documents_frame() for each in self.differences]
        other_column: dict[str, Any] = {}
        where: dict[str, Any] = {"is_judged": False}
        if self._has_leader:
            other_column, where["other"] = {"other": DIFFERENCES["other"]}, self.run_ids[1]
            for frames in (steps, documents):
                frames[:] = [
                    frame.assign(other=run) for frame, run in zip(frames, self.run_ids[1:], strict=True)
                ]
        names = ("step", "query_id", "doc_id")
        signed = self.differences[0].is_pair
        judged = View(
            title=f"{self._about}: after each judgment, the newest first",
            names=names,
            columns=(
                "probability",
                "relevance",
                "estimate",
                IntervalColumn(label="guaranteed\n{level}", signed=signed),
                IntervalColumn("posterior_lower", "posterior_upper", "posterior\n{level}", signed=signed),
                "evidence",
            ),
            where={"is_judged": True},
            sort="-step",
            top=_N_SHOWN,
            spare=("evidence", "probability"),
        )
        pending = View(
            title=f"{self._about}: documents to judge, in this order",
            names=names,
            columns=("probability",),
            where=where,
            top=_N_SHOWN,
        )
        views = [judged] * (n > 0 and not self._has_leader) + [pending] * (n < len(self) and not self.is_done)
        return (
            *([self._differences_table()] if self._has_leader else []),
            Table(
                "steps",
                "Documents drawn, and what each judgment proves",
                pd.concat(steps, ignore_index=True),
                STEPS | other_column,
                tuple(views),
            ),
            Table(
                "documents",
                "Documents that are drawn from",
                pd.concat(documents, ignore_index=True),
                DOCUMENTS | other_column,
            ),
        )

    def _differences_table(self) -> Table:
        import pandas as pd

        about = f"{self.measure} of {self.run_ids[0]}"
        view = View(
            title=f"{about} less each other run, by {counted(self.n_judged, 'judgment')}",
            names=("other",),
            columns=(
                "difference",
                IntervalColumn(label="guaranteed\n{level}", signed=True),
                "posterior",
                "p_better",
                "p_worse",
                "leader_is",
            ),
            spare=("posterior",),
        )
        rows = pd.DataFrame([each.row() for each in self.differences])
        return Table("differences", "What is guaranteed now", rows, DIFFERENCES, (view,))

    def qrels(self) -> Qrels:
        """Return sampled documents as qrels in sampling order, with relevance −1 if unjudged."""
        documents = self.differences[0].walked.documents.tolist()
        topics = pa.array([self.urn.query_ids[i] for i in documents], pa.string()).dictionary_encode()
        doc_ids = pa.array([self.urn.doc_ids[i] for i in documents], pa.string())
        return Qrels(topics, doc_ids, self.relevance[documents].astype(np.int16))

    def to_format(self, suffix: str) -> bytes:
        """Return the list in qrels format, with sampling probabilities as second column, compressed for
        ``.gz``.
        """
        second = [f"{p:.6g}" for p in self.differences[0].walked.probability]
        return qrels_content(self.qrels(), f"list{suffix}", second=second)

    def notes(self) -> tuple[str, ...]:
        """Return notes on the pool, empty or wide intervals, refutation and judgments out of order."""
        notes = list(self.details.get("pool_notes", ()))
        if any(each.width < -ROUNDING for each in self.differences):
            notes.append(
                f"the interval is empty: an event of probability {1 - self.ci_prob:.2g} or less occurred, or "
                "judgments depended on what was drawn"
            )
        if self.is_refuting:
            notes.append(
                f"the judgments refute the posterior (evidence {self.evidence:.3g}, and {REFUTING:g} is "
                "enough): do not rely on its intervals; the guaranteed ones hold"
            )
        if self.expected_gap > 1e-6:
            notes.append(
                f"{self.measure} is no sum of gains: the guaranteed interval lies around two sums, expected "
                f"to be {number(self.expected_gap)} apart, and gets no narrower than their distance"
            )
        n_early = int(np.isfinite(self.differences[0].worth).sum()) - self.n_judged
        if n_early:
            notes.append(
                f"{counted(n_early, 'judgment')} count only when the documents drawn before are judged"
            )
        return tuple(notes)

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the guarantees, the reason to stop and the digest for verification."""
        sentences = self._leader_sentences() if self._has_leader else self._value_sentences()
        n_pending, stop = len(self) - self.n_judged, f"a width of at most {self.until or 0:g} is reached"
        if self._has_leader:
            verdicts = self.leader_is.values()
            narrow = f" or is at most {self.until:g} wide" if "open" in verdicts and self.until else ""
            stop = f"each difference has a sign{' or is 0' if 'equal' in verdicts else ''}{narrow}"
        if self.is_done:
            stop = "all is judged" if self.n_judged == len(self.urn) else stop
            width = "" if self._has_leader else f" ({number(self.differences[0].width)})"
            sentences.append(f"stop: {stop}{width}")
        elif n_pending:
            n_documents = counted(len(self.urn), "unjudged document")
            sentences.append(f"to judge, in this order: {counted(n_pending, 'document')} of {n_documents}")
        sentences.append(f"seed {self.random_seed}, digest of what is drawn from {digest(self.urn_text())}")
        return tuple(sentences)

    def _value_sentences(self) -> list[str]:
        """Return sentences on the guaranteed interval, the posterior interval and the order of two runs."""
        (difference,), n = self.differences, self.n_judged
        guarantee = "the bounds, before any judgment"
        if n:
            estimate = number(float(difference.estimates[-1]))
            guarantee = (
                f"guaranteed at {level(self.ci_prob)} by {counted(n, 'judgment')}; estimate {estimate}"
            )
        mean = float(difference.forecast.mean[-1]) if n else self.urn.mean
        lower, upper = (float(ends[-1]) for ends in difference.posterior_ends())
        posterior_text = interval(lower, upper, signed=difference.is_pair)
        sentences = [
            f"{self._about}: {difference.interval_text()}, {guarantee}",
            f"the posterior says {number(mean)} ({posterior_text}), if it is right",
        ]
        if difference.is_pair and n:
            less, more = difference.p_values
            a, b = self.run_ids
            sentences.append(
                f"{a} is better than {b}: p {p_value(less)}; worse: p {p_value(more)}; at any time"
            )
        return sentences

    def _leader_sentences(self) -> list[str]:
        """Return sentences on whether the leader is best and on runs not separated from it."""
        leader, n = self.run_ids[0], self.n_judged
        verdicts = self.leader_is
        better, worse, equal, open_ = (
            ", ".join(run for run, verdict in verdicts.items() if verdict == word)
            for word in ("better", "worse", "equal", "open")
        )
        guarantee = f"guaranteed at {level(self.ci_prob)} for all together, by {counted(n, 'judgment')}"
        sentences = [f"{self.measure}: {leader} led by the posterior before any judgment"]
        if worse:
            sentences.append(f"{leader} is not the best: it is worse than {worse}; {guarantee}")
        elif not (equal or open_):
            sentences.append(f"{leader} is the best of {counted(len(self.run_ids), 'run')}; {guarantee}")
        if better and (worse or equal or open_):
            sentences.append(f"{leader} is better than {better}; {guarantee}")
        if equal:
            sentences.append(f"{leader} is equal to {equal}; {guarantee}")
        if open_:
            sentences.append(f"{leader} cannot be separated yet from {open_}")
        return sentences

    def figures(self) -> tuple[Figure, ...]:
        """Return a figure with intervals by number of judgments, one panel per difference."""
        caption = f"{self._about}: what is guaranteed after each judgment"
        return (Figure("audit", caption, self.draw),)

    @property
    def closest_first(self) -> list[AuditedDifference]:
        """List of `differences` sorted by the lower end of the interval, closest first."""
        return sorted(self.differences, key=lambda each: each.interval[0])

    def draw(self) -> Any:
        """Draw the audit's figure."""
        from bayespool.plots import plot_audit
        from bayespool.plots.experiments import draw_audits

        return draw_audits(self) if self._has_leader else plot_audit(self).figure

    def citations(self) -> tuple[Citation, ...]:
        """Return citations for the interval method, the posterior and bayespool itself."""
        return cite([*cited_by(self.metadata), "shekhar-etal-2023", "waudby-smith-ramdas-2024"])

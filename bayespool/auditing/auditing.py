"""Audits: judgments drawn with known probabilities, and an interval that is valid under any model."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from bayespool import __version__
from bayespool.arrays import IndexArray
from bayespool.auditing.differences import COLUMNS, DIFFERENCES, REFUTING, ROUNDING, URN_NUMBERS, Guarantees
from bayespool.collection import Collection
from bayespool.collection.own import add_note
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.measures import parse_measure
from bayespool.notes import Note, noted
from bayespool.reading import Qrels
from bayespool.reading.readers import qrels_content
from bayespool.reading.records import relevance_codes
from bayespool.report.provenance import MADE_BY, cited_by, without_folders
from bayespool.report.result import Figure, file_metadata
from bayespool.scoring.pools import ListForAssessors
from bayespool.scoring.score_tables import ideal_sentence
from bayespool.tables.citations import Citation, cite
from bayespool.tables.files import digest, json_text
from bayespool.tables.formatting import counted, interval, level, number, p_value, some_of
from bayespool.tables.markup import one_line
from bayespool.tables.table import IntervalColumn, Table, View
from bayespool.validation import check_count, check_number

_DEFAULT_BUDGET = 50  # documents of the first round
_LEGEND = (
    "Estimate: posterior means, corrected by what was judged. Guaranteed: holds however wrong the model is. "
    "Posterior: if the model is right."
)
_N_SHOWN = 20  # steps, or runs of a sentence
_VERDICTS = {
    "worse": "is not the best: it is worse than",
    "better": "is better than",
    "equal": "is equal to",
    "open": "cannot be separated yet from",
}
"""Statements on the leader, keyed by its verdicts against other runs."""


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Guarantees, ListForAssessors):
    """Audit from `bayespool.audit`: documents sampled for judgment and the guarantees from their judgments.

    A run is audited, the difference of two, or whether the leader of several is the best. The leader is the
    run of the best posterior mean, chosen before any judgment. Its difference with each of the other k runs
    is audited on the same draws, each at the level 1 − (1 − ``ci_prob``)/k, so that all intervals hold
    together. `interval`, `estimates` and all else that is of one difference is of the first;
    `differences` has the same audit for each.

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
    index : int
        Number of the difference that intervals, estimates and p-values are of, from 0.
    """

    command = "audit"
    title = "Audit"
    formats = (*ListForAssessors.formats, ".json")

    def __repr__(self) -> str:
        intervals = "" if self._has_leader else f", {self.interval_text()}"
        return one_line("Audit", f"{self._about}, {counted(self.n_judged, 'judgment')}{intervals}")

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
        return max(float(u.base_high - u.base_low + (u.high - u.low) @ u.chance) for u in self.urns)

    @property
    def leader_is(self) -> dict[str, str]:
        """Guarantee for the first run against each other run: ``better``, ``worse``, ``equal`` or ``open``.

        Runs with the same documents are equal from the first judgment on.
        """
        return {run: each.verdict for run, each in zip(self.run_ids[1:], self.differences, strict=False)}

    @property
    def is_done(self) -> bool:
        """Whether judging may stop: everything is judged, or each interval is narrow enough or decided.

        The difference of a leader may also have a sign.
        """
        return self.n_judged == len(self.urn) or all(
            (self.until is not None and each.width <= self.until + ROUNDING)
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
        n_others = len(self.run_ids) - 1
        name = f"{self.run_ids[0]} and {n_others} other runs" if self._has_leader else self.name
        missing = self.details.get("missing")
        return f"{self.measure} of {name}{f' ({missing})' if missing else ''}"

    # --- rounds of judging ---

    def continue_with(self, qrels: Qrels, budget: int | None = None, until: float | None = None) -> Audit:
        """Add judgments, and sample documents until ``budget`` documents wait for judgment.

        Parameters
        ----------
        qrels : Qrels
            Judgments of documents that were drawn; −1 for one that waits. Without one that waits the audit
            goes on once a document drawn later is judged: it is then taken as relevant or not, whichever is
            worse.
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
        check_count("budget", budget)
        check_number("until", until, above=0)
        until = self.until if until is None else until
        details = {name: detail for name, detail in self.details.items() if name != MADE_BY}
        relevance = self._relevance_with(qrels)
        skipped = np.zeros(len(relevance), dtype=bool) if self.skipped is None else self.skipped.copy()
        drawn = self.walked.documents
        waits = relevance[drawn] < 0
        last = np.flatnonzero(~waits).max(initial=0)
        skipped[drawn[:last][waits[:last]]] = True
        went_on = dataclasses.replace(
            self,
            relevance=relevance,
            until=until,
            skipped=skipped if skipped.any() else None,
            details=details,
        )
        return went_on.draw_documents(budget)

    def _relevance_with(self, qrels: Qrels) -> IndexArray:
        """Return the relevance of each document after adding judgments from a list, shape (document,)."""
        documents = self.walked.documents
        places = {(self.urn.query_ids[i], self.urn.doc_ids[i]): i for i in documents.tolist()}
        highest = len(self.urn.worth) - 1
        relevance, n_others = self.relevance.copy(), 0
        codes, _ = relevance_codes(qrels.relevance, "listed")
        lines = zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), codes.tolist(), strict=True)
        for query_id, doc_id, code in lines:
            i = places.get((query_id, doc_id))
            if code < 0 or i is None:
                n_others += code >= 0
                continue
            about = f"topic {query_id}: document {doc_id} has relevance {code}, and"
            if relevance[i] not in (-1, code):
                hint = "an audit keeps its judgments; to correct one go on from the certificate before it"
                raise InputError(f"{about} {relevance[i]} before", path=qrels.path, hint=hint)
            if code > highest and len(set(self.urn.worth)) > 2:
                raise InputError(f"{about} the audit was planned for at most {highest}", path=qrels.path)
            relevance[i] = code
        where = f"{qrels.path or 'judgments'}: "
        if n_others:
            where += f"{counted(n_others, 'judgment')} passed over, of documents that this audit has not "
            warn_caller(
                f"{where}drawn; each list goes with the certificate that was written with it", InputWarning
            )
        elif (relevance[documents] < 0).any() and np.array_equal(relevance, self.relevance):
            text = "no judgment is new; replace each −1 by the assessor's answer, from the top"
            warn_caller(f"{where}{text}", InputWarning)
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
        >>> from bayespool.reading import qrels_from_frame
        >>> example = load_example()
        >>> planned = audit(example, "new-b", "P@10", budget=1, estimators="posterior-ratio(draws=100)")
        >>> (topic,), (document,) = planned.to_frame("steps")[["query_id", "doc_id"]].to_numpy().T
        >>> judged = planned.continue_with(qrels_from_frame({topic: {document: 1}}))
        >>> int(judged.apply_to(example).is_own.sum())
        1
        """
        collection = collection.attach_judgments(dataclasses.replace(self.qrels(), path=path))
        if not self.is_refuting:
            return collection
        guaranteed = f"{self.interval_text()} is guaranteed at"
        if self._has_leader:
            guaranteed = "its certificate has the intervals that are guaranteed at"
        return add_note(
            collection,
            f"{self._about}: an audit's judgments refute the posterior without them (e-value "
            f"{self.evidence:.3g}, and {REFUTING:g} is enough); {guaranteed} {level(self.ci_prob)}; "
            "posteriors take the judgments as evidence now, and may still be wrong where nothing is judged",
        )

    # --- the result ---

    @property
    def metadata(self) -> dict[str, Any]:  # type: ignore[override]
        """Metadata with version, fingerprint, settings and all data verified in `bayespool.read_audit`."""
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
            plain = [v.tolist() if isinstance(v, np.ndarray) else v for v in vars(each.urn).values()]
            texts.append(json.dumps([plain, each.compared, self.measure, self.random_seed]))
        return json.dumps(texts) if self._has_leader else texts[0]

    def tables(self) -> tuple[Table, ...]:
        """Return tables of the sampled documents and of all documents in the urn. Before them the differences
        of a leader, if there is one.
        """
        names, signed = ("step", "query_id", "doc_id"), len(self.run_ids) > 1
        ideals = ideal_sentence({self.measure: getattr(parse_measure(self.measure), "ideal", "")})
        posterior = IntervalColumn("posterior_lower", "posterior_upper", "posterior\n{level}", signed=signed)
        guaranteed = IntervalColumn(label="guaranteed\n{level}", signed=signed)
        judged = View(
            title=f"{self._about}: after each judgment, the newest first",
            names=names,
            columns=("probability", "relevance", "estimate", guaranteed, posterior, "evidence"),
            where={"is_judged": True},
            sort="-step",
            top=_N_SHOWN,
            note=f"{_LEGEND} Evidence is against the posterior; {REFUTING:g} refutes it. {ideals}".strip(),
            spare=("evidence", "probability"),
        )
        pending = View(
            title=f"{self._about}: documents to judge, in this order",
            names=names,
            columns=("probability",),
            where={"is_judged": False} | self._other,
            top=_N_SHOWN,
        )
        now = View(
            title=f"{self.measure} of {self.run_ids[0]} less each other run, by "
            f"{counted(self.n_judged, 'judgment')}",
            names=("other",),
            columns=("difference", guaranteed, "posterior", "p_better", "p_worse", "leader_is"),
            note=f"{_LEGEND} {ideals}".strip(),
            spare=("posterior",),
        )
        views = (*[judged] * (not self._has_leader), *[pending] * (not self.is_done))
        steps, documents = self._stacked(Audit.steps_frame), self._stacked(Audit.documents_frame)
        tables = (
            Table("steps", "Documents drawn, and what each judgment proves", steps, COLUMNS, views),
            Table("documents", "Documents that are drawn from", documents, COLUMNS),
        )
        if not self._has_leader:
            return tables
        differences = self._stacked(Audit.difference_frame)
        return Table("differences", "What is guaranteed now", differences, DIFFERENCES, (now,)), *tables

    def _stacked(self, make_frame: Callable[[Audit], pd.DataFrame]) -> pd.DataFrame:
        """Return the frames of all differences, one below the other."""
        frames = [make_frame(each).assign(**each._other) for each in self.differences]
        return pd.concat(frames, ignore_index=True)

    @property
    def _other(self) -> dict[str, str]:
        """Column of a leader's tables: the run of the difference beside the leader."""
        return {"other": self.compared[1]} if self._has_leader else {}

    def qrels(self) -> Qrels:
        """Return sampled documents as qrels in sampling order, with relevance −1 if unjudged."""
        documents = self.walked.documents.tolist()
        topics = pa.array([self.urn.query_ids[i] for i in documents], pa.string()).dictionary_encode()
        doc_ids = pa.array([self.urn.doc_ids[i] for i in documents], pa.string())
        return Qrels(topics, doc_ids, self.relevance[documents].astype(np.int16))

    def to_format(self, suffix: str) -> bytes | str:
        """Return the certificate for ``.json``, or the list in qrels format, with sampling probabilities as
        second column, compressed for ``.gz``.
        """
        if suffix == ".json":
            with without_folders():
                document = certificate_document(self)
            document["metadata"]["digest"] = document_digest(document)
            return json.dumps(document, indent=1) + "\n"
        second = [f"{p:.6g}" for p in self.walked.probability]
        return qrels_content(self.qrels(), f"list{suffix}", second=second)

    def notes(self) -> tuple[Note, ...]:
        """Return notes on the pool, empty or wide intervals, refutation and judgments out of order."""
        notes = list(noted(self.details.get("pool_notes", ()), "scope"))
        if any(each.width < -ROUNDING for each in self.differences):
            text = (
                f"the interval is empty: an event of probability {1 - self.ci_prob:.2g} or less occurred, or "
                "judgments depended on what was drawn"
            )
            notes.append(Note("no-width", text))
        if self.is_refuting:
            text = (
                f"the judgments refute the posterior (e-value {self.evidence:.3g}, and {REFUTING:g} is "
                "enough): do not rely on its intervals; the guaranteed ones stay valid"
            )
            notes.append(Note("refuted", text))
        if self.expected_gap > 1e-6:
            text = (
                f"{self.measure} is no sum of gains: the guaranteed interval lies around two sums, expected "
                f"to be {number(self.expected_gap)} apart, and gets no narrower than their distance"
            )
            notes.append(Note("audit", text))
        if self.missing:
            documents = [f"{self.urn.doc_ids[i]} of topic {self.urn.query_ids[i]}" for i in self.missing]
            text = (
                f"without a judgment of {some_of(documents, _N_SHOWN)}: taken as relevant or not, whichever "
                "is worse, for each end of the guaranteed interval; a judgment still counts once there is one"
            )
            notes.append(Note("audit", text))
        return tuple(notes)

    @property
    def missing(self) -> tuple[int, ...]:
        """Documents that the audit went on without, and that nobody has judged since, in drawing order."""
        if self.skipped is None:
            return ()
        return tuple(i for i in self.walked.documents.tolist() if self.skipped[i] and self.relevance[i] < 0)

    def sentences(self) -> tuple[str, ...]:
        """Return sentences on the guarantees, the reason to stop and the digest for verification."""
        sentences = self._leader_sentences() if self._has_leader else self._value_sentences()
        n_pending, width = len(self) - self.n_judged, f" ({number(self.width)})"
        stop = f"a width of at most {self.until or 0:g} is reached"
        if self._has_leader:
            verdicts, width = self.leader_is.values(), ""
            narrow = f" or is at most {self.until:g} wide" if "open" in verdicts and self.until else ""
            stop = f"each difference has a sign{' or is 0' if 'equal' in verdicts else ''}{narrow}"
        if self.is_done:
            whole = "all else is judged" if self.missing else "all is judged"
            sentences.append(f"stop: {whole if self.n_judged == len(self.urn) else stop}{width}")
        elif n_pending:
            n_left = len(self.urn) - self.n_judged
            sentences.append(f"to judge, in this order: {n_pending:,} of the {n_left:,} that are left")
        sentences.append(f"seed {self.random_seed}, digest of what is drawn from {digest(self.urn_text())}")
        return tuple(sentences)

    def _value_sentences(self) -> list[str]:
        """Return sentences on the guaranteed interval, the posterior interval and the order of two runs."""
        n, (lower, upper) = self.n_judged, (float(end[-1]) for end in self.posterior_ends())
        guarantee, mean = "the bounds, before any judgment", self.urn.mean
        if n:
            estimate, mean = number(float(self.estimates[-1])), float(self.forecast.mean[-1])
            guarantee = (
                f"guaranteed at {level(self.ci_prob)} by {counted(n - len(self.missing), 'judgment')}; "
                f"estimate {estimate}"
            )
        is_pair = len(self.run_ids) == 2
        sentences = [
            f"{self._about}: {self.interval_text()}, {guarantee}",
            f"the posterior says {number(mean)} ({interval(lower, upper, signed=is_pair)}), if it is right",
        ]
        if is_pair and n:
            (a, b), (less, more) = self.run_ids, map(p_value, self.p_values)
            sentences.append(f"{a} is better than {b}: p {less}; worse: p {more}; at any time")
        return sentences

    def _leader_sentences(self) -> list[str]:
        """Return sentences on whether the leader is best and on runs not separated from it."""
        leader, n_runs = self.run_ids[0], counted(len(self.run_ids), "run")
        n = counted(self.n_judged - len(self.missing), "judgment")
        guarantee = f"; guaranteed at {level(self.ci_prob)} by {n} for all together"
        sentences = [f"{self.measure}: {leader} led by the posterior before any judgment"]
        if set(self.leader_is.values()) == {"better"}:
            return [*sentences, f"{leader} is the best of {n_runs}{guarantee}"]
        for verdict, words in _VERDICTS.items():
            if runs := [run for run, its_verdict in self.leader_is.items() if its_verdict == verdict]:
                proof = guarantee if verdict != "open" else ""
                sentences.append(f"{leader} {words} {some_of(runs, _N_SHOWN)}{proof}")
        return sentences

    def figures(self) -> tuple[Figure, ...]:
        """Return a figure with intervals by number of judgments, one panel per difference."""
        caption = f"{self._about}: what is guaranteed after each judgment"
        return (Figure("audit", caption, self.draw),)

    def draw(self) -> Any:
        """Draw the audit's figure."""
        from bayespool.plots.experiments import draw_audits

        return draw_audits(self)

    def citations(self) -> tuple[Citation, ...]:
        """Return citations for the interval method, the posterior and bayespool itself."""
        return cite([*cited_by(self.metadata), "shekhar-etal-2023", "waudby-smith-ramdas-2024"])


def certificate_document(audited: Audit) -> dict[str, Any]:
    """Return an audit's tables and metadata as its certificate has them, but for the digest."""
    frames = {table.name: table.frame for table in audited.tables()}
    document: dict[str, Any] = json.loads(json_text(frames, file_metadata(audited)))
    return document


def document_digest(document: Mapping[str, Any]) -> str:
    """Return the digest of all that a certificate holds, but for the digest itself."""
    metadata = {name: value for name, value in document["metadata"].items() if name != "digest"}
    return digest(json.dumps({**document, "metadata": metadata}, sort_keys=True))

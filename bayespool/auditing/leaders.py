"""Audits of three runs or more: whether the leader is the best of them."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from bayespool import __version__
from bayespool.arrays import IndexArray
from bayespool.auditing.auditing import ROUNDING, URN_NUMBERS, Audit, informed, next_round
from bayespool.auditing.tables import DIFFERENCES, DOCUMENTS, REFUTING, STEPS
from bayespool.auditing.urns import Urn
from bayespool.collection import Collection, Qrels
from bayespool.report.result import Figure, cited_by
from bayespool.scoring.judging_influence import ListForAssessors
from bayespool.tables.citations import Citation, cite
from bayespool.tables.files import digest
from bayespool.tables.formatting import counted, level
from bayespool.tables.markup import one_line
from bayespool.tables.table import Ends, Table, View

_N_SHOWN = 20  # documents


@dataclass(frozen=True, eq=False, repr=False)
class LeaderAudit(ListForAssessors):
    """Documents drawn to tell whether the leader of some runs is the best; made by `bayespool.audit`.

    The leader is the run of the best posterior mean, chosen before any judgment. Its difference with each of
    the other k runs is audited on the same draws, each at the level 1 − (1 − ``ci_prob``)/k, so that all
    intervals hold together.

    Attributes
    ----------
    urns : tuple of Urn
        Of each difference, all of the same documents.
    run_ids : tuple of str
        The leader, and the other runs.
    measure : str
    relevance : ndarray of int, shape (document,)
        Relevance of each document of the urns, −1 for one that is not judged.
    known : ndarray of int, shape (step,)
        Number of judgments that were known when each document was drawn.
    random_seed : int
    ci_prob : float
        Probability that no interval of any difference misses its value.
    until : float or None
        Width below which a difference that has no sign yet is left.
    details : dict
        Fingerprint, pool, estimator: more of the metadata.
    """

    urns: tuple[Urn, ...]
    run_ids: tuple[str, ...]
    measure: str
    relevance: IndexArray
    known: IndexArray
    random_seed: int
    ci_prob: float
    until: float | None
    details: dict[str, Any]

    command = "audit"
    title = "Audit"

    def __len__(self) -> int:
        return len(self.known)

    def __repr__(self) -> str:
        text = f"{self.measure} of {self.leader} against {counted(len(self.urns), 'run')}, "
        return one_line("LeaderAudit", text + counted(self.n_judged, "judgment"))

    @property
    def leader(self) -> str:
        """The best run by the posterior before any judgment."""
        return self.run_ids[0]

    @cached_property
    def audits(self) -> tuple[Audit, ...]:
        """The leader less each other run.

        All draw the same documents: by the sum of what they add to the differences, without sign.
        """
        size = np.sum([np.maximum(np.abs(urn.low), np.abs(urn.high)) for urn in self.urns], axis=0)
        return tuple(
            Audit(
                urn=urn,
                run_ids=(self.leader, other),
                measure=self.measure,
                relevance=self.relevance,
                known=self.known,
                random_seed=self.random_seed,
                ci_prob=1 - (1 - self.ci_prob) / len(self.urns),
                until=self.until,
                details={},
                size=size,
            )
            for urn, other in zip(self.urns, self.run_ids[1:], strict=True)
        )

    @property
    def n_judged(self) -> int:
        """Judged steps before the first document that is not judged."""
        return self.audits[0].n_judged

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The guaranteed interval of the leader less each other run."""
        return {audit.run_ids[1]: audit.interval for audit in self.audits}

    @property
    def p_values(self) -> dict[str, tuple[float, float]]:
        """P-values at any time of the leader being at most, and at least, as good, for all runs at once.

        Bonferroni's: those of each difference times their number.
        """
        n = len(self.audits)
        return {
            audit.run_ids[1]: (min(n * audit.p_values[0], 1.0), min(n * audit.p_values[1], 1.0))
            for audit in self.audits
        }

    @property
    def evidence(self) -> float:
        """The largest evidence against the posterior so far, at each step the mean over differences.

        A mean of martingales is one, so that the number of runs changes nothing.
        """
        return float(np.mean([audit.foretold.evidence for audit in self.audits], axis=0).max(initial=1.0))

    @property
    def leader_is(self) -> dict[str, str]:
        """What is guaranteed of the leader against each run: ``better``, ``worse``, ``equal`` or ``open``.

        Runs with the same documents are equal from the first judgment on.
        """
        return {run: _verdict(low, high) for run, (low, high) in self.intervals.items()}

    @property
    def is_done(self) -> bool:
        """Whether judging may stop: all is judged, or each difference has a sign or is narrow enough."""
        narrow = [self.until is not None and audit.width <= self.until for audit in self.audits]
        settled = [verdict != "open" for verdict in self.leader_is.values()]
        return self.n_judged == len(self.urns[0]) or bool(np.logical_or(narrow, settled).all())

    def go_on(self, qrels: Qrels, budget: int | None = None, until: float | None = None) -> LeaderAudit:
        """The audit with more judgments, and with documents drawn until as many wait as ``budget`` says.

        Parameters, errors and warnings are those of `Audit.go_on`.
        """
        budget, until = next_round(self.known, self.until, budget, until)
        relevance = self.audits[0].with_judgments(qrels)
        return dataclasses.replace(self, relevance=relevance, until=until).drawn(budget)

    def drawn(self, budget: int) -> LeaderAudit:
        """The audit with documents drawn until as many wait for judgment; itself once it is done."""
        n_more = min(self.n_judged + budget, len(self.urns[0])) - len(self)
        if self.is_done or n_more <= 0:
            return self
        return dataclasses.replace(self, known=np.append(self.known, np.full(n_more, self.n_judged)))

    def inform(self, collection: Collection, *, path: Path | None = None) -> Collection:
        """The collection with the judgments as the user's own, and notes of what they refute.

        See `Audit.inform`.
        """
        refutation = (
            f"{self.measure} of {self.leader} and {counted(len(self.urns), 'other run')}: an audit's "
            f"judgments refute the posterior without them (evidence {self.evidence:.3g}, and {REFUTING:g} is "
            f"enough); its certificate has the intervals that are guaranteed at {level(self.ci_prob)}"
        )
        return informed(collection, self.qrels(), [refutation] * (self.evidence >= REFUTING), path)

    # --- what it says ---

    @property
    def metadata(self) -> dict[str, Any]:  # type: ignore[override]
        """Version, fingerprint and settings, with all that `bayespool.read_audit` verifies."""
        settings = [self.ci_prob, self.until, self.details]
        return {
            "bayespool": __version__,
            **self.details,
            "measure": self.measure,
            "runs": list(self.run_ids),
            "random_seed": self.random_seed,
            "ci_prob": self.ci_prob,
            "until": self.until,
            "urns": [
                {name: getattr(urn, name) for name in URN_NUMBERS} | {"worth": list(urn.worth)}
                for urn in self.urns
            ],
            "urn_digest": digest(self.urn_text()),
            "digest": digest(
                json.dumps([self.urn_text(), self.relevance.tolist(), self.known.tolist(), settings])
            ),
            "interval": [end for audit in self.audits for end in audit.interval],
            "looseness": max(audit.looseness for audit in self.audits),
            "evidence_against_posterior": self.evidence,
            "n_judged": self.n_judged,
            "is_done": self.is_done,
        }

    def urn_text(self) -> str:
        """Urns, runs, measure and seed as text: all that decides what is drawn before any judgment."""
        return json.dumps([audit.urn_text() for audit in self.audits])

    def tables(self) -> tuple[Table, ...]:
        """One row per difference; documents drawn, and all that could be, for each difference."""
        import pandas as pd

        n, about = self.n_judged, f"{self.measure} of {self.leader} less each other run"
        rows = []
        for audit in self.audits:
            lower, upper = audit.interval
            now: Any = audit.to_frame("steps").iloc[n - 1] if n else {}
            better, worse = self.p_values[audit.run_ids[1]]
            rows.append(
                {
                    "leader": self.leader,
                    "other": audit.run_ids[1],
                    "difference": now.get("estimate", np.nan),
                    "lower": lower,
                    "upper": upper,
                    "posterior": now.get("posterior", audit.urn.mean),
                    "posterior_lower": now.get("posterior_lower", np.nan),
                    "posterior_upper": now.get("posterior_upper", np.nan),
                    "p_better": better,
                    "p_worse": worse,
                    "evidence": audit.evidence,
                    "leader_is": self.leader_is[audit.run_ids[1]],
                    "ci_prob": self.ci_prob,
                }
            )
        shown = View(
            title=f"{about}, by {counted(n, 'judgment')}",
            names=("other",),
            columns=(
                "difference",
                Ends(label="guaranteed\n{level}", signed=True),
                "posterior",
                "p_better",
                "p_worse",
                "leader_is",
            ),
            spare=("posterior",),
        )
        waits = View(
            title="documents to judge, in this order",
            names=("step", "query_id", "doc_id"),
            columns=("probability",),
            where={"is_judged": False, "other": self.run_ids[1]},
            top=_N_SHOWN,
        )
        steps, documents = (
            pd.concat(
                [audit.to_frame(name).assign(other=audit.run_ids[1]) for audit in self.audits],
                ignore_index=True,
            )
            for name in ("steps", "documents")
        )
        other = {"other": DIFFERENCES["other"]}
        return (
            Table("differences", "What is guaranteed now", pd.DataFrame(rows), DIFFERENCES, (shown,)),
            Table(
                "steps",
                "Documents drawn, and what each judgment proves",
                steps,
                STEPS | other,
                (waits,) if n < len(self) and not self.is_done else (),
            ),
            Table("documents", "Documents that are drawn from", documents, DOCUMENTS | other),
        )

    def qrels(self) -> Qrels:
        """Documents in the order in which they were drawn, with relevance −1 where nobody judged."""
        return self.audits[0].qrels()

    def in_format(self, suffix: str) -> bytes:
        """List in qrels format, with probabilities in the second column, compressed for ``.gz``."""
        return self.audits[0].in_format(suffix)

    def notes(self) -> tuple[str, ...]:
        """The pool's; whether the posterior is refuted; what holds of an audit."""
        is_refuted = self.evidence >= REFUTING
        refuted = (
            f"the judgments refute the posterior of these differences (evidence {self.evidence:.3g}, and "
            f"{REFUTING:g} is enough): do not rely on it; the guaranteed intervals hold"
        )
        own = [
            note
            for audit in self.audits
            for note in audit.notes()
            if not note.startswith("the judgments refute") and "is no sum of gains" not in note
        ]
        loose = [note for note in self._loosest.notes() if "is no sum of gains" in note]
        unique = dict.fromkeys([*loose, *own])
        return (*self.details.get("pool_notes", ()), *[refuted] * is_refuted, *unique)

    @property
    def _loosest(self) -> Audit:
        return max(self.audits, key=lambda audit: audit.looseness)

    def summary(self) -> tuple[str, ...]:
        """Whether the leader is the best, from whom it is not separated, and when to stop."""
        n, of = self.n_judged, counted(len(self.urns[0]), "unjudged document")
        verdicts: dict[str, list[str]] = {"better": [], "worse": [], "equal": [], "open": []}
        for run, verdict in self.leader_is.items():
            verdicts[verdict].append(run)
        better, worse, equal, open_ = map(", ".join, verdicts.values())
        held = f"guaranteed at {level(self.ci_prob)} for all together, by {counted(n, 'judgment')}"
        sentences = [f"{self.measure}: {self.leader} led by the posterior before any judgment"]
        if worse:
            sentences.append(f"{self.leader} is not the best: it is worse than {worse}; {held}")
        elif not (equal or open_):
            sentences.append(f"{self.leader} is the best of {counted(len(self.run_ids), 'run')}; {held}")
        if better and (worse or equal or open_):
            sentences.append(f"{self.leader} is better than {better}; {held}")
        if equal:
            sentences.append(f"{self.leader} is equal to {equal}; {held}")
        if open_:
            sentences.append(f"{self.leader} cannot be separated yet from {open_}")
        if self.is_done:
            narrow = f" or is at most {self.until:g} wide" if open_ and self.until else ""
            tied = " or is 0" if equal else ""
            why = "all is judged" if n == len(self.urns[0]) else f"each difference has a sign{tied}{narrow}"
            sentences.append(f"stop: {why}")
        elif len(self) > n:
            sentences.append(f"to judge, in this order: {counted(len(self) - n, 'document')} of {of}")
        sentences.append(f"seed {self.random_seed}, digest of what is drawn from {digest(self.urn_text())}")
        return tuple(sentences)

    def figures(self) -> tuple[Figure, ...]:
        """Intervals by the number of judgments, a figure for each other run; the closest one first."""
        from bayespool.plots import plot_audit

        def draw(audit: Audit) -> Any:
            return plot_audit(audit).figure

        return tuple(
            Figure(
                f"audit-{audit.run_ids[1]}",
                f"{self.measure} of {audit.name}: what is guaranteed after each judgment",
                partial(draw, audit),
            )
            for audit in self.closest_first
        )

    @property
    def closest_first(self) -> list[Audit]:
        """The `audits`, by what is guaranteed of the leader's lead."""
        return sorted(self.audits, key=lambda audit: audit.interval[0])

    def draw(self) -> Any:
        """Figure with intervals by the number of judgments, a panel for each other run, the closest first."""
        from bayespool.plots.experiments import draw_audits

        return draw_audits(self.closest_first)

    def citations(self) -> tuple[Citation, ...]:
        """What to cite for the intervals, the posterior, and bayespool itself."""
        return cite([*cited_by(self.metadata), "shekhar-etal-2023", "waudby-smith-ramdas-2024"])


def _verdict(low: float, high: float) -> str:
    """Whether a difference between two ends is sure to be above, below or at 0."""
    if low > 0 or high < 0:
        return "better" if low > 0 else "worse"
    return "equal" if high - low <= ROUNDING else "open"

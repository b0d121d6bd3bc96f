"""Audits begun, or read back from a certificate, from which anybody can go on or check every draw."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pandas as pd

from bayespool import __version__
from bayespool.arrays import Progress
from bayespool.auditing.auditing import Audit, certificate_document, document_digest
from bayespool.auditing.differences import URN_COLUMNS, URN_NUMBERS
from bayespool.auditing.urns import Urn, check_auditable, draw_values, find_urns
from bayespool.collection import Collection
from bayespool.errors import InputError, InputWarning, warn_caller
from bayespool.names import describe_estimator
from bayespool.notes import Note
from bayespool.posterior import PosteriorEstimator
from bayespool.report.provenance import MADE_BY
from bayespool.report.stored import StoredResult, read_result
from bayespool.scoring.asked import Asked, AskedKeywords
from bayespool.scoring.score_tables import missing_topics
from bayespool.tables.files import PathLike, read_back
from bayespool.tables.formatting import some_of
from bayespool.validation import check_count, check_number

_DETAILS = (
    "fingerprint",
    "unpooled",
    "passed_over",
    "estimator",
    "pool",
    "pool_notes",
    "posterior_intervals",
    "missing",
)
_TOLERANCE = 1e-9  # of a certificate's numbers
_WORDS = {"title", "notes", "summary", "citations", "tables"}  # which another version writes otherwise
_CHANGED = "the file was changed after the audit, or made otherwise"


def audit(
    collection: Collection,
    run_ids: str | Iterable[str] | None = None,
    measures: object = "P@10",
    *,
    estimators: str | PosteriorEstimator = "posterior-combined",
    budget: int = 50,
    until: float | None = None,
    progress: Progress | None = None,
    **asked: Unpack[AskedKeywords],
) -> Audit:
    """Sample unjudged documents for judgment, with an interval that is valid even if the model is wrong.

    Parameters
    ----------
    collection : Collection
    run_ids : str or iterable of str, optional
        A run; two for their difference, the first less the second; or more, to tell whether the one with
        the best posterior mean is the best. Default: the runs to score that the collection was read with,
        with ``unpool`` only those named there, else all runs of the collection.
    measures : measure, default "P@10"
        P@10, nDCG@10, AP@100, …; one of them.
    estimators : str or PosteriorEstimator, default "posterior-combined"
        The posterior that says what is uncertain, by name: 'posterior-ratio'.
    budget : int, default 50
        Documents to draw, besides those that are judged.
    until : float, optional
        Stop when the interval is at most this wide: nothing more is drawn then.
    progress : callable, optional
        Called with a text on each stage of the work as it begins: ``progress(text, done=0, total=0)``.
    **asked
        Keywords of every question: `bayespool.Question`.

    Returns
    -------
    Audit
        With documents to judge. ``continue_with`` takes their judgments.

    Raises
    ------
    InputError
        A measure that cannot be audited; nothing unjudged; unknown run or setting.

    Notes
    -----
    The interval contains the value at all times at once with probability ``ci_prob`` over the draws, if
    judgments do not depend on what is drawn. Nothing is assumed of the posterior, which only makes the
    interval narrower.

    Examples
    --------
    >>> from bayespool import audit, load_example
    >>> audited = audit(load_example(), "new-b", "P@10", budget=5, estimators="posterior-ratio(draws=100)")
    >>> len(audited), audited.interval
    (5, (0.35, 0.57))
    """
    check_count("budget", budget)
    check_number("until", until, above=0)
    question = Asked(collection, run_ids, measures, estimators=estimators, **asked)
    measure, estimator, level = question.sole_measure, question.sole_posterior, question.interval_prob
    check_auditable(measure)
    targets = question.resolve((estimator,), estimand=estimator.estimand, whole_campaign=True)
    say = progress or (lambda line: None)
    say(f"completing: {estimator.name}")
    completion = estimator.complete(targets.collection, targets.run_ids, measure)
    say("drawing")
    order = list(range(len(targets.run_ids)))
    alone = np.eye(len(order))
    if len(order) > 2:
        best = int(draw_values(completion, measure, alone).expected().argmax())
        order.sort(key=lambda run: run != best)
    signs = alone[order[:1]] - alone[order[1:]] if len(order) > 1 else alone
    values = draw_values(completion, measure, signs)
    urns = find_urns(completion, measure, signs, values)
    compared = tuple(targets.run_ids[run] for run in order)
    if not len(urns[0]):
        named = some_of(compared) if len(compared) > 2 else " − ".join(compared)
        raise InputError(
            f"{measure} of {named}: no unjudged document changes it",
            hint="there is nothing to audit; score says the value",
        )
    details = {**targets.metadata, "estimator": describe_estimator(estimator)}
    details["missing"] = missing_topics(targets.metadata)
    details["posterior_intervals"] = np.transpose(values.interval(1 - (1 - level) / len(urns))).tolist()
    return Audit(
        urns=urns,
        run_ids=compared,
        measure=str(measure),
        relevance=np.full(len(urns[0]), -1, dtype=np.int64),
        n_known=np.zeros(0, dtype=np.int64),
        random_seed=question.random_seed,
        ci_prob=level,
        until=until,
        details={name: details[name] for name in _DETAILS},
    ).draw_documents(budget)


def read_audit(path: PathLike) -> Audit:
    """Read an audit certificate and verify it using only the file.

    All draws are repeated with the seed, and everything that the file says is computed again from what the
    documents add, their probabilities and the judgments: tables, numbers, title, sentences and notes. What
    only its writer knows, such as the pool and the command, is under a digest.

    Parameters
    ----------
    path : path
        A ``.json`` file written by ``audit --output`` or `Audit.save`.

    Returns
    -------
    Audit
        As it was written, to go on from.

    Raises
    ------
    InputError
        It holds no audit; or anything was changed: a judgment, a probability, the seed, an interval, a word.
        The first such step is named.

    Warns
    -----
    InputWarning
        Another version of bayespool wrote it, whose words are not compared.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bayespool import audit, load_example, read_audit
    >>> planned = audit(load_example(), "new-b", "P@10", budget=5, estimators="posterior-ratio(draws=100)")
    >>> with TemporaryDirectory() as folder:
    ...     planned.save(f"{folder}/audit.json")
    ...     read_audit(f"{folder}/audit.json").interval == planned.interval
    True
    """
    place = Path(path)
    stored = read_result(place)
    if stored.command != "audit":
        raise InputError(f"holds a result of {stored.command}, not an audit", path=place)
    try:
        document = json.loads(read_back(place) or "")
        audit = _stored_audit(stored)
        _verify(audit, document, place)
    except InputError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise InputError("holds no whole audit", path=place) from None
    if document["metadata"]["bayespool"] != __version__:
        made = f"{place}: made by bayespool {document['metadata']['bayespool']}"
        warn_caller(f"{made}: its numbers are compared, its words are not", InputWarning)
    return audit


class StoredAudit(StoredResult, reads="audit"):
    """Audit as a file has it, of which nothing is verified."""

    def notes(self) -> tuple[Note, ...]:
        """Return the stored notes after one that nothing is verified."""
        text = "not verified: bayespool audit --verify, or read_audit, checks a certificate (.json)"
        return (Note("unverified", text), *super().notes())


def _stored_audit(stored: StoredResult) -> Audit:
    """Return the audit rebuilt from a certificate's seed, documents and judgments."""
    numbers: dict[str, Any] = dict(stored.metadata)
    steps, documents = stored.to_frame("steps"), stored.to_frame("documents")
    frames, of_urns = [documents], numbers.get("urns") or [numbers["urn"]]
    if "urns" in numbers:
        frames = [documents[documents["other"] == run] for run in numbers["runs"][1:]]
    urns = tuple(map(_stored_urn, frames, of_urns))
    known = np.array(steps.get("known", []), dtype=np.int64)[: len(steps) // len(urns)]
    return Audit(
        urns=urns,
        run_ids=tuple(map(str, numbers["runs"])),
        measure=str(numbers["measure"]),
        relevance=frames[0]["relevance"].to_numpy(dtype=np.int64),
        skipped=frames[0]["skipped"].to_numpy(dtype=bool) if "skipped" in frames[0] else None,
        n_known=known.clip(0, np.arange(len(known))),
        random_seed=int(numbers["random_seed"]),
        ci_prob=float(numbers["ci_prob"]),
        until=None if numbers["until"] is None else float(numbers["until"]),
        details={name: numbers[name] for name in (*_DETAILS, MADE_BY) if name in numbers},
    )


def _stored_urn(documents: pd.DataFrame, numbers: Mapping[str, Any]) -> Urn:
    """Return the urn rebuilt from its table of documents and its scalars."""
    values: dict[str, Any] = {name: documents[name].to_numpy(dtype=np.float64) for name in URN_COLUMNS}
    values |= {name: float(numbers[name]) for name in URN_NUMBERS}
    query_ids, doc_ids = (tuple(map(str, documents[name])) for name in ("query_id", "doc_id"))
    return Urn(query_ids, doc_ids, **values, worth=tuple(map(float, numbers["worth"])))


def _verify(audit: Audit, document: Mapping[str, Any], path: Path) -> None:
    """Raise `InputError` if anything in a certificate differs from what its seed and judgments give."""
    ours, theirs = certificate_document(audit), dict(document)
    metadata, written = ours.pop("metadata"), dict(theirs.pop("metadata"))
    digest = written.pop("digest")
    unknown = {"bayespool", MADE_BY}  # under the digest alone
    unknown |= _WORDS if written["bayespool"] != metadata["bayespool"] else set()
    metadata, written = ({n: each[n] for n in each if n not in unknown} for each in (metadata, written))
    pairs = [("", metadata, written), ("", {"digest": document_digest(document)}, {"digest": digest})]
    for name, rows in ours.items():
        numbered = enumerate(zip(rows, theirs.pop(name), strict=True), start=1)
        pairs[:0] = [(f"{name}, row {i}: ", *pair) for i, pair in numbered]
    for where, row, of_file in (*pairs, ("", {}, theirs)):
        for name, value in row.items():
            if not _is_close(value, of_file[name]):
                raise InputError(
                    f"{where}{name} is {_brief(of_file[name])}, and by the rest of the file {_brief(value)}",
                    path=path,
                    hint=_CHANGED,
                )
        if more := of_file.keys() - row.keys():
            raise InputError(f"{where}{min(more)} is not of an audit", path=path, hint=_CHANGED)


def _brief(value: Any) -> str:
    return textwrap.shorten(repr(value) if isinstance(value, float) else str(value), 200)


def _is_close(ours: Any, theirs: Any) -> bool:
    """Return whether two values of JSON are equal, their numbers up to rounding."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_is_close(ours[name], theirs[name]) for name in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(_is_close, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return math.isclose(ours, theirs, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return type(ours) is type(theirs) and bool(ours == theirs)

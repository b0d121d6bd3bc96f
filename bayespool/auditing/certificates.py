"""Certificates of audits: files from which anybody can go on, or check every draw and every interval."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool.auditing.auditing import URN_NUMBERS, Audit
from bayespool.auditing.leaders import LeaderAudit
from bayespool.auditing.urns import Urn
from bayespool.errors import InputError
from bayespool.report.saving import read_result
from bayespool.tables.files import PathLike

if TYPE_CHECKING:
    import pandas as pd

    from bayespool.report.saving import StoredResult

_COLUMNS = ("low", "high", "chance", "spread", "shared")
_DETAILS = ("fingerprint", "unpooled", "passed_over", "estimator", "pool", "pool_notes")
_TEXTS = ("leader", "other", "leader_is")
_TOLERANCE = 1e-9


def read_audit(path: PathLike) -> Audit | LeaderAudit:
    """Read the certificate of an audit, and verify it from the file alone.

    All draws are repeated with the seed, all probabilities and intervals are computed again from what the
    documents add, their chances and the judgments, and the digests are compared.

    Parameters
    ----------
    path : path
        A ``.json`` file written by ``audit --output`` or `Audit.save`.

    Returns
    -------
    Audit or LeaderAudit
        As it was written, to go on from.

    Raises
    ------
    InputError
        It holds no audit; or anything was changed: a judgment, a probability, the seed, an interval. The
        first such step is named.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bayespool import audit, load_example, read_audit
    >>> found = audit(load_example(), "new-b", "P@10", budget=5, estimator="posterior-ratio", draws=100)
    >>> with TemporaryDirectory() as folder:
    ...     found.save(f"{folder}/audit.json")
    ...     read_audit(f"{folder}/audit.json").interval == found.interval
    True
    """
    stored = _stored(path)
    try:
        audit = _audit_of(stored)
        _check(audit, stored, Path(path))
    except (KeyError, TypeError, ValueError, IndexError):
        raise InputError("holds no whole audit", path=Path(path)) from None
    return audit


def _stored(path: PathLike) -> StoredResult:
    place = Path(path)
    if place.suffix != ".json":
        raise InputError(
            "a certificate ends in .json", path=place, hint="audit --output audit.json writes it"
        )
    stored = read_result(place)
    if stored.command != "audit":
        raise InputError(f"holds a result of {stored.command}, not an audit", path=place)
    return stored


def _audit_of(stored: StoredResult) -> Audit | LeaderAudit:
    """The audit of which a certificate has the seed, the documents and the judgments."""
    made: dict[str, Any] = dict(stored.metadata)
    steps, documents = stored.to_frame("steps"), stored.to_frame("documents")
    is_of_leader = "urns" in made
    others = [str(run) for run in made["runs"][1:]] if is_of_leader else []
    of_each = [documents[documents["other"] == run] for run in others] or [documents]
    urns = tuple(map(_urn_of, of_each, made["urns"] if is_of_leader else [made["urn"]]))
    relevances = [frame["relevance"].to_numpy(dtype=np.int64) for frame in of_each]
    if any((urn.query_ids, urn.doc_ids) != (urns[0].query_ids, urns[0].doc_ids) for urn in urns) or any(
        not np.array_equal(relevance, relevances[0]) for relevance in relevances
    ):
        raise ValueError("differences have other documents or judgments")
    first = steps[steps["other"] == others[0]] if others and len(steps) else steps
    known = first["known"].to_numpy(dtype=np.int64) if len(first) else np.zeros(0, dtype=np.int64)
    if (known > np.arange(len(known))).any() or (known < 0).any() or len(known) > len(urns[0]):
        raise ValueError("a step knows of later ones")
    common: dict[str, Any] = {
        "run_ids": tuple(map(str, made["runs"])),
        "measure": str(made["measure"]),
        "relevance": relevances[0],
        "known": known,
        "random_seed": int(made["random_seed"]),
        "ci_prob": float(made["ci_prob"]),
        "until": None if made["until"] is None else float(made["until"]),
        "details": {name: made[name] for name in _DETAILS if name in made},
    }
    return LeaderAudit(urns=urns, **common) if is_of_leader else Audit(urn=urns[0], **common)


def _urn_of(documents: pd.DataFrame, made: Mapping[str, Any]) -> Urn:
    """Urn of its documents and the numbers beside them."""
    columns: dict[str, Any] = {name: documents[name].to_numpy(dtype=np.float64) for name in _COLUMNS}
    numbers: dict[str, Any] = {name: float(made[name]) for name in URN_NUMBERS}
    return Urn(
        query_ids=tuple(map(str, documents["query_id"])),
        doc_ids=tuple(map(str, documents["doc_id"])),
        **columns,
        **numbers,
        worth=tuple(map(float, made["worth"])),
    )


def _check(audit: Audit | LeaderAudit, stored: StoredResult, path: Path) -> None:
    """Raise `InputError` where the certificate is not what its seed and judgments give."""
    again, written = audit.to_frame("steps"), stored.to_frame("steps")
    if len(again) != len(written):
        raise InputError(f"has {len(written)} steps, and its documents give {len(again)}", path=path)
    for step in range(len(again)):
        _check_step(again.iloc[step], written.iloc[step], audit.random_seed, path)
    if isinstance(audit, LeaderAudit):
        _check_differences(audit.to_frame("differences"), stored.to_frame("differences"), path)
    for name, what in (("urn_digest", "what is drawn from"), ("digest", "the judgments and settings")):
        if audit.metadata[name] != stored.metadata.get(name):
            raise InputError(f"the digest of {what} is not the one written", path=path, hint=_CHANGED)
    if not np.allclose(audit.metadata["interval"], stored.metadata["interval"], atol=_TOLERANCE, rtol=0):
        raise InputError("the interval is not the one of the last step", path=path, hint=_CHANGED)
    for name in ("looseness", "evidence_against_posterior", "n_judged", "is_done"):
        ours, theirs = float(audit.metadata[name]), float(stored.metadata[name])
        if not _is_close(ours, theirs):
            raise InputError(f"{name} is {ours:.6g}, and {theirs:.6g} written", path=path, hint=_CHANGED)


_CHANGED = "the file was changed after the audit, or made otherwise"


def _check_step(again: pd.Series[Any], written: pd.Series[Any], random_seed: int, path: Path) -> None:
    where = f"step {again['step']}"
    if (again["query_id"], again["doc_id"]) != (written["query_id"], written["doc_id"]):
        reason = (
            f"{where}: seed {random_seed} and the judgments before draw document {again['doc_id']} of topic "
            f"{again['query_id']}, not {written['doc_id']} of {written['query_id']}"
        )
        raise InputError(reason, path=path, hint=_CHANGED)
    if again["relevance"] != written["relevance"]:
        reason = f"{where}: relevance {written['relevance']}, and {again['relevance']} among the documents"
        raise InputError(reason, path=path, hint=_CHANGED)
    if again.get("other") != written.get("other"):
        raise InputError(
            f"{where}: against {written['other']}, not {again['other']}", path=path, hint=_CHANGED
        )
    for name in again.index.drop(["query_id", "doc_id", "relevance", "other"], errors="ignore"):
        ours, theirs = float(again[name]), float(written[name])
        if not _is_close(ours, theirs):
            raise InputError(
                f"{where}: {name} is {ours:.6g}, and {theirs:.6g} written", path=path, hint=_CHANGED
            )


def _check_differences(again: pd.DataFrame, written: pd.DataFrame, path: Path) -> None:
    """Raise `InputError` where a difference is not what the last step gives."""
    if list(again["other"]) != list(written["other"]):
        raise InputError("the differences are not those of the runs", path=path, hint=_CHANGED)
    for (_, ours), (_, theirs) in zip(again.iterrows(), written.iterrows(), strict=True):
        for name in again.columns:
            if name in _TEXTS:
                is_same = ours[name] == theirs[name]
            else:
                is_same = _is_close(float(ours[name]), float(theirs[name]))
            if not is_same:
                raise InputError(
                    f"against {ours['other']}: {name} is {ours[name]}, and {theirs[name]} written",
                    path=path,
                    hint=_CHANGED,
                )


def _is_close(ours: float, theirs: float) -> bool:
    return bool(np.isclose(ours, theirs, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True))

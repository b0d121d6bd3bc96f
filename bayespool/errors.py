"""Exceptions and warnings of bayespool, and helpers for their messages."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

__all__ = [
    "PREPARE_ANEW",
    "BayespoolError",
    "BayespoolWarning",
    "CacheWarning",
    "DiagnosticsWarning",
    "ExperimentChangedWarning",
    "InputError",
    "InputWarning",
    "JobsWarning",
    "JudgeWarning",
    "MemoryWarning",
    "NoCollectionError",
    "NoPoolWarning",
    "OrganizationWarning",
    "OutputError",
    "PartialListWarning",
    "PoolWarning",
    "PooledRunWarning",
    "SparseJudgmentsWarning",
    "StatedPoolWarning",
    "WorkerError",
    "did_you_mean",
    "known_names",
    "some",
    "warn_caller",
]

_Class = TypeVar("_Class")

PREPARE_ANEW = "make the prepared collection anew: bayespool prepare"
"""Remedy for what in such a file is not as it was written."""


class BayespoolError(Exception):
    """Base class for errors that bayespool raises on purpose.

    The command line prints its message and exits with status 1. Anything else is a bug.
    """


class InputError(BayespoolError, ValueError):
    """Error for input that cannot be used, which ``except ValueError`` also catches.

    Parameters
    ----------
    reason : str
        What is wrong.
    path : Path or str, optional
        File or folder at fault.
    line : int, optional
        Line at fault, counted from 1.
    hint : str, optional
        What the user can do about it.

    Examples
    --------
    >>> print(InputError("expected 6 columns, found 5", path="a.run", line=12, hint="fix the line"))
    a.run, line 12: expected 6 columns, found 5; fix the line
    """

    def __init__(
        self, reason: str, *, path: Path | str | None = None, line: int | None = None, hint: str | None = None
    ) -> None:
        where = "" if path is None else str(path) + (f", line {line}" if line is not None else "") + ": "
        super().__init__(where + reason + (f"; {hint}" if hint else ""))
        self.reason, self.path, self.line, self.hint = reason, path, line, hint


class NoCollectionError(InputError):
    """Error for a missing collection, which functions raise once all their other arguments are checked."""


class OutputError(BayespoolError):
    """Error for a result that cannot be written, leaving an existing file unchanged."""


class WorkerError(BayespoolError):
    """Error for a worker process that died during an experiment."""


class BayespoolWarning(UserWarning):
    """Base class for bayespool's warnings."""


class CacheWarning(BayespoolWarning):
    """Warning that compiled loops cannot be cached on disk, so that every process recompiles them."""


class InputWarning(BayespoolWarning):
    """Warning that input was skipped, reinterpreted, unused or contradictory.

    Such input may be lines, documents or runs. With ``strict=False`` they are skipped or read otherwise;
    ranks and scores that disagree contradict each other.
    """


class OrganizationWarning(BayespoolWarning):
    """Warning that runs without a known organization are treated as one organization each."""


class PartialListWarning(OrganizationWarning):
    """Warning that a list of organizations names runs that were not read."""


class PoolWarning(BayespoolWarning):
    """Warning that the discovered pool does not look like a depth-k pool."""


class StatedPoolWarning(PoolWarning):
    """Warning that the judgments do not match the stated strategy, budget and seed of the pool."""


class NoPoolWarning(BayespoolWarning):
    """Warning that no run is pooled, so that posterior estimates rest on informative priors."""


class SparseJudgmentsWarning(NoPoolWarning):
    """Warning that only relevant documents are judged and no run is pooled.

    Posteriors have no value then.
    """


class PooledRunWarning(BayespoolWarning):
    """Warning that a run to score is pooled and fully judged, so that nothing is left to estimate."""


class DiagnosticsWarning(BayespoolWarning):
    """Warning that a sampler's diagnostics failed, so that its draws should not be trusted."""


class JobsWarning(BayespoolWarning):
    """Warning that more processes were requested than there are cores."""


class JudgeWarning(BayespoolWarning):
    """Warning that an LLM judge's labels are ignored or uninformative about the documents."""


class MemoryWarning(BayespoolWarning):
    """Warning that the request may need more memory than is available."""


class ExperimentChangedWarning(BayespoolWarning):
    """Warning that stored parts of an experiment are damaged or from other inputs or settings."""


_NOT_CALLERS = {"bayespool", "concurrent", "contextlib", "functools", "joblib"}
"""Packages whose stack frames are skipped: bayespool, and packages that call its functions."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the first calling line outside the package.

    Parameters
    ----------
    message : str
    category : type
        Usually a class of `bayespool.errors`.

    Warns
    -----
    Warning
        The given one, located where a script, notebook, test or user's own estimator calls a public function.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _module_name(frame.f_globals).split(".")[0] in _NOT_CALLERS:
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=_module_name(frame.f_globals),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _module_name(names: dict[str, object]) -> str:
    """Return the name of the module in which a frame runs.

    Generated methods of a dataclass have its module's.
    """
    return str(names.get("__name__") or "")


_MIN_PREFIX_CHARACTERS = 3


def some(names: Sequence[str], n: int = 3) -> str:
    """Return the first names in a list as text for a message."""
    return ", ".join(map(repr, names[:n])) + (" …" if len(names) > n else "")


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return a question that suggests a similar known name, or an empty string.

    Parameters
    ----------
    name : object
        The name in question. Case does not matter. Three or more characters that begin exactly one known name
        select it.
    known : iterable of object
        Known names.

    Examples
    --------
    >>> did_you_mean("posterior_combined", ["background", "posterior-combined"])
    "did you mean 'posterior-combined'?"
    >>> did_you_mean("drawz", ["draws", "tune"])
    "did you mean 'draws'?"
    >>> did_you_mean("sigma_org", ["sigma_topic", "sigma_organization"])
    "did you mean 'sigma_organization'?"
    >>> did_you_mean("elephant", ["draws", "tune"])
    ''
    """
    names = {str(known_name).lower(): str(known_name) for known_name in known}
    text = str(name).lower()
    begun = [lower for lower in names if len(text) >= _MIN_PREFIX_CHARACTERS and lower.startswith(text)]
    near = begun if len(begun) == 1 else difflib.get_close_matches(text, names, n=1, cutoff=0.7)
    return f"did you mean {names[near[0]]!r}?" if near else ""


def known_names(name: object, known: Iterable[object], *, before: str = "known: ") -> str:
    """Return a hint for an unknown name, with the most similar and all known names.

    Parameters
    ----------
    name : object
        The name in question.
    known : iterable of object
        Known names, in the order in which they are listed.
    before : str
        Text before the list.

    Examples
    --------
    >>> known_names("combnz", ["take", "combmnz"])
    "did you mean 'combmnz'? known: take, combmnz"
    >>> known_names("x", ["take", "combmnz"], before="there are: ")
    'there are: take, combmnz'
    """
    names = [str(known_name) for known_name in known]
    question = did_you_mean(name, names)
    return f"{question} {before}{', '.join(names)}".lstrip()

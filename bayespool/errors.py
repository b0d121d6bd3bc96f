"""Exception and warning classes of bayespool, and nothing else."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

__all__ = [
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
    "NoPoolWarning",
    "OrganizationWarning",
    "OutputError",
    "PartialListWarning",
    "PoolWarning",
    "PooledRunWarning",
    "StatedPoolWarning",
    "WorkerError",
    "did_you_mean",
    "known_names",
    "warn_caller",
]


class BayespoolError(Exception):
    """Base class of every error that bayespool raises on purpose.

    The command line prints its message and exits with status 1; anything else is a bug and keeps its
    traceback.
    """


class InputError(BayespoolError):
    """Input that cannot be used as it is.

    Parameters
    ----------
    reason : str
        What is wrong.
    path : Path or str, optional
        The file (or folder) at fault.
    line : int, optional
        The line at fault, counted from 1.
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


class OutputError(BayespoolError):
    """A result that cannot be written; whatever stood at the path before is untouched."""


class WorkerError(BayespoolError):
    """A process that worked on a part of an experiment died before it was done."""


class BayespoolWarning(UserWarning):
    """Base class of every warning that bayespool gives."""


class CacheWarning(BayespoolWarning):
    """Compiled loops cannot be kept on disk: every process compiles them anew."""


class InputWarning(BayespoolWarning):
    """Input lines, documents or runs were skipped or reinterpreted (``strict=False``), or are of no use."""


class OrganizationWarning(BayespoolWarning):
    """Runs have no known organization, so that each counts as an organization of its own."""


class PartialListWarning(OrganizationWarning):
    """A list of organizations names runs that were not read, as that of a whole campaign does where a part of
    its runs is read.
    """


class PoolWarning(BayespoolWarning):
    """The pool that was discovered looks unlike a depth-k pool."""


class StatedPoolWarning(PoolWarning):
    """The judgments are not those that the strategy, budget and seed stated of the pool lead to."""


class NoPoolWarning(BayespoolWarning):
    """No pooled run is at hand: posterior estimates rest on informative priors."""


class PooledRunWarning(BayespoolWarning):
    """A run to score is in the pool and judged in full, so that nothing of it is left to estimate."""


class DiagnosticsWarning(BayespoolWarning):
    """A sampler's diagnostics failed, so that its draws should not be trusted as they are."""


class JobsWarning(BayespoolWarning):
    """More processes are asked for than there are cores."""


class JudgeWarning(BayespoolWarning):
    """Labels of a second judge are not used, or say little of the documents in question."""


class MemoryWarning(BayespoolWarning):
    """What is asked may take more memory than there is."""


class ExperimentChangedWarning(BayespoolWarning):
    """What is stored of an experiment cannot be used: it is of another input or setting, or damaged."""


_PASSED_OVER = {"bayespool", "concurrent", "contextlib", "functools", "joblib"}
"""Packages whose frames are no caller's: ours, and those that call our functions for us."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Give a warning at the first line outside the package, going out from here.

    Parameters
    ----------
    message : str
    category : type
        Out of `bayespool.errors`, as a rule.

    Warns
    -----
    Warning
        The one given. Its ``filename`` and ``lineno`` are those of the call of a public function, in a
        script, a notebook or a test. An estimator of the user's own that calls the package is such a caller.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _name(frame.f_globals).split(".")[0] in _PASSED_OVER:
        frame = frame.f_back
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=_name(frame.f_globals),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _name(names: dict[str, object]) -> str:
    """Name of the module that a frame runs in; functions that a dataclass is given have its module's."""
    return str(names.get("__name__") or "")


_BEGINNING = 3  # characters of a name that stand for it


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """The question which of the known names was meant; empty where none is near.

    Parameters
    ----------
    name : object
        What was given. Upper and lower case count alike. The beginning of one name alone, three characters
        at least, stands for that name.
    known : iterable of object
        Names that there are.

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
    names = {str(one).lower(): str(one) for one in known}
    given = str(name).lower()
    begun = [one for one in names if len(given) >= _BEGINNING and one.startswith(given)]
    near = begun if len(begun) == 1 else difflib.get_close_matches(given, names, n=1, cutoff=0.7)
    return f"did you mean {names[near[0]]!r}?" if near else ""


def known_names(name: object, known: Iterable[object], *, before: str = "known: ") -> str:
    """A hint: which name was probably meant, and all that there are.

    Parameters
    ----------
    name : object
        What was given.
    known : iterable of object
        Names that there are, in the order in which they are listed.
    before : str
        What stands before the list.

    Examples
    --------
    >>> known_names("combnz", ["take", "combmnz"])
    "did you mean 'combmnz'? known: take, combmnz"
    >>> known_names("x", ["take", "combmnz"], before="there are: ")
    'there are: take, combmnz'
    """
    names = [str(one) for one in known]
    asked = did_you_mean(name, names)
    return f"{asked} {before}{', '.join(names)}".lstrip()

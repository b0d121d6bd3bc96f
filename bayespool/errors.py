"""Exception and warning classes of bayespool, and nothing else."""

from __future__ import annotations

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

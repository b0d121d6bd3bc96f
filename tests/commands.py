"""What a command of `bayespool` did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """Exit status, and what was printed."""

    status: int
    out: str
    err: str

"""What a command of `bayespool` is given, and what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """Exit status, and what was printed."""

    status: int
    out: str
    err: str


def with_defaults(defaults: Sequence[object], more: Sequence[object]) -> list[str]:
    """Options of a test, and those with one value each that it gives where it says nothing else."""
    pairs = zip(defaults[::2], defaults[1::2], strict=True)
    return [str(part) for pair in pairs if pair[0] not in more for part in pair] + list(map(str, more))


FAST = ("--estimators", "background")  # what is asked has nothing to do with the estimator


def arguments(folder: Path) -> list[str]:
    """Score the new runs of the example's files."""
    return [
        "score",
        str(folder / "new"),
        "--qrels",
        str(folder / "qrels.txt"),
        "--pool",
        str(folder / "pool"),
        "--organizations",
        str(folder / "organizations.csv"),
        "--each-its-own",  # as the example in memory has it, whose truth the list leaves out
    ]


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

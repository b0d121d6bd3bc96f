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


MAIN = "import sys; from bayespool.__main__ import main; sys.argv[0] = 'bayespool'; main()"


def campaign(folder: Path) -> list[str]:
    """Options that name the example's judgments, pool and organizations."""
    named = {"--qrels": "qrels.txt", "--pool": "pool", "--organizations": "organizations.csv"}
    return [part for option, name in named.items() for part in (option, str(folder / name))]


def arguments(folder: Path) -> list[str]:
    """Score the new runs of the example's files, as the example in memory has it, whose truth the list
    leaves out.
    """
    return ["score", str(folder / "new"), *campaign(folder), "--reading", "each_its_own"]


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

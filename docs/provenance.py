"""Which figures of pages are older than the engine that they rest on.

    python docs/provenance.py

A table or picture of results has a comment above it, which readers do not see:

    <!-- made by: python benchmarks/audit_validity.py at 246ec686 (auditing) -->

The commit wrote the figures, or found them again. In parentheses stand engines of ``engine.txt``, by default
*posterior*. Figures are older than an engine that their commit lacks, by the commits between the two that
changed its files: make them anew, or take them out.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent
MARK = re.compile(r"<!-- made by: (.+) at ([0-9a-f]{8})(?: \(([a-z, ]+)\))? -->")


class Engine(NamedTuple):
    """Rooms that make numbers, the last commit that changed one, and what it changed."""

    commit: str
    rooms: tuple[str, ...]
    why: str


class Mark(NamedTuple):
    """The comment above a figure: where it stands, and what it says."""

    place: str
    command: str
    commit: str
    engines: tuple[str, ...]


def read_engines() -> dict[str, Engine]:
    """Return the engines of ``engine.txt`` by name."""
    lines = (DOCS / "engine.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split(maxsplit=3) for line in lines if not line.startswith("#")]
    return {name: Engine(commit, tuple(rooms.split(",")), why) for name, commit, rooms, why in rows}


def read_marks() -> list[Mark]:
    """Return the marks of all pages; a comment that begins as one and does not parse ends the program."""
    marks = []
    for page in sorted(DOCS.glob("*.md")):
        for n, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("<!-- made by"):
                place, mark = f"docs/{page.relative_to(DOCS).as_posix()}:{n}", MARK.fullmatch(line)
                if mark is None:
                    raise SystemExit(
                        f"{place}: write '<!-- made by: COMMAND at COMMIT (ENGINES) -->': {line}"
                    )
                engines = tuple(mark[3].split(", ")) if mark[3] else ("posterior",)
                marks.append(Mark(place, mark[1], mark[2], engines))
    return marks


def git(*arguments: str) -> str | None:
    """Return what git prints, or None where it fails."""
    done = subprocess.run(["git", *arguments], cwd=DOCS.parent, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def n_changes(engine: Engine, since: str, until: str) -> int:
    """Return the number of commits that changed files of the engine; moves and merges do not count."""
    changed = ("--format=%h", "--no-merges", "--find-renames", "--diff-filter=M", f"{since}..{until}", "--")
    return len((git("log", *changed, *(f"bayespool/{room}" for room in engine.rooms)) or "").split())


def has_history() -> bool:
    """Return whether all of the history is here, as the age of figures needs it."""
    return shutil.which("git") is not None and git("rev-parse", "--is-shallow-repository") == "false"


def ages(engines: dict[str, Engine]) -> dict[Mark, str]:
    """Return the marks with the engines that they are older than; empty text for none."""
    found = {}
    for mark in read_marks():
        older = [
            f", older than {name} by {n_changes(engines[name], mark.commit, engines[name].commit)} commits"
            for name in mark.engines
            if git("merge-base", "--is-ancestor", engines[name].commit, mark.commit) is None
        ]
        found[mark] = "".join(older)
    return found


def main() -> None:
    """Print the marks with their days, and how many of them are older than an engine."""
    if not has_history():
        print("The history is not here, or not all of it: the age of figures cannot be told.")
        return
    engines = read_engines()
    age_of = ages(engines)
    for mark, age in age_of.items():
        day = git("log", "-1", "--format=%as", mark.commit) or "a day that the history lacks"
        print(f"{mark.place}: {mark.command}\n    {mark.commit} of {day}{age}")
    print(f"\n{len(age_of)} figures, {sum(map(bool, age_of.values()))} older than their engine.")
    for name, engine in engines.items():
        n = n_changes(engine, engine.commit, "HEAD")
        print(f"{name}: last changed by {engine.commit}, {n} later commits to its files. {engine.why}")


if __name__ == "__main__":
    main()

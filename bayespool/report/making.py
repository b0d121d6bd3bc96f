"""How a result was made: the command that repeats it, settings, seed, fingerprint, versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bayespool.report.content import Cell, Column, Section, Table, shown
from bayespool.report.provenance import MADE_BY

_ELSEWHERE = {MADE_BY, "bayespool", "diagnostics", "query_ids", "unjudged", "digests", "files"}
_ELSEWHERE |= {"notes", "statements", "warnings", "problems"}
_MANY = 12  # names of a list that are shown


def making_section(metadata: Mapping[str, Any]) -> Section:
    """What is needed to repeat a result.

    Parameters
    ----------
    metadata : mapping
        Of a result; ``made_by`` where a command wrote it.
    """
    made = metadata.get(MADE_BY, {})
    command, versions = made.get("command", ""), made.get("versions", {})
    versions = versions or {"bayespool": metadata.get("bayespool", "unknown")}
    said = [f"Versions: {', '.join(f'{name} {number}' for name, number in versions.items())}."]
    if fingerprint := metadata.get("fingerprint"):
        said.append(
            f"Fingerprint of the collection: {fingerprint}. The same runs, judgments, organizations and pool "
            "have the same."
        )
    seeds = list(dict.fromkeys(_seeds(metadata)))
    if seeds:
        said.append(f"Random seed: {', '.join(map(str, seeds))}. The same seed gives the same draws.")
    if command:
        said.append("The command that repeats it, in the same folder:")
    else:
        said.append("It was made from Python: no command is known that repeats it.")
    rows = tuple(
        (Cell(name), Cell(value))
        for key, of_key in metadata.items()
        if key not in _ELSEWHERE
        for name, value in _flat(str(key), of_key)
    )
    settings = Table("settings", "Settings", (Column("setting"), Column("value")), rows)
    return Section("How it was made", "made", tuple(said), command=command, tables=(settings,))


def _seeds(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        if value.get("random_seed") is not None:
            yield value["random_seed"]
        for part in value.values():
            yield from _seeds(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _seeds(part)


def _flat(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Settings within settings as rows of their own."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _flat(f"{name}: {key}", part)
    elif isinstance(value, list | tuple) and any(isinstance(part, Mapping) for part in value):
        for i, part in enumerate(value):
            named = part.get("name", i + 1) if isinstance(part, Mapping) else i + 1
            rest = {k: v for k, v in part.items() if k != "name"} if isinstance(part, Mapping) else part
            yield from _flat(f"{name}: {named}", rest)
    elif isinstance(value, list | tuple):
        if value:
            parts = [_setting(part) for part in value[:_MANY]]
            more = f" and {len(value) - _MANY} more" if len(value) > _MANY else ""
            yield name, ", ".join(parts) + more
    elif value is not None and value != "":
        yield name, _setting(value)


def _setting(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else shown(value)

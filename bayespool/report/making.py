"""Section of a report on the command, settings, seed, fingerprint and versions behind a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bayespool.report.content import Cell, Column, Section, Table, cell_text
from bayespool.report.provenance import MADE_BY

_KEYS_SHOWN_ELSEWHERE = {MADE_BY, "bayespool", "diagnostics", "query_ids", "unjudged", "digests", "files"}
_KEYS_SHOWN_ELSEWHERE |= {"notes", "statements", "warnings", "problems"}
_MAX_NAMES = 12


def making_section(metadata: Mapping[str, Any]) -> Section:
    """Section with all that is needed to repeat a result."""
    made = metadata.get(MADE_BY, {})
    command, versions = made.get("command", ""), made.get("versions", {})
    versions = versions or {"bayespool": metadata.get("bayespool", "unknown")}
    sentences = [f"Versions: {', '.join(f'{name} {number}' for name, number in versions.items())}."]
    if fingerprint := metadata.get("fingerprint"):
        sentences.append(
            f"Fingerprint of the collection: {fingerprint}. The same runs, judgments, organizations and pool "
            "have the same."
        )
    seeds = list(dict.fromkeys(_seeds(metadata)))
    if seeds:
        sentences.append(f"Random seed: {', '.join(map(str, seeds))}. The same seed gives the same draws.")
    if command:
        sentences.append("The command that repeats it, in the same folder:")
    else:
        sentences.append("It was made from Python: no command is known that repeats it.")
    rows = tuple(
        (Cell(name), Cell(value))
        for key, of_key in metadata.items()
        if key not in _KEYS_SHOWN_ELSEWHERE
        for name, value in _setting_rows(str(key), of_key)
    )
    settings = Table("settings", "Settings", (Column("setting"), Column("value")), rows)
    return Section("How it was made", "made", tuple(sentences), command=command, tables=(settings,))


def _seeds(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        if value.get("random_seed") is not None:
            yield value["random_seed"]
        for part in value.values():
            yield from _seeds(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _seeds(part)


def _setting_rows(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Names and texts of settings, nested ones as rows of their own."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _setting_rows(f"{name}: {key}", part)
    elif isinstance(value, list | tuple) and any(isinstance(part, Mapping) for part in value):
        for i, part in enumerate(value):
            named = part.get("name", i + 1) if isinstance(part, Mapping) else i + 1
            rest = {k: v for k, v in part.items() if k != "name"} if isinstance(part, Mapping) else part
            yield from _setting_rows(f"{name}: {named}", rest)
    elif isinstance(value, list | tuple):
        if value:
            parts = [_setting(part) for part in value[:_MAX_NAMES]]
            more = f" and {len(value) - _MAX_NAMES} more" if len(value) > _MAX_NAMES else ""
            yield name, ", ".join(parts) + more
    elif value is not None and value != "":
        yield name, _setting(value)


def _setting(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else cell_text(value)

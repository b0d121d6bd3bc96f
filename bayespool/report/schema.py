"""JSON Schema of what ``--json`` prints."""

from __future__ import annotations

from typing import Any

from bayespool.tables.columns import COLUMNS, KINDS


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the document that every command prints with ``--json``.

    Examples
    --------
    >>> rows = json_schema()["properties"]["tables"]["additionalProperties"]
    >>> rows["items"]["properties"]["ci_prob"]["type"]
    ['number', 'null']
    """
    value = {"type": ["string", "number", "boolean", "array", "object", "null"]}
    columns = {
        name: {"type": [KINDS[column.kind].json_type, "null"], "description": column.help}
        for name, column in COLUMNS.items()
    }
    row = {"type": "object", "properties": columns, "additionalProperties": value}
    sentences = {"type": "array", "items": {"type": "string"}}
    described = {
        "type": "object",
        "required": ["label", "kind", "help"],
        "properties": {
            "label": {"type": "string"},
            "kind": {"enum": list(KINDS)},
            "help": {"type": "string"},
        },
    }
    properties = {
        "command": {"type": "string", "description": "The command."},
        "version": {"type": "string", "description": "Version of bayespool."},
        "settings": {"type": "object", "description": "Options of the command, defaults included."},
        "metadata": {"type": "object", "description": "Fingerprint, pool, and settings of what was used."},
        "tables": {
            "type": "object",
            "description": "Rows by table; missing numbers are null.",
            "additionalProperties": {"type": "array", "items": row},
        },
        "columns": {
            "type": "object",
            "description": "What the columns of each table are.",
            "additionalProperties": {"type": "object", "additionalProperties": described},
        },
        "notes": {**sentences, "description": "What to know before quoting the result, and warnings."},
        "summary": {**sentences, "description": "The result in sentences."},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Result of a bayespool command",
        "type": "object",
        "required": ["command", "version", "settings", "metadata", "tables", "notes"],
        "properties": properties,
        "additionalProperties": False,
    }

"""The schema of --json that the documentation has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bayespool.tables.columns import COLUMNS, KINDS

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "_static" / "result.schema.json"


def properties(of: str) -> dict[str, Any]:
    """Properties of what a part of the document has."""
    part = json.loads(SCHEMA.read_text("utf-8"))["properties"][of]["additionalProperties"]
    found: dict[str, Any] = part.get("items", part.get("additionalProperties"))["properties"]
    return found


def test_the_schema_has_the_columns_of_results() -> None:
    columns = {
        name: {"type": [KINDS[column.kind].json_type, "null"], "description": column.help}
        for name, column in COLUMNS.items()
    }
    assert properties("tables") == columns
    assert columns["ci_prob"]["type"] == ["number", "null"]
    assert properties("columns")["kind"] == {"enum": list(KINDS)}

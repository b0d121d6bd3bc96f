"""The schema of --json that the documentation has."""

from __future__ import annotations

import json
from pathlib import Path

from bayespool.report.schema import json_schema

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "_static" / "result.schema.json"


def test_the_documentation_has_the_schema() -> None:
    """Written anew by: python -c "from bayespool.report.schema import json_schema as s; import json; …"."""
    assert json.loads(SCHEMA.read_text("utf-8")) == json_schema()

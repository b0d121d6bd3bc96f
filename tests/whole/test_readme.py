"""README shows what the package does now: its links lead somewhere. `make docs` runs its Python."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_links_lead_to_files_that_are_there() -> None:
    """Relative ones, which work in a checkout and wherever it is hosted; `.ci/metadata.py` has others."""
    definition = r"^\[([^\]]+)\]: (\S+)$"
    named = dict(re.findall(definition, README, flags=re.MULTILINE))
    text = re.sub(
        rf"^```.*?^```$|<!--.*?-->|`[^`\n]*`|{definition}", "", README, flags=re.MULTILINE | re.DOTALL
    )
    used = set(re.findall(r"\[([^\]]+)\](?![(\[])", text))
    assert len(used) > 10
    assert used == set(named)
    files = [*named.values(), *re.findall(r"\]\(([^)#]+)", README)]
    assert "docs/_static/late-runs.png" in files
    assert [file for file in files if not (ROOT / file).is_file()] == []

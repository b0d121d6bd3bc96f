"""Help in groups, on 80 columns."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from bayespool.cli import commands
from bayespool.cli.parameters import GROUPS

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = commands()


def test_tables_of_the_page_are_those_of_the_commands() -> None:
    """``python docs/options.py`` writes them."""
    made = runpy.run_path(str(ROOT / "docs" / "options.py"))
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    assert made["with_tables"](page) == page
    assert re.findall(r"^<!-- options in (\w+) -->$", page, flags=re.MULTILINE) == list(GROUPS)
    flags = {flag for entry in BY_NAME.values() for p in entry.params for flag in p.opts if "-" in flag}
    assert {flag for flag in flags if f"`{flag}`" not in page} == set()
    assert all(f"| `{name}` |" in page for name in BY_NAME)

"""Tables of options and commands that pages include."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from bayespool.cli import commands
from bayespool.cli.parameters import GROUPS

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = commands()


def test_tables_of_the_page_are_those_of_the_commands(tmp_path: Path) -> None:
    runpy.run_path(str(ROOT / "docs" / "options.py"))["write_options"](tmp_path)
    page = (ROOT / "docs" / "command-line.md").read_text("utf-8")
    assert re.findall(r"_generated/options_in_(\w+)\.md$", page, flags=re.MULTILINE) == list(GROUPS)
    tables = "".join((tmp_path / f"options_in_{group}.md").read_text("utf-8") for group in GROUPS)
    flags = {flag for entry in BY_NAME.values() for p in entry.params for flag in p.opts if "-" in flag}
    assert {flag for flag in flags if f"`{flag}`" not in tables} == set()
    assert all(f"| `{name}` |" in (tmp_path / "commands.md").read_text("utf-8") for name in BY_NAME)

"""The command that prints pages."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from bayespool.cli import app
from bayespool.errors import InputError


def test_a_page_is_printed_and_pages_are_listed() -> None:
    listed = CliRunner().invoke(app, ["docs"]).stdout.splitlines()
    assert "only-qrels         Only a run and qrels (BEIR, MS MARCO)" in listed
    for name in ("only-qrels", "docs/only-qrels.md"):
        assert CliRunner().invoke(app, ["docs", name]).stdout.startswith("# Only a run and qrels")
    with pytest.raises(InputError, match="no page 'only-qrel'"):
        CliRunner().invoke(app, ["docs", "only-qrel"], catch_exceptions=False)

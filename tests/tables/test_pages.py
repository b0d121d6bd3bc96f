"""Pages that an installation prints, and the addresses of which there may be none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bayespool.errors import InputError
from bayespool.tables import pages
from bayespool.tables.pages import find_pages, page_text, page_titles, read_addresses

PAGE = """---
file_format: mystnb
---

# Two words

% printed by: nothing
See {doc}`other`, {doc}`the models <models/one>`, {doc}`notebooks/lesson`, {py:func}`score <bayespool.score>`,
{term}`interval <posterior interval>` ([diary], [the tables][tables], [here](#two-words)).

[diary]: ../research/diary.md
[tables]: ../research/tables
"""


def test_a_page_is_read_without_what_only_the_site_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pages" / "models").mkdir(parents=True)
    for name in ("only-qrels", "other", "models/one"):
        (tmp_path / "pages" / f"{name}.md").write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(pages, "_FOLDERS", (tmp_path / "none", tmp_path / "pages"))
    assert list(find_pages()) == ["models/one", "only-qrels", "other"]
    assert page_titles() == dict.fromkeys(find_pages(), "Two words")
    assert page_text("other") == (
        "# Two words\n\nSee `bayespool docs other`, the models (`bayespool docs models/one`), lesson, "
        "score,\ninterval (diary, the tables, [here](#two-words))."
    )
    with pytest.raises(InputError, match="no page 'othr'; did you mean 'other'"):
        page_text("othr")


def test_every_page_can_be_printed_and_names_no_role() -> None:
    assert len(page_titles()) == len(find_pages()) > 30
    for name in find_pages():
        assert not re.search(r"\{(doc|term|py:\w+)\}`|\{(toctree|image|container)\}", page_text(name)), name


def test_addresses_have_no_slash_at_the_end() -> None:
    addresses = read_addresses()
    assert set(addresses) == {"site", "repository"}
    assert not any(address.endswith("/") for address in addresses.values())

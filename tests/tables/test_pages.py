"""Pages that an installation prints, and the addresses of which there may be none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bayespool.errors import InputError
from bayespool.tables import pages
from bayespool.tables.pages import find_pages, page_text, page_titles, read_addresses, resolve_links

PAGE = """# Two words

<!-- printed by: nothing -->
See [the other](other.md#two-words), [a lesson](../notebooks/lesson.ipynb), [the diary](../research/diary.md)
and [decisions](developers/decisions.md).

![A bar.](_static/bar.png)
"""


def test_a_page_is_read_without_what_only_the_site_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pages").mkdir()
    for name in ("only-qrels", "other"):
        (tmp_path / "pages" / f"{name}.md").write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(pages, "_FOLDERS", (tmp_path / "none", tmp_path / "pages"))
    assert list(find_pages()) == ["only-qrels", "other"]
    assert page_titles() == dict.fromkeys(find_pages(), "Two words")
    assert page_text("other") == (
        "# Two words\n\nSee the other (`bayespool docs other`), a lesson, the diary\nand "
        "decisions.\n\n(Figure: A bar.)"
    )
    with pytest.raises(InputError, match="no page 'othr'; did you mean 'other'"):
        page_text("othr")


def test_links_to_the_checkout_lead_into_the_repository() -> None:
    found = resolve_links(PAGE, "https://code.example/x")
    assert "[the diary](https://code.example/x/blob/main/research/diary.md)" in found
    assert "[decisions](https://code.example/x/blob/main/docs/developers/decisions.md)" in found


def test_every_page_can_be_printed_and_names_no_role() -> None:
    assert len(page_titles()) == len(find_pages()) > 25
    for name in find_pages():
        assert not re.search(r"\{(doc|term|py:\w+)\}`|^```\{|<!--", page_text(name), flags=re.MULTILINE), name


def test_addresses_have_no_slash_at_the_end() -> None:
    addresses = read_addresses()
    assert set(addresses) == {"site", "repository"}
    assert not any(address.endswith("/") for address in addresses.values())

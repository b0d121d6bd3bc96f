"""Pages of the documentation as text, and the public addresses of the project."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from bayespool.errors import InputError, known_names
from bayespool.tables.files import read_back

_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = (_PACKAGE / "pages", _PACKAGE.parent / "docs")  # of an installation, and of a checkout
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([\w/-]+)\.md(?:#[^)]*)?\)")
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./|(?=developers/))([^)\s]+)\)")  # that only a checkout has
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_COMMENT = re.compile(r"^<!--.*?-->\n", flags=re.DOTALL | re.MULTILINE)


def read_addresses() -> dict[str, str]:
    """Return the public addresses of the site and the repository, empty until there are any."""
    return dict(tomllib.loads(read_back(Path(__file__).with_name("addresses.toml")) or ""))


def find_pages() -> dict[str, Path]:
    """Return the pages that the installation has, by name."""
    folder = next((folder for folder in _FOLDERS if (folder / "only-qrels.md").is_file()), None)
    return {} if folder is None else {page.stem: page for page in sorted(folder.glob("*.md"))}


def page_text(name: str) -> str:
    """Return a page as text: links name commands, and pictures are their descriptions.

    Raises
    ------
    InputError
        There is no such page.

    Examples
    --------
    >>> page_text("only-qrels").splitlines()[0]
    '# Only a run and qrels (BEIR, MS MARCO)'
    """
    pages = find_pages()
    if name not in pages:
        raise InputError(f"no page {name!r}", hint=known_names(name, tuple(pages)))

    def in_words(link: re.Match[str]) -> str:
        return f"{link[1]} (`bayespool docs {link[2]}`)" if link[2] in pages else link[1]

    text = _COMMENT.sub("", read_back(pages[name]) or "")
    text = _PICTURE.sub(r"(Figure: \1)", resolve_links(text))
    return re.sub(r"\n{3,}", "\n\n", _LINK.sub(in_words, text)).strip()


def resolve_links(text: str, repository: str = "") -> str:
    """Return a page as the site has it: links to the checkout lead into the repository, or are words."""

    def outside(link: re.Match[str]) -> str:
        place = link[2] if link[0].endswith(f"(../{link[2]})") else f"docs/{link[2]}"
        return f"[{link[1]}]({repository}/blob/main/{place})" if repository else link[1]

    return _OUTSIDE.sub(outside, text)


def page_titles() -> dict[str, str]:
    """Return the title of each page by its name."""
    titles = ((name, re.search(r"^# (.+)$", page_text(name), flags=re.MULTILINE)) for name in find_pages())
    return {name: title[1] for name, title in titles if title is not None}

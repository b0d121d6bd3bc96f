"""Pages of the documentation as text, and the public addresses of the project."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from bayespool.errors import InputError, known_names
from bayespool.tables.files import read_back

_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = (_PACKAGE / "pages", _PACKAGE.parent / "docs")  # of an installation, and of a checkout
_ROLE = re.compile(r"\{(doc|term|py:\w+)\}`(?:([^`<]+?) <([^`>]+)>|([^`]+))`")
_BESIDE = re.compile(
    r"^\[([^\]]+)\]: (?:\.\./)+(research/\S+)\n?", flags=re.MULTILINE
)  # that only a checkout has
_BY_LABEL = re.compile(r"(?:\[([^\]\[]+)\])?\[([^\]\[]+)\](?!:)")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", flags=re.DOTALL)
_SITE_ALONE = re.compile(r"^```\{(?:toctree|image)\}.*?^```\n|^:{3,}[^\n]*\n", flags=re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"^%.*\n", flags=re.MULTILINE)


def read_addresses() -> dict[str, str]:
    """Return the public addresses of the site and the repository, empty until there are any."""
    return dict(tomllib.loads(read_back(Path(__file__).with_name("addresses.toml")) or ""))


def find_pages() -> dict[str, Path]:
    """Return the pages that the installation has, by name."""
    folder = next((folder for folder in _FOLDERS if (folder / "only-qrels.md").is_file()), None)
    if folder is None:
        return {}
    pages = [*folder.glob("*.md"), *(folder / "models").glob("*.md")]
    return {page.relative_to(folder).with_suffix("").as_posix(): page for page in sorted(pages)}


def page_text(name: str) -> str:
    """Return a page as text, without what only the site shows.

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

    def in_words(role: re.Match[str]) -> str:
        kind, title, target = role[1], role[2], role[3] or role[4]
        page = target.removeprefix("../")
        if kind != "doc" or page not in pages:
            return title or target.rpartition("/")[2]
        return f"{title} (`bayespool docs {page}`)" if title else f"`bayespool docs {page}`"

    text = _COMMENT.sub("", _FRONT_MATTER.sub("", read_back(pages[name]) or ""))
    text = re.sub(r"\n{3,}", "\n\n", _SITE_ALONE.sub("", text))
    return _ROLE.sub(in_words, resolve_links(text)).strip()


def resolve_links(text: str, repository: str = "") -> str:
    """Return a page whose links to the checkout lead into the repository, or are words without one."""
    if repository:
        return _BESIDE.sub(rf"[\1]: {repository}/blob/main/\2\n", text)
    labels = {match[1] for match in _BESIDE.finditer(text)}
    text = _BY_LABEL.sub(lambda link: (link[1] or link[2]) if link[2] in labels else link[0], text)
    return _BESIDE.sub("", text)


def page_titles() -> dict[str, str]:
    """Return the title of each page by its name."""
    titles = ((name, re.search(r"^# (.+)$", page_text(name), flags=re.MULTILINE)) for name in find_pages())
    return {name: title[1] for name, title in titles if title is not None}

"""Bibliography of the methods, which refer to papers by key."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bayespool import __version__
from bayespool.errors import InputError, known_names
from bayespool.tables.files import read_back
from bayespool.tables.pages import read_addresses

_INITIALS = r"^(?:\w\.(?:-\w\.)* )+"
_ARXIV = "https://arxiv.org/abs/"
_MAX_NAMED = 3  # authors in a short name
_PLACES = {"article": "journal", "inproceedings": "booktitle", "book": "publisher", "misc": "howpublished"}


@dataclass(frozen=True)
class Citation:
    """Paper, book or program cited by a method.

    Parameters
    ----------
    key : str
        Surnames and year in lower-case ASCII letters, such as ``webber-park-2009``.
    authors : tuple of str
        Initials before surnames, such as ``L. A. F. Park``.
    year : int
    title : str
    where : str
        Conference, journal, publisher or institution.
    kind : {"inproceedings", "article", "book", "misc"}
        Type of the BibTeX entry.
    volume, pages : str
        ``71(2)`` is number 2 of volume 71.
    doi, url : str
        Empty if unknown. The text has the URL, that of arXiv in short.

    Examples
    --------
    >>> CITATIONS["webber-park-2009"].name
    'Webber & Park 2009'
    >>> CITATIONS["sakai-2007"].text
    'T. Sakai (2007). Alternatives to bpref. SIGIR 2007, 71–78.'
    """

    key: str
    authors: tuple[str, ...]
    year: int
    title: str
    where: str = ""
    kind: Literal["inproceedings", "article", "book", "misc"] = "inproceedings"
    volume: str = ""
    pages: str = ""
    doi: str = ""
    url: str = ""

    @property
    def surnames(self) -> tuple[str, ...]:
        """Authors' surnames, without initials or a leading article."""
        return tuple(re.sub(_INITIALS, "", author).removeprefix("the ") for author in self.authors)

    @property
    def name(self) -> str:
        """Short citation with surnames and year, such as ``Webber & Park 2009``.

        Of more than three surnames only the first is named.
        """
        if len(self.authors) > _MAX_NAMED:
            return f"{self.surnames[0]} et al. {self.year}"
        return f"{_joined(self.surnames, ' & ')} {self.year}"

    @property
    def text(self) -> str:
        """Full citation on one line."""
        place = self.where + f" {self.volume}" * bool(self.volume) + f", {self.pages}" * bool(self.pages)
        title = self.title if self.title[-1] in ".?!" else f"{self.title}."
        parts = [f"{part}." for part in (place, self.url.replace(_ARXIV, "arXiv:")) if part]
        return " ".join([f"{_joined(self.authors, ' and ')} ({self.year}).", title, *parts])

    @property
    def bibtex(self) -> str:
        """BibTeX entry under the citation's key, in UTF-8."""
        edition, _, publisher = self.where.rpartition(", ") if self.kind == "book" else ("", "", self.where)
        volume, _, number = self.volume.rstrip(")").partition("(")
        arxiv = self.url.removeprefix(_ARXIV) if self.url.startswith(_ARXIV) else ""
        fields = {
            "author": " and ".join(map(_author_of_bibtex, self.authors)),
            "title": f"{{{self.title}}}",
            _PLACES[self.kind]: publisher,
            "edition": edition.removesuffix(" edition"),
            "year": str(self.year),
            "volume": volume,
            "number": number,
            "pages": self.pages.replace("–", "--"),
            "doi": self.doi,
            "eprint": arxiv,
            "archiveprefix": "arXiv" * bool(arxiv),
            "url": self.url,
        }
        lines = [
            f"  {name} = {{{value if name == 'url' else value.replace('&', chr(92) + '&')}}},"
            for name, value in fields.items()
            if value
        ]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def cite(keys: Iterable[str]) -> tuple[Citation, ...]:
    """Return the distinct citations for keys, sorted by author and year.

    Parameters
    ----------
    keys : iterable of str
        Keys of `CITATIONS`.

    Raises
    ------
    InputError
        A key is unknown; ``CITATIONS[key] = Citation(key, …)`` adds one of your own.

    Examples
    --------
    >>> [paper.name for paper in cite(["webber-park-2009", "sakai-2007", "webber-park-2009"])]
    ['Sakai 2007', 'Webber & Park 2009']
    """
    return tuple(sorted(map(_citation, dict.fromkeys(keys)), key=_place_in_list))


def citation_names(keys: Iterable[str]) -> str:
    """Return the short names for citation keys, in the order given.

    Examples
    --------
    >>> citation_names(["webber-park-2009", "sakai-2007"])
    'Webber & Park 2009; Sakai 2007'
    """
    return "; ".join(_citation(key).name for key in keys)


def _citation(key: str) -> Citation:
    if key not in CITATIONS:
        raise InputError(f"no citation {key!r}", hint=known_names(key, CITATIONS))
    return CITATIONS[key]


def _place_in_list(citation: Citation) -> tuple[list[str], int, str]:
    """Return a citation's sort key: surnames without accents, year and title."""
    plain = [
        unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode() for name in citation.surnames
    ]
    return [name.lower() for name in plain], citation.year, citation.title


def _joined(names: tuple[str, ...], last: str) -> str:
    return ", ".join(names[:-1]) + last * (len(names) > 1) + names[-1]


def _author_of_bibtex(author: str) -> str:
    """Return an author as BibTeX needs it: surname before initials, or a group in braces."""
    initials = re.match(_INITIALS, author)
    return f"{author[initials.end() :]}, {initials[0].strip()}" if initials else f"{{{author}}}"


def _bibliography() -> dict[str, Citation]:
    """Return the citations in ``bibliography.toml``, preceded by bayespool itself."""
    bayespool_citation = Citation(
        "bayespool",
        ("the bayespool developers",),
        2026,
        "bayespool: pool-bias correction of retrieval scores with honest intervals",
        f"Version {__version__}",
        kind="misc",
        url=read_addresses()["site"],
    )
    entries = tomllib.loads(read_back(Path(__file__).with_name("bibliography.toml")) or "")
    papers = {
        key: Citation(key, **{**entry, "authors": tuple(entry["authors"])}) for key, entry in entries.items()
    }
    return {bayespool_citation.key: bayespool_citation, **papers}


CITATIONS: dict[str, Citation] = _bibliography()
"""Bibliography keyed by citation key: bayespool itself, and all works cited in code and pages."""

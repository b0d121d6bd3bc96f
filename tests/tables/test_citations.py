"""The bibliography is data: what methods cite, as text and as BibTeX, in docs/bibliography.md alike."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from own_models import OWN_OF_DOCUMENTS

from bayespool.errors import InputError
from bayespool.inference import ENGINES, Laplace, register_engine
from bayespool.measures import MEASURES, Precision, register_measure
from bayespool.models import MODELS
from bayespool.scoring import ESTIMATORS, register_model
from bayespool.tables import CITATIONS, Citation, cite
from bayespool.tables.citations import citation_names

ROOT = Path(__file__).resolve().parents[2]


def test_citations_are_sorted_by_author_each_once() -> None:
    in_order = ["aslam-pavlu-savell-2003", "aslam-pavlu-yilmaz-2006", "bayespool", "sakai-2007"]
    assert [paper.key for paper in cite([*in_order[::-1], "sakai-2007"])] == in_order
    accented = cite(["sakai-2007", "sailynoja-burkner-vehtari-2022", "rubin-1987"])
    assert [paper.year for paper in accented] == [1987, 2022, 2007]
    with pytest.raises(InputError, match="no citation 'webber-park-2010'") as caught:
        cite(["sakai-2007", "webber-park-2010"])
    assert "webber-park-2009" in str(caught.value.hint)


def test_a_short_name_has_up_to_three_authors() -> None:
    names = {
        "webber-park-2009": "Webber & Park 2009",
        "lipani-lupu-hanbury-2015": "Lipani, Lupu & Hanbury 2015",
        "froebe-etal-2023": "Fröbe et al. 2023",
        "sparck-jones-van-rijsbergen-1975": "Spärck Jones & van Rijsbergen 1975",
        "bayespool": "bayespool developers 2026",
    }
    assert {key: citation_names([key]) for key in names} == names


def test_bibtex_of_a_paper_a_book_and_a_journal() -> None:
    paper = CITATIONS["webber-park-2009"].bibtex.splitlines()
    assert paper[:2] == ["@inproceedings{webber-park-2009,", "  author = {Webber, W. and Park, L. A. F.},"]
    assert paper[2] == "  title = {{Score adjustment for correction of pooling bias}},"
    assert paper[5:] == ["  pages = {444--451},", "  doi = {10.1145/1571941.1572018},", "}"]
    book = CITATIONS["thompson-2002"].bibtex.splitlines()
    assert book[3:] == ["  publisher = {Wiley},", "  edition = {2nd},", "  year = {2002},", "}"]
    for key, lines in (
        ("losada-parapar-barreiro-2017", r"  journal = {Information Processing \& Management},"),
        ("kendall-1945", "  volume = {33},\n  number = {3},\n  pages = {239--251},"),
        ("talts-etal-2018", "  eprint = {1804.06788},\n  archiveprefix = {arXiv},"),
        ("bayespool", "  author = {{the bayespool developers}},"),
    ):
        assert lines in CITATIONS[key].bibtex, key


def test_every_entry_is_whole_and_its_key_is_surnames_and_year() -> None:
    assert len({paper.text for paper in CITATIONS.values()}) == len(CITATIONS) > 60
    for key, paper in CITATIONS.items():
        assert key == paper.key
        assert re.fullmatch(r"bayespool|[a-z-]+-(18|19|20)\d\d(-[a-z]+)?", key)
        assert str(paper.year) in key or key == "bayespool"
        assert ("-etal-" in key) == (len(paper.authors) > 3)
        assert paper.bibtex.count("{") == paper.bibtex.count("}"), key
        assert paper.bibtex.startswith(f"@{paper.kind}{{{paper.key},\n")


def test_bibliography_page_has_the_same_entries() -> None:
    page = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")
    entries = re.findall(r"^- (.*?)(?=^- |^## |\Z)", page, flags=re.M | re.S)
    plain = [
        re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(entry.split()).replace("*", "")) for entry in entries
    ]
    by_text = {paper.text: key for key, paper in CITATIONS.items()}
    assert len(set(plain)) == len(plain)
    assert set(plain) == set(by_text) - {CITATIONS["bayespool"].text}
    for section in page.split("\n## ")[1:]:
        words = " ".join(section.replace("*", "").split())
        keys = [by_text[text] for text in plain if text[:60] in words]
        assert keys == [paper.key for paper in cite(keys)]


def test_bayespool_and_its_papers_are_those_of_the_citation_file() -> None:
    file = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    ours = CITATIONS["bayespool"]
    assert (ours.title, ours.url) == (file["title"], file.get("url", ""))
    assert (ours.year, ours.where) == (file["date-released"].year, f"Version {file['version']}")
    assert list(ours.authors) == [author["name"] for author in file["authors"]]
    by_title = {paper.title: paper for paper in CITATIONS.values()}
    assert len(file["references"]) == 4
    for reference in file["references"]:
        paper = by_title[reference["title"]]
        assert [author["family-names"] for author in reference["authors"]] == list(paper.surnames)
        assert (paper.year, paper.doi) == (reference["year"], reference.get("doi", ""))


def test_own_methods_cite_and_unknown_papers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Citation("toy-2026", ("A. Toy",), 2026, "What is a toy?", "Toys", kind="article", volume="1")
    with monkeypatch.context() as patched:
        patched.setitem(CITATIONS, own.key, own)
        assert [paper.text for paper in cite(["toy-2026"])] == ["A. Toy (2026). What is a toy? Toys 1."]
    citing = replace(OWN_OF_DOCUMENTS, name="citing", source="", citations=("kendall-1945",))
    register_model(citing)
    entry = ESTIMATORS["posterior-citing"]
    del MODELS["citing"], ESTIMATORS["posterior-citing"]
    assert (entry.source, entry.citations) == ("Kendall 1945", ("kendall-1945",))
    assert repr(citing) == repr(replace(citing, citations=()))  # what is stored of a model stays
    engine = type("Toy", (Laplace,), {"name": "toy", "citations": ("toy-2026",)})
    measure = type("Toy", (Precision,), {"name": "Toy", "citations": ("toy-2026",)})
    for register, cited in (
        (register_model, replace(citing, citations=("toy-2026",))),
        (register_engine, engine),
        (register_measure, measure),
    ):
        with pytest.raises(InputError, match="no citation 'toy-2026'"):
            register(cited)  # type: ignore[operator]
    assert not {"citing", "posterior-citing", "toy", "Toy"} & {*MODELS, *ESTIMATORS, *ENGINES, *MEASURES}


def test_citations_are_there_without_docstrings() -> None:
    """``python -OO`` drops docstrings and assertions."""
    code = """
from bayespool.corrections import SystemsAdjustment
from bayespool.scoring import ESTIMATORS
print(SystemsAdjustment.correct_all.__doc__, ESTIMATORS["condensed-list"].source)
"""
    command = [sys.executable, "-OO", "-X", "utf8", "-c", code]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=120)
    assert done.stdout == "None Sakai 2007; Webber & Park 2009, §2\n"

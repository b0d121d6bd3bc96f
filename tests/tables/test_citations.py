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

from bayespool import __version__
from bayespool.errors import InputError
from bayespool.inference import ENGINES, Laplace, register_engine
from bayespool.measures import MEASURES, Precision, register_measure
from bayespool.models import MODELS
from bayespool.scoring import ESTIMATORS, register_model
from bayespool.tables import CITATIONS, Citation, cite
from bayespool.tables.citations import citation_names

ROOT = Path(__file__).resolve().parents[2]


def test_citations_are_sorted_by_author_each_once() -> None:
    keys = [
        "webber-park-2009",
        "sakai-2007",
        "bayespool",
        "aslam-pavlu-yilmaz-2006",
        "aslam-pavlu-savell-2003",
    ]
    assert [paper.key for paper in cite([*keys, "sakai-2007"])] == [
        "aslam-pavlu-savell-2003",
        "aslam-pavlu-yilmaz-2006",
        "bayespool",
        "sakai-2007",
        "webber-park-2009",
    ]
    accented = cite(["sakai-2007", "sailynoja-burkner-vehtari-2022", "rubin-1987"])
    assert [paper.year for paper in accented] == [1987, 2022, 2007]
    assert cite([]) == ()


def test_an_unknown_key_is_refused_with_what_was_meant() -> None:
    with pytest.raises(InputError, match="no citation 'webber-park-2010'") as caught:
        cite(["sakai-2007", "webber-park-2010"])
    assert "webber-park-2009" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("sakai-2007", "Sakai 2007"),
        ("webber-park-2009", "Webber & Park 2009"),
        ("lipani-lupu-hanbury-2015", "Lipani, Lupu & Hanbury 2015"),
        ("froebe-etal-2023", "Fröbe et al. 2023"),
        ("sparck-jones-van-rijsbergen-1975", "Spärck Jones & van Rijsbergen 1975"),
        ("sailynoja-burkner-vehtari-2022", "Säilynoja, Bürkner & Vehtari 2022"),
        ("bayespool", "bayespool developers 2026"),
    ],
)
def test_a_short_name_has_up_to_three_authors(key: str, name: str) -> None:
    assert CITATIONS[key].name == citation_names([key]) == name


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (
            "rue-martino-chopin-2009",
            "H. Rue, S. Martino and N. Chopin (2009). Approximate Bayesian inference for latent Gaussian "
            "models by using integrated nested Laplace approximations. Journal of the Royal Statistical "
            "Society B 71(2), 319–392.",
        ),
        (
            "oosterhuis-etal-2024",
            "H. Oosterhuis, R. Jagerman, Z. Qin, X. Wang and M. Bendersky (2024). Reliable confidence "
            "intervals for information retrieval evaluation using generative A.I. KDD 2024. "
            "arXiv:2407.02464.",
        ),
        ("brennan-2001", "R. L. Brennan (2001). Generalizability Theory. Springer."),
        (
            "bayespool",
            "the bayespool developers (2026). bayespool: pool-bias correction of retrieval scores with "
            f"honest intervals. Version {__version__}. https://bayespool.github.io/bayespool.",
        ),
    ],
)
def test_text_is_one_line(key: str, text: str) -> None:
    assert CITATIONS[key].text == text


def test_bibtex_of_a_paper_a_book_and_a_journal() -> None:
    assert CITATIONS["webber-park-2009"].bibtex == (
        "@inproceedings{webber-park-2009,\n"
        "  author = {Webber, W. and Park, L. A. F.},\n"
        "  title = {{Score adjustment for correction of pooling bias}},\n"
        "  booktitle = {SIGIR 2009},\n"
        "  year = {2009},\n"
        "  pages = {444--451},\n"
        "  doi = {10.1145/1571941.1572018},\n"
        "}"
    )
    book = CITATIONS["thompson-2002"].bibtex.splitlines()
    assert book[3:] == ["  publisher = {Wiley},", "  edition = {2nd},", "  year = {2002},", "}"]
    journal = CITATIONS["losada-parapar-barreiro-2017"].bibtex
    assert r"  journal = {Information Processing \& Management}," in journal
    assert "  volume = {53}," in journal
    numbered = CITATIONS["kendall-1945"].bibtex
    assert "  volume = {33},\n  number = {3},\n  pages = {239--251}," in numbered
    preprint = CITATIONS["talts-etal-2018"].bibtex
    assert "  eprint = {1804.06788},\n  archiveprefix = {arXiv}," in preprint
    assert "  author = {{the bayespool developers}}," in CITATIONS["bayespool"].bibtex


def test_braces_of_every_entry_are_closed() -> None:
    for paper in CITATIONS.values():
        assert paper.bibtex.count("{") == paper.bibtex.count("}")
        assert paper.bibtex.startswith(f"@{paper.kind}{{{paper.key},\n")


def test_keys_are_surnames_and_year() -> None:
    assert len({paper.text for paper in CITATIONS.values()}) == len(CITATIONS) > 60
    for key, paper in CITATIONS.items():
        assert key == paper.key
        assert re.fullmatch(r"bayespool|[a-z-]+-(18|19|20)\d\d(-[a-z]+)?", key)
        assert str(paper.year) in key or key == "bayespool"
        assert ("-etal-" in key) == (len(paper.authors) > 3)


def test_bibliography_page_has_the_same_entries() -> None:
    page = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")
    entries = re.findall(r"^- (.*?)(?=^- |^## |\Z)", page, flags=re.M | re.S)
    plain = [
        re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(entry.split()).replace("*", "")) for entry in entries
    ]
    assert len(set(plain)) == len(plain)
    assert set(plain) == {paper.text for key, paper in CITATIONS.items() if key != "bayespool"}
    for section in page.split("\n## ")[1:]:
        by_text = {paper.text: key for key, paper in CITATIONS.items()}
        of_section = [
            text for text in plain if " ".join(section.replace("*", "").split()).find(text[:60]) >= 0
        ]
        keys = [by_text[text] for text in of_section]
        assert keys == [paper.key for paper in cite(keys)]


def test_bayespool_and_its_papers_are_those_of_the_citation_file() -> None:
    file = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    ours = CITATIONS["bayespool"]
    assert (ours.title, ours.url) == (file["title"], file["url"])
    assert (ours.year, ours.where) == (file["date-released"].year, f"Version {file['version']}")
    assert list(ours.authors) == [author["name"] for author in file["authors"]]
    by_title = {paper.title: paper for paper in CITATIONS.values()}
    assert len(file["references"]) == 4
    for reference in file["references"]:
        paper = by_title[reference["title"]]
        assert [author["family-names"] for author in reference["authors"]] == list(paper.surnames)
        assert (paper.year, paper.doi) == (reference["year"], reference.get("doi", ""))


def test_a_citation_of_ones_own() -> None:
    own = Citation("toy-2026", ("A. Toy",), 2026, "What is a toy?", "Toys", kind="article", volume="1")
    CITATIONS[own.key] = own
    try:
        assert [paper.text for paper in cite(["toy-2026"])] == ["A. Toy (2026). What is a toy? Toys 1."]
    finally:
        del CITATIONS["toy-2026"]


def test_measures_and_engines_say_what_they_cite() -> None:
    of_measures = {name: measure.citations for name, measure in MEASURES.items() if measure.citations}
    assert of_measures == {
        "AntiP": ("lipani-lupu-hanbury-2015",),
        "DCG": ("jarvelin-kekalainen-2002",),
        "ERR": ("chapelle-etal-2009",),
        "INST": ("moffat-etal-2015",),
        "RBP": ("moffat-zobel-2008",),
        "SDCG": ("ravana-moffat-2010",),
        "nDCG": ("jarvelin-kekalainen-2002",),
    }
    of_engines = {name: engine.citations for name, engine in ENGINES.items()}
    assert of_engines == {
        "laplace": ("rue-martino-chopin-2009", "tierney-kadane-1986"),
        "nuts": ("hoffman-gelman-2014", "abril-pla-etal-2023"),
    }
    keys = {key for keys in (*of_measures.values(), *of_engines.values()) for key in keys}
    assert len(cite(keys)) == 10


def test_own_methods_cite_and_unknown_papers_are_refused() -> None:
    citing = replace(OWN_OF_DOCUMENTS, name="citing", source="", citations=("kendall-1945",))
    register_model(citing)
    try:
        entry = ESTIMATORS["posterior-citing"]
        assert (entry.source, entry.citations) == ("Kendall 1945", ("kendall-1945",))
        assert repr(citing) == repr(replace(citing, citations=()))  # what is stored of a model stays
    finally:
        del MODELS["citing"], ESTIMATORS["posterior-citing"]
    unknown = ("toy-2026",)
    engine = type("Toy", (Laplace,), {"name": "toy", "citations": unknown})
    measure = type("Toy", (Precision,), {"name": "Toy", "citations": unknown})
    for register in (
        lambda: register_model(replace(citing, citations=unknown)),
        lambda: register_engine(engine),
        lambda: register_measure(measure),
    ):
        with pytest.raises(InputError, match="no citation 'toy-2026'"):
            register()
    assert "citing" not in MODELS
    assert "posterior-citing" not in ESTIMATORS
    assert "toy" not in ENGINES
    assert "Toy" not in MEASURES


def test_citations_are_there_without_docstrings() -> None:
    """``python -OO`` drops docstrings and assertions."""
    code = """
from bayespool.corrections import SystemsAdjustment
from bayespool.scoring import DEFAULT_ESTIMATORS, ESTIMATORS
from bayespool.tables import cite
print(SystemsAdjustment.correct_all.__doc__)
for paper in cite(key for name in DEFAULT_ESTIMATORS for key in ESTIMATORS[name].citations):
    print(paper.text)
print(ESTIMATORS["condensed-list"].source)
"""
    done = subprocess.run(
        [sys.executable, "-OO", "-X", "utf8", "-c", code],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "None",
        "A. Lipani, M. Lupu and A. Hanbury (2015). Splitting water: precision and anti-precision to reduce "
        "pool bias. SIGIR 2015, 103–112.",
        "S. D. Ravana and A. Moffat (2010). Estimating system effectiveness scores with incomplete evidence. "
        "Proceedings of the 15th Australasian Document Computing Symposium.",
        "T. Sakai (2007). Alternatives to bpref. SIGIR 2007, 71–78.",
        "W. Webber and L. A. F. Park (2009). Score adjustment for correction of pooling bias. SIGIR 2009, "
        "444–451.",
        "Sakai 2007; Webber & Park 2009, §2",
    ]

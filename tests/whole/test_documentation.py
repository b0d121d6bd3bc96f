"""What the pages are made of: the names, the papers and the addresses that they give."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

import bayespool

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def load(name: str) -> ModuleType:
    """A module of the folder of pages, which is no package."""
    spec = spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


inventories, names = load("inventories"), load("names")

YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)\b")


def cited_in_docstrings() -> list[str]:
    """Entries of the sections called References of the package's docstrings."""
    found = []
    for path in sorted((ROOT / "bayespool").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "References\n" in source else ():
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                section = re.search(r"References\n-+\n(.*?)(?=\n\n?\w+\n---|\Z)", text, flags=re.DOTALL)
                if section:
                    found += re.split(r"(?<=[.\d])\n(?=(?:[A-Z]\. )+\w)", section[1])
    return [" ".join(entry.split()) for entry in found]


def cited_on_pages() -> list[str]:
    """Entries of the sections called References of the pages."""
    found = []
    for page in sorted(DOCS.glob("*.md")):
        section = re.search(
            r"^## References\n(.*?)(?=^```|^## |\Z)", page.read_text(encoding="utf-8"), re.M | re.S
        )
        if section:
            found += re.split(r"\n\s*(?:\n|- )", section[1])
    return [" ".join(entry.split()).removeprefix("- ") for entry in found if entry.strip()]


def test_the_bibliography_has_what_is_cited() -> None:
    page = (DOCS / "bibliography.md").read_text(encoding="utf-8")
    listed = [
        " ".join(entry.split()) for entry in re.findall(r"^- (.*?)(?=^- |^## |\Z)", page, flags=re.M | re.S)
    ]
    assert len(listed) > 40
    in_docstrings, on_pages = cited_in_docstrings(), cited_on_pages()
    assert min(len(in_docstrings), len(on_pages)) > 10
    missing = []
    for entry in (*in_docstrings, *on_pages):
        year, author = YEAR.search(entry), re.search(r"\b[A-ZÀ-Ž][\wÀ-ž]+(?:-[A-Z]\w+)?", entry)
        assert year is not None, entry
        assert author is not None, entry
        if not any(f"({year[1]})" in one and author[0] in one.split("(")[0] for one in listed):
            missing.append(entry)
    assert missing == []


def test_names_that_most_users_need_are_all_public_names() -> None:
    groups = names.groups()
    listed = [name.rsplit(".", 1)[1] for group in groups.values() for name in group]
    constants = {"UNJUDGED", "rcParams"}
    assert sorted({*listed, *constants}) == sorted(bayespool.__all__)
    assert len(set(listed)) == len(listed)
    assert len(groups) >= len(names.GROUPS)


def test_names_of_other_packages_exist() -> None:
    for project, (address, listed) in inventories.PROJECTS.items():
        assert address.startswith("https://")
        for name, (role, _) in listed.items():
            if role == "std:term":
                continue
            home, _, last = name.rpartition(".")
            assert hasattr(import_module(home or "builtins"), last), f"{project} has no {name}"


def test_inventories_can_be_read(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    from sphinx.util.inventory import InventoryFile

    mapping = inventories.write_inventories(tmp_path)
    assert set(mapping) == set(inventories.PROJECTS)
    address, _ = mapping["pandas"]
    found = InventoryFile.loads((tmp_path / "pandas.inv").read_bytes(), uri=address.rstrip("/")).data
    frame = found["py:class"]["pandas.DataFrame"]
    assert frame.uri == "https://pandas.pydata.org/docs/reference/api/pandas.DataFrame.html#pandas.DataFrame"


def test_types_in_docstrings_lead_somewhere() -> None:
    types = inventories.type_names()
    assert types["Collection"] == "bayespool.collection.Collection"
    assert types["ndarray"] == "numpy.ndarray"
    assert hasattr(bayespool.collection, "Collection")

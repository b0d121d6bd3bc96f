"""Names use the words of the glossary: one word for one thing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bayespool import compare, judge_next, leave_out, load_example, score
from bayespool.options import Settings

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bayespool"
LIBRARY = {"FileNotFoundError", "PackageNotFoundError", "ModuleNotFoundError"}


def words_not_used() -> set[str]:
    """The last column of the glossary's table of words in names."""
    table = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").split("## Words in names")[1]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ")][2:]
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row[3])}


def names_in(source: str) -> Iterator[str]:
    """Names that a module defines or gives a value: variables, functions, classes, parameters, attributes."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name


def in_words(name: str) -> str:
    """``_asTheyStand``, ``as-they-stand`` and ``AS_THEY_STAND`` as ``_as_they_stand_``."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return f"_{'_'.join(parts).lower()}_"


def wrong_words(names: set[str], forbidden: set[str]) -> set[str]:
    return {name for name in names for word in forbidden if f"_{word}_" in in_words(name)} - LIBRARY


def test_words_are_seen_in_any_spelling() -> None:
    forbidden = {"as_they_stand", "found"}
    wrong = {"AS_THEY_STAND", "better_as_they_stand", "found", "FoundJudgments", "n_found", "check-found"}
    assert wrong_words(wrong | {"foundation", "profound", "as_judged", "they"}, forbidden) == wrong


def test_modules_use_the_words_of_the_glossary() -> None:
    forbidden = words_not_used()
    assert {"found", "said", "told", "as_they_stand", "utils"} <= forbidden
    modules = {
        path.relative_to(PACKAGE).as_posix(): set(names_in(path.read_text(encoding="utf-8")))
        for path in PACKAGE.rglob("*.py")
    }
    modules["every file"] = {Path(module).stem for module in modules}
    wrong = {module: wrong_words(names, forbidden) for module, names in modules.items()}
    assert {module: names for module, names in wrong.items() if names} == {}


def test_options_use_the_words_of_the_glossary() -> None:
    kinds = [*Settings.__subclasses__()]
    for kind in kinds:
        kinds += kind.__subclasses__()
    names = {name for kind in kinds for name in kind.__dataclass_fields__}
    assert len(names) > 50
    assert wrong_words(names, words_not_used()) == set()


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_columns_use_the_words_of_the_glossary() -> None:
    example, estimators = load_example(), ["as-judged", "interpolated"]
    frames = (
        score(example, "new-a", "P@10", estimators=estimators).to_frame(),
        leave_out(example, "P@10", estimators=estimators).to_frame(),
        compare(example, ["new-a", "new-b"], "P@10", estimators=["interpolated"]).differences(),
        judge_next(example, "new-a", "P@10", estimator="posterior-ratio", draws=100).to_frame(),
    )
    columns = {str(column) for frame in frames for column in frame.columns}
    assert len(columns) > 30
    assert wrong_words(columns, words_not_used()) == set()

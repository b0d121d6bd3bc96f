"""Names use the words of decisions.md, docstrings are numpydoc, and walks of the page go where calls go."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import FrameType

import click
import pytest
from small import small

import bayespool
from bayespool import compare, judge_next, leave_out, score
from bayespool.cli import commands

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bayespool"
LIBRARY = {"FileNotFoundError", "PackageNotFoundError", "ModuleNotFoundError"}


def words_not_used() -> set[str]:
    """The last column of the table of words in names."""
    page = (ROOT / "docs" / "developers" / "decisions.md").read_text(encoding="utf-8")
    table = page.split("## Words in names")[1].split("\n## ")[0]
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
    spelled = {name: in_words(name) for name in names - LIBRARY}
    return {name for name, words in spelled.items() if any(f"_{word}_" in words for word in forbidden)}


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_names_options_and_columns_use_the_words_of_the_table() -> None:
    wrong = {"AS_THEY_STAND", "better_as_they_stand", "found", "FoundJudgments", "n_found", "check-found"}
    right = {"foundation", "profound", "as_judged", "they"}
    assert wrong_words(wrong | right, {"as_they_stand", "found"}) == wrong

    forbidden = words_not_used()
    assert {"found", "said", "told", "as_they_stand", "utils"} <= forbidden
    names = {
        path.relative_to(PACKAGE).as_posix(): set(names_in(path.read_text(encoding="utf-8")))
        for path in PACKAGE.rglob("*.py")
    }
    names["every file"] = {Path(module).stem for module in names}
    options = (
        p
        for entry in commands().values()
        for p in entry.get_params(click.Context(entry, **entry.context_settings))
    )
    names["options"] = {str(option.name) for option in options}
    collection, points = small(), {"measures": "P@10", "estimators": ["as-judged", "interpolated"]}
    frames = (
        score(collection, "new-a", **points).to_frame(),  # type: ignore[arg-type]
        leave_out(collection, **points).to_frame(),  # type: ignore[arg-type]
        compare(collection, ["new-a", "new-b"], "P@10", estimators=["interpolated"]).differences(),
        judge_next(collection, "new-a", "P@10", estimators="posterior-ratio(draws=50)").to_frame(),
    )
    names["columns"] = {str(column) for frame in frames for column in frame.columns}
    assert min(len(names["options"]), len(names["columns"])) > 30
    found = {where: wrong_words(there, forbidden) for where, there in names.items()}
    where_wrong = {where: there for where, there in found.items() if there}
    assert where_wrong == {}, "docs/developers/decisions.md, Words in names, has the words to use instead"


def definitions() -> Iterator[tuple[str, str, str]]:
    """Yield file, name and docstring's first line of each function and class of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                summary = (ast.get_docstring(node) or "").partition("\n")[0]
                yield path.relative_to(PACKAGE).as_posix(), node.name, summary


def test_a_name_ends_in_its_head_noun_and_a_docstring_begins_with_a_verb_or_a_noun() -> None:
    """``run_notes`` and not ``of_runs``; "Return the runs …" and not "What runs …"."""
    defined = list(definitions())
    assert len(defined) > 1500
    headless = [(file, name) for file, name, _ in defined if re.match("_?of_", name)]
    assert headless == [], "a name ends in its head noun: run_notes, not of_runs"
    pronouns = re.compile(r"(What|How|Where|When|That|Those|The same|As|Who|Whom|Whose|It|They|Of)\b")
    wrong = [(file, name, text) for file, name, text in defined if pronouns.match(text)]
    assert wrong == [], "a docstring begins with a verb (function) or a noun (class, property)"


# --- docstrings --------------------------------------------------------------------------------------------

# Checks of numpydoc that are left out, with the reason; all others hold.
LEFT_OUT = {
    "EX01": "examples stand where they help",
    "ES01": "a summary may say it all",
    "GL01": "the summary stands on the line of the quotes",
    "GL02": "the quotes of a short docstring stand on its line",
    "GL08": "ruff asks for docstrings (D1)",
    "PR01": "a sentence may explain parameters; fields of a dataclass are attributes",
    "PR02": "settings of an estimator are fields, which are documented as parameters",
    "PR03": "what is given by keyword may stand in groups",
    "PR04": "several parameters may share a type",
    "PR07": "a name and a type may say it all",
    "RT01": "the summary of a short docstring says what comes back",
    "RT02": "values that come back may have names",
    "RT03": "as PR07",
    "RT04": "what comes back may be a formula",
    "SA01": "pages, not docstrings, say what to read next",
    "SS03": "a summary may end in a bracket or a formula",
    "SS05": "that of a class or a property is a noun phrase",
    "SS06": "a summary may need two lines",
    "YD01": "as RT01",
}


def public() -> set[str]:
    """Full names of public functions and classes of the rooms."""
    found = set()
    for room in pkgutil.iter_modules(bayespool.__path__, "bayespool."):
        if room.name in ("bayespool.__main__", "bayespool.cli"):  # click makes the help of commands
            continue
        module = importlib.import_module(room.name)
        offered = [getattr(module, name) for name in getattr(module, "__all__", ())]
        found |= {
            f"{thing.__module__}.{thing.__qualname__}"
            for thing in offered
            if inspect.isfunction(thing) or inspect.isclass(thing)
        }
    return {name for name in found if name.startswith("bayespool.")}


def test_docstrings_of_public_names_are_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    from numpydoc.validate import ERROR_MSGS, validate

    assert set(LEFT_OUT) <= set(ERROR_MSGS)
    monkeypatch.setattr(inspect, "getsourcelines", cache(inspect.getsourcelines))  # asked for twice
    names = public()
    assert len(names) > 200
    errors = [(name, code, what) for name in sorted(names) for code, what in validate(name)["errors"]]
    assert [error for error in errors if error[1] not in LEFT_OUT] == []


# --- walks through files that decide a number --------------------------------------------------------------

MOST_FILES = 10
FILE = r"`([\w/]+\.py)`"


def section_of_the_page(heading: str) -> str:
    text = (ROOT / "docs" / "developers" / "architecture.md").read_text(encoding="utf-8")
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def called_by(work: Callable[[], object]) -> list[str]:
    """Files of the package whose functions are called, in the order of their first calls."""
    files: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and Path(frame.f_code.co_filename).is_relative_to(PACKAGE):
            files[Path(frame.f_code.co_filename).relative_to(PACKAGE).as_posix()] = None

    work()  # so that imports are over
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return list(files)


def test_the_walk_is_short_and_names_what_a_posterior_number_calls() -> None:
    section = section_of_the_page("A walk")
    rows = re.findall(rf"^\| (\d+) \| {FILE} \| .+ \|$", section, flags=re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    assert section.count("\n| ") == len(rows) + 2, "a row of the walk is not number | `file` | what happens"
    walk = [file for _, file in rows]
    details = set(re.findall(FILE, section)) - set(walk)
    assert 1 < len(set(walk)) == len(walk) <= MOST_FILES
    assert not [file for file in (*walk, *details) if not (PACKAGE / file).is_file()]

    files = set(called_by(lambda: score(small(), "new-b", "P@10", estimators="posterior-ratio")))
    assert not set(walk) - files, "in the walk and not called"
    assert sorted(files - set(walk) - details) == [], "called and not on the page"
    assert sorted(details - files) == [], "a detail that is not called"


def test_short_walks_go_through_called_files_in_their_order() -> None:
    section = section_of_the_page("Three more walks")
    rows = re.findall(rf"^\| .+ → (.+) \| ({FILE}(?:, {FILE})*) \|$", section, flags=re.MULTILINE)
    assert section.count("\n| ") == len(rows) + 2, "a row of the walks is not from → to | `file`, `file`"
    walks = {row[0]: re.findall(FILE, row[1]) for row in rows}
    work: dict[str, Callable[[], object]] = {
        "its values on runs": lambda: score(replace(small()), None, "nDCG@10", estimators="as-judged"),
        "one document's relevance in one draw": lambda: score(small(), "new-b", estimators="posterior-ratio"),
        "a collection with judgments concealed": lambda: leave_out(small(), "P@10", estimators="as-judged"),
    }
    assert walks.keys() == work.keys()
    for name, walk in walks.items():
        assert 1 < len(walk) <= MOST_FILES, name
        called = called_by(work[name])
        assert not set(walk) - set(called), f"{name}: in the walk and not called"
        assert [file for file in called if file in walk] == walk, f"{name}: first called in another order"


def test_one_step_resolves_what_is_asked_and_what_comes_after_reads_its_result() -> None:
    """No command looks for runs or pools by itself, and no check after it asks the room of the collection."""
    looks = {"find_targets", "unpool_runs", "truncate_pool", "check_own_judgments", "describe_pool"}
    for file in ("scoring/judging", "scoring/imputing", "auditing/starting", "comparisons/comparing"):
        assert called_names(f"{file}.py") >= {"Asked", "resolve"}, file
        assert not called_names(f"{file}.py") & looks, file
    for file, function in (("comparisons/comparing", "gate"), ("comparisons/planning", "")):
        assert called_names(f"{file}.py", function) >= {"Asked", "resolve", "score_targets"}, file
        assert not called_names(f"{file}.py") & looks, file
    source = (PACKAGE / "scoring" / "asked.py").read_text(encoding="utf-8")
    of_collection = {
        alias.asname or alias.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("bayespool.collection")
        for alias in node.names
    }
    assert of_collection >= {"find_targets", "expect_collection", "tie_notes"}
    assert not called_names("scoring/scoring.py", "score_targets") & of_collection


def called_names(file: str, function: str = "") -> set[str]:
    """Names of what a module, or one of its functions, calls."""
    tree = ast.parse((PACKAGE / file).read_text(encoding="utf-8"))
    parts = [node for node in tree.body if not function or getattr(node, "name", "") == function]
    calls = [node.func for part in parts for node in ast.walk(part) if isinstance(node, ast.Call)]
    return {node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in calls}

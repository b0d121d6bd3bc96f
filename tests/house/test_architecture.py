"""The package keeps to the rooms and the contracts of docs/developers/architecture.md."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

from each import cases

import bayespool

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bayespool"
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 600

# Package name → rooms that may import it. A name that is not here may be imported anywhere.
ONLY_IN = {
    "arviz": set(),
    "arviz_base": {"tables", "inference"},
    "arviz_stats": {"inference"},
    "matplotlib": {"plots"},
    "numba": {"compiled"},
    "nutpie": {"inference"},
    "pyarrow.csv": {"reading"},
    "pymc": {"models", "inference"},
    "pytensor": {"models", "inference"},
}
# Package name → rooms that may import it at their top; the others do so inside the function that uses it.
AT_THE_TOP_ONLY_IN = {
    "arviz_base": set(),
    "arviz_stats": set(),
    "matplotlib": set(),
    "numba": set(),
    "nutpie": set(),
    "pymc": {"models", "inference"},
    "pytensor": {"models", "inference"},
    "rich": {"cli", "report"},
    "scipy.stats": set(),
    "statsmodels": set(),
}
PROBABILISTIC = ("arviz", "arviz_base", "arviz_stats", "nutpie", "pymc", "pytensor")
NOT_BY_THE_FRONT_DOOR = (*PROBABILISTIC, "matplotlib", "pandas", "scipy.stats")
NOT_BY_ANY_LIBRARY_MODULE = (*PROBABILISTIC, "matplotlib", "scipy.stats", "statsmodels")


@dataclass(frozen=True)
class Room:
    name: str
    is_folder: bool
    purpose: str


@dataclass(frozen=True)
class Import:
    module: str
    line: int
    at_the_top: bool  # runs when the importing module is imported


def section_of_the_page(heading: str) -> str:
    text = (ROOT / "docs" / "developers" / "architecture.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 1500, "the page is read in a few minutes"
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def read_rooms() -> tuple[Room, ...]:
    """Rooms of the page, in its order."""
    section = section_of_the_page("Rooms")
    rows = re.findall(r"^\| `(\w+)(/?)` \| ([^|]+) \|$", section, flags=re.MULTILINE)
    n_lines = sum(line.startswith("| `") for line in section.splitlines())
    assert len(rows) == n_lines, "a row of the table of rooms is not `room` | purpose"
    return tuple(Room(name, bool(slash), purpose) for name, slash, purpose in rows)


ROOMS = read_rooms()
ORDER = {room.name: place for place, room in enumerate(ROOMS)}


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """All of a file: to walk through the tree takes longer than to look at what is met."""
    return list(ast.walk(parse(path)))


def name_of(path: Path) -> str:
    """Dotted name of a module file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """Room of a module of the package: its first part after the package's name."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or path.is_dir()


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def statements(node: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Every node below ``node``, with whether it runs when the module is imported."""
    left = [(child, True) for child in ast.iter_child_nodes(node)]
    for child, at_the_top in left:  # which grows
        yield child, at_the_top
        deferred = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or is_type_checking(
            child
        )
        left += [(below, at_the_top and not deferred) for below in ast.iter_child_nodes(child)]


def imports_of(tree: ast.Module) -> list[Import]:
    """Imports of a module, wherever in it; ``from a import b`` is ``a.b`` where that is a module of ours."""
    found = []
    for node, at_the_top in statements(tree):
        if isinstance(node, ast.Import):
            found += [Import(alias.name, node.lineno, at_the_top) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module is not None
            for alias in node.names:
                longer = f"{node.module}.{alias.name}"
                ours = node.module.split(".")[0] == "bayespool"
                # scipy.stats is written as "from scipy import stats" too; the version belongs to no room
                known = longer in {*ONLY_IN, *AT_THE_TOP_ONLY_IN, "bayespool.__version__"}
                name = longer if known or (ours and is_module(longer)) else node.module
                found.append(Import(name, node.lineno, at_the_top))
    return found


@cache
def imports_in(path: Path) -> list[Import]:
    return imports_of(parse(path))


def belongs_to(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


every_file = cases("path", FILES)


def test_rooms_of_the_page_are_there_once_each() -> None:
    for room in ROOMS:
        place = PACKAGE / room.name if room.is_folder else PACKAGE / f"{room.name}.py"
        assert any(place.glob("*.py")) if room.is_folder else place.is_file(), room
        assert room.purpose.strip(), f"{room}: one purpose"
    assert len(ORDER) == len(ROOMS)
    assert (ROOMS[0].name, ROOMS[-1].name) == ("errors", "__init__")


@every_file
def test_imports_go_up_to_rooms_above_and_heavy_packages_stay_in_theirs(path: Path) -> None:
    here = room_of(name_of(path))
    assert here in ORDER, "give it a row in the table of docs/developers/architecture.md"
    wrong = [
        f"line {node.lineno}: a relative import"
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    for found in imports_in(path):
        module = f"line {found.line}: {found.module}"
        if belongs_to(found.module, "bayespool") and found.module != "bayespool.__version__":
            there = room_of(found.module)
            same_folder = there == here and path.parent != PACKAGE
            if not (ORDER[there] < ORDER[here] or same_folder):
                wrong.append(f"{module} is not above {here}")
        for package, rooms in ONLY_IN.items():
            if belongs_to(found.module, package) and here not in rooms:
                wrong.append(f"{module} belongs to {sorted(rooms) or 'no room'}")
        for package, rooms in AT_THE_TOP_ONLY_IN.items():
            if found.at_the_top and belongs_to(found.module, package) and here not in rooms:
                wrong.append(f"{module} is imported inside the function that uses it")
    assert not wrong, "\n".join(wrong)


def test_no_file_imports_itself_through_others() -> None:
    """Circles of types alone, and those of imports inside functions, are circles."""
    ours = {
        name_of(path): {found.module for found in imports_in(path) if belongs_to(found.module, "bayespool")}
        for path in FILES
    }
    tuple(TopologicalSorter(ours).static_order())  # raises CycleError, which names the files


def test_what_is_added_is_shown_by_tests_that_are_there() -> None:
    entries = section_of_the_page("Where things are added").split("\n- **")[1:]
    added = [entry.split("**")[0].split()[-1] for entry in entries]
    assert added == [
        "measure",
        "correction",
        "predictor",
        "model",
        "engine",
        "strategy",
        "experiment",
        "estimator",
    ]
    for entry in entries:
        (file,) = re.findall(r"`(tests/(?:\w+/)?test_\w+\.py)`", entry)
        (test,) = re.findall(r"`(test_\w+)`", entry)
        tree = parse(ROOT / file)
        assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, (file, test)


# --- a line knows its room ---------------------------------------------------------------------------------

Pattern = Callable[[ast.AST], bool]

READING_CALLS = {"read_bytes", "read_csv", "read_table", "read_text"}
DECOMPRESSORS = {"bz2", "gzip", "lzma", "zipfile", "zstandard"}
WRITING_CALLS = {"NamedTemporaryFile", "ParquetFile", "fsync", "open", "to_csv", "to_feather"}
WRITING_CALLS |= {"to_parquet", "write_bytes", "write_table", "write_text"}
SORTING_CALLS = {"argpartition", "argsort", "lexsort", "partition", "sort"}
AVERAGES = {"average", "mean", "median", "nanmean", "nanmedian", "percentile", "quantile", "std", "var"}
STATISTICS = AVERAGES | {"bincount", "corr", "cov", "cumsum", "histogram"}
DISTRIBUTIONS = {"Bernoulli", "Beta", "Exponential", "Gamma", "HalfNormal", "HalfStudentT", "LogNormal"}
DISTRIBUTIONS |= {"Normal", "Prior", "StudentT", "Uniform", "ZeroSumNormal"}


def called(node: ast.AST) -> str:
    """Last part of the name of what is called; empty where nothing is."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def imports_any(node: ast.AST, packages: set[str]) -> bool:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    if isinstance(node, ast.ImportFrom):
        names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return any(belongs_to(name, package) for name in names for package in packages)


def opens_input(node: ast.AST) -> bool:
    return called(node) in READING_CALLS or imports_any(node, DECOMPRESSORS)


def opens_own(node: ast.AST) -> bool:
    # a member of an archive that is in memory is not
    return called(node) in WRITING_CALLS and not ast.unparse(node).startswith("archive.")


def sorts_a_ranking(node: ast.AST) -> bool:
    """Along the axis of ranks, and nothing but scores or documents."""
    if called(node) not in SORTING_CALLS:
        return False
    assert isinstance(node, ast.Call)
    along = {ast.unparse(k.value) for k in node.keywords if k.arg == "axis"}
    sorted_ = ast.unparse(node.func) + " ".join(map(ast.unparse, node.args))
    return bool(along & {"1", "2", "-1"} and re.search("score|packed|written|document|ranking", sorted_))


def compared(node: ast.AST) -> tuple[str, str, str]:
    """Left side, kind and right side of a comparison of two."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return ast.unparse(node.left), type(node.ops[0]).__name__, ast.unparse(node.comparators[0])
    return "", "", ""


def asks_if_judged(node: ast.AST) -> bool:
    left, kind, right = compared(node)
    of_relevance = left.endswith("relevance") and right in {"0", "-1"} and kind != "Gt"
    return of_relevance or "UNJUDGED" in left or "UNJUDGED" in right


def asks_if_relevant(node: ast.AST) -> bool:
    left, kind, right = compared(node)
    return (
        left.endswith("relevance") and (kind == "Gt" or right not in {"0", "-1"}) and "UNJUDGED" not in right
    )


def takes_judgment_away(node: ast.AST) -> bool:
    """A call with the constant among its arguments; comparing with it is to ask."""
    return isinstance(node, ast.Call) and any(
        isinstance(part, ast.Name) and part.id in {"UNJUDGED", "UNJUDGED_STATE"}
        for argument in node.args
        for part in ast.walk(argument)
        if not isinstance(argument, ast.Compare)
    )


def is_a_correction(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and "PointCorrection" in map(ast.unparse, node.bases)


def declares_a_prior(node: ast.AST) -> bool:
    if called(node) not in DISTRIBUTIONS:
        return False
    assert isinstance(node, ast.Call)
    return isinstance(node.func, ast.Name) or ast.unparse(node.func).startswith("pm.")


def reduces_over_draws(node: ast.AST) -> bool:
    if called(node) == "equal_tailed_interval":
        return True
    if called(node) not in AVERAGES:
        return False
    assert isinstance(node, ast.Call)
    reduced = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    return any("draws" in ast.unparse(part) for part in [*reduced, *node.args[:1]])


def takes_a_statistic(node: ast.AST) -> bool:
    return called(node) in STATISTICS


def takes_a_truth(node: ast.AST) -> bool:
    """A parameter or a field that holds one; a choice of truths is none."""
    if isinstance(node, ast.arg):
        name, kind = node.arg, node.annotation
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        name, kind = node.target.id, node.annotation
    else:
        return False
    if kind is not None and "Literal" in ast.unparse(kind):
        return False
    return re.fullmatch("truth|true|true_.+", name) is not None


def formats_decimals(node: ast.AST) -> bool:
    if not isinstance(node, ast.FormattedValue) or node.format_spec is None:
        return False
    return re.search(r"\.(\d|\{\w+\})[ef%]", ast.unparse(node.format_spec)) is not None


def prints(node: ast.AST) -> bool:
    return called(node) in {"print", "echo", "secho"}


PATTERNS: dict[str, Pattern] = {
    "opens an input file": opens_input,
    "opens a file of our own making, to write it or to read it back": opens_own,
    "sorts a ranking": sorts_a_ranking,
    "asks whether a document is judged": asks_if_judged,
    "takes a judgment away": takes_judgment_away,
    "asks whether a document is relevant": asks_if_relevant,
    "is a published point correction": is_a_correction,
    "declares a prior": declares_a_prior,
    "reduces over draws": reduces_over_draws,
    "takes a mean or a quantile": takes_a_statistic,
    "takes a truth to compare with": takes_a_truth,
    "formats a number to decimals": formats_decimals,
    "prints": prints,
}


def read_lines_of_rooms() -> dict[str, frozenset[str]]:
    """The second table of the page: what a line does, and the rooms that it may stand in."""
    found = {}
    for row in re.findall(
        r"^\| (?!a line|---)(.+) \|$", section_of_the_page("A line knows its room"), flags=re.MULTILINE
    ):
        does, cell = row.split(" | ")
        rooms = re.findall(r"`(\w+)`", cell)
        if cell.startswith("every room but "):
            rooms = [name for name in ORDER if name not in rooms]
        assert rooms, row
        assert set(rooms) <= set(ORDER), row
        found[does] = frozenset(rooms)
    return found


LINES = read_lines_of_rooms()


def imported_by(does: str) -> list[str]:
    """Packages of a row that says what it imports."""
    return does.removeprefix("imports ").split(" or ") if does.startswith("imports ") else []


def test_every_row_of_lines_is_tested() -> None:
    assert {does for does in LINES if not imported_by(does)} == set(PATTERNS)
    assert any(map(imported_by, LINES))
    for does, rooms in LINES.items():
        for package in imported_by(does):
            assert ONLY_IN[package] == rooms, does


def found_in_rooms(does: str) -> dict[str, list[str]]:
    """Lines that a pattern finds, by room."""
    found: dict[str, list[str]] = {}
    for path in FILES:
        for node in nodes(path):
            if PATTERNS[does](node):
                line = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)[:80]}"
                found.setdefault(room_of(name_of(path)), []).append(line)
    return found


def test_a_line_stands_in_its_room() -> None:
    for does in PATTERNS:
        found = found_in_rooms(does)
        astray = [line for room, lines in found.items() if room not in LINES[does] for line in lines]
        assert not astray, f"a line that {does} stands in {sorted(LINES[does])}:\n" + "\n".join(astray)
        if does != "takes a mean or a quantile":  # which other rooms may and need not
            idle = LINES[does] - set(found)
            assert not idle, f"no line of {sorted(idle)} {does}: the page says too much"


LINES_THAT_ARE_MEANT = [
    ("opens an input file", "text = path.read_text()"),
    ("opens an input file", "import gzip"),
    ("opens a file of our own making, to write it or to read it back", "open(path, 'w')"),
    ("opens a file of our own making, to write it or to read it back", "frame.to_csv(path)"),
    ("sorts a ranking", "order = np.argsort(-score, axis=2)"),
    ("asks whether a document is judged", "hole = collection.relevance < 0"),
    ("asks whether a document is judged", "known = relevance != UNJUDGED"),
    ("takes a judgment away", "relevance = np.where(gone, np.int16(UNJUDGED), relevance)"),
    ("asks whether a document is relevant", "hit = self.relevance >= rel"),
    ("is a published point correction", "class Mine(PointCorrection): pass"),
    ("declares a prior", "x = pm.HalfNormal('x', 1.0)"),
    ("declares a prior", "x = Prior('Normal', (0, 1))"),
    ("reduces over draws", "middle = np.median(fit.draws, axis=0)"),
    ("reduces over draws", "mean = e.draws.sum(axis=2).mean(axis=0)"),
    ("takes a mean or a quantile", "x = frame['mae'].mean()"),
    ("takes a truth to compare with", "def f(truth: JudgmentCounts): pass"),
    ("formats a number to decimals", "text = f'{x:.4f}'"),
    ("formats a number to decimals", "text = f'{x:.{digits}f}'"),
    ("prints", "console.print(table)"),
]
LINES_THAT_ARE_NOT = [
    ("asks whether a document is judged", "hit = relevance > 0"),
    ("asks whether a document is relevant", "known = relevance >= 0"),
    ("takes a judgment away", "known = relevance != UNJUDGED"),
    ("takes a truth to compare with", "def f(truth: Literal['full', 'repooled']): pass"),
    ("sorts a ranking", "p = np.sort(p_values, axis=1)"),
    ("formats a number to decimals", "text = f'{n:,} of {level:g}'"),
    ("opens an input file", "found = read_collection(path)"),
]


def test_patterns_find_such_lines_and_pass_over_others() -> None:
    for lines, meant in ((LINES_THAT_ARE_MEANT, True), (LINES_THAT_ARE_NOT, False)):
        for does, line in lines:
            found = any(PATTERNS[does](node) for node in ast.walk(ast.parse(line)))
            assert found == meant, (does, line)


def public_definitions(tree: ast.Module) -> set[str]:
    """Public functions, classes and constants of a module; an alias (CamelCase = ...) is free."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        names |= {target.id for target in targets if isinstance(target, ast.Name) and target.id.isupper()}
    return {name for name in names if not name.startswith("_")}


def defined_names(tree: ast.Module) -> set[str]:
    """Names that a module binds at its top, imports included."""
    names = set()
    for node, at_the_top in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and at_the_top:
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names


def declared_all(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
            value = ast.literal_eval(node.value)
            assert all(isinstance(name, str) for name in value)
            return list(value)
    return None


def sorting_key(name: str) -> tuple[int, str]:
    """Order of ``__all__``, which is ruff's RUF022: constants, classes, the rest."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, name


@every_file
def test_a_room_says_what_it_offers_and_its_modules_are_small(path: Path) -> None:
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    assert n_lines <= MOST_LINES, f"{n_lines} lines: would two rooms read better?"
    tree, declared = parse(path), declared_all(parse(path))
    if path.parent != PACKAGE and path.name != "__init__.py":
        assert declared is None, "the room's __init__ says what other rooms use"
        return
    if path.with_suffix(".pyi").is_file() or path.name == "__main__.py":
        return
    assert declared is not None, "a room says what it offers in __all__"
    assert declared == sorted(set(declared), key=sorting_key), "sorted, each name once"
    missing = public_definitions(tree) - set(declared)
    assert not missing, f"public and not in __all__: {sorted(missing)}"
    unknown = set(declared) - defined_names(tree)
    assert not unknown, f"in __all__ and nowhere defined: {sorted(unknown)}"


def loaded_after(code: str, packages: tuple[str, ...]) -> set[str]:
    """Those of the packages that a fresh interpreter has loaded after a piece of code."""
    tell = f"import sys; print(); print('loaded', *[name for name in {packages!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{tell}"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    word, *loaded = done.stdout.splitlines()[-1].split()
    assert word == "loaded"
    return set(loaded)


def test_nothing_heavy_is_loaded_before_it_is_used() -> None:
    assert loaded_after("import xml.dom", ("xml.dom", "xml.sax")) == {"xml.dom"}
    assert loaded_after("import bayespool", NOT_BY_THE_FRONT_DOOR) == set()
    help_of_the_command = """
import sys
from bayespool.cli import main
sys.argv = ["bayespool", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
    assert loaded_after(help_of_the_command, NOT_BY_THE_FRONT_DOOR) == set()
    light = [name_of(path) for path in FILES if room_of(name_of(path)) not in {"models", "inference"}]
    assert loaded_after("\n".join(f"import {module}" for module in light), NOT_BY_ANY_LIBRARY_MODULE) == set()


def test_a_score_loads_neither_samplers_nor_plots() -> None:
    code = """
from bayespool import load_example, score
print(score(load_example(), "new-b", "P@10", posterior_settings="draws=50"))
"""
    slow = ("pymc", "pytensor", "nutpie", "arviz_base", "arviz_stats", "statsmodels", "matplotlib", "xarray")
    assert loaded_after(code, slow) == set()


def test_front_door_offers_what_it_lists_and_never_a_module() -> None:
    """A name that a module has too would be the module as soon as something imports it."""
    assert not [name for name in bayespool.__all__ if is_module(f"bayespool.{name}")]
    offered = {name: getattr(bayespool, name) for name in bayespool.__all__}
    assert not [name for name, offer in offered.items() if isinstance(offer, ModuleType)]


def test_imports_are_found_wherever_they_stand() -> None:
    tree = ast.parse("""
import pymc as pm
from scipy import stats
from bayespool import errors
from bayespool.errors import InputError
if TYPE_CHECKING:
    import pandas as pd
class A:
    import json
    def f(self):
        from pyarrow import csv
try:
    import nutpie
except ImportError:
    pass
""")
    assert {(found.module, found.at_the_top) for found in imports_of(tree)} == {
        ("pymc", True),
        ("scipy.stats", True),
        ("bayespool.errors", True),
        ("pandas", False),
        ("json", True),
        ("pyarrow.csv", False),
        ("nutpie", True),
    }

"""Size of the package: rooms, files, lines of code and of docstrings, names that rooms offer.

    python benchmarks/size.py [FOLDER]

FOLDER is that of a package, by default bayespool/ of this checkout; give the folder of another checkout to
compare. A line of code has a token that is neither a comment nor part of a docstring. A room offers the names
of ``__all__`` in its ``__init__``, or those that its ``__init__.pyi`` imports. No module is imported. Below
stand files, lines and code of tests, research and benchmarks, and words of pages.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from pathlib import Path

import pandas as pd

_NAMES = ("COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER", "ENCODING")
SILENT = {getattr(tokenize, name) for name in _NAMES}


def docstring_lines(tree: ast.Module) -> set[int]:
    """Lines of the strings that stand alone: docstrings of modules, classes, functions and constants."""
    alone = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    strings = [node for node in alone if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return {line for node in strings for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def code_lines(path: Path) -> set[int]:
    """Lines with a token, those of docstrings among them."""
    with tokenize.open(path) as file:
        tokens = [token for token in tokenize.generate_tokens(file.readline) if token.type not in SILENT]
    return {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}


def offered(folder: Path) -> int:
    """Number of names that a room offers."""
    stub, init = folder / "__init__.pyi", folder / "__init__.py"
    if stub.is_file():
        imports = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
        return len({alias.asname or alias.name for node in imports for alias in node.names})
    for node in ast.parse(init.read_text()).body if init.is_file() else ():
        if isinstance(node, ast.Assign) and any(ast.unparse(t) == "__all__" for t in node.targets):
            return len(ast.literal_eval(node.value))
    return 0


def size(package: Path) -> pd.DataFrame:
    """One row per room, the top of the package first, and their sum."""
    rows = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).parts
        docstrings = docstring_lines(ast.parse(path.read_text(encoding="utf-8")))
        code = code_lines(path) - docstrings
        n_offered = offered(path.parent) if path.name == "__init__.py" else 0
        room = inside[0] if len(inside) > 1 else "."
        rows.append((room, 1, len(code), len(docstrings), n_offered))
    frame = pd.DataFrame(rows, columns=["room", "files", "code", "docstrings", "names"]).groupby("room").sum()
    frame.loc[f"{len(frame) - 1} rooms"] = frame.sum()
    return frame


def print_beside(checkout: Path) -> None:
    """Files, lines and lines of code of what is not the package, and words of pages."""
    for name in ("tests", "research", "benchmarks"):
        paths = sorted((checkout / name).rglob("*.py"))
        trees = [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in paths]
        code = sum(len(code_lines(path) - docstring_lines(tree)) for path, tree in trees)
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
        print(f"{name}: {len(paths)} files, {lines} lines, {code} of code")
    for name, paths in (
        ("docs", sorted((checkout / "docs").rglob("*.md"))),
        ("research", sorted((checkout / "research").rglob("*.md"))),
        ("README, CHANGELOG, CONTRIBUTING", sorted(checkout.glob("*.md"))),
    ):
        pages = [path for path in paths if not any(part.startswith("_") for part in path.parts)]
        words = sum(len(path.read_text(encoding="utf-8").split()) for path in pages)
        print(f"{name}: {len(pages)} pages, {words} words")


if __name__ == "__main__":
    here = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "bayespool"
    print(size(here).to_string())
    print_beside(here.resolve().parent)

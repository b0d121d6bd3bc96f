"""Research says nothing that a user of the package could not say: it imports public names alone."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

RESEARCH = Path(__file__).parents[1]
FILES = sorted(path for ending in ("py", "ipynb") for path in RESEARCH.rglob(f"*.{ending}"))


def code_of(path: Path) -> str:
    """Return the text of a script, or of the code cells of a notebook without their magic lines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    cells = ["".join(c["source"]) for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
    return "\n".join(
        line for line in "\n".join(cells).splitlines() if not line.lstrip().startswith(("%", "!"))
    )


def private(code: str) -> Iterator[str]:
    """Yield what is imported from bayespool and is not public, and names of others with an underscore."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = (alias.name for alias in node.names if alias.name.split(".")[0] == "bayespool")
            yield from (name for name in names if name.count(".") > 1)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "bayespool":
            module = node.module or ""
            public = importlib.import_module(module).__all__ if module.count(".") < 2 else ()
            yield from (f"{module}.{alias.name}" for alias in node.names if alias.name not in public)
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
            yield ast.unparse(node)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(RESEARCH).as_posix())
def test_only_public_names_are_imported(path: Path) -> None:
    assert list(private(code_of(path))) == []


def test_what_is_not_public_is_noticed() -> None:
    code = "from bayespool.measures.base import Measure\nfrom bayespool.measures import nothing\n"
    code += "import bayespool.posterior.steps\nimport bayespool\nbayespool._x\nfrom bayespool import score\n"
    assert sorted(private(code)) == [
        "bayespool._x",
        "bayespool.measures.base.Measure",
        "bayespool.measures.nothing",
        "bayespool.posterior.steps",
    ]

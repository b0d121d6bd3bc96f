"""Research imports public names of the package alone: those that the package or one of its rooms lists."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

RESEARCH = Path(__file__).resolve().parents[1]


def test_research_imports_public_names() -> None:
    for path in sorted(RESEARCH.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "bayespool":
                assert (node.module or "").count(".") <= 1, f"{path}:{node.lineno}: a module of a room"
                room = import_module(node.module or "")
                for alias in node.names:
                    assert not alias.name.startswith("_"), f"{path}:{node.lineno}: {alias.name}"
                    assert alias.name in getattr(room, "__all__", dir(room)), (
                        f"{path}:{node.lineno}: {alias.name}"
                    )

"""CONTRIBUTING.md is right: its recipes make files that work, and what it names is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = ("Add a measure", "Add a correction", "Add a model")


def section(heading: str) -> str:
    return TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def steps(text: str) -> list[tuple[str, str, str]]:
    """What is done to which file, and the lines."""
    blocks = re.findall(r"^```(?:python|diff)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    found = []
    for block in blocks:
        first, _, lines = block.partition("\n")
        named = re.fullmatch(r"# (new file|add to|in): (\S+)", first)
        assert named is not None, f"a block that does not say where it goes: {first}"
        found.append((named[1], named[2], lines))
    return found


def change(path: Path, lines: str) -> None:
    """Replace lines with - by those with +; lines with a space say where."""
    text = path.read_text(encoding="utf-8")
    for hunk in lines.split("@@\n"):
        marked = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in marked if line[0] in " -")
        after = "".join(line[1:] for line in marked if line[0] in " +")
        assert text.count(before) == 1, f"not once in {path.name}: {before}"
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with all recipes followed."""
    folder = tmp_path_factory.mktemp("recipes")
    shutil.copytree(ROOT / "bayespool", folder / "bayespool")
    for heading in RECIPES:
        for what, name, lines in steps(section(heading)):
            path = folder / name
            if what == "new file":
                assert not (ROOT / name).exists(), f"{name} is there already"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(lines, encoding="utf-8")
            elif what == "add to":
                path.write_text(path.read_text(encoding="utf-8") + lines, encoding="utf-8")
            else:
                change(path, lines)
    return folder


def run_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_recipes_are_three_files_each() -> None:
    for heading in RECIPES:
        kinds = [what for what, _, _ in steps(section(heading))]
        assert sorted(kinds)[1:] == ["new file", "new file"], heading


@pytest.mark.slow
def test_tests_of_the_recipes_pass(checkout: Path) -> None:
    done = run_in(
        checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "tests"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout


@pytest.mark.slow
def test_the_command_knows_what_recipes_add(checkout: Path) -> None:
    names = "as-judged,share-of-residual(share=0.2)"
    done = run_in(checkout, "-m", "bayespool", "demo", "-m", "Pair@5", "--estimators", names)
    assert done.returncode == 0, done.stderr
    assert "Pair@5, mean over 20 topics" in done.stdout


def test_what_is_named_is_there() -> None:
    linked = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    described = re.findall(r"`((?:bayespool|docs|tests|benchmarks)/[\w/.]+|\.ci/\w+)`", TEXT)
    made = {name for heading in RECIPES for _, name, _ in steps(section(heading))}
    assert len(linked) >= 5
    assert len(described) > 8
    assert [name for name in {*linked, *described} - made if not (ROOT / name).exists()] == []
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(re.findall(r"`make ([\w-]+)`", TEXT)) <= set(targets)


def test_limit_of_a_module_is_the_one_that_is_tested() -> None:
    said = re.search(r"A module has at most (\d+) lines", TEXT)
    tested = re.search(
        r"^MOST_LINES\w* = (\d+)$",
        (ROOT / "tests" / "whole" / "test_architecture.py").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    assert said is not None
    assert tested is not None
    assert said[1] == tested[1]

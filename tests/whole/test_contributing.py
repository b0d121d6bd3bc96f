"""The recipes of CONTRIBUTING.md make files that work; what `make` says where there is no package index."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

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
        named = re.fullmatch(r"# (new file|in): (\S+)", first)
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
        recipe = steps(section(heading))
        assert sum(what == "new file" for what, _, _ in recipe) == 2, heading
        for what, name, lines in recipe:
            path = folder / name
            if what == "new file":
                assert not (ROOT / name).exists(), f"{name} is there already"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(lines, encoding="utf-8")
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


@pytest.mark.slow
def test_tests_of_the_recipes_pass_and_the_command_knows_what_they_add(checkout: Path) -> None:
    done = run_in(
        checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", "tests"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
    names = "as-judged,share-of-residual(share=0.2)"
    done = run_in(checkout, "-m", "bayespool", "demo", "-m", "Pair@5", "--estimators", names)
    assert done.returncode == 0, done.stderr
    assert "Pair@5, mean over 20 topics" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None or os.name != "posix", reason="make is not on this machine")
def test_make_says_that_no_index_can_be_reached(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PIP_"))}
    environment |= {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    done = subprocess.run(
        ["make", "test", f"PYTHON={sys.executable}", f"VENV={tmp_path}/env"],
        cwd=ROOT,
        env=environment | {"PIP_RETRIES": "0"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode != 0
    assert "pip cannot reach a package index" in done.stderr
    assert not (tmp_path / "env" / ".bayespool-test").exists()


@pytest.fixture
def audit() -> ModuleType:
    spec = spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_make_audit_looks_at_is_what_is_installed(audit: ModuleType) -> None:
    found = audit.needed()
    assert found["numpy"] == version("numpy")
    assert {"pandas", "jinja2", "markupsafe", "pytensor"} <= set(found)
    assert not {"pytest", "hypothesis", "bayespool"} & set(found)


def test_make_audit_fails_on_a_known_vulnerability(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    advisory = {"id": "X-1", "fix_versions": ["2"]}
    answers = [{"name": "a", "version": "1", "vulns": [advisory]}, {"name": "b", "version": "1", "vulns": []}]
    monkeypatch.setattr(audit, "audit", lambda *_: answers)
    with pytest.raises(SystemExit) as end:
        audit.main()
    assert end.value.code == "known vulnerabilities:\na 1: X-1, mended in 2"


def test_make_audit_passes_without_an_answer_of_an_index(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [{"name": "a", "skip_reason": "not found"}, {"name": "b", "version": "1", "vulns": []}]
    monkeypatch.setattr(audit, "audit", lambda *_: answers)
    audit.main()
    monkeypatch.undo()
    silent = subprocess.CompletedProcess([], 1, "", "no network")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: silent)
    audit.main()
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "1 packages without a known vulnerability; of 1 the package index knows nothing"
    assert told[1] == f"no package index answers: nothing is known of {len(audit.needed())} packages"

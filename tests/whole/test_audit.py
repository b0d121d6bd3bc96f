"""`make audit` fails on a known vulnerability, and on nothing that the network does."""

from __future__ import annotations

import subprocess
import tomllib
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def audit() -> ModuleType:
    spec = spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_needed_is_what_is_installed(audit: ModuleType) -> None:
    found = audit.needed()
    assert found["numpy"] == version("numpy")
    assert {"pandas", "jinja2", "markupsafe", "pytensor"} <= set(found)
    assert not {"pytest", "hypothesis", "bayespool"} & set(found)


def test_a_known_vulnerability_fails(audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    advisory = {"id": "X-1", "fix_versions": ["2"]}
    answers = [{"name": "a", "version": "1", "vulns": [advisory]}, {"name": "b", "version": "1", "vulns": []}]
    monkeypatch.setattr(audit, "audit", lambda *_: answers)
    with pytest.raises(SystemExit) as end:
        audit.main()
    assert end.value.code == "known vulnerabilities:\na 1: X-1, mended in 2"


def test_an_index_without_an_answer_does_not(
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


def test_what_is_passed_over_has_a_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    tools = tomllib.loads(text)["tool"]
    for skipped in tools["bandit"]["skips"]:
        (line,) = [line for line in text.splitlines() if f'"{skipped}"' in line]
        assert len(line.split("#")[1].split()) > 3
    assert all(len(why.split()) > 3 for why in tools["bayespool-audit"]["passed-over"].values())
    excused = [
        line
        for path in (ROOT / "bayespool").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "nosec" in line
    ]
    assert all(len(line.split("nosec")[1].split("#", 1)[1].split()) > 2 for line in excused)
    assert len(excused) < 10

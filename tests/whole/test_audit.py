"""`make audit` fails on a known vulnerability, and on nothing that the network does."""

from __future__ import annotations

import subprocess
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

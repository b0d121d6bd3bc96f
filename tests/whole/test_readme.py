"""README shows what the package does now: its Python runs, and its links lead somewhere."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from wide import wide

import bayespool
from bayespool.experiments import simulate_example

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")
def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_example().write(tmp_path / "example")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        bayespool, "score", partial(bayespool.score, posterior_settings="draws=50, chains=2"), raising=False
    )
    names: dict[str, Any] = {}
    exec(compile("\n".join(blocks("python")), "README.md", "exec"), names)
    assert wide(names["scores"])["run_id"].tolist() == ["new-a", "new-b"] * 2
    lower, upper = names["posterior"].interval(0.95)
    assert (lower <= upper).all()
    shown = [float(row.split()[6]) for row in README.splitlines() if row.startswith(" new-")]
    assert names["posterior"].value.tolist() == pytest.approx(shown, abs=0.005)  # of few draws


@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")
def test_python_of_the_quickstart_prints_what_stands_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate_example().write(tmp_path)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    exec(compile(code, "quickstart.md", "exec"), {})
    printed = capsys.readouterr().out.split()
    shown = " ".join(re.findall("^# (.*)$", code, re.M)).split()
    assert [word for word in printed if not word[0].isdigit()] == [w for w in shown if not w[0].isdigit()]
    numbers = [[float(word) for word in words if word[0].isdigit()] for words in (printed, shown)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.006)


def test_links_lead_to_files_that_are_there() -> None:
    """Relative ones, which work in a checkout and wherever it is hosted; `.ci/metadata.py` has others."""
    definition = r"^\[([^\]]+)\]: (\S+)$"
    named = dict(re.findall(definition, README, flags=re.MULTILINE))
    text = re.sub(rf"^```.*?^```$|`[^`\n]*`|{definition}", "", README, flags=re.MULTILINE | re.DOTALL)
    used = set(re.findall(r"\[([^\]]+)\](?![(\[])", text))
    assert len(used) > 10
    assert used == set(named)
    files = [*named.values(), *re.findall(r"\]\(([^)#]+)", README)]
    assert "docs/_static/late-runs.png" in files
    assert [file for file in files if not (ROOT / file).is_file()] == []

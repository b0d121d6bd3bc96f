"""README shows what the package does now: its Python runs, and its links lead somewhere."""

from __future__ import annotations

import re
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from wide import wide

import bayespool
from bayespool.experiments import simulate_example

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")
def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_example().write(tmp_path / "example")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        bayespool, "score", partial(bayespool.score, posterior="draws=50, chains=2"), raising=False
    )
    names: dict[str, Any] = {}
    exec(compile("\n".join(blocks("python")), "README.md", "exec"), names)
    assert wide(names["scores"])["run_id"].tolist() == ["new-a", "new-b"] * 2
    lower, upper = names["posterior"].interval(0.95)
    assert (lower <= upper).all()
    shown = [float(row.split()[5]) for row in README.splitlines() if row.startswith(" new-")]
    assert names["posterior"].value.tolist() == pytest.approx(shown, abs=0.005)  # of few draws


def test_links_are_absolute_and_lead_to_files_that_are_there() -> None:
    """The README is shown where a relative link leads nowhere: on the page of the package at its index."""
    here = (f"{PROJECT['urls']['Repository']}/blob/main/", f"{PROJECT['urls']['Repository']}/raw/main/")
    definition = r"^\[([^\]]+)\]: (\S+)$"
    named = dict(re.findall(definition, README, flags=re.MULTILINE))
    text = re.sub(rf"^```.*?^```$|`[^`\n]*`|{definition}", "", README, flags=re.MULTILINE | re.DOTALL)
    used = set(re.findall(r"\[([^\]]+)\](?![(\[])", text))
    assert len(used) > 10
    assert used == set(named)
    targets = [*named.values(), *re.findall(r"\]\(([^)#]+)", README)]
    assert [target for target in targets if not target.startswith("https://")] == []
    files = [target[len(place) :] for target in targets for place in here if target.startswith(place)]
    assert len(files) == len(targets) > 10
    assert "docs/_static/late-runs.png" in files
    assert [file for file in files if not (ROOT / file).is_file()] == []

"""README and quickstart show what the package does now: its table, its columns, its Python."""

from __future__ import annotations

import re
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from wide import wide

import bayespool
from bayespool import load_example, score
from bayespool.cli import app
from bayespool.experiments import simulate_example

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
QUICKSTART = (ROOT / "docs" / "quickstart.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.usefixtures("fits_of_all_tests")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def rows(text: str) -> dict[tuple[str, str], list[str]]:
    """Cells of the demo's rows by measure and run."""
    found, measure = {}, ""
    for line in text.splitlines():
        if heading := re.match(r"(n?\w+@\d+), mean over", line):
            measure = heading[1]
        elif row := re.match(r"\s*(new-\w)\s+(\S.*[\d–])\s*$", line):
            found[measure, row[1]] = row[2].split()
    return found


def test_demo_table_is_what_its_command_prints() -> None:
    """The last digits of the posterior depend on the libraries' versions."""
    (shown,) = (block for block in blocks("text") if "new-a" in block)
    (command,) = re.findall(r"`bayespool (demo [^`]*--columns [^`]*)`", README)
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 0, done.output
    truths = [line for line in done.stdout.splitlines() if line.startswith("truth")]
    assert [line for line in shown.splitlines() if line.startswith("truth")] == truths
    printed = rows(done.stdout)
    assert list(rows(shown)) == list(printed) == [("P@10", "new-a"), ("P@10", "new-b")]
    for key, cells in rows(shown).items():
        *certain, posterior, interval, smoothed = cells
        assert [*certain, smoothed] == [*printed[key][:-3], printed[key][-1]]
        assert float(posterior) == pytest.approx(float(printed[key][-3]), abs=0.002)
        ends = [float(end) for end in interval.split("–")]
        assert ends == pytest.approx([float(end) for end in printed[key][-2].split("–")], abs=0.0101)


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


def test_quickstart_draws_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell of its Python that leaves files; the build of the pages runs the others."""
    (cell,) = re.findall(r"^```{code-cell} ipython3\n(.*?to_latex.*?)^```$", QUICKSTART, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    points = ["background", "interpolated", "systems-adjustment"]
    names: dict[str, Any] = {"scores": score(load_example(), measures=["P@5", "P@10"], estimators=points)}
    exec(compile(cell.rpartition("```{code-cell} ipython3\n")[2], "quickstart.md", "exec"), names)
    assert names["latex"].count(r"\begin{table}") == 1
    assert Path("forest.pdf").read_bytes().startswith(b"%PDF")
    assert "<title>Scores of new-a, new-b" in Path("report.html").read_text(encoding="utf-8")


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

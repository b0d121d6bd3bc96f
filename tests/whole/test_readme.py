"""The README shows what the package does now: its table, its columns, its Python."""

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
from bayespool.cli import app
from bayespool.experiments import simulate_example
from bayespool.scoring import estimators

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.usefixtures("fits_of_all_tests")

POINT = [name for name in estimators.DEFAULT_ESTIMATORS if not name.startswith("posterior")]


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


def test_demo_table_is_what_the_command_prints() -> None:
    (shown,) = (block for block in blocks("text") if "new-a" in block)
    done = CliRunner().invoke(app, ["demo", "--estimators", ",".join(POINT)])
    assert done.exit_code == 0, done.output
    printed = rows(done.stdout)
    n_point = {
        "P@10": 5 + len(POINT),
        "nDCG@10": 4 + len(POINT),
    }  # after lower, upper, residual and unjudged, %
    assert {key[0]: len(cells) for key, cells in printed.items()} == n_point  # anti-precision is of P@n alone
    assert list(printed) == [(m, run) for m in ("P@10", "nDCG@10") for run in ("new-a", "new-b")]
    assert {key: cells[: n_point[key[0]]] for key, cells in rows(shown).items()} == printed
    truths = [line for line in done.stdout.splitlines() if line.startswith("truth")]
    assert len(truths) == 2
    assert [line for line in shown.splitlines() if line.startswith("truth")] == truths


def test_demo_posterior_in_the_table_is_what_the_command_prints() -> None:
    """Its last digits depend on the libraries' versions."""
    (shown,) = (block for block in blocks("text") if "new-a" in block)
    done = CliRunner().invoke(app, ["demo", "--estimators", "posterior-combined"])
    assert done.exit_code == 0, done.output
    printed = rows(done.stdout)
    for key, cells in rows(shown).items():
        posterior, interval = cells[-2:]
        lower, upper = map(float, interval.split("–"))
        assert float(cells[0]) <= lower <= float(posterior) <= upper <= float(cells[1])
        assert float(posterior) == pytest.approx(float(printed[key][-2]), abs=0.002)
        assert [lower, upper] == pytest.approx([float(x) for x in printed[key][-1].split("–")], abs=0.0101)


def test_column_is_explained_for_every_default_estimator() -> None:
    explained = re.findall(r"^\| ([^|]+) \|", README.split("The columns:")[1], flags=re.MULTILINE)
    words = " ".join(explained)
    for name in estimators.DEFAULT_ESTIMATORS:
        assert name.split("-")[0][:4] in words, name


@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")
def test_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simulate_example().write(tmp_path / "example")
    monkeypatch.chdir(tmp_path)
    fewer = {"draws": 50, "tune": 100, "chains": 2}
    monkeypatch.setattr(bayespool, "score", partial(bayespool.score, **fewer), raising=False)
    names: dict[str, Any] = {}
    exec(compile("\n".join(blocks("python")), "README.md", "exec"), names)
    assert wide(names["scores"])["run_id"].tolist() == ["new-a", "new-b"] * 2
    assert names["draws"].shape == (100, 2)
    assert (names["lower"] <= names["upper"]).all()
    assert names["latex"].count(r"\begin{table}") == 1
    assert Path("forest.pdf").read_bytes().startswith(b"%PDF")
    assert "<title>Scores of new-a, new-b" in Path("report.html").read_text(encoding="utf-8")


def test_links_are_absolute_and_lead_to_files_that_are_there() -> None:
    """The README is shown where a relative link leads nowhere: on the page of the package at its index."""
    here = f"{PROJECT['urls']['Repository']}/blob/main/"
    definition = r"^\[([^\]]+)\]: (\S+)$"
    named = dict(re.findall(definition, README, flags=re.MULTILINE))
    text = re.sub(rf"^```.*?^```$|`[^`\n]*`|{definition}", "", README, flags=re.MULTILINE | re.DOTALL)
    used = set(re.findall(r"\[([^\]]+)\](?![(\[])", text))
    assert len(used) > 10
    assert used == set(named)
    targets = [*named.values(), *re.findall(r"\]\(([^)#]+)", README)]
    assert [target for target in targets if not target.startswith("https://")] == []
    files = [target.removeprefix(here) for target in targets if target.startswith(here)]
    assert len(files) > 10
    assert [file for file in files if not (ROOT / file).is_file()] == []

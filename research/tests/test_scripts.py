"""The scripts run: all of them to their help, those that need no collection at a small size."""

from __future__ import annotations

import dataclasses
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayespool import load_example

RESEARCH = Path(__file__).parents[1]
SCALE = float(os.environ.get("BAYESPOOL_SLOW_SCALE", "1"))
SCRIPTS = sorted(
    path
    for folder in ("decisions", "papers")
    for path in (RESEARCH / folder).glob("*.py")
    if "argparse" in path.read_text(encoding="utf-8")
)
COLLECTIONS = pytest.mark.skipif("BAYESPOOL_COLLECTIONS" not in os.environ, reason="no collections at hand")


def few(n: int) -> str:
    """Return a number at full size as it is at this scale, two at least."""
    return str(max(2, round(n * SCALE)))


def run(path: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(RESEARCH.parent), "MPLBACKEND": "Agg"}
    command = [sys.executable, str(path), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_importable_and_takes_arguments(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.delitem(sys.modules, "shared", raising=False)  # adds folders to the path
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0
    assert "usage:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "arguments", "n_lines"),
    [
        ("ranks", ["--collections", few(20)], 10),
        ("population", ["--simulated", "--collections", few(20)], 22),
        ("nuts_check", ["--models", "background", "--seeds", "2", "--draws", few(500)], 6),
        ("compare", ["--speed"], 4),
        ("power", ["--simulated", "2", "--draws", "40"], 12),
    ],
)
def test_a_script_without_collections(name: str, arguments: list[str], n_lines: int) -> None:
    assert len(run(RESEARCH / "decisions" / f"{name}.py", *arguments).splitlines()) >= n_lines


@COLLECTIONS
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("pools", ["trec2011-medical"], "all of it"),
        (
            "audit_collections",
            ["trec2011-medical", "--runs", "2", "--seeds", "2", "--draws", "50"],
            "judge-next",
        ),
        (
            "audit_evidence",
            ["trec2011-medical", "--runs", "2", "--audits", "10", "--draws", "50"],
            "reached 20",
        ),
        ("constants", ["--pools", "trec2011-medical", "-m", "P@10"], "better on"),
        (
            "no_pool",
            ["--explained", "0.25", "--every", "15", "--draws", "50", "--collections", "trec2011-medical"],
            "priors alone",
        ),
    ],
)
def test_a_script_on_a_collection(name: str, arguments: list[str], expected: str) -> None:
    assert expected in run(RESEARCH / "decisions" / f"{name}.py", *arguments)


def test_a_pool_is_cut_to_organizations_that_explain_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(RESEARCH / "decisions")
    import no_pool

    example = load_example()
    cut = no_pool.cut_pool(example, 0.5, np.random.default_rng(1), "lake")
    assert (cut.relevance == example.relevance).all()
    explained = (cut.judged & cut.in_pool()).sum() / cut.judged.sum()
    assert 0.5 <= explained < 0.9
    organizations = {example.organizations[o] for o in example.organization[cut.pooled]}
    assert "lake" in organizations
    assert len(organizations) < len(dict(no_pool.contributors(example)))
    assert set(cut.pooled_run_ids) < set(example.pooled_run_ids)
    few = dataclasses.replace(example, relevance=np.where(example.in_pool(), -1, 0).astype(np.int16))
    assert no_pool.cut_pool(few, 0.5, np.random.default_rng(1), None) is None


def test_every_rule_spends_its_judgments_and_judging_stops(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(RESEARCH / "decisions")
    import judge_next

    monkeypatch.setattr(judge_next, "STAGES", (0, 2, 5, 8))
    folds = list(judge_next.folds_of(load_example(), "P@10", "posterior-background(draws=500)"))
    assert sorted(run for fold in folds for run in fold.runs) == sorted(load_example().pooled_run_ids)
    (north,) = (fold for fold in folds if fold.organization == "north")
    table = judge_next.measured(judge_next.spend(north))
    n_told = table.groupby("rule")["n_told"].apply(list)
    assert n_told.tolist() == [[0, 0, 4, 4, 10, 10, 16, 16]] * len(judge_next.RULES)
    width = table.groupby(["rule", "stage"])["width"].mean().unstack()
    assert width[0].nunique() == 1
    assert (width[8] < width[0]).all()
    expected = table.set_index(["rule", "stage"])["expected_width"].loc["judge-next", 8].mean()
    assert expected == pytest.approx(width.loc["judge-next", 8], rel=0.25)
    stopped = judge_next.measured(judge_next.stop(north, [0.9, 0.04]))
    assert (stopped["width"] <= stopped["until"]).all()
    assert stopped["n_told"][0] == stopped["n_expected"][0] == 0
    assert 0 < stopped["n_expected"][2] <= stopped["n_told"][2] + judge_next.STEP
    judge_next.report(table)
    judge_next.report_stopping(stopped)
    printed = capsys.readouterr().out
    assert all(part in printed for part in ("PIT in 95 %", "expected over actual", "of take", "not expected"))
    assert np.isfinite(pd.to_numeric(table["error"])).all()

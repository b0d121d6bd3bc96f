"""The benchmark of calibration: far newcomers stand apart from near ones, and its figures by hand."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayespool import leave_out, load_example
from bayespool.experiments import LeaveOutResult

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import calibration as benchmark

ASKED: dict[str, Any] = {
    "estimators": ["as-judged", "condensed-list", "posterior-background"],
    "posterior_settings": "draws=50",
}


def rows(values: dict[str, list[float]], pit: list[float]) -> pd.DataFrame:
    """Two runs of truth .5; the posterior's PIT is known exactly, and says whether its interval holds it."""
    tables = []
    for estimator, group in values.items():
        of_posterior = estimator.startswith("posterior")
        frame = pd.DataFrame({"estimator": estimator, "measure": "P@10", "value": group, "truth": 0.5})
        frame["pit_lower"] = frame["pit_upper"] = pit if of_posterior else float("nan")
        inside = [0.025 < p < 0.975 for p in pit]
        frame["covered_95"] = pd.array(inside if of_posterior else [None, None], dtype="boolean")
        tables.append(frame)
    return pd.concat(tables)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_error_and_coverage_by_distance() -> None:
    one = rows({"background": [0.3, 0.5], "posterior-combined": [0.52, 0.46]}, [0.5, 0.99])
    one["lower"], one["upper"] = one["value"] - 0.1, one["value"] + 0.2
    of_posterior = one["estimator"] == "posterior-combined"
    for name, values in (("distance", [0.2, 3.5]), ("new_kind", [0.1, 0.9])):
        one[name] = float("nan")
        one.loc[of_posterior, name] = values
    lines = benchmark.by_distance([("one", one)], "posterior-combined").splitlines()
    assert cells(lines[2]) == ["0 to 0.5", "1", "0.10", "0.0200", "0.300", "1.000"]
    assert cells(lines[3]) == ["3 and more", "1", "0.90", "0.0400", "0.300", "0.000"]
    assert lines[-1] == "rank correlation with the absolute error: 1.00, within results 1.00"


def test_nothing_by_distance_of_estimators_without_one() -> None:
    one = rows({"posterior-ratio": [0.52, 0.46]}, [0.5, 0.99]).assign(distance=float("nan"))
    assert benchmark.by_distance([("one", one)], "posterior-ratio") == ""


def test_far_newcomers_by_hand() -> None:
    one = rows(
        {"condensed-list": [0.6, 0.6], "background": [0.3, 0.5], "posterior-combined": [0.52, 0.46]},
        [0.5, 0.05],
    )
    two = rows({"condensed-list": [0.9, 0.9], "posterior-combined": [0.62, 0.62]}, [0.99, 0.85])
    lines = benchmark.far([("one", one), ("two", two)], "posterior-combined").splitlines()
    head = ["", "measure", "runs"]
    head += [f"MAE {name} (bias)" for name in ("condensed-list", "background", "combined")]
    assert cells(lines[0]) == [
        *head, "times the best correction", "truth in 95 %", "PIT in 95%", "PIT in 80%", "PIT in 50%",
    ]  # fmt: skip
    assert cells(lines[2]) == [
        "one", "P@10", "2", "0.1000 (+0.100)", "0.1000 (-0.100)", "0.0300 (-0.010)", "0.30 (condensed-list)",
        "1.000", "1.000", "0.500", "0.500",
    ]  # fmt: skip
    assert cells(lines[3]) == [
        "two", "P@10", "2", "0.4000 (+0.400)", "", "0.1200 (+0.120)", "0.30 (condensed-list)",
        "0.500", "0.500", "0.500", "0.000",
    ]  # fmt: skip
    # √(.1 · .4) and √(.03 · .12); background is not in all rows
    assert cells(lines[4]) == [
        "geometric mean", "", "", "0.2000", "", "0.0600", "0.30 (condensed-list)", "", "", "", "",
    ]  # fmt: skip
    assert cells(lines[5]) == [
        "pooled", "", "4", "0.2500 (+0.250)", "", "0.0750 (+0.055)", "0.30 (condensed-list)",
        "0.750", "0.750", "0.500", "0.250",
    ]  # fmt: skip
    assert len({len(cells(line)) for line in lines}) == 1


def results(folder: Path) -> list[Path]:
    """The example left out by organizations, by clusters and by types of runs, as the commands write them."""
    example = load_example()
    kinds = {run: {"type": "late" if run > "n" else "early"} for run in example.run_ids}
    found: dict[str, LeaveOutResult] = {
        "near": leave_out(example, **ASKED, top=50),
        "clusters": leave_out(example, by="cluster", **ASKED, top=50),
        "types": leave_out(example.with_attributes(runs=kinds), by="type", **ASKED),
    }
    for name, result in found.items():
        result.save(folder / name, figures="none")
    return [folder / name for name in found]


@pytest.mark.slow
def test_near_and_far_are_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(folders: list[Path]) -> list[list[str]]:
        arguments = ["calibration.py", *map(str, folders), "--estimator", "posterior-background"]
        monkeypatch.setattr(sys, "argv", arguments)
        benchmark.main()
        return [part.splitlines() for part in capsys.readouterr().out.split("\n\n")]

    near, clusters, types = folders = results(tmp_path)
    calibration, errors, far = printed(folders)
    assert [calibration, errors] == printed([near])
    assert [far] == printed([clusters, types])
    assert [cells(line)[0] for line in far[2:]] == [
        str(clusters), f"{types}, early", f"{types}, late", "geometric mean", "pooled",
    ]  # fmt: skip
    kinds = pd.read_parquet(types / "runs.parquet").query("estimator == 'posterior-background'")["fold"]
    n_runs = [21, (kinds == "early").sum(), (kinds == "late").sum()]
    assert [cells(line)[2] for line in far[2:]] == [*map(str, n_runs), "", "42"]
    # over all runs left out, the worse half included
    frame = pd.read_parquet(clusters / "runs.parquet")
    for place, estimator in ((3, "as-judged"), (4, "condensed-list"), (5, "posterior-background")):
        group = frame[frame["estimator"] == estimator]
        error = group["value"] - group["truth"]
        expected = benchmark.short(f"{error.abs().mean():.4f} ({error.mean():+.3f})")
        assert cells(far[2])[place] == expected

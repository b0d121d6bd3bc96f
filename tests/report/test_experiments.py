"""Experiments printed, written and read back."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from left_out import few_result, quick_result
from rich.console import Console

from bayespool.errors import OutputError
from bayespool.experiments import (
    LeaveOutResult,
    budgets,
    leave_out,
    leave_types_out,
    load_example,
    vary_common_topics,
    vary_pool_width,
)
from bayespool.report.reading import read_result
from bayespool.report.result import Result
from bayespool.report.terminal import print_result


@pytest.fixture(scope="module")
def result() -> LeaveOutResult:
    return quick_result()


def test_printed_tables(result: LeaveOutResult) -> None:
    console = Console(width=60, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 - closed with the test
    print_result(result, console)
    console.file.close()
    text = console.export_text()
    lines = text.splitlines()
    assert "P@10, the best 16 of 21 pooled runs" in lines
    rows = {
        (line.split() or [""])[0]: line.split()[1:]
        for line in lines[: lines.index("P@10, the best 16 of 21 pooled runs")]
    }
    row = result.to_frame("summary").set_index(["measure", "estimator"]).loc["P@5", "condensed-list"]
    numbers = [f"{row['mae']:.4f}", f"{row['rmse']:.4f}", f"{row['bias']:+.4f}", f"{row['topic_rmse']:.4f}"]
    numbers += [f"{row['sre']:.0f}", f"{row['sre_star']:.0f}", f"{row['kendall_tau_b']:.4f}", "–"]
    assert rows["condensed-list"] == numbers
    errors = next(line.split() for line in lines if line.split()[:1] == ["posterior-background"])
    row = result.to_frame("summary").set_index(["measure", "estimator"]).loc["P@5", "posterior-background"]
    shares = [f"{row[f'{kind}_{level}']:.3f}" for kind in ("coverage", "pit") for level in (50, 80, 95)]
    assert rows["posterior-background"] == [*shares, f"{row['width']:.4f}"]
    assert errors[-1] == f"{row['crps']:.4f}"
    assert "P@5, intervals of 16 runs with anything unjudged" in lines
    reliability = result.reliability("P@5")
    ends = f"{reliability.generalizability_lower:.3f}–{reliability.generalizability_upper:.3f}"
    of_measure = next(line.split() for line in lines if line.split()[:1] == ["P@5"])
    assert of_measure[:4] == ["P@5", "20", f"{reliability.generalizability:.3f}", ends]
    scope, *sentences = result.summary()
    assert scope.startswith("Each organization left out in turn, mean over 20 topics; ")
    for measure, said in zip(("P@5", "P@10"), sentences, strict=True):
        assert said.startswith(f"{measure}, over 16 runs left out of the pool: as judged a run is under")
        assert said in lines


def test_clusters_are_told_and_written(tmp_path: Path) -> None:
    """Eight clusters of the example: seven are left out; the eighth is a run."""
    asked = {"by": "cluster", "n_clusters": 8, "top": 75}
    result = leave_out(load_example(), "P@10", estimators="as-judged", **asked)  # type: ignore[arg-type]
    console = Console(width=60, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 - closed with the test
    print_result(result, console)
    console.file.close()
    text = console.export_text()
    lines = text.splitlines()
    assert lines[-2].startswith("Each of 8 clusters of runs that retrieve alike left out in turn, mean over")
    told = [line for line in lines if re.match(r"cluster \d:", line)]
    assert [line.split(":")[0] for line in told] == [f"cluster {i}" for i in range(1, 9)]
    for line, cluster in zip(told, result.clusters, strict=True):
        assert ", ".join(map(repr, cluster.run_ids)) in line
    alone = result.clusters[-1]
    assert told[-1] == f"cluster 8: runs of 1 organization: {alone.run_ids[0]!r}"
    assert " cluster 8     1  no        a single run " in lines
    (n_runs,) = set(result.to_frame("summary")["n_runs"])
    assert f"P@10, the best {n_runs} of 20 runs left out, of 21 pooled runs" in lines
    result.save(tmp_path / "one", figures="none")
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "one" / "clusters.parquet"), result.to_frame("clusters")
    )
    written = pd.read_csv(tmp_path / "one" / "clusters.csv")
    assert written["run_id"].tolist() == result.to_frame("clusters")["run_id"].tolist()
    assert len(written) == 21
    assert json.loads((tmp_path / "one" / "settings.json").read_text())["settings"]["n_clusters"] == 8
    # without clusters the file goes
    leave_out(load_example(), estimators="as-judged").save(tmp_path / "one", figures="none")
    assert not (tmp_path / "one" / "clusters.csv").exists()


@pytest.mark.slow
def test_written_files(tmp_path: Path) -> None:
    result = few_result()
    for folder in (tmp_path / "one", tmp_path / "two"):
        result.save(folder)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == [
        "mae.png",
        "pit-P_10.png",
        "reliability.csv",
        "reliability.parquet",
        "runs.csv",
        "runs.parquet",
        "settings.json",
        "sre.png",
        "summary.csv",
        "summary.parquet",
        "truth-P_10.png",
    ]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    frame = pd.read_parquet(tmp_path / "one" / "runs.parquet")
    pd.testing.assert_frame_equal(frame, result.to_frame())
    summary = pd.read_csv(tmp_path / "one" / "summary.csv")
    np.testing.assert_array_equal(summary["mae"], result.to_frame("summary")["mae"])
    result.save(tmp_path / "three", figures="svg")
    assert (tmp_path / "three" / "mae.svg").read_bytes().startswith(b"<?xml")
    (tmp_path / "three" / "mine.svg").write_text("not ours")
    less = leave_out(load_example(), "P@5", estimators="as-judged")
    less.save(tmp_path / "three", figures="png")
    left = {path.name for path in (tmp_path / "three").iterdir() if path.suffix in (".svg", ".png")}
    assert left == {"mine.svg", "mae.png", "sre.png", "truth-P_5.png"}
    widths = vary_pool_width(load_example(), widths=[2], n_samples=1, estimators="as-judged")
    before = {path: path.read_bytes() for path in (tmp_path / "three").iterdir()}
    with pytest.raises(OutputError, match="holds the results of leave-out; name another folder"):
        widths.save(tmp_path / "three")
    assert {path: path.read_bytes() for path in (tmp_path / "three").iterdir()} == before
    for settings in ('{"files": ["notes.txt"]}', '{"bayespool": 1, "experiment": {}, "files": 5}', "[]", "x"):
        folder = tmp_path / "theirs"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(settings)
        (folder / "notes.txt").write_text("not ours")
        less.save(folder, figures="none")
        assert (folder / "notes.txt").read_text() == "not ours"
    named = json.loads((folder / "settings.json").read_text())
    (folder / "settings.json").write_text(json.dumps(named | {"files": ["..", "../notes.txt", "gone.csv"]}))
    (tmp_path / "notes.txt").write_text("not ours")
    less.save(folder, figures="none")
    assert (tmp_path / "notes.txt").read_text() == "not ours"
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file"):
        result.save(tmp_path / "file")
    with pytest.raises(OutputError, match="there is no folder"):
        result.save(tmp_path / "no" / "where")


OF_ALL = {
    "leave-out": lambda: few_result(),
    "run-types": lambda: leave_types_out(
        load_example(),
        "P@5",
        run_types={run: "odd" if run.startswith("north") else "usual" for run in load_example().run_ids},
        estimators=["as-judged", "posterior-background"],
        draws=50,
    ),
    "pool-width": lambda: vary_pool_width(load_example(), "P@10", widths=[2, 6], n_samples=2),
    "common-topics": lambda: vary_common_topics(
        load_example(), "P@10", widths=[3], n_common=[4, 20], n_samples=2, n_topic_samples=5
    ),
    "budgets": lambda: budgets(
        load_example(), "P@10", strategies="take", budgets=list(range(100, 1000, 100)), estimators="as-judged"
    ),
}


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
@pytest.mark.parametrize("command", OF_ALL)
def test_what_is_read_back_says_the_same(command: str, tmp_path: Path) -> None:
    result: Result = OF_ALL[command]()
    assert result.command == command
    result.save(tmp_path / "folder", figures="svg")
    result.save(tmp_path / "file.json")
    for path in (tmp_path / "folder", tmp_path / "file.json"):
        stored = read_result(path)
        assert stored.read() == result.read()
        assert (stored.notes(), stored.summary()) == (result.notes(), result.summary())
        assert stored.title == result.title
        assert stored.metadata["settings"] == json.loads(json.dumps(result.metadata["settings"]))
    figures = {figure.name: figure.caption for figure in read_result(tmp_path / "folder").figures()}
    assert figures == {figure.name: figure.caption for figure in result.figures()}
    stored.write_report(tmp_path / "stored.html")
    result.write_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert all(html.escape(sentence) in page for sentence in result.summary())


def test_at_most_eight_budgets_are_printed() -> None:
    result = OF_ALL["budgets"]()
    by_budget = next(text for text in result.read() if text.caption == "P@10, MAE by budget")
    assert by_budget.header == ("strategy", "100", "300", "500", "700", "900")
    labels = re.findall(r"\\label{(.*)}", result.to_latex())
    assert labels[2:5] == ["tab:summary-p-10", "tab:summary-p-10-2", "tab:summary-p-10-3"]
    assert len(set(labels)) == len(labels) == len(result.read())


def test_figures_for_a_phone_have_their_panels_one_below_the_other(result: LeaveOutResult) -> None:
    for figure in result.figures():
        assert figure.draw is not None
        assert figure.narrow is not None, figure.name
        wide, narrow = figure.draw(), figure.narrow()
        assert narrow.get_figwidth() == 3.6
        assert len(narrow.axes) == len(wide.axes)

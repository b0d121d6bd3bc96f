"""Experiments printed, written and read back."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from compared import printed
from left_out import POINTS
from small import small

from bayespool.collection import Collection
from bayespool.errors import OutputError
from bayespool.experiments import (
    LeaveOutResult,
    compare_budgets,
    keep_judgments,
    leave_out,
    vary_common_topics,
    vary_pool_width,
)
from bayespool.report.result import Result, print_result
from bayespool.report.stored import read_result

BOTH = ["as-judged", "posterior-background"]
TOPICS: dict[str, Any] = {"widths": [3], "n_common": [4, 8], "n_samples": 2, "n_topic_samples": 5}
BUDGETS: dict[str, Any] = {"strategies": "take", "budgets": list(range(20, 200, 20))}


FEW: dict[str, Any] = {"posterior_settings": "draws=20"}


def typed() -> Collection:
    types = {run: {"type": "odd" if run.startswith("north") else "usual"} for run in small().run_ids}
    return small().with_attributes(runs=types)


@cache
def result() -> LeaveOutResult:
    """All point corrections and the posterior that is quickest."""
    estimators = [*POINTS, "posterior-background"]
    return leave_out(small(), ["P@5", "P@10"], estimators=estimators, posterior_settings="draws=20", top=75)


OF_ALL: dict[str, Callable[[], Result]] = {
    "leave-out": cache(
        lambda: leave_out(small(), "P@10", estimators=BOTH, posterior_settings="draws=20", top=75)
    ),
    "random-pools": lambda: vary_pool_width(small(), "P@10", widths=[2, 3], n_samples=2),
    "random-pools, common topics": lambda: vary_common_topics(small(), "P@10", **TOPICS),
    "budgets": cache(lambda: compare_budgets(small(), "P@10", estimators="as-judged", **BUDGETS)),
    "budgets, judgments kept": lambda: keep_judgments(small(), "P@10", estimators="as-judged"),
}


def lines_of(shown: Result, width: int = 60) -> list[str]:
    return printed(lambda console: print_result(shown, console), width=width).splitlines()


def test_clusters_are_told_and_written(tmp_path: Path) -> None:
    """Four clusters: those of more organizations than one are left out."""
    clustered = leave_out(small(), "P@10", estimators="as-judged", by="cluster", n_clusters=4)
    lines = lines_of(clustered)
    told = [line for line in lines if re.match(r"cluster \d:", line)]
    assert [line.split(":")[0] for line in told] == [f"cluster {i}" for i in range(1, 5)]
    for line, cluster in zip(told, clustered.clusters, strict=True):
        assert ", ".join(map(repr, cluster.run_ids)) in line
    clustered.save(tmp_path / "one", figures="none")
    frame = clustered.to_frame("clusters")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "one" / "clusters.parquet"), frame)
    written = pd.read_csv(tmp_path / "one" / "clusters.csv")
    assert written["run_id"].tolist() == frame["run_id"].tolist()
    assert len(written) == 7
    assert json.loads((tmp_path / "one" / "settings.json").read_text())["settings"]["n_clusters"] == 4
    # without clusters the file goes
    OF_ALL["leave-out"]().save(tmp_path / "one", figures="none")
    assert not (tmp_path / "one" / "clusters.csv").exists()


def test_written_files(tmp_path: Path) -> None:
    shown = OF_ALL["leave-out"]()
    for folder in (tmp_path / "one", tmp_path / "two"):
        shown.save(folder)
    names = [
        f"{table}.{end}"
        for table in ("decisions", "reliability", "runs", "summary")
        for end in ("csv", "parquet")
    ]
    names += ["settings.json", "decisions.png", "mae.png", "pit-P_10.png", "sre.png", "truth-P_10.png"]
    assert {path.name for path in (tmp_path / "one").iterdir()} == set(names)
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "one" / "runs.parquet"), shown.to_frame())


def test_a_folder_keeps_what_is_not_of_the_result(tmp_path: Path) -> None:
    folder = tmp_path / "runs-v1.2"  # no ending of a file
    OF_ALL["leave-out"]().save(folder, figures="svg")
    assert (folder / "mae.svg").read_bytes().startswith(b"<?xml")
    (folder / "mine.svg").write_text("not ours")
    less = leave_out(small(), "P@5", estimators="as-judged")
    less.save(folder, figures="png")
    left = {path.name for path in folder.iterdir() if path.suffix in (".svg", ".png")}
    assert left == {"mine.svg", "decisions.png", "mae.png", "sre.png", "truth-P_5.png"}
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(OutputError, match="holds the results of leave-out"):
        OF_ALL["random-pools"]().save(folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    (tmp_path / "file").write_text("")
    for place, said in ((tmp_path / "file", "is a file"), (tmp_path / "no" / "where", "there is no folder")):
        with pytest.raises(OutputError, match=said):
            less.save(place)


@pytest.mark.filterwarnings("ignore::bayespool.errors.BayespoolWarning")
def test_what_is_read_back_says_the_same(tmp_path: Path) -> None:
    of_types = {
        "by type": lambda: leave_out(
            typed(), "P@5", by="type", estimators=BOTH, posterior_settings="draws=20"
        )
    }
    for command, make in {**OF_ALL, **of_types}.items():
        shown, folder, file = make(), tmp_path / command, tmp_path / f"{command}.json"
        shown.save(folder, figures="svg" if command == "leave-out" else "none")
        shown.save(file)
        for path in (folder, file):
            stored = read_result(path)
            assert stored.read() == shown.read()
            assert (stored.notes(), stored.sentences()) == (shown.notes(), shown.sentences())
            assert stored.metadata["settings"] == json.loads(json.dumps(shown.metadata["settings"]))
        if command == "leave-out":
            drawn = {figure.name: figure.caption for figure in read_result(folder).figures()}
            assert drawn == {figure.name: figure.caption for figure in shown.figures()}
    stored.write_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert all(html.escape(sentence) in page for sentence in shown.sentences())
    labels = re.findall(r"\\label{(.*)}", shown.to_latex())
    assert len(set(labels)) == len(labels) == len(shown.read())

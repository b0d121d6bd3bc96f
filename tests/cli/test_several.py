"""`score` and `compare` of several collections, and `compare --scores`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Outcome
from small import small

from bayespool import read_prepared
from bayespool.comparisons import compare_table, score_several
from bayespool.experiments import prepare

FAST = ("--estimators", "posterior-ratio", "--posterior", "draws=100")
FAST_PYTHON: dict[str, Any] = {"estimators": "posterior-ratio", "posterior_settings": "draws=100"}


@pytest.fixture
def folder(small_files: Path, tmp_path: Path) -> Path:
    """Files of the small collection under two names, with a folder for each of the new runs."""
    for run in ("new-a", "new-b"):
        (tmp_path / run).mkdir()
        for name in ("nq", "fiqa"):
            (found,) = (small_files / "new").glob(f"{run}*")
            shutil.copy(found, tmp_path / run / f"{name}.run")
            shutil.copy(found, tmp_path / f"{name}.{run}.run")
    keys = f'qrels = "{small_files}/qrels.txt"\npool = "{small_files}/pool"\n'
    keys += f'organizations = "{small_files}/organizations.csv"\neach_its_own = true\n'
    for name, measure in (("nq", "nDCG@5"), ("fiqa", "P@5")):
        (tmp_path / f"{name}.toml").write_text(f'{keys}measure = "{measure}"\n', encoding="utf-8")
    return tmp_path


def collections(folder: Path) -> list[str]:
    return ["--collection", f"{folder}/nq.toml", "--collection", f"{folder}/fiqa.toml"]


def test_a_run_is_a_folder_or_a_pattern(run: Callable[..., Outcome], folder: Path) -> None:
    out = folder / "board.json"
    done = run("score", folder / "new-a", folder / "new-b", *collections(folder), *FAST, "-o", out)
    assert done.status == 0, done.err
    made = json.loads(out.read_text(encoding="utf-8"))
    measures = {"nq": "nDCG@5", "fiqa": "P@5"}
    board = score_several({"nq": small(), "fiqa": small()}, ["new-a", "new-b"], measures, **FAST_PYTHON)
    values = [row["value"] for row in made["runs"]]
    assert values == board.runs["value"].tolist()
    assert [row["lower"] for row in made["runs"]] == board.runs["lower"].tolist()
    assert "nDCG@5, P@5 on 2 collections, these topics (posterior-ratio)" in done.out
    pattern = (f"{folder}/{{collection}}.new-a.run", f"{folder}/{{collection}}.new-b.run")
    again = folder / "again.json"
    done = run("compare", *pattern, *collections(folder), *FAST, "-o", again, "--baseline", "new-a")
    assert done.status == 0, done.err
    (row, _) = json.loads(again.read_text(encoding="utf-8"))["differences"]
    assert (row["run_a"], row["difference"]) == ("new-b", values[1] - values[0])


def test_the_measure_of_the_file_is_that_of_one_collection_and_m_goes_before(
    run: Callable[..., Outcome], folder: Path
) -> None:
    one = ("score", folder / "nq.new-a.run", "--collection", folder / "nq.toml", "--estimators", "background")
    assert "nDCG@5" in run(*one).out
    assert "nDCG@5" not in run(*one, "-m", "P@2").out
    several = ("score", folder / "new-a", *collections(folder), *FAST, "-m", "P@2", "--scope", "these-topics")
    assert "On these topics the mean P@2 over 2 collections of new-a" in run(*several).out.replace("\n", " ")
    (folder / "nq.toml").write_text('qrels = "x"\nmeasure = "Q@5"\n', encoding="utf-8")
    done = run(*one)
    assert (done.status, "nq.toml, line 1" in done.err or "nq.toml, line 2" in done.err) == (1, True)


def test_a_prepared_collection_stands_beside_others(run: Callable[..., Outcome], folder: Path) -> None:
    prepare(small(), "P@5").save(folder / "fiqa.bayespool")
    assert read_prepared(folder / "fiqa.bayespool").measures
    two = ("--collection", folder / "nq.toml", "--collection", folder / "fiqa.bayespool")
    done = run("score", folder / "new-a", folder / "new-b", *two, *FAST, "--scope", "these-topics")
    assert done.status == 0, done.err
    assert "nDCG@5, P@5 on 2 collections" in done.out


def test_what_several_collections_cannot_have_is_refused(run: Callable[..., Outcome], folder: Path) -> None:
    two, runs = collections(folder), (folder / "new-a", folder / "new-b")
    (folder / "empty").mkdir()
    (folder / "empty" / "nq.run").touch()
    for given, problem in (
        ((folder / "empty",), "empty: 0 files for the collection 'fiqa'"),
        ((folder / "nq.new-a.run",), "one file beside several collections"),
        ((folder / "gone",), "gone: no such file or folder; check the path"),
        ((*runs, "--organizations", folder / "nq.toml"), "--organizations beside several collections"),
        ((*runs, "--columns", "p"), "--columns beside several collections"),
        ((*runs, "--tests", "wilcoxon"), "--tests beside several collections"),
        ((folder / "new-a", f"{folder}/new-a/{{collection}}.run"), "two runs have one name"),
        ((*runs, "--control", "dunnett"), "--control cannot be 'dunnett'"),
    ):
        done = run("compare", *given, *two, *FAST)
        assert (done.status, problem in done.err.replace("\n", " ")) == (1, True), done.err
    done = run("score", *runs, *two, *FAST, "--unpool", "south", "--scope", "these-topics")
    assert done.status == 0, done.err
    assert done.err.replace("\n", " ").count("taken out of the pool: organization south") == 2
    done = run("plan", *two, "-m", "P@5")
    assert "only score, compare and leave-out take them" in done.err.replace("\n", " ")


def test_a_table_of_scores_is_compared(run: Callable[..., Outcome], tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(
        "task,a,b,c\nw,0.9,0.4,0.4\nx,0.8,0.3,0.4\ny,0.9,0.5,0.4\nz,0.7,0.2,0.2\n", encoding="utf-8"
    )
    figures = [f"--figure={tmp_path}/{name}.svg" for name in ("ranks", "other")]
    done = run("compare", "--scores", table, "-m", "nDCG@10", *figures)
    assert done.status == 0, done.err
    assert "nDCG@10 on 4 tasks, tasks like these (as-judged): means and ranks" in done.out
    assert ["a", "4", "0.8250"] in [line.split()[:3] for line in done.out.splitlines()]
    by_task, ranks = compare_table(table, "nDCG@10").figures()
    assert (tmp_path / "ranks.svg").read_bytes() == ranks.render()
    assert (tmp_path / "other.svg").read_bytes() == by_task.render() != ranks.render()
    for given, problem in (
        ((tmp_path / "a.run",), "runs or judgments beside --scores"),
        (("--rope", "0.1"), "--rope beside --scores"),
        (("--tests", "paired-t,wilcoxon"), "several tests beside --scores"),
    ):
        refused = run("compare", *given, "--scores", table)
        assert (refused.status, problem in refused.err) == (1, True), refused.err

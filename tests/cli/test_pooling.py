"""``bayespool pool`` and ``budgets``: what they print, write and refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import Outcome, campaign
from small import small

from bayespool.experiments import compare_budgets
from bayespool.pooling import STRATEGIES


def runs(folder: Path) -> list[str]:
    """Without judgments."""
    return campaign(folder)[2:]


def lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


def test_pool_does_not_ask_judgments_where_the_order_is_fixed(
    run: Callable[..., Outcome], small_files: Path, tmp_path: Path
) -> None:
    asked = ("--strategy", "combmnz(run_depth=20)", "--budget", 80)
    for name, files in (("one", runs(small_files)), ("two", campaign(small_files))):
        done = run("pool", *files, *asked, "-o", tmp_path / name)
        assert done.status == 0, done.err
    one, two = (lines(tmp_path / name) for name in ("one", "two"))
    assert [line[:3] for line in one] == [line[:3] for line in two]


def test_a_sample_is_written_with_its_probabilities(
    run: Callable[..., Outcome], small_files: Path, tmp_path: Path
) -> None:
    asked = ("--strategy", "stratified(depths=(3,), rates=(3.0, 1.0), run_depth=10)", "--budget", 80)
    judged = {(query, doc): int(level) for query, _, doc, level in lines(small_files / "qrels.txt")}
    done = run("pool", *runs(small_files), *asked, "-o", tmp_path / "plain.csv")
    assert done.status == 0, done.err
    plain = pd.read_csv(tmp_path / "plain.csv", dtype={"query_id": str})
    assert list(plain.columns) == ["query_id", "doc_id", "order", "inclusion"]
    paths = {ending: tmp_path / f"judge.{ending}" for ending in ("csv", "parquet", "json")}
    for path in paths.values():
        done = run("pool", *campaign(small_files), *asked, "-o", path)
        assert done.status == 0, done.err
    told = json.loads(paths["json"].read_text())
    assert told["metadata"]["settings"].items() >= {"budget": 80, "depth": 10}.items()
    of_csv = pd.read_csv(paths["csv"], dtype={"query_id": str})
    for table in (pd.DataFrame(told["documents"]), of_csv, pd.read_parquet(paths["parquet"])):
        assert table["inclusion"].tolist() == pytest.approx(plain["inclusion"].tolist(), abs=1e-12)
        assert table.groupby("query_id")["order"].max().tolist() == [10] * 8
        levels = [judged.get(pair) for pair in zip(table["query_id"], table["doc_id"], strict=True)]
        assert table["relevance"].tolist() == pytest.approx(levels)
    # of a sample Σ 1 / p is the number of documents
    assert (1 / plain["inclusion"]).sum() == pytest.approx(small().in_pool().sum(), abs=1e-6)
    assert plain["inclusion"].nunique() > 2


def test_pool_lists_strategies_with_their_settings(run: Callable[..., Outcome]) -> None:
    done = run("pool", "--list")
    assert done.status == 0
    rows = {line.split()[0]: line for line in done.out.splitlines() if line.strip()}
    assert set(STRATEGIES) <= set(rows)
    for name, said in (
        ("rrf", "k=60"),
        ("take", "the documents of the best ranks"),
        ("condorcet", "missing='loses', ties='best rank'"),
        ("hedge", " judgments "),
        ("combmnz", " scores "),
    ):
        assert said in rows[name]
    for order in [["--list", "--json"], ["--json", "--list"]]:
        document = json.loads(run("pool", *order).out)
        assert (document["command"], document["settings"]) == ("pool", {"list": True}), order
        assert [
            (row["name"], row["description"], list(row["settings"]), row["needs"])
            for row in document["tables"]["strategies"]
        ] == [
            (name, entry.description, list(entry.settings), list(entry.needs))
            for name, entry in STRATEGIES.items()
        ]
    for command in ("pool", "budgets"):
        done = run(command, "--help-all")
        assert "Strategies: " in done.out
        assert "the documents of the best ranks" in done.out
        assert ("Estimators: " in done.out) == (command == "budgets")


def test_what_cannot_be_chosen_is_said_in_a_line(run: Callable[..., Outcome], small_files: Path) -> None:
    take = "--strategy take --budget 10"
    for asked, message in [
        ("--strategy best --budget 10", "no strategy 'best'; known: "),
        ("--strategy rbp-c --budget 10", "strategy 'rbp-c' learns from each judgment"),
        ("--strategy take", "'take' does not say how much to judge; give a budget"),
        ("--strategy take --stop nonrelevant", "looks at judgments, and there is none;"),
        ("--strategy uniform --stop recall", "'uniform' is a random sample"),
        ("--strategy take --stop knee", "no stopping rule 'knee'; known: "),
        (f"{take} --output /no/such/file", "there is no folder /no/such"),
        (f"{take} --output /tmp", "is a folder"),
        (f"{take} --output x.zst", "x.zst: cannot write .zst; use "),
        (f"{take} --pool /no/such/run", "/no/such/run"),
        ("--describe", "no judgments, of which --describe says the pool; give --qrels"),
    ]:
        done = run("pool", *runs(small_files), *asked.split())
        assert (done.status, done.out) == (1, ""), (asked, message)
        last = done.err.splitlines()[-1]
        assert last.startswith("error: "), (asked, message)
        assert message in last, (asked, message)
    done = run("pool", *campaign(small_files))
    assert (done.status, "no strategy; --strategy 'take' --budget 5000; --list" in done.err) == (1, True)


def test_budgets_writes_what_the_library_finds(
    run: Callable[..., Outcome], small_files: Path, tmp_path: Path
) -> None:
    files = ("budgets", *campaign(small_files), "--jobs", 1)
    asked = ("-m", "P@5", "-m", "P@10", "--strategies", "take,depth(k=5)", "--budgets", "60,200,5000000")
    done = run(*files, *asked, "--truth", "pooled", "--output", tmp_path)
    assert done.status == 0, done.err
    assert "note: there are no more documents; everything is judged for 5,000,000" in done.out
    found = compare_budgets(
        small(),
        ["P@5", "P@10"],
        strategies=["take", "depth(k=5)"],
        budgets=[60, 200, 5_000_000],
        truth="pooled",
    )
    for name in ("bias", "by_organization", "pools", "summary", "ranking", "means"):
        frame = found.to_frame() if name == "bias" else found.to_frame(name)
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / f"{name}.parquet"), frame)
        assert (tmp_path / f"{name}.csv").read_text() == frame.to_csv(index=False)
    for name in ("bias.png",):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    told = json.loads((tmp_path / "settings.json").read_text())["settings"]
    expected = {"strategies": ["take", "depth(k=5)"], "budgets": [60, 200, 5_000_000], "repool_to": 10}
    assert told.items() >= expected.items()
    assert "truth: scores on the strategy's pool with the run in it" in done.out
    again = run(*files, *asked, "--truth", "pooled", "--output", tmp_path)
    assert again.out == done.out
    assert ("pools: 0 of " in done.err, "pools: 0 of " in again.err) == (True, False)  # nothing is worked out
    deep = run(*files, "-m", "P@20", "--strategies", "take", "--budgets", "60")
    assert deep.status == 1
    assert "looks deeper than the pools, which are judged to depth 10; take P@10, or a deeper" in deep.err


def test_pools_are_described_without_a_strategy(run: Callable[..., Outcome], written: Path) -> None:
    done = run("pool", *campaign(written), "--describe", "--json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    rows = pd.DataFrame(document["tables"]["pools"])
    taken = rows.loc[rows["is_taken"], ["depth", "holes", "n_runs", "explained", "n_holes"]]
    assert taken.to_numpy().tolist() == [[10, 0.0, 21, 1.0, 0]]
    # without a hole fewer runs would have gone further, and explain less
    assert (rows.loc[rows["depth"] > 10, "n_holes"] > 0).all()
    assert document["summary"][0].startswith("21 of 21 runs pooled to depth 10 (8 organizations), 0 holes")
    assert document["notes"] == []

"""``bayespool pool`` and ``budgets``: what they print, write and refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import Outcome, with_defaults

from bayespool.experiments import budgets
from bayespool.pooling import STRATEGIES, read_collection


def runs(folder: Path) -> list[str]:
    return ["--pool", str(folder / "pool"), "--organizations", str(folder / "organizations.csv")]


def lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


# pool


def test_pool_does_not_ask_judgments_where_the_order_is_fixed(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    asked = ("--strategy", "combmnz", "--budget", 400, "--depth", 20)
    for name, more in (("one", ()), ("two", ("--qrels", written / "qrels.txt"))):
        done = run("pool", *runs(written), *asked, *more, "-o", tmp_path / name)
        assert done.status == 0, done.err
    one, two = (lines(tmp_path / name) for name in ("one", "two"))
    assert [line[:3] for line in one] == [line[:3] for line in two]


def test_a_sample_is_written_with_its_probabilities(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    asked = ("--strategy", "stratified(depths=(3,), rates=(3.0, 1.0))", "--budget", 400, "--depth", 10)
    judged = {(query, doc): int(level) for query, _, doc, level in lines(written / "qrels.txt")}
    done = run("pool", *runs(written), *asked, "-o", tmp_path / "plain.csv")
    assert done.status == 0, done.err
    plain = pd.read_csv(tmp_path / "plain.csv", dtype={"query_id": str})
    assert list(plain.columns) == ["query_id", "doc_id", "order", "inclusion"]
    for ending in ("csv", "parquet", "json"):
        path = tmp_path / f"judge.{ending}"
        done = run("pool", *runs(written), *asked, "--qrels", written / "qrels.txt", "-o", path)
        assert done.status == 0, done.err
        if ending == "json":
            told = json.loads(path.read_text())
            assert told["metadata"]["settings"]["budget"] == 400
            assert told["metadata"]["settings"]["strategy"] == asked[1]
            table = pd.DataFrame(told["documents"])
        elif ending == "csv":
            table = pd.read_csv(path, dtype={"query_id": str})
        else:
            table = pd.read_parquet(path)
        assert len(table) == 400
        assert table["inclusion"].tolist() == pytest.approx(plain["inclusion"].tolist(), abs=1e-12)
        assert table.groupby("query_id")["order"].max().tolist() == [20] * 20
        levels = [judged.get(pair) for pair in zip(table["query_id"], table["doc_id"], strict=True)]
        assert table["relevance"].tolist() == pytest.approx(levels)
    # of a sample Σ 1 / p is the number of documents
    all_of_it = read_collection(
        written / "qrels.txt", pool=written / "pool", organizations=written / "organizations.csv"
    )
    assert (1 / plain["inclusion"]).sum() == pytest.approx(all_of_it.in_pool().sum(), abs=1e-6)
    assert plain["inclusion"].nunique() > 2


def test_pool_lists_strategies_with_their_settings(run: Callable[..., Outcome]) -> None:
    done = run("pool", "--list")
    assert done.status == 0
    rows = {line.split()[0]: line for line in done.out.splitlines() if line.strip()}
    assert set(STRATEGIES) <= set(rows)
    assert "k=60" in rows["rrf"]
    assert "the documents of the best ranks" in rows["take"]
    assert "missing='loses', ties='best rank'" in rows["condorcet"]
    assert " judgments " in rows["hedge"]
    assert " scores " in rows["combmnz"]


def test_budgets_beyond_the_pool_are_said(run: Callable[..., Outcome], written: Path) -> None:
    asked = ("-m", "P@10", "--strategies", "take", "--budgets", "900,5000000")
    files = ("--qrels", written / "qrels.txt", *runs(written), "--jobs", 1)
    done = run("budgets", *files, *asked)
    assert done.status == 0, done.err
    assert "note: there are no more documents; everything is judged for 5,000,000" in done.out
    done = run("budgets", *files, "--strategies", "take", "--budgets", "900")
    assert done.status == 1
    assert "looks deeper than the pools, which are judged to depth 10; take P@10, or a deeper" in done.err


def test_help_has_a_line_for_each_strategy(run: Callable[..., Outcome]) -> None:
    for command in ("pool", "budgets"):
        done = run(command, "--help")
        assert "Strategies:" in done.out
        assert "  take " in done.out
        assert "the documents of the best ranks" in done.out
        assert ("Estimators:" in done.out) == (command == "budgets")


def test_what_cannot_be_chosen_is_said_in_a_line(run: Callable[..., Outcome], written: Path) -> None:
    for asked, message in [
        (("--strategy", "best", "--budget", 10), "no strategy 'best'; known: "),
        (("--strategy", "rbp-c", "--budget", 10), "strategy 'rbp-c' learns from each judgment"),
        (("--strategy", "take"), "'take' does not say how much to judge; give a budget"),
        (
            ("--strategy", "take", "--stop", "nonrelevant"),
            "looks at judgments, and there is none;",
        ),
        (
            ("--strategy", "uniform", "--stop", "recall"),
            "'uniform' draws a sample",
        ),
        (
            ("--strategy", "take", "--stop", "knee"),
            "no stopping rule 'knee'; known: ",
        ),
        (("--strategy", "take", "--budget", 10, "--output", "/no/such/file"), "there is no folder /no/such"),
        (("--strategy", "take", "--budget", 10, "--output", "/tmp"), "is a folder"),
        (("--strategy", "take", "--budget", 10, "--output", "x.zst"), "x.zst: cannot write .zst; use "),
        (("--strategy", "take", "--budget", 10, "--pool", "/no/such/run"), "/no/such/run"),
    ]:
        done = run("pool", *runs(written), *asked)
        assert done.status == 1, (asked, message)
        assert done.out == "", (asked, message)
        last = done.err.splitlines()[-1]
        assert last.startswith("error: "), (asked, message)
        assert message in last, (asked, message)


# budgets


def arguments(folder: Path, *more: object) -> list[str]:
    defaults = ("--jobs", 1, "--strategies", "take,depth(k=5)", "--budgets", "200,500,900")
    files = ("--qrels", str(folder / "qrels.txt"), *runs(folder))
    return [*files, "-m", "P@10", "-m", "AP@10", *with_defaults(defaults, more)]


@pytest.mark.slow
def test_budgets_writes_what_the_library_finds(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    done = run("budgets", *arguments(written, "--output", tmp_path, "--truth", "pooled"))
    assert done.status == 0, done.err
    collection = read_collection(
        written / "qrels.txt", pool=written / "pool", organizations=written / "organizations.csv"
    )
    found = budgets(
        collection,
        ["P@10", "AP@10"],
        strategies=["take", "depth(k=5)"],
        budgets=[200, 500, 900],
        truth="pooled",
    )
    frames = {
        "bias": found.to_frame(),
        "by_organization": found.to_frame("by_organization"),
        "pools": found.to_frame("pools"),
        "summary": found.to_frame("summary"),
        "ranking": found.to_frame("ranking"),
        "means": found.to_frame("means"),
    }
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / f"{name}.parquet"), frame)
        assert (tmp_path / f"{name}.csv").read_text() == frame.to_csv(index=False)
    for name in ("bias.png", "ranking.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    told = json.loads((tmp_path / "settings.json").read_text())["settings"]
    assert told["strategies"] == ["take", "depth(k=5)"]
    assert told["budgets"] == [200, 500, 900]
    assert told["pool_depth"] == 10
    assert "truth: scores on the strategy's pool with the run in it" in done.out
    assert "P@10, the best 16 of 21 pooled runs, means over budgets" in done.out
    means = found.to_frame("means").set_index(["measure", "strategy"])
    rows = [line.split() for line in done.out.splitlines() if line.startswith(" take ")]
    assert rows[0][1] == f"{means.loc[('P@10', 'take'), 'mae']:.4f}"
    ranked = found.to_frame("ranking").set_index(["measure", "bias_measure", "strategy"])
    ranks = [str(ranked.loc[("P@10", name, "take"), "rank"]) for name in ("mae", "sre", "sre_star")]
    assert ranks in [row[1:4] for row in rows]
    of_take = frames["summary"].query("measure == 'P@10' and strategy == 'take'")
    assert ["take", *(f"{x:.4f}" for x in of_take["mae"])] in rows
    pools = frames["pools"].query("strategy == 'take'")
    assert rows[-1][1:] == [str(n) for n in pools["n_relevant"]]
    assert "pools: 18 of 18" in done.err


@pytest.mark.slow
def test_the_same_command_again_works_nothing_out(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    first = run("budgets", *arguments(written, "--output", tmp_path))
    again = run("budgets", *arguments(written, "--output", tmp_path))
    assert again.out == first.out
    assert "pools: 0 of 18" in first.err
    assert "pools: 0 of 18" not in again.err
    assert "pools: 18 of 18" in again.err


def test_list_as_json(run: Callable[..., Outcome]) -> None:
    for order in [["--list", "--json"], ["--json", "--list"]]:
        document = json.loads(run("pool", *order).out)
        assert (document["command"], document["settings"]) == ("pool", {"list": True}), order
        rows = {row["name"]: row for row in document["tables"]["strategies"]}
        assert list(rows) == list(STRATEGIES), order
        for name, entry in STRATEGIES.items():
            assert rows[name]["description"] == entry.description, order
            assert list(rows[name]["settings"]) == list(entry.settings), order
            assert rows[name]["needs"] == list(entry.needs), order


# pool --describe


def test_pools_are_described_without_a_strategy(run: Callable[..., Outcome], written: Path) -> None:
    done = run("pool", *runs(written), "--qrels", written / "qrels.txt", "--describe", "--json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    rows = pd.DataFrame(document["tables"]["pools"])
    taken = rows[rows["is_taken"]]
    assert taken[["depth", "holes", "n_runs", "explained", "n_holes"]].to_numpy().tolist() == [
        [10, 0.0, 21, 1.0, 0]
    ]
    # without a hole fewer runs would have gone further, and explain less
    assert (rows.loc[rows["depth"] > 10, "n_holes"] > 0).all()
    assert document["summary"][0].startswith("21 of 21 runs pooled to depth 10 (8 organizations), 0 holes")
    assert document["notes"] == []


def test_a_description_needs_judgments_and_a_choice_a_strategy(
    run: Callable[..., Outcome], written: Path
) -> None:
    done = run("pool", *runs(written), "--describe")
    assert (done.status, "no judgments, of which --describe says the pool; give --qrels" in done.err) == (
        1,
        True,
    )
    done = run("pool", *runs(written), "--qrels", written / "qrels.txt")
    assert (done.status, "Missing option '--strategy'" in done.err) == (2, True)

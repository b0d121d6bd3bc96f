"""``bayespool pool`` and ``budgets``: what they print, write and refuse."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import Outcome, with_defaults

from bayespool.collection import read_qrels
from bayespool.errors import WorkerError
from bayespool.experiments import budgets
from bayespool.experiments.budget_settings import StrategySettings
from bayespool.options import options_of
from bayespool.pooling import STRATEGIES, read_collection
from bayespool.report.reading import read_result


def runs(folder: Path) -> list[str]:
    return ["--pool", str(folder / "pool"), "--organizations", str(folder / "organizations.csv")]


def lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


# pool


def test_pool_lists_what_is_to_be_judged(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    output = tmp_path / "judge.txt"
    done = run(
        "pool", *runs(written), "--strategy", "take", "--budget", 300, "--depth", 10, "--output", output
    )
    assert done.status == 0, done.err
    listed = lines(output)
    assert len(listed) == 300
    assert {(iteration, relevance) for _, iteration, _, relevance in listed} == {("0", "-1")}
    topics = [topic for topic, *_ in listed]
    assert topics == sorted(topics)
    assert {topics.count(topic) for topic in topics} == {15}
    first = {line.split()[2] for path in (written / "pool").iterdir() for line in best_lines(path, "701")}
    assert {document for topic, _, document, _ in listed[:3] if topic == "701"} <= first
    assert "take: 300 documents of 20 topics, 15 each" in done.out
    north = next(line.split() for line in done.out.splitlines() if line.startswith(" north"))
    assert north[1] == "2"  # runs
    assert len(read_qrels(output).relevance) == 300


def best_lines(path: Path, topic: str) -> list[str]:
    """The first line of a topic of a run, whose scores descend."""
    found = [line for line in path.read_text().splitlines() if line.startswith(f"{topic} ")]
    return sorted(found, key=lambda line: -float(line.split()[4]))[:1]


def test_pool_with_judgments_is_the_qrels_it_would_have_made(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    output = tmp_path / "made.txt.gz"
    asked = ("--strategy", "take", "--budget", 2000, "--qrels", written / "qrels.txt", "--output", output)
    done = run("pool", *runs(written), *asked)
    assert done.status == 0, done.err
    made = {
        (q, d): r for q, _, d, r in map(str.split, gzip.decompress(output.read_bytes()).decode().splitlines())
    }
    known = {(q, d): r for q, _, d, r in lines(written / "qrels.txt")}
    assert len(made) == 2000
    assert all(made[pair] == known.get(pair, "-1") for pair in made)
    n_judged = sum(pair in known for pair in made)
    n_relevant = sum(known.get(pair, "0") != "0" for pair in made)
    told = f"judged already: {n_judged}, {n_relevant} of them relevant; to judge: {2000 - n_judged}"
    assert 0 < n_judged < 2000
    assert told in done.out


def test_pool_does_not_ask_judgments_where_the_order_is_fixed(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    asked = ("--strategy", "combmnz", "--budget", 400, "--depth", 20)
    for name, more in (("one", ()), ("two", ("--qrels", written / "qrels.txt"))):
        done = run("pool", *runs(written), *asked, *more, "-o", tmp_path / name)
        assert done.status == 0, done.err
    one, two = (lines(tmp_path / name) for name in ("one", "two"))
    assert [line[:3] for line in one] == [line[:3] for line in two]


def test_pool_without_organizations_counts_runs(run: Callable[..., Outcome], written: Path) -> None:
    done = run("pool", "--pool", written / "pool", "--strategy", "depth(k=5)")
    assert done.status == 0, done.err
    assert "organization" not in done.out
    assert any(line.split()[:2] == ["north-1", "run"] for line in done.out.splitlines()) is False
    assert any(line.startswith(" north-1 ") for line in done.out.splitlines())


def test_a_budget_beyond_the_runs_is_said(run: Callable[..., Outcome], written: Path) -> None:
    done = run("pool", *runs(written), "--strategy", "take", "--budget", 100_000)
    assert done.status == 0, done.err
    assert "note: there are no more; the budget was 100000" in done.out


def test_what_is_printed_is_in_the_files(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    asked = ("--strategy", "take", "--budget", 300, "--depth", 10)
    done = run("pool", *runs(written), *asked, "-o", tmp_path / "judge.json")
    assert done.status == 0, done.err
    stored = read_result(tmp_path / "judge.json")
    contributions = stored.to_frame("contributions").set_index("organization")
    assert contributions["n_runs"].sum() == 21
    assert contributions["share"].to_numpy() == pytest.approx(contributions["n_documents"] / 300)
    (table,) = stored.read()
    assert table.header == ("organization", "runs", "documents", "of all", "nobody\nelse has")
    printed = [line.replace(" %", "%").split() for line in done.out.splitlines()]
    assert all([cell.replace(" %", "%") for cell in row] in printed for row in table.rows)
    assert stored.summary() == ("take: 300 documents of 20 topics, 15 each",)
    assert [citation.key for citation in stored.citations()] == ["bayespool", *STRATEGIES["take"].citations]
    assert run("pool", *runs(written), *asked, "-o", tmp_path / "who.md").status == 0
    assert (tmp_path / "who.md").read_text(encoding="utf-8") == stored.to_markdown()


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


def test_pool_refuses_a_missing_budget_before_it_reads(run: Callable[..., Outcome], tmp_path: Path) -> None:
    done = run("pool", "--pool", tmp_path / "no-such-runs", "--strategy", "take")
    assert done.status == 1
    assert done.err.splitlines() == ["error: 'take' does not say how much to judge; give a budget"]


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


def test_options_of_pool_are_the_arguments_of_choose() -> None:
    import inspect

    from bayespool.pooling import choose

    parameters = inspect.signature(choose).parameters
    assert set(parameters) - {"collection", "run_index", "labels"} == set(options_of(StrategySettings))
    for name, (_, default) in options_of(StrategySettings).items():
        assert parameters[name].default == (inspect.Parameter.empty if default is ... else default), name


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
def test_budgets_says_what_estimators_make_of_the_pools(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    asked = ("-m", "nDCG@10", "--estimators", "as-judged,condensed-list", "--output", tmp_path)
    done = run("budgets", *arguments(written, *asked))
    assert done.status == 0, done.err
    posterior = pd.read_parquet(tmp_path / "posterior.parquet")
    assert len(pd.read_csv(tmp_path / "estimates.csv")) == 3 * 2 * 3 * 2 * 21
    told = json.loads((tmp_path / "settings.json").read_text())["settings"]
    assert told["estimators"]["as-judged"] == {"name": "as-judged", "estimand": "complete"}
    assert "P@10 of runs left out, estimated from the pool of each budget" in done.out
    rows = [line.split() for line in done.out.splitlines() if " condensed-list " in line]
    assert len(rows) == 3 * 2 * 3
    first = posterior[posterior["estimator"] == "condensed-list"].iloc[0]
    assert rows[0][:3] == ["take", "200", "condensed-list"]
    assert rows[0][3:5] == [f"{first[name]:.4f}" for name in ("mae_as_judged", "mae")]
    assert rows[0][5] == f"{first['bias']:+.4f}"
    assert "as judged*" in done.out.partition("nDCG@10 of runs left out")[2]
    of_precision = done.out.partition("P@10 of runs left out")[2].partition("of runs left out")[0]
    assert "as judged*" not in of_precision


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


def test_a_dead_worker_leaves_what_is_finished(
    run: Callable[..., Outcome], written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(*_: object, **__: object) -> None:
        raise WorkerError("a worker process died")

    monkeypatch.setattr("bayespool.experiments.budgets", dying)
    done = run("budgets", *arguments(written, "--output", tmp_path))
    assert done.status == 1
    assert f"what is finished is in {tmp_path / 'budgets'}" in done.err


def test_what_cannot_be_done_is_said_in_a_line(run: Callable[..., Outcome], written: Path) -> None:
    for more, message in [
        (("--strategies", "best"), "no strategy 'best'"),
        (("--budgets", "many"), "--budgets many: not whole numbers"),
        (("-m", "P@50"), "P@50 looks deeper than the pools"),
        (("--jobs", 0), "--jobs 0"),
        (("--output", "/no/such/folder"), "there is no folder"),
    ]:
        done = run("budgets", *arguments(written, *more))
        assert done.status == 1, (more, message)
        assert done.out == "", (more, message)
        assert message in done.err.splitlines()[-1], (more, message)


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

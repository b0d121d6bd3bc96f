"""`bayespool compare` and `bayespool reversals`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from commands import Outcome
from compared import NEW, compared

from bayespool.plots import draw_comparison, render

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")
FAST = ("--estimators", "posterior-ratio", "--draws", "50")


def files(folder: Path) -> list[str]:
    return [
        "--qrels",
        str(folder / "qrels.txt"),
        "--pool",
        str(folder / "pool"),
        "--organizations",
        str(folder / "organizations.csv"),
    ]


def test_compare_writes_every_table(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    done = run(
        "compare",
        written / "new" / "new-a.run",
        written / "new" / "new-b.run",
        *files(written),
        *FAST,
        *("--scope", "population", "--table", "significance", "--level", "0.2", "--control", "none"),
        *("-m", "P@5", "-o", tmp_path / "a.json", "-o", tmp_path / "a.csv", "-o", tmp_path / "a.parquet"),
    )
    assert done.status == 0, done.err
    assert "these 20 topics" not in done.out
    result = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert list(result) == ["metadata", *(table.name for table in compared().tables())]
    assert result["metadata"]["level"] == 0.2
    assert {row["scope"] for row in result["differences"] if row["method"] == "posterior-ratio"} == {
        "population"
    }
    table = pd.read_csv(tmp_path / "a.csv").astype({"significant": "boolean"})
    assert table["control"].tolist() == ["none"] * 2
    assert table["measure"].tolist() == ["P@5"] * 2
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "a.parquet"), table, check_dtype=False)
    assert json.loads(pq.read_schema(tmp_path / "a.parquet").metadata[b"bayespool"]) == result["metadata"]


def test_compare_writes_a_report_and_the_columns_of_pairs_asked_for(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    asked = ("compare", written / "new", *files(written), *FAST, "-m", "P@5", "-m", "P@10")
    outputs = ("--report", tmp_path / "a.html", "-o", tmp_path / "a.md", "-o", tmp_path / "a.csv")
    done = run(*asked, "--columns", "difference,risk", "--table", "pairs", *outputs)
    assert done.status == 0, done.err
    assert "Comparison of runs" in (tmp_path / "a.html").read_text(encoding="utf-8")
    lines = (tmp_path / "a.md").read_text(encoding="utf-8").splitlines()
    headers = [line for line in lines if line.startswith("| run a ")]
    assert len(headers) == 2
    assert all("reversal" in line and "chance" not in line for line in headers)
    assert {"as_judged", "chance", "risk"} <= set(pd.read_csv(tmp_path / "a.csv"))
    done = run(*asked, "--table", "across_overview", "-o", tmp_path / "b.csv")
    assert done.status == 0, done.err
    assert pd.read_csv(tmp_path / "b.csv")["n_pairs"].tolist() == [1, 1]


def test_reversals_prints_and_writes(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    for name in NEW:  # runs that did not contribute lie in the folder of the campaign, too
        source = (written / "new" / f"{name}.run").read_bytes()
        (tmp_path / "pool").mkdir(exist_ok=True)
        (tmp_path / "pool" / f"{name}.run").write_bytes(source)
    done = run(
        "reversals",
        *files(written),
        *("--pool", tmp_path / "pool", "--judgments", 300, "--exclude-runs", "north-1,lake-2"),
        *("--estimators", "smoothed,posterior-ratio", "--draws", 50, "--no-fitted", "--lenient"),
        *("-o", tmp_path / "r.json", "-o", tmp_path / "r.csv", "--figure", tmp_path / "r.svg"),
    )
    assert done.status == 0, done.err
    assert (tmp_path / "r.svg").read_bytes().startswith(b"<?xml")
    assert "P@10, 19 contributing runs, 171 pairs: 300 of 1,181 judgments (pool depth 2)" in done.out
    assert "P@10, 2 non-contributing runs, 1 pair:" in done.out
    result = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert list(result) == ["metadata", "rates", "trends", "p_values", "risks", "calibration", "grades"]
    assert len(pd.read_csv(tmp_path / "r.csv")) == len(result["rates"]) == 2 * 2 * 6
    assert len(result["calibration"]) == 2 * 2 * 10


def test_one_run_is_not_a_comparison(run: Callable[..., Outcome], written: Path) -> None:
    done = run("compare", written / "new" / "new-a.run", *files(written))
    assert (done.status, done.err) == (1, "error: one run cannot be compared; name two or more\n")


def test_reversals_say_what_is_wrong(run: Callable[..., Outcome], written: Path) -> None:
    done = run("reversals", *files(written), "--exclude-runs", "nobody")
    assert done.status == 1
    assert "no run 'nobody' in the collection" in done.err
    done = run("reversals", *files(written), "--judgments", 5000)
    assert done.status == 1
    assert "no judgment set is smaller than all 1181 judgments" in done.err


def test_compare_draws_differences(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    asked = ["--tests", "paired-t,tukey-hsd", "--each-its-own", "--figure", tmp_path / "a.svg"]
    done = run("compare", written / "new", *files(written), *FAST, *asked)
    assert done.status == 0, done.err
    assert (tmp_path / "a.svg").read_bytes() == render(draw_comparison(compared()), "svg")


def test_plan_prints_what_is_told_and_what_it_costs(run: Callable[..., Outcome], written: Path) -> None:
    fast = ("--estimator", "posterior-ratio", "--draws", "50", "--judgments", "20", "--more-topics", "30")
    prices = ("--difference", "0.1", "--price-topic", "40")
    done = run("plan", written / "new", *files(written), *fast, *prices, "--each-its-own", "--json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    scenarios = document["tables"]["scenarios"]
    assert [row["n_topics"] for row in scenarios] == [20, 20, 20, 50]
    cheapest = document["tables"]["mixes"][0]
    assert cheapest["price"] == 40 * (cheapest["n_topics"] - 20) + cheapest["n_judgments"]
    assert document["summary"][0].startswith("On 20 topics a difference of 0.")
    alone = run("plan", written / "new" / "new-a.run", *files(written))
    assert (alone.status, alone.out) == (1, "")
    assert "one run has no difference to plan for" in alone.err


def test_plan_does_without_files(run: Callable[..., Outcome], written: Path) -> None:
    stated = ("plan", "--topics-at-hand", "50", "--sd", "0.2")
    done = run(*stated)
    assert (done.status, "On 50 topics a difference of 0.081 is detected" in done.out) == (0, True)
    assert "files beside --topics-at-hand" in run(*stated, *files(written)).err
    assert "no collection; give --qrels and runs, or --topics-at-hand" in run("plan").err

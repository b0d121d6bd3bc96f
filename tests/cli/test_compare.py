"""`bayespool compare`, `bayespool gate`, `bayespool reversals` and `bayespool plan`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from commands import Outcome, campaign
from compared import compared
from small import small

from bayespool import parse_measure
from bayespool.evidence import score_bounds
from bayespool.plots import draw_comparison, render

# runs of the pool are compared beside new ones
pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.PooledRunWarning")
FAST = ("--estimators", "posterior-ratio", "--posterior", "draws=50")


def test_compare_writes_every_table(run: Callable[..., Outcome], small_files: Path, tmp_path: Path) -> None:
    done = run(
        *("compare", small_files / "new", *campaign(small_files), *FAST, "-m", "P@5"),
        *("--scope", "population", "--table", "significance", "--level", "0.2", "--control", "none"),
        *("-o", tmp_path / "a.json", "-o", tmp_path / "a.csv", "-o", tmp_path / "a.parquet"),
    )
    assert done.status == 0, done.err
    assert "these 8 topics" not in done.out
    result = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert list(result) == ["metadata", *(table.name for table in compared().tables())]
    assert result["metadata"]["level"] == 0.2
    of_posterior = [row for row in result["differences"] if row["estimator"] == "posterior-ratio"]
    assert {row["scope"] for row in of_posterior} == {"population"}
    table = pd.read_csv(tmp_path / "a.csv").astype({"significant": "boolean"})
    assert table["control"].tolist() == ["none"] * 2
    assert table["measure"].tolist() == ["P@5"] * 2
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "a.parquet"), table, check_dtype=False)
    assert json.loads(pq.read_schema(tmp_path / "a.parquet").metadata[b"bayespool"]) == result["metadata"]


def test_compare_writes_a_report_and_the_columns_of_pairs_asked_for(
    run: Callable[..., Outcome], small_files: Path, tmp_path: Path
) -> None:
    asked = ("compare", small_files / "new", *campaign(small_files), *FAST, "-m", "P@5", "-m", "P@10")
    outputs = ("--report", tmp_path / "a.html", "-o", tmp_path / "a.md", "-o", tmp_path / "a.csv")
    done = run(*asked, "--columns", "difference,risk", "--table", "differences", *outputs)
    assert done.status == 0, done.err
    assert "Comparison of runs" in (tmp_path / "a.html").read_text(encoding="utf-8")
    lines = (tmp_path / "a.md").read_text(encoding="utf-8").splitlines()
    headers = [line for line in lines if line.startswith("| run a ")]
    assert len(headers) == 2
    assert all("reversal" in line and "chance" not in line for line in headers)
    assert {"as_judged", "prob_greater", "risk"} <= set(pd.read_csv(tmp_path / "a.csv"))


def test_reversals_prints_and_writes(run: Callable[..., Outcome], small_files: Path, tmp_path: Path) -> None:
    # runs that did not contribute lie in the folder of the campaign, too
    shutil.copytree(small_files / "new", tmp_path / "pool")
    done = run(
        *("reversals", *campaign(small_files), "--pool", tmp_path / "pool", "--judgments", 60),
        *("--exclude-runs", "north-1", "--estimators", "smoothed", "--reading", "strict=false"),
        *("-o", tmp_path / "r.json", "-o", tmp_path / "r.csv", "--figure", tmp_path / "r.svg"),
    )
    assert done.status == 0, done.err
    assert (tmp_path / "r.svg").read_bytes().startswith(b"<?xml")
    assert "P@10, 6 contributing runs, 15 pairs: 60 of 203 judgments (pool depth 2)" in done.out
    assert "P@10, 2 non-contributing runs, 1 pair:" in done.out
    result = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert list(result) == [
        "metadata",
        "rates",
        "trends",
        "p_values",
        "risks",
        "calibration",
        "grades",
        "constants",
    ]
    assert len(pd.read_csv(tmp_path / "r.csv")) == len(result["rates"]) > 0


def test_wrong_use_is_told(run: Callable[..., Outcome], small_files: Path) -> None:
    new, files = small_files / "new" / "new-a.run", campaign(small_files)
    for asked, message in [
        (("compare", new, *files), "error: one run cannot be compared; name two or more\n"),
        (("reversals", *files, "--exclude-runs", "nobody"), "no run 'nobody' in the collection"),
        (("reversals", *files, "--judgments", 5000), "no judgment set is smaller than all 203 judgments"),
        (("plan", new, *files), "one run has no difference to plan for"),
        (("plan", "--topics-at-hand", "50", "--sd", "0.2", *files), "files beside --topics-at-hand"),
        (("plan",), "no collection; give --qrels and runs, or --topics-at-hand"),
    ]:
        done = run(*asked)
        assert (done.status, done.out) == (1, ""), message
        assert message in done.err


def test_compare_draws_differences(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    asked = ["--tests", "paired-t,tukey-hsd", "--reading", "each_its_own", "--figure", tmp_path / "a.svg"]
    done = run("compare", written / "new", *campaign(written), *FAST, *asked)
    assert done.status == 0, done.err
    assert (tmp_path / "a.svg").read_bytes() == render(draw_comparison(compared()), "svg")


def test_plan_prints_the_topics_needed_and_does_without_files(
    run: Callable[..., Outcome], small_files: Path
) -> None:
    fast = ("--estimators", "posterior-ratio(draws=50)", "--judgments", "20", "--more-topics", "30")
    done = run("plan", small_files / "new", *campaign(small_files), *fast, "--difference", "0.1", "--json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    assert [row["n_topics"] for row in document["tables"]["scenarios"]] == [8, 8, 8, 38]
    as_it_is, *_, judged, more_topics = (row["topics_needed"] for row in document["tables"]["scenarios"])
    assert 8 <= judged < as_it_is == more_topics
    done = run("plan", "--topics-at-hand", "50", "--sd", "0.2")
    assert (done.status, "On 50 topics a difference of 0.081 is detected" in done.out) == (0, True)


def test_gate_answers_by_its_exit_status(
    run: Callable[..., Outcome], small_files: Path, tmp_path: Path
) -> None:
    one, other = (small_files / "new" / f"new-{name}.run" for name in "ab")
    judged = [line.split() for line in (small_files / "qrels.txt").read_text().splitlines()]
    lines = [f"{q} Q0 {d} 0 {-i} bad\n" for i, (q, _, d, level) in enumerate(judged) if level == "0"]
    bad = tmp_path / "bad.run"
    bad.write_text("".join(lines))
    asked = (*campaign(small_files), "--estimators", "posterior-ratio(draws=50)", "--scope", "these-topics")
    for runs, more, status, verdict in (
        ((one, other), ("--margin", "0.1"), 0, "better or equal"),
        ((bad, one), (), 0, "better or equal"),
        ((one, bad), (), 1, "worse"),
        ((one, other), (), 2, "cannot be told"),
    ):
        done = run("gate", *runs, *asked, *more)
        assert (done.status, done.out.partition(":")[0]) == (status, verdict), done.err
        assert len(done.out.splitlines()) == 1
    document = json.loads(run("gate", one, bad, *asked, "--json").out)
    assert document["metadata"]["gate"]["verdict"] == "worse"
    assert document["summary"][0].startswith("worse: the P@10 of bad − new-a on these topics is -")
    same = tmp_path / "old" / "bad.run"
    same.parent.mkdir()
    shutil.copy(one, same)
    assert (done := run("gate", same, bad, *asked)).status == 1
    assert f"{bad} − {same}" in done.out  # one name in two folders
    for runs in ((one,), (one, one), (small_files / "new", bad), (one, tmp_path / "none.run"), ("--bogus",)):
        assert run("gate", *runs, *asked).status == 3, runs


def test_a_gate_takes_runs_out_of_the_pool_in_the_order_named(
    run: Callable[..., Outcome], small_files: Path
) -> None:
    """A run of the pool by its name beside a file, first or second, and two of them."""
    one = small_files / "new" / "new-a.run"
    asked = (
        *campaign(small_files),
        "--estimators",
        "posterior-ratio(draws=50)",
        "--scope",
        "these-topics",
        "--json",
    )
    leads = []
    for runs, unpooled in (
        (("north-1", one), ["north-1"]),
        ((one, "north-1"), ["north"]),
        (("north-1", "north-2"), ["north-1", "north-2"]),
    ):
        leaving = [text for name in unpooled for text in ("--unpool", name)]
        document = json.loads(run("gate", *runs, *asked, *leaving).out)
        decided = document["metadata"]["gate"]
        assert decided["run_ids"] == [Path(str(each)).stem for each in runs]
        assert document["metadata"]["unpooled"]["north-1"] == "organization north"
        leads.append(decided["difference"])
    assert leads[0] == pytest.approx(-leads[1], abs=1e-12)
    assert leads[0] != 0
    done = run("gate", one, "south-1", *asked, "--unpool", "north-1")
    assert (done.status, "run 'south-1' stays in the pool" in done.err) == (3, True)


def test_judgments_of_ones_own_count_in_compare_gate_and_plan(
    run: Callable[..., Outcome], small_files: Path, tmp_path: Path
) -> None:
    """All that new-a has unjudged is judged relevant: its score is that of its upper bound."""
    own, listed = tmp_path / "own.txt", tmp_path / "list.txt"
    runs = [small_files / "new" / f"new-{name}.run" for name in "ab"]
    campaign_files = (*campaign(small_files), "--posterior", "draws=50")
    assert run("judge-next", runs[0], *campaign_files, "--budget", 500, "-o", listed).status == 0
    own.write_text(listed.read_text().replace(" -1\n", " 1\n"))
    n_listed = len(own.read_text().splitlines())
    bounds = score_bounds(small(), ["new-a"], parse_measure("P@10"))
    assert bounds.most.means()[0] > bounds.low.means()[0]
    told = [*campaign_files, "--own-judgments", own, "--json"]
    compared = json.loads(run("compare", *runs, *told).out)
    values = {row["value"] for row in compared["tables"]["runs"] if row["run_id"] == "new-a"}
    assert max(values) == pytest.approx(bounds.most.means()[0], abs=1e-12)
    for command in ("gate", "plan"):
        before, after = (
            json.loads(run(command, *runs, *asked).out) for asked in ([*campaign_files, "--json"], told)
        )
        if command == "gate":
            lead = [document["metadata"]["gate"]["difference"] for document in (before, after)]
            assert lead[1] < lead[0]
        else:
            left = [document["tables"]["scenarios"][1]["n_judgments"] for document in (before, after)]
            assert left[0] - left[1] == n_listed > 0

"""The command line: what it prints and writes, and what it says when the input cannot be used."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import Outcome

import bayespool
from bayespool.counts import judgment_counts
from bayespool.estimators import DEFAULT_ESTIMATORS
from bayespool.posterior import PosteriorEstimator
from bayespool.scoring import score
from bayespool.simulation import load_example, simulate_example

FAST = ("--estimators", "background")  # what is asked has nothing to do with the estimator


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's files; not to be changed."""
    folder = tmp_path_factory.mktemp("example")
    simulate_example().write(folder)
    return folder


@pytest.fixture
def example(written: Path, tmp_path: Path) -> Path:
    """The example's files, and an output that an earlier call left."""
    shutil.copytree(written, tmp_path / "example")
    (tmp_path / "example" / "result.csv").write_bytes(b"what stood there\n")
    return tmp_path / "example"


def arguments(folder: Path) -> list[str]:
    return [
        "score",
        str(folder / "new"),
        "--qrels",
        str(folder / "qrels.txt"),
        "--pool",
        str(folder / "pool"),
        "--organizations",
        str(folder / "organizations.csv"),
        "--each-its-own",  # as the example in memory has it, whose truth the list leaves out
    ]


def values(text: str) -> dict[str, list[float]]:
    """Rows of the tables of one measure: run id → its numbers."""
    rows = [line.split() for line in text.splitlines() if line.startswith(" new-")]
    return {row[0]: [float(x) for x in row[1:]] for row in rows}


# --- what it is for ----------------------------------------------------------------------------------------


def test_score_prints_the_scores(run: Callable[..., Outcome], written: Path) -> None:
    done = run(
        *arguments(written), "--estimators", "background,interpolated,posterior-background", "--draws", 100
    )
    assert done.status == 0
    scores = score(
        load_example(), None, estimators=["background", "interpolated", "posterior-background"], draws=100
    )
    assert done.out.splitlines()[0] == "P@10, mean over 20 topics"
    rows = [line.split() for line in done.out.splitlines() if line.startswith(" new-")]
    frame = scores.frame()
    expected = [
        [
            row.run_id,
            *(
                f"{x:.4f}"
                for x in (row.bound_lower, row.bound_upper, row.residual, row.background, row.interpolated)
            ),
            f"{row[frame.columns.get_loc('posterior-background')]:.4f}",
            "–".join(
                f"{row[frame.columns.get_loc(f'posterior-background_{end}')]:.4f}"
                for end in ("lower", "upper")
            ),
        ]
        for row in frame.itertuples(index=False)
    ]
    assert rows == expected
    assert done.err.splitlines() == [
        "reading runs: 1 of 23",
        "pool: 21 of 23 runs pooled to depth 10 (8 organizations), 0 holes; "
        "1181 judgments, 0 not explained by these runs",
        "estimating: background",
        "estimating: interpolated",
        "estimating: posterior-background",
    ]


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_output_is_the_frame_of_the_library(ending: str, run: Callable[..., Outcome], example: Path) -> None:
    path = example / f"result.{ending}"
    settings = ["--draws", "100", "--seed", "7", "-m", "P@5", "-m", "P@10", "--ci-prob", "0.8"]
    done = run(*arguments(example), *settings, "-o", path)
    assert done.status == 0
    scores = score(load_example(), None, ["P@5", "P@10"], draws=100, random_seed=7, ci_prob=0.8)
    # the example that is read has no organizations of its new runs, which changes its fingerprint alone
    if ending == "csv":
        found = pd.read_csv(path, keep_default_na=False)
    elif ending == "parquet":
        found = pd.read_parquet(path)
    else:
        found = pd.DataFrame(json.loads(path.read_text(encoding="utf-8"))["scores"])
    pd.testing.assert_frame_equal(found, scores.frame(), check_dtype=False, rtol=1e-12)
    assert [m for m in ("P@5", "P@10") if f"{m}, mean over 20 topics" in done.out] == ["P@5", "P@10"]


def test_rows_are_in_the_order_of_the_files(run: Callable[..., Outcome], example: Path) -> None:
    new = example / "new"
    for order in (["new-a", "new-b"], ["new-b", "new-a"]):
        files = [new / f"{name}.run" for name in order]
        done = run(
            "score", *files, *arguments(example)[2:], "--estimators", "background", "-o", example / "o.csv"
        )
        assert done.status == 0, done.err
        assert pd.read_csv(example / "o.csv")["run_id"].tolist() == order


def test_several_outputs_at_once(run: Callable[..., Outcome], example: Path) -> None:
    done = run(*arguments(example), *FAST, "-o", example / "a.csv", "-o", example / "b.json", "--per-topic")
    assert done.status == 0
    csv = pd.read_csv(example / "a.csv", dtype={"query_id": str}, keep_default_na=False)
    rows = json.loads((example / "b.json").read_text(encoding="utf-8"))["scores"]
    assert len(csv) == len(rows) == 40
    assert csv["query_id"].tolist() == [row["query_id"] for row in rows]
    assert len(values(done.out)) == 2
    assert sum(line.startswith(" new-") for line in done.out.splitlines()) == 40


def test_measures_and_threshold(run: Callable[..., Outcome], written: Path) -> None:
    spelled = run(*arguments(written), *FAST, "-m", "P(rel=2)@10", "-m", "P(rel=1)@5")
    by_option = run(*arguments(written), *FAST, "-m", "P@10", "-m", "P(rel=1)@5", "--relevance-threshold", 2)
    assert spelled.status == by_option.status == 0
    assert spelled.out == by_option.out
    assert "P(rel=2)@10, mean over 20 topics" in spelled.out
    assert "P@5, mean over 20 topics" in spelled.out  # what says rel= keeps it
    lower = judgment_counts(load_example(), "new-a", cutoffs=10, rel=2).lower.mean()
    assert f" new-a  {lower:.4f}" in spelled.out


def test_estimand_is_passed_on(run: Callable[..., Outcome], written: Path) -> None:
    complete = values(run(*arguments(written), *FAST, "-m", "P@20").out)
    done = run(*arguments(written), *FAST, "-m", "P@20", "--estimand", "pooled")
    pooled = values(done.out)
    assert "unjudged documents below the pool depth nonrelevant" in done.out
    assert all(pooled[run][1] < complete[run][1] for run in pooled)


def test_order_by_rank_reads_the_ranks(run: Callable[..., Outcome], example: Path) -> None:
    """A run whose ranks are those of another order than its scores."""
    path = example / "new" / "new-a.run"
    lines = [line.split() for line in path.read_text().splitlines()]
    path.write_text("".join(f"{q} Q0 {d} {101 - int(rank)} {s} {tag}\n" for q, _, d, rank, s, tag in lines))
    by_score, by_rank = (values(run(*arguments(example), *FAST, "--order", o).out) for o in ("score", "rank"))
    assert by_score["new-b"] == by_rank["new-b"]
    assert by_score["new-a"][0] > by_rank["new-a"][0] + 0.2  # the last hundredth is first


def test_runs_may_be_named_by_their_tags(run: Callable[..., Outcome], example: Path) -> None:
    (example / "new" / "new-a.run").rename(example / "new" / "something.else")
    by_file = run(*arguments(example), *FAST)
    assert [line.split()[0] for line in by_file.out.splitlines() if "0.5950" in line] == ["something.else"]
    assert set(values(run(*arguments(example), *FAST, "--run-id", "tag").out)) == {"new-a", "new-b"}


def test_what_is_known_of_the_pool_may_be_given(run: Callable[..., Outcome], written: Path) -> None:
    done = run(*arguments(written), *FAST, "--pooled-runs", "north-1,south-1", "--known-depth", 10)
    assert "pool: 2 of 23 runs pooled to depth 10 (2 organizations)" in done.err
    shallow = run(*arguments(written), *FAST, "--known-depth", 5, "--max-holes", 0)
    assert "pool: 21 of 23 runs pooled to depth 5 (8 organizations), 0 holes" in shallow.err


def test_common_topics_add_the_topics_adjustment(run: Callable[..., Outcome], example: Path) -> None:
    path = example / "result.csv"
    done = run(*arguments(example), *FAST, "--common-topics", "701, 702", "-o", path)
    assert done.status == 0
    direct = score(load_example(), None, estimators=["topics-adjustment(common_query_ids=('701', '702'))"])
    found = pd.read_csv(path)
    assert found["topics-adjustment"].to_numpy() == pytest.approx(
        direct.frame()["topics-adjustment"].to_numpy()
    )
    assert list(found.columns)[5:7] == ["background", "topics-adjustment"]


def test_compressed_files_and_globs(run: Callable[..., Outcome], example: Path) -> None:
    plain = run(*arguments(example), *FAST)
    for path in [example / "qrels.txt", *(example / "pool").iterdir()]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    done = run(
        "score",
        example / "new" / "new-?.run",
        "--qrels",
        example / "qrels.txt.gz",
        "--pool",
        example / "pool" / "[a-k]*",
        "--pool",
        example / "pool" / "[l-z]*",
        "--organizations",
        example / "organizations.csv",
        "--each-its-own",
        *FAST,
    )
    assert done.status == 0
    assert done.out == plain.out


def test_run_that_is_in_the_pool_folder_too_is_scored_as_pooled(
    run: Callable[..., Outcome], written: Path
) -> None:
    call = arguments(written)
    call[1] = str(written / "pool" / "north-1.run")
    done = run(*call, *FAST)
    assert done.status == 0
    assert "note: north-1: nothing unjudged" in done.out
    assert "21 of 21 runs pooled" in done.err


def test_run_of_a_link_is_scored_under_its_own_name(run: Callable[..., Outcome], example: Path) -> None:
    (example / "new" / "new-c.run").symlink_to(example / "new" / "new-a.run")
    rows = values(run(*arguments(example), *FAST).out)
    assert rows["new-c"] == rows["new-a"]
    assert set(rows) == {"new-a", "new-b", "new-c"}


def test_without_a_pool_it_works_and_says_what_that_means(run: Callable[..., Outcome], written: Path) -> None:
    done = run("score", written / "new", "--qrels", written / "qrels.txt", "--draws", 100)
    assert done.status == 0
    assert "warning: no pooled runs given: posterior estimates rest on informative priors alone" in done.err
    assert "pool: no pooled run among 2 runs" in done.err
    assert (
        "note: all runs: no pooled runs; 2 runs that no list names count as one organization, yours; "
        in done.out
    )
    assert "; systems-adjustment: needs a pooled run; " in done.out
    for name in ("new-a", "new-b"):
        (row,) = [line.split() for line in done.out.splitlines() if line.startswith(f" {name} ")]
        lower, upper, value = float(row[1]), float(row[2]), float(row[-2])
        low, high = map(float, row[-1].split("–"))
        assert lower <= low < value < high <= upper
        assert row[7:9] == ["–", "–"]


def test_without_organizations_it_says_what_that_means(run: Callable[..., Outcome], written: Path) -> None:
    done = run(*arguments(written)[:-3], *FAST)
    assert done.status == 0
    assert (
        "warning: no organizations given: each run of the pool counts as an organization of its own"
        in done.err
    )
    assert "(21 organizations)" in done.err


def test_lenient_skips_bad_lines_and_says_so(run: Callable[..., Outcome], example: Path) -> None:
    before = run(*arguments(example), *FAST)
    with open(example / "new" / "new-a.run", "a") as file:
        file.write("701 Q0 D00001\n")
    assert run(*arguments(example), *FAST).status == 1
    done = run(*arguments(example), *FAST, "--lenient")
    assert done.status == 0
    assert done.out == before.out
    assert "new-a.run: 1 line skipped, fewer than six columns (first: line 2001)" in done.err


def test_prior_is_passed_on(run: Callable[..., Outcome], written: Path) -> None:
    call = [*arguments(written), "--estimators", "posterior-background", "--draws", "200"]
    default = run(*call).out
    shifted = run(*call, "--prior", "mu = Normal(2, 0.01)", "--prior", "sigma_topic=HalfNormal(0.01)").out

    def value(text: str) -> float:
        (row,) = [line.split() for line in text.splitlines() if line.startswith(" new-b")]
        return float(row[4])

    assert value(shifted) > value(default) + 0.05


def test_failed_diagnostics_are_shown(
    run: Callable[..., Outcome], written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fits import compile_once

    from bayespool.inference import NUTS

    monkeypatch.setattr(NUTS, "compile", compile_once)
    settings = ["--engine", "nuts", "--draws", "20", "--tune", "20", "--chains", "2"]
    done = run(*arguments(written), "--estimators", "posterior-background", *settings)
    assert done.status == 0
    assert "warning: " in done.err
    assert "effective sample size is" in done.err
    assert "note: all runs: posterior-background: diagnostics failed: " in done.out


def test_demo_writes_an_example_that_can_be_scored(run: Callable[..., Outcome], tmp_path: Path) -> None:
    done = run("demo", "--write", tmp_path / "made" / "here")
    assert done.status == 0
    command = done.out.splitlines()[-1].split()
    assert command[:2] == ["bayespool", "score"]
    assert sorted(p.name for p in (tmp_path / "made" / "here").iterdir()) == [
        "new",
        "organizations.csv",
        "pool",
        "qrels.txt",
    ]
    scored = run(*command[1:], *FAST)
    assert scored.status == 0
    assert set(values(scored.out)) == {"new-a", "new-b"}


def test_demo_prints_scores_and_truth(run: Callable[..., Outcome], example: Path) -> None:
    done = run("demo", *FAST, "-m", "P@10", "-o", example / "demo.csv")
    assert done.status == 0
    truth = judgment_counts(simulate_example().complete(), ["new-a", "new-b"], cutoffs=10).lower.mean(
        axis=(1, 2)
    )
    assert done.out.splitlines()[-1] == (
        f"truth of the simulation, P@10 if all were judged: new-a {truth[0]:.4f}, new-b {truth[1]:.4f}"
    )
    assert len(pd.read_csv(example / "demo.csv")) == 2


def test_version_and_help(run: Callable[..., Outcome]) -> None:
    assert run("--version") == Outcome(0, f"bayespool {bayespool.__version__}\n", "")
    done = run("--help")
    assert done.status == 0
    assert "score" in done.out
    assert "demo" in done.out
    help_of_score = run("score", "--help")
    assert help_of_score.status == 0
    options = ["--qrels", "--pool", "--organizations", "--measure", "--per-topic", "--output", "--estimators"]
    options += ["--prior", "--draws", "--tune", "--chains", "--seed", "--estimand", "--order"]
    for option in [*options, "--relevance-threshold", "--engine", "--ci-prob", "--lenient"]:
        assert option in help_of_score.out


# --- input that cannot be used -----------------------------------------------------------------------------


def append(path: Path, text: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def set_column(path: Path, line: int, column: int, value: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    fields = lines[line - 1].split()
    fields[column] = value
    lines[line - 1] = " ".join(fields)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def truncate_gz(folder: Path) -> None:
    path = folder / "new" / "new-a.run"
    data = gzip.compress(path.read_bytes())
    (folder / "new" / "new-a.run.gz").write_bytes(data[: len(data) // 2])
    path.unlink()


def no_relevant(folder: Path) -> None:
    lines = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} 0\n" for q, _, d, _ in lines))


def other_topics(folder: Path) -> None:
    path = folder / "new" / "new-b.run"
    path.write_text("".join(f"1{line}\n" for line in path.read_text().splitlines()))


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("something")


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty qrels": (lambda f: (f / "qrels.txt").write_bytes(b""), r"qrels\.txt: is empty"),
    "blank qrels": (lambda f: (f / "qrels.txt").write_bytes(b" \n\n"), r"qrels\.txt: is empty"),
    "empty run": (lambda f: (f / "new" / "new-a.run").write_bytes(b""), r"new/new-a\.run: is empty"),
    "empty run of the pool": (lambda f: (f / "pool" / "x.run").write_bytes(b""), r"pool/x\.run: is empty"),
    "empty organizations": (
        lambda f: (f / "organizations.csv").write_bytes(b""),
        r"organizations\.csv: is empty",
    ),
    "organizations without a run": (
        lambda f: (f / "organizations.csv").write_text("run_id,organization\n"),
        r"organizations\.csv: lists no run",
    ),
    "no run in the folder": (
        lambda f: [p.unlink() for p in (f / "new").iterdir()],
        r"new: no file in this folder",
    ),
    "run with a column too few": (
        lambda f: append(f / "new" / "new-a.run", "701 Q0 D9 1 0.5\n"),
        r"new-a\.run, line 2001: expected 6 columns, found 5",
    ),
    "run with a column too many": (
        lambda f: append(f / "new" / "new-a.run", "701 Q0 D9 1 0.5 tag more\n"),
        r"new-a\.run, line 2001: expected 6 columns, found 7",
    ),
    "qrels with a column too few": (
        lambda f: append(f / "qrels.txt", "701 0 D9\n"),
        r"qrels\.txt, line 1182: expected 4 columns, found 3",
    ),
    "organizations without a header": (
        lambda f: (f / "organizations.csv").write_text("north-1,north\n"),
        r"organizations\.csv, line 1: the header names 'north-1, north', not run_id and organization",
    ),
    "organizations with a column too few": (
        lambda f: append(f / "organizations.csv", "new-a\n"),
        r"organizations\.csv, line 23: expected 2 columns as in the header, found 1",
    ),
    "relevance that is no number": (
        lambda f: set_column(f / "qrels.txt", 7, 3, "yes"),
        r"qrels\.txt, line 7: relevance 'yes' is not an integer",
    ),
    "relevance with a point": (
        lambda f: set_column(f / "qrels.txt", 7, 3, "1.0"),
        r"qrels\.txt, line 7: relevance '1\.0' is not an integer",
    ),
    "score that is no number": (
        lambda f: set_column(f / "pool" / "west-1.run", 12, 4, "high"),
        r"west-1\.run, line 12: score 'high' is not a number",
    ),
    "score that is NaN": (
        lambda f: set_column(f / "pool" / "west-1.run", 12, 4, "nan"),
        r"west-1\.run, line 12: score is NaN",
    ),
    "document twice in a topic": (
        lambda f: set_column(
            f / "new" / "new-a.run", 12, 2, (f / "new" / "new-a.run").read_text().split()[2]
        ),
        r"new-a\.run, line 12: document D\d+ is repeated in topic 701 \(first on line 1\)",
    ),
    "unknown run in the organizations": (
        lambda f: append(f / "organizations.csv", "ghost,north\n"),
        r"organizations\.csv: 1 listed runs are not among the runs read, 'ghost' for one",
    ),
    "run of the pool without an organization": (
        lambda f: shutil.copy(f / "new" / "new-a.run", f / "pool" / "stranger.run"),
        r"organizations\.csv: 1 runs of the pool have no organization, 'stranger' for one",
    ),
    "run with two organizations": (
        lambda f: append(f / "organizations.csv", "north-1,south\n"),
        r"organizations\.csv, line 23: run 'north-1' belongs to 'south' here and to 'north' on line \d+",
    ),
    "run without any topic of the qrels": (
        other_topics,
        r"new-b\.run: none of its topics is in the qrels: it has '1701', '1702', '1703' …, the qrels '701'",
    ),
    "qrels without a relevant document": (no_relevant, r"qrels\.txt: no document is relevant"),
    "two runs of one name": (
        lambda f: shutil.copy(f / "new" / "new-a.run", f / "new" / "north-1.run"),
        r"north-1\.run: holds a run named 'north-1', as does .*north-1\.run",
    ),
    "truncated gz": (truncate_gz, r"new-a\.run\.gz: the gzip data are truncated or damaged"),
    "binary file": (
        lambda f: (f / "new" / "new-a.run").write_bytes(b"\x7fELF\0\0"),
        r"new-a\.run: is binary or UTF-16",
    ),
    "folder as qrels": (
        lambda f: replace_by_folder(f / "qrels.txt"),
        r"qrels\.txt: is a folder where a file is expected",
    ),
    "folder as organizations": (
        lambda f: replace_by_folder(f / "organizations.csv"),
        r"organizations\.csv: is a folder where a file is expected",
    ),
    "no qrels": (lambda f: (f / "qrels.txt").unlink(), r"qrels\.txt: no such file"),
    "no pool": (lambda f: shutil.rmtree(f / "pool"), r"pool: no such file or folder"),
    "no organizations": (lambda f: (f / "organizations.csv").unlink(), r"organizations\.csv: no such file"),
}


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def assert_refused(
    done: Outcome, message: str, folder: Path, before: dict[str, bytes], status: int = 1
) -> None:
    """One clear line, nothing printed as a result, nothing written or touched."""
    import re

    assert done.status == status
    assert done.out == ""
    last = done.err.splitlines()[-1]
    if status == 1:
        assert last.startswith("error: ")
    assert re.search(message, done.err), done.err
    assert "Traceback" not in done.err
    assert everything_in(folder) == before


@pytest.mark.parametrize("case", UNUSABLE)
def test_unusable_input_is_told_and_nothing_is_written(
    case: str, run: Callable[..., Outcome], example: Path
) -> None:
    spoil, message = UNUSABLE[case]
    spoil(example)
    before = everything_in(example)
    done = run(*arguments(example), *FAST, "-o", example / "result.csv", "-o", example / "other.json")
    assert_refused(done, message, example, before)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["-m", "AP"], r"unknown measure 'AP'; write P@10"),
        (["-m", "P@0"], r"cutoff and rel must be at least 1"),
        (["-m", "P(rel=0)@10"], r"cutoff and rel must be at least 1"),
        (["-m", ""], r"unknown measure ''"),
        (["--estimators", "foreground"], r"no estimator 'foreground'; known: lower-bound"),
        (["--estimators", "background(e=7)"], r"constant e = 7 is not between 0 and 1"),
        (["--estimators", "background,background(e=0.2)"], r"two estimators are called 'background'"),
        (["--estimators", "posterior-background", "--prior", "mu"], r"prior 'mu' is not of the form name="),
        (
            ["--estimators", "posterior-background", "--prior", "mu=Normal(0"],
            r"prior 'Normal\(0' is not a dist",
        ),
        (["--estimators", "posterior-background", "--prior", "mu=Foo(1)"], r"prior of mu: .*Foo"),
        (
            ["--estimators", "posterior-background", "--prior", "mu=Normal(0,-1)"],
            r"prior of mu: .* is no density",
        ),
        (
            ["--estimators", "posterior-background", "--prior", "zz=Normal(0,1)"],
            r"no estimator asked for has a prior 'zz'",
        ),
        (["--ci-prob", "1.5"], r"ci_prob cannot be 1\.5"),
        (["--ci-prob", "nan"], r"ci_prob cannot be nan"),
        (["--pooled-runs", "ghost"], r"no run 'ghost' in the collection"),
        (["--common-topics", "999"], r"common topics \['999'\] are not among the topics"),
        (["-o", "result.txt"], r"result\.txt: cannot write \.txt; use \.csv, \.json, \.parquet"),
        (["-o", "new"], r"new: cannot write a file without ending"),
        (["-o", "folder.csv"], r"folder\.csv: is a folder; name a file"),
        (["-o", "nowhere/result.csv"], r"nowhere/result\.csv: there is no folder nowhere; make it first"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_option_is_told_and_nothing_is_written(
    wrong: list[str],
    message: str,
    run: Callable[..., Outcome],
    example: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (example / "folder.csv").mkdir()
    before = everything_in(example)
    monkeypatch.chdir(example)
    fast = [] if "--estimators" in wrong else FAST
    done = run(*arguments(example), *fast, "-o", "result.csv", *wrong)
    assert_refused(done, message, example, before)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--chains", "0"], r"--chains"),
        (["--draws", "many"], r"--draws"),
        (["--seed", "-1"], r"--seed"),
        (["--estimand", "half"], r"--estimand"),
        (["--engine", "hmc"], r"--engine"),
        (["--order", "date"], r"--order"),
        (["--colour"], r"--colour"),
        (["--pool-depth", "0"], r"--pool-depth"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_told(
    wrong: list[str], message: str, run: Callable[..., Outcome], example: Path
) -> None:
    before = everything_in(example)
    done = run(*arguments(example), *FAST, "-o", example / "result.csv", *wrong)
    assert_refused(done, message, example, before, status=2)


def test_qrels_are_needed(run: Callable[..., Outcome], example: Path) -> None:
    before = everything_in(example)
    assert_refused(run("score", example / "new"), "--qrels", example, before, status=2)
    assert_refused(run(), "Usage: .*bayespool", example, before, status=2)


def test_bad_output_is_told_before_any_work(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("files were read")

    monkeypatch.setattr("bayespool.loading.read_collection", refuse)
    done = run(*arguments(example), "-o", example / "good.csv", "-o", example / "bad.txt")
    assert done.status == 1
    assert "bad.txt: cannot write .txt" in done.err
    assert not (example / "good.csv").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_folder_without_permission_is_told(run: Callable[..., Outcome], example: Path) -> None:
    locked = example / "locked"
    locked.mkdir(mode=0o500)
    done = run(*arguments(example), *FAST, "-o", locked / "result.csv")
    assert done.status == 1
    assert "permission denied" in done.err


def test_full_disk_is_told(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = everything_in(example)
    monkeypatch.setattr(os, "fsync", full)
    done = run(*arguments(example), *FAST, "-o", example / "result.csv")
    assert done.status == 1
    assert "result.csv: cannot be written: No space left on device" in done.err
    assert done.out.startswith("P@10")  # the table is not lost with the file
    assert everything_in(example) == before


@pytest.mark.parametrize("place", ["afile", "afile/below"])
def test_example_that_cannot_be_written_is_told(
    place: str, run: Callable[..., Outcome], tmp_path: Path
) -> None:
    (tmp_path / "afile").write_bytes(b"a file")
    done = run("demo", "--write", tmp_path / place)
    assert_refused(done, "afile.*: cannot be made: ", tmp_path, {"afile": b"a file"})


@pytest.mark.parametrize("compiled", [False, True])
def test_ctrl_c_ends_with_130_and_nothing_written(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        if compiled:  # what comes out of a function of numba's
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        raise KeyboardInterrupt

    monkeypatch.setattr(PosteriorEstimator, "estimate", interrupted)
    before = everything_in(example)
    done = run(*arguments(example), "-o", example / "result.csv")
    assert (done.status, done.out) == (130, "")
    assert "Traceback" not in done.err
    assert everything_in(example) == before


def test_bug_keeps_its_traceback(
    run: Callable[..., Outcome], example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(PosteriorEstimator, "estimate", broken)
    before = everything_in(example)
    with pytest.raises(ZeroDivisionError):
        run(*arguments(example), "-o", example / "result.csv")
    assert everything_in(example) == before


# --- as a process ------------------------------------------------------------------------------------------

MAIN = "import sys; from bayespool.cli import main; sys.argv[0] = 'bayespool'; main()"


def process(*arguments: object, code: str = MAIN) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize("asked", [["--help"], ["score", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(asked: list[str]) -> None:
    heavy = (
        "pymc",
        "pytensor",
        "nutpie",
        "arviz_base",
        "arviz_stats",
        "pandas",
        "pyarrow",
        "scipy",
        "numpy",
        "xarray",
    )
    if "score" in asked:  # it lists the estimators, who calculate; none of them has begun to
        heavy = tuple(name for name in heavy if name not in ("numpy", "pyarrow", "scipy"))
    code = f"""
import sys
from bayespool.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print([name for name in {heavy!r} if name in sys.modules])
"""
    done = process(*asked, code=code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


def test_default_call_as_a_process(run: Callable[..., Outcome], example: Path) -> None:
    """What the issue shows; the same bytes as from this process, and every default column."""
    settings = ["--draws", "250", "-m", "P@5", "-m", "P@10"]
    done = process(*arguments(example), *settings, "-o", example / "result.json")
    assert done.returncode == 0, done.stderr
    again = run(*arguments(example), *settings, "-o", example / "again.json")
    assert (example / "result.json").read_bytes() == (example / "again.json").read_bytes()
    assert done.stdout == again.out
    rows = json.loads((example / "result.json").read_text(encoding="utf-8"))["scores"]
    assert [(row["run_id"], row["measure"]) for row in rows] == [
        (name, m) for m in ("P@5", "P@10") for name in ("new-a", "new-b")
    ]
    assert set(DEFAULT_ESTIMATORS) <= set(rows[0])


def test_error_as_a_process(example: Path) -> None:
    done = process("score", example / "new", "--qrels", example / "pool")
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr
        == f"error: {example / 'pool'}: is a folder where a file is expected; name a file inside it\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_as_a_process(example: Path) -> None:
    before = everything_in(example)
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            MAIN,
            *arguments(example),
            "--engine",
            "nuts",
            "-o",
            str(example / "result.csv"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        assert running.stderr.readline().startswith("reading runs")
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert everything_in(example) == before

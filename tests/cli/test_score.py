"""`bayespool score` and `bayespool demo`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import FAST, Outcome, arguments
from small import small
from wide import wide, widened

import bayespool
from bayespool.collection import add_judges
from bayespool.evidence import judgment_counts
from bayespool.experiments import load_example, simulate_example, simulate_judge
from bayespool.plots import draw_forest, draw_topics, render
from bayespool.pooling.pools import with_strategy_pool
from bayespool.report.provenance import versions
from bayespool.scoring import score


def values(text: str) -> dict[str, list[float]]:
    """Rows of the tables of one measure: run id → its numbers."""
    rows = [line.split() for line in text.splitlines() if line.startswith(" new-")]
    return {row[0]: [float(x) for x in row[1:] if x != "%"] for row in rows}


def test_output_is_the_frame_of_the_library(run: Callable[..., Outcome], small_example: Path) -> None:
    paths = {ending: small_example / f"result.{ending}" for ending in ("csv", "json", "parquet")}
    settings = ["--draws", "100", "--seed", "7", "-m", "P@5", "-m", "P@10", "--ci-prob", "0.8"]
    outputs = [word for path in paths.values() for word in ("-o", path)]
    done = run(*arguments(small_example), *settings, *outputs)
    assert done.status == 0, done.err
    scores = score(small(), None, ["P@5", "P@10"], draws=100, random_seed=7, ci_prob=0.8)
    found = {
        "csv": pd.read_csv(paths["csv"]).fillna({"note": ""}),
        "parquet": pd.read_parquet(paths["parquet"]),
        "json": pd.DataFrame(json.loads(paths["json"].read_text(encoding="utf-8"))["scores"]),
    }
    for frame in found.values():
        pd.testing.assert_frame_equal(frame, scores.to_frame(), check_dtype=False, rtol=1e-12)
    assert [m for m in ("P@5", "P@10") if f"{m}, mean over 8 topics" in done.out] == ["P@5", "P@10"]


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
    rows = json.loads((example / "b.json").read_text(encoding="utf-8"))["topics"]
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


def test_the_strategy_that_made_the_pool_may_be_given(run: Callable[..., Outcome], example: Path) -> None:
    """The example's judgments are those of a depth pool, and of a sample once others are taken away."""
    done = run(*arguments(example), *FAST, "--pool-strategy", "depth(k=10)")
    assert done.status == 0
    assert (
        "pool: 21 of 23 runs pooled by depth(k=10) (8 organizations), 0 holes; "
        "1,181 judgments, 0 not explained by these runs"
    ) in done.err
    assert values(done.out) == values(run(*arguments(example), *FAST).out)

    sample = with_strategy_pool(load_example(), "uniform", 500, random_seed=3)
    names = np.array(sample.query_ids)[sample.pair_topic]
    judged = [
        f"{names[pair]} 0 {sample.doc_id(pair)} {sample.relevance[pair]}\n"
        for pair in np.flatnonzero(sample.judged)
    ]
    (example / "qrels.txt").write_text("".join(judged))
    options = ("--pool-strategy", "uniform", "--pool-budget", 500, "--pool-run-depth", 10, "--pool-seed", 3)
    measures = ("-m", "P@10", "-m", "AP@10", "--estimators", "horvitz-thompson,inferred-ap")
    path = example / "result.csv"
    done = run(*arguments(example), *measures, *options, "-o", path)
    assert done.status == 0
    assert (
        "pool: 21 of 23 runs pooled by uniform, budget 500, runs to rank 10 (8 organizations), 0 holes; "
        "500 judgments, 0 not explained by these runs"
    ) in done.err
    found = widened(pd.read_csv(path))
    direct = wide(
        score(sample, ["new-a", "new-b"], ["P@10", "AP@10"], estimators=["horvitz-thompson", "inferred-ap"])
    )
    for name in ("horvitz-thompson", "inferred-ap"):
        assert found[name].to_numpy() == pytest.approx(direct[name].to_numpy(), nan_ok=True)
        assert found[name].notna().sum() == 2


def test_common_topics_add_the_topics_adjustment(run: Callable[..., Outcome], example: Path) -> None:
    path = example / "result.csv"
    done = run(*arguments(example), *FAST, "--common-topics", "701, 702", "-o", path)
    assert done.status == 0
    direct = score(load_example(), None, estimators=["topics-adjustment(common_query_ids=('701', '702'))"])
    assert list(pd.read_csv(path)["estimator"].unique()) == ["background", "topics-adjustment"]
    found = widened(pd.read_csv(path))
    assert found["topics-adjustment"].to_numpy() == pytest.approx(
        wide(direct)["topics-adjustment"].to_numpy()
    )


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
        "note: all runs: no pooled runs; 2 runs without a listed organization count as one "
        "organization, yours; " in done.out
    )
    assert "; systems-adjustment: needs a pooled run; " in done.out
    for name in ("new-a", "new-b"):
        (row,) = [line.split() for line in done.out.splitlines() if line.startswith(f" {name} ")]
        lower, upper, value = float(row[1]), float(row[2]), float(row[-2])
        low, high = map(float, row[-1].split("–"))
        assert lower <= low < value < high <= upper
        assert len(row) == 12  # none of the two adjustments that need a pool


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
        return float(row[6])

    assert value(shifted) > value(default) + 0.05


@pytest.mark.slow
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


@pytest.mark.slow
def test_labels_of_judges_are_read_and_used(run: Callable[..., Outcome], example: Path) -> None:
    """As in the library; and not by estimators without predictors."""
    labels = simulate_judge(simulate_example(), quality=3.0, random_seed=1)
    lines = [
        f"{query_id} 0 {doc_id} {label:g}\n"
        for query_id, doc_id, label in zip(
            labels.query_id.to_pylist(), labels.doc_id.to_pylist(), labels.label.tolist(), strict=True
        )
    ]
    (example / "llm.txt").write_text("".join(lines))
    (example / "half.txt").write_text("".join(lines[::2]))
    asked = (*arguments(example), "--estimators", "background,posterior-ratio", "--draws", 100)
    out = {}
    for given in ((), ("llm.txt",), ("llm=llm.txt",), ("llm.txt", "half=half.txt")):
        files = [text.replace("=", f"={example}/") if "=" in text else example / text for text in given]
        done = run(*asked, *(part for file in files for part in ("--judge", file)), "-o", example / "o.csv")
        assert done.status == 0, done.err
        out[given] = widened(pd.read_csv(example / "o.csv"))
    plain, by_file, by_name, two = out.values()
    pd.testing.assert_frame_equal(by_file, by_name)
    assert (by_file["background"] == plain["background"]).all()
    column = "posterior-ratio"
    assert not (by_file[column] == plain[column]).any()
    assert not (by_file[column] == two[column]).any()
    found = wide(
        score(add_judges(load_example(), {"llm": labels}), None, estimators=["posterior-ratio"], draws=100)
    )
    assert by_file[column].tolist() == pytest.approx(found[column].tolist(), abs=1e-12)


def test_labels_that_cannot_be_read_are_told(run: Callable[..., Outcome], example: Path) -> None:
    (example / "bad.txt").write_text("701 0 D00001 1\n701 0 D00002 perhaps\n")
    done = run(*arguments(example), *FAST, "--judge", example / "bad.txt")
    assert done.status == 1
    assert "bad.txt, line 2: label 'perhaps' is not a number" in " ".join(done.err.split())
    done = run(*arguments(example), *FAST, "--judge", f"gpt={example}/nowhere.txt")
    assert done.status == 1
    assert "nowhere.txt" in done.err.replace("\n", "")


def test_version_and_help(run: Callable[..., Outcome]) -> None:
    done = run("--version")
    assert (done.status, done.err) == (0, "")
    assert done.out == "".join(f"{name} {version}\n" for name, version in versions().items())
    assert done.out.startswith(f"bayespool {bayespool.__version__}\npython ")
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


@pytest.mark.slow
def test_score_draws_a_forest(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    names = "background,posterior-background"
    asked = [*arguments(written), "-m", "P@10", "-m", "nDCG@10", "--estimators", names, "--draws", 50]
    done = run(*asked, "--figure", tmp_path / "forest.svg", "--figure", tmp_path / "forest.pdf")
    assert done.status == 0, done.err
    assert done.out.startswith("P@10, mean over 20 topics")
    scores = score(load_example(), None, ["P@10", "nDCG@10"], estimators=names.split(","), draws=50)
    assert (tmp_path / "forest.svg").read_bytes() == render(draw_forest(scores), "svg")
    assert (tmp_path / "forest.pdf").read_bytes() == render(draw_forest(scores), "pdf")
    assert run(*asked, "--per-topic", "--figure", tmp_path / "topics.svg").status == 0
    assert (tmp_path / "topics.svg").read_bytes() == render(draw_topics(scores), "svg")


def test_demo_draws_the_truth(run: Callable[..., Outcome], tmp_path: Path) -> None:
    assert run("demo", *FAST, "-m", "P@10", "--figure", tmp_path / "forest.svg").status == 0
    scores = score(load_example(), None, "P@10", estimators="background")
    truth = {"P@10": simulate_example().true_values("P@10", scores.run_ids)}
    assert (tmp_path / "forest.svg").read_bytes() == render(draw_forest(scores, truth=truth), "svg")


def test_judgments_of_second_assessors_want_their_scope_and_say_their_line(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    second = tmp_path / "second.txt"
    second.write_text("701 0 D00001 1\n701 0 D00002\n", encoding="utf-8")
    done = run(*arguments(written), *FAST, "--second-assessors", second)
    assert (done.status, "add --scope another-assessor" in done.err) == (1, True)
    asked = (*arguments(written), "--second-assessors", second, "--scope", "another-assessor")
    assert "add one, such as posterior-combined" in run(*asked, *FAST).err
    done = run(*asked, "--estimators", "posterior-ratio")
    assert (done.status, f"{second}, line 2" in done.err.replace("\n", "")) == (1, True)

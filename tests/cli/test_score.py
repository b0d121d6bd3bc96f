"""`bayespool score` and `bayespool demo`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import FAST, Outcome, arguments, campaign
from fits import compile_once
from small import small, small_simulation
from wide import wide, widened

from bayespool.collection import add_judges
from bayespool.experiments import load_example, simulate_example, simulate_judge
from bayespool.inference import NUTS
from bayespool.plots import draw_forest, render
from bayespool.pooling.pools import with_strategy_pool
from bayespool.report.provenance import versions
from bayespool.scoring import score


def values(text: str) -> dict[str, list[float]]:
    """Rows of the table of scores, of the last measure if there are several: run id → its numbers."""
    rows = [line.split() for line in text.splitlines() if line.startswith(" new-")]
    return {row[0]: [float(x) for x in row[1:] if x != "%" and "@" not in x] for row in rows}


def test_output_is_the_frame_of_the_library(run: Callable[..., Outcome], small_example: Path) -> None:
    paths = {ending: small_example / f"result.{ending}" for ending in ("csv", "json", "parquet")}
    settings = [
        "--posterior",
        "draws=50",
        "--random-seed",
        "7",
        "-m",
        "P@5",
        "-m",
        "P@10",
        "--ci-prob",
        "0.8",
    ]
    outputs = [word for path in paths.values() for word in ("-o", path)]
    done = run(*arguments(small_example), *settings, *outputs)
    assert done.status == 0, done.err
    scores = score(small(), None, ["P@5", "P@10"], posterior_settings="draws=50", random_seed=7, ci_prob=0.8)
    found = {
        "csv": pd.read_csv(paths["csv"]).fillna({"note": ""}),
        "parquet": pd.read_parquet(paths["parquet"]),
        "json": pd.DataFrame(json.loads(paths["json"].read_text(encoding="utf-8"))["scores"]),
    }
    for frame in found.values():
        pd.testing.assert_frame_equal(frame, scores.to_frame(), check_dtype=False, rtol=1e-12)
    assert "P@5 and P@10, mean over 8 topics" in done.out


def test_the_strategy_that_made_the_pool_may_be_given(
    run: Callable[..., Outcome], small_example: Path
) -> None:
    """The example's judgments are those of a depth pool, and of a sample once others are taken away."""
    plain = run(*arguments(small_example), *FAST)
    done = run(*arguments(small_example), *FAST, "--pool-strategy", "depth(k=10)")
    assert done.status == 0
    pool = "pool: 7 of 9 runs pooled by {0} (4 organizations), 0 holes; {1} of {1} judged documents in"
    assert pool.format("depth(k=10)", 203) in done.err
    assert values(done.out) == values(plain.out)

    sample = with_strategy_pool(small(), "uniform(budget=100, random_seed=3)")
    names = np.array(sample.query_ids)[sample.pair_topic]
    judged = [
        f"{names[pair]} 0 {sample.doc_id(pair)} {sample.relevance[pair]}\n"
        for pair in np.flatnonzero(sample.judged)
    ]
    (small_example / "qrels.txt").write_text("".join(judged))
    options = ("--pool-strategy", "uniform(budget=100, run_depth=10, random_seed=3)")
    measures = ("-m", "P@10", "-m", "AP@10", "--estimators", "horvitz-thompson,inferred-ap")
    path = small_example / "result.csv"
    done = run(*arguments(small_example), *measures, *options, "-o", path)
    assert done.status == 0
    assert pool.format("uniform, budget 100, runs to rank 10", 100) in done.err
    found, estimators = widened(pd.read_csv(path)), ["horvitz-thompson", "inferred-ap"]
    direct = wide(score(sample, ["new-a", "new-b"], ["P@10", "AP@10"], estimators=estimators))
    for name in estimators:
        assert found[name].to_numpy() == pytest.approx(direct[name].to_numpy(), nan_ok=True)
        assert found[name].notna().sum() == 2


def test_compressed_files_and_globs(run: Callable[..., Outcome], small_example: Path) -> None:
    plain = run(*arguments(small_example), *FAST)
    for path in [small_example / "qrels.txt", *(small_example / "pool").iterdir()]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    pool = ("--pool", small_example / "pool" / "[a-k]*", "--pool", small_example / "pool" / "[l-z]*")
    files = ("--qrels", small_example / "qrels.txt.gz", *pool, *campaign(small_example)[4:])
    done = run("score", small_example / "new" / "new-?.run", *files, "--reading", "each_its_own", *FAST)
    assert (done.status, done.out) == (0, plain.out)


def test_without_a_pool_it_works_and_says_what_that_means(run: Callable[..., Outcome], written: Path) -> None:
    done = run("score", written / "new", "--qrels", written / "qrels.txt", "--posterior", "draws=100")
    assert done.status == 0
    said = "no pool: posteriors rest on priors alone; to fix it: a collection prepared by whoever has the "
    assert done.err.count(f"warning: {said}") == 1
    assert done.err.index("warning: no pool: ") < done.err.index("estimating: ")
    assert next(line for line in done.out.splitlines() if line.startswith("note: ")).startswith(
        f"note: {said}"
    )
    assert "pool: no pooled run among 2 runs" in done.err
    assert done.out.count("no pool, posteriors on priors alone") == 3  # the title, and a sentence of each run
    for name in ("new-a", "new-b"):
        (row,) = [line.split() for line in done.out.splitlines() if line.startswith(f" {name} ")]
        as_judged, lower, upper, value = (float(row[place]) for place in (1, 2, 3, 6))
        low, high = map(float, row[7].split("–"))
        assert as_judged == lower <= low < value < high <= upper
        assert len(row) == 11  # background, interpolated, smoothed


def test_prior_is_passed_on(run: Callable[..., Outcome], small_files: Path) -> None:
    call = [*arguments(small_files), "--estimators", "posterior-background", "--posterior"]
    default = run(*call, "draws=50").out
    shifted = run(*call, "draws=50, mu = Normal(2, 0.01), sigma_topic=HalfNormal(0.01)").out

    def value(text: str) -> float:
        (row,) = [line.split() for line in text.splitlines() if line.startswith(" new-b")]
        return float(row[6])

    assert value(shifted) > value(default) + 0.05


@pytest.mark.slow
def test_failed_diagnostics_are_shown(
    run: Callable[..., Outcome], small_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NUTS, "compile", compile_once)
    settings = ["--posterior", "engine=nuts, draws=20, tune=20, chains=2"]
    done = run(*arguments(small_files), "--estimators", "posterior-background", *settings)
    assert (done.status, "effective sample size is" in done.err) == (0, True)
    assert "note: all runs: posterior-background: diagnostics failed: " in done.out


def test_demo_writes_an_example_that_can_be_scored(run: Callable[..., Outcome], tmp_path: Path) -> None:
    done = run("demo", "--write", tmp_path / "made" / "here")
    assert done.status == 0
    command = done.out.splitlines()[-1].split()
    assert command[:2] == ["bayespool", "score"]
    made = {path.name for path in (tmp_path / "made" / "here").iterdir()}
    assert made == {"new", "organizations.csv", "pool", "qrels.txt"}
    scored = run(*command[1:], *FAST)
    assert scored.status == 0
    assert set(values(scored.out)) == {"new-a", "new-b"}


def test_labels_of_judges_are_read_and_used(run: Callable[..., Outcome], small_example: Path) -> None:
    """As in the library."""
    labels, path = simulate_judge(small_simulation(), quality=3.0, random_seed=1), small_example / "o.csv"
    columns = labels.query_id.to_pylist(), labels.doc_id.to_pylist(), labels.label.tolist()
    lines = [f"{query_id} 0 {doc_id} {label:g}\n" for query_id, doc_id, label in zip(*columns, strict=True)]
    (small_example / "llm.txt").write_text("".join(lines))
    asked = (
        "--estimators",
        "posterior-ratio",
        "--posterior",
        "draws=50",
        "--judge",
        small_example / "llm.txt",
    )
    done = run(*arguments(small_example), *asked, "-o", path)
    assert done.status == 0, done.err
    judged = add_judges(small(), {"llm": labels})
    found = {
        c: wide(score(c, None, estimators="posterior-ratio", posterior_settings="draws=50"))
        for c in (judged, small())
    }
    of_file = widened(pd.read_csv(path))["posterior-ratio"].tolist()
    assert of_file == pytest.approx(found[judged]["posterior-ratio"].tolist(), abs=1e-12)
    assert not set(of_file) & set(found[small()]["posterior-ratio"])


def test_the_version_is_that_of_bayespool_python_and_packages(run: Callable[..., Outcome]) -> None:
    done = run("--version")
    assert (done.status, done.err) == (0, "")
    assert done.out == "".join(f"{name} {version}\n" for name, version in versions().items())


def test_demo_draws_the_truth(run: Callable[..., Outcome], tmp_path: Path) -> None:
    assert run("demo", *FAST, "-m", "P@10", "--figure", tmp_path / "forest.svg").status == 0
    scores = score(load_example(), None, "P@10", estimators="background")
    truth = {"P@10": simulate_example().true_values("P@10", scores.run_ids)}
    assert (tmp_path / "forest.svg").read_bytes() == render(draw_forest(scores, truth=truth), "svg")

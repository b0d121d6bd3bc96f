"""``bayespool pool-width``, ``common-topics`` and ``run-types``: what they print, write and say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import Outcome, with_defaults

from bayespool.experiments import vary_common_topics, vary_pool_width
from bayespool.pooling import read_collection


def arguments(folder: Path, *more: object) -> list[str]:
    files = ["--qrels", folder / "qrels.txt", "--pool", folder / "pool"]
    files += ["--organizations", folder / "organizations.csv"]
    return [*map(str, files), *with_defaults(("--jobs", 1), more)]


def read(folder: Path) -> object:
    return read_collection(
        folder / "qrels.txt", pool=folder / "pool", organizations=folder / "organizations.csv"
    )


def kinds(folder: Path) -> dict[str, str]:
    return dict(line.split(",") for line in (folder / "types.csv").read_text().splitlines()[1:])


@pytest.mark.slow
def test_pool_width_writes_what_the_library_finds(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    asked = ("-m", "P@5", "-m", "P@10", "--widths", "2,6", "--samples", 4, "--targets", 2, "--seed", 3)
    types = ("--run-types", written / "types.csv", "--pool-type", "automatic", "--target-type", "manual")
    output = tmp_path / "result"
    done = run("pool-width", *arguments(written, *asked, *types, "--output", output))
    assert done.status == 0, done.err
    found = vary_pool_width(
        read(written), ["P@5", "P@10"], widths=[2, 6], n_samples=4, n_targets=2, random_seed=3,  # type: ignore[arg-type]
        run_types=kinds(written), pool_type="automatic", target_type="manual",
    )  # fmt: skip
    pd.testing.assert_frame_equal(pd.read_parquet(output / "pools.parquet"), found.to_frame())
    pd.testing.assert_frame_equal(pd.read_parquet(output / "summary.parquet"), found.to_frame("summary"))
    assert (output / "summary.csv").read_text() == found.to_frame("summary").to_csv(index=False)
    told = json.loads((output / "settings.json").read_text())
    assert told["settings"]["widths"] == [2, 6]
    assert told["settings"]["target_type"] == "manual"
    assert told["settings"]["run_types"] == kinds(written)
    assert told["pool"].startswith("21 of 21 runs pooled to depth 10")
    for name in ("pool-width-P_5.png", "pool-width-P_10.png"):
        assert (output / name).read_bytes().startswith(b"\x89PNG")
    assert "4 pools of each width drawn from 15 automatic runs for manual runs" in done.out
    row = next(line.split() for line in done.out.splitlines() if line.startswith(" 2      as-judged"))
    first = found.to_frame("summary").iloc[0]
    assert row[:4] == ["2", "as-judged", f"{100 * first['unjudged']:.1f}", "%"]
    assert row[4] == f"{first['bias']:+.4f}"
    assert "pools: 8 of 8" in done.err


@pytest.mark.slow
def test_common_topics_writes_what_the_library_finds(
    run: Callable[..., Outcome], written: Path, tmp_path: Path
) -> None:
    asked = ("--widths", "3,8", "--common", "4,20", "--samples", 5, "--topic-samples", 20, "--figures", "svg")
    done = run("common-topics", *arguments(written, *asked, "--output", tmp_path))
    assert done.status == 0, done.err
    found = vary_common_topics(
        read(written),
        widths=[3, 8],
        n_common=[4, 20],
        n_samples=5,
        n_topic_samples=20,  # type: ignore[arg-type]
    )
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "pools.parquet"), found.to_frame())
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "summary.parquet"), found.to_frame("summary"))
    assert json.loads((tmp_path / "settings.json").read_text())["settings"]["n_common"] == [4, 20]
    assert (tmp_path / "common-topics-P_10-condensed_list.svg").read_text().startswith("<?xml")
    summary = found.to_frame("summary")
    lines = [line.split() for line in done.out.splitlines()]
    adjusted = summary[(summary["score"] == "adjusted") & (summary["estimator"] == "as-judged")]
    assert next(line for line in lines if line[:2] == ["adjusted", "3"]) == [
        "adjusted",
        "3",
        *(f"{x:.4f}" for x in adjusted.loc[adjusted["pool_width"] == 3, "mae"]),
    ]
    assert [line for line in lines if line[:2] == ["adjusted", "8"]][1][2:] == [  # the second table, by law
        f"{x:.4f}" for x in adjusted.loc[adjusted["pool_width"] == 8, "mae_law"]
    ]


def test_run_type_that_would_be_a_formula(run: Callable[..., Outcome], written: Path, tmp_path: Path) -> None:
    """It was an error of matplotlib's after all the work, and no table."""
    kind = r"auto$\frac$"
    lines = [f"{run_id},{kind if i % 2 else 'manual'}" for i, run_id in enumerate(sorted(kinds(written)))]
    types = tmp_path / "types.csv"
    types.write_text("\n".join(["run_id,type", *lines]) + "\n")
    asked = ("--run-types", types, "--estimators", "as-judged,background", "--leave-out", kind)
    done = run("run-types", *arguments(written, *asked), "--output", tmp_path / "found")
    assert done.status == 0, done.err
    assert (tmp_path / "found" / "run-types-P_10.png").read_bytes().startswith(b"\x89PNG")


def test_tables_are_written_before_a_figure_fails(
    run: Callable[..., Outcome], written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug in drawing")

    monkeypatch.setattr("bayespool.plots.plot_pool_width", fail)
    asked = ("--widths", "2", "--samples", "2", "--estimators", "as-judged", "--output", tmp_path)
    with pytest.raises(ZeroDivisionError):
        run("pool-width", *arguments(written, *asked))
    files = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert files == {"pools.csv", "pools.parquet", "summary.csv", "summary.parquet", "settings.json"}


def test_a_list_of_run_types_has_a_limit(written: Path, tmp_path: Path, run: Callable[..., Outcome]) -> None:
    """Whatever --max-file-size said, it was read up to the limit of other files."""
    large = tmp_path / "types.csv"
    large.write_bytes(b"run_id,type\n" + b"\n" * (1 << 20))
    done = run("run-types", *arguments(written, "--run-types", large, "--max-file-size", 1))
    assert done.status == 1
    assert "types.csv: holds more than 1 MiB of text; allow more with max_file_size" in done.err

"""What commands write is read back: every table of every command, its settings and its notes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import Outcome, arguments

from bayespool import StoredResult, read_result, read_scores
from bayespool.errors import InputError
from bayespool.scoring import StoredScores

POOL = ("--estimators", "background", "-m", "P@5")
FOLDERS: dict[str, tuple[str, tuple[object, ...], set[str]]] = {
    "leave-out": ("leave-out", (*POOL, "--jobs", 1), {"runs", "summary", "reliability"}),
    "check predictions": (
        "check predictions",
        ("-m", "P@5", "--models", "evidence", "--draws", 30),
        {"calibration", "elpd", "runs"},
    ),
    "budgets": (
        "budgets",
        ("-m", "P@5", "--strategies", "take", "--budgets", "100", "--jobs", 1),
        {"bias", "by_organization", "pools", "summary", "ranking", "means"},
    ),
    "pool-width": (
        "pool-width",
        (*POOL, "--widths", 3, "--samples", 2, "--targets", 1, "--jobs", 1),
        {"pools", "summary"},
    ),
    "common-topics": (
        "common-topics",
        ("-m", "P@5", "--widths", 3, "--common", 4, "--samples", 2, "--topic-samples", 2, "--jobs", 1),
        {"pools", "summary"},
    ),
    "run-types": ("run-types", (*POOL, "--run-types", "types.csv", "--jobs", 1), {"runs", "summary"}),
}


@pytest.fixture
def example(small_example: Path) -> Path:
    return small_example


def files_of(folder: Path, *, new: bool) -> list[str]:
    return arguments(folder)[1 if new else 2 : -1]


def frames_of(stored: StoredResult) -> dict[str, pd.DataFrame]:
    return {table.name: table.frame for table in stored.tables()}


def same_as_csv(stored: StoredResult, folder: Path) -> None:
    """The tables are those of the CSV files, which people open."""
    for name, frame in frames_of(stored).items():
        written = pd.read_csv(folder / f"{name}.csv")
        assert list(written.columns) == list(frame.columns)
        assert len(written) == len(frame)
        numbers = frame.select_dtypes("number")
        for column in numbers:
            assert written[column].to_numpy() == pytest.approx(numbers[column].to_numpy(), nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("command", FOLDERS)
def test_folder_is_read_back(
    command: str, run: Callable[..., Outcome], example: Path, tmp_path: Path
) -> None:
    experiment, asked, tables = FOLDERS[command]
    if "types.csv" in asked:
        runs = sorted(path.stem for path in (example / "pool").iterdir())
        rows = [f"{run_id},{'manual' if i % 4 else 'automatic'}" for i, run_id in enumerate(runs)]
        (tmp_path / "types.csv").write_text("\n".join(["run_id,type", *rows]) + "\n")
        asked = tuple(tmp_path / "types.csv" if part == "types.csv" else part for part in asked)
    out = tmp_path / "out"
    done = run(*command.split(), *files_of(example, new=False), *asked, "--figures", "none", "-o", out)
    assert done.status == 0, done.err
    stored = read_result(out)
    assert (stored.command, set(frames_of(stored))) == (experiment, tables)
    settings = json.loads((out / "settings.json").read_text(encoding="utf-8"))
    assert dict(stored.metadata).items() <= settings.items()
    assert list(stored.notes()) == settings["notes"]
    same_as_csv(stored, out)
    for name in stored.paths:
        assert set(stored.container(name).children) >= {"posterior"}


def test_scores_are_read_back_by_both_readers(
    run: Callable[..., Outcome], example: Path, tmp_path: Path
) -> None:
    done = run(*arguments(example), "--estimators", "background", "-o", tmp_path / "a.json")
    assert done.status == 0, done.err
    stored, result = read_scores(tmp_path / "a.json"), read_result(tmp_path / "a.json")
    assert isinstance(result, StoredScores)
    pd.testing.assert_frame_equal(stored.to_frame(), result.to_frame("scores"))
    assert (result.metadata, result.notes()) == (stored.metadata, stored.notes())
    assert "| new-a |" in stored.to_markdown(columns=["lower"])


def test_what_is_damaged_or_nothing_of_ours_is_refused(
    run: Callable[..., Outcome], example: Path, tmp_path: Path
) -> None:
    asked = ("pool-width", *files_of(example, new=False), *FOLDERS["pool-width"][1])
    done = run(*asked, "--figures", "none", "-o", tmp_path / "out")
    assert done.status == 0, done.err
    (tmp_path / "out" / "pools.parquet").write_bytes((tmp_path / "out" / "summary.parquet").read_bytes())
    with pytest.raises(InputError, match="is not as it was written"):
        read_result(tmp_path / "out")
    (tmp_path / "out" / "pools.parquet").unlink()
    with pytest.raises(InputError, match="is missing, which settings"):
        read_result(tmp_path / "out")
    for path, said in (
        (tmp_path, "no results"),
        (tmp_path / "a.csv", "no such file"),
        (tmp_path / "a.json", "no su"),
    ):
        with pytest.raises(InputError, match=said):
            read_result(path)
    (tmp_path / "b.json").write_text("[1]")
    with pytest.raises(InputError, match="holds no result"):
        read_result(tmp_path / "b.json")


def test_what_json_prints_is_read_back(run: Callable[..., Outcome], example: Path, tmp_path: Path) -> None:
    asked = [*arguments(example), "--estimators", "background"]
    done = run(*asked, "-o", tmp_path / "file.json")
    assert done.status == 0, done.err
    (tmp_path / "printed.json").write_text(run(*asked, "--json").out, encoding="utf-8")
    file, printed = read_result(tmp_path / "file.json"), read_result(tmp_path / "printed.json")
    assert type(printed) is type(file)
    assert frames_of(printed).keys() == frames_of(file).keys()
    for name, frame in frames_of(file).items():
        pd.testing.assert_frame_equal(frames_of(printed)[name], frame)
    assert (printed.command, printed.notes(), printed.summary()) == (
        file.command,
        file.notes(),
        file.summary(),
    )

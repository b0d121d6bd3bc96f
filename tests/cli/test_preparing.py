"""The command ``prepare``, and commands on the file that it wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from commands import Outcome

from bayespool import read_prepared


@pytest.fixture(scope="module")
def campaign(small_files: Path) -> list[object]:
    files = {"--qrels": "qrels.txt", "--pool": "pool", "--organizations": "organizations.csv"}
    return [part for option, name in files.items() for part in (option, small_files / name)]


def frame(done: Outcome, path: Path) -> pd.DataFrame:
    assert done.status == 0, done.err
    return pd.DataFrame(json.loads(path.read_text(encoding="utf-8"))["scores"])


def test_a_prepared_file_scores_as_the_files_do(
    run: Callable[..., Outcome], campaign: list[object], small_files: Path, tmp_path: Path
) -> None:
    path, new = tmp_path / "small.bayespool", sorted((small_files / "new").iterdir())
    done = run("prepare", *campaign, "-m", "P@10", "-o", path)
    assert done.status == 0, done.err
    assert f"Wrote {path}" in done.out
    asked = ["-m", "P@10", "--posterior", "draws=50", "-o", tmp_path / "scores.json"]
    from_files = frame(run("score", *new, *campaign, *asked), tmp_path / "scores.json")
    done = run("score", *new, "--collection", path, *asked)
    pd.testing.assert_frame_equal(frame(done, tmp_path / "scores.json"), from_files)
    assert "not prepared" not in done.err
    done = run("score", *new, "--collection", path, *asked[2:])
    pd.testing.assert_frame_equal(frame(done, tmp_path / "scores.json"), from_files)
    done = run("score", *new, "--collection", path, "-m", "AP@50", "--posterior", "draws=50")
    assert "AP@50: not prepared; the models are fitted now" in done.err
    done = run("leave-out", "--collection", path, "--estimators", "background", "--jobs", "1")
    assert done.status == 0, done.err


def test_what_does_not_go_with_a_prepared_file(
    run: Callable[..., Outcome], campaign: list[object], small_files: Path, tmp_path: Path
) -> None:
    path, new = tmp_path / "small.bayespool", small_files / "new"
    done = run("prepare", *campaign, "-m", "P@10", "--without-judgments", "-o", path)
    assert done.status == 0, done.err
    done = run("score", new, "--collection", path)
    assert done.status == 1
    assert "made without judgments; give the qrels of the campaign, too" in done.err
    qrels = ["--qrels", small_files / "qrels.txt"]
    assert run("score", new, "--collection", path, *qrels, "--estimators", "background").status == 0
    done = run("score", new, "--collection", path, *qrels, "--known-depth", "5")
    assert "--known-depth cannot be changed in a prepared collection" in done.err
    done = run("score", new, "--collection", path, "--pool", small_files / "pool")
    assert "a prepared collection has its pool; leave out --pool" in done.err
    done = run("score", new, "--collection", path, *qrels, "--reading", "order=rank")
    assert "--reading order= cannot be changed in a prepared collection" in done.err
    done = run("judges", "--collection", path)
    assert "is a prepared collection; give --qrels and --pool" in done.err
    done = run("prepare", *campaign, "-o", tmp_path)
    assert "is a folder; name a file in it" in done.err
    assert "no pool to prepare" in run("prepare", *qrels).err
    assert run("describe", path).status == 0
    assert "not a prepared collection" in run("describe", small_files / "qrels.txt").err
    renamed = tmp_path / "renamed"
    renamed.write_bytes(path.read_bytes())
    assert "let its name end in .bayespool" in run("score", new, "--collection", renamed).err
    done = run("prepare", *campaign, "-o", tmp_path / "small.zip")
    assert "not a prepared collection; end it in .bayespool" in done.err
    assert read_prepared(path, qrels=small_files / "qrels.txt").collection.pool_depth == 10


def test_the_card_of_a_prepared_file_is_printed(
    run: Callable[..., Outcome], campaign: list[object], tmp_path: Path
) -> None:
    path = tmp_path / "small.bayespool"
    asked = ["-m", "P@10"]
    assert run("prepare", *campaign, *asked, "-o", path).status == 0
    cards = [run("describe", path), run("describe", *campaign, *asked)]
    assert [card.status for card in cards] == [0, 0], cards[0].err
    assert cards[0].out == cards[1].out


def test_other_commands_take_a_prepared_file(
    run: Callable[..., Outcome], campaign: list[object], small_files: Path, tmp_path: Path
) -> None:
    path, new = tmp_path / "small.bayespool", small_files / "new"
    assert run("prepare", *campaign, "-m", "P@10", "-o", path).status == 0
    asked = ["-m", "P@10", "--posterior", "draws=50"]
    for command, more in {"compare": [], "judge-next": ["--budget", "5"], "audit": ["--budget", "5"]}.items():
        outcomes = [run(command, new, *files, *asked, *more) for files in (["--collection", path], campaign)]
        assert [outcome.status for outcome in outcomes] == [0, 0], outcomes[0].err
        assert outcomes[0].out == outcomes[1].out
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder, files in zip(folders, (["--collection", path], campaign), strict=True):
        done = run("impute", new, *files, *asked, "--draws", "3", "-o", folder)
        assert done.status == 0, done.err
    names = [f"qrels-0{i}.txt" for i in (1, 2, 3)]
    lines = [[sorted((folder / name).read_text().splitlines()) for name in names] for folder in folders]
    assert lines[0] == lines[1]

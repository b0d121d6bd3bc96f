"""`write_report` writes whole files, of live results and stored ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayespool
from bayespool import load_example, read_scores, score
from bayespool.errors import InputError, OutputError
from bayespool.report import write_report


def test_scores_live_and_stored_make_a_page(tmp_path: Path) -> None:
    scores = score(load_example(), "new-a", "P@10", estimators="background")
    write_report(scores, tmp_path / "live.html")
    scores.save(tmp_path / "s.json")
    write_report(read_scores(tmp_path / "s.json"), str(tmp_path / "stored.html"))
    for name in ("live.html", "stored.html"):
        assert "The P@10 of new-a lies between 0.595 and 0.685" in (tmp_path / name).read_text(
            encoding="utf-8"
        )
    assert "numpy " in (tmp_path / "live.html").read_text(encoding="utf-8")  # versions at hand


def test_the_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    scores = score(load_example(), "new-a", "P@10", estimators="background")
    for name in ("one.html", "two.html"):
        write_report(scores, tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_what_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    scores = score(load_example(), "new-a", "P@10", estimators="background")
    with pytest.raises(OutputError, match=r"an \.html file"):
        write_report(scores, tmp_path / "report.pdf")
    with pytest.raises(OutputError, match="no folder"):
        write_report(scores, tmp_path / "nowhere" / "report.html")
    with pytest.raises(InputError, match="no report"):
        write_report(3, tmp_path / "report.html")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_the_front_door_has_it() -> None:
    assert bayespool.write_report is write_report

"""`write_report` writes whole files, of live results and stored ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from small import small

import bayespool
from bayespool import read_scores, score
from bayespool.errors import InputError, OutputError
from bayespool.report import write_report


def test_scores_live_and_stored_make_a_page(tmp_path: Path) -> None:
    scores = score(small(), "new-a", "P@10", estimators="background")
    for name in ("live.html", "again.html"):
        write_report(scores, tmp_path / name)
    scores.save(tmp_path / "s.json")
    write_report(read_scores(tmp_path / "s.json"), str(tmp_path / "stored.html"))
    pages = {path.stem: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.html")}
    assert scores.summary()[0].startswith("The P@10 of new-a lies between 0.")
    assert all(scores.summary()[0] in page for page in pages.values())
    assert "numpy " in pages["live"]  # versions at hand
    assert pages["again"] == pages["live"]


def test_what_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    assert bayespool.write_report is write_report
    scores = score(small(), "new-a", "P@10", estimators="background")
    with pytest.raises(OutputError, match=r"an \.html file"):
        write_report(scores, tmp_path / "report.pdf")
    with pytest.raises(OutputError, match="no folder"):
        write_report(scores, tmp_path / "nowhere" / "report.html")
    with pytest.raises(InputError, match="no report can be made of a int"):
        write_report(3, tmp_path / "report.html")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []

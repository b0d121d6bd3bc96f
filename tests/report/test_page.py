"""What a page says of how a result was made, what was used and what to cite."""

from __future__ import annotations

import dataclasses
import html
import json
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small import small

import bayespool
from bayespool import __version__, score
from bayespool.errors import InputError, OutputError
from bayespool.names import describe_estimator
from bayespool.report import StoredResult, versions, write_report
from bayespool.report.page import _making
from bayespool.report.provenance import MADE_BY, command_line, made_by, with_provenance
from bayespool.report.result import Result
from bayespool.scoring import DEFAULT_ESTIMATORS, ESTIMATORS
from bayespool.tables import CITATIONS
from bayespool.tables.table import Table


def test_command_versions_seed_and_fingerprint_are_there() -> None:
    made_by = {"command": "bayespool score a.run", "versions": {"bayespool": "1", "numpy": "2"}}
    estimators = [{"name": "x", "random_seed": 7, "draws": 250}]
    settings = {"estimators": estimators, "measures": [f"P@{i}" for i in range(20)]}
    metadata = {"fingerprint": "ab", "settings": settings, "estimators": estimators, "made_by": made_by}
    made, page = _making(metadata), Bare(metadata).page()
    for said in ("<code>bayespool score a.run<", "bayespool 1, numpy 2", " ab. ", "Random seed: 7."):
        assert said in page
    rows = dict(made["settings"].rows)
    assert rows.pop("settings: measures").endswith("P@11 and 8 more")
    assert rows == {"fingerprint": "ab", "estimators: x: random_seed": "7", "estimators: x: draws": "250"}


@dataclasses.dataclass(frozen=True)
class Bare(Result):
    """A result that is its metadata."""

    metadata: Mapping[str, Any]

    def tables(self) -> tuple[Table, ...]:
        return ()


def methods(metadata: Mapping[str, Any]) -> str:
    """The section on methods, without its headings and list of estimators."""
    page = Bare(metadata).page()
    section = page.partition('<section id="methods"')[2].partition("</h2>")[2].partition("<ul>")[0]
    return html.unescape(re.sub(r"<[^>]*>", "", section.partition("</section>")[0])).strip()


def to_cite(section: str) -> list[str]:
    """Keys of the citations at the end of a section."""
    by_text = {citation.text: key for key, citation in CITATIONS.items()}
    return [by_text[text] for text in section.rpartition("To cite: ")[2].split(" · ")]


def test_a_posterior_says_how_it_was_approximated_and_its_engine_is_cited() -> None:
    described = describe_estimator(ESTIMATORS["posterior-combined"](draws=250))
    said = methods({"estimators": {"label": described}})
    assert "1,000 independent draws" in said
    assert "not of other topics" in said
    section = methods({"estimators": [described | {"engine": "nuts"}]})
    assert "4 chains of 250 draws after 1000" in section
    assert to_cite(section) == ["abril-pla-etal-2023", "bayespool", "hoffman-gelman-2014", "webber-park-2009"]
    by_default = [describe_estimator(ESTIMATORS[name]()) for name in DEFAULT_ESTIMATORS]
    assert to_cite(methods({"estimators": by_default})) == [
        *("bayespool", "ravana-moffat-2010", "rue-martino-chopin-2009", "tierney-kadane-1986"),
        "webber-park-2009",
    ]


def test_a_result_that_is_read_back_knows_the_posteriors(tmp_path: Path) -> None:
    """A page made in a new process took them for estimators of the user's own."""
    settings = {"experiment": "leave-out", "title": "", "estimators": ["posterior-combined"], "tables": {}}
    document = json.dumps(
        {"metadata": settings | {"notes": [], "note_kinds": [], "summary": [], "citations": []}}
    )
    path = tmp_path / "result.json"
    path.write_text(document, encoding="utf-8")
    code = f"""
from bayespool import read_result
print("posterior-combined: ratio and rankings" in read_result({str(path)!r}).page())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "True\n"


def test_what_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    assert bayespool.write_report is write_report
    scores = score(small(), "new-a", "P@10", estimators="background")
    with pytest.raises(OutputError, match=r"cannot write a report into \.pdf; use \.html"):
        write_report(scores, tmp_path / "report.pdf")
    with pytest.raises(OutputError, match="no folder"):
        write_report(scores, tmp_path / "nowhere" / "report.html")
    with pytest.raises(InputError, match="no report can be made of a int"):
        write_report(3, tmp_path / "report.html")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_the_command_is_as_it_was_typed() -> None:
    with command_line(["score", "../my runs/a.run", "-m", "P(rel=2)@10", "--qrels", "q.txt"]):
        made = with_provenance({"fingerprint": "ab"})
    assert made["fingerprint"] == "ab"
    assert made[MADE_BY]["command"] == "bayespool score '../my runs/a.run' -m 'P(rel=2)@10' --qrels q.txt"
    assert with_provenance({"a": 1}) == {"a": 1}, "without a command"
    assert "command" not in made_by()
    found = versions()
    assert (found["bayespool"], found["numpy"]) == (__version__, np.__version__)
    assert found["python"] == platform.python_version()


@pytest.mark.parametrize(
    "estimators", [[{"name": "posterior-ratio", "engine": "laplace"}], [{"engine": 1}], [["x"], {}]]
)
def test_a_result_that_was_changed_is_no_report(estimators: list[Any], tmp_path: Path) -> None:
    """A template that lacked a setting, and a name that was a number, ended in their own errors."""
    changed = StoredResult("score", "Scores", {"estimators": estimators})
    with pytest.raises(InputError, match="the result is not as it was written; run its command again"):
        write_report(changed, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()

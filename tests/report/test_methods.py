"""What was used and what to cite comes from the registry."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from bayespool.options import describe_estimator
from bayespool.report.page import Section, _methods
from bayespool.report.result import Result
from bayespool.scoring import DEFAULT_ESTIMATORS, ESTIMATORS
from bayespool.tables import CITATIONS
from bayespool.tables.table import Table


@dataclasses.dataclass(frozen=True)
class Bare(Result):
    """A result that is its metadata."""

    metadata: Mapping[str, Any]

    def tables(self) -> tuple[Table, ...]:
        return ()


def methods(metadata: Mapping[str, Any]) -> Section:
    section = _methods(Bare(metadata))
    assert section is not None
    return section


def to_cite(section: Section) -> list[str]:
    """Keys of the citations of a section's last sentence, which has nothing else."""
    word, *texts = re.split(r"To cite: | · ", section.sentences[-1])
    by_text = {citation.text: key for key, citation in CITATIONS.items()}
    assert word == ""
    return [by_text[text] for text in texts]


def test_each_estimator_has_its_sentence_with_its_source() -> None:
    entry = ESTIMATORS["smoothed"]
    section = methods({"estimators": [{"name": "smoothed"}], "estimand": "complete"})
    assert section.points == [f"smoothed: {entry.description} [{entry.source}]."]
    assert to_cite(section) == ["bayespool", "ravana-moffat-2010"]
    assert not any("interval" in text for text in section.sentences[:-1])
    own = methods({"estimators": [{"name": "mine<b>"}]})
    assert own.points == ["mine<b>: an estimator of the user's own."]
    odd = [{"name": "mine", "engine": ["laplace"], "draws": 1}, "judge-rates"]
    assert to_cite(methods({"estimators": odd})) == ["bayespool"], "nobody published it"


def test_a_posterior_says_how_it_was_approximated_and_its_engine_is_cited() -> None:
    described = describe_estimator(ESTIMATORS["posterior-combined"](draws=250))
    said = " ".join(methods({"estimators": {"label": described}}).sentences)
    assert "1,000 independent draws" in said
    assert "not of other topics" in said
    section = methods({"estimators": [described | {"engine": "nuts"}]})
    assert "4 chains of 250 draws after 1000" in " ".join(section.sentences)
    assert to_cite(section) == ["abril-pla-etal-2023", "bayespool", "hoffman-gelman-2014", "webber-park-2009"]
    by_default = [describe_estimator(ESTIMATORS[name]()) for name in DEFAULT_ESTIMATORS]
    assert to_cite(methods({"estimators": by_default})) == [
        *("bayespool", "lipani-lupu-hanbury-2015", "ravana-moffat-2010", "rue-martino-chopin-2009"),
        *("sakai-2007", "tierney-kadane-1986", "webber-park-2009"),
    ]


def test_a_result_that_is_read_back_knows_the_posteriors() -> None:
    """A page made in a new process took them for estimators of the user's own."""
    settings = {"experiment": "leave-out", "title": "", "estimators": ["posterior-combined"], "tables": {}}
    document = json.dumps({"metadata": settings | {"notes": [], "summary": [], "citations": []}})
    code = f"""
from bayespool.report.reading import result_of_json
from bayespool.report.page import page_html
print("posterior-combined: ratio and rankings" in page_html(result_of_json({document!r})))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "True\n"

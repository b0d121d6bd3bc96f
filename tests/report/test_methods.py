"""What was used and what to cite comes from the registry."""

from __future__ import annotations

from bayespool.options import describe_estimator
from bayespool.report.methods import method_section, references
from bayespool.scoring import ESTIMATORS


def test_each_estimator_has_its_sentence_with_its_source() -> None:
    entry = ESTIMATORS["smoothed"]
    section = method_section({"estimators": [{"name": "smoothed"}], "estimand": "complete"})
    assert section.points == (f"smoothed: {entry.description} [{entry.source}].",)
    assert any(text.startswith("To cite: S. D. Ravana and A. Moffat (2010)") for text in section.sentences)
    assert not any("interval" in text for text in section.sentences)


def test_a_posterior_says_how_it_was_approximated_and_what_its_interval_is() -> None:
    described = describe_estimator(ESTIMATORS["posterior-combined"](draws=250))
    said = " ".join(method_section({"estimators": {"label": described}}).sentences)
    assert "1,000 independent draws" in said
    assert "not of other topics" in said
    assert "W. Webber and L. A. F. Park (2009)" in said
    sampled = " ".join(method_section({"estimators": [described | {"engine": "nuts"}]}).sentences)
    assert "4 chains of 250 draws after 1000" in sampled


def test_an_estimator_of_ones_own_is_named() -> None:
    assert method_section({"estimators": [{"name": "mine<b>"}]}).points == (
        "mine<b>: an estimator of the user's own.",
    )


def test_every_source_with_a_year_has_a_citation() -> None:
    lacking = [
        entry.name
        for entry in ESTIMATORS.values()
        if entry.source and entry.kind == "point" and not references([entry.source])
    ]
    assert lacking == []

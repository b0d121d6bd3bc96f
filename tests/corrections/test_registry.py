"""Names that an estimator may be registered under."""

from __future__ import annotations

import pytest
from each import cases

from bayespool.corrections import CondensedList
from bayespool.errors import InputError
from bayespool.scoring import ESTIMATORS, parse_estimator, register_estimator
from bayespool.tables import cite


@pytest.fixture(autouse=True)
def registry_as_it_was():
    before = dict(ESTIMATORS)
    yield
    ESTIMATORS.clear()
    ESTIMATORS.update(before)


@cases("name", ["all", "default", "pairs", "Half", "a,b", "a(b", "", "a-", "1"])
def test_names_that_texts_could_not_hold_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="no estimator can be called"):
        register_estimator(name, description="")(CondensedList)
    assert name not in ESTIMATORS


def test_a_class_of_the_same_name_does_not_take_the_place_of_another() -> None:
    """As a user's own CondensedList would; the same class again, as a reloaded notebook has it, does."""
    there = ESTIMATORS["condensed-list"]
    own = type("CondensedList", (CondensedList,), {"__module__": "notebook"})
    with pytest.raises(InputError, match="there is an estimator 'condensed-list' already"):
        register_estimator("condensed-list", description="")(own)
    assert ESTIMATORS["condensed-list"] is there
    register_estimator("condensed-list", description="again")(CondensedList)
    assert ESTIMATORS["condensed-list"].description == "again"
    register_estimator("condensed", description="")(CondensedList)
    with pytest.raises(InputError, match="registered as condensed, it calls itself condensed-list"):
        parse_estimator("condensed")


def test_a_source_is_the_names_of_the_citations_unless_it_says_more() -> None:
    papers = ("webber-park-2009", "sakai-2007")
    register_estimator("named", description="", citations=papers)(CondensedList)
    register_estimator("placed", description="", source="Sakai 2007, §3", citations=papers[1:])(CondensedList)
    register_estimator("told", description="", source="of my own")(CondensedList)
    register_estimator("plain", description="")(CondensedList)
    assert {
        name: (ESTIMATORS[name].source, ESTIMATORS[name].citations) for name in list(ESTIMATORS)[-4:]
    } == {
        "named": ("Webber & Park 2009; Sakai 2007", papers),
        "placed": ("Sakai 2007, §3", ("sakai-2007",)),
        "told": ("of my own", ()),
        "plain": ("", ()),
    }
    with pytest.raises(InputError, match="no citation 'toy-2026'"):
        register_estimator("wrong", description="", citations=("toy-2026",))(CondensedList)
    assert "wrong" not in ESTIMATORS


def test_a_source_that_says_more_names_every_paper_cited() -> None:
    for entry in ESTIMATORS.values():
        if entry.source:
            named = [(paper.surnames[0], str(paper.year)) for paper in cite(entry.citations)]
            assert named
            assert all(author in entry.source and year in entry.source for author, year in named)

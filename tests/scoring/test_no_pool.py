"""What scoring without a pool lacks and to fix it: texts, numbers of documents, columns."""

from __future__ import annotations

import dataclasses
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from labeled import with_judge
from small import small_simulation

from bayespool import (
    build_collection,
    compare,
    load_example,
    parse_measure,
    read_collection,
    read_scores,
    score,
)
from bayespool.collection import Collection
from bayespool.errors import NoPoolWarning, SparseJudgmentsWarning
from bayespool.scoring.no_pool import describe_lack, warn_of_no_pool

PREPARED = "a collection prepared by whoever has the pool's runs (--collection FILE.bayespool)"
JUDGE = "a judge's labels (--judge)"
PAGE = "; see bayespool docs only-qrels"
PRIORS = f"; priors were set on TREC-2, TREC-8, Medical 2011, DL 2021 and COVID round 4{PAGE}"


def judging(n: str, depth: int) -> str:
    return f"judging {n} in the top {depth} (judge-next lists them)"


def alone() -> Collection:
    """The example without its pool."""
    example = load_example()
    return dataclasses.replace(example, pooled=np.zeros_like(example.pooled))


def lack(collection: Collection, *measures: str, run_ids: tuple[str, ...] = ("new-b",)) -> str:
    return describe_lack(collection, run_ids, [parse_measure(measure) for measure in measures])


def test_it_names_three_cures_and_how_many_documents_there_are_to_judge() -> None:
    """Each document of a topic counts once, down to the deepest cutoff."""
    runs = {
        "a": {"q1": {"d1": 9.0, "x": 8.0, "y": 7.0}, "q2": {"x": 9.0, "d2": 8.0, "z": 7.0}},
        "b": {"q1": {"y": 9.0, "x": 8.0, "d1": 7.0}, "q2": {"d2": 9.0, "d3": 8.0, "w": 7.0}},
    }
    collection = build_collection(runs, {"q1": {"d1": 1, "e": 0}, "q2": {"d2": 0, "d3": 2}})
    for run_ids, measures, n, depth in (
        (("a",), ("P@1",), "1 unjudged document", 1),  # x on q2
        (("a",), ("P@2", "RR@1"), "2 unjudged documents", 2),  # x on both
        (("a", "b"), ("P@2",), "3 unjudged documents", 2),  # and y on q1
        (("a", "b"), ("P@2", "nDCG@3"), "5 unjudged documents", 3),  # and z, w on q2
    ):
        expected = f"no pool: posteriors rest on priors alone; to fix it: {PREPARED}, {judging(n, depth)}"
        assert lack(collection, *measures, run_ids=run_ids) == f"{expected} or {JUDGE}{PRIORS}"
    cures = f"{judging('1 unjudged document', 1)} or {JUDGE}{PRIORS}"
    assert lack(collection, "P@1", run_ids=("b",)).endswith(cures)


@pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")
def test_scores_that_other_runs_move_say_so() -> None:
    """Of four unjudged places in the top 2 x has two; nothing is said of a run alone, nor with a pool."""
    runs = {
        "a": {"q1": {"d1": 9.0, "x": 8.0}, "q2": {"x": 9.0, "d2": 8.0}},
        "b": {"q1": {"y": 9.0, "x": 8.0}, "q2": {"d2": 9.0, "d3": 8.0}},
    }
    collection = build_collection(runs, {"q1": {"d1": 1, "e": 0}, "q2": {"d2": 0, "d3": 2}})
    asked = {"measures": "P@2", "estimators": "posterior-combined", "posterior_settings": "draws=100"}
    alone, both = score(collection, "a", **asked), score(collection, ["a", "b"], **asked)
    assert alone.estimates[0].value[0] != both.estimates[0].value[0]
    told = (
        "unjudged documents that several of these runs have (1 of 4 places in the top 2) are of one relevance"
    )
    assert [sum(note.startswith(told) for note in scores.notes()) for scores in (alone, both)] == [0, 1]
    pooled = score(load_example(), ["new-a", "new-b"], **asked)
    assert not any("alone or beside other runs" in note for note in pooled.notes())


def test_whose_runs_they_are_does_not_matter_without_a_pool(tmp_path: Path) -> None:
    small_simulation().write(tmp_path)
    pool = {"pool": tmp_path / "pool", "organizations": tmp_path / "organizations.csv"}
    for given, is_told in ((pool, True), ({}, False)):
        collection = read_collection(tmp_path / "qrels.txt", tmp_path / "new", **given)
        notes = score(collection, measures="P@10", estimators="as-judged").notes()
        words = "2 runs that the list of organizations lacks are treated as one organization"
        assert any(words in note for note in notes) == is_told


def test_where_all_is_judged_nothing_lacks() -> None:
    collection = build_collection({"q": {"d": 3.0, "e": 2.0, "x": 1.0}}, {"q": {"d": 1, "e": 0}})
    assert lack(collection, "P@2", "nDCG@1", run_ids=("run",)) == ""
    assert lack(collection, "P@3", run_ids=("run",)) != ""
    with warnings.catch_warnings(action="error"):
        scores = score(
            collection, measures="P@2", estimators="posterior-combined", posterior_settings="draws=10"
        )
    assert not [note for note in scores.notes() if note.startswith("no pool")]


def test_labels_that_are_there_are_no_cure_and_what_posteriors_rest_on() -> None:
    collection = alone()
    judged = with_judge(collection, np.where(collection.relevance > 0, 1.0, 0.0))
    cures = f"{PREPARED} or {judging('44 unjudged documents', 10)}"
    assert (
        lack(judged, "P@10")
        == f"no pool: posteriors rest on priors and labels of a judge; to fix it: {cures}{PRIORS}"
    )


def sparse() -> Collection:
    """The example without its pool and without its judgments of nonrelevance."""
    return alone().without_judgments(alone().relevance == 0)


def test_of_sparse_judgments_a_prepared_collection_is_no_cure() -> None:
    """One with its judgments would be as sparse."""
    cures = f"{judging('130 unjudged documents', 10)} or {JUDGE}"
    few = "no pool, and only relevant documents are judged, on nine in ten topics or more"
    none = f"{few}: posteriors have no value, quote bounds and the score as judged; to fix it: {cures}{PAGE}"
    assert lack(sparse(), "P@10", "nDCG@10") == none
    judged = with_judge(sparse(), np.where(alone().relevance > 0, 1.0, 0.0))
    resting = f"{few}: posteriors rest on priors and labels of a judge"
    assert lack(judged, "P@10") == f"{resting}; to fix it: {judging('130 unjudged documents', 10)}{PRIORS}"


def test_it_warns_once_per_collection_and_again_if_judgments_are_sparse_for_a_measure() -> None:
    collection = alone()
    higher = dataclasses.replace(collection, relevance=collection.relevance + (collection.relevance >= 0))
    one, two = [parse_measure("P@10")], [parse_measure("P(rel=2)@10")]
    with pytest.warns(NoPoolWarning, match="^first$") as warned:
        warn_of_no_pool(higher, "first", two)
    assert warned[0].category is NoPoolWarning
    with pytest.warns(SparseJudgmentsWarning, match="^second$"):
        warn_of_no_pool(higher, "second", one)  # all judged documents are relevant at 1
    with warnings.catch_warnings(action="error"):
        warn_of_no_pool(higher, "third", one)
        warn_of_no_pool(higher, "fourth", two)


def test_the_line_is_the_warning_and_first_in_the_notes_of_every_form(tmp_path: Path) -> None:
    with pytest.warns(NoPoolWarning) as warned:
        scores = score(alone(), "new-b", ["P@10", "nDCG@10"], posterior_settings="draws=50")
    said = lack(alone(), "P@10", "nDCG@10")
    assert [str(warning.message) for warning in warned] == [said]
    assert judging("44 unjudged documents", 10) in said
    assert scores.notes()[0] == said
    for suffix, before in ((".md", "Note: no pool"), (".tex", "% note: no pool")):
        notes = [line for line in scores.text(suffix).splitlines() if re.match(r"(% )?[Nn]ote: ", line)]
        assert next(note for note in notes if "As judged:" not in note).startswith(before)
    scores.save(tmp_path / "scores.json")
    stored = read_scores(tmp_path / "scores.json")
    assert stored.metadata["pool_notes"][0] == stored.notes()[0] == said
    scores.write_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.search(r"<h3>What to know before quoting</h3>\s*<ul>\s*<li>no pool: posteriors rest", page)
    with pytest.warns(NoPoolWarning):
        compared = compare(alone(), ["new-a", "new-b"], "P@10", posterior_settings="draws=50")
    assert compared.notes()[0].startswith("no pool: posteriors rest on priors alone; ")


def test_without_a_posterior_or_with_a_pool_nothing_is_said() -> None:
    with warnings.catch_warnings(action="error"):
        corrected = score(alone(), "new-b", "P@10", estimators="background")
        pooled = score(
            load_example(), "new-b", "P@10", estimators="posterior-ratio", posterior_settings="draws=50"
        )
    assert not [note for note in (*corrected.notes(), *pooled.notes()) if note.startswith("no pool:")]


@pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")
def test_scores_as_judged_and_both_bounds_lead_and_posteriors_follow() -> None:
    estimators = ["posterior-ratio", "background"]
    measures = {"estimators": estimators, "posterior_settings": "draws=50"}
    scores = score(alone(), "new-b", "P@10", **measures)
    (text,) = scores.read()
    names = [column.title for column in text.columns]
    assert names == [
        *("run", "as judged", "lower bound", "upper bound", "unjudged"),
        *("posterior ratio", "95 % interval", "background"),
    ]
    row = scores.to_frame().iloc[0]
    assert [column.values[0] for column in text.columns[1:4]] == [
        row["as_judged"],
        row["bound_lower"],
        row["bound_upper"],
    ]
    assert "bound_upper" not in text.spare
    assert "The score lies between the bounds" in text.notes[0]
    table = scores.text(".md").splitlines()[2]
    assert [name.strip() for name in table.split("|")[1:6]] == [
        "run",
        "as judged",
        "lower bound",
        "upper bound",
        "unjudged",
    ]
    pooled = score(load_example(), "new-b", "P@10", **measures)
    assert pooled.read()[0].spare[-3:] == ("bound_upper", "bound_lower", "as_judged")

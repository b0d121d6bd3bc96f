"""A predictor of one's own goes everywhere that predictors go."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from toys import documents_of, from_rankings

from bayespool.collection import add_judges
from bayespool.errors import InputError
from bayespool.evidence import (
    PREDICTORS,
    DocumentContext,
    Predictor,
    document_table,
    hidden_document_table,
    register_predictor,
)
from bayespool.experiments import load_example
from bayespool.experiments.settings import user_code_versions
from bayespool.measures import parse_measure
from bayespool.models import EVIDENCE_SLOPES
from bayespool.models.graphs import build_graph
from bayespool.posterior import PosteriorEstimator, ScoringProblem
from bayespool.reading import labels_from_frame
from bayespool.scoring import score


def test_slopes_of_the_evidence_model_are_those_of_its_predictors():
    assert dict(EVIDENCE_SLOPES) == {
        "log_rank": (-0.1, 0.2),
        "precision": (0.2, 0.3),
        "run_precision": (0.9, 0.5),
        "support": (0.0, 1.0),
        "log_best_rank": (-0.5, 0.3),
        "fusion": (4.0, 3.0),
        "local_precision": (0.8, 0.4),
        "run_unjudged": (0.2, 0.15),
    }
    with pytest.raises(KeyError):
        EVIDENCE_SLOPES["delta_precision"]


# One function and one line make a predictor.
def half(documents: DocumentContext):
    """1 in the first half of the first ten ranks, −1 below it."""
    return np.where(documents.rank <= 5, 1.0, -1.0)


@pytest.fixture
def toy_predictor():
    register_predictor(
        Predictor(
            name="half", description="upper half or lower", per="document", compute=half, slope=(0.5, 0.4)
        )
    )
    yield PREDICTORS["half"]
    del PREDICTORS["half"]


def test_a_new_predictor_is_in_tables_and_in_both_engines_evidence(toy_predictor):
    collection = load_example()
    table = hidden_document_table(collection, cutoff=10)
    assert table.names[-1] == "half"
    np.testing.assert_array_equal(table.columns(("half",))[:, 0], np.where(table.rank <= 5, 1.0, -1.0))
    task = ScoringProblem(collection, ("new-a",), parse_measure("P@10"), "complete")
    prepared = task.prepare("evidence", {})
    assert prepared.evidence.predictor_names[-1] == "half"
    assert prepared.evidence.expected[-1] == pytest.approx(0.5 / 0.4)
    slopes = prepared.structure().coefficients["beta"]
    graph = build_graph(prepared.spec, prepared.evidence)
    assert slopes.size == len(graph.coords["predictor"]) == 9
    np.testing.assert_array_equal(graph["hidden_predictors"].get_value(), prepared.evidence.predictors)
    counted = ScoringProblem(collection, ("new-a",), parse_measure("P@10"), "complete").prepare("ratio", {})
    assert counted.evidence.predictor_names == ("precision", "run_precision")  # ratio has slopes of its own


def test_a_new_predictor_is_learned_and_moves_estimates(toy_predictor):
    """Turn what is hidden so that the upper half is relevant and the lower is not: the slope is found."""
    collection = load_example()
    table = hidden_document_table(collection, cutoff=10)
    relevance = collection.relevance.copy()
    relevance[table.pair] = table.rank <= 5
    turned = dataclasses.replace(collection, relevance=relevance)
    scores = score(turned, "new-a", "P@10", estimators="posterior-evidence", posterior_settings="draws=200")
    estimates = scores["P@10", "posterior-evidence"]
    slope = estimates.fits["evidence"].draws()["beta"][:, -1] * 0.4
    assert slope.mean() > 0.8  # expected 0.5 a priori


def test_stored_folds_are_told_apart_by_own_predictors(toy_predictor):
    def described():
        return user_code_versions([("evidence", PosteriorEstimator(model="evidence"))])

    assert list(described()) == ["own predictors"]
    assert described() != described()  # of no version
    toy_predictor = PREDICTORS["half"] = dataclasses.replace(toy_predictor, version="1")
    with_it = described()
    assert described() == with_it
    PREDICTORS["half"] = dataclasses.replace(toy_predictor, slope=(0.5, 0.3))
    assert described() != with_it
    PREDICTORS["half"] = dataclasses.replace(toy_predictor, version="2")
    assert described() != with_it
    del PREDICTORS["half"]
    assert described() == {}
    register_predictor(toy_predictor)


def test_the_table_of_the_documentation_has_it(toy_predictor, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs"))
    from reference_tables import predictors

    table = predictors().splitlines()
    assert len(table) == 2 + len(PREDICTORS)
    assert table[-1] == "| `half` | upper half or lower | document | 0.5 ± 0.4 |  |  |  |"
    assert table[2].split(" | ")[3:] == ["−0.1 ± 0.2", "", "", "−0.1 ± 0.15 |"]


def test_bad_predictors_are_refused(toy_predictor):
    collection = load_example()
    with pytest.raises(InputError, match="already"):
        register_predictor(toy_predictor)
    with pytest.raises(InputError, match="standard deviation"):
        dataclasses.replace(toy_predictor, slope=(1.0, 0.0))
    with pytest.raises(InputError, match="no per"):
        dataclasses.replace(toy_predictor, per="run")
    run, topic, rank, pair = documents_of(collection, ("new-a",), 3)
    with pytest.raises(InputError, match="no predictor 'quarter'"):
        document_table(collection, run, topic, rank, pair, depth=3, names=("quarter",))
    with pytest.raises(InputError, match="rank 3 is below the depth of 2"):
        document_table(collection, run, topic, rank, pair, depth=2)
    broken = dataclasses.replace(toy_predictor, compute=lambda documents: np.log(documents.rank - 1.0))
    PREDICTORS["half"] = broken
    with np.errstate(divide="ignore"), pytest.raises(InputError, match="half does not have one finite value"):
        document_table(collection, run, topic, rank, pair, depth=3, names=("half",))


def test_company_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of three pooled runs have a, at ranks 1 and 2, and c, at ranks 3 and 1; none has h.

    Mean grades are 1, 0 and 1: x and z are half a deviation times √2 above the mean of runs, y √2 below.
    """
    rankings = {"x": "abc", "y": "cfg", "z": "eab", "new": "ha"}
    organizations = {run: run.upper() for run in rankings}
    collection = from_rankings(
        {run: {"q": documents} for run, documents in rankings.items()},
        {"q": {"a": 1, "b": 1, "c": 0, "e": 0, "f": 0, "g": 0}},
        organizations,
        pooled_run_ids=("x", "y", "z"),
        pool_depth=3,
    )
    labels = labels_from_frame({"q": {"a": 2.0, "b": 2.0, "f": 0.0}})
    collection = add_judges(collection, {"llm": labels})
    asked = [("x", 1, "a"), ("x", 3, "c"), ("y", 2, "f"), ("new", 1, "h"), ("new", 2, "a")]
    names, (own,) = collection.doc_ids.to_pylist(), collection.run_index(["new"])
    run, rank, pair = (
        collection.run_index([run for run, _, _ in asked]),
        np.array([rank for _, rank, _ in asked]),
        np.array([names.index(name) for _, _, name in asked], dtype=np.int32),
    )
    assert collection.document[own, 0, :2].tolist() == pair[3:].tolist()
    of_company = ("log_pooled_mass", "pooled_share", "llm of the company")
    topic = np.zeros(len(asked), dtype=np.intp)
    few = document_table(collection, run, topic, rank, pair, depth=10, names=of_company)
    assert not few[:, 2].any()  # of three runs a deviation says little
    monkeypatch.setattr("bayespool.evidence.predictors._LEAST_RUNS", 3)
    found = document_table(collection, run, topic, rank, pair, depth=10, names=of_company)
    second, third = 1 / np.log2(3), 1 / 2
    a, c = np.log(2 + second), np.log(2 + third)
    assert found[:, 0] == pytest.approx([a, c, np.log(1 + second), 0, a])
    assert found[:, 1] == pytest.approx([2 / 3, 2 / 3, 1 / 3, 0, 2 / 3])
    assert found[:, 2] == pytest.approx([0.5**0.5, -(0.5**0.5), -(2**0.5), 0.5**0.5, 0.5**0.5])


def test_runs_outside_the_pool_by_hand() -> None:
    """Of new and other both have b; x is pooled and does not count, whatever it retrieves."""
    rankings = {"x": "abc", "new": "ab", "other": "cb"}
    collection = from_rankings(
        {run: {"q": documents} for run, documents in rankings.items()},
        {"q": {"a": 1, "c": 0}},
        {run: run for run in rankings},
        pooled_run_ids=("x",),
        pool_depth=3,
    )
    found = document_table(
        collection, *documents_of(collection, ["x", "new"], 3), depth=10, names=("log_runs_outside",)
    )
    assert found[:, 0] == pytest.approx(np.log([1, 2, 1, 1, 2]))

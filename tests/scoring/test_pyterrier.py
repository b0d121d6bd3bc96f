"""The measure for pt.Experiment, asked as it asks: through ir_measures, with PyTerrier's frames."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest

from bayespool import load_example, read_collection, score
from bayespool.collection import Collection
from bayespool.errors import InputError, InputWarning
from bayespool.reading import Run, qrels_from_frame, run_from_frame
from bayespool.scoring import pyterrier_measure, scoring

ir_measures = pytest.importorskip("ir_measures")
RENAMED = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}  # as pt.model.to_ir_measures has it
SETTINGS: dict[str, Any] = {"estimator": "posterior-ratio", "posterior_settings": "draws=100"}


def results_of(collection: Collection, run_id: str) -> pd.DataFrame:
    """What a transformer of PyTerrier returns."""
    (r,) = collection.run_index(run_id)
    rows = [
        (query_id, collection.doc_id(pair), 1000.0 - rank, rank, "words")
        for t, query_id in enumerate(collection.query_ids)
        for rank, pair in enumerate(collection.document[r, t].tolist())
        if pair >= 0
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score", "rank", "query"])


@cache
def inputs() -> tuple[pd.DataFrame, pd.DataFrame, list[Run], dict[str, str]]:
    """Results of a system, judgments, the pool and its organizations."""
    example = load_example()
    judged = [
        (example.query_ids[example.pair_topic[pair]], example.doc_id(pair), int(level))
        for pair, level in enumerate(example.relevance.tolist())
        if level >= 0
    ]
    pool = [run_from_frame(results_of(example, run), run) for run in example.pooled_run_ids]
    names = [example.organizations[o] for o in example.organization]
    organizations = dict(zip(example.run_ids, names, strict=True))
    return (
        results_of(example, "new-b"),
        pd.DataFrame(judged, columns=["qid", "docno", "label"]),
        pool,
        {run.run_id: organizations[run.run_id] for run in pool},
    )


def experiment(measures: list[Any]) -> dict[Any, dict[str, float]]:
    """What pt.Experiment computes of a system: measure → topic → value, the measures in their order."""
    results, qrels, _, _ = inputs()
    assert all(isinstance(m, ir_measures.Measure) for m in measures)  # else it raises KeyError
    assert set(ir_measures.run_inputs(measures)) == {"query_id", "doc_id", "score"}
    found: dict[Any, dict[str, float]] = {m: {} for m in measures}  # ir_measures goes by their hashes
    for metric in ir_measures.iter_calc(
        measures, qrels.rename(columns=RENAMED), results.rename(columns=RENAMED)
    ):
        found[metric.measure][metric.query_id] = metric.value
    return found


def test_means_are_those_of_score(monkeypatch: pytest.MonkeyPatch) -> None:
    results, qrels, pool, organizations = inputs()
    given: dict[str, Any] = {"pool": pool, "organizations": organizations}
    scored = Mock(wraps=score)
    monkeypatch.setattr(scoring, "score", scored)
    asked = pyterrier_measure("P@10", quantity=("mean", "lower", "upper"), **given, **SETTINGS)
    assert [str(m) for m in asked] == [f"bayespool P@10 {q}" for q in ("mean", "lower", "upper")]
    found = experiment([*asked, ir_measures.P @ 10])
    assert scored.call_count == 1  # one fit for three quantities
    collection = read_collection(qrels, {"(this system)": results}, **given)
    (expected,) = score(
        collection, measures="P@10", estimators="posterior-ratio", posterior_settings="draws=100"
    ).estimates
    lower, upper = expected.interval()
    means = [sum(values.values()) / len(values) for values in found.values()]
    assert means[:3] == pytest.approx([expected.value[0], lower[0], upper[0]], abs=1e-12)
    assert means[1] < means[0] < means[2]
    assert means[3] <= means[1] + 1e-12  # what ir_measures says is the lower bound
    by_topic = found[asked[0]]
    assert list(by_topic.values()) == pytest.approx(expected.per_topic[0].tolist())
    off = {round(found[asked[1]][q] - by_topic[q], 12) for q in by_topic}
    assert len(off) == 1, "differences between systems on a topic are those of the estimates"


def test_any_estimator_has_a_mean_and_only_posteriors_an_interval() -> None:
    _, qrels, pool, organizations = inputs()
    given: dict[str, Any] = {"pool": pool, "organizations": organizations, "estimator": "as-judged"}
    found = experiment([pyterrier_measure("nDCG@10", **given), ir_measures.nDCG @ 10])
    ours, theirs = found.values()
    assert ours == pytest.approx(theirs)
    with pytest.raises(InputError, match="as-judged has no interval; name a posterior"):
        experiment([pyterrier_measure("nDCG@10", quantity="lower", **given)])
    assert qrels_from_frame(qrels)


def test_a_system_has_no_ranks_where_ranks_order_the_pool() -> None:
    _, _, pool, organizations = inputs()
    given: dict[str, Any] = {"pool": pool, "organizations": organizations, "estimator": "as-judged"}
    with pytest.warns(InputWarning, match="has no ranks: it is ordered by its scores"):
        by_rank, by_score = experiment(
            [pyterrier_measure("P@10", reading="order=rank", **given), ir_measures.P @ 10]
        ).values()
    assert by_rank == pytest.approx(by_score)


def test_wrong_words_are_refused_before_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: Any = "uper"
    with pytest.raises(InputError, match="did you mean 'upper'"):
        pyterrier_measure("P@10", quantity=wrong)
    for measure, words in (("PP@10", "unknown measure"), ("Judged@10", "describes the judgments")):
        with pytest.raises(InputError, match=words):
            pyterrier_measure(measure)
    for reading, words in (("ordre=rank", "did you mean 'order'"), ({"pol": "runs/"}, "did you mean 'pool'")):
        with pytest.raises(InputError, match=words):
            pyterrier_measure("P@10", reading=reading)
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(InputError, match="pip install ir_measures"):
        pyterrier_measure("P@10")

"""As many hidden documents go without labels as documents to complete."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from each import cases

from bayespool.collection import Collection, Judge, add_judges
from bayespool.evidence import DocumentTable, document_table
from bayespool.evidence.predictor_table import without_some_labels
from bayespool.evidence.predictors_of_labels import label_predictors
from bayespool.experiments import load_example, simulate_example, simulate_judge


def judged(share: float, *, of_unjudged: float) -> Collection:
    """The example with labels of a share of the judged and of the unjudged documents."""
    example, rng = load_example(), np.random.default_rng(1)
    labels = simulate_judge(simulate_example(), quality=2.0, random_seed=1)
    (judge,) = add_judges(example, {"llm": labels}).judges
    kept = rng.random(len(judge.label)) < np.where(example.judged, share, of_unjudged)
    return dataclasses.replace(example, judges=(Judge("llm", np.where(kept, judge.label, np.nan)),))


def tables(collection: Collection) -> tuple[DocumentTable, DocumentTable]:
    """Documents of the first pooled run and of the first new one, with predictors from labels."""
    names = tuple(label_predictors(collection))
    found = []
    for run_id in (collection.pooled_run_ids[0], collection.unpooled_run_ids[0]):
        (run,) = collection.run_index(run_id)
        pair = collection.document[run, :, :10].ravel()
        topic, rank = np.repeat(np.arange(len(collection.query_ids)), 10), np.tile(np.arange(1, 11), 20)
        kept = collection.judged[pair] == bool(collection.pooled[run])
        runs = np.full(int(kept.sum()), run)
        place = runs, topic[kept], rank[kept], pair[kept]
        columns = document_table(collection, *place, depth=10, names=names)
        found.append(DocumentTable(*place, np.zeros(len(runs), dtype=np.int64), columns, names))
    return found[0], found[1]


def share_without(table: DocumentTable) -> float:
    return float(table.columns(("llm without label",)).mean())


@cases(("of_unjudged", "expected"), [(1.0, 0.0), (0.85, 0.2), (0.5, 0.5), (0.0, 1.0)])
def test_as_many_go_without_as_documents_in_question(of_unjudged: float, expected: float) -> None:
    collection = judged(1.0, of_unjudged=of_unjudged)
    hidden, unjudged = tables(collection)
    assert share_without(hidden) == 0
    changed, of_unjudged_now = without_some_labels(collection, hidden, unjudged)
    assert share_without(changed) == pytest.approx(expected, abs=0.12)
    missing = changed.columns(("llm without label",))[:, 0] > 0
    assert np.isnan(changed.columns(("llm ≥ 1",))[:, 0]).tolist() == missing.tolist()
    assert np.isnan(changed.columns(("llm on the topic",))[:, 0]).tolist() == missing.tolist()
    for table in (changed, of_unjudged_now):
        assert np.isnan(table.columns(("llm of the run",))).all() == (expected == 1)

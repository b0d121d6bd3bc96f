"""Judgments of one's own on documents of the runs to score: they count, and the models learn from them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bayespool import read_collection, score
from bayespool.collection import sole_contributor
from bayespool.counts import judgment_counts, unjudged_documents
from bayespool.errors import InputError, InputWarning
from bayespool.posterior import PosteriorEstimator
from bayespool.predictors import evidence_predictors, hidden_document_table, unjudged_document_table
from bayespool.simulation import load_example, simulate_example
from bayespool.trec import qrels_from_frame


def judged(collection, run, value, n_topics=5, cutoff=10):
    """Judgments, all of one value or the truth, of a run's unjudged documents on the first topics."""
    _, topic, _, pair = unjudged_documents(collection, run, cutoff=cutoff)
    truth = simulate_example().complete().relevance if value is None else None
    table = {}
    for t, p in zip(topic, pair, strict=True):
        if t < n_topics:
            of_topic = table.setdefault(collection.query_ids[t], {})
            of_topic[collection.doc_id(p)] = int(truth[p]) if truth is not None else value
    return qrels_from_frame(table)


def test_they_count_as_judged():
    example = load_example()
    qrels = judged(example, "new-b", 1)
    richer = example.add_judgments(qrels)
    before = judgment_counts(example, "new-b", cutoffs=10)
    after = judgment_counts(richer, "new-b", cutoffs=10)
    gained = (after.n_relevant - before.n_relevant)[0, :, 0]
    assert gained[:5].tolist() == before.n_unjudged[0, :5, 0].tolist()
    assert gained[5:].sum() == 0
    assert (richer.added_for >= 0).sum() == len(qrels.relevance) == gained.sum()
    assert richer.fingerprint != example.fingerprint
    assert (example.added_for < 0).all()


def test_they_are_evidence_of_the_run_and_leave_its_predictors():
    example = load_example()
    richer = example.add_judgments(judged(example, "new-b", 1))
    new_b = int(example.run_index("new-b")[0])
    table = hidden_document_table(richer, cutoff=10)
    own = table.run == new_b
    assert own.sum() == (sole_contributor(richer) == example.organization[new_b]).sum() > 0
    assert table.relevant[own].all()
    before = unjudged_document_table(example, ("new-b",), cutoff=10)
    after = unjudged_document_table(richer, ("new-b",), cutoff=10)
    still = np.isin(before.pair, after.pair)
    np.testing.assert_array_equal(after.predictors, before.predictors[still])
    others = hidden_document_table(example, cutoff=10)
    # local precision knows of others' more
    unchanged = tuple(name for name in evidence_predictors() if name != "local_precision")
    np.testing.assert_array_equal(table.columns(unchanged)[~own], others.columns(unchanged))


@pytest.mark.parametrize("model", ["ratio", "evidence", "interpolated", "combined"])
@pytest.mark.parametrize("pool", [True, False])
def test_the_rest_of_the_run_follows_them(model, pool):
    example = load_example()
    if not pool:
        example = example.with_pool(np.zeros_like(example.pooled), 0)
    rest = {}
    for value in (0, 1):
        richer = example.add_judgments(judged(example, "new-b", value, n_topics=8))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (result,) = PosteriorEstimator(model=model, draws=500).estimate(richer, "new-b")
        rest[value] = result.draws.amount[:, 0, 8:].sum(axis=1)
        assert len(np.unique(result.draws.amount[:, 0, :8].sum(axis=1))) == 1  # judged there
    assert rest[1].mean() > rest[0].mean() + 0.5 * rest[0].std()


def test_true_judgments_narrow_the_interval():
    example = load_example()
    richer = example.add_judgments(judged(example, "new-b", None, n_topics=12))
    widths = []
    for collection in (example, richer):
        low, high = PosteriorEstimator(draws=500).estimate(collection, "new-b")[0].interval()
        widths.append(float(high[0] - low[0]))
    assert widths[1] < 0.8 * widths[0]


def test_they_stay_where_runs_leave_the_pool():
    example = load_example()
    richer = example.add_judgments(judged(example, "new-b", 1))
    for smaller in (richer.unpool(organization="north"), richer.truncate_pool(1)):
        assert (smaller.relevance[richer.relevance != example.relevance] == 1).all()


@pytest.mark.parametrize("run", ["north-1", "new-b"])
def test_of_documents_far_down(run):
    """Of a pooled run, and deeper than any evidence reaches."""
    example = load_example()
    richer = example.add_judgments(judged(example, run, 1, n_topics=3, cutoff=20))
    (result,) = PosteriorEstimator(draws=50).estimate(richer, "new-b")
    assert np.isfinite(result.value).all()


def test_errors():
    example = load_example()
    pair = int(np.flatnonzero(example.relevance == 1)[0])
    topic, doc = example.query_ids[example.pair_topic[pair]], example.doc_id(pair)
    with pytest.raises(InputError, match=f"{doc} of topic {topic} has relevance 1 in the qrels"):
        example.add_judgments(qrels_from_frame({topic: {doc: 0}}))
    with pytest.raises(InputError, match="no judgment is of an unjudged document"):
        example.add_judgments(qrels_from_frame({topic: {doc: 1}, "no such topic": {"d": 1}}))


def test_topics_and_documents_that_no_run_has_are_told():
    example = load_example()
    good = judged(example, "new-b", 1, n_topics=1)
    rows = {"999": {"D1": 1, "D2": 0, "D3": -1}, example.query_ids[1]: {"no such document": 0}}
    for query_id, doc_id in zip(good.query_id.to_pylist(), good.doc_id.to_pylist(), strict=True):
        rows.setdefault(query_id, {})[doc_id] = 1
    said = (
        r"^judgments of your own: passed over are 2 of topics that the collection does not have \(document "
        r"D1 of topic 999 for one\) and 1 of documents that no run retrieves \(document no such document of "
        rf"topic {example.query_ids[1]} for one\)$"
    )
    with pytest.warns(InputWarning, match=said):
        richer = example.add_judgments(qrels_from_frame(rows))
    assert (richer.added_for >= 0).sum() == len(good.relevance)


def test_from_files(tmp_path):
    example = load_example()
    simulate_example().write(tmp_path)
    qrels = judged(example, "new-b", 1)
    lines = [
        f"{q} 0 {d} 1" for q, d in zip(qrels.query_id.to_pylist(), qrels.doc_id.to_pylist(), strict=True)
    ]
    (tmp_path / "mine.txt").write_text("\n".join(lines) + "\n")
    files = {"qrels": tmp_path / "qrels.txt", "runs": tmp_path / "new", "pool": tmp_path / "pool"}
    own = read_collection(
        **files, organizations=tmp_path / "organizations.csv", own_judgments=tmp_path / "mine.txt"
    )
    plain = read_collection(**files, organizations=tmp_path / "organizations.csv")
    assert int((own.added_for >= 0).sum()) == len(lines)
    lower = [score(c, "new-b", estimators=["lower-bound"]).frame()["bound_lower"][0] for c in (plain, own)]
    assert lower[1] == pytest.approx(lower[0] + len(lines) / 200)

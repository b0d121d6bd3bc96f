"""Learned fusion: closed forms against the plain ones, leaks, and pools that teach little or nothing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from each import cases
from toys import documents_of

from bayespool.collection import build_collection
from bayespool.collection.pools import sole_contributor
from bayespool.evidence.learned_fusion import (
    _RIDGE,
    NO_HOLDOUT,
    LearnedFusion,
    TrainingDocuments,
    _processes,
    _Regression,
    _Shares,
    forget_learned_fusion,
    learned_fusion,
)
from bayespool.evidence.pooled_ranks import pooled_ranks, rank_gains
from bayespool.evidence.predictor_table import hidden_document_table
from bayespool.experiments import load_example
from bayespool.reading import qrels_from_frame, run_from_frame


def without(fusion: LearnedFusion, which: int) -> tuple[int, np.ndarray, np.ndarray]:
    """An organization to hold out, the documents that teach without it, and the columns of the others."""
    training = fusion.training
    organization = NO_HOLDOUT if which < 0 else int(np.unique(training.organization)[which])
    kept = training.without(organization)
    return organization, np.flatnonzero(kept), training.organization != organization


def ridge_weights(training: TrainingDocuments, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Ridge regression of relevance on gains, both less their means on the topic, the plain way."""
    gain, relevant = training.gain[np.ix_(rows, columns)], training.relevant[rows].copy()
    for topic in np.unique(training.topic[rows]):
        same = training.topic[rows] == topic
        gain[same] -= gain[same].mean(axis=0)
        relevant[same] -= relevant[same].mean()
    return np.linalg.solve(gain.T @ gain + _RIDGE * np.eye(gain.shape[1]), gain.T @ relevant)


def predicted(training: TrainingDocuments, rows: np.ndarray, columns: np.ndarray, gain: np.ndarray) -> float:
    """Mean of a Gaussian process given documents of one topic at another's features, the plain way."""
    length = np.sqrt((training.gain**2).sum(axis=1))[rows]
    seen, n_runs = training.gain[rows] * columns, training.gain.shape[1]
    kernel = seen @ seen.T * (1 / np.outer(length, length) + 2 / n_runs)
    relevant = training.relevant[rows]
    at = seen @ gain[:-1] * (1 / (length * gain[-1]) + 2 / n_runs)
    return float(at @ np.linalg.solve(kernel + np.eye(len(rows)), relevant - relevant.mean()))


def test_what_is_learned_for_pooled_runs_is_what_new_ones_need() -> None:
    collection = load_example()
    run, topic, _, pair = documents_of(collection, ("new-a", "new-b"), 30)
    alone = learned_fusion(collection, held_out=False)
    whole = learned_fusion(collection)
    assert list(alone.fits) == [NO_HOLDOUT]
    assert learned_fusion(collection, held_out=False) is alone
    np.testing.assert_array_equal(whole.log_odds(run, topic, pair), alone.log_odds(run, topic, pair))
    runs = np.array(collection.run_index(["new-a", "new-b"]))
    np.testing.assert_array_equal(whole.run_skill_regression(runs), alone.run_skill_regression(runs))
    forget_learned_fusion(collection)
    assert list(learned_fusion(collection, held_out=False).fits) == [NO_HOLDOUT]


@cases("which", [-1, 3])
def test_closed_forms_are_those_of_each_document_left_out(which: int) -> None:
    fusion = learned_fusion(load_example())
    training = fusion.training
    organization, rows, columns = without(fusion, which)
    shares = _Shares.of(training, training.without(organization))
    weight, _, of_ridge = _Regression.of(training).without(
        organization, training.without(organization), shares
    )
    np.testing.assert_allclose(weight[columns], ridge_weights(training, rows, columns), atol=1e-12)
    assert not weight[~columns].any()
    kept = {organization: training.without(organization)}
    _, _, of_process = _processes(training, kept, {organization: shares})[organization]
    for i in np.random.default_rng(1).choice(rows, 10, replace=False):
        others = rows[rows != i]
        same = others[training.topic[others] == training.topic[i]]
        mean = training.gain[same].mean(axis=0)
        left_out = ridge_weights(training, others, columns) @ (training.gain[i] - mean)[columns]
        assert of_ridge[i] == pytest.approx(left_out, abs=1e-10)
        length = np.sqrt((training.gain[i] ** 2).sum())
        gain = np.append(training.gain[i] * columns, length)
        assert of_process[i] == pytest.approx(predicted(training, same, columns, gain), abs=1e-10)


def test_log_odds_of_hidden_documents_the_plain_way() -> None:
    collection = load_example()
    fusion, table = learned_fusion(collection), hidden_document_table(collection, cutoff=30)
    training, found = fusion.training, fusion.log_odds(table.run, table.topic, table.pair)
    organization, rows, columns = without(fusion, 3)
    lesson, longest = fusion.fits[organization], collection.length[fusion.pooled].max()
    for d in np.flatnonzero(collection.organization[table.run] == organization)[::7]:
        gain = rank_gains(collection)[pooled_ranks(collection, table.pair[[d]])[0]] * columns
        same = rows[training.topic[rows] == table.topic[d]]
        length = np.sqrt((gain**2).sum())
        process = predicted(training, same, columns, np.append(gain, length)) if length else 0.0
        mean = training.gain[same].mean(axis=0)
        ridge = ridge_weights(training, rows, columns) @ (gain - mean)[columns]
        best = 2 ** (1 / gain.max()) - 1 if gain.any() else 2 * longest
        support = np.log(((gain > 0).sum() + 0.5) / (columns.sum() + 1))
        signs = [1, lesson.base[table.topic[d]], support, np.log(best), ridge, process]
        assert found[d] == pytest.approx(lesson.coefficients @ signs, abs=2e-5)


def test_what_an_organization_alone_contributed_touches_nothing_of_its_own() -> None:
    """Weights, calibration and the runs' own lines stay to the bit."""
    collection, rng = load_example(), np.random.default_rng(2)
    relevance = np.where(
        collection.relevance > 0, rng.integers(1, 3, len(collection.relevance)), collection.relevance
    )
    collection = dataclasses.replace(collection, relevance=relevance.astype(np.int16))
    before, sole = learned_fusion(collection, rel=2, given=1), sole_contributor(collection)
    for o in np.unique(collection.organization[collection.pooled]):
        own = (sole == o) & collection.judged
        turned = np.where(own, rng.integers(0, 3, len(own)), collection.relevance).astype(np.int16)
        changed = dataclasses.replace(collection, relevance=turned)
        after = learned_fusion(changed, rel=2, given=1)
        runs = np.flatnonzero(collection.organization == o)
        for line, other in zip(
            before.run_skill_regression(runs), after.run_skill_regression(runs), strict=True
        ):
            np.testing.assert_array_equal(other, line)
        run, topic, _, pair = documents_of(collection, tuple(collection.run_ids[r] for r in runs), 100)
        np.testing.assert_array_equal(after.log_odds(run, topic, pair), before.log_odds(run, topic, pair))


@cases("names", [(), ("a",), ("a", "b")])
def test_a_small_pool_or_none_is_no_obstacle(names: tuple[str, ...]) -> None:
    rankings = {"a": "d1 d2 d3", "b": "d2 d4 d1", "t": "d5 d1 d4"}
    runs = [
        run_from_frame({"q": {doc: -i for i, doc in enumerate(docs.split())}}, run)
        for run, docs in rankings.items()
    ]
    qrels = qrels_from_frame({"q": {"d1": 1, "d2": 0, "d4": 1}, "empty": {"d1": 0}})
    collection = build_collection(runs, qrels, pooled_run_ids=list(names), pool_depth=2 if names else 0)
    fusion = learned_fusion(collection)
    run, topic, _, pair = documents_of(collection, ("a", "t"), 3)
    assert np.isfinite(fusion.log_odds(run, topic, pair)).all()
    assert all(np.isfinite(line).all() for line in fusion.run_skill_regression(np.arange(3)))

"""The simulated collection is what its settings and its truth say."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from toys import judgments, ranking

from bayespool.collection import Qrels, build_collection
from bayespool.errors import InputError
from bayespool.evidence import judgment_counts, run_overlap
from bayespool.experiments import SimulationSettings, load_example, simulate, simulate_example
from bayespool.pooling import describe_pool, read_collection

SMALL = SimulationSettings(
    n_topics=4, n_candidates=40, n_organizations=3, max_runs=2, n_new=1, pool_depth=5, run_depth=20
)


def as_dict(qrels: Qrels) -> dict[tuple[str, str], int]:
    queries, documents = qrels.query_id.to_pylist(), qrels.doc_id.to_pylist()
    return dict(zip(zip(queries, documents, strict=True), qrels.relevance.tolist(), strict=True))


def test_seed_and_settings_decide() -> None:
    first, again = simulate(SMALL, random_seed=1), simulate(SMALL, random_seed=1)
    assert first.collection.fingerprint == again.collection.fingerprint
    assert as_dict(first.truth) == as_dict(again.truth)
    assert first.organizations == again.organizations
    for run, same in zip(first.runs, again.runs, strict=True):
        assert np.array_equal(run.score, same.score)
    assert simulate(SMALL, random_seed=2).collection.fingerprint != first.collection.fingerprint
    other = dataclasses.replace(SMALL, noise=0.7)
    assert simulate(other, random_seed=1).collection.fingerprint != first.collection.fingerprint


@given(
    st.integers(0, 10_000),
    st.integers(1, 20),
    st.integers(0, 3),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.6]),
)
def test_pool_is_judged_exactly_to_its_depth(
    seed: int, pool_depth: int, n_new: int, n_organizations: int, noise: float
) -> None:
    settings = dataclasses.replace(
        SMALL,
        pool_depth=pool_depth,
        n_new=n_new,
        n_organizations=n_organizations,
        noise=noise,
        # scores of four decimals that hardly differ, so that many are equal
        prominence=0.001,
        taste=0.001,
        strength_std=0,
    )
    simulation = simulate(settings, random_seed=seed)
    collection = simulation.collection
    contributed = {
        (query_id, document)
        for run_id in collection.pooled_run_ids
        for query_id in collection.query_ids
        for document in ranking(collection, run_id, query_id)[:pool_depth]
    }
    assert as_dict(simulation.qrels).keys() == contributed
    report = describe_pool(collection)
    assert (report.depth, report.n_holes, report.n_unexplained) == (pool_depth, 0, 0)
    assert report.n_pooled_runs == len(simulation.runs) - n_new
    assert report.n_organizations == n_organizations


def test_equal_scores_at_the_pool_depth_leave_no_hole() -> None:
    """Scores are written with four decimals; equal ones are ordered as a collection orders them."""
    settings = SimulationSettings(n_organizations=2, max_runs=1, pool_depth=50)
    for seed in (7, 16, 17, 26):
        report = describe_pool(simulate(settings, random_seed=seed).collection)
        assert (report.n_holes, report.n_unexplained) == (0, 0), seed


def test_ranks_are_in_the_order_of_the_scores() -> None:
    simulation = simulate(SMALL, random_seed=3)
    by_rank = build_collection(simulation.runs, simulation.qrels, order="rank")
    assert np.array_equal(by_rank.document, simulation.collection.document)


def test_sizes_are_those_of_the_settings() -> None:
    simulation = simulate(SMALL, random_seed=4)
    collection = simulation.collection
    assert collection.query_ids == ("701", "702", "703", "704")
    assert simulation.new_run_ids == ("new-a",)
    assert collection.document.shape == (len(simulation.runs), 4, 20)
    assert (collection.length == 20).all()
    assert len(as_dict(simulation.truth)) == 4 * 40
    assert set(simulation.organizations.values()) == {"north", "south", "east", "new-a"}
    assert set(simulation.organizations) == set(collection.run_ids)
    per_organization = [list(simulation.organizations.values()).count(o) for o in ("north", "south", "east")]
    assert all(1 <= n <= 2 for n in per_organization)


def test_documents_and_relevance_do_not_depend_on_the_pool_depth() -> None:
    shallow, deep = (simulate(dataclasses.replace(SMALL, pool_depth=d), random_seed=8) for d in (2, 10))
    assert as_dict(shallow.truth) == as_dict(deep.truth)
    assert as_dict(shallow.qrels).items() <= as_dict(deep.qrels).items()
    truncated = deep.collection.truncate_pool(2)
    assert judgments(truncated) == judgments(shallow.collection)


def test_strong_runs_find_more() -> None:
    weak, strong = (
        simulate(dataclasses.replace(SMALL, n_topics=30, strength_mean=strength), random_seed=9)
        for strength in (0.0, 4.0)
    )
    precision = [judgment_counts(s.complete(), s.new_run_ids, cutoffs=5).lower.mean() for s in (weak, strong)]
    assert precision[1] > precision[0] + 0.2


def test_some_judged_document_is_relevant_however_unlikely() -> None:
    settings = dataclasses.replace(SMALL, relevance_mean=-50.0, n_organizations=1, pool_depth=1)
    for seed in range(3):
        simulation = simulate(settings, random_seed=seed)
        assert sum(relevance > 0 for relevance in as_dict(simulation.qrels).values()) == 1
        assert as_dict(simulation.qrels).items() <= as_dict(simulation.truth).items()


def test_senseless_settings_are_refused() -> None:
    for name, value in {
        "pool_depth": 101, "run_depth": 301, "n_candidates": 50, "n_topics": 0, "n_organizations": 0,
        "max_runs": 0, "n_new": -1, "n_kinds": 0, "kind_taste": -1.0, "kind_strength": -0.1,
    }.items():  # fmt: skip
        with pytest.raises(InputError, match="a simulation needs"):
            SimulationSettings(**{name: value})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a simulation needs"):
        SimulationSettings(pool_depth=0)


def test_collection_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    simulation = simulate(dataclasses.replace(SMALL, n_new=2), random_seed=12)
    simulation.write(tmp_path / "not there yet")
    folder = tmp_path / "not there yet"
    written = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    pooled = [f"pool/{run_id}.run" for run_id in simulation.collection.pooled_run_ids]
    assert written == sorted(["new/new-a.run", "new/new-b.run", "organizations.csv", "qrels.txt", *pooled])
    collection = read_collection(
        folder / "qrels.txt",
        folder / "new",
        pool=folder / "pool",
        organizations=folder / "organizations.csv",
        each_its_own=True,  # the list of organizations leaves the new runs out
    )
    expected = build_collection(
        simulation.runs,
        simulation.qrels,
        organizations=simulation.organizations,
        pooled_run_ids=simulation.collection.pooled_run_ids,
        pool_depth=SMALL.pool_depth,
    )
    assert collection.run_ids == expected.run_ids
    assert collection.given_run_ids == simulation.new_run_ids
    assert collection.fingerprint == expected.fingerprint


def test_example_is_one_and_the_same() -> None:
    example = load_example()
    assert example is simulate_example().collection
    assert repr(example) == (
        "<Collection: 23 runs (21 pooled to depth 10), 10 organizations, 20 topics, "
        "1,181 judgments, 283 relevant>"
    )
    assert simulate_example().new_run_ids == ("new-a", "new-b")
    # what a new run must find unjudged for the example to show anything
    counts = judgment_counts(example, ["new-a", "new-b"], cutoffs=10)
    assert (counts.residual.mean(axis=1) > 0.05).all()


def test_true_values_are_those_of_complete_judgments() -> None:
    simulation = simulate(SMALL, random_seed=3)
    relevant = {pair for pair, relevance in as_dict(simulation.truth).items() if relevance >= 2}
    run = simulation.runs[-1]
    queries, documents = run.query_id.to_pylist(), run.doc_id.to_pylist()
    assert run.rank is not None
    hits = sum(
        (query, document) in relevant
        for query, document, rank in zip(queries, documents, run.rank.tolist(), strict=True)
        if rank <= 5
    )
    assert simulation.true_values("P(rel=2)@5") == {run.run_id: hits / (5 * SMALL.n_topics)}
    pooled = simulation.collection.pooled_run_ids[0]
    now = judgment_counts(simulation.collection, [pooled], cutoffs=5)
    # all of its top 5 is judged
    assert simulation.true_values("P@5", [pooled])[pooled] == pytest.approx(now.lower.mean(), abs=1e-12)


def test_organizations_of_a_kind_retrieve_alike_and_new_kinds_do_not() -> None:
    settings = SimulationSettings(
        n_organizations=6, max_runs=1, n_new=3, n_kinds=2, kind_taste=2.0, new_kind=True
    )
    simulation = simulate(settings, random_seed=4)
    collection, organizations = simulation.collection, dict.fromkeys(simulation.organizations.values())
    names = [collection.organizations[o] for o in collection.organization]
    alike = run_overlap(collection, np.arange(len(names)))
    pooled, new = np.flatnonzero(collection.pooled), np.flatnonzero(~collection.pooled)
    kind = {name: i % 2 for i, name in enumerate(organizations)}
    same = np.array([[kind[names[i]] == kind[names[j]] for j in pooled] for i in pooled])
    between = alike[np.ix_(pooled, pooled)]
    off = ~np.eye(len(pooled), dtype=bool)
    assert between[same & off].min() > between[~same].max()
    assert alike[np.ix_(new, new)].min() > alike[np.ix_(new, pooled)].max()


def test_kinds_leave_simulations_without_them_alone() -> None:
    plain = simulate(SMALL, random_seed=2)
    for more in ({"n_kinds": 3}, {"new_kind": True}):
        same = simulate(dataclasses.replace(SMALL, **more), random_seed=2)
        assert np.array_equal(same.collection.document, plain.collection.document)


def test_complete_collection_has_nothing_unjudged_and_agrees_with_the_judgments() -> None:
    simulation = simulate(SMALL, random_seed=6)
    assert as_dict(simulation.qrels).items() <= as_dict(simulation.truth).items()
    complete = simulation.complete()
    known, truth = judgments(simulation.collection), judgments(complete)
    for query_id, documents in known.items():
        assert documents.items() <= truth[query_id].items()
    assert (complete.relevance >= 0).all()
    assert complete.pooled_run_ids == simulation.collection.pooled_run_ids
    assert complete.pool_depth == simulation.collection.pool_depth
    full = judgment_counts(complete, cutoffs=[5, 20])
    pooled = judgment_counts(simulation.collection, cutoffs=[5, 20])
    assert not full.n_unjudged.any()
    assert (pooled.lower <= full.lower).all()
    assert (full.lower <= pooled.upper).all()
    assert pooled.n_unjudged[complete.run_index("new-a")].any()
    assert not pooled.n_unjudged[complete.pooled, :, 0].any()

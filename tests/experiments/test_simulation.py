"""The simulated collection is what its settings and truth say; judges label as their quality says."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import binomtest
from toys import ranking

from bayespool.collection.copies import run_overlap
from bayespool.errors import InputError
from bayespool.evidence import judgment_counts
from bayespool.experiments import SimulationSettings, simulate, simulate_example, simulate_judge
from bayespool.pooling import describe_pool, read_collection
from bayespool.reading import Labels, Qrels

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
    for run, same in zip(first.runs, again.runs, strict=True):
        assert np.array_equal(run.score, same.score)
    assert simulate(SMALL, random_seed=2).collection.fingerprint != first.collection.fingerprint
    other = dataclasses.replace(SMALL, noise=0.7)
    assert simulate(other, random_seed=1).collection.fingerprint != first.collection.fingerprint


@given(st.integers(0, 10_000), st.integers(1, 20), st.integers(0, 3), st.integers(1, 3))
def test_pool_is_judged_exactly_to_its_depth(
    seed: int, pool_depth: int, n_new: int, n_organizations: int
) -> None:
    # scores of four decimals that hardly differ, so that many are equal
    equal = {"prominence": 0.001, "taste": 0.001, "strength_std": 0, "noise": (seed % 2) * 0.6}
    asked = {"pool_depth": pool_depth, "n_new": n_new, "n_organizations": n_organizations}
    settings = dataclasses.replace(SMALL, **asked, **equal)
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
    lists = {"pool": folder / "pool", "organizations": folder / "organizations.csv"}
    # the list of organizations leaves the new runs out
    collection = read_collection(folder / "qrels.txt", folder / "new", **lists, each_its_own=True)
    assert collection.given_run_ids == simulation.new_run_ids
    assert collection.fingerprint == simulation.collection.fingerprint


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


Labeled = dict[tuple[str, str], float]


def judged(**asked: Any) -> Labeled:
    labels: Labels = simulate_judge(simulate_example(), **{"random_seed": 1, **asked})
    pairs = zip(labels.query_id.to_pylist(), labels.doc_id.to_pylist(), strict=True)
    return dict(zip(pairs, labels.label.tolist(), strict=True))


@pytest.mark.parametrize("quality", [1.0, -1.5])
def test_labels_are_as_likely_as_the_formula_says(quality: float) -> None:
    known = as_dict(simulate_example().truth)
    mean = np.mean(list(known.values()))
    for grades in (2, 4):
        labels = judged(quality=quality, grades=grades)
        for relevance in (0, 1, 2):
            found = np.array([label for pair, label in labels.items() if known[pair] == relevance])
            for grade in range(1, grades):
                expected = ndtr(quality * (relevance - mean) - ndtri(1 - 0.5**grade))
                reached = int((found >= grade).sum())
                assert binomtest(reached, len(found), expected).pvalue > 1e-4, (grades, relevance, grade)


def test_of_two_shares_the_smaller_is_within_the_larger() -> None:
    everything = judged(quality=1.0)
    half, tenth = judged(quality=1.0, share=0.5), judged(quality=1.0, share=0.1)
    assert tenth.items() < half.items() < everything.items()
    for labels, share in ((half, 0.5), (tenth, 0.1)):
        assert binomtest(len(labels), len(everything), share).pvalue > 1e-4
    mean = np.mean(list(everything.values()))
    assert np.mean(list(tenth.values())) == pytest.approx(mean, abs=0.15)  # who has one is chance


def test_favored_documents_are_those_in_the_top_20() -> None:
    fair, unfair = judged(quality=1.0), judged(quality=1.0, favors="north")
    assert fair.keys() == unfair.keys()
    top = set()
    for run in simulate_example().runs:
        if simulate_example().organizations[run.run_id] == "north":
            rows = zip(run.query_id.to_pylist(), run.doc_id.to_pylist(), run.rank.tolist(), strict=True)
            top |= {(query_id, doc_id) for query_id, doc_id, rank in rows if rank <= 20}
    changed = {pair for pair in fair if fair[pair] != unfair[pair]}
    assert changed <= top
    assert all(unfair[pair] >= fair[pair] for pair in top)
    assert len(changed) > 0.6 * len(top)


def test_senseless_judges_are_refused() -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"grades": 1}, "not 1"), ({"share": 0.0}, "not 0.0"), ({"share": 1.1}, "not 1.1"),
        ({"share": float("nan")}, "not nan"), ({"quality": float("inf")}, "not inf"),
        ({"favors": "nobody"}, "no organization 'nobody'"),
    ]  # fmt: skip
    for asked, reason in refused:
        with pytest.raises(InputError, match=reason):
            judged(**{"quality": 1.0, **asked})

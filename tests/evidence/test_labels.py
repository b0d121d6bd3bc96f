"""What labels of a second judge say of relevance, counted by hand; whom a judge favors, by simulation."""

from __future__ import annotations

from functools import cache

import numpy as np
from toys import toy_collection

from bayespool.collection import (
    Collection,
    add_judges,
    build_collection,
    labels_from_frame,
    qrels_from_frame,
    run_from_frame,
)
from bayespool.evidence import GradeCounts, favored_organizations, grade_counts
from bayespool.evidence.labels import TOP_OF_LABELS
from bayespool.experiments import Simulation, SimulationSettings, simulate, simulate_judge

# Of the judged documents several organizations have a on topic 1, q on topic 2, a and c on topic 3; j is
# nobody's. All others are one organization's alone: b, c and h of topic 1 have labels that do not count, as
# those of l and d, which are unjudged.
LABELS = {"1": {"a": 3, "j": 0, "b": 0, "c": 3, "h": 3, "l": 2, "d": 0}, "2": {"q": 3, "v": 2}, "3": {"a": 0}}


def labeled(collection: Collection, labels: dict[str, dict[str, float]]) -> Collection:
    return add_judges(collection, {"llm": labels_from_frame(labels)})


def counted(found: GradeCounts) -> tuple[list[int], list[int]]:
    return found.n_relevant.tolist(), found.n_nonrelevant.tolist()


def counts_of(collection: Collection, **asked: int) -> GradeCounts:
    return grade_counts(collection, collection.judges[0], **asked)


def test_grades_of_the_toy_are_counted() -> None:
    found = counts_of(labeled(toy_collection(), LABELS))
    assert found.judge.thresholds == (2, 3)
    assert counted(found) == ([0, 0, 1], [2, 0, 1])  # a | j and a of topic 3, q; none of the middle grade


def test_rates_are_drawn_to_that_of_all() -> None:
    """One of four is relevant, (1 + ½)/(4 + 1) with half a document of each; that counts as one more."""
    rate = counts_of(labeled(toy_collection(), LABELS)).rate
    np.testing.assert_allclose(rate, [(0 + 0.3) / 3, (0 + 0.3) / 1, (1 + 0.3) / 3])


def test_levels_of_relevance_and_documents_without_a_label() -> None:
    of_toy = labeled(toy_collection(), LABELS)
    assert counted(counts_of(of_toy, rel=2)) == ([0, 0, 0], [2, 0, 2])
    assert counted(counts_of(of_toy, rel=2, given=1)) == ([0, 0, 0], [0, 0, 1])  # a of topic 1 alone
    only = {"1": {"a": 1, "l": 0}}
    assert counted(counts_of(labeled(toy_collection(), only))) == ([0, 1], [0, 0])


def test_what_one_organization_alone_contributed_is_left_to_the_models() -> None:
    """Whatever its labels are."""
    turned = {**LABELS, "1": {**LABELS["1"], "b": 3, "c": 0, "h": 0}, "2": {**LABELS["2"], "v": 0}}
    assert counted(counts_of(labeled(toy_collection(), turned))) == ([0, 0, 1], [2, 0, 1])


def test_documents_below_rank_30_do_not_count() -> None:
    ranking = {"q": {f"d{rank:02}": -rank for rank in range(1, 41)}}
    collection = build_collection(
        [run_from_frame(ranking, run) for run in ("x", "y")],
        qrels_from_frame({"q": {doc: int(rank in (-1, -40)) for doc, rank in ranking["q"].items()}}),
        pooled_run_ids=["x", "y"],
        pool_depth=40,
    )
    labels = {"q": {doc: float(rank >= -2) for doc, rank in ranking["q"].items()}}
    assert counted(counts_of(labeled(collection, labels))) == ([0, 1], [TOP_OF_LABELS - 2, 1])


# --- favored organizations ---------------------------------------------------------------------------------


@cache
def simulated(seed: int) -> Simulation:
    return simulate(SimulationSettings(n_new=2), random_seed=seed)


def favored(seed: int, quality: float, favors: str | None = None) -> list[str]:
    labels = simulate_judge(simulated(seed), quality=quality, favors=favors, random_seed=seed)
    collection = add_judges(simulated(seed).collection, {"llm": labels})
    return list(favored_organizations(collection, collection.judges[0]))


def test_the_favored_organization_is_found_and_nobody_else() -> None:
    """One of the pool, or that of a run to score: those that the judge reranked for."""
    for organization, quality in (("north", 1.0), ("lake", 2.0), ("new-a", 1.0), ("new-a", 2.0)):
        found = [favored(seed, quality, organization) for seed in range(4)]
        assert found == [[organization]] * 4, (organization, quality)
    for quality in (-2.0, 0.0, 1.0, 3.0):
        assert [favored(seed, quality) for seed in range(4)] == [[]] * 4, quality

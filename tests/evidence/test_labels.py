"""What labels of an LLM judge say of relevance, counted by hand; agreement; whom a judge favors."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from labeled import labeled_toy
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from toys import toy_collection

from bayespool.collection import Collection, Judge, add_judges, build_collection
from bayespool.evidence import GradeCounts, LabelConfusion, auc, favored_organizations, grade_counts, kappas
from bayespool.evidence.labels import TOP_OF_LABELS, grade_names
from bayespool.experiments import Simulation, SimulationSettings, simulate, simulate_judge
from bayespool.reading import labels_from_frame, qrels_from_frame, run_from_frame

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
    """Whatever the labels are of what one organization alone contributed, which is left to the models."""
    of_toy = labeled(toy_collection(), LABELS)
    found, grades = counts_of(of_toy), ([0, 0, 1], [2, 0, 1])  # a | j and a of topic 3, q; no middle grade
    assert found.judge.thresholds == (2, 3)
    assert counted(found) == grades
    turned = {**LABELS, "1": {**LABELS["1"], "b": 3, "c": 0, "h": 0}, "2": {**LABELS["2"], "v": 0}}
    assert counted(counts_of(labeled(toy_collection(), turned))) == grades
    # one of four is relevant, (1 + ½)/(4 + 1) with half a document of each; that counts as one more
    np.testing.assert_allclose(found.rate, [(0 + 0.3) / 3, (0 + 0.3) / 1, (1 + 0.3) / 3])
    assert counted(counts_of(of_toy, rel=2)) == ([0, 0, 0], [2, 0, 2])
    assert counted(counts_of(of_toy, rel=2, given=1)) == ([0, 0, 0], [0, 0, 1])  # a of topic 1 alone
    only = {"1": {"a": 1, "l": 0}}
    assert counted(counts_of(labeled(toy_collection(), only))) == ([0, 1], [0, 0])


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


def toy_confusion() -> LabelConfusion:
    return LabelConfusion.of(labeled_toy(), labeled_toy().judges[0], (1, 2), cutoff=30)


def test_documents_are_counted_by_label_and_relevance() -> None:
    """Hidden are b c f, p r, b of the north and h i k, v w, d of the south; others a j, q, a c."""
    found = toy_confusion()
    assert found.hidden.tolist() == [
        [3, 2, 0],  # b, b, d; h, v
        [2, 1, 1],  # k, w; f; r
        [0, 1, 1],  # p; c
        [1, 0, 0],  # i, without a label
    ]
    assert found.other.tolist() == [
        [2, 0, 0],  # j, a on topic 3
        [1, 0, 0],  # c on topic 3
        [0, 1, 0],  # a
        [1, 0, 0],  # q
    ]


def test_relevance_may_begin_at_any_of_the_levels() -> None:
    found = toy_confusion()
    for rel, relevant, nonrelevant in ((1, [2, 2, 2], [3, 2, 0]), (2, [0, 1, 1], [5, 3, 1])):
        counted = found.by_grade("hidden", rel)
        assert counted.n_relevant.tolist() == relevant
        assert counted.n_nonrelevant.tolist() == nonrelevant
    with pytest.raises(ValueError, match="not in tuple"):
        found.by_grade("hidden", 3)


def test_agreement_is_that_of_other_software() -> None:
    rng = np.random.default_rng(3)
    relevant, nonrelevant = rng.integers(0, 40, 5), rng.integers(0, 40, 5)
    counted = GradeCounts(Judge("a", np.arange(5.0)), relevant, nonrelevant)
    high, low = (np.repeat(np.arange(5), n) for n in (relevant, nonrelevant))
    expected = stats.mannwhitneyu(high, low).statistic / (len(high) * len(low))
    assert auc(counted) == pytest.approx(expected)
    for cut, kappa in enumerate(kappas(counted), 1):
        parts = (slice(cut), slice(cut, None))
        table = np.array([[nonrelevant[part].sum(), relevant[part].sum()] for part in parts])
        assert kappa == pytest.approx(cohens_kappa(table).kappa)


def test_names_of_grades() -> None:
    assert grade_names(Judge("a", np.array([3.0, 0.0, np.nan, 1.0]))) == ("0", "1", "3")
    many = grade_names(Judge("a", np.arange(1000.0)))
    assert many[:2] == ("< 250", "≥ 250")
    assert len(many) == 6

"""New organizations: their effects, their kinds and how far they are from the pool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats
from toys import from_rankings

from bayespool.collection import Collection, add_judges
from bayespool.errors import InputError
from bayespool.evidence import favored_organizations
from bayespool.evidence.held_out import held_out_documents
from bayespool.experiments import SimulationSettings, load_example, simulate, simulate_example, simulate_judge
from bayespool.measures import Estimates, parse_measure
from bayespool.models import MODELS, Effect, parse_prior
from bayespool.pooling import StrategyPool
from bayespool.posterior import PosteriorEstimator, distance_from_pool, find_kinds, new_organization_effect
from bayespool.posterior.distance import (
    NewOrganizations,
    PoolDistance,
    _correlation_log_ratio,
    _tail_log_ratio,
    learn_new_organizations,
    sensitivity,
    stretch_with_few,
    with_kinds,
)
from bayespool.posterior.drawing import add_slopes

SIGMA = np.repeat([0.5, 2.0], 20_000)


def assert_normal(*columns: np.ndarray) -> None:
    for column in columns:
        assert stats.kstest(column, stats.norm.cdf).pvalue > 1e-4
    assert np.abs(np.corrcoef(np.stack(columns)) - np.eye(len(columns))).max() < 0.03


def test_effects_of_new_organizations_have_their_scale() -> None:
    """Runs of one organization share its effect."""
    for n_organizations, factor in ((0, 1.0), (1, 2.0), (8, 9 / 8)):
        rng = np.random.default_rng(1)
        effect = new_organization_effect(SIGMA, n_organizations, np.array([4, 9, 4]), rng)
        standard = effect / (SIGMA * np.sqrt(factor))[:, None]
        assert_normal(standard[:, 0], standard[:, 1])
        assert np.array_equal(effect[:, 0], effect[:, 2]), n_organizations


def test_slopes_are_added_times_predictors() -> None:
    rng = np.random.default_rng(3)
    slopes, predictors = rng.normal(size=(7, 2, 3)), rng.normal(size=(5, 3))
    organization = np.array([1, 0, 1, 1, 0])
    source, log_odds = np.array([6, 0, 2, 2]), np.ones((4, 5))
    add_slopes(log_odds, slopes, source, organization, predictors)
    expected = 1 + (slopes[source][:, organization] * predictors).sum(axis=2)
    np.testing.assert_allclose(log_odds, expected, rtol=1e-12)


def test_a_pooled_run_has_the_effects_of_its_evidence() -> None:
    """Not new ones: where much of an organization is hidden and relevant, what is unjudged is more so."""
    example = load_example().truncate_pool(5)
    run = example.pooled_run_ids[0]
    own = example.organization[example.run_index([run])[0]]
    (component,) = PosteriorEstimator(model="ratio").complete(example, run).posteriors[0].components
    (organization,) = component.cells
    assert organization == own
    assert component.known.tolist() == [True]
    effects = component.cells[organization]
    assert effects.shape == (4000, len(example.query_ids))
    fit = component.fit.draws()
    assert np.array_equal(fit["interaction_effect"], effects)
    assert (np.abs(effects.mean(axis=0)) > 5 * effects.std(axis=0) / np.sqrt(4000)).any()


def test_organizations_without_a_hidden_document_have_no_part_in_weights() -> None:
    settings = SimulationSettings(
        n_topics=1, n_candidates=15, n_organizations=5, max_runs=1, n_new=1, pool_depth=5, run_depth=15
    )
    collection = simulate(settings, random_seed=1).collection
    for draws in (1, 200):  # a single draw of scales lays points all the same
        weights = PosteriorEstimator(draws=draws, chains=1).complete(collection, None, "P@5").weights
        assert sum(weights.values()) == pytest.approx(1)
        assert all(0 < weight < 1 for weight in weights.values())


def test_what_is_assumed_shifts_the_first_rung_alone() -> None:
    """Whether a document is relevant at all is what more of the unjudged ones may be."""

    def effects(shift: float | None) -> list[np.ndarray]:
        estimator = PosteriorEstimator(model="background", draws=50, shift=shift)
        completion = estimator.complete(load_example(), "new-a", "nDCG@10")
        return [posterior.components[0].effect for posterior in completion.posteriors]

    (first, second), (shifted, same) = effects(None), effects(0.7)
    np.testing.assert_allclose(shifted - first, 0.7)
    assert (same == second).all()


def test_hidden_documents_of_a_strategy_that_looked_at_judgments_are_more_relevant() -> None:
    """By how much is the prior's: with a prior of one value, what a fixed shift gives, and a note says so."""
    example = load_example()
    pooled, budget = np.flatnonzero(example.pooled), int(example.judged.sum())
    looked = replace(example, pool=StrategyPool.of(example, pooled, "move-to-front", budget))

    def found(**settings: Any) -> Estimates:
        estimator = PosteriorEstimator(model="background", draws=25, **settings)
        return estimator.estimate(looked, ["new-b"])[0]

    usual, none = found(), found(shift=0.0)
    assert usual.value[0] < none.value[0]
    assert "judgments decided what was judged" in "; ".join(usual.notes[0])
    assert "prior of shift: Normal(-0.25, 0.25)" in "; ".join(usual.notes[0])
    assert "judgments decided" not in "; ".join(none.notes[0])
    fixed, certain = found(shift=-1.0), found(priors={"shift": "Uniform(-1, -1)"})
    np.testing.assert_array_equal(fixed.draws.means(), certain.draws.means())


N = 20_000


def threshold(
    freedom: float, correlation: float = 0.0, below: NewOrganizations | None = None
) -> NewOrganizations:
    """New organizations with values that are known."""
    above = () if below is None else (len(below.above) + 2,)
    none = np.zeros((N, 0))
    return NewOrganizations(none, np.full(N, freedom), np.full(N, correlation), (), 1, above, below)


def test_effects_have_their_tails_and_their_scale() -> None:
    """They go by the name of the organization."""
    scale = np.repeat([0.5, 2.0], N // 2)
    for freedom in (3.0, 1e6):
        effects = threshold(freedom).effects(scale, ["north", "south", "north"])
        assert np.array_equal(effects[:, 0], effects[:, 2])
        for column in (0, 1):
            assert stats.kstest(effects[:, column] / scale, stats.t(freedom).cdf).pvalue > 1e-3, freedom
        assert abs(np.corrcoef(effects[:, 0], effects[:, 1])[0, 1]) < 0.05
        alone = threshold(freedom).effects(scale, ["south"])
        assert np.array_equal(alone[:, 0], effects[:, 1])


def test_effects_are_larger_where_few_documents_are_unjudged() -> None:
    """Variances are as 1 + c exp(-n / 10), with c = 3 here; runs of one organization share all else."""
    prior, n = parse_prior("Uniform(3, 3)"), np.array([0, 10, 20, 1000])
    factors = stretch_with_few(prior, n, np.array([1000, 1000]), 2, random_seed=1)
    assert factors[1] == pytest.approx([2.0, (1 + 3 / np.e) ** 0.5, (1 + 3 / np.e**2) ** 0.5, 1.0])
    # organizations of 10 and 30 documents, which count by them; nothing is narrower than they are
    usual = 0.25 * (1 + 3 / np.e) + 0.75 * (1 + 3 / np.e**3)
    factors = stretch_with_few(prior, n, np.array([10, 30]), 2, random_seed=1)
    expected = [(4 / usual) ** 0.5, ((1 + 3 / np.e) / usual) ** 0.5, ((1 + 3 / np.e**2) / usual) ** 0.5, 1.0]
    assert factors[1] == pytest.approx(np.maximum(1, expected))
    example, few = load_example(), MODELS["ratio"].effects["organization"].few
    one = example.organizations.index("new-a")
    organization = np.where(example.pooled, example.organization, one).astype(np.int32)
    shared = replace(example, organization=organization)
    completion = PosteriorEstimator(model="ratio", draws=50).complete(shared, ["new-a", "new-b"])
    (posterior,) = completion.posteriors
    effect = posterior.components[0].effect
    hidden = posterior.components[0].fit.source.evidence.n_hidden_by_organization
    unjudged, seed = unjudged_in_pool_depth(shared), completion.random_seed
    factor = stretch_with_few(few, unjudged, hidden, len(effect), seed)
    assert factor.max() > 1.01
    assert effect[:, 0] / factor[:, 0] == pytest.approx(effect[:, 1] / factor[:, 1])


def unjudged_in_pool_depth(collection: Collection) -> np.ndarray:
    top = collection.document[collection.run_index(["new-a", "new-b"]), :, : collection.pool_depth]
    return np.array([np.sum(~collection.judged[run[run >= 0]]) for run in top])


def test_effects_are_alike_from_rung_to_rung() -> None:
    first = threshold(1e6)
    second = threshold(1e6, 0.8, first)
    third = threshold(1e6, 0.5, second)
    of_thresholds = np.array([new.effects(np.ones(N), ["a"])[:, 0] for new in (first, second, third)])
    expected = [[1, 0.8, 0.4], [0.8, 1, 0.5], [0.4, 0.5, 1]]
    np.testing.assert_allclose(np.corrcoef(of_thresholds), expected, atol=0.03)
    assert np.array_equal(first.t_scale_factor("a"), third.t_scale_factor("a"))
    slopes = np.array([new.slopes(np.ones(N), ("x",), ["a"])[:, 0, 0] for new in (first, second, third)])
    np.testing.assert_allclose(np.corrcoef(slopes), expected, atol=0.03)


def test_densities_are_those_of_scipy() -> None:
    x, y = np.random.default_rng(1).normal(size=(2, 5, 4))
    of_t = (stats.t(3.5).logpdf(x) - stats.norm.logpdf(x)).sum(axis=1)
    np.testing.assert_allclose(_tail_log_ratio(x)(3.5), of_t)
    both = stats.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]]).logpdf(np.stack([x, y], axis=-1))
    of_pairs = (both - stats.norm.logpdf(x) - stats.norm.logpdf(y)).sum(axis=1)
    np.testing.assert_allclose(_correlation_log_ratio(x, y)(0.6), of_pairs)


def known_effects(standard: np.ndarray, n: int = 100) -> dict[str, np.ndarray]:
    """Draws of effects that are known."""
    return {"organization_effect": np.tile(standard, (n, 1)), "sigma_organization": np.ones(n)}


def test_ranks_of_tails_and_correlation_are_uniform() -> None:
    """Simulation-based calibration where the effects of twenty organizations are known."""
    rng, effect = np.random.default_rng(5), Effect("organization")
    names, ranks = tuple("abcdefghijklmnopqrst"), []
    for seed in range(25):
        freedom, correlation = rng.gamma(2, 10), rng.random()
        stretched = rng.standard_t(freedom, size=len(names))
        below = rng.normal(size=len(names))
        here = correlation * below + np.sqrt(1 - correlation**2) * rng.normal(size=len(names))
        first = learn_new_organizations(effect, known_effects(stretched), names, seed, (), None)
        lower = learn_new_organizations(effect, known_effects(below), names, seed, (), None)
        second = learn_new_organizations(effect, known_effects(here[::-1]), names[::-1], seed, (2,), lower)
        ranks.append([(first.freedom < freedom).mean(), (second.correlation < correlation).mean()])
    for of_value in np.transpose(ranks):
        assert stats.kstest(of_value, stats.uniform.cdf).pvalue > 0.01


# Two organizations retrieve letters of the beginning, two of the end; the fifth is nearer to the latter.
RUNS = {"a": "abcdx", "b": "abcey", "p": "pqrst", "q": "pqrsu", "r": "pqklm", "r2": "pqkln", "new": "zabpq"}
ORGANIZATIONS = {"a": "A", "b": "B", "p": "P", "q": "Q", "r": "R", "r2": "R", "new": "new"}


def toy() -> Collection:
    rankings = {run: {"1": documents} for run, documents in RUNS.items()}
    pooled = tuple(run for run in RUNS if run != "new")
    judged = {"1": dict.fromkeys("".join(RUNS[run] for run in pooled), 1)}
    return from_rankings(rankings, judged, ORGANIZATIONS, pooled_run_ids=pooled, pool_depth=5)


def test_kinds_are_organizations_that_retrieve_alike() -> None:
    assert find_kinds(toy(), 2) == (("A", "B"), ("P", "Q", "R"))
    assert find_kinds(toy(), 3) == (("A", "B"), ("P", "Q"), ("R",))
    assert find_kinds(toy(), 9) == (("A",), ("B",), ("P",), ("Q",), ("R",))  # no more than organizations
    assert find_kinds(toy().unpool(list(RUNS)[:-1])) == ()
    with pytest.raises(InputError, match="0 kinds"):
        find_kinds(toy(), 0)


def test_the_number_of_an_organizations_runs_decides_nothing() -> None:
    """An organization that submits its run five times retrieves as alike as one that submits it once."""
    once = {"a": "abcde", "b": "abcfg", "c": "aijkl", "p": "pqabs", "q": "pqrst", "r": "pqklm"}
    for often in once:
        runs = once | {f"{often}{i}": once[often] for i in range(4)}
        rankings = {run: {"1": documents} for run, documents in runs.items()}
        judged = {"1": dict.fromkeys("".join(runs.values()), 1)}
        organizations = {run: run[0].upper() for run in runs}
        collection = from_rankings(rankings, judged, organizations, pooled_run_ids=tuple(runs), pool_depth=5)
        assert find_kinds(collection, 2) == (("A", "B", "C"), ("P", "Q", "R")), often
        assert find_kinds(collection, 3) == (("A", "B"), ("C",), ("P", "Q", "R")), often


def test_what_a_kind_alone_contributed_is_hidden_together() -> None:
    """abc is of both A and B, and hidden only where they are held out together; pq is of three."""

    def hidden(collection: Collection) -> set[str]:
        pair = held_out_documents(collection, cutoff=5)[3]
        return {collection.doc_ids[int(i)].as_py() for i in pair}

    assert hidden(toy()) == set("dxeytuklmn")
    assert hidden(with_kinds(toy(), 2)) == set("abcdxeypqrstuklmn")


def test_judges_favor_organizations_and_not_kinds() -> None:
    """What a judge is found to favor is the same where runs are of kinds."""
    simulation = simulate_example()
    labels = simulate_judge(simulation, quality=2.0, favors="new-a", random_seed=1)
    collection = add_judges(simulation.collection, {"llm": labels})
    kinds = with_kinds(collection)
    favored = favored_organizations(collection, collection.judges[0])
    assert list(favored) == ["new-a"]
    assert favored_organizations(kinds, kinds.judges[0]) == favored


def features(n_relevant: int, n_judged: int, n_ranks: int) -> list[float]:
    n_unjudged = n_ranks - n_judged
    return [
        np.log((n_unjudged + 0.5) / (n_judged + 0.5)),
        np.log((n_relevant + 0.5) / (n_judged - n_relevant + 0.5)),
    ]


RANKINGS = {"a": {"1": "abcde"}, "b": {"1": "abcfg"}, "c": {"1": "abdhi"}, "new": {"1": "abxyz"}}


def near_and_far(**more: dict[str, str]) -> Collection:
    """Three organizations of a run each and one new run, five ranks on one topic; more runs."""
    judged = {"1": dict.fromkeys("bcdefghi", 0) | {"a": 1}}
    pooled = ("a", "b", "c", *more)
    organizations = {run: run[0] for run in (*pooled, "new")}
    return from_rankings(RANKINGS | more, judged, organizations, pooled_run_ids=pooled, pool_depth=5)


def test_distance_and_chance_by_hand() -> None:
    # without a's own e, a has a b c d judged; b has a b c; c has a b d; new has a b
    pool = np.array([features(1, 4, 5), features(1, 3, 5), features(1, 3, 5)])
    off = np.array(features(1, 2, 5)) - pool.mean(axis=0)
    usual = np.array([[1.3**2, -0.5 * 1.3 * 0.5], [-0.5 * 1.3 * 0.5, 0.5**2]])
    covariance = (3 * np.cov(pool.T, bias=True) + 4 * usual) / 7
    square = off @ np.linalg.inv(covariance) @ off
    found = distance_from_pool(near_and_far(), ["new"])
    assert found.distance == pytest.approx([np.sqrt(square)])
    density = [
        stats.multivariate_t(shape=scale * covariance, df=5).pdf(off) for scale in (1 + 1 / 3, 4 + 1 / 3)
    ]
    odds = 6 / 3 * density[1] / density[0]
    assert found.new_kind == pytest.approx([odds / (1 + odds)])


def test_an_organization_counts_once_however_many_runs_it_has() -> None:
    twice = distance_from_pool(near_and_far(c2={"1": "abdhi"}), ["new"])
    assert twice.distance == pytest.approx(distance_from_pool(near_and_far(), ["new"]).distance)


def test_without_a_pool_nothing_is_said_and_one_organization_is_enough() -> None:
    found = distance_from_pool(near_and_far().unpool(["a", "b", "c"]), ["new", "a"])
    assert np.isnan(found.distance).all()
    assert found.new_kind.tolist() == [0, 0]
    found = distance_from_pool(near_and_far().unpool(["b", "c"]), ["new", "b"])
    assert np.isfinite(found.distance).all()
    assert ((found.new_kind > 0) & (found.new_kind < 1)).all()


def test_small_pools_are_expected_to_lack_kinds() -> None:
    """At the same, small distance; nobody is called unlike the pool for that."""
    for n_organizations, likely in ((2, True), (20, False)):
        settings = SimulationSettings(n_organizations=n_organizations, max_runs=1)
        simulation = simulate(settings, random_seed=1)
        found = distance_from_pool(simulation.collection, simulation.new_run_ids)
        near = found.distance < 1.5
        assert near.any()
        assert ((found.new_kind[near] > 0.4) == likely).all(), n_organizations
        assert not found.is_far(np.ones(len(near)))[near].any()


def test_a_run_of_which_next_to_nothing_is_unjudged_is_not_called_unlike_the_pool() -> None:
    found = PoolDistance(np.array([4.6] * 3), np.array([0.93] * 3))
    assert found.is_far(np.array([0.006, 0.049, 0.06])).tolist() == [False, False, True]


def test_as_hidden_documents_and_as_judged_ones() -> None:
    # a alone has c (relevant), b alone d and e (not): a third of hidden documents is relevant
    rankings = {"a": {"1": "pqc"}, "b": {"1": "pdeq"}, "new": {"1": "pqxy"}}
    judged = {"1": {"p": 1, "q": 0, "c": 1, "d": 0, "e": 0}}
    collection = from_rankings(rankings, judged, pooled_run_ids=("a", "b"), pool_depth=4)
    as_pool, as_run = sensitivity(collection, ["new"], parse_measure("P@4"))
    assert as_pool == pytest.approx([(1 + 2 / 3) / 4])
    assert as_run == pytest.approx([(1 + 2 * 0.5) / 4])  # one of two judged documents is relevant

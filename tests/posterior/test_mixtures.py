"""Runs of a new kind: who is, in which draws, and what that leaves alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from completed import completed
from graded_example import graded_completion
from scipy.special import expit
from scipy.stats import binomtest

from bayespool import load_example, parse_measure
from bayespool.collection import qrels_from_frame
from bayespool.experiments import SimulationSettings, simulate
from bayespool.posterior import Completion, NewKind, PosteriorEstimator, RungPosterior, distance_from_pool
from bayespool.posterior.mixtures import OF_KINDS, HeldOutTotals
from bayespool.posterior.steps import HeldOut


def of_kinds(usual: float, new: float, chance: tuple[float, float], n_draws: int = 4000) -> Completion:
    """Runs ``one`` and ``two`` with made-up log odds, and others where they are of a new kind."""
    one, other = completed(usual, n_draws), completed(new, n_draws)
    (posterior,), (of_new,) = one.posteriors, other.posteriors
    order = (np.random.default_rng(1).permutation(n_draws) + 0.5) / n_draws
    posteriors = (
        RungPosterior(posterior.rung, posterior.mixture, NewKind(of_new.mixture, np.array(chance), order)),
    )
    return dataclasses.replace(one, posteriors=posteriors)


@cache
def example_completion(model: str = "combined", draws: int = 100) -> Completion:
    return PosteriorEstimator(model=model, draws=draws).complete(load_example(), measures="P@10")


def test_another_seed_is_another_fit() -> None:
    """Else nobody would see how far draws of parameters are off by chance."""

    def means(random_seed: int) -> bytes:
        posterior = PosteriorEstimator(model="background", draws=50, random_seed=random_seed)
        (component,) = posterior.complete(load_example(), "new-a").posteriors[0].components
        return component.fit.draws()["mu"].tobytes()

    assert means(1) == means(1) != means(2)


def test_documents_are_drawn_from_both_in_proportion() -> None:
    found = of_kinds(-1.0, 1.5, (0.3, 0.3))
    block = np.hstack([found.block(0), found.block(1)])
    expected = 0.7 * expit(-1.0) + 0.3 * expit(1.5)
    assert binomtest(int(block.sum()), block.size, expected).pvalue > 1e-3


def test_all_documents_of_a_run_are_of_one_kind_in_a_draw() -> None:
    """With certain documents a run has all of them or none, and the likelier of a new kind is one first."""
    found = of_kinds(-30.0, 30.0, (0.2, 0.6))
    alone = {run: found.unknowns.run == r for r, run in enumerate(found.unknowns.run_ids)}
    block = np.hstack([found.block(0), found.block(1)])
    for run, share in (("one", 0.2), ("two", 0.6)):
        drawn = block[:, alone[run]]
        assert (drawn.all(axis=1) | ~drawn.any(axis=1)).all()
        assert drawn[:, 0].mean() == pytest.approx(share, abs=1e-3)
    assert (block[:, alone["two"]][:, 0] >= block[:, alone["one"]][:, 0]).all()


def test_expected_relevance_is_that_of_the_kind() -> None:
    """Chances of 0 and 1 are one mixture."""
    usual, new = completed(-0.4), completed(0.9)
    for chance, same in (((0.0, 0.0), usual), ((1.0, 1.0), new)):
        assert np.array_equal(of_kinds(-0.4, 0.9, chance, 2000).block(0), same.block(0))
    found = of_kinds(-1.0, 1.5, (0.3, 0.3))
    mean, variance = found.expected(0, np.array([0.0, 1.0]))
    is_new = found.posteriors[0].new_kind.is_new(np.arange(4000))[:, 0]
    assert mean[is_new] == pytest.approx(expit(1.5))
    assert mean[~is_new] == pytest.approx(expit(-1.0))
    assert variance[is_new] == pytest.approx(expit(1.5) * (1 - expit(1.5)))


def test_judgments_tell_of_which_kind_a_run_is() -> None:
    """By Bayes' rule: relevant documents are likelier of a new kind here."""
    found = of_kinds(-1.0, 1.5, (0.3, 0.3))
    told = found.observe(qrels_from_frame({"1": {"q": 1, "r": 1}}))
    new, usual = 0.3 * expit(1.5) ** 2, 0.7 * expit(-1.0) ** 2
    kind = told.posteriors[0].new_kind
    assert kind.is_new(np.arange(4000))[:, 0].mean() == pytest.approx(new / (new + usual), abs=0.01)


@pytest.mark.slow
def test_shares_are_those_of_the_draws_and_have_names() -> None:
    posterior = of_kinds(0.0, 1.0, (0.25, 0.5)).posteriors[0]
    assert posterior.names == ("made up", "made up, new kind")
    assert posterior.shares == pytest.approx([1 - 0.375, 0.375], abs=1e-3)
    found = example_completion(draws=250)
    assert sum(found.weights.values()) == pytest.approx(1)
    (posterior,) = found.posteriors
    assert list(found.weights) == list(posterior.names)
    assert [found.weights[name] for name in posterior.names] == pytest.approx(posterior.shares, abs=0.01)


def test_only_the_combined_estimator_asks() -> None:
    """Whether runs are of a new kind, and whether the pool's organizations are held; the example's are."""
    found, single = example_completion(), example_completion("ratio")
    expected = distance_from_pool(load_example(), found.unknowns.run_ids)
    assert found.distance.new_kind.tolist() == expected.new_kind.tolist()
    assert (single.distance, single.posteriors[0].new_kind) == (None, None)
    assert found.diagnostics.n_held_out == 8
    assert found.diagnostics.held_out > 0.8
    assert np.isnan(single.diagnostics.held_out)


def test_the_other_part_is_what_it_is_without_kinds() -> None:
    """Draws in which no run is of a new kind are to the bit those of organizations held out alone."""
    found = example_completion()
    (posterior,) = found.posteriors
    alone = dataclasses.replace(found, posteriors=(RungPosterior(posterior.rung, posterior.mixture),))
    usual = ~posterior.new_kind.is_new(np.arange(found.n_draws)).any(axis=1)
    assert 0.5 < usual.mean() < 0.9
    for topic in range(3):
        assert np.array_equal(found.block(topic)[usual], alone.block(topic)[usual])


def test_pooled_runs_are_never_of_a_new_kind() -> None:
    found = PosteriorEstimator(draws=10).complete(load_example(), ["north-1", "south-1"], "P@20")
    assert np.isfinite(found.distance.distance).all()
    assert found.distance.new_kind.tolist() == [0, 0]
    assert all(posterior.new_kind is None for posterior in found.posteriors)


@pytest.mark.slow
def test_one_run_is_worth_the_same_beside_others() -> None:
    """They share documents. What a new kind adds they share, too, so that intervals stay as wide."""
    settings = SimulationSettings(
        n_organizations=6, n_new=4, kind_strength=1.0, kind_taste=1.0, new_kind=True
    )
    simulation = simulate(settings, random_seed=5)
    alone, together = (
        PosteriorEstimator(draws=250, together=at_once).estimate(
            simulation.collection, simulation.new_run_ids, "P@10"
        )[0]
        for at_once in (False, True)
    )
    assert alone.new_kind.tolist() == together.new_kind.tolist()
    assert together.value == pytest.approx(alone.value, abs=0.05)
    widths = [np.subtract(*found.interval()[::-1]) for found in (alone, together)]
    assert widths[1] == pytest.approx(widths[0], rel=0.35)


@pytest.mark.slow
def test_own_judgments_do_not_end_the_doubt() -> None:
    """One judgment tells little of a run's kind: the chance of a new one hardly moves."""
    example = load_example()
    (without,) = distance_from_pool(example, ["new-a"]).new_kind
    completion = example_completion()
    pair = int(completion.unknowns.pair[completion.unknowns.run == 0][0])
    query_id = example.query_ids[example.pair_topic[pair]]
    own = example.add_judgments(qrels_from_frame({query_id: {example.doc_ids[pair].as_py(): 1}}))
    (found,) = PosteriorEstimator(draws=100).estimate(own, ["new-a"], "P@10")
    assert found.new_kind[0] == pytest.approx(without, abs=0.05)


@pytest.mark.slow
def test_a_run_is_of_one_kind_on_all_rungs() -> None:
    first, *others = (posterior.new_kind for posterior in graded_completion().posteriors)
    assert len(others) == 2
    for other in others:
        assert np.array_equal(first.order, other.order)


@pytest.mark.slow
def test_kinds_have_priors_of_their_own_unless_others_are_given() -> None:
    (posterior,) = example_completion().posteriors
    of_new = posterior.new_kind.mixture.components[0].fit.source
    for name, prior in OF_KINDS.items():
        assert str(of_new.spec.effects[name.removeprefix("sigma_")].scale) == prior
    given = PosteriorEstimator(draws=50, priors={"sigma_slope": "HalfNormal(0.1)"}).complete(load_example())
    kinds = given.posteriors[0].new_kind
    source = kinds.mixture.components[0].fit.source
    assert str(source.spec.effects["slope"].scale) == "HalfNormal(0.1)"


@pytest.mark.slow
def test_a_far_run_is_told_so_with_what_hangs_on_it() -> None:
    settings = SimulationSettings(
        n_organizations=10, n_kinds=2, kind_taste=0.5, kind_strength=2.0, new_kind=True
    )
    simulation = simulate(settings, random_seed=7)
    (found,) = PosteriorEstimator(draws=150).estimate(simulation.collection, simulation.new_run_ids, "P@10")
    assert (found.new_kind > 0.8).all()
    for note, chance in zip(found.notes, found.new_kind, strict=True):
        assert ("unlike the pool (distance" in note) == (chance > 0.5)
    frame = found.summary_frame()
    assert frame["new_kind"].tolist() == found.new_kind.tolist()


@pytest.mark.slow
def test_intervals_hold_for_runs_of_the_pools_kinds_and_of_new_ones(
    repetitions: Callable[[int, int], int],
) -> None:
    """Simulated collections of three kinds; new runs of one of them, or all of a fourth."""
    for new_kind, least in ((False, 0.9), (True, 0.9)):
        held, widths = [], []
        for seed in range(repetitions(16, 6)):
            settings = SimulationSettings(
                n_organizations=12, max_runs=2, n_new=3, n_kinds=3, kind_taste=1.0, kind_strength=0.5,
                new_kind=new_kind,
            )  # fmt: skip
            simulation = simulate(settings, random_seed=seed)
            truth = np.array(list(simulation.true_values("P@10").values()))
            (found,) = PosteriorEstimator(draws=500).estimate(
                simulation.collection, simulation.new_run_ids, "P@10"
            )
            lower, upper = found.interval()
            held += ((lower <= truth) & (truth <= upper)).tolist()
            widths.append(float((upper - lower).mean()))
        assert np.mean(held) >= least
        assert np.mean(widths) < 0.15


# Organizations held out. By hand: of three runs, the last two of one organization, models give these chances
# of as few and of as many relevant documents; with shares 3/4 and 1/4 they are .5, .02, .9 and .6, .99, .01.
AT_MOST = np.array([[0.6, 0.2], [0.02, 0.02], [0.95, 0.75]])
AT_LEAST = np.array([[0.5, 0.9], [0.99, 0.99], [0.01, 0.01]])


def test_organizations_are_held_where_neither_tail_is_short() -> None:
    totals = HeldOutTotals(np.zeros((3, 2)), AT_MOST, AT_LEAST, np.array([1, 0.5, 0.5]))
    assert totals.held((0.75, 0.25)) == HeldOut(0.5, 2)
    assert totals.held((0.75, 0.25), prob=0.98).share == 0.75  # P(as few) is .02, more than .01
    assert HeldOutTotals(*np.empty((3, 0, 2)), np.empty(0)).held((0.5, 0.5)).n_organizations == 0
    # P(at most 11 of 15) is .0006 and P(at most 12 of 15) .036 for a chance of .95
    assert HeldOut(11 / 15, 15).is_bad
    assert not HeldOut(12 / 15, 15).is_bad
    assert not HeldOut().is_bad


def test_a_pool_whose_organizations_are_not_held_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeldOutTotals, "held", lambda *given: HeldOut(0.5, 8))
    (found,) = PosteriorEstimator(draws=25).estimate(load_example(), ["new-b"], parse_measure("P@10"))
    assert "95 % intervals hold only 4 of the pool's 8 organizations" in found.notes[0]

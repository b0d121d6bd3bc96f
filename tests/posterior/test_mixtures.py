"""Runs of a new kind: who is, in which draws, and what that leaves alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from completed import completed
from scipy.special import expit

from bayespool import load_example, parse_measure
from bayespool.collection import qrels_from_frame
from bayespool.experiments import SimulationSettings, simulate
from bayespool.posterior import Completion, NewKind, PosteriorEstimator, RungPosterior
from bayespool.posterior.mixtures import HeldOutTotals
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


def test_another_seed_is_another_fit() -> None:
    """Else nobody would see how far draws of parameters are off by chance."""

    def means(random_seed: int) -> bytes:
        posterior = PosteriorEstimator(model="background", draws=50, random_seed=random_seed)
        (component,) = posterior.complete(load_example(), "new-a").posteriors[0].components
        return component.fit.draws()["mu"].tobytes()

    assert means(1) == means(1) != means(2)


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
def test_intervals_hold_for_runs_of_the_pools_kinds_and_of_new_ones(
    repetitions: Callable[[int, int], int],
) -> None:
    """Simulated collections of three kinds; new runs of one of them, or all of a fourth."""
    for new_kind in (False, True):
        held, widths = [], []
        for seed in range(repetitions(16, 6)):
            kinds = {"n_kinds": 3, "kind_taste": 1.0, "kind_strength": 0.5, "new_kind": new_kind}
            made = simulate(
                SimulationSettings(n_organizations=12, max_runs=2, n_new=3, **kinds), random_seed=seed
            )
            truth = np.array(list(made.true_values("P@10").values()))
            (found,) = PosteriorEstimator(draws=500).estimate(made.collection, made.new_run_ids, "P@10")
            lower, upper = found.interval()
            held += ((lower <= truth) & (truth <= upper)).tolist()
            widths.append(float((upper - lower).mean()))
        assert np.mean(held) >= 0.9
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

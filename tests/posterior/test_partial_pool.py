"""How documents came to be judged: at random, or by what they are; and runs of a new kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from completed import completed
from scipy.special import expit
from unexplained import with_found

from bayespool import parse_measure, read_collection, score
from bayespool.collection import Collection
from bayespool.collection.contents import OwnJudgments
from bayespool.evidence import PREDICTORS
from bayespool.experiments import SimulationSettings, load_example, simulate
from bayespool.models.registry import LOTS
from bayespool.posterior import Completion, NewKind, PosteriorEstimator, ThresholdPosterior
from bayespool.posterior.lots import attribute_sample, draw_topic_chances, find_lots
from bayespool.posterior.mixtures import HeldOut, HeldOutTotals
from bayespool.posterior.partial_pool import find_unexplained
from bayespool.reading import qrels_from_frame

pytestmark = pytest.mark.filterwarnings("ignore::bayespool.errors.NoPoolWarning")

N_TOPICS, DEPTH = 12, 20
POSTERIOR = PosteriorEstimator(draws=500, chains=2)


def sampled(
    share_relevant: float,
    *,
    known: bool = True,
    n_more: int = 0,
    seed: int = 1,
    beside: Mapping[str, Any] | None = None,
) -> Collection:
    """Runs of ``DEPTH`` documents per topic, half of which are judged, and listed ones that no run has."""
    rng, run, judged = np.random.default_rng(seed), dict[str, Any](), dict[str, Any]()
    for t in range(N_TOPICS):
        documents = [f"d{i:02d}" for i in range(DEPTH + n_more)]
        relevance = (rng.random(len(documents)) < share_relevant).astype(int)
        lot = rng.permutation(len(documents)) % 2 == 0
        run[f"q{t:02d}"] = {d: float(-i) for i, d in enumerate(documents[:DEPTH])}
        judged[f"q{t:02d}"] = dict(zip(documents, np.where(lot, relevance, -1).tolist(), strict=True))
    judged["q00"]["d00"] = 1  # so that there is a relevant document
    qrels = qrels_from_frame(judged)
    return read_collection(qrels, {"r": run, **(beside or {})}, negative="sampled" if known else "listed")


def test_relevant_documents_that_no_run_finds_count_for_ideal_rankings() -> None:
    """Half of 40 documents on each topic are relevant, of which the run finds half: recall is a half, too."""
    collection = sampled(0.5, n_more=DEPTH)
    (found,), (unknown,) = (
        POSTERIOR.estimate(c, "r", "R@20") for c in (collection, sampled(0.5, known=False, n_more=DEPTH))
    )
    assert found.value[0] == pytest.approx(0.5, abs=0.06)
    assert unknown.value[0] > found.value[0] + 0.04
    completion = POSTERIOR.complete(collection, "r", "R@20")
    assert completion.lots.n_elsewhere.sum(axis=(0, 2)).mean() == pytest.approx(N_TOPICS * DEPTH / 4, rel=0.2)


def test_what_could_not_be_sampled_is_not_completed_by_the_sample() -> None:
    collection = sampled(0.5)
    by_lot = find_lots(collection)
    assert by_lot.tolist() == (collection.relevance < 0).tolist()
    gone = np.arange(len(by_lot)) % 3 == 0
    less = find_lots(collection.without_judgments(gone))
    assert less.tolist() == (by_lot & ~gone).tolist()
    evidence = attribute_sample(collection, ("r",), 30)
    assert (evidence.attributed_run >= 0).tolist() == collection.judged.tolist()
    assert not find_lots(sampled(0.5, known=False)).any()


@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")
def test_documents_have_the_effects_of_all_runs_that_retrieve_them() -> None:
    """Run r has all documents in order, s four: by rank at any depth, and alike in the top 10."""
    order = ["d05", "d15", "d03", "d16"]
    ranking = {d: -float(i) for i, d in enumerate(order)}
    collection = sampled(0.5, beside={"s": {f"q{t:02d}": ranking for t in range(N_TOPICS)}})
    completion = POSTERIOR.complete(collection, ("r", "s"), "P@10")
    lots, draws = completion.lots, np.arange(completion.n_draws)
    component = lots.posteriors[0].components[0]
    effect = component.fit.draws()["organization_effect"].T
    evidence = component.fit.source.evidence

    def weights_of(name: str) -> Any:
        ranks = np.array([int(name[1:]) + 1, order.index(name) + 1 if name in order else np.inf])
        return np.append(np.sqrt(1 / ranks / (1 / ranks).sum()), (ranks <= 10) / 7)

    assert evidence.organizations == ("r", "s", "r, top 10", "s, top 10")
    assert (effect.std(axis=1) > 0.1).all()
    n_shared = 0
    for topic in range(N_TOPICS):
        documents, names = completion.unknowns.on_topic(topic), completion.unknowns.doc_ids(topic)
        odds = lots.log_odds(0, topic, documents, draws) - component.log_odds(draws, topic, documents)
        for name, found in zip(names, odds.T, strict=True):
            assert found == pytest.approx(weights_of(name) @ effect)
            n_shared += name in order
    assert n_shared > 5
    assert {tuple(row) for row in evidence.company.round(9)} <= {
        tuple(weights_of(f"d{i:02d}").round(9)) for i in range(DEPTH)
    }


@pytest.mark.filterwarnings("ignore::bayespool.errors.DiagnosticsWarning")
def test_observed_judgments_and_levels_go_through() -> None:
    collection = sampled(0.5)
    completion = POSTERIOR.complete(collection, "r", "P@20")
    documents = completion.unknowns.doc_ids(0)
    seen = completion.observe(qrels_from_frame({"q00": dict.fromkeys(documents, 1)}))
    assert (seen.block(0) == 1).all()
    assert len(seen.lots.posteriors[0].mixture.source) == completion.n_draws
    assert set(completion.fits) >= {"lots"}
    one, again = (
        score(collection, "r", ["AP@20", "nDCG@10"], posterior_settings="draws=50, chains=2")
        for _ in range(2)
    )
    assert one.to_frame().equals(again.to_frame())


def test_chances_of_topics() -> None:
    """With many documents they are shares; with few they are drawn to those of other topics."""
    assert set(LOTS.predictors) <= set(PREDICTORS)
    n = np.array([1000, 1000, 1000, 1000, 0])
    chances = draw_topic_chances(np.array([200, 210, 190, 200, 0]), n, 4000, np.random.default_rng(1))
    assert chances.shape == (5, 4000)
    assert chances.mean(axis=1) == pytest.approx([0.2] * 5, abs=0.03)
    assert chances[0].std() < chances[4].std()


def of_kinds(usual: float, new: float, chance: tuple[float, float], n_draws: int = 4000) -> Completion:
    """Runs ``one`` and ``two`` with made-up log odds, and others where they are of a new kind."""
    one, other = completed(usual, n_draws), completed(new, n_draws)
    (posterior,), (of_new,) = one.posteriors, other.posteriors
    order = (np.random.default_rng(1).permutation(n_draws) + 0.5) / n_draws
    posteriors = (
        ThresholdPosterior(
            posterior.threshold, posterior.mixture, NewKind(of_new.mixture, np.array(chance), order)
        ),
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
    """Probabilities of 0 and 1 are one mixture."""
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
    assert totals.coverage((0.75, 0.25)) == HeldOut(0.5, 2)
    assert totals.coverage((0.75, 0.25), prob=0.98).share == 0.75  # P(as few) is .02, more than .01
    assert HeldOutTotals(*np.empty((3, 0, 2)), np.empty(0)).coverage((0.5, 0.5)).n_organizations == 0
    thirds = np.array([1, *[1 / 2] * 2, *[1 / 3] * 3, *[1 / 4] * 4])  # whose sum is just below 4
    assert HeldOutTotals(*np.ones((3, 10, 1)), thirds).coverage((1.0,)) == HeldOut(1.0, 4)
    # P(at most 11 of 15) is .0006 and P(at most 12 of 15) .036 for a chance of .95
    assert HeldOut(11 / 15, 15).is_bad
    assert not HeldOut(12 / 15, 15).is_bad
    assert not HeldOut().is_bad


def test_a_pool_whose_organizations_are_not_held_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeldOutTotals, "coverage", lambda *given: HeldOut(0.5, 8))
    (found,) = PosteriorEstimator(draws=25).estimate(load_example(), ["new-b"], parse_measure("P@10"))
    assert "95 % intervals contain only 4 of the pool's 8 organizations" in "; ".join(found.notes[0])


def test_a_shift_is_drawn_where_the_pool_explains_a_part_of_the_judgments() -> None:
    """With a share e explained log odds are lower by Normal(.2, .3) times −log e."""
    collection = with_found(0.5, 0.5)
    share = (collection.judged & collection.in_pool()).sum() / collection.judged.sum()
    estimator = PosteriorEstimator(model="ratio", draws=2000, chains=2)
    shifted, plain = (
        dataclasses.replace(estimator, shift=shift).complete(collection, "new-b") for shift in (None, 0.0)
    )
    (with_shift,), (without,) = (c.posteriors[0].mixture.components for c in (shifted, plain))
    shift = (with_shift.effect - without.effect)[:, 0]
    assert shift.mean() / np.log(share) == pytest.approx(0.2, abs=0.02)
    assert shift.std() / -np.log(share) == pytest.approx(0.3, rel=0.05)
    one, other = (
        dataclasses.replace(estimator, shift=shift).estimate(collection, "new-b", parse_measure("P@10"))[0]
        for shift in (None, 0.0)
    )
    assert one.value[0] < other.value[0]


def test_a_pool_that_explains_what_the_run_retrieves_has_no_shift() -> None:
    """Fewer than ten unexplained documents in the run's top, or none."""
    example, found = load_example(), with_found(0.5, 0.5)
    top = np.unique(found.document[found.run_index("new-b"), :, :10])
    inside = np.isin(np.arange(len(found.relevance)), top)
    kept = np.flatnonzero(find_unexplained(found) & inside)[:9]
    rest = inside & find_unexplained(found) & ~np.isin(np.arange(len(inside)), kept)
    assert rest.any()
    for collection in (example, found.without_judgments(rest)):
        (learned,), (plain,) = (
            PosteriorEstimator(model="ratio", draws=100, shift=shift).estimate(collection, "new-b", "P@10")
            for shift in (None, 0.0)
        )
        assert learned.value[0] == plain.value[0]


def test_a_run_has_a_shift_by_its_own_top_down_to_the_pool_depth() -> None:
    """Runs beside it show nothing of it, nor what is judged below the depth of the pool."""
    found = with_found(0.5, 0.5)
    shallow = found.with_pool(found.pooled, 5)

    def without(collection: Collection, depth: int) -> Collection:
        top = np.unique(collection.document[collection.run_index(["new-b"]), :, :depth])
        inside = np.isin(np.arange(len(collection.relevance)), top)
        return collection.without_judgments(inside & find_unexplained(collection))

    of_other, below = without(found, 10), without(shallow, 5)
    estimator = PosteriorEstimator(model="ratio", draws=50)

    def shifts(collection: Collection, *runs: str) -> list[bool]:
        shifted, plain = (
            dataclasses.replace(estimator, shift=shift).complete(collection, runs) for shift in (None, 0.0)
        )
        (one,), (other,) = (c.posteriors[0].mixture.components for c in (shifted, plain))
        return (one.effect != other.effect).any(axis=0).tolist()

    assert shifts(found, "new-a", "new-b") == [True, True]
    assert shifts(of_other, "new-a", "new-b") == [True, False]
    assert shifts(of_other, "new-b") == [False]
    assert shifts(shallow, "new-b") == [True]
    assert shifts(below, "new-b") == [False]
    places = below.document[below.run_index(["new-b"]), :, 5:10]
    assert find_unexplained(below)[places].sum() > 20


def test_judgments_of_ones_own_are_none_of_unknown_runs() -> None:
    collection = with_found(0.4, 0.4)
    outside = collection.judged & ~collection.in_pool()
    assert (find_unexplained(collection) == outside).all()
    own = OwnJudgments(np.where(outside, collection.relevance, np.int16(-1)), outside)
    assert not find_unexplained(dataclasses.replace(collection, own=own)).any()

"""Posterior estimators: what they give, below the pool, too."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fits import TARGETS, compile_once
from scipy import stats
from scipy.special import expit
from toys import EDGE_CASES, from_rankings

from bayespool import complete
from bayespool.collection import Collection
from bayespool.collection.contents import DepthPool
from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.evidence import judgment_counts
from bayespool.evidence.held_out import held_out_documents
from bayespool.experiments import load_example
from bayespool.experiments.simulation import simulate_example
from bayespool.inference import NUTS
from bayespool.measures import Estimates, parse_measure
from bayespool.models.spec import BELOW_POOL_PRIORS
from bayespool.pooling.pools import with_strategy_pool
from bayespool.posterior import Completion, PosteriorEstimator, ScoringProblem
from bayespool.posterior.distance import slope_within_rankings
from bayespool.posterior.preparation import PreparedModel
from bayespool.posterior.work import keep_work

every_engine = pytest.mark.parametrize("engine", ["laplace", pytest.param("nuts", marks=pytest.mark.slow)])


@pytest.fixture(autouse=True)
def _each_model_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NUTS, "compile", compile_once)


def quick(model: str = "background", engine: str = "laplace", **settings: Any) -> PosteriorEstimator:
    """Few draws, for what holds draw by draw."""
    return PosteriorEstimator(model=model, engine=engine, draws=60, tune=60, chains=2, **settings)


def estimate(estimator: PosteriorEstimator, collection: Collection, *arguments: Any) -> tuple[Estimates, ...]:
    """Estimates whose fit need not pass its checks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosticsWarning)
        return estimator.estimate(collection, *arguments)


N_HIDDEN = 10


def one_topic_one_organization(n_relevant: int) -> Collection:
    """All that is known: so many of ten hidden documents are relevant. The new run has ten unjudged ones."""
    judged = {d: int(i < n_relevant) for i, d in enumerate("abcdefghij")}
    return from_rankings(
        {"pooled": {"1": "abcdefghij"}, "new": {"1": "klmnopqrst"}},
        {"1": judged},
        {"pooled": "known", "new": "unknown"},
        pooled_run_ids=("pooled",),
        pool_depth=N_HIDDEN,
    )


# With one topic and one organization there are no effects; the logistic prior of the logit makes E uniform on
# (0, 1); an organization that all but equals the others leaves E to the new run.
CONJUGATE = {"mu": "Logistic(0, 1)", "sigma_organization": "HalfNormal(1e-6)"}


@pytest.mark.slow
def test_background_is_the_beta_binomial_where_it_reduces_to_it() -> None:
    n_relevant = 1
    estimator = PosteriorEstimator(
        model="background", engine="nuts", priors=CONJUGATE, draws=4000, target_accept=0.97
    )
    (estimates,) = estimator.estimate(one_topic_one_organization(n_relevant), "new", "P@10")
    assert estimates.diagnostics.passed
    n_effective = estimates.diagnostics.min_ess_bulk
    exact = stats.beta(1 + n_relevant, 1 + N_HIDDEN - n_relevant)
    chance = expit(estimates.posterior["posterior"]["mu"].to_numpy().ravel())
    error = exact.std() / np.sqrt(n_effective)
    assert chance.mean() == pytest.approx(exact.mean(), abs=4 * error)
    # the standard error of a standard deviation is less than that of the mean for these shapes
    assert chance.std() == pytest.approx(exact.std(), abs=4 * error)
    n_tail = estimates.diagnostics.min_ess_tail
    for q in (0.025, 0.25, 0.5, 0.75, 0.975):
        share = (chance <= exact.ppf(q)).mean()
        assert share == pytest.approx(q, abs=4 * np.sqrt(q * (1 - q) / n_tail)), q
    # P@10 of the run is the share of its ten unjudged documents that are relevant
    predictive = stats.betabinom(10, 1 + n_relevant, 1 + N_HIDDEN - n_relevant)
    drawn = estimates.draws.amount[:, 0, 0]
    for count in range(11):
        mass = predictive.pmf(count)
        error = 4 * np.sqrt(mass * (1 - mass) / n_tail)
        assert (drawn == count).mean() == pytest.approx(mass, abs=error), count
    assert estimates.value[0] == pytest.approx(exact.mean(), abs=4 * predictive.std() / 10 / np.sqrt(n_tail))
    assert estimates.std[0] == pytest.approx(predictive.std() / 10, rel=0.05)


def assert_sound(estimates: Estimates, collection: Collection, estimand: str = "complete") -> None:
    """What holds of every posterior of a precision."""
    measure = estimates.measure
    counts = judgment_counts(
        collection, estimates.run_ids, cutoffs=measure.cutoff, rel=measure.rel, estimand=estimand
    )
    n_relevant, n_unjudged = counts.n_relevant[:, :, 0], counts.n_unjudged[:, :, 0]
    assert estimates.draws.unit == measure.unit
    draws = estimates.draws.amount
    assert draws.dtype == np.int32
    assert draws.shape[1:] == n_relevant.shape
    assert (draws >= n_relevant).all()
    assert (draws <= n_relevant + n_unjudged).all()
    assert (draws == n_relevant)[:, n_unjudged == 0].all()
    assert estimates.per_topic == pytest.approx(draws.mean(axis=0) / measure.cutoff, abs=1e-12)
    assert estimates.value == pytest.approx(estimates.per_topic.mean(axis=1), abs=1e-12)
    scores = draws.mean(axis=2) / measure.cutoff
    assert estimates.std == pytest.approx(scores.std(axis=0), abs=1e-12)
    low, high = estimates.interval(0.95)
    assert (counts.lower[:, :, 0].mean(axis=1) - 1e-12 <= low).all()
    # the mean of what is nearly always the same may lie outside the central 95 %, not outside the draws
    assert (low <= np.median(scores, axis=0) + 1e-12).all()
    assert (np.median(scores, axis=0) <= high + 1e-12).all()
    assert (scores.min(axis=0) - 1e-12 <= estimates.value).all()
    assert (estimates.value <= scores.max(axis=0) + 1e-12).all()
    assert (high <= counts.upper[:, :, 0].mean(axis=1) + 1e-12).all()
    assert estimates.fingerprint == collection.fingerprint
    assert estimates.query_ids == collection.query_ids


# The background model has all cases, the dearer ones those in which they are not nearly another's.
CASES = {
    "background": tuple(EDGE_CASES),
    "interpolated": ("no pool", "one document", "missing topic", "shared with an organization"),
    "smoothed": ("nothing judged", "no pool"),
    "combined": ("nothing judged", "no pool", "only pooled run", "missing topic"),
}


@pytest.mark.parametrize("model", CASES)
def test_edge_cases_stay_within_their_bounds(model: str) -> None:
    # a cutoff more is a fit more
    measures = ["P@1", "P@5", "P(rel=2)@5"] if model == "background" else "P@5"
    for case in CASES[model]:
        collection, run = EDGE_CASES[case]()
        for estimates in estimate(quick(model), collection, run, measures):
            assert estimates.estimator == f"posterior-{model}", case
            assert estimates.run_ids == (run,), case
            assert len(estimates.draws.amount) == 120, case
            assert_sound(estimates, collection)


@pytest.mark.own_fits
@every_engine
def test_same_seed_gives_the_same_draws(engine: str) -> None:
    one, again, other = (
        estimate(quick("background", engine, random_seed=seed), load_example(), "new-b")[0].draws.amount
        for seed in (5, 5, 6)
    )
    assert one.tobytes() == again.tobytes()
    assert not np.array_equal(one, other)


def test_nothing_below_the_pool_is_imputed_for_the_pooled_estimand() -> None:
    example = load_example()
    assert example.pool_depth == 10
    measure = parse_measure("P@15")
    pooled, complete = (
        estimate(quick(estimand=estimand), example, TARGETS, measure)[0]
        for estimand in ("pooled", "complete")
    )
    assert_sound(pooled, example, "pooled")
    assert_sound(complete, example, "complete")
    top_ten = judgment_counts(example, TARGETS, cutoffs=10)
    shallow = judgment_counts(example, TARGETS, cutoffs=15, estimand="pooled")
    assert np.array_equal(shallow.n_unjudged[:, :, 0], top_ten.n_unjudged[:, :, 0])
    assert (complete.value > pooled.value).all()
    assert (complete.draws.amount.max(axis=0) > (shallow.n_relevant + shallow.n_unjudged)[:, :, 0]).any()


def without_pool(collection: Collection) -> Collection:
    nobody = np.zeros(len(collection.run_ids), dtype=bool)
    return collection.with_pool(nobody, 0)


def test_prior_is_taken() -> None:
    collection = without_pool(load_example())
    counts = judgment_counts(collection, TARGETS, cutoffs=10)
    for mu, bound in ((-6, counts.lower), (6, counts.upper)):
        (found,) = estimate(quick(priors={"mu": f"Normal({mu}, 0.1)"}), collection, TARGETS)
        assert found.value == pytest.approx(bound[:, :, 0].mean(axis=1), abs=0.02)


def test_priors_that_cannot_be_are_refused() -> None:
    for model, name, prior, words in (
        ("background", "c", "Beta(1, 1)", "no prior 'c'; it has mu, sigma_topic"),
        ("interpolated", "mu", "Normal(0, 1)", "model interpolated has no prior 'mu'"),
        ("background", "mu", "Normal", "'Normal' is not a distribution"),
        ("background", "mu", 3, "a prior is a text, not int"),
        ("background", "mu", "Normal(0, -1)", "not a density"),
        ("background", "mu", "Normal(1)", "not a density"),
        ("background", "mu", "Logistic(0, 0)", "not a density"),
        ("background", "sigma_topic", "HalfNormal(-1)", "not a density"),
        ("background", "sigma_organization", "Exponential(0)", "not a density"),
        ("interpolated", "c", "Beta(0, 1)", "not a density"),
    ):
        for engine in ("laplace", "nuts") if "prior '" in words else ("laplace",):
            with pytest.raises(InputError, match=words):
                quick(model, engine, priors={name: prior}).estimate(load_example(), TARGETS)
    with pytest.raises(InputError, match="the laplace engine takes HalfNormal or Exponential"):
        quick(priors={"sigma_organization": "Gamma(2, 1)"})


CERTAIN = dict.fromkeys(BELOW_POOL_PRIORS, "Uniform(0, 0)")


def completion(priors: dict[str, str]) -> Completion:
    return complete(
        load_example(),
        "new-a",
        "nDCG@30",
        estimators=PosteriorEstimator(model="ratio", draws=50, priors=priors),
    )


def log_odds(found: Completion, topic: int) -> list[np.ndarray]:
    """Of a topic's documents by threshold, without effects of organizations, shape (draw, document) each."""
    documents = found.unknowns.on_topic(topic)
    return [p.components[0].log_odds(np.arange(200), topic, documents) for p in found.posteriors]


def test_log_odds_fall_with_log_rank_below_the_pool() -> None:
    """By hand: 1 per log(rank / 10) at the first threshold, nothing down to rank 10 or above it."""
    steep = CERTAIN | {"below_pool": "Uniform(-1, -1)"}
    flat, falling = (completion(priors) for priors in (CERTAIN, steep))
    rank = flat.unknowns.rank
    assert rank.min() <= 10 < rank.max()
    for t in range(20):
        (first, above), (fallen, same) = log_odds(flat, t), log_odds(falling, t)
        expected = np.log(np.maximum(rank[flat.unknowns.on_topic(t)], 10) / 10)
        np.testing.assert_allclose(first - fallen, np.tile(expected, (200, 1)), atol=1e-12)
        np.testing.assert_array_equal(above, same)


@pytest.mark.filterwarnings("ignore:Dropped .* groups")
def test_the_slope_within_rankings_is_that_of_conditional_logistic_regression() -> None:
    """By statsmodels; whatever rankings have apart cancels, and one document alone says nothing."""
    from statsmodels.discrete.conditional_models import ConditionalLogit

    rng = np.random.default_rng(1)
    run, topic = (a.ravel() for a in np.mgrid[:30, :10])
    run, topic = np.repeat(run, 5), np.repeat(topic, 5)
    rank = rng.integers(1, 11, len(run))
    apart = rng.normal(-1, 2, size=(30, 10))[run, topic]
    relevant = rng.random(len(run)) < 1 / (1 + np.exp(-apart + 0.4 * np.log(rank)))
    model = ConditionalLogit(relevant.astype(int), np.log(rank)[:, None], groups=run * 10 + topic)
    both = model.fit(disp=False)
    mean, deviation = slope_within_rankings((run, topic, rank, np.zeros(len(run), np.int32), relevant))
    precision = both.bse[0] ** -2 + 0.3**-2
    assert mean == pytest.approx((both.params[0] * both.bse[0] ** -2 - 0.3 * 0.3**-2) / precision, abs=0.01)
    assert deviation == pytest.approx(precision**-0.5, rel=0.02)
    alone = slope_within_rankings(tuple(a[:1] for a in (run, topic, rank, run.astype(np.int32), relevant)))
    assert alone == pytest.approx((-0.3, 0.3))


def test_documents_that_a_strategy_judged_deeper_are_evidence_of_their_ranks() -> None:
    """Its pool is as large as one to depth 6; a twentieth of its hidden documents are below rank 18."""
    simulation = simulate_example()
    full = replace(simulation.complete(), pool=DepthPool.even(100, 23))
    deep = with_strategy_pool(full, "max-mean", 800)
    problem = ScoringProblem(deep, ("new-a",), parse_measure("P@100"), "complete")
    end = np.quantile(held_out_documents(deep, cutoff=100)[2], 0.95)
    assert (deep.pool_depth, end) == (6, 18)
    rank = problem.places(100).rank
    np.testing.assert_allclose(problem.below_pool, np.log(np.maximum(rank, end) / end))


@pytest.mark.own_fits
def test_a_collection_whose_work_is_kept_is_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are scored one after the other have the estimates that each has alone."""
    estimator, runs = PosteriorEstimator(draws=50, chains=2), ("new-a", "new-b")
    alone = [estimator.estimate(replace(load_example()), run)[0] for run in runs]
    n_fits, fit = [0], PreparedModel.fit

    def counted(*given: Any, **settings: Any) -> Any:
        n_fits[0] += 1
        return fit(*given, **settings)

    monkeypatch.setattr(PreparedModel, "fit", counted)
    collection = replace(load_example())
    keep_work(collection)
    after = []
    for run, expected in zip(runs, alone, strict=True):
        (found,) = estimator.estimate(collection, run)
        assert found.draws is not None
        assert expected.draws is not None
        assert np.array_equal(found.draws.amount, expected.draws.amount)
        after.append(n_fits[0])
    assert after[0] == after[1] > 0
    replace(estimator, random_seed=2).estimate(collection, runs[0])
    assert n_fits[0] > after[1]


def test_a_mask_of_all_that_may_be_judged_changes_nothing() -> None:
    collection = load_example()
    known = collection.judged_at_most(collection.judged)
    assert known.judged_at_most(collection.judged) is known
    assert collection.judged_at_most(np.ones_like(collection.judged)) is collection
    assert not known.may_be_relevant[~collection.judged].any()


def test_a_run_that_may_have_failed_on_some_topics_has_a_note() -> None:
    """On ten of twenty topics it has the documents that pooled runs rank last, of which few are judged."""
    example = load_example()
    document = example.document.copy()
    (run,) = example.run_index(["new-b"])
    unjudged = example.relevance < 0
    for t in range(10):
        last = np.flatnonzero(unjudged & (example.pair_topic == t))[-document.shape[2] :]
        document[run, t] = -1
        document[run, t, : len(last)] = last
    failed = replace(example, document=document)
    (estimates,) = estimate(quick("combined"), failed, TARGETS, "P@10")
    n_well = int(((example.relevance[document[run, 10:, :10]] >= 0).sum(axis=1) > 5).sum())
    assert "fail" not in "; ".join(estimates.notes[TARGETS.index("new-a")])
    assert (
        f"hardly anything of its top 10 is judged on 10 of 20 topics, and most on {n_well}: if it failed on "
        "the former, its score is lower than the posterior"
    ) in estimates.notes[TARGETS.index("new-b")]


def test_models_of_many_topics_have_the_mixtures_draws_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    collection = load_example()
    (usual,) = PosteriorEstimator().estimate(collection, "new-b")
    monkeypatch.setattr("bayespool.posterior.fitting.is_large", lambda *_: True)
    forgotten = list[object]()
    monkeypatch.setattr("bayespool.posterior.preparation.forget_learned_fusion", forgotten.append)
    (part,) = PosteriorEstimator().estimate(collection, "new-b")
    assert part.weights == pytest.approx(usual.weights, abs=1e-12)
    assert part.value == pytest.approx(usual.value, abs=0.1 * usual.std[0])
    assert part.std == pytest.approx(usual.std, rel=0.1)  # of some 400 draws, whose noise is 4 %
    n = {name: np.prod(fit.shape) for name, fit in part.fits.items()}
    assert max(n.values()) < np.prod(usual.fits["ratio"].shape)
    assert min(n.values()) >= 400
    assert len({id(one) for one in forgotten}) == 2  # the collection, and that of kinds

"""The Laplace engine: one density with the PyMC graphs, exact derivatives, and draws that agree with NUTS."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from each import cases
from fits import prepared_evidence
from scipy import stats
from scipy.special import expit, logit

from bayespool.errors import DiagnosticsWarning, InputError
from bayespool.experiments import load_example
from bayespool.inference import NUTS, Laplace
from bayespool.inference.density import Density
from bayespool.inference.laplace import approximate
from bayespool.models import EVIDENCE_SLOPES, MODELS, LinearEvidence
from bayespool.models.formulas import draw_priors
from bayespool.models.registry import MODEL_NAMES
from bayespool.posterior import PosteriorEstimator


def one_cell(n, n_relevant):
    zero = np.zeros(1, np.int64)
    return dataclasses.replace(
        prepared_evidence("background"), query_ids=("1",), organizations=("o",), hidden_topic=zero,
        hidden_organization=zero, n_hidden=zero + n, n_hidden_relevant=zero + n_relevant,
    )  # fmt: skip


def test_one_intercept_is_the_conjugate_posterior():
    spec = MODELS["background"].with_priors({"mu": "Logistic(0, 1)"})
    fit = Laplace(draws=200_000).fit(spec, one_cell(40, 9), 1)
    p = 1 / (1 + np.exp(-fit.draws()["mu"]))
    exact = stats.beta(1 + 9, 1 + 31)
    assert p.mean() == pytest.approx(exact.mean(), abs=0.002)
    assert p.std() == pytest.approx(exact.std(), rel=0.03)
    ends = exact.ppf([0.025, 0.975])
    np.testing.assert_allclose(np.quantile(p, [0.025, 0.975]), ends, atol=0.03 * (ends[1] - ends[0]))


def test_draws_sum_to_zero_and_repeat_to_the_byte():
    evidence = prepared_evidence("evidence")
    fits = [Laplace(draws=500).fit(MODELS["evidence"], evidence, s) for s in (7, 7, 8)]
    first, again, other = (fit.draws() for fit in fits)
    assert all(first[name].tobytes() == again[name].tobytes() for name in first)
    assert first["mu"].tobytes() != other["mu"].tobytes()
    np.testing.assert_allclose(first["topic_effect"].sum(axis=1), 0, atol=1e-9)
    assert first["beta"].shape == (500, len(EVIDENCE_SLOPES))
    assert (first["sigma_organization"] > 0).all()
    assert fits[0].posterior["posterior"]["topic_effect"].dims == ("chain", "draw", "topic")


@cases(("model", "single"), [("background", "topic_effect"), ("ratio", "organization_effect")])
def test_many_draws_are_the_same_in_single_precision(model, single, monkeypatch):
    """Those of the many parameters alone; and the intercept of a topic is the mean and its effect."""
    evidence, spec = prepared_evidence(model), MODELS[model]
    known = (0, 2) if model == "ratio" else None
    usual = Laplace(draws=500).fit(spec, evidence, 7, known=known).draws()
    monkeypatch.setattr("bayespool.inference.variables._MAX_DOUBLES", 100)
    held = Laplace(draws=500).fit(spec, evidence, 7, known=known).draws()
    assert held.keys() == usual.keys()
    assert [name for name in held if held[name].dtype != float] == [single]
    for name in usual.keys() - {"interaction_effect"}:
        np.testing.assert_allclose(held[name], usual[name], rtol=1e-6, atol=1e-5)
    if model == "ratio":  # cells are drawn by rejection, so that a few may differ
        off = np.abs(held["interaction_effect"] - usual["interaction_effect"])
        assert np.mean(off < 1e-5) > 0.99
    intercept = spec.topic_intercept(usual, {"topic": 3})
    assert (intercept == usual["mu"] + usual["topic_effect"][:, 3]).all()
    np.testing.assert_allclose(spec.topic_intercept(held, {"topic": 3}), intercept, atol=1e-5)


def test_without_evidence_draws_come_from_the_priors():
    collection = load_example().with_pool(np.zeros(23, dtype=bool), 0)
    evidence = prepared_evidence("background", collection)
    fit = Laplace(draws=20_000).fit(MODELS["background"], evidence, 1)
    draws = fit.draws()
    assert draws["mu"].mean() == pytest.approx(-2.2, abs=0.05)
    assert draws["mu"].std() == pytest.approx(1.5, rel=0.03)
    assert draws["sigma_organization"].mean() == pytest.approx(np.sqrt(2 / np.pi), rel=0.03)


def test_a_scale_that_its_prior_holds_at_zero_has_the_prior():
    """Its mode is a long way from where the search begins."""
    spec = MODELS["ratio"].with_priors({"sigma_topic": "HalfNormal(1e-6)"})
    fit = Laplace(draws=4000).fit(spec, prepared_evidence("ratio"), 1, known=())
    draws = fit.draws()["sigma_topic"]
    prior = stats.halfnorm(scale=1e-6)
    for share in (0.1, 0.5, 0.9):
        assert (draws < prior.ppf(share)).mean() == pytest.approx(share, abs=0.06)


@cases("priors", [{"mu": "StudentT(3, 0, 1)"}, {"sigma_topic": "Gamma(2, 1)"}])
def test_a_prior_that_the_engine_does_not_know_names_the_other_engine(priors):
    with pytest.raises(InputError, match="use the nuts engine"):
        PosteriorEstimator(model="background", priors=priors)


def test_where_it_fails_nuts_takes_over(monkeypatch):
    estimator = PosteriorEstimator(model="background", draws=50)
    (plain,) = estimator.estimate(load_example(), "new-b")
    fit = plain.fits["background"]
    broken = dataclasses.replace(fit, diagnostics=dataclasses.replace(fit.diagnostics, problems=("no mode",)))
    sampled = dataclasses.replace(fit, diagnostics=dataclasses.replace(fit.diagnostics, engine="nuts"))

    class Compiled:
        def sample(self, **_):
            return sampled

    def fail(*_, **__):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(NUTS, "compile", lambda *_: Compiled())
    for fitted, said in ((lambda *_, **__: broken, "no mode"), (fail, "a curvature is not positive")):
        monkeypatch.setattr(Laplace, "fit", fitted)
        with pytest.warns(DiagnosticsWarning, match=f"background: {said}; sampling with nuts instead"):
            (result,) = estimator.estimate(load_example(), "new-b")
        assert result.diagnostics.engine == "nuts"
        assert result.notes == ((),)
    monkeypatch.setattr("bayespool.inference.engines.MOST_SAMPLED_TOPICS", len(load_example().query_ids) - 1)
    monkeypatch.setattr(Laplace, "fit", lambda *_, **__: broken)
    with pytest.warns(DiagnosticsWarning, match="background: no mode; nuts would take hours for 20 topics"):
        (result,) = estimator.estimate(load_example(), "new-b")
    assert result.diagnostics.problems == ("no mode",)
    monkeypatch.setattr(Laplace, "fit", fail)  # nothing stays
    with pytest.warns(DiagnosticsWarning, match="background: a curvature is not positive; sampling"):
        (result,) = estimator.estimate(load_example(), "new-b")
    assert result.diagnostics.engine == "nuts"


def test_an_approximation_far_from_the_density_is_found_out():
    """Three documents say little: probabilities are far from normal on the scale of log odds."""
    spec, evidence = MODELS["background"].with_priors({"mu": "Normal(0, 10)"}), one_cell(400, 0)
    off = approximate(Density(spec.structure(evidence))).interval_error()
    draws = Laplace(draws=200_000, check=False).fit(spec, evidence, 1).draws()["mu"]
    grid = np.linspace(-60, 2, 200_001)
    share = np.cumsum(np.exp(-0.5 * (grid / 10) ** 2 - 400 * np.logaddexp(0, grid)))
    exact = np.interp([0.025, 0.975], share / share[-1], grid)
    really = np.abs(np.quantile(draws, [0.025, 0.975]) - exact).max() / (exact[1] - exact[0])
    assert really > 0.1
    assert off > 0.1
    with pytest.warns(DiagnosticsWarning, match="off by"):
        Laplace(draws=100).fit(spec, evidence, 1)


def test_an_error_that_cannot_be_found_is_a_problem(monkeypatch):
    """Of two totals the first has no ridge with a positive curvature; the second is fine."""
    heights = iter([float("nan")] * 5 + [-0.5 * s**2 for s in (-2.4, -1.2, 0, 1.2, 2.4)])
    monkeypatch.setattr("bayespool.inference.totals._profile_log_density", lambda *_: next(heights))
    with pytest.warns(DiagnosticsWarning, match="how far the ends of an interval are off cannot be found"):
        fit = Laplace(draws=100).fit(MODELS["odds_ratio"], prepared_evidence("odds_ratio"), 1)
    assert not fit.diagnostics.passed
    assert np.isnan(fit.diagnostics.max_end_error)
    assert next(heights, None) is None


@cases("model", ["background", "ratio", "evidence", "smoothed"])
def test_a_good_approximation_is_known_for_one_whatever_the_seed(model):
    approximation = approximate(Density(MODELS[model].structure(prepared_evidence(model))))
    assert approximation.interval_error() == pytest.approx(approximation.interval_error(), rel=1e-3)
    assert approximation.interval_error() < 0.08


POOLED = ("coast", "delta", "east", "lake", "north", "ridge", "south", "west")
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "model", ["background", *(pytest.param(m, marks=SLOW) for m in MODEL_NAMES if m != "background")]
)
def test_no_fit_fails_with_an_organization_left_out(model):
    """Nor with a pool of two to four organizations: NUTS need not take over."""
    example, narrow = load_example(), []
    for organization in reversed(POOLED[2:]):
        narrow.append((narrow[-1] if narrow else example).unpool(organization=organization))
    pools = (*(example.unpool(organization=each) for each in POOLED), *narrow[3:])
    for pool in pools if model == "smoothed" else pools[::4]:
        evidence = prepared_evidence(model, pool, pool.unpooled_run_ids)
        assert Laplace(draws=100).fit(MODELS[model], evidence, 1).diagnostics.passed, pool


def smoothed_density(*organizations, **priors):
    """Density of the smoothed model, with the example's pool of some organizations alone."""
    pool = load_example()
    for organization in set(POOLED) - set(organizations):
        pool = pool.unpool(organization=organization)
    spec = MODELS["smoothed"].with_priors(priors)
    return Density(spec.structure(prepared_evidence("smoothed", pool, pool.unpooled_run_ids)))


@cases(
    ("organizations", "priors", "off"),
    [
        (("east", "south", "west"), {}, 0.025),  # at a far node a single step ends .8 standard deviations off
        (("delta", "lake", "south"), {}, 0.084),  # no positive curvature but where the total is held
        (("coast", "delta", "east"), {"sigma_background": "HalfNormal(2)", "mu": "Normal(-2.8, 3)"}, 0.134),
    ],
)
def test_ends_are_as_far_off_where_modes_jump_as_importance_sampling_says(organizations, priors, off):
    """Of 8,000 draws at the likeliest scales: .07, .08 and .18, give or take .04."""
    approximation = approximate(smoothed_density(*organizations, **priors))
    assert approximation.converged
    assert approximation.interval_error() == pytest.approx(off, abs=0.02)


def test_a_search_goes_on_where_the_curvature_is_not_positive():
    """A topic's background may be next to nothing or not: Fisher's scoring slows down in between."""
    pool = load_example().unpool(organization="delta")
    spec = MODELS["smoothed"].with_priors({"sigma_background": "HalfNormal(1)"})
    density = Density(spec.structure(prepared_evidence("smoothed", pool, pool.unpooled_run_ids)))
    assert approximate(density).converged


@SLOW
def test_truths_from_the_priors_are_covered_by_the_smoothed_model():
    """Of coefficients and scales, 80 % intervals hold 80 %: here 120 of them, give or take 4 % each."""
    spec, evidence, rng, covered = (
        MODELS["smoothed"],
        prepared_evidence("smoothed"),
        np.random.default_rng(1),
        [],
    )
    structure = spec.structure(evidence)
    places, truths = Density(structure), draw_priors(structure, 20, rng)
    for i in range(20):
        x = np.zeros(places.size)
        for name, where in places.slices.items():
            value = truths[name if name in structure.coefficients else f"{name}_effect"][i]
            x[where] = logit(value) if name == "c" else value
        counts = []
        for block, prepared in zip(structure.blocks, places._blocks, strict=True):
            z = prepared.predictors(x)
            log_odds = z[0] if block.link is None else block.link.log_odds(z)
            counts.append(rng.binomial(block.trials, expit(log_odds)))
        simulated = dataclasses.replace(evidence, n_relevant=counts[0], n_hidden_relevant=counts[1])
        draws = Laplace(draws=400, check=False).fit(spec, simulated, i).draws()
        for name in ("a", "c", "mu", "sigma_topic", "sigma_background", "sigma_organization"):
            low, high = np.quantile(draws[name], [0.1, 0.9])
            covered.append(low <= truths[name][i] <= high)
    assert 0.7 <= np.mean(covered) <= 0.9


N_TOPICS, N_ORGANIZATIONS, N_DOCUMENTS = 50, 30, 6


def evidence_with(scale, seed):
    """Hidden documents with effects of topic, organization and both, and the latter, by cell."""
    rng = np.random.default_rng(seed)
    organization, topic = (index.ravel() for index in np.indices((N_ORGANIZATIONS, N_TOPICS)))
    topic_effect, organization_effect = rng.normal(size=N_TOPICS), 0.5 * rng.normal(size=N_ORGANIZATIONS)
    of_cell = scale * rng.normal(size=len(topic))
    chance = expit(-1 + topic_effect[topic] + organization_effect[organization] + of_cell)
    evidence = LinearEvidence(
        query_ids=tuple(str(t) for t in range(N_TOPICS)),
        organizations=tuple(str(o) for o in range(N_ORGANIZATIONS)),
        predictor_names=("x",),
        run=organization,
        topic=topic,
        organization=organization,
        predictors=np.zeros((len(topic), 1)),
        n_hidden=np.full(len(topic), N_DOCUMENTS),
        n_hidden_relevant=rng.binomial(N_DOCUMENTS, chance),
        center=np.zeros(1),
        unit=np.ones(1),
        expected=np.zeros(1),
    )
    return evidence, of_cell


@pytest.mark.parametrize("scale", [pytest.param(0.0, marks=pytest.mark.slow), 1.0])
def test_scale_of_the_interaction_is_found(scale):
    evidence, of_cell = evidence_with(scale, 1)
    draws = Laplace(draws=1000).fit(MODELS["ratio"], evidence, 1).draws()
    assert draws["sigma_interaction"].mean() == pytest.approx(scale, abs=0.15)
    assert draws["sigma_interaction"].std() < 0.1
    assert draws["sigma_topic"].mean() == pytest.approx(1, abs=0.25)
    assert draws["sigma_organization"].mean() == pytest.approx(0.5, abs=0.2)
    found = draws["interaction_effect"]
    assert found.shape == (1000, N_ORGANIZATIONS * N_TOPICS)
    standard = (found.mean(axis=0) - of_cell) / found.std(axis=0)
    if scale:  # calibrated: as far off as the draws say
        assert standard.mean() == pytest.approx(0, abs=0.15)
        assert standard.std() == pytest.approx(1, abs=0.1)


def test_a_fit_from_where_a_search_ended_is_the_same_and_is_checked() -> None:
    evidence, spec = prepared_evidence("ratio"), MODELS["ratio"]
    engine = Laplace(draws=50)
    alone, begun = (engine.fit(spec, evidence, 1, start=s) for s in (None, engine.search(spec, evidence)))
    assert all(np.array_equal(alone.variables[name], begun.variables[name]) for name in alone.variables)
    assert alone.start.interval_error == begun.start.interval_error > 0

"""Fit of the models of a threshold, with the effects of the runs' organizations.

The models' priors are in their declarations (`bayespool.models.registry`); here stand those that differ where
the pool hides no document (`NO_POOL_PRIORS`) and where kinds of runs are held out (`HELD_OUT_KINDS_PRIORS`).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from bayespool.arrays import BoolArray, FloatArray, IndexArray
from bayespool.collection import Collection
from bayespool.errors import PREPARE_ANEW, InputError
from bayespool.inference import Engine, Fit, Laplace, Start
from bayespool.inference.engines import Relay
from bayespool.inference.variables import is_large
from bayespool.models import LinearEvidence
from bayespool.posterior.distance import (
    LogOddsFunction,
    NewOrganizations,
    below_pool,
    learn_new_organizations,
    new_organization_sd,
    stretch_with_few,
)
from bayespool.posterior.mixtures import (
    FittedModel,
    HeldOut,
    LinearTerms,
    Mixture,
    NewKind,
    ThresholdPosterior,
    decide_weights,
    draw_members,
)
from bayespool.posterior.preparation import DEPTHS, PreparedModel, ScoringProblem
from bayespool.randomness import key_of


def build_fitted_model(
    problem: ScoringProblem,
    prepared: PreparedModel,
    fit: Fit,
    new: NewOrganizations,
    shift: FloatArray | float = 0.0,
    linear: LinearTerms | None = None,
) -> FittedModel:
    """Build the fitted model for a scoring problem, with organization effects for each run.

    Runs of organizations in the evidence have the effects of these.

    At the first threshold ``shift``, of shape (draw, run), is added to these, and log odds below the pool
    have slopes on rank.
    """
    draws, of_run = fit.draws(), prepared.organization
    names = [problem.collection.organizations[o] for o in problem.organization]
    n_organizations = len(prepared.evidence.organizations)
    effect = new.effects(new_organization_sd(draws["sigma_organization"], n_organizations), names)
    if problem.has_pool_evidence:
        few = prepared.spec.effects["organization"].few
        n_hidden = prepared.evidence.n_hidden_by_organization
        effect *= stretch_with_few(few, problem.n_unjudged, n_hidden, len(effect), new.random_seed)
    known = of_run >= 0
    effect[:, known] = draws["organization_effect"][:, of_run[known]]
    log_odds: LogOddsFunction = partial(prepared.log_odds, draws)
    below = None
    if not problem.threshold.given:
        effect = effect + shift
    if not problem.threshold.given and problem.below_pool.any():
        log_odds = below = below_pool(
            prepared.spec,
            log_odds,
            problem.below_pool,
            problem.held_out,
            len(effect),
            problem.collection.query_ids,
            new.random_seed,
        )
    scale, cells = draws.get("sigma_interaction"), dict[int, FloatArray]()
    if scale is not None and prepared.known:
        of_cells = draws["interaction_effect"].reshape(len(scale), len(prepared.known), -1)
        first = [int(problem.organization[of_run == o][0]) for o in prepared.known]
        cells = {o: of_cells[:, k] for k, o in enumerate(first)}
    slopes, organization_index = _slopes(prepared, draws, names, new)
    return FittedModel(
        model=prepared.model,
        fit=fit,
        log_odds=log_odds,
        effect=effect,
        new=new,
        cell_scale=scale,
        known=known,
        cells=cells,
        slopes=slopes,
        organization_index=organization_index,
        predictors=prepared.predictors,
        linear=linear,
        below=below,
    )


def _slopes(
    prepared: PreparedModel, draws: Mapping[str, FloatArray], names: Sequence[str], new: NewOrganizations
) -> tuple[FloatArray | None, IndexArray]:
    """Return slope deviations (draw, organization, predictor) and each run's organization index (run,)."""
    if "sigma_slope" not in draws:
        return None, np.zeros(len(names), dtype=np.int64)
    keys = list(zip(names, prepared.organization.tolist(), strict=True))
    distinct, predictors = sorted(set(keys)), tuple(prepared.spec.predictors)
    slopes = new.slopes(draws["sigma_slope"], predictors, [name for name, _ in distinct])
    of_known = draws["slope_effect"].reshape(len(slopes), -1, len(predictors))
    for i, (_, organization) in enumerate(distinct):
        if organization >= 0:
            slopes[:, i] = of_known[:, organization]
    return slopes, np.array([distinct.index(key) for key in keys], dtype=np.int64)


# C runs from 0.05 to 0.65 over collections, to 0.8 for runs unlike the pool (research/decisions/diary.md);
# published constants are 0.42 and 0.91. 95 % of Beta(1.2, 2.5) is between 0.02 and 0.79.
NO_POOL_PRIORS: Mapping[str, str] = MappingProxyType({"c": "Beta(1.2, 2.5)"})
"""Prior for the interpolated model if the pool has no hidden documents."""
NO_POOL_PRIORS_ABOVE: Mapping[str, str] = MappingProxyType(
    {"c": "Beta(6, 2)", "log_ratio": "Normal(-0.8, 0.6)"}
)
"""Priors above the first threshold if the pool has no hidden documents.

The share of highly relevant documents is the same among unjudged and judged relevant ones.
"""
HELD_OUT_KINDS_PRIORS: Mapping[str, str] = MappingProxyType({"sigma_slope": "HalfNormal(1)"})
"""Priors for fits to held-out kinds, which differ more than organizations."""
_ORDER_SEED = 17  # of the order of draws, the same on all thresholds
_LEAST_DRAWS = 400  # of a model whose other draws are not made
_PULL_OF_KINDS = 0.25  # of the weights of models, toward equal ones
_STEPS_OF_CHANCE = 4  # of a new kind, within which runs share draws


def fit_threshold(
    problem: ScoringProblem,
    models: Sequence[str],
    engine: Engine,
    priors: Mapping[str, str],
    n_draws: int,
    random_seed: int,
    *,
    shift: FloatArray | float = 0.0,
    new_kind: FloatArray | None = None,
    kinds: Collection | None = None,
    below: ThresholdPosterior | None = None,
    is_only: bool = False,
) -> tuple[ThresholdPosterior, list[float]]:
    """Fit and mix the models at one threshold, and return the mixture with model weights.

    The models are fitted again to ``kinds`` for runs that may be of a new kind.
    """
    usual, others = _prepare(problem, models, priors, kinds if new_kind is not None else None)
    if is_only and is_large(n_draws, len(problem.collection.query_ids)):
        for one, _ in (usual, others) if others is not None else (usual,):
            one.forget()
    more: dict[str, Any] = {"shift": shift, "new_kind": new_kind, "below": below, "is_only": is_only}
    return fit_prepared(usual, others, engine, n_draws, random_seed, **more)


Prepared = tuple[ScoringProblem, Mapping[str, PreparedModel]]


def _prepare(
    problem: ScoringProblem, models: Sequence[str], priors: Mapping[str, str], kinds: Collection | None
) -> tuple[Prepared, Prepared | None]:
    """Return the prepared models of a threshold, and those for ``kinds``, if any."""
    threshold = problem.threshold
    if not problem.has_pool_evidence:
        priors = {**(NO_POOL_PRIORS if not threshold.given else NO_POOL_PRIORS_ABOVE), **priors}
    usual = problem, {model: problem.prepare(model, priors) for model in models}
    if kinds is None or not problem.has_pool_evidence:
        return usual, None
    of_kinds = dataclasses.replace(problem, collection=kinds, shared=problem.shared.derived("kinds"))
    priors = {**HELD_OUT_KINDS_PRIORS, **priors}
    return usual, (of_kinds, {model: of_kinds.prepare(model, priors) for model in models})


def prepare_model(
    problem: ScoringProblem, model: str, priors: Mapping[str, str], random_seed: int
) -> tuple[PreparedModel, int]:
    """Return a model prepared at a threshold, and the seed that `fit_threshold` fits it with if alone."""
    usual, _ = _prepare(problem, (model,), priors, None)
    return usual[1][model], _model_seeds(_seeds(*usual, random_seed).spawn(2))[0]


def learn_threshold(
    problem: ScoringProblem,
    models: Sequence[str],
    engine: Engine,
    priors: Mapping[str, str],
    random_seed: int,
    kinds: Collection | None = None,
    *,
    keep_draws: bool = False,
) -> None:
    """Fit the models of a threshold to a pool alone, so that their results are recorded (`SharedWork`).

    With ``keep_draws`` the draws that this seed gives are among the results.
    """
    usual, others = _prepare(problem, models, priors, kinds)
    sequence = _seeds(*usual, random_seed)
    for one, prepared in (usual, others) if others is not None else (usual,):
        seeds = _model_seeds(sequence.spawn(1 + len(prepared)))
        fits, keys = {}, []
        for (model, part), seed in zip(prepared.items(), seeds, strict=True):
            fits[model] = fit = _fit(one, part, engine, seed)
            keys.append((part.key, seed))
            name = _recorded_name(one, part)
            if keep_draws and name is not None and fit.drawn is not None:
                one.shared.record("draws", *name, seed, _settings(engine), **fit.drawn.variables)
        one.record_fusion()
        if one is problem:
            _decide(one, prepared, fits, keys)


def _seeds(
    problem: ScoringProblem, prepared: Mapping[str, PreparedModel], random_seed: int
) -> np.random.SeedSequence:
    """Return the seeds of a threshold, for models with the depth of their evidence."""
    kind = next(iter(prepared.values())).spec.evidence
    depth = max(problem.measure.cutoff, DEPTHS[kind])
    return np.random.SeedSequence([random_seed, depth, problem.threshold.above_floor])


def _model_seeds(seeds: Sequence[np.random.SeedSequence]) -> list[int]:
    """Return the seed of each model, which follow that of the mixture."""
    return [int(seed.generate_state(1)[0]) for seed in seeds[1:]]


def fit_prepared(
    usual: Prepared,
    others: Prepared | None,
    engine: Engine,
    n_draws: int,
    random_seed: int,
    *,
    shift: FloatArray | float = 0.0,
    new_kind: FloatArray | None = None,
    below: ThresholdPosterior | None = None,
    is_only: bool = False,
) -> tuple[ThresholdPosterior, list[float]]:
    """Fit and mix prepared models at one threshold, and return the mixture with model weights.

    At the only threshold a model of thousands of topics has no other draws than the mixture's.
    """
    threshold = usual[0].threshold
    seeds = _seeds(*usual, random_seed)
    fit = partial(
        _fit_mixture, engine=engine, n_draws=n_draws, random_seed=random_seed, shift=shift, is_only=is_only
    )
    lower = None if below is None else below.mixture
    used = np.ones(n_draws, dtype=bool)
    mixture, shares, held_out = fit(*usual, seeds.spawn(1 + len(usual[1])), lower, used)
    if new_kind is None or others is None:
        return ThresholdPosterior(threshold, mixture, held_out=held_out), shares
    lower = None if below is None or below.new_kind is None else below.new_kind.mixture
    mean, rng = float(new_kind.mean()), np.random.default_rng([random_seed, _ORDER_SEED])
    order = (rng.permutation(n_draws) + 0.5) / n_draws
    used = order < np.ceil(_STEPS_OF_CHANCE * new_kind.max()) / _STEPS_OF_CHANCE
    of_kinds = fit(*others, seeds.spawn(1 + len(others[1])), lower, used, shares)
    weights = [(1 - mean) * share for share in shares] + [mean * share for share in of_kinds[1]]
    return ThresholdPosterior(threshold, mixture, NewKind(of_kinds[0], new_kind, order), held_out), weights


_START = ("theta", "spread", "x")  # arrays of a `Start`


def _settings(engine: Engine) -> str:
    """Return the settings that draws depend on; those of the second engine have the number of cores."""
    return repr(engine.first if isinstance(engine, Relay) else engine)


def _recorded_name(problem: ScoringProblem, *parts: PreparedModel) -> tuple[object, ...] | None:
    """Return the name under which results of fits to the pool are recorded; None for other evidence."""
    is_of_pool = all(isinstance(part.evidence, LinearEvidence) and not part.known for part in parts)
    if problem.collection.judges or problem.left_out or not is_of_pool:
        return None
    specs = key_of(*(repr(part.spec) for part in parts))
    return *problem.threshold.levels.values(), problem.document_depth, f"{specs:016x}"


def _with_draws(engine: Engine, n_draws: int) -> Engine:
    """Return the engine with another number of draws, if it is Laplace's or begins with it."""
    if isinstance(engine, Relay):
        return dataclasses.replace(engine, first=_with_draws(engine.first, n_draws))
    return dataclasses.replace(engine, draws=n_draws, chains=1) if isinstance(engine, Laplace) else engine


def _recorded_start(problem: ScoringProblem, part: PreparedModel, engine: Engine, seed: int) -> Start | None:
    """Return the recorded start of a fit, with its draws if these are recorded too."""
    shared, name = problem.shared, _recorded_name(problem, part)
    if name is None or engine.name != Laplace.name:
        return None
    lengths = {"theta": None, "spread": None, "x": None, "error": 1}
    results = shared.find("start", *name, **lengths)
    if results is None:
        return None
    drawn = shared.find("draws", *name, seed, _settings(engine)) or {}
    return Start(results["theta"], results["spread"], results["x"], float(results["error"][0]), drawn)


def _begin(
    problem: ScoringProblem, prepared: Mapping[str, PreparedModel], engine: Engine
) -> dict[str, Start]:
    """Return where Laplace's fits start, from which models are weighed before they are drawn from.

    Empty for another engine, and where there is no start.
    """
    first, starts = engine.first if isinstance(engine, Relay) else engine, dict[str, Start]()
    if not isinstance(first, Laplace):
        return {}
    for model, part in prepared.items():
        start = _recorded_start(problem, part, engine, 0)
        kept = problem.shared if _recorded_name(problem, part) is None else problem.shared.kept
        search = partial(first.search, part.spec, part.evidence, known=part.known)
        with suppress(np.linalg.LinAlgError):
            start = start or kept.once(("start", part.key), search)
        if start is None:
            return {}
        starts[model] = start
    return starts


def _fit(
    problem: ScoringProblem, part: PreparedModel, engine: Engine, seed: int, start: Start | None = None
) -> Fit:
    """Return the fit of a model, which goes on from a start, a recorded one by default."""
    shared, name = problem.shared, _recorded_name(problem, part)
    start = _recorded_start(problem, part, engine, seed) if start is None else start
    kept = shared if name is None else shared.kept
    fit = kept.once(("fit", part.key, seed, _settings(engine)), partial(part.fit, engine, seed, start))
    is_new = start is None or start.is_unchecked
    if name is not None and is_new and fit.start is not None and fit.diagnostics.passed:
        began = {part: getattr(fit.start, part) for part in _START}
        shared.record("start", *name, **began, error=np.array([fit.start.interval_error]))
    return fit


def _decide(
    problem: ScoringProblem,
    prepared: Mapping[str, PreparedModel],
    fits: Mapping[str, Fit | Start],
    keys: Sequence[tuple[Hashable, int]],
) -> tuple[list[float], HeldOut]:
    """Return the models' weights with their held-out coverage, recorded ones where there are any."""
    shared, name = problem.shared, _recorded_name(problem, *prepared.values())
    lengths = {"weights": len(prepared), "coverage": 2}
    results = None if name is None else shared.find("weights", *name, **lengths)
    if results is not None:
        (share, n), weights = results["coverage"].tolist(), results["weights"].tolist()
        if min(weights) < 0 or abs(sum(weights) - 1) > 1e-6 or not 0 <= share <= 1 or not 0 <= n < 1e6:
            raise InputError("prepared weights of models are no shares", hint=PREPARE_ANEW)
        return weights, HeldOut(share, int(n)) if n else HeldOut()
    kept = shared if name is None else shared.kept
    weights, coverage = kept.once(("shares", *keys), partial(decide_weights, prepared, fits))
    if name is not None:
        held_out = np.nan_to_num(np.array([coverage.share, coverage.n_organizations], dtype=float))
        shared.record("weights", *name, weights=np.array(weights), coverage=held_out)
    return weights, coverage


def _fit_mixture(
    problem: ScoringProblem,
    prepared: Mapping[str, PreparedModel],
    seeds: Sequence[np.random.SeedSequence],
    lower: Mixture | None,
    used: BoolArray,
    near: Sequence[float] | None = None,
    *,
    engine: Engine,
    n_draws: int,
    random_seed: int,
    shift: FloatArray | float,
    is_only: bool,
) -> tuple[Mixture, list[float], HeldOut]:
    """Fit models and mix them, with the weights ``near`` if given.

    ``seeds`` are one for the mixture and one for each model; ``lower`` is the mixture one threshold below,
    ``used`` says which draws any run has.
    """
    shared, stream = problem.shared, problem.threshold.stream
    of_models = list(zip(prepared.items(), _model_seeds(seeds), strict=True))
    keys = [(part.key, seed) for (_, part), seed in of_models]
    is_part = is_only and is_large(n_draws, len(problem.collection.query_ids))
    begun = _begin(problem, prepared, engine) if is_part else {}
    fits = {} if begun else {model: _fit(problem, part, engine, seed) for (model, part), seed in of_models}
    if near is None:
        weights, coverage = _decide(problem, prepared, begun or fits, keys)
    else:  # kinds are too few to choose a model by, and organizations do not know theirs for sure
        weights = [(1 - _PULL_OF_KINDS) * share + _PULL_OF_KINDS / len(near) for share in near]
        coverage = HeldOut()
    member = draw_members(n_draws, np.array(weights), np.random.default_rng(seeds[0]))
    source = np.arange(n_draws)
    user = {model: source for model in prepared}  # draw of the mixture that each of a model's is for
    for c, ((model, part), seed) in enumerate(of_models if begun else ()):
        mine = np.flatnonzero((member == c) & used)
        fit = _fit(problem, part, _with_draws(engine, max(len(mine), _LEAST_DRAWS)), seed, begun[model])
        fits[model], n = fit, math.prod(fit.shape)  # more, where another engine took over
        source[member == c] = 0
        source[mine] = np.arange(len(mine)) * n // max(1, len(mine))
        user[model] = np.zeros(n, dtype=np.intp)
        user[model][source[mine]] = mine
    below_by_model = {} if lower is None else {part.model: part.new for part in lower.components}
    components = []
    for (model, part), key in zip(prepared.items(), keys, strict=True):
        fit, below_it, effect = fits[model], below_by_model.get(part.model), part.spec.effects["organization"]
        # draws that are apart in the mixture have the same place among those of their models
        stream_seed = key_of(random_seed, model, near is None) if begun else random_seed
        learned = effect, fit.draws(), part.evidence.organizations, stream_seed, stream, below_it
        kept = shared if _recorded_name(problem, part) is None else shared.kept
        new = kept.once(
            ("new organizations", *key, fit.shape, stream_seed, stream, below_it),
            partial(learn_new_organizations, *learned),
        )
        linear = kept.once(("linear terms", *key, fit.shape), partial(LinearTerms.of, part, fit))
        own_shift = shift[user[model]] if isinstance(shift, np.ndarray) else shift
        components.append(build_fitted_model(problem, part, fit, new, own_shift, linear))
    return Mixture(tuple(components), member, source), weights, coverage

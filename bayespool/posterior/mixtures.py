"""Fitted models, their mixture at a threshold, and the weights of models in it.

`decide_weights` decides a model's weight: how well the model predicts each organization of the pool from the
others (`held_out_totals`, `stacking_weights`). The prior of the weights is `MODEL_PRIOR_ORGANIZATIONS`.
Runs of a new kind have the same weights. Checks of models (`experiments.predictions`) use `stacking_weights`,
too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit, logsumexp, ndtr

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.compiled import one_thread
from bayespool.inference import Density, Fit, Rows, Start
from bayespool.inference.cells import normal_nodes
from bayespool.inference.collapsed import part_of_topics
from bayespool.inference.laplace import approximate
from bayespool.models import LinearEvidence, ModelSpec
from bayespool.posterior.distance import BelowPool, NewOrganizations
from bayespool.posterior.drawing import add_effects, add_slopes, fill_log_odds
from bayespool.posterior.preparation import PreparedModel
from bayespool.posterior.thresholds import Threshold


class LinearTerms(NamedTuple):
    """Parts of the log odds of a model with predictors, without effects of organizations.

    Attributes
    ----------
    intercept : callable
        Topic → what its documents share, shape (draw,).
    beta : ndarray of float, shape (draw, predictor)
    """

    intercept: Callable[[int], FloatArray]
    beta: FloatArray

    @classmethod
    def of(cls, prepared: PreparedModel, fit: Fit) -> LinearTerms | None:
        """Return the parts of a fitted model's log odds, or None for a model without predictors."""
        if prepared.predictors is None:
            return None
        draws, spec, on_topic = fit.draws(), prepared.spec, prepared.on_topic
        beta = spec.multipliers(draws, on_topic(0))
        return cls(partial(_intercept, spec, draws, on_topic), np.require(beta, float, ["C", "W"]))


def _intercept(
    spec: ModelSpec, draws: Mapping[str, FloatArray], on_topic: Callable[[int], dict[str, int]], topic: int
) -> FloatArray:
    return spec.topic_intercept(draws, on_topic(topic))


_NO_SLOPES: FloatArray = np.zeros((0, 0, 0))
_NOTHING: FloatArray = np.zeros(0)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Prepared model after fitting, with draws of the organization effects for the runs to score.

    Attributes
    ----------
    model : str
    fit : Fit
    log_odds : callable
        (numbers of draws, topic, documents as a slice) → log odds of these unknowns, shape (draw, document),
        without effects of organizations.
    effect : ndarray of float, shape (draw, run)
        Effect of the organization of each run.
    cell_scale : ndarray of float, shape (draw,), or None
        Standard deviation of the effects of organization × topic; None for a model without them.
    known : ndarray of bool, shape (run,)
        Whether a run's organization is evidence for its effects.
    cells : mapping of int to ndarray of float, shape (draw, topic)
        Effects of such organizations on topics, by organization of the collection.
    slopes : ndarray of float, shape (draw, organization, predictor), or None
        Differences of slopes from the common ones; None for a model without such effects.
    organization_index : ndarray of int, shape (run,)
        Position in ``slopes`` of each run's organization.
    predictors : ndarray of float, shape (document, predictor), or None
        Of the documents to complete, on the evidence's scale.
    new : NewOrganizations, optional
        Distribution of the effects of new organizations; the threshold above starts from it.
    linear : LinearTerms, optional
        The parts of ``log_odds``, for a model with predictors.
    below : BelowPool, optional
        What is added to these parts below the pool.
    """

    model: str
    fit: Fit
    log_odds: Callable[[OrderArray, int, slice], FloatArray]
    effect: FloatArray
    cell_scale: FloatArray | None = None
    known: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    cells: Mapping[int, FloatArray] = field(default_factory=dict)
    slopes: FloatArray | None = None
    organization_index: IndexArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    predictors: FloatArray | None = None
    new: NewOrganizations | None = None
    linear: LinearTerms | None = None
    below: BelowPool | None = None

    def with_effects(
        self, source: OrderArray, topic: int, documents: slice, run: IndexArray, cells: FloatArray
    ) -> FloatArray:
        """Return log odds for a topic's documents with all effects, shape (draw, document).

        Parameters
        ----------
        source : ndarray of int, shape (draw,)
            Numbers of draws.
        topic : int
        documents : slice
            The topic's unknowns.
        run : ndarray of int, shape (document,)
            Run whose effects a document has.
        cells : ndarray of float, shape (any draw, run)
            Effects of organization × topic.
        """
        log_odds = self.log_odds(source, topic, documents)
        add_effects(log_odds, self.effect[source], cells[source], run)
        if self.slopes is not None and self.predictors is not None:
            add_slopes(
                log_odds, self.slopes, source, self.organization_index[run], self.predictors[documents]
            )
        return log_odds

    def below_on(
        self, topic: int, documents: slice, drawn: dict[int, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Return slopes, (draw,), and log ranks, (document,), below the pool, both empty without any."""
        if self.below is None or not (log_rank := self.below.log_rank[documents]).any():
            return _NOTHING, _NOTHING
        return self.below.topic_slope(topic, drawn), log_rank


@dataclass(frozen=True, eq=False)
class Mixture:
    """Mixture of fitted models at one threshold, with the model used in each draw.

    Attributes
    ----------
    components : tuple of FittedModel
    component : ndarray of int, shape (draw,)
        Model of each draw.
    source : ndarray of int, shape (draw,)
        The model's draw of parameters that it takes.
    """

    components: tuple[FittedModel, ...]
    component: OrderArray
    source: OrderArray

    def select_draws(self, draws: OrderArray) -> Self:
        """Return a copy restricted to the given draws."""
        return dataclasses.replace(self, component=self.component[draws], source=self.source[draws])

    def shares(self, weight: FloatArray) -> list[float]:
        """Return each model's weighted share of the draws, given draw weights of shape (draw,)."""
        total = np.bincount(self.component, weight, len(self.components))
        return [float(of_model) for of_model in total / len(weight)]


@dataclass(frozen=True, eq=False)
class NewKind:
    """Second mixture, for draws in which a run is of a kind outside the pool.

    Attributes
    ----------
    mixture : Mixture
        Of models that learned from kinds of runs held out.
    chance : ndarray of float, shape (run,)
        Probability that a run is of a new kind.
    order : ndarray of float, shape (draw,)
        Between 0 and 1: a run is of a new kind in the draws below its probability, so that the draws of two
        runs are nested.
    """

    mixture: Mixture
    chance: FloatArray
    order: FloatArray

    def select_draws(self, draws: OrderArray) -> NewKind:
        """Return a copy restricted to the given draws."""
        return NewKind(self.mixture.select_draws(draws), self.chance, self.order[draws])

    def is_new(self, draws: OrderArray) -> BoolArray:
        """Return whether each run is of a new kind in each given draw, shape (draw, run)."""
        return self.order[draws, None] < self.chance


_UNLIKELY = 0.01


class HeldOut(NamedTuple):
    """Share of held-out organizations inside their 95 % predictive interval.

    Attributes
    ----------
    share : float
        Of the organizations, by the relevant hidden documents of each run; NaN where there are too few.
    n_organizations : int
    """

    share: float = float("nan")
    n_organizations: int = 0

    @property
    def n_held(self) -> int:
        """Number of organizations inside their predictive interval, rounded."""
        return round(self.share * self.n_organizations) if self.n_organizations else 0

    @property
    def is_bad(self) -> bool:
        """Whether coverage this low has a probability below 0.01 under nominal coverage."""
        from scipy.special import bdtr  # of a binomial distribution; scipy.stats takes a second to import

        return bool(bdtr(self.n_held, self.n_organizations, 0.95) < _UNLIKELY)


_TOO_FEW = HeldOut()


@dataclass(frozen=True, eq=False)
class ThresholdPosterior:
    """Fitted models at one relevance threshold, mixed separately for runs of usual and of new kinds.

    Attributes
    ----------
    threshold : Threshold
    mixture : Mixture
        Of models that learned from organizations held out.
    new_kind : NewKind or None
        Those for runs of a new kind; None where no run can be of one.
    held_out : HeldOut
        Coverage of the pool's organizations by the mixture's intervals.
    """

    threshold: Threshold
    mixture: Mixture
    new_kind: NewKind | None = None
    held_out: HeldOut = _TOO_FEW

    @property
    def components(self) -> tuple[FittedModel, ...]:
        """All fitted models, ending with the models for runs of a new kind."""
        return self.mixture.components + (self.new_kind.mixture.components if self.new_kind else ())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all fitted models, including the threshold above the first one."""
        n_usual, label = len(self.mixture.components), self.threshold.label
        return tuple(
            f"{c.model}{', new kind' if i >= n_usual else ''}{label}" for i, c in enumerate(self.components)
        )

    @property
    def fits(self) -> dict[str, Fit]:
        """Fits of all models, by model name."""
        return {name: c.fit for name, c in zip(self.names, self.components, strict=True)}

    @property
    def shares(self) -> list[float]:
        """Share of each model in the draws, averaged over runs."""
        every = np.arange(len(self.mixture.source))
        if self.new_kind is None:
            return self.mixture.shares(np.ones(len(every)))
        new = self.new_kind.is_new(every).mean(axis=1)
        return self.mixture.shares(1 - new) + self.new_kind.mixture.shares(new)

    def select_draws(self, draws: OrderArray) -> ThresholdPosterior:
        """Return a copy restricted to the given draws."""
        new_kind = None if self.new_kind is None else self.new_kind.select_draws(draws)
        return ThresholdPosterior(self.threshold, self.mixture.select_draws(draws), new_kind)

    def log_odds(
        self, draws: OrderArray, topic: int, documents: slice, run: IndexArray, cells: Sequence[FloatArray]
    ) -> FloatArray:
        """Return log odds for a topic's documents in the given draws, shape (draw, document).

        ``cells`` has the effects of organization × topic for each of ``components``.
        """
        log_odds, of = np.empty((len(draws), documents.stop - documents.start)), iter(cells)
        drawn = dict[int, FloatArray]()  # of slopes below the pool
        order, chance = np.zeros(len(self.mixture.source)), np.zeros(self.components[0].effect.shape[1])
        mixtures = [self.mixture]
        if self.new_kind is not None:
            order, chance = self.new_kind.order, self.new_kind.chance
            mixtures.append(self.new_kind.mixture)
        for is_new, mixture in enumerate(mixtures):
            for c, component in enumerate(mixture.components):
                model, of_cells = component.linear, next(of)
                if model is not None and component.predictors is not None:
                    fill_log_odds(
                        log_odds,
                        draws,
                        mixture.component,
                        c,
                        mixture.source,
                        order,
                        chance,
                        bool(is_new),
                        run,
                        model.intercept(topic),
                        model.beta,
                        component.predictors[documents],
                        *component.below_on(topic, documents, drawn),
                        component.effect,
                        of_cells,
                        _NO_SLOPES if component.slopes is None else component.slopes,
                        component.organization_index,
                    )
                    continue
                mine = mixture.component[draws, None] == c
                applies = mine & ((order[draws, None] < chance[run]) == bool(is_new))
                rows = np.flatnonzero(applies.any(axis=1))
                if len(rows):
                    source = mixture.source[draws[rows]]
                    there = component.with_effects(source, topic, documents, run, of_cells)
                    log_odds[rows] = np.where(applies[rows], there, log_odds[rows])
        return log_odds


_N_FOLDS = 5
_SHARE_OF_ONE_SD = 0.6826  # of three values as far apart, between their quantiles of one standard deviation
_NODES, _SHARES = normal_nodes(15)
_LOGISTIC_TO_NORMAL = 256 / (75 * np.pi**2)  # (16√3 / 15π)²: scale of a logistic curve as a normal one
_MIN_ORGANIZATIONS = 4
MODEL_PRIOR_ORGANIZATIONS = 0.1
"""Prior weight for each model, as a number of organizations that it alone predicted."""


class HeldOutTotals(NamedTuple):
    """Predictions for the number of relevant hidden documents in each held-out run, per model.

    Attributes
    ----------
    log_density : ndarray of float, shape (run, model)
        Log predictive densities of the totals.
    at_most, at_least : ndarray of float, shape (run, model)
        Predictive probabilities of as many or fewer, and of as many or more.
    weight : ndarray of float, shape (run,)
        One over the number of runs of the organization, so that each organization counts once.
    """

    log_density: FloatArray
    at_most: FloatArray
    at_least: FloatArray
    weight: FloatArray

    def coverage(self, shares: Sequence[float], prob: float = 0.95) -> HeldOut:
        """Return the held-out coverage for the mixture's equal-tailed intervals."""
        tail = (1 - prob) / 2
        inside = (self.at_most @ shares > tail) & (self.at_least @ shares > tail)
        n = self.weight.sum()
        share = min(1.0, float(self.weight @ inside / n)) if n else float("nan")  # a sum of thirds may pass 1
        return HeldOut(share, round(n))


def decide_weights(
    prepared: Mapping[str, PreparedModel], fits: Mapping[str, Fit | Start]
) -> tuple[list[float], HeldOut]:
    """Return the models' mixture weights with their held-out coverage.

    Weights are those of `stacking_weights`, or equal with too little to tell by.
    """
    evidence = [part.evidence for part in prepared.values()]
    can_tell = all(
        isinstance(part, LinearEvidence) and len(part.organizations) >= _MIN_ORGANIZATIONS
        for part in evidence
    )
    if len(prepared) == 1 or not can_tell:
        return [1 / len(prepared)] * len(prepared), _TOO_FEW
    totals = held_out_totals(prepared, fits)
    shares = stacking_weights(totals.log_density, totals.weight).tolist()
    return shares, totals.coverage(shares)


def held_out_totals(prepared: Mapping[Any, PreparedModel], fits: Mapping[Any, Fit | Start]) -> HeldOutTotals:
    """Predict the number of relevant hidden documents in runs of held-out organizations.

    Each of five folds of organizations is predicted by the Laplace approximation given the others, with new
    organizations' effects. The score is of a run's total, the target of estimates, on at most 2,000 topics:
    organizations tell models apart, and more topics add none. No random number takes part, but that
    approximations start from the draws of fits that have no `Start`.

    Parameters
    ----------
    prepared : mapping of str to PreparedModel
        Models with predictors on the same hidden documents.
    fits : mapping of str to Fit
        Fits of these models to all of the evidence, or their starts: where the approximations begin.
    """
    columns, weight = [], np.zeros(0)
    for name, model in prepared.items():
        evidence = model.evidence
        if not isinstance(evidence, LinearEvidence):
            raise TypeError(f"{model.model} has no predictors")
        whole, n_organizations = _near(model, fits[name]), len(evidence.organizations)
        every = part_of_topics(len(evidence.query_ids))
        if not every.all() and "topic_effect" in whole:
            evidence = evidence.select_topics(every)
            whole["topic_effect"] = whole["topic_effect"][:, every]
        runs, run = np.unique(evidence.run, return_inverse=True)
        predicted = np.empty((3, len(runs)))
        organization = np.zeros(len(runs), dtype=np.int64)
        organization[run] = evidence.organization
        for fold in range(min(_N_FOLDS, n_organizations)):
            held_out = np.arange(n_organizations) % _N_FOLDS == fold
            seen, held = evidence.select_organizations(~held_out), evidence.select_organizations(held_out)
            near = whole | _organization_draws(whole, ~held_out)
            if not len(held.run):
                continue
            with one_thread():
                of_fold = np.unique(run[held_out[evidence.organization]])
                predicted[:, of_fold] = _predict_run_totals(model, seen, held, near)
        columns.append(predicted)
        weight = 1 / np.bincount(organization, minlength=n_organizations)[organization]
    log_density, at_most, at_least = np.stack(columns, axis=-1)
    return HeldOutTotals(log_density, at_most, at_least, weight)


def _predict_run_totals(
    model: PreparedModel, seen: LinearEvidence, held: LinearEvidence, near: Mapping[str, FloatArray]
) -> FloatArray:
    """Return log density, lower tail and upper tail probabilities for run totals, shape (3, run)."""
    # A total is normal given scales and the organization's effect, which is integrated by Gauss–Hermite
    # nodes. Mean and variance depend on the other parameters and slopes, normal themselves. Effects of
    # organization × topic, of standard deviation τ, draw chances to a half and turn a count's variance V into
    # V + τ²V² (Williams 1982, Extra-binomial variation in logistic linear models, Applied Statistics 31,
    # 144–148).
    density, rows = Density(model.structure(seen, ())), np.lexsort((held.topic, held.run))
    (predictor,) = model.structure(held).blocks[-1].predictors
    known_effects = {n: g for n, g in predictor.groups.items() if n in model.spec.known_effects}
    documents = Rows(density.places, dataclasses.replace(predictor, groups=known_effects, varying=None), rows)
    far = (held.predictors[rows] ** 2).sum(axis=1)
    of_predictors = (
        np.arange(density.size)[density.slices[model.spec.slopes]]
        if model.spec.slopes
        else np.zeros(0, dtype=np.intp)
    )
    n, of_topic = held.n_hidden[rows].astype(float), _group_starts(held.run[rows], held.topic[rows])
    of_run = _group_starts(held.run[rows])
    first, run = np.searchsorted(of_topic, of_run), np.searchsorted(of_run, of_topic, side="right") - 1
    known = np.add.reduceat(held.n_hidden_relevant[rows], of_run)[:, None]
    new, used = np.sqrt(1 + 1 / len(seen.organizations)), documents.parameters
    approximation, log_densities, tails = approximate(density, near=near), list[FloatArray](), []
    for k, share in enumerate(approximation.weight):
        scales = dict(zip(density.scales, np.exp(approximation.theta[k]), strict=True))
        x, gaussian = approximation.mean[k], approximation.gaussian_at(k)
        mean, spread = documents.predict(x, gaussian)
        tau, sigma = scales.get("interaction", 0.0), scales.get("slope", 0.0)
        root = np.sqrt(1 + _LOGISTIC_TO_NORMAL * (tau**2 + spread + sigma**2 * far))
        effects = new * scales.get("organization", 0.0) * _NODES
        totals, of_rankings, slopes = documents.totals(mean, root, n, effects, of_topic, run)
        of_rankings += tau**2 * of_rankings**2
        variance = np.add.reduceat(of_rankings, first) + 1 / 12
        variance += sigma**2 * (slopes[of_predictors] ** 2).sum(axis=0)
        flat = slopes.reshape(density.size, -1)
        if flat.shape[1] > len(used):  # the form with fewer columns of the covariance
            covariance, slopes = gaussian.solve(np.eye(density.size)[:, used])[used], slopes[used]
            variance += (slopes * np.tensordot(covariance, slopes, axes=1)).sum(axis=0)
        else:
            variance += (flat * gaussian.solve(flat)).sum(axis=0).reshape(variance.shape)
        off = known - totals
        log_densities.append(
            np.log(share * _SHARES) - 0.5 * (off**2 / variance + np.log(2 * np.pi * variance))
        )
        ends = np.stack([off + 0.5, 0.5 - off]) / np.sqrt(variance)
        tails.append(share * (ndtr(ends) @ _SHARES))
    return np.vstack([logsumexp(log_densities, axis=(0, 2)), np.sum(tails, axis=0)])


def _near(model: PreparedModel, fit: Fit | Start) -> dict[str, FloatArray]:
    """Return draws of a fit, or three about its start, whose medians and spreads are those of the start."""
    start = fit if isinstance(fit, Start) else fit.start
    if start is None:
        assert isinstance(fit, Fit)
        return fit.draws()
    density = Density(model.structure(known=model.known))
    near = {}
    for name, coefficient in density.structure.coefficients.items():
        values = start.x[density.slices[name]]
        values = expit(values) if coefficient.logit else values
        near[name] = np.repeat([values[0] if coefficient.size is None else values], 3, axis=0)
    for theta, spread, name in zip(start.theta, start.spread, density.scales, strict=True):
        near[f"sigma_{name}"] = np.exp(theta + np.array([-1, 0, 1]) * spread / _SHARE_OF_ONE_SD)
        if name in density.slices:
            near[f"{name}_effect"] = np.repeat([start.x[density.slices[name]]], 3, axis=0)
    return near


def _organization_draws(draws: Mapping[str, FloatArray], kept: BoolArray) -> dict[str, FloatArray]:
    """Return draws of effects and slopes for a subset of organizations."""
    own = {"organization_effect": draws["organization_effect"][:, kept]}
    if "slope_effect" in draws:
        slopes = draws["slope_effect"].reshape(len(own["organization_effect"]), len(kept), -1)[:, kept]
        own["slope_effect"] = slopes.reshape(len(slopes), -1)
    return own


def _group_starts(*keys: AnyArray) -> OrderArray:
    """Return the first row index of each group in sorted key columns, shape (group,)."""
    changed = np.any([np.diff(key, prepend=-1) != 0 for key in keys], axis=0)
    return np.flatnonzero(changed)


def stacking_weights(densities: FloatArray, weight: FloatArray) -> FloatArray:
    """Return mixture weights that maximize the penalized log predictive density, shape (model,).

    Parameters
    ----------
    densities : ndarray of float, shape (observation, model)
    weight : ndarray of float, shape (observation,)

    Examples
    --------
    >>> stacking_weights(np.log([[0.9, 0.1]] * 50), np.ones(50)).round(3).tolist()
    [0.998, 0.002]
    """
    n_models = densities.shape[1]
    weights = np.full(n_models, 1 / n_models)
    likelihood = np.exp(densities - densities.max(axis=1, keepdims=True))
    for _ in range(20_000):  # converges slowly where models hardly differ, but a step is cheap
        share = weights * likelihood
        updated = (weight / share.sum(axis=1)) @ share + MODEL_PRIOR_ORGANIZATIONS
        updated /= updated.sum()
        if np.abs(updated - weights).max() < 1e-9:
            break
        weights = updated
    return weights


def mix(draws: list[IntArray], weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """Combine the models' draws into mixture draws using model weights, shape (draw, ...)."""
    n = len(draws[0])
    return np.stack(draws)[draw_members(n, weights, rng), np.arange(n)]


def draw_members(n: int, weights: FloatArray, rng: np.random.Generator) -> OrderArray:
    """Draw a model index for each of n mixture draws using model weights, shape (draw,)."""
    position = (rng.permutation(n) + rng.random(n)) / n
    return np.searchsorted(np.cumsum(weights), position).clip(max=len(weights) - 1)

"""Posterior of the difference that unjudged documents make to a score, learned from pooled runs left out."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import expit, logit

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray
from bayespool.collection import Collection
from bayespool.compiled import one_thread
from bayespool.corrections.base import to_integer_amounts
from bayespool.evidence import Bounds, Estimand, score_bounds
from bayespool.evidence.held_out import sole_beside
from bayespool.measures import Estimates, Measure, Values, parse_measures
from bayespool.notes import Note
from bayespool.randomness import key_of
from bayespool.validation import check_count

_INTERCEPT = -1.5, 1.5  # mean and standard deviation, log odds of a share
_SCALES = 1.5, 1.0, 1.0  # of half-normal priors: organizations, runs within them, topics
_GRID = np.exp(np.linspace(math.log(0.03), math.log(6.0), 80))  # of these standard deviations
_EFFECTS = np.linspace(-8.0, 5.0, 79)  # of the run to score, where it has differences of its own
_N_KEPT, _BURN_IN, _REWEIGHT_EVERY = 250, 60, 3
_MOST = 0.999  # of the variance of a share, as a fraction of that of 0 or 1


class Differences(NamedTuple):
    """Differences t − u of pooled runs on topics, as shares of the largest possible, arrays of shape (cell,).

    ``features`` has the shape (cell, feature); ``n_open`` are the documents behind a difference.
    """

    share: FloatArray
    n_open: IndexArray
    features: FloatArray
    organization: IndexArray
    run: IndexArray
    topic: IndexArray
    n_topics: int


class ShareDraws(NamedTuple):
    """Draws of the parameters: coefficients (draw, feature), topic effects (draw, topic), the standard
    deviation of a new run's effect and the dispersion (draw,), and how much of it documents share.
    """

    coefficients: FloatArray
    topic: FloatArray
    scale: FloatArray
    dispersion: FloatArray
    shared: float

    def log_odds(self, features: FloatArray, topic: IndexArray) -> FloatArray:
        """Return the log odds of a share without the run's effect, shape (draw, cell)."""
        return np.asarray(self.coefficients @ features.T + self.topic[:, topic])

    def spread(self, n_open: AnyArray) -> FloatArray:
        """Return the variance of a share over that of an indicator with its mean, shape (draw, cell)."""
        return np.minimum(self.dispersion[:, None] * _per_cell(self.shared, n_open), _MOST)


@dataclass(frozen=True, kw_only=True)
class PosteriorDifference:
    r"""Posterior of a run's score by a hierarchy of differences (after Webber & Park 2009).

    With each organization held out in turn, a pooled run r loses the difference t − u between its full and
    its remaining score on topic q, at most the width Δ of its bounds:

    .. math::

        t_{rq} - u_{rq} = \Delta_{rq} f_{rq}, \qquad \mathrm{E} f_{rq} = m_{rq}, \quad
        \operatorname{logit} m_{rq} = \beta' x_{rq} + \mathrm{topic}_q + \mathrm{organization}_{o(r)} +
        \mathrm{run}_r, \quad
        \operatorname{Var} f_{rq} = \phi\, m_{rq} (1 - m_{rq}) \Bigl( \frac{1 - \rho}{v_{rq}} + \rho \Bigr)

    where v documents are unjudged and x are 1 and the log odds of the run's judged score, on the topic and
    over all. The run to score has new effects (algorithm 1); on common topics where it is judged in full its
    own differences inform them (algorithm 2), and are known themselves.

    Parameters
    ----------
    estimand : {"complete", "pooled"}
        Whether unjudged documents below the pool depth may be relevant (`bayespool.evidence.bounds`).
    draws, chains : int
        ``draws × chains`` independent draws of the score, from 250 of the parameters.
    random_seed : int
        The same seed, collection and settings give the same bytes.

    Raises
    ------
    InputError
        A setting is out of range.

    Notes
    -----
    Effects are normal, with half-normal standard deviations, sampled by Gibbs steps from the penalized
    quasi-likelihood; a drawn share has a beta distribution. The model is of the differences of one measure.
    Runs share the draws of its parameters, but a document of two runs is drawn for each of them, so that the
    interval of their difference is too wide rather than too narrow.

    Examples
    --------
    >>> from bayespool import load_example, score
    >>> scores = score(load_example(), "new-a", "nDCG@10", estimators="posterior-difference")
    >>> frame = scores.to_frame().round(2)
    >>> print(frame[["value", "lower", "upper"]].to_string(index=False, header=False))
    0.57 0.56 0.58
    """

    estimand: Estimand = "complete"
    draws: int = 1000
    chains: int = 4
    random_seed: int = 1

    def __post_init__(self) -> None:
        check_count("draws", self.draws)
        check_count("chains", self.chains)
        check_count("random_seed", self.random_seed, least=0)

    @property
    def name(self) -> str:
        """Estimator name."""
        return "posterior-difference"

    def estimate(
        self, collection: Collection, run_ids: str | Iterable[str] | None = None, measures: object = "P@10"
    ) -> tuple[Estimates, ...]:
        """Return the posterior of each run's corrected score under each measure.

        Parameters
        ----------
        collection : Collection
        run_ids : str or iterable of str, optional
            Default: the runs that were not pooled.
        measures : measure or iterable of measures

        Returns
        -------
        tuple of Estimates
            One per measure, with draws; without values where a run with unjudged documents lacks another
            pooled run.
        """
        index = collection.run_index(collection.unpooled_run_ids if run_ids is None else run_ids)
        runs = tuple(collection.run_ids[i] for i in index)
        return tuple(self._estimate(collection, runs, measure) for measure in parse_measures(measures))

    def _estimate(self, collection: Collection, runs: tuple[str, ...], measure: Measure) -> Estimates:
        """Return the posterior of the runs' scores under one measure."""
        bounds = score_bounds(collection, runs, measure, estimand=self.estimand)
        is_open, room = _room(bounds)
        pooled = collection.pooled[collection.run_index(runs)]
        lacking = (collection.pooled.sum() == pooled) & is_open.any(axis=1)
        if lacking.any():
            drawn, per_topic = None, np.where(lacking[:, None], np.nan, bounds.lower)
        else:
            drawn = self._draw(collection, bounds, is_open, room)
            per_topic = drawn.on_topics()
        return Estimates(
            estimator=self.name,
            measure=measure,
            run_ids=bounds.run_ids,
            query_ids=bounds.query_ids,
            per_topic=per_topic,
            value=per_topic.mean(axis=1) if drawn is None else drawn.expected(),
            std=None if drawn is None else drawn.std(),
            draws=drawn,
            notes=tuple((Note("estimator", "needs a pooled run"),) * lacks for lacks in lacking.tolist()),
            fingerprint=collection.fingerprint,
            random_seed=self.random_seed,
        )

    def _draw(self, collection: Collection, bounds: Bounds, is_open: BoolArray, room: FloatArray) -> Values:
        """Draw scores, shape (draw, run, topic)."""
        measure, n_draws = bounds.measure, self.draws * self.chains
        pool = collection.without_judgments(collection.is_own)
        before = score_bounds(pool, bounds.run_ids, measure, estimand=self.estimand)
        was_open, former = _room(before)
        low = np.where(is_open, bounds.lower, before.lower)
        features = _features(low, np.where(is_open, room, former), measure)
        is_known = was_open & (bounds.n_unjudged == 0)
        values = np.repeat(bounds.lower[None], n_draws, axis=0)
        seed = self.random_seed, self.name, measure
        with one_thread():
            known = find_differences(pool, measure)
            shares = fit_shares(known, np.random.default_rng(key_of(*seed)), min(_N_KEPT, n_draws))
            for row, run in enumerate(bounds.run_ids):
                own, left = np.flatnonzero(is_known[row]), np.flatnonzero(is_open[row])
                gained = (bounds.lower - before.lower)[row, own]
                values[:, row, left] += room[row, left] * draw_shares(
                    shares,
                    (features[row, own], own, before.n_unjudged[row, own], gained / former[row, own]),
                    (features[row, left], left, bounds.n_unjudged[row, left]),
                    np.random.default_rng(key_of(*seed, run)),
                    n_draws,
                )
        if not measure.is_exact:
            return Values(values * measure.unit, measure.unit)
        ends = bounds.low.amount, np.rint((bounds.lower + is_open * room) * measure.unit).astype(np.int32)
        return Values(np.clip(to_integer_amounts(values, measure), *ends), measure.unit)


def _room(bounds: Bounds) -> tuple[BoolArray, FloatArray]:
    """Return where unjudged documents can change scores, and by how much at most, shape (run, topic)."""
    rise = np.minimum(bounds.upper, bounds.most.scores()) - bounds.lower
    room = np.where(rise > 0, rise, bounds.least.scores() - bounds.lower)
    return (bounds.n_unjudged > 0) & (np.abs(room) > 1e-9), room


def _features(low: FloatArray, room: FloatArray, measure: Measure) -> FloatArray:
    """Return 1 and log odds of the judged part of the score, on the topic and over all; (run, topic, 3)."""
    top = measure.range[1] if math.isfinite(measure.range[1]) else float((low + np.abs(room)).max(initial=1))
    gained, judged = low / top, 1 - np.abs(room) / top
    on_topic = (gained + 0.05) / (judged + 0.1)
    over_all = (gained.sum(axis=1, keepdims=True) + 1) / (judged.sum(axis=1, keepdims=True) + 2)
    columns = [logit(np.clip(share, 0.01, 0.99)) for share in np.broadcast_arrays(on_topic, over_all)]
    return np.stack([np.ones_like(low), *columns], axis=-1)


def find_differences(collection: Collection, measure: Measure) -> Differences:
    """Return the differences of pooled runs, each with its organization held out, where there can be any."""
    sole = np.where(collection.judged, sole_beside(collection, "organization", None), -1)
    # what is unjudged anyway makes no difference
    known = collection.judged_at_most(np.zeros(len(sole), dtype=bool))
    pooled = np.flatnonzero(collection.pooled)
    parts = []
    for place, organization in enumerate(np.unique(collection.organization[pooled])):
        runs = pooled[collection.organization[pooled] == organization]
        names = [collection.run_ids[run] for run in runs]
        full = score_bounds(known, names, measure).lower
        left = score_bounds(known.without_judgments(sole == organization), names, measure)
        is_open, room = _room(left)
        row, topic = np.nonzero(is_open)
        share = (full - left.lower)[is_open] / room[is_open]
        features = _features(left.lower, room, measure)[is_open]
        parts.append((share, left.n_unjudged[is_open], features, np.full(len(row), place), runs[row], topic))
    share, n_open, features, organizations, runs, topic = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return Differences(
        np.clip(share, 0, 1), n_open, features, organizations, runs, topic, len(collection.query_ids)
    )


def _per_cell(shared: float, n_open: AnyArray) -> FloatArray:
    return np.asarray((1 - shared) / n_open + shared)


def fit_shares(known: Differences, rng: np.random.Generator, n_kept: int) -> ShareDraws:
    """Sample the parameters of the model of shares by Gibbs steps.

    The working response and weights of the logistic link are those of the mode, found while burning in.
    """
    n, n_features = known.features.shape
    groups = [np.unique(x, return_inverse=True)[1] for x in (known.organization, known.run)]
    groups.append(known.topic)
    sizes = [*(int(group.max(initial=-1)) + 1 for group in groups[:2]), known.n_topics]
    ends = np.cumsum([n_features, *sizes])
    design = np.zeros((n, ends[-1]))
    design[:, :n_features] = known.features
    for start, group in zip(ends, groups, strict=False):
        design[np.arange(n), start + group] = 1
    prior_mean = np.zeros(ends[-1])
    precision = np.ones(ends[-1])
    prior_mean[0], precision[0] = _INTERCEPT[0], _INTERCEPT[1] ** -2
    scales, dispersion, shared = np.full(3, 0.5), 1.0, 0.3
    log_odds = np.full(n, logit(np.clip(known.share.mean() if n else 0.5, 0.02, 0.98)))
    kept = []
    for step in range(_BURN_IN + n_kept):
        if step < _BURN_IN and step % _REWEIGHT_EVERY == 0:
            mean = np.clip(expit(log_odds), 0.002, 0.998)
            variance = mean * (1 - mean)
            if step and n:
                shared = _shared_dispersion((known.share - mean) ** 2 / variance, known.n_open)
            response = log_odds + (known.share - mean) / variance
            weight = variance / _per_cell(shared, known.n_open)
            normal = design.T @ (weight[:, None] * design)
            target = design.T @ (weight * response)
        precision[n_features:] = np.repeat(scales**-2.0, sizes)
        root = np.linalg.cholesky(normal / dispersion + np.diag(precision))
        center = cho_solve((root, True), target / dispersion + precision * prior_mean, check_finite=False)
        noise = rng.standard_normal(len(center))
        drawn = center + solve_triangular(root, noise, lower=True, trans=1, check_finite=False)
        log_odds = design @ center
        misfit = weight @ (response - design @ drawn) ** 2
        dispersion = (misfit / 2 + 1) / rng.gamma(n / 2 + 1)
        effects = np.split(drawn[n_features:], np.cumsum(sizes)[:-1])
        scales = np.array([_draw_scale(rng, e, s) for e, s in zip(effects, _SCALES, strict=True)])
        if step >= _BURN_IN:
            kept.append((drawn, math.hypot(scales[0], scales[1]), dispersion))
    parameters, scale, dispersions = (np.array(column) for column in zip(*kept, strict=True))
    return ShareDraws(parameters[:, :n_features], parameters[:, ends[2] :], scale, dispersions, shared)


def _shared_dispersion(square: FloatArray, n_open: AnyArray) -> float:
    """Return the part of the dispersion that does not fall with the number of documents, by least squares."""
    columns = np.stack([1 / n_open, np.ones(len(n_open))], axis=1)
    alone, shared = np.maximum(np.linalg.lstsq(columns, np.minimum(square, 25), rcond=None)[0], 0.02)
    return float(shared / (alone + shared))


def _draw_scale(rng: np.random.Generator, effects: FloatArray, prior: float) -> float:
    """Draw a standard deviation of effects from its conditional distribution on a grid."""
    density = (1 - len(effects)) * np.log(_GRID) - (effects @ effects / _GRID**2 + _GRID**2 / prior**2) / 2
    return float(_GRID[_pick(density[None], rng)[0]])


def _pick(log_density: FloatArray, rng: np.random.Generator) -> IndexArray:
    """Draw a place in each row with probabilities proportional to a density."""
    total = np.cumsum(np.exp(log_density - log_density.max(axis=1, keepdims=True)), axis=1)
    return np.asarray((total < rng.random((len(total), 1)) * total[:, -1:]).sum(axis=1))


def draw_shares(
    shares: ShareDraws,
    own: tuple[FloatArray, IndexArray, IndexArray, FloatArray],
    left: tuple[FloatArray, IndexArray, IndexArray],
    rng: np.random.Generator,
    n_draws: int,
) -> FloatArray:
    """Draw the shares of a run outside the pool on topics that are left, shape (draw, topic).

    Topics come as features, indices and numbers of documents; those of its own with their shares, too.
    """
    features, topic, n_open, share = own
    log_odds, spread = shares.log_odds(features, topic), shares.spread(n_open)
    density = -(_EFFECTS**2) / (2 * shares.scale[:, None] ** 2)
    for cell, value in enumerate(np.clip(share, 0, 1)):
        at = log_odds[:, cell, None] + _EFFECTS
        density = density + (value * at - np.logaddexp(0, at)) / spread[:, cell, None]
    index = np.arange(n_draws) % len(shares.scale)
    width = _EFFECTS[1] - _EFFECTS[0]
    effect = _EFFECTS[_pick(density[index], rng)] + width * (rng.random(n_draws) - 0.5)
    features, topic, n_open = left
    mean = np.clip(expit(shares.log_odds(features, topic)[index] + effect[:, None]), 1e-4, 1 - 1e-4)
    size = 1 / shares.spread(n_open)[index] - 1
    return np.asarray(rng.beta(mean * size, (1 - mean) * size))

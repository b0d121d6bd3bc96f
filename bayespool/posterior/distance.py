"""Runs outside the pool: distance and kinds, effects of new organizations, log odds below the pool."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from scipy.special import chdtri, gammaln, ndtr

from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray, OrderArray
from bayespool.collection import Collection
from bayespool.collection.copies import run_overlap
from bayespool.corrections import Background, Interpolated
from bayespool.errors import InputError
from bayespool.evidence import Estimand, document_table, held_out_counts, score_bounds
from bayespool.evidence.held_out import HeldOutDocuments
from bayespool.measures import Measure
from bayespool.models import Effect, ModelSpec
from bayespool.models.priors import Prior, draw_prior
from bayespool.posterior.drawing import add_slopes
from bayespool.randomness import key_of, normals

FAR = 1.5
"""Smallest distance from the pool at which a run of a probably new kind is called unlike it."""
LEAST_OPEN = 0.05
"""Smallest unjudged share of a run's top ranks at which it is called unlike the pool.

With less the bounds are as narrow as the interval of a run of the pool's kinds, whatever the run is.
"""

_FEATURES = ("run_unjudged", "run_precision")
_PRIOR_SD = np.array([1.3, 0.5])  # between organizations of a pool, by feature
_PRIOR_CORRELATION = -0.5  # runs with more unjudged documents have fewer relevant ones
_PRIOR_ORGANIZATIONS = 4  # weight of this prior in organizations
_NEW_KIND_CONCENTRATION = 6.0
_NEW_KIND_SCALE = 2.0  # spread of kinds over that of organizations


@dataclass(frozen=True, eq=False)
class PoolDistance:
    """Distances between runs and the pool.

    Attributes
    ----------
    distance : ndarray of float, shape (run,)
        In standard deviations between the pool's organizations, over two features; NaN without a pool.
    new_kind : ndarray of float, shape (run,)
        Probability of a kind outside the pool; 0 for pooled runs, for copies of these, and without a pool.
    """

    distance: FloatArray
    new_kind: FloatArray

    def is_far(self, shares: FloatArray) -> BoolArray:
        """Return whether each run is called unlike the pool, given unjudged shares, shape (run,)."""
        return (self.new_kind > 0.5) & (self.distance >= FAR) & (shares >= LEAST_OPEN)


def distance_from_pool(
    collection: Collection, run_ids: Sequence[str], *, rel: int = 1, given: int = 0
) -> PoolDistance:
    r"""Return distances between runs and the pooled organizations.

    The features of a run over all topics, with its own organization held out, are the predictors
    ``run_unjudged`` and ``run_precision``: log odds that a document of its top 10 to 30 is unjudged, and that
    a judged one there is relevant. With :math:`m` their mean and :math:`S` their covariance over the pooled
    runs, each of the :math:`J` organizations counting once, the latter shrunk to that of other pools, the
    distance is :math:`\sqrt{(x - m)' S^{-1} (x - m)}`.

    The probability of a new kind follows by Bayes' rule. The next organization starts a new kind with prior
    odds of :math:`\theta / J` (θ = 6), as in a Chinese restaurant process. Features of the pool's kinds have
    the predictive t distribution of the pool's organizations; those of a new kind one that is twice as wide.

    Parameters
    ----------
    collection : Collection
    run_ids : sequence of str
    rel, given : int
        Smallest relevance that counts as relevant, and of documents that count.

    Examples
    --------
    >>> from bayespool import load_example
    >>> pool = distance_from_pool(load_example(), ["new-a", "new-b"])
    >>> pool.distance.round(1).tolist(), pool.new_kind.round(2).tolist()
    ([1.6, 0.8], [0.32, 0.21])
    """
    pooled, index = np.flatnonzero(collection.pooled), collection.run_index(run_ids)
    if not len(pooled):
        return PoolDistance(np.full(len(index), np.nan), np.zeros(len(index)))
    runs = np.concatenate([pooled, index])
    ones = np.ones(len(runs), dtype=np.intp)
    features = document_table(  # both predictors are of rankings, so that any document will do
        collection,
        runs,
        0 * ones,
        ones,
        np.zeros(len(runs), dtype=np.int32),
        depth=1,
        rel=rel,
        given=given,
        names=_FEATURES,
    )
    _, own, n_runs = np.unique(collection.organization[pooled], return_inverse=True, return_counts=True)
    weight, n = 1 / n_runs[own] / len(n_runs), len(n_runs)
    known = features[: len(pooled)]
    mean = weight @ known
    covariance = (known - mean).T @ ((known - mean) * weight[:, None])
    prior = np.outer(_PRIOR_SD, _PRIOR_SD) * np.array([[1, _PRIOR_CORRELATION], [_PRIOR_CORRELATION, 1]])
    shrunk = (n * covariance + _PRIOR_ORGANIZATIONS * prior) / (n + _PRIOR_ORGANIZATIONS)
    off = features[len(pooled) :] - mean
    square = (off * np.linalg.solve(shrunk, off.T).T).sum(axis=1)
    freedom, alike = n + _PRIOR_ORGANIZATIONS - len(_FEATURES), 1 + 1 / n
    log_odds = np.log(_NEW_KIND_CONCENTRATION / n)
    log_odds = (
        log_odds + _log_t(square, freedom, alike - 1 + _NEW_KIND_SCALE**2) - _log_t(square, freedom, alike)
    )
    is_known = collection.pooled[collection.run_index(collection.originals(run_ids))]
    new_kind = np.where(is_known, 0.0, 1 / (1 + np.exp(-log_odds)))
    return PoolDistance(np.sqrt(square), new_kind)


def _log_t(square: FloatArray, freedom: int, scale: float) -> FloatArray:
    """Return the log density of a bivariate t at squared distances, up to a constant."""
    return np.asarray(-(freedom + 2) / 2 * np.log1p(square / (scale * freedom)) - np.log(scale))


N_KINDS = 4
"""Default number of kinds into which the pool's organizations are grouped.

Few, so that each kind is as unlike the rest of the pool as possible.
"""

_OVERLAP_DIGITS = 9  # decimals of overlaps; further ones depend on the order of sums


def find_kinds(collection: Collection, n_kinds: int = N_KINDS) -> tuple[tuple[str, ...], ...]:
    """Group the pool's organizations into kinds of similar size whose runs retrieve alike.

    The largest set of organizations is halved along the first principal coordinate of 1 − the mean overlap of
    their runs (`bayespool.evidence.composition`), until there are enough.

    Parameters
    ----------
    collection : Collection
        Its judgments are not used.
    n_kinds : int, default 4

    Returns
    -------
    tuple of tuple of str
        Organizations with a pooled run, in the collection's order within each kind; as many kinds as
        organizations where these are fewer.

    Raises
    ------
    InputError
        Fewer than one kind.

    References
    ----------
    J. C. Gower (1966). Some distance properties of latent root and vector methods used in multivariate
    analysis. Biometrika 53, 325–338.

    Examples
    --------
    >>> from bayespool import load_example
    >>> for kind in find_kinds(load_example(), 3):
    ...     print(", ".join(kind))
    coast, ridge
    delta, east, north, south
    lake, west
    """
    if n_kinds < 1:
        raise InputError(f"{n_kinds} kinds", hint="1 or more")
    index = np.flatnonzero(collection.pooled)
    present, own = np.unique(collection.organization[index], return_inverse=True)
    share = np.zeros((len(index), len(present)))
    share[np.arange(len(index)), own] = 1 / np.bincount(own)[own]
    apart = np.round(1 - share.T @ run_overlap(collection, index) @ share, _OVERLAP_DIGITS)
    kinds = [np.arange(len(present))] if len(present) else []
    while len(kinds) < min(n_kinds, len(present)):
        kinds.sort(key=len)
        kinds += _halve(kinds.pop(), apart)
    in_order = sorted(np.sort(kind).tolist() for kind in kinds)
    return tuple(tuple(collection.organizations[present[o]] for o in kind) for kind in in_order)


def _halve(members: OrderArray, apart: FloatArray) -> list[OrderArray]:
    """Split organizations into two similar halves along the first principal coordinate of their distances."""
    distance = apart[np.ix_(members, members)]
    np.fill_diagonal(distance, 0)
    mean = distance.mean(axis=0)
    centered = -(distance - mean - mean[:, None] + distance.mean()) / 2
    first = np.round(np.linalg.eigh(centered)[1][:, -1], _OVERLAP_DIGITS)
    if (first**3).sum() < 0:  # its sign is arbitrary
        first = -first
    order = np.argsort(first, kind="stable")
    gaps, cuts = np.diff(first[order]), np.arange(1, len(members))
    distinct = cuts[gaps > 0] if (gaps > 0).any() else cuts
    cut = min(distinct, key=lambda c: (abs(2 * c - len(members)), -gaps[c - 1]))
    return [members[order[:cut]], members[order[cut:]]]


def with_kinds(collection: Collection, n_kinds: int = N_KINDS) -> Collection:
    """Return the collection with organizations replaced by kinds, all unpooled runs as one new kind."""
    kinds = find_kinds(collection, n_kinds)
    kind_of = {name: k for k, kind in enumerate(kinds) for name in kind}
    # a run with judgments of its own keeps its organization, which is evidence
    first, own = len(collection.organizations), np.isin(collection.run_index(), collection.contributors)
    organization = np.where(own, collection.organization, first + len(kinds)).astype(np.int32)
    for i in np.flatnonzero(collection.pooled):
        organization[i] = first + kind_of[collection.organizations[collection.organization[i]]]
    names = [f"kind {k}: {', '.join(kind)}" for k, kind in enumerate(kinds, 1)]
    return dataclasses.replace(
        collection,
        judges=tuple(
            dataclasses.replace(judge, organization=collection.organization) for judge in collection.judges
        ),
        organization=organization,
        organizations=(*collection.organizations, *names, "new kind"),
    )


def sensitivity(
    collection: Collection, run_ids: Sequence[str], measure: Measure, estimand: Estimand = "complete"
) -> tuple[FloatArray, FloatArray]:
    """Return run scores if unjudged documents are relevant as often as hidden ones and as judged ones.

    Two arrays of shape (run,).
    """
    held_out = held_out_counts(collection, cutoffs=measure.cutoff, rel=measure.rel)
    n_hidden = int(held_out.n_credited.sum())
    share = int(held_out.n_credited_relevant.sum()) / n_hidden if n_hidden else 0.0
    (as_pool,) = Background(e=share, estimand=estimand).estimate(collection, run_ids, measure)
    (as_run,) = Interpolated(c=1.0, e=share, estimand=estimand).estimate(collection, run_ids, measure)
    some = score_bounds(collection, run_ids, measure, estimand=estimand).n_judged.any(axis=1)
    return as_pool.value, np.where(some, as_run.value, np.nan)


def new_organization_sd(sigma: FloatArray, n_organizations: int) -> FloatArray:
    """Return the standard deviation for a new organization's effect about the intercept, shape (draw,)."""
    return np.asarray(sigma * np.sqrt(1 + (1 / n_organizations if n_organizations else 0)))


_FEW = 10  # unjudged documents of a run


def fewness(n: IndexArray) -> FloatArray:
    """Return how few documents there are, from 1 for none to 0."""
    return np.exp(-n / _FEW)


def stretch_with_few(
    prior: Prior, n_unjudged: IndexArray, n_hidden: IndexArray, n_draws: int, random_seed: int
) -> FloatArray:
    """Return factors of new organizations' effects on runs with few unjudged documents, shape (draw, run).

    Variances of effects are as 1 + c exp(−n / 10), with n unjudged documents of a run, or hidden ones of an
    organization, by which the learned scale is divided; c is drawn from its prior.

    Parameters
    ----------
    prior : Prior
    n_unjudged : ndarray of int, shape (run,)
    n_hidden : ndarray of int, shape (organization,)
        Of the evidence, in which organizations count by their documents.
    n_draws, random_seed : int
    """
    c = draw_prior(prior, (n_draws, 1), np.random.default_rng(key_of(random_seed, "few documents")))
    usual = np.average(1 + c * fewness(n_hidden), axis=1, weights=n_hidden)
    return np.sqrt(np.maximum(1, (1 + c * fewness(n_unjudged)) / usual[:, None]))


def new_organization_effect(
    sigma: FloatArray, n_organizations: int, organization: AnyArray, rng: np.random.Generator
) -> FloatArray:
    """Draw effects for organizations outside the evidence, shape (draw, run).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of the standard deviation between organizations.
    n_organizations : int
        Number J of organizations whose mean is the intercept: its standard error about the population mean is
        σ/√J. 0 without evidence, when the intercept is the population's.
    organization : ndarray of int, shape (run,)
        Runs with one number share one effect.
    rng : numpy.random.Generator
    """
    return new_interaction(new_organization_sd(sigma, n_organizations), organization, rng)


def new_interaction(sigma: FloatArray, cell: AnyArray, rng: np.random.Generator) -> FloatArray:
    """Draw organization × topic effects outside the evidence, shape (draw, document).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of their standard deviation.
    cell : ndarray of int, shape (document,)
        Organization × topic. Documents with one number share one effect.
    rng : numpy.random.Generator
    """
    distinct, inverse = np.unique(cell, return_inverse=True)
    effect: FloatArray = sigma[:, None] * rng.normal(size=(len(sigma), len(distinct)))
    return effect[:, inverse]


def new_slopes(
    sigma: FloatArray, n_organizations: int, n_predictors: int, rng: np.random.Generator
) -> FloatArray:
    """Draw slope deviations for new organizations, shape (draw, organization, predictor)."""
    return sigma[:, None, None] * rng.normal(size=(len(sigma), n_organizations, n_predictors))


def new_slope_effect(
    sigma: FloatArray, predictors: FloatArray, organization: AnyArray, rng: np.random.Generator
) -> FloatArray:
    """Draw the effects of new organizations' slopes on document log odds, shape (draw, document).

    Parameters
    ----------
    sigma : ndarray of float, shape (draw,)
        Draws of the standard deviation of slopes about the common ones.
    predictors : ndarray of float, shape (document, predictor)
    organization : ndarray of int, shape (document,)
        Documents with one number share slopes.
    rng : numpy.random.Generator
    """
    distinct, organization_index = np.unique(organization, return_inverse=True)
    return slope_effect(
        new_slopes(sigma, len(distinct), predictors.shape[1], rng), predictors, organization_index
    )


def slope_effect(slopes: FloatArray, predictors: FloatArray, organization: AnyArray) -> FloatArray:
    """Return the effects of organizations' slopes on document log odds, shape (draw, document).

    Parameters
    ----------
    slopes : ndarray of float, shape (draw, organization, predictor)
    predictors : ndarray of float, shape (document, predictor)
    organization : ndarray of int, shape (document,)
        Position of each document's organization in ``slopes``.
    """
    effect = np.zeros((len(slopes), len(predictors)))
    add_slopes(effect, slopes, np.arange(len(slopes)), organization, np.ascontiguousarray(predictors))
    return effect


_N_VALUES = 128  # draws of ν and ρ from their priors
_MOST_SQUARE = 2.0  # mean of squared effects over their variance
_N_WEIGHING = 256  # draws of the fit, at most, that these are weighted by


@dataclass(frozen=True, eq=False)
class NewOrganizations:
    """Distribution of effects for new organizations at one threshold under one fitted model.

    Attributes
    ----------
    standard : ndarray of float, shape (draw, organization)
        Effects of the evidence's organizations over their scale.
    freedom : ndarray of float, shape (draw,)
        Degrees of freedom of the tails.
    correlation : ndarray of float, shape (draw,)
        With the effects on the threshold below; not used on the first.
    organizations : tuple of str
        Names of the evidence's organizations.
    random_seed : int
    above : tuple of int
        Relevance of the threshold, if it is not the first.
    below : NewOrganizations or None
        On the threshold below, of the same model.
    """

    standard: FloatArray
    freedom: FloatArray
    correlation: FloatArray
    organizations: tuple[str, ...]
    random_seed: int
    above: tuple[int, ...]
    below: NewOrganizations | None
    _factors: dict[str, FloatArray] = field(default_factory=dict, init=False, repr=False)
    _last: dict[tuple[str, ...], FloatArray] = field(default_factory=dict, init=False, repr=False)

    def effects(self, scale: FloatArray, names: Sequence[str]) -> FloatArray:
        """Draw an effect for each named organization, shape (draw, name)."""
        of_names = {
            name: scale * self.t_scale_factor(name) * self.normals("organization", name)
            for name in set(names)
        }
        return np.column_stack([of_names[name] for name in names])

    def slopes(self, scale: FloatArray, predictors: Sequence[str], names: Sequence[str]) -> FloatArray:
        """Draw slope deviations for each named organization, shape (draw, name, predictor)."""
        slopes = np.empty((len(scale), len(names), len(predictors)))
        for i, name in enumerate(names):
            stretched = scale * self.t_scale_factor(name)
            for k, predictor in enumerate(predictors):
                slopes[:, i, k] = stretched * self.normals("slope", name, predictor)
        return slopes

    def normals(self, *names: str) -> FloatArray:
        """Draw standard normal numbers for a name, correlated between adjacent thresholds, shape (draw,)."""
        # numbers of one organization are kept: the threshold above asks for them, and its next run does
        if not any(of[1] == names[1] for of in self._last):
            self._last.clear()
        if names not in self._last:
            own = normals(len(self.freedom), self.random_seed, *names, *self.above)
            if self.below is not None:
                tied = self.correlation * self.below.normals(*names)
                own = tied + np.sqrt(1 - self.correlation**2) * own
            self._last[names] = own
        return self._last[names]

    def t_scale_factor(self, name: str) -> FloatArray:
        """Return an organization's scale factor from normal to t effects, shape (draw,).

        All effects at all thresholds share the factor.
        """
        if self.below is not None:
            return self.below.t_scale_factor(name)
        if name not in self._factors:
            survival = ndtr(normals(len(self.freedom), self.random_seed, "tails", name))
            self._factors[name] = np.sqrt(self.freedom / chdtri(self.freedom, survival))
        return self._factors[name]


def learn_new_organizations(
    effect: Effect,
    draws: Mapping[str, FloatArray],
    organizations: tuple[str, ...],
    random_seed: int,
    above: tuple[int, ...],
    below: NewOrganizations | None,
) -> NewOrganizations:
    """Learn the tails and correlation for new organizations' effects from draws of known effects."""
    standard = draws["organization_effect"] / draws["sigma_organization"][:, None]
    # an engine may draw scales that are too small for their effects, which tells nothing about tails
    square = (standard**2).sum(axis=1, keepdims=True) / max(1, len(organizations))
    standard = standard / np.sqrt(np.maximum(1, square / _MOST_SQUARE))
    n, rng = len(standard), np.random.default_rng(key_of(random_seed, "new organizations", *above))
    if below is None:
        freedom = _posterior(effect.freedom, _tail_log_ratio(_thin_draws(standard)), n, rng)
        correlation = np.zeros(n)
    else:
        both = sorted(set(organizations) & set(below.organizations))
        here = _thin_draws(standard)[:, [organizations.index(name) for name in both]]
        there = _thin_draws(below.standard)[:, [below.organizations.index(name) for name in both]]
        freedom = below.freedom
        correlation = _posterior(effect.correlation, _correlation_log_ratio(there, here), n, rng)
    return NewOrganizations(standard, freedom, correlation, organizations, random_seed, above, below)


def _posterior(
    prior: Prior, log_ratio: Callable[[float], FloatArray], n: int, rng: np.random.Generator
) -> FloatArray:
    """Draw a parameter from its posterior, given its prior and log likelihood ratios, shape (n,)."""
    values = draw_prior(prior, _N_VALUES, rng)
    ratios = np.array([log_ratio(float(value)) for value in values])
    highest = ratios.max(axis=1)
    log_weight = highest + np.log(np.exp(ratios - highest[:, None]).sum(axis=1))
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(rng.choice(values, n, p=weight / weight.sum()))


def _thin_draws(standard: FloatArray) -> FloatArray:
    """Return at most a few hundred evenly spaced posterior draws."""
    return standard[:: max(1, len(standard) // _N_WEIGHING)]


def _tail_log_ratio(standard: FloatArray) -> Callable[[float], FloatArray]:
    """Return a function from degrees of freedom to the log density ratio of t to normal effects."""
    square = standard**2

    def log_ratio(freedom: float) -> FloatArray:
        constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2) - 0.5 * np.log(freedom / 2)
        of_t = constant - (freedom + 1) / 2 * np.log1p(square / freedom)
        return np.asarray((of_t + 0.5 * square).sum(axis=1))

    return log_ratio


def _correlation_log_ratio(below: FloatArray, here: FloatArray) -> Callable[[float], FloatArray]:
    """Return a function from a correlation to the log density ratio of correlated to independent effects."""
    square, product = (below**2 + here**2).sum(axis=1), (below * here).sum(axis=1)

    def log_ratio(correlation: float) -> FloatArray:
        free = 1 - correlation**2
        exponent = (2 * correlation * product - correlation**2 * square) / (2 * free)
        return np.asarray(exponent - 0.5 * here.shape[1] * np.log(free))

    return log_ratio


LogOddsFunction: TypeAlias = Callable[[OrderArray, int, slice], FloatArray]

_STREAM = "below pool"  # of random numbers
_SLOPE_WITHIN, _SLOPE_WITHIN_SD = -0.3, 0.3  # prior


def slope_within_rankings(hidden: HeldOutDocuments) -> tuple[float, float]:
    """Return the posterior mean and standard deviation for the slope of log odds on log rank within rankings.

    The one-step estimate from the conditional likelihood (Yusuf et al. 1985), in which all cancels that
    rankings have apart, with a normal prior.
    """
    run, topic, rank, _, relevant = hidden
    keys = np.column_stack([run, topic])
    ranking = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    n = np.bincount(ranking)

    def spread(values: FloatArray) -> FloatArray:
        return values - (np.bincount(ranking, values) / n)[ranking]

    x, y = spread(np.log(rank)), spread(relevant.astype(float))
    variance = np.bincount(ranking, x**2) * np.bincount(ranking, y**2) / np.maximum(n - 1, 1)
    precision = float(variance.sum()) + 1 / _SLOPE_WITHIN_SD**2
    return (float(x @ y) + _SLOPE_WITHIN / _SLOPE_WITHIN_SD**2) / precision, precision**-0.5


@dataclass(frozen=True, eq=False)
class BelowPool:
    """Log odds with additional slopes on log rank for documents below the pool depth.

    Attributes
    ----------
    log_odds : callable
        Those that go on as in the pool.
    log_rank : ndarray of float, shape (document,)
        Log of rank over pool depth, 0 in the pool.
    slope, topic_scale : ndarray of float, shape (draw,)
        Slope that topics share, and the standard deviation of topics about it.
    query_ids : tuple of str
    random_seed : int
    """

    log_odds: LogOddsFunction
    log_rank: FloatArray
    slope: FloatArray
    topic_scale: FloatArray
    query_ids: tuple[str, ...]
    random_seed: int

    def __call__(self, source: OrderArray, topic: int, documents: slice) -> FloatArray:
        """Return log odds for a topic's documents in the given draws, shape (draw, document)."""
        log_odds, log_rank = self.log_odds(source, topic, documents), self.log_rank[documents]
        if not log_rank.any():
            return log_odds
        return log_odds + self.topic_slope(topic, {})[source, None] * log_rank

    def topic_slope(self, topic: int, drawn: dict[int, FloatArray]) -> FloatArray:
        """Return the slope on a topic, shape (draw,).

        Models share the normal numbers that are ``drawn`` there, by seed.
        """
        if self.random_seed not in drawn:
            name = self.query_ids[topic]
            drawn[self.random_seed] = normals(len(self.slope), self.random_seed, _STREAM, name)
        return self.slope + self.topic_scale * drawn[self.random_seed]


def below_pool(
    spec: ModelSpec,
    log_odds: LogOddsFunction,
    log_rank: FloatArray,
    hidden: HeldOutDocuments,
    n_draws: int,
    query_ids: tuple[str, ...],
    random_seed: int,
) -> BelowPool:
    """Return log odds with additional slopes on log rank below the pool depth."""
    slope, topic_scale = (
        draw_prior(prior, n_draws, np.random.default_rng(key_of(random_seed, _STREAM, str(k))))
        for k, prior in enumerate((spec.below_pool, spec.sigma_below_pool))
    )
    if "log_rank" not in spec.predictors:
        mean, deviation = slope_within_rankings(hidden)
        slope = slope + mean + deviation * normals(n_draws, random_seed, _STREAM, "within rankings")
    return BelowPool(log_odds, log_rank, slope, topic_scale, query_ids, random_seed)

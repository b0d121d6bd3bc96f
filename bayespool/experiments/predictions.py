"""Predictions of pooled runs as runs of new organizations, with the judged amounts that they predict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import expit, logsumexp

from bayespool import __version__
from bayespool.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, OrderArray
from bayespool.defaults import fill_ci_prob
from bayespool.errors import InputError
from bayespool.experiments.design import randomized_pit
from bayespool.experiments.hidden import (
    HiddenDocuments,
    HiddenRows,
    draw_levels,
    fit_model,
    prediction_targets,
)
from bayespool.measures import Measure, Precision, Values, equal_tailed_interval
from bayespool.posterior import PreparedModel, stacking_weights
from bayespool.posterior.mixtures import draw_members, mix
from bayespool.posterior.preparation import evidence_depth
from bayespool.tables.formatting import counted

if TYPE_CHECKING:
    from bayespool.inference import Engine, Fit


Fits = Sequence[Sequence["Fit"]]
"""Fits for each threshold and fold."""


@dataclass(frozen=True, eq=False)
class HeldOutPrediction:
    """Predictions from one model for the pooled runs, each treated as a run from a new organization.

    Amounts are sums over topics: values of the measure times ``per_mean``, under P@n numbers of relevant
    documents.

    Attributes
    ----------
    model : str
    measure : Measure
    run_ids, organizations : tuple of str, one per run
    per_mean : int
        The unit of the measure × topics: cutoff × topics for P@n, the number of topics for most others.
    known : ndarray, shape (run,)
        Amount without the judgments that only the run's organization contributed.
    n_hidden, n_hidden_relevant : ndarray of int, shape (run,)
        Hidden documents in the top n, and the relevant ones among them.
    observed : ndarray, shape (run,)
        Amount that the run's hidden documents add as judged, the target of the prediction. Under P@n it is
        ``n_hidden_relevant``; over an ideal ranking it may be negative.
    fold : ndarray of int, shape (run,)
        The runs of a fold are predicted from the organizations of the others.
    draws : ndarray, shape (draw, run)
        Predictions of ``observed``.
    n_predicted : ndarray of float, shape (run,)
        Mean prediction of ``n_hidden_relevant``.
    pit : ndarray of float, shape (run,)
        Randomized probability integral transform of ``observed``; NaN where nothing is hidden.
    densities : ndarray of float, shape (threshold, run)
        Log predictive density, for each threshold of the measure, of the number of hidden documents credited
        to the run that reach it, among those that reach the threshold below. NaN where there are none.
    problems : tuple of str
        Failed checks of fits, by fold.
    n_chains : int
        Chains of the draws.
    log_likelihood : ndarray of float, shape (draw, threshold, run), optional
        Log likelihood in each draw of what ``densities`` are of; None for a mixture.
    """

    model: str
    measure: Measure
    run_ids: tuple[str, ...]
    organizations: tuple[str, ...]
    per_mean: int
    known: AnyArray
    n_hidden: IntArray
    n_hidden_relevant: IntArray
    observed: AnyArray
    fold: IndexArray
    draws: AnyArray
    n_predicted: FloatArray
    pit: FloatArray
    densities: FloatArray
    problems: tuple[str, ...] = ()
    n_chains: int = 1
    log_likelihood: FloatArray | None = None

    @cached_property
    def organization(self) -> IndexArray:
        """Organization index for each run, shape (run,)."""
        return np.unique(self.organizations, return_inverse=True)[1].astype(np.int64)

    @property
    def has_hidden(self) -> BoolArray:
        """Mask of runs with hidden documents, shape (run,)."""
        return self.n_hidden > 0

    @property
    def log_density(self) -> FloatArray:
        """Log predictive density for each run, summed over thresholds, shape (run,).

        NaN where no document is credited to the run.
        """
        return np.where(np.isnan(self.densities).all(axis=0), np.nan, np.nansum(self.densities, axis=0))

    def interval(self, ci_prob: float | None = None) -> tuple[AnyArray, AnyArray]:
        """Return the ends of equal-tailed prediction intervals for ``observed``."""
        return equal_tailed_interval(self.draws, ci_prob)

    def to_frame(self, ci_prob: float | None = None) -> pd.DataFrame:
        """Return this model's rows of the table ``runs`` in `bayespool.ModelChecks`, with ``ci_prob``
        intervals.
        """
        ci_prob = fill_ci_prob(ci_prob)
        base, ends = self.known, self.interval(ci_prob)
        frame = pd.DataFrame(
            {
                "measure": str(self.measure),
                "model": self.model,
                "run_id": self.run_ids,
                "organization": self.organizations,
                "n_hidden": self.n_hidden,
                "n_hidden_relevant": self.n_hidden_relevant,
                "predicted": self.n_predicted,
                "value": (base + self.observed) / self.per_mean,
                "value_predicted": (base + self.draws.mean(axis=0)) / self.per_mean,
                "lower": (base + ends[0]) / self.per_mean,
                "upper": (base + ends[1]) / self.per_mean,
                "ci_prob": ci_prob,
                "pit": self.pit,
                "log_density": self.log_density,
            }
        )
        return frame[self.has_hidden].reset_index(drop=True)

    def to_datatree(self, **attributes: str | int) -> Any:
        """Return the predictions with what they predict as a container for ArviZ.

        Parameters
        ----------
        **attributes : str or int
            More attributes of the container.

        Returns
        -------
        xarray.DataTree
            With the groups ``posterior_predictive`` and ``observed_data``, of the value of the measure with
            the hidden documents of each run (``value``; under P@n ``precision``, and their number
            ``n_hidden_relevant``), ``log_likelihood`` of the hidden documents that reach each threshold
            (``hidden_relevant``; not of a mixture) and ``constant_data``. Parameters and draws were fitted
            without the run's organization.
        """
        from bayespool.tables import build_container

        is_count = isinstance(self.measure, Precision) and len(self.densities) == 1

        def values(amount: AnyArray) -> dict[str, AnyArray]:
            value = (self.known + amount) / self.per_mean
            return {"n_hidden_relevant": amount, "precision": value} if is_count else {"value": value}

        groups: dict[str, dict[str, AnyArray]] = {
            "posterior_predictive": values(self.draws.reshape(self.n_chains, -1, len(self.run_ids))),
            "observed_data": values(self.observed),
            "constant_data": {
                "n_hidden": self.n_hidden,
                "fold": self.fold,
                "organization": np.array(self.organizations),
            },
        }
        dims = {name: ("pooled_run",) for group in groups.values() for name in group}
        if self.log_likelihood is not None:
            likelihood = self.log_likelihood.reshape(self.n_chains, -1, *self.densities.shape)
            groups["log_likelihood"] = {"hidden_relevant": likelihood}
        return build_container(
            groups,
            dims={**dims, "hidden_relevant": ("threshold", "pooled_run")},
            coords={"pooled_run": self.run_ids, "threshold": range(1, len(self.densities) + 1)},
            attrs={
                "bayespool_version": __version__,
                "model": self.model,
                "measure": str(self.measure),
                "problems": "; ".join(self.problems),
                **attributes,
            },
        )


def check_pool(hidden: HiddenDocuments, n_folds: int) -> None:
    """Raise `InputError` unless there are three organizations, two folds and one hidden document."""
    n_organizations = len(hidden.organizations)
    if n_folds < 2:
        raise InputError(f"the number of folds must be at least 2 and is {n_folds}")
    if n_organizations < 3:
        raise InputError(
            f"the pool has {counted(n_organizations, 'organization')}, and holding some out needs three",
            hint="give more of the campaign's runs, and the file that says who submitted which",
        )
    if not hidden.counts.n_hidden.any():
        raise InputError(
            f"no document in a top {hidden.measure.cutoff} was contributed by one organization alone",
            hint="there is nothing to predict; a measure with a deeper cutoff may have something",
        )


def deal_folds(n_organizations: int, n_folds: int) -> IndexArray:
    """Assign organizations to folds in turn, shape (organization,)."""
    return np.arange(n_organizations) % min(n_folds, n_organizations)


def fit_fold(
    prepared: PreparedModel,
    hidden: HiddenDocuments,
    engine: Engine,
    f: int,
    *,
    n_folds: int = 5,
    random_seed: int = 1,
) -> Fit:
    """Fit a model for one threshold to the hidden documents of all folds except one.

    Measures with the same evidence share the fit.
    """
    seen = prepared.evidence.select_organizations(deal_folds(len(hidden.organizations), n_folds) != f)
    depth = evidence_depth(prepared.model, hidden.measure.cutoff)
    seeds = np.random.SeedSequence([random_seed, depth, hidden.threshold.rel, f, 1])
    return fit_model(engine, prepared, seen, int(seeds.generate_state(1)[0]))


def predict_held_out(
    prepared: PreparedModel | Sequence[PreparedModel],
    hidden: HiddenDocuments,
    engine: Engine,
    *,
    n_folds: int = 5,
    random_seed: int = 1,
    fits: Fits | None = None,
) -> HeldOutPrediction:
    """Predict the hidden documents of each fold of organizations from a fit to the other folds.

    A model is fitted to the hidden documents of the other folds. In each draw every organization of the fold
    gets the effect of a new organization (and one on each topic, under models with predictors), and each of
    its hidden documents a relevance that all runs of the organization share. If the measure has several
    levels, each of its thresholds has its own fits, effects and random numbers.

    Parameters
    ----------
    prepared : PreparedModel, or sequence of PreparedModel
        A model with the evidence of the whole pool, of a `ScoringProblem` without runs to score: one for each
        threshold.
    hidden : HiddenDocuments
        Of the same collection and measure, on the first threshold.
    engine : Engine
        Such as ``Laplace(draws=500, chains=4)``.
    n_folds : int, default 5
        At least 2; as many as organizations leaves one out at a time.
    random_seed : int
    fits : sequence of sequences of Fit, optional
        For each threshold those of `fit_fold` with the same arguments, fold by fold; fitted if missing.

    Returns
    -------
    HeldOutPrediction
        Of all pooled runs.

    Raises
    ------
    InputError
        Fewer than three organizations in the pool, no hidden document, or fewer than two folds.
    ValueError
        The number of models is not that of thresholds.
    """
    check_pool(hidden, n_folds)
    steps = (prepared,) if isinstance(prepared, PreparedModel) else tuple(prepared)
    targets = prediction_targets(steps, hidden)
    fold = deal_folds(len(hidden.organizations), n_folds)
    shared: dict[str, int] = {"n_folds": n_folds, "random_seed": random_seed}
    fitted = fits or [
        [fit_fold(q.prepared, q.hidden, engine, f, **shared) for f in np.unique(fold).tolist()]
        for q in targets
    ]
    shape, model = fitted[0][0].shape, steps[0].model
    n_draws = math.prod(shape)
    log_likelihood = np.full((len(targets), len(hidden.organization), n_draws), np.nan)

    def threshold_odds(f: int, k: int, rng: np.random.Generator) -> FloatArray:
        target = targets[k]
        row, odds = target.held_out_log_odds(fitted[k][f].draws(), fold == f, rng)
        _add_log_likelihood(log_likelihood[k], target.rows, row, odds)
        return target.document_log_odds(row, odds, fold[hidden.document_organization] == f)

    problems = tuple(
        f"fold {f + 1}: {problem}"
        for f, threshold_fits in enumerate(zip(*fitted, strict=True))
        for fit in threshold_fits
        for problem in fit.diagnostics.problems
    )
    predicted = _predict(hidden, fold, shape, threshold_odds, random_seed, model, problems)
    densities = logsumexp(log_likelihood, axis=2) - np.log(n_draws)
    return replace(predicted, densities=densities, log_likelihood=np.moveaxis(log_likelihood, 2, 0))


def predict_mixture(
    members: Mapping[str, tuple[Sequence[PreparedModel], Fits]],
    predictions: Sequence[HeldOutPrediction],
    hidden: HiddenDocuments,
    *,
    n_folds: int = 5,
    random_seed: int = 1,
) -> HeldOutPrediction:
    """Return predictions from the combined estimator's mixture, with weights from the other folds' densities.

    ``members`` holds each model on every threshold with its fits, ``predictions`` those of `predict_held_out`
    in the same order.
    """
    model_targets = [prediction_targets(steps, hidden) for steps, _ in members.values()]
    fits = [model_fits for _, model_fits in members.values()]
    fold = deal_folds(len(hidden.organizations), n_folds)
    densities = np.full_like(predictions[0].densities, np.nan)

    def threshold_odds(f: int, k: int, rng: np.random.Generator) -> FloatArray:
        in_fold, documents = fold[hidden.organization] == f, fold[hidden.document_organization] == f
        member_densities = np.column_stack([p.densities[k] for p in predictions])
        weights, densities[k, in_fold] = _weigh(member_densities, predictions[0].organization, in_fold)
        n_draws = math.prod(fits[0][0][0].shape)
        which = draw_members(n_draws, weights, rng)
        mixed = np.zeros((n_draws, int(documents.sum())))
        for m, targets in enumerate(model_targets):
            row, odds = targets[k].held_out_log_odds(fits[m][k][f].draws(), fold == f, rng)
            odds = targets[k].document_log_odds(row, odds, documents)
            mixed[which == m] = odds[which == m]
        return mixed

    shape, problems = fits[0][0][0].shape, _all_problems(predictions)
    predicted = _predict(hidden, fold, shape, threshold_odds, random_seed, "combined", problems)
    return replace(predicted, densities=densities)


def _all_problems(predictions: Sequence[HeldOutPrediction]) -> tuple[str, ...]:
    return tuple(f"{p.model}: {problem}" for p in predictions for problem in p.problems)


def _predict(
    hidden: HiddenDocuments,
    fold: IndexArray,
    shape: tuple[int, int],
    threshold_odds: Callable[[int, int, np.random.Generator], FloatArray],
    random_seed: int,
    model: str,
    problems: tuple[str, ...],
) -> HeldOutPrediction:
    """Return a model's prediction for all pooled runs, without densities.

    ``threshold_odds`` gives log odds of the documents of a fold on a threshold, shape (draw, document).
    """
    measure, run_fold, every = hidden.measure, fold[hidden.organization], np.arange(len(hidden.organization))
    counted = Precision(measure.cutoff, measure.rel)
    base = hidden.judged_values(every, with_hidden=False)
    judged = hidden.judged_values(every, counted, with_hidden=False).totals()
    known, n_draws = base.totals(), math.prod(shape)
    amount = np.zeros((n_draws, len(every)), dtype=np.int32 if base.is_exact else np.float64)
    n_predicted = np.zeros(len(every))
    for f in range(int(fold.max()) + 1):
        rng, runs = _generator(random_seed, measure, f), np.flatnonzero(run_fold == f)
        documents = np.flatnonzero(fold[hidden.document_organization] == f)
        block = draw_levels([threshold_odds(f, k, rng) for k in range(len(hidden.thresholds))], rng)
        n_relevant = amount[:, runs] = excess_total(hidden.values(runs, documents, block), known[runs])
        if measure != counted:
            n_relevant = excess_total(hidden.values(runs, documents, block, counted), judged[runs])
        n_predicted[runs] = n_relevant.mean(axis=0)
    observed = excess_total(hidden.judged_values(every, with_hidden=True), known)
    n_hidden = hidden.counts.n_hidden.sum(axis=1, dtype=np.int32)[:, 0]
    pit = randomized_pit(amount, observed, _generator(random_seed, measure, 2**20))
    return HeldOutPrediction(
        model=model,
        measure=measure,
        run_ids=hidden.counts.run_ids,
        organizations=tuple(hidden.organizations[o] for o in hidden.organization),
        per_mean=base.unit * len(hidden.counts.query_ids),
        known=known,
        n_hidden=n_hidden,
        n_hidden_relevant=excess_total(hidden.judged_values(every, counted, with_hidden=True), judged),
        observed=observed,
        fold=run_fold,
        draws=amount,
        n_predicted=n_predicted,
        pit=np.where(n_hidden > 0, pit, np.nan),
        densities=np.full((len(hidden.thresholds), len(every)), np.nan),
        problems=problems,
        n_chains=shape[0],
    )


def excess_total(values: Values, base: AnyArray) -> AnyArray:
    """Return totals in excess of the known part, as integers or rounded floats."""
    added = values.totals() - base
    return np.asarray(added.astype(np.int32) if values.is_exact else np.round(added, 12))


def _weigh(
    densities: FloatArray, organization: IndexArray, in_fold: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return stacking weights from the other folds' densities, and the fold's own log mixture densities.
    Densities are log densities, shape (run, model), each organization counted once; those of the mixture have
    shape (own run,).
    """
    others = np.flatnonzero(np.isfinite(densities).all(axis=1) & ~in_fold)
    organizations = organization[others]
    weights = stacking_weights(densities[others], 1 / np.bincount(organizations)[organizations])
    with np.errstate(invalid="ignore"):
        return weights, logsumexp(np.log(weights) + densities[in_fold], axis=1)


def _add_log_likelihood(
    log_likelihood: FloatArray, rows: HiddenRows, row: OrderArray, log_odds: FloatArray
) -> None:
    """Set the log likelihood of each run's number of relevant hidden documents, shape (run, draw). Normal
    given the parameters as in `bayespool.posterior.held_out_totals`.
    """
    p = expit(log_odds)
    for run in np.unique(rows.run[row[rows.n_hidden[row] > 0]]):
        place = np.flatnonzero(rows.run[row] == run)
        n, k = rows.n_hidden[row[place]], int(rows.n_hidden_relevant[row[place]].sum())
        mean = p[:, place] @ n
        variance = (p[:, place] * (1 - p[:, place])) @ n + 1 / 12
        log_likelihood[run] = -0.5 * ((k - mean) ** 2 / variance + np.log(2 * np.pi * variance))


def _generator(random_seed: int, measure: Measure, part: int) -> np.random.Generator:
    return np.random.default_rng([random_seed, measure.cutoff, measure.rel, part])


def stack(predictions: Sequence[HeldOutPrediction], *, random_seed: int = 1) -> HeldOutPrediction:
    """Mix predictions from several models, using weights learned from the other folds for each fold.

    Parameters
    ----------
    predictions : sequence of HeldOutPrediction
        Of several models under one measure with one threshold, with the same folds; with more thresholds see
        `bayespool.experiments.predictions.predict_mixture`.
    random_seed : int

    Returns
    -------
    HeldOutPrediction
        Of the model ``combined``.
    """
    first = predictions[0]
    densities = np.column_stack([p.log_density for p in predictions])
    draws = np.zeros_like(first.draws)
    n_predicted, log_density = np.zeros(len(first.run_ids)), np.full((1, len(first.run_ids)), np.nan)
    for fold in np.unique(first.fold):
        in_fold = first.fold == fold
        weights, log_density[0, in_fold] = _weigh(densities, first.organization, in_fold)
        rng = np.random.default_rng([random_seed, int(fold)])
        draws[:, in_fold] = mix([p.draws[:, in_fold] for p in predictions], weights, rng)
        n_predicted[in_fold] = weights @ np.array([p.n_predicted[in_fold] for p in predictions])
    if isinstance(first.measure, Precision):
        n_predicted = draws.mean(axis=0)
    pit = randomized_pit(draws, first.observed, np.random.default_rng([random_seed, 2**20]))
    return replace(
        first,
        model="combined",
        draws=draws,
        pit=np.where(first.has_hidden, pit, np.nan),
        n_predicted=n_predicted,
        densities=log_density,
        problems=_all_problems(predictions),
        log_likelihood=None,
    )

"""Predictions of pooled runs as if their organizations had not been pooled, beside what the judgments say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import expit, logsumexp

from bayespool.checking.fitting import Fitting
from bayespool.checking.hidden import HiddenDocuments, Rows, row_log_odds, without_organizations
from bayespool.checking.priors import draw_priors
from bayespool.checking.uniformity import randomised_pit
from bayespool.errors import InputError
from bayespool.measures import Measure
from bayespool.posterior import Prepared, evidence_depth, new_organization_effect, with_interaction
from bayespool.values import equal_tailed_interval

if TYPE_CHECKING:
    from bayespool.inference import Fit

__all__ = [
    "HeldOutPrediction",
    "check_pool",
    "count_relevant",
    "deal_folds",
    "fit_folds",
    "predict_held_out",
]

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.int64]
CountArray = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class HeldOutPrediction:
    """What one model says of the pooled runs, of each as a run of a new organization.

    Counts are sums over topics; divided by ``n_ranks`` they are P@n.

    Attributes
    ----------
    model : str
    measure : Measure
    run_ids, organizations : tuple of str, one per run
    n_ranks : int
        Cutoff × topics.
    n_judged_relevant : ndarray of int, shape (run,)
        Relevant documents in the top n that stay judged without the run's organization.
    n_hidden, n_hidden_relevant : ndarray of int, shape (run,)
        Hidden documents in the top n, and the relevant ones among them, which are to be predicted.
    fold : ndarray of int, shape (run,)
        The runs of a fold are predicted from the organizations of the others.
    draws : ndarray of int, shape (draw, run)
        Predicted numbers of relevant hidden documents.
    prior_draws : ndarray of int, shape (draw, run)
        The same before anything is learnt.
    pit : ndarray of float, shape (run,)
        Randomised probability integral transform of ``n_hidden_relevant``; NaN where nothing is hidden.
    log_density : ndarray of float, shape (run,)
        Log predictive density of the number of relevant hidden documents credited to the run; NaN where none
        are hidden.
    problems : tuple of str
        Checks that fits did not pass, by fold.
    """

    model: str
    measure: Measure
    run_ids: tuple[str, ...]
    organizations: tuple[str, ...]
    n_ranks: int
    n_judged_relevant: CountArray
    n_hidden: CountArray
    n_hidden_relevant: CountArray
    fold: IndexArray
    draws: CountArray
    prior_draws: CountArray
    pit: FloatArray
    log_density: FloatArray
    problems: tuple[str, ...] = ()

    @cached_property
    def organization(self) -> IndexArray:
        """Number of each run's organization, shape (run,)."""
        return np.unique(self.organizations, return_inverse=True)[1].astype(np.int64)

    @property
    def has_hidden(self) -> npt.NDArray[np.bool_]:
        """Runs of which something is to be predicted, shape (run,)."""
        return self.n_hidden > 0

    def interval(self, ci_prob: float) -> tuple[CountArray, CountArray]:
        """Ends of the equal-tailed intervals of the number of relevant hidden documents."""
        return equal_tailed_interval(self.draws, ci_prob)


def check_pool(hidden: HiddenDocuments, n_folds: int) -> None:
    """Raise where there is nothing to hold out.

    Raises
    ------
    InputError
        Fewer than three organizations in the pool, nothing hidden, or fewer than two folds.
    """
    n_organizations = len(hidden.organizations)
    if n_folds < 2:
        raise InputError(f"the number of folds must be at least 2 and is {n_folds}")
    if n_organizations < 3:
        raise InputError(
            f"the pool has {n_organizations} organizations, and holding some out needs three",
            hint="give more of the campaign's runs, and the file that says who submitted which",
        )
    if not hidden.counts.n_hidden.any():
        raise InputError(
            f"no document in a top {hidden.measure.cutoff} was contributed by one organization alone",
            hint="there is nothing to predict; a measure with a deeper cutoff may have something",
        )


def deal_folds(n_organizations: int, n_folds: int) -> IndexArray:
    """Fold of each organization, dealt out in turn, shape (organization,)."""
    return np.arange(n_organizations) % min(n_folds, n_organizations)


def fit_folds(
    prepared: Prepared,
    hidden: HiddenDocuments,
    fitting: Fitting,
    *,
    n_folds: int = 5,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
) -> tuple[Fit, ...]:
    """Fits of a model to the hidden documents of all folds but one, for each; measures that share the
    evidence share the fits. See `predict_held_out`.
    """
    check_pool(hidden, n_folds)
    fold = deal_folds(len(hidden.organizations), n_folds)
    fits = []
    for f in range(int(fold.max()) + 1):
        if report is not None:
            report(f"{hidden.measure}, {prepared.model}: fold {f + 1} of {fold.max() + 1}")
        seen = without_organizations(prepared.evidence, fold != f)
        depth = evidence_depth(prepared.model, hidden.measure.cutoff)
        seeds = np.random.SeedSequence([random_seed, depth, hidden.measure.rel, f, 1])
        fits.append(fitting.fit(prepared, seen, int(seeds.generate_state(1)[0])))
    return tuple(fits)


def predict_held_out(
    prepared: Prepared,
    hidden: HiddenDocuments,
    fitting: Fitting,
    *,
    n_folds: int = 5,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
    fits: tuple[Fit, ...] | None = None,
) -> HeldOutPrediction:
    """Predict the hidden documents of each fold of organizations from the other folds.

    Organizations are dealt out to folds. A model is fitted to the hidden documents of the other folds; then,
    draw by draw, each organization of the fold gets an effect of a new organization (and of its own on each
    topic, under models with predictors), and each of its hidden documents a relevance that all runs of the
    organization share.

    Parameters
    ----------
    prepared : Prepared
        A model with the evidence of the whole pool, of a `Task` without runs to score.
    hidden : HiddenDocuments
        Of the same collection and measure.
    fitting : Fitting
    n_folds : int, default 5
        At least 2; as many as organizations leaves one out at a time.
    random_seed : int
    report : callable, optional
        Called with what is being done.
    fits : tuple of Fit, optional
        Of `fit_folds` with the same arguments, if they are at hand.

    Returns
    -------
    HeldOutPrediction
        Of all pooled runs.

    Raises
    ------
    InputError
        Fewer than three organizations in the pool, or nothing hidden, or fewer than two folds.
    """
    check_pool(hidden, n_folds)
    rows = hidden.rows(prepared.evidence)
    fold = deal_folds(len(hidden.organizations), n_folds)
    n_runs, n_draws = len(hidden.organization), fitting.draws * fitting.chains
    draws = np.zeros((n_draws, n_runs), dtype=np.int32)
    log_density = np.full(n_runs, np.nan)
    problems = []
    if fits is None:
        fits = fit_folds(prepared, hidden, fitting, n_folds=n_folds, random_seed=random_seed, report=report)
    for f, fit in enumerate(fits):
        seen = without_organizations(prepared.evidence, fold != f)
        problems += [f"fold {f + 1}: {problem}" for problem in fit.diagnostics.problems]
        parameters, rng = fit.draws(), _generator(random_seed, hidden.measure, f)
        row = np.flatnonzero(fold[rows.organization] == f)
        effect = new_organization_effect(
            parameters["sigma_organization"], int((fold != f).sum()), rows.organization[row], rng
        )
        log_odds = row_log_odds(prepared.model, prepared.evidence, parameters, row) + effect
        scale = prepared.interaction_scale(parameters, seen)
        cell = rows.organization[row] * len(hidden.counts.query_ids) + rows.topic[row]
        log_odds = with_interaction(log_odds, scale, cell, rng)
        densities = _log_densities(rows, row, log_odds)
        log_density[list(densities)] = list(densities.values())
        runs = np.flatnonzero(fold[hidden.organization] == f)
        draws[:, runs] = count_relevant(hidden, rows, runs, row, log_odds, rng)
    n_hidden, n_hidden_relevant = (
        n.sum(axis=1, dtype=np.int32)[:, 0] for n in (hidden.counts.n_hidden, hidden.counts.n_hidden_relevant)
    )
    pit = randomised_pit(draws, n_hidden_relevant, _generator(random_seed, hidden.measure, 2**20))
    return HeldOutPrediction(
        model=prepared.model,
        measure=hidden.measure,
        run_ids=hidden.counts.run_ids,
        organizations=tuple(hidden.organizations[o] for o in hidden.organization),
        n_ranks=hidden.measure.unit * len(hidden.counts.query_ids),
        n_judged_relevant=hidden.counts.n_relevant.sum(axis=1, dtype=np.int32)[:, 0],
        n_hidden=n_hidden,
        n_hidden_relevant=n_hidden_relevant,
        fold=fold[hidden.organization],
        draws=draws,
        prior_draws=_predict_prior(prepared, hidden, rows, n_draws, random_seed),
        pit=np.where(n_hidden > 0, pit, np.nan),
        log_density=log_density,
        problems=tuple(problems),
    )


def count_relevant(
    hidden: HiddenDocuments,
    rows: Rows,
    runs: npt.NDArray[np.intp],
    row: npt.NDArray[np.intp],
    log_odds: FloatArray,
    rng: np.random.Generator,
) -> CountArray:
    """Draws of the number of relevant hidden documents of some runs, summed over topics, shape (draw, run).

    Parameters
    ----------
    hidden : HiddenDocuments
    rows : Rows
    runs : ndarray of int, shape (run,)
        Positions among the pooled runs, ascending.
    row : ndarray of int, shape (row,)
        The rows of their organizations, ascending.
    log_odds : ndarray of float, shape (draw, row)
    rng : numpy.random.Generator
    """
    from scipy.sparse import csr_array

    run, _, _, document = hidden.places
    mine = np.isin(run, runs)
    distinct, column = np.unique(document[mine], return_inverse=True)
    place = np.searchsorted(runs, run[mine])
    retrieved = csr_array((np.ones(len(place), dtype=np.int32), (place, column)), (len(runs), len(distinct)))
    of_document = np.searchsorted(row, rows.of_document[distinct])
    counted = np.empty((len(log_odds), len(runs)), dtype=np.int32)
    step = max(1, 2**23 // max(1, len(distinct)))
    for first in range(0, len(log_odds), step):
        some = log_odds[first : first + step, of_document]
        relevant = rng.logistic(size=some.shape) < some
        counted[first : first + step] = (retrieved @ relevant.T.astype(np.int32)).T
    return counted


def _predict_prior(
    prepared: Prepared,
    hidden: HiddenDocuments,
    rows: Rows,
    n_draws: int,
    random_seed: int,
) -> CountArray:
    """What is predicted of all runs, each organization new, before anything is learnt."""
    rng = _generator(random_seed, hidden.measure, 2**20 + 1)
    draws = draw_priors(prepared.structure(), n_draws, rng)
    row, runs = np.arange(len(rows.n_hidden)), np.arange(len(hidden.organization))
    counted = np.empty((n_draws, len(runs)), dtype=np.int32)
    step = max(1, 2**23 // len(row))  # of draws, held at a time
    for first in range(0, n_draws, step):
        part = {name: values[first : first + step] for name, values in draws.items()}
        effect = new_organization_effect(part["sigma_organization"], 0, rows.organization, rng)
        log_odds = row_log_odds(prepared.model, prepared.evidence, part, row) + effect
        counted[first : first + step] = count_relevant(hidden, rows, runs, row, log_odds, rng)
    return counted


def _log_densities(rows: Rows, row: npt.NDArray[np.intp], log_odds: FloatArray) -> dict[int, float]:
    """Log predictive density of each run's total over its rows, normal given the parameters, as
    `bayespool.posterior.log_predictive_densities` has it.
    """
    p, found = expit(log_odds), {}
    for run in np.unique(rows.run[row[rows.n_hidden[row] > 0]]):
        mine = np.flatnonzero(rows.run[row] == run)
        n, k = rows.n_hidden[row[mine]], int(rows.n_hidden_relevant[row[mine]].sum())
        mean = p[:, mine] @ n
        variance = (p[:, mine] * (1 - p[:, mine])) @ n + 1 / 12
        log_normal = -0.5 * ((k - mean) ** 2 / variance + np.log(2 * np.pi * variance))
        found[int(run)] = float(logsumexp(log_normal) - np.log(len(mean)))
    return found


def _generator(random_seed: int, measure: Measure, part: int) -> np.random.Generator:
    return np.random.default_rng([random_seed, measure.cutoff, measure.rel, part])

"""Tables of predictions of held-out organizations: calibration and comparison of models."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from bayespool.experiments.grading import randomized_pit
from bayespool.experiments.predictions import HeldOutPrediction
from bayespool.measures import Precision
from bayespool.posterior import stacking_weights
from bayespool.posterior.mixtures import mix

if TYPE_CHECKING:
    import pandas as pd

FloatArray = npt.NDArray[np.float64]

CI_PROBS: tuple[float, ...] = (0.5, 0.8, 0.95)


def stack(predictions: Sequence[HeldOutPrediction], *, random_seed: int = 1) -> HeldOutPrediction:
    """Mix models as the combined estimator does, each fold with weights learned from the other folds.

    Parameters
    ----------
    predictions : sequence of HeldOutPrediction
        Of several models under one measure whose ladder has one rung, with the same folds; with more rungs
        see `bayespool.experiments.predictions.predict_mixture`.
    random_seed : int

    Returns
    -------
    HeldOutPrediction
        Of the model ``combined``.
    """
    first = predictions[0]
    densities, weight, scored = _densities(predictions)
    draws, log_density = np.zeros_like(first.draws), np.full((1, len(first.run_ids)), np.nan)
    n_predicted = np.zeros(len(first.run_ids))
    prior_draws = np.zeros_like(first.prior_draws)
    for fold in np.unique(first.fold):
        runs = np.flatnonzero(first.fold == fold)
        others = first.fold[scored] != fold
        weights = stacking_weights(densities[others], weight[others])
        rng = np.random.default_rng([random_seed, int(fold)])
        draws[:, runs] = mix([p.draws[:, runs] for p in predictions], weights, rng)
        prior_draws[:, runs] = mix([p.prior_draws[:, runs] for p in predictions], weights, rng)
        mixture = logsumexp(np.log(weights) + densities[~others], axis=1)
        log_density[0, scored[~others]] = mixture
        n_predicted[runs] = weights @ np.array([p.n_predicted[runs] for p in predictions])
    if isinstance(first.measure, Precision):
        n_predicted = draws.mean(axis=0)
    pit = randomized_pit(draws, first.observed, np.random.default_rng([random_seed, 2**20]))
    return dataclasses.replace(
        first,
        model="combined",
        draws=draws,
        prior_draws=prior_draws,
        pit=np.where(first.has_hidden, pit, np.nan),
        n_predicted=n_predicted,
        densities=log_density,
        problems=tuple(f"{p.model}: {problem}" for p in predictions for problem in p.problems),
    )


def calibration_frame(
    predictions: Sequence[HeldOutPrediction], ci_probs: Sequence[float] = CI_PROBS
) -> pd.DataFrame:
    """Calibration of predictions by measure, model and probability.

    Parameters
    ----------
    predictions : sequence of HeldOutPrediction
    ci_probs : sequence of float in (0, 1)

    Returns
    -------
    pandas.DataFrame
        One row per measure, model and probability: ``measure``, ``model``, ``ci_prob``; ``pit_inside``, the
        share of runs whose randomized PIT lies in the central part, ``ci_prob`` in expectation, and ``se``,
        its standard error clustered by organization, NaN for a share of 0 or 1; ``covered``, the share of
        runs whose interval contains the truth, ends included, which is somewhat larger for whole documents;
        ``width``, the mean width of the intervals of the measure; ``pit_mean``; ``mae``, the mean absolute
        error of the predicted mean; ``n_runs`` with hidden documents and their ``n_organizations``.
    """
    import pandas as pd

    rows = []
    for p in predictions:
        has = p.has_hidden
        pit, organization = p.pit[has], p.organization[has]
        error = np.abs(p.draws.mean(axis=0) - p.observed)[has].mean() / p.per_mean
        for prob in ci_probs:
            inside = np.abs(pit - 0.5) < prob / 2
            low, high = p.interval(prob)
            covered = (low <= p.observed) & (p.observed <= high)
            rows.append(
                {
                    "measure": str(p.measure),
                    "model": p.model,
                    "ci_prob": prob,
                    "pit_inside": inside.mean(),
                    "se": _clustered_error(inside, organization),
                    "covered": covered[has].mean(),
                    "width": (high - low)[has].mean() / p.per_mean,
                    "pit_mean": pit.mean(),
                    "mae": error,
                    "n_runs": int(has.sum()),
                    "n_organizations": len(np.unique(organization)),
                }
            )
    return pd.DataFrame(rows)


def elpd_frame(predictions: Sequence[HeldOutPrediction], combined: Sequence[str] = ()) -> pd.DataFrame:
    """Models by their expected log predictive density on held-out organizations.

    The unit is the organization: the mean over its runs of the log predictive density of the number of
    relevant hidden documents credited to the run; for a measure of several levels of relevance, of the
    numbers that reach each rung of its ladder among those that reached the one below. Weights and gains of a
    measure do not enter: P@10 and RR@10 have the same density.

    Parameters
    ----------
    predictions : sequence of HeldOutPrediction
        Of one measure or of several.
    combined : sequence of str
        The models that the combined estimator mixes.

    Returns
    -------
    pandas.DataFrame
        Best first within a measure, with ArviZ's columns: ``measure``, ``model``, ``rank``, ``elpd``,
        ``elpd_diff`` (to the best), ``weight`` (stacking over all models but ``combined``), ``se``, ``dse``
        (of the differences by organization); then ``weight_combined``, the weights of the combined estimator
        (on the first rung), and ``n_organizations``. The weight of a model outside the mixture is NaN.
    """
    import pandas as pd

    rows = []
    for measure in dict.fromkeys(p.measure for p in predictions):
        of_measure = [p for p in predictions if p.measure == measure]
        densities, weight, scored = _densities(of_measure)
        first_rung = np.column_stack([p.densities[0, scored] for p in of_measure])
        organization = of_measure[0].organization[scored]
        of_organizations = np.column_stack([np.bincount(organization, weight * d) for d in densities.T])
        of_organizations = of_organizations[np.bincount(organization) > 0]
        n = len(of_organizations)
        elpd = of_organizations.sum(axis=0)
        best = int(elpd.argmax())
        single = [i for i, p in enumerate(of_measure) if p.model != "combined"]
        members = [i for i, p in enumerate(of_measure) if p.model in combined]
        for rank, i in enumerate(np.argsort(-elpd, kind="stable")):
            rows.append(
                {
                    "measure": str(measure),
                    "model": of_measure[i].model,
                    "rank": rank,
                    "elpd": elpd[i],
                    "elpd_diff": elpd[best] - elpd[i],
                    "weight": _weight(densities, weight, single, i),
                    "se": np.sqrt(n * of_organizations[:, i].var()),
                    "dse": np.sqrt(n * (of_organizations[:, best] - of_organizations[:, i]).var()),
                    "weight_combined": _weight(first_rung, weight, members, i),
                    "n_organizations": n,
                }
            )
    return pd.DataFrame(rows)


def _densities(
    predictions: Sequence[HeldOutPrediction],
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.intp]]:
    """Log densities, shape (observation, model), weights of the observations, and the indices of their
    runs.
    """
    first = predictions[0]
    scored = np.flatnonzero(np.isfinite(first.log_density))
    organization = first.organization[scored]
    weight = 1 / np.bincount(organization)[organization]
    return np.column_stack([p.log_density[scored] for p in predictions]), weight, scored


def _weight(densities: FloatArray, weight: FloatArray, members: list[int], i: int) -> float:
    if i not in members:
        return float("nan")
    return float(stacking_weights(densities[:, members], weight)[members.index(i)])


def _clustered_error(inside: npt.NDArray[np.bool_], organization: npt.NDArray[np.int64]) -> float:
    """Standard error of a share with clustered observations; NaN for a share of 0 or 1, where the estimate
    would be 0 for any sample size.
    """
    if inside.all() or not inside.any():
        return float("nan")
    off = np.bincount(organization, inside - inside.mean())
    return float(np.sqrt((off**2).sum()) / len(inside))

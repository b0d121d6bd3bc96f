"""Comparison of an engine with the reference sampler on predictions of run scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.collection import Collection
from bayespool.errors import InputError
from bayespool.experiments.fitting import Fitting
from bayespool.experiments.hidden import HiddenDocuments, pool_alone, without_organizations
from bayespool.experiments.judge_rankings import HeldOutRankings
from bayespool.experiments.predictions import beyond, check_pool, deal_folds
from bayespool.experiments.questions import Question, draw_levels, questions_of
from bayespool.measures import parse_measures
from bayespool.models import MODEL_NAMES
from bayespool.posterior import Task
from bayespool.posterior.ladder import rungs_of
from bayespool.scoring.estimators import refuse_large_priors

if TYPE_CHECKING:
    import pandas as pd

REFERENCE = "nuts"
"""Engine that others are compared with."""

MEAN_WITHIN, ENDS_WITHIN = 0.02, 0.05
"""Tolerated differences of the engines, as shares of the width of NUTS' interval."""

_NAMES = ("mean", "lower", "upper")
_TARGET_ACCEPT = 0.95  # short steps of NUTS, so that no transition of the reference diverges
_N_BATCHES = 20  # batch means give the Monte-Carlo error of autocorrelated draws


def compare_engines(
    collection: Collection,
    measures: object = "P@10",
    *,
    models: str | Iterable[str] = MODEL_NAMES,
    engine: str = "laplace",
    priors: Mapping[str, str] | None = None,
    draws: int = 2000,
    tune: int = 1000,
    chains: int = 4,
    n_folds: int = 5,
    ci_prob: float = 0.95,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
) -> pd.DataFrame:
    """Compare an engine with NUTS on the scores of runs whose organizations are held out.

    One fold of organizations is held out, both engines fit each model to the others, and the held-out runs
    are predicted with the same random numbers where both draw.

    Parameters
    ----------
    collection : Collection
        Judgments of your own are left out.
    measures : measure or iterable of measures
    models : str or iterable of str
    engine : str
        Out of `bayespool.inference.ENGINES`.
    priors : mapping of str to str, optional
    draws, tune, chains : int
        Of NUTS; an engine of independent draws makes ``draws × chains``.
    n_folds : int
        The first of as many folds is held out.
    ci_prob : float in (0, 1)
    random_seed : int
    report : callable, optional
        Called with a line on the current step.

    Returns
    -------
    pandas.DataFrame
        One row per measure, model and held-out run with hidden documents: ``measure``, ``model``, ``run_id``,
        ``mean_laplace``, ``mean_nuts`` and the ends ``lower_…`` and ``upper_…`` of intervals of the value;
        ``width`` of NUTS' interval; ``mean_off``, ``lower_off`` and ``upper_off``, the differences engine −
        NUTS as shares of that width, and their Monte-Carlo errors ``…_off_se``; ``problems`` of the two fits.
        Draws of whole numbers get uniform noise in ±½ for the ends, so that rounding neither hides a
        difference nor makes one.
    """
    import pandas as pd

    if engine == REFERENCE:
        raise InputError(f"{REFERENCE} is what engines are compared with", hint="compare another")
    names = (models,) if isinstance(models, str) else tuple(models)
    refuse_large_priors(priors or {})
    fittings = {
        name: Fitting(engine=name, draws=draws, tune=tune, chains=chains, target_accept=_TARGET_ACCEPT)
        for name in (engine, REFERENCE)
    }
    frames, collection = [], pool_alone(collection)
    for measure in parse_measures(measures):
        tasks = [Task(collection, (), measure, "pooled", rung=rung) for rung in rungs_of(collection, measure)]
        hidden = HiddenDocuments(tasks[0])
        check_pool(hidden, n_folds)
        rankings = HeldOutRankings(hidden)
        for name in names:
            prepared = [task.prepare(name, dict(priors or {})) for task in tasks]
            questions = questions_of(prepared, rankings)
            columns: dict[str, Any] = {"measure": str(measure), "model": name}
            problems: list[str] = []
            drawn = {}
            for engine_name, fitting in fittings.items():
                if report is not None:
                    report(f"{measure}, {name}: {engine_name}")
                runs, drawn[engine_name], problem = _predict(
                    questions, rankings, fitting, n_folds, random_seed
                )
                problems += [f"{engine_name}: {text}" for text in problem]
            columns["run_id"] = [hidden.counts.run_ids[r] for r in runs]
            per_mean = measure.unit * len(collection.query_ids)
            known = rankings.known(runs).totals()
            columns |= _compare(drawn, known, per_mean, ci_prob)
            frames.append(pd.DataFrame(columns | {"problems": "; ".join(problems)}))
    return pd.concat(frames, ignore_index=True)


def engine_summary(
    frame: pd.DataFrame, *, mean_within: float = MEAN_WITHIN, ends_within: float = ENDS_WITHIN
) -> pd.DataFrame:
    """Agreement of the engines by measure and model.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `compare_engines`.
    mean_within, ends_within : float
        Tolerances, as shares of the width of NUTS' interval.

    Returns
    -------
    pandas.DataFrame
        One row per measure and model: ``n_runs``; ``mean_off`` and ``ends_off``, the mean absolute
        differences; ``mean_agrees`` and ``ends_agree``, the shares of runs (of their ends) that differ by at
        most the tolerance and two Monte-Carlo errors; ``problems``.
    """
    import pandas as pd

    rows = []
    for (measure, model), table in frame.groupby(["measure", "model"], sort=False):
        off = {n: table[f"{n}_off"].abs().to_numpy() for n in _NAMES}
        allowed = {
            n: (mean_within if n == "mean" else ends_within) + 2 * table[f"{n}_off_se"].to_numpy()
            for n in _NAMES
        }
        agrees = {n: off[n] <= allowed[n] for n in _NAMES}
        rows.append(
            {
                "measure": measure,
                "model": model,
                "n_runs": len(table),
                "mean_off": off["mean"].mean(),
                "mean_agrees": agrees["mean"].mean(),
                "ends_off": (off["lower"].mean() + off["upper"].mean()) / 2,
                "ends_agree": (agrees["lower"].mean() + agrees["upper"].mean()) / 2,
                "problems": table["problems"].iloc[0],
            }
        )
    return pd.DataFrame(rows)


def _predict(
    questions: Sequence[Question], rankings: HeldOutRankings, fitting: Fitting, n_folds: int, random_seed: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any], list[str]]:
    """Runs of the first fold with hidden documents, draws of the amounts that these add, shape (draw, run),
    and problems of the fits.
    """
    hidden = rankings.hidden
    held_out = deal_folds(len(hidden.organizations), n_folds) == 0
    some_hidden = hidden.counts.n_hidden.sum(axis=(1, 2)) > 0
    runs = np.flatnonzero(held_out[hidden.organization] & some_hidden)
    of_runs = np.isin(rankings.organization, hidden.organization[runs])
    rng = np.random.default_rng([random_seed, 1])
    log_odds, problems = [], list[str]()
    for question in questions:
        seen = without_organizations(question.prepared.evidence, ~held_out)
        fit = fitting.fit(question.prepared, seen, random_seed, ())
        problems += fit.diagnostics.problems
        row = np.flatnonzero(held_out[question.rows.organization])
        odds = question.log_odds(fit, seen, row, rng)
        log_odds.append(odds[:, np.searchsorted(row, question.rows.of_document[of_runs])])
    drawn = rankings.values(runs, np.flatnonzero(of_runs), draw_levels(log_odds, rng))
    return runs, beyond(drawn, rankings.known(runs).totals()), problems


def _compare(
    drawn: Mapping[str, npt.NDArray[Any]],
    known: npt.NDArray[Any],
    per_mean: int,
    ci_prob: float,
) -> dict[str, Any]:
    """Statistics of the two engines' draws, the reference's last, and their differences."""
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    statistics, errors = {}, {}
    for engine, draws in drawn.items():
        smooth = draws
        if draws.dtype.kind in "iu":
            smooth = draws + np.random.default_rng(1).uniform(-0.5, 0.5, draws.shape)
        statistics[engine] = _statistics(smooth, tails)
        statistics[engine][0] = draws.mean(axis=0)
        size = max(1, len(draws) // _N_BATCHES)
        batches = [_statistics(smooth[i : i + size], tails) for i in range(0, size * _N_BATCHES, size)]
        errors[engine] = np.std(batches, axis=0, ddof=1) / np.sqrt(len(batches))
    checked, reference = drawn
    width = statistics[reference][2] - statistics[reference][1]
    with np.errstate(invalid="ignore", divide="ignore"):  # an interval of one value has no width
        off = (statistics[checked] - statistics[reference]) / width
        off_se = np.sqrt(errors[checked] ** 2 + errors[reference] ** 2) / width
    columns: dict[str, Any] = {}
    for engine in drawn:
        columns |= {
            f"{n}_{engine}": (known + v) / per_mean for n, v in zip(_NAMES, statistics[engine], strict=True)
        }
    columns["width"] = width / per_mean
    for name, value, se in zip(_NAMES, off, off_se, strict=True):
        columns |= {f"{name}_off": value, f"{name}_off_se": se}
    return columns


def _statistics(draws: npt.NDArray[np.float64], tails: list[float]) -> npt.NDArray[np.float64]:
    """Mean and ends of the interval, shape (statistic, run)."""
    return np.vstack([draws.mean(axis=0), np.quantile(draws, tails, axis=0)])

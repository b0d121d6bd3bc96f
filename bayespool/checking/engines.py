"""The fast engine against the reference sampler, on predictions of run scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool.checking.fitting import EngineName, Fitting
from bayespool.checking.hidden import HiddenDocuments, pool_alone, row_log_odds, without_organizations
from bayespool.checking.predictions import check_pool, count_relevant, deal_folds
from bayespool.collection import Collection
from bayespool.measures import parse_measures
from bayespool.posterior import MODEL_NAMES, Prepared, Task, new_organization_effect

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ENDS_WITHIN", "MEAN_WITHIN", "compare_engines", "engine_summary"]

MEAN_WITHIN, ENDS_WITHIN = 0.02, 0.05
"""How far the engines may be apart, in shares of the width of NUTS' interval."""

_NAMES = ("mean", "lower", "upper")
_N_BATCHES = 20  # of draws, whose spread is the Monte-Carlo error: neighbouring draws may resemble each other


def compare_engines(
    collection: Collection,
    measures: object = "P@10",
    *,
    models: str | Iterable[str] = MODEL_NAMES,
    priors: Mapping[str, str] | None = None,
    draws: int = 2000,
    tune: int = 1000,
    chains: int = 4,
    n_folds: int = 5,
    ci_prob: float = 0.95,
    random_seed: int = 1,
    report: Callable[[str], None] | None = None,
) -> pd.DataFrame:
    """Laplace against NUTS on the scores of runs whose organizations are held out.

    One fold of organizations is held out, each model is fitted to the others by both engines, and the
    held-out runs are predicted with the same random numbers wherever both draw.

    Parameters
    ----------
    collection : Collection
        Judgments of one's own count as not made.
    measures : measure or iterable of measures
    models : str or iterable of str
    priors : mapping of str to str, optional
    draws, tune, chains : int
        Of NUTS; the Laplace engine makes ``draws × chains`` draws.
    n_folds : int
        The first of as many folds is held out.
    ci_prob : float in (0, 1)
    random_seed : int
    report : callable, optional
        Called with what is being done.

    Returns
    -------
    pandas.DataFrame
        One row per measure, model and held-out run with something hidden: ``measure``, ``model``, ``run_id``,
        ``mean_laplace``, ``mean_nuts`` and the ends ``lower_…`` and ``upper_…`` of the intervals, all of P@n;
        ``width`` of NUTS' interval; ``mean_off``, ``lower_off`` and ``upper_off``, the differences Laplace −
        NUTS as shares of that width, and their Monte-Carlo errors ``…_off_se``; ``problems`` of the two fits.
        For the ends, a uniform number in ±½ is added to the whole documents of a draw, so that rounding
        neither hides a difference nor makes one.
    """
    import pandas as pd

    names = (models,) if isinstance(models, str) else tuple(models)
    fittings: dict[EngineName, Fitting] = {
        "laplace": Fitting(engine="laplace", draws=draws, chains=chains),
        "nuts": Fitting(engine="nuts", draws=draws, tune=tune, chains=chains),
    }
    frames, collection = [], pool_alone(collection)
    for measure in parse_measures(measures):
        task = Task(collection, (), measure, "pooled")
        hidden = HiddenDocuments(task)
        check_pool(hidden, n_folds)
        for name in names:
            prepared = task.prepare(name, dict(priors or {}))  # type: ignore[arg-type]
            columns: dict[str, Any] = {"measure": str(measure), "model": name}
            problems: list[str] = []
            found = {}
            for engine, fitting in fittings.items():
                if report is not None:
                    report(f"{measure}, {name}: {engine}")
                runs, found[engine], problem = _predict(prepared, hidden, fitting, n_folds, random_seed)
                problems += [f"{engine}: {text}" for text in problem]
            columns["run_id"] = [hidden.counts.run_ids[r] for r in runs]
            n_ranks = measure.unit * len(collection.query_ids)
            known = hidden.counts.n_relevant.sum(axis=1)[runs, 0]
            columns |= _compare(found["laplace"], found["nuts"], known, n_ranks, ci_prob)
            frames.append(pd.DataFrame(columns | {"problems": "; ".join(problems)}))
    return pd.concat(frames, ignore_index=True)


def engine_summary(
    frame: pd.DataFrame, *, mean_within: float = MEAN_WITHIN, ends_within: float = ENDS_WITHIN
) -> pd.DataFrame:
    """How well the engines agree, model by model.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `compare_engines`.
    mean_within, ends_within : float
        Tolerances, in shares of the width of NUTS' interval.

    Returns
    -------
    pandas.DataFrame
        One row per measure and model: ``n_runs``; ``mean_off`` and ``ends_off``, the mean absolute
        differences; ``mean_agrees`` and ``ends_agree``, the shares of runs (of their ends) that differ by no
        more than the tolerance and two Monte-Carlo errors; ``problems``.
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
    prepared: Prepared, hidden: HiddenDocuments, fitting: Fitting, n_folds: int, random_seed: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int32], tuple[str, ...]]:
    """Runs of the first fold with something hidden, draws of their relevant hidden documents, problems."""
    rows = hidden.rows(prepared.evidence)
    held_out = deal_folds(len(hidden.organizations), n_folds) == 0
    seen = without_organizations(prepared.evidence, ~held_out)
    fit = fitting.fit(prepared, seen, random_seed)
    draws, rng = fit.draws(), np.random.default_rng([random_seed, 1])
    row = np.flatnonzero(held_out[rows.organization])
    effect = new_organization_effect(
        draws["sigma_organization"], int((~held_out).sum()), rows.organization[row], rng
    )
    log_odds = row_log_odds(prepared.model, prepared.evidence, draws, row) + effect
    some_hidden = hidden.counts.n_hidden.sum(axis=(1, 2)) > 0
    runs = np.flatnonzero(held_out[hidden.organization] & some_hidden)
    counted = count_relevant(hidden, rows, runs, row, log_odds, rng)
    return runs, counted, fit.diagnostics.problems


def _compare(
    laplace: npt.NDArray[np.int32],
    nuts: npt.NDArray[np.int32],
    known: npt.NDArray[Any],
    n_ranks: int,
    ci_prob: float,
) -> dict[str, Any]:
    both = {"laplace": laplace, "nuts": nuts}
    tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
    found, error = {}, {}
    for engine, draws in both.items():
        smooth = draws + np.random.default_rng(1).uniform(-0.5, 0.5, draws.shape)
        found[engine] = _statistics(smooth, tails)
        found[engine][0] = draws.mean(axis=0)
        size = max(1, len(draws) // _N_BATCHES)
        batches = [_statistics(smooth[i : i + size], tails) for i in range(0, size * _N_BATCHES, size)]
        error[engine] = np.std(batches, axis=0, ddof=1) / np.sqrt(len(batches))
    width = found["nuts"][2] - found["nuts"][1]
    off = (found["laplace"] - found["nuts"]) / width
    off_se = np.sqrt(error["laplace"] ** 2 + error["nuts"] ** 2) / width
    columns: dict[str, Any] = {}
    for engine in both:
        columns |= {
            f"{n}_{engine}": (known + v) / n_ranks for n, v in zip(_NAMES, found[engine], strict=True)
        }
    columns["width"] = width / n_ranks
    for name, value, se in zip(_NAMES, off, off_se, strict=True):
        columns |= {f"{name}_off": value, f"{name}_off_se": se}
    return columns


def _statistics(draws: npt.NDArray[np.float64], tails: list[float]) -> npt.NDArray[np.float64]:
    """Mean and ends, shape (statistic, run)."""
    return np.vstack([draws.mean(axis=0), np.quantile(draws, tails, axis=0)])

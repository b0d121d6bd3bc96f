"""All that is known of one model on one pool in a container that ArviZ reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bayespool import __version__
from bayespool.checking.fitting import Fitting
from bayespool.checking.hidden import HiddenDocuments, row_log_odds
from bayespool.checking.predictions import HeldOutPrediction, count_relevant
from bayespool.checking.priors import draw_priors
from bayespool.posterior import Prepared, new_organization_effect

__all__ = ["gather_container"]

FloatArray = npt.NDArray[np.float64]


def gather_container(
    prepared: Prepared,
    hidden: HiddenDocuments,
    fitting: Fitting,
    prediction: HeldOutPrediction,
    *,
    random_seed: int = 1,
) -> Any:
    """Fit a model to the whole pool, and put that beside its priors and its predictions.

    Parameters
    ----------
    prepared : Prepared
    hidden : HiddenDocuments
    fitting : Fitting
    prediction : HeldOutPrediction
        Of the same model, measure and fitting.
    random_seed : int

    Returns
    -------
    xarray.DataTree
        With the groups ``posterior`` and ``sample_stats`` (the fit to the whole pool), ``prior``,
        ``prior_predictive`` and ``posterior_predictive`` (of the data that the fit has seen), ``predictions``
        (of runs whose organization was held out), ``observed_data``, ``log_likelihood``, ``constant_data``
        and ``predictions_constant_data``. A *cell* is a (run, topic) with hidden documents credited to it; in
        ``log_likelihood``, which documents of it are relevant is the observation, for all models alike.

        Variables: ``hidden_relevant`` (cell), the relevant documents among a cell's hidden ones;
        ``n_hidden_relevant`` (pooled_run), all of a run's; ``precision`` (pooled_run), its P@n.
    """
    from bayespool.inference.container import build_container

    rows, evidence = hidden.rows(prepared.evidence), prepared.evidence
    fit = fitting.fit(prepared, evidence, random_seed)
    shape = next(iter(fit.variables.values())).shape[:2]
    n_draws = shape[0] * shape[1]
    all_rows = np.arange(len(rows.n_hidden))
    posterior, rng = fit.draws(), np.random.default_rng([random_seed, 3])
    log_odds = row_log_odds(prepared.model, evidence, posterior, all_rows)
    log_odds = log_odds + posterior["organization_effect"][:, rows.organization]
    prior = draw_priors(prepared.structure(), n_draws, rng)
    effect = new_organization_effect(prior["sigma_organization"], 0, rows.organization, rng)
    prior_log_odds = row_log_odds(prepared.model, evidence, prior, all_rows) + effect
    shown = np.flatnonzero(rows.n_hidden)  # the others hold documents below the cutoff alone
    cells, cell = np.unique(np.column_stack([rows.run, rows.topic])[shown], axis=0, return_inverse=True)
    cell = cell.reshape(-1)

    def predictive(values: FloatArray) -> dict[str, npt.NDArray[Any]]:
        counts = rng.binomial(rows.n_hidden, 1 / (1 + np.exp(-values)))
        runs = np.arange(len(hidden.organization))
        of_run = count_relevant(hidden, rows, runs, all_rows, values, rng)
        return {
            "hidden_relevant": _by_cell(counts[:, shown], cell).astype(np.int32).reshape(*shape, -1),
            **_of_runs(of_run.reshape(*shape, -1), prediction),
        }

    log_likelihood = rows.n_hidden_relevant * log_odds - rows.n_hidden * np.logaddexp(0, log_odds)
    groups: dict[str, dict[str, npt.NDArray[Any]]] = {
        "posterior": dict(fit.variables),
        "sample_stats": dict(fit.sample_stats),
        "prior": {name: prior[name].reshape(*shape, *prior[name].shape[1:]) for name in fit.variables},
        "prior_predictive": predictive(prior_log_odds),
        "posterior_predictive": predictive(log_odds),
        "predictions": _of_runs(prediction.draws.reshape(*shape, -1), prediction),
        "log_likelihood": {"hidden_relevant": _by_cell(log_likelihood[:, shown], cell).reshape(*shape, -1)},
        "observed_data": {
            "hidden_relevant": np.bincount(cell, rows.n_hidden_relevant[shown]).astype(np.int32),
            **_of_runs(prediction.n_hidden_relevant, prediction),
        },
        "constant_data": _constants(rows.n_hidden[shown], cells, cell, hidden),
        "predictions_constant_data": {
            "n_hidden": prediction.n_hidden,
            "n_judged_relevant": prediction.n_judged_relevant,
            "fold": prediction.fold,
            "organization_of_run": np.array(prediction.organizations),
        },
    }
    of_cells = ("hidden_relevant", "cell_n_hidden", "cell_run", "cell_topic")
    of_runs = ("n_hidden_relevant", "precision", "n_hidden", "n_judged_relevant", "fold")
    dims = {name: dims for name, dims in fit.dims.items() if dims}
    dims |= {name: ("cell",) for name in of_cells}
    dims |= {name: ("pooled_run",) for name in (*of_runs, "organization_of_run")}
    return build_container(
        {name: variables for name, variables in groups.items() if variables},
        dims=dims,
        coords=dict(fit.coords) | {"cell": range(len(cells)), "pooled_run": prediction.run_ids},
        attrs={
            "bayespool_version": __version__,
            "model": prepared.model,
            "measure": str(hidden.measure),
            "engine": fitting.engine,
            "collection_fingerprint": hidden.collection.fingerprint,
            "random_seed": random_seed,
            "problems": "; ".join((*fit.diagnostics.problems, *prediction.problems)),
        },
    )


def _of_runs(n_relevant: npt.NDArray[np.int32], p: HeldOutPrediction) -> dict[str, npt.NDArray[Any]]:
    return {"n_hidden_relevant": n_relevant, "precision": (p.n_judged_relevant + n_relevant) / p.n_ranks}


def _by_cell(values: npt.NDArray[Any], cell: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    """Sums over the rows of a cell, shape (draw, cell)."""
    order = np.argsort(cell, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(cell[order]) > 0))
    summed: npt.NDArray[Any] = np.add.reduceat(values[:, order], first, axis=1)
    return summed


def _constants(
    n_hidden: npt.NDArray[np.int64],
    cells: npt.NDArray[np.int64],
    cell: npt.NDArray[np.intp],
    hidden: HiddenDocuments,
) -> dict[str, npt.NDArray[Any]]:
    counts = hidden.counts
    return {
        "cell_n_hidden": np.bincount(cell, n_hidden).astype(np.int32),
        "cell_run": np.array([counts.run_ids[r] for r in cells[:, 0]]),
        "cell_topic": np.array([counts.query_ids[t] for t in cells[:, 1]]),
    }

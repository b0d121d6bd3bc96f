"""Containers of a fit for ArviZ: prior, posterior, and likelihood of the hidden documents."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bayespool import __version__
from bayespool.arrays import AnyArray, IndexArray
from bayespool.errors import InputError
from bayespool.inference.cells import draw_effects
from bayespool.measures import Estimates
from bayespool.models import LinearEvidence
from bayespool.models.evidence import ModelEvidence
from bayespool.models.formulas import draw_priors
from bayespool.posterior.distance import slope_effect

if TYPE_CHECKING:
    from bayespool.inference import Fit, Source


_MAX_LOG_ODDS_PER_BLOCK = 2**23


def fit_container(estimates: Estimates, model: str | None = None) -> Any:
    """Return an ArviZ container with one fitted model's priors, draws, data and log likelihood.

    A mixture has a container per model; its attribute ``weights`` has their shares of the mixture's draws.

    Parameters
    ----------
    estimates : Estimates
        Of a posterior estimator, as ``score`` returns them.
    model : str, optional
        One of ``estimates.fits``; may be left out where there is only one.

    Returns
    -------
    xarray.DataTree
        With the groups ``posterior``, ``sample_stats``, ``prior`` (as many draws), ``log_likelihood``,
        ``observed_data`` and ``constant_data``; without a hidden document neither data nor likelihood. A
        *cell* is a (run, topic) with hidden documents, as deep as the model learns from them. Variables:
        ``hidden_relevant`` (cell), the number of relevant ones among them; its log likelihood is of which
        ones are, the same observation for all models that learn from the same documents. Models of counts
        also have ``judged_relevant`` (ranking), of the judged documents of a (run, topic), without a log
        likelihood, since leaving one out does not test predictions of hidden documents. ``posterior`` has
        effects of organization × topic only of organizations that are evidence and have a run to score; for
        the likelihood all are drawn, given all else and the documents.

        Attributes: ``bayespool_version``, ``method``, ``measure``, ``model``, ``weight`` (of the model in the
        draws of the estimates), ``weights`` (of all, as JSON), ``engine``, ``collection_fingerprint``,
        ``random_seed``, ``problems``.

    Raises
    ------
    InputError
        No estimates, a mixture and no model named, no such model, nothing sampled, or a fit of your own
        without a source.

    Examples
    --------
    >>> from bayespool import fit_container, load_example, score
    >>> scores = score(load_example(), "new-a", "P@10", estimators="posterior-evidence(draws=100)")
    >>> tree = fit_container(scores["posterior-evidence", "P@10"])
    >>> sorted(tree.children)[:4], tree["log_likelihood"]["hidden_relevant"].sizes["draw"]
    (['constant_data', 'log_likelihood', 'observed_data', 'posterior'], 400)
    """
    from bayespool.tables import build_container

    if not isinstance(estimates, Estimates):
        raise InputError(
            f"a fit is of estimates, not of {type(estimates).__name__}",
            hint='take them from what score returns, such as scores["posterior-ratio", "P@10"]; '
            "scores that were read back have no fits",
        )
    name = estimates.model_name(model)
    fit: Fit = estimates.fits[name]
    if fit.source is None:
        raise InputError(f"{estimates.method}: the fit of {name} does not say what evidence it is of")
    seed = estimates.random_seed or 0
    groups, dims, coords = fit_variables(fit, fit.source, seed)
    return build_container(
        {group: variables for group, variables in groups.items() if variables},
        dims=dims,
        coords=coords,
        attrs={
            "bayespool_version": __version__,
            "method": estimates.method,
            "measure": str(estimates.measure),
            "model": name,
            "weight": estimates.weights.get(name, 1.0),
            "weights": json.dumps(dict(estimates.weights)),
            "engine": fit.diagnostics.engine,
            "collection_fingerprint": estimates.fingerprint,
            "random_seed": seed,
            "problems": "; ".join(fit.diagnostics.problems),
        },
    )


def fit_variables(
    fit: Fit, source: Source, random_seed: int
) -> tuple[dict[str, dict[str, AnyArray]], dict[str, tuple[str, ...]], dict[str, Any]]:
    """Return a fit's draws, priors, data and log likelihood by group, with axes and coordinates.

    Parameters
    ----------
    fit : Fit
    source : Source
        Its model and evidence.
    random_seed : int
    """
    counts = source.evidence.n_hidden, source.evidence.n_hidden_relevant
    kept = source.spec.structure(source.evidence, source.known)
    prior = draw_priors(kept, math.prod(fit.shape), np.random.default_rng([random_seed, 3]))
    groups: dict[str, dict[str, AnyArray]] = {
        "posterior": dict(fit.variables),
        "sample_stats": dict(fit.sample_stats),
        "prior": {v: prior[v].reshape(*fit.shape, *prior[v].shape[1:]) for v in fit.variables},
        "observed_data": {},
        "constant_data": {},
    }
    dims = {variable: axes for variable, axes in fit.dims.items() if axes}
    coords, e, there = dict(fit.coords), source.evidence, np.flatnonzero(counts[0])
    if not len(there):
        return groups, dims, coords
    run, topic = (e.hidden_run, e.hidden_topic) if isinstance(e, ModelEvidence) else (e.run, e.topic)
    tables = [("cell", "hidden", run[there], topic[there], counts[0][there], counts[1][there])]
    if isinstance(e, ModelEvidence) and source.spec.judged is not None:
        tables.append(("ranking", "judged", e.judged_run, e.judged_topic, e.n_judged, e.n_relevant))
    for dim, kind, run, topic, n, n_relevant in tables:
        pairs, row = np.unique(np.column_stack([run, topic]), axis=0, return_inverse=True)
        row = row.reshape(-1)
        observed = {f"{kind}_relevant": np.bincount(row, n_relevant).astype(np.int32)}
        constant = {
            f"{dim}_n_{kind}": np.bincount(row, n).astype(np.int32),
            f"{dim}_run": np.array([source.run_ids[r] for r in pairs[:, 0]]),
            f"{dim}_topic": np.array([e.query_ids[t] for t in pairs[:, 1]]),
        }
        groups["observed_data"] |= observed
        groups["constant_data"] |= constant
        dims |= dict.fromkeys((*observed, *constant), (dim,))
        coords[dim] = range(len(pairs))
        if kind == "hidden":
            likely = _log_likelihood(fit, source, counts, row, random_seed)
            groups["log_likelihood"] = {"hidden_relevant": likely}
    return groups, dims, coords


def _log_likelihood(
    fit: Fit, source: Source, counts: tuple[IndexArray, IndexArray], cell: IndexArray, random_seed: int
) -> npt.NDArray[np.float32]:
    """Return the log likelihood of the relevant documents in each cell, shape (chain, draw, cell).

    Effects of organizations on topics are drawn given the other parameters and the documents.
    """
    draws, e, rng = fit.draws(), source.evidence, np.random.default_rng([random_seed, 4])
    organization = e.organization if isinstance(e, LinearEvidence) else e.hidden_organization
    order = np.argsort(cell, kind="stable")
    start, rows = np.flatnonzero(np.diff(cell[order], prepend=-1)), np.flatnonzero(counts[0])[order]
    n, k = (count[rows] for count in counts)
    log_likelihood = np.empty((math.prod(fit.shape), len(start)), dtype=np.float32)
    step = max(1, _MAX_LOG_ODDS_PER_BLOCK // len(e.n_hidden))
    for first in range(0, len(log_likelihood), step):
        part = {name: values[first : first + step] for name, values in draws.items()}
        log_odds = source.spec.log_odds_of_rows(e, part) + part["organization_effect"][:, organization]
        if "slope_effect" in part and isinstance(e, LinearEvidence):
            slopes = part["slope_effect"].reshape(len(log_odds), -1, e.predictors.shape[1])
            log_odds += slope_effect(slopes, e.predictors, organization)
        if "sigma_interaction" in part and isinstance(e, LinearEvidence):
            tau = part["sigma_interaction"]
            cells, effects = draw_effects(log_odds, e.n_hidden_relevant, e.n_hidden, e.cell, tau, rng)
            log_odds += effects[:, np.searchsorted(cells, e.cell)]
        log_odds = log_odds[:, rows]
        likely = k * log_odds - n * np.logaddexp(0, log_odds)
        log_likelihood[first : first + step] = np.add.reduceat(likely, start, axis=1)
    return log_likelihood.reshape(*fit.shape, -1)

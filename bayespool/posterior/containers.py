"""Fits of one model at the front door: containers for ArviZ with all that PyMC's tutorials look at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayespool import __version__
from bayespool.arrays import AnyArray, FloatArray
from bayespool.collection import Collection
from bayespool.inference.cells import draw_effects
from bayespool.models import LinearEvidence
from bayespool.models.evidence import ModelEvidence
from bayespool.models.formulas import draw_priors
from bayespool.posterior.distance import slope_effect
from bayespool.posterior.estimator import parse_posterior
from bayespool.posterior.fitting import prepare_model
from bayespool.posterior.graphs import find_cells, find_problem, name_cells
from bayespool.tables.files import variable_name

if TYPE_CHECKING:
    from bayespool.inference import Fit, Source


_MAX_LOG_ODDS_PER_BLOCK = 2**23


def fit(
    collection: Collection,
    measure: object = "P@10",
    model: str = "ratio",
    *,
    run_ids: str | Iterable[str] = (),
    rel: int | None = None,
    engine: str = "laplace",
    priors: Mapping[str, str] | None = None,
    draws: int = 1000,
    chains: int = 4,
    random_seed: int = 1,
) -> Any:
    """Fit one model to a measure's hidden documents, and return priors, draws and data for ArviZ.

    Parameters
    ----------
    collection : Collection
    measure : measure, default "P@10"
        Its cutoff and relevance say which documents are evidence.
    model : str, default "ratio"
        Out of `bayespool.models.MODELS`; other settings of `bayespool.PosteriorEstimator` may follow in
        parentheses: ``"ratio(tune=2000, target_accept=0.99)"``.
    run_ids : str or iterable of str, optional
        Runs whose scores are predicted, together.
    rel : int, optional
        Threshold of relevance: the documents that reach the threshold below reach it or not. Default: the
        lowest, at which all documents are evidence.
    engine : str, default "laplace"
        Or ``"nuts"``; out of `bayespool.inference.ENGINES`.
    priors : mapping of str to str, optional
        Priors that replace the model's own, by variable: ``{"mu": "Normal(-2, 1)"}``.
    draws, chains : int
        Draws per chain, and chains; those of the Laplace engine are independent, in one chain.
    random_seed : int, default 1
        The same inputs and seed give the same bytes.

    Returns
    -------
    xarray.DataTree
        With the groups ``posterior``, ``sample_stats``, ``prior`` (as many draws), ``prior_predictive``,
        ``posterior_predictive``, ``log_likelihood``, ``observed_data`` and ``constant_data``; only the first
        three without a hidden document. Effects have the dimensions of their groups, such as ``topic`` and
        ``organization``. A *cell* is a (run, topic) with hidden documents, as deep as the model learns from
        them: ``hidden_relevant`` (cell) is the number of relevant ones, and its log likelihood is of which
        ones are, the same observation for all models that learn from the same documents, so that
        ``arviz.compare`` takes them. Models of counts also have ``judged_relevant`` (ranking) as data.
        ``standard_…`` are what the graph samples in place of effects and slopes: with them
        ``pymc.sample_posterior_predictive(tree, model=graph)`` takes the tree and `model_graph`.

        With runs there is ``predictions``: their scores, (run_id), under a name like ``P_10``, the same draws
        as `bayespool.score` has under any measure.

        Attributes: ``bayespool_version``, ``measure``, ``model``, ``engine``, ``collection_fingerprint``,
        ``random_seed``, ``problems``: checks that failed.

    Raises
    ------
    InputError
        Unknown model, run, prior, threshold or setting.

    Warns
    -----
    DiagnosticsWarning
        A check of the draws failed.

    Examples
    --------
    >>> from bayespool import fit, load_example
    >>> tree = fit(load_example(), "P@10", "evidence", draws=100)
    >>> tree["posterior"]["topic_effect"].dims, tree["log_likelihood"]["hidden_relevant"].sizes["draw"]
    (('chain', 'draw', 'topic'), 400)
    """
    from bayespool.tables import build_container

    settings: dict[str, Any] = {"engine": engine, "draws": draws, "chains": chains}
    estimator = parse_posterior(model, priors=priors or {}, random_seed=random_seed, **settings)
    problem = find_problem(collection, measure, estimator, run_ids, rel)
    prepared, seed = prepare_model(problem, estimator.model, estimator.priors, estimator.random_seed)
    fitted, predictions = None, None
    if problem.run_ids:
        (estimates,) = estimator.estimate(collection, problem.run_ids, problem.measure)
        fitted = estimates.fits.get(f"{estimator.model}{problem.threshold.label}")
        predictions = estimates.draws
    if fitted is None:
        fitted = prepared.fit(estimator.build_engine(), seed)
    groups, dims, coords = fit_variables(fitted, prepared.source(), estimator.random_seed)
    if predictions is not None:
        name = variable_name(problem.measure)
        groups["predictions"] = {name: predictions.means().reshape(*fitted.shape, -1)}
        dims[name], coords["run_id"] = ("run_id",), problem.run_ids
    return build_container(
        {group: variables for group, variables in groups.items() if variables},
        dims=dims,
        coords=coords,
        attrs={
            "bayespool_version": __version__,
            "measure": str(problem.measure),
            "model": f"{estimator.model}{problem.threshold.label}",
            "engine": fitted.diagnostics.engine,
            "collection_fingerprint": collection.fingerprint,
            "random_seed": estimator.random_seed,
            "problems": "; ".join(fitted.diagnostics.problems),
        },
    )


def fit_variables(
    fitted: Fit, source: Source, random_seed: int
) -> tuple[dict[str, dict[str, AnyArray]], dict[str, tuple[str, ...]], dict[str, Any]]:
    """Return a fit's draws, priors, data and log likelihood by group, with axes and coordinates.

    Parameters
    ----------
    fitted : Fit
    source : Source
        Its model and evidence.
    random_seed : int
    """
    spec, e = source.spec, source.evidence
    draws, prior_rng, rng = fitted.draws(), *(np.random.default_rng([random_seed, k]) for k in (3, 4))
    draws |= _draw_interactions(source, draws, rng)
    prior = draw_priors(spec.structure(e), math.prod(fitted.shape), prior_rng)
    groups: dict[str, dict[str, AnyArray]] = {
        "posterior": draws | spec.standardize(e, draws),
        "prior": prior,
        "observed_data": {},
        "constant_data": {},
    }
    dims = {variable: axes for variable, axes in fitted.dims.items() if axes}
    dims |= {f"{name}_effect": (effect.dim,) for name, effect in spec.effects.items()}
    dims |= {f"standard_{name}": (effect.dim,) for name, effect in spec.effects.items()}
    coords: dict[str, Any] = {**fitted.coords, **e.coords}
    if len(e.n_hidden):
        cells = find_cells(source)
        tables = [("cell", "hidden", cells, e.n_hidden, e.n_hidden_relevant)]
        if isinstance(e, ModelEvidence) and spec.judged is not None:
            rankings = name_cells(source, e.judged_run, e.judged_topic)
            tables.append(("ranking", "judged", rankings, e.n_judged, e.n_relevant))
        for dim, kind, pairs, n, n_relevant in tables:
            observed = {f"{kind}_relevant": np.bincount(pairs.row, n_relevant).astype(np.int32)}
            constant = {
                f"{dim}_n_{kind}": np.bincount(pairs.row, n).astype(np.int32),
                f"{dim}_run": np.array(pairs.run),
                f"{dim}_topic": np.array(pairs.topic),
            }
            groups["observed_data"] |= observed
            groups["constant_data"] |= constant
            dims |= dict.fromkeys((*observed, *constant), (dim,))
            coords[dim] = pairs.labels
        likely, counts = _predict_hidden(source, draws, cells.row, rng)
        groups["log_likelihood"] = {"hidden_relevant": likely}
        groups["posterior_predictive"] = {"hidden_relevant": counts}
        groups["prior_predictive"] = {"hidden_relevant": _predict_hidden(source, prior, cells.row, rng)[1]}
    for group, variables in groups.items():
        if not group.endswith("_data"):
            groups[group] = {v: a.reshape(*fitted.shape, *a.shape[1:]) for v, a in variables.items()}
    groups["sample_stats"] = dict(fitted.sample_stats)
    return groups, dims, coords


def _blocks(source: Source, n_draws: int) -> list[slice]:
    """Return blocks of draws whose log odds of all rows are held at once."""
    step = max(1, _MAX_LOG_ODDS_PER_BLOCK // max(1, len(source.evidence.n_hidden)))
    return [slice(first, first + step) for first in range(0, n_draws, step)]


def _hidden_log_odds(source: Source, draws: Mapping[str, FloatArray], block: slice) -> FloatArray:
    """Return log odds of hidden documents without effects of organization × topic, (draw, row)."""
    e, part = source.evidence, {name: values[block] for name, values in draws.items()}
    organization = e.organization if isinstance(e, LinearEvidence) else e.hidden_organization
    log_odds = source.spec.log_odds_of_rows(e, part)
    if isinstance(e, LinearEvidence) and e.company is not None:
        return log_odds + part["organization_effect"] @ e.company.T
    log_odds += part["organization_effect"][:, organization]
    if "slope_effect" in part and isinstance(e, LinearEvidence):
        slopes = part["slope_effect"].reshape(len(log_odds), -1, e.predictors.shape[1])
        log_odds += slope_effect(slopes, e.predictors, organization)
    return log_odds


def _draw_interactions(
    source: Source, draws: Mapping[str, FloatArray], rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Draw all effects of organization × topic, given the other parameters and the hidden documents.

    A fit has only those that runs to score need, which stay as they are.
    """
    e = source.evidence
    if "sigma_interaction" not in draws or not isinstance(e, LinearEvidence):
        return {}
    tau = draws["sigma_interaction"]
    effects = tau[:, None] * rng.standard_normal((len(tau), len(e.organizations) * len(e.query_ids)))
    for block in _blocks(source, len(tau)):
        log_odds = _hidden_log_odds(source, draws, block)
        cells, drawn = draw_effects(log_odds, e.n_hidden_relevant, e.n_hidden, e.cell, tau[block], rng)
        effects[block, cells] = drawn
    if "interaction_effect" in draws:
        kept = source.spec.structure(e, source.known).groups["interaction"].kept
        effects[:, slice(None) if kept is None else kept] = draws["interaction_effect"]
    return {"interaction_effect": effects}


def _predict_hidden(
    source: Source, draws: Mapping[str, FloatArray], row: AnyArray, rng: np.random.Generator
) -> tuple[AnyArray, AnyArray]:
    """Return the log likelihood of each cell's hidden documents, and new numbers of relevant ones."""
    e, n_draws = source.evidence, len(draws["organization_effect"])
    order = np.argsort(row, kind="stable")
    start = np.flatnonzero(np.diff(row[order], prepend=-1))
    n, k = e.n_hidden[order], e.n_hidden_relevant[order]
    likely = np.empty((n_draws, len(start)), dtype=np.float32)
    counts = np.empty((n_draws, len(start)), dtype=np.int32)
    for block in _blocks(source, n_draws):
        log_odds = _hidden_log_odds(source, draws, block)
        if "interaction_effect" in draws and isinstance(e, LinearEvidence):
            log_odds += draws["interaction_effect"][block][:, e.cell]
        log_odds = log_odds[:, order]
        of_rows = k * log_odds - n * np.logaddexp(0, log_odds)
        likely[block] = np.add.reduceat(of_rows, start, axis=1)
        drawn = rng.binomial(n, 1 / (1 + np.exp(-log_odds)))
        counts[block] = np.add.reduceat(drawn, start, axis=1)
    return likely, counts
